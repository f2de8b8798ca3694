/* SPDX-License-Identifier: MIT
 * Collects the events of a run as JSON, for frontends that reply once, at its end. */
#ifndef CBX_GATEWAY_FRONT_COLLECT_H
#define CBX_GATEWAY_FRONT_COLLECT_H

#include "docker/result.h"
#include "policies/base/buf.h"

#include <jansson.h>

/* Items, in order:
 *   {kind: "stdout"|"stderr", text}   consecutive chunks of one stream are one item
 *   {kind: "display"|"result", data: {TYPE: text|base64}}
 *                                     binary types are base64, others are text
 *   {kind: "file", path, size}
 *   {kind: "blocked", capability, rule, what, count, message, hint}
 *                                     a refusal of the guard, with its count
 *   {kind: "cut", size}               number of omitted bytes of output
 * stdout, stderr and display have late: true if the program wrote them after the previous run
 * had ended. */
struct cbx_collected {
    json_t *items;
    struct cbx_buf stream; /* chunks of the current item; two chunks may share a character */
    enum cbx_event_kind kind;
    bool late;        /* true if these chunks are late */
    uint64_t omitted; /* bytes of output after the maximum number of items */
    bool incomplete;  /* true if other items were left out */
};

/* Initialises `collected`, which the caller owns; and frees its contents, `items` included. */
void cbx_collected_init(struct cbx_collected *collected);
void cbx_collected_done(struct cbx_collected *collected);
CBX_DEFINE_AUTO_DONE(collected)

/* Returns a sink that appends every event to `collected`, which must outlive it. */
struct cbx_sink cbx_collected_sink(struct cbx_collected *collected);

/* Call it after the run; then `items` is complete. */
void cbx_collected_finish(struct cbx_collected *collected);

#endif
