/* SPDX-License-Identifier: MIT
 * GET /readyz: whether a request that arrives now would be served, and the failing parts; and
 * GET /livez. */
#include "gateway/front/executor_client.h"
#include "gateway/front/forward/replica_watch.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/rest/rest.h"
#include "gateway/identity/caller.h"

/* A judgement by a worker shows that zygote and workers work. It belongs to no principal, and
 * its result is dropped: the first policy may require a right of callers. */
static int judge_nothing(struct cbx_service *service, struct cbx_err *err)
{
    const struct cbx_request request =
        cbx_service_request(CBX_ACTION_CHECK, CBX_CALLER_LOCAL, "python", CBX_STR(""), CBX_STR(""),
                            CBX_STR("0\n"), NULL, CBX_STR("rest"));
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    const struct cbx_policy *policy =
        cbx_policies_find(cbx_flow_policies(service->flow), request.policy);
    int failed = cbx_judge_decide(service->flow->judge, policy, &request.subject, request.source,
                                  &judgement, err);
    if (failed) {
        return failed;
    }
    if (!judgement.analysed) {
        return cbx_fail(err, CBX_EIO, "no analyzer worker gives an answer");
    }
    return 0;
}

/* Workers are queried once a second at most: clients cannot cause load by probes. */
static void check_analyzer(struct cbx_service *service, json_t *missing)
{
    enum { AGE_MS = 1000 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int64_t checked_ms;
    static struct cbx_err err;
    pthread_mutex_lock(&lock);
    if (checked_ms == 0 || cbx_clock_ms() - checked_ms >= AGE_MS) {
        err = (struct cbx_err){ 0 };
        judge_nothing(service, &err);
        checked_ms = cbx_clock_ms();
    }
    if (err.code != 0) {
        json_object_set_new(missing, "analyzer", cbx_json_text(cbx_str_of(err.text)));
    }
    pthread_mutex_unlock(&lock);
}

/* This check and the following ones do not make the gateway unready: requests without packages
 * are served, and those whose layer exists. */
static void check_installs(const json_t *installs, json_t *degraded)
{
    enum { HELD_S = 60 };
    double held_s = json_number_value(json_object_get(installs, "held"));
    if (held_s >= HELD_S) {
        json_object_set_new(
            degraded, "installs",
            json_sprintf("all %d installers have been in use for %.0f s, and %d installs wait; the "
                         "package index may not answer",
                         (int)json_integer_value(json_object_get(installs, "running")), held_s,
                         (int)json_integer_value(json_object_get(installs, "waiting"))));
    }
}

/* Records are written anyway. The reason has a path, so only the gateway's log has it. */
static void check_heads(const json_t *heads, json_t *degraded)
{
    if (json_is_false(json_object_get(heads, "ok"))) {
        json_object_set_new(degraded, "audit-heads",
                            json_string("heads of the audit log cannot be kept outside of the "
                                        "state directory; the gateway's log says why"));
    }
}

static void check_executor(struct cbx_service *service, json_t *missing, json_t *degraded)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    const struct cbx_health_args args;
    if (cbx_call_health(service->flow, &args, CBX_STR(""), &answer, &err) != 0) {
        json_object_set_new(missing, "executor", cbx_json_text(cbx_str_of(err.text)));
        return;
    }
    const json_t *health = answer.header;
    if (!json_is_true(json_object_get(health, "engine_ok"))) {
        json_object_set(missing, "engine", json_object_get(health, "engine"));
    } else if (!json_is_true(json_object_get(health, "pool_ok"))) {
        json_object_set_new(
            missing, "pool",
            json_string("no sandbox is ready, and the last ones could not be made"));
    }
    if (!json_is_true(json_object_get(health, "audit_ok"))) {
        json_object_set(missing, "audit", json_object_get(health, "audit"));
    }
    check_installs(json_object_get(health, "installs"), degraded);
    check_heads(json_object_get(health, "heads"), degraded);
}

static void check_replicas(const struct cbx_service *service, json_t *degraded)
{
    CBX_AUTO_DONE(buf) names;
    cbx_buf_init(&names, 8192);
    if (service->forwarder == NULL) {
        return;
    }
    const struct cbx_replicas *replicas = cbx_forwarder_replicas(service->forwarder);
    for (size_t i = 0; i < replicas->count; i++) {
        if (!cbx_replica_watch_is_up(service->replica_watch, i)) {
            cbx_buf_printf(&names, "%s'%s'", names.len > 0 ? ", " : "", replicas->others[i].name);
        }
    }
    if (names.len > 0) {
        json_object_set_new(degraded, "replicas",
                            json_sprintf("%s cannot be reached; what they have cannot be used "
                                         "through this one; the gateway's log says why",
                                         names.p));
    }
}

/* Reasons have paths and addresses: only readers of the audit log may see them. */
static void drop_reasons(json_t *missing)
{
    const char *name;
    json_t *reason;
    void *next;
    json_object_foreach_safe(missing, next, name, reason)
    {
        json_object_set_new(missing, name, json_string("not ready"));
    }
}

/* Looks at nothing: of a liveness probe, which restarts a process that does not answer, and of a
 * replica that wants to know whether its link is open (forward/forward.c). */
void cbx_rest_get_live(struct cbx_rest_call *call)
{
    cbx_rest_answer(call, 200, json_pack("{s:s}", "status", "ok"));
}

void cbx_rest_get_ready(struct cbx_rest_call *call)
{
    struct cbx_service *service = call->service;
    struct cbx_err err = { 0 };
    json_t *missing = json_object(), *degraded = json_object();
    if (cbx_service_says_stop(service)) {
        json_object_set_new(missing, "gateway", json_string("it is stopping"));
    } else {
        check_executor(service, missing, degraded);
        check_analyzer(service, missing);
        check_replicas(service, degraded);
        if (cbx_store_check(service->store, &err) != 0) {
            json_object_set_new(missing, "store", cbx_json_text(cbx_str_of(err.text)));
        }
    }
    if (!cbx_caller_may(call->request->caller, CBX_RIGHT_AUDIT_READ)) {
        drop_reasons(missing);
    }
    bool ready = json_object_size(missing) == 0;
    cbx_rest_answer(call, ready ? 200 : 503,
                    json_pack("{s:b,s:o,s:o,s:o}", "ready", ready, "not_ready", missing, "degraded",
                              degraded, "executions", cbx_live_stats(service)));
}
