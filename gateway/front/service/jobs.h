/* SPDX-License-Identifier: MIT
 * Jobs: executions that were allowed. Each is stored before it begins and when it ends, and is
 * acknowledged after its result is stored. One whose client waits runs in the thread of the
 * request, the others in threads of their own. A gateway that is killed
 * meanwhile finds the job in the store when it starts again. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_JOBS_H
#define CBX_GATEWAY_FRONT_SERVICE_JOBS_H

#include "gateway/front/claims.h"
#include "gateway/front/service/service.h"

/* The client of a job while it runs; zeroed memory is none. The calls come from the job's thread. */
struct cbx_job_client {
    /* Each event of the run; may be NULL. */
    void (*event)(void *context, const struct cbx_event *event);
    /* The events so far are void: the run begins once more. May be NULL. */
    void (*restart)(void *context);
    /* How many runs have their turn before it, when that has changed; may be NULL. */
    void (*queued)(void *context, int ahead);
    /* Each line of progress of an install before the run; may be NULL. */
    void (*progress)(void *context, struct cbx_str line);
    /* Has it left? Polled during an install before the run; NULL = it stays. */
    bool (*gone)(void *context);
    /* Called once, at the end: with the execution as /v1 answers it (borrowed), or the error when
     * err->code is set. */
    void (*done)(void *context, const json_t *execution, const struct cbx_err *err);
    bool waits; /* the job runs in the thread of cbx_job_start's caller */
    void *context;
};

/* The standard input of a job (input.h). */
struct cbx_job_input {
    bool has, streams;    /* it has one; more of it comes */
    struct cbx_buf bytes; /* its beginning, which is submitted with the program */
    /* Of one that streams, with the lock of the service: what came before the run began, and the proof of the caller that it came from last; no more
     * comes; a call sends to the run. */
    struct cbx_buf later, proof;
    bool ended, busy;
};

struct cbx_job {
    struct cbx_service *service;
    const char *origin;       /* the API that it came by; static */
    struct cbx_claims claims; /* of its client; once it is accepted, its proof is the voucher */
    char voucher[CBX_VOUCHER_CHARS + 1];      /* empty where callers are not authenticated */
    char voucher_subject[CBX_SHA256_HEX + 1]; /* what it is for */
    char principal[CBX_NAME_MAX + 1];         /* whose it is */
    char id[37], session[65];                 /* session: empty for a one-shot */
    char language[16];
    enum cbx_entry_kind kind;
    struct cbx_buf policy, source;
    struct cbx_buf path;          /* of a file */
    struct cbx_buf past, entries; /* of its session (subject.h) */
    uint64_t past_state;          /* of the session's past, when it was copied */
    int64_t turn;                 /* its place in the order of acceptance; 0 = not accepted */
    int64_t created_ms; /* when its request came, by the wall clock: what `codebox stop` goes by */
    struct cbx_asked asked; /* of its session, where it has one */
    int64_t
        installed_ms; /* how long installing its packages took for this job; 0 = they were there */
    bool interactive;
    struct cbx_job_input input;
    /* Of a decision that asks (approvals.h). Of a job that an earlier gateway accepted only who accepted it: what
     * did not begin has to be approved again. */
    struct cbx_approval approval;
    struct cbx_judgement judgement;
    /* Of one that a gateway before this one accepted (recovery.h): its decision, the number of
     * that audit record (0 = not known), and whether it began. */
    char decision[CBX_ID_CHARS + 1];
    uint64_t audit_seq;
    bool begun, recovered;
    bool starting; /* started from the backlog, not admitted yet */
    struct cbx_job *next_in_backlog;
    struct cbx_job_client client;
    /* In the queue of its session (queue.h). */
    struct cbx_job *next_queued;
    bool admitted;
    /* Among those that have not ended (live.h), with the lock of the service, which `begun` is written with, too. */
    struct cbx_job *next_live;
    bool is_live, cancelled, wants_room, has_room, ended;
    int ahead;                  /* runs that have their turn before it, as the executor said last */
    char run[CBX_ID_CHARS + 1]; /* the decision by which the executor has it; empty = it has not */
    struct cbx_work work;
};

/* An empty job of a principal, with an id of its own; owned by the caller until cbx_job_start. */
struct cbx_job *cbx_job_new(struct cbx_service *service, const char *principal);

/* Removes the job from its queue and frees it. */
void cbx_job_free(struct cbx_job *job);

/* --- pasts.c: the past of its session --------------------------------------------------------- */

/* Copies the past of the job's session as it is now, with all that was accepted; an empty one when it
 * has no session. An error of the store when it cannot be read: nothing is judged then, for a cell
 * without its past could be allowed wrongly. */
int cbx_job_copy_past(struct cbx_job *job, struct cbx_err *err);

/* Reads it from the store again, as it was before the job's turn. */
int cbx_job_recall_past(struct cbx_job *job, struct cbx_err *err);

/* With service->lock held: the job, which was judged with the past that it has, is accepted. False, and
 * nothing is added, when the session's past has changed since. */
bool cbx_job_add_past(struct cbx_job *job);

/* The ledger of the past that the job has. */
int cbx_job_past_ledger(struct cbx_job *job, struct cbx_sha256 *out, struct cbx_err *err);

/* True when this is the ledger behind the job: it was done already. */
bool cbx_job_is_done(const struct cbx_job *job, const struct cbx_sha256 *ledger);

/* The job as a request to the flow; borrows from the job. */
struct cbx_request cbx_job_request(const struct cbx_job *job);

/* Stores a job that is in the queue (cbx_job_enqueue_judged) and starts it; for a client that waits, runs it and
 * returns when it has ended. Takes the job, also on failure: CBX_EBUSY when too many jobs run. After a
 * failure the client is not called. */
int cbx_job_start(struct cbx_job *job, struct cbx_err *err);

/* Carries out a file or a reset that is in the queue, stored meanwhile, and returns when it is done. Its
 * outcome is the caller's; `out->verdict` denies when the session does not allow the file any more. */
int cbx_job_change(struct cbx_job *job, struct cbx_outcome *out, struct cbx_err *err);

/* Takes a job of an earlier gateway, which is in the store, into the backlog: those that began before
 * the others, each in the order of the calls. Before the server accepts requests: later executions
 * are queued behind it. */
void cbx_job_recover(struct cbx_job *job);

/* Starts what may start of the backlog: up to `jobs_max` executions run, and of those that did not
 * begin before only a few are on their way to a sandbox. Called again whenever there is room. */
void cbx_service_start_backlog(struct cbx_service *service);

/* Frees the backlog, whose rows stay in the store for the next gateway. Call it after
 * cbx_service_stop. */
void cbx_service_drop_backlog(struct cbx_service *service);

/* A stored execution as /v1 answers it, and its results as clients of CodeBox-AI read them (new
 * references). */
json_t *cbx_results_legacy(const json_t *results);
json_t *cbx_execution_json(const json_t *execution);

#endif
