/* SPDX-License-Identifier: MIT
 * Source to decision: unconditional denials, exact places, limits of size and depth, exceptions,
 * threads. */
#include "analyzer/analyze.h"
#include "policies/base/buf.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <time.h>

#define HEAD "version: 1\nname: x\nlanguages: [python, javascript, shell]\n"

struct judged {
    struct cbx_policy *policy;
    struct cbx_arena arena;
    struct cbx_decision decision;
};

static void judge_bytes(struct judged *j, const char *policy, const char *language,
                        struct cbx_str source, const char *principal, int64_t now)
{
    *j = (struct judged){ 0 };
    struct cbx_err err = { 0 };
    if (cbx_policy_parse(cbx_str_of(policy), "mine", &j->policy, &err) != 0) {
        fail_msg("%s", err.text);
    }
    cbx_arena_init(&j->arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = source,
                                    .language = cbx_str_of(language),
                                    .principal = cbx_str_of(principal),
                                    .now = now };
    assert_int_equal(cbx_analyze(j->policy, &request, &j->arena, &j->decision, &err), 0);
}

static void judge(struct judged *j, const char *policy, const char *language, const char *source)
{
    judge_bytes(j, policy, language, cbx_str_of(source), "", 0);
}

static void done(struct judged *j)
{
    cbx_arena_done(&j->arena);
    cbx_policy_free(j->policy);
}

static void denies_when_zeroed(void **state)
{
    (void)state;
    struct cbx_decision decision = { 0 };
    assert_int_equal(decision.verdict, CBX_DENY);
    assert_string_equal(cbx_verdict_name(decision.verdict), "deny");
    struct cbx_policy nothing = { 0 };
    struct cbx_analysis request = { .source = CBX_STR("x = 1"), .language = CBX_STR("python") };
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_err err;
    assert_int_equal(cbx_analyze(&nothing, &request, &arena, &decision, &err), 0);
    assert_int_equal(decision.verdict, CBX_DENY);
}

static void names_the_languages_when_one_is_unknown(void **state)
{
    (void)state;
    struct cbx_policy nothing = { 0 };
    struct cbx_analysis request = { .source = CBX_STR("x"), .language = CBX_STR("cobol") };
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_decision decision = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_analyze(&nothing, &request, &arena, &decision, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "'cobol'"));
    assert_non_null(strstr(err.text, "python, ipython, javascript, shell"));
    assert_int_equal(decision.verdict, CBX_DENY);
}

static void denies_what_cannot_be_judged(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *language;
        struct cbx_str source;
        const char *rule;
    } cases[] = {
        { HEAD "limits: {source: 4}\n", "python", CBX_STR("x = 1"), "source.too-large" },
        { "version: 1\nname: x\nlanguages: [python]\n", "javascript", CBX_STR("1"),
          "source.language" },
        { "version: 1\nname: x\n", "python", CBX_STR("1"), "source.language" },
        { HEAD, "python", CBX_STR("def f(:"), "source.unreadable" },
        { HEAD, "javascript", CBX_STR("let = = ;"), "source.unreadable" },
        { HEAD, "shell", CBX_STR("if ls; then"), "source.unreadable" },
        { HEAD, "ipython", CBX_STR("!if ls; then"), "source.unreadable" },
        { HEAD, "python", CBX_STR("x = '\xFF'"), "source.unreadable" },
        { HEAD, "python", CBX_STR("x\0y"), "source.unreadable" },
        { HEAD, "python", CBX_STR("# coding: utf-7\n"), "source.unreadable" },
        { HEAD, "javascript", CBX_STR("\xEF\xBB\xBF\xEF\xBB\xBF"), "source.unreadable" },
        { HEAD, "python", CBX_STR("x\xE2\x80\xAE = 1"), "source.unreadable" },
        { HEAD "mode: log-only\n", "python", CBX_STR("x = '\xFF'"),
          NULL }, /* log-only reports the effect */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct judged j;
        judge_bytes(&j, cases[i].policy, cases[i].language, cases[i].source, "", 0);
        if (cases[i].rule != NULL &&
            (j.decision.verdict != CBX_DENY || j.decision.finding_count == 0 ||
             !cbx_str_is(j.decision.findings[0].rule->id, cases[i].rule))) {
            fail_msg("%zu: %s", i, cbx_verdict_name(j.decision.verdict));
        }
        done(&j);
    }
}

static void allows_exactly_up_to_the_limit_of_size(void **state)
{
    (void)state;
    struct judged j;
    judge(&j, HEAD "limits: {source: 5}\n", "python", "x = 1");
    assert_int_equal(j.decision.verdict, CBX_ALLOW);
    assert_int_equal(j.decision.finding_count, 0);
    done(&j);
}

static void the_decision_has_text_and_hash_of_what_runs(void **state)
{
    (void)state;
    struct judged j;
    judge(&j, HEAD, "python", "x = 1\r\ny = 2\r");
    assert_true(cbx_str_is(j.decision.text, "x = 1\ny = 2\n"));
    struct cbx_sha256 hash = cbx_sha256_of(CBX_STR("x = 1\ny = 2\n"));
    assert_true(cbx_sha256_equal(&j.decision.sha256, &hash));
    done(&j);
    judge(&j, HEAD "shell: {allow: [ls]}\n", "ipython", "!ls");
    assert_true(cbx_str_is(j.decision.text, "get_ipython().system('ls')"));
    done(&j);
}

static void points_at_exact_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *match, *language, *source;
        struct cbx_span span; /* line, column, end_line, end_column after two bytes */
    } cases[] = {
        { "import: os", "python", "import os", { 7, 9, 1, 8, 1, 10 } },
        { "import: os", "python", "x = 1\n  \nimport re, os as o\n", { 20, 27, 3, 12, 3, 19 } },
        { "call: [os.system]", "python", "import os\nos.system('x')", { 10, 19, 2, 1, 2, 10 } },
        { "call: [os.system]",
          "python",
          "import os\n\xC3\xA9 = '\xF0\x9F\x98\x80'; os.system('x')",
          { 23, 32, 2, 10, 2, 19 } },
        { "call: [os.system]", "python", "import os\r\nos.system('x')", { 10, 19, 2, 1, 2, 10 } },
        { "import: child_process",
          "javascript",
          "let \xE6\x97\xA5 = require('child_process')",
          { 10, 34, 1, 9, 1, 33 } },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct judged j;
        char policy[256];
        snprintf(policy, sizeof(policy), HEAD "rules: [{id: r, match: {%s}}]\n", cases[i].match);
        judge(&j, policy, cases[i].language, cases[i].source);
        assert_int_equal(j.decision.verdict, CBX_DENY);
        const struct cbx_span *got = &j.decision.findings[0].span, *want = &cases[i].span;
        if (memcmp(got, want, sizeof(*got)) != 0) {
            print_error("%zu: [%u, %u) %u:%u-%u:%u for %s\n", i, got->start_byte, got->end_byte,
                        got->line, got->column, got->end_line, got->end_column, cases[i].source);
        }
        assert_memory_equal(got, want, sizeof(*got));
        done(&j);
    }
}

static void points_into_the_cell_and_not_into_its_rewriting(void **state)
{
    (void)state;
    struct judged j;
    judge(&j,
          HEAD "shell: {allow: [ls]}\nrules: [{id: r, match: {import: os}}, {id: s, match: {fact: "
               "shell-not-listed}}]\n",
          "ipython", "%matplotlib inline\nx = !ls\nimport os\n!rm -rf x\n");
    assert_int_equal(j.decision.finding_count, 2);
    assert_true(cbx_str_is(j.decision.findings[0].rule->id, "r"));
    assert_int_equal(j.decision.findings[0].span.line, 3);
    assert_int_equal(j.decision.findings[0].span.column, 8);
    assert_int_equal(j.decision.findings[0].span.end_column, 10);
    assert_true(cbx_str_is(j.decision.findings[1].rule->id, "s"));
    assert_int_equal(j.decision.findings[1].span.line, 4);
    done(&j);
}

static void gives_code_in_code_the_range_around_it(void **state)
{
    (void)state;
    struct judged j;
    judge(&j, HEAD "rules: [{id: r, match: {import: os}}]\n", "python",
          "x = 1\nexec('y = 2\\n\\nimport os')\n");
    assert_int_equal(j.decision.finding_count, 1);
    const struct cbx_span *span = &j.decision.findings[0].span;
    assert_int_equal(span->line, 2);
    assert_true(span->start_byte >= 6 && span->end_byte <= 32 && span->end_byte > span->start_byte);
    done(&j);
}

static void denies_depth_quickly(void **state)
{
    (void)state;
    static const struct {
        const char *language, *open;
    } cases[] = { { "python", "(" },
                  { "python", "[" },
                  { "python", "not " },
                  { "python", "a." },
                  { "python", "x if x else " },
                  { "javascript", "(" },
                  { "javascript", "[" },
                  { "javascript", "!" },
                  { "javascript", "a=>" },
                  { "javascript", "`${" },
                  { "shell", "$(" },
                  { "shell", "{ " },
                  { "ipython", "(" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, 2 << 20);
        for (int k = 0; k < 100000; k++) {
            cbx_buf_add_cstr(&text, cases[i].open);
        }
        struct judged j;
        judge_bytes(&j, HEAD "limits: {source: 2MiB}\n", cases[i].language, cbx_buf_str(&text), "",
                    0);
        if (j.decision.verdict != CBX_DENY) {
            fail_msg("%s of '%s': %s", cases[i].language, cases[i].open,
                     cbx_verdict_name(j.decision.verdict));
        }
        done(&j);
    }
}

static void keeps_the_verdict_when_findings_are_capped(void **state)
{
    (void)state;
    static const char *const last[] = { "import os\n", "eval('1')\n", "lambda: 0\n" };
    for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, 1 << 20);
        for (int k = 0; k < CBX_FINDINGS_MAX + 500; k++) {
            cbx_buf_add_cstr(&text, "import re\n");
        }
        cbx_buf_add_cstr(&text, last[i]);
        struct judged j;
        judge_bytes(&j,
                    HEAD "rules:\n  - {id: w, match: {import: re}, effect: warn}\n  - {id: d, "
                         "match: {import: os, call: [eval]}}\n  - {id: q, languages: [python], "
                         "match: {query: \"(lambda) @x\"}}\n",
                    "python", cbx_buf_str(&text), "", 0);
        assert_int_equal(j.decision.verdict, CBX_DENY);
        assert_true(j.decision.truncated);
        assert_int_equal(j.decision.finding_count, CBX_FINDINGS_MAX);
        done(&j);
    }
}

/* More warnings than the matcher keeps: a denial after them must not be lost. */
static void denies_when_matches_were_lost(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 4 * 1024 * 1024);
    for (int i = 0; i < 70000; i++) {
        cbx_buf_add_cstr(&text, "noisy()\n");
    }
    cbx_buf_add_cstr(&text, "forbidden()\n");
    struct judged j;
    judge_bytes(&j,
                HEAD "rules: [{id: n, effect: warn, match: {call: [noisy]}}, {id: f, match: {call: "
                     "[forbidden]}}]\n",
                "python", cbx_buf_str(&text), "", 0);
    assert_int_equal(j.decision.verdict, CBX_DENY);
    assert_true(j.decision.truncated);
    done(&j);
}

static void takes_the_strictest_effect(void **state)
{
    (void)state;
    static const char policy[] =
        HEAD "rules:\n  - {id: w, match: {import: re}, effect: warn}\n  - {id: a, match: {import: "
             "io}, effect: ask}\n  - {id: d, match: {import: os}}\n  - {id: l, match: {import: "
             "os}, effect: allow}\n";
    static const struct {
        const char *source;
        enum cbx_verdict verdict;
        size_t findings;
    } cases[] = { { "x", CBX_ALLOW, 0 },
                  { "import re", CBX_ALLOW, 1 },
                  { "import re, io", CBX_ASK, 2 },
                  { "import re, io, os", CBX_DENY, 3 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct judged j;
        judge(&j, policy, "python", cases[i].source);
        assert_int_equal(j.decision.verdict, cases[i].verdict);
        assert_int_equal(j.decision.finding_count, cases[i].findings);
        done(&j);
    }
}

static void matches_excluded_names_not(void **state)
{
    (void)state;
    static const char policy[] =
        HEAD "rules: [{id: r, match: {import: [importlib, \"!importlib.metadata\"], call: "
             "[\"os.*\", \"!os.getcwd\"], attribute: [\"__*__\", \"!__name__\"]}}]\n";
    static const struct {
        const char *source;
        enum cbx_verdict verdict;
    } cases[] = {
        { "import importlib", CBX_DENY },
        { "import importlib.util", CBX_DENY },
        { "import importlib.metadata", CBX_ALLOW },
        { "from importlib.metadata import version", CBX_ALLOW },
        { "import os\nos.getcwd()", CBX_ALLOW },
        { "import os\nos.getpid()", CBX_DENY },
        { "x.__class__", CBX_DENY },
        { "x.__name__", CBX_ALLOW },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct judged j;
        judge(&j, policy, "python", cases[i].source);
        if (j.decision.verdict != cases[i].verdict) {
            fail_msg("%s: %s", cases[i].source, cbx_verdict_name(j.decision.verdict));
        }
        done(&j);
    }
}

static void reads_identifiers_as_python_does(void **state)
{
    (void)state;
    struct judged j;
    judge(&j, HEAD "rules: [{id: r, match: {call: [os.system]}}]\n", "python",
          "import \xEF\xBD\x8F\xEF\xBD\x93\n\xEF\xBD\x8Fs.\xF0\x9D\x93\xBCystem('id')\n");
    assert_int_equal(j.decision.verdict, CBX_DENY);
    done(&j);
}

static void applies_exceptions_until_they_end(void **state)
{
    (void)state;
    static const char policy[] = HEAD
        "rules: [{id: py.process, match: {import: subprocess}}, {id: other, match: {import: os}}]\n"
        "exceptions: [{rule: \"py.*\", principal: ci, until: 2027-01-31, reason: ticket}]\n";
    const int64_t until = 1801353600;
    static const struct {
        const char *source, *principal;
        int64_t before;
        enum cbx_verdict verdict;
    } cases[] = {
        { "import subprocess", "ci", 1, CBX_ALLOW }, { "import subprocess", "ci", 0, CBX_DENY },
        { "import subprocess", "you", 1, CBX_DENY }, { "import subprocess", "", 1, CBX_DENY },
        { "import os", "ci", 1, CBX_DENY },          { "import os, subprocess", "ci", 1, CBX_DENY },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct judged j;
        judge_bytes(&j, policy, "python", cbx_str_of(cases[i].source), cases[i].principal,
                    until - cases[i].before);
        assert_int_equal(j.decision.verdict, cases[i].verdict);
        if (cases[i].verdict == CBX_ALLOW) { /* still reported, with the reason */
            assert_int_equal(j.decision.finding_count, 1);
            assert_int_equal(j.decision.findings[0].effect, CBX_EFFECT_WARN);
            assert_true(cbx_str_is(j.decision.findings[0].exception, "ticket"));
        }
        done(&j);
    }
}

static void log_only_allows_and_reports(void **state)
{
    (void)state;
    struct judged j;
    judge(&j, HEAD "mode: log-only\nrules: [{id: r, match: {import: os}}]\n", "python",
          "import os");
    assert_int_equal(j.decision.verdict, CBX_ALLOW);
    assert_int_equal(j.decision.finding_count, 1);
    assert_int_equal(j.decision.findings[0].effect, CBX_EFFECT_WARN);
    assert_int_equal(j.decision.findings[0].enforced, CBX_EFFECT_DENY);
    done(&j);
    judge(&j, "version: 1\nname: x\nlanguages: [python]\nmode: log-only\n", "shell", "ls");
    assert_int_equal(j.decision.verdict, CBX_DENY); /* a language that may not run at all */
    done(&j);
}

static void denies_when_a_query_is_broken(void **state)
{
    (void)state;
    struct judged j;
    judge(&j, HEAD "rules: [{id: q, languages: [python], match: {query: \"(no_such_node) @x\"}}]\n",
          "python", "x = 1");
    assert_int_equal(j.decision.verdict, CBX_DENY);
    done(&j);
}

static void denies_when_memory_is_out(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err;
    assert_int_equal(cbx_policy_load("default", &policy, &err), 0);
    for (size_t bytes = 64; bytes < 4 << 20; bytes *= 2) {
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, bytes);
        struct cbx_analysis request = {
            .source =
                CBX_STR("import re\nfor i in range(3):\n    print(re.sub('a', 'b', str(i)))\n"),
            .language = CBX_STR("python")
        };
        struct cbx_decision decision;
        assert_int_equal(cbx_analyze(policy, &request, &arena, &decision, &err), 0);
        assert_true(decision.verdict == CBX_DENY || !arena.exhausted);
        assert_true(decision.verdict == CBX_ALLOW || decision.finding_count > 0);
    }
}

static void *judge_many(void *context)
{
    const struct cbx_policy *policy = context;
    size_t findings = 0;
    for (int i = 0; i < 50; i++) {
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        struct cbx_analysis request = {
            .source = CBX_STR("import os as o, subprocess\nf = [o.system]\nf[0]('id')\n!pip "
                              "install paramiko\neval('x' + y)\n"),
            .language = CBX_STR("ipython")
        };
        struct cbx_decision decision;
        struct cbx_err err;
        cbx_analyze(policy, &request, &arena, &decision, &err);
        findings += decision.verdict == CBX_DENY ? decision.finding_count : 100000;
    }
    return (void *)findings;
}

static void gives_two_threads_the_same_answer(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err;
    assert_int_equal(cbx_policy_load("default", &policy, &err), 0);
    void *alone = judge_many(policy), *first, *second;
    assert_true((size_t)alone >= 50 * 4 && (size_t)alone < 100000);
    pthread_t a, b;
    assert_int_equal(pthread_create(&a, NULL, judge_many, policy), 0);
    assert_int_equal(pthread_create(&b, NULL, judge_many, policy), 0);
    pthread_join(a, &first);
    pthread_join(b, &second);
    assert_ptr_equal(first, alone);
    assert_ptr_equal(second, alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(denies_when_zeroed),
        cmocka_unit_test(names_the_languages_when_one_is_unknown),
        cmocka_unit_test(denies_what_cannot_be_judged),
        cmocka_unit_test(allows_exactly_up_to_the_limit_of_size),
        cmocka_unit_test(the_decision_has_text_and_hash_of_what_runs),
        cmocka_unit_test(points_at_exact_ranges),
        cmocka_unit_test(points_into_the_cell_and_not_into_its_rewriting),
        cmocka_unit_test(gives_code_in_code_the_range_around_it),
        cmocka_unit_test(denies_depth_quickly),
        cmocka_unit_test(keeps_the_verdict_when_findings_are_capped),
        cmocka_unit_test(takes_the_strictest_effect),
        cmocka_unit_test(matches_excluded_names_not),
        cmocka_unit_test(reads_identifiers_as_python_does),
        cmocka_unit_test(applies_exceptions_until_they_end),
        cmocka_unit_test(log_only_allows_and_reports),
        cmocka_unit_test(denies_when_a_query_is_broken),
        cmocka_unit_test(denies_when_memory_is_out),
        cmocka_unit_test(denies_when_matches_were_lost),
        cmocka_unit_test(gives_two_threads_the_same_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
