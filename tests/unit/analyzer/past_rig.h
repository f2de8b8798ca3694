/* SPDX-License-Identifier: MIT
 * Judges cells behind the cells of a session. */
#ifndef CBX_TESTS_UNIT_ANALYZER_PAST_RIG_H
#define CBX_TESTS_UNIT_ANALYZER_PAST_RIG_H

#include "analyzer/analyze.h"
#include "analyzer/past/past.h"
#include "policies/base/buf.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct cbx_policy *policy;

/* Texts that the shell evaluates are denied here, as in policies whose guard refuses no programs:
 * these tests check the findings. */
static inline int set_up(void **state)
{
    (void)state;
    struct cbx_err err;
    return cbx_policy_parse(CBX_STR("version: 1\nname: evaluating\nextends: [default]\nrules:\n"
                                    "  - {id: sh.evaluated, guarded: never}\n"
                                    "  - {id: sh.option, guarded: never}\n"),
                            "evaluating", &policy, &err);
}

static inline int tear_down(void **state)
{
    (void)state;
    cbx_policy_free(policy);
    return 0;
}

/* "RULE LINE:COLUMN" of the first denial, or "". */
static inline void first_denial(const struct cbx_decision *d, char out[128])
{
    out[0] = '\0';
    for (size_t f = 0; f < d->finding_count && out[0] == '\0'; f++) {
        if (d->findings[f].effect == CBX_EFFECT_DENY) {
            snprintf(out, 128, "%.*s %u:%u", CBX_STR_ARG(d->findings[f].rule->id),
                     d->findings[f].span.line, d->findings[f].span.column);
        }
    }
}

static inline void judge(const struct cbx_analysis *request, struct cbx_arena *arena, char out[128])
{
    struct cbx_decision d;
    struct cbx_err err;
    assert_int_equal(cbx_analyze(policy, request, arena, &d, &err), 0);
    first_denial(&d, out);
}

/* Adds a cell as a worker does: with its summary. */
static inline void add_judged(struct cbx_past *past, const char *language, const char *cell)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_entry entry = { .kind = CBX_ENTRY_CELL,
                               .language = cbx_str_of(language),
                               .text = cbx_str_of(cell) };
    struct cbx_analysis request = { .source = entry.text,
                                    .language = entry.language,
                                    .past = past };
    struct cbx_decision d;
    struct cbx_err err;
    assert_int_equal(cbx_analyze(policy, &request, &arena, &d, &err), 0);
    cbx_past_add_cell_as(past, &entry, d.summary, &arena);
}

/* A part of a session: a file if it has a path, else a cell. */
struct part {
    const char *path, *text;
};

#endif
