/* SPDX-License-Identifier: MIT
 * YAML as a tree, from libyaml's events. Scalars stay text: a reader knows where a number
 * belongs. A node with a tag of its own (GitLab's !reference) stands for something that is not
 * in it: it has no content. */
#include "analyzer/manifest/documents/doc.h"

#include <yaml.h>

enum { ANCHORS_MAX = CBX_DOC_ALIASES_MAX };

/* libyaml counts characters; the place in bytes moves along with its marks. */
struct cursor {
    size_t character;
    uint32_t byte;
};

struct frame {
    struct cbx_doc_node *node;
    struct cbx_str anchor;
    const struct cbx_doc_node *key; /* of the next value of a map; NULL: the next node is a key */
    bool tagged;
};

struct builder {
    struct cbx_doc_maker maker;
    yaml_parser_t parser;
    struct cursor cursor;
    struct cbx_doc_node *root;
    struct frame stack[CBX_DOC_DEPTH_MAX];
    size_t depth, aliases, anchor_count;
    struct anchor {
        struct cbx_str name;
        const struct cbx_doc_node *node;
    } * anchors;
};

static uint32_t byte_of(struct builder *b, const yaml_mark_t *mark)
{
    struct cbx_str file = b->maker.file;
    struct cursor *c = &b->cursor;
    while (c->character < mark->index && c->byte < file.len) {
        c->byte++;
        while (c->byte < file.len && cbx_utf8_continues(file.p[c->byte])) {
            c->byte++;
        }
        c->character++;
    }
    while (c->character > mark->index && c->byte > 0) {
        c->byte--;
        while (c->byte > 0 && cbx_utf8_continues(file.p[c->byte])) {
            c->byte--;
        }
        c->character--;
    }
    return c->byte;
}

static int fail(struct builder *b, const yaml_event_t *event, const char *what)
{
    return cbx_manifest_fail(b->maker.file, byte_of(b, &event->start_mark), what, b->maker.err);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static bool is_foreign_tag(const yaml_char_t *tag)
{
    const char *text = (const char *)tag;
    return text != NULL && strcmp(text, "!") != 0 &&
           strncmp(text, "tag:yaml.org,2002:", sizeof("tag:yaml.org,2002:") - 1) != 0;
}

static struct cbx_str copy(struct builder *b, const yaml_char_t *text)
{
    return text != NULL ? cbx_arena_copy(b->maker.arena, cbx_str_of((const char *)text))
                        : (struct cbx_str){ 0 };
}

/* A new value: the document, an item of the open list, the value of the open map's last key. */
static struct cbx_doc_node *add_value(struct builder *b, enum cbx_doc_kind kind, uint32_t start,
                                      uint32_t end)
{
    struct frame *open = b->depth > 0 ? &b->stack[b->depth - 1] : NULL;
    struct cbx_doc_node *node =
        cbx_doc_add(&b->maker, open != NULL ? open->node : NULL, kind, start, end);
    if (node != NULL && open != NULL && open->key != NULL) {
        node->key = open->key->text;
        node->key_start = open->key->start;
        node->key_end = open->key->end;
        open->key = NULL;
    }
    return node;
}

static int keep_anchor(struct builder *b, const yaml_event_t *event, struct cbx_str name,
                       const struct cbx_doc_node *node)
{
    if (name.p == NULL) {
        return 0;
    }
    if (b->anchors == NULL) {
        b->anchors = cbx_arena_array(b->maker.arena, ANCHORS_MAX, sizeof(*b->anchors));
    }
    if (b->anchors == NULL || b->anchor_count == ANCHORS_MAX) {
        return fail(b, event, "more anchors than are read, allowed are 1000");
    }
    b->anchors[b->anchor_count++] = (struct anchor){ name, node };
    return 0;
}

/* The root of a document. Documents that are maps are read as one. */
static int keep_root(struct builder *b, struct cbx_doc_node *node)
{
    if (b->depth > 0 || b->root == node) {
        return 0;
    }
    if (b->root == NULL || (b->root->kind == CBX_DOC_OTHER && b->root->text.len == 0)) {
        b->root = node;
        return 0;
    }
    if (node->kind == CBX_DOC_OTHER && node->text.len == 0) {
        return 0;
    }
    if (b->root->kind != CBX_DOC_MAP || node->kind != CBX_DOC_MAP) {
        return cbx_manifest_fail(b->maker.file, node->start,
                                 "a further document, allowed is one, or several tables",
                                 b->maker.err);
    }
    if (b->root->last != NULL) {
        b->root->last->next = node->first;
    } else {
        b->root->first = node->first;
    }
    b->root->last = node->last != NULL ? node->last : b->root->last;
    return 0;
}

/* --- events ----------------------------------------------------------------------------------- */

/* The text without what the style puts around it. */
static void set_style(struct builder *b, struct cbx_doc_node *node, yaml_scalar_style_t style)
{
    struct cbx_str file = b->maker.file;
    bool block = style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE;
    bool quoted = style == YAML_SINGLE_QUOTED_SCALAR_STYLE;
    bool escaped = style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    if (block) {
        const char *feed = memchr(file.p + node->start, '\n', node->end - node->start);
        node->start = feed != NULL ? (uint32_t)(feed - file.p) + 1 : node->end;
    } else if (quoted || escaped) {
        node->style = quoted ? CBX_DOC_QUOTED : CBX_DOC_ESCAPED;
        node->start += node->start < node->end;
        node->end -= node->start < node->end;
    }
}

static int take_scalar(struct builder *b, const yaml_event_t *event)
{
    struct frame *open = b->depth > 0 ? &b->stack[b->depth - 1] : NULL;
    uint32_t start = byte_of(b, &event->start_mark), end = byte_of(b, &event->end_mark);
    struct cbx_str text = { (const char *)event->data.scalar.value, event->data.scalar.length };
    bool key = open != NULL && open->node->kind == CBX_DOC_MAP && open->key == NULL;
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    bool null = plain && (text.len == 0 || cbx_str_is(text, "~") || cbx_str_is(text, "null"));
    bool foreign = is_foreign_tag(event->data.scalar.tag);
    enum cbx_doc_kind kind = !key && (null || foreign) ? CBX_DOC_OTHER : CBX_DOC_TEXT;
    struct cbx_doc_node *node =
        key ? cbx_doc_add(&b->maker, NULL, kind, start, end) : add_value(b, kind, start, end);
    if (node == NULL) {
        return CBX_ETOOBIG;
    }
    node->text = cbx_arena_copy(b->maker.arena, null ? CBX_STR("") : text);
    if (node->text.p == NULL) {
        return cbx_fail(b->maker.err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    set_style(b, node, event->data.scalar.style);
    if (key) {
        open->key = node;
    }
    int failed = keep_anchor(b, event, copy(b, event->data.scalar.anchor), node);
    if (failed || key) {
        return failed;
    }
    return keep_root(b, node);
}

static int open_node(struct builder *b, const yaml_event_t *event, enum cbx_doc_kind kind,
                     const yaml_char_t *anchor, const yaml_char_t *tag)
{
    struct frame *open = b->depth > 0 ? &b->stack[b->depth - 1] : NULL;
    if (open != NULL && open->node->kind == CBX_DOC_MAP && open->key == NULL) {
        return fail(b, event, "a key that is no text");
    }
    if (b->depth == CBX_DOC_DEPTH_MAX) {
        return fail(b, event, "a value that is nested too deep");
    }
    uint32_t start = byte_of(b, &event->start_mark);
    struct cbx_doc_node *node = add_value(b, kind, start, start);
    if (node == NULL) {
        return CBX_ETOOBIG;
    }
    b->stack[b->depth++] =
        (struct frame){ .node = node, .anchor = copy(b, anchor), .tagged = is_foreign_tag(tag) };
    return 0;
}

static int close_node(struct builder *b, const yaml_event_t *event)
{
    const struct frame frame = b->stack[--b->depth];
    frame.node->end = byte_of(b, &event->end_mark);
    if (frame.tagged) {
        frame.node->kind = CBX_DOC_OTHER;
        frame.node->first = frame.node->last = NULL;
    }
    int failed = keep_anchor(b, event, frame.anchor, frame.node);
    if (failed) {
        return failed;
    }
    return keep_root(b, frame.node);
}

/* An alias shares the content of its anchor. An anchor is known behind its node: no node
 * contains itself. */
static int take_alias(struct builder *b, const yaml_event_t *event)
{
    struct cbx_str name = cbx_str_of((const char *)event->data.alias.anchor);
    size_t i = b->anchor_count;
    while (i > 0 && !cbx_str_equal(b->anchors[i - 1].name, name)) {
        i--;
    }
    if (i == 0) {
        return fail(b, event, "an alias without an anchor before it");
    }
    if (++b->aliases > CBX_DOC_ALIASES_MAX) {
        return fail(b, event, "more aliases than are read, allowed are 1000");
    }
    struct frame *open = b->depth > 0 ? &b->stack[b->depth - 1] : NULL;
    const struct cbx_doc_node *from = b->anchors[i - 1].node;
    if (open != NULL && open->node->kind == CBX_DOC_MAP && open->key == NULL) {
        open->key = from;
        if (from->kind != CBX_DOC_TEXT) {
            return fail(b, event, "a key that is no text");
        }
        return 0;
    }
    struct cbx_doc_node *node = add_value(b, from->kind, from->start, from->end);
    if (node == NULL) {
        return CBX_ETOOBIG;
    }
    node->style = from->style;
    node->text = from->text;
    node->first = from->first;
    node->last = from->last;
    return 0;
}

static int take_event(struct builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return take_scalar(b, event);
    case YAML_ALIAS_EVENT:
        return take_alias(b, event);
    case YAML_MAPPING_START_EVENT:
        return open_node(b, event, CBX_DOC_MAP, event->data.mapping_start.anchor,
                         event->data.mapping_start.tag);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(b, event, CBX_DOC_LIST, event->data.sequence_start.anchor,
                         event->data.sequence_start.tag);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        return close_node(b, event);
    default:
        return 0;
    }
}

static int read_events(struct builder *b)
{
    for (bool more = true; more;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&b->parser, &event)) {
            uint32_t place = byte_of(b, &b->parser.problem_mark);
            const char *problem = b->parser.problem != NULL ? b->parser.problem : "no YAML";
            return cbx_manifest_fail(b->maker.file, place, problem, b->maker.err);
        }
        int failed = take_event(b, &event);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

int cbx_doc_read_yaml(struct cbx_str file, struct cbx_arena *arena, struct cbx_doc *out,
                      struct cbx_err *err)
{
    struct builder *b = cbx_arena_alloc(arena, sizeof(*b));
    if (b == NULL || !yaml_parser_initialize(&b->parser)) {
        return cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    b->maker = (struct cbx_doc_maker){ .file = file, .arena = arena, .err = err };
    yaml_parser_set_encoding(&b->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b->parser, (const unsigned char *)cbx_str_bytes(file), file.len);
    int failed = read_events(b);
    yaml_parser_delete(&b->parser);
    if (!failed) {
        *out = (struct cbx_doc){ .file = file, .root = b->root };
    }
    return failed;
}
