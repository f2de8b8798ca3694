/* SPDX-License-Identifier: MIT
 * Makes a decision of the rules that matched. */
#include "analyzer/decide.h"

#include "analyzer/analyze.h"
#include "analyzer/rules.h"
#include "analyzer/syntax/source.h"
#include "policies/guard/guard.h"

static struct cbx_span make_span(const struct cbx_source *source, uint32_t start, uint32_t end)
{
    struct cbx_span span = { .start_byte = start, .end_byte = end > start ? end : start };
    if (source->line_count == 0) {
        return (struct cbx_span){ .line = 1, .column = 1, .end_line = 1, .end_column = 1 };
    }
    cbx_source_place(source, start, &span.line, &span.column);
    cbx_source_place(source, span.end_byte, &span.end_line, &span.end_column);
    return span;
}

/* The last answer about a rule that the guard enforces: most findings of such a rule are alike. */
struct guarded {
    const struct cbx_rule *rule;
    uint32_t languages;
    bool covered;
};

static bool is_covered(const struct cbx_deciding *d, const struct cbx_hit *hit,
                       struct guarded *last)
{
    if (last->rule != hit->rule || last->languages != hit->languages) {
        *last = (struct guarded){ .rule = hit->rule, .languages = hit->languages };
        last->covered =
            cbx_guard_covers(d->policy, hit->rule, hit->languages, d->principal, d->now);
    }
    return last->covered;
}

/* Returns the effect of a rule after exceptions, and where the guard enforces it. */
static enum cbx_effect effect_of(const struct cbx_deciding *d, const struct cbx_hit *hit,
                                 struct guarded *last, struct cbx_str *exception)
{
    const struct cbx_rule *rule = hit->rule;
    if (rule->guarded > 0 && rule->effect < CBX_EFFECT_WARN && is_covered(d, hit, last)) {
        return CBX_EFFECT_WARN;
    }
    const struct cbx_exception *e = cbx_policy_exception(d->policy, rule->id, d->principal, d->now);
    if (e != NULL && rule->effect < CBX_EFFECT_WARN) {
        *exception = e->reason;
        return CBX_EFFECT_WARN;
    }
    return rule->effect;
}

/* Applies log-only too, under which no finding is stronger than a warning. */
static enum cbx_effect relaxed_of(const struct cbx_deciding *d, enum cbx_effect effect)
{
    return d->policy->log_only && effect < CBX_EFFECT_WARN ? CBX_EFFECT_WARN : effect;
}

static enum cbx_verdict verdict_of(enum cbx_effect effect)
{
    return effect == CBX_EFFECT_DENY ? CBX_DENY : effect == CBX_EFFECT_ASK ? CBX_ASK : CBX_ALLOW;
}

int cbx_decide(const struct cbx_deciding *d, const struct cbx_hits *hits, struct cbx_decision *out,
               struct cbx_finding **out_findings)
{
    size_t shown = hits->count > CBX_FINDINGS_MAX ? CBX_FINDINGS_MAX : hits->count, n = 0;
    struct cbx_finding *findings = cbx_arena_array(d->arena, shown + 1, sizeof(*findings));
    if (findings == NULL) {
        return CBX_ETOOBIG;
    }
    enum cbx_verdict verdict = CBX_ALLOW;
    struct guarded last = { 0 };
    for (size_t i = 0; i < hits->count; i++) {
        const struct cbx_hit *hit = &hits->items[i];
        struct cbx_finding f = {
            .rule = hit->rule, .symbol = hit->symbol, .detail = hit->detail, .hint = hit->rule->hint
        };
        f.enforced = effect_of(d, hit, &last, &f.exception);
        if (hit->earlier && hit->rule->guarded > 0 && f.enforced >= CBX_EFFECT_WARN) {
            continue;
        }
        f.effect = relaxed_of(d, f.enforced);
        verdict = verdict_of(f.effect) < verdict ? verdict_of(f.effect) : verdict;
        if (f.effect != CBX_EFFECT_ALLOW && n < shown) {
            f.span = make_span(d->source, hit->start, hit->end);
            findings[n++] = f;
        }
    }
    /* matches that were not kept may have been denials */
    out->verdict = hits->truncated ? CBX_DENY : verdict;
    *out_findings = findings;
    out->findings = findings;
    out->finding_count = n;
    out->truncated = hits->truncated || hits->count > CBX_FINDINGS_MAX;
    return 0;
}
