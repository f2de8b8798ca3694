/* SPDX-License-Identifier: MIT
 * An index of the patterns of a policy's rules, so that the time to look up a name does not grow
 * with the policy. It is built when the policy is loaded, is allocated in the policy's arena,
 * and is read-only afterwards, so threads share it. Rules are indexes into policy->rules, so a
 * copy of the policy whose rules have other effects can use it too. */
#ifndef CBX_POLICIES_LOAD_INDEX_H
#define CBX_POLICIES_LOAD_INDEX_H

#include "policies/policy.h"

/* The lists of a rule's `match`, as bits of a set. */
enum cbx_index_list {
    CBX_IN_IMPORT = 1 << 0,
    CBX_IN_CALL = 1 << 1,
    CBX_IN_REFERENCE = 1 << 2,
    CBX_IN_ATTRIBUTE = 1 << 3,
    CBX_IN_LITERAL = 1 << 4,
    CBX_IN_NAMES = CBX_IN_IMPORT | CBX_IN_CALL | CBX_IN_REFERENCE,
};

/* One entry of one list. */
struct cbx_pattern {
    struct cbx_str text;   /* text without the '!' */
    struct cbx_str must;   /* longest run of plain bytes of a glob; every match contains it */
    size_t shortest;       /* minimum length of a match, in bytes */
    uint32_t rule, number; /* number: 0.. over all patterns of the index */
    const struct cbx_call *call;
    enum cbx_index_list list;
    bool glob;
    const struct cbx_pattern *next; /* next pattern of its chain */
};

/* Numbers of rules, ascending. */
struct cbx_index_rules {
    const uint32_t *items;
    size_t count;
};

enum { CBX_INDEX_GRAMS = 1024 };

struct cbx_index {
    const struct cbx_pattern **exact; /* chains by hash, exact_mask + 1 of them */
    uint32_t exact_mask, pattern_count;
    uint32_t lists;                                     /* lists that any rule has */
    const struct cbx_pattern *by_gram[CBX_INDEX_GRAMS]; /* globs by the last bytes of `must` */
    const struct cbx_pattern *globs;      /* globs whose `must` is too short for that */
    const struct cbx_pattern **excluding; /* by rule: its entries with '!', or NULL */
    uint64_t capabilities;                /* capabilities of all rules */
    struct cbx_index_rules by_capability[CBX_CAPABILITIES];
    struct cbx_index_rules by_fact[CBX_FACTS];
    struct cbx_index_rules queries;
};

/* Builds policy->index from policy->rules. CBX_ETOOBIG if the arena is exhausted. */
int cbx_index_build(struct cbx_policy *policy, struct cbx_err *err);

/* Returns the index of a policy. An empty one for a policy that was not loaded (zeroed memory);
 * NULL for a policy with rules that has no index. */
const struct cbx_index *cbx_index_of(const struct cbx_policy *policy);

/* FNV-1a, byte by byte: the hash of a prefix is an intermediate state of the hash of the whole
 * text. */
enum { CBX_INDEX_SEED = 0x811c9dc5 };
static inline uint32_t cbx_index_step(uint32_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * 16777619u;
}

/* Returns the chain for the hash of a text; it may also have patterns of other texts. */
static inline const struct cbx_pattern *cbx_index_exact(const struct cbx_index *index,
                                                        uint32_t hash)
{
    return index->exact[(hash ^ hash >> 16) & index->exact_mask];
}

/* Returns the chain of globs whose `must` ends in these three bytes; it may have other globs. */
static inline uint32_t cbx_index_gram(const char *three)
{
    uint32_t gram = (uint32_t)(unsigned char)three[0] | (uint32_t)(unsigned char)three[1] << 8 |
                    (uint32_t)(unsigned char)three[2] << 16;
    return gram * 2654435761u >> 22;
}

/* True if the pattern, which is a glob, matches the text. */
bool cbx_pattern_matches(const struct cbx_pattern *pattern, struct cbx_str text);

/* True if the name is this module or part of it: a.b.c in a.b, a/b in a. */
bool cbx_name_is_within(struct cbx_str name, struct cbx_str module);

/* True if an entry with '!' of these lists excludes `name` from the rule. In CBX_IN_IMPORT an
 * entry covers submodules. */
bool cbx_index_excludes(const struct cbx_index *index, uint32_t rule, uint32_t lists,
                        struct cbx_str name);

#endif
