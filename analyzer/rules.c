/* SPDX-License-Identifier: MIT
 * The matching of facts against rules. Names without a glob are found through a hash table, so that
 * the cost of a fact does not grow with the policy; globs are few and tried in turn. */
#include "analyzer/rules.h"

#include "analyzer/analyze.h"
#include "analyzer/lang.h"

#include <stdlib.h>

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_bash(void);

#define BUILT_IN(rule_id, text, advice)                                                            \
    {                                                                                              \
        .id = { rule_id, sizeof(rule_id) - 1 }, .languages = 7, .effect = CBX_EFFECT_DENY,         \
        .severity = CBX_HIGH, .message = { text, sizeof(text) - 1 },                               \
        .hint = { advice, sizeof(advice) - 1 }, .origin = {                                        \
            "codebox",                                                                             \
            7                                                                                      \
        }                                                                                          \
    }
const struct cbx_rule cbx_rule_language =
    BUILT_IN("source.language", "The policy does not let this language run.",
             "Use one of the policy's languages.");
const struct cbx_rule cbx_rule_too_large =
    BUILT_IN("source.too-large", "The source is larger than the policy's limit.",
             "Split it into smaller pieces.");
const struct cbx_rule cbx_rule_unreadable = BUILT_IN(
    "source.unreadable", "The source cannot be read for certain, so nobody can say what it does.",
    "Send well-formed code in plain UTF-8.");

/* Facts that deny even when no rule speaks of them. */
static const uint64_t always = 1ull << CBX_FACT_SYNTAX | 1ull << CBX_FACT_ENCODING |
                               1ull << CBX_FACT_BIDI | 1ull << CBX_FACT_TOO_COMPLEX;

enum list { LIST_IMPORT, LIST_CALL, LIST_REFERENCE, LIST_ATTRIBUTE, LIST_LITERAL, LISTS };

struct pattern {
    struct cbx_str text;
    const struct cbx_rule *rule;
    const struct cbx_call *call;
    enum list list;
    bool excludes; /* began with '!' */
    struct pattern *next;
};

struct matcher {
    const struct cbx_policy *policy;
    enum cbx_language source;
    struct cbx_arena *arena;
    struct pattern *exact[512];
    struct pattern *globs[LISTS];
    struct cbx_hit *hits;
    size_t count, size;
    bool truncated;
};

static size_t hash(struct cbx_str text)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < text.len; i++) {
        h = (h ^ (unsigned char)text.p[i]) * 16777619u;
    }
    return h % 512;
}

static bool is_glob(struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] == '*' || text.p[i] == '?' || text.p[i] == '[' || text.p[i] == '\\') {
            return true;
        }
    }
    return false;
}

static void add_pattern(struct matcher *m, enum list list, struct cbx_str text,
                        const struct cbx_rule *rule, const struct cbx_call *call)
{
    struct pattern *p = cbx_arena_alloc(m->arena, sizeof(*p));
    if (p == NULL) {
        return;
    }
    bool excludes = text.len > 1 && text.p[0] == '!';
    text = excludes ? cbx_str_sub(text, 1, text.len) : text;
    *p = (struct pattern){
        .text = text, .rule = rule, .call = call, .list = list, .excludes = excludes
    };
    struct pattern **where = is_glob(text) ? &m->globs[list] : &m->exact[hash(text)];
    p->next = *where;
    *where = p;
}

static void add_strings(struct matcher *m, enum list list, const struct cbx_strs *strings,
                        const struct cbx_rule *rule)
{
    for (size_t i = 0; i < strings->count; i++) {
        add_pattern(m, list, strings->items[i], rule, NULL);
    }
}

static void index_policy(struct matcher *m)
{
    for (size_t r = 0; r < m->policy->rule_count; r++) {
        const struct cbx_rule *rule = &m->policy->rules[r];
        add_strings(m, LIST_IMPORT, &rule->match.import, rule);
        add_strings(m, LIST_REFERENCE, &rule->match.reference, rule);
        add_strings(m, LIST_ATTRIBUTE, &rule->match.attribute, rule);
        add_strings(m, LIST_LITERAL, &rule->match.literal, rule);
        for (size_t c = 0; c < rule->match.call_count; c++) {
            add_pattern(m, LIST_CALL, rule->match.call[c].name, rule, &rule->match.call[c]);
        }
    }
}

/* --- conditions on arguments ------------------------------------------------------------------ */

static bool any_glob(const struct cbx_strs *globs, struct cbx_str value, bool path)
{
    for (size_t i = 0; i < globs->count; i++) {
        if (path ? cbx_str_glob_path(globs->items[i], value)
                 : cbx_str_glob(globs->items[i], value)) {
            return true;
        }
    }
    return false;
}

/* A path as the sandbox sees it: absolute, in /workspace when relative, without "." and "..". */
static struct cbx_str resolve(struct cbx_arena *arena, struct cbx_str path)
{
    char *out = cbx_arena_alloc(arena, path.len + 16);
    size_t n = 0;
    if (out == NULL || path.len > 4096) {
        return path;
    }
    if (path.len == 0 || path.p[0] != '/') {
        memcpy(out, "/workspace", 10);
        n = 10;
    }
    for (size_t at = 0; at < path.len;) {
        size_t end = at;
        while (end < path.len && path.p[end] != '/') {
            end++;
        }
        struct cbx_str part = cbx_str_sub(path, at, end);
        if (cbx_str_is(part, "..")) {
            while (n > 0 && out[--n] != '/') {
            }
        } else if (part.len > 0 && !cbx_str_is(part, ".")) {
            out[n++] = '/';
            memcpy(out + n, part.p, part.len);
            n += part.len;
        }
        at = end + 1;
    }
    if (n == 0) {
        out[n++] = '/';
    }
    return (struct cbx_str){ .p = out, .len = n };
}

static const struct cbx_arg *find_argument(const struct cbx_fact *fact,
                                           const struct cbx_strs *names)
{
    for (uint32_t a = 0; a < fact->arg_count; a++) {
        const struct cbx_arg *arg = &fact->args[a];
        for (size_t n = 0; n < names->count; n++) {
            struct cbx_str name = names->items[n];
            bool position = name.len > 0 && name.p[0] >= '0' && name.p[0] <= '9';
            if (position
                    ? arg->keyword.len == 0 && arg->position == (uint32_t)strtoul(name.p, NULL, 10)
                    : cbx_str_equal(arg->keyword, name)) {
                return arg;
            }
        }
    }
    return NULL;
}

static bool condition_holds(struct matcher *m, const struct cbx_fact *fact,
                            const struct cbx_where *w)
{
    const struct cbx_arg *arg = find_argument(fact, &w->arg);
    if (arg == NULL && fact->spread) {
        return w->unknown_holds; /* it may be among *args */
    }
    if ((w->presence == CBX_PRESENT && arg == NULL) || (w->presence == CBX_ABSENT && arg != NULL)) {
        return false;
    }
    if (arg == NULL) {
        return w->not_matches.count > 0 || w->presence == CBX_ABSENT;
    }
    if ((w->constant == CBX_PRESENT && !arg->constant) ||
        (w->constant == CBX_ABSENT && arg->constant)) {
        return false;
    }
    bool tests = w->matches.count > 0 || w->not_matches.count > 0 || w->outside.count > 0 ||
                 w->inside.count > 0;
    if (!arg->known) {
        return !tests || w->unknown_holds;
    }
    if ((w->matches.count > 0 && !any_glob(&w->matches, arg->value, false)) ||
        (w->not_matches.count > 0 && any_glob(&w->not_matches, arg->value, false))) {
        return false;
    }
    if ((w->outside.count > 0 || w->inside.count > 0) && !arg->constant) {
        return w->unknown_holds;
    }
    struct cbx_str path =
        w->outside.count > 0 || w->inside.count > 0 ? resolve(m->arena, arg->value) : arg->value;
    return !(w->outside.count > 0 && any_glob(&w->outside, path, true)) &&
           !(w->inside.count > 0 && !any_glob(&w->inside, path, true));
}

static bool call_holds(struct matcher *m, const struct cbx_fact *fact, const struct cbx_call *call)
{
    if (fact->kind != CBX_IS_CALL) {
        return call->where_count == 0; /* handed on: who knows with which arguments */
    }
    for (size_t i = 0; i < call->where_count; i++) {
        if (!condition_holds(m, fact, &call->where[i])) {
            return false;
        }
    }
    return true;
}

/* --- matching --------------------------------------------------------------------------------- */

static void add_hit(struct matcher *m, const struct cbx_rule *rule, const struct cbx_fact *fact,
                    struct cbx_str symbol)
{
    if (m->count == m->size) {
        size_t size = m->size == 0 ? 64 : m->size * 2;
        struct cbx_hit *hits =
            size <= 65536 ? cbx_arena_array(m->arena, size, sizeof(*hits)) : NULL;
        if (hits == NULL) {
            m->truncated = true;
            return;
        }
        if (m->count > 0) {
            memcpy(hits, m->hits, m->count * sizeof(*hits));
        }
        m->hits = hits;
        m->size = size;
    }
    m->hits[m->count++] = (struct cbx_hit){ .rule = rule,
                                            .symbol = symbol,
                                            .detail = fact->detail,
                                            .start = fact->start,
                                            .end = fact->end };
}

static bool is_list(const struct pattern *p, enum list list, const struct cbx_rule *rule)
{
    return p->list == list && p->rule == rule;
}

/* Does an entry with '!' of the same list take this name out? */
static bool excluded(struct matcher *m, enum list list, const struct cbx_rule *rule,
                     struct cbx_str name)
{
    for (size_t len = name.len; len > 0; len--) {
        if (len != name.len &&
            (list != LIST_IMPORT || (name.p[len] != '.' && name.p[len] != '/'))) {
            continue;
        }
        struct cbx_str prefix = cbx_str_sub(name, 0, len);
        for (const struct pattern *p = m->exact[hash(prefix)]; p != NULL; p = p->next) {
            if (p->excludes && is_list(p, list, rule) && cbx_str_equal(p->text, prefix)) {
                return true;
            }
        }
    }
    for (const struct pattern *p = m->globs[list]; p != NULL; p = p->next) {
        if (p->excludes && is_list(p, list, rule) && cbx_str_glob(p->text, name)) {
            return true;
        }
    }
    return false;
}

static void take_pattern(struct matcher *m, const struct pattern *p, const struct cbx_fact *fact)
{
    bool language = (p->rule->languages >> fact->language & 1) != 0;
    if (language && !p->excludes && (p->call == NULL || call_holds(m, fact, p->call)) &&
        !excluded(m, p->list, p->rule, fact->name)) {
        add_hit(m, p->rule, fact, fact->name);
    }
}

/* A name in one list; for imports its parents too. */
static void match_name(struct matcher *m, enum list list, const struct cbx_fact *fact)
{
    struct cbx_str name = fact->name;
    for (size_t len = name.len; len > 0; len--) {
        bool whole = len == name.len;
        if (!whole && (list != LIST_IMPORT || (name.p[len] != '.' && name.p[len] != '/'))) {
            if (list != LIST_IMPORT) {
                break;
            }
            continue;
        }
        struct cbx_str prefix = cbx_str_sub(name, 0, len);
        for (const struct pattern *p = m->exact[hash(prefix)]; p != NULL; p = p->next) {
            if (p->list == list && cbx_str_equal(p->text, prefix)) {
                take_pattern(m, p, fact);
            }
        }
    }
    for (const struct pattern *p = m->globs[list]; p != NULL; p = p->next) {
        if (cbx_str_glob(p->text, name)) {
            take_pattern(m, p, fact);
        }
    }
}

/* A shell line in a notebook is a matter of rules for shell and of rules for Python. */
static void match_special(struct matcher *m, const struct cbx_fact *fact)
{
    uint32_t languages = 1u << fact->language | 1u << m->source;
    bool spoken_for = false;
    for (size_t r = 0; r < m->policy->rule_count; r++) {
        const struct cbx_rule *rule = &m->policy->rules[r];
        if ((rule->match.facts >> fact->special & 1) != 0 && (rule->languages & languages) != 0) {
            add_hit(m, rule, fact,
                    fact->name.len > 0 ? fact->name : cbx_str_of(cbx_fact_name(fact->special)));
            spoken_for = true;
        }
    }
    if (!spoken_for && (always >> fact->special & 1) != 0) {
        add_hit(m, &cbx_rule_unreadable, fact, cbx_str_of(cbx_fact_name(fact->special)));
    }
}

static void match_fact(struct matcher *m, const struct cbx_fact *fact)
{
    switch (fact->kind) {
    case CBX_IS_IMPORT:
        match_name(m, LIST_IMPORT, fact);
        return;
    case CBX_IS_CALL:
        match_name(m, LIST_CALL, fact);
        match_name(m, LIST_REFERENCE, fact);
        return;
    case CBX_IS_REFERENCE:
        match_name(m, LIST_REFERENCE, fact);
        match_name(m, LIST_CALL, fact);
        return;
    case CBX_IS_ATTRIBUTE:
        match_name(m, LIST_ATTRIBUTE, fact);
        return;
    case CBX_IS_LITERAL:
        match_name(m, LIST_LITERAL, fact);
        return;
    case CBX_IS_SPECIAL:
        match_special(m, fact);
        return;
    }
}

/* --- queries ---------------------------------------------------------------------------------- */

static const TSLanguage *grammar_of(enum cbx_language language)
{
    return language == CBX_PYTHON       ? tree_sitter_python()
           : language == CBX_JAVASCRIPT ? tree_sitter_javascript()
                                        : tree_sitter_bash();
}

static TSQuery *compile_query(enum cbx_language language, struct cbx_str query, uint32_t *offset)
{
    TSQueryError error;
    return ts_query_new(grammar_of(language), query.p, (uint32_t)query.len, offset, &error);
}

int cbx_query_check(enum cbx_language language, struct cbx_str query, struct cbx_err *err)
{
    uint32_t offset = 0;
    TSQuery *compiled = compile_query(language, query, &offset);
    if (compiled == NULL) {
        return cbx_fail(
            err, CBX_EPOLICY, "the query is not one that the grammar of %s knows, from '%.*s' on",
            cbx_language_name(language), CBX_STR_ARG(cbx_str_sub(query, offset, query.len)));
    }
    ts_query_delete(compiled);
    return 0;
}

static void match_query(struct matcher *m, const struct cbx_rule *rule,
                        const struct cbx_facts *facts, const TSTree *tree)
{
    uint32_t offset;
    struct cbx_fact place = { .language = facts->language };
    TSQuery *query = compile_query(facts->language, rule->match.query, &offset);
    if (query == NULL) {
        add_hit(m, rule, &place,
                CBX_STR("(the rule's query is broken)")); /* could not tell: the rule holds */
        return;
    }
    TSQueryCursor *cursor = ts_query_cursor_new();
    ts_query_cursor_set_match_limit(cursor, 4096);
    ts_query_cursor_exec(cursor, query, ts_tree_root_node(tree));
    TSQueryMatch match;
    size_t from = m->count; /* what other rules found does not count: the verdict needs this rule's
                               first match */
    while (m->count - from < CBX_FINDINGS_MAX && ts_query_cursor_next_match(cursor, &match)) {
        if (match.capture_count > 0) {
            place.start = ts_node_start_byte(match.captures[0].node);
            place.end = ts_node_end_byte(match.captures[0].node);
            add_hit(m, rule, &place, cbx_str_of(ts_node_type(match.captures[0].node)));
        }
    }
    if (ts_query_cursor_did_exceed_match_limit(cursor)) {
        add_hit(m, rule, &place, CBX_STR("(too many matches)"));
    }
    ts_query_cursor_delete(cursor);
    ts_query_delete(query);
}

/* Places in order; at one place, rules in the policy's order. Pointers into one array keep that
 * order. */
static int compare_hits(const void *a, const void *b)
{
    const struct cbx_hit *x = a, *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    if (x->rule != y->rule) {
        return x->rule < y->rule ? -1 : 1;
    }
    return x->end < y->end ? -1 : x->end > y->end;
}

int cbx_rules_match(const struct cbx_policy *policy, const struct cbx_facts *facts,
                    const TSTree *tree, struct cbx_arena *arena, const struct cbx_hit **out,
                    size_t *count, bool *truncated)
{
    struct matcher *m = cbx_arena_alloc(arena, sizeof(*m));
    if (m == NULL) {
        return CBX_ETOOBIG;
    }
    m->policy = policy;
    m->source = facts->source;
    m->arena = arena;
    index_policy(m);
    for (size_t i = 0; i < facts->count; i++) {
        match_fact(m, &facts->items[i]);
    }
    for (size_t r = 0; tree != NULL && r < policy->rule_count; r++) {
        if (policy->rules[r].match.query.len > 0 &&
            (policy->rules[r].languages >> facts->language & 1) != 0) {
            match_query(m, &policy->rules[r], facts, tree);
        }
    }
    if (m->count > 0) {
        qsort(m->hits, m->count, sizeof(*m->hits), compare_hits);
    }
    size_t kept = 0;
    for (size_t i = 0; i < m->count; i++) {
        bool again = kept > 0 && m->hits[kept - 1].rule == m->hits[i].rule &&
                     m->hits[kept - 1].start == m->hits[i].start;
        if (!again) {
            m->hits[kept++] = m->hits[i];
        }
    }
    *out = m->hits;
    *count = kept;
    *truncated = m->truncated;
    return 0;
}
