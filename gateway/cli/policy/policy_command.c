/* SPDX-License-Identifier: MIT
 * `codebox policy VERB`. */
#include "analyzer/analyze.h"
#include "analyzer/facts/queries.h"
#include "analyzer/policy_test.h"
#include "gateway/cli/cli.h"
#include "gateway/cli/settings/cli_variables.h"
#include "gateway/executor/run/executor_mounts.h"
#include "gateway/ipc/seal/mount_requests.h"
#include "policies/base/text/json.h"
#include "policies/base/text/printable.h"
#include "policies/mounts.h"
#include "policies/texts/diff.h"
#include "policies/texts/explain.h"

#include <time.h>

/* --- the language ------------------------------------------------------------- */

static int list(const struct cbx_options *options)
{
    (void)options;
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    for (size_t i = 0; i < count; i++) {
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err = { 0 };
        if (cbx_policy_load(presets[i].name, &policy, &err) != 0) {
            return cbx_cli_fail(&err);
        }
        printf("%-15s %.*s\n", presets[i].name, CBX_STR_ARG(policy->description));
    }
    return 0;
}

static int reference(const struct cbx_options *options)
{
    (void)options;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1024 * 1024);
    cbx_policy_reference(&text);
    fwrite(text.p, 1, text.len, stdout);
    return 0;
}

static int schema(const struct cbx_options *options)
{
    (void)options;
    CBX_AUTO_JSON json = cbx_policy_schema();
    json_dumpf(json, stdout, JSON_INDENT(2));
    putchar('\n');
    return 0;
}

/* --- one policy ------------------------------------------------------------------------------- */

/* Compiles each query, which the loader cannot do without the grammars. */
static int check_queries(const struct cbx_policy *policy, struct cbx_err *err)
{
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct cbx_rule *rule = &policy->rules[i];
        for (int language = 0; rule->match.query.len > 0 && language < CBX_LANGUAGES; language++) {
            if ((rule->languages >> language & 1) != 0 &&
                cbx_query_check((enum cbx_language)language, rule->match.query, err) != 0) {
                cbx_wrap(err, "rule '%.*s'", CBX_STR_SHOWN(rule->id));
                err->line = rule->line;
                err->column = 1;
                return CBX_EPOLICY;
            }
        }
    }
    return 0;
}

static int load(const char *name, struct cbx_policy **out)
{
    struct cbx_err err = { 0 };
    if (cbx_policy_load(name, out, &err) != 0 || check_queries(*out, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    return 0;
}

/* Prints settings that are valid and probably not intended. */
static void print_notes(const struct cbx_policy *policy)
{
    for (size_t i = 0; i < policy->exception_count; i++) {
        const struct cbx_exception *e = &policy->exceptions[i];
        bool known = false;
        for (size_t r = 0; r < policy->rule_count; r++) {
            known |= cbx_str_glob(e->rule, policy->rules[r].id);
        }
        if (!known) {
            printf("  note: the exception for '%.*s' matches no rule of this policy\n",
                   CBX_STR_ARG(e->rule));
        }
        if (e->until <= time(NULL)) {
            printf("  note: the exception of '%.*s' for '%.*s' has ended\n",
                   CBX_STR_ARG(e->principal), CBX_STR_ARG(e->rule));
        }
    }
    if (policy->log_only) {
        printf("  note: mode log-only: nothing is stopped, and only principals with the right "
               "policy:relax may use it\n");
    }
}

static int check(const char *name, const struct cbx_policy *policy)
{
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&policy->sha256, hex);
    printf("%s: policy '%.*s' is fine: %zu rules, sha256 %s\n", name, CBX_STR_ARG(policy->name),
           policy->rule_count, hex);
    print_notes(policy);
    return 0;
}

static void print_failure(void *context, const struct cbx_policy_test_failure *failure)
{
    const struct cbx_policy *policy = context;
    CBX_AUTO_DONE(buf) snippet;
    cbx_buf_init(&snippet, 65536);
    cbx_printable_add(&snippet, failure->snippet, CBX_PRINTABLE_LINE);
    if (failure->rule == NULL) {
        printf("%.*s: %s %s should be %s: %s\n", CBX_STR_ARG(policy->name), failure->kind,
               snippet.p, failure->should_match ? "refused" : "allowed", failure->language);
        return;
    }
    printf("%.*s: rule %.*s should %s this %s snippet: %s\n", CBX_STR_ARG(policy->name),
           CBX_STR_ARG(failure->rule->id), failure->should_match ? "find" : "not find anything in",
           failure->language, snippet.p);
}

/* In CI a rule without a test is a failure: nobody reads a warning in the output of a job that
 * passes. */
static bool tests_are_required(void)
{
    const char *ci = getenv("CI");
    return ci != NULL && ci[0] != '\0' && strcmp(ci, "false") != 0 && strcmp(ci, "0") != 0;
}

static int test(const char *name, const struct cbx_policy *policy)
{
    struct cbx_policy_test_report report;
    cbx_policy_test(policy, print_failure, (void *)(uintptr_t)policy, &report);
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct cbx_rule *rule = &policy->rules[i];
        if (rule->test_deny.count + rule->test_allow.count == 0) {
            printf("%.*s: rule %.*s has no tests\n", CBX_STR_ARG(policy->name),
                   CBX_STR_ARG(rule->id));
        }
    }
    printf("%s: %zu snippets, %zu failed; %zu of %zu rules have tests\n", name, report.run,
           report.failed, policy->rule_count - report.untested, policy->rule_count);
    return report.failed > 0 || (report.untested > 0 && tests_are_required());
}

static void explain_variable(void *context, const struct cbx_variable_state *state)
{
    bool *first = context;
    if (state->problem[0] != '\0') {
        printf("%s      %.*s: %s\n",
               *first ? "\nAs this command is started, programs would not have:\n" : "",
               CBX_STR_ARG(state->name), state->problem);
        *first = false;
    }
}

static int explain(const char *name, const struct cbx_policy *policy)
{
    (void)name;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 8 * 1024 * 1024);
    cbx_policy_explain(policy, &text);
    fwrite(text.p, 1, text.len, stdout);
    bool first = true;
    cbx_variables_check(policy, explain_variable, &first);
    return 0;
}

/* --- two policies ----------------------------------------------------------------------------- */

struct difference_list {
    bool more;
    size_t count;
    const char *heading;
};

static void print_difference(void *context, const struct cbx_policy_difference *difference)
{
    struct difference_list *list = context;
    if (difference->more == list->more) {
        printf("%s  %.*s\n", list->count++ == 0 ? list->heading : "",
               CBX_STR_ARG(difference->text));
    }
}

static enum cbx_verdict judge(const struct cbx_policy *policy, const char *language,
                              struct cbx_str snippet)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = snippet,
                                    .language = cbx_str_of(language),
                                    .now = time(NULL) };
    struct cbx_decision decision;
    struct cbx_err err;
    return cbx_analyze(policy, &request, &arena, &decision, &err) == 0 ? decision.verdict
                                                                       : CBX_DENY;
}

/* Prints a program as an item of a list, its lines below each other. */
static void print_snippet(struct cbx_str text)
{
    for (size_t at = 0; at <= text.len;) {
        const char *newline = at < text.len ? memchr(text.p + at, '\n', text.len - at) : NULL;
        size_t end = newline != NULL ? (size_t)(newline - text.p) : text.len;
        CBX_AUTO_DONE(buf) line;
        cbx_buf_init(&line, 65536);
        cbx_printable_add(&line, cbx_str_sub(text, at, end), CBX_PRINTABLE_LINE);
        printf("    %s %s\n", at == 0 ? "-" : " ", line.len > 0 ? line.p : "");
        at = end + 1;
    }
}

/* Prints tests of `from` whose verdicts under the two policies differ. */
static size_t print_examples(const struct cbx_policy *from, const struct cbx_policy *a,
                             const struct cbx_policy *b, bool more, size_t printed)
{
    enum { EXAMPLES_MAX = 12, PER_RULE = 2 };
    for (size_t r = 0; r < from->rule_count; r++) {
        const struct cbx_rule *rule = &from->rules[r];
        const char *language = cbx_policy_test_language(rule);
        size_t of_rule = 0;
        for (size_t i = 0; i < rule->test_deny.count && of_rule < PER_RULE; i++) {
            enum cbx_verdict x = judge(a, language, rule->test_deny.items[i]),
                             y = judge(b, language, rule->test_deny.items[i]);
            if ((more ? y > x : x > y) && printed < EXAMPLES_MAX) {
                fputs(printed == 0 ? "  for example:\n" : "", stdout);
                print_snippet(rule->test_deny.items[i]);
                printed++;
                of_rule++;
            }
        }
    }
    return printed;
}

static int diff(const struct cbx_options *options)
{
    CBX_AUTO(policy) a = NULL;
    CBX_AUTO(policy) b = NULL;
    if (options->arguments.count != 3) {
        fprintf(stderr, "codebox: policy diff takes two policies, found are %zu\n",
                options->arguments.count - 1);
        return 2;
    }
    const char *first = options->arguments.items[1], *second = options->arguments.items[2];
    if (load(first, &a) != 0 || load(second, &b) != 0) {
        return 2;
    }
    size_t count = 0;
    for (int more = 1; more >= 0; more--) {
        char heading[512];
        snprintf(heading, sizeof(heading), "%s allows what %s does not:\n", more ? second : first,
                 more ? first : second);
        struct difference_list list = { .more = more != 0, .heading = heading };
        cbx_policy_diff(a, b, print_difference, &list);
        if (list.count > 0) {
            print_examples(b, a, b, more != 0, print_examples(a, a, b, more != 0, 0));
        }
        count += list.count;
    }
    if (count == 0) {
        printf("%s and %s allow the same\n", first, second);
    }
    return count > 0;
}

/* --- mounts ----------------------------------------------------------------------------------- */

/* Tries the mount as a run would: links, the folder's place and kind, the engine. Nothing is
 * mounted. */
static int try_mount(const struct cbx_options *options, const struct cbx_policy *policy,
                     const char *mount, struct cbx_err *err)
{
    CBX_AUTO(engine) engine = NULL;
    CBX_AUTO_DONE(host_mounts) opened = { 0 };
    CBX_AUTO_JSON asked = json_pack("[s]", mount);
    CBX_AUTO_JSON list = NULL;
    int failed = cbx_mounts_read(asked, &list, err);
    if (failed) {
        return failed;
    }
    failed = cbx_engine_new(options->docker_host, &engine, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sandbox_check_mounts(engine, &policy->limits, err);
    if (failed) {
        return failed;
    }
    return cbx_host_mounts_open_on(engine, options->state_dir, policy, list, &opened, err);
}

/* Prints the decision about one mount; returns the exit status. */
static int check_mount(const struct cbx_options *options, const char *name,
                       const struct cbx_policy *policy, const char *mount)
{
    struct cbx_mount_request request;
    struct cbx_err err = { 0 };
    char why[CBX_MOUNT_WHY_MAX], full[CBX_ERR_FULL_BYTES];
    if (cbx_mount_parse(cbx_str_of(mount), &request, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    bool allowed = cbx_mount_allowed(&policy->mounts, &request, why);
    printf("%s: %s by policy %s: %s\n", mount, allowed ? "allowed" : "refused", name, why);
    if (!allowed) {
        return 1;
    }
    int failed = try_mount(options, policy, mount, &err);
    if (failed == CBX_EINVAL) {
        printf("%s: refused by a run on this host: %s\n", mount, cbx_err_full(&err, full));
        return 1;
    }
    if (failed) {
        printf("%s: not tried, and a run would fail: %s\n", mount, cbx_err_full(&err, full));
        return 2;
    }
    printf("%s: mounted by a run on this host\n", mount);
    return 0;
}

static int check_mounts(const struct cbx_options *options)
{
    CBX_AUTO(policy) policy = NULL;
    const char *name = options->policies.count > 0 ? options->policies.items[0] : "default";
    if (options->arguments.count < 2) {
        fprintf(stderr, "codebox: policy check-mount takes HOST:CONTAINER:MODE\n");
        return 2;
    }
    if (load(name, &policy) != 0) {
        return 2;
    }
    int worst = 0;
    for (size_t i = 1; i < options->arguments.count; i++) {
        int status = check_mount(options, name, policy, options->arguments.items[i]);
        worst = status > worst ? status : worst;
    }
    return worst;
}

/* --- the verbs -------------------------------------------------------------------------------- */

static const struct verb {
    const char *name;
    int (*each)(const char *name, const struct cbx_policy *policy); /* for every named policy */
    int (*whole)(const struct cbx_options *options);
    const char *help;
} verbs[] = {
    { "check", check, NULL, "POLICY ...: load it, and note likely mistakes" },
    { "test", test, NULL,
      "[POLICY ...]: run the tests in it (all presets); where CI is set, a rule without fails" },
    { "explain", explain, NULL, "POLICY ...: describe it in plain words" },
    { "diff", NULL, diff, "A B: list what one allows and the other does not, with examples" },
    { "check-mount", NULL, check_mounts,
      "HOST:CONTAINER:MODE ...: whether a run on this host mounts it, and the entry that decides" },
    { "list", NULL, list, "the presets and their uses" },
    { "reference", NULL, reference, "every key of the language (Markdown)" },
    { "schema", NULL, schema, "the language as JSON Schema, for editors" },
};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static int run_each(const struct verb *verb, const struct cbx_options *options)
{
    size_t presets_count;
    const struct cbx_preset *presets = cbx_preset_list(&presets_count);
    bool all = options->arguments.count == 1 && strcmp(verb->name, "test") == 0;
    size_t count = all ? presets_count : options->arguments.count - 1;
    int worst = count > 0 ? 0 : 2;
    for (size_t i = 0; i < count; i++) {
        const char *name = all ? presets[i].name : options->arguments.items[i + 1];
        CBX_AUTO(policy) policy = NULL;
        int status = load(name, &policy);
        if (status == 0) {
            status = verb->each(name, policy);
        }
        worst = status > worst ? status : worst;
    }
    if (count == 0) {
        fprintf(stderr, "codebox: policy %s needs the name of a preset or a file\n", verb->name);
    }
    return worst;
}

int cbx_policy_command(const struct cbx_options *options)
{
    const char *name = options->arguments.count > 0 ? options->arguments.items[0] : "";
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(name, verbs[i].name) == 0) {
            return verbs[i].each != NULL ? run_each(&verbs[i], options) : verbs[i].whole(options);
        }
    }
    fprintf(stderr, "codebox: the verb of policy is '%s', allowed are\n", name);
    for (size_t i = 0; i < VERBS; i++) {
        fprintf(stderr, "  %-12s %s\n", verbs[i].name, verbs[i].help);
    }
    return 2;
}
