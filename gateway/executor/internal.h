/* SPDX-License-Identifier: MIT
 * What the files of the executor share; nobody else includes it. */
#ifndef CBX_GATEWAY_EXECUTOR_INTERNAL_H
#define CBX_GATEWAY_EXECUTOR_INTERNAL_H

#include "docker/engine.h"
#include "gateway/executor/audit.h"
#include "gateway/executor/executor.h"
#include "gateway/executor/sessions.h"
#include "gateway/ipc/threads.h"
#include "gateway/ipc/wire.h"

#include <pthread.h>

struct cbx_executor {
    struct cbx_executor_config config;
    struct cbx_secrets secrets;
    pthread_mutex_t
        lock; /* audit, engine, guard, running: everything below that is made or counted */
    struct cbx_audit *audit;
    struct cbx_engine *engine;
    struct cbx_pool *pool;
    struct cbx_instance instance;
    struct cbx_replay_guard guard;
    pthread_cond_t place_free, run_begun;
    struct cbx_executor_request *admitted; /* runs that did not begin yet */
    int running, waiting, active;
    bool ending;
    struct cbx_sessions *sessions;
    struct cbx_threads *threads;
};

/* One request on its way through. */
struct cbx_executor_request {
    struct cbx_executor *executor;
    int fd;
    bool kept;    /* what it runs is wanted even when nobody listens */
    bool deaf;    /* nobody listens any more */
    bool dropped; /* no answer: the front takes it that we were killed before it began */
    char run[CBX_ID_CHARS + 1]; /* while it is among the admitted */
    struct cbx_executor_request *next_admitted;
    struct cbx_turn turn; /* in the line of its session */
};

/* What the first request opens. */
int cbx_executor_audit(struct cbx_executor *e, struct cbx_audit **out, struct cbx_err *err);
int cbx_executor_pool(struct cbx_executor *e, struct cbx_pool **out, struct cbx_err *err);

/* One of the max_runs places; a front that hangs up gives its place in the queue up. */
int cbx_executor_enter(struct cbx_executor *e, const struct cbx_sink *sink, struct cbx_err *err);
void cbx_executor_leave(struct cbx_executor *e);

/* Requests whose outcome is not in the log yet: the executor's end waits for them. */
void cbx_executor_count(struct cbx_executor *e, int change);

/* The sandbox is needed no more; for cbx_sessions_new. */
void cbx_executor_discard(void *executor, struct cbx_sandbox *sandbox);

/* Answers what comes through the connection, in a thread of its own, and closes it. */
void cbx_executor_serve(struct cbx_executor *e, int fd);

/* Open the seal, write the record, and only then run; and to follow such a run once more. */
int cbx_executor_submit(struct cbx_executor_request *r, const struct cbx_message *message,
                        struct cbx_err *err);
int cbx_executor_resume(struct cbx_executor_request *r, const struct cbx_message *message,
                        struct cbx_err *err);

#endif
