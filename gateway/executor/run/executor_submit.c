/* SPDX-License-Identifier: MIT
 * The call `submit`: a sealed decision becomes a record and, if it allows something, a permit. */
#include "analyzer/imports.h"
#include "gateway/executor/callers.h"
#include "gateway/executor/run/derive.h"
#include "gateway/executor/run/execution.h"
#include "gateway/executor/run/executor_approval.h"
#include "gateway/executor/run/executor_network.h"
#include "gateway/ipc/metrics.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

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
static void prepare(struct cbx_execution *x, struct cbx_sealed *sealed, const json_t *environment)
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
static int run_admitted(struct cbx_execution *x, const struct cbx_permit *permit, bool detach,
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
    failed = cbx_execution_run(x, audit, err);
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
    struct cbx_execution x = { .request = r,
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
    /* counted before the decision is recorded: an executor that ends waits for its outcome */
    cbx_executor_count_unrecorded(e, 1);
    failed = admit(e, audit, &sealed, approval, &permit, &seq, err);
    count_decision(&sealed);
    if (!failed && permit != NULL) {
        return run_admitted(&x, permit, args->detach, audit, seq, err);
    }
    cbx_executor_count_unrecorded(e, -1);
    cbx_host_mounts_done(&x.mounts);
    if (failed) {
        return failed;
    }
    return send_admission(r, sealed.fields.decision, seq, false, err);
}
