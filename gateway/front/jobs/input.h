/* SPDX-License-Identifier: MIT
 * Standard input of executions: the client's input with the program, and the input that it adds
 * while the execution is queued or runs. */
#ifndef CBX_GATEWAY_FRONT_JOBS_INPUT_H
#define CBX_GATEWAY_FRONT_JOBS_INPUT_H

#include "gateway/front/jobs/jobs.h"

/* A caller's request; {NULL, 0} = not given. */
struct cbx_input_wanted {
    struct cbx_str text, base64; /* one of them; neither: the input begins empty */
    bool streams;                /* true if cbx_input_feed adds to it */
};

/* Sets the input of a job that is not accepted yet; without input its program finds the end at
 * once. CBX_EINVAL for both forms, for malformed Base64, and with `interactive`; CBX_ETOOBIG. */
int cbx_input_give(struct cbx_job *job, const struct cbx_input_wanted *wanted, struct cbx_err *err);

/* For the principal's execution of this id: adds bytes, all or none, and ends the input with
 * `end`. Bytes before the start of the run are queued here. CBX_ESTATE if the execution or its
 * input has ended, or if it takes none; CBX_ETOOBIG if too many bytes wait. `proof` is the
 * caller's. */
struct cbx_input_part {
    const char *principal, *id;
    struct cbx_str proof, bytes;
    bool end;
};
int cbx_input_feed(struct cbx_service *service, const struct cbx_input_part *part,
                   struct cbx_err *err);

/* With the lock of the service, at the start of the run: true if bytes are queued. Then
 * cbx_input_flush sends them, without the lock; later bytes follow them. */
bool cbx_input_begin(struct cbx_job *job);
void cbx_input_flush(struct cbx_job *job);

/* Initialises the input of a new job, empty; and frees it. */
void cbx_input_init(struct cbx_job *job);
void cbx_input_done(struct cbx_job *job);

#endif
