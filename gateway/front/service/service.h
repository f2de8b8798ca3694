/* SPDX-License-Identifier: MIT
 * Sessions and executions for every API: the requests accepted for a session have one order,
 * each is judged with the entries accepted before it, and its result is stored before the
 * sandbox drops it. Thread-safe. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_SERVICE_H
#define CBX_GATEWAY_FRONT_SERVICE_SERVICE_H

#include "gateway/front/review.h"
#include "gateway/front/store/store.h"
#include "gateway/identity/quotas.h"
#include "gateway/ipc/threads.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CBX_SERVICE_PASTS = 128, CBX_SERVICE_APPROVALS = 4096, CBX_SERVICE_SETS = 64 };

struct cbx_forwarder;
struct cbx_replica_watch;
struct cbx_takeover;
struct cbx_shared_quotas;
struct cbx_issuer_keys;
struct cbx_job;
struct cbx_install; /* service_packages.c */

/* The entries accepted for one session so far, for the next judgement (subject.h). */
struct cbx_session_past {
    char session[65];
    uint64_t used;  /* number of its last use */
    uint64_t state; /* number of its contents; every change gives a new one */
    struct cbx_buf sealed, entries;
};

/* A used approval (approvals.h). */
struct cbx_used_approval {
    char asked[CBX_ID_CHARS + 1];
    int64_t expires_ms; /* time of its removal, of cbx_clock_ms; 0 = free */
};

/* The packages that requirements were resolved to (service_packages.h). */
struct cbx_resolved_set {
    struct cbx_sha256 key; /* hash of the requirements */
    int64_t until_ms;      /* time of cbx_clock_ms */
    int64_t used_ms;       /* time of the last use; the least recently used set is dropped first */
    char *text;            /* text of the set; NULL = free, or not known yet */
    bool busy;             /* it is being installed: requests for the same set wait */
};

/* The service behind an API. Flow and store are borrowed. */
struct cbx_service {
    struct cbx_flow *flow;
    struct cbx_store *store;
    char began_at[32];               /* time of cbx_service_init, as cbx_service_now */
    struct cbx_decisions *decisions; /* last decisions (decisions.h); the flow adds them */
    struct cbx_quotas *quotas;       /* borrowed; NULL = none (set it before the first request) */
    /* the same over all replicas; NULL = each counts by itself (service/shared_quotas.h) */
    struct cbx_shared_quotas *shared_quotas;
    struct cbx_issuer_keys *issuer_keys; /* borrowed, may be NULL; metrics only */
    /* the other replicas (front/forward); borrowed, NULL = there are none */
    struct cbx_forwarder *forwarder;
    struct cbx_replica_watch *replica_watch; /* borrowed, may be NULL */
    struct cbx_takeover
        *takeover; /* borrowed; NULL = replicas do not take over (jobs/takeover.h) */
    pthread_mutex_t lock;
    pthread_cond_t queue_changed;
    struct cbx_job *live, **live_last; /* executions that have not ended (live.h) */
    pthread_t watcher;                 /* thread of cbx_live_watch */
    pthread_cond_t watch_changed;
    bool watches;
    struct cbx_job *queue; /* jobs that have not begun (queue.h) */
    /* jobs of an earlier gateway that have not started yet (recovery.h) */
    struct cbx_job *backlog;
    int backlog_jobs;               /* its length */
    int starting;                   /* number of backlog jobs started and not admitted yet */
    struct cbx_threads *jobs;       /* threads of the jobs without a waiting client */
    int64_t jobs_begun, jobs_ended; /* numbers of executions of this process */
    int jobs_max;
    int64_t fresh_ms; /* age in the queue after which a decision is made again */
    bool stopping;
    struct cbx_session_past pasts[CBX_SERVICE_PASTS];
    uint64_t past_uses, past_states;
    struct cbx_used_approval approvals[CBX_SERVICE_APPROVALS];
    struct cbx_resolved_set sets[CBX_SERVICE_SETS];
    /* hash of the configured package sources; zero = the defaults */
    struct cbx_sha256 package_sources;
    pthread_cond_t sets_changed;
    struct cbx_install *installs; /* requests whose packages are not installed yet */
    int64_t turns;                /* number of jobs accepted, which is their order */
    /* sessions opened since the rows of closed ones were removed, */
    atomic_int sessions_opened;
    atomic_int sessions_open; /* and sessions that were open then */
    atomic_bool announced_stop;
};

/* Starts a service over a flow and a store, both borrowed, that runs at most `jobs_max`
 * executions at a time; further jobs of an earlier gateway wait. End it with cbx_service_stop
 * and cbx_service_done. */
void cbx_service_init(struct cbx_service *service, struct cbx_flow *flow, struct cbx_store *store,
                      int jobs_max);

/* Refuses new jobs and detaches the running ones: their runs continue in their sandboxes, their
 * clients get CBX_EBUSY, and their rows stay for the next gateway. */
void cbx_service_stop(struct cbx_service *service);

/* Reports the service as stopping from now on; jobs continue. Called before cbx_service_stop, so
 * that load balancers send no more requests (GET /readyz). */
void cbx_service_announce_stop(struct cbx_service *service);

/* True after either call. */
bool cbx_service_says_stop(const struct cbx_service *service);

/* True after cbx_service_stop. */
bool cbx_service_is_stopping(struct cbx_service *service);

/* Waits until all jobs have ended, then frees the memory of cbx_service_init. The flow must
 * outlive this call. */
void cbx_service_done(struct cbx_service *service);

/* Frees the pasts of all sessions. */
void cbx_service_pasts_done(struct cbx_service *service);

/* Drops the past of a session from memory: the next use reads it from the store. */
void cbx_service_drop_past(struct cbx_service *service, const char *session);

/* Writes the time as "2026-11-21T06:00:00.123456", UTC without a zone, in the format of
 * CodeBox-AI; the second one a time in microseconds since 1970. */
void cbx_service_now(char out[32]);
void cbx_service_time(int64_t us, char out[32]);

/* Makes a request to the flow for a principal. `session` may be empty, `limits` (borrowed) NULL.
 * `origin` is the API: "rest", "mcp". */
struct cbx_request cbx_service_request(enum cbx_action action, const char *principal,
                                       const char *language, struct cbx_str policy,
                                       struct cbx_str session, struct cbx_str source,
                                       const struct cbx_asked *asked, struct cbx_str origin);

#endif
