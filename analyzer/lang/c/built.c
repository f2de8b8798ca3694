/* SPDX-License-Identifier: MIT
 * Texts that strcpy, strcat and sprintf build in an array, in the order of the source: constant
 * parts are known, '*' stands for each unknown part. An array is identified by its name alone. */
#include "analyzer/facts/fold.h"
#include "analyzer/lang/c/names.h"

enum { TEXT_MAX_BYTES = 4096 };

static const struct {
    const char *name;
    int from; /* position of the copied argument, or of the format */
    bool appends, format;
} writers[] = {
    { "strcpy", 1, false, false },  { "stpcpy", 1, false, false },  { "strcat", 1, true, false },
    { "strncpy", 1, false, false }, { "strncat", 1, true, false },  { "strlcpy", 1, false, false },
    { "strlcat", 1, true, false },  { "sprintf", 1, false, true },  { "snprintf", 2, false, true },
    { "memcpy", 1, false, false },  { "mempcpy", 1, false, false },
};

static struct cbx_c_built *find_built(struct cbx_c_walk *c, struct cbx_str name)
{
    for (uint32_t i = 0; i < c->built_count; i++) {
        if (cbx_str_equal(c->built[i].name, name)) {
            return &c->built[i];
        }
    }
    return NULL;
}

const struct cbx_c_built *cbx_c_built(struct cbx_c_walk *c, struct cbx_str name)
{
    return find_built(c, name);
}

/* Returns the text of a constant or of an array; "*" for any other value, which sets *gaps. */
static struct cbx_str piece_of(struct cbx_c_walk *c, struct cbx_node *node, bool *gaps)
{
    struct cbx_str text;
    node = cbx_c_strip(node);
    if (cbx_c_read_text(c, node, &text)) {
        return text;
    }
    bool name = cbx_c_kind(node) == CN_identifier;
    const struct cbx_c_built *built = name ? find_built(c, cbx_c_text(c, node)) : NULL;
    if (built != NULL) {
        *gaps |= built->gaps;
        return built->text;
    }
    const struct cbx_c_name *values = name ? cbx_c_values(c, cbx_c_text(c, node)) : NULL;
    if (values != NULL && values->value_count == 1 &&
        cbx_c_read_text(c, cbx_c_strip(values->values[0]), &text)) {
        return text;
    }
    *gaps = true;
    return CBX_STR("*");
}

/* Returns a format such as "%s/%d" with its arguments filled in. */
static struct cbx_str formatted(struct cbx_c_walk *c, struct cbx_node *list, uint32_t at,
                                struct cbx_str format, bool *gaps)
{
    struct cbx_str out = CBX_STR("");
    for (size_t i = 0; i < format.len && out.p != NULL;) {
        const char *percent = memchr(format.p + i, '%', format.len - i);
        size_t end = percent != NULL ? (size_t)(percent - format.p) : format.len;
        out = cbx_fold_concat(c->arena, out, cbx_str_sub(format, i, end));
        if (percent == NULL) {
            break;
        }
        size_t type = end + 1;
        while (type < format.len && memchr("0123456789.-+ #lhzjt", format.p[type], 20) != NULL) {
            type++;
        }
        struct cbx_str piece = CBX_STR("%");
        if (type < format.len && format.p[type] != '%') {
            struct cbx_node *argument = cbx_child_at(list, ++at);
            bool text = format.p[type] == 's' && type == end + 1 && argument != NULL;
            piece = text ? piece_of(c, argument, gaps) : CBX_STR("*");
            *gaps |= !text;
        }
        out = out.p != NULL ? cbx_fold_concat(c->arena, out, piece) : out;
        i = type + 1;
    }
    return out;
}

void cbx_c_build(struct cbx_c_walk *c, struct cbx_str callee, struct cbx_node *list,
                 const struct cbx_node *call)
{
    size_t w = 0, writer_count = sizeof(writers) / sizeof(writers[0]);
    while (w < writer_count && !cbx_str_is(callee, writers[w].name)) {
        w++;
    }
    struct cbx_node *target = cbx_c_strip(cbx_child_at(list, 0));
    if (w == writer_count || cbx_c_kind(target) != CN_identifier) {
        return;
    }
    bool gaps = false;
    struct cbx_str name = cbx_c_text(c, target), before = CBX_STR(""), text;
    struct cbx_c_built *built = find_built(c, name);
    uint32_t from = (uint32_t)writers[w].from;
    if (writers[w].appends) {
        before =
            built != NULL || cbx_c_values(c, name) != NULL ? piece_of(c, target, &gaps) : before;
    }
    text = piece_of(c, cbx_child_at(list, from), &gaps);
    if (writers[w].format) {
        text = gaps ? text : formatted(c, list, from, text, &gaps);
    }
    text = text.p != NULL ? cbx_fold_concat(c->arena, before, text) : text;
    if (text.p == NULL || text.len > TEXT_MAX_BYTES) {
        text = CBX_STR("*");
        gaps = true;
    }
    if (built == NULL && c->built_count < CBX_C_BUILT_MAX) {
        built = &c->built[c->built_count++];
    }
    if (built != NULL) {
        *built = (struct cbx_c_built){ .name = name, .text = text, .gaps = gaps };
    }
    if (text.len > 1) {
        cbx_c_add(c, CBX_IS_LITERAL, text, call);
    }
}
