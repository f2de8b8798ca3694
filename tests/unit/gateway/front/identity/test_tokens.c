/* SPDX-License-Identifier: MIT
 * Bearer tokens: found by their text, and looked at again by their id while what they began goes on. */
#include "gateway/front/identity/tokens.h"

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
        TEST(another_id_is_not_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
