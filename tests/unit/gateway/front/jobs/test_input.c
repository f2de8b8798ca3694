/* SPDX-License-Identifier: MIT
 * Standard input of executions over REST: the part that is submitted with the program, and the
 * parts that are added while it waits and runs. */
#include "docker/result.h"
#include "tests/unit/gateway/front/rest/rig.h"

static struct cbx_http_exchange *post(struct rig *rig, const char *body)
{
    return rig_json(rig, "POST", "/v1/executions", body);
}

/* The last submission: the text, and after it the input. */
static void assert_submitted(struct rig *rig, const char *bytes, size_t len,
                             const char *input_bytes)
{
    const struct seen *submit = executor_last(&rig->executor, CBX_CALL_submit);
    assert_string_equal(text_at(submit->header, "input_bytes"), input_bytes);
    assert_int_equal(submit->bytes.len, len);
    assert_memory_equal(submit->bytes.p, bytes, len);
}

static void an_input_is_submitted_behind_the_program(void **state)
{
    struct rig *rig = *state;
    await_answer(post(rig, "{'code':'print(1)','stdin':'a b'}"), 200);
    assert_submitted(rig, "print(1)a b", 11, "3");
    await_answer(post(rig, "{'code':'print(1)','stdin_base64':'AAH/'}"), 200);
    assert_submitted(rig, "print(1)\0\1\377", 11, "3");
    await_answer(post(rig, "{'code':'print(1)','stdin':''}"), 200);
    assert_submitted(rig, "print(1)", 8, "0");
    await_answer(post(rig, "{'code':'print(1)'}"), 200);
    assert_submitted(rig, "print(1)", 8, "");
}

static void a_text_may_hold_what_json_escapes(void **state)
{
    struct rig *rig = *state;
    await_answer(post(rig, "{'code':'1','stdin':'a\\u0000\\n\\u00e9'}"), 200);
    assert_submitted(rig, "1a\0\n\303\251", 6, "5");
}

static void an_input_that_makes_no_sense_is_refused_and_nothing_runs(void **state)
{
    static const struct {
        const char *members, *detail;
        int status;
    } cases[] = {
        { "'stdin':'a','stdin_base64':'YQ=='", "allowed is one of them", 400 },
        { "'stdin_base64':'YQ'", "no Base64", 400 },
        { "'input':'later'", "'input' is 'later', allowed is stream", 400 },
        { "'stdin':'a','interactive':true", "it cannot be 'interactive'", 400 },
        { "'input':'stream','interactive':true", "it cannot be 'interactive'", 400 },
    };
    struct rig *rig = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[200];
        snprintf(body, sizeof(body), "{'code':'x',%s}", cases[i].members);
        assert_problem(post(rig, body), cases[i].status, cases[i].detail);
    }
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 0);
}

static void an_input_larger_than_a_sandbox_takes_is_refused_with_the_number(void **state)
{
    struct rig *rig = *state;
    struct cbx_buf body;
    cbx_buf_init(&body, 64 * 1024 * 1024);
    cbx_buf_add_cstr(&body, "{\"code\":\"x\",\"stdin\":\"");
    size_t len = CBX_INPUT_WAITING_MAX + 1;
    memset(cbx_buf_reserve(&body, len), 'a', len);
    body.len += len;
    cbx_buf_add_cstr(&body, "\"}");
    struct sending s = { .method = "POST",
                         .path = "/v1/executions",
                         .type = "application/json",
                         .body = cbx_buf_str(&body) };
    assert_problem(rig_send(rig, &s), 413, "16777217 bytes, allowed are 16777216");
    cbx_buf_done(&body);
}

static void a_legacy_execution_may_have_an_input(void **state)
{
    struct rig *rig = *state;
    char session[37], body[200];
    open_session(rig, "{}", session);
    snprintf(body, sizeof(body), "{'code':'x','session_id':'%s','stdin':'abc'}", session);
    await_answer(rig_json(rig, "POST", "/execute", body), 200);
    executor_await(&rig->executor, CBX_CALL_submit, 2);
    assert_submitted(rig, "xabc", 4, "3");
}

/* --- streams ---------------------------------------------------------------------------------- */

static void begin_stream(struct rig *rig, char id[37])
{
    executor_script(&rig->executor, CBX_CALL_submit, (struct script){ .manual = true });
    const json_t *json =
        await_answer(post(rig, "{'code':'x','stdin':'0','input':'stream','async':true}"), 202);
    snprintf(id, 37, "%s", text_at(json, "execution_id"));
}

static struct cbx_http_exchange *feed(struct rig *rig, const char *id, const char *bytes,
                                      const char *query)
{
    char path[120];
    snprintf(path, sizeof(path), "/v1/executions/%s/input%s", id, query);
    struct sending s = { .method = "POST",
                         .path = path,
                         .type = bytes != NULL ? "application/octet-stream" : NULL,
                         .body = bytes != NULL ? cbx_str_of(bytes) : CBX_STR("") };
    return rig_send(rig, &s);
}

static void assert_fed(struct rig *rig, const struct conn *c, const char *bytes, const char *end)
{
    const struct seen *call = executor_last(&rig->executor, CBX_CALL_feed);
    assert_non_null(call);
    assert_true(cbx_str_is(cbx_buf_str(&call->bytes), bytes));
    assert_string_equal(text_at(call->header, "run"), c->decision);
    assert_json(json_object_get(call->header, "end"), end);
}

static void what_comes_while_it_runs_goes_to_the_run(void **state)
{
    struct rig *rig = *state;
    char id[37];
    begin_stream(rig, id);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    assert_json(json_object_get(c->message.header, "streams"), "true");
    assert_string_equal(text_at(c->message.header, "input_bytes"), "1");
    peer_admit(&rig->executor, c);
    peer_begin(c);
    await_status(rig, id, "running");
    assert_string_equal(text_at(await_answer(feed(rig, id, "one", ""), 202), "status"), "accepted");
    assert_fed(rig, c, "one", "false");
    assert_string_equal(text_at(await_answer(feed(rig, id, "two", "?end=true"), 202), "status"),
                        "ended");
    assert_fed(rig, c, "two", "true");
    assert_problem(feed(rig, id, "three", ""), 409, "the input of the execution has ended");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_feed), 2);
    peer_done(&rig->executor, c, CBX_RUN_OK);
    await_status(rig, id, "completed");
    assert_problem(feed(rig, id, "four", ""), 409, "over");
}

static void what_comes_while_it_is_queued_goes_to_the_run_when_it_begins(void **state)
{
    struct rig *rig = *state;
    char id[37];
    begin_stream(rig, id);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    await_answer(feed(rig, id, "one", ""), 202);
    await_answer(feed(rig, id, "two", ""), 202);
    await_answer(feed(rig, id, NULL, "?end=true"), 202);
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_feed), 0);
    peer_admit(&rig->executor, c);
    peer_begin(c);
    executor_await(&rig->executor, CBX_CALL_feed, 1);
    assert_fed(rig, c, "onetwo", "true");
    peer_done(&rig->executor, c, CBX_RUN_OK);
    await_status(rig, id, "completed");
}

static void what_the_executor_refuses_is_refused_and_can_be_sent_again(void **state)
{
    struct rig *rig = *state;
    char id[37];
    begin_stream(rig, id);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    peer_admit(&rig->executor, c);
    peer_begin(c);
    await_status(rig, id, "running");
    executor_script(&rig->executor, CBX_CALL_feed,
                    (struct script){ .code = CBX_ETOOBIG, .text = "too much waits", .times = 1 });
    assert_problem(feed(rig, id, "one", "?end=true"), 413, "too much waits");
    await_answer(feed(rig, id, "one", "?end=true"), 202);
    assert_fed(rig, c, "one", "true");
    peer_done(&rig->executor, c, CBX_RUN_OK);
    await_status(rig, id, "completed");
}

static void an_execution_that_does_not_stream_takes_none(void **state)
{
    struct rig *rig = *state;
    char id[37];
    executor_script(&rig->executor, CBX_CALL_submit, (struct script){ .manual = true });
    post_async(rig, "", "x", id);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    assert_problem(feed(rig, id, "a", ""), 409, "takes no more input");
    peer_admit(&rig->executor, c);
    peer_begin(c);
    peer_done(&rig->executor, c, CBX_RUN_OK);
    await_status(rig, id, "completed");
    assert_problem(feed(rig, "11111111-1111-4111-8111-111111111111", "a", ""), 404, "no such");
}

static void
an_execution_that_did_not_begin_before_a_restart_does_not_run_without_its_input(void **state)
{
    struct rig *rig = *state;
    char id[37];
    executor_script(&rig->executor, CBX_CALL_submit, (struct script){ .hangs_up = true });
    const json_t *json = await_answer(post(rig, "{'code':'x','stdin':'0','async':true}"), 202);
    snprintf(id, sizeof(id), "%s", text_at(json, "execution_id"));
    executor_await(&rig->executor, CBX_CALL_submit, 1);
    rig_close(rig);
    executor_script(&rig->executor, CBX_CALL_submit, (struct script){ 0 });
    executor_script(&rig->executor, CBX_CALL_resume,
                    (struct script){ .code = CBX_ENOTFOUND, .text = "none" });
    int submitted = executor_count(&rig->executor, CBX_CALL_submit);
    rig_open(rig, RIG_JOBS);
    cbx_service_recover(&rig->service);
    await_status(rig, id, "error");
    assert_contains(text_at(get_execution(rig, id), "error"), "its standard input is lost");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), submitted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(an_input_is_submitted_behind_the_program),
        RIG_TEST(a_text_may_hold_what_json_escapes),
        RIG_TEST(an_input_that_makes_no_sense_is_refused_and_nothing_runs),
        RIG_TEST(an_input_larger_than_a_sandbox_takes_is_refused_with_the_number),
        RIG_TEST(a_legacy_execution_may_have_an_input),
        RIG_TEST(what_comes_while_it_runs_goes_to_the_run),
        RIG_TEST(what_comes_while_it_is_queued_goes_to_the_run_when_it_begins),
        RIG_TEST(what_the_executor_refuses_is_refused_and_can_be_sent_again),
        RIG_TEST(an_execution_that_does_not_stream_takes_none),
        RIG_TEST(an_execution_that_did_not_begin_before_a_restart_does_not_run_without_its_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
