/* SPDX-License-Identifier: MIT
 * Sessions and executions, as every API has them: what is accepted for a session has one order, is
 * judged with what was accepted before it, and its result is stored before the sandbox drops it.
 * Thread-safe. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_SERVICE_H
#define CBX_GATEWAY_FRONT_SERVICE_SERVICE_H

#include "gateway/front/review.h"
#include "gateway/front/store/store.h"
#include "gateway/identity/quotas.h"
#include "gateway/ipc/threads.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CBX_SERVICE_PASTS = 128, CBX_SERVICE_APPROVALS = 4096, CBX_SERVICE_SETS = 64 };

struct cbx_issuer_keys;
struct cbx_job;
struct cbx_install; /* service_packages.c */

/* What was accepted for one session so far, for the judgement of the next (subject.h). */
struct cbx_session_past {
    char session[65];
    uint64_t used;  /* number of its last use */
    uint64_t state; /* a number for what it holds; every change gives a new one */
    struct cbx_buf sealed, entries;
};

/* An approval that cannot be used any more (approvals.h). */
struct cbx_used_approval {
    char asked[CBX_ID_CHARS + 1];
    int64_t expires_ms; /* then it is forgotten; of cbx_clock_ms, 0 = free */
};

/* What packages requirements were resolved to (service_packages.h). */
struct cbx_resolved_set {
    struct cbx_sha256 key; /* of the requirements */
    int64_t until_ms;      /* of cbx_clock_ms */
    int64_t used_ms; /* the last time; the one that was not used for longest is forgotten first */
    char *text;      /* of the set; NULL = free, or not known yet */
    bool busy;       /* it is being installed: who asks for the same waits */
};

/* Everything behind an API. Flow and store are borrowed. */
struct cbx_service {
    struct cbx_flow *flow;
    struct cbx_store *store;
    struct cbx_decisions *decisions; /* the last ones (decisions.h); the flow fills them */
    struct cbx_quotas *quotas;       /* borrowed; NULL = none (set it before the first request) */
    struct cbx_issuer_keys *issuer_keys; /* for the metrics alone; the same */
    pthread_mutex_t lock;
    pthread_cond_t queue_changed;
    struct cbx_job *live, **live_last; /* executions that have not ended (live.h) */
    pthread_t watcher;                 /* of them (cbx_live_watch) */
    pthread_cond_t watch_changed;
    bool watches;
    struct cbx_job *queue;    /* jobs that have not begun (queue.h) */
    struct cbx_job *backlog;  /* jobs of an earlier gateway that did not start yet (recovery.h) */
    int backlog_jobs;         /* its length */
    int starting;             /* jobs of the backlog that were started and not admitted yet */
    struct cbx_threads *jobs; /* threads of the jobs that no client waits for */
    int64_t jobs_begun, jobs_ended; /* executions of this process */
    int jobs_max;
    int64_t fresh_ms; /* a decision that waited longer in the queue is made again */
    bool stopping;
    struct cbx_session_past pasts[CBX_SERVICE_PASTS];
    uint64_t past_uses, past_states;
    struct cbx_used_approval approvals[CBX_SERVICE_APPROVALS];
    struct cbx_resolved_set sets[CBX_SERVICE_SETS];
    struct cbx_sha256
        package_sources; /* of where packages come from, as configured; zero = the defaults */
    pthread_cond_t sets_changed;
    struct cbx_install *installs; /* requests whose packages are not there yet */
    int64_t turns;                /* of all jobs, in the order of acceptance */
    atomic_int sessions_opened;   /* since the rows of closed ones were removed, */
    atomic_int sessions_open;     /* and how many were open then */
    atomic_bool announced_stop;
};

/* Starts a service over a flow and a store, both borrowed, that runs at most `jobs_max` executions
 * at a time; what an earlier gateway accepted beyond that waits. End it with cbx_service_stop and
 * cbx_service_done. */
void cbx_service_init(struct cbx_service *service, struct cbx_flow *flow, struct cbx_store *store,
                      int jobs_max);

/* Refuses new jobs and detaches the running ones: their runs continue in their sandboxes, their
 * clients get CBX_EBUSY, and their rows stay for the next gateway. */
void cbx_service_stop(struct cbx_service *service);

/* From now on the service is said to be stopping; jobs go on. Before cbx_service_stop, so that load balancers
 * send nothing more (GET /readyz). */
void cbx_service_announce_stop(struct cbx_service *service);

/* True from either call on. */
bool cbx_service_says_stop(const struct cbx_service *service);

/* True from cbx_service_stop on. */
bool cbx_service_is_stopping(struct cbx_service *service);

/* Waits until all jobs have ended, then frees what cbx_service_init made. The flow must outlive
 * this call. */
void cbx_service_done(struct cbx_service *service);

/* Frees the pasts of all sessions. */
void cbx_service_pasts_done(struct cbx_service *service);

/* Forgets the past of a session that is in memory: it is read from the store when it is needed
 * next. */
void cbx_service_drop_past(struct cbx_service *service, const char *session);

/* "2026-11-21T06:00:00.123456", UTC without a zone as CodeBox-AI writes it. */
void cbx_service_now(char out[32]);

/* A request to the flow in the name of a principal. `session` may be empty, `limits` (borrowed)
 * NULL. `origin` is the API: "rest", "mcp". */
struct cbx_request cbx_service_request(enum cbx_action action, const char *principal,
                                       const char *language, struct cbx_str policy,
                                       struct cbx_str session, struct cbx_str source,
                                       const struct cbx_asked *asked, struct cbx_str origin);

#endif
