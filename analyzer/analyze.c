/* SPDX-License-Identifier: MIT
 * Source to decision: the stages in a row. */
#include "analyzer/analyze.h"

#include "analyzer/notebook.h"
#include "analyzer/packages/install.h"
#include "analyzer/program.h"
#include "analyzer/rules.h"
#include "analyzer/source.h"
#include "analyzer/tree_memory.h"

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

/* After exceptions and log-only. */
static enum cbx_effect effect_of(const struct cbx_policy *policy, const struct cbx_rule *rule,
                                 const struct cbx_analysis *request, struct cbx_str *exception)
{
    const struct cbx_exception *e =
        cbx_policy_exception(policy, rule->id, request->principal, request->now);
    if (e != NULL && rule->effect < CBX_EFFECT_WARN) {
        *exception = e->reason;
        return CBX_EFFECT_WARN;
    }
    return policy->log_only && rule->effect < CBX_EFFECT_WARN ? CBX_EFFECT_WARN : rule->effect;
}

static enum cbx_verdict verdict_of(enum cbx_effect effect)
{
    return effect == CBX_EFFECT_DENY ? CBX_DENY : effect == CBX_EFFECT_ASK ? CBX_ASK : CBX_ALLOW;
}

/* Hits to findings; the verdict is the strictest of them all, also of those beyond the cap. */
static int decide(const struct cbx_policy *policy, const struct cbx_analysis *request,
                  const struct cbx_source *source, const struct cbx_hit *hits, size_t count,
                  struct cbx_arena *arena, struct cbx_decision *out)
{
    size_t shown = count > CBX_FINDINGS_MAX ? CBX_FINDINGS_MAX : count, n = 0;
    struct cbx_finding *findings = cbx_arena_array(arena, shown + 1, sizeof(*findings));
    if (findings == NULL) {
        return CBX_ETOOBIG;
    }
    enum cbx_verdict verdict = CBX_ALLOW;
    for (size_t i = 0; i < count; i++) {
        struct cbx_finding f = { .rule = hits[i].rule,
                                 .symbol = hits[i].symbol,
                                 .detail = hits[i].detail };
        f.effect = effect_of(policy, f.rule, request, &f.exception);
        verdict = verdict_of(f.effect) < verdict ? verdict_of(f.effect) : verdict;
        if (f.effect != CBX_EFFECT_ALLOW && n < shown) {
            f.span = make_span(source, hits[i].start, hits[i].end);
            findings[n++] = f;
        }
    }
    out->verdict = verdict;
    out->findings = findings;
    out->finding_count = n;
    out->truncated |= count > CBX_FINDINGS_MAX;
    return 0;
}

/* A denial for the whole source by a built-in rule. */
static int deny_whole(const struct cbx_policy *policy, const struct cbx_analysis *request,
                      const struct cbx_source *source, const struct cbx_rule *rule,
                      struct cbx_str symbol, struct cbx_arena *arena, struct cbx_decision *out)
{
    struct cbx_hit hit = { .rule = rule, .symbol = symbol, .start = 0, .end = 0 };
    int failed = decide(policy, request, source, &hit, 1, arena, out);
    out->verdict = CBX_DENY; /* no exception and no mode lets this pass */
    return failed;
}

static int analyze_readable(const struct cbx_policy *policy, const struct cbx_analysis *request,
                            const struct cbx_lang *lang, const struct cbx_source *source,
                            struct cbx_facts *facts, struct cbx_arena *arena,
                            struct cbx_decision *out)
{
    struct cbx_notebook notebook = { .text = source->text };
    TSTree *tree = NULL;
    if (source->readable && cbx_lang_is_notebook(lang) &&
        cbx_notebook_rewrite(source->text, arena, &notebook) != 0) {
        return CBX_ETOOBIG;
    }
    if (source->readable) {
        struct cbx_parsed parsed = { .policy = policy,
                                     .arena = arena,
                                     .facts = facts,
                                     .deadline_ms = cbx_parse_deadline(request->budget_ms),
                                     .magics = notebook.magics,
                                     .magic_count = notebook.magic_count };
        cbx_parse_text(&parsed, lang, notebook.text, &tree);
        if (cbx_lang_is_notebook(lang) && request->program != NULL) {
            cbx_program_facts(request->program, request->cell, facts);
        } else if (cbx_lang_is_notebook(lang)) {
            cbx_program_add_cell(&parsed, lang, request->context, &notebook);
        }
        cbx_packages_imports(policy, facts);
    }
    out->text = notebook.text;
    out->sha256 = cbx_sha256_of(out->text);
    const struct cbx_hit *hits;
    size_t count = 0;
    int failed =
        cbx_rules_match(policy, facts, tree, out->text, arena, &hits, &count, &out->truncated);
    bool lost = out->truncated; /* hits that were not kept may have been denials */
    failed = failed ? failed : decide(policy, request, source, hits, count, arena, out);
    out->verdict = lost ? CBX_DENY : out->verdict;
    if (tree != NULL) {
        cbx_tree_delete(tree);
    }
    return failed;
}

int cbx_analyze(const struct cbx_policy *policy, const struct cbx_analysis *request,
                struct cbx_arena *arena, struct cbx_decision *out, struct cbx_err *err)
{
    const struct cbx_lang *lang = cbx_lang_find(request->language);
    if (lang == NULL) {
        return cbx_fail(err, CBX_EINVAL, "language is '%.*s', allowed are %s",
                        CBX_STR_ARG(request->language), cbx_lang_names());
    }
    *out = (struct cbx_decision){ .language = cbx_str_of(lang->name),
                                  .text = request->source }; /* until it is read */
    out->sha256 = cbx_sha256_of(request->source);
    struct cbx_source source = { 0 };
    struct cbx_facts facts = { .arena = arena, .language = lang->policy, .source = lang->policy };
    if (request->source.len > (size_t)policy->limits.source_bytes) {
        struct cbx_str size =
            cbx_arena_printf(arena, "%zu bytes, allowed are %lld", request->source.len,
                             (long long)policy->limits.source_bytes);
        return deny_whole(policy, request, &source, &cbx_rule_too_large, size, arena, out) == 0
                   ? 0
                   : cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    int failed = cbx_source_read(request->source, lang->code->cookie, arena, &facts, &source);
    if (!failed && (policy->languages >> lang->policy & 1) == 0) {
        failed =
            deny_whole(policy, request, &source, &cbx_rule_language, request->language, arena, out);
    } else if (!failed) {
        cbx_tree_memory_begin();
        failed = analyze_readable(policy, request, lang, &source, &facts, arena, out);
        cbx_tree_memory_end();
    }
    if (failed || arena->exhausted) {
        static const struct cbx_finding too_complex = { .rule = &cbx_rule_unreadable,
                                                        .effect = CBX_EFFECT_DENY,
                                                        .symbol = { "too-complex", 11 },
                                                        .span = { 0, 0, 1, 1, 1, 1 } };
        out->verdict = CBX_DENY; /* what did not fit was not judged */
        out->findings = &too_complex;
        out->finding_count = 1;
    }
    return 0;
}
