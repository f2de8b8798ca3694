/* SPDX-License-Identifier: MIT
 * Checking one file: verdicts with and without suppressions, places after any line end, files that
 * cannot be checked. */
#include "analyzer/lint/files/file.h"
#include "tests/unit/unit.h"

#include <stdio.h>

#define HEAD                                                                                       \
    "version: 1\nname: x\nlanguages: [python]\nsuppressions: {inline: true}\n"                     \
    "rules: [{id: os, match: {import: os}}, {id: re, match: {import: re}, effect: ask}]\n"

/* Checks a text as if it came from a file of this language. */
static void check(const char *policy_text, const char *language, const char *format, bool record,
                  struct cbx_str text, struct cbx_lint_result *out)
{
    CBX_AUTO(policy) policy = NULL;
    CBX_AUTO_DONE(lint_worker) worker;
    struct cbx_err err;
    char name[] = "/tmp/cbx-lint-XXXXXX";
    int fd = mkstemp(name);
    assert_int_equal(write(fd, text.p, text.len), text.len);
    close(fd);
    assert_int_equal(cbx_policy_parse(cbx_str_of(policy_text), "mine", &policy, &err), 0);
    cbx_lint_worker_init(&worker);
    struct cbx_lint lint = { .report.policy = policy,
                             .format = cbx_report_format_find(format),
                             .record = record };
    struct cbx_lint_path path = { .path = cbx_str_of(name),
                                  .normal = CBX_STR("f"),
                                  .language = language };
    cbx_lint_file(&lint, &worker, &path, out);
    unlink(name);
}

static void counts_what_is_not_suppressed(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        bool record;
        int status;
        size_t findings, suppressed;
    } cases[] = {
        { "x = 1\n", false, 0, 0, 0 },
        { "import os\n", false, 1, 1, 0 },
        { "import re\n", false, 1, 1, 0 },
        { "import os # codebox: allow os -- y\n", false, 0, 0, 1 },
        { "import os # codebox: allow os -- y\nimport re\n", false, 1, 1, 1 },
        { "import os # codebox: allow re -- y\n", false, 1, 2, 0 },
        { "import os\nimport re # codebox: allow re -- y\n", true, 0, 0, 2 },
        { "x = (\n", true, 1, 1, 0 },
        { "import os # codebox: allow os -- y\nx = (\n", false, 1, 1, 1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_lint_result r;
        check(HEAD, "python", "text", cases[i].record, cbx_str_of(cases[i].source), &r);
        if (r.status != cases[i].status || r.findings != cases[i].findings ||
            r.suppressed != cases[i].suppressed) {
            fail_msg("%zu: status %d, %zu findings, %zu suppressed\n%s", i, r.status, r.findings,
                     r.suppressed, r.output.p);
        }
        cbx_lint_result_done(&r);
    }
}

/* A cell that is denied in every mode, next to one with a suppressed finding. */
static void keeps_a_denial_that_no_finding_shows(void **state)
{
    (void)state;
    static const char policy[] = HEAD "mode: log-only\nlimits: {source: 60}\n";
    static const char cells[] =
        "{\"cells\": [{\"cell_type\": \"code\", \"source\": \"import os # codebox: allow os -- "
        "y\"}, "
        "{\"cell_type\": \"code\", \"source\": \"x = "
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'\"}]}";
    struct cbx_lint_result r;
    check(policy, "notebook", "text", false, cbx_str_of(cells), &r);
    assert_int_equal(r.suppressed, 1);
    assert_int_equal(r.status, 1);
    cbx_lint_result_done(&r);
}

/* And more findings than are kept, some of them suppressed. */
static void keeps_a_denial_when_findings_were_left_out(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    for (int i = 0; i < 1200; i++) {
        cbx_buf_add_cstr(&text, "import os # codebox: allow os -- y\n");
    }
    struct cbx_lint_result r;
    check(HEAD, "python", "text", false, cbx_buf_str(&text), &r);
    assert_int_equal(r.suppressed, 1000);
    assert_int_equal(r.status, 1);
    cbx_lint_result_done(&r);
}

/* The memory of a cell's analysis, which has its hints, is reused for the next cell. */
static void keeps_the_hint_of_each_cell(void **state)
{
    (void)state;
    static const char cells[] = "{\"cells\": [{\"cell_type\": \"code\", \"source\": \"x = (1\"}, "
                                "{\"cell_type\": \"code\", \"source\": \"y = [1\"}]}";
    struct cbx_lint_result r;
    check("version: 1\nname: x\nextends: [default]\n", "notebook", "text", false, cbx_str_of(cells),
          &r);
    assert_non_null(strstr(r.output.p, "hint: add `)` at the end of line 1"));
    assert_non_null(strstr(r.output.p, "hint: add `]` at the end of line 1"));
    cbx_lint_result_done(&r);
}

static void points_at_the_place_behind_any_line_end(void **state)
{
    (void)state;
    static const char *const sources[] = { "x = 1\nimport os\n", "x = 1\r\nimport os\r\n",
                                           "x = 1\rimport os\r", "\xEF\xBB\xBFx = 1\r\nimport os" };
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        struct cbx_lint_result r;
        check(HEAD, "python", "text", false, cbx_str_of(sources[i]), &r);
        assert_non_null(strstr(r.output.p,
                               ":2:8: deny [os] os\n      2 | import os\n        |        "
                               "^~\n"));
        cbx_lint_result_done(&r);
    }
}

static void reports_what_could_not_be_checked(void **state)
{
    (void)state;
    static const struct {
        const char *language, *text, *error;
    } cases[] = {
        { "notebook", "", "" },
        { "notebook", "{}", "no list 'cells'" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_lint_result r;
        check(HEAD, cases[i].language, "json", false, cbx_str_of(cases[i].text), &r);
        assert_int_equal(r.status, 2);
        assert_non_null(
            strstr(json_string_value(json_object_get(r.failure, "error")), cases[i].error));
        assert_non_null(strstr(r.output.p, "\"verdict\":\"error\""));
        cbx_lint_result_done(&r);
    }
}

/* No bytes of a file are an error: unreadable source is denied. */
static void denies_what_is_no_text(void **state)
{
    (void)state;
    static const struct cbx_str texts[] = { { "\0\0\0", 3 },
                                            { "\xFF\xFE", 2 },
                                            { "x\0# codebox:", 12 } };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct cbx_lint_result r;
        check(HEAD, "python", "sarif", true, texts[i], &r);
        assert_int_equal(r.status, 1);
        assert_int_equal(r.suppressed, 0);
        cbx_lint_result_done(&r);
    }
}

#define NOTEBOOK(language)                                                                         \
    "{\"cells\": [{\"cell_type\": \"code\", \"source\": \"x=1\"}, {\"cell_type\": \"code\", "      \
    "\"source\": "                                                                                 \
    "\"import os\"}], \"metadata\": {\"language_info\": {\"name\": \"" language "\"}}}"

/* "status findings reason:language" */
static void notebooks_are_judged_in_the_language_of_their_kernel(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { NOTEBOOK("python"), "1 1 " },
        { NOTEBOOK("ipython"), "1 1 " },
        { NOTEBOOK("JavaScript"), "1 2 " },
        { NOTEBOOK("julia"), "0 0 no-analyzer:Julia" },
        { NOTEBOOK("klingon"), "0 0 no-analyzer:klingon" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_lint_result r;
        char found[128];
        check(HEAD, "notebook", "text", false, cbx_str_of(cases[i].text), &r);
        const json_t *one = json_array_get(r.skipped, 0);
        snprintf(found, sizeof(found), "%d %zu %s%s%s", r.status, r.findings,
                 one != NULL ? json_string_value(json_object_get(one, "reason")) : "",
                 one != NULL ? ":" : "",
                 one != NULL ? json_string_value(json_object_get(one, "language")) : "");
        assert_string_equal(found, cases[i].expected);
        assert_true(one == NULL || r.output.len == 0);
        cbx_lint_result_done(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notebooks_are_judged_in_the_language_of_their_kernel),
        cmocka_unit_test(counts_what_is_not_suppressed),
        cmocka_unit_test(keeps_a_denial_that_no_finding_shows),
        cmocka_unit_test(keeps_a_denial_when_findings_were_left_out),
        cmocka_unit_test(keeps_the_hint_of_each_cell),
        cmocka_unit_test(points_at_the_place_behind_any_line_end),
        cmocka_unit_test(reports_what_could_not_be_checked),
        cmocka_unit_test(denies_what_is_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
