/* SPDX-License-Identifier: MIT
 * Hints: the code that they replace; no hint names code that the policy of the denial forbids. */
#include "analyzer/hints/hints.h"

#include "analyzer/lang/lang.h"
#include "analyzer/past/past.h"
#include "policies/base/arena.h"
#include "policies/base/buf.h"
#include "policies/language.h"
#include "tests/unit/unit.h"

struct expected {
    const char *policy, *language, *source, *hint; /* hint: of the first finding, a part of it */
};

static struct cbx_policy *load(const char *name)
{
    struct cbx_policy *policy = NULL;
    struct cbx_err err = { 0 };
    bool text = strchr(name, '\n') != NULL;
    int failed = text ? cbx_policy_parse(cbx_str_of(name), "mine", &policy, &err)
                      : cbx_policy_load(name, &policy, &err);
    if (failed) {
        fail_msg("%s", err.text);
    }
    return policy;
}

static void judge(const struct cbx_policy *policy, const char *language, const char *source,
                  struct cbx_arena *arena, struct cbx_decision *out)
{
    struct cbx_analysis request = { .source = cbx_str_of(source),
                                    .language = cbx_str_of(language) };
    assert_int_equal(cbx_analyze(policy, &request, arena, out, NULL), 0);
}

static void assert_hints(const struct expected *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        struct cbx_policy *policy = load(cases[i].policy);
        struct cbx_decision decision;
        judge(policy, cases[i].language, cases[i].source, &arena, &decision);
        assert_int_equal(decision.verdict, CBX_DENY);
        struct cbx_str hint = decision.findings[0].hint;
        size_t len = strlen(cases[i].hint);
        if (len == 0 ? hint.len > 0
                     : hint.len == 0 || memmem(hint.p, hint.len, cases[i].hint, len) == NULL) {
            fail_msg("%s: %.*s", cases[i].source, (int)hint.len, hint.p != NULL ? hint.p : "");
        }
        cbx_policy_free(policy);
    }
}
#define ASSERT_HINTS(cases) assert_hints(cases, sizeof(cases) / sizeof((cases)[0]))

static void replaces_commands_by_code(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "default", "python", "import os\nos.system('ls -la')",
          "instead of `os.system('ls -la')` write `os.listdir(\".\")`" },
        { "default", "python",
          "import subprocess\nx = subprocess.run(['cat', 'a.txt'])\nprint(x.stdout)",
          "write `open(\"a.txt\").read()`; instead of `x.stdout` write `x`; instead of `import "
          "subprocess` write `pass`" },
        { "default", "python", "import subprocess, sys\nsubprocess.run(['pwd'])",
          "instead of `import subprocess, sys` write `import os, sys`" },
        { "default", "python", "from subprocess import run\nrun(['cp', 'a', 'b'])",
          "write `shutil.copy(\"a\", \"b\")`; instead of `from subprocess import run` write "
          "`import "
          "shutil`" },
        { "default", "python",
          "import subprocess as s\ns.run(['ls'])\ns.run(['cp', 'a', 'b'])\ns.run(['ls'])",
          "instead of `import subprocess as s` write `import os`; add the line `import shutil`" },
        { "default", "javascript",
          "const { execSync } = require('child_process');\nexecSync('ls').toString();",
          "write `const fs = require(\"fs\");`" },
        { "default", "typescript",
          "import { execSync } from 'child_process';\nexecSync('pwd').toString();",
          "write `process.cwd()`; instead of `import { execSync } from 'child_process';`" },
    };
    ASSERT_HINTS(cases);
}

/* A command that is unknown, lacks an argument, or has an argument that is no plain text. */
static void gives_the_hint_of_the_rule_for_other_commands(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "default", "python", "import os\nos.system('rm ~/old.txt')",
          "instead of `os.system('rm ~/old.txt')` write `os.remove(\"old.txt\")`" },
        { "default", "python", "import os\nos.system('rm -rf old')",
          "write `shutil.rmtree(\"old\")`" },
        { "default", "python", "import os\nos.system('head -n 5 a.csv')",
          "write `open(\"a.csv\").readlines()[:5]`" },
        { "default", "python", "import os\nos.system('tail -3 a.csv')",
          "write `open(\"a.csv\").readlines()[-3:]`" },
        { "default", "python", "import os\nos.system('echo two words')",
          "write `print(\"two words\")`" },
        { "default", "python", "import os\nos.system('find . -name \"*.py\"')", "glob.glob" },
        { "default", "python", "import os\nx = os.popen('ls').read().split('\\n')",
          "instead of `os.popen('ls').read().split('\\n')` write `os.listdir(\".\")`" },
        { "default", "python", "import os\nx = os.popen('cat a').read().split('\\n')",
          "instead of `os.popen('cat a').read()` write `open(\"a\").read()`" },
        { "default", "python", "import os\nx = os.popen('ls').read().upper()",
          "Do the work in Python" },
        { "default", "python", "import os\nos.system('rm a b')", "Do the work in Python" },
        { "default", "python", "import os\nos.system('sort -k 2 a')", "Do the work in Python" },
        { "default", "python", "import os\nos.system('echo hi > f')", "Do the work in Python" },
        { "default", "python", "import os\nos.system('make all')", "Do the work in Python" },
        { "default", "python", "import os\nos.system('cat')", "Do the work in Python" },
        { "default", "python", "import os\nos.system('cat *.txt')", "Do the work in Python" },
        { "default", "python", "import os\nos.system('ls; pwd')", "Do the work in Python" },
    };
    ASSERT_HINTS(cases);
}

static void replaces_constant_code_and_paths_outside(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "default", "python", "x = eval('1 + 2')", "instead of `eval('1 + 2')` write `1 + 2`" },
        { "default", "python", "x = eval(input())", "instead of `eval` write `ast.literal_eval`" },
        { "default", "python", "open('/srv/a/b.csv', 'w')",
          "instead of `/srv/a/b.csv` write `b.csv`" },
        { "default", "shell", "echo x > /etc/y", "instead of `/etc/y` write `y`" },
        { "default", "shell", "sudo ls", "remove `sudo `" },
        { "default", "ipython", "x = 1\n!curl https://example.org", "remove line 2" },
        { "default", "python", "import socket\nsocket.gethostbyname(socket.gethostname())",
          "Read the data from a file" },
        { "default", "python", "import multiprocessing as m\nm.Pool(2)",
          "write `concurrent.futures`; instead of `Pool` write `ThreadPoolExecutor`" },
    };
    ASSERT_HINTS(cases);
}

static void names_nothing_that_the_policy_forbids(void **state)
{
    (void)state;
    static const char no_json[] = "version: 1\nname: x\nextends: [default]\nrules:\n  - id: "
                                  "no.json\n    match: {import: [json, ast]}\n";
    static const struct expected cases[] = {
        { no_json, "python", "import pickle",
          "tables with `pandas.read_csv(\"data.csv\")`; arrays" },
        { no_json, "python", "x = eval(input())",
          "Write the code itself, not a text that contains it; import modules with a statement "
          "such "
          "as `import math`" },
        { no_json, "python", "eval('__import__(\"os\").system(\"id\")')", "Do the work" },
        { "version: 1\nname: x\nextends: [baseline]\nlanguages: [python]\nrules:\n  - id: a\n    "
          "match: "
          "{import: requests}\n    hint: \"use `urllib.request.urlopen(url)`\"\n  - id: b\n    "
          "match: "
          "{import: urllib}\n",
          "python", "import requests", "remove what asks the network, from line 1 on" },
    };
    ASSERT_HINTS(cases);
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_policy *policy = load(no_json);
    struct cbx_decision decision;
    judge(policy, "python", "import pickle", &arena, &decision);
    assert_null(memmem(decision.findings[0].hint.p, decision.findings[0].hint.len, "json", 4));
    cbx_policy_free(policy);
}

static void are_the_same_in_a_session(void **state)
{
    (void)state;
    static const struct {
        const char *cell, *hint;
    } cases[] = {
        { "import os\nos.system('ls')", "instead of `os.system('ls')` write `os.listdir(\".\")`" },
        { "y = 2\nprint(\"a", "add `\"` at the end of line 2" },
        { "import pickle",
          "instead of `pickle` write `json`; instead of `wb` write `w`; instead of "
          "`rb` write `r`" },
    };
    struct cbx_policy *policy = load("default");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        CBX_AUTO_DONE(past) past;
        cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
        cbx_past_add_cell(&past, CBX_STR("import os\nx = 1"));
        struct cbx_analysis request = { .source = cbx_str_of(cases[i].cell),
                                        .language = CBX_STR("ipython"),
                                        .past = &past };
        struct cbx_decision decision;
        assert_int_equal(cbx_analyze(policy, &request, &arena, &decision, NULL), 0);
        assert_int_equal(decision.finding_count, 1);
        assert_true(cbx_str_is(decision.findings[0].hint, cases[i].hint));
    }
    cbx_policy_free(policy);
}

static void puts_the_hint_of_a_policys_author_first(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "version: 1\nname: x\nextends: [default]\nrules:\n  - {id: py.process, hint: \"Ask the "
          "ops team\"}\n",
          "python", "import os\nos.system('ls')",
          "Ask the ops team; instead of `os.system('ls')` write `os.listdir(\".\")`" },
        { "version: 1\nname: x\nextends: [baseline]\nlanguages: [python]\nrules:\n  - id: a\n    "
          "match: "
          "{import: pickle}\n    hint: \"Use our store\"\n",
          "python", "import pickle", "Use our store" },
    };
    ASSERT_HINTS(cases);
}

static void leaves_findings_that_only_warn_alone(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_policy *policy = load("default");
    struct cbx_decision decision;
    judge(policy, "python", "import requests\neval(x)", &arena, &decision);
    assert_int_equal(decision.findings[0].effect, CBX_EFFECT_WARN);
    assert_ptr_equal(decision.findings[0].hint.p, decision.findings[0].rule->hint.p);
    cbx_policy_free(policy);
}

static bool is_same(struct cbx_str a, struct cbx_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/* The language that the hint of a rule is written for: its first one. */
static struct cbx_str language_of(const struct cbx_rule *rule, const struct cbx_policy *policy)
{
    uint32_t languages = rule->languages & policy->languages;
    return cbx_str_of(cbx_language_name(languages != 0 ? (enum cbx_language)__builtin_ctz(languages)
                                                       : CBX_PYTHON));
}

/* Every clause of a preset's hint is allowed by the preset that has it; under another preset,
 * something is left of it. */
static void every_hint_of_a_preset_is_allowed_by_it(void **state)
{
    (void)state;
    size_t hints_seen = 0;
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    for (size_t p = 0; p < count; p++) {
        const char *name = presets[p].name;
        struct cbx_policy *policy = load(name);
        for (size_t i = 0; i < policy->rule_count; i++) {
            const struct cbx_rule *rule = &policy->rules[i];
            CBX_AUTO_DONE(arena) arena;
            cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
            struct cbx_analysis request = { .language = language_of(rule, policy) };
            struct cbx_facts facts = { .source = cbx_lang_find(request.language)->policy };
            struct cbx_hints hints = {
                .policy = policy, .request = &request, .facts = &facts, .arena = &arena
            };
            struct cbx_str allowed = cbx_hints_allowed(&hints, rule->hint);
            bool own = cbx_str_is(rule->origin, name);
            if ((own && !is_same(allowed, rule->hint)) ||
                (rule->hint.len > 0 && allowed.len == 0)) {
                fail_msg("%s, %.*s: of '%.*s' is left '%.*s'", name, CBX_STR_ARG(rule->id),
                         (int)rule->hint.len, rule->hint.p, (int)allowed.len,
                         allowed.p != NULL ? allowed.p : "");
            }
            hints_seen += rule->hint.len > 0;
        }
        cbx_policy_free(policy);
    }
    assert_true(hints_seen > 100);
}

static void every_rule_that_denies_has_a_message_and_a_hint(void **state)
{
    (void)state;
    struct cbx_policy *policy = load("default");
    for (size_t i = 0; i < policy->rule_count; i++) {
        if (policy->rules[i].message.len == 0 || policy->rules[i].hint.len == 0) {
            fail_msg("%.*s", CBX_STR_ARG(policy->rules[i].id));
        }
    }
    cbx_policy_free(policy);
}

static void every_example_of_the_table_is_allowed_by_default(void **state)
{
    (void)state;
    struct cbx_policy *policy = load("default");
    struct cbx_hint_row row;
    for (size_t i = 0; cbx_hints_row(i, &row); i++) {
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        struct cbx_decision decision;
        judge(policy, cbx_language_name(row.language), row.example, &arena, &decision);
        if (decision.verdict != CBX_ALLOW) {
            fail_msg("%s: %s", row.symbol, row.example);
        }
    }
    cbx_policy_free(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_commands_by_code),
        cmocka_unit_test(gives_the_hint_of_the_rule_for_other_commands),
        cmocka_unit_test(replaces_constant_code_and_paths_outside),
        cmocka_unit_test(names_nothing_that_the_policy_forbids),
        cmocka_unit_test(are_the_same_in_a_session),
        cmocka_unit_test(puts_the_hint_of_a_policys_author_first),
        cmocka_unit_test(leaves_findings_that_only_warn_alone),
        cmocka_unit_test(every_hint_of_a_preset_is_allowed_by_it),
        cmocka_unit_test(every_rule_that_denies_has_a_message_and_a_hint),
        cmocka_unit_test(every_example_of_the_table_is_allowed_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
