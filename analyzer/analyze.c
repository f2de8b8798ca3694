/* SPDX-License-Identifier: MIT
 * Source to decision: the stages in a row. */
#include "analyzer/analyze.h"

#include "analyzer/build.h"
#include "analyzer/facts/places.h"
#include "analyzer/hints/hints.h"
#include "analyzer/lang/python/notebook/notebook.h"
#include "analyzer/packages/install.h"
#include "analyzer/past/past.h"
#include "analyzer/past/program.h"
#include "analyzer/rules.h"
#include "analyzer/syntax/source.h"
#include "analyzer/syntax/syntax_error.h"
#include "analyzer/syntax/tree_memory.h"
#include "policies/packages.h"

/* The state of one analysis. */
struct stages {
    const struct cbx_policy *policy;
    const struct cbx_analysis *request;
    const struct cbx_lang *lang;
    struct cbx_arena *arena;
    struct cbx_source source;
    struct cbx_facts facts;
    struct cbx_syntax_error syntax; /* the one that is explained */
    struct cbx_finding *findings;   /* out->findings, to be filled */
    struct cbx_decision *out;
};

/* Hits to findings; the verdict is the strictest of all, including the findings beyond the cap. */
static int decide(struct stages *s, const struct cbx_hits *hits)
{
    const struct cbx_deciding deciding = { .policy = s->policy,
                                           .principal = s->request->principal,
                                           .now = s->request->now,
                                           .source = &s->source,
                                           .arena = s->arena };
    return cbx_decide(&deciding, hits, s->out, &s->findings);
}

/* A denial for the whole source by a built-in rule. */
static int deny_whole(struct stages *s, const struct cbx_rule *rule, struct cbx_str symbol)
{
    struct cbx_hit hit = { .rule = rule, .symbol = symbol, .start = 0, .end = 0 };
    int failed = decide(s, &(struct cbx_hits){ .items = &hit, .count = 1 });
    s->out->verdict = CBX_DENY; /* no exception and no mode allows this */
    return failed;
}

/* The program that the cell is a part of; it decides what the cell's lines expand. */
static const struct cbx_program *find_program(struct stages *s, const struct cbx_parsed *parsed,
                                              struct cbx_notebook *notebook, size_t *cell)
{
    *cell = s->request->cell;
    if (s->request->program == NULL) {
        return cbx_program_of_cell(parsed, s->lang, s->request->past, notebook,
                                   s->request->path.len > 0, cell);
    }
    const struct cbx_notebook *resolved = cbx_program_notebook(s->request->program, *cell);
    *notebook = resolved != NULL ? *resolved : *notebook;
    return s->request->program;
}

static bool is_syntax_fact(const struct stages *s, const struct cbx_fact *fact)
{
    return fact->kind == CBX_IS_SPECIAL && fact->special == CBX_FACT_SYNTAX && !fact->earlier &&
           fact->language == s->lang->policy;
}

/* True when the source itself has a syntax error, not code in a string of it. */
static bool has_syntax_error(const struct stages *s, const TSTree *tree)
{
    bool any = false, statement = false;
    /* the body of a cell such as %%time is code in code, but the source all the same */
    bool cell = cbx_lang_is_notebook(s->lang) && cbx_str_starts(s->source.text, CBX_STR("%%"));
    for (size_t i = 0; i < s->facts.count; i++) {
        const struct cbx_fact *fact = &s->facts.items[i];
        struct cbx_str code = cbx_str_sub(s->source.text, fact->start, fact->end);
        any |= is_syntax_fact(s, fact);
        statement |= is_syntax_fact(s, fact) && cbx_str_starts(code, CBX_STR("print "));
    }
    return any &&
           (statement || cell || (tree != NULL && ts_node_has_error(ts_tree_root_node(tree))));
}

/* One error that is explained takes the place of all that its grammar found: those behind the first
 * are mostly consequences of it. `layout`, `names`: the grammar found none, and check_layout or
 * check_names did. */
static void explain_syntax(struct stages *s, const TSTree *tree, bool layout, bool names,
                           int64_t deadline_ms)
{
    struct cbx_syntax_source source = { s->lang, s->source.text, s->policy->languages, deadline_ms,
                                        layout };
    if (s->request->no_hints || !(layout || names || has_syntax_error(s, tree)) ||
        !cbx_syntax_explain(&source, s->arena, &s->syntax)) {
        return;
    }
    size_t kept = 0;
    bool explained = false;
    for (size_t i = 0; i < s->facts.count; i++) {
        struct cbx_fact fact = s->facts.items[i];
        if (is_syntax_fact(s, &fact)) {
            fact.name = s->syntax.name;
            fact.start = s->syntax.start;
            fact.end = s->syntax.end;
            if (explained) {
                continue;
            }
            explained = true;
        }
        s->facts.items[kept++] = fact;
    }
    s->facts.count = kept;
}

/* The grammar of Python reads lines whose indentation CPython refuses. Such a source would fail
 * in its sandbox. A cell with notebook syntax is left to that. */
static bool check_layout(struct stages *s, const struct cbx_notebook *notebook, TSTree *tree)
{
    uint32_t start, end;
    const struct cbx_lang_code *code = s->lang->code;
    bool reads = tree != NULL && !ts_node_has_error(ts_tree_root_node(tree));
    bool wrong = code->misindents != NULL && reads && notebook->magic_count == 0 &&
                 code->misindents(s->source.text, &start, &end);
    if (wrong) {
        cbx_facts_add_special(&s->facts, CBX_FACT_SYNTAX, CBX_STR("wrong indentation"), start, end);
    }
    return wrong;
}

/* The grammars of JavaScript read a typographic quotation mark as a part of a name. Node.js refuses
 * such a source. */
static bool check_names(struct stages *s, TSTree *tree)
{
    uint32_t start, end;
    const struct cbx_lang_code *code = s->lang->code;
    bool reads = tree != NULL && !ts_node_has_error(ts_tree_root_node(tree));
    bool wrong =
        code->misnames != NULL && reads && code->misnames(tree, s->source.text, &start, &end);
    if (wrong) {
        cbx_facts_add_special(&s->facts, CBX_FACT_SYNTAX, CBX_STR("typographic character"), start,
                              end);
    }
    return wrong;
}

/* Source to tree and facts. *tree is the caller's. */
static int extract(struct stages *s, struct cbx_notebook *notebook, TSTree **tree)
{
    bool cell = cbx_lang_is_notebook(s->lang);
    size_t index = 0;
    if (!s->source.readable) {
        return 0;
    }
    if (cell && cbx_notebook_rewrite(s->source.text, s->arena, notebook) != 0) {
        return CBX_ETOOBIG;
    }
    const struct cbx_places places = { .items = { s->request->folder }, .count = 1 };
    struct cbx_parsed parsed = { .policy = s->policy,
                                 .arena = s->arena,
                                 .facts = &s->facts,
                                 .past = s->request->past,
                                 .headers = s->request->headers,
                                 .project = s->request->build != CBX_BUILD_NONE,
                                 .places = s->request->folder.len > 0 ? &places : NULL,
                                 .deadline_ms = cbx_parse_deadline(s->request->budget_ms) };
    const struct cbx_program *program =
        s->lang->code->between != NULL ? find_program(s, &parsed, notebook, &index) : NULL;
    parsed.magics = notebook->magics;
    parsed.magic_count = notebook->magic_count;
    cbx_parse_text(&parsed, s->lang, notebook->text, tree);
    bool layout = check_layout(s, notebook, *tree), names = check_names(s, *tree);
    explain_syntax(s, *tree, layout, names, parsed.deadline_ms);
    if (program != NULL) {
        cbx_program_facts(program, index, &s->facts);
        s->out->summary = cbx_program_summary(program);
    }
    cbx_packages_imports(s->policy, &s->facts);
    if (s->request->build != CBX_BUILD_NONE) {
        cbx_build_keep(&s->facts, s->request->build, s->request->downloads);
    }
    for (size_t i = 0; i < s->facts.count && notebook->magic_count > 0; i++) {
        s->out->runs_lines |=
            s->facts.items[i].kind == CBX_IS_CALL && s->facts.items[i].language == CBX_SHELL;
    }
    return 0;
}

/* The packages that a cell installs. */
static int list_installs(struct stages *s)
{
    size_t n = 0;
    struct cbx_str *installs = cbx_arena_array(s->arena, CBX_REQUIREMENTS_MAX, sizeof(*installs));
    if (installs == NULL) {
        return CBX_ETOOBIG;
    }
    for (size_t i = 0; i < s->facts.count && n < CBX_REQUIREMENTS_MAX; i++) {
        const struct cbx_fact *fact = &s->facts.items[i];
        if (fact->kind == CBX_IS_SPECIAL && fact->special == CBX_FACT_PACKAGE_REQUESTED &&
            !fact->earlier) {
            installs[n++] = fact->name;
        }
    }
    s->out->installs = installs;
    s->out->install_count = n;
    return 0;
}

static int judge_facts(struct stages *s, const struct cbx_notebook *notebook, TSTree *tree)
{
    struct cbx_hits hits = { 0 };
    struct cbx_evidence evidence = {
        .facts = &s->facts, .tree = tree, .text = notebook->text, .folders = s->request->folders
    };
    cbx_places_follow(&s->facts);
    int failed = cbx_rules_match(s->policy, &evidence, s->arena, &hits);
    if (failed) {
        return failed;
    }
    failed = decide(s, &hits);
    if (failed) {
        return failed;
    }
    return list_installs(s);
}

static int analyze_readable(struct stages *s)
{
    struct cbx_notebook notebook = { .text = s->source.text };
    TSTree *tree = NULL;
    int failed = extract(s, &notebook, &tree);
    if (!failed) {
        failed = cbx_notebook_finish(s->source.text, &notebook, s->arena, &s->out->text);
    }
    if (s->request->path.len > 0) {
        s->out->text = s->request->source;
    }
    if (!failed) {
        if (!cbx_str_equal(s->out->text, s->request->source)) { /* else it is known already */
            s->out->sha256 = cbx_sha256_of(s->out->text);
        }
        failed = judge_facts(s, &notebook, tree);
    }
    if (tree != NULL) {
        cbx_tree_delete(tree);
    }
    return failed;
}

static int deny_too_large(struct stages *s, struct cbx_err *err)
{
    struct cbx_note size =
        cbx_arena_note(s->arena, "%zu bytes, allowed are %lld", s->request->source.len,
                       (long long)s->policy->limits.source_bytes);
    if (deny_whole(s, &cbx_rule_too_large, size.shown) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    return 0;
}

static int run_stages(struct stages *s)
{
    const struct cbx_analysis *request = s->request;
    int failed =
        cbx_source_read(request->source, s->lang->code->cookie, s->arena, &s->facts, &s->source);
    if (failed) {
        return failed;
    }
    /* the policy's languages are the languages of sandboxes */
    if (request->build == CBX_BUILD_NONE && (s->policy->languages >> s->lang->policy & 1) == 0) {
        return deny_whole(s, &cbx_rule_language, request->language);
    }
    const struct cbx_entry file = { .kind = CBX_ENTRY_FILE,
                                    .language = s->out->language,
                                    .name = request->path,
                                    .text = request->source };
    if (request->past != NULL &&
        (!cbx_past_is_complete(request->past) ||
         (request->path.len > 0 && !cbx_past_fits(request->past, &file)))) {
        return deny_whole(s, &cbx_rule_past, CBX_STR("earlier cells"));
    }
    cbx_tree_memory_begin();
    failed = analyze_readable(s);
    cbx_tree_memory_end();
    return failed;
}

int cbx_analyze(const struct cbx_policy *policy, const struct cbx_analysis *request,
                struct cbx_arena *arena, struct cbx_decision *out, struct cbx_err *err)
{
    const struct cbx_lang *lang = cbx_lang_find(request->language);
    if (lang == NULL) {
        return cbx_fail(err, CBX_EINVAL, "language is '%.*s', allowed are %s",
                        CBX_STR_SHOWN(request->language), cbx_lang_names());
    }
    *out = (struct cbx_decision){ .language = cbx_str_of(lang->name),
                                  .text = request->source, /* until it is read */
                                  .sha256 = cbx_sha256_of(request->source) };
    struct stages s = {
        .policy = policy,
        .request = request,
        .lang = lang,
        .arena = arena,
        .facts = { .arena = arena, .language = lang->policy, .source = lang->policy },
        .out = out
    };
    if (request->source.len > (size_t)policy->limits.source_bytes) {
        return deny_too_large(&s, err);
    }
    int failed = run_stages(&s);
    if (failed || arena->exhausted) {
        static const struct cbx_finding too_complex = { .rule = &cbx_rule_unreadable,
                                                        .effect = CBX_EFFECT_DENY,
                                                        .symbol = { "too-complex", 11 },
                                                        .hint = { "Split it into smaller pieces.",
                                                                  29 },
                                                        .span = { 0, 0, 1, 1, 1, 1 } };
        out->verdict = CBX_DENY; /* some of the source was not judged */
        out->findings = &too_complex;
        out->finding_count = 1;
    } else if (out->verdict != CBX_ALLOW && !request->no_hints) {
        struct cbx_hints hints = { policy,        request,       &s.facts, s.source.text,
                                   s.syntax.name, s.syntax.hint, arena };
        cbx_hints_choose(&hints, s.findings, out->finding_count);
    }
    return 0;
}
