/* SPDX-License-Identifier: MIT
 * What a call in Python may give: methods of constants, callables of the tables, functions of this
 * source. */
#include "analyzer/lang/python.h"

#include <stdlib.h>

static const struct cbx_values nothing;

TSNode cbx_py_argument(struct cbx_walk *py, TSNode call, uint32_t position, const char *keyword)
{
    TSNode list = cbx_node_field(call, CBX_FIELD_arguments), none = { 0 };
    uint32_t at = 0;
    if (cbx_py_kind(list) == PY_generator_expression) {
        return position == 0 ? list : none;
    }
    for (uint32_t i = 0, n = ts_node_is_null(list) ? 0 : ts_node_named_child_count(list);
         i < n && i < 64; i++) {
        TSNode child = ts_node_named_child(list, i);
        if (cbx_py_kind(child) == PY_keyword_argument) {
            if (keyword != NULL &&
                cbx_str_is(cbx_walk_text(py, cbx_node_field(child, CBX_FIELD_name)), keyword)) {
                return cbx_node_field(child, CBX_FIELD_value);
            }
        } else if (cbx_py_kind(child) != PY_comment && at++ == position) {
            return child;
        }
    }
    return none;
}

static const struct cbx_values *eval_argument(struct cbx_walk *py, TSNode call, uint32_t position,
                                              const char *keyword, struct cbx_scope *scope)
{
    TSNode node = cbx_py_argument(py, call, position, keyword);
    return ts_node_is_null(node) ? &cbx_values_unknown : cbx_py_eval(py, node, scope);
}

static struct cbx_str join_members(struct cbx_walk *py, struct cbx_str separator,
                                   const struct cbx_values *list)
{
    struct cbx_str out = CBX_STR(""), part;
    if (cbx_values_is_text(list, &part) && separator.len == 0) {
        return part;
    }
    if (list->count != 1 || list->items[0].kind != CBX_V_LIST) {
        return (struct cbx_str){ 0 };
    }
    for (uint32_t i = 0; i < list->items[0].count && out.p != NULL; i++) {
        if (!cbx_values_is_text(list->items[0].members[i], &part)) {
            return (struct cbx_str){ 0 };
        }
        out = i > 0 ? cbx_fold_concat(py->arena, out, separator) : out;
        out = out.p != NULL ? cbx_fold_concat(py->arena, out, part) : out;
    }
    return out;
}

/* "{}{}".format('a', 'b'), "{0}{1}", "{x}". */
static const struct cbx_values *format_braces(struct cbx_walk *py, struct cbx_str format,
                                              TSNode call, struct cbx_scope *scope)
{
    struct cbx_str out = CBX_STR(""), part;
    uint32_t automatic = 0;
    for (size_t at = 0; at < format.len && out.p != NULL;) {
        const char *open = memchr(format.p + at, '{', format.len - at);
        size_t end = open != NULL ? (size_t)(open - format.p) : format.len;
        out = cbx_fold_concat(py->arena, out, cbx_str_sub(format, at, end));
        const char *close = open != NULL ? memchr(open, '}', format.len - end) : NULL;
        if (open == NULL) {
            break;
        }
        if (close == NULL || out.p == NULL) {
            return &cbx_values_unknown;
        }
        char field[64];
        snprintf(field, sizeof(field), "%.*s", (int)(close - open - 1), open + 1);
        bool digits = strspn(field, "0123456789") == strlen(field);
        uint32_t position = field[0] == '\0' ? automatic++
                            : digits         ? (uint32_t)strtoul(field, NULL, 10)
                                             : UINT32_MAX;
        if (!cbx_values_is_text(eval_argument(py, call, position, digits ? NULL : field, scope),
                                &part)) {
            return &cbx_values_unknown;
        }
        out = cbx_fold_concat(py->arena, out, part);
        at = (size_t)(close - format.p) + 1;
    }
    return cbx_values_text(py->arena, out);
}

/* Is this ASCII text the same in the encoding that stands at `position` of a call, UTF-8 when none
 * does? */
static bool keeps_text(struct cbx_walk *py, struct cbx_str text, TSNode call, uint32_t position,
                       struct cbx_scope *scope)
{
    static const char *const encodings[] = { "utf-8",  "utf8",     "utf_8",
                                             "ascii",  "us-ascii", "latin-1",
                                             "latin1", "latin_1",  "iso-8859-1" };
    struct cbx_str encoding;
    if (!cbx_str_is_ascii(text)) {
        return false;
    }
    if (ts_node_is_null(cbx_py_argument(py, call, position, "encoding"))) {
        return true;
    }
    if (!cbx_values_is_text(eval_argument(py, call, position, "encoding", scope), &encoding)) {
        return false;
    }
    encoding = cbx_fold_case(py->arena, encoding, false);
    for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
        if (cbx_str_is(encoding, encodings[i])) {
            return true;
        }
    }
    return false;
}

static const struct cbx_values *call_text_method(struct cbx_walk *py, struct cbx_str text,
                                                 struct cbx_str method, TSNode call,
                                                 struct cbx_scope *scope)
{
    struct cbx_str a, b;
    if (cbx_str_is(method, "join")) {
        return cbx_values_text(py->arena,
                               join_members(py, text, eval_argument(py, call, 0, NULL, scope)));
    }
    if (cbx_str_is(method, "format")) {
        return format_braces(py, text, call, scope);
    }
    if (cbx_str_is(method, "decode") || cbx_str_is(method, "encode")) {
        return keeps_text(py, text, call, 0, scope) ? cbx_values_text(py->arena, text)
                                                    : &cbx_values_unknown;
    }
    if (cbx_str_is(method, "strip") || cbx_str_is(method, "lstrip") ||
        cbx_str_is(method, "rstrip")) {
        return ts_node_is_null(cbx_py_argument(py, call, 0, NULL))
                   ? cbx_values_text(py->arena, cbx_fold_trim(text))
                   : &cbx_values_unknown;
    }
    if (cbx_str_is(method, "lower") || cbx_str_is(method, "upper") ||
        cbx_str_is(method, "casefold")) {
        return cbx_values_text(py->arena,
                               cbx_fold_case(py->arena, text, cbx_str_is(method, "upper")));
    }
    if (cbx_str_is(method, "replace") && ts_node_is_null(cbx_py_argument(py, call, 2, "count")) &&
        cbx_values_is_text(eval_argument(py, call, 0, NULL, scope), &a) &&
        cbx_values_is_text(eval_argument(py, call, 1, NULL, scope), &b)) {
        return cbx_values_text(py->arena, cbx_fold_replace(py->arena, text, a, b));
    }
    if (cbx_str_is(method, "__add__") &&
        cbx_values_is_text(eval_argument(py, call, 0, NULL, scope), &a)) {
        return cbx_values_text(py->arena, cbx_fold_concat(py->arena, text, a));
    }
    return &cbx_values_unknown;
}

/* bytes([111, 115]) and the like. */
static const struct cbx_values *from_numbers(struct cbx_walk *py, const struct cbx_values *values)
{
    if (values->count != 1 || values->items[0].kind != CBX_V_LIST) {
        return values;
    }
    struct cbx_str out = CBX_STR("");
    for (uint32_t i = 0; i < values->items[0].count && out.p != NULL; i++) {
        int64_t code;
        if (!cbx_values_is_number(values->items[0].members[i], &code)) {
            return values;
        }
        out = cbx_fold_concat(py->arena, out, cbx_fold_codepoint(py->arena, code));
    }
    return values->items[0].count > 0 && out.p != NULL ? cbx_values_text(py->arena, out) : values;
}

const struct cbx_values *cbx_py_map(struct cbx_walk *py, const struct cbx_values *function,
                                    const struct cbx_values *list)
{
    bool is_chr = function->count == 1 && function->items[0].kind == CBX_V_NAME &&
                  cbx_str_is(function->items[0].text, "chr");
    if (!is_chr || list->count != 1 || list->items[0].kind != CBX_V_LIST) {
        return &cbx_values_unknown;
    }
    struct cbx_value out = list->items[0];
    const struct cbx_values **members =
        cbx_arena_array(py->arena, out.count + 1u, sizeof(*members));
    for (uint32_t i = 0; members != NULL && i < out.count; i++) {
        int64_t code;
        members[i] = cbx_values_is_number(out.members[i], &code)
                         ? cbx_values_text(py->arena, cbx_fold_codepoint(py->arena, code))
                         : &cbx_values_unknown;
    }
    out.members = members;
    return members != NULL ? cbx_values_one(py->arena, &out) : &cbx_values_unknown;
}

static const struct cbx_values *reverse(struct cbx_walk *py, const struct cbx_values *values)
{
    struct cbx_str text;
    if (cbx_values_is_text(values, &text)) {
        return cbx_values_text(py->arena, cbx_fold_reverse(py->arena, text));
    }
    return values;
}

static const struct cbx_values *codec(struct cbx_walk *py, struct cbx_str text, struct cbx_str name)
{
    if (cbx_str_starts(name, CBX_STR("rot"))) {
        return cbx_values_text(py->arena, cbx_fold_rot13(py->arena, text));
    }
    if (cbx_str_starts(name, CBX_STR("hex"))) {
        return cbx_values_text(py->arena, cbx_fold_hex(py->arena, text));
    }
    return cbx_str_starts(name, CBX_STR("base64"))
               ? cbx_values_text(py->arena, cbx_fold_base64(py->arena, text))
               : &cbx_values_unknown;
}

/* operator.attrgetter('a.b') is kept as the name "operator.attrgetter:a.b"; called with x it reads
 * x.a.b. */
static const struct cbx_values *make_getter(struct cbx_walk *py, struct cbx_str path)
{
    struct cbx_str name = cbx_fold_concat(py->arena, CBX_STR("operator.attrgetter:"), path);
    return name.p != NULL && path.len < 200 ? cbx_values_name(py->arena, name)
                                            : &cbx_values_unknown;
}

static const struct cbx_values *call_getter(struct cbx_walk *py, struct cbx_str name,
                                            const struct cbx_values *object)
{
    struct cbx_str path = cbx_str_sub(name, sizeof("operator.attrgetter:") - 1, name.len);
    while (path.len > 0) {
        const char *dot = memchr(path.p, '.', path.len);
        size_t len = dot != NULL ? (size_t)(dot - path.p) : path.len;
        object = cbx_py_read(py, object, cbx_str_sub(path, 0, len));
        path = cbx_str_sub(path, len + 1, path.len);
    }
    return object;
}

/* getattr(object, name), for every name that it may be. */
static const struct cbx_values *read_any(struct cbx_walk *py, const struct cbx_values *object,
                                         const struct cbx_values *names)
{
    const struct cbx_values *out = &nothing;
    for (uint32_t i = 0; i < names->count; i++) {
        bool text = names->items[i].kind == CBX_V_TEXT;
        out = cbx_values_join(py->arena, out,
                              text ? cbx_py_read(py, object, names->items[i].text)
                                   : &cbx_values_unknown);
    }
    return out->count > 0 ? out : &cbx_values_unknown;
}

/* The module, for every name that it may be; __import__('a.b') gives a. */
static const struct cbx_values *import_any(struct cbx_walk *py, const struct cbx_values *names,
                                           bool top)
{
    const struct cbx_values *out = &nothing;
    for (uint32_t i = 0; i < names->count; i++) {
        struct cbx_str name = names->items[i].text;
        const char *dot = top && name.len > 0 ? memchr(name.p, '.', name.len) : NULL;
        name = dot != NULL ? cbx_str_sub(name, 0, (size_t)(dot - name.p)) : name;
        bool text = names->items[i].kind == CBX_V_TEXT;
        out = cbx_values_join(py->arena, out,
                              text ? cbx_values_name(py->arena, cbx_py_canonical(py, name))
                                   : &cbx_values_unknown);
    }
    return out->count > 0 ? out : &cbx_values_unknown;
}

static const struct cbx_values *call_name(struct cbx_walk *py, struct cbx_str name, TSNode call,
                                          struct cbx_scope *scope)
{
    enum cbx_py_call meaning = cbx_py_call_meaning(name);
    if (cbx_str_starts(name, CBX_STR("operator.attrgetter:"))) {
        return call_getter(py, name, eval_argument(py, call, 0, NULL, scope));
    }
    if (meaning == PY_CALL_NONE || meaning == PY_CALL_SETATTR || meaning == PY_CALL_IMPORT_NAME) {
        return &cbx_values_unknown;
    }
    const struct cbx_values *first = eval_argument(
        py, call, 0, meaning == PY_CALL_IMPORT || meaning == PY_CALL_IMPORT_TOP ? "name" : NULL,
        scope);
    struct cbx_str text = { 0 }, other;
    int64_t number;
    bool is_text = cbx_values_is_text(first, &text);
    switch (meaning) {
    case PY_CALL_GETATTR:
        return read_any(py, first, eval_argument(py, call, 1, NULL, scope));
    case PY_CALL_IMPORT_TOP:
        return import_any(py, first, ts_node_is_null(cbx_py_argument(py, call, 3, "fromlist")));
    case PY_CALL_IMPORT:
        return import_any(py, first, false);
    case PY_CALL_CHR:
        return cbx_values_is_number(first, &number)
                   ? cbx_values_text(py->arena, cbx_fold_codepoint(py->arena, number))
                   : &cbx_values_unknown;
    case PY_CALL_ORD:
        return is_text && text.len == 1
                   ? cbx_values_number(py->arena, text, (unsigned char)text.p[0])
                   : &cbx_values_unknown;
    case PY_CALL_SAME:
        return is_text && !ts_node_is_null(cbx_py_argument(py, call, 1, "encoding")) &&
                       !keeps_text(py, text, call, 1, scope)
                   ? &cbx_values_unknown
                   : from_numbers(py, first);
    case PY_CALL_REVERSED:
        return reverse(py, first);
    case PY_CALL_MEMBER:
        return cbx_values_members(py->arena, first);
    case PY_CALL_MAP:
        return cbx_py_map(py, first, eval_argument(py, call, 1, NULL, scope));
    case PY_CALL_HEX:
        return is_text ? cbx_values_text(py->arena, cbx_fold_hex(py->arena, text))
                       : &cbx_values_unknown;
    case PY_CALL_BASE64:
        if (!is_text || memchr(text.p, '-', text.len) != NULL ||
            memchr(text.p, '_', text.len) != NULL ||
            !ts_node_is_null(cbx_py_argument(py, call, 1, "altchars"))) {
            return &cbx_values_unknown; /* what '-' and '_' stand for, or nothing, depends on the
                                           function */
        }
        return cbx_values_text(py->arena, cbx_fold_base64(py->arena, text));
    case PY_CALL_CODEC:
        return is_text && cbx_values_is_text(eval_argument(py, call, 1, "encoding", scope), &other)
                   ? codec(py, text, other)
                   : &cbx_values_unknown;
    case PY_CALL_GETTER:
        return is_text ? make_getter(py, text) : &cbx_values_unknown;
    case PY_CALL_NAMESPACE:
        return cbx_values_name(py->arena, cbx_str_is(name, "globals") ? CBX_STR("globals()")
                                                                      : CBX_STR("locals()"));
    case PY_CALL_VARS:
        if (ts_node_is_null(cbx_py_argument(py, call, 0, NULL))) {
            return cbx_values_name(py->arena, CBX_STR("locals()"));
        }
        return cbx_py_read(py, first, CBX_STR("__dict__"));
    default:
        return &cbx_values_unknown;
    }
}

static const struct cbx_values *call_function(struct cbx_walk *py, const struct cbx_value *function)
{
    const struct cbx_scope *scope = function->scope;
    const struct cbx_values *out = &nothing;
    for (const struct cbx_return *r = scope != NULL ? scope->returns : NULL; r != NULL;
         r = r->next) {
        out = cbx_values_join(py->arena, out, cbx_py_eval(py, r->node, function->scope));
    }
    return out->count > 0 ? out : &cbx_values_unknown;
}

const struct cbx_values *cbx_py_eval_call(struct cbx_walk *py, TSNode node, struct cbx_scope *scope)
{
    TSNode callee = cbx_node_field(node, CBX_FIELD_function);
    struct cbx_str text;
    if (cbx_py_kind(callee) == PY_attribute &&
        cbx_values_is_text(cbx_py_eval(py, cbx_node_field(callee, CBX_FIELD_object), scope),
                           &text)) {
        return call_text_method(
            py, text, cbx_walk_text(py, cbx_node_field(callee, CBX_FIELD_attribute)), node, scope);
    }
    const struct cbx_values *targets = cbx_py_eval(py, callee, scope), *out = &nothing;
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct cbx_value *v = &targets->items[i];
        out = cbx_values_join(py->arena, out,
                              v->kind == CBX_V_NAME       ? call_name(py, v->text, node, scope)
                              : v->kind == CBX_V_FUNCTION ? call_function(py, v)
                                                          : &cbx_values_unknown);
    }
    return out->count > 0 ? out : &cbx_values_unknown;
}
