/* SPDX-License-Identifier: MIT
 * The judgement of a cell after the summaries of the earlier cells, compared with its judgement
 * after their whole text: every case (tests/cases) is cut into cells at its top-level lines and
 * judged cell by cell. The first judgement is never laxer; it is stricter if an earlier cell used a
 * name that this cell imports again, which only the text shows. */
#include "analyzer/analyze.h"
#include "analyzer/lang/summary.h"
#include "analyzer/past/past.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { SOURCE_MAX = 256 * 1024, CELLS_MAX = 64 };

static struct cbx_policy *policies[2];

static int set_up(void **state)
{
    (void)state;
    struct cbx_err err;
    return cbx_policy_load("default", &policies[0], &err) != 0 ||
           cbx_policy_load("strict", &policies[1], &err) != 0;
}

static int tear_down(void **state)
{
    (void)state;
    cbx_policy_free(policies[0]);
    cbx_policy_free(policies[1]);
    return 0;
}

struct judged {
    enum cbx_verdict verdict;
    char rules[512]; /* of the findings, once each */
};

static void judge(const struct cbx_policy *policy, const char *language, struct cbx_str cell,
                  struct cbx_past *past, bool summarises, struct judged *out)
{
    CBX_AUTO_DONE(arena) arena;
    struct cbx_decision d;
    struct cbx_err err;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_entry entry = { .kind = CBX_ENTRY_CELL,
                               .language = cbx_str_of(language),
                               .text = cell };
    struct cbx_analysis request = { .source = cell, .language = entry.language, .past = past };
    assert_int_equal(cbx_analyze(policy, &request, &arena, &d, &err), 0);
    *out = (struct judged){ .verdict = d.verdict };
    for (size_t i = 0; i < d.finding_count; i++) {
        char rule[80];
        snprintf(rule, sizeof(rule), "%.*s ", CBX_STR_ARG(d.findings[i].rule->id));
        size_t used = strlen(out->rules);
        if (strstr(out->rules, rule) == NULL) {
            snprintf(out->rules + used, sizeof(out->rules) - used, "%s", rule);
        }
    }
    if (d.verdict == CBX_ALLOW) {
        cbx_past_add_cell_as(past, &entry, summarises ? d.summary : CBX_STR(""), &arena);
    }
}

/* Returns true for a line that seems to begin a statement. */
static bool begins_cell(struct cbx_str line)
{
    static const char *const goes_on[] = { "else", "elif", "except", "finally", "catch", "//",
                                           "#",    "done", "fi",     "esac",    "then",  "do" };
    if (line.len == 0 || strchr(" \t)]}'\"`.,:;*+-/&|=<>?", line.p[0]) != NULL) {
        return false;
    }
    for (size_t i = 0; i < sizeof(goes_on) / sizeof(goes_on[0]); i++) {
        if (cbx_str_starts(line, cbx_str_of(goes_on[i]))) {
            return false;
        }
    }
    return true;
}

static size_t cut(struct cbx_str text, struct cbx_str cells[CELLS_MAX])
{
    size_t count = 0, start = 0;
    bool decorated = false;
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.p + at, '\n', text.len - at);
        size_t next = end != NULL ? (size_t)(end - text.p) + 1 : text.len;
        struct cbx_str line = cbx_str_sub(text, at, next);
        if (at > start && !decorated && begins_cell(line) && count + 1 < CELLS_MAX) {
            cells[count++] = cbx_str_sub(text, start, at);
            start = at;
        }
        decorated = line.len > 0 && line.p[0] == '@';
        at = next;
    }
    cells[count++] = cbx_str_sub(text, start, text.len);
    return count;
}

struct differences {
    int laxer, stricter;
};

/* Up to the first cell that is judged otherwise. */
static void compare(const struct cbx_policy *policy, const char *language, const char *name,
                    struct cbx_str text, struct differences *out)
{
    struct cbx_str cells[CELLS_MAX];
    size_t count = cut(text, cells);
    CBX_AUTO_DONE(past) whole;
    CBX_AUTO_DONE(past) summarised;
    cbx_past_begin(&whole, &(struct cbx_sha256){ 0 });
    cbx_past_begin(&summarised, &(struct cbx_sha256){ 0 });
    for (size_t i = 0; i < count; i++) {
        struct judged a, b;
        judge(policy, language, cells[i], &whole, false, &a);
        judge(policy, language, cells[i], &summarised, true, &b);
        if (a.verdict != b.verdict) {
            printf("%s, cell %zu: %s by its text (%s), %s by its summary (%s)\n", name, i,
                   a.verdict == CBX_ALLOW ? "allowed" : "denied", a.rules,
                   b.verdict == CBX_ALLOW ? "allowed" : "denied", b.rules);
            out->laxer += b.verdict == CBX_ALLOW;
            out->stricter += b.verdict != CBX_ALLOW;
            return;
        }
    }
}

/* The cells of a denied text are not all allowed one after the other. */
static void compare_whole(const struct cbx_policy *policy, const char *language, const char *name,
                          struct cbx_str text, struct differences *out)
{
    struct cbx_str cells[CELLS_MAX];
    size_t count = cut(text, cells);
    struct judged whole, cell = { .verdict = CBX_ALLOW };
    CBX_AUTO_DONE(past) none;
    CBX_AUTO_DONE(past) past;
    cbx_past_begin(&none, &(struct cbx_sha256){ 0 });
    cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
    judge(policy, language, text, &none, false, &whole);
    for (size_t i = 0; i < count && cell.verdict == CBX_ALLOW; i++) {
        judge(policy, language, cells[i], &past, true, &cell);
    }
    if (cell.verdict > whole.verdict) {
        printf("%s: denied as a whole (%s), allowed cell by cell\n", name, whole.rules);
        out->laxer++;
    }
    if (cell.verdict < whole.verdict) {
        printf("%s: allowed as a whole, a cell is denied (%s)\n", name, cell.rules);
    }
}

static void compare_folder(const char *folder, const char *language, struct differences *out)
{
    static char bytes[SOURCE_MAX];
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        CBX_AUTO_FILE file = e->d_name[0] != '.' ? fopen(path, "r") : NULL;
        size_t len = file != NULL ? fread(bytes, 1, sizeof(bytes), file) : 0;
        for (int p = 0; len > 0 && len < sizeof(bytes) && p < 2; p++) {
            struct cbx_str text = { .p = bytes, .len = len };
            compare(policies[p], language, path, text, out);
            if (strcmp(language, "shell") == 0) {
                compare_whole(policies[p], language, path, text, out);
            }
        }
    }
    closedir(dir);
}

enum { STRICTER_MAX = 12 }; /* of about 3,000 cases */

static void python_is_judged_alike(void **state)
{
    (void)state;
    struct differences differ = { 0 };
    compare_folder("tests/cases/python", "ipython", &differ);
    compare_folder("tests/cases/ipython", "ipython", &differ);
    assert_int_equal(differ.laxer, 0);
    assert_in_range(differ.stricter, 0, STRICTER_MAX);
}

static void javascript_is_judged_alike(void **state)
{
    (void)state;
    struct differences differ = { 0 };
    compare_folder("tests/cases/javascript", "javascript", &differ);
    compare_folder("tests/cases/typescript", "typescript", &differ);
    assert_int_equal(differ.laxer, 0);
    assert_in_range(differ.stricter, 0, STRICTER_MAX);
}

static void shell_is_judged_alike(void **state)
{
    (void)state;
    struct differences differ = { 0 };
    compare_folder("tests/cases/shell", "shell", &differ);
    assert_int_equal(differ.laxer, 0);
    assert_in_range(differ.stricter, 0, STRICTER_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_is_judged_alike),
        cmocka_unit_test(javascript_is_judged_alike),
        cmocka_unit_test(shell_is_judged_alike),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
