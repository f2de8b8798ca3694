/* SPDX-License-Identifier: MIT
 * Evaluates methods of constants in JavaScript, and of functions. */
#include "analyzer/lang/javascript/internal.h"

static const struct cbx_values *split_text(struct cbx_walk *js, struct cbx_str text,
                                           struct cbx_str separator)
{
    uint32_t capacity = text.len < 2048 && (separator.len > 0 || cbx_str_is_ascii(text))
                            ? (uint32_t)text.len + 2
                            : 0,
             n = 0;
    const struct cbx_values **members =
        capacity > 0 ? cbx_arena_array(js->arena, capacity, sizeof(*members)) : NULL;
    if (members == NULL) {
        return &cbx_values_unknown;
    }
    for (size_t at = 0; at <= text.len && n < capacity;) {
        const char *hit = separator.len > 0 && at < text.len
                              ? memmem(text.p + at, text.len - at, separator.p, separator.len)
                              : NULL;
        size_t end = separator.len == 0 ? at + 1 : hit != NULL ? (size_t)(hit - text.p) : text.len;
        if (separator.len == 0 && at == text.len) {
            break;
        }
        members[n++] = cbx_values_text(js->arena, cbx_str_sub(text, at, end));
        at = separator.len == 0 ? end : hit != NULL ? end + separator.len : text.len + 1;
    }
    return cbx_values_one(
        js->arena, &(struct cbx_value){ .kind = CBX_V_LIST, .members = members, .count = n });
}

static const struct cbx_values *slice_text(struct cbx_walk *js, struct cbx_str text,
                                           const struct cbx_js_call_site *site,
                                           struct cbx_scope *scope, bool length, bool substring)
{
    bool given;
    int64_t len = (int64_t)text.len, from = 0, to = len;
    const struct cbx_values *first = cbx_js_argument(js, site, 0, scope, &given);
    if (given && !cbx_values_is_number(first, &from)) {
        return &cbx_values_unknown;
    }
    const struct cbx_values *second = cbx_js_argument(js, site, 1, scope, &given);
    if (given && !cbx_values_is_number(second, &to)) {
        return &cbx_values_unknown;
    }
    if (!cbx_str_is_ascii(text)) {
        return &cbx_values_unknown;
    }
    if (substring) { /* negative places become 0, places in the wrong order are swapped */
        from = from < 0 ? 0 : from;
        to = to < 0 ? 0 : to;
        int64_t last = from > to ? from : to;
        from = from > to ? to : from;
        to = last;
    }
    if (from < 0) {
        from = from + len > 0 ? from + len : 0;
    } else if (from > len) {
        from = len;
    }
    if (given && length) {
        to = to < 0 || to > len - from ? len : from + to;
    } else if (to < 0) {
        to += len;
    } else if (to > len) {
        to = len;
    }
    return cbx_values_text(js->arena,
                           to > from ? cbx_str_sub(text, (size_t)from, (size_t)to) : CBX_STR(""));
}

static const struct cbx_values *call_text_method(struct cbx_walk *js, struct cbx_str text,
                                                 struct cbx_str method,
                                                 const struct cbx_js_call_site *site,
                                                 struct cbx_scope *scope)
{
    bool given;
    struct cbx_str a, b;
    int64_t number;
    const struct cbx_values *first = cbx_js_argument(js, site, 0, scope, &given);
    bool is_text = given && cbx_values_is_text(first, &a);
    if (cbx_str_is(method, "toString") || cbx_str_is(method, "valueOf")) {
        bool plain =
            !given || (is_text && cbx_js_argument_count(site) == 1 && cbx_str_is_ascii(text) &&
                       cbx_js_keeps_ascii(cbx_fold_case(js->arena, a, false)));
        return plain ? cbx_values_text(js->arena, text) : &cbx_values_unknown;
    }
    if (cbx_str_is(method, "trim")) {
        return cbx_values_text(js->arena, cbx_fold_trim(text));
    }
    if (cbx_str_is(method, "normalize")) {
        return cbx_str_is_ascii(text) ? cbx_values_text(js->arena, text) : &cbx_values_unknown;
    }
    if (cbx_str_is(method, "split") && is_text) {
        return split_text(js, text, a);
    }
    if (cbx_str_is(method, "concat") && cbx_js_argument_count(site) == 1) {
        uint32_t gaps = 0;
        a = cbx_js_piece(first, &gaps);
        return cbx_values_built(js->arena, cbx_fold_concat(js->arena, text, a), gaps);
    }
    if (cbx_str_is(method, "slice") || cbx_str_is(method, "substring") ||
        cbx_str_is(method, "substr")) {
        return slice_text(js, text, site, scope, cbx_str_is(method, "substr"),
                          cbx_str_is(method, "substring"));
    }
    if (cbx_str_is_ascii(text) && (cbx_str_is(method, "charAt") || cbx_str_is(method, "at")) &&
        cbx_values_is_number(first, &number) && number >= 0) {
        return cbx_values_text(js->arena, cbx_str_sub(text, (size_t)number, (size_t)number + 1));
    }
    if (cbx_str_is(method, "toLowerCase") || cbx_str_is(method, "toUpperCase")) {
        return cbx_values_text(js->arena,
                               cbx_fold_case(js->arena, text, cbx_str_is(method, "toUpperCase")));
    }
    if ((cbx_str_is(method, "replace") || cbx_str_is(method, "replaceAll")) && is_text &&
        cbx_values_is_text(cbx_js_argument(js, site, 1, scope, &given), &b)) {
        if (memchr(b.p, '$', b.len) != NULL) {
            return &cbx_values_unknown; /* the replacement contains a part of the text */
        }
        bool all = cbx_str_is(method, "replaceAll");
        return cbx_values_text(js->arena, all ? cbx_fold_replace(js->arena, text, a, b)
                                              : cbx_fold_replace_first(js->arena, text, a, b));
    }
    return &cbx_values_unknown;
}

/* Returns the values that the function in the first argument may return. */
static const struct cbx_values *
callback_result(struct cbx_walk *js, const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    bool given;
    const struct cbx_values *function = cbx_js_argument(js, site, 0, scope, &given);
    const struct cbx_value *v = function->items[0];
    return function->count == 1 && v->kind == CBX_V_FUNCTION && v->scope != NULL
               ? cbx_values_some(cbx_scope_returns(js, v->scope))
               : &cbx_values_unknown;
}

/* Evaluates methods that return members, lists of members, or results of their function for
 * members. */
static const struct cbx_values *list_method(struct cbx_walk *js, const struct cbx_value *list,
                                            struct cbx_str method,
                                            const struct cbx_js_call_site *site,
                                            struct cbx_scope *scope)
{
    static const struct {
        const char *name;
        enum { MEMBER, LIST, MAPPED, RESULT, ENTRIES } gives;
    } rows[] = { { "pop", MEMBER },      { "shift", MEMBER },      { "at", MEMBER },
                 { "find", MEMBER },     { "findLast", MEMBER },   { "filter", LIST },
                 { "slice", LIST },      { "concat", LIST },       { "flat", LIST },
                 { "sort", LIST },       { "values", LIST },       { "splice", LIST },
                 { "map", MAPPED },      { "flatMap", MAPPED },    { "reduce", RESULT },
                 { "entries", ENTRIES }, { "reduceRight", RESULT } };
    const struct cbx_values *any = cbx_values_members(js->arena, cbx_values_one(js->arena, list)),
                            *one = any;
    if ((cbx_values_flags(any) & CBX_UNKNOWN_NAMES) != 0) {
        one = cbx_values_join(js->arena, any, cbx_values_marked(js->arena, CBX_UNKNOWN_PICKED));
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!cbx_str_is(method, rows[i].name)) {
            continue;
        }
        switch (rows[i].gives) {
        case ENTRIES:
            return cbx_js_entries(js, any);
        case MEMBER:
            return one;
        case LIST:
            return cbx_values_each(js->arena, any);
        case MAPPED:
            return cbx_values_each(js->arena, callback_result(js, site, scope));
        case RESULT:
            return callback_result(js, site, scope);
        }
    }
    return &cbx_values_unknown;
}

static const struct cbx_values *call_list_method(struct cbx_walk *js, const struct cbx_value *list,
                                                 struct cbx_str method,
                                                 const struct cbx_js_call_site *site,
                                                 struct cbx_scope *scope)
{
    uint32_t gaps = 0;
    bool given;
    struct cbx_str separator = CBX_STR(","), out = CBX_STR(""), part;
    if (cbx_str_is(method, "reverse")) {
        struct cbx_value copy = *list;
        const struct cbx_values **members =
            cbx_arena_array(js->arena, list->count + 1u, sizeof(*members));
        for (uint32_t i = 0; members != NULL && i < list->count; i++) {
            members[i] = list->members[list->count - 1 - i];
        }
        copy.members = members;
        return members != NULL ? cbx_values_one(js->arena, &copy) : &cbx_values_unknown;
    }
    if (!cbx_str_is(method, "join")) {
        return list_method(js, list, method, site, scope);
    }
    const struct cbx_values *first = cbx_js_argument(js, site, 0, scope, &given);
    if (given && !cbx_values_is_text(first, &separator)) {
        return &cbx_values_unknown;
    }
    for (uint32_t i = 0; i < list->count && out.p != NULL; i++) {
        part = cbx_js_piece(list->members[i], &gaps);
        gaps |= cbx_js_secrets(js, list->members[i], false); /* of a list within the list */
        out = i > 0 ? cbx_fold_concat(js->arena, out, separator) : out;
        out = out.p != NULL ? cbx_fold_concat(js->arena, out, part) : out;
    }
    return cbx_values_built(js->arena, out, gaps);
}

/* Returns the partial of f.bind(this, a). */
static const struct cbx_values *bind_arguments(struct cbx_walk *js, const struct cbx_values *callee,
                                               const struct cbx_js_call_site *site,
                                               struct cbx_scope *scope)
{
    uint32_t count = cbx_js_argument_count(site);
    const struct cbx_values **members =
        count > 1 ? cbx_arena_array(js->arena, count, sizeof(*members)) : NULL;
    if (members == NULL) {
        return callee;
    }
    bool given;
    members[0] = callee;
    for (uint32_t i = 1; i < count; i++) {
        members[i] = cbx_js_argument(js, site, i, scope, &given);
    }
    struct cbx_value bound = { .kind = CBX_V_PARTIAL, .members = members, .count = count };
    return cbx_values_one(js->arena, &bound);
}

/* Evaluates 'a'.concat('b'), ['a', 'b'].join(''), f.bind(x), promise.then(...); returns NULL for
 * an unknown method. */
const struct cbx_values *cbx_js_call_method(struct cbx_walk *js, struct cbx_node *callee,
                                            const struct cbx_js_call_site *site,
                                            struct cbx_scope *scope)
{
    struct cbx_str method, text;
    if ((cbx_js_kind(callee) != JS_member_expression &&
         cbx_js_kind(callee) != JS_subscript_expression) ||
        !cbx_js_member(js, callee, scope, &method)) {
        return NULL;
    }
    const struct cbx_values *object =
        cbx_js_eval(js, cbx_child_of(callee, CBX_FIELD_object), scope);
    const struct cbx_values *out = NULL;
    if (cbx_values_is_text(object, &text)) {
        out = call_text_method(js, text, method, site, scope);
    } else if (object->count == 1 && object->items[0]->kind == CBX_V_LIST) {
        out = call_list_method(js, object->items[0], method, site, scope);
    }
    if (out != NULL) { /* the program may define its own: String.prototype.trim = ... */
        return cbx_scope_chain(js, NULL, method) != NULL
                   ? cbx_values_join(js->arena, out, &cbx_values_unknown)
                   : out;
    }
    return cbx_str_is(method, "bind") ? bind_arguments(js, object, site, scope) : NULL;
}
