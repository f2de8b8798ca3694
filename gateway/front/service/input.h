/* SPDX-License-Identifier: MIT
 * Standard input of executions: what a client gave with the program, and what it adds while the execution is queued or runs. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_INPUT_H
#define CBX_GATEWAY_FRONT_SERVICE_INPUT_H

#include "gateway/front/service/jobs.h"

/* What a caller asks for; {NULL, 0} = not given. */
struct cbx_input_wanted {
    struct cbx_str text, base64; /* one of them; neither: the input begins with nothing */
    bool streams;                /* more of it comes (cbx_input_feed) */
};

/* Sets the input of a job that is not accepted yet; without one its program finds the end at once. CBX_EINVAL for both forms, for text that is no Base64, and
 * with `interactive`; CBX_ETOOBIG. */
int cbx_input_give(struct cbx_job *job, const struct cbx_input_wanted *wanted, struct cbx_err *err);

/* Of the principal's execution of this id: adds bytes, all or none, and ends the input with `end`. What comes before the run begins waits here.
 * CBX_ESTATE when the execution or its input has ended, or when it takes none; CBX_ETOOBIG when too much waits. `proof` is the caller's. */
struct cbx_input_part {
    const char *principal, *id;
    struct cbx_str proof, bytes;
    bool end;
};
int cbx_input_feed(struct cbx_service *service, const struct cbx_input_part *part,
                   struct cbx_err *err);

/* With the lock of the service, when the run begins: true when something waits. Then cbx_input_flush sends it, without the lock; what is added meanwhile
 * comes behind it. */
bool cbx_input_begin(struct cbx_job *job);
void cbx_input_flush(struct cbx_job *job);

/* Of a job that is made, with no input; of one that is freed. */
void cbx_input_init(struct cbx_job *job);
void cbx_input_done(struct cbx_job *job);

#endif
