/* SPDX-License-Identifier: MIT
 * The index of a policy's rules. */
#include "policies/load/index.h"

struct builder {
    struct cbx_arena *arena;
    struct cbx_index *index;
    uint32_t rule;
    bool failed;
};

static uint32_t hash_of(struct cbx_str text)
{
    uint32_t hash = CBX_INDEX_SEED;
    for (size_t i = 0; i < text.len; i++) {
        hash = cbx_index_step(hash, text.p[i]);
    }
    return hash;
}

static bool is_special(char c)
{
    return c == '*' || c == '?' || c == '[' || c == '\\';
}

/* Computes the shortest match and the longest plain run. Stops at a '[' or a '\\': only the
 * matcher determines where a set ends. */
static void measure(struct cbx_pattern *p)
{
    size_t from = 0, i = 0;
    for (; i <= p->text.len; i++) {
        bool end = i == p->text.len || is_special(p->text.p[i]);
        if (end && i - from > p->must.len) {
            p->must = cbx_str_sub(p->text, from, i);
        }
        if (!end) {
            p->shortest++;
            continue;
        }
        p->glob |= i < p->text.len;
        if (i < p->text.len && (p->text.p[i] == '[' || p->text.p[i] == '\\')) {
            return;
        }
        from = i + 1;
    }
}

static const struct cbx_pattern **chain_of(struct cbx_index *index, const struct cbx_pattern *p,
                                           bool excludes)
{
    if (excludes) {
        return &index->excluding[p->rule];
    }
    if (!p->glob) {
        uint32_t hash = hash_of(p->text);
        return &index->exact[(hash ^ hash >> 16) & index->exact_mask];
    }
    return p->must.len >= 3 ? &index->by_gram[cbx_index_gram(p->must.p + p->must.len - 3)]
                            : &index->globs;
}

static void add_pattern(struct builder *b, enum cbx_index_list list, struct cbx_str text,
                        const struct cbx_call *call)
{
    struct cbx_pattern *p = cbx_arena_alloc(b->arena, sizeof(*p));
    if (p == NULL) {
        b->failed = true;
        return;
    }
    bool excludes = text.len > 1 && text.p[0] == '!';
    *p = (struct cbx_pattern){ .text = cbx_str_sub(text, excludes, text.len),
                               .rule = b->rule,
                               .number = b->index->pattern_count++,
                               .call = call,
                               .list = list };
    measure(p);
    b->index->lists |= excludes ? 0 : list;
    const struct cbx_pattern **chain = chain_of(b->index, p, excludes);
    p->next = *chain;
    *chain = p;
}

static void add_strings(struct builder *b, enum cbx_index_list list, const struct cbx_strs *strings)
{
    for (size_t i = 0; i < strings->count; i++) {
        add_pattern(b, list, strings->items[i], NULL);
    }
}

static void add_rule(struct builder *b, const struct cbx_match *match)
{
    add_strings(b, CBX_IN_IMPORT, &match->import);
    add_strings(b, CBX_IN_REFERENCE, &match->reference);
    add_strings(b, CBX_IN_ATTRIBUTE, &match->attribute);
    add_strings(b, CBX_IN_LITERAL, &match->literal);
    for (size_t c = 0; c < match->call_count; c++) {
        add_pattern(b, CBX_IN_CALL, match->call[c].name, &match->call[c]);
    }
    b->index->capabilities |= match->capabilities;
}

static bool has_bit(const struct cbx_match *match, int capability, int fact)
{
    return capability >= 0 ? (match->capabilities >> capability & 1) != 0
           : fact >= 0     ? (match->facts >> fact & 1) != 0
                           : match->query.len > 0;
}

/* Lists the rules that name a capability, a fact, or (both -1) have a query. */
static struct cbx_index_rules list_rules(struct builder *b, const struct cbx_policy *policy,
                                         int capability, int fact)
{
    size_t count = 0;
    for (size_t r = 0; r < policy->rule_count; r++) {
        count += has_bit(&policy->rules[r].match, capability, fact);
    }
    uint32_t *items = count > 0 ? cbx_arena_array(b->arena, count, sizeof(*items)) : NULL;
    if (items == NULL) {
        b->failed |= count > 0;
        return (struct cbx_index_rules){ 0 };
    }
    size_t n = 0;
    for (size_t r = 0; r < policy->rule_count; r++) {
        if (has_bit(&policy->rules[r].match, capability, fact)) {
            items[n++] = (uint32_t)r;
        }
    }
    return (struct cbx_index_rules){ .items = items, .count = n };
}

/* Returns the number of slots: at least two for each text. */
static uint32_t places_for(const struct cbx_policy *policy)
{
    size_t texts = 0, places = 64;
    for (size_t r = 0; r < policy->rule_count; r++) {
        const struct cbx_match *m = &policy->rules[r].match;
        texts += m->import.count + m->call_count + m->reference.count + m->attribute.count +
                 m->literal.count;
    }
    while (places < texts * 2) {
        places *= 2;
    }
    return (uint32_t)places;
}

int cbx_index_build(struct cbx_policy *policy, struct cbx_err *err)
{
    struct builder b = { .arena = &policy->arena };
    uint32_t places = places_for(policy);
    b.index = cbx_arena_alloc(b.arena, sizeof(*b.index));
    const struct cbx_pattern **exact = cbx_arena_array(b.arena, places, sizeof(*exact));
    const struct cbx_pattern **excluding =
        cbx_arena_array(b.arena, policy->rule_count + 1, sizeof(*excluding));
    if (b.index == NULL || exact == NULL || excluding == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    b.index->exact = exact;
    b.index->exact_mask = places - 1;
    b.index->excluding = excluding;
    for (; b.rule < policy->rule_count; b.rule++) {
        add_rule(&b, &policy->rules[b.rule].match);
    }
    for (int i = 0; i < CBX_CAPABILITIES; i++) {
        b.index->by_capability[i] = list_rules(&b, policy, i, -1);
    }
    for (int i = 0; i < CBX_FACTS; i++) {
        b.index->by_fact[i] = list_rules(&b, policy, -1, i);
    }
    b.index->queries = list_rules(&b, policy, -1, -1);
    if (b.failed) {
        return cbx_fail(err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    policy->index = b.index;
    return 0;
}

bool cbx_pattern_matches(const struct cbx_pattern *pattern, struct cbx_str text)
{
    return text.len >= pattern->shortest && cbx_str_glob(pattern->text, text);
}

bool cbx_name_is_within(struct cbx_str name, struct cbx_str module)
{
    return cbx_str_starts(name, module) &&
           (name.len == module.len || name.p[module.len] == '.' || name.p[module.len] == '/');
}

bool cbx_index_excludes(const struct cbx_index *index, uint32_t rule, uint32_t lists,
                        struct cbx_str name)
{
    for (const struct cbx_pattern *p = index->excluding[rule]; p != NULL; p = p->next) {
        if ((p->list & lists) == 0) {
            continue;
        }
        if (p->glob                    ? cbx_pattern_matches(p, name)
            : p->list == CBX_IN_IMPORT ? cbx_name_is_within(name, p->text)
                                       : cbx_str_equal(p->text, name)) {
            return true;
        }
    }
    return false;
}

const struct cbx_index *cbx_index_of(const struct cbx_policy *policy)
{
    static const struct cbx_pattern *nothing[1];
    static const struct cbx_index empty = { .exact = nothing };
    return policy->index != NULL || policy->rule_count > 0 ? policy->index : &empty;
}
