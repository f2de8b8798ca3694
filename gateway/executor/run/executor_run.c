/* SPDX-License-Identifier: MIT
 * The execution of a permit: in a session's sandbox, in a fresh one, or by an installer. */
#include "gateway/executor/run/execution.h"

#include "gateway/executor/packages/executor_packages.h"
#include "gateway/executor/run/executor_network.h"
#include "gateway/ipc/metrics.h"

/* Time that the next run of the session waits for the acknowledgement of a result. */
enum { UNACKNOWLEDGED_MS = 30000 };

/* --- the client's events ---------------------------------------------------------------------- */

int cbx_executor_send_reply(struct cbx_executor_request *r, enum cbx_reply reply)
{
    CBX_AUTO_JSON header = cbx_reply_json(reply);
    return cbx_wire_send(r->fd, header, CBX_STR(""), NULL);
}

/* Called only after RUN was sent to the sandbox: a client never resubmits after 'begun'. A run
 * cancelled before this point is interrupted here; later cancel calls find the run in its
 * session. */
static void note_begun(void *context)
{
    struct cbx_executor_request *r = context;
    cbx_executor_note_failure(r, cbx_executor_send_reply(r, CBX_REPLY_BEGUN));
    cbx_sessions_dequeue(r->executor->sessions, &r->ticket);
    if (cbx_sessions_is_cancelled(r->executor->sessions, &r->ticket)) {
        const struct cbx_session_name name = { r->run.decision, r->run.principal };
        cbx_sessions_interrupt(r->executor->sessions, &name, NULL);
    }
}

/* Clients of the call `feed` may wait for space in the input buffer. */
static void note_room(void *context)
{
    const struct cbx_executor_request *r = context;
    cbx_sessions_note_room(r->executor->sessions);
}

/* --- turns ------------------------------------------------------------------------------------ */

static bool is_cancelled(const struct cbx_executor_request *r)
{
    return cbx_sessions_is_cancelled(r->executor->sessions, &r->ticket);
}

/* Sends the client the number of runs before it, if the number has changed. */
static bool gives_up(void *context, int ahead)
{
    struct cbx_executor_request *r = context;
    struct cbx_sink sink = cbx_executor_sink(r);
    if (ahead != r->ahead) {
        CBX_AUTO_JSON header = cbx_reply_json(CBX_REPLY_WAITING);
        json_object_set_new(header, "ahead", json_integer(ahead));
        cbx_executor_note_failure(r, cbx_wire_send(r->fd, header, CBX_STR(""), NULL));
        r->ahead = ahead;
    }
    return is_cancelled(r) || sink.cancelled(sink.context);
}

/* Waits for the turn of a run; cbx_turns_end ends the turn. */
static int take_turn(struct cbx_executor_request *r, struct cbx_err *err)
{
    const struct cbx_turn_wait wait = {
        .principal = r->run.principal, .run = r->run.decision, .gives_up = gives_up, .context = r
    };
    int64_t began_us = cbx_metric_clock_us();
    r->ahead = -1;
    int failed = cbx_turns_take(r->executor->turns, &wait, err);
    cbx_metric_observe(CBX_METRIC_QUEUE_TIME, cbx_metric_clock_us() - began_us);
    return failed;
}

/* --- runs ------------------------------------------------------------------------------------- */

/* A sandbox with folders of the host is made for its permit, never taken from the pool. */
static int take_mounted(struct cbx_execution *x, struct cbx_pool *pool,
                        const struct cbx_sandbox_layer *layer, struct cbx_sandbox **out,
                        struct cbx_err *err)
{
    int failed = 0;
    if (x->mounts.mounts.count == 0) {
        failed = cbx_executor_open_mounts(x->request->executor, x->sealed, &x->mounts, err);
    }
    if (failed) {
        return failed;
    }
    return cbx_pool_make(pool, x->permit, layer, &x->mounts.mounts, out, err);
}

/* Claims a sandbox, and gives it the variables of its program. */
static int take_sandbox(struct cbx_execution *x, struct cbx_sandbox **out, struct cbx_err *err)
{
    struct cbx_executor *e = x->request->executor;
    const struct cbx_policy *policy = cbx_policy_history_find(
        &e->policies, cbx_str_of(x->permit->policy), &x->permit->policy_sha256);
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_sandbox_layer layer;
    struct cbx_pool *pool;
    int failed = cbx_executor_pool(e, &pool, err);
    bool mounted = json_array_size(json_object_get(x->sealed, "mounts")) > 0;
    if (failed) {
        return failed;
    }
    failed = cbx_executor_layer(e, x->permit, x->packages, &layer, err);
    if (failed) {
        return failed;
    }
    if (mounted) {
        failed = take_mounted(x, pool, &layer, &sandbox, err);
    } else {
        failed = cbx_pool_take(pool, x->permit, &layer, &x->sink, &sandbox, err);
    }
    if (failed) {
        return failed;
    }
    failed = cbx_grants_give(&e->grants, policy, x->environment, cbx_executor_key(e), sandbox, err);
    if (failed) {
        cbx_executor_discard(e, sandbox);
        return failed;
    }
    cbx_executor_grant_network(e, policy, sandbox);
    *out = sandbox;
    return 0;
}

/* Reserves a slot and makes its sandbox. */
static int open_slot(struct cbx_execution *x, struct cbx_err *err)
{
    struct cbx_executor *e = x->request->executor;
    const struct cbx_permit *permit = x->permit;
    const char *id = permit->session[0] != '\0' ? permit->session : permit->decision;
    if (permit->action == CBX_ACTION_OPEN && cbx_sessions_is_fresh(e->sessions, permit)) {
        return 0; /* opened by an executor that was killed before it replied */
    }
    int failed = cbx_sessions_reserve(e->sessions, permit, err);
    if (failed) {
        return failed;
    }
    struct cbx_sandbox *sandbox = NULL;
    failed = take_sandbox(x, &sandbox, err);
    if (!failed && permit->action == CBX_ACTION_OPEN) {
        cbx_sandbox_warm(sandbox);
    }
    cbx_sessions_fill(e->sessions, id, sandbox);
    if (failed) {
        cbx_sessions_close(e->sessions, &(struct cbx_session_name){ .id = id }, NULL);
    }
    return failed;
}

/* True if the session's first cell installs packages: a sandbox with these packages replaces the
 * unused one. */
static bool lacks_packages(const struct cbx_execution *x, const struct cbx_sandbox *sandbox)
{
    return x->packages.len > 0 && cbx_sandbox_is_untouched(sandbox) &&
           !cbx_sha256_equal(cbx_sandbox_layer(sandbox), &x->permit->layer);
}

/* Checks that the mounts match the record of the run. */
static int continue_session(struct cbx_sandbox *sandbox, const struct cbx_sandbox *ended,
                            struct cbx_err *err)
{
    const json_t *now = cbx_sandbox_mounted(sandbox), *before = cbx_sandbox_mounted(ended);
    if (now != before && !json_equal(now, before)) {
        return cbx_fail(
            err, CBX_ESTATE,
            "the session's sandbox has ended, and the paths of its mounts lead to other "
            "folders now; open a new session");
    }
    return cbx_sandbox_continue(sandbox, ended, err);
}

/* Sets *out to the sandbox of an entered session, NULL if it has none, and opens a connection that
 * broke; *gone: the sandbox cannot be used (cbx_sandbox_reach). */
static int reach(struct cbx_session *session, struct cbx_sandbox **out, bool *gone,
                 struct cbx_err *err)
{
    *out = cbx_session_sandbox(session);
    *gone = true;
    return *out != NULL ? cbx_sandbox_reach(*out, true, gone, err) : 0;
}

/* Call it with the session entered and a run slot acquired. */
static int run_entered(struct cbx_execution *x, struct cbx_session *session, struct cbx_err *err)
{
    struct cbx_executor *e = x->request->executor;
    struct cbx_sandbox *sandbox;
    bool gone;
    int failed = reach(session, &sandbox, &gone, err);
    if (failed) {
        return failed;
    }
    if (gone) { /* or another replica has it: then this executor ends */
        cbx_executor_await_hold(e);
    }
    bool restarted = gone && (sandbox == NULL || !cbx_sandbox_is_untouched(sandbox));
    if (gone || lacks_packages(x, sandbox)) {
        /* The container ended since the last run: the session continues in a new one, without
         * its state, and the result reports this. */
        const struct cbx_sandbox *ended = sandbox;
        failed = take_sandbox(x, &sandbox, err);
        if (failed) {
            return failed;
        }
        if (ended != NULL) {
            failed = continue_session(sandbox, ended, err);
        }
        if (failed) {
            cbx_executor_discard(e, sandbox);
            return failed;
        }
        cbx_sessions_replace(e->sessions, session, sandbox);
    }
    struct cbx_run_options options = { .accept = x->permit->files,
                                       .accept_count = x->permit->file_count,
                                       .sink = &x->sink,
                                       .interactive = x->interactive,
                                       .has_input = x->given.has_input,
                                       .streams = x->given.streams,
                                       .input = x->given.input,
                                       .has_room = note_room,
                                       .begun = note_begun,
                                       .context = x->request };
    cbx_executor_await_hold(e); /* the sandbox may have taken long: its run may be elsewhere now */
    if (is_cancelled(x->request)) { /* cancelled while its sandbox was made */
        return cbx_fail(err, CBX_ECANCELLED, "cancelled before it began");
    }
    cbx_sessions_begin(e->sessions, session, x->permit->decision, x->permit->audit_seq);
    x->request->one_shot = x->permit->session[0] == '\0' ? sandbox : NULL;
    failed = cbx_sandbox_run(sandbox, x->permit, x->given.text, &options, &x->result, err);
    x->request->one_shot = NULL;
    if (!failed && x->result.status == CBX_RUN_LOST) {
        cbx_pool_suspect(e->pool);
    }
    if (failed == CBX_ESTALE) {
        cbx_sessions_unbegin(e->sessions, session);
    }
    cbx_executor_end_output(x->request, &x->result);
    x->request->ledger = *cbx_sandbox_ledger(sandbox);
    x->result.session_restarted = restarted;
    return failed;
}

int cbx_executor_reach(struct cbx_session *session, struct cbx_sandbox **out, struct cbx_err *err)
{
    struct cbx_sandbox *sandbox;
    bool gone;
    int failed = reach(session, &sandbox, &gone, err);
    if (failed) {
        return failed;
    }
    if (gone) {
        return cbx_fail(err, CBX_ESTATE, "the session's sandbox is gone, and its files with it");
    }
    *out = sandbox;
    return 0;
}

/* Call it with the session entered. */
static int put_entered(struct cbx_execution *x, struct cbx_session *session, struct cbx_err *err)
{
    struct cbx_sandbox *sandbox;
    int failed = cbx_executor_reach(session, &sandbox, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sandbox_put_judged(sandbox, x->permit, x->given.text, err);
    x->request->ledger = *cbx_sandbox_ledger(sandbox);
    if (!failed) {
        note_begun(x->request);
    }
    return failed;
}

static int put_in_session(struct cbx_execution *x, struct cbx_err *err)
{
    struct cbx_executor *e = x->request->executor;
    struct cbx_session *session;
    struct cbx_pool *pool; /* opening the pool adopts existing sandboxes */
    int failed = cbx_executor_pool(e, &pool, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sessions_enter_run(e->sessions, &x->request->ticket, x->permit, UNACKNOWLEDGED_MS,
                                    &session, err);
    if (failed) {
        return failed;
    }
    failed = put_entered(x, session, err);
    cbx_sessions_leave(e->sessions, session);
    return failed;
}

static int run_in_session(struct cbx_execution *x, struct cbx_err *err)
{
    struct cbx_executor *e = x->request->executor;
    struct cbx_session *session;
    int failed = cbx_sessions_enter_run(e->sessions, &x->request->ticket, x->permit,
                                        UNACKNOWLEDGED_MS, &session, err);
    if (failed) {
        return failed;
    }
    /* The run slot comes second: runs that wait for their session hold no slot. */
    failed = take_turn(x->request, err);
    if (!failed) {
        failed = run_entered(x, session, err);
        cbx_turns_end(e->turns, x->permit->principal);
    }
    cbx_sessions_leave(e->sessions, session);
    return failed;
}

/* Runs in a sandbox of its own, with a run slot acquired. */
static int run_fresh(struct cbx_execution *x, struct cbx_err *err)
{
    struct cbx_executor *e = x->request->executor;
    const struct cbx_permit *permit = x->permit;
    struct cbx_session *session;
    int failed = open_slot(x, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sessions_enter(e->sessions, permit->decision, permit->principal, &session, err);
    if (!failed) {
        failed = run_entered(x, session, err);
        x->result.session_restarted = false;
        cbx_sessions_leave(e->sessions, session);
    }
    if (failed) {
        cbx_sessions_close(e->sessions, &(struct cbx_session_name){ .id = permit->decision }, NULL);
    }
    return failed;
}

static int run_one_shot(struct cbx_execution *x, struct cbx_err *err)
{
    struct cbx_executor *e = x->request->executor;
    int failed = take_turn(x->request, err);
    if (!failed) {
        failed = run_fresh(x, err);
        cbx_turns_end(e->turns, x->permit->principal);
    }
    return failed;
}

/* Installs packages, without a sandbox. */
static int install(struct cbx_execution *x, struct cbx_err *err)
{
    int failed = cbx_executor_packages(x->request->executor, x->permit, x->given.text,
                                       x->own_layers, &x->sink, err);
    cbx_executor_end_output(x->request, &x->result);
    return failed;
}

static int execute(struct cbx_execution *x, struct cbx_err *err)
{
    if (x->refusal.code != 0) {
        *err = x->refusal;
        return x->refusal.code;
    }
    switch (x->permit->action) {
    case CBX_ACTION_OPEN:
        return open_slot(x, err);
    case CBX_ACTION_FILE:
        return put_in_session(x, err);
    case CBX_ACTION_RESOLVE:
    case CBX_ACTION_INSTALL:
        return install(x, err);
    default:
        if (x->permit->session[0] != '\0') {
            return run_in_session(x, err);
        }
        return run_one_shot(x, err);
    }
}

int cbx_execution_run(struct cbx_execution *x, struct cbx_audit *audit, struct cbx_err *err)
{
    struct cbx_executor *e = x->request->executor;
    const struct cbx_permit *permit = x->permit;
    int64_t began_us = cbx_metric_clock_us();
    int failed = execute(x, err);
    cbx_metric_observe(CBX_METRIC_RUN_TIME, cbx_metric_clock_us() - began_us);
    cbx_metric_count(CBX_METRIC_RUNS,
                     cbx_str_of(failed ? "failed" : cbx_run_status_name(x->result.status)),
                     CBX_STR(""));
    cbx_sessions_dequeue(e->sessions, &x->request->ticket);
    if (failed) {
        cbx_executor_record_failure(x->request, audit, permit, &x->result, failed, err);
        cbx_executor_count_unrecorded(e, -1);
        return failed;
    }
    if (permit->action != CBX_ACTION_RUN) {
        x->result.status = CBX_RUN_OK;
        x->result.exit_code = -1;
    }
    bool acknowledged = cbx_executor_send_result(x->request, audit, permit->decision,
                                                 cbx_action_name(permit->action), &x->result);
    if (permit->action == CBX_ACTION_OPEN && !acknowledged) {
        /* The front was killed before it stored the session's id: no client can use the session. */
        cbx_sessions_close(e->sessions, &(struct cbx_session_name){ .id = permit->session }, NULL);
    }
    return 0;
}
