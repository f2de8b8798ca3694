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
        assert_int_equal(cbx_tokens_stop(rig->scratch.path, cases[i].stop, NULL, &err), 0);
        assert_int_equal(cbx_tokens_stopped(rig->tokens, ben, CBX_STR(""), begun_ms, &err) != 0,
                         cases[i].ends_ben);
        assert_int_equal(cbx_tokens_stopped(rig->tokens, ann, id, begun_ms, &err) != 0,
                         cases[i].ends_token);
        assert_int_equal(cbx_tokens_stopped(rig->tokens, ann, CBX_STR(""), begun_ms, &err) != 0,
                         cases[i].ends_others);
        assert_int_equal(cbx_tokens_stopped(rig->tokens, ben, id, cbx_time_ms() + 60000, &err), 0);
    }
    assert_int_equal(cbx_tokens_stop(rig->scratch.path, &of_none, NULL, &err), CBX_ENOTFOUND);
    assert_int_equal(check(rig, rig->id, NOW_MS, &err), 0);
}

static void another_id_is_not_valid(void **state)
{
    struct rig *rig = *state;
    struct cbx_err err = { 0 };
    assert_int_equal(check(rig, "000000000000", NOW_MS, &err), CBX_ENOTFOUND);
    assert_int_equal(check(rig, "", NOW_MS, &err), CBX_ENOTFOUND);
}

/* --- a set that several gateways share -------------------------------------------------------- */

#define OF_ANN                                                                                     \
    "{\"op\":\"create\",\"id\":\"0123456789ab\",\"principal\":\"ann\",\"sha256\":"                 \
    "\"0000000000000000000000000000000000000000000000000000000000000000\",\"note\":\"\","          \
    "\"time_ms\":1,\"expires_ms\":2000000}\n"
#define REVOKES "{\"op\":\"revoke\",\"id\":\"0123456789ab\",\"time_ms\":2}"

static void a_text_of_lines_has_the_tokens_of_the_file(void **state)
{
    struct rig *rig = *state;
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO(tokens) tokens = NULL;
    struct cbx_token found;
    struct cbx_err err = { 0 };
    scratch_read(rig->scratch.path, CBX_TOKENS_FILE, &text);
    assert_int_equal(cbx_tokens_read(cbx_buf_str(&text), &tokens, &err), 0);
    assert_int_equal(cbx_tokens_fd(tokens), -1);
    assert_int_equal(cbx_tokens_find(tokens, cbx_str_of(rig->text), NOW_MS, &found, &err), 0);
    assert_string_equal(found.principal, "ann");
    assert_int_equal(cbx_tokens_find(tokens, cbx_str_of(rig->text), LATER_MS, &found, &err),
                     CBX_ENOTFOUND);
    assert_int_equal(cbx_tokens_revoke(rig->scratch.path, cbx_str_of(rig->id), &err), 0);
    assert_int_equal(cbx_tokens_find(tokens, cbx_str_of(rig->text), NOW_MS, &found, &err), 0);
}

/* An editor may leave the newline out, and the line may revoke a token. */
static void the_last_line_of_a_text_counts_without_its_newline(void **state)
{
    (void)state;
    CBX_AUTO(tokens) tokens = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_tokens_read(CBX_STR(OF_ANN REVOKES), &tokens, &err), 0);
    assert_int_equal(cbx_tokens_check(tokens, CBX_STR("0123456789ab"), NOW_MS, &err),
                     CBX_ENOTFOUND);
    assert_non_null(strstr(err.text, "it was revoked"));
}

static void a_damaged_text_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct cbx_str texts[] = { CBX_STR(OF_ANN "{\"op\":\"revoke\""),
                                            CBX_STR(OF_ANN OF_ANN), CBX_STR(OF_ANN "\n"),
                                            CBX_STR(OF_ANN "\0\xff"),
                                            CBX_STR(OF_ANN "{\"op\":\"grant\",\"time_ms\":1}\n") };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct cbx_tokens *tokens = NULL;
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_tokens_read(texts[i], &tokens, &err), CBX_EPROTO);
        assert_null(tokens);
        assert_non_null(strstr(err.text, "line 2 of the file of tokens"));
    }
}

static void a_stop_names_a_token_of_the_shared_set(void **state)
{
    struct rig *rig = *state;
    CBX_AUTO(tokens) shared = NULL;
    struct cbx_err err = { 0 };
    const struct cbx_stop of_shared = { .id = "0123456789ab" };
    struct cbx_stop of_file = { 0 };
    snprintf(of_file.id, sizeof(of_file.id), "%s", rig->id);
    assert_int_equal(cbx_tokens_read(CBX_STR(OF_ANN), &shared, &err), 0);
    int64_t begun_ms = cbx_time_ms();
    assert_int_equal(cbx_tokens_stop(rig->scratch.path, &of_file, shared, &err), CBX_ENOTFOUND);
    assert_int_equal(cbx_tokens_stop(rig->scratch.path, &of_shared, NULL, &err), CBX_ENOTFOUND);
    assert_int_equal(cbx_tokens_stop(rig->scratch.path, &of_shared, shared, &err), 0);
    assert_int_equal(
        cbx_tokens_stopped(rig->tokens, CBX_STR("ann"), cbx_str_of(of_shared.id), begun_ms, &err),
        CBX_EFORBIDDEN);
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
        TEST(a_text_of_lines_has_the_tokens_of_the_file),
        cmocka_unit_test(the_last_line_of_a_text_counts_without_its_newline),
        cmocka_unit_test(a_damaged_text_is_refused_with_its_line),
        TEST(a_stop_names_a_token_of_the_shared_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
