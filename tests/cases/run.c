/* SPDX-License-Identifier: MIT
 * Judges every case under every preset. A case is a source file; its last lines say what the preset
 * `default` denies in it: "# expect LINE RULE" (or "// expect ..."), none = it is allowed. In the
 * folder of bypasses "known-miss" marks what is not found yet; it is counted, and a miss that is
 * found is an error too, so that the list stays honest. All verdicts stand in one table
 * (decisions.tsv), so that a change of a policy shows in its diff. The table has the verdict of `default` on
 * a program for each row of the analyzer's tables too (rows.h), so that no row goes, or changes its
 * meaning, unseen. */
#include "analyzer/analyze.h"
#include "analyzer/lang/lang.h"
#include "policies/base/buf.h"
#include "policies/load/keys.h"
#include "tests/cases/rows.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXPECTED_MAX = 64, SOURCE_MAX = 4 * 1024 * 1024 };

static const char *const presets[] = { "default",        "strict",     "data-analysis", "notebook",
                                       "web-automation", "permissive", "codebox-ai" };
enum { PRESETS = sizeof(presets) / sizeof(presets[0]) };

struct expected {
    unsigned line;
    char rule[64];
    bool seen;
};

struct runner {
    struct cbx_policy *policies[PRESETS];
    struct cbx_buf table;
    size_t cases, misses, failures;
};

static void fail(struct runner *r, const char *path, const char *text, unsigned line,
                 const char *rule)
{
    r->failures++;
    printf("FAILED %s: %s %u %s\n", path, text, line, rule);
}

static size_t read_expected(struct cbx_str text, struct expected *out, bool *known_miss)
{
    size_t n = 0;
    *known_miss = memmem(text.p, text.len, " known-miss", 11) != NULL;
    for (const char *at = text.p;
         n < EXPECTED_MAX &&
         (at = memmem(at, text.len - (size_t)(at - text.p), " expect ", 8)) != NULL;) {
        at += 8;
        n += sscanf(at, "%u %63s", &out[n].line, out[n].rule) == 2;
    }
    return n;
}

static void check_default(struct runner *r, const char *path, struct cbx_str text,
                          const struct cbx_decision *d)
{
    struct expected expected[EXPECTED_MAX] = { 0 };
    bool known_miss;
    size_t n = read_expected(text, expected, &known_miss);
    for (size_t i = 0; i < d->finding_count; i++) {
        const struct cbx_finding *f = &d->findings[i];
        bool wanted = f->effect > CBX_EFFECT_ASK;
        for (size_t k = 0; k < n; k++) {
            bool same =
                expected[k].line == f->span.line && cbx_str_is(f->rule->id, expected[k].rule);
            expected[k].seen |= same;
            wanted |= same;
        }
        if (!wanted) {
            char rule[64];
            snprintf(rule, sizeof(rule), "%.*s", CBX_STR_ARG(f->rule->id));
            fail(r, path, "denied, which is not expected, in line", f->span.line, rule);
        }
    }
    bool all = true;
    for (size_t k = 0; k < n; k++) {
        all &= expected[k].seen;
        if (!expected[k].seen && !known_miss) {
            fail(r, path, "not found: line", expected[k].line, expected[k].rule);
        }
    }
    r->misses += known_miss;
    if (known_miss && (all || n == 0)) {
        fail(r, path, "is no miss any more: take its mark away,", 0, "and be glad");
    }
}

static void add_rules(struct cbx_buf *out, const struct cbx_decision *d)
{
    for (size_t i = 0; i < d->finding_count; i++) {
        bool again = false;
        for (size_t k = 0; k < i; k++) {
            again |= d->findings[k].rule == d->findings[i].rule;
        }
        if (!again) {
            cbx_buf_printf(out, "%s%.*s", i > 0 ? " " : "", CBX_STR_ARG(d->findings[i].rule->id));
        }
    }
}

static int read_file(const char *path, struct cbx_buf *out)
{
    FILE *file = fopen(path, "rb");
    char *to = cbx_buf_reserve(out, SOURCE_MAX);
    if (file == NULL || to == NULL) {
        return CBX_EIO;
    }
    out->len = fread(to, 1, SOURCE_MAX, file);
    out->p[out->len] = '\0';
    return fclose(file) == 0 ? 0 : CBX_EIO;
}

/* Every program in JavaScript is one in TypeScript, and means the same. */
static void check_typescript(struct runner *r, const char *path, struct cbx_str text,
                             const struct cbx_decision *d)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = text, .language = CBX_STR("typescript") };
    struct cbx_decision other;
    struct cbx_err err = { 0 };
    if (cbx_analyze(r->policies[0], &request, &arena, &other, &err) != 0) {
        fail(r, path, err.text, 0, "");
        return;
    }
    bool same = other.finding_count == d->finding_count;
    for (size_t i = 0; same && i < d->finding_count; i++) {
        same = other.findings[i].rule == d->findings[i].rule &&
               other.findings[i].span.start_byte == d->findings[i].span.start_byte;
    }
    if (!same) {
        fail(r, path, "as TypeScript it is judged otherwise", 0, "");
    }
}

static void check_case(struct runner *r, const char *path)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, SOURCE_MAX + 1);
    const struct cbx_lang *lang = cbx_lang_of_file(path);
    if (lang == NULL || read_file(path, &text) != 0) {
        return;
    }
    r->cases++;
    for (size_t p = 0; p < PRESETS; p++) {
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        struct cbx_analysis request = { .source = cbx_buf_str(&text),
                                        .language = cbx_str_of(lang->name) };
        struct cbx_decision decision;
        struct cbx_err err = { 0 };
        if (cbx_analyze(r->policies[p], &request, &arena, &decision, &err) != 0) {
            fail(r, path, err.text, 0, "");
            return;
        }
        cbx_buf_printf(&r->table, "%s\t%s\t%s\t", path, presets[p],
                       cbx_verdict_name(decision.verdict));
        add_rules(&r->table, &decision);
        cbx_buf_add_char(&r->table, '\n');
        if (p == 0) {
            check_default(r, path, cbx_buf_str(&text), &decision);
            if (strcmp(lang->name, "javascript") == 0) {
                check_typescript(r, path, cbx_buf_str(&text), &decision);
            }
        }
    }
}

/* --- files ------------------------------------------------------------------------------------ */

static int compare_names(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void check_folder(struct runner *r, char *path)
{
    char *const roots[] = { path, NULL };
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, compare_names);
    for (FTSENT *entry; fts != NULL && (entry = fts_read(fts)) != NULL;) {
        if (entry->fts_info == FTS_F && strcmp(entry->fts_name, "run.c") != 0 &&
            strcmp(entry->fts_name, "rows.h") != 0) {
            check_case(r, entry->fts_path);
        }
    }
    if (fts != NULL) {
        fts_close(fts);
    }
}

static int compare_table(const struct runner *r, const char *path)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, SOURCE_MAX + 1);
    if (read_file(path, &text) != 0 || !cbx_str_equal(cbx_buf_str(&text), cbx_buf_str(&r->table))) {
        printf("FAILED %s: the decisions are others now; 'make decisions' writes them, look at the "
               "diff\n",
               path);
        return 1;
    }
    return 0;
}

static int write_table(const struct runner *r, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(r->table.p, 1, r->table.len, file) != r->table.len ||
        fclose(file) != 0) {
        printf("FAILED %s: %s\n", path, strerror(errno));
        return 1;
    }
    return 0;
}

/* --- rows of the analyzer's tables --------------------------------------------------------------- */

static void judge_row(struct runner *r, const char *language, struct cbx_str source,
                      struct cbx_str label, struct cbx_str note)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = source, .language = cbx_str_of(language) };
    struct cbx_decision decision;
    struct cbx_err err = { 0 };
    if (cbx_analyze(r->policies[0], &request, &arena, &decision, &err) != 0) {
        fail(r, language, err.text, 0, "");
        return;
    }
    cbx_buf_printf(&r->table, "%s:%.*s\t%.*s\t%s\t", language, CBX_STR_ARG(label),
                   CBX_STR_ARG(note), cbx_verdict_name(decision.verdict));
    add_rules(&r->table, &decision);
    cbx_buf_add_char(&r->table, '\n');
}

static void check_sinks(struct runner *r)
{
    for (size_t i = 0; i < sizeof(rows_sinks) / sizeof(rows_sinks[0]); i++) {
        const struct rows_sinks *sinks = &rows_sinks[i];
        struct cbx_str name;
        for (size_t n = 0; cbx_sinks_name(sinks->language, n, &name); n++) {
            CBX_AUTO_DONE(buf) source;
            CBX_AUTO_DONE(buf) note;
            cbx_buf_init(&source, 4096);
            cbx_buf_init(&note, 4096);
            rows_write_sink(&source, &note, sinks, name);
            judge_row(r, sinks->word, cbx_buf_str(&source), name, cbx_buf_str(&note));
        }
    }
}

static void check_tables(struct runner *r)
{
    for (size_t i = 0; i < sizeof(rows_tables) / sizeof(rows_tables[0]); i++) {
        const struct rows_table *table = &rows_tables[i];
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, SOURCE_MAX + 1);
        if (read_file(table->path, &text) != 0) {
            fail(r, table->path, "cannot be read", 0, "");
            continue;
        }
        struct cbx_str rest = cbx_buf_str(&text), row;
        while (rows_next(&rest, &row)) {
            CBX_AUTO_DONE(buf) source;
            cbx_buf_init(&source, 4096);
            rows_write(&source, table, row);
            judge_row(r, table->language, cbx_buf_str(&source), row, CBX_STR(""));
        }
    }
}

int main(int argc, char **argv)
{
    bool write = argc > 1 && strcmp(argv[1], "--write") == 0;
    bool source = argc > 1 && strcmp(argv[1], "--source") == 0;
    if (argc - write - source < 4) {
        fprintf(stderr, "usage: run [--write | --source] FOLDER ... TABLE\n"
                        "--source: presets are read from their YAML, not as they were compiled\n");
        return 2;
    }
    static struct runner r;
    cbx_buf_init(&r.table, SOURCE_MAX);
    for (size_t p = 0; p < PRESETS; p++) {
        struct cbx_err err = { 0 };
        int (*load)(const char *, struct cbx_policy **, struct cbx_err *) =
            source ? cbx_policy_load_source : cbx_policy_load;
        if (load(presets[p], &r.policies[p], &err) != 0) {
            printf("FAILED %s: %s\n", presets[p], err.text);
            return 1;
        }
    }
    for (int i = 1 + (write || source); i < argc - 1; i++) {
        check_folder(&r, argv[i]);
    }
    check_sinks(&r);
    check_tables(&r);
    int status = write ? write_table(&r, argv[argc - 1]) : compare_table(&r, argv[argc - 1]);
    printf("cases: %zu, %zu known misses, %zu failures\n", r.cases, r.misses, r.failures);
    for (size_t p = 0; p < PRESETS; p++) {
        cbx_policy_free(r.policies[p]);
    }
    cbx_buf_done(&r.table);
    return status != 0 || r.failures > 0;
}
