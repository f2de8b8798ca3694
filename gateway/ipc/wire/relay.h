/* SPDX-License-Identifier: MIT
 * Events and results of a run as messages between executor and front. */
#ifndef CBX_GATEWAY_IPC_WIRE_RELAY_H
#define CBX_GATEWAY_IPC_WIRE_RELAY_H

#include "docker/result.h"
#include "gateway/ipc/wire/ipc_wire.h"

/* Returns a sink that sends every event to *fd, which must outlive the sink. The sink is
 * cancelled when the other end of *fd is closed. */
struct cbx_sink cbx_relay_sink(const int *fd);

/* Passes an event message to `sink` and returns the sink's result; CBX_EPROTO for a message that
 * is not an event. */
int cbx_relay_event(const struct cbx_message *message, const struct cbx_sink *sink,
                    struct cbx_err *err);

/* {type:"done", status, exit_code, ...} (new reference), and back. */
json_t *cbx_result_json(const struct cbx_result *result);
int cbx_result_from_json(const json_t *json, struct cbx_result *out, struct cbx_err *err);

#endif
