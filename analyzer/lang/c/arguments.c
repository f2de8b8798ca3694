/* SPDX-License-Identifier: MIT
 * The constants in arguments of calls in C: texts, flags, and what a variable may hold. */
#include "analyzer/facts/value.h"
#include "analyzer/lang/c/names.h"

struct cbx_node *cbx_c_strip(struct cbx_node *node)
{
    for (;;) {
        enum cbx_c_node_kind kind = cbx_c_kind(node);
        if (kind == CN_cast_expression && cbx_child_of(node, CBX_FIELD_value) != NULL) {
            node = cbx_child_of(node, CBX_FIELD_value);
        } else if (kind == CN_parenthesized_expression && cbx_child_at(node, 0) != NULL) {
            node = cbx_child_at(node, 0);
        } else {
            return node;
        }
    }
}

/* Reads { 'a', 98, 0 }: a text as a list of its characters. */
static bool read_characters(struct cbx_c_walk *c, const struct cbx_node *list, struct cbx_str *out)
{
    uint32_t count = cbx_child_count(list);
    char *text = count >= 2 && count <= 4096 ? cbx_arena_alloc(c->arena, count + 1u) : NULL;
    size_t n = 0;
    bool printable = text != NULL, ended = false;
    for (struct cbx_node *item = list->first; printable && item != NULL; item = item->next) {
        struct cbx_str literal = cbx_c_text(c, item), value;
        int64_t number = -1;
        if (!item->named) {
            continue;
        }
        if (cbx_c_kind(item) == CN_char_literal) {
            value = cbx_c_unescape(c->arena, literal);
            number = value.len == 1 ? (unsigned char)value.p[0] : -1;
        } else if (cbx_c_kind(item) != CN_number_literal || !cbx_fold_integer(literal, &number)) {
            return false;
        }
        ended |= number == 0;
        printable = ended || (number >= 0x20 && number < 0x7F);
        if (!ended && printable) {
            text[n++] = (char)number;
        }
    }
    *out = (struct cbx_str){ .p = text, .len = n };
    return printable && n >= 2;
}

/* Reads a constant text: one literal, several in a row, or a list of characters. */
bool cbx_c_read_text(struct cbx_c_walk *c, struct cbx_node *node, struct cbx_str *out)
{
    enum cbx_c_node_kind kind = cbx_c_kind(node);
    if (kind == CN_string_literal) {
        *out = cbx_c_unescape(c->arena, cbx_c_text(c, node));
        return true;
    }
    if (kind == CN_initializer_list) {
        return read_characters(c, node, out);
    }
    if (kind != CN_concatenated_string) {
        return false;
    }
    bool whole = true;
    *out = CBX_STR("");
    for (struct cbx_node *part = node->first; part != NULL && out->p != NULL; part = part->next) {
        if (cbx_c_kind(part) == CN_string_literal) {
            struct cbx_str text = cbx_c_unescape(c->arena, cbx_c_text(c, part));
            *out = out->len == 0 ? text : cbx_fold_concat(c->arena, *out, text);
        } else {
            whole &= !part->named; /* PRId64, which a header defines */
        }
    }
    return whole && out->p != NULL;
}

/* Reads O_WRONLY | O_CREAT, 0644, PROT_READ: names of the library and numbers. The result has no
 * blanks. */
static bool read_flags(struct cbx_c_walk *c, const struct cbx_node *node, struct cbx_str *out)
{
    char text[256];
    size_t n = 0;
    const struct cbx_node *end = cbx_node_behind(node, c->syntax.nodes + c->syntax.count);
    for (const struct cbx_node *at = node; at < end; at++) {
        enum cbx_c_node_kind kind = cbx_c_kind(at);
        bool leaf = kind == CN_identifier || kind == CN_number_literal || kind == CN_null;
        bool bar = !at->named && cbx_str_is(cbx_c_text(c, at), "|");
        if (kind == CN_identifier && cbx_c_name_find(c, at) != NULL) {
            return false;
        }
        if (!leaf && !bar && kind != CN_binary_expression && kind != CN_parenthesized_expression) {
            return false;
        }
        struct cbx_str part = leaf || bar ? cbx_c_text(c, at) : CBX_STR("");
        if (n + part.len >= sizeof(text)) {
            return false;
        }
        memcpy(text + n, part.p, part.len);
        n += part.len;
    }
    *out = cbx_arena_copy(c->arena, (struct cbx_str){ .p = text, .len = n });
    return n > 0;
}

static void add_texts(struct cbx_c_walk *c, struct cbx_node *node, struct cbx_c_texts *out,
                      int depth)
{
    struct cbx_str text;
    node = cbx_c_strip(node);
    if (node == NULL || depth > 4) {
        out->all = false;
    } else if (cbx_c_read_text(c, node, &text)) {
        if (out->count < CBX_C_TEXTS_MAX) {
            out->items[out->count++] = text;
        }
    } else if (cbx_c_kind(node) == CN_conditional_expression) {
        add_texts(c, cbx_child_of(node, CBX_FIELD_consequence), out, depth + 1);
        add_texts(c, cbx_child_of(node, CBX_FIELD_alternative), out, depth + 1);
    } else if (cbx_c_kind(node) == CN_identifier) {
        const struct cbx_c_name *values = cbx_c_values(c, cbx_c_text(c, node));
        out->all = false; /* the program may change the text in place */
        for (uint32_t i = 0; values != NULL && i < values->value_count; i++) {
            add_texts(c, values->values[i], out, depth + 1);
        }
    } else {
        out->all = false;
    }
}

void cbx_c_add_texts(struct cbx_c_walk *c, struct cbx_node *node, struct cbx_c_texts *out)
{
    add_texts(c, node, out, 0);
}

void cbx_c_read_argument(struct cbx_c_walk *c, struct cbx_node *node, uint32_t position,
                         struct cbx_arg *out)
{
    struct cbx_c_texts texts = { .all = true };
    struct cbx_str flags;
    *out = (struct cbx_arg){ .position = position };
    if (read_flags(c, node, &flags)) {
        out->known = out->constant = true;
        out->value = flags;
        return;
    }
    struct cbx_node *value = cbx_c_strip(node);
    const struct cbx_c_built *built =
        cbx_c_kind(value) == CN_identifier ? cbx_c_built(c, cbx_c_text(c, value)) : NULL;
    if (built != NULL && built->gaps) {
        struct cbx_str *partial = cbx_arena_array(c->arena, 1, sizeof(*partial));
        if (partial != NULL) {
            *partial = built->text;
            out->partials = partial;
            out->partial_count = 1;
        }
    }
    cbx_c_add_texts(c, node, &texts);
    if (built != NULL && !built->gaps && texts.count < CBX_C_TEXTS_MAX) {
        texts.items[texts.count++] = built->text;
    }
    if (texts.all && texts.count == 1) {
        out->known = out->constant = true;
        out->value = texts.items[0];
    } else if (texts.count > 0) {
        struct cbx_str *items = cbx_arena_array(c->arena, texts.count, sizeof(*items));
        if (items != NULL) {
            memcpy(items, texts.items, texts.count * sizeof(*items));
            out->texts = items;
            out->text_count = texts.count;
        }
    }
}
