/* SPDX-License-Identifier: MIT
 * Executions over REST: bodies, the three ways to wait, cancel, input, and the endpoints of
 * CodeBox-AI. */
#include "tests/unit/gateway/front/rest/rig.h"

static struct cbx_http_exchange *post(struct rig *rig, const char *body)
{
    return rig_json(rig, "POST", "/v1/executions", body);
}

static void play_submissions(struct rig *rig)
{
    executor_script(&rig->executor, CBX_CALL_submit, (struct script){ .manual = true });
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void a_synchronous_execution_is_answered_with_its_result(void **state)
{
    struct rig *rig = *state;
    const json_t *json = await_answer(post_code(rig, "", "print(1)"), 200);
    assert_string_equal(text_at(json, "status"), "completed");
    assert_string_equal(text_at(json, "outcome"), "ok");
    assert_string_equal(text_at(json, "language"), "python");
    assert_json(json_object_get(json, "session_id"), "null");
    assert_json(json_object_get(json, "exit_code"), "0");
    assert_json(json_object_get(json, "output"), "[{'kind':'stdout','text':'hello\\n'}]");
    assert_int_equal(strlen(text_at(json, "execution_id")), 36);
    const struct seen *submit = executor_last(&rig->executor, CBX_CALL_submit);
    assert_json(json_object_get(submit->header, "detach"), "true");
    assert_json(json_object_get(submit->header, "interactive"), "false");
    assert_true(cbx_str_is(cbx_buf_str(&submit->bytes), "print(1)"));
}

static void an_asynchronous_execution_is_answered_before_it_runs(void **state)
{
    struct rig *rig = *state;
    char id[37];
    play_submissions(rig);
    post_async(rig, "", "x", id);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    const json_t *json = get_execution(rig, id);
    assert_string_equal(text_at(json, "status"), "queued");
    assert_json(json_object_get(json, "completed_at"), "null");
    peer_admit(&rig->executor, c);
    peer_begin(c);
    peer_print(c, "late\n");
    await_status(rig, id, "running");
    peer_done(&rig->executor, c, CBX_RUN_OK);
    json = get_execution(rig, id);
    assert_string_equal(text_at(json, "status"), "completed");
    assert_json(json_object_get(json, "output"), "[{'kind':'stdout','text':'late\\n'}]");
}

static void a_synchronous_execution_is_not_answered_before_its_end(void **state)
{
    struct rig *rig = *state;
    play_submissions(rig);
    struct cbx_http_exchange *e = post_code(rig, "", "x");
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    peer_admit(&rig->executor, c);
    peer_begin(c);
    peer_print(c, "one");
    assert_false(is_answered(e));
    peer_done(&rig->executor, c, CBX_RUN_ERROR);
    const json_t *json = await_answer(e, 200); /* the program failed, the request did not */
    assert_string_equal(text_at(json, "status"), "error");
    assert_string_equal(text_at(json, "outcome"), "error");
    assert_string_equal(text_at(json, "error"), "exit code 1");
}

static void what_a_client_was_answered_it_can_get_again(void **state)
{
    struct rig *rig = *state;
    for (int i = 0; i < 20; i++) {
        const json_t *answered = await_answer(post_code(rig, "", "x"), 200);
        const json_t *stored = get_execution(rig, text_at(answered, "execution_id"));
        assert_string_equal(text_at(stored, "status"), "completed");
        CBX_AUTO_JSON expected = json_deep_copy(answered);
        json_object_set(expected, "created_at", json_object_get(stored, "created_at"));
        assert_true(json_equal(stored, expected));
    }
}

static void a_result_is_acknowledged_after_it_was_stored(void **state)
{
    struct rig *rig = *state;
    char id[37];
    play_submissions(rig);
    post_async(rig, "", "x", id);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    struct cbx_result result = { .status = CBX_RUN_OK };
    CBX_AUTO_JSON done = cbx_result_json(&result);
    CBX_AUTO_DONE(message) ack;
    cbx_message_init(&ack);
    peer_admit(&rig->executor, c);
    peer_begin(c);
    assert_int_equal(cbx_wire_send(c->fd, done, CBX_STR(""), NULL), 0);
    assert_int_equal(cbx_wire_receive(c->fd, DEADLINE_MS, &ack, NULL), 0);
    assert_int_equal(cbx_reply_of(ack.header), CBX_REPLY_ACK);
    assert_string_equal(text_at(get_execution(rig, id), "status"), "completed");
    peer_send(c->fd, CBX_REPLY_DONE, NULL, 0);
    conn_free(c);
}

/* --- quotas of the store ---------------------------------------------------------------------- */

static void restart(struct rig *rig, struct cbx_store_limits limits)
{
    rig_close(rig);
    rig->store_limits = limits;
    rig_open(rig, RIG_JOBS);
}

static void results_above_the_quota_say_what_is_left_out_now_and_later(void **state)
{
    struct rig *rig = *state;
    char text[101];
    restart(rig, (struct cbx_store_limits){ .execution_bytes = 2048 });
    play_submissions(rig);
    struct cbx_http_exchange *e = post_code(rig, "", "x");
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    peer_admit(&rig->executor, c);
    peer_begin(c);
    snprintf(text, sizeof(text), "%0100d", 0);
    for (int i = 0; i < 50; i++) {
        peer_print(c, text);
    }
    peer_done(&rig->executor, c, CBX_RUN_OK);
    const json_t *answered = await_answer(e, 200);
    assert_string_equal(text_at(answered, "status"), "completed");
    assert_json(json_object_get(answered, "truncated"), "true");
    const json_t *left_out = json_object_get(answered, "left_out");
    assert_true(json_integer_value(json_object_get(left_out, "bytes")) > 3000);
    assert_non_null(strstr(text_at(left_out, "reason"), "may not be larger"));
    const json_t *stored = get_execution(rig, text_at(answered, "execution_id"));
    assert_true(json_equal(json_object_get(stored, "output"), json_object_get(answered, "output")));
    assert_true(json_equal(json_object_get(stored, "left_out"), left_out));
}

static void results_that_made_room_for_others_are_gone_and_not_unknown(void **state)
{
    struct rig *rig = *state;
    char first[37], path[80];
    restart(rig, (struct cbx_store_limits){ .store_bytes = 4096, .short_bytes = 1 });
    snprintf(first, sizeof(first), "%s",
             text_at(await_answer(post_code(rig, "", "x"), 200), "execution_id"));
    get_execution(rig, first);
    for (int i = 0; i < 20; i++) {
        await_answer(post_code(rig, "", "x"), 200);
    }
    snprintf(path, sizeof(path), "/v1/executions/%s", first);
    const json_t *problem =
        assert_problem(rig_get(rig, path), 410, "removed to make room for newer ones");
    assert_string_equal(text_at(problem, "type"), "urn:codebox:problem:gone");
    snprintf(path, sizeof(path), "/execute/%s/results", first);
    problem = assert_problem(rig_get(rig, path), 410, "removed to make room for newer ones");
    assert_string_equal(text_at(problem, "message"), text_at(problem, "detail"));
    snprintf(path, sizeof(path), "/execute/%s/status", first);
    assert_string_equal(text_at(await_answer(rig_get(rig, path), 200), "status"), "completed");
    assert_problem(rig_get(rig, "/v1/executions/none"), 404, "there is no such execution");
}

static void with_a_full_file_system_nothing_is_accepted(void **state)
{
    struct rig *rig = *state;
    restart(rig, (struct cbx_store_limits){ .free_bytes = INT64_MAX });
    const json_t *problem = assert_problem(post_code(rig, "", "y"), 503, "left to the audit log");
    assert_string_equal(text_at(problem, "type"), "urn:codebox:problem:busy");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 0);
    assert_problem(rig_json(rig, "POST", "/v1/sessions", "{}"), 503, "left to the audit log");
}

/* --- streams ---------------------------------------------------------------------------------- */

static void a_stream_has_the_events_in_order_and_ends_with_the_result(void **state)
{
    struct rig *rig = *state;
    play_submissions(rig);
    struct cbx_http_exchange *e = post(rig, "{'code':'x','stream':true}");
    await_answer(e, 200);
    assert_string_equal(e->response.type, "text/event-stream");
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    peer_admit(&rig->executor, c);
    peer_begin(c);
    peer_print(c, "a\nb");
    await_stream(e, "event: stdout\ndata: {\"text\":\"a\\nb\"}\n\n"); /* while it runs */
    struct cbx_mime mime = { .type = CBX_STR("text/plain"), .data = CBX_STR("4") };
    struct cbx_event events[] = {
        { .kind = CBX_EVENT_STDERR, .text = CBX_STR("oh"), .late = true },
        { .kind = CBX_EVENT_RESULT, .mimes = &mime, .mime_count = 1 },
        { .kind = CBX_EVENT_CUT, .size_bytes = 9 },
        { .kind = CBX_EVENT_FILE, .text = CBX_STR("o.csv"), .size_bytes = 3 },
        { .kind = CBX_EVENT_ASK, .text = CBX_STR("name? "), .secret = true },
    };
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        peer_event(c, &events[i]);
    }
    peer_done(&rig->executor, c, CBX_RUN_OK);
    await_stream(e, NULL);
    static const char *const parts[] = {
        "event: created\ndata: {\"execution_id\":\"",
        "event: stdout\n",
        "event: stderr\ndata: {\"late\":true,\"text\":\"oh\"}\n\n",
        "event: result\ndata: {\"data\":{\"text/plain\":\"4\"},\"kind\":\"result\"}\n\n",
        "event: cut\ndata: {\"kind\":\"cut\",\"size\":9}\n\n",
        "event: file\ndata: {\"kind\":\"file\",\"path\":\"o.csv\",\"size\":3}\n\n",
        "event: input\ndata: {\"prompt\":\"name? \",\"secret\":true}\n\n",
        "event: done\ndata: {",
        "\"outcome\":\"ok\"",
    };
    const char *at = e->stream_text.p;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const char *found = strstr(at, parts[i]);
        if (found == NULL) {
            fail_msg("no %s in %s", parts[i], at);
        }
        at = found;
    }
}

static void a_client_that_accepts_an_event_stream_gets_one(void **state)
{
    struct rig *rig = *state;
    struct sending s = { .method = "POST",
                         .path = "/v1/executions",
                         .type = "application/json",
                         .accept = "text/html, text/event-stream;q=0.9",
                         .body = CBX_STR("{\"code\":\"x\"}") };
    struct cbx_http_exchange *e = rig_send(rig, &s);
    await_answer(e, 200);
    await_stream(e, "event: done");
}

static void a_stream_says_that_all_comes_again_when_the_executor_is_killed(void **state)
{
    struct rig *rig = *state;
    play_submissions(rig);
    executor_script(&rig->executor, CBX_CALL_resume, (struct script){ .manual = true });
    struct cbx_http_exchange *e = post(rig, "{'code':'x','stream':true}");
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    char decision[CBX_ID_CHARS + 1];
    snprintf(decision, sizeof(decision), "%s", c->decision);
    peer_admit(&rig->executor, c);
    peer_begin(c);
    peer_print(c, "one");
    await_stream(e, "one");
    peer_die(c);
    c = peer_take(&rig->executor, CBX_CALL_resume);
    assert_string_equal(text_at(c->message.header, "run"), decision);
    peer_begin(c);
    peer_print(c, "one");
    peer_print(c, "two");
    peer_done(&rig->executor, c, CBX_RUN_OK);
    await_stream(e, NULL);
    const char *again = strstr(e->stream_text.p, "event: restart\ndata: {}\n\n");
    assert_non_null(again);
    assert_contains(again, "event: stdout\ndata: {\"text\":\"one\"}");
    assert_contains(again, "{\"kind\":\"stdout\",\"text\":\"onetwo\"}"); /* once, in the result */
}

static void a_denied_stream_is_a_problem_document(void **state)
{
    assert_problem(post(*state, "{'code':'DENY','stream':true}"), 400, "py.process");
}

/* --- permitted requests ----------------------------------------------------------------------- */

static void an_execution_needs_a_language_that_can_run(void **state)
{
    assert_problem(post(*state, "{'code':'x','language':'cobol'}"), 400, "language is 'cobol'");
    const json_t *json = await_answer(post(*state, "{'code':'x','language':'bash'}"), 200);
    assert_string_equal(text_at(json, "language"), "shell");
}

static void an_execution_is_judged_under_the_policy_it_names(void **state)
{
    struct rig *rig = *state;
    await_answer(post(rig, "{'code':'x','policy':'strict'}"), 200);
    assert_string_equal(worker_seen(rig)->policy, "strict");
    assert_string_equal(worker_seen(rig)->language, "ipython");
    assert_string_equal(worker_seen(rig)->action, "run");
    await_answer(post(rig, "{'code':'x'}"), 200);
    assert_string_equal(worker_seen(rig)->policy, "default");
    assert_problem(post(rig, "{'code':'x','policy':'lax'}"), 404, "no policy is called 'lax'");
}

static void limits_and_timeout_are_handed_to_the_judgement_the_stricter_one_wins(void **state)
{
    struct rig *rig = *state;
    await_answer(post(rig, "{'code':'x','limits':{'wall_ms':5000},'timeout_seconds':2}"), 200);
    assert_int_equal(worker_seen(rig)->wall_ms, 2000);
    await_answer(post(rig, "{'code':'x','limits':{'wall_ms':500},'timeout_seconds':2}"), 200);
    assert_int_equal(worker_seen(rig)->wall_ms, 500);
    assert_problem(post(rig, "{'code':'x','limits':{'wall':1}}"), 400, "limits");
    assert_problem(post(rig, "{'code':'x','limits':{'wall_ms':0}}"), 400,
                   "'wall_ms' is 0, allowed 10..86400000");
    assert_problem(post(rig, "{'code':'x','timeout_seconds':-1}"), 400, "timeout_seconds");
}

static void a_session_gives_policy_language_and_limits_to_its_executions(void **state)
{
    struct rig *rig = *state;
    char id[37], body[200];
    open_session(rig, "{'policy':'strict','language':'javascript','limits':{'wall_ms':3000}}", id);
    const json_t *json = await_answer(post_code(rig, id, "x"), 200);
    assert_string_equal(text_at(json, "session_id"), id);
    assert_string_equal(worker_seen(rig)->policy, "strict");
    assert_string_equal(worker_seen(rig)->language, "javascript");
    assert_string_equal(worker_seen(rig)->session, id);
    assert_int_equal(worker_seen(rig)->wall_ms, 3000);
    snprintf(body, sizeof(body), "{'code':'x','session_id':'%s','limits':{'wall_ms':9000}}", id);
    await_answer(post(rig, body), 200);
    assert_int_equal(worker_seen(rig)->wall_ms, 3000); /* a caller can only tighten */
    snprintf(body, sizeof(body), "{'code':'x','session_id':'%s','limits':{'wall_ms':1000}}", id);
    await_answer(post(rig, body), 200);
    assert_int_equal(worker_seen(rig)->wall_ms, 1000);
    snprintf(body, sizeof(body), "{'code':'x','session_id':'%s','language':'python'}", id);
    assert_problem(post(rig, body), 400, "language is 'python', this session runs javascript");
}

static void an_unknown_session_is_404_and_nothing_is_judged(void **state)
{
    struct rig *rig = *state;
    assert_problem(post_code(rig, "gone", "x"), 404, "Session not found");
    struct sending s = { .method = "POST",
                         .path = "/v1/executions",
                         .type = "application/json",
                         .body = CBX_STR("{\"code\":\"x\",\"session_id\":\"a\\u0000b\"}") };
    assert_problem(rig_send(rig, &s), 404, "Session not found");
    assert_int_equal(worker_judged(rig), 0);
}

static void what_needs_approval_is_refused_like_a_denial_and_recorded(void **state)
{
    struct rig *rig = *state;
    const json_t *json = assert_problem(post_code(rig, "", "ASK"), 400, "py.process");
    assert_string_equal(text_at(json, "verdict"), "ask");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 1);
}

static void a_source_that_kills_its_worker_twice_is_denied_and_recorded(void **state)
{
    struct rig *rig = *state;
    const json_t *json = assert_problem(post_code(rig, "", "CRASH"), 400, "analysis-failed");
    assert_string_equal(text_at(json, "decision"), "failure-1");
    const struct seen *record = executor_last(&rig->executor, CBX_CALL_record_failure);
    assert_non_null(record);
    assert_true(cbx_str_is(cbx_buf_str(&record->bytes), "CRASH"));
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 0);
    assert_int_equal(worker_judged(rig), 2);
}

static void a_denial_that_cannot_be_recorded_is_a_failure(void **state)
{
    struct rig *rig = *state;
    struct script full = { .code = CBX_EAUDIT, .text = "the audit log is full" };
    executor_script(&rig->executor, CBX_CALL_submit, full);
    assert_problem(post_code(rig, "", "DENY"), 503, "the audit log is full");
}

static void a_failure_of_the_executor_is_the_answer_and_is_stored(void **state)
{
    struct rig *rig = *state;
    struct script busy = { .code = CBX_EBUSY, .text = "all sandboxes are in use", .times = 1 };
    executor_script(&rig->executor, CBX_CALL_submit, busy);
    assert_problem(post_code(rig, "", "x"), 503, "all sandboxes are in use");
    struct script away = { .code = CBX_EENGINE, .text = "the engine is away" };
    executor_script(&rig->executor, CBX_CALL_submit, away);
    struct cbx_http_exchange *e = post(rig, "{'code':'x','stream':true}");
    await_stream(e, NULL);
    const char *id = strstr(e->stream_text.p, "\"execution_id\":\"");
    assert_non_null(id);
    char copy[37];
    snprintf(copy, sizeof(copy), "%s", id + strlen("\"execution_id\":\""));
    const json_t *json = get_execution(rig, copy);
    assert_string_equal(text_at(json, "status"), "error");
    assert_string_equal(text_at(json, "error"), "the engine is away");
    assert_json(json_object_get(json, "exit_code"), "null");
}

static void more_executions_than_fit_are_refused_and_stored_as_failed(void **state)
{
    struct rig *rig = *state;
    char id[37];
    rig_close(rig);
    rig_open(rig, 1);
    play_submissions(rig);
    post_async(rig, "", "x", id);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    assert_problem(post_code(rig, "", "y"), 503, "1 executions are running already");
    assert_problem(post(rig, "{'code':'z','stream':true}"), 503, "try again later");
    peer_admit(&rig->executor, c);
    peer_begin(c);
    peer_done(&rig->executor, c, CBX_RUN_OK);
    rig_close(rig);
    rig_open(rig, 4);
    cbx_service_recover(&rig->service);
    /* No execution remains to run again: the refused ones have ended. */
    CBX_AUTO_JSON running = NULL;
    assert_int_equal(cbx_store_list_running(rig->store, &running, NULL), 0);
    assert_int_equal(json_array_size(running), 0);
}

static void a_session_that_was_closed_because_it_was_idle_is_forgotten(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    struct script gone = { .code = CBX_ENOTFOUND, .text = "no such session", .times = 1 };
    executor_script(&rig->executor, CBX_CALL_submit, gone);
    assert_problem(post_code(rig, id, "x"), 404, "no such session");
    assert_problem(post_code(rig, id, "x"), 404, "Session not found");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_close), 1);
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 2); /* open, run */
}

/* --- cancel and input ------------------------------------------------------------------------- */

static const json_t *cancel(struct rig *rig, const char *id, int status)
{
    char path[80];
    snprintf(path, sizeof(path), "/v1/executions/%s/cancel", id);
    return await_answer(rig_json(rig, "POST", path, ""), status);
}

static void cancel_interrupts_the_run_of_the_execution(void **state)
{
    struct rig *rig = *state;
    char id[37], path[80];
    play_submissions(rig);
    post_async(rig, "", "x", id);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    peer_admit(&rig->executor, c);
    peer_begin(c);
    await_status(rig, id, "running");
    assert_string_equal(text_at(cancel(rig, id, 202), "status"), "interrupted");
    const struct seen *call = executor_last(&rig->executor, CBX_CALL_cancel);
    assert_string_equal(text_at(call->header, "run"), c->decision);
    peer_done(&rig->executor, c, CBX_RUN_KILLED);
    await_status(rig, id, "cancelled");
    snprintf(path, sizeof(path), "/v1/executions/%s/cancel", id);
    assert_problem(rig_json(rig, "POST", path, ""), 409, "the execution is over");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_cancel), 1);
    assert_problem(rig_json(rig, "POST", "/v1/executions/none/cancel", ""), 404, "no such");
}

/* Admitted means that the executor has it in its queue. */
static void
one_that_is_cancelled_while_the_executor_has_it_in_its_queue_is_cancelled_there(void **state)
{
    struct rig *rig = *state;
    char id[37];
    play_submissions(rig);
    post_async(rig, "", "x", id);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    peer_admit(&rig->executor, c);
    peer_wait(c, 3);
    await_ahead(rig, id, 3);
    assert_string_equal(text_at(cancel(rig, id, 202), "status"), "cancelled");
    const struct seen *call = executor_last(&rig->executor, CBX_CALL_cancel);
    assert_string_equal(text_at(call->header, "run"), c->decision);
    assert_string_equal(text_at(get_execution(rig, id), "status"), "cancelled"); /* at once */
    peer_send_error(c->fd, CBX_ECANCELLED, "cancelled before it began");
    conn_free(c);
    await_status(rig, id, "cancelled");
    assert_contains(text_at(get_execution(rig, id), "error"), "cancelled before it began");
}

static void one_that_is_cancelled_before_it_was_admitted_is_cancelled_when_it_is(void **state)
{
    struct rig *rig = *state;
    char id[37];
    play_submissions(rig);
    post_async(rig, "", "x", id);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    cancel(rig, id, 202);
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_cancel), 0); /* no run has begun */
    peer_admit(&rig->executor, c);
    executor_await(&rig->executor, CBX_CALL_cancel, 1);
    peer_send_error(c->fd, CBX_ECANCELLED, "cancelled before it began");
    conn_free(c);
    await_status(rig, id, "cancelled");
}

static void one_that_waits_for_its_session_is_never_submitted_when_it_is_cancelled(void **state)
{
    struct rig *rig = *state;
    char session[37], first[37], second[37], third[37];
    open_session(rig, "{}", session);
    play_submissions(rig);
    post_async(rig, session, "a", first);
    struct conn *a = peer_take(&rig->executor, CBX_CALL_submit);
    post_async(rig, session, "b", second);
    post_async(rig, session, "c", third);
    assert_json(json_object_get(get_execution(rig, third), "ahead"), "2");
    assert_string_equal(text_at(cancel(rig, second, 202), "status"), "cancelled");
    await_status(rig, second, "cancelled");
    await_ahead(rig, third, 1);
    peer_admit(&rig->executor, a);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    assert_true(cbx_str_is(cbx_buf_str(&c->message.bytes), "c"));
    peer_admit(&rig->executor, c);
    peer_begin(a);
    peer_done(&rig->executor, a, CBX_RUN_OK);
    peer_begin(c);
    peer_done(&rig->executor, c, CBX_RUN_OK);
    await_status(rig, third, "completed");
    assert_string_equal(text_at(get_execution(rig, second), "status"), "cancelled");
}

static void input_is_a_line_and_null_its_end(void **state)
{
    static const struct {
        const char *body, *bytes;
    } cases[] = { { "{'text':'ann'}", "ann\n" }, { "{'text':''}", "\n" }, { "{'text':null}", "" } };
    struct rig *rig = *state;
    char id[37], path[80];
    play_submissions(rig);
    const json_t *json =
        await_answer(post(rig, "{'code':'x','async':true,'interactive':true}"), 202);
    snprintf(id, sizeof(id), "%s", text_at(json, "execution_id"));
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    assert_json(json_object_get(c->message.header, "interactive"), "true");
    snprintf(path, sizeof(path), "/v1/executions/%s/input", id);
    assert_problem(rig_json(rig, "POST", path, "{'text':'x'}"), 409, "has not begun");
    peer_admit(&rig->executor, c);
    peer_begin(c);
    await_status(rig, id, "running");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        await_answer(rig_json(rig, "POST", path, cases[i].body), 202);
        const struct seen *call = executor_last(&rig->executor, CBX_CALL_input);
        assert_true(cbx_str_is(cbx_buf_str(&call->bytes), cases[i].bytes));
        assert_string_equal(text_at(call->header, "session"), c->decision);
    }
    peer_done(&rig->executor, c, CBX_RUN_OK);
    assert_problem(rig_json(rig, "POST", path, "{'text':'x'}"), 409, "over");
}

/* --- CodeBox-AI ------------------------------------------------------------------------------- */

static struct cbx_http_exchange *post_legacy(struct rig *rig, const char *session, const char *more)
{
    char body[300];
    snprintf(body, sizeof(body), "{'code':'x','session_id':'%s'%s}", session, more);
    return rig_json(rig, "POST", "/execute", body);
}

static void a_legacy_execution_has_created_status_and_results(void **state)
{
    struct rig *rig = *state;
    char id[37], path[80];
    open_session(rig, "{}", id);
    play_submissions(rig);
    const json_t *json = await_answer(post_legacy(rig, id, ""), 200);
    assert_string_equal(text_at(json, "status"), "created");
    const char *request = text_at(json, "request_id");
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    snprintf(path, sizeof(path), "/execute/%s/status", request);
    json = await_answer(rig_get(rig, path), 200);
    assert_string_equal(text_at(json, "status"), "running");
    assert_string_equal(text_at(json, "request_id"), request);
    snprintf(path, sizeof(path), "/execute/%s/results", request);
    assert_problem(rig_get(rig, path), 404, "Results not available");
    peer_admit(&rig->executor, c);
    peer_begin(c);
    peer_print(c, "1\n");
    peer_done(&rig->executor, c, CBX_RUN_OK);
    json = await_answer(rig_get(rig, path), 200);
    assert_string_equal(text_at(json, "status"), "completed");
    assert_json(json_object_get(json, "output"),
                "[{'type':'stream','name':'stdout','content':'1\\n'}]");
    assert_non_null(json_object_get(json, "completed_at"));
}

static void a_legacy_execution_that_is_unknown_has_its_clients_words(void **state)
{
    const json_t *json =
        assert_problem(rig_get(*state, "/execute/none/status"), 404, "Request not found");
    assert_string_equal(text_at(json, "status"), "error");
    assert_problem(rig_get(*state, "/execute/none/results"), 404, "Results not available");
}

static void a_caller_cannot_disable_the_validation(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    static const char *const disabled[] = { ",'disable_validation':['imports']",
                                            ",'disable_validation':true",
                                            ",'disable_validation':{}" };
    int judged = worker_judged(rig);
    for (size_t i = 0; i < sizeof(disabled) / sizeof(disabled[0]); i++) {
        assert_problem(post_legacy(rig, id, disabled[i]), 400, "cannot weaken");
    }
    assert_problem(post_legacy(rig, id, ",'language':'javascript'"), 400, "runs python");
    assert_int_equal(worker_judged(rig), judged);
    await_answer(post_legacy(rig, id, ",'disable_validation':[]"), 200);
    await_answer(post_legacy(rig, id, ",'disable_validation':null,'language':'python'"), 200);
}

static void a_denied_legacy_execution_has_the_message_its_clients_read(void **state)
{
    struct rig *rig = *state;
    char id[37], body[200];
    open_session(rig, "{}", id);
    snprintf(body, sizeof(body), "{'code':'DENY','session_id':'%s'}", id);
    const json_t *json = assert_problem(rig_json(rig, "POST", "/execute", body), 400, "py.process");
    assert_string_equal(text_at(json, "status"), "error");
    assert_string_equal(text_at(json, "message"), text_at(json, "detail"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_synchronous_execution_is_answered_with_its_result),
        RIG_TEST(an_asynchronous_execution_is_answered_before_it_runs),
        RIG_TEST(a_synchronous_execution_is_not_answered_before_its_end),
        RIG_TEST(what_a_client_was_answered_it_can_get_again),
        RIG_TEST(a_result_is_acknowledged_after_it_was_stored),
        RIG_TEST(results_above_the_quota_say_what_is_left_out_now_and_later),
        RIG_TEST(results_that_made_room_for_others_are_gone_and_not_unknown),
        RIG_TEST(with_a_full_file_system_nothing_is_accepted),
        RIG_TEST(a_stream_has_the_events_in_order_and_ends_with_the_result),
        RIG_TEST(a_client_that_accepts_an_event_stream_gets_one),
        RIG_TEST(a_stream_says_that_all_comes_again_when_the_executor_is_killed),
        RIG_TEST(a_denied_stream_is_a_problem_document),
        RIG_TEST(an_execution_needs_a_language_that_can_run),
        RIG_TEST(an_execution_is_judged_under_the_policy_it_names),
        RIG_TEST(limits_and_timeout_are_handed_to_the_judgement_the_stricter_one_wins),
        RIG_TEST(a_session_gives_policy_language_and_limits_to_its_executions),
        RIG_TEST(an_unknown_session_is_404_and_nothing_is_judged),
        RIG_TEST(what_needs_approval_is_refused_like_a_denial_and_recorded),
        RIG_TEST(a_source_that_kills_its_worker_twice_is_denied_and_recorded),
        RIG_TEST(a_denial_that_cannot_be_recorded_is_a_failure),
        RIG_TEST(a_failure_of_the_executor_is_the_answer_and_is_stored),
        RIG_TEST(more_executions_than_fit_are_refused_and_stored_as_failed),
        RIG_TEST(a_session_that_was_closed_because_it_was_idle_is_forgotten),
        RIG_TEST(cancel_interrupts_the_run_of_the_execution),
        RIG_TEST(one_that_is_cancelled_while_the_executor_has_it_in_its_queue_is_cancelled_there),
        RIG_TEST(one_that_is_cancelled_before_it_was_admitted_is_cancelled_when_it_is),
        RIG_TEST(one_that_waits_for_its_session_is_never_submitted_when_it_is_cancelled),
        RIG_TEST(input_is_a_line_and_null_its_end),
        RIG_TEST(a_legacy_execution_has_created_status_and_results),
        RIG_TEST(a_legacy_execution_that_is_unknown_has_its_clients_words),
        RIG_TEST(a_caller_cannot_disable_the_validation),
        RIG_TEST(a_denied_legacy_execution_has_the_message_its_clients_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
