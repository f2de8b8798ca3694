/* SPDX-License-Identifier: MIT
 * What ran in a session is part of the judgement of its next cell. */
#include "tests/unit/gateway/front/rest/rig.h"

#include <sqlite3.h>

/* Where the text stands in what ran before the cell that was judged last; NULL when it does not. */
static const char *find_in_context(struct rig *rig, const char *text)
{
    const struct cbx_buf *context = &rig->worker.context;
    return context->len > 0 ? memmem(context->p, context->len, text, strlen(text)) : NULL;
}

static bool context_has(struct rig *rig, const char *text)
{
    return find_in_context(rig, text) != NULL;
}

static void a_cell_is_judged_with_the_cells_before_it(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    assert_int_equal(rig->worker.context.len, 0);
    await_answer(post_code(rig, id, "second = 2"), 200);
    assert_true(context_has(rig, "first = 1"));
    assert_true(cbx_str_is(cbx_buf_str(&rig->worker.source), "second = 2"));
    await_answer(post_code(rig, id, "third = 3"), 200);
    assert_true(context_has(rig, "first = 1"));
    assert_true(find_in_context(rig, "first = 1") < find_in_context(rig, "second = 2"));
}

static void sessions_and_one_shots_do_not_share_a_context(void **state)
{
    struct rig *rig = *state;
    char first[37], second[37];
    open_session(rig, "{}", first);
    open_session(rig, "{}", second);
    await_answer(post_code(rig, first, "first = 1"), 200);
    await_answer(post_code(rig, second, "x"), 200);
    assert_int_equal(rig->worker.context.len, 0);
    await_answer(post_code(rig, "", "x"), 200);
    assert_int_equal(rig->worker.context.len, 0);
}

static void a_denied_cell_is_not_in_the_context(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    assert_problem(post_code(rig, id, "DENY"), 400, "py.process");
    await_answer(post_code(rig, id, "x"), 200);
    assert_int_equal(rig->worker.context.len, 0);
}

static void a_gateway_that_starts_reads_the_context_from_the_store(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    await_answer(post_code(rig, id, "second = 2"), 200);
    executor_await_acks(&rig->executor, 3);
    rig_close(rig);
    rig_open(rig, RIG_JOBS);
    cbx_rest_recover(&rig->rest);
    await_answer(post_code(rig, id, "third = 3"), 200);
    assert_true(context_has(rig, "first = 1"));
    assert_true(context_has(rig, "second = 2"));
}

/* As many other sessions as there are places for contexts. */
static void take_all_places(struct rig *rig)
{
    CBX_AUTO_DONE(buf) ignored;
    cbx_buf_init(&ignored, 1024);
    for (int i = 0; i < CBX_REST_CONTEXTS; i++) {
        char other[24];
        snprintf(other, sizeof(other), "other-%d", i);
        uint64_t state;
        assert_int_equal(cbx_rest_context_copy(&rig->rest, other, &ignored, &state, NULL), 0);
    }
    assert_int_equal(ignored.len, 0);
}

static void a_session_whose_place_others_took_has_its_context_from_the_store(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    take_all_places(rig);
    await_answer(post_code(rig, id, "second = 2"), 200);
    assert_true(context_has(rig, "first = 1"));
}

static bool add_cell(struct rig *rig, const char *session, uint64_t state, const char *cell)
{
    pthread_mutex_lock(&rig->rest.lock);
    bool added = cbx_rest_context_add(&rig->rest, session, state, cbx_str_of(cell));
    pthread_mutex_unlock(&rig->rest.lock);
    return added;
}

static void a_cell_is_added_only_behind_the_cells_that_it_was_judged_with(void **state)
{
    struct rig *rig = *state;
    char id[37];
    uint64_t before, after;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1024 * 1024);
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    assert_int_equal(cbx_rest_context_copy(&rig->rest, id, &text, &before, NULL), 0);
    assert_true(add_cell(rig, id, before, "second = 2"));
    assert_false(add_cell(rig, id, before, "third = 3")); /* judged without the second */
    cbx_buf_reset(&text);
    assert_int_equal(cbx_rest_context_copy(&rig->rest, id, &text, &after, NULL), 0);
    assert_true(source_has(cbx_buf_str(&text), "first = 1"));
    assert_true(source_has(cbx_buf_str(&text), "second = 2"));
    assert_false(source_has(cbx_buf_str(&text), "third = 3"));
    take_all_places(
        rig); /* between the judgement of a cell and its start: read from the store again */
    assert_false(add_cell(rig, id, after, "third = 3"));
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
    assert_true(context_has(rig, "fast = 1"));
    assert_int_equal(rig->worker.judged, 4); /* the session, slow, fast, slow again */
}

static void nothing_is_judged_when_the_past_cannot_be_read(void **state)
{
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    take_all_places(rig);
    CBX_AUTO_DONE(buf) text;
    uint64_t known;
    cbx_buf_init(&text, 1024 * 1024);
    sqlite3_hard_heap_limit64(1); /* every statement fails */
    int failed = cbx_rest_context_copy(&rig->rest, id, &text, &known, NULL);
    sqlite3_hard_heap_limit64(0);
    assert_int_equal(failed, CBX_EIO);
    assert_int_equal(text.len, 0);
    assert_int_equal(cbx_rest_context_copy(&rig->rest, id, &text, &known, NULL), 0);
    assert_true(source_has(cbx_buf_str(&text), "first = 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_cell_is_judged_with_the_cells_before_it),
        RIG_TEST(sessions_and_one_shots_do_not_share_a_context),
        RIG_TEST(a_denied_cell_is_not_in_the_context),
        RIG_TEST(a_gateway_that_starts_reads_the_context_from_the_store),
        RIG_TEST(a_session_whose_place_others_took_has_its_context_from_the_store),
        RIG_TEST(a_cell_is_added_only_behind_the_cells_that_it_was_judged_with),
        RIG_TEST(a_cell_that_was_overtaken_is_judged_again_with_the_other_in_its_past),
        RIG_TEST(nothing_is_judged_when_the_past_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
