/* SPDX-License-Identifier: MIT
 * Counts of skipped files. */
#include "analyzer/lint/paths/skips.h"

#include "tests/unit/unit.h"

struct counted {
    struct cbx_lint_skips skips;
    struct cbx_arena arena;
};

static void add(struct counted *c, enum cbx_lint_skip reason, const char *path,
                enum cbx_lint_skip_rank rank, const char *foreign)
{
    struct cbx_lint_skip_name name = { .rank = rank,
                                       .path = cbx_str_of(path),
                                       .foreign = cbx_str_of(foreign) };
    cbx_lint_skips_add(&c->skips, reason, &name, true, &c->arena);
}

static void assert_text(const struct counted *c, const char *text)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4096);
    cbx_lint_skips_text(&c->skips, &out);
    assert_string_equal(out.p, text);
}

static void nothing_skipped_is_not_mentioned(void **state)
{
    (void)state;
    struct counted c = { 0 };
    assert_text(&c, "");
    assert_int_equal(cbx_lint_skips_code(&c.skips), 0);
}

static void names_that_matter_come_first_whatever_the_order_of_the_files(void **state)
{
    (void)state;
    struct counted c = { 0 };
    cbx_arena_init(&c.arena, 65536);
    add(&c, CBX_LINT_SKIP_HIDDEN, ".a", CBX_LINT_RANK_OTHER, "");
    add(&c, CBX_LINT_SKIP_HIDDEN, ".z.py", CBX_LINT_RANK_CODE, "");
    add(&c, CBX_LINT_SKIP_HIDDEN, ".github", CBX_LINT_RANK_LISTED, "");
    assert_text(&c, "; 3 skipped: 3 hidden (.github, .z.py)");
    add(&c, CBX_LINT_SKIP_HIDDEN, ".b.py", CBX_LINT_RANK_CODE, "");
    add(&c, CBX_LINT_SKIP_HIDDEN, ".c\n.py", CBX_LINT_RANK_CODE, "");
    assert_text(&c, "; 5 skipped: 5 hidden (.github, .b.py, .c\\x0a.py, ...)");
    cbx_arena_done(&c.arena);
}

static void each_reason_agrees_with_its_number(void **state)
{
    (void)state;
    static const struct {
        enum cbx_lint_skip reason;
        const char *one, *two;
    } cases[] = {
        { CBX_LINT_SKIP_FOREIGN, "1 file of code without an analyzer",
          "2 files of code without an analyzer" },
        { CBX_LINT_SKIP_HIDDEN, "1 hidden", "2 hidden" },
        { CBX_LINT_SKIP_IGNORED, "1 left out by .gitignore", "2 left out by .gitignore" },
        { CBX_LINT_SKIP_EXCLUDED, "1 left out by patterns", "2 left out by patterns" },
        { CBX_LINT_SKIP_DEPENDENCY, "1 folder of dependencies", "2 folders of dependencies" },
        { CBX_LINT_SKIP_UNREADABLE, "1 not readable", "2 not readable" },
        { CBX_LINT_SKIP_LINK, "1 link or special file", "2 links and special files" },
        { CBX_LINT_SKIP_BINARY, "1 binary", "2 binary" },
        { CBX_LINT_SKIP_PIECE, "1 piece of code without an analyzer (a)",
          "2 pieces of code without an analyzer (a, b)" },
        { CBX_LINT_SKIP_FRAGMENT, "1 fragment of code in a document that cannot be read (a)",
          "2 fragments of code in documents that cannot be read (a, b)" },
        { CBX_LINT_SKIP_NO_LANGUAGE, "1 of no known language", "2 of no known language" },
    };
    assert_int_equal(sizeof(cases) / sizeof(cases[0]), CBX_LINT_SKIPS);
    for (size_t i = 0; i < CBX_LINT_SKIPS; i++) {
        struct counted c = { 0 };
        char text[128];
        cbx_arena_init(&c.arena, 65536);
        bool code = strchr(cases[i].one, '(') != NULL;
        add(&c, cases[i].reason, "a", code ? CBX_LINT_RANK_CODE : CBX_LINT_RANK_OTHER, "");
        snprintf(text, sizeof(text), "; 1 skipped: %s", cases[i].one);
        assert_text(&c, text);
        add(&c, cases[i].reason, "b", code ? CBX_LINT_RANK_CODE : CBX_LINT_RANK_OTHER, "");
        snprintf(text, sizeof(text), "; 2 skipped: %s", cases[i].two);
        assert_text(&c, text);
        cbx_arena_done(&c.arena);
    }
}

static void only_code_that_the_caller_did_not_leave_out_counts_for_coverage(void **state)
{
    (void)state;
    struct counted c = { 0 };
    cbx_arena_init(&c.arena, 65536);
    add(&c, CBX_LINT_SKIP_EXCLUDED, "a.py", CBX_LINT_RANK_CODE, "");
    add(&c, CBX_LINT_SKIP_NO_LANGUAGE, "README", CBX_LINT_RANK_OTHER, "");
    assert_int_equal(cbx_lint_skips_code(&c.skips), 0);
    add(&c, CBX_LINT_SKIP_FOREIGN, "a.rb", CBX_LINT_RANK_CODE, "Ruby");
    add(&c, CBX_LINT_SKIP_IGNORED, "b.py", CBX_LINT_RANK_CODE, "");
    assert_int_equal(cbx_lint_skips_code(&c.skips), 2);
    json_t *json = cbx_lint_skips_json(&c.skips);
    assert_int_equal(json_integer_value(json_object_get(json, "count")), 4);
    assert_int_equal(json_integer_value(json_object_get(json, "code")), 2);
    const json_t *first = json_array_get(json_object_get(json, "reasons"), 0);
    const json_t *name = json_array_get(json_object_get(first, "names"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "reason")), "no-analyzer");
    assert_string_equal(json_string_value(json_object_get(name, "language")), "Ruby");
    json_decref(json);
    cbx_arena_done(&c.arena);
}

static void what_a_file_has_is_counted_from_its_list(void **state)
{
    (void)state;
    struct counted c = { 0 };
    cbx_arena_init(&c.arena, 65536);
    json_t *list = json_pack("[{s:s,s:s,s:s},{s:s,s:s,s:s},{s:s},i]", "reason", "piece", "path",
                             "a.yml", "language", "PowerShell", "reason", "fragment", "path",
                             "b.md", "language", "python", "reason", "x", 1);
    cbx_lint_skips_take(&c.skips, list, &c.arena);
    json_decref(list);
    assert_text(&c, "; 2 skipped: 1 piece of code without an analyzer (a.yml: PowerShell), 1 "
                    "fragment of code in a document that cannot be read (b.md: python)");
    assert_int_equal(cbx_lint_skips_code(&c.skips), 1);
    cbx_arena_done(&c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_skipped_is_not_mentioned),
        cmocka_unit_test(names_that_matter_come_first_whatever_the_order_of_the_files),
        cmocka_unit_test(each_reason_agrees_with_its_number),
        cmocka_unit_test(what_a_file_has_is_counted_from_its_list),
        cmocka_unit_test(only_code_that_the_caller_did_not_leave_out_counts_for_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
