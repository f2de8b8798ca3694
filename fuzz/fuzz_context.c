/* SPDX-License-Identifier: MIT
 * Cells in a row: what stands before a "\n#%%\n" is cells that ran, the last part is judged. What
 * is denied by itself must be denied behind them. */
#include "analyzer/analyze.h"
#include "analyzer/context.h"
#include "analyzer/program.h"

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
                                     struct cbx_str context)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = cell,
                                    .language = CBX_STR("ipython"),
                                    .context = context };
    return judge(policy, &request, &arena);
}

/* Each cell as a part of a notebook: never laxer than alone. */
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
        if (judge(policy, &request, &arena) >
            judge_behind(policy, cells[i], (struct cbx_str){ 0 })) {
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
    CBX_AUTO_DONE(buf) context;
    cbx_buf_init(&context, 2 * CBX_CONTEXT_MAX_BYTES);
    struct cbx_str rest = { .p = (const char *)data, .len = size }, cells[CELLS_MAX];
    size_t count = 0;
    for (const char *end; rest.len > 0 && (end = memmem(rest.p, rest.len, "\n#%%\n", 5)) != NULL;) {
        struct cbx_str cell = cbx_str_sub(rest, 0, (size_t)(end - rest.p));
        cbx_context_add(&context, cell);
        cells[count] = cell;
        count += count + 1 < CELLS_MAX;
        rest = cbx_str_sub(rest, (size_t)(end - rest.p) + 5, rest.len);
    }
    cells[count++] = rest;
    enum cbx_verdict alone = judge_behind(policy, rest, (struct cbx_str){ 0 });
    if (judge_behind(policy, rest, cbx_buf_str(&context)) > alone) {
        abort();
    }
    judge_notebook(policy, cells, count);
    judge_behind(
        policy, rest,
        (struct cbx_str){ .p = (const char *)data, .len = size }); /* a context that is none */
    return 0;
}
