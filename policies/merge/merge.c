/* SPDX-License-Identifier: MIT
 * Merging one draft over another: each key by its row of keys.def, and each merge rule is one
 * function. Lists of refused items grow, lists of allowed items shrink, bounds go down, effects
 * get stricter; any other change needs `override: true` on its rule or section. */
#include "policies/load/keys.h"

#include "policies/egress.h"
#include "policies/guard/guard.h"
#include "policies/versions/version.h"

struct merge {
    struct cbx_arena *arena;
    struct cbx_err *err;
    bool parents;     /* true to keep the intersection instead of failing */
    const char *kind; /* kind of the named item that is merged: "rule"; NULL: none */
    struct cbx_str name;
};

/* One key of both drafts. */
struct slot {
    const struct cbx_key *key;
    const struct cbx_draft_head *head; /* head of the child's section */
    void *base;
    const void *child;
    bool base_given, child_given;
};

enum decision { REFUSED = -1, TAKE_CHILD, KEEP_STRICTER };

/* Decides about a value that allows more. */
static enum decision decide_laxer(struct merge *m, const struct slot *s)
{
    if (m->parents) {
        return KEEP_STRICTER;
    }
    if (s->head->override) {
        return TAKE_CHILD;
    }
    if (m->kind != NULL) {
        cbx_fail_at(m->err, CBX_EPOLICY, s->head->line, s->head->column,
                    "%s '%.*s' %s than in the policy that this one extends; say 'override: true' "
                    "there to allow that",
                    m->kind, CBX_STR_SHOWN(m->name), s->key->laxer);
    } else {
        cbx_fail_at(m->err, CBX_EPOLICY, s->head->line, s->head->column,
                    "%.*s%s than in the policy that this one extends; say 'override: true' there "
                    "to allow that",
                    CBX_STR_SHOWN(m->name), s->key->laxer);
    }
    return REFUSED;
}

static int fail_memory(struct merge *m)
{
    return cbx_fail(m->err, CBX_ETOOBIG, "the policy takes too much memory");
}

/* --- copies ----------------------------------------------------------------------------------- */

/* Returns the size of a key's value; lists have their count after their pointer. */
static size_t value_bytes(const struct cbx_key *key)
{
    bool list = key->type == CBX_KEY_LIST || key->type == CBX_KEY_MINIMUM;
    return list ? sizeof(void *) + sizeof(size_t) : key->size;
}

/* A nested section is between other members of its struct: only its keys are copied. */
static void copy_value(const struct cbx_key *key, void *to, const void *from)
{
    const struct cbx_section *section = key->type == CBX_KEY_SECTION ? key->more : NULL;
    if (section == NULL) {
        memcpy(to, from, value_bytes(key));
    }
    for (size_t i = 0; section != NULL && i < section->key_count; i++) {
        const struct cbx_key *inner = &section->keys[i];
        memcpy((char *)to + inner->offset, (const char *)from + inner->offset, value_bytes(inner));
    }
}

static int merge_own(struct merge *m, const struct slot *s)
{
    (void)m;
    copy_value(s->key, s->base, s->child);
    return 0;
}

static int merge_inherit(struct merge *m, const struct slot *s)
{
    return s->child_given ? merge_own(m, s) : 0;
}

/* A property of the base's section may not hold after the merge. */
static int merge_renew(struct merge *m, const struct slot *s)
{
    return s->child_given || s->head->given != 0 ? merge_own(m, s) : 0;
}

/* --- bounds ----------------------------------------------------------------------------------- */

static int64_t read_number(const struct cbx_key *key, const void *value)
{
    if (key->size == sizeof(bool)) {
        return *(const bool *)value;
    }
    return key->size == sizeof(int64_t) ? *(const int64_t *)value : *(const int *)value;
}

static int merge_strictness(struct merge *m, const struct slot *s, bool laxer)
{
    enum decision decision = laxer ? decide_laxer(m, s) : TAKE_CHILD;
    if (decision == TAKE_CHILD) {
        copy_value(s->key, s->base, s->child);
    }
    return decision == REFUSED ? CBX_EPOLICY : 0;
}

static int merge_lower(struct merge *m, const struct slot *s)
{
    return s->child_given ? merge_strictness(m, s,
                                             s->base_given && read_number(s->key, s->child) >
                                                                  read_number(s->key, s->base))
                          : 0;
}

static int merge_true(struct merge *m, const struct slot *s)
{
    bool base = *(bool *)s->base, child = *(const bool *)s->child;
    return s->child_given ? merge_strictness(m, s, base && !child) : 0;
}

/* A missing key is false: a second parent without it counts as false. */
static int merge_false(struct merge *m, const struct slot *s)
{
    bool base = *(bool *)s->base, child = *(const bool *)s->child;
    return s->child_given || m->parents ? merge_strictness(m, s, child && !base) : 0;
}

/* Returns the strictness of a key: allow, rules, refuse. */
static int guard_strictness(enum cbx_guard_key key)
{
    static const int strictness[] = {
        [CBX_GUARD_ALLOW] = 0, [CBX_GUARD_RULES] = 1, [CBX_GUARD_REFUSE] = 2
    };
    return strictness[key];
}

static int merge_guard(struct merge *m, const struct slot *s)
{
    const enum cbx_guard_key *base = s->base, *child = s->child;
    return s->child_given
               ? merge_strictness(m, s, guard_strictness(*child) < guard_strictness(*base))
               : 0;
}

static int merge_guarded(struct merge *m, const struct slot *s)
{
    unsigned base = *(unsigned *)s->base, child = *(const unsigned *)s->child;
    return s->child_given ? merge_strictness(m, s, child != 0 && child != base) : 0;
}

static int merge_bits(struct merge *m, const struct slot *s)
{
    uint32_t *base = s->base, child = *(const uint32_t *)s->child;
    if (!s->child_given) {
        return 0;
    }
    bool laxer = s->base_given && (child & ~*base) != 0;
    enum decision decision = laxer ? decide_laxer(m, s) : TAKE_CHILD;
    *base = decision == TAKE_CHILD ? child : *base & child;
    return decision == REFUSED ? CBX_EPOLICY : 0;
}

/* --- lists ------------------------------------------------------------------------------------ */

static bool contains(const struct cbx_strs *list, struct cbx_str item, bool globs)
{
    for (size_t i = 0; i < list->count; i++) {
        if (cbx_str_equal(list->items[i], item) || (globs && cbx_str_is(list->items[i], "*"))) {
            return true;
        }
    }
    return false;
}

static int merge_grow(struct merge *m, const struct slot *s)
{
    struct cbx_strs *base = s->base;
    const struct cbx_strs *child = s->child;
    if (!s->child_given || (s->head->override && !m->parents)) {
        return merge_inherit(m, s);
    }
    struct cbx_str *items =
        cbx_arena_array(m->arena, base->count + child->count + 1, sizeof(*items));
    if (items == NULL) {
        return fail_memory(m);
    }
    size_t count = 0;
    for (size_t i = 0; i < base->count; i++) {
        items[count++] = base->items[i];
    }
    for (size_t i = 0; i < child->count; i++) {
        if (!contains(base, child->items[i], false)) {
            items[count++] = child->items[i];
        }
    }
    *base = (struct cbx_strs){ .items = items, .count = count };
    return 0;
}

/* Keeps the entries that both lists allow. */
static int keep_common(struct merge *m, struct cbx_strs *base, const struct cbx_strs *child,
                       bool globs)
{
    struct cbx_str *items =
        cbx_arena_array(m->arena, base->count + child->count + 1, sizeof(*items));
    if (items == NULL) {
        return fail_memory(m);
    }
    size_t count = 0;
    for (size_t i = 0; i < base->count; i++) {
        if (contains(child, base->items[i], globs)) {
            items[count++] = base->items[i];
        }
    }
    for (size_t i = 0; i < child->count; i++) {
        if (contains(base, child->items[i], globs) && !contains(base, child->items[i], false)) {
            items[count++] = child->items[i];
        }
    }
    *base = (struct cbx_strs){ .items = items, .count = count };
    return 0;
}

/* A list of allowed entries: the child's replaces the base's and must be a part of it. */
static int shrink(struct merge *m, const struct slot *s, bool globs)
{
    struct cbx_strs *base = s->base;
    const struct cbx_strs *child = s->child;
    bool laxer = false;
    for (size_t i = 0; s->child_given && s->base_given && i < child->count; i++) {
        laxer |= !contains(base, child->items[i], globs);
    }
    enum decision decision = laxer ? decide_laxer(m, s) : TAKE_CHILD;
    if (decision == KEEP_STRICTER) {
        return keep_common(m, base, child, globs);
    }
    return decision == REFUSED ? CBX_EPOLICY : merge_inherit(m, s);
}

static int merge_shrink(struct merge *m, const struct slot *s)
{
    return shrink(m, s, false);
}

/* The entries are globs, so `*` is everything. */
static int merge_globs(struct merge *m, const struct slot *s)
{
    return shrink(m, s, true);
}

static int merge_hosts(struct merge *m, const struct slot *s)
{
    struct cbx_strs *base = s->base;
    const struct cbx_strs *child = s->child;
    bool laxer = false;
    for (size_t i = 0; s->child_given && s->base_given && i < child->count; i++) {
        laxer |= !cbx_egress_covers(base, child->items[i]);
    }
    enum decision decision = laxer ? decide_laxer(m, s) : TAKE_CHILD;
    if (decision == KEEP_STRICTER) {
        struct cbx_strs common = { 0 };
        int failed = cbx_egress_common(base, child, m->arena, &common, m->err);
        if (failed == 0) {
            *base = common;
        }
        return failed;
    }
    return decision == REFUSED ? CBX_EPOLICY : merge_inherit(m, s);
}

/* --- lists of structs ------------------------------------------------------------------------- */

/* A list as in the drafts. */
struct list {
    char *items;
    size_t count;
};

static size_t item_bytes(const struct cbx_key *key)
{
    return key->type == CBX_KEY_MINIMUM ? sizeof(struct cbx_minimum)
                                        : ((const struct cbx_section *)key->more)->size;
}

/* Makes a list with space for the items of both, and copies the base's items. */
static bool start_list(struct merge *m, const struct slot *s, struct list *out)
{
    const struct list *base = s->base, *child = s->child;
    size_t bytes = item_bytes(s->key);
    *out = (struct list){ .items = cbx_arena_array(m->arena, base->count + child->count + 1, bytes),
                          .count = base->count };
    if (out->items != NULL && base->count > 0) {
        memcpy(out->items, base->items, base->count * bytes);
    }
    return out->items != NULL;
}

static int merge_append(struct merge *m, const struct slot *s)
{
    const struct list *child = s->child;
    struct list all;
    size_t bytes = item_bytes(s->key);
    if (!start_list(m, s, &all)) {
        return fail_memory(m);
    }
    if (child->count > 0) {
        memcpy(all.items + all.count * bytes, child->items, child->count * bytes);
    }
    all.count += child->count;
    *(struct list *)s->base = all;
    return 0;
}

/* As shrink, for items that may cover each other. */
static int shrink_items(struct merge *m, const struct slot *s,
                        bool (*covers)(const void *item, const void *other))
{
    struct list *base = s->base, all = { 0 };
    const struct list *child = s->child;
    size_t bytes = item_bytes(s->key), count = 0;
    bool laxer = false;
    if (!s->child_given || !s->base_given) {
        return merge_inherit(m, s);
    }
    if (!start_list(m, s, &all)) {
        return fail_memory(m);
    }
    for (size_t i = 0; i < child->count; i++) { /* the items that both allow */
        bool covered = false;
        for (size_t k = 0; k < base->count; k++) {
            const void *one = base->items + k * bytes, *other = child->items + i * bytes;
            bool keeps = covers(one, other) || covers(other, one);
            if (keeps && count < base->count + child->count) {
                memcpy(all.items + count++ * bytes, covers(one, other) ? other : one, bytes);
            }
            covered |= covers(one, other);
        }
        laxer |= !covered;
    }
    all.count = count;
    enum decision decision = laxer ? decide_laxer(m, s) : TAKE_CHILD;
    if (decision == KEEP_STRICTER) {
        *base = all;
    }
    return decision == KEEP_STRICTER ? 0 : decision == REFUSED ? CBX_EPOLICY : merge_inherit(m, s);
}

static bool mount_covers(const void *item, const void *other)
{
    const struct cbx_mount_rule *a = item, *b = other;
    return cbx_str_equal(a->host, b->host) && (a->writable || !b->writable);
}

static int merge_mounts(struct merge *m, const struct slot *s)
{
    return shrink_items(m, s, mount_covers);
}

static bool secret_covers(const void *item, const void *other)
{
    const struct cbx_secret *a = item, *b = other;
    return cbx_str_equal(a->name, b->name) && cbx_str_equal(a->file, b->file);
}

static int merge_secrets(struct merge *m, const struct slot *s)
{
    return shrink_items(m, s, secret_covers);
}

/* Minimum versions. If two cannot be compared, the minimums of both parents hold. */
static int merge_raise(struct merge *m, const struct slot *s)
{
    const struct list *child = s->child;
    struct list all;
    if (!start_list(m, s, &all)) {
        return fail_memory(m);
    }
    struct cbx_minimum *items = (struct cbx_minimum *)(void *)all.items;
    size_t inherited = all.count;
    for (size_t i = 0; i < child->count; i++) {
        const struct cbx_minimum *own = (const struct cbx_minimum *)(void *)child->items + i;
        size_t at = 0;
        while (at < inherited && !cbx_str_equal(items[at].name, own->name)) {
            at++;
        }
        bool comparable = true, known = at < inherited;
        bool lower =
            known && !cbx_str_equal(items[at].version, own->version) &&
            (cbx_version_compare(own->version, items[at].version, &comparable) < 0 || !comparable);
        m->kind = "the minimum version of";
        m->name = own->name;
        enum decision decision = lower ? decide_laxer(m, s) : TAKE_CHILD;
        m->kind = NULL;
        m->name = (struct cbx_str){ 0 };
        if (decision == REFUSED) {
            return CBX_EPOLICY;
        }
        if (decision == TAKE_CHILD || !comparable) {
            bool replaces = known && decision == TAKE_CHILD;
            items[replaces ? at : all.count] = *own;
            all.count += !replaces;
        }
    }
    *(struct list *)s->base = all;
    return 0;
}

/* --- rules ------------------------------------------------------------------------------------ */

/* Keeping one of two values would lose the other. */
static int merge_same(struct merge *m, const struct slot *s)
{
    const struct cbx_section *section = s->key->more;
    json_t *base = cbx_section_json(section, s->base), *child = cbx_section_json(section, s->child);
    bool same = !s->child_given || json_equal(base, child) == 1;
    json_decref(base);
    json_decref(child);
    if (same) {
        return 0;
    }
    if (m->parents) {
        return cbx_fail_at(m->err, CBX_EPOLICY, s->head->line, s->head->column,
                           "rule '%.*s' matches something else than in another policy that is "
                           "extended beside this one",
                           CBX_STR_SHOWN(m->name));
    }
    return !s->base_given || decide_laxer(m, s) == TAKE_CHILD ? merge_own(m, s) : CBX_EPOLICY;
}

/* The languages of a rule. */
static int merge_cover(struct merge *m, const struct slot *s)
{
    uint32_t *base = s->base, child = *(const uint32_t *)s->child;
    bool laxer = s->child_given && (*base & ~child) != 0;
    if (laxer && m->parents) {
        *base |= child;
        return 0;
    }
    return laxer && decide_laxer(m, s) == REFUSED ? CBX_EPOLICY : merge_inherit(m, s);
}

static int merge_section(struct merge *m, const struct cbx_section *section, void *base,
                         bool base_given, const void *child, bool child_given);

static int merge_rule(struct merge *m, struct cbx_draft_rule *base,
                      const struct cbx_draft_rule *child)
{
    m->kind = "rule";
    m->name = child->v.id;
    int failed = merge_section(m, &cbx_section_rule, base, true, child, false);
    m->kind = NULL;
    m->name = (struct cbx_str){ 0 };
    base->head.line = child->head.line;
    base->head.column = child->head.column;
    base->v.line = child->v.line;
    base->v.origin = child->v.origin;
    return failed;
}

static int merge_rules(struct merge *m, const struct slot *s)
{
    const struct list *child = s->child;
    struct list all;
    if (((const struct list *)s->base)->count + child->count > CBX_POLICY_RULES_MAX) {
        return cbx_fail(m->err, CBX_ETOOBIG, "%zu rules, allowed are %d",
                        ((const struct list *)s->base)->count + child->count, CBX_POLICY_RULES_MAX);
    }
    if (!start_list(m, s, &all)) {
        return fail_memory(m);
    }
    struct cbx_draft_rule *rules = (struct cbx_draft_rule *)(void *)all.items;
    size_t inherited = all.count;
    for (size_t i = 0; i < child->count; i++) {
        const struct cbx_draft_rule *own = (const struct cbx_draft_rule *)(void *)child->items + i;
        size_t at = 0;
        while (at < inherited && !cbx_str_equal(rules[at].v.id, own->v.id)) {
            at++;
        }
        if (at == inherited) {
            rules[all.count++] = *own;
            continue;
        }
        int failed = merge_rule(m, &rules[at], own);
        if (failed) {
            return failed;
        }
    }
    *(struct list *)s->base = all;
    return 0;
}

/* --- sections --------------------------------------------------------------------------------- */

static int merge_nested(struct merge *m, const struct slot *s)
{
    /* the value may be a name instead of the mapping */
    bool whole = s->key->type == CBX_KEY_NETWORK;
    if (whole && !s->child_given) {
        return 0;
    }
    return merge_section(m, s->key->more, s->base, whole && s->base_given, s->child, whole);
}

static int (*const functions[])(struct merge *, const struct slot *) = {
#define CBX_MERGE(id, function, meaning) function,
#include "policies/merge/merge.def"
#undef CBX_MERGE
};

const char *cbx_merge_meaning(enum cbx_merge merge)
{
    static const char *const meanings[] = {
#define CBX_MERGE(id, function, meaning) meaning,
#include "policies/merge/merge.def"
#undef CBX_MERGE
    };
    return meanings[merge];
}

/* base_given, child_given: true if all keys count as given, regardless of the heads. */
static int merge_section(struct merge *m, const struct cbx_section *section, void *base,
                         bool base_given, const void *child, bool child_given)
{
    static const struct cbx_draft_head none = { 0 };
    struct cbx_draft_head *base_head = section->head ? base : NULL;
    const struct cbx_draft_head *head = section->head ? child : &none;
    uint64_t given = base_head != NULL ? base_head->given : 0;
    for (size_t i = 0; i < section->key_count; i++) {
        const struct cbx_key *key = &section->keys[i];
        struct slot slot = { .key = key,
                             .head = head,
                             .base = (char *)base + key->offset,
                             .child = (const char *)child + key->offset,
                             .base_given = base_given || (given >> i & 1) != 0,
                             .child_given = child_given || (head->given >> i & 1) != 0 };
        int failed = functions[key->merge] != NULL ? functions[key->merge](m, &slot) : 0;
        if (failed) {
            return failed;
        }
    }
    if (base_head != NULL) {
        base_head->given |= head->given;
    }
    return 0;
}

int cbx_draft_merge(struct cbx_draft *base, const struct cbx_draft *child, bool parents,
                    struct cbx_arena *arena, struct cbx_err *err)
{
    struct merge m = { .arena = arena, .err = err, .parents = parents };
    return merge_section(&m, &cbx_section_policy, base, false, child, false);
}
