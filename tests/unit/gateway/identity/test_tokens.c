/* SPDX-License-Identifier: MIT
 * Bearer tokens: found by their text, and checked again by their id while their runs continue. */
#include "gateway/identity/tokens.h"

#include "policies/base/time/clock.h"
#include "tests/unit/gateway/scratch.h"
#include "tests/unit/unit.h"

enum { NOW_MS = 1000000, LATER_MS = 2000000 };

struct rig {
    struct scratch scratch;
    struct cbx_tokens *tokens;
    char id[CBX_TOKEN_ID_CHARS + 1], text[CBX_TOKEN_CHARS + 1];
};

static int set_up(void **state)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    const struct cbx_token token = { .principal = "ann", .created_ms = 1, .expires_ms = LATER_MS };
    struct cbx_err err;
    assert_non_null(rig);
    scratch_make(&rig->scratch);
    assert_int_equal(cbx_tokens_open(rig->scratch.path, true, &rig->tokens, &err), 0);
    assert_int_equal(cbx_tokens_create(rig->scratch.path, &token, rig->id, rig->text, &err), 0);
    *state = rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    cbx_tokens_free(rig->tokens);
    scratch_remove(&rig->scratch);
    free(rig);
    return 0;
}

static int check(struct rig *rig, const char *id, int64_t now_ms, struct cbx_err *err)
{
    return cbx_tokens_check(rig->tokens, cbx_str_of(id), now_ms, err);
}

static void one_that_was_made_is_found_by_its_text_and_valid_by_its_id(void **state)
{
    struct rig *rig = *state;
    struct cbx_token found;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_tokens_find(rig->tokens, cbx_str_of(rig->text), NOW_MS, &found, &err), 0);
    assert_string_equal(found.principal, "ann");
    assert_int_equal(check(rig, rig->id, NOW_MS, &err), 0);
}

static void one_that_is_revoked_is_not_valid_any_more(void **state)
{
    struct rig *rig = *state;
    struct cbx_token found;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_tokens_revoke(rig->scratch.path, cbx_str_of(rig->id), &err), 0);
    assert_int_equal(check(rig, rig->id, NOW_MS, &err), CBX_ENOTFOUND);
    assert_non_null(strstr(err.text, "it was revoked"));
    assert_int_equal(cbx_tokens_find(rig->tokens, cbx_str_of(rig->text), NOW_MS, &found, &err),
                     CBX_ENOTFOUND);
}

static void one_that_has_expired_is_not_valid_any_more(void **state)
{
    struct rig *rig = *state;
    struct cbx_err err = { 0 };
    assert_int_equal(check(rig, rig->id, LATER_MS - 1, &err), 0);
    assert_int_equal(check(rig, rig->id, LATER_MS, &err), CBX_ENOTFOUND);
    assert_non_null(strstr(err.text, "it has expired"));
}

/* Runs that were begun before the stop, and none that is begun later. */
static void a_stop_ends_what_was_begun_before_it(void **state)
{
    struct rig *rig = *state;
    struct cbx_err err = { 0 };
    struct cbx_stop of_ben = { .principal = "ben" }, of_token = { 0 }, of_all = { 0 },
                    of_none = { .id = "000000000000" };
    snprintf(of_token.id, sizeof(of_token.id), "%s", rig->id);
    struct cbx_str id = cbx_str_of(rig->id), ann = CBX_STR("ann"), ben = CBX_STR("ben");
    const struct {
        const struct cbx_stop *stop;
        bool ends_ben, ends_token, ends_others;
    } cases[] = { { &of_ben, true, false, false },
                  { &of_token, true, true, false },
                  { &of_all, true, true, true } };
    int64_t begun_ms = cbx_time_ms();
    assert_int_equal(cbx_tokens_stopped(rig->tokens, ben, CBX_STR(""), begun_ms, &err), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(cbx_tokens_stop(rig->scratch.path, cases[i].stop, &err), 0);
        assert_int_equal(cbx_tokens_stopped(rig->tokens, ben, CBX_STR(""), begun_ms, &err) != 0,
                         cases[i].ends_ben);
        assert_int_equal(cbx_tokens_stopped(rig->tokens, ann, id, begun_ms, &err) != 0,
                         cases[i].ends_token);
        assert_int_equal(cbx_tokens_stopped(rig->tokens, ann, CBX_STR(""), begun_ms, &err) != 0,
                         cases[i].ends_others);
        assert_int_equal(cbx_tokens_stopped(rig->tokens, ben, id, cbx_time_ms() + 60000, &err), 0);
    }
    assert_int_equal(cbx_tokens_stop(rig->scratch.path, &of_none, &err), CBX_ENOTFOUND);
    assert_int_equal(check(rig, rig->id, NOW_MS, &err), 0);
}

static void another_id_is_not_valid(void **state)
{
    struct rig *rig = *state;
    struct cbx_err err = { 0 };
    assert_int_equal(check(rig, "000000000000", NOW_MS, &err), CBX_ENOTFOUND);
    assert_int_equal(check(rig, "", NOW_MS, &err), CBX_ENOTFOUND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_that_was_made_is_found_by_its_text_and_valid_by_its_id),
        TEST(one_that_is_revoked_is_not_valid_any_more),
        TEST(one_that_has_expired_is_not_valid_any_more),
        TEST(a_stop_ends_what_was_begun_before_it),
        TEST(another_id_is_not_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
