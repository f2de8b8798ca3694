/* SPDX-License-Identifier: MIT
 * Converts TypeScript to JavaScript: removes the types from the tree, so that all code for
 * JavaScript applies. Nodes of types were left out when the tree was read
 * (lang/javascript/kinds.def). Linear: each node is visited once, or is a part of one chain of
 * wrappers. */
#include "analyzer/lang/javascript/internal.h"

/* Returns true for a wrapper around an expression: (x as T), x!, <T>x, f<T>, extends x. */
static bool is_wrapper(enum cbx_js_kind kind)
{
    return kind == JS_as_expression || kind == JS_satisfies_expression ||
           kind == JS_non_null_expression || kind == JS_type_assertion ||
           kind == JS_instantiation_expression || kind == JS_extends_clause;
}

/* Replaces `wrapper` by the node inside it; the inner node is removed. */
static void become(struct cbx_node *wrapper, struct cbx_node *inner)
{
    wrapper->kind = inner->kind;
    wrapper->start = inner->start;
    wrapper->end = inner->end;
    wrapper->first = inner->first;
    for (struct cbx_node *child = wrapper->first; child != NULL; child = child->next) {
        child->parent = wrapper;
    }
    inner->first = NULL;
    inner->kind = JS_OTHER;
}

static void unwrap(struct cbx_node *node)
{
    struct cbx_node *inner = node;
    while (is_wrapper(cbx_js_kind(inner)) && cbx_child_at(inner, 0) != NULL) {
        struct cbx_node *next = cbx_child_at(inner, 0);
        inner->kind = JS_OTHER;
        inner = next;
    }
    if (inner != node) {
        become(node, inner);
    }
}

/* (private x: T = v) becomes x = v, (x?: T) becomes x. */
static void reshape_parameter(struct cbx_node *node)
{
    struct cbx_node *pattern = cbx_child_of(node, CBX_FIELD_pattern),
                    *value = cbx_child_of(node, CBX_FIELD_value);
    pattern = pattern != NULL ? pattern : cbx_child_of(node, CBX_FIELD_name);
    if (pattern == NULL) {
        return;
    }
    if (value != NULL) {
        node->kind = JS_assignment_pattern;
        pattern->field = CBX_FIELD_left;
        value->field = CBX_FIELD_right;
    } else {
        become(node, pattern);
    }
}

static void reshape_field(struct cbx_node *node)
{
    struct cbx_node *name = cbx_child_of(node, CBX_FIELD_name);
    node->kind = JS_field_definition;
    if (name != NULL) {
        name->field = CBX_FIELD_property;
    }
}

/* import x = a.b.c becomes an assignment of x. */
static void reshape_alias(struct cbx_node *node)
{
    struct cbx_node *name = cbx_child_at(node, 0), *entity = cbx_child_at(node, 1);
    if (name == NULL || entity == NULL) {
        return;
    }
    node->kind = JS_assignment_expression;
    name->field = CBX_FIELD_left;
    entity->field = CBX_FIELD_right;
    if (cbx_js_kind(entity) == JS_nested_identifier) {
        entity->kind = JS_member_expression;
    }
}

/* import x = require('y') becomes import x from 'y'. */
static void reshape_require(struct cbx_node *clause)
{
    struct cbx_node *source = cbx_child_of(clause, CBX_FIELD_source),
                    *name = cbx_child_at(clause, 0);
    if (source == NULL || name == NULL || name == source ||
        cbx_js_kind(clause->parent) != JS_import_statement) {
        return;
    }
    clause->kind = JS_import_clause;
    clause->first = name;
    name->next = NULL;
    source->parent = clause->parent;
    source->next = NULL;
    clause->next = source;
}

static void reshape_member(struct cbx_node *node)
{
    struct cbx_node *name = cbx_child_of(node, CBX_FIELD_name);
    node->kind = JS_pair;
    if (name != NULL) {
        name->field = CBX_FIELD_key;
    }
}

/* --- import type ------------------------------------------------------------------------------ */

/* Returns true for import type {x} from 'y', export type * from 'y', which run no code. `import
 * type from 'y'` is a default import with the name `type`. */
static bool is_type_only(struct cbx_str text)
{
    size_t at = 6; /* length of "import" and of "export" */
    if (!cbx_str_is(cbx_js_next_word(text, &at), "type")) {
        return false;
    }
    struct cbx_str word = cbx_js_next_word(text, &at);
    if (word.len == 0) {
        return at < text.len && (text.p[at] == '{' || text.p[at] == '*');
    }
    return !cbx_str_is(word, "from") || cbx_str_is(cbx_js_next_word(text, &at), "from");
}

void cbx_ts_reshape(struct cbx_walk *js)
{
    struct cbx_node *nodes = js->syntax.nodes;
    uint32_t gone = 0; /* nodes that begin before this byte are types */
    for (uint32_t i = 0; i < js->syntax.count; i++) {
        struct cbx_node *node = &nodes[i];
        enum cbx_js_kind kind = cbx_js_kind(node);
        if (node->start < gone) {
            node->kind = JS_OTHER;
            continue;
        }
        if (is_wrapper(kind)) {
            unwrap(node);
            kind = cbx_js_kind(node);
        }
        switch (kind) {
        case JS_required_parameter:
        case JS_optional_parameter:
            reshape_parameter(node);
            break;
        case JS_public_field_definition:
            reshape_field(node);
            break;
        case JS_abstract_class_declaration:
            node->kind = JS_class_declaration;
            break;
        case JS_import_alias:
            reshape_alias(node);
            break;
        case JS_import_require_clause:
            reshape_require(node);
            break;
        case JS_enum_body:
            node->kind = JS_object;
            break;
        case JS_enum_assignment:
            reshape_member(node);
            break;
        case JS_import_statement:
        case JS_export_statement:
            if (is_type_only(cbx_walk_text(js, node))) {
                gone = node->end;
                node->kind = JS_OTHER;
            }
            break;
        default:
            break;
        }
    }
}

const TSLanguage *tree_sitter_typescript(void);
const struct cbx_lang_code cbx_lang_code_typescript = { .grammar = tree_sitter_typescript,
                                                        .extract = cbx_extract_javascript,
                                                        .between = CBX_JS_BETWEEN,
                                                        .around_file = cbx_js_around_file,
                                                        .other_grammar = cbx_tsx_grammar,
                                                        .mend = cbx_js_mend,
                                                        .misnames = cbx_js_misnames };
