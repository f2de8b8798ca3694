/* SPDX-License-Identifier: MIT
 * Results of callables in Python on constants and containers: numbers, texts, lists, pairs,
 * mappings, paths. */
#include "analyzer/lang/python/internal.h"

#include "policies/base/sort.h"

#include <ctype.h>
#include <stdlib.h>

enum { MEMBERS_MAX = 256 };

/* Returns the letter of the prefix of numbers with this base: 0x, 0o, 0b; 0 if they have none. */
static char letter_of(int64_t base)
{
    switch (base) {
    case 16:
        return 'x';
    case 8:
        return 'o';
    case 2:
        return 'b';
    default:
        return 0;
    }
}

static const struct cbx_values *parse_int(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    struct cbx_str text;
    int64_t base = 10, number;
    char digits[72];
    const struct cbx_values *first = cbx_actual_values(py, actuals, 0, NULL);
    if (!cbx_values_is_text(first, &text)) {
        return (cbx_values_flags(first) & CBX_UNKNOWN_TEXT) != 0 ? &cbx_values_unknown : first;
    }
    if (cbx_actual_find(actuals, 1, "base") != NULL &&
        !cbx_values_is_number(cbx_actual_values(py, actuals, 1, "base"), &base)) {
        return &cbx_values_unknown;
    }
    char prefix = letter_of(base);
    int shown = text.len < 64 ? (int)text.len : 64;
    if (prefix != 0 && !(text.len > 1 && (text.p[1] | 32) == prefix)) {
        snprintf(digits, sizeof(digits), "0%c%.*s", prefix, shown, text.p);
    } else {
        snprintf(digits, sizeof(digits), " %.*s", shown, text.p);
    }
    struct cbx_str all = cbx_fold_trim(cbx_str_of(digits));
    return (base == 10 || prefix != 0) && text.len < 64 && cbx_fold_integer(all, &number)
               ? cbx_values_number(py->arena, cbx_arena_number(py->arena, number), number)
               : &cbx_values_unknown;
}

static const struct cbx_values *make_range(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    int64_t part[3] = { 0, 0, 1 };
    for (uint32_t i = 0; i < 3 && cbx_actual_find(actuals, i, NULL) != NULL; i++) {
        if (!cbx_values_is_number(cbx_actual_values(py, actuals, i, NULL), &part[i])) {
            return cbx_values_each(py->arena, cbx_values_marked(py->arena, CBX_UNKNOWN_NUMBER));
        }
    }
    bool one = cbx_actual_find(actuals, 1, NULL) == NULL;
    int64_t from = one ? 0 : part[0], to = one ? part[0] : part[1], step = part[2];
    int64_t count = step > 0 && to > from   ? (to - from - 1) / step + 1
                    : step < 0 && to < from ? (from - to - 1) / -step + 1
                                            : 0;
    const struct cbx_values **members =
        count <= MEMBERS_MAX && llabs(from) < INT32_MAX && llabs(to) < INT32_MAX
            ? cbx_arena_array(py->arena, (size_t)count + 1, sizeof(*members))
            : NULL;
    if (members == NULL) {
        return cbx_values_each(py->arena, cbx_values_marked(py->arena, CBX_UNKNOWN_NUMBER));
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t n = from + i * step;
        members[i] = cbx_values_number(py->arena, cbx_arena_number(py->arena, n), n);
    }
    return cbx_values_list(py->arena, members, (uint32_t)count);
}

static const struct cbx_values *make_list(struct cbx_walk *py, const struct cbx_values *values)
{
    const struct cbx_value *list = cbx_py_sequence(py, values);
    return list != NULL ? cbx_values_one(py->arena, list)
                        : cbx_values_each(py->arena, cbx_py_members(py, values));
}

static int compare_texts(const void *a, const void *b)
{
    const struct cbx_values *const *x = a, *const *y = b;
    return cbx_str_compare((*x)->items[0]->text, (*y)->items[0]->text);
}

/* Sorts known texts; the members of other lists may be in any order. */
static const struct cbx_values *sort(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    const struct cbx_values *values = cbx_actual_values(py, actuals, 0, NULL);
    const struct cbx_value *list = cbx_py_sequence(py, values);
    const struct cbx_values **members =
        list != NULL && actuals->count == 1
            ? cbx_arena_array(py->arena, list->count + 1u, sizeof(*members))
            : NULL;
    for (uint32_t i = 0; members != NULL && i < list->count; i++) {
        struct cbx_str text;
        members[i] = list->members[i];
        members = cbx_values_is_text(members[i], &text) ? members : NULL;
    }
    if (members == NULL) {
        return cbx_values_each(py->arena, cbx_py_members(py, values));
    }
    const struct cbx_values **sorted =
        cbx_sort_in(py->arena, members, list->count, sizeof(*members), compare_texts) ? members
                                                                                      : NULL;
    return cbx_values_list(py->arena, sorted, list->count);
}

static const struct cbx_values *reverse(struct cbx_walk *py, const struct cbx_values *values)
{
    const struct cbx_value *list = cbx_py_sequence(py, values);
    const struct cbx_values **members =
        list != NULL ? cbx_arena_array(py->arena, list->count + 1u, sizeof(*members)) : NULL;
    for (uint32_t i = 0; members != NULL && i < list->count; i++) {
        members[i] = list->members[list->count - 1 - i];
    }
    return members != NULL ? cbx_values_list(py->arena, members, list->count) : values;
}

const struct cbx_values *cbx_py_pair(struct cbx_walk *py, const struct cbx_values *a,
                                     const struct cbx_values *b)
{
    const struct cbx_values **members = cbx_arena_array(py->arena, 2, sizeof(*members));
    if (members != NULL) {
        members[0] = a;
        members[1] = b;
    }
    return cbx_values_list(py->arena, members, 2);
}

/* Returns the pairs of zip(a, b), enumerate(a), d.items(). */
static const struct cbx_values *make_pairs(struct cbx_walk *py, const struct cbx_values *as,
                                           const struct cbx_values *bs)
{
    const struct cbx_value *a = as != NULL ? cbx_py_sequence(py, as) : NULL,
                           *b = cbx_py_sequence(py, bs);
    uint32_t count = b == NULL ? 0 : a != NULL && a->count < b->count ? a->count : b->count;
    const struct cbx_values **members =
        b != NULL && (a != NULL || as == NULL) && count <= MEMBERS_MAX
            ? cbx_arena_array(py->arena, count + 1u, sizeof(*members))
            : NULL;
    if (members == NULL) {
        const struct cbx_values *first = as != NULL ? cbx_py_members(py, as) : &cbx_values_unknown;
        return cbx_values_each(py->arena, cbx_py_pair(py, first, cbx_py_members(py, bs)));
    }
    for (uint32_t i = 0; i < count; i++) {
        members[i] =
            cbx_py_pair(py,
                        a != NULL ? a->members[i]
                                  : cbx_values_number(py->arena, cbx_arena_number(py->arena, i), i),
                        b->members[i]);
    }
    return cbx_values_list(py->arena, members, count);
}

static const struct cbx_values *map_values(struct cbx_walk *py, const struct cbx_values *values)
{
    const struct cbx_value *map = cbx_values_container(values, CBX_V_MAP);
    return map != NULL ? cbx_values_list(py->arena, map->members, map->count)
                       : cbx_values_each(py->arena, cbx_values_members(py->arena, values));
}

/* Returns the mapping of dict(a=1), dict(pairs), dict(mapping). */
static const struct cbx_values *make_dict(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    const struct cbx_actual *first = cbx_actual_find(actuals, 0, NULL);
    const struct cbx_value *pairs =
        first != NULL ? cbx_py_sequence(py, cbx_actual_values(py, actuals, 0, NULL)) : NULL;
    const struct cbx_values *from = cbx_actual_values(py, actuals, 0, NULL);
    if (first != NULL && from->count == 1 &&
        (from->items[0]->kind == CBX_V_MAP || from->items[0]->kind == CBX_V_NAME)) {
        return from;
    }
    uint32_t count = pairs != NULL ? pairs->count : actuals->count, n = 0;
    struct cbx_str *keys = cbx_arena_array(py->arena, count + 1u, sizeof(*keys));
    const struct cbx_values **members = cbx_arena_array(py->arena, count + 1u, sizeof(*members));
    if (keys == NULL || members == NULL || (first != NULL && pairs == NULL)) {
        return &cbx_values_unknown;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct cbx_values *pair = pairs != NULL ? pairs->members[i] : NULL;
        struct cbx_str key = pairs == NULL ? actuals->items[i].keyword : CBX_STR("\xff");
        if (pair != NULL) {
            key = cbx_py_key(py, cbx_values_member(py->arena, pair, CBX_STR("0")));
        }
        keys[n] = key;
        members[n++] = pair != NULL ? cbx_values_member(py->arena, pair, CBX_STR("1"))
                                    : py->eval(py, actuals->items[i].node, actuals->items[i].scope);
    }
    struct cbx_value map = {
        .kind = CBX_V_MAP, .keys = keys, .members = members, .count = n, .number = actuals->spread
    };
    return cbx_values_one(py->arena, &map);
}

/* Returns the object of types.SimpleNamespace(a=1). */
static const struct cbx_values *make_object(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    const struct cbx_value *map = cbx_values_container(make_dict(py, actuals), CBX_V_MAP);
    if (map == NULL) {
        return &cbx_values_unknown;
    }
    struct cbx_value object = *map;
    object.text = CBX_STR(CBX_MAP_OBJECT);
    object.number = 1; /* the text may set others */
    return cbx_values_one(py->arena, &object);
}

static const struct cbx_values *get_item(struct cbx_walk *py, struct cbx_actuals *actuals,
                                         struct cbx_scope *scope)
{
    const struct cbx_values *out = cbx_py_item(py, cbx_actual_values(py, actuals, 0, NULL),
                                               cbx_actual_values(py, actuals, 1, NULL), scope);
    return cbx_actual_find(actuals, 2, NULL) != NULL
               ? cbx_values_join(py->arena, out, cbx_actual_values(py, actuals, 2, NULL))
               : out;
}

static const struct cbx_values *make_text(struct cbx_walk *py, const struct cbx_values *values,
                                          struct cbx_actuals *actuals)
{
    struct cbx_str text, encoding;
    const struct cbx_values *likely = cbx_py_path_likely(values);
    if (likely != NULL) {
        return likely;
    }
    if (cbx_py_path_text(values, &text)) {
        bool recodes = cbx_actual_find(actuals, 1, "encoding") != NULL;
        return !recodes ? cbx_values_text(py->arena, text)
               : cbx_values_is_text(cbx_actual_values(py, actuals, 1, "encoding"), &encoding)
                   ? cbx_py_codec(py, text, encoding)
                   : &cbx_values_unknown;
    }
    return values->count == 1 && values->items[0]->kind == CBX_V_NUMBER
               ? cbx_values_text(py->arena, values->items[0]->text)
               : cbx_py_from_numbers(py, values);
}

static const struct cbx_values *any_argument(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < actuals->count; i++) {
        const struct cbx_values *one = cbx_actual_values(py, actuals, i, NULL);
        out = cbx_values_join(py->arena, out, one);
        out = cbx_values_join(py->arena, out, cbx_py_members(py, one));
    }
    return cbx_values_some(out);
}

static const struct cbx_values *decode_base64(struct cbx_walk *py, struct cbx_str text,
                                              struct cbx_actuals *actuals)
{
    bool other = memchr(text.p, '-', text.len) != NULL || memchr(text.p, '_', text.len) != NULL ||
                 cbx_actual_find(actuals, 1, "altchars") != NULL;
    return other ? &cbx_values_unknown /* the function decides whether they have a value */
                 : cbx_values_bytes(py->arena, cbx_fold_base64(py->arena, text));
}

/* Returns the result of a callable of the table for one text. */
static const struct cbx_values *call_with_text(struct cbx_walk *py, enum cbx_py_call meaning,
                                               struct cbx_str text, struct cbx_actuals *actuals)
{
    struct cbx_str other;
    switch (meaning) {
    case PY_CALL_ORD:
        return text.len == 1
                   ? cbx_values_number(py->arena,
                                       cbx_arena_number(py->arena, (unsigned char)text.p[0]),
                                       (unsigned char)text.p[0])
                   : &cbx_values_unknown;
    case PY_CALL_HEX:
        return cbx_values_bytes(py->arena, cbx_fold_hex(py->arena, text));
    case PY_CALL_BASE64:
        return decode_base64(py, text, actuals);
    case PY_CALL_CODEC:
        return cbx_values_is_text(cbx_actual_values(py, actuals, 1, "encoding"), &other)
                   ? cbx_py_codec(py, text, other)
                   : &cbx_values_unknown;
    default:
        return &cbx_values_unknown;
    }
}

/* Returns type(X). */
static const struct cbx_values *type_of(struct cbx_walk *py, struct cbx_actuals *actuals,
                                        const struct cbx_values *first)
{
    if (cbx_actual_find(actuals, 1, NULL) != NULL) {
        return &cbx_values_unknown; /* a new class */
    }
    const struct cbx_value *value = first->items[0];
    if (value->kind == CBX_V_NAME && cbx_py_is_owned(value->text)) {
        return first;
    }
    if (value->kind == CBX_V_FUNCTION && cbx_py_kind(value->node) != PY_class_definition) {
        return cbx_values_name(py->arena, CBX_STR("types.FunctionType"));
    }
    return cbx_values_bare(py->arena, CBX_STR("type"));
}

/* Returns a text with $NAME and ${NAME}: a secret if one of the variables is. */
static const struct cbx_values *expand_variables(struct cbx_walk *py, struct cbx_str text)
{
    uint32_t flags = 0;
    const char *dollar = text.len > 0 ? memchr(text.p, '$', text.len) : NULL;
    if (dollar == NULL) {
        return cbx_values_text(py->arena, text);
    }
    while (dollar != NULL) {
        size_t at = (size_t)(dollar - text.p) + 1, end;
        at += at < text.len && text.p[at] == '{' ? 1 : 0;
        for (end = at;
             end < text.len && (isalnum((unsigned char)text.p[end]) || text.p[end] == '_'); end++) {
        }
        flags |= cbx_is_secret_name(cbx_str_sub(text, at, end)) ? CBX_UNKNOWN_SECRET : 0;
        dollar = end < text.len ? memchr(text.p + end, '$', text.len - end) : NULL;
    }
    return cbx_values_marked(py->arena, CBX_UNKNOWN_TEXT | flags);
}

/* Returns the result of a callable that makes a constant; `first` is its first argument. */
static const struct cbx_values *make_constant(struct cbx_walk *py, enum cbx_py_call meaning,
                                              struct cbx_actuals *actuals,
                                              const struct cbx_values *first)
{
    struct cbx_str text;
    int64_t number;
    switch (meaning) {
    case PY_CALL_CHR:
        return cbx_values_is_number(first, &number)
                   ? cbx_values_text(py->arena, cbx_fold_codepoint(py->arena, number))
                   : &cbx_values_unknown;
    case PY_CALL_INT:
        return parse_int(py, actuals);
    case PY_CALL_STR: /* str(b'x') is "b'x'" */
        return first->items[0]->kind == CBX_V_TEXT && first->items[0]->number == CBX_TEXT_BYTES &&
                       cbx_actual_find(actuals, 1, "encoding") == NULL
                   ? &cbx_values_unknown
                   : make_text(py, first, actuals);
    case PY_CALL_TEXT:
        return cbx_values_is_text(make_text(py, first, actuals), &text)
                   ? cbx_values_bytes(py->arena, text)
                   : make_text(py, first, actuals);
    case PY_CALL_EXPAND_VARS:
        return cbx_values_is_text(first, &text) ? expand_variables(py, text) : &cbx_values_unknown;
    case PY_CALL_GETENV:
        return cbx_values_is_text(first, &text)
                   ? cbx_py_variable(py, text)
                   : cbx_values_marked(py->arena, CBX_UNKNOWN_TEXT | CBX_UNKNOWN_SECRET);
    default:
        return cbx_values_is_text(first, &text) ? call_with_text(py, meaning, text, actuals)
                                                : &cbx_values_unknown;
    }
}

/* Returns the result of a callable that makes a container, or reads one. */
static const struct cbx_values *make_of_members(struct cbx_walk *py, enum cbx_py_call meaning,
                                                struct cbx_actuals *actuals,
                                                struct cbx_scope *scope,
                                                const struct cbx_values *first)
{
    switch (meaning) {
    case PY_CALL_ANY_OF:
        return cbx_values_each(py->arena, cbx_py_members(py, first));
    case PY_CALL_MEMBER:
    case PY_CALL_LIST_POP:
        return cbx_py_members(py, first);
    case PY_CALL_ITEM:
    case PY_CALL_DICT_GET:
        return get_item(py, actuals, scope);
    case PY_CALL_LIST:
        return make_list(py, first);
    case PY_CALL_SORTED:
        return sort(py, actuals);
    case PY_CALL_REVERSED:
        return reverse(py, first);
    case PY_CALL_ZIP:
        return make_pairs(py, first, cbx_actual_values(py, actuals, 1, NULL));
    case PY_CALL_ENUMERATE:
        return make_pairs(py, NULL, first);
    case PY_CALL_RANGE:
        return make_range(py, actuals);
    case PY_CALL_DICT:
        return make_dict(py, actuals);
    case PY_CALL_ATTRIBUTES:
        return make_object(py, actuals);
    case PY_CALL_DICT_VALUES:
        return map_values(py, first);
    case PY_CALL_DICT_ITEMS:
        return make_pairs(py, cbx_values_each(py->arena, cbx_py_members(py, first)),
                          map_values(py, first));
    default:
        return make_constant(py, meaning, actuals, first);
    }
}

const struct cbx_values *cbx_py_make(struct cbx_walk *py, enum cbx_py_call meaning,
                                     struct cbx_actuals *actuals, struct cbx_scope *scope)
{
    const struct cbx_values *first = cbx_actual_values(py, actuals, 0, NULL),
                            *second = cbx_actual_values(py, actuals, 1, NULL);
    switch (meaning) {
    case PY_CALL_SAME:
        return first;
    case PY_CALL_SECOND:
        return second;
    case PY_CALL_ARGUMENT:
        return any_argument(py, actuals);
    case PY_CALL_ADD:
        return cbx_py_operator(py, CBX_STR("+"), first, second);
    case PY_CALL_TYPE:
        return type_of(py, actuals, first);
    case PY_CALL_JOIN_PATH:
    case PY_CALL_PATH:
    case PY_CALL_HERE:
    case PY_CALL_HERE_PATH:
    case PY_CALL_HOME_PATH:
    case PY_CALL_ABSOLUTE:
    case PY_CALL_NORMAL:
    case PY_CALL_EXPAND_USER:
    case PY_CALL_PARENT:
        return cbx_py_make_path(py, meaning, actuals);
    default:
        return make_of_members(py, meaning, actuals, scope, first);
    }
}
