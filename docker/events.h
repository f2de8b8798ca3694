/* SPDX-License-Identifier: MIT
 * Frames of a supervisor to events and results: what a program says is validated here, once. */
#ifndef CBX_DOCKER_EVENTS_H
#define CBX_DOCKER_EVENTS_H

#include "docker/result.h"
#include "docker/stream.h"

struct cbx_events {
    const struct cbx_sink *sink; /* NULL = nobody listens */
    struct cbx_result *result;   /* gets the error, when there is one */
};

/* Hands one frame on. A malformed bundle or error from the program is passed over: it harms only
 * the program. Returns what the sink returned. */
int cbx_events_take(struct cbx_events *events, const struct cbx_frame *frame);

/* The DONE frame completes the result. CBX_EPROTO when it is malformed. */
int cbx_events_finish(struct cbx_events *events, struct cbx_str payload, struct cbx_result *result,
                      struct cbx_err *err);

#endif
