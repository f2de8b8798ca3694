/* SPDX-License-Identifier: MIT
 * What ran in a session is part of the judgement of its next cell. */
#include "tests/unit/gateway/front/rest/rig.h"

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
        assert_int_equal(cbx_rest_context_copy(&rig->rest, other, &ignored, NULL), 0);
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

static void a_cell_is_added_to_the_whole_context_also_when_others_took_its_place(void **state)
{
    struct rig *rig = *state;
    char id[37];
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1024 * 1024);
    open_session(rig, "{}", id);
    await_answer(post_code(rig, id, "first = 1"), 200);
    take_all_places(rig); /* between the judgement of a cell and its start */
    cbx_rest_context_add(&rig->rest, id, CBX_STR("second = 2"));
    assert_int_equal(cbx_rest_context_copy(&rig->rest, id, &text, NULL), 0);
    assert_true(source_has(cbx_buf_str(&text), "first = 1"));
    assert_true(source_has(cbx_buf_str(&text), "second = 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_cell_is_judged_with_the_cells_before_it),
        RIG_TEST(sessions_and_one_shots_do_not_share_a_context),
        RIG_TEST(a_denied_cell_is_not_in_the_context),
        RIG_TEST(a_gateway_that_starts_reads_the_context_from_the_store),
        RIG_TEST(a_session_whose_place_others_took_has_its_context_from_the_store),
        RIG_TEST(a_cell_is_added_to_the_whole_context_also_when_others_took_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
