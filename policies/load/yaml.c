/* SPDX-License-Identifier: MIT
 * libyaml events to a tree with positions. Aliases are expanded by copying, and the copies count
 * towards the cap on nodes, which stops alias bombs. */
#include "policies/load/yaml.h"

#include <yaml.h>

/* A repeated key is searched for along the whole mapping, so its length is capped too. */
enum { ANCHORS_MAX = 64, STACK_MAX = 64, KEYS_MAX = 4096 };

struct anchor {
    struct cbx_str name;
    const struct cbx_yaml *node;
};

struct builder {
    yaml_parser_t parser;
    struct cbx_arena *arena;
    struct cbx_err *err;
    int depth_max, depth;
    uint32_t nodes, aliases;
    struct anchor anchors[ANCHORS_MAX];
    size_t anchor_count;
    struct frame {
        struct cbx_yaml *node, *last;
        struct cbx_str key;
        uint32_t key_line, key_column;
        bool has_key;
    } stack[STACK_MAX];
    struct cbx_yaml *root;
};

static int fail(struct builder *b, const yaml_event_t *event, int code, const char *text)
{
    return cbx_fail_at(b->err, code, (uint32_t)event->start_mark.line + 1,
                       (uint32_t)event->start_mark.column + 1, "%s", text);
}

static struct cbx_yaml *new_node(struct builder *b, enum cbx_yaml_kind kind, uint32_t line,
                                 uint32_t column)
{
    if (++b->nodes > CBX_YAML_NODES_MAX) {
        return NULL;
    }
    struct cbx_yaml *node = cbx_arena_alloc(b->arena, sizeof(*node));
    if (node != NULL) {
        node->kind = kind;
        node->line = line;
        node->column = column;
    }
    return node;
}

static bool has_entry(const struct cbx_yaml *map, struct cbx_str key)
{
    for (const struct cbx_yaml *entry = map->first; entry != NULL; entry = entry->next) {
        if (cbx_str_equal(entry->key, key)) {
            return true;
        }
    }
    return false;
}

/* Links a finished or opened node into its parent. In a mapping, the first of each pair becomes
 * the key. */
static int attach(struct builder *b, const yaml_event_t *event, struct cbx_yaml *node)
{
    if (b->depth == 0) {
        b->root = node;
        return 0;
    }
    struct frame *parent = &b->stack[b->depth - 1];
    if (parent->node->kind == CBX_YAML_MAPPING) {
        if (!parent->has_key) {
            if (node->kind != CBX_YAML_SCALAR) {
                return fail(b, event, CBX_EPOLICY, "a key must be a plain name");
            }
            if (parent->node->count == KEYS_MAX) {
                return fail(b, event, CBX_ETOOBIG, "a mapping of more than 4096 keys");
            }
            if (has_entry(parent->node, node->text)) {
                return cbx_fail_at(b->err, CBX_EPOLICY, node->line, node->column,
                                   "key '%.*s' stands here twice", CBX_STR_SHOWN(node->text));
            }
            parent->key = node->text;
            parent->key_line = node->line;
            parent->key_column = node->column;
            parent->has_key = true;
            return 0;
        }
        node->key = parent->key;
        node->key_line = parent->key_line;
        node->key_column = parent->key_column;
        parent->has_key = false;
    }
    if (parent->last != NULL) {
        parent->last->next = node;
    } else {
        parent->node->first = node;
    }
    parent->last = node;
    parent->node->count++;
    return 0;
}

/* Recursion is bounded by depth_max, the number of copies by CBX_YAML_NODES_MAX. */
static struct cbx_yaml *copy_tree(struct builder *b, const struct cbx_yaml *from, int depth)
{
    struct cbx_yaml *copy = new_node(b, from->kind, from->line, from->column);
    if (copy == NULL || depth > b->depth_max) {
        return NULL;
    }
    copy->text = from->text;
    copy->key = from->key;
    copy->key_line = from->key_line;
    copy->key_column = from->key_column;
    copy->count = from->count;
    struct cbx_yaml **to = &copy->first;
    for (const struct cbx_yaml *child = from->first; child != NULL; child = child->next) {
        *to = copy_tree(b, child, depth + 1);
        if (*to == NULL) {
            return NULL;
        }
        to = &(*to)->next;
    }
    return copy;
}

static int add_anchor(struct builder *b, const yaml_event_t *event, const yaml_char_t *name,
                      const struct cbx_yaml *node)
{
    if (name == NULL) {
        return 0;
    }
    if (b->anchor_count == ANCHORS_MAX) {
        return fail(b, event, CBX_ETOOBIG, "more than 64 anchors");
    }
    struct cbx_str copy = cbx_arena_copy(b->arena, cbx_str_of((const char *)name));
    b->anchors[b->anchor_count++] = (struct anchor){ .name = copy, .node = node };
    if (copy.p == NULL) {
        return fail(b, event, CBX_ETOOBIG, "the file takes too much memory");
    }
    return 0;
}

static bool is_open(const struct builder *b, const struct cbx_yaml *node)
{
    for (int i = 0; i < b->depth; i++) {
        if (b->stack[i].node == node) {
            return true;
        }
    }
    return false;
}

static int add_alias(struct builder *b, const yaml_event_t *event)
{
    struct cbx_str name = cbx_str_of((const char *)event->data.alias.anchor);
    if (++b->aliases > CBX_YAML_ALIASES_MAX) {
        return fail(b, event, CBX_ETOOBIG, "more than 256 aliases");
    }
    for (size_t i = b->anchor_count; i > 0; i--) {
        if (!cbx_str_equal(b->anchors[i - 1].name, name)) {
            continue;
        }
        if (is_open(b, b->anchors[i - 1].node)) {
            return fail(b, event, CBX_EPOLICY, "an alias refers to what it stands in");
        }
        struct cbx_yaml *copy = copy_tree(b, b->anchors[i - 1].node, b->depth);
        if (copy == NULL) {
            return fail(b, event, CBX_ETOOBIG,
                        "aliases expand to more than 200000 nodes or too deep");
        }
        return attach(b, event, copy);
    }
    return fail(b, event, CBX_EPOLICY, "an alias without its anchor");
}

static int add_scalar(struct builder *b, const yaml_event_t *event)
{
    struct cbx_yaml *node = new_node(b, CBX_YAML_SCALAR, (uint32_t)event->start_mark.line + 1,
                                     (uint32_t)event->start_mark.column + 1);
    struct cbx_str text = { .p = (const char *)event->data.scalar.value,
                            .len = event->data.scalar.length };
    if (event->data.scalar.tag != NULL) {
        return fail(b, event, CBX_EPOLICY, "tags ('!...') are not allowed");
    }
    if (memchr(text.p, '\0', text.len) != NULL) {
        return fail(b, event, CBX_EPOLICY, "a NUL character in a text");
    }
    if (node == NULL || (node->text = cbx_arena_copy(b->arena, text)).p == NULL) {
        return fail(b, event, CBX_ETOOBIG, "more than 200000 nodes");
    }
    int failed = add_anchor(b, event, event->data.scalar.anchor, node);
    if (failed) {
        return failed;
    }
    return attach(b, event, node);
}

static int open_collection(struct builder *b, const yaml_event_t *event, enum cbx_yaml_kind kind,
                           const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (tag != NULL) {
        return fail(b, event, CBX_EPOLICY, "tags ('!...') are not allowed");
    }
    if (b->depth >= b->depth_max || b->depth >= STACK_MAX) {
        return cbx_fail_at(b->err, CBX_ETOOBIG, (uint32_t)event->start_mark.line + 1,
                           (uint32_t)event->start_mark.column + 1, "nested deeper than %d",
                           b->depth_max);
    }
    struct cbx_yaml *node = new_node(b, kind, (uint32_t)event->start_mark.line + 1,
                                     (uint32_t)event->start_mark.column + 1);
    if (node == NULL) {
        return fail(b, event, CBX_ETOOBIG, "more than 200000 nodes");
    }
    int failed = add_anchor(b, event, anchor, node);
    if (!failed) {
        failed = attach(b, event, node);
    }
    b->stack[b->depth++] = (struct frame){ .node = node };
    return failed;
}

/* Returns 1 at the end of the stream. */
static int take_event(struct builder *b, const yaml_event_t *event, int *documents)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++*documents > 1) {
            return fail(b, event, CBX_EPOLICY, "a file holds one document");
        }
        return 0;
    case YAML_ALIAS_EVENT:
        return add_alias(b, event);
    case YAML_SCALAR_EVENT:
        return add_scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(b, event, CBX_YAML_SEQUENCE, event->data.sequence_start.anchor,
                               event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return open_collection(b, event, CBX_YAML_MAPPING, event->data.mapping_start.anchor,
                               event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        b->depth--;
        return 0;
    case YAML_STREAM_END_EVENT:
        return 1;
    default:
        return 0;
    }
}

/* Errors of libyaml's reader have an offset and no mark. */
static void find_problem(const yaml_parser_t *parser, struct cbx_str text, uint32_t *line,
                         uint32_t *column)
{
    *line = (uint32_t)parser->problem_mark.line + 1;
    *column = (uint32_t)parser->problem_mark.column + 1;
    if (parser->error == YAML_READER_ERROR) {
        cbx_str_place(text, parser->problem_offset, line, column);
    }
}

int cbx_yaml_parse(struct cbx_str text, int depth_max, struct cbx_arena *arena,
                   struct cbx_yaml **out, struct cbx_err *err)
{
    struct builder b = { .arena = arena, .err = err, .depth_max = depth_max };
    if (!yaml_parser_initialize(&b.parser)) {
        return cbx_fail(err, CBX_EIO, "out of memory");
    }
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)text.p, text.len);
    int state = 0, documents = 0;
    while (state == 0) {
        yaml_event_t event;
        if (!yaml_parser_parse(&b.parser, &event)) {
            uint32_t line, column;
            find_problem(&b.parser, text, &line, &column);
            const char *problem = b.parser.problem != NULL ? b.parser.problem : "unknown problem";
            bool tab = strstr(problem, "cannot start any token") != NULL &&
                       b.parser.problem_mark.index < text.len &&
                       text.p[b.parser.problem_mark.index] == '\t';
            state = cbx_fail_at(err, CBX_EPOLICY, line, column, "not valid YAML: %s",
                                tab ? "a tab indents this line, allowed are spaces" : problem);
            break;
        }
        state = take_event(&b, &event, &documents);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&b.parser);
    if (state < 0) {
        return state;
    }
    if (b.root == NULL) {
        return cbx_fail_at(err, CBX_EPOLICY, 1, 1, "the file is empty");
    }
    *out = b.root;
    return 0;
}
