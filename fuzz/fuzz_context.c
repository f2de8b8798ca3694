/* SPDX-License-Identifier: MIT
 * Cells in a row: what stands before a "\n#%%\n" is cells that ran, the last part is judged. What
 * is denied by itself must be denied behind them. */
#include "analyzer/analyze.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum cbx_verdict judge(const struct cbx_policy *policy, struct cbx_str cell,
                              struct cbx_str context)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = cell,
                                    .language = CBX_STR("ipython"),
                                    .context = context };
    struct cbx_decision decision;
    struct cbx_err err;
    if (cbx_analyze(policy, &request, &arena, &decision, &err) != 0) {
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cbx_policy *policy;
    struct cbx_err err;
    if (policy == NULL && cbx_policy_load("default", &policy, &err) != 0) {
        return 0;
    }
    CBX_AUTO_DONE(buf) context;
    cbx_buf_init(&context, 2 * CBX_CONTEXT_MAX_BYTES);
    struct cbx_str rest = { .p = (const char *)data, .len = size };
    for (const char *end; rest.len > 0 && (end = memmem(rest.p, rest.len, "\n#%%\n", 5)) != NULL;) {
        cbx_context_add(&context, cbx_str_sub(rest, 0, (size_t)(end - rest.p)));
        rest = cbx_str_sub(rest, (size_t)(end - rest.p) + 5, rest.len);
    }
    enum cbx_verdict alone = judge(policy, rest, (struct cbx_str){ 0 });
    if (judge(policy, rest, cbx_buf_str(&context)) > alone) {
        abort();
    }
    judge(policy, rest,
          (struct cbx_str){ .p = (const char *)data, .len = size }); /* a context that is none */
    return 0;
}
