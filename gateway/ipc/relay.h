/* SPDX-License-Identifier: MIT
 * Events and results of a run as messages between executor and front. */
#ifndef CBX_GATEWAY_IPC_RELAY_H
#define CBX_GATEWAY_IPC_RELAY_H

#include "docker/result.h"
#include "gateway/ipc/wire.h"

/* A sink that sends every event to *fd, which must outlive it. A front that is gone ends the run.
 */
struct cbx_sink cbx_relay_sink(const int *fd);

/* Hands an event message to `sink`. CBX_EPROTO when it is no event; a refusal of the sink is passed
 * on. */
int cbx_relay_event(const struct cbx_message *message, const struct cbx_sink *sink,
                    struct cbx_err *err);

/* {type:"done", status, exit_code, ...} (new reference), and back. */
json_t *cbx_result_json(const struct cbx_result *result);
int cbx_result_from_json(const json_t *json, struct cbx_result *out, struct cbx_err *err);

#endif
