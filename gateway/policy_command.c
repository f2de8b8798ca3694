/* SPDX-License-Identifier: MIT
 * `codebox policy check|test|explain|list`. */
#include "analyzer/policy_test.h"
#include "analyzer/queries.h"
#include "gateway/cli.h"
#include "policies/explain.h"

static int list(void)
{
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    for (size_t i = 0; i < count; i++) {
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err = { 0 };
        if (cbx_policy_load(presets[i].name, &policy, &err) != 0) {
            return cbx_cli_fail(&err);
        }
        printf("%-14s %.*s\n", presets[i].name, (int)policy->description.len,
               policy->description.p);
    }
    return 0;
}

static int print_reference(void)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1024 * 1024);
    cbx_policy_reference(&text);
    fwrite(text.p, 1, text.len, stdout);
    return 0;
}

/* What the loader cannot see: whether the grammars know the queries. */
static int check_queries(const struct cbx_policy *policy, struct cbx_err *err)
{
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct cbx_rule *rule = &policy->rules[i];
        for (int language = 0; rule->match.query.len > 0 && language < CBX_LANGUAGES; language++) {
            if ((rule->languages >> language & 1) != 0 &&
                cbx_query_check((enum cbx_language)language, rule->match.query, err) != 0) {
                cbx_wrap(err, "rule '%.*s'", CBX_STR_ARG(rule->id));
                err->line = rule->line;
                err->column = 1;
                return CBX_EPOLICY;
            }
        }
    }
    return 0;
}

static void print_failure(void *context, const struct cbx_policy_test_failure *failure)
{
    const struct cbx_policy *policy = context;
    CBX_AUTO_DONE(buf) snippet;
    cbx_buf_init(&snippet, 65536);
    cbx_buf_add_escaped(&snippet, failure->snippet, false);
    printf("%.*s: rule %.*s should %s this %s snippet: %s\n", CBX_STR_ARG(policy->name),
           CBX_STR_ARG(failure->rule->id), failure->should_match ? "find" : "not find anything in",
           failure->language, snippet.p);
}

static int test(const char *name, const struct cbx_policy *policy)
{
    struct cbx_policy_test_report report;
    cbx_policy_test(policy, print_failure, (void *)(uintptr_t)policy, &report);
    printf("%s: %zu snippets in %zu rules, %zu failed", name, report.run, policy->rule_count,
           report.failed);
    printf(report.untested > 0 ? "; %zu rules have no tests\n" : "\n", report.untested);
    return report.failed > 0;
}

static int explain(const struct cbx_policy *policy)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 8 * 1024 * 1024);
    cbx_policy_explain(policy, &text);
    fwrite(text.p, 1, text.len, stdout);
    return 0;
}

static int look_at(const char *verb, const char *name)
{
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err = { 0 };
    if (cbx_policy_load(name, &policy, &err) != 0 || check_queries(policy, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    if (strcmp(verb, "test") == 0) {
        return test(name, policy);
    }
    if (strcmp(verb, "explain") == 0) {
        return explain(policy);
    }
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&policy->sha256, hex);
    printf("%s: policy '%.*s' is fine: %zu rules, sha256 %s\n", name, CBX_STR_ARG(policy->name),
           policy->rule_count, hex);
    return 0;
}

static int test_presets(void)
{
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    int worst = 0;
    for (size_t i = 0; i < count; i++) {
        int status = look_at("test", presets[i].name);
        worst = status > worst ? status : worst;
    }
    return worst;
}

int cbx_policy_command(const struct cbx_options *options)
{
    const char *verb = options->argument_count > 0 ? options->arguments[0] : "";
    if (strcmp(verb, "list") == 0 && options->argument_count == 1) {
        return list();
    }
    if (strcmp(verb, "reference") == 0 && options->argument_count == 1) {
        return print_reference();
    }
    if (strcmp(verb, "test") == 0 && options->argument_count == 1) {
        return test_presets();
    }
    bool known =
        strcmp(verb, "check") == 0 || strcmp(verb, "test") == 0 || strcmp(verb, "explain") == 0;
    if (!known || options->argument_count < 2) {
        fprintf(stderr,
                "codebox: policy takes 'list', 'reference', 'test' (all presets), or one of check, "
                "test "
                "and explain with names of presets or files, not '%s'\n",
                verb);
        return 2;
    }
    int worst = 0;
    for (size_t i = 1; i < options->argument_count; i++) {
        int status = look_at(verb, options->arguments[i]);
        worst = status > worst ? status : worst;
    }
    return worst;
}
