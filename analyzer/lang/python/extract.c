/* SPDX-License-Identifier: MIT
 * Pass two over Python: the facts. One loop over the nodes; the evaluator gives the values. */
#include "analyzer/lang/python/internal.h"
#include "analyzer/lang/python/syntax/syntax_indent.h"
#include "analyzer/lang/stored.h"

#include "analyzer/lang/python/notebook/magics.h"
#include "analyzer/lang/python/notebook/notebook.h"

/* Returns the part of a notebook line that a node is in: the facts of a rewritten line come from
 * the line itself, and from the expressions in it. */
static enum cbx_notebook_part part_of(const struct cbx_walk *py, const struct cbx_node *node)
{
    const struct cbx_parsed *parsed = py->parsed;
    return parsed->magic_count == 0
               ? CBX_PART_PYTHON
               : cbx_notebook_part(parsed->magics, parsed->magic_count, node->start, node->end);
}

/* Handles __match_args__ = ('a',): a pattern reads the attribute from any object that it
 * matches. */
static void extract_match_names(struct cbx_walk *py, struct cbx_node *assignment,
                                struct cbx_scope *scope)
{
    struct cbx_node *left = cbx_child_of(assignment, CBX_FIELD_left);
    struct cbx_node *name =
        cbx_py_kind(left) == PY_attribute ? cbx_child_of(left, CBX_FIELD_attribute) : left;
    if (!cbx_str_is(cbx_walk_text(py, name), "__match_args__")) {
        return;
    }
    const struct cbx_values *names =
        cbx_py_members(py, cbx_py_eval(py, cbx_child_of(assignment, CBX_FIELD_right), scope));
    for (uint32_t i = 0; i < names->count; i++) {
        if (names->items[i]->kind == CBX_V_TEXT) {
            cbx_py_extract_attribute(py, names->items[i]->text, assignment);
            cbx_py_add_references(py, cbx_py_read(py, &cbx_values_unknown, names->items[i]->text),
                                  assignment);
        } else {
            cbx_py_special(py, CBX_FACT_COMPUTED_MEMBER, CBX_STR("__match_args__"), assignment);
        }
    }
}

static void extract_read(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_node *attribute = cbx_child_of(node, CBX_FIELD_attribute);
    struct cbx_str name = cbx_py_text(py, attribute);
    cbx_py_extract_attribute(py, name, attribute);
    cbx_py_check_owned(py, cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_object), scope), name,
                       attribute);
}

static void extract_attribute(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    extract_read(py, node, scope);
    cbx_py_extract_references(py, node, scope);
    cbx_py_check_dictionary(py, node, scope);
    cbx_py_extract_written(py, node, scope);
    cbx_py_extract_annotation_change(py, node);
}

static void extract_subscript(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    cbx_py_extract_references(py, node, scope);
    cbx_py_extract_written(py, node, scope);
    cbx_py_extract_variable(py, node, scope);
    cbx_py_extract_generic(py, node, scope);
    cbx_py_check_names(py, node, scope);
    cbx_py_check_dictionary(py, node, scope);
}

/* case X(name=y): reads x.name */
static void extract_keyword(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    (void)scope;
    cbx_py_extract_attribute(py, cbx_py_text(py, cbx_child_at(node, 0)), node);
}

static void extract_identifier(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    if (!cbx_py_is_plain_name(node)) {
        cbx_py_extract_references(py, node, scope);
    }
    cbx_py_extract_definition(py, node);
}

static void extract_content(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    (void)scope;
    cbx_py_extract_definition(py, node);
}

static void extract_call(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    cbx_py_extract_calls(py, node, scope);
    cbx_py_check_names(py, node, scope);
    cbx_py_extract_references(py, node, scope);
    cbx_py_extract_text(py, node, scope);
    cbx_py_extract_built(py, node, scope);
}

/* Adds the facts of a string, or of a + b + c as a whole. */
static void extract_whole_text(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    enum cbx_py_kind around = cbx_py_kind(node) == PY_string
                                  ? PY_expression_statement /* docstring */
                                  : PY_binary_operator;
    if (cbx_py_kind(node->parent) != around) {
        cbx_py_extract_text(py, node, scope);
        cbx_py_extract_built(py, node, scope);
    }
}

static void extract_assignment(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    extract_match_names(py, node, scope);
    cbx_py_extract_annotations(py, node, scope);
}

static void extract_import(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    (void)scope;
    cbx_py_extract_import(py, node);
}

static void extract_type(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    (void)scope;
    cbx_py_extract_annotation(py, node);
}

static void extract_iteration(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    cbx_py_check_iteration(py, node, scope);
}

static void refuse_statement(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    (void)scope;
    cbx_py_special(py, CBX_FACT_SYNTAX, CBX_STR("Python 2 statement"), node);
}

/* `leaf`: the nodes below have no facts of their own. */
static const struct {
    void (*extract)(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);
    bool leaf;
} rows[PY_KINDS] = {
    [PY_import_statement] = { .extract = extract_import, .leaf = true },
    [PY_import_from_statement] = { .extract = extract_import, .leaf = true },
    [PY_future_import_statement] = { .leaf = true },
    [PY_identifier] = { .extract = extract_identifier, .leaf = true },
    [PY_string_content] = { .extract = extract_content, .leaf = true },
    [PY_print_statement] = { .extract = refuse_statement },
    [PY_exec_statement] = { .extract = refuse_statement },
    [PY_attribute] = { .extract = extract_attribute },
    [PY_subscript] = { .extract = extract_subscript },
    [PY_keyword_pattern] = { .extract = extract_keyword },
    [PY_call] = { .extract = extract_call },
    [PY_string] = { .extract = extract_whole_text },
    [PY_binary_operator] = { .extract = extract_whole_text },
    [PY_concatenated_string] = { .extract = cbx_py_extract_text },
    [PY_augmented_assignment] = { .extract = cbx_py_extract_text },
    [PY_comparison_operator] = { .extract = cbx_py_check_names },
    [PY_assignment] = { .extract = extract_assignment },
    [PY_pair] = { .extract = cbx_py_extract_annotations },
    [PY_decorator] = { .extract = cbx_py_extract_decorator },
    [PY_type] = { .extract = extract_type },
    [PY_for_statement] = { .extract = extract_iteration },
    [PY_for_in_clause] = { .extract = extract_iteration },
};

/* Adds the facts of a node; returns false if its children must not be visited. */
static bool extract_node(struct cbx_walk *py, struct cbx_node *node)
{
    enum cbx_py_kind kind = cbx_py_kind(node);
    if (rows[kind].extract != NULL) {
        rows[kind].extract(py, node, cbx_scope_around(py, node));
    }
    return !rows[kind].leaf;
}

void cbx_extract_python(struct cbx_parsed *parsed)
{
    struct cbx_walk *py = cbx_arena_alloc(parsed->arena, sizeof(*py));
    if (py == NULL || !cbx_walk_begin(py, parsed, cbx_py_grammar())) {
        return;
    }
    cbx_py_bind_all(py);
    cbx_py_flow_all(py);
    cbx_stored_read(py, &cbx_py_stored);
    cbx_py_flow_calls(py);
    parsed->walk = py;
    cbx_magic_resolve(py);
    struct cbx_node *end = py->syntax.nodes + py->syntax.count;
    for (struct cbx_node *node = py->syntax.nodes; node < end;) {
        enum cbx_notebook_part part = part_of(py, node);
        bool down = part == CBX_PART_AROUND || (part == CBX_PART_PYTHON && extract_node(py, node));
        node = down ? node + 1 : (struct cbx_node *)(uintptr_t)cbx_node_behind(node, end);
    }
    cbx_walk_fire(py, CBX_STR("(entry point).load"));
    cbx_walk_end(py);
}

const TSLanguage *tree_sitter_python(void);
const struct cbx_lang_code cbx_lang_code_python = { .grammar = tree_sitter_python,
                                                    .extract = cbx_extract_python,
                                                    .between = CBX_PY_BETWEEN,
                                                    .reads_error = cbx_py_reads_error,
                                                    .correct = cbx_py_correct,
                                                    .misindents = cbx_indent_find,
                                                    .cookie = true };
