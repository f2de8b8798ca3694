/* SPDX-License-Identifier: MIT
 * A jailed worker gives the decision that codebox-lint gives, for every program of
 * tests/cases and for programs with very many findings: the worker's seccomp filter refuses no call
 * that judging makes. */
#include "analyzer/analyze.h"
#include "analyzer/lang/lang.h"
#include "analyzer/report/report.h"
#include "tests/unit/gateway/worker_rig.h"

#include <fts.h>

enum { SOURCE_MAX = 4 * 1024 * 1024 };

/* The decision of codebox-lint: the same call, in this process, which has no filter. */
static json_t *decide_here(const struct cbx_policy *policy, const char *language,
                           struct cbx_str source)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis analysis = { .source = source,
                                     .language = cbx_str_of(language),
                                     .principal = CBX_STR("ann"),
                                     .now = cbx_time_ms() / 1000 };
    struct cbx_decision decision = { 0 };
    struct cbx_err err = { 0 };
    json_t *json = NULL;
    if (cbx_analyze(policy, &analysis, &arena, &decision, &err) != 0 ||
        cbx_decision_json(&decision, &json, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return json;
}

static void assert_same_decision(struct worker_rig *rig, const char *name, const char *language,
                                 struct cbx_str source)
{
    struct cbx_subject subject = { .action = CBX_ACTION_RUN,
                                   .language = cbx_str_of(language),
                                   .principal = CBX_STR("ann"),
                                   .origin = CBX_STR("test") };
    CBX_AUTO_DONE(judgement) j = { 0 };
    struct cbx_err err = { 0 };
    if (cbx_judge_decide(rig->judge, rig->policies.items[0], &subject, source, &j, &err) != 0) {
        fail_msg("%s: %s", name, err.text);
    }
    CBX_AUTO_JSON here = decide_here(rig->policies.items[0], language, source);
    if (!j.analysed || !json_equal(j.decision, here)) {
        CBX_AUTO_MEM char *worker = json_dumps(j.decision, JSON_SORT_KEYS);
        CBX_AUTO_MEM char *linter = json_dumps(here, JSON_SORT_KEYS);
        fail_msg("%s:\nworker %.2000s\nlinter %.2000s", name, worker, linter);
    }
}

static void read_file(const char *path, struct cbx_buf *out)
{
    cbx_buf_init(out, SOURCE_MAX);
    CBX_AUTO_FILE file = fopen(path, "re");
    char *to = cbx_buf_reserve(out, SOURCE_MAX - 1);
    assert_non_null(file);
    assert_non_null(to);
    out->len = fread(to, 1, SOURCE_MAX - 1, file);
}

static void decides_every_program_of_the_cases_as_codebox_lint_does(void **state)
{
    (void)state;
    struct worker_rig rig;
    worker_rig_start(&rig, 1, 60000);
    char *roots[] = { (char *)(uintptr_t) "tests/cases", (char *)(uintptr_t) "tests/bypass", NULL };
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    assert_non_null(walk);
    size_t programs = 0;
    for (FTSENT *entry; (entry = fts_read(walk)) != NULL;) {
        const struct cbx_lang *lang =
            entry->fts_info == FTS_F ? cbx_lang_of_file(entry->fts_accpath) : NULL;
        if (lang != NULL) {
            CBX_AUTO_DONE(buf) source;
            read_file(entry->fts_accpath, &source);
            assert_same_decision(&rig, entry->fts_accpath, lang->name, cbx_buf_str(&source));
            programs++;
        }
    }
    fts_close(walk);
    assert_true(programs > 1000);
    worker_rig_stop(&rig);
}

/* Lines with a finding under the policy `default`. `#` stands for a number. */
static const struct repeated {
    const char *language, *head, *line, *end;
} repeated[] = {
    { "python", "import os\n", "os.remove('a#')\n", "" },
    { "python", "import os\n", "os.system('a#')\n", "" },
    { "python", "", "x# = eval(input())\n", "" },
    { "ipython", "", "!curl https://example.org/#\n", "" },
    { "ipython", "", "%pip install paramiko==#\n", "" },
    { "javascript", "const c = require('child_process');\n", "c.exec('a#');\n", "" },
    { "typescript", "import * as c from 'child_process';\n", "c.exec('a#');\n", "" },
    { "shell", "", "curl https://example.org/#\n", "" },
    { "c", "#include <stdlib.h>\nint main(void)\n{\n", "system(\"a#\");\n", "}\n" },
};

static void write_program(const struct repeated *r, int lines, struct cbx_buf *out)
{
    const char *number = strchr(r->line, '#');
    cbx_buf_add_cstr(out, r->head);
    for (int i = 0; i < lines; i++) {
        cbx_buf_add_bytes(out, r->line, (size_t)(number - r->line));
        cbx_buf_printf(out, "%d%s", i, number + 1);
    }
    cbx_buf_add_cstr(out, r->end);
}

static void decides_programs_of_one_to_five_thousand_findings_as_codebox_lint_does(void **state)
{
    (void)state;
    static const int counts[] = { 1, 2, 3, 7, 20, 40, 63, 64, 65, 129, 500, 999, 1000, 1001, 5000 };
    struct worker_rig rig;
    worker_rig_start(&rig, 1, 60000);
    for (size_t p = 0; p < sizeof(repeated) / sizeof(repeated[0]); p++) {
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            char name[64];
            CBX_AUTO_DONE(buf) source;
            cbx_buf_init(&source, SOURCE_MAX);
            write_program(&repeated[p], counts[c], &source);
            snprintf(name, sizeof(name), "%s, %d lines of '%.20s'", repeated[p].language, counts[c],
                     repeated[p].line);
            assert_same_decision(&rig, name, repeated[p].language, cbx_buf_str(&source));
        }
    }
    worker_rig_stop(&rig);
}

static const json_t *find(const json_t *findings, const char *symbol)
{
    size_t i;
    const json_t *f;
    json_array_foreach(findings, i, f)
    {
        if (strstr(json_string_value(json_object_get(f, "symbol")), symbol) != NULL) {
            return f;
        }
    }
    return NULL;
}

#define SET                                                                                        \
    "paramiko 3.4.0 "                                                                              \
    "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"

/* The front gets `would` and the effect that holds; the log gets the effect that would hold. For
 * packages as well as code. */
static void what_log_only_lets_through_is_told_and_sealed_as_what_it_would_be(void **state)
{
    (void)state;
    struct worker_rig rig;
    worker_rig_start_as(&rig, 1, 60000, true);
    CBX_AUTO_DONE(asked) asked = cbx_asked_nothing;
    cbx_asked_set_packages(&asked, CBX_STR(SET));
    const struct cbx_subject subject = { .action = CBX_ACTION_RUN,
                                         .language = CBX_STR("python"),
                                         .principal = CBX_STR("ann"),
                                         .origin = CBX_STR("test"),
                                         .asked = &asked };
    CBX_AUTO_DONE(judgement) j = { 0 };
    CBX_AUTO_JSON sealed = NULL;
    struct cbx_err err = { 0 };
    if (cbx_judge_decide(rig.judge, rig.policies.items[0], &subject, CBX_STR("import subprocess\n"),
                         &j, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(j.verdict, CBX_ALLOW);
    assert_string_equal(json_string_value(json_object_get(j.decision, "mode")), "log-only");
    assert_int_equal(cbx_json_parse(cbx_buf_str(&j.sealed), CBX_SEAL_MAX_BYTES, &sealed, &err), 0);
    static const char *const symbols[] = { "subprocess", "paramiko" };
    for (size_t i = 0; i < 2; i++) {
        const json_t *told = find(json_object_get(j.decision, "findings"), symbols[i]),
                     *kept = find(json_object_get(sealed, "findings"), symbols[i]);
        assert_string_equal(json_string_value(json_object_get(told, "effect")), "warn");
        assert_string_equal(json_string_value(json_object_get(told, "would")), "deny");
        assert_string_equal(json_string_value(json_object_get(kept, "effect")), "deny");
        assert_int_equal(json_integer_value(json_object_get(kept, "line")), i == 0);
    }
    worker_rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_log_only_lets_through_is_told_and_sealed_as_what_it_would_be),
        cmocka_unit_test(decides_every_program_of_the_cases_as_codebox_lint_does),
        cmocka_unit_test(decides_programs_of_one_to_five_thousand_findings_as_codebox_lint_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
