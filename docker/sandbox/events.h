/* SPDX-License-Identifier: MIT
 * Converts frames of a supervisor to events and results. Contents from the program are validated
 * here, once. */
#ifndef CBX_DOCKER_SANDBOX_EVENTS_H
#define CBX_DOCKER_SANDBOX_EVENTS_H

#include "docker/result.h"
#include "docker/sandbox/sandbox_stream.h"

struct cbx_events {
    const struct cbx_sink *sink; /* NULL = events are dropped */
    struct cbx_result *result;   /* receives the error of the program, if any */
};

/* Passes one frame to the sink. A malformed bundle or error of the program is skipped: it harms
 * only the program. Returns the sink's result. */
int cbx_events_take(struct cbx_events *events, const struct cbx_frame *frame);

/* Completes the result from a DONE frame. CBX_EPROTO if it is malformed. */
int cbx_events_finish(struct cbx_events *events, struct cbx_str payload, struct cbx_result *result,
                      struct cbx_err *err);

#endif
