/* SPDX-License-Identifier: MIT
 * Shared by the targets for languages: every input gives a decision, its places lie in the source,
 * and both reports can be written. */
#ifndef CBX_FUZZ_JUDGE_H
#define CBX_FUZZ_JUDGE_H

#include "analyzer/analyze.h"
#include "analyzer/report/report.h"

static inline void check_places(const struct cbx_decision *decision, size_t source_bytes)
{
    for (size_t i = 0; i < decision->finding_count; i++) {
        const struct cbx_span *s = &decision->findings[i].span;
        if (s->start_byte > s->end_byte || s->end_byte > source_bytes + 1 || s->line == 0 ||
            s->column == 0 || s->end_line < s->line ||
            (s->end_line == s->line && s->end_column < s->column)) {
            abort();
        }
    }
}

static inline int judge_as(const char *language, const uint8_t *data, size_t size)
{
    static struct cbx_policy *policy;
    struct cbx_err err = { 0 };
    if (policy == NULL && cbx_policy_load("default", &policy, &err) != 0) {
        abort();
    }
    CBX_AUTO_DONE(arena) arena;
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_JSON json = NULL;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    cbx_buf_init(&text, 64 << 20);
    struct cbx_analysis request = { .source = { (const char *)data, size },
                                    .language = cbx_str_of(language) };
    struct cbx_decision decision;
    if (cbx_analyze(policy, &request, &arena, &decision, &err) != 0 ||
        decision.verdict > CBX_ALLOW ||
        (decision.verdict != CBX_ALLOW && decision.finding_count == 0 && !decision.truncated)) {
        abort();
    }
    check_places(&decision, request.source.len);
    cbx_report_text(&decision, CBX_STR("fuzz"), request.source, false, &text);
    if (cbx_decision_json(&decision, &json, &err) != 0) {
        abort();
    }
    return 0;
}

/* The whole target for a language. */
#define CBX_FUZZ_LANGUAGE(name)                                                                    \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                                  \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                   \
    {                                                                                              \
        return judge_as(name, data, size);                                                         \
    }                                                                                              \
    static_assert(sizeof(name) > 1, "a language has a name")

#endif
