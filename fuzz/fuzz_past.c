/* SPDX-License-Identifier: MIT
 * A session: "\n#%%\n" separates cells, the last one is judged. A cell that is denied alone must be
 * denied after the others. */
#include "analyzer/analyze.h"
#include "analyzer/past/past.h"
#include "analyzer/past/program.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum cbx_verdict judge(const struct cbx_policy *policy, const struct cbx_analysis *request,
                              struct cbx_arena *arena)
{
    struct cbx_decision decision;
    struct cbx_err err;
    if (cbx_analyze(policy, request, arena, &decision, &err) != 0) {
        abort();
    }
    for (size_t i = 0; i < decision.finding_count; i++) {
        if (decision.findings[i].span.end_byte < decision.findings[i].span.start_byte ||
            decision.findings[i].span.line == 0) {
            abort();
        }
    }
    return decision.verdict;
}

static enum cbx_verdict judge_behind(const struct cbx_policy *policy, struct cbx_str cell,
                                     const struct cbx_past *past)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = cell, .language = CBX_STR("ipython"), .past = past };
    return judge(policy, &request, &arena);
}

/* Judges each cell as a part of a notebook: never laxer than alone. */
static void judge_notebook(const struct cbx_policy *policy, const struct cbx_str *cells,
                           size_t count)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    const struct cbx_program *program;
    if (cbx_program_read(policy, cells, count, 0, &arena, &program) != 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct cbx_analysis request = {
            .source = cells[i], .language = CBX_STR("ipython"), .program = program, .cell = i
        };
        if (judge(policy, &request, &arena) > judge_behind(policy, cells[i], NULL)) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { CELLS_MAX = 64 };
    static struct cbx_policy *policy;
    struct cbx_err err;
    if (policy == NULL && cbx_policy_load("default", &policy, &err) != 0) {
        return 0;
    }
    CBX_AUTO_DONE(past) past;
    cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
    struct cbx_str rest = { .p = (const char *)data, .len = size }, cells[CELLS_MAX];
    size_t count = 0;
    for (const char *end; rest.len > 0 && (end = memmem(rest.p, rest.len, "\n#%%\n", 5)) != NULL;) {
        struct cbx_str cell = cbx_str_sub(rest, 0, (size_t)(end - rest.p));
        cbx_past_add_cell(&past, cell);
        cells[count] = cell;
        count += count + 1 < CELLS_MAX;
        rest = cbx_str_sub(rest, (size_t)(end - rest.p) + 5, rest.len);
    }
    cells[count++] = rest;
    enum cbx_verdict alone = judge_behind(policy, rest, NULL);
    if (judge_behind(policy, rest, &past) > alone) {
        abort();
    }
    judge_notebook(policy, cells, count);
    CBX_AUTO_DONE(past) other = { 0 }; /* bytes that are none, mostly */
    cbx_past_read((struct cbx_str){ .p = (const char *)data, .len = size }, &other, NULL);
    judge_behind(policy, rest, &other);
    return 0;
}
