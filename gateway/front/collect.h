/* SPDX-License-Identifier: MIT
 * Collects the events of a run as JSON, for frontends that answer once, at its end. */
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
 *                                     the guard refused this, so often
 *   {kind: "cut", size}               so many bytes of output were left out here
 * stdout, stderr and display have late: true when the program wrote them after the run before had
 * ended. */
struct cbx_collected {
    json_t *items;
    struct cbx_buf stream; /* chunks of the current item; a character may lie across two */
    enum cbx_event_kind kind;
    bool late;        /* of these chunks */
    uint64_t omitted; /* bytes of output that came after there were too many items */
    bool incomplete;  /* other items were left out */
};

/* Prepares `collected`, which the caller owns; and frees what it holds, `items` included. */
void cbx_collected_init(struct cbx_collected *collected);
void cbx_collected_done(struct cbx_collected *collected);
CBX_DEFINE_AUTO_DONE(collected)

/* A sink that appends every event to `collected`, which must outlive it. */
struct cbx_sink cbx_collected_sink(struct cbx_collected *collected);

/* Call when the run is over; then `items` is complete. */
void cbx_collected_finish(struct cbx_collected *collected);

#endif
