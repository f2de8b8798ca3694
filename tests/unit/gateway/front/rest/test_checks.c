/* SPDX-License-Identifier: MIT
 * POST /v1/check and GET /healthz. */
#include "tests/unit/gateway/front/rest/rig.h"

static struct cbx_http_exchange *check(struct rig *rig, const char *body)
{
    return rig_json(rig, "POST", "/v1/check", body);
}

static void a_check_answers_the_decision_and_runs_nothing(void **state)
{
    struct rig *rig = *state;
    const json_t *json = await_answer(check(rig, "{'code':'x','language':'python'}"), 200);
    assert_string_equal(text_at(json, "verdict"), "allow");
    assert_string_equal(text_at(json, "language"), "python");
    assert_int_equal(strlen(text_at(json, "decision")), CBX_ID_CHARS);
    assert_int_equal(strlen(text_at(json, "sha256")), CBX_SHA256_HEX);
    assert_json(json_object_get(json, "audit_seq"), "1");
    assert_json(json_object_get(json, "findings"), "[]");
    assert_string_equal(worker_seen(rig)->action, "check");
    assert_string_equal(worker_seen(rig)->language, "ipython");
    assert_int_equal(rig->executor.acknowledged, 0); /* nothing was opened or run */
}

static void a_denied_check_is_an_answer_with_its_findings(void **state)
{
    const json_t *json =
        await_answer(check(*state, "{'code':'DENY','language':'js','policy':'strict'}"), 200);
    struct rig *rig = *state;
    assert_string_equal(text_at(json, "verdict"), "deny");
    assert_string_equal(text_at(json, "language"), "javascript");
    assert_int_equal(json_array_size(json_object_get(json, "findings")), 2);
    assert_string_equal(worker_seen(rig)->policy, "strict");
}

static void a_check_needs_a_language_and_a_policy_that_exist(void **state)
{
    struct rig *rig = *state;
    assert_problem(check(rig, "{'code':'x'}"), 400, "'language'");
    assert_problem(check(rig, "{'code':'x','language':'cobol'}"), 400, "cobol");
    assert_problem(check(rig, "{'code':'x','language':'python','policy':'lax'}"), 404, "lax");
    assert_int_equal(rig->executor.seen_count, 0);
}

static void a_check_that_cannot_be_recorded_fails(void **state)
{
    struct rig *rig = *state;
    struct script full = { .code = CBX_EAUDIT, .text = "the audit log is full" };
    executor_script(&rig->executor, CBX_CALL_submit, full);
    assert_problem(check(rig, "{'code':'x','language':'python'}"), 503, "the audit log is full");
}

static void health_is_ok_when_engine_log_and_store_are(void **state)
{
    static const struct {
        const char *json, *status;
        int code;
    } cases[] = {
        { "{\"engine_ok\":true,\"audit_ok\":true,\"sessions\":3}", "ok", 200 },
        { "{\"engine_ok\":false,\"audit_ok\":true,\"sessions\":3}", "failing", 503 },
        { "{\"engine_ok\":true,\"audit_ok\":false,\"sessions\":3}", "failing", 503 },
        { "{\"sessions\":3}", "failing", 503 },
    };
    struct rig *rig = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        executor_script(&rig->executor, CBX_CALL_health, (struct script){ .json = cases[i].json });
        const json_t *json = await_answer(rig_get(rig, "/healthz"), cases[i].code);
        assert_string_equal(text_at(json, "status"), cases[i].status);
        assert_json(json_object_get(json, "store_ok"), "true");
        assert_json(json_object_get(json, "sessions"), "3");
        assert_true(strlen(text_at(json, "version")) > 0);
        assert_null(json_object_get(json, "type"));
    }
}

static void health_without_an_executor_is_503(void **state)
{
    struct rig *rig = *state;
    struct script away = { .code = CBX_ETIMEDOUT, .text = "no answer" };
    executor_script(&rig->executor, CBX_CALL_health, away);
    assert_problem(rig_get(rig, "/healthz"), 503, "no answer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_check_answers_the_decision_and_runs_nothing),
        RIG_TEST(a_denied_check_is_an_answer_with_its_findings),
        RIG_TEST(a_check_needs_a_language_and_a_policy_that_exist),
        RIG_TEST(a_check_that_cannot_be_recorded_fails),
        RIG_TEST(health_is_ok_when_engine_log_and_store_are),
        RIG_TEST(health_without_an_executor_is_503),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
