/* SPDX-License-Identifier: MIT
 * Comments that suppress findings: the line that they apply to, their syntax, findings that cannot
 * be suppressed. */
#include "analyzer/analyze.h"
#include "analyzer/lint/files/suppress.h"
#include "tests/unit/unit.h"

#include <stdio.h>

#define RULES                                                                                      \
    "version: 1\nname: x\nlanguages: [python, javascript, shell]\n"                                \
    "rules: [{id: os, match: {import: os}}, {id: fs, match: {import: fs}}, {id: s, match: "        \
    "{fact: syntax}}]\n"

/* "LINE:RULE" of findings that still count, and "LINE?WORD" of comments without effect, with a word
 * of the reason. */
static void judge(const char *policy_text, const char *language, const char *source,
                  struct cbx_buf *out)
{
    CBX_AUTO(policy) policy = NULL;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_err err;
    assert_int_equal(cbx_policy_parse(cbx_str_of(policy_text), "mine", &policy, &err), 0);
    struct cbx_analysis request = { .source = cbx_str_of(source),
                                    .language = cbx_str_of(language) };
    struct cbx_decision d;
    struct cbx_report_finding findings[16] = { 0 };
    struct cbx_lint_comments comments;
    assert_int_equal(cbx_analyze(policy, &request, &arena, &d, &err), 0);
    for (size_t i = 0; i < d.finding_count; i++) {
        findings[i].v = d.findings[i];
    }
    assert_int_equal(
        cbx_lint_comments_read(request.source, request.language, &arena, &comments, &err), 0);
    cbx_lint_suppress(policy, &comments, findings, d.finding_count);
    for (size_t i = 0; i < d.finding_count; i++) {
        if (findings[i].suppression == CBX_SUPPRESSED_NOT) {
            cbx_buf_printf(out, " %u:%.*s", findings[i].v.span.line,
                           CBX_STR_ARG(findings[i].v.rule->id));
        } else {
            assert_true(cbx_str_is(findings[i].reason, "why"));
        }
    }
    for (size_t i = 0; i < comments.count; i++) {
        const char *fault = cbx_lint_comment_fault(policy, &comments.items[i]);
        if (fault != NULL) {
            cbx_buf_printf(out, " %u?%s", comments.items[i].span.line, fault);
        }
    }
}

static const struct {
    const char *language, *source, *left;
} cases[] = {
    { "python", "import os # codebox: allow os -- why\n", "" },
    { "python", "import os  #codebox:allow os --why\n", "" },
    { "python", "# codebox: allow os -- why\nimport os\n", "" },
    { "python", "if x:\n    # codebox: allow os -- why\n    import os\n", "" },
    { "python", "# codebox: allow os -- why\n# codebox: allow os -- why\nimport os\n", "" },
    { "python", "# codebox: allow os -- why\n\nimport os\n",
      " 3:os 1?there is no such finding on its line" },
    { "python", "x = 1 # codebox: allow os -- why\nimport os\n",
      " 2:os 1?there is no such finding on its line" },
    { "python", "import os # codebox: allow os\n",
      " 1:os 1?it gives no reason ('-- reason' is required)" },
    { "python", "import os # codebox: allow os --  \n",
      " 1:os 1?it gives no reason ('-- reason' is required)" },
    { "python", "import os # codebox: allow so -- why\n", " 1:os 1?the policy has no such rule" },
    { "python", "import os # codebox: allow\n", " 1:os 1?it names no rule" },
    { "python", "import os # codebox: allowed os -- why\n", " 1:os" },
    { "python", "import os # see codebox: allow os -- why\n", " 1:os" },
    { "python", "x = '# codebox: allow os -- why'; import os\n", " 1:os" },
    { "python", "import os; x = '''\n# codebox: allow os -- why\n'''\n", " 1:os" },
    { "python", "x = ( # codebox: allow s -- why\n",
      " 1:s 1?findings of this rule cannot be suppressed" },
    { "python", "import os # codebox: allow source.unreadable -- why\n",
      " 1:os 1?findings of this rule cannot be suppressed" },
    { "python", "import os # codebox: allow lint.suppression -- why\n",
      " 1:os 1?findings of this rule cannot be suppressed" },
    { "python", "import os # codebox: allow * -- why\n", " 1:os 1?the policy has no such rule" },
    { "ipython", "!ls\nimport os # codebox: allow os -- why\n", "" },
    { "ipython", "%time x\n# codebox: allow os -- why\nimport os\n", "" },
    { "javascript", "const f = require('fs'); // codebox: allow fs -- why\n", "" },
    { "javascript", "// codebox: allow fs -- why\nconst f = require('fs');\n", "" },
    { "javascript", "const f = require('fs'), s = '// codebox: allow fs -- why';\n", " 1:fs" },
};

static void suppresses_the_rule_that_it_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) left;
        cbx_buf_init(&left, 4096);
        judge(RULES "suppressions: {inline: true}\n", cases[i].language, cases[i].source, &left);
        if (strcmp(left.p, cases[i].left) != 0) {
            fail_msg("'%s' leaves '%s'", cases[i].source, left.p);
        }
    }
}

static void suppresses_nothing_where_the_policy_does_not_permit_it(void **state)
{
    (void)state;
    static const char *const policies[] = { RULES, RULES "suppressions: {inline: false}\n" };
    for (size_t i = 0; i < 2; i++) {
        CBX_AUTO_DONE(buf) left;
        cbx_buf_init(&left, 4096);
        judge(policies[i], "python", cases[0].source, &left);
        assert_string_equal(left.p, " 1:os 1?the policy permits no suppressions in the source");
    }
}

static void is_permitted_by_no_preset(void **state)
{
    (void)state;
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    for (size_t i = 0; i < count; i++) {
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err;
        assert_int_equal(cbx_policy_load(presets[i].name, &policy, &err), 0);
        assert_false(policy->inline_suppressions);
    }
}

/* The gateway judges with cbx_analyze alone. */
static void changes_no_decision(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_err err;
    assert_int_equal(
        cbx_policy_parse(CBX_STR(RULES "suppressions: {inline: true}\n"), "mine", &policy, &err),
        0);
    struct cbx_analysis request = { .source = cbx_str_of(cases[0].source),
                                    .language = CBX_STR("python") };
    struct cbx_decision d;
    assert_int_equal(cbx_analyze(policy, &request, &arena, &d, &err), 0);
    assert_int_equal(d.verdict, CBX_DENY);
    assert_int_equal(d.findings[0].effect, CBX_EFFECT_DENY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suppresses_the_rule_that_it_names),
        cmocka_unit_test(suppresses_nothing_where_the_policy_does_not_permit_it),
        cmocka_unit_test(is_permitted_by_no_preset),
        cmocka_unit_test(changes_no_decision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
