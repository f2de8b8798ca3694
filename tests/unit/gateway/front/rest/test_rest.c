/* SPDX-License-Identifier: MIT
 * Routes, bodies and problem documents: the behaviour that all resources share. */
#include "tests/unit/gateway/front/rest/rig.h"

static void a_path_that_is_no_route_is_404_as_a_problem_document(void **state)
{
    struct cbx_http_exchange *e = rig_get(*state, "/v1/nothing");
    const json_t *json = assert_problem(e, 404, "nothing is at /v1/nothing");
    assert_string_equal(text_at(json, "type"), "urn:codebox:problem:not-found");
    assert_string_equal(text_at(json, "title"), "Not Found");
    assert_int_equal(json_integer_value(json_object_get(json, "status")), 404);
}

static void another_method_is_405_and_names_those_that_are_allowed(void **state)
{
    static const struct {
        const char *method, *path, *allow;
    } cases[] = {
        { "GET", "/sessions", "POST" },
        { "POST", "/v1/sessions/abc", "GET, DELETE" },
        { "POST", "/v1/sessions/abc/files/x", "GET, PUT, DELETE" },
        { "PATCH", "/healthz", "GET" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sending s = { .method = cases[i].method, .path = cases[i].path };
        struct cbx_http_exchange *e = rig_send(*state, &s);
        assert_problem(e, 405, cases[i].allow);
        assert_string_equal(e->response.allow, cases[i].allow);
    }
}

static void an_id_is_letters_digits_hyphens_dots_and_underscores(void **state)
{
    static const char *const paths[] = {
        "/v1/executions/",
        "/v1/executions/a%2fb",
        "/v1/executions/a/b/c",
        "/v1/executions/a~b",
        "/v1/executions/"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "/v1/sessions//history",
        "/v1/executions/\xc3\xa4",
    };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_problem(rig_get(*state, paths[i]), 404, "nothing is at");
    }
    assert_problem(rig_get(*state, "/v1/executions/aZ-9._"), 404, "there is no such execution");
}

static void the_description_has_the_limits_of_the_policies(void **state)
{
    struct rig *rig = *state;
    const struct cbx_limits *limits = &rig->flow.policies.items[0]->limits;
    const json_t *paths =
        json_object_get(await_answer(rig_get(rig, "/openapi.json"), 200), "paths");
    const json_t *code = NULL;
    json_unpack((json_t *)(uintptr_t)paths, "{s:{s:{s:{s:{s:{s:{s:o}}}}}}}", "/v1/executions",
                "post", "requestBody", "content", "application/json", "schema", "properties",
                &code);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(code, "code"), "maxLength")),
        limits->source_bytes);
    char bytes[32];
    const char *file = NULL;
    snprintf(bytes, sizeof(bytes), "at most %lld", (long long)limits->files_bytes);
    json_unpack((json_t *)(uintptr_t)paths, "{s:{s:{s:{s:s}}}}", "/v1/sessions/{id}/files/{path}",
                "put", "requestBody", "description", &file);
    assert_non_null(file);
    assert_non_null(strstr(file, bytes));
}

static void a_body_that_is_not_declared_as_json_is_415(void **state)
{
    static const char *const types[] = { NULL, "text/plain", "application/jsonx", "json" };
    struct sending s = { .method = "POST", .path = "/v1/sessions", .body = CBX_STR("{}") };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        s.type = types[i];
        assert_problem(rig_send(*state, &s), 415, "allowed is application/json");
    }
    struct rig *rig = *state;
    assert_int_equal(rig->executor.seen_count, 0);
    s.type = "Application/JSON ; charset=utf-8";
    await_answer(rig_send(*state, &s), 201);
}

static void a_malformed_body_is_400_and_says_what_was_found(void **state)
{
    static const struct {
        const char *body, *says;
    } cases[] = {
        { "", "the body" },
        { "{", "the body" },
        { "[]", "the body" },
        { "{'code':1}", "'code'" },
        { "{'code':'x','code':'y'}", "the body" },
        { "{'code':'x','cod':1}", "'cod'" },
        { "{}", "'code'" },
    };
    struct rig *rig = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const json_t *json = assert_problem(rig_json(rig, "POST", "/v1/executions", cases[i].body),
                                            400, cases[i].says);
        assert_contains(text_at(json, "type"), "urn:codebox:problem:");
    }
    assert_int_equal(worker_judged(rig), 0);
}

static void an_error_of_a_legacy_route_has_what_its_clients_read(void **state)
{
    struct cbx_http_exchange *e = rig_json(*state, "DELETE", "/sessions/gone", "");
    const json_t *json = assert_problem(e, 404, "Session not found");
    assert_string_equal(text_at(json, "status"), "error");
    assert_string_equal(text_at(json, "message"), "Session not found");
    e = rig_json(*state, "DELETE", "/v1/sessions/gone", "");
    json = assert_problem(e, 404, "Session not found");
    assert_null(json_object_get(json, "message"));
}

static void errors_of_the_executor_have_the_status_of_their_code(void **state)
{
    static const struct {
        int code, status;
    } cases[] = {
        { CBX_EINVAL, 400 },    { CBX_EPOLICY, 400 }, { CBX_ETOOBIG, 413 }, { CBX_ENOTFOUND, 404 },
        { CBX_ESTATE, 409 },    { CBX_EBUSY, 503 },   { CBX_EENGINE, 503 }, { CBX_EAUDIT, 503 },
        { CBX_ETIMEDOUT, 504 }, { CBX_ESEAL, 500 },
    };
    struct rig *rig = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct script script = { .code = cases[i].code, .text = "as it was said" };
        executor_script(&rig->executor, CBX_CALL_interrupt, script);
        struct cbx_http_exchange *e = rig_json(rig, "POST", "/v1/sessions/abc/interrupt", "");
        const json_t *json = assert_problem(e, cases[i].status, "as it was said");
        CBX_AUTO_MEM char *text = json_dumps(json, 0);
        assert_null(strstr(text, "operator alone")); /* the detail goes to the log, to no client */
    }
}

static void a_denial_is_400_and_names_each_rule_that_stopped_it(void **state)
{
    struct rig *rig = *state;
    struct cbx_http_exchange *e = post_code(rig, "", "DENY");
    const json_t *json = assert_problem(
        e, 400,
        "line 3: os.system is denied by rule py.process: Starting programs is not allowed. "
        "Hint: Use a library.");
    assert_string_equal(text_at(json, "type"), "urn:codebox:problem:denied");
    assert_string_equal(text_at(json, "verdict"), "deny");
    assert_int_equal(strlen(text_at(json, "decision")), CBX_ID_CHARS);
    assert_int_equal(json_integer_value(json_object_get(json, "audit_seq")), 1);
    /* The warning beside it did not stop it. */
    assert_int_equal(json_array_size(json_object_get(json, "findings")), 1);
    assert_json(json_object_get(json_array_get(json_object_get(json, "findings"), 0), "effect"),
                "'deny'");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 1); /* for its record */
}

static void the_largest_body_follows_from_the_policies_and_is_capped(void **state)
{
    (void)state;
    struct cbx_policy small = { .limits = { .source_bytes = 1000, .files_bytes = 10 } };
    struct cbx_policy large = { .limits = { .source_bytes = 2000, .files_bytes = 1 << 20 } };
    struct cbx_policy huge = { .limits = { .source_bytes = INT64_MAX, .files_bytes = INT64_MAX } };
    struct cbx_policy *items[] = { &small, &large, &huge };
    struct cbx_policies policies = { .items = items, .count = 1 };
    assert_int_equal(cbx_rest_body_max(&policies), 6 * 1000 + 64 * 1024);
    policies.count = 2;
    assert_int_equal(cbx_rest_body_max(&policies), 1 << 20);
    policies.count = 3;
    assert_int_equal(cbx_rest_body_max(&policies), 64 * 1024 * 1024);
}

static void what_never_reaches_a_handler_is_a_problem_document_too(void **state)
{
    (void)state;
    struct cbx_http_response response = { 0 };
    cbx_rest_refuse(421, "another host", &response);
    assert_int_equal(response.status, 421);
    assert_string_equal(response.type, "application/problem+json");
    assert_json(response.json, "{'type':'about:blank','title':'Misdirected Request','status':421,"
                               "'detail':'another host'}");
    json_decref(response.json);
    cbx_rest_refuse(408, "too late", &response);
    assert_json(response.json, "{'type':'urn:codebox:problem:timed-out','title':'Request Timeout',"
                               "'status':408,'detail':'too late'}");
    json_decref(response.json);
}

static void after_stop_no_execution_is_accepted(void **state)
{
    struct rig *rig = *state;
    cbx_service_stop(&rig->service);
    assert_problem(post_code(rig, "", "x"), 503, "the gateway is shutting down");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_path_that_is_no_route_is_404_as_a_problem_document),
        RIG_TEST(another_method_is_405_and_names_those_that_are_allowed),
        RIG_TEST(an_id_is_letters_digits_hyphens_dots_and_underscores),
        RIG_TEST(the_description_has_the_limits_of_the_policies),
        RIG_TEST(a_body_that_is_not_declared_as_json_is_415),
        RIG_TEST(a_malformed_body_is_400_and_says_what_was_found),
        RIG_TEST(an_error_of_a_legacy_route_has_what_its_clients_read),
        RIG_TEST(errors_of_the_executor_have_the_status_of_their_code),
        RIG_TEST(a_denial_is_400_and_names_each_rule_that_stopped_it),
        cmocka_unit_test(the_largest_body_follows_from_the_policies_and_is_capped),
        cmocka_unit_test(what_never_reaches_a_handler_is_a_problem_document_too),
        RIG_TEST(after_stop_no_execution_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
