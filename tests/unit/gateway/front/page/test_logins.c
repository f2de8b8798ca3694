/* SPDX-License-Identifier: MIT
 * Logins: a cookie stands for its token, for a time. */
#include "gateway/front/page/logins.h"

#include "tests/unit/unit.h"

static struct cbx_logins *logins;

static int set_up(void **state)
{
    (void)state;
    logins = cbx_logins_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cbx_logins_free(logins);
    return 0;
}

static bool find(const char *value, int64_t clock_ms)
{
    char header[CBX_LOGIN_TOKEN_MAX + 16];
    return cbx_logins_find(logins, cbx_str_of(value), clock_ms, header);
}

static void a_cookie_gives_the_header_of_its_token(void **state)
{
    (void)state;
    char one[CBX_LOGIN_CHARS + 1], other[CBX_LOGIN_CHARS + 1], header[CBX_LOGIN_TOKEN_MAX + 16];
    assert_true(cbx_logins_add(logins, CBX_STR("cbx_1"), 1000, one));
    assert_true(cbx_logins_add(logins, CBX_STR("cbx_2"), 1000, other));
    assert_string_not_equal(one, other);
    assert_true(cbx_logins_find(logins, cbx_str_of(one), 1000, header));
    assert_string_equal(header, "Bearer cbx_1");
    assert_true(cbx_logins_find(logins, cbx_str_of(other), 1000, header));
    assert_string_equal(header, "Bearer cbx_2");
}

static void any_other_value_gives_nothing(void **state)
{
    (void)state;
    char value[CBX_LOGIN_CHARS + 1];
    assert_false(find("", 1000));
    assert_true(cbx_logins_add(logins, CBX_STR("cbx_1"), 1000, value));
    value[5] = value[5] == 'a' ? 'b' : 'a';
    assert_false(find(value, 1000));
    value[CBX_LOGIN_CHARS - 1] = '\0';
    assert_false(find(value, 1000));
}

static void it_ends_after_eight_hours(void **state)
{
    (void)state;
    char value[CBX_LOGIN_CHARS + 1];
    assert_true(cbx_logins_add(logins, CBX_STR("cbx_1"), 1000, value));
    int64_t end = 1000 + (int64_t)8 * 3600 * 1000;
    assert_true(find(value, end - 1));
    assert_false(find(value, end));
    assert_false(find(value, 1000)); /* the login has expired */
}

static void one_that_is_ended_gives_nothing_and_leaves_the_others(void **state)
{
    (void)state;
    char one[CBX_LOGIN_CHARS + 1], other[CBX_LOGIN_CHARS + 1];
    assert_true(cbx_logins_add(logins, CBX_STR("cbx_1"), 1000, one));
    assert_true(cbx_logins_add(logins, CBX_STR("cbx_2"), 1000, other));
    cbx_logins_remove(logins, CBX_STR(""));
    cbx_logins_remove(logins, cbx_str_of(one));
    assert_false(find(one, 1000));
    assert_true(find(other, 1000));
    cbx_logins_remove(logins, cbx_str_of(one));
    assert_true(find(other, 1000));
}

static void the_oldest_makes_room(void **state)
{
    (void)state;
    char first[CBX_LOGIN_CHARS + 1], second[CBX_LOGIN_CHARS + 1], value[CBX_LOGIN_CHARS + 1];
    cbx_logins_add(logins, CBX_STR("cbx_1"), 1000, first);
    cbx_logins_add(logins, CBX_STR("cbx_1"), 1001, second);
    for (int i = 2; i <= CBX_LOGINS_MAX; i++) {
        cbx_logins_add(logins, CBX_STR("cbx_1"), 1000 + i, value);
    }
    assert_false(find(first, 2000));
    assert_true(find(second, 2000));
    assert_true(find(value, 2000));
}

static void a_token_that_is_too_long_is_not_kept(void **state)
{
    (void)state;
    char value[CBX_LOGIN_CHARS + 1], token[CBX_LOGIN_TOKEN_MAX + 2];
    memset(token, 'x', sizeof(token));
    struct cbx_str text = { .p = token, .len = CBX_LOGIN_TOKEN_MAX + 1 };
    assert_false(cbx_logins_add(logins, text, 1000, value));
    text.len--;
    assert_true(cbx_logins_add(logins, text, 1000, value));
    assert_true(find(value, 1000));
}

static void a_cookie_is_found_by_its_whole_name(void **state)
{
    (void)state;
    static const struct {
        const char *header, *value;
    } rows[] = {
        { "codebox=1", "1" },
        { "a=2; codebox=1; b=3", "1" },
        { "xcodebox=1", "" },
        { "codeboxx=1", "" },
        { "codebox", "" },
        { "codebox=", "" },
        { "", "" },
        { ";;; ; codebox=1", "1" },
        { "a=codebox=1", "" },
        { "codebox=1;a=2", "1" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cbx_str value = cbx_logins_cookie(cbx_str_of(rows[i].header), "codebox");
        assert_true(cbx_str_is(value, rows[i].value));
    }
    assert_int_equal(cbx_logins_cookie((struct cbx_str){ 0 }, "codebox").len, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_cookie_gives_the_header_of_its_token),
        TEST(any_other_value_gives_nothing),
        TEST(it_ends_after_eight_hours),
        TEST(one_that_is_ended_gives_nothing_and_leaves_the_others),
        TEST(the_oldest_makes_room),
        TEST(a_token_that_is_too_long_is_not_kept),
        TEST(a_cookie_is_found_by_its_whole_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
