/* SPDX-License-Identifier: MIT
 * Matches facts against rules through the index of the policy. */
#include "analyzer/rules.h"

#include "analyzer/analyze.h"
#include "analyzer/facts/conditions.h"
#include "analyzer/facts/places.h"
#include "analyzer/facts/queries.h"
#include "analyzer/facts/sinks.h"
#include "policies/base/array.h"
#include "policies/base/sort.h"
#include "policies/load/index.h"

#define BUILT_IN(rule_id, text, advice)                                                            \
    {                                                                                              \
        .id = { rule_id, sizeof(rule_id) - 1 }, .languages = (1u << CBX_LANGUAGES) - 1,            \
        .effect = CBX_EFFECT_DENY, .severity = CBX_HIGH, .message = { text, sizeof(text) - 1 },    \
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

const struct cbx_rule cbx_rule_past =
    BUILT_IN("session.past",
             "What came before in this session is larger than 1 MiB, so this cannot be judged with "
             "it.",
             "Reset the session, or open a new one; put long data into a file and read it.");

const struct cbx_rule cbx_rule_package =
    BUILT_IN("package.refused", "This package cannot be installed.",
             "Ask for another version, or for another package.");

const uint64_t cbx_rules_always = 1ull << CBX_FACT_SYNTAX | 1ull << CBX_FACT_ENCODING |
                                  1ull << CBX_FACT_BIDI | 1ull << CBX_FACT_TOO_COMPLEX;

enum { HITS_MAX = 65536 };

struct matcher {
    const struct cbx_policy *policy;
    const struct cbx_index *index;
    enum cbx_language source;
    const struct cbx_strs *folders; /* folders that count as the workspace */
    struct cbx_arena *arena;
    /* tried[number of the pattern] = the text on which the pattern was last tried */
    uint32_t *tried;
    uint32_t text; /* number of texts on which globs were tried */
    struct cbx_hit *hits;
    size_t count, size;
    size_t imports; /* number of hits that are imports; they come first */
    bool truncated;
};

static void add_hit(struct matcher *m, const struct cbx_rule *rule, const struct cbx_fact *fact,
                    struct cbx_str symbol)
{
    if (fact->earlier && rule->effect >= CBX_EFFECT_WARN) {
        return;
    }
    if (!CBX_ARRAY_RESERVE(m->arena, m->hits, m->count, &m->size, 1, HITS_MAX)) {
        m->truncated = true;
        return;
    }
    m->hits[m->count++] = (struct cbx_hit){ .rule = rule,
                                            .symbol = symbol,
                                            .detail = fact->detail,
                                            .start = fact->start,
                                            .end = fact->end,
                                            .languages = 1u << fact->language | 1u << m->source,
                                            .earlier = fact->earlier };
}

/* --- names ------------------------------------------------------------------------------------ */

static bool applies_to_language(const struct cbx_rule *rule, const struct cbx_fact *fact)
{
    return (rule->languages >> fact->language & 1) != 0;
}

static void take_pattern(struct matcher *m, const struct cbx_pattern *p,
                         const struct cbx_fact *fact)
{
    const struct cbx_rule *rule = &m->policy->rules[p->rule];
    if (applies_to_language(rule, fact) &&
        (p->call == NULL || cbx_call_holds(m->policy, m->folders, p->call, fact, m->arena)) &&
        !cbx_index_excludes(m->index, p->rule, p->list, fact->name)) {
        add_hit(m, rule, fact, fact->name);
    }
}

static void match_exact(struct matcher *m, uint32_t lists, const struct cbx_fact *fact, size_t len,
                        uint32_t hash)
{
    struct cbx_str text = cbx_str_sub(fact->name, 0, len);
    for (const struct cbx_pattern *p = cbx_index_exact(m->index, hash); p != NULL; p = p->next) {
        if ((p->list & lists) != 0 && cbx_str_equal(p->text, text)) {
            take_pattern(m, p, fact);
        }
    }
}

static void try_globs(struct matcher *m, uint32_t lists, const struct cbx_fact *fact,
                      const struct cbx_pattern *chain)
{
    for (const struct cbx_pattern *p = chain; p != NULL; p = p->next) {
        if ((p->list & lists) == 0 || m->tried[p->number] == m->text) {
            continue;
        }
        m->tried[p->number] = m->text; /* try each glob once per text */
        if (cbx_pattern_matches(p, fact->name)) {
            take_pattern(m, p, fact);
        }
    }
}

/* Matches a name in these lists; in CBX_IN_IMPORT also its parents. */
static void match_name(struct matcher *m, uint32_t lists, const struct cbx_fact *fact)
{
    struct cbx_str name = fact->name;
    uint32_t hash = CBX_INDEX_SEED;
    lists &= m->index->lists;
    if (lists == 0) {
        return;
    }
    m->text++;
    try_globs(m, lists, fact, m->index->globs);
    for (size_t i = 0; i < name.len; i++) {
        if ((lists & CBX_IN_IMPORT) != 0 && (name.p[i] == '.' || name.p[i] == '/')) {
            match_exact(m, CBX_IN_IMPORT, fact, i, hash);
        }
        const struct cbx_pattern *globs =
            i >= 2 ? m->index->by_gram[cbx_index_gram(name.p + i - 2)] : NULL;
        if (globs != NULL) {
            try_globs(m, lists, fact, globs);
        }
        hash = cbx_index_step(hash, name.p[i]);
    }
    match_exact(m, lists, fact, name.len, hash);
}

/* --- capabilities and facts ------------------------------------------------------------------- */

enum { IMPORTS_MAX = 64 };

/* Returns true if the rule already matched the import of the module that contains the name. */
static bool is_covered_by_import(const struct matcher *m, const struct cbx_rule *rule,
                                 struct cbx_str name)
{
    for (size_t i = 0; i < m->imports && i < IMPORTS_MAX; i++) {
        if (m->hits[i].rule == rule && cbx_name_is_within(name, m->hits[i].symbol)) {
            return true;
        }
    }
    return false;
}

static void match_capabilities(struct matcher *m, const struct cbx_fact *fact)
{
    if (m->index->capabilities == 0) {
        return;
    }
    uint32_t can = (fact->kind == CBX_IS_IMPORT ? cbx_sinks_of_module
                                                : cbx_sinks_of)(fact->language, fact->name);
    can &= ~fact->cleared;
    /* A write to a folder that does not exist fails; existing files can be deleted. */
    const uint32_t destroys = 1u << CBX_CAN_FILE_DELETE | 1u << CBX_CAN_FILE_PERMISSION;
    for (can &= (uint32_t)m->index->capabilities; can != 0; can &= can - 1) {
        const struct cbx_index_rules *rules = &m->index->by_capability[__builtin_ctz(can)];
        bool any_climb = (can & -can & destroys) != 0;
        for (size_t i = 0; i < rules->count; i++) {
            const struct cbx_rule *rule = &m->policy->rules[rules->items[i]];
            struct cbx_str symbol = fact->name;
            const struct cbx_strs *outside = &rule->match.outside;
            if (applies_to_language(rule, fact) &&
                (outside->count == 0 ||
                 cbx_call_is_outside(outside, m->folders, fact, any_climb, m->arena, &symbol)) &&
                !cbx_index_excludes(m->index, rules->items[i], CBX_IN_NAMES, fact->name) &&
                !is_covered_by_import(m, rule, fact->name)) {
                add_hit(m, rule, fact, symbol);
            }
        }
    }
}

/* Matches a special fact. Rules for shell and rules for Python both match facts of a shell line
 * in a notebook. */
static void match_special(struct matcher *m, const struct cbx_fact *fact)
{
    uint32_t languages = 1u << fact->language | 1u << m->source;
    const struct cbx_index_rules *rules = &m->index->by_fact[fact->special];
    bool matched = false;
    if (fact->special == CBX_FACT_SHELL_REDIRECT &&
        cbx_path_is_in(m->folders, fact->name, m->arena)) {
        return; /* the extractor allows only the workspace, not these folders */
    }
    for (size_t i = 0; i < rules->count; i++) {
        const struct cbx_rule *rule = &m->policy->rules[rules->items[i]];
        if ((rule->languages & languages) != 0) {
            add_hit(m, rule, fact,
                    fact->name.len > 0 ? fact->name : cbx_str_of(cbx_fact_name(fact->special)));
            matched = true;
        }
    }
    if (!matched && (cbx_rules_always >> fact->special & 1) != 0) {
        add_hit(m, &cbx_rule_unreadable, fact, cbx_str_of(cbx_fact_name(fact->special)));
    }
}

/* Matches the resolved path of a literal: /etc/../etc//shadow is /etc/shadow. */
static void match_detour(struct matcher *m, const struct cbx_fact *fact)
{
    struct cbx_str text = fact->name;
    if (text.len < 4 || text.len > 4096 || text.p[0] != '/' ||
        (memmem(text.p, text.len, "//", 2) == NULL && memmem(text.p, text.len, "/.", 2) == NULL)) {
        return;
    }
    struct cbx_fact straight = *fact;
    straight.name = cbx_path_resolve(m->arena, text);
    if (!cbx_str_equal(straight.name, text)) {
        match_name(m, CBX_IN_LITERAL, &straight);
    }
}

/* Returns true if a wildcard stands for data. It does not in folders with files of the host's
 * users and services, or with the name of a hidden file. In other folders a rule's pattern
 * counts only if it matches the written text. */
static bool is_of_data(struct matcher *m, struct cbx_str pattern, struct cbx_str files)
{
    static const char *const secrets[] = { "/etc/", "/root/", "/home/", "/var/",
                                           "/run/", "/proc/", "/sys/",  "/dev/" };
    const char *slash = files.len > 1 ? memchr(files.p + 1, '/', files.len - 1) : NULL;
    bool data = slash != NULL && memmem(files.p, files.len, "/.", 2) == NULL &&
                memmem(files.p, files.len, "//", 2) == NULL;
    for (size_t i = 0; data && i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        data = !cbx_str_starts(files, cbx_str_of(secrets[i]));
    }
    /* a wildcard in the first name means any folder */
    for (const char *p = files.p; data && p < slash; p++) {
        data = memchr("*?[", *p, 3) == NULL;
    }
    if (!data) {
        return false;
    }
    char *written = cbx_arena_alloc(m->arena, files.len + 1);
    size_t n = 0;
    for (size_t i = 0; written != NULL && i < files.len; i++) {
        written[n] = files.p[i];
        n += memchr("*?[]", files.p[i], 4) == NULL;
    }
    return written != NULL && !cbx_str_glob(pattern, (struct cbx_str){ .p = written, .len = n });
}

/* Matches a pattern of files: in cat /e*c/sh?dow it matches a file that a rule's pattern matches
 * too. */
static void match_files(struct matcher *m, const struct cbx_fact *fact)
{
    /* files in the root folder itself are not secret */
    bool deep = fact->name.len > 1 && memchr(fact->name.p + 1, '/', fact->name.len - 1) != NULL;
    for (size_t i = 0; deep && i <= CBX_INDEX_GRAMS; i++) {
        const struct cbx_pattern *p = i < CBX_INDEX_GRAMS ? m->index->by_gram[i] : m->index->globs;
        for (; p != NULL; p = p->next) {
            struct cbx_str file = p->text; /* "shadow*" means "shadow" and related files */
            file.len -=
                file.len > 2 && cbx_str_ends(file, CBX_STR("*")) && file.p[file.len - 2] != '/';
            bool path = p->list == CBX_IN_LITERAL &&
                        (cbx_str_starts(file, CBX_STR("*/")) ||
                         cbx_str_starts(file, CBX_STR("/")) || cbx_str_starts(file, CBX_STR("~/")));
            if (path && cbx_str_globs_meet(file, fact->name) &&
                !is_of_data(m, p->text, fact->name)) {
                take_pattern(m, p, fact);
            }
        }
    }
}

static void match_fact(struct matcher *m, const struct cbx_fact *fact)
{
    switch (fact->kind) {
    case CBX_IS_IMPORT:
        match_name(m, CBX_IN_IMPORT, fact);
        match_capabilities(m, fact);
        return;
    case CBX_IS_CALL:
    case CBX_IS_REFERENCE:
        match_name(m, CBX_IN_CALL | CBX_IN_REFERENCE, fact);
        match_capabilities(m, fact);
        return;
    case CBX_IS_ATTRIBUTE:
        match_name(m, CBX_IN_ATTRIBUTE, fact);
        return;
    case CBX_IS_LITERAL:
        match_name(m, CBX_IN_LITERAL, fact);
        match_detour(m, fact);
        return;
    case CBX_IS_FILES:
        match_files(m, fact);
        return;
    case CBX_IS_SPECIAL:
        match_special(m, fact);
        return;
    }
}

/* --- queries ---------------------------------------------------------------------------------- */

/* The hits of one rule's query. The cap counts only hits of this rule: the verdict needs its
 * first match. */
struct query_hits {
    struct matcher *m;
    const struct cbx_rule *rule;
    size_t from;
    enum cbx_language language;
};

static bool add_query_hit(void *context, uint32_t start, uint32_t end, const char *what)
{
    struct query_hits *q = context;
    struct cbx_fact place = { .language = q->language, .start = start, .end = end };
    add_hit(q->m, q->rule, &place, cbx_str_of(what));
    return q->m->count - q->from < CBX_FINDINGS_MAX;
}

static void match_queries(struct matcher *m, enum cbx_language language, const TSTree *tree,
                          struct cbx_str text)
{
    for (size_t i = 0; tree != NULL && i < m->index->queries.count; i++) {
        const struct cbx_rule *rule = &m->policy->rules[m->index->queries.items[i]];
        struct query_hits hits = { .m = m, .rule = rule, .from = m->count, .language = language };
        if ((rule->languages >> language & 1) != 0) {
            cbx_query_run(rule->match.query, tree, text, add_query_hit, &hits);
        }
    }
}

/* Orders hits by place; at one place, by the policy's order of rules. Pointers into one array
 * have that order. */
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

static void match_facts(struct matcher *m, const struct cbx_facts *facts, bool imports)
{
    for (size_t i = 0; i < facts->count; i++) {
        if ((facts->items[i].kind == CBX_IS_IMPORT) == imports) {
            match_fact(m, &facts->items[i]);
        }
    }
}

/* Drops further hits of a rule at the same place. */
static size_t drop_repeated(struct cbx_hit *hits, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || hits[kept - 1].rule != hits[i].rule ||
            hits[kept - 1].start != hits[i].start) {
            hits[kept++] = hits[i];
        }
    }
    return kept;
}

int cbx_rules_match(const struct cbx_policy *policy, const struct cbx_evidence *evidence,
                    struct cbx_arena *arena, struct cbx_hits *out)
{
    const struct cbx_facts *facts = evidence->facts;
    struct matcher m = { .policy = policy,
                         .index = cbx_index_of(policy),
                         .source = facts->source,
                         .folders = evidence->folders,
                         .arena = arena };
    if (m.index == NULL) {
        return CBX_EINVAL;
    }
    m.tried = cbx_arena_array(arena, m.index->pattern_count + 1u, sizeof(*m.tried));
    if (m.tried == NULL) {
        return CBX_ETOOBIG;
    }
    match_facts(&m, facts, true);
    m.imports = m.count;
    match_facts(&m, facts, false);
    match_queries(&m, facts->language, evidence->tree, evidence->text);
    if (!cbx_sort_in(arena, m.hits, m.count, sizeof(*m.hits), compare_hits)) {
        return CBX_ETOOBIG;
    }
    *out = (struct cbx_hits){ .items = m.hits,
                              .count = drop_repeated(m.hits, m.count),
                              .truncated = m.truncated };
    return 0;
}
