/* SPDX-License-Identifier: MIT
 * POST /v1/check judges and runs nothing; GET /healthz. */
#include "gateway/front/denial/relaxed.h"
#include "gateway/front/dialect.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/rest/rest.h"
#include "gateway/ipc/seal/mount_requests.h"
#include "policies/base/log.h"
#include "policies/release.h"

struct body {
    struct cbx_str code, language, policy;
    const json_t *mounts;
};

static const struct cbx_json_field fields[] = {
    { .name = "code",
      .type = CBX_JSON_STR,
      .offset = offsetof(struct body, code),
      .required = true,
      .min = 0,
      .max = 8 * 1024 * 1024 },
    { .name = "language",
      .type = CBX_JSON_STR,
      .offset = offsetof(struct body, language),
      .required = true,
      .min = 1,
      .max = 32 },
    { .name = "mounts",
      .type = CBX_JSON_ARRAY,
      .offset = offsetof(struct body, mounts),
      .nullable = true },
    { .name = "policy",
      .type = CBX_JSON_STR,
      .offset = offsetof(struct body, policy),
      .nullable = true,
      .min = 1,
      .max = 64 },
};
CBX_REST_INPUT(check, fields);

void cbx_rest_check(struct cbx_rest_call *call)
{
    struct body body = { 0 };
    struct cbx_err err = { 0 };
    if (!cbx_rest_body(call, fields, sizeof(fields) / sizeof(fields[0]), &body)) {
        return;
    }
    const char *language = cbx_dialect_of(body.language, &err);
    CBX_AUTO_DONE(asked) asked = cbx_asked_nothing;
    if (language == NULL || cbx_mounts_read(body.mounts, &asked.mounts, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    if (!cbx_rest_policy(call, body.policy, &body.policy)) {
        return;
    }
    struct cbx_request request =
        cbx_service_request(CBX_ACTION_CHECK, cbx_rest_principal(call), language, body.policy,
                            CBX_STR(""), body.code, &asked, CBX_STR("rest"));
    cbx_claims_lend(&call->claims, &request.subject);
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    int failed = cbx_review(call->service->flow, &request, NULL, &outcome, &err);
    if (failed) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    json_t *answer = json_copy(outcome.decision);
    json_object_set_new(answer, "language", json_string(cbx_dialect_shown(language)));
    json_object_set_new(answer, "policy", cbx_json_text(body.policy));
    cbx_relaxed_warn(outcome.decision, answer);
    json_object_set_new(answer, "decision", json_string(outcome.id));
    json_object_set_new(answer, "audit_seq", json_integer((json_int_t)outcome.audit_seq));
    cbx_rest_answer(call, 200, answer);
}

json_t *cbx_rest_ask_health(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    const struct cbx_health_args args;
    if (cbx_call_health(call->service->flow, &args, CBX_STR(""), &answer, &err) != 0) {
        cbx_rest_fail(call, 503, &err);
        return NULL;
    }
    return json_incref(answer.header);
}

/* The head of the audit log, for another replica, which records it (executor/heads/
 * audit_anchors.h); NULL = none. A request of a replica came over an authenticated link. */
static json_t *head_for_replica(const struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    const struct cbx_audit_head_args args;
    if (call->request->replica.len == 0) {
        return NULL;
    }
    if (cbx_call_audit_head(call->service->flow, &args, CBX_STR(""), &answer, &err) != 0) {
        cbx_log(CBX_LOG_WARNING, "request %s: replica '%.*s' gets no head of the audit log: %s",
                call->request->id, CBX_STR_ARG(call->request->replica), err.text);
        return NULL;
    }
    return json_incref(json_object_get(answer.header, "head"));
}

/* The state of engine and audit log as the executor reports it, and of the store by its last
 * write. */
void cbx_rest_get_health(struct cbx_rest_call *call)
{
    struct cbx_err store_err = { 0 };
    CBX_AUTO_JSON health = cbx_rest_ask_health(call);
    if (health == NULL) {
        return;
    }
    bool store = cbx_store_check(call->service->store, &store_err) == 0;
    bool ok = store && json_is_true(json_object_get(health, "engine_ok")) &&
              json_is_true(json_object_get(health, "audit_ok"));
    json_object_del(health, "type");
    for (const char *const *of_metrics =
             (const char *const[]){ "refusals", "metrics", "memory", "runs", "installs", "layers",
                                    "pool_ok", NULL };
         *of_metrics != NULL; of_metrics++) {
        json_object_del(health, *of_metrics);
    }
    json_object_set_new(health, "store_ok", json_boolean(store));
    json_object_set_new(health, "store", cbx_json_text(cbx_str_of(store_err.text)));
    json_object_set_new(health, "status", json_string(ok ? "ok" : "failing"));
    json_object_set_new(health, "version", json_string(CBX_VERSION));
    if (!cbx_caller_may(call->request->caller, CBX_RIGHT_AUDIT_READ)) {
        /* A probe needs no more, and paths and versions are not public. */
        cbx_rest_answer(call, ok ? 200 : 503,
                        json_pack("{s:O,s:o*}", "status", json_object_get(health, "status"),
                                  "audit_head", head_for_replica(call)));
        return;
    }
    cbx_rest_answer(call, ok ? 200 : 503, json_incref(health));
}
