/* SPDX-License-Identifier: MIT
 * Baselines: findings that are recognised, and files that are refused. */
#include "analyzer/lint/files/baseline.h"
#include "analyzer/rules.h"
#include "tests/unit/unit.h"

#include <stdio.h>

static const struct cbx_rule rule = { .id = { "r", 1 } }, other = { .id = { "s", 1 } };

static struct cbx_report_finding finding_at(const struct cbx_rule *of, const char *source,
                                            const char *word)
{
    struct cbx_report_finding f = { .source = cbx_str_of(source) };
    f.v.rule = of;
    f.v.span.start_byte = (uint32_t)(strstr(source, word) - source);
    return f;
}

static void fingerprint(struct cbx_report_finding *f, const char *uri, char out[33])
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_err err;
    assert_int_equal(cbx_lint_fingerprint(cbx_str_of(uri), f, 1, &arena, &err), 0);
    assert_int_equal(f->fingerprint.len, CBX_FINGERPRINT_HEX);
    snprintf(out, 33, "%.*s", CBX_STR_ARG(f->fingerprint));
}

static void recognises_a_line_that_moved(void **state)
{
    (void)state;
    static const struct {
        const struct cbx_rule *rule;
        const char *uri, *source;
        bool same;
    } cases[] = {
        { &rule, "a.py", "x = eval(y)", true },
        { &rule, "a.py", "# new\n\n  x  =\teval(y)  \nmore", true },
        { &rule, "a.py", "x = eval(z)", false },
        { &rule, "a.py", "x= eval(y)", false },
        { &rule, "b.py", "x = eval(y)", false },
        { &other, "a.py", "x = eval(y)", false },
    };
    char first[33];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char now[33];
        struct cbx_report_finding f = finding_at(cases[i].rule, cases[i].source, "eval");
        fingerprint(&f, cases[i].uri, now);
        memcpy(first, i == 0 ? now : first, sizeof(first));
        if ((strcmp(now, first) == 0) != cases[i].same) {
            fail_msg("case %zu", i);
        }
    }
}

static void numbers_lines_that_are_the_same(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_err err;
    struct cbx_report_finding before[2] = { finding_at(&rule, "f()\nf()", "f"),
                                            finding_at(&rule, "f()\nf()", "f()") };
    assert_int_equal(cbx_lint_fingerprint(CBX_STR("a"), before, 2, &arena, &err), 0);
    assert_false(cbx_str_equal(before[0].fingerprint, before[1].fingerprint));
}

static void fails_when_memory_ends(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 16);
    struct cbx_err err;
    struct cbx_report_finding f = finding_at(&rule, "f()", "f");
    assert_int_equal(cbx_lint_fingerprint(CBX_STR("a"), &f, 1, &arena, &err), CBX_ETOOBIG);
}

#define ENTRY(rule, path, digits)                                                                  \
    "{\"rule\": \"" rule "\", \"path\": \"" path "\", \"fingerprint\": \"" digits "\"}"
#define ZEROS            "00000000000000000000000000000000"
#define ONES             "11111111111111111111111111111111"
#define FILE_OF(entries) "{\"version\": 1, \"tool\": \"codebox-lint\", \"findings\": [" entries "]}"

static void refuses_what_is_none(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "" },
        { "[]", "no object" },
        { "{", "" },
        { "{\"version\": 1}", "tool" },
        { "{\"version\": 2, \"tool\": \"codebox-lint\", \"findings\": []}", "version" },
        { "{\"version\": 1, \"tool\": \"x\", \"findings\": []}", "'x', allowed is codebox-lint" },
        { "{\"version\": 1, \"version\": 1, \"tool\": \"codebox-lint\", \"findings\": []}",
          "duplicate" },
        { "{\"version\": 1, \"tool\": \"codebox-lint\", \"findings\": {}}", "findings" },
        { "{\"version\": 1, \"tool\": \"codebox-lint\", \"findings\": [], \"more\": 1}", "more" },
        { FILE_OF("1"), "finding 1 is no object" },
        { FILE_OF("{}"), "finding 1" },
        { FILE_OF(ENTRY("r", "a", "0")), "fingerprint" },
        { FILE_OF(ENTRY("", "a", ZEROS)), "rule" },
        { FILE_OF(ENTRY("r", "a", "0000000000000000000000000000000G")), "hexadecimal" },
        { FILE_OF(ENTRY("r", "a", "0000000000000000000000000000\\u0000000")), "hexadecimal" },
        { FILE_OF(ENTRY("r", "a", ZEROS) "," ENTRY("s", "b", ZEROS)), "stands there twice" },
        { FILE_OF(ENTRY("r", "a", ZEROS) ", 7"), "finding 2 is no object" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO(baseline) baseline = NULL;
        struct cbx_err err = { 0 };
        int code = cbx_baseline_parse(cbx_str_of(cases[i].text), &baseline, &err);
        bool refused = code == CBX_EINVAL || code == CBX_ETOOBIG;
        if (!refused || strstr(err.text, cases[i].message) == NULL) {
            fail_msg("%d '%s' for %s", code, err.text, cases[i].text);
        }
        assert_null(baseline);
    }
}

static bool is_anywhere(const void *context, struct cbx_str path)
{
    (void)context;
    return path.len > 0;
}

static bool is_nowhere(const void *context, struct cbx_str path)
{
    (void)context;
    return path.len == 0;
}

static void suppresses_what_it_holds(void **state)
{
    (void)state;
    static const struct {
        const struct cbx_rule *rule;
        const char *uri, *fingerprint;
        bool suppressed;
    } cases[] = {
        { &rule, "a", ZEROS, true },
        { &rule, "a", ONES, false },   /* is of s in b */
        { &rule, "b", ZEROS, false },  /* is of a */
        { &other, "a", ZEROS, false }, /* is of r */
        { &cbx_rule_unreadable, "a", ZEROS, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO(baseline) baseline = NULL;
        struct cbx_err err;
        assert_int_equal(
            cbx_baseline_parse(CBX_STR(FILE_OF(ENTRY("r", "a", ZEROS) "," ENTRY("s", "b", ONES))),
                               &baseline, &err),
            0);
        struct cbx_report_finding f = { .v.rule = cases[i].rule,
                                        .fingerprint = cbx_str_of(cases[i].fingerprint) };
        cbx_baseline_suppress(baseline, cbx_str_of(cases[i].uri), &f, 1);
        assert_int_equal(f.suppression == CBX_SUPPRESSED_BASELINE, cases[i].suppressed);
        assert_int_equal(cbx_baseline_gone(baseline, is_anywhere, NULL),
                         cases[i].suppressed ? 1 : 2);
        assert_int_equal(cbx_baseline_gone(baseline, is_nowhere, NULL), 0);
    }
}

/* A hand-made baseline cannot suppress a syntax error. */
static void suppresses_nothing_of_what_cannot_be_read(void **state)
{
    (void)state;
    CBX_AUTO(baseline) baseline = NULL;
    struct cbx_err err;
    struct cbx_rule syntax = { .id = { "r", 1 }, .match.facts = 1ull << CBX_FACT_SYNTAX };
    assert_int_equal(cbx_baseline_parse(CBX_STR(FILE_OF(ENTRY("r", "a", ZEROS))), &baseline, &err),
                     0);
    struct cbx_report_finding f = { .v.rule = &syntax, .fingerprint = CBX_STR(ZEROS) };
    cbx_baseline_suppress(baseline, CBX_STR("a"), &f, 1);
    assert_int_equal(f.suppression, CBX_SUPPRESSED_NOT);
}

static void reads_what_it_wrote(void **state)
{
    (void)state;
    char path[] = "/tmp/cbx-baseline-XXXXXX";
    close(mkstemp(path));
    CBX_AUTO_JSON entries = json_array();
    struct cbx_report_finding two = { .v.rule = &other, .fingerprint = CBX_STR(ONES) };
    struct cbx_report_finding one = { .v.rule = &rule, .fingerprint = CBX_STR(ZEROS) };
    cbx_baseline_record(entries, CBX_STR("b"), &two);
    cbx_baseline_record(entries, CBX_STR("a"), &one);
    struct cbx_err err;
    assert_int_equal(cbx_baseline_write(path, entries, &err), 0);
    CBX_AUTO(baseline) baseline = NULL;
    assert_int_equal(cbx_baseline_load(path, &baseline, &err), 0);
    cbx_baseline_suppress(baseline, CBX_STR("a"), &one, 1);
    assert_int_equal(one.suppression, CBX_SUPPRESSED_BASELINE);
    char text[512] = "";
    FILE *f = fopen(path, "r");
    assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
    fclose(f);
    unlink(path);
    assert_string_equal(text, "{\"version\":1,\"tool\":\"codebox-lint\",\"findings\":[\n"
                              "{\"path\":\"a\",\"rule\":\"r\",\"fingerprint\":\"" ZEROS "\"},\n"
                              "{\"path\":\"b\",\"rule\":\"s\",\"fingerprint\":\"" ONES "\"}\n]}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recognises_a_line_that_moved),
        cmocka_unit_test(numbers_lines_that_are_the_same),
        cmocka_unit_test(fails_when_memory_ends),
        cmocka_unit_test(refuses_what_is_none),
        cmocka_unit_test(suppresses_what_it_holds),
        cmocka_unit_test(suppresses_nothing_of_what_cannot_be_read),
        cmocka_unit_test(reads_what_it_wrote),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
