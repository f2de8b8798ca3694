/* SPDX-License-Identifier: MIT
 * Executions that were allowed, on their way: each runs in a thread of its own, is stored before it
 * begins and when it is over, and is acknowledged once it is stored. A gateway that is killed
 * meanwhile finds it again. */
#ifndef CBX_GATEWAY_FRONT_REST_JOBS_H
#define CBX_GATEWAY_FRONT_REST_JOBS_H

#include "gateway/front/rest/rest.h"

struct cbx_rest_job {
    struct cbx_rest *rest;
    char id[37], session[65]; /* session: empty for a one-shot */
    char request_id[CBX_ID_CHARS +
                    1]; /* of the HTTP request, in the log; empty for a recovered one */
    char language[16];
    struct cbx_buf policy, source, context;
    struct cbx_limits limits;
    bool interactive;
    struct cbx_judgement judgement;
    /* Of one that a gateway before this one accepted (recovery.h): its decision, the number of that audit
     * record (0 = not known), and whether it began. */
    char decision[CBX_ID_CHARS + 1];
    uint64_t audit_seq;
    bool begun, recovered;
    bool starting; /* one of the backlog that the executor has not admitted yet */
    struct cbx_rest_job *next_in_backlog;
    /* The waiting client: an exchange, an event stream, or neither. */
    struct cbx_http_exchange *exchange;
    struct cbx_http_stream *stream;
    /* In the queue of its session (queue.h). */
    struct cbx_rest_job *next_queued;
    bool admitted;
};

struct cbx_rest_job *cbx_rest_job_new(struct cbx_rest *rest);
void cbx_rest_job_free(struct cbx_rest_job *job);

/* Takes policy, language, limits and what ran before over from the job's session. CBX_ENOTFOUND. */
int cbx_rest_job_in_session(struct cbx_rest_job *job, struct cbx_err *err);

/* What the job asks of the flow; borrows from it. */
struct cbx_request cbx_rest_job_request(const struct cbx_rest_job *job);

/* Stores it and lets it run. Takes the job, also when it fails: CBX_EBUSY when there are too many.
 * On failure the exchange and the stream are still the caller's to answer. */
int cbx_rest_job_start(struct cbx_rest_job *job, struct cbx_err *err);

/* Runs a job that is stored already, in a thread of its own. CBX_EBUSY; the job is then still the caller's. */
int cbx_rest_job_launch(struct cbx_rest_job *job, struct cbx_err *err);

/* What is stored of an execution as /v1 answers it, and as clients of CodeBox-AI read it (new
 * references). */
json_t *cbx_rest_results_legacy(const json_t *results);
json_t *cbx_rest_execution_json(const json_t *execution);

#endif
