/* SPDX-License-Identifier: MIT
 * What the files of the executor share; no other folder includes it. */
#ifndef CBX_GATEWAY_EXECUTOR_EXECUTOR_INTERNAL_H
#define CBX_GATEWAY_EXECUTOR_EXECUTOR_INTERNAL_H

#include "docker/engine/engine.h"
#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/outcomes.h"
#include "gateway/executor/executor.h"
#include "gateway/executor/heads/audit_keeper.h"
#include "gateway/executor/health.h"
#include "gateway/executor/packages/executor_layers.h"
#include "gateway/executor/policies.h"
#include "gateway/executor/run/executor_imports.h"
#include "gateway/executor/run/executor_mounts.h"
#include "gateway/executor/run/grants.h"
#include "gateway/executor/run/outlet.h"
#include "gateway/executor/run/turns.h"
#include "gateway/executor/sessions/sessions.h"
#include "gateway/ipc/wire/executor_calls.h"
#include "gateway/ipc/wire/ipc_wire.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CBX_WITHHELD_MAX = 1024 };

struct cbx_executor {
    struct cbx_executor_config config;
    struct cbx_executor_secrets secrets;
    struct cbx_policy_history policies;
    struct cbx_grants grants; /* unchanged once requests are served */
    pthread_mutex_t lock;     /* of everything below but sessions and health */
    struct cbx_audit *audit;
    struct cbx_audit_keeper *keeper; /* of its heads, opened before the confinement; NULL = none */
    char keeper_problem
        [CBX_ERR_TEXT_BYTES]; /* why there is none, when there should be; else empty */
    struct cbx_engine *engine;
    struct cbx_pool *pool;
    struct cbx_instance instance;
    struct cbx_replay_guard guard;
    struct cbx_import_cache imports;
    struct cbx_sha256 voucher_key; /* known after its first use */
    bool has_voucher_key;
    struct cbx_turns *turns; /* of programs: config.max_runs at the same time */
    struct cbx_layers *layers;
    struct cbx_turns *installs; /* of installers: config.max_installs at the same time */
    int unrecorded;             /* actions whose outcome is being recorded, or to be */
    struct cbx_outcomes *outcomes;
    char name[33]; /* of the instance, from when the audit log is opened */
    bool stopping;
    struct cbx_sessions *sessions;
    struct cbx_health health;
    /* Runs whose sandbox was not adopted, as this executor could not redact their output. Written while the pool is opened. */
    char withheld[CBX_WITHHELD_MAX][CBX_NAME_MAX + 1];
    atomic_size_t withheld_count;
    atomic_uint_fast64_t refusals[CBX_REFUSALS]; /* of the guard, since this executor started */
};

/* The client of one call (the front, through its connection), as its run sees it. */
enum cbx_client_state {
    CBX_CLIENT_ATTACHED = 0, /* the run is cancelled when the client disconnects */
    CBX_CLIENT_DETACHED,     /* the run continues when the client disconnects */
    CBX_CLIENT_GONE,     /* a detached run's client has disconnected: no event is sent any more */
    CBX_CLIENT_NO_REPLY, /* closed without an answer, as if the executor had been killed before the
                                run began: the front has the source judged again */
};

/* One call that is being served. */
struct cbx_executor_request {
    struct cbx_executor *executor;
    int fd;
    enum cbx_client_state client;
    int ahead; /* how many runs the client was told are before it; -1 = nothing yet */
    struct cbx_ticket ticket;     /* queued from admission until the run begins or fails */
    struct cbx_sha256 ledger;     /* of the session, when the call failed with CBX_ESTALE */
    struct cbx_sandbox *one_shot; /* while a run is in it: cancelling the run ends the sandbox */
    struct cbx_outlet outlet;     /* of its events */
    /* The run whose events are sent, for the audit log. A run that an earlier executor began has no
     * permit here, and its events are replayed from the first one: a refusal may be recorded twice. */
    struct {
        const char *decision, *session, *principal;
        const struct cbx_permit *permit;
        const json_t *claims; /* an object that has those of the client; NULL = none */
    } run;
};

/* Opens the audit log; opens the engine and the pool and adopts sandboxes. The first call does
 * it, later ones return what is there. CBX_ESTATE when the executor is stopping. */
int cbx_executor_audit(struct cbx_executor *e, struct cbx_audit **out, struct cbx_err *err);
int cbx_executor_pool(struct cbx_executor *e, struct cbx_pool **out, struct cbx_err *err);

/* True once the executor ends. */
bool cbx_executor_is_stopping(struct cbx_executor *e);

/* The key of digests that are kept in sandboxes. There must be a pool. */
struct cbx_str cbx_executor_key(const struct cbx_executor *e);

/* True when the result of this run is withheld: its program had other values of variables than this executor. There must be a pool. */
bool cbx_executor_withholds(const struct cbx_executor *e, const char *run);

/* Counts actions whose outcome is not in the audit log yet: the executor's end waits for them. */
void cbx_executor_count_unrecorded(struct cbx_executor *e, int change);

/* Writes the outcomes that the log did not take, and those of actions that an executor before this one left. */
void cbx_executor_tend_outcomes(struct cbx_executor *e);

/* The last time, before this executor exits: what still runs is for the next one. */
void cbx_executor_leave_outcomes(struct cbx_executor *e);

/* How long sandboxes live without this executor. */
int64_t cbx_executor_lease_ms(const struct cbx_executor *e);

/* True when a session or the pool has this container; for struct cbx_reap. */
bool cbx_executor_has(void *executor, const char *id);

/* Records what the guard refused in the sandbox of a session after its last run, before the sandbox is discarded. */
void cbx_executor_record_late(struct cbx_executor *e, struct cbx_sandbox *sandbox);

/* Disposes of a sandbox that is not used any more; a cbx_discard_fn for cbx_sessions_new. */
void cbx_executor_discard(void *executor, struct cbx_sandbox *sandbox);

/* Serves the call that comes through the connection, in the calling thread, and closes it. */
void cbx_executor_serve(struct cbx_executor *e, int fd);

/* --- executor_run.c --------------------------------------------------------------------------- */

/* Sends an answer without fields. */
int cbx_executor_send_reply(struct cbx_executor_request *r, enum cbx_reply reply);

/* --- run_outcome.c ------------------------------------------------------------------------------ */

/* Sends the result of a run, records its outcome as that of the action, and waits until the client has stored it: false when that did not
 * say so. Neither the client nor the next run waits for the record. The run counts as recorded then. */
bool cbx_executor_send_result(struct cbx_executor_request *r, struct cbx_audit *audit,
                              const char *run_id, const char *action,
                              const struct cbx_result *result);

/* Records the outcome of an action that failed. */
void cbx_executor_record_failure(struct cbx_executor_request *r, struct cbx_audit *audit,
                                 const struct cbx_permit *permit, const struct cbx_result *result,
                                 int failed, const struct cbx_err *err);

/* --- run_input.c ------------------------------------------------------------------------------ */

/* The bytes of the call `submit`; borrowed from them. */
struct cbx_submitted {
    struct cbx_str text;     /* what may run */
    struct cbx_str input;    /* the beginning of its standard input */
    bool has_input, streams; /* it has one; more of it comes (`feed`) */
};

/* Divides them. CBX_EPROTO, and CBX_ETOOBIG for an input that no sandbox takes. */
int cbx_executor_read_submitted(const struct cbx_submit_args *args, struct cbx_str bytes,
                                struct cbx_submitted *out, struct cbx_err *err);

/* Adds the length and the hash of the input to the decision, which is on disk before anything runs. Those of one that comes while the program
 * runs are in the outcome alone. */
void cbx_executor_describe_input(const struct cbx_submitted *submitted, json_t *decision);

/* --- run_mounts.c ----------------------------------------------------------------------------- */

/* Opens the folders of the host that a decision has in "mounts", under its policy. Errors as cbx_host_mounts_open_on. */
int cbx_executor_open_mounts(struct cbx_executor *e, const json_t *sealed,
                             struct cbx_host_mounts *out, struct cbx_err *err);

/* Before the decision is recorded: opens the folders of a sandbox that is to be made, and adds what is, or will be, mounted to the
 * decision's JSON as "mounted": of a run in a session, or a file for it, what is mounted there. Nothing where there are no mounts and where nothing will
 * run. */
int cbx_executor_prepare_mounts(struct cbx_executor *e, struct cbx_sealed *sealed,
                                struct cbx_host_mounts *out, struct cbx_err *err);

/* --- run_events.c ----------------------------------------------------------------------------- */

/* The sink of a run's events: names the rules of refusals, records them, and sends everything to the client without
 * secrets. Borrows the request. */
struct cbx_sink cbx_executor_sink(struct cbx_executor_request *r);

/* The run is over: sends what was held back, and replaces secrets in the result's error. */
void cbx_executor_end_output(struct cbx_executor_request *r, struct cbx_result *result);

/* What a failure to send means: a detached run continues after its client disconnects; an attached one fails with
 * its sink. Returns the result for the run. */
int cbx_executor_note_failure(struct cbx_executor_request *r, int failed);

/* The calls with several answers. `bytes` are those of `submit` (executor.def). */
int cbx_executor_submit(struct cbx_executor_request *r, const struct cbx_submit_args *args,
                        struct cbx_str bytes, struct cbx_err *err);
int cbx_executor_resume(struct cbx_executor_request *r, const struct cbx_resume_args *args,
                        struct cbx_err *err);

#endif
