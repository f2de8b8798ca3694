/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the executor; no other folder includes it. */
#ifndef CBX_GATEWAY_EXECUTOR_EXECUTOR_INTERNAL_H
#define CBX_GATEWAY_EXECUTOR_EXECUTOR_INTERNAL_H

#include "docker/engine/engine.h"
#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/outcomes.h"
#include "gateway/executor/executor.h"
#include "gateway/executor/heads/audit_anchors.h"
#include "gateway/executor/heads/audit_keeper.h"
#include "gateway/executor/health.h"
#include "gateway/executor/holdings.h"
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
    struct cbx_grants grants; /* unchanged after the first request is served */
    pthread_mutex_t lock;     /* protects all members below except sessions and health */
    struct cbx_audit *audit;
    /* keeper of the log's heads, opened before the confinement; NULL = none */
    struct cbx_audit_keeper *keeper;
    /* reason why the configured keeper could not be opened; else empty */
    char keeper_problem[CBX_ERR_TEXT_BYTES];
    struct cbx_anchors anchors;
    struct cbx_engine *engine;
    struct cbx_pool *pool;
    struct cbx_instance instance;
    struct cbx_replay_guard guard;
    struct cbx_import_cache imports;
    struct cbx_sha256 voucher_key; /* known after its first use */
    bool has_voucher_key;
    /* turns of programs: at most config.max_runs run at the same time */
    struct cbx_turns *turns;
    struct cbx_layers *layers;
    /* turns of installers: at most config.max_installs at the same time */
    struct cbx_turns *installs;
    int unrecorded; /* number of actions whose outcome is not recorded yet */
    struct cbx_outcomes *outcomes;
    char name[33]; /* name of the instance, set when the audit log is opened */
    bool stopping;
    struct cbx_sessions *sessions;
    struct cbx_holdings holdings; /* instances of replicas (holdings.h) */
    struct cbx_health health;
    /* Runs whose sandbox was not adopted, because this executor could not redact their output.
     * Written while the pool is opened. */
    char withheld[CBX_WITHHELD_MAX][CBX_NAME_MAX + 1];
    atomic_size_t withheld_count;
    /* number of the guard's refusals since this executor started */
    atomic_uint_fast64_t refusals[CBX_REFUSALS];
};

/* The state of one call's client (the front, through its connection) during its run. */
enum cbx_client_state {
    CBX_CLIENT_ATTACHED = 0, /* the run is cancelled when the client disconnects */
    CBX_CLIENT_DETACHED,     /* the run continues when the client disconnects */
    CBX_CLIENT_GONE,         /* a detached run's client has disconnected: no more events are sent */
    /* closed without a reply, as if the executor had been killed before the run began: the front
     * has the source judged again */
    CBX_CLIENT_NO_REPLY,
};

/* One call that is being served. */
struct cbx_executor_request {
    struct cbx_executor *executor;
    int fd;
    enum cbx_client_state client;
    int ahead; /* number of runs before this one, as last sent to the client; -1 = none sent */
    struct cbx_ticket ticket; /* queued from admission until the run begins or fails */
    struct cbx_sha256 ledger; /* ledger of the session, if the call failed with CBX_ESTALE */
    /* set while it has a run: cancelling the run ends the sandbox */
    struct cbx_sandbox *one_shot;
    struct cbx_outlet outlet; /* outlet of its events */
    /* The run whose events are sent, for the audit log. A resumed run of an earlier executor has
     * no permit here, and its events are replayed from the first one: a refusal may be recorded
     * twice. */
    struct {
        const char *decision, *session, *principal;
        const struct cbx_permit *permit;
        const json_t *claims; /* object with the client's claims; NULL = none */
    } run;
};

/* cbx_executor_audit opens the audit log; cbx_executor_pool opens the engine and the pool and
 * adopts sandboxes. The first call opens, later calls return the same objects. CBX_ESTATE if the
 * executor is stopping. */
int cbx_executor_audit(struct cbx_executor *e, struct cbx_audit **out, struct cbx_err *err);
int cbx_executor_pool(struct cbx_executor *e, struct cbx_pool **out, struct cbx_err *err);

/* As cbx_executor_pool, without waiting for the first call `hold`. */
int cbx_executor_open_pool(struct cbx_executor *e, struct cbx_pool **out, struct cbx_err *err);

/* Adopts sandboxes with a session or a result of the instance in the configuration, which is
 * borrowed for the life of the process, and removes all other containers of it; *adopted is their
 * number. CBX_EENGINE if they cannot be listed. The pool must exist. */
int cbx_executor_adopt(struct cbx_executor *e, const struct cbx_sandbox_config *config,
                       size_t *adopted, struct cbx_err *err);

/* True after the executor began to end. */
bool cbx_executor_is_stopping(struct cbx_executor *e);

/* Returns the key of digests that sandboxes store. The pool must exist. */
struct cbx_str cbx_executor_key(const struct cbx_executor *e);

/* True if the result of this run is withheld: its program had other values of variables than
 * this executor. The pool must exist. */
bool cbx_executor_withholds(const struct cbx_executor *e, const char *run);

/* Counts actions whose outcome is not in the audit log yet: the executor waits for them before
 * it ends. */
void cbx_executor_count_unrecorded(struct cbx_executor *e, int change);

/* Writes outcomes that could not be written before, and outcomes of actions that an earlier
 * executor left. */
void cbx_executor_tend_outcomes(struct cbx_executor *e);

/* Writes outcomes before this executor exits: running actions are left to the next executor. */
void cbx_executor_leave_outcomes(struct cbx_executor *e);

/* Returns the time that sandboxes live without this executor. */
int64_t cbx_executor_lease_ms(const struct cbx_executor *e);

/* True if a session or the pool has this container; for struct cbx_reap. */
bool cbx_executor_has(void *executor, const char *id);

/* Records the guard's refusals in a session's sandbox after its last run, before the sandbox is
 * discarded. */
void cbx_executor_record_late(struct cbx_executor *e, struct cbx_sandbox *sandbox);

/* Disposes of an unused sandbox; a cbx_discard_fn for cbx_sessions_new. */
void cbx_executor_discard(void *executor, struct cbx_sandbox *sandbox);

/* Serves the call on the connection, in the calling thread, and closes the connection. */
void cbx_executor_serve(struct cbx_executor *e, int fd);

/* --- executor_run.c --------------------------------------------------------------------------- */

/* Sends a reply without fields. */
int cbx_executor_send_reply(struct cbx_executor_request *r, enum cbx_reply reply);

/* --- run_outcome.c ---------------------------------------------------------------------------- */

/* Sends the result of a run, records it as the outcome of the action, and waits until the client
 * has stored it: false if the client did not acknowledge it. Neither the client nor the next run
 * waits for the record. The run counts as recorded then. */
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
    struct cbx_str text;     /* the text that may run */
    struct cbx_str input;    /* the beginning of its standard input */
    bool has_input, streams; /* it has a standard input; the call `feed` sends the rest */
};

/* Splits the bytes. CBX_EPROTO, and CBX_ETOOBIG for an input that no sandbox accepts. */
int cbx_executor_read_submitted(const struct cbx_submit_args *args, struct cbx_str bytes,
                                struct cbx_submitted *out, struct cbx_err *err);

/* Adds the length and the hash of the input to the decision, which is on disk before anything
 * runs. For input that arrives while the program runs, only the outcome has them. */
void cbx_executor_describe_input(const struct cbx_submitted *submitted, json_t *decision);

/* --- run_mounts.c ----------------------------------------------------------------------------- */

/* Opens the folders of the host in a decision's "mounts", under its policy. Errors as
 * cbx_host_mounts_open_on. */
int cbx_executor_open_mounts(struct cbx_executor *e, const json_t *sealed,
                             struct cbx_host_mounts *out, struct cbx_err *err);

/* Called before the decision is recorded: opens the folders for a new sandbox, and adds its
 * present or future mounts to the decision's JSON as "mounted"; for a run in a session, or a
 * file for it, the mounts of the session's sandbox. No effect without mounts, or if nothing will
 * run. */
int cbx_executor_prepare_mounts(struct cbx_executor *e, struct cbx_sealed *sealed,
                                struct cbx_host_mounts *out, struct cbx_err *err);

/* --- run_events.c ----------------------------------------------------------------------------- */

/* Returns the sink of a run's events: it names the rules of refusals, records them, and sends
 * every event to the client with secrets replaced. Borrows the request. */
struct cbx_sink cbx_executor_sink(struct cbx_executor_request *r);

/* Called after the run: sends the output that was held back, and replaces secrets in the
 * result's error. */
void cbx_executor_end_output(struct cbx_executor_request *r, struct cbx_result *result);

/* Handles a failure to send: a detached run continues after its client disconnects; an attached
 * one fails with its sink. Returns the result for the run. */
int cbx_executor_note_failure(struct cbx_executor_request *r, int failed);

/* Returns the sandbox of an entered session, for a request of a caller. CBX_ESTATE if it has ended;
 * CBX_EENGINE if that is not known. */
int cbx_executor_reach(struct cbx_session *session, struct cbx_sandbox **out, struct cbx_err *err);

/* The calls with several replies. `bytes` are the bytes of `submit` (executor.def). */
int cbx_executor_submit(struct cbx_executor_request *r, const struct cbx_submit_args *args,
                        struct cbx_str bytes, struct cbx_err *err);
int cbx_executor_resume(struct cbx_executor_request *r, const struct cbx_resume_args *args,
                        struct cbx_err *err);

#endif
