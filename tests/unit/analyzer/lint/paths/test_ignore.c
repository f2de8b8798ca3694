/* SPDX-License-Identifier: MIT
 * gitignore(5): the results of each kind of pattern, and that matching is linear. */
#include "analyzer/lint/paths/ignore.h"
#include "policies/base/buf.h"
#include "tests/unit/unit.h"

#include <stdio.h>

static struct cbx_ignore *read_lines(const char *text)
{
    struct cbx_ignore *ignore = NULL;
    struct cbx_err err;
    assert_int_equal(cbx_ignore_new(cbx_str_of(text), &ignore, &err), 0);
    return ignore;
}

static void agrees_with_git(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *path;
        bool folder;
        enum cbx_ignored said;
    } cases[] = {
        { "*.py", "a.py", false, CBX_IGNORE_OUT },
        { "*.py", "x/y/a.py", false, CBX_IGNORE_OUT },
        { "*.py", "a.pyc", false, CBX_IGNORE_SILENT },
        { "", "a", false, CBX_IGNORE_SILENT },
        { "# a\n\n", "# a", false, CBX_IGNORE_SILENT },
        { "\\#a", "#a", false, CBX_IGNORE_OUT },
        { "\\!a", "!a", false, CBX_IGNORE_OUT },
        { "a  ", "a", false, CBX_IGNORE_OUT },
        { "a\\ ", "a ", false, CBX_IGNORE_OUT },
        { "a\\ ", "a", false, CBX_IGNORE_SILENT },
        { "a\t", "a", false, CBX_IGNORE_SILENT },
        { "a\r\nb", "a", false, CBX_IGNORE_OUT },
        { "\xEF\xBB\xBF"
          "a",
          "a", false, CBX_IGNORE_OUT },
        { "/a", "a", false, CBX_IGNORE_OUT },
        { "/a", "x/a", false, CBX_IGNORE_SILENT },
        { "x/a", "x/a", false, CBX_IGNORE_OUT },
        { "x/a", "y/x/a", false, CBX_IGNORE_SILENT },
        { "a/", "a", false, CBX_IGNORE_SILENT },
        { "a/", "x/a", true, CBX_IGNORE_OUT },
        { "/", "a", true, CBX_IGNORE_SILENT },
        { "!", "a", false, CBX_IGNORE_SILENT },
        { "*\n!a", "a", false, CBX_IGNORE_IN },
        { "!a\n*", "a", false, CBX_IGNORE_OUT },
        { "*.py\n!keep.py\nx/keep.py", "x/keep.py", false, CBX_IGNORE_OUT },
        { "x/*", "x/a", false, CBX_IGNORE_OUT },
        { "x/*", "x/a/b", false, CBX_IGNORE_SILENT },
        { "**/a", "a", false, CBX_IGNORE_OUT },
        { "**/a", "x/y/a", false, CBX_IGNORE_OUT },
        { "**/x/a", "y/x/a", false, CBX_IGNORE_OUT },
        { "x/**", "x", true, CBX_IGNORE_SILENT },
        { "x/**", "x/a/b", false, CBX_IGNORE_OUT },
        { "x/**/a", "x/a", false, CBX_IGNORE_OUT },
        { "x/**/a", "x/y/z/a", false, CBX_IGNORE_OUT },
        { "x/**/a", "xa", false, CBX_IGNORE_SILENT },
        { "x/a**", "x/ab/c", false, CBX_IGNORE_OUT }, /* as git does, unlike the manual */
        { "x/a**", "x/a", false, CBX_IGNORE_OUT },
        { "a**/b", "ax/y/b", false, CBX_IGNORE_OUT },
        { "?a**/b", "xax/y/b", false, CBX_IGNORE_SILENT },
        { "/a*", "a", false, CBX_IGNORE_OUT },
        { "x/***", "x/y/z", false, CBX_IGNORE_OUT },
        { "*/**", "x", true, CBX_IGNORE_SILENT },
        { "a\\/b", "a/b", false, CBX_IGNORE_OUT },
        { "a\\/", "a", true, CBX_IGNORE_SILENT },
        { "[x/]a", "xa", false, CBX_IGNORE_OUT },
        { "[x/]a", "/a", false, CBX_IGNORE_SILENT },
        { "a**b", "axxb", false, CBX_IGNORE_OUT },
        { "a?c", "abc", false, CBX_IGNORE_OUT },
        { "x?a", "x/a", false, CBX_IGNORE_SILENT },
        { "[ab]c", "bc", false, CBX_IGNORE_OUT },
        { "[!ab]c", "bc", false, CBX_IGNORE_SILENT },
        { "[^ab]c", "xc", false, CBX_IGNORE_OUT },
        { "[a-c]x", "bx", false, CBX_IGNORE_OUT },
        { "[[:foo:]a]x", "ax", false, CBX_IGNORE_SILENT },
        { "[c-a]x", "cx", false, CBX_IGNORE_OUT },
        { "[]]x", "]x", false, CBX_IGNORE_OUT },
        { "[\\]]x", "]x", false, CBX_IGNORE_OUT },
        { "[a-]x", "-x", false, CBX_IGNORE_OUT },
        { "[[:digit:]]x", "7x", false, CBX_IGNORE_OUT },
        { "[[:digit:]]x", "ax", false, CBX_IGNORE_SILENT },
        { "[a", "[a", false, CBX_IGNORE_SILENT },
        { "a\\", "a\\", false, CBX_IGNORE_SILENT },
        { "\\*", "*", false, CBX_IGNORE_OUT },
        { "\\*", "a", false, CBX_IGNORE_SILENT },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO(ignore) ignore = read_lines(cases[i].lines);
        enum cbx_ignored said =
            cbx_ignore_match(ignore, cbx_str_of(cases[i].path), cases[i].folder);
        if (said != cases[i].said) {
            fail_msg("'%s' says %d about '%s'", cases[i].lines, said, cases[i].path);
        }
    }
}

static void covers_files_in_folders_that_match(void **state)
{
    (void)state;
    CBX_AUTO(ignore) ignore = read_lines("src/\n*.js\n!a.js");
    assert_true(cbx_ignore_covers(ignore, CBX_STR("src/x/y.py")));
    assert_true(cbx_ignore_covers(ignore, CBX_STR("x/b.js")));
    assert_false(cbx_ignore_covers(ignore, CBX_STR("x/a.js")));
    assert_false(cbx_ignore_covers(ignore, CBX_STR("src")));
    assert_false(cbx_ignore_covers(ignore, CBX_STR("")));
}

/* Each would take a backtracking matcher longer than this test runs. */
static void matches_in_linear_time(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) pattern, path;
    cbx_buf_init(&pattern, 1 << 20);
    cbx_buf_init(&path, 1 << 20);
    for (int i = 0; i < 1000; i++) {
        cbx_buf_add_cstr(&pattern, i % 2 == 0 ? "a*" : "**/a/");
        cbx_buf_add_cstr(&path, i % 2 == 0 ? "aaaaa" : "/a/");
    }
    cbx_buf_add_cstr(&pattern, "b");
    CBX_AUTO(ignore) ignore = read_lines(pattern.p);
    assert_int_equal(cbx_ignore_match(ignore, cbx_buf_str(&path), false), CBX_IGNORE_SILENT);
}

static void refuses_what_is_too_large(void **state)
{
    (void)state;
    struct cbx_ignore *ignore = NULL;
    struct cbx_err err;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 2 * CBX_IGNORE_MAX_BYTES);
    for (int i = 0; i <= CBX_IGNORE_PATTERNS_MAX; i++) {
        cbx_buf_add_cstr(&text, "a\n");
    }
    assert_int_equal(cbx_ignore_new(cbx_buf_str(&text), &ignore, &err), CBX_ETOOBIG);
    assert_string_equal(err.text, "20001 patterns, allowed are 20000");
    cbx_buf_reset(&text);
    while (text.len <= CBX_IGNORE_MAX_BYTES) {
        cbx_buf_add_cstr(&text, "# a comment\n");
    }
    assert_int_equal(cbx_ignore_new(cbx_buf_str(&text), &ignore, &err), CBX_ETOOBIG);
    assert_null(ignore);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_git),
        cmocka_unit_test(covers_files_in_folders_that_match),
        cmocka_unit_test(matches_in_linear_time),
        cmocka_unit_test(refuses_what_is_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
