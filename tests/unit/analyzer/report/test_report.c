/* SPDX-License-Identifier: MIT
 * Decisions as text and as JSON: carets at the right columns, escaped source text, the documented
 * keys. */
#include "analyzer/analyze.h"
#include "analyzer/report/report.h"
#include "tests/unit/unit.h"

static const char policy_text[] =
    "version: 1\nname: x\nlanguages: [python]\n"
    "rules: [{id: r, match: {import: os}, message: No os., hint: Use pathlib., references: "
    "[CWE-78], severity: low}, {id: l, match: {literal: \"*evil*\"}}]\n"
    "exceptions: [{rule: r, principal: ci, until: 2027-01-31, reason: ticket}]\n";

struct report {
    struct cbx_policy *policy;
    struct cbx_arena arena;
    struct cbx_decision decision;
    struct cbx_buf text;
};

static void make_report(struct report *r, const char *source, const char *principal, bool color)
{
    *r = (struct report){ 0 };
    struct cbx_err err;
    assert_int_equal(cbx_policy_parse(cbx_str_of(policy_text), "mine", &r->policy, &err), 0);
    cbx_arena_init(&r->arena, CBX_ANALYSIS_ARENA_MAX);
    cbx_buf_init(&r->text, 1 << 20);
    struct cbx_analysis request = { .source = cbx_str_of(source),
                                    .language = CBX_STR("python"),
                                    .principal = cbx_str_of(principal),
                                    .now = 1 };
    assert_int_equal(cbx_analyze(r->policy, &request, &r->arena, &r->decision, &err), 0);
    cbx_report_text(&r->decision, CBX_STR("a\033.py"), request.source, color, &r->text);
}

static void done(struct report *r)
{
    cbx_buf_done(&r->text);
    cbx_arena_done(&r->arena);
    cbx_policy_free(r->policy);
}

static void draws_a_caret_below_the_finding(void **state)
{
    (void)state;
    static const struct {
        const char *source, *report;
    } cases[] = {
        { "x = 1\nimport os\n", "a\\x1b.py:2:8: deny [r] os\n      2 | import os\n        |        "
                                "^~\n          No os.\n          hint: Use pathlib.\n" },
        { "\xC3\xA9 = '\xE6\x97\xA5'; import os\n",
          "a\\x1b.py:1:17: deny [r] os\n      1 | \xC3\xA9 = '\xE6\x97\xA5'; import os\n        |  "
          "                ^~\n          No os.\n          hint: Use pathlib.\n" },
        { "if x:\n\timport os\n",
          "a\\x1b.py:2:9: deny [r] os\n      2 |     import os\n        |            ^~\n         "
          " No os.\n          hint: Use pathlib.\n" },
        { "import os # \xE2\x80\xAE\033[2J\n",
          "a\\x1b.py:1:8: deny [r] os\n      1 | import os # \\u{202e}\\x1b[2J\n        |        "
          "^~\n          No os.\n          hint: Use pathlib.\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct report r;
        make_report(&r, cases[i].source, "", false);
        assert_string_equal(r.text.p, cases[i].report);
        done(&r);
    }
}

static void escapes_what_it_marks(void **state)
{
    (void)state;
    struct report r;
    make_report(&r, "x = 'evil\033[2J\xE2\x80\xAE'\n", "", false);
    assert_int_equal(r.decision.finding_count, 1);
    assert_null(strchr(r.text.p, '\033'));
    assert_null(strstr(r.text.p, "\xE2\x80\xAE"));
    assert_non_null(strstr(r.text.p, "evil\\x1b[2J\\u{202e}"));
    done(&r);
}

static void shows_a_part_of_a_long_line(void **state)
{
    (void)state;
    char source[3000];
    memset(source, 'x', sizeof(source));
    memcpy(source, "a = '", 5);
    memcpy(source + 2000, "'; import os; b = '", 19);
    memcpy(source + sizeof(source) - 2, "'", 2);
    struct report r;
    make_report(&r, source, "", false);
    const char *line = strchr(r.text.p, '\n') + 1, *caret = strchr(line, '\n') + 1;
    assert_true((size_t)(caret - line) < 300);
    const char *shown = strstr(line, "os;"), *below = strchr(caret, '^');
    assert_non_null(shown);
    assert_non_null(below);
    assert_int_equal(shown - line, below - caret);
    done(&r);
}

static void measures_what_a_terminal_shows(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
        size_t columns;
    } cases[] = {
        { "", "", 0 },
        { "abc", "abc", 3 },
        { "\ta\t", "    a    ", 9 },
        { "\xE6\x97\xA5\xE6\x9C\xAC", "\xE6\x97\xA5\xE6\x9C\xAC", 4 }, /* two wide ones */
        { "e\xCC\x81x", "e\xCC\x81x", 2 },                             /* one that joins */
        { "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80", 2 },                 /* a face */
        { "\033[1m", "\\x1b[1m", 7 },
        { "\xE2\x80\x8B", "\\u{200b}", 8 },
        { "a\xFF", "a\\xff", 5 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 4096);
        size_t columns = cbx_report_shown(cbx_str_of(cases[i].text), &out);
        assert_string_equal(out.p, cases[i].shown);
        assert_int_equal(columns, cases[i].columns);
    }
}

/* A report of one finding in one of the formats. */
static void format_one(const char *format, const char *path, uint32_t cell, const char *symbol,
                       enum cbx_suppression suppression, struct cbx_buf *out)
{
    struct report r;
    make_report(&r, "import os\n", "", false);
    struct cbx_report_finding f = { .v = r.decision.findings[0],
                                    .cell = cell,
                                    .file_line = cell > 0 ? 7 : 0,
                                    .suppression = suppression,
                                    .reason = CBX_STR("why"),
                                    .fingerprint = CBX_STR("00ff") };
    f.v.symbol = cbx_str_of(symbol);
    CBX_AUTO_DONE(buf) uri;
    cbx_buf_init(&uri, 4096);
    cbx_report_uri(cbx_str_of(path), &uri);
    struct cbx_report report = { .policy = r.policy };
    struct cbx_report_file file = { .path = cbx_str_of(path),
                                    .normal = cbx_str_of(path),
                                    .uri = cbx_buf_str(&uri),
                                    .findings = &f,
                                    .count = 1 };
    cbx_report_format_find(format)->file(&report, &file, out);
    done(&r);
}

static void writes_workflow_commands(void **state)
{
    (void)state;
    static const struct {
        const char *path, *symbol;
        uint32_t cell;
        const char *command;
    } cases[] = {
        { "a.py", "os", 0,
          "::error file=a.py,line=1,endLine=1,col=8,endColumn=10,title=r::No os. Found: os. "
          "Hint: "
          "Use pathlib.\n" },
        { "a,b:c%\n.py", "x\n::error::y%\r\033", 0,
          "::error file=a%2Cb%3Ac%25%0A.py,line=1,endLine=1,col=8,endColumn=10,title=r::No os. "
          "Found: x\\x0a::error::y%25\\x0d\\x1b. Hint: Use pathlib.\n" },
        { "n.ipynb", "os", 3,
          "::error file=n.ipynb,line=7,endLine=7,title=r (cell 3%2C line 1)::No os. Found: os. "
          "Hint: Use pathlib.\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 1 << 16);
        format_one("github", cases[i].path, cases[i].cell, cases[i].symbol, CBX_SUPPRESSED_NOT,
                   &out);
        assert_string_equal(out.p, cases[i].command);
        cbx_buf_reset(&out);
        format_one("github", cases[i].path, cases[i].cell, cases[i].symbol, CBX_SUPPRESSED_INLINE,
                   &out);
        assert_string_equal(out.p, "");
    }
}

static void writes_results_of_sarif(void **state)
{
    (void)state;
    static const char *const kinds[] = { "[]",
                                         "[{\"kind\":\"inSource\",\"status\":\"accepted\","
                                         "\"justification\":\"why\"}]",
                                         "[{\"kind\":\"external\",\"status\":\"accepted\","
                                         "\"justification\":\"why\"}]" };
    for (int kind = 0; kind < 3; kind++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 1 << 16);
        char expected[1024];
        snprintf(expected, sizeof(expected),
                 "{\"ruleId\":\"r\",\"ruleIndex\":0,\"level\":\"error\",\"message\":{\"text\":\"No "
                 "os. Found: os. Hint: Use pathlib.\"},\"locations\":[{\"physicalLocation\":{"
                 "\"artifactLocation\":{\"uri\":\"a%%20%%25%%C3%%A9/%%FF.py\",\"uriBaseId\":"
                 "\"SRCROOT\"},\"region\":{\"startLine\":1,\"startColumn\":8,\"endLine\":1,"
                 "\"endColumn\":10}}}],\"partialFingerprints\":{\"codeboxFinding/v1\":\"00ff\"},"
                 "\"suppressions\":%s}",
                 kinds[kind]);
        format_one("sarif", "a %\xC3\xA9/\xFF.py", 0, "os", (enum cbx_suppression)kind, &out);
        assert_string_equal(out.p, expected);
    }
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 1 << 16);
    format_one("sarif", "/x/n.ipynb", 3, "os", CBX_SUPPRESSED_NOT, &out);
    assert_non_null(strstr(out.p, "{\"uri\":\"file:///x/n.ipynb\"}"));
    assert_non_null(strstr(out.p, "\"region\":{\"startLine\":7,\"endLine\":7}"));
    assert_non_null(strstr(out.p, "\"name\":\"cell 3\""));
}

static void keeps_suppressed_findings_apart_in_json(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        static const char *const names[] = { "", "inline", "baseline" };
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 1 << 16);
        format_one("json", "a.py", 0, "os", (enum cbx_suppression)kind, &out);
        CBX_AUTO_JSON json = NULL;
        struct cbx_err err;
        assert_int_equal(cbx_json_parse(cbx_buf_str(&out), out.len, &json, &err), 0);
        assert_int_equal(json_array_size(json_object_get(json, "findings")), kind == 0 ? 1 : 0);
        const json_t *one = json_array_get(json_object_get(json, "suppressed"), 0);
        assert_int_equal(one != NULL, kind > 0);
        const json_t *why = json_object_get(one, "suppression");
        assert_true(kind == 0 ||
                    cbx_str_is(cbx_json_str(json_object_get(why, "kind")), names[kind]));
    }
}

static void shows_suppressed_findings_only_when_asked(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 1 << 16);
    format_one("text", "a.py", 0, "os", CBX_SUPPRESSED_INLINE, &out);
    assert_string_equal(out.p, "");
    format_one("text", "a.py", 3, "os", CBX_SUPPRESSED_NOT, &out);
    assert_non_null(strstr(out.p, "a.py:cell 3:1:8: deny [r] os"));
}

static void rules_about_unreadable_source_are_built_in(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err;
    assert_int_equal(cbx_policy_load("default", &policy, &err), 0);
    assert_true(cbx_report_is_built_in(cbx_policy_rule(policy, CBX_STR("source.syntax"))));
    assert_true(cbx_report_is_built_in(cbx_policy_rule(policy, CBX_STR("source.encoding"))));
    assert_true(cbx_report_is_built_in(cbx_policy_rule(policy, CBX_STR("source.bidi"))));
    assert_true(cbx_report_is_built_in(cbx_policy_rule(policy, CBX_STR("source.too-complex"))));
    assert_false(cbx_report_is_built_in(cbx_policy_rule(policy, CBX_STR("py.process"))));
    size_t beyond = policy->rule_count;
    for (; cbx_report_rule(policy, beyond) != NULL; beyond++) {
        assert_true(cbx_report_is_built_in(cbx_report_rule(policy, beyond)));
    }
    assert_int_equal(beyond, policy->rule_count + 5);
}

static void uses_colours_only_when_asked(void **state)
{
    (void)state;
    struct report r;
    make_report(&r, "import os # \033[31m\n", "", true);
    assert_non_null(strstr(r.text.p, "\033[1;31mdeny\033[0m"));
    assert_null(strstr(r.text.p, "\033[31m"));
    done(&r);
    make_report(&r, "import os\n", "", false);
    assert_null(strchr(r.text.p, '\033'));
    done(&r);
}

static void reports_the_exception_that_applies(void **state)
{
    (void)state;
    struct report r;
    make_report(&r, "import os\n", "ci", false);
    assert_non_null(strstr(r.text.p, "warn [r] os"));
    assert_non_null(strstr(r.text.p, "let through by an exception: ticket"));
    done(&r);
    make_report(&r, "x = 1\n", "ci", false);
    assert_string_equal(r.text.p, "");
    done(&r);
}

static void writes_the_keys_that_are_promised(void **state)
{
    (void)state;
    struct report r;
    make_report(&r, "x\nimport os\n", "", false);
    CBX_AUTO_JSON json = NULL;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4096);
    struct cbx_err err;
    assert_int_equal(cbx_decision_json(&r.decision, &json, &err), 0);
    assert_int_equal(cbx_json_write(&out, json), 0);
    char expected[1024], hex[CBX_SHA256_HEX + 1];
    struct cbx_sha256 hash = cbx_sha256_of(CBX_STR("x\nimport os\n"));
    cbx_sha256_hex(&hash, hex);
    snprintf(expected, sizeof(expected),
             "{\"findings\":[{\"column\":8,\"effect\":\"deny\",\"end_column\":10,\"end_line\":2,"
             "\"hint\":\"Use pathlib.\",\"line\":2,\"message\":\"No os.\","
             "\"references\":[\"CWE-78\"],\"rule\":\"r\",\"severity\":\"low\",\"symbol\":\"os\"}],"
             "\"language\":\"python\",\"sha256\":\"%s\",\"verdict\":\"deny\"}",
             hex);
    assert_string_equal(out.p, expected);
    done(&r);
}

static void reports_omitted_findings(void **state)
{
    (void)state;
    static char source[11000];
    for (size_t i = 0; i + 10 < sizeof(source); i += 10) {
        memcpy(source + i, "import os\n", 10);
    }
    struct report r;
    make_report(&r, source, "", false);
    CBX_AUTO_JSON json = NULL;
    struct cbx_err err;
    assert_int_equal(cbx_decision_json(&r.decision, &json, &err), 0);
    assert_true(json_is_true(json_object_get(json, "truncated")));
    assert_int_equal(json_array_size(json_object_get(json, "findings")), CBX_FINDINGS_MAX);
    assert_non_null(strstr(r.text.p, "more findings than are shown"));
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_a_caret_below_the_finding),
        cmocka_unit_test(escapes_what_it_marks),
        cmocka_unit_test(shows_a_part_of_a_long_line),
        cmocka_unit_test(measures_what_a_terminal_shows),
        cmocka_unit_test(writes_workflow_commands),
        cmocka_unit_test(writes_results_of_sarif),
        cmocka_unit_test(keeps_suppressed_findings_apart_in_json),
        cmocka_unit_test(shows_suppressed_findings_only_when_asked),
        cmocka_unit_test(rules_about_unreadable_source_are_built_in),
        cmocka_unit_test(uses_colours_only_when_asked),
        cmocka_unit_test(reports_the_exception_that_applies),
        cmocka_unit_test(writes_the_keys_that_are_promised),
        cmocka_unit_test(reports_omitted_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
