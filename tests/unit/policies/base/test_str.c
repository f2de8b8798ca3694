/* SPDX-License-Identifier: MIT
 * Slices: globs (the whole matching language of policies), distance, order, UTF-8. */
#include "policies/base/str.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

struct glob_case {
    const char *pattern, *text;
    bool matches;
};

static void check_globs(const struct glob_case *cases, size_t count,
                        bool (*glob)(struct cbx_str, struct cbx_str))
{
    for (size_t i = 0; i < count; i++) {
        if (glob(cbx_str_of(cases[i].pattern), cbx_str_of(cases[i].text)) != cases[i].matches) {
            fail_msg("'%s' should%s match '%s'", cases[i].pattern, cases[i].matches ? "" : " not",
                     cases[i].text);
        }
    }
}

static void matches_globs_over_the_whole_text(void **state)
{
    (void)state;
    static const struct glob_case cases[] = {
        { "", "", true },
        { "", "a", false },
        { "a", "", false },
        { "os.system", "os.system", true },
        { "os.system", "os.systemd", false },
        { "os.system", "xos.system", false },
        { "*", "", true },
        { "*", "anything/at.all", true },
        { "**", "", true },
        { "os.exec*", "os.execve", true },
        { "os.exec*", "os.exec", true },
        { "os.exec*", "os.popen", false },
        { "*.ssh*", "/root/.ssh/id_rsa", true },
        { "*a*b*c", "xxaxxbxxc", true },
        { "*a*b*c", "xxaxxcxxb", false },
        { "a*a", "a", false },
        { "a*a", "aa", true },
        { "?", "", false },
        { "?", "x", true },
        { "a?c", "abc", true },
        { "a?c", "ac", false },
        { "[abc]", "b", true },
        { "[abc]", "d", false },
        { "[a-f0-9]", "e", true },
        { "[a-f0-9]", "g", false },
        { "[!a]", "b", true },
        { "[!a]", "a", false },
        { "[^a]", "a", false },
        { "[]a]", "]", true },
        { "[a-]", "-", true },
        { "*[wax+]*", "rb+", true },
        { "*[wax+]*", "rb", false },
        { "\\*", "*", true },
        { "\\*", "x", false },
        { "\\[a]", "[a]", true },
        { "a\\", "a\\", true },
        { "[abc", "[abc", true }, /* a set without end stands for itself */
        { "[abc", "a", false },
    };
    check_globs(cases, sizeof(cases) / sizeof(cases[0]), cbx_str_glob);
}

static void only_two_stars_match_a_slash(void **state)
{
    (void)state;
    static const struct glob_case cases[] = {
        { "/tmp/*", "/tmp/a", true },
        { "/tmp/*", "/tmp/a/b", false },
        { "/tmp/*", "/tmp/", true },
        { "/tmp/**", "/tmp/a/b", true },
        { "/tmp/**", "/tmpx/a", false },
        { "/workspace/**", "/workspace2", false },
        { "**/.ssh", "/home/me/.ssh", true },
        { "**/.ssh", ".ssh", true },
        { "**/.ssh", "/home/me/x.ssh", false },
        { "**/.ssh", "x.ssh", false },
        { "/a/**/z", "/a/bz", false },
        { "/a/**/*.py", "/a/b/c.py", true },
        { "/a/**/b*/**/z", "/a/x/bc/y/z", true },
        { "/a**/z", "/ab/c/z", true },
        { "**/.ssh", "/home/me/.ssh/id", false },
        { "**/docker.sock", "/var/run/docker.sock", true },
        { "/a/**/z", "/a/z", true },
        { "/a/**/z", "/a/b/c/z", true },
        { "/a/**/z", "/a/b/c/zz", false },
        { "/a/*/z", "/a/b/z", true },
        { "/a/*/z", "/a/b/c/z", false },
        { "/a?b", "/a/b", false },
        { "/a[/]b", "/a/b", false },
        { "/a[!x]b", "/a/b", false },
        { "**/*.pem", "/x/y/key.pem", true },
        { "**/*.pem", "/x/y/key.pem/z", false },
    };
    check_globs(cases, sizeof(cases) / sizeof(cases[0]), cbx_str_glob_path);
}

static void makes_paths_straight(void **state)
{
    (void)state;
    static const struct {
        const char *from, *path, *straight;
    } cases[] = {
        { "", "/a//b/./c/", "/a/b/c" }, { "", "/a/../b", "/b" },       { "", "/../..", "" },
        { "/w", "x/../y", "/w/y" },     { "/w", "../../etc", "/etc" }, { "/w", "", "/w" },
        { "", "/...", "/..." },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[64];
        size_t n = strlen(cases[i].from);
        memcpy(out, cases[i].from, n);
        n = cbx_path_append(out, n, cbx_str_of(cases[i].path));
        out[n] = '\0';
        assert_string_equal(out, cases[i].straight);
    }
}

static void decides_whether_a_pattern_can_overlap_a_glob(void **state)
{
    (void)state;
    static const struct glob_case cases[] = {
        { "*/etc/shadow", "/e*/sh?dow", true },
        { "*/etc/shadow", "/etc/passwd", false },
        { "*/etc/shadow", "/[ae]tc/shadow", true },
        { "*/etc/shadow", "/usr/e*/shadow", true },
        { "*/etc/shadow", "/*shadow", false }, /* no wildcard stands for '/' */
        { "*/.ssh/*", "/home/*/*", false },    /* nor for a dot that begins a name */
        { "*/.ssh/*", "/home/me/.s*/id", true },
        { "*.csv", "/data/*.csv", true },
        { "*.csv", "/data/*.py", false },
        { "/proc/*/mem", "/proc/[0-9]*/me?", true },
        { "", "", true },
        { "", "a", false },
        { "*", "/a/*", true },
        { "a\\*b", "a*b", true },
    };
    check_globs(cases, sizeof(cases) / sizeof(cases[0]), cbx_str_globs_meet);
    char long_glob[400];
    memset(long_glob, 'a', sizeof(long_glob));
    assert_true(cbx_str_globs_meet((struct cbx_str){ .p = long_glob, .len = sizeof(long_glob) },
                                   CBX_STR("b")));
}

/* A matcher that backtracks over every star would not end. */
static void matches_hostile_globs_in_linear_time(void **state)
{
    (void)state;
    enum { STARS = 200, BYTES = 20000 };
    static char pattern[2 * STARS + 2], text[BYTES];
    for (size_t i = 0; i < STARS; i++) {
        pattern[2 * i] = '*';
        pattern[2 * i + 1] = 'a';
    }
    pattern[sizeof(pattern) - 2] = 'b';
    memset(text, 'a', sizeof(text));
    struct cbx_str p = { pattern, sizeof(pattern) - 1 }, t = { text, sizeof(text) };
    assert_false(cbx_str_glob(p, t));
    assert_false(cbx_str_glob_path(p, t));
}

static void takes_nul_as_any_other_byte(void **state)
{
    (void)state;
    assert_true(cbx_str_equal(CBX_STR("a\0b"), CBX_STR("a\0b")));
    assert_false(cbx_str_equal(CBX_STR("a\0b"), CBX_STR("a\0c")));
    assert_false(cbx_str_is(CBX_STR("a\0b"), "a"));
    assert_true(cbx_str_glob(CBX_STR("a*c"), CBX_STR("a\0b\0c")));
    assert_false(cbx_str_glob(CBX_STR("a"), CBX_STR("a\0")));
}

static void counts_edits_up_to_a_limit(void **state)
{
    (void)state;
    assert_int_equal(cbx_str_distance(CBX_STR("effect"), CBX_STR("effect"), 2), 0);
    assert_int_equal(cbx_str_distance(CBX_STR("efect"), CBX_STR("effect"), 2), 1);
    assert_int_equal(cbx_str_distance(CBX_STR("kitten"), CBX_STR("sitting"), 5), 3);
    assert_int_equal(cbx_str_distance(CBX_STR("kitten"), CBX_STR("sitting"), 2), 3); /* limit + 1 */
    assert_int_equal(cbx_str_distance(CBX_STR(""), CBX_STR("abc"), 5), 3);
    assert_int_equal(cbx_str_distance(CBX_STR("abc"), CBX_STR(""), 5), 3);
    char longest[65];
    memset(longest, 'x', sizeof(longest));
    struct cbx_str over = { longest, 65 }, at = { longest, 64 };
    assert_int_equal(cbx_str_distance(at, at, 2), 0);
    assert_int_equal(cbx_str_distance(over, over, 2), 3);
}

static void orders_shorter_first(void **state)
{
    (void)state;
    assert_true(cbx_str_compare(CBX_STR("a"), CBX_STR("b")) < 0);
    assert_true(cbx_str_compare(CBX_STR("b"), CBX_STR("ab")) > 0);
    assert_true(cbx_str_compare(CBX_STR("a"), CBX_STR("aa")) < 0);
    assert_int_equal(cbx_str_compare(CBX_STR("aa"), CBX_STR("aa")), 0);
    assert_true(cbx_str_compare(CBX_STR("\x7f"), CBX_STR("\x80")) <
                0); /* bytes, not signed chars */
    assert_int_equal(cbx_str_compare((struct cbx_str){ 0 }, CBX_STR("")), 0);
}

static void clamps_what_it_cuts(void **state)
{
    (void)state;
    assert_true(cbx_str_is(cbx_str_sub(CBX_STR("hello"), 1, 3), "el"));
    assert_true(cbx_str_is(cbx_str_sub(CBX_STR("hello"), 3, 99), "lo"));
    assert_int_equal(cbx_str_sub(CBX_STR("hello"), 4, 2).len, 0);
    assert_int_equal(cbx_str_sub(CBX_STR("hello"), SIZE_MAX, SIZE_MAX).len, 0);
    assert_null(cbx_str_sub((struct cbx_str){ 0 }, 1, 2).p);
}

static void accepts_well_formed_utf8_alone(void **state)
{
    (void)state;
    static const char *const good[] = { "",
                                        "plain",
                                        "\xC3\xA9",
                                        "\xE2\x82\xAC",
                                        "\xF0\x9F\x98\x80",
                                        "\xED\x9F\xBF",
                                        "\xEE\x80\x80",
                                        "\xF4\x8F\xBF\xBF" };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(cbx_str_is_utf8(cbx_str_of(good[i]), NULL));
    }
    static const struct {
        const char *text;
        size_t bad;
    } wrong[] = {
        { "\x80", 0 },     /* a continuation without a start */
        { "ab\xC3", 2 },   /* cut off */
        { "\xC0\xAF", 0 }, /* overlong '/' */
        { "\xC1\xBF", 0 },
        { "\xE0\x80\xAF", 0 },
        { "\xF0\x80\x80\xAF", 0 },
        { "a\xED\xA0\x80", 1 },    /* a surrogate */
        { "\xF4\x90\x80\x80", 0 }, /* beyond U+10FFFF */
        { "\xF8\x88\x80\x80\x80", 0 },
        { "\xFF", 0 },
        { "\xC3\xA9\xE2\x82", 2 },
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        size_t bad = 99;
        assert_false(cbx_str_is_utf8(cbx_str_of(wrong[i].text), &bad));
        assert_int_equal(bad, wrong[i].bad);
    }
}

static void finds_places_in_characters(void **state)
{
    (void)state;
    static const struct {
        size_t byte;
        uint32_t line, column;
    } cases[] = { { 0, 1, 1 }, { 2, 1, 2 }, { 3, 1, 3 }, { 4, 2, 1 },
                  { 5, 2, 2 }, { 6, 2, 3 }, { 99, 2, 3 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t line, column;
        cbx_str_place(CBX_STR("\xC3\xA9x\nab"), cases[i].byte, &line, &column);
        assert_int_equal(line, cases[i].line);
        assert_int_equal(column, cases[i].column);
    }
}

static void assert_cut(const char *text, size_t max_bytes, const char *expected)
{
    struct cbx_str cut = cbx_str_cut(cbx_str_of(text), max_bytes);
    assert_true(cbx_str_is(cut, expected));
}

static void cuts_between_characters(void **state)
{
    (void)state;
    assert_cut("abc", 2, "ab");
    assert_cut("abc", 3, "abc");
    assert_cut("abc", SIZE_MAX, "abc");
    assert_cut("abc", 0, "");
    assert_cut("a\xC3\xA4z", 2, "a");
    assert_cut("a\xC3\xA4z", 3, "a\xC3\xA4");
    assert_cut("\xF0\x9F\x98\x80", 3, "");
    assert_cut("\xF0\x9F\x98\x80", 4, "\xF0\x9F\x98\x80");
    assert_int_equal(cbx_str_cut((struct cbx_str){ 0 }, 5).len, 0);
}

static void trims_blanks_and_nothing_else(void **state)
{
    (void)state;
    assert_true(cbx_str_is(cbx_str_trim(CBX_STR(" \t a b\t ")), "a b"));
    assert_true(cbx_str_is(cbx_str_trim(CBX_STR("\na\n")), "\na\n"));
    assert_true(cbx_str_is(cbx_str_trim(CBX_STR(" \t")), ""));
    assert_true(cbx_str_is(cbx_str_trim_start(CBX_STR(" a ")), "a "));
    assert_int_equal(cbx_str_trim((struct cbx_str){ 0 }).len, 0);
}

static void compares_letters_of_ascii_without_their_case(void **state)
{
    (void)state;
    assert_true(cbx_str_is_nocase(CBX_STR("Content-TYPE"), "content-type"));
    assert_false(cbx_str_is_nocase(CBX_STR("Content-TYP"), "content-type"));
    assert_false(cbx_str_is_nocase(CBX_STR("\xC3\x84"), "\xC3\xA4"));
    assert_true(cbx_str_is_nocase((struct cbx_str){ 0 }, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_globs_over_the_whole_text),
        cmocka_unit_test(only_two_stars_match_a_slash),
        cmocka_unit_test(makes_paths_straight),
        cmocka_unit_test(decides_whether_a_pattern_can_overlap_a_glob),
        cmocka_unit_test(matches_hostile_globs_in_linear_time),
        cmocka_unit_test(takes_nul_as_any_other_byte),
        cmocka_unit_test(counts_edits_up_to_a_limit),
        cmocka_unit_test(orders_shorter_first),
        cmocka_unit_test(clamps_what_it_cuts),
        cmocka_unit_test(accepts_well_formed_utf8_alone),
        cmocka_unit_test(cuts_between_characters),
        cmocka_unit_test(trims_blanks_and_nothing_else),
        cmocka_unit_test(compares_letters_of_ascii_without_their_case),
        cmocka_unit_test(finds_places_in_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
