/* SPDX-License-Identifier: MIT
 * Jobs: allowed executions. Each is stored before it begins and when it ends, and is
 * acknowledged after its result is stored. A job with a waiting client runs in the thread of the
 * request, the others in separate threads. After the gateway was killed, the next start finds
 * the job in the store. */
#ifndef CBX_GATEWAY_FRONT_JOBS_JOBS_H
#define CBX_GATEWAY_FRONT_JOBS_JOBS_H

#include "gateway/front/claims.h"
#include "gateway/front/service/service.h"

/* The client of a job while it runs; zeroed memory is none. The job's thread makes the calls. */
struct cbx_job_client {
    /* Called with each event of the run; may be NULL. */
    void (*event)(void *context, const struct cbx_event *event);
    /* Called if the events so far are void: the run begins again. May be NULL. */
    void (*restart)(void *context);
    /* Called with the number of runs before it, if the number has changed; may be NULL. */
    void (*queued)(void *context, int ahead);
    /* Called with each line of progress of an install before the run; may be NULL. */
    void (*progress)(void *context, struct cbx_str line);
    /* Returns true if the client disconnected. Polled during an install before the run; NULL =
     * never. */
    bool (*gone)(void *context);
    /* Called once, at the end: with the execution as /v1 returns it (borrowed), or the error if
     * err->code is set. */
    void (*done)(void *context, const json_t *execution, const struct cbx_err *err);
    bool waits; /* true if the job runs in the thread of cbx_job_start's caller */
    void *context;
};

/* The standard input of a job (input.h). */
struct cbx_job_input {
    bool has, streams;    /* it has an input; more follows */
    struct cbx_buf bytes; /* its beginning, submitted with the program */
    /* For a streaming input, with the lock of the service: bytes received before the run began,
     * and the proof of the last caller; no more follow; a call is sending to the run. */
    struct cbx_buf later, proof;
    bool ended, busy;
};

struct cbx_job {
    struct cbx_service *service;
    const char *origin; /* the API of its request; static */
    /* claims of its client; after acceptance, its proof is the voucher */
    struct cbx_claims claims;
    char voucher[CBX_VOUCHER_CHARS + 1];      /* empty if callers are not authenticated */
    char voucher_subject[CBX_SHA256_HEX + 1]; /* subject of the voucher */
    char principal[CBX_NAME_MAX + 1];         /* its principal */
    char id[37], session[65];                 /* session: empty for a one-shot */
    char language[16];
    enum cbx_entry_kind kind;
    struct cbx_buf policy, source;
    struct cbx_buf path;          /* path of a file */
    struct cbx_buf past, entries; /* of its session (subject.h) */
    uint64_t past_state;          /* state of the session's past, when it was copied */
    int64_t turn;                 /* its place in the order of acceptance; 0 = not accepted */
    int64_t created_ms;           /* wall clock time of its request; used by `codebox stop` */
    struct cbx_asked asked;       /* requests of its session, if it has one */
    /* time for installing its packages for this job; 0 = already present */
    int64_t installed_ms;
    bool interactive;
    struct cbx_job_input input;
    /* Approval of a decision that asks (approvals.h). For a job that an earlier gateway
     * accepted, only the approver: a job that did not begin has to be approved again. */
    struct cbx_approval approval;
    struct cbx_judgement judgement;
    /* For a job that an earlier gateway accepted (recovery.h): its decision, the number of that
     * audit record (0 = not known), and whether it began. */
    char decision[CBX_ID_CHARS + 1];
    uint64_t audit_seq;
    bool begun, recovered;
    int64_t cpu_ms; /* processor time of its run, when that has ended */
    bool starting;  /* started from the backlog, not admitted yet */
    struct cbx_job *next_in_backlog;
    struct cbx_job_client client;
    /* Next job in the queue of its session (queue.h). */
    struct cbx_job *next_queued;
    bool admitted;
    /* Next job among those that have not ended (live.h), with the lock of the service, which
     * also protects `begun`. */
    struct cbx_job *next_live;
    bool is_live, cancelled, wants_room, has_room, ended;
    int ahead; /* last reported number of runs before it */
    /* its decision in the executor; empty = the executor does not have it */
    char run[CBX_ID_CHARS + 1];
    struct cbx_work work;
};

/* Makes an empty job of a principal, with a new id; owned by the caller until cbx_job_start. */
struct cbx_job *cbx_job_new(struct cbx_service *service, const char *principal);

/* Removes the job from its queue and frees it. */
void cbx_job_free(struct cbx_job *job);

/* Stores a queued job (cbx_job_enqueue_judged) and starts it; for a waiting client, runs it and
 * returns when it has ended. Takes the job, also on failure: CBX_EBUSY if too many jobs run.
 * After a failure the client is not called. */
int cbx_job_start(struct cbx_job *job, struct cbx_err *err);

/* --- pasts.c: the past of its session --------------------------------------------------------- */

/* Copies the present past of the job's session, with all accepted entries; an empty one without
 * a session. An error of the store if it cannot be read: nothing is judged then, because a cell
 * without its past could be allowed wrongly. */
int cbx_job_copy_past(struct cbx_job *job, struct cbx_err *err);

/* Reads it from the store again, as it was before the job's turn. */
int cbx_job_recall_past(struct cbx_job *job, struct cbx_err *err);

/* With service->lock held: accepts the job, which was judged with its past. False, and nothing
 * is added, if the session's past has changed since. */
bool cbx_job_add_past(struct cbx_job *job);

/* Computes the ledger of the job's past. */
int cbx_job_past_ledger(struct cbx_job *job, struct cbx_sha256 *out, struct cbx_err *err);

/* True if this is the ledger after the job: the job was done already. */
bool cbx_job_is_done(const struct cbx_job *job, const struct cbx_sha256 *ledger);

#endif
