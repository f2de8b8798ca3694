/* SPDX-License-Identifier: MIT
 * The order of the executions of one session, up to their admission by the executor. */
#include "gateway/front/jobs/queue.h"

#include "tests/unit/gateway/front/rest/rig.h"

static void play_submissions(struct rig *rig)
{
    executor_script(&rig->executor, CBX_CALL_submit, (struct script){ .manual = true });
    executor_script(&rig->executor, CBX_CALL_resume, (struct script){ .manual = true });
}

static struct conn *take_submission(struct rig *rig, const char *code)
{
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    if (!cbx_str_is(cbx_buf_str(&c->message.bytes), code)) {
        fail_msg("submitted %s, not %s", c->message.bytes.p, code);
    }
    return c;
}

/* Runs a one-shot from its acceptance to its end: threads that were started before had time to
 * run. */
static void run_one_shot(struct rig *rig)
{
    struct cbx_http_exchange *e = post_code(rig, "", "one-shot");
    struct conn *c = take_submission(rig, "one-shot");
    peer_admit(&rig->executor, c);
    peer_begin(c);
    peer_done(&rig->executor, c, CBX_RUN_OK);
    await_answer(e, 200);
}

static void finish(struct rig *rig, struct conn *c)
{
    peer_begin(c);
    peer_done(&rig->executor, c, CBX_RUN_OK);
}

static void the_next_of_a_session_is_submitted_when_the_one_before_was_admitted(void **state)
{
    struct rig *rig = *state;
    char id[37], ids[3][37];
    open_session(rig, "{}", id);
    play_submissions(rig);
    post_async(rig, id, "a", ids[0]);
    struct conn *a = take_submission(rig, "a");
    post_async(rig, id, "b", ids[1]);
    post_async(rig, id, "c", ids[2]);
    run_one_shot(rig);
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 3); /* open, a, one-shot */
    peer_admit(&rig->executor, a);
    struct conn *b = take_submission(rig, "b"); /* while a runs */
    run_one_shot(rig);
    peer_admit(&rig->executor, b);
    struct conn *c = take_submission(rig, "c");
    peer_admit(&rig->executor, c);
    finish(rig, a);
    finish(rig, b);
    finish(rig, c);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(text_at(get_execution(rig, ids[i]), "status"), "completed");
    }
    assert_string_equal(rig->executor.order.p,
                        "submit:;submit:a;submit:one-shot;admit:one-shot;admit:a;submit:b;"
                        "submit:one-shot;admit:one-shot;admit:b;submit:c;admit:c;");
}

static void a_decision_that_waited_too_long_is_made_again(void **state)
{
    struct rig *rig = *state;
    char id[37], execution[37];
    open_session(rig, "{}", id);
    play_submissions(rig);
    for (int again = 0; again < 2; again++) {
        rig->service.fresh_ms = again ? -1 : DEADLINE_MS;
        int judged = worker_judged(rig);
        post_async(rig, id, "a", execution);
        struct conn *a = take_submission(rig, "a");
        assert_int_equal(worker_judged(rig) - judged, again ? 2 : 1);
        peer_admit(&rig->executor, a);
        finish(rig, a);
        assert_string_equal(text_at(get_execution(rig, execution), "status"), "completed");
    }
}

static void sessions_do_not_wait_for_each_other(void **state)
{
    struct rig *rig = *state;
    char first[37], second[37], id[37];
    open_session(rig, "{}", first);
    open_session(rig, "{}", second);
    play_submissions(rig);
    post_async(rig, first, "a", id);
    struct conn *a = take_submission(rig, "a");
    post_async(rig, second, "b", id);
    struct conn *b = take_submission(rig, "b");
    peer_admit(&rig->executor, b);
    finish(rig, b);
    peer_admit(&rig->executor, a);
    finish(rig, a);
}

static void one_that_fails_does_not_hold_up_those_behind_it(void **state)
{
    struct rig *rig = *state;
    char id[37], ignored[37];
    open_session(rig, "{}", id);
    play_submissions(rig);
    post_async(rig, id, "a", ignored);
    struct conn *a = take_submission(rig, "a");
    post_async(rig, id, "b", ignored);
    peer_send_error(a->fd, CBX_EBUSY, "no room");
    conn_free(a);
    struct conn *b = take_submission(rig, "b");
    peer_admit(&rig->executor, b);
    finish(rig, b);
}

static void wait_for_judgements(struct rig *rig, int count)
{
    int64_t end = cbx_clock_ms() + DEADLINE_MS;
    for (int judged = 0; judged < count; poll(NULL, 0, 1)) {
        assert_true(cbx_clock_ms() < end);
        judged = worker_judged(rig);
    }
}

static struct cbx_http_exchange *post_stream(struct rig *rig, const char *session, const char *code)
{
    char body[200];
    snprintf(body, sizeof(body), "{'code':'%s','session_id':'%s','stream':true}", code, session);
    return rig_json(rig, "POST", "/v1/executions", body);
}

static void the_order_holds_when_the_executor_is_killed_in_between(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    play_submissions(rig);
    struct cbx_http_exchange *first = post_stream(rig, id, "a");
    struct conn *a = take_submission(rig, "a");
    struct cbx_http_exchange *second = post_stream(rig, id, "b");
    peer_admit(&rig->executor, a);
    struct conn *b = take_submission(rig, "b");
    char decisions[2][CBX_ID_CHARS + 1];
    memcpy(decisions[0], a->decision, sizeof(decisions[0]));
    memcpy(decisions[1], b->decision, sizeof(decisions[1]));
    peer_admit(&rig->executor, b);
    peer_die(a); /* neither had begun */
    struct conn *resume_a = peer_take(&rig->executor, CBX_CALL_resume);
    assert_string_equal(text_at(resume_a->message.header, "run"), decisions[0]);
    await_stream(first, "event: restart");
    int judged = worker_judged(rig);
    peer_die(b);
    struct conn *resume_b = peer_take(&rig->executor, CBX_CALL_resume);
    assert_string_equal(text_at(resume_b->message.header, "run"), decisions[1]);
    await_stream(second, "event: restart");
    peer_send_error(resume_b->fd, CBX_ENOTFOUND, "never began");
    conn_free(resume_b);
    wait_for_judgements(rig, judged + 1); /* b is to be submitted, and waits for a */
    peer_send_error(resume_a->fd, CBX_ENOTFOUND, "never began");
    conn_free(resume_a);
    a = take_submission(rig, "a");
    assert_string_not_equal(a->decision, decisions[0]); /* a decision is used once */
    peer_admit(&rig->executor, a);
    b = take_submission(rig, "b");
    peer_admit(&rig->executor, b);
    finish(rig, a);
    finish(rig, b);
    await_stream(first, NULL);
    await_stream(second, NULL);
    assert_contains(second->stream_text.p, "\"outcome\":\"ok\"");
}

static void one_that_waits_ends_when_the_gateway_stops(void **state)
{
    struct rig *rig = *state;
    char id[37], ids[2][37];
    open_session(rig, "{}", id);
    play_submissions(rig);
    post_async(rig, id, "a", ids[0]);
    struct conn *a = take_submission(rig, "a");
    struct cbx_http_exchange *b = post_code(rig, id, "b");
    cbx_service_stop(&rig->service);
    assert_problem(b, 503, "the gateway is shutting down");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 2); /* open, a */
    rig_close(rig);
    conn_free(a);
}

static void jobs_of_no_session_are_in_no_queue(void **state)
{
    struct rig *rig = *state;
    struct cbx_job *job = cbx_job_new(&rig->service, CBX_CALLER_LOCAL);
    cbx_job_enqueue(job);
    assert_null(rig->service.queue);
    assert_true(cbx_job_await_turn(job));
    cbx_job_free(job);
}

static void a_queue_is_empty_after_its_jobs_were_freed(void **state)
{
    struct rig *rig = *state;
    struct cbx_job *jobs[3];
    for (int i = 0; i < 3; i++) {
        jobs[i] = cbx_job_new(&rig->service, CBX_CALLER_LOCAL);
        snprintf(jobs[i]->session, sizeof(jobs[i]->session), "%s", i == 1 ? "other" : "one");
        cbx_job_enqueue(jobs[i]);
    }
    assert_true(cbx_job_await_turn(jobs[0]));
    assert_true(cbx_job_await_turn(jobs[1]));
    cbx_job_set_admitted(jobs[0], true);
    assert_true(cbx_job_await_turn(jobs[2]));
    cbx_job_dequeue(jobs[1]);
    cbx_job_dequeue(jobs[1]);
    for (int i = 0; i < 3; i++) {
        cbx_job_free(jobs[i]);
    }
    assert_null(rig->service.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(the_next_of_a_session_is_submitted_when_the_one_before_was_admitted),
        RIG_TEST(a_decision_that_waited_too_long_is_made_again),
        RIG_TEST(sessions_do_not_wait_for_each_other),
        RIG_TEST(one_that_fails_does_not_hold_up_those_behind_it),
        RIG_TEST(the_order_holds_when_the_executor_is_killed_in_between),
        RIG_TEST(one_that_waits_ends_when_the_gateway_stops),
        RIG_TEST(jobs_of_no_session_are_in_no_queue),
        RIG_TEST(a_queue_is_empty_after_its_jobs_were_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
