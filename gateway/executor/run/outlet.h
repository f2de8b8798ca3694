/* SPDX-License-Identifier: MIT
 * The last step of every event before it leaves the executor: secrets are replaced, in streams
 * also where they are split over events. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_OUTLET_H
#define CBX_GATEWAY_EXECUTOR_RUN_OUTLET_H

#include "docker/result.h"
#include "gateway/executor/redact/redact.h"

/* The redaction of one run's events. Zeroed memory passes all events on unchanged. */
struct cbx_outlet {
    const struct cbx_redactor *redactor;  /* NULL = no redaction */
    struct cbx_redact_stream *streams[2]; /* streams of stdout and stderr */
    bool late[2];                         /* true if the bytes held back are late */
};

void cbx_outlet_done(struct cbx_outlet *outlet);
CBX_DEFINE_AUTO_DONE(outlet)

/* Passes an event on; bytes at the end of stdout or stderr that may begin a secret follow later.
 * Returns the sink's result. */
int cbx_outlet_event(struct cbx_outlet *outlet, const struct cbx_event *event,
                     const struct cbx_sink *to);

/* Called after the run: passes on the bytes held back. */
int cbx_outlet_flush(struct cbx_outlet *outlet, const struct cbx_sink *to);

/* Replaces secrets in the error of a result. */
void cbx_outlet_result(const struct cbx_redactor *redactor, struct cbx_result *result);

#endif
