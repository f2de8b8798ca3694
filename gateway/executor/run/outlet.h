/* SPDX-License-Identifier: MIT
 * The last step of every event before it leaves the executor: secrets are replaced, in streams also where they are split over events. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_OUTLET_H
#define CBX_GATEWAY_EXECUTOR_RUN_OUTLET_H

#include "docker/result.h"
#include "gateway/executor/redact/redact.h"

/* Of one run. Zeroed memory passes everything on. */
struct cbx_outlet {
    const struct cbx_redactor *redactor;  /* NULL = nothing is replaced */
    struct cbx_redact_stream *streams[2]; /* of stdout and stderr */
    bool late[2];                         /* what they hold back is late */
};

void cbx_outlet_done(struct cbx_outlet *outlet);
CBX_DEFINE_AUTO_DONE(outlet)

/* Passes an event on; what may be the beginning of a secret at the end of stdout or stderr follows later. Returns what the sink returns. */
int cbx_outlet_event(struct cbx_outlet *outlet, const struct cbx_event *event,
                     const struct cbx_sink *to);

/* The run has ended: passes on what was held back. */
int cbx_outlet_flush(struct cbx_outlet *outlet, const struct cbx_sink *to);

/* Replaces secrets in the error of a result. */
void cbx_outlet_result(const struct cbx_redactor *redactor, struct cbx_result *result);

#endif
