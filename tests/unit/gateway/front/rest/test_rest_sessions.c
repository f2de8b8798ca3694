/* SPDX-License-Identifier: MIT
 * Sessions: open, list, get, history, interrupt, reset, close; in both APIs. */
#include "tests/unit/gateway/front/rest/rig.h"

static struct cbx_http_exchange *open_legacy(struct rig *rig, const char *body)
{
    return rig_json(rig, "POST", "/sessions", body);
}

static struct cbx_http_exchange *delete_session(struct rig *rig, const char *id)
{
    char path[80];
    snprintf(path, sizeof(path), "/v1/sessions/%s", id);
    return rig_json(rig, "DELETE", path, "");
}

static struct cbx_http_exchange *get_session(struct rig *rig, const char *id)
{
    char path[80];
    snprintf(path, sizeof(path), "/v1/sessions/%s", id);
    return rig_get(rig, path);
}

static size_t count_stored(struct rig *rig)
{
    CBX_AUTO_JSON rows = NULL;
    assert_int_equal(cbx_store_list_sessions(rig->store, NULL, &rows, NULL), 0);
    return json_array_size(rows);
}

/* --- opening ---------------------------------------------------------------------------------- */

static void an_opened_session_can_be_listed_and_got(void **state)
{
    struct rig *rig = *state;
    char first[37], second[37];
    open_session(rig, "{}", first);
    open_session(rig, "{'language':'js','policy':'strict'}", second);
    const json_t *list =
        json_object_get(await_answer(rig_get(rig, "/v1/sessions"), 200), "sessions");
    assert_int_equal(json_array_size(list), 2);
    const struct seen *call = executor_last(&rig->executor, CBX_CALL_list_sessions);
    assert_string_equal(text_at(call->header, "principal"), "local");
    const json_t *json = await_answer(get_session(rig, second), 200);
    assert_string_equal(text_at(json, "session_id"), second);
    assert_string_equal(text_at(json, "language"), "javascript");
    assert_string_equal(text_at(json, "status"), "idle");
    assert_string_equal(text_at(json, "container"), "c0ffee");
    assert_json(json_object_get(json, "idle_ms"), "5");
    assert_json(json_object_get(json, "age_ms"), "7");
    assert_int_equal(strlen(text_at(json, "created_at")), 26);
    assert_string_equal(text_at(await_answer(get_session(rig, first), 200), "language"), "python");
}

static void a_session_is_opened_as_the_judged_decision_says(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{'policy':'strict','limits':{'wall_ms':1234,'isolation':'gvisor'}}", id);
    assert_string_equal(worker_seen(rig)->action, "open");
    assert_string_equal(worker_seen(rig)->policy, "strict");
    assert_string_equal(worker_seen(rig)->language, "ipython");
    assert_string_equal(worker_seen(rig)->session, id);
    assert_int_equal(worker_seen(rig)->wall_ms, 1234);
    assert_string_equal(worker_seen(rig)->isolation, "gvisor");
}

static void a_session_of_an_unknown_language_or_policy_is_refused(void **state)
{
    struct rig *rig = *state;
    assert_problem(rig_json(rig, "POST", "/v1/sessions", "{'language':'cobol'}"), 400, "cobol");
    assert_problem(rig_json(rig, "POST", "/v1/sessions", "{'policy':'lax'}"), 404, "lax");
    assert_problem(rig_json(rig, "POST", "/v1/sessions", "{'limits':{'wall_ms':'1'}}"), 400,
                   "wall_ms");
    assert_problem(rig_json(rig, "POST", "/v1/sessions", "{'limits':{'isolation':'none'}}"), 400,
                   "'isolation' is 'none', allowed are 'container' and 'gvisor'");
    assert_int_equal(rig->executor.seen_count, 0);
    assert_int_equal(count_stored(rig), 0);
}

static void a_session_that_is_denied_is_not_stored(void **state)
{
    struct rig *rig = *state;
    rig->worker.denies_all = true;
    assert_problem(rig_json(rig, "POST", "/v1/sessions", "{}"), 400, "py.process");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 1);
    assert_int_equal(count_stored(rig), 0);
}

static void what_the_engine_lacks_is_no_mistake_of_the_client(void **state)
{
    struct rig *rig = *state;
    struct script script = { .code = CBX_ENOTFOUND, .text = "no image for python" };
    executor_script(&rig->executor, CBX_CALL_submit, script);
    assert_problem(rig_json(rig, "POST", "/v1/sessions", "{}"), 503, "no image for python");
    assert_int_equal(count_stored(rig), 0);
}

static void a_session_is_acknowledged_once_it_is_stored(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    executor_await_acks(&rig->executor, 1);
    assert_int_equal(count_stored(rig), 1);
}

/* --- CodeBox-AI's options --------------------------------------------------------------------- */

/* Stores the key of a request that opens a session with "{}", and that did not come to its end. */
static void take_key(struct rig *rig, const char *key, const char *created_at)
{
    struct cbx_stored_key stored = { .id = "00000000-0000-4000-8000-000000000000" };
    struct cbx_sha256 hash = cbx_sha256_of(CBX_STR("POST /v1/sessions\n{}"));
    cbx_sha256_hex(&hash, stored.request);
    snprintf(stored.created_at, sizeof(stored.created_at), "%s", created_at);
    assert_int_equal(
        cbx_store_take_key(rig->store, "local", key, "2000-01-01T00:00:00.000000", &stored, NULL),
        0);
}

static void a_key_of_a_front_that_was_killed_can_be_used_again(void **state)
{
    struct rig *rig = *state;
    char now[32];
    cbx_service_now(now);
    take_key(rig, "key", now);
    rig->key = "key";
    assert_problem(rig_json(rig, "POST", "/v1/sessions", "{}"), 409, "still at work");
    cbx_service_now(rig->service.began_at); /* the next front */
    await_answer(rig_json(rig, "POST", "/v1/sessions", "{}"), 201);
    await_answer(rig_json(rig, "POST", "/v1/sessions", "{}"), 201);
    assert_int_equal(count_stored(rig), 1);
}

static void a_legacy_session_is_created_with_its_options_as_limits(void **state)
{
    struct rig *rig = *state;
    const json_t *json = await_answer(
        open_legacy(rig, "{'execution_options':{'timeout':30,'memory_limit':'512m','cpu_limit':"
                         "'0.5'},'policy':'strict'}"),
        200);
    assert_string_equal(text_at(json, "status"), "created");
    assert_int_equal(worker_seen(rig)->wall_ms, 30000);
    assert_string_equal(worker_seen(rig)->policy, "strict");
    CBX_AUTO_JSON options = NULL;
    assert_int_equal(
        cbx_store_get_session(rig->store, NULL, text_at(json, "session_id"), NULL, &options, NULL),
        0);
    struct cbx_limits limits;
    cbx_limits_read(options, &limits);
    assert_int_equal(limits.memory_bytes, 512 << 20);
    assert_int_equal(limits.cpu_milli, 500);
    assert_int_equal(limits.pids, CBX_LIMIT_UNSET);
    assert_string_equal(text_at(options, "language"), "ipython");
}

static void a_legacy_option_that_cannot_be_had_is_refused(void **state)
{
    static const struct {
        const char *options, *says;
    } cases[] = {
        { "'timeout':0", "timeout" },
        { "'timeout':601", "timeout" },
        { "'memory_limit':'lots'", "memory_limit is 'lots'" },
        { "'memory_limit':'1k'", "memory_limit is '1k'" },
        { "'memory_limit':'512mm'", "memory_limit" },
        { "'memory_limit':'-1g'", "memory_limit" },
        { "'memory_limit':'nan'", "memory_limit" },
        { "'cpu_limit':'many'", "cpu_limit is 'many'" },
        { "'cpu_limit':'0'", "cpu_limit is '0'" },
        { "'environment_variables':{'LD_PRELOAD':'b'}", "the dynamic loader obeys it" },
        { "'environment_variables':{'1A':'b'}", "no name of a variable" },
        { "'environment_variables':{'A':1}", "no text" },
        { "'mount_points':['/etc']", "HOST:CONTAINER" },
        { "'mount_points':[{'host_path':'/srv/x'}]", "container_path" },
        { "'mount_points':[{'host_path':'/etc','container_path':'/data'}]",
          "holds or lies in a folder that is never mounted" },
        { "'mount_points':[{'host_path':'/srv/x','container_path':'/data'}]",
          "no entry of mounts.allow covers the host's path '/srv/x'" },
        { "'network':true", "'network'" },
    };
    struct rig *rig = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[200];
        snprintf(body, sizeof(body), "{'execution_options':{%s}}", cases[i].options);
        assert_problem(open_legacy(rig, body), 400, cases[i].says);
    }
    assert_int_equal(rig->executor.seen_count, 0);
    await_answer(open_legacy(rig, "{'execution_options':{'environment_variables':{},"
                                  "'mount_points':[]},'dependencies':[]}"),
                 200);
}

/* --- closed sessions -------------------------------------------------------------------------- */

static void reading_never_deletes_the_row_of_a_session(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    executor_forget(&rig->executor, id);
    for (int i = 0; i < 40; i++) {
        assert_problem(get_session(rig, id), 404, "there is no session");
        await_answer(rig_get(rig, "/v1/sessions"), 200);
    }
    assert_int_equal(count_stored(rig), 1);
    const json_t *json = await_answer(delete_session(rig, id), 200); /* can be closed once more */
    assert_string_equal(text_at(json, "status"), "cleaned up");
    assert_int_equal(count_stored(rig), 0);
    assert_problem(delete_session(rig, id), 404, "Session not found");
}

static void opening_sessions_removes_the_rows_of_closed_ones_now_and_then(void **state)
{
    struct rig *rig = *state;
    char gone[37], other[37];
    open_session(rig, "{}", gone);
    executor_forget(&rig->executor, gone);
    for (int i = 0; i < 15; i++) {
        open_session(rig, "{}", other);
    }
    assert_int_equal(count_stored(rig), 15);
    assert_int_equal(cbx_store_get_session(rig->store, NULL, gone, NULL, NULL, NULL),
                     CBX_ENOTFOUND);
    await_answer(get_session(rig, other), 200);
}

static void the_more_sessions_are_open_the_less_often_an_opening_asks_for_all_of_them(void **state)
{
    struct rig *rig = *state;
    char id[37];
    for (int i = 0; i < 63; i++) {
        open_session(rig, "{}", id);
    }
    /* the gateway asks for the list at 16, 32 and 64 sessions */
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_list_sessions), 2);
    open_session(rig, "{}", id);
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_list_sessions), 3);
}

static void an_executor_that_does_not_answer_closes_no_session(void **state)
{
    struct rig *rig = *state;
    char id[37];
    for (int i = 0; i < 15; i++) {
        open_session(rig, "{}", id);
    }
    struct script away = { .code = CBX_EENGINE, .text = "the engine is away" };
    executor_script(&rig->executor, CBX_CALL_list_sessions, away);
    assert_problem(rig_get(rig, "/v1/sessions"), 503, "the engine is away");
    assert_problem(get_session(rig, id), 503, "the engine is away");
    open_session(rig, "{}", id); /* the sixteenth */
    assert_int_equal(count_stored(rig), 16);
}

static void a_session_of_another_front_is_not_listed(void **state)
{
    struct rig *rig = *state;
    struct script script = { .json = "{\"sessions\":[{\"session\":\"foreign\"}]}" };
    executor_script(&rig->executor, CBX_CALL_list_sessions, script);
    assert_json(json_object_get(await_answer(rig_get(rig, "/v1/sessions"), 200), "sessions"), "[]");
}

/* --- closing ---------------------------------------------------------------------------------- */

static void delete_closes_the_sandbox_and_forgets_the_session(void **state)
{
    struct rig *rig = *state;
    char id[37], path[80];
    open_session(rig, "{}", id);
    snprintf(path, sizeof(path), "/sessions/%s", id);
    assert_string_equal(text_at(await_answer(rig_json(rig, "DELETE", path, ""), 200), "status"),
                        "cleaned up");
    const struct seen *call = executor_last(&rig->executor, CBX_CALL_close);
    assert_string_equal(text_at(call->header, "session"), id);
    assert_problem(rig_json(rig, "DELETE", path, ""), 404, "Session not found");
    assert_problem(get_session(rig, id), 404, "no session");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_close), 1);
}

static void a_session_whose_sandbox_could_not_be_removed_can_be_deleted_again(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    struct script away = { .code = CBX_EENGINE, .text = "the engine is away", .times = 1 };
    executor_script(&rig->executor, CBX_CALL_close, away);
    assert_problem(delete_session(rig, id), 503, "the engine is away");
    assert_int_equal(count_stored(rig), 1);
    await_answer(delete_session(rig, id), 200);
}

static void a_close_is_retried_when_the_executor_is_killed(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    struct script killed = { .hangs_up = true, .times = 2 };
    executor_script(&rig->executor, CBX_CALL_close, killed);
    await_answer(delete_session(rig, id), 200);
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_close), 3);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void interrupt_and_reset_reach_the_session(void **state)
{
    struct rig *rig = *state;
    const json_t *json = await_answer(rig_json(rig, "POST", "/v1/sessions/abc/interrupt", ""), 200);
    assert_string_equal(text_at(json, "status"), "interrupted");
    const struct seen *call = executor_last(&rig->executor, CBX_CALL_interrupt);
    assert_string_equal(text_at(call->header, "session"), "abc");
    char id[37], path[80];
    open_session(rig, "{}", id);
    snprintf(path, sizeof(path), "/v1/sessions/%s/reset", id);
    json = await_answer(rig_json(rig, "POST", path, ""), 200);
    assert_string_equal(text_at(json, "status"), "reset");
    call = executor_last(&rig->executor, CBX_CALL_reset);
    assert_string_equal(text_at(call->header, "session"), id);
    assert_string_equal(text_at(call->header, "principal"), "local");
    struct script gone = { .code = CBX_ENOTFOUND, .text = "no session 'abc'" };
    executor_script(&rig->executor, CBX_CALL_reset, gone);
    assert_problem(rig_json(rig, "POST", path, ""), 404, "no session 'abc'");
    assert_problem(rig_json(rig, "POST", "/v1/sessions/abc/reset", ""), 404, "Session not found");
}

static void history_lists_what_ran_in_order(void **state)
{
    struct rig *rig = *state;
    char id[37], path[80];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "one"), 200);
    await_answer(post_code(rig, id, "two"), 200);
    assert_problem(post_code(rig, id, "DENY"), 400, "py.process");
    executor_await_acks(&rig->executor, 3);
    snprintf(path, sizeof(path), "/v1/sessions/%s/history", id);
    const json_t *list = json_object_get(await_answer(rig_get(rig, path), 200), "executions");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(text_at(json_array_get(list, 0), "code"), "one");
    assert_string_equal(text_at(json_array_get(list, 1), "code"), "two");
    assert_string_equal(text_at(json_array_get(list, 1), "status"), "completed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(an_opened_session_can_be_listed_and_got),
        RIG_TEST(a_session_is_opened_as_the_judged_decision_says),
        RIG_TEST(a_session_of_an_unknown_language_or_policy_is_refused),
        RIG_TEST(a_session_that_is_denied_is_not_stored),
        RIG_TEST(what_the_engine_lacks_is_no_mistake_of_the_client),
        RIG_TEST(a_session_is_acknowledged_once_it_is_stored),
        RIG_TEST(a_key_of_a_front_that_was_killed_can_be_used_again),
        RIG_TEST(a_legacy_session_is_created_with_its_options_as_limits),
        RIG_TEST(a_legacy_option_that_cannot_be_had_is_refused),
        RIG_TEST(reading_never_deletes_the_row_of_a_session),
        RIG_TEST(opening_sessions_removes_the_rows_of_closed_ones_now_and_then),
        RIG_TEST(the_more_sessions_are_open_the_less_often_an_opening_asks_for_all_of_them),
        RIG_TEST(an_executor_that_does_not_answer_closes_no_session),
        RIG_TEST(a_session_of_another_front_is_not_listed),
        RIG_TEST(delete_closes_the_sandbox_and_forgets_the_session),
        RIG_TEST(a_session_whose_sandbox_could_not_be_removed_can_be_deleted_again),
        RIG_TEST(a_close_is_retried_when_the_executor_is_killed),
        RIG_TEST(interrupt_and_reset_reach_the_session),
        RIG_TEST(history_lists_what_ran_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
