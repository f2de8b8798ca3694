/* SPDX-License-Identifier: MIT
 * Earlier runs of a session are part of the judgement of its next cell. */
#include "gateway/front/jobs/job_request.h"
#include "gateway/front/jobs/queue.h"
#include "gateway/front/service/accept.h"
#include "tests/unit/gateway/front/rest/rig.h"

#include <sqlite3.h>

/* Returns the offset of the text in the earlier runs for the last judged cell; NULL if it is not
 * there. */
static const char *find_in_past(struct rig *rig, const char *text)
{
    struct fake_worker *w = &rig->worker;
    pthread_mutex_lock(&w->lock);
    const char *found = w->past.len > 0 ? memmem(w->past.p, w->past.len, text, strlen(text)) : NULL;
    pthread_mutex_unlock(&w->lock);
    return found;
}

static bool past_has(struct rig *rig, const char *text)
{
    return find_in_past(rig, text) != NULL;
}

static void a_cell_is_judged_with_the_cells_before_it(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    assert_int_equal(worker_seen(rig)->past.len, 0);
    await_answer(post_code(rig, id, "second = 2"), 200);
    assert_true(past_has(rig, "first = 1"));
    assert_true(cbx_str_is(cbx_buf_str(&worker_seen(rig)->source), "second = 2"));
    await_answer(post_code(rig, id, "third = 3"), 200);
    assert_true(past_has(rig, "first = 1"));
    assert_true(find_in_past(rig, "first = 1") < find_in_past(rig, "second = 2"));
}

static void sessions_and_one_shots_do_not_share_a_past(void **state)
{
    struct rig *rig = *state;
    char first[37], second[37];
    open_session(rig, "{}", first);
    open_session(rig, "{}", second);
    await_answer(post_code(rig, first, "first = 1"), 200);
    await_answer(post_code(rig, second, "x"), 200);
    assert_int_equal(worker_seen(rig)->past.len, 0);
    await_answer(post_code(rig, "", "x"), 200);
    assert_int_equal(worker_seen(rig)->past.len, 0);
}

static void a_denied_cell_is_not_in_the_past(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    assert_problem(post_code(rig, id, "DENY"), 400, "py.process");
    await_answer(post_code(rig, id, "x"), 200);
    assert_int_equal(worker_seen(rig)->past.len, 0);
}

static void a_gateway_that_starts_reads_the_past_from_the_store(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    await_answer(post_code(rig, id, "second = 2"), 200);
    executor_await_acks(&rig->executor, 3);
    rig_close(rig);
    rig_open(rig, RIG_JOBS);
    cbx_service_recover(&rig->service);
    await_answer(post_code(rig, id, "third = 3"), 200);
    assert_true(past_has(rig, "first = 1"));
    assert_true(past_has(rig, "second = 2"));
}

/* As many other sessions as there are places for pasts. */
static void take_all_places(struct rig *rig)
{
    for (int i = 0; i < CBX_SERVICE_PASTS; i++) {
        struct cbx_job *other = cbx_job_new(&rig->service, CBX_CALLER_LOCAL);
        snprintf(other->session, sizeof(other->session), "other-%d", i);
        assert_int_equal(cbx_job_copy_past(other, NULL), 0);
        assert_int_equal(other->past.len + other->entries.len, 0);
        cbx_job_free(other);
    }
}

/* A cell of the session that was judged with its past as it is now. */
static struct cbx_job *judged_cell(struct rig *rig, const char *session, const char *cell)
{
    struct cbx_job *job = cbx_job_new(&rig->service, CBX_CALLER_LOCAL);
    struct cbx_err err;
    cbx_buf_add_cstr(&job->source, cell);
    assert_int_equal(cbx_job_join(job, cbx_str_of(session), &err), 0);
    struct cbx_request request = cbx_job_request(job);
    assert_int_equal(cbx_review_judge(&rig->flow, &request, &job->judgement, &err), 0);
    return job;
}

static bool past_is(struct rig *rig, const char *session, const char *has, const char *has_not)
{
    struct cbx_job *job = judged_cell(rig, session, "x");
    cbx_job_free(job);
    return past_has(rig, has) && !past_has(rig, has_not);
}

static void a_session_whose_place_others_took_has_its_past_from_the_store(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    take_all_places(rig);
    await_answer(post_code(rig, id, "second = 2"), 200);
    assert_true(past_has(rig, "first = 1"));
}

static void a_cell_is_added_only_behind_the_cells_that_it_was_judged_with(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    struct cbx_job *second = judged_cell(rig, id, "second = 2"),
                   *third = judged_cell(rig, id, "third = 3");
    assert_true(cbx_job_enqueue_judged(second));
    assert_false(cbx_job_enqueue_judged(third)); /* judged without the second */
    assert_true(past_is(rig, id, "second = 2", "third = 3"));
    assert_true(past_has(rig, "first = 1"));
    cbx_job_free(third);
    third = judged_cell(rig, id, "third = 3");
    take_all_places(
        rig); /* between the judgement of a cell and its start: read from the store again */
    assert_false(cbx_job_enqueue_judged(third));
    cbx_job_free(third);
    cbx_job_free(second);
}

/* A run that was accepted and failed before it began had no effect. */
static void a_cell_that_never_began_is_not_in_the_past(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    executor_script(&rig->executor, CBX_CALL_submit,
                    (struct script){ .code = CBX_EBUSY, .times = 1 });
    assert_problem(post_code(rig, id, "second = 2"), 503, "refused");
    await_answer(post_code(rig, id, "third = 3"), 200);
    assert_true(past_is(rig, id, "first = 1", "second = 2"));
    assert_true(past_has(rig, "third = 3"));
}

/* The executor has another ledger: the cell is judged with the runs of the store, and submitted
 * once more. */
static void a_stale_cell_is_judged_again(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    executor_script(&rig->executor, CBX_CALL_submit,
                    (struct script){ .code = CBX_ESTALE, .times = 1 });
    int judged = worker_judged(rig);
    await_answer(post_code(rig, id, "second = 2"), 200);
    assert_int_equal(worker_judged(rig), judged + 2);
    assert_true(past_has(rig, "first = 1"));
    assert_false(past_has(rig, "second = 2"));
}

static void a_session_whose_ledger_is_not_known_any_more_says_so(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    executor_script(&rig->executor, CBX_CALL_submit, (struct script){ .code = CBX_ESTALE });
    assert_problem(post_code(rig, id, "first = 1"), 409, "open a new session");
}

static struct cbx_http_exchange *put_file(struct rig *rig, const char *path, const char *bytes)
{
    struct sending s = { .method = "PUT", .path = path, .body = cbx_str_of(bytes) };
    return rig_send(rig, &s);
}

static void a_file_of_code_is_judged_with_the_past_and_is_part_of_it(void **state)
{
    struct rig *rig = *state;
    char id[37], path[128];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    snprintf(path, sizeof(path), "/v1/sessions/%s/files/lib/helper.py", id);
    await_answer(put_file(rig, path, "helper = 1"), 201);
    assert_string_equal(worker_seen(rig)->action, "file");
    assert_string_equal(worker_seen(rig)->language, "python");
    assert_true(past_has(rig, "first = 1"));
    assert_true(past_is(rig, id, "helper = 1", "DENY"));
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_put_file), 0);
    assert_problem(put_file(rig, path, "DENY"), 400, "py.process");
    assert_true(past_is(rig, id, "helper = 1", "DENY"));
}

static void a_file_of_data_is_not_in_the_past(void **state)
{
    struct rig *rig = *state;
    char id[37], path[128];
    open_session(rig, "{}", id);
    snprintf(path, sizeof(path), "/v1/sessions/%s/files/a.csv", id);
    await_answer(put_file(rig, path, "a,b"), 201);
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_put_file), 1);
    await_answer(post_code(rig, id, "first = 1"), 200);
    assert_true(past_is(rig, id, "first = 1", "a,b"));
}

static void a_reset_ends_the_cells_and_keeps_the_files(void **state)
{
    struct rig *rig = *state;
    char id[37], path[128];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    snprintf(path, sizeof(path), "/v1/sessions/%s/files/helper.py", id);
    await_answer(put_file(rig, path, "helper = 1"), 201);
    for (int restarted = 0; restarted < 2; restarted++) {
        if (restarted) {
            rig_close(rig);
            rig_open(rig, RIG_JOBS);
            cbx_service_recover(&rig->service);
        } else {
            snprintf(path, sizeof(path), "/v1/sessions/%s/reset", id);
            await_answer(rig_json(rig, "POST", path, "{}"), 200);
        }
        assert_true(past_is(rig, id, "helper = 1", "first = 1"));
    }
    const struct seen *reset = executor_last(&rig->executor, CBX_CALL_reset);
    assert_int_equal(strlen(json_string_value(json_object_get(reset->header, "ledger"))), 64);
}

/* A reset that failed changed nothing. */
static void a_reset_that_failed_keeps_the_cells(void **state)
{
    struct rig *rig = *state;
    char id[37], path[128];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    executor_script(&rig->executor, CBX_CALL_reset, (struct script){ .code = CBX_EENGINE });
    snprintf(path, sizeof(path), "/v1/sessions/%s/reset", id);
    assert_problem(rig_json(rig, "POST", path, "{}"), 503, "refused");
    assert_true(past_is(rig, id, "first = 1", "nothing else"));
}

/* A request that is judged while another one is accepted. */
static void a_cell_that_was_overtaken_is_judged_again_with_the_other_in_its_past(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    char body[128];
    snprintf(body, sizeof(body), "{\"code\":\"slow = 1 # HOLD\",\"session_id\":\"%s\"}", id);
    struct sending sending = { .method = "POST",
                               .path = "/v1/executions",
                               .type = "application/json",
                               .body = cbx_str_of(body) };
    worker_hold(&rig->worker, true);
    struct cbx_http_exchange *slow = rig_start(rig, &sending);
    worker_await_held(&rig->worker);
    await_answer(post_code(rig, id, "fast = 1"), 200);
    worker_hold(&rig->worker, false);
    await_answer(slow, 200);
    assert_true(past_has(rig, "fast = 1"));
    assert_int_equal(worker_judged(rig), 4); /* the session, slow, fast, slow again */
}

static void nothing_is_judged_when_the_past_cannot_be_read(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    take_all_places(rig);
    struct cbx_job *job = cbx_job_new(&rig->service, CBX_CALLER_LOCAL);
    snprintf(job->session, sizeof(job->session), "%s", id);
    sqlite3_hard_heap_limit64(1); /* every statement fails */
    int failed = cbx_job_copy_past(job, NULL);
    sqlite3_hard_heap_limit64(0);
    assert_int_equal(failed, CBX_EIO);
    assert_int_equal(job->past.len + job->entries.len, 0);
    cbx_job_free(job);
    assert_true(past_is(rig, id, "first = 1", "nothing else"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_cell_is_judged_with_the_cells_before_it),
        RIG_TEST(sessions_and_one_shots_do_not_share_a_past),
        RIG_TEST(a_denied_cell_is_not_in_the_past),
        RIG_TEST(a_gateway_that_starts_reads_the_past_from_the_store),
        RIG_TEST(a_session_whose_place_others_took_has_its_past_from_the_store),
        RIG_TEST(a_cell_is_added_only_behind_the_cells_that_it_was_judged_with),
        RIG_TEST(a_cell_that_never_began_is_not_in_the_past),
        RIG_TEST(a_stale_cell_is_judged_again),
        RIG_TEST(a_session_whose_ledger_is_not_known_any_more_says_so),
        RIG_TEST(a_file_of_code_is_judged_with_the_past_and_is_part_of_it),
        RIG_TEST(a_file_of_data_is_not_in_the_past),
        RIG_TEST(a_reset_ends_the_cells_and_keeps_the_files),
        RIG_TEST(a_reset_that_failed_keeps_the_cells),
        RIG_TEST(a_cell_that_was_overtaken_is_judged_again_with_the_other_in_its_past),
        RIG_TEST(nothing_is_judged_when_the_past_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
