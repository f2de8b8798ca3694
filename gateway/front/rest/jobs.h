/* SPDX-License-Identifier: MIT
 * Jobs: executions that were allowed. Each is stored before it begins and when it ends, and is
 * acknowledged after its result is stored. One whose client waits runs in the thread of the
 * request, the others in threads of their own. A gateway that is killed
 * meanwhile finds the job in the store when it starts again. */
#ifndef CBX_GATEWAY_FRONT_REST_JOBS_H
#define CBX_GATEWAY_FRONT_REST_JOBS_H

#include "gateway/front/rest/rest.h"

struct cbx_rest_job {
    struct cbx_rest *rest;
    char id[37], session[65]; /* session: empty for a one-shot */
    char request_id[CBX_ID_CHARS +
                    1]; /* of the HTTP request, in the log; empty for a recovered one */
    char language[16];
    enum cbx_entry_kind kind;
    struct cbx_buf policy, source;
    struct cbx_buf path;          /* of a file */
    struct cbx_buf past, entries; /* of its session (subject.h) */
    uint64_t past_state;          /* of the session's past, when it was copied */
    int64_t turn;                 /* its place in the order of acceptance; 0 = not accepted */
    struct cbx_limits limits;
    bool interactive;
    struct cbx_judgement judgement;
    /* Of one that a gateway before this one accepted (recovery.h): its decision, the number of
     * that audit record (0 = not known), and whether it began. */
    char decision[CBX_ID_CHARS + 1];
    uint64_t audit_seq;
    bool begun, recovered;
    bool starting; /* started from the backlog, not admitted yet */
    struct cbx_rest_job *next_in_backlog;
    /* The waiting client: an exchange, an event stream, or neither. */
    struct cbx_http_exchange *exchange;
    struct cbx_http_stream *stream;
    /* In the queue of its session (queue.h). */
    struct cbx_rest_job *next_queued;
    bool admitted;
    struct cbx_work work;
};

/* An empty job with an id of its own; owned by the caller until cbx_rest_job_start. */
struct cbx_rest_job *cbx_rest_job_new(struct cbx_rest *rest);

/* Removes the job from its queue and frees it. */
void cbx_rest_job_free(struct cbx_rest_job *job);

/* Copies policy, language, limits and past of the job's session. CBX_ENOTFOUND when
 * there is no such session; errors of the store. */
int cbx_rest_job_in_session(struct cbx_rest_job *job, struct cbx_err *err);

/* --- pasts.c: the past of its session --------------------------------------------------------- */

/* Copies the past of the job's session as it is now, with all that was accepted; an empty one when it
 * has no session. An error of the store when it cannot be read: nothing is judged then, for a cell
 * without its past could be allowed wrongly. */
int cbx_rest_past_copy(struct cbx_rest_job *job, struct cbx_err *err);

/* Reads it from the store again, as it was before the job's turn. */
int cbx_rest_past_recall(struct cbx_rest_job *job, struct cbx_err *err);

/* With rest->lock held: the job, which was judged with the past that it has, is accepted. False, and
 * nothing is added, when the session's past has changed since. */
bool cbx_rest_past_add(struct cbx_rest_job *job);

/* The ledger of the past that the job has. */
int cbx_rest_past_ledger(struct cbx_rest_job *job, struct cbx_sha256 *out, struct cbx_err *err);

/* True when this is the ledger behind the job: it was done already. */
bool cbx_rest_past_is_done(const struct cbx_rest_job *job, const struct cbx_sha256 *ledger);

/* The job as a request to the flow; borrows from the job. */
struct cbx_request cbx_rest_job_request(const struct cbx_rest_job *job);

/* Stores a job that is in the queue (cbx_rest_enqueue_judged) and starts it; with an exchange, runs it and returns when it has ended and the
 * client is answered. Takes the job, also on failure: CBX_EBUSY when too many jobs run. After a
 * failure the caller still answers the exchange and the stream. */
int cbx_rest_job_start(struct cbx_rest_job *job, struct cbx_err *err);

/* Carries out a file or a reset that is in the queue, stored meanwhile, and returns when it is done. Its
 * outcome is the caller's; `out->verdict` denies when the session does not allow the file any more. */
int cbx_rest_job_change(struct cbx_rest_job *job, struct cbx_outcome *out, struct cbx_err *err);

/* Takes a job of an earlier gateway, which is in the store, into the backlog: those that began before
 * the others, each in the order of the calls. Before the server accepts requests: later executions
 * are queued behind it. */
void cbx_rest_job_recover(struct cbx_rest_job *job);

/* Starts what may start of the backlog: up to `jobs_max` executions run, and of those that did not
 * begin before only a few are on their way to a sandbox. Called again whenever there is room. */
void cbx_rest_start_backlog(struct cbx_rest *rest);

/* Frees the backlog, whose rows stay in the store for the next gateway. Call it after
 * cbx_rest_stop. */
void cbx_rest_drop_backlog(struct cbx_rest *rest);

/* A stored execution as /v1 answers it, and its results as clients of CodeBox-AI read them (new
 * references). */
json_t *cbx_rest_results_legacy(const json_t *results);
json_t *cbx_rest_execution_json(const json_t *execution);

#endif
