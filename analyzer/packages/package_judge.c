/* SPDX-License-Identifier: MIT
 * Judges packages before they are installed. */
#include "analyzer/packages/package_judge.h"

#include "analyzer/lang/lang.h"
#include "analyzer/packages/package_check.h"
#include "analyzer/rules.h"
#include "analyzer/syntax/source.h"
#include "policies/versions/pinned.h"
#include "policies/versions/requirement.h"
#include "policies/versions/version.h"

#include <string.h>

/* The fact that stands for a problem of a package; without a fact no policy can allow it. */
static const struct {
    bool by_rules;
    enum cbx_fact_id fact;
} package_facts[] = {
    [CBX_RESOLVED_BLOCKED] = { true, CBX_FACT_PACKAGE_BLOCKED },
    [CBX_RESOLVED_NOT_LISTED] = { true, CBX_FACT_PACKAGE_NOT_LISTED },
    [CBX_RESOLVED_BELOW] = { true, CBX_FACT_PACKAGE_BELOW_MINIMUM },
    [CBX_RESOLVED_LOOK_ALIKE] = { true, CBX_FACT_PACKAGE_LOOK_ALIKE },
    [CBX_RESOLVED_DIRECT] = { true, CBX_FACT_PACKAGE_SOURCE },
    [CBX_RESOLVED_SOURCE] = { false },
    [CBX_RESOLVED_YANKED] = { false },
    [CBX_RESOLVED_NO_HASH] = { false },
};

enum { PACKAGE_FINDINGS_MAX = 500, PACKAGE_DETAIL_MAX = 400 };

/* Packages that are being judged. `own` are matches of the built-in rule. */
struct judging {
    const struct cbx_policy *policy;
    const struct cbx_package_request *request;
    struct cbx_arena *arena;
    struct cbx_source source;
    struct cbx_facts facts;
    struct cbx_decision *out;
    struct cbx_hit own[PACKAGE_FINDINGS_MAX];
    size_t own_count;
    bool truncated;
};

static void refuse_package(struct judging *j, const struct cbx_hit *hit)
{
    if (j->own_count == PACKAGE_FINDINGS_MAX) {
        j->truncated = true;
        return;
    }
    j->own[j->own_count] = *hit;
    j->own[j->own_count++].rule = &cbx_rule_package;
}

/* Blanks occur only within a range of npm: ">=2 <3", "^1 || ^2", "1.x - 2.x". */
static bool is_plain_npm(struct cbx_str line)
{
    struct cbx_spec spec;
    cbx_spec_read(CBX_SPEC_NPM, line, &spec);
    bool range = cbx_npm_matches(spec.version, CBX_STR("0.0.0")) != CBX_MATCH_MALFORMED;
    bool plain = line.len > 0 && line.p[0] != '-' && line.len <= CBX_REQUIREMENT_BYTES_MAX &&
                 line.p[line.len - 1] != ' ';
    for (size_t i = 0; i < line.len && plain; i++) {
        bool blank = line.p[i] == ' ' && range && i > spec.name.len + 1;
        plain =
            blank || (line.p[i] > ' ' && line.p[i] < 127 && strchr("'\"`$\\;", line.p[i]) == NULL);
    }
    return plain && !spec.malformed && spec.origin == CBX_FROM_INDEX && spec.name.len > 0;
}

/* Checks the form that callers may request. The managers read more: options, URLs, paths,
 * several in a line. */
static bool is_plain_spec(enum cbx_spec_kind kind, struct cbx_str line)
{
    struct cbx_requirement requirement;
    if (kind == CBX_SPEC_NPM) {
        return is_plain_npm(line);
    }
    return line.len <= CBX_REQUIREMENT_BYTES_MAX && cbx_requirement_parse(line, &requirement) &&
           cbx_requirement_is_plain(&requirement);
}

/* The same, or a requirement of a lock file. */
static bool is_allowed_spec(enum cbx_spec_kind kind, struct cbx_str line)
{
    struct cbx_pinned pinned;
    return is_plain_spec(kind, line) || (kind == CBX_SPEC_PIP && cbx_pinned_parse(line, &pinned));
}

/* Policies have no rules about hashes: the finding has the place of the requirement alone. */
static void cut_hashes(enum cbx_spec_kind kind, struct cbx_word *word)
{
    struct cbx_pinned pinned;
    if (kind == CBX_SPEC_PIP && cbx_pinned_parse(word->text, &pinned)) {
        word->text = pinned.requirement;
        word->end = word->start + (uint32_t)pinned.requirement.len;
    }
}

static void read_specs(struct judging *j)
{
    struct cbx_parsed parsed = { .policy = j->policy, .arena = j->arena, .facts = &j->facts };
    for (uint32_t i = 0; i < j->source.line_count; i++) {
        uint32_t start = j->source.lines[i], end = start;
        while (end < j->source.text.len && j->source.text.p[end] != '\n') {
            end++;
        }
        struct cbx_word word = { cbx_str_sub(j->source.text, start, end), true, start, end };
        if (start == j->source.text.len) {
            break; /* behind the last line feed */
        }
        cut_hashes(j->request->kind, &word);
        if (is_allowed_spec(j->request->kind, cbx_str_sub(j->source.text, start, end))) {
            cbx_packages_check(&parsed, j->request->kind, &word);
        } else {
            refuse_package(
                j, &(struct cbx_hit){
                       .symbol = word.text,
                       .detail = CBX_STR("allowed is a name with optional extras and versions"),
                       .start = start,
                       .end = end });
        }
    }
}

static void read_problem(struct judging *j, const struct cbx_resolved_finding *finding)
{
    CBX_AUTO_DONE(buf) text;
    uint32_t start = j->source.lines[finding->package], end = start;
    while (end < j->source.text.len && j->source.text.p[end] != '\n') {
        end++;
    }
    cbx_buf_init(&text, 64 * 1024);
    cbx_resolved_add_finding(j->request->resolved, finding, &text);
    struct cbx_hit hit = { .symbol = cbx_str_sub(j->source.text, start, end),
                           .detail =
                               cbx_arena_note(j->arena, "%.*s", PACKAGE_DETAIL_MAX, text.p).shown,
                           .start = start,
                           .end = end };
    if (!package_facts[finding->problem].by_rules) {
        refuse_package(j, &hit);
        return;
    }
    struct cbx_fact *fact = cbx_facts_add(&j->facts, CBX_IS_SPECIAL, hit.symbol, start, end);
    if (fact != NULL) {
        fact->special = package_facts[finding->problem].fact;
        fact->detail = hit.detail;
    }
}

static void read_resolved(struct judging *j)
{
    struct cbx_resolved_finding findings[PACKAGE_FINDINGS_MAX];
    size_t count =
        cbx_resolved_judge(j->request->resolved, j->policy, findings, PACKAGE_FINDINGS_MAX);
    j->truncated = count > PACKAGE_FINDINGS_MAX;
    for (size_t i = 0; i < count && i < PACKAGE_FINDINGS_MAX; i++) {
        read_problem(j, &findings[i]);
    }
}

/* Writes a line for each package, in which its findings have their places. */
static int list_resolved(const struct cbx_resolved *resolved, struct cbx_arena *arena,
                         struct cbx_str *out)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_REPORT_BYTES_MAX);
    for (size_t i = 0; i < resolved->count; i++) {
        cbx_buf_add(&text, resolved->items[i].name);
        cbx_buf_add_cstr(&text, resolved->kind == CBX_SPEC_NPM ? "@" : "==");
        cbx_buf_add(&text, resolved->items[i].version);
        cbx_buf_add_char(&text, '\n');
    }
    *out = cbx_arena_copy(arena, cbx_buf_str(&text));
    return text.overflow || out->p == NULL ? CBX_ETOOBIG : 0;
}

static int set_text(const struct cbx_resolved *resolved, struct cbx_arena *arena,
                    struct cbx_str *out)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_REPORT_BYTES_MAX);
    cbx_resolved_write(resolved, &text);
    *out = cbx_arena_copy(arena, cbx_buf_str(&text));
    return text.overflow || out->p == NULL ? CBX_ETOOBIG : 0;
}

/* A fact that no rule of the policy decides is denied, except for names that only resemble
 * others. */
static void refuse_unmatched(struct judging *j, const struct cbx_hits *hits)
{
    for (size_t i = 0; i < j->facts.count; i++) {
        const struct cbx_fact *fact = &j->facts.items[i];
        bool matched = fact->special == CBX_FACT_PACKAGE_LOOK_ALIKE ||
                       fact->special == CBX_FACT_PACKAGE_REQUESTED;
        for (size_t k = 0; k < hits->count && !matched; k++) {
            matched = hits->items[k].start == fact->start &&
                      (hits->items[k].rule->match.facts >> fact->special & 1) != 0;
        }
        if (!matched) {
            refuse_package(j, &(struct cbx_hit){ .symbol = fact->name,
                                                 .detail = fact->detail,
                                                 .start = fact->start,
                                                 .end = fact->end });
        }
    }
}

static int decide_packages(struct judging *j)
{
    struct cbx_evidence evidence = { .facts = &j->facts, .text = j->source.text };
    struct cbx_hits hits = { 0 };
    int failed = cbx_rules_match(j->policy, &evidence, j->arena, &hits);
    if (failed) {
        return failed;
    }
    refuse_unmatched(j, &hits);
    struct cbx_hit *all = cbx_arena_array(j->arena, hits.count + j->own_count + 1, sizeof(*all));
    if (all == NULL) {
        return CBX_ETOOBIG;
    }
    for (size_t i = 0; i < hits.count + j->own_count; i++) {
        all[i] = i < hits.count ? hits.items[i] : j->own[i - hits.count];
    }
    const struct cbx_deciding deciding = { .policy = j->policy,
                                           .principal = j->request->principal,
                                           .now = j->request->now,
                                           .source = &j->source,
                                           .arena = j->arena };
    const struct cbx_hits together = { all, hits.count + j->own_count,
                                       hits.truncated || j->truncated };
    struct cbx_finding *findings;
    failed = cbx_decide(&deciding, &together, j->out, &findings);
    if (j->own_count > 0 || j->truncated || !j->source.readable) {
        j->out->verdict = CBX_DENY; /* no exception and no mode allows this */
    }
    return failed;
}

/* Returns the language whose programs load the manager's packages. */
static struct cbx_str language_of(enum cbx_spec_kind kind)
{
    return kind == CBX_SPEC_NPM ? CBX_STR("javascript") : CBX_STR("python");
}

int cbx_packages_judge(const struct cbx_policy *policy, const struct cbx_package_request *request,
                       struct cbx_arena *arena, struct cbx_decision *out, struct cbx_err *err)
{
    const struct cbx_lang *lang = cbx_lang_find(language_of(request->kind));
    struct judging *j = cbx_arena_array(arena, 1, sizeof(*j));
    struct cbx_str text = request->specs;
    *out = (struct cbx_decision){ .language = language_of(request->kind), .text = text };
    int failed = j == NULL ? CBX_ETOOBIG : 0;
    if (!failed && request->resolved != NULL) {
        failed = list_resolved(request->resolved, arena, &text);
        if (!failed) {
            failed = set_text(request->resolved, arena, &out->text);
        }
    }
    if (failed) {
        return cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    *j = (struct judging){
        .policy = policy,
        .request = request,
        .arena = arena,
        .facts = { .arena = arena, .language = lang->policy, .source = lang->policy },
        .out = out
    };
    failed = cbx_source_read(text, false, arena, &j->facts, &j->source);
    out->sha256 = cbx_sha256_of(out->text);
    if (!failed && request->resolved != NULL) {
        read_resolved(j);
    } else if (!failed) {
        read_specs(j);
    }
    if (policy->network == CBX_NETWORK_NONE && j->source.line_count > 0) {
        refuse_package(
            j, &(struct cbx_hit){
                   .symbol = CBX_STR("network: none"),
                   .detail = CBX_STR(
                       "the policy gives installs no network, 'network: packages-only' does") });
    }
    if (!failed) {
        failed = decide_packages(j);
    }
    if (failed || arena->exhausted) {
        return cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    return 0;
}
