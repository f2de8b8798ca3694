/* SPDX-License-Identifier: MIT
 * The executor's main work: a sealed decision becomes a record, a permit, a run. */
#include "analyzer/imports.h"
#include "gateway/executor/callers.h"
#include "gateway/executor/executor_internal.h"
#include "gateway/executor/packages/executor_packages.h"
#include "gateway/executor/run/derive.h"
#include "gateway/executor/run/executor_approval.h"
#include "gateway/executor/run/executor_network.h"
#include "gateway/ipc/metrics.h"
#include "gateway/ipc/wire/relay.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>

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

/* One permitted run. */
struct execution {
    struct cbx_executor_request *request;
    const struct cbx_permit *permit;
    struct cbx_submitted given;    /* the program and its input */
    const json_t *environment;     /* the caller's variables (grants.h), or NULL */
    struct cbx_str packages;       /* the packages installed for its sandbox */
    const json_t *sealed;          /* JSON of the decision */
    struct cbx_host_mounts mounts; /* folders opened for its sandbox; owned */
    struct cbx_err refusal;        /* error of opening the folders; code 0 = none */
    bool interactive;
    int64_t own_layers; /* maximum number of package layers of its principal; 0 = no limit */
    struct cbx_sink sink;
    struct cbx_result result; /* owned */
};

/* A sandbox with folders of the host is made for its permit, never taken from the pool. */
static int take_mounted(struct execution *x, struct cbx_pool *pool,
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
static int take_sandbox(struct execution *x, struct cbx_sandbox **out, struct cbx_err *err)
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
static int open_slot(struct execution *x, struct cbx_err *err)
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
static bool lacks_packages(const struct execution *x, const struct cbx_sandbox *sandbox)
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

/* Call it with the session entered and a run slot acquired. */
static int run_entered(struct execution *x, struct cbx_session *session, struct cbx_err *err)
{
    struct cbx_executor *e = x->request->executor;
    struct cbx_sandbox *sandbox = cbx_session_sandbox(session);
    bool restarted = sandbox == NULL || !cbx_sandbox_poll(sandbox);
    if (restarted) { /* or another replica has it: then this executor ends */
        cbx_executor_await_hold(e);
    }
    if (restarted || lacks_packages(x, sandbox)) {
        /* The container ended since the last run: the session continues in a new one, without
         * its state, and the result reports this. */
        const struct cbx_sandbox *ended = sandbox;
        int failed = take_sandbox(x, &sandbox, err);
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
    int failed = cbx_sandbox_run(sandbox, x->permit, x->given.text, &options, &x->result, err);
    x->request->one_shot = NULL;
    if (failed == CBX_ESTALE) {
        cbx_sessions_unbegin(e->sessions, session);
    }
    cbx_executor_end_output(x->request, &x->result);
    x->request->ledger = *cbx_sandbox_ledger(sandbox);
    x->result.session_restarted = restarted;
    return failed;
}

/* Call it with the session entered. */
static int put_entered(struct execution *x, struct cbx_session *session, struct cbx_err *err)
{
    struct cbx_sandbox *sandbox = cbx_session_sandbox(session);
    if (sandbox == NULL || !cbx_sandbox_poll(sandbox)) {
        return cbx_fail(err, CBX_ESTATE, "the session's sandbox is gone, and its files with it");
    }
    int failed = cbx_sandbox_put_judged(sandbox, x->permit, x->given.text, err);
    x->request->ledger = *cbx_sandbox_ledger(sandbox);
    if (!failed) {
        note_begun(x->request);
    }
    return failed;
}

static int put_in_session(struct execution *x, struct cbx_err *err)
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

static int run_in_session(struct execution *x, struct cbx_err *err)
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
static int run_fresh(struct execution *x, struct cbx_err *err)
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

static int run_one_shot(struct execution *x, struct cbx_err *err)
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
static int install(struct execution *x, struct cbx_err *err)
{
    int failed = cbx_executor_packages(x->request->executor, x->permit, x->given.text,
                                       x->own_layers, &x->sink, err);
    cbx_executor_end_output(x->request, &x->result);
    return failed;
}

static int execute(struct execution *x, struct cbx_err *err)
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

static int run_permitted(struct execution *x, struct cbx_audit *audit, struct cbx_err *err)
{
    struct cbx_executor *e = x->request->executor;
    const struct cbx_permit *permit = x->permit;
    cbx_executor_count_unrecorded(e, 1);
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

static int open_seal(struct cbx_executor_request *r, const struct cbx_submit_args *args,
                     struct cbx_str text, struct cbx_sealed *out, struct cbx_err *err)
{
    struct cbx_executor *e = r->executor;
    struct cbx_sha256 mac;
    if (!cbx_sha256_from_hex(args->mac, &mac)) {
        return cbx_fail(err, CBX_ESEAL, "the decision is malformed");
    }
    pthread_mutex_lock(&e->lock);
    const struct cbx_seal_claim claim = {
        .text = args->sealed, .mac = mac, .source = text, .files = args->files
    };
    int failed = cbx_seal_open(&e->secrets.decisions, &claim, cbx_time_ms(), &e->guard, out, err);
    pthread_mutex_unlock(&e->lock);
    if (!failed && out->number < e->secrets.first_number) {
        /* The previous executor may have opened the seal. */
        r->client = CBX_CLIENT_NO_REPLY;
        return cbx_fail(err, CBX_ESEAL, "the decision is older than this executor");
    }
    return failed;
}

/* Only a compromised worker seals settings that its policy does not allow, and only a
 * compromised front approves a decision that does not ask, or submits one that its principal may
 * not make. */
static int check(struct cbx_executor *e, const struct cbx_submit_args *args,
                 const struct cbx_sealed *sealed, struct cbx_str text, json_t **approval,
                 struct cbx_err *err)
{
    struct cbx_err why = { 0 };
    const struct cbx_policies *policies = cbx_policy_history_of(&e->policies, sealed->number);
    int failed = cbx_executor_check_policy(policies, sealed, text, args->packages, &why);
    if (!failed) {
        failed = cbx_executor_read_approval(args, sealed, approval, &why);
    }
    bool acts = sealed->verdict == CBX_ALLOW || *approval != NULL;
    if (!failed && acts && sealed->fields.action != CBX_ACTION_CHECK) {
        failed = cbx_executor_check_submission(e, sealed, args->proof, &why);
    }
    if (!failed && *approval != NULL) {
        failed = cbx_executor_check_approver(e, args, sealed, &why);
    }
    if (failed) {
        cbx_log(CBX_LOG_ERROR, "decision %s is refused: %s", sealed->fields.decision, why.text);
        *err = why;
    }
    return failed;
}

/* Adds the policy's settings to permit and record. */
static int complete(struct cbx_executor *e, const struct cbx_submit_args *args,
                    struct cbx_sealed *sealed, struct cbx_str text, struct cbx_buf *imports,
                    struct cbx_err *err)
{
    const struct cbx_policies *policies = cbx_policy_history_of(&e->policies, sealed->number);
    cbx_executor_derive(policies, sealed, text, args->packages);
    cbx_buf_init(imports, CBX_IMPORTS_BYTES_MAX);
    pthread_mutex_lock(&e->lock);
    int failed = cbx_import_cache_list(&e->imports, policies, &sealed->fields,
                                       sealed->issued_ms / 1000, imports, err);
    pthread_mutex_unlock(&e->lock);
    sealed->fields.imports = cbx_buf_str(imports);
    return failed;
}

/* Sends 'admitted' or 'recorded'. */
static int send_admission(struct cbx_executor_request *r, const char *decision, uint64_t seq,
                          bool allowed, struct cbx_err *err)
{
    CBX_AUTO_JSON answer = cbx_reply_json(allowed ? CBX_REPLY_ADMITTED : CBX_REPLY_RECORDED);
    json_object_set_new(answer, "decision", json_string(decision));
    json_object_set_new(answer, "seq", json_integer((json_int_t)seq));
    return cbx_wire_send(r->fd, answer, CBX_STR(""), err);
}

static void count_decision(const struct cbx_sealed *sealed)
{
    const json_t *findings = json_object_get(sealed->json, "findings");
    cbx_metric_count(CBX_METRIC_DECISIONS, cbx_str_of(cbx_verdict_name(sealed->verdict)),
                     cbx_str_of(sealed->fields.language));
    const json_t *mode = json_object_get(sealed->json, "mode");
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        struct cbx_str effect = cbx_json_str(json_object_get(finding, "effect"));
        bool stops = cbx_str_is(effect, "deny") || cbx_str_is(effect, "ask");
        cbx_metric_count(CBX_METRIC_FINDINGS, cbx_json_str(json_object_get(finding, "rule")),
                         mode != NULL && stops ? cbx_json_str(mode) : effect);
    }
}

/* Records the decision. From then on a permitted action has no outcome yet, also for the next
 * executor. */
static int admit(struct cbx_executor *e, struct cbx_audit *audit, const struct cbx_sealed *sealed,
                 const json_t *approval, struct cbx_permit **permit, uint64_t *seq,
                 struct cbx_err *err)
{
    const char *decision = sealed->fields.decision;
    if (sealed->fields.action != CBX_ACTION_CHECK) {
        json_object_set_new(sealed->json, CBX_OUTCOMES_INSTANCE, json_string(e->name));
    }
    cbx_outcomes_begin(e->outcomes, decision);
    int64_t began_us = cbx_metric_clock_us();
    int failed = cbx_audit_admit(audit, sealed, approval, permit, seq, err);
    cbx_metric_observe(CBX_METRIC_AUDIT_TIME, cbx_metric_clock_us() - began_us);
    if (*permit != NULL) {
        cbx_outcomes_permit(e->outcomes, decision, *seq);
    } else {
        cbx_outcomes_cancel(e->outcomes, decision);
    }
    return failed;
}

/* Checks the submission against the seal, completes the seal, and checks that this executor may act
 * on it now. */
static int examine(struct cbx_executor *e, const struct cbx_submit_args *args,
                   struct cbx_sealed *sealed, struct cbx_str text, json_t **approval,
                   struct cbx_buf *imports, json_t **environment, struct cbx_err *err)
{
    int failed = check(e, args, sealed, text, approval, err);
    if (failed) {
        return failed;
    }
    failed = complete(e, args, sealed, text, imports, err);
    if (failed) {
        return failed;
    }
    failed = cbx_grants_read_set(args->environment, sealed->asked.environment, environment, err);
    if (failed) {
        return failed;
    }
    if (sealed->fields.action != CBX_ACTION_CHECK && sealed->verdict != CBX_DENY) {
        return cbx_executor_check_hold(e, err);
    }
    return 0;
}

/* Prepares what a permit would run, and describes it in the record. */
static void prepare(struct execution *x, struct cbx_sealed *sealed, const json_t *environment)
{
    struct cbx_executor *e = x->request->executor;
    x->environment = environment;
    x->sealed = sealed->json;
    x->own_layers = cbx_executor_layers_of(e, sealed);
    x->sink = cbx_executor_sink(x->request);
    /* A failure of the mounts is the outcome of the decision, recorded after it. */
    cbx_executor_prepare_mounts(e, sealed, &x->mounts, &x->refusal);
    cbx_executor_describe_network(e, sealed);
    cbx_executor_describe_input(&x->given, sealed->json);
}

/* Runs what the permit of the record `seq` allows, in the order of its session, and frees the
 * execution. */
static int run_admitted(struct execution *x, const struct cbx_permit *permit, bool detach,
                        struct cbx_audit *audit, uint64_t seq, struct cbx_err *err)
{
    struct cbx_executor_request *r = x->request;
    struct cbx_sessions *sessions = r->executor->sessions;
    cbx_sessions_enqueue(sessions, permit->action != CBX_ACTION_OPEN ? permit->session : "", permit,
                         &r->ticket);
    int failed = send_admission(r, permit->decision, seq, true, err);
    r->client = detach ? CBX_CLIENT_DETACHED : CBX_CLIENT_ATTACHED;
    x->permit = permit;
    r->run.decision = permit->decision;
    r->run.session = permit->session;
    r->run.principal = permit->principal;
    r->run.permit = permit;
    r->run.claims = x->sealed;
    if (failed) { /* the client has disconnected: nothing runs, and this is the outcome */
        x->refusal = *err;
    }
    failed = run_permitted(x, audit, err);
    cbx_sessions_dequeue(sessions, &r->ticket);
    cbx_result_done(&x->result);
    cbx_host_mounts_done(&x->mounts);
    return failed;
}

int cbx_executor_submit(struct cbx_executor_request *r, const struct cbx_submit_args *args,
                        struct cbx_str bytes, struct cbx_err *err)
{
    struct cbx_executor *e = r->executor;
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    struct execution x = { .request = r,
                           .packages = args->packages,
                           .interactive = args->interactive };
    int failed = cbx_executor_read_submitted(args, bytes, &x.given, err);
    if (failed) {
        return failed;
    }
    failed = open_seal(r, args, x.given.text, &sealed, err);
    if (failed) {
        return failed;
    }
    struct cbx_audit *audit;
    CBX_AUTO(permit) permit = NULL;
    CBX_AUTO_JSON approval = NULL;
    CBX_AUTO_DONE(buf) imports = { 0 };
    uint64_t seq = 0;
    CBX_AUTO_JSON environment = NULL;
    failed = examine(e, args, &sealed, x.given.text, &approval, &imports, &environment, err);
    if (failed) {
        return failed;
    }
    failed = cbx_executor_audit(e, &audit, err);
    if (failed) {
        return failed;
    }
    prepare(&x, &sealed, environment);
    failed = admit(e, audit, &sealed, approval, &permit, &seq, err);
    count_decision(&sealed);
    if (!failed && permit != NULL) {
        return run_admitted(&x, permit, args->detach, audit, seq, err);
    }
    cbx_host_mounts_done(&x.mounts);
    if (failed) {
        return failed;
    }
    return send_admission(r, sealed.fields.decision, seq, false, err);
}
