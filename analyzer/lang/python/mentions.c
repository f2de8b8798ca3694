/* SPDX-License-Identifier: MIT
 * The uses of names in a text, whatever their scopes: whether code that does not use a list's name
 * could change the list, and whether a function is used for anything but calls. */
#include "analyzer/lang/python/internal.h"

enum mention {
    MAY_CHANGE = 1, /* passed on, changed, or used in a way that is unknown here */
    IS_VALUE = 2,   /* function: used other than as the callee of a call with known arguments */
    IS_DISPLAY = 4, /* bound to [..], (..), {..} */
    IS_OTHER = 8    /* bound to another value */
};

static bool is_one_of(struct cbx_str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (cbx_str_is(name, names[i])) {
            return true;
        }
    }
    return false;
}

static void note(struct cbx_walk *py, struct cbx_str name, enum mention mention)
{
    void **slot = cbx_table_slot(py->arena, &py->mentions, NULL, cbx_name_hash(name));
    *slot = (void *)((uintptr_t)*slot | (uintptr_t)mention);
}

static uintptr_t mentions_of(struct cbx_walk *py, struct cbx_str name)
{
    return (uintptr_t)cbx_table_find(&py->mentions, NULL, cbx_name_hash(name));
}

/* Returns true for a callee that reads the members of its argument and keeps nothing of it: ',
 * '.join(x), len(x). */
static bool only_reads(struct cbx_walk *py, struct cbx_node *callee)
{
    static const char *const functions[] = { "len",   "sorted", "print", "enumerate", "list",
                                             "tuple", "set",    "zip",   "max",       "min",
                                             "sum",   "any",    "all",   "str",       "reversed" };
    if (cbx_py_kind(callee) == PY_attribute) {
        return cbx_str_is(cbx_walk_text(py, cbx_child_of(callee, CBX_FIELD_attribute)), "join");
    }
    return cbx_py_kind(callee) == PY_identifier &&
           is_one_of(cbx_walk_text(py, callee), functions,
                     sizeof(functions) / sizeof(functions[0]));
}

static bool is_target(const struct cbx_node *node)
{
    enum cbx_py_kind parent = cbx_py_kind(node->parent);
    return (parent == PY_assignment && node->field == CBX_FIELD_left) ||
           parent == PY_augmented_assignment || parent == PY_delete_statement ||
           parent == PY_pattern_list || parent == PY_tuple_pattern || parent == PY_with_item ||
           ((parent == PY_for_statement || parent == PY_for_in_clause) &&
            node->field == CBX_FIELD_left);
}

static bool may_change(struct cbx_walk *py, struct cbx_node *name)
{
    static const char *const readers[] = { "index", "count",  "copy", "items",
                                           "keys",  "values", "get" };
    struct cbx_node *parent = name->parent;
    switch (cbx_py_kind(parent)) {
    case PY_assignment:
        return name->field != CBX_FIELD_left;
    case PY_for_statement:
    case PY_for_in_clause:
        return name->field != CBX_FIELD_right;
    case PY_subscript:
        return name->field == CBX_FIELD_value && is_target(parent);
    case PY_attribute:
        return name->field == CBX_FIELD_object &&
               !is_one_of(cbx_walk_text(py, cbx_child_of(parent, CBX_FIELD_attribute)), readers,
                          sizeof(readers) / sizeof(readers[0]));
    case PY_argument_list:
        return !only_reads(py, cbx_child_of(parent->parent, CBX_FIELD_function));
    case PY_comparison_operator:
    case PY_binary_operator:
    case PY_interpolation:
    case PY_slice:
    case PY_not_operator:
        return false;
    case PY_keyword_argument:
        return name->field != CBX_FIELD_name;
    default:
        return true;
    }
}

static void note_binding(struct cbx_walk *py, struct cbx_node *name)
{
    struct cbx_node *parent = name->parent;
    if (cbx_py_kind(parent) != PY_assignment || name->field != CBX_FIELD_left) {
        if (is_target(name)) {
            note(py, cbx_py_text(py, name), IS_OTHER);
        }
        return;
    }
    switch (cbx_py_kind(cbx_child_of(parent, CBX_FIELD_right))) {
    case PY_list:
    case PY_tuple:
    case PY_set:
    case PY_dictionary:
        note(py, cbx_py_text(py, name), IS_DISPLAY);
        return;
    default:
        note(py, cbx_py_text(py, name), IS_OTHER);
    }
}

static bool has_spread(const struct cbx_node *call)
{
    const struct cbx_node *list = cbx_child_of(call, CBX_FIELD_arguments);
    for (const struct cbx_node *a = list != NULL ? list->first : NULL; a != NULL; a = a->next) {
        if (cbx_py_kind(a) == PY_list_splat || cbx_py_kind(a) == PY_dictionary_splat) {
            return true;
        }
    }
    return false;
}

/* Returns true if the name is the callee: f(x), self.f(x). */
static bool is_callee(const struct cbx_node *name)
{
    bool member = cbx_py_kind(name->parent) == PY_attribute && name->field == CBX_FIELD_attribute;
    const struct cbx_node *callee = member ? name->parent : name;
    return cbx_py_kind(callee->parent) == PY_call && callee->field == CBX_FIELD_function &&
           !has_spread(callee->parent);
}

static bool is_definition(const struct cbx_node *name)
{
    enum cbx_py_kind parent = cbx_py_kind(name->parent);
    return name->field == CBX_FIELD_name &&
           (parent == PY_function_definition || parent == PY_class_definition ||
            parent == PY_keyword_argument);
}

void cbx_py_read_mentions(struct cbx_walk *py)
{
    for (uint32_t i = 0; i < py->syntax.count; i++) {
        struct cbx_node *node = &py->syntax.nodes[i];
        if (cbx_py_kind(node) == PY_string_content) { /* getattr(x, 'name') */
            struct cbx_str text = cbx_walk_text(py, node);
            if (text.len < 64) {
                note(py, text, IS_VALUE | MAY_CHANGE);
            }
            continue;
        }
        if (cbx_py_kind(node) != PY_identifier || is_definition(node)) {
            continue;
        }
        struct cbx_str name = cbx_py_text(py, node);
        note_binding(py, node);
        enum mention value = is_callee(node) ? 0 : IS_VALUE,
                     change = may_change(py, node) ? MAY_CHANGE : 0;
        note(py, name, value | change);
    }
}

bool cbx_py_is_only_read(struct cbx_walk *py, struct cbx_str name)
{
    return !py->namespaces &&
           (mentions_of(py, name) & (MAY_CHANGE | IS_DISPLAY | IS_OTHER)) == IS_DISPLAY;
}

bool cbx_py_is_only_called(struct cbx_walk *py, struct cbx_node *function)
{
    struct cbx_str name = cbx_py_name(py, function);
    if (cbx_py_kind(function) != PY_function_definition || py->files != NULL ||
        cbx_py_kind(function->parent) == PY_decorated_definition ||
        cbx_str_starts(name, CBX_STR("__")) || (mentions_of(py, name) & IS_VALUE) != 0) {
        return false;
    }
    const struct cbx_scope *around = cbx_scope_around(py, function);
    return around->kind != CBX_SCOPE_CLASS ||
           cbx_child_of(around->node, CBX_FIELD_superclasses) == NULL;
}
