/* SPDX-License-Identifier: MIT
 * Abstract values and the folding of constants. */
#include "analyzer/facts/value.h"

#include <stdlib.h>

static const struct cbx_value unknown = { .kind = CBX_V_UNKNOWN };
/* Flags that a set has only if all of its alternatives have them. */
static const uint32_t OF_ALL = CBX_UNKNOWN_CALLER | CBX_UNKNOWN_NUMBER;
const struct cbx_values cbx_values_unknown = { .count = 1, .items = { &unknown } };
const struct cbx_values cbx_values_nothing = { .count = 0, .items = { &unknown } };

const struct cbx_values *cbx_values_some(const struct cbx_values *values)
{
    return values->count > 0 ? values : &cbx_values_unknown;
}

/* Allocates a set with room for `count` alternatives. */
static struct cbx_values *make_set(struct cbx_arena *arena, uint32_t count)
{
    return cbx_arena_alloc(arena, sizeof(struct cbx_values) + count * sizeof(struct cbx_value *));
}

const struct cbx_values *cbx_values_one(struct cbx_arena *arena, const struct cbx_value *value)
{
    enum { HEAD = (sizeof(struct cbx_values) + sizeof(struct cbx_value *) + 15) & ~15u };
    char *p = cbx_arena_alloc(arena, HEAD + sizeof(*value)); /* the set, and after it the value */
    if (p == NULL) {
        return &cbx_values_unknown;
    }
    struct cbx_values *set = (struct cbx_values *)(void *)p;
    struct cbx_value *copy = (struct cbx_value *)(void *)(p + HEAD);
    *copy = *value;
    set->items[0] = copy;
    set->count = 1;
    return set;
}

const struct cbx_values *cbx_values_name(struct cbx_arena *arena, struct cbx_str name)
{
    return cbx_values_one(arena, &(struct cbx_value){ .kind = CBX_V_NAME, .text = name });
}

const struct cbx_values *cbx_values_bare(struct cbx_arena *arena, struct cbx_str name)
{
    return cbx_values_one(arena,
                          &(struct cbx_value){ .kind = CBX_V_NAME, .text = name, .number = 1 });
}

const struct cbx_values *cbx_values_text(struct cbx_arena *arena, struct cbx_str text)
{
    return text.p == NULL
               ? &cbx_values_unknown
               : cbx_values_one(arena, &(struct cbx_value){ .kind = CBX_V_TEXT, .text = text });
}

const struct cbx_values *cbx_values_marked(struct cbx_arena *arena, uint32_t flags)
{
    struct cbx_value marked = { .kind = CBX_V_UNKNOWN, .number = flags };
    return flags == 0 ? &cbx_values_unknown : cbx_values_one(arena, &marked);
}

uint32_t cbx_values_flags(const struct cbx_values *values)
{
    uint32_t flags = 0, all = UINT32_MAX;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        if (v->kind == CBX_V_UNKNOWN) {
            flags |= (uint32_t)v->number;
            all &= (uint32_t)v->number;
        }
    }
    return flags & (all | ~OF_ALL);
}

struct cbx_str cbx_values_piece(const struct cbx_values *values, uint32_t *gaps)
{
    const struct cbx_value *v = values->count == 1 ? values->items[0] : &unknown;
    bool path = v->kind == CBX_V_NAME && v->count == 1 && v->members[0]->count == 1;
    v = path ? v->members[0]->items[0] : v;
    bool written = v->kind == CBX_V_TEXT || v->kind == CBX_V_NUMBER,
         partly = v->kind == CBX_V_UNKNOWN && v->text.len > 0;
    if (!written) {
        uint32_t flags = cbx_values_flags(values);
        *gaps |= CBX_UNKNOWN_BUILT | cbx_unknown_inherited(flags);
        *gaps |= (flags & CBX_UNKNOWN_CALLER) == 0 ? CBX_UNKNOWN_HERE : 0;
    }
    return written || partly ? v->text : CBX_STR("*");
}

const struct cbx_values *cbx_values_likely(struct cbx_arena *arena, struct cbx_str text)
{
    struct cbx_value likely = { .kind = CBX_V_UNKNOWN, .text = text, .number = CBX_UNKNOWN_BUILT };
    bool gap = text.p == NULL || memchr(text.p, '*', text.len) != NULL;
    return gap ? cbx_values_built(arena, text, CBX_UNKNOWN_BUILT) : cbx_values_one(arena, &likely);
}

const struct cbx_values *cbx_values_built(struct cbx_arena *arena, struct cbx_str text,
                                          uint32_t gaps)
{
    enum { PATH_MAX_BYTES = 4096 };
    if (gaps == 0) {
        return cbx_values_text(arena, text);
    }
    bool kept = text.p != NULL && text.len > 0 && text.len <= PATH_MAX_BYTES &&
                (text.p[0] == '~' || text.p[0] == '.' || memchr(text.p, '/', text.len) != NULL ||
                 cbx_str_starts(text, CBX_STR("__")));
    gaps &= (gaps & CBX_UNKNOWN_HERE) != 0 ? ~(uint32_t)CBX_UNKNOWN_CALLER : UINT32_MAX;
    struct cbx_value built = { .kind = CBX_V_UNKNOWN,
                               .number = gaps & ~(uint32_t)CBX_UNKNOWN_HERE };
    built.text = kept ? text : built.text;
    return cbx_values_one(arena, &built);
}

const struct cbx_values *cbx_values_bytes(struct cbx_arena *arena, struct cbx_str text)
{
    struct cbx_value bytes = { .kind = CBX_V_TEXT, .text = text, .number = CBX_TEXT_BYTES };
    return text.p == NULL ? &cbx_values_unknown : cbx_values_one(arena, &bytes);
}

const struct cbx_values *cbx_values_number(struct cbx_arena *arena, struct cbx_str text,
                                           int64_t number)
{
    return cbx_values_one(
        arena, &(struct cbx_value){ .kind = CBX_V_NUMBER, .text = text, .number = number });
}

const struct cbx_values *cbx_values_list(struct cbx_arena *arena,
                                         const struct cbx_values *const *members, uint32_t count)
{
    struct cbx_value list = { .kind = CBX_V_LIST, .members = members, .count = count };
    return members != NULL ? cbx_values_one(arena, &list) : &cbx_values_unknown;
}

const struct cbx_values *cbx_values_each(struct cbx_arena *arena, const struct cbx_values *member)
{
    const struct cbx_values **members = cbx_arena_array(arena, 1, sizeof(*members));
    if (members == NULL) {
        return &cbx_values_unknown;
    }
    members[0] = member;
    struct cbx_value list = { .kind = CBX_V_LIST, .members = members, .count = 1, .number = 1 };
    return cbx_values_one(arena, &list);
}

const struct cbx_value *cbx_values_container(const struct cbx_values *values,
                                             enum cbx_value_kind kind)
{
    bool one =
        values->count == 1 && values->items[0]->kind == kind && values->items[0]->number == 0;
    return one ? values->items[0] : NULL;
}

const struct cbx_values *cbx_values_constant(struct cbx_arena *arena, struct cbx_str text)
{
    return cbx_values_one(arena,
                          &(struct cbx_value){ .kind = CBX_V_NUMBER, .text = text, .count = 1 });
}

static bool same(const struct cbx_value *a, const struct cbx_value *b)
{
    return a == b ||
           (a->kind == b->kind && a->members == b->members && a->node == b->node &&
            a->number == b->number && a->count == b->count && cbx_str_equal(a->text, b->text));
}

static bool is_constant(const struct cbx_value *v)
{
    return v->kind == CBX_V_TEXT || v->kind == CBX_V_NUMBER || v->kind == CBX_V_LIST ||
           v->kind == CBX_V_MAP;
}

/* Returns true for a member of another file of the program: "./x.mjs.run", "..x.run". */
static bool is_of_own_file(struct cbx_str name)
{
    return name.len > 0 && (name.p[0] == '.' || name.p[0] == '/');
}

/* Returns true for names that nothing binds, names of the program's other files, and functions of
 * the source: "anything" represents them well enough. */
static bool is_spare(const struct cbx_value *v)
{
    return v->kind == CBX_V_FUNCTION || v->kind == CBX_V_PARTIAL ||
           (v->kind == CBX_V_NAME && (v->number == CBX_NAME_BARE || is_of_own_file(v->text)));
}

/* Returns the index of the alternative to drop from a full set: a constant, else a spare one;
 * the count of the set if there is none. */
static uint32_t find_spare(const struct cbx_values *set)
{
    uint32_t bare = set->count;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct cbx_value *v = set->items[i];
        if (is_constant(v)) {
            return i;
        }
        bare = is_spare(v) ? i : bare;
    }
    return bare;
}

/* Returns the index of "anything"; the count of the set if it is not there. The set has at most
 * one: each copy would cost an alternative. */
static uint32_t find_unknown(const struct cbx_values *set)
{
    uint32_t i = 0;
    while (i < set->count && set->items[i]->kind != CBX_V_UNKNOWN) {
        i++;
    }
    return i;
}

/* Adds an alternative; returns false if one was dropped. A name replaces a constant: rules match
 * names, and an attacker must not be able to crowd a name out with constants. */
static bool add_to_set(struct cbx_values *set, const struct cbx_value *value, bool *more)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (same(set->items[i], value)) {
            return true;
        }
    }
    if (set->count < CBX_VALUES_MAX) {
        set->items[set->count++] = value;
        return true;
    }
    bool spare = is_constant(value) || value->kind == CBX_V_UNKNOWN || is_spare(value);
    uint32_t place = spare ? set->count : find_spare(set);
    if (place < set->count) {
        set->items[place] = value;
    }
    *more |= !spare && place == set->count;
    return false;
}

/* Replaces two "anything" by one with the flags of both. Returns false if the set has none yet,
 * or one of them has known parts. */
static bool merge_unknown(struct cbx_arena *arena, struct cbx_values *set,
                          const struct cbx_value *value)
{
    if (value->kind != CBX_V_UNKNOWN || value->text.len > 0) {
        return false;
    }
    uint32_t i = find_unknown(set);
    if (i == set->count || set->items[i]->text.len > 0) {
        return false;
    }
    uint32_t a = (uint32_t)set->items[i]->number, b = (uint32_t)value->number;
    uint32_t both = (a | b) & ((a & b) | ~OF_ALL);
    if (both != a) {
        set->items[i] = both == b ? value : cbx_values_marked(arena, both)->items[0];
    }
    return true;
}

/* Adds the alternatives of `values` to a set with room for them, or for the cap. */
static void add_all(struct cbx_arena *arena, struct cbx_values *set,
                    const struct cbx_values *values)
{
    bool lost = false, more = false;
    bool full = set->count + values->count > CBX_VALUES_MAX;
    uint32_t flags = full ? cbx_values_flags(set) | cbx_values_flags(values) : 0;
    for (uint32_t i = 0; i < values->count; i++) {
        lost |= !merge_unknown(arena, set, values->items[i]) &&
                !add_to_set(set, values->items[i], &more);
    }
    if (lost) {
        uint32_t place = find_unknown(set);
        place = place < set->count ? place : find_spare(set);
        set->items[place < set->count ? place : set->count - 1] =
            cbx_values_marked(arena, flags | (more ? CBX_UNKNOWN_MORE : 0))->items[0];
    }
}

static struct cbx_values *copy_set(struct cbx_arena *arena, const struct cbx_values *values,
                                   uint32_t room)
{
    struct cbx_values *set = make_set(arena, room);
    if (set != NULL) {
        memcpy(set, values, sizeof(*values) + values->count * sizeof(values->items[0]));
    }
    return set;
}

static uint32_t capped(uint32_t count)
{
    return count < CBX_VALUES_MAX ? count : CBX_VALUES_MAX;
}

const struct cbx_values *cbx_values_join(struct cbx_arena *arena, const struct cbx_values *a,
                                         const struct cbx_values *b)
{
    if (a == b || b->count == 0) {
        return a;
    }
    if (a->count == 0) {
        return b;
    }
    struct cbx_values *set = copy_set(arena, a, capped(a->count + b->count));
    if (set == NULL) {
        return &cbx_values_unknown;
    }
    add_all(arena, set, b);
    return set;
}

void cbx_union_add(struct cbx_arena *arena, struct cbx_union *sum, const struct cbx_values *values)
{
    if (sum->values == values || values->count == 0) {
        return;
    }
    if (sum->values->count == 0) {
        sum->values = values;
        return;
    }
    uint32_t room = capped(sum->values->count + values->count);
    if (sum->own == NULL || sum->room < room) {
        sum->room = capped(room * 2);
        sum->own = copy_set(arena, sum->values, sum->room);
        if (sum->own == NULL) {
            sum->values = &cbx_values_unknown;
            return;
        }
        sum->values = sum->own;
    }
    add_all(arena, sum->own, values);
}

bool cbx_values_is_text(const struct cbx_values *values, struct cbx_str *out)
{
    if (values->count != 1 || values->items[0]->kind != CBX_V_TEXT) {
        return false;
    }
    *out = values->items[0]->text;
    return true;
}

bool cbx_values_all_text(const struct cbx_values *values)
{
    bool all = values->count > 0;
    for (uint32_t i = 0; i < values->count; i++) {
        all &= values->items[i]->kind == CBX_V_TEXT;
    }
    return all;
}

/* Returns the texts of the alternatives, paths of objects included: the whole texts, or those
 * with gaps. */
static const struct cbx_str *written(struct cbx_arena *arena, const struct cbx_values *values,
                                     bool whole, uint32_t *count)
{
    struct cbx_str *texts = NULL;
    *count = 0;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool object = v->kind == CBX_V_NAME && v->count == 1 && v->members[0]->count == 1;
        v = object ? v->members[0]->items[0] : v;
        bool partly = v->kind == CBX_V_UNKNOWN && v->text.len > 0,
             gaps = partly && memchr(v->text.p, '*', v->text.len) != NULL;
        if (v->text.p == NULL || (v->kind != CBX_V_TEXT && !partly) || gaps == whole) {
            continue;
        }
        texts = texts != NULL ? texts : cbx_arena_array(arena, values->count, sizeof(*texts));
        if (texts != NULL) {
            texts[(*count)++] = v->text;
        }
    }
    return texts;
}

const struct cbx_str *cbx_values_texts(struct cbx_arena *arena, const struct cbx_values *values,
                                       uint32_t *count)
{
    return written(arena, values, true, count);
}

const struct cbx_str *cbx_values_partials(struct cbx_arena *arena, const struct cbx_values *values,
                                          uint32_t *count)
{
    return written(arena, values, false, count);
}

bool cbx_values_is_number(const struct cbx_values *values, int64_t *out)
{
    if (values->count != 1 || values->items[0]->kind != CBX_V_NUMBER ||
        values->items[0]->count != 0) {
        return false;
    }
    *out = values->items[0]->number;
    return true;
}

bool cbx_values_has_more(const struct cbx_values *values)
{
    return (cbx_values_flags(values) & CBX_UNKNOWN_MORE) != 0;
}

bool cbx_values_has_unknown(const struct cbx_values *values)
{
    for (uint32_t i = 0; i < values->count; i++) {
        if (values->items[i]->kind == CBX_V_UNKNOWN) {
            return true;
        }
    }
    return values->count == 0;
}

/* Returns the last member with this key; members with unknown keys may replace it. */
static const struct cbx_values *member_of_map(struct cbx_arena *arena, const struct cbx_value *map,
                                              struct cbx_str key)
{
    const struct cbx_values *out = map->number == 1 ? &cbx_values_unknown : &cbx_values_nothing;
    bool found = false;
    for (uint32_t i = map->count; i > 0; i--) {
        bool any = map->keys[i - 1].len > 0 && map->keys[i - 1].p[0] == '\xff';
        bool same_key = !found && cbx_str_equal(map->keys[i - 1], key);
        found |= same_key;
        if (any || same_key) {
            out = cbx_values_join(arena, out, map->members[i - 1]);
        }
        if (any) {
            out = cbx_values_join(arena, out, &cbx_values_unknown);
        }
    }
    return found ? out : cbx_values_join(arena, out, &cbx_values_unknown);
}

const struct cbx_values *cbx_value_member(struct cbx_arena *arena, const struct cbx_value *v,
                                          struct cbx_str key)
{
    if (v->kind == CBX_V_MAP) {
        return member_of_map(arena, v, key);
    }
    if (v->kind == CBX_V_LIST && v->number == 1) {
        return cbx_values_join(arena, v->members[0], &cbx_values_unknown);
    }
    if (v->kind == CBX_V_LIST && key.len > 0 && key.len < 8) {
        char digits[9] = "";
        memcpy(digits, key.p, key.len);
        long index = strtol(digits, NULL, 10);
        index += index < 0 ? (long)v->count : 0;
        return index >= 0 && index < (long)v->count ? v->members[index] : &cbx_values_unknown;
    }
    uint32_t flags = v->kind == CBX_V_UNKNOWN ? cbx_unknown_inherited((uint32_t)v->number) : 0;
    return cbx_values_marked(arena, flags);
}

const struct cbx_values *cbx_values_member(struct cbx_arena *arena, const struct cbx_values *values,
                                           struct cbx_str key)
{
    struct cbx_union out = { .values = &cbx_values_nothing };
    for (uint32_t i = 0; i < values->count; i++) {
        cbx_union_add(arena, &out, cbx_value_member(arena, values->items[i], key));
    }
    return cbx_values_some(out.values);
}

const struct cbx_values *cbx_values_loose(struct cbx_arena *arena, const struct cbx_values *values)
{
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < values->count; i++) {
        struct cbx_value v = *values->items[i];
        bool bytes = v.kind == CBX_V_TEXT && v.number == CBX_TEXT_BYTES;
        const struct cbx_values *one = cbx_values_one(arena, &v);
        if (v.kind == CBX_V_LIST) {
            one = cbx_values_each(
                arena, cbx_values_join(arena, cbx_values_members(arena, one), &cbx_values_unknown));
        } else if (v.kind == CBX_V_MAP) {
            v.number = 1;
            one = cbx_values_one(arena, &v);
        }
        out = cbx_values_join(arena, out, one);
        out = bytes ? cbx_values_join(arena, out, &cbx_values_unknown) : out;
    }
    return cbx_values_some(out);
}

const struct cbx_values *cbx_values_members(struct cbx_arena *arena,
                                            const struct cbx_values *values)
{
    struct cbx_union out = { .values = &cbx_values_nothing };
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool container = v->kind == CBX_V_LIST || v->kind == CBX_V_MAP;
        if (!container) {
            uint32_t flags =
                v->kind == CBX_V_UNKNOWN ? cbx_unknown_inherited((uint32_t)v->number) : 0;
            cbx_union_add(arena, &out, cbx_values_marked(arena, flags));
        }
        for (uint32_t m = 0; container && m < v->count && m < 64; m++) {
            cbx_union_add(arena, &out, v->members[m]);
        }
    }
    return cbx_values_some(out.values);
}
