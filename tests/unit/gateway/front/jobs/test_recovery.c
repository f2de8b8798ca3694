/* SPDX-License-Identifier: MIT
 * A gateway that starts on the state of a killed one: it follows runs that had begun; it judges and
 * submits the others, a few at a time, and in order. */
#include "tests/unit/gateway/front/rest/rig.h"

/* An execution (ids are hexadecimal) that a gateway before this one accepted; begun by audit
 * record `seq` when that is not 0. */
static void add_row(struct rig *rig, const char *id, const char *session, const char *code,
                    uint64_t seq)
{
    CBX_AUTO_JSON request =
        json_pack("{s:s,s:b,s:i}", "policy", "strict", "interactive", 1, "wall_ms", 2500);
    char decision[40];
    snprintf(decision, sizeof(decision), "decision-%s", id);
    struct cbx_stored_execution row = { .principal = CBX_CALLER_LOCAL,
                                        .id = id,
                                        .session = session,
                                        .created_at = "2026-11-21T06:00:00.000000",
                                        .decision = decision,
                                        .language = "ipython",
                                        .code = code,
                                        .request = request };
    assert_int_equal(cbx_store_add_execution(rig->store, &row, NULL), 0);
    if (seq > 0) {
        assert_int_equal(cbx_store_begin_execution(rig->store, id, seq, NULL), 0);
    }
}

/* The next gateway, with threads for so many executions. */
static void restart(struct rig *rig, int jobs)
{
    rig_close(rig);
    rig_open(rig, jobs);
    cbx_service_recover(&rig->service);
}

static void play(struct rig *rig, enum cbx_executor_call call)
{
    executor_script(&rig->executor, call, (struct script){ .manual = true });
}

static void run_to_its_end(struct rig *rig, struct conn *c)
{
    peer_begin(c);
    peer_print(c, "out");
    peer_done(&rig->executor, c, CBX_RUN_OK);
}

static void assert_status(struct rig *rig, const char *id, const char *status)
{
    assert_string_equal(text_at(get_execution(rig, id), "status"), status);
}

static size_t count_running(struct rig *rig)
{
    CBX_AUTO_JSON rows = NULL;
    assert_int_equal(cbx_store_list_running(rig->store, &rows, NULL), 0);
    return json_array_size(rows);
}

/* Adds a row like add_row, of an MCP client that sent its name. */
static void add_row_of_client(struct rig *rig)
{
    struct cbx_claims claims = { .claimed_client = "some-agent", .claimed_request = "7" };
    CBX_AUTO_JSON request = json_pack("{s:s,s:s,s:s,s:s}", "policy", "strict", "origin", "mcp",
                                      "voucher", "v1.voucher", "voucher_subject", "its-subject");
    cbx_claims_write(&claims, request);
    struct cbx_stored_execution row = { .principal = CBX_CALLER_LOCAL,
                                        .id = "e1",
                                        .session = "",
                                        .created_at = "2026-11-21T06:00:00.000000",
                                        .decision = "decision-e1",
                                        .language = "ipython",
                                        .code = "x",
                                        .request = request };
    assert_int_equal(cbx_store_add_execution(rig->store, &row, NULL), 0);
}

/* --- runs that had begun ---------------------------------------------------------------------- */

static void one_that_began_is_followed_and_neither_judged_nor_submitted(void **state)
{
    struct rig *rig = *state;
    add_row(rig, "e1", "", "x", 41);
    play(rig, CBX_CALL_resume);
    restart(rig, RIG_JOBS);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_resume);
    assert_string_equal(text_at(c->message.header, "run"), "decision-e1");
    assert_json(json_object_get(c->message.header, "detach"), "true");
    run_to_its_end(rig, c);
    const json_t *json = get_execution(rig, "e1");
    assert_string_equal(text_at(json, "status"), "completed");
    assert_json(json_object_get(json, "output"), "[{'kind':'stdout','text':'out'}]");
    assert_json(json_object_get(json, "audit_seq"), "41");
    assert_string_equal(text_at(json, "decision"), "decision-e1");
    assert_int_equal(worker_judged(rig), 0);
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 0);
}

static void one_that_began_and_whose_sandbox_is_gone_has_failed_and_does_not_run_again(void **state)
{
    struct rig *rig = *state;
    add_row(rig, "e1", "", "x", 41);
    add_row(rig, "e2", "", "y", 42);
    play(rig, CBX_CALL_resume);
    restart(rig, RIG_JOBS);
    for (int i = 0; i < 2; i++) {
        struct conn *c = peer_take(&rig->executor, CBX_CALL_resume);
        peer_send_error(c->fd, CBX_ENOTFOUND, "no such run");
        conn_free(c);
    }
    while (count_running(rig) > 0) { /* until both are stored */
        poll(NULL, 0, 1);
    }
    const json_t *json = get_execution(rig, "e1");
    assert_string_equal(text_at(json, "status"), "error");
    assert_contains(text_at(json, "error"), "its sandbox is gone");
    assert_status(rig, "e2", "error");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 0);
}

static void one_that_began_after_the_gateway_was_killed_does_not_run_again(void **state)
{
    struct rig *rig = *state;
    add_row(rig, "e1", "", "x", 0); /* the store has no 'begun' of it */
    play(rig, CBX_CALL_resume);
    cbx_service_recover(&rig->service);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_resume);
    peer_begin(c);
    peer_send_error(c->fd, CBX_ENOTFOUND, "its sandbox is gone");
    conn_free(c);
    while (count_running(rig) > 0) {
        poll(NULL, 0, 1);
    }
    assert_status(rig, "e1", "error");
    assert_int_equal(worker_judged(rig), 0);
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 0);
}

/* --- runs that had not begun ------------------------------------------------------------------ */

static void one_that_never_began_is_judged_again_and_submitted_as_it_was_asked_for(void **state)
{
    struct rig *rig = *state;
    add_row(rig, "e1", "", "x = 1", 0);
    play(rig, CBX_CALL_submit);
    cbx_service_recover(&rig->service);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    assert_true(cbx_str_is(cbx_buf_str(&c->message.bytes), "x = 1"));
    assert_json(json_object_get(c->message.header, "interactive"), "true");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_resume), 1);
    assert_string_equal(worker_seen(rig)->policy, "strict");
    assert_int_equal(worker_seen(rig)->wall_ms, 2500);
    CBX_AUTO_JSON rows = NULL; /* a gateway that is killed now resumes by the new decision */
    assert_int_equal(cbx_store_list_running(rig->store, &rows, NULL), 0);
    assert_string_equal(text_at(json_array_get(rows, 0), "decision"), c->decision);
    peer_admit(&rig->executor, c);
    run_to_its_end(rig, c);
    assert_status(rig, "e1", "completed");
}

static void what_its_client_said_of_itself_is_judged_and_followed_with_it(void **state)
{
    struct rig *rig = *state;
    add_row_of_client(rig);
    play(rig, CBX_CALL_submit);
    play(rig, CBX_CALL_resume);
    cbx_service_recover(&rig->service);
    struct conn *resume = peer_take(&rig->executor, CBX_CALL_resume);
    assert_string_equal(text_at(resume->message.header, "claimed_client"), "some-agent");
    assert_string_equal(text_at(resume->message.header, "claimed_request"), "7");
    assert_string_equal(text_at(resume->message.header, "claimed_trace"), "");
    assert_string_equal(text_at(resume->message.header, "principal"), CBX_CALLER_LOCAL);
    assert_string_equal(text_at(resume->message.header, "proof"), "v1.voucher");
    assert_string_equal(text_at(resume->message.header, "voucher_subject"), "its-subject");
    peer_send_error(resume->fd, CBX_ENOTFOUND, "never began");
    conn_free(resume);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    assert_string_equal(worker_seen(rig)->claimed_client, "some-agent");
    assert_string_equal(worker_seen(rig)->origin, "mcp");
    peer_admit(&rig->executor, c);
    run_to_its_end(rig, c);
    assert_status(rig, "e1", "completed");
}

static void one_that_the_policy_does_not_allow_any_more_fails(void **state)
{
    struct rig *rig = *state;
    rig->worker.denies_all = true;
    add_row(rig, "e1", "", "x", 0);
    cbx_service_recover(&rig->service);
    while (count_running(rig) > 0) {
        poll(NULL, 0, 1);
    }
    const json_t *json = get_execution(rig, "e1");
    assert_string_equal(text_at(json, "status"), "error");
    assert_contains(text_at(json, "error"), "does not allow it any more");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 1); /* the denial's record */
}

static void the_executions_of_a_session_begin_in_the_order_they_were_accepted(void **state)
{
    struct rig *rig = *state;
    char session[37];
    open_session(rig, "{}", session);
    add_row(rig, "e1", session, "a", 0);
    add_row(rig, "e2", session, "b", 0);
    play(rig, CBX_CALL_submit);
    play(rig, CBX_CALL_resume);
    cbx_service_recover(&rig->service);
    struct cbx_http_exchange *later = post_code(rig, session, "c");
    struct conn *resumes[2];
    for (int i = 0; i < 2; i++) {
        resumes[i] = peer_take(&rig->executor, CBX_CALL_resume);
    }
    for (int i = 1; i >= 0; i--) { /* the second one is the first to be judged */
        peer_send_error(resumes[i]->fd, CBX_ENOTFOUND, "never began");
        conn_free(resumes[i]);
    }
    static const char *const order[] = { "a", "b", "c" };
    for (int i = 0; i < 3; i++) {
        struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
        assert_string_equal(c->message.bytes.p, order[i]);
        peer_admit(&rig->executor, c);
        run_to_its_end(rig, c);
    }
    await_answer(later, 200);
}

/* --- a few at a time -------------------------------------------------------------------------- */

static int most_at_once(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 2 ? (int)processors : 2;
}

/* A client's execution from its acceptance to its end. */
static void run_one_shot(struct rig *rig)
{
    struct cbx_http_exchange *e = post_code(rig, "", "one-shot");
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    peer_admit(&rig->executor, c);
    run_to_its_end(rig, c);
    await_answer(e, 200);
}

static void add_backlog(struct rig *rig, int count)
{
    for (int i = 0; i < count; i++) {
        char id[16];
        snprintf(id, sizeof(id), "e%d", i);
        add_row(rig, id, "", "x", 0);
    }
}

static void the_backlog_is_started_a_few_at_a_time_while_requests_are_served(void **state)
{
    struct rig *rig = *state;
    int most = most_at_once(), rows = most + 3;
    struct conn *conns[64];
    assert_true(rows <= 20);
    add_backlog(rig, rows);
    play(rig, CBX_CALL_submit);
    play(rig, CBX_CALL_resume);
    cbx_service_recover(&rig->service);
    for (int i = 0; i < most; i++) {
        conns[i] = peer_take(&rig->executor, CBX_CALL_resume);
    }
    run_one_shot(rig);
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_resume), most);
    for (int i = most; i < rows; i++) { /* one is admitted, one more starts */
        peer_send(conns[i - most]->fd, CBX_REPLY_WAITING, NULL, 0);
        conns[i] = peer_take(&rig->executor, CBX_CALL_resume);
        run_one_shot(rig);
        assert_int_equal(executor_count(&rig->executor, CBX_CALL_resume), i + 1);
    }
    for (int i = 0; i < rows; i++) {
        run_to_its_end(rig, conns[i]);
    }
    assert_int_equal(count_running(rig), 0);
    rig_close(rig);
    assert_int_equal(rig->service.starting, 0);
}

static void one_of_the_backlog_that_fails_makes_room_for_the_next(void **state)
{
    struct rig *rig = *state;
    int rows = most_at_once() + 4;
    add_backlog(rig, rows);
    struct script busy = { .code = CBX_EBUSY, .text = "no room" };
    executor_script(&rig->executor, CBX_CALL_submit, busy);
    cbx_service_recover(&rig->service);
    while (count_running(rig) > 0) {
        poll(NULL, 0, 1);
    }
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), rows);
    assert_status(rig, "e0", "error");
}

static void more_than_may_run_wait_until_there_is_room(void **state)
{
    struct rig *rig = *state;
    add_backlog(rig, 3);
    add_row(rig, "bead", "", "x", 7);
    play(rig, CBX_CALL_resume);
    restart(rig, 1);
    struct conn *c = peer_take(&rig->executor, CBX_CALL_resume);
    assert_string_equal(text_at(c->message.header, "run"), "decision-bead"); /* it began before */
    assert_problem(post_code(rig, "", "new"), 503, "1 executions are running already");
    executor_script(&rig->executor, CBX_CALL_resume, (struct script){ 0 });
    run_to_its_end(rig, c);
    assert_status(rig, "bead", "completed");
    executor_await_acks(&rig->executor, 4);
    while (count_running(rig) > 0) {
        poll(NULL, 0, 1);
    }
    assert_status(rig, "e2", "completed");
    rig_close(rig);
    assert_int_equal(rig->service.backlog_jobs, 0);
}

/* --- stopping --------------------------------------------------------------------------------- */

static void a_gateway_that_stops_leaves_its_backlog_and_its_runs_to_the_next(void **state)
{
    struct rig *rig = *state;
    int most = most_at_once(), rows = most + 2;
    struct conn *conns[64];
    add_backlog(rig, rows);
    play(rig, CBX_CALL_resume);
    cbx_service_recover(&rig->service);
    for (int i = 0; i < most; i++) {
        conns[i] = peer_take(&rig->executor, CBX_CALL_resume);
    }
    rig_close(rig);
    for (int i = 0; i < most; i++) {
        conn_free(conns[i]);
    }
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_resume), most);
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 0);
    rig_open(rig, RIG_JOBS);
    assert_int_equal(count_running(rig), rows);
    executor_script(&rig->executor, CBX_CALL_resume, (struct script){ 0 });
    cbx_service_recover(&rig->service);
    executor_await_acks(&rig->executor, rows);
    assert_int_equal(count_running(rig), 0);
}

static void a_client_that_waits_when_the_gateway_stops_can_poll_after_the_restart(void **state)
{
    struct rig *rig = *state;
    play(rig, CBX_CALL_submit);
    play(rig, CBX_CALL_resume);
    struct cbx_http_exchange *e = post_code(rig, "", "x");
    struct conn *c = peer_take(&rig->executor, CBX_CALL_submit);
    peer_admit(&rig->executor, c);
    peer_begin(c);
    peer_print(c, "before");
    rig_close(rig);
    assert_problem(e, 503, "after the restart, poll execution ");
    rig_open(rig, RIG_JOBS);
    CBX_AUTO_JSON rows = NULL;
    assert_int_equal(cbx_store_list_running(rig->store, &rows, NULL), 0);
    assert_int_equal(json_array_size(rows), 1);
    assert_string_equal(text_at(json_array_get(rows, 0), "begun"), "1");
    assert_string_equal(text_at(json_array_get(rows, 0), "decision"), c->decision);
    conn_free(c);
    cbx_service_recover(&rig->service);
    c = peer_take(&rig->executor, CBX_CALL_resume);
    run_to_its_end(rig, c);
    const json_t *json = get_execution(rig, text_at(json_array_get(rows, 0), "id"));
    assert_string_equal(text_at(json, "status"), "completed");
    assert_json(json_object_get(json, "output"), "[{'kind':'stdout','text':'out'}]");
}

/* --- reconciling ------------------------------------------------------------------------------ */

static void the_executor_learns_which_sessions_and_runs_the_store_has(void **state)
{
    struct rig *rig = *state;
    char session[37];
    open_session(rig, "{}", session);
    add_row(rig, "e1", "", "x", 7);
    play(rig, CBX_CALL_resume);
    restart(rig, RIG_JOBS);
    run_to_its_end(rig, peer_take(&rig->executor, CBX_CALL_resume));
    const struct seen *call = executor_last(&rig->executor, CBX_CALL_reconcile);
    const json_t *sessions = json_object_get(call->header, "sessions");
    assert_int_equal(json_array_size(sessions), 1);
    assert_string_equal(json_string_value(json_array_get(sessions, 0)), session);
    assert_json(json_object_get(call->header, "runs"), "['decision-e1']");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_reconcile), 1);
}

static void a_failed_reconciliation_does_not_keep_the_gateway_from_recovering(void **state)
{
    struct rig *rig = *state;
    add_row(rig, "e1", "", "x", 0);
    struct script away = { .code = CBX_EENGINE, .text = "the engine is away" };
    executor_script(&rig->executor, CBX_CALL_reconcile, away);
    cbx_service_recover(&rig->service);
    executor_await_acks(&rig->executor, 1);
    assert_status(rig, "e1", "completed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(one_that_began_is_followed_and_neither_judged_nor_submitted),
        RIG_TEST(one_that_began_and_whose_sandbox_is_gone_has_failed_and_does_not_run_again),
        RIG_TEST(one_that_began_after_the_gateway_was_killed_does_not_run_again),
        RIG_TEST(one_that_never_began_is_judged_again_and_submitted_as_it_was_asked_for),
        RIG_TEST(what_its_client_said_of_itself_is_judged_and_followed_with_it),
        RIG_TEST(one_that_the_policy_does_not_allow_any_more_fails),
        RIG_TEST(the_executions_of_a_session_begin_in_the_order_they_were_accepted),
        RIG_TEST(the_backlog_is_started_a_few_at_a_time_while_requests_are_served),
        RIG_TEST(one_of_the_backlog_that_fails_makes_room_for_the_next),
        RIG_TEST(more_than_may_run_wait_until_there_is_room),
        RIG_TEST(a_gateway_that_stops_leaves_its_backlog_and_its_runs_to_the_next),
        RIG_TEST(a_client_that_waits_when_the_gateway_stops_can_poll_after_the_restart),
        RIG_TEST(the_executor_learns_which_sessions_and_runs_the_store_has),
        RIG_TEST(a_failed_reconciliation_does_not_keep_the_gateway_from_recovering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
