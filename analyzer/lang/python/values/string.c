/* SPDX-License-Identifier: MIT
 * The values of string literals in Python: bytes, f-strings, and several in a row. */
#include "analyzer/lang/python/internal.h"

/* One of the texts that an f-string may be: the alternatives are numbered, and each expression
 * in the string takes a part of the number. */
struct choice {
    uint32_t number; /* rest of the number */
    uint32_t count;  /* number of alternatives so far */
    uint32_t gaps;
};

enum { CHOICES_MAX = 16 };

/* Returns one of the alternatives if all of them are constants. */
static const struct cbx_values *choose(struct cbx_walk *py, const struct cbx_values *values,
                                       struct choice *choice)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool caller = v->kind == CBX_V_UNKNOWN && (v->number & CBX_UNKNOWN_CALLER) != 0;
        if (v->kind != CBX_V_TEXT && v->kind != CBX_V_NUMBER && !caller) {
            return values;
        }
    }
    if (values->count < 2 || choice->count * values->count > CHOICES_MAX) {
        return values;
    }
    const struct cbx_value *v = values->items[choice->number % values->count];
    choice->number /= values->count;
    choice->count *= values->count;
    return cbx_values_one(py->arena, v);
}

/* Returns the text of {x}, {x!s}, {x:c} in an f-string. */
static struct cbx_str eval_interpolation(struct cbx_walk *py, struct cbx_node *node,
                                         struct cbx_scope *scope, struct choice *choice)
{
    const struct cbx_values *value =
        choose(py, cbx_py_eval(py, cbx_child_at(node, 0), scope), choice);
    struct cbx_node *more = cbx_child_at(node, 1);
    int64_t number;
    struct cbx_str how = cbx_walk_text(py, more);
    bool plain = more == NULL || cbx_str_is(how, "!s") || cbx_str_is(how, ":s");
    bool is_number = cbx_values_is_number(value, &number),
         as_written = plain || (is_number && (cbx_str_is(how, ":d") || cbx_str_is(how, "!r")));
    if (is_number && cbx_str_is(how, ":c")) {
        return cbx_fold_codepoint(py->arena, number);
    }
    value = as_written ? value : cbx_values_marked(py->arena, cbx_py_flags(value));
    choice->gaps |= cbx_py_flags(value);
    return cbx_values_piece(value, &choice->gaps);
}

/* Converts the characters of a bytes literal, with its escapes, to bytes. */
static struct cbx_str to_bytes(struct cbx_walk *py, struct cbx_str text)
{
    char *p = cbx_str_is_ascii(text) ? NULL : cbx_arena_alloc(py->arena, text.len + 1);
    size_t n = 0;
    for (size_t i = 0; p != NULL && i < text.len; i++) {
        unsigned char c = (unsigned char)text.p[i];
        p[n++] = c >= 0xC0 && i + 1 < text.len
                     ? (char)((c & 0x03) << 6 | ((unsigned char)text.p[++i] & 0x3F))
                     : (char)c;
    }
    return p != NULL ? (struct cbx_str){ .p = p, .len = n } : text;
}

static const struct cbx_values *eval_choice(struct cbx_walk *py, struct cbx_node *node,
                                            struct cbx_scope *scope, struct choice *choice)
{
    struct cbx_str out = CBX_STR("");
    bool raw = false, bytes = false;
    for (struct cbx_node *child = node->first; child != NULL; child = child->next) {
        struct cbx_str part = cbx_walk_text(py, child);
        switch (cbx_py_kind(child)) {
        case PY_string_start:
            raw = memchr(part.p, 'r', part.len) != NULL || memchr(part.p, 'R', part.len) != NULL;
            bytes = memchr(part.p, 'b', part.len) != NULL || memchr(part.p, 'B', part.len) != NULL;
            continue;
        case PY_string_content:
            part = raw ? part : cbx_fold_unescape(py->arena, part, true);
            part = bytes && !raw ? to_bytes(py, part) : part;
            break;
        case PY_interpolation:
            part = eval_interpolation(py, child, scope, choice);
            break;
        default:
            continue;
        }
        out = out.len == 0 ? part : cbx_fold_concat(py->arena, out, part);
        if (out.p == NULL) {
            return &cbx_values_unknown;
        }
    }
    return bytes ? cbx_values_bytes(py->arena, out)
                 : cbx_values_built(py->arena, out, choice->gaps);
}

const struct cbx_values *cbx_py_eval_string(struct cbx_walk *py, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    const struct cbx_values *out = &cbx_values_nothing;
    uint32_t count = 1;
    for (uint32_t i = 0; i < count; i++) {
        struct choice choice = { .number = i, .count = 1 };
        out = cbx_values_join(py->arena, out, eval_choice(py, node, scope, &choice));
        count = choice.count;
    }
    return out;
}

const struct cbx_values *cbx_py_eval_strings(struct cbx_walk *py, struct cbx_node *node,
                                             struct cbx_scope *scope)
{
    struct cbx_str part;
    size_t total = 0, n = 0;
    uint32_t gaps = 0;
    bool bytes = false;
    for (struct cbx_node *child = node->first; child != NULL; child = child->next) {
        const struct cbx_values *value = cbx_py_eval(py, child, scope);
        part = cbx_values_piece(value, &gaps);
        if (total + part.len > CBX_FOLD_MAX_BYTES) {
            return &cbx_values_unknown;
        }
        total += part.len;
        bytes = value->items[0]->number == CBX_TEXT_BYTES;
    }
    char *p = cbx_arena_alloc(py->arena, total + 1);
    for (struct cbx_node *child = node->first; p != NULL && child != NULL; child = child->next) {
        part = cbx_values_piece(cbx_py_eval(py, child, scope), &gaps);
        if (part.len > 0) {
            memcpy(p + n, part.p, part.len);
            n += part.len;
        }
    }
    struct cbx_str out = { .p = p, .len = n };
    return bytes && gaps == 0 ? cbx_values_bytes(py->arena, out)
                              : cbx_values_built(py->arena, out, gaps);
}
