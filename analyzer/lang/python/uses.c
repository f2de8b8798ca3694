/* SPDX-License-Identifier: MIT
 * Imports of powerful modules of which the text uses only harmless members: `import pickle` for
 * pickle.dumps is judged as `from pickle import dumps`. The same applies to IPython's shell if it
 * only runs constant magics. */
#include "analyzer/facts/sinks.h"
#include "analyzer/lang/python/internal.h"

enum { USES_MAX = 32, MEMBERS_MAX = 12 };

/* A name that imports or get_ipython() bind, and the members that the text reads from it. */
struct cbx_py_use {
    struct cbx_str name;
    struct cbx_str members[MEMBERS_MAX];
    uint32_t count;
    bool other; /* a use is not a read of a harmless member */
};

struct cbx_py_uses {
    struct cbx_py_use items[USES_MAX];
    uint32_t count;
    uint64_t names; /* bits of the names in `items` */
};

static struct cbx_py_use *find_use(struct cbx_py_uses *uses, struct cbx_str name)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        if (cbx_str_equal(uses->items[i].name, name)) {
            return &uses->items[i];
        }
    }
    return NULL;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Returns the node with the name that one part of an import statement binds. */
static struct cbx_node *bound_name(struct cbx_node *part)
{
    return cbx_py_kind(part) == PY_aliased_import ? cbx_child_of(part, CBX_FIELD_alias) : part;
}

static void note_name(struct cbx_py_uses *uses, struct cbx_str name)
{
    if (find_use(uses, name) == NULL && uses->count < USES_MAX) {
        uses->items[uses->count++] = (struct cbx_py_use){ .name = name };
        uses->names |= cbx_name_bit(name);
    }
}

static void note_names(struct cbx_walk *py, struct cbx_py_uses *uses, struct cbx_node *import)
{
    struct cbx_node *module = cbx_child_of(import, CBX_FIELD_module_name);
    for (struct cbx_node *part = import->first; part != NULL; part = part->next) {
        enum cbx_py_kind kind = cbx_py_kind(part);
        if ((kind != PY_dotted_name && kind != PY_aliased_import) || part == module) {
            continue;
        }
        note_name(uses, cbx_py_bound_text(py, import, part));
    }
}

struct cbx_str cbx_py_bound_text(struct cbx_walk *py, const struct cbx_node *import,
                                 struct cbx_node *part)
{
    struct cbx_str text = cbx_py_text(py, bound_name(part));
    const char *dot = cbx_py_kind(import) == PY_import_statement && text.len > 0
                          ? memchr(text.p, '.', text.len)
                          : NULL;
    return dot != NULL ? cbx_str_sub(text, 0, (size_t)(dot - text.p)) : text;
}

/* --- uses of names ---------------------------------------------------------------------------- */

static void note_member(struct cbx_py_use *use, struct cbx_str member)
{
    for (uint32_t i = 0; i < use->count; i++) {
        if (cbx_str_equal(use->members[i], member)) {
            return;
        }
    }
    if (use->count < MEMBERS_MAX) { /* the list may be incomplete: all members in it are harmless */
        use->members[use->count++] = member;
    }
}

/* Returns true for x is None, if x: compared, not used. */
static bool is_compared(const struct cbx_node *node)
{
    switch (cbx_py_kind(node->parent)) {
    case PY_comparison_operator:
    case PY_not_operator:
    case PY_expression_statement:
        return true;
    default:
        return node->field == CBX_FIELD_condition;
    }
}

/* Returns the only name among the alternatives; for a method of an object, the name of the
 * function. A value that the text assigns to an attribute is an alternative too. */
static struct cbx_str name_of(const struct cbx_values *values)
{
    struct cbx_str name = { 0 };
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        if (v->kind == CBX_V_PARTIAL && v->members[0]->count == 1) {
            v = v->members[0]->items[0];
        }
        if (v->kind == CBX_V_NAME && name.len > 0 && !cbx_str_equal(v->text, name)) {
            return (struct cbx_str){ 0 };
        }
        name = v->kind == CBX_V_NAME ? v->text : name;
    }
    return name;
}

/* Returns the variable to which the text assigns get_ipython(); NULL if the node is no such
 * call. */
static struct cbx_node *shell_variable(struct cbx_walk *py, const struct cbx_node *call)
{
    struct cbx_node *left = cbx_child_of(call->parent, CBX_FIELD_left);
    bool assigned = cbx_py_kind(call) == PY_call && call->field == CBX_FIELD_right &&
                    cbx_py_kind(call->parent) == PY_assignment &&
                    cbx_py_kind(left) == PY_identifier;
    struct cbx_node *callee = assigned ? cbx_child_of(call, CBX_FIELD_function) : NULL;
    return callee != NULL &&
                   cbx_str_is(name_of(cbx_py_eval(py, callee, cbx_scope_around(py, callee))),
                              "get_ipython")
               ? left
               : NULL;
}

/* Returns the name that the chain of attributes reads; empty if it reads none. *variable: the
 * variable that the text assigns the shell to, whose uses decide, or NULL. */
static struct cbx_str read_of(struct cbx_walk *py, struct cbx_node *node,
                              struct cbx_node **variable)
{
    struct cbx_str shell = CBX_STR(CBX_PY_SHELL);
    *variable = NULL;
    for (;;) {
        struct cbx_scope *scope = cbx_scope_around(py, node);
        struct cbx_str name = name_of(cbx_py_eval(py, node, scope));
        bool made = node->field == CBX_FIELD_function && cbx_py_kind(node->parent) == PY_call &&
                    cbx_str_is(name, "get_ipython");
        bool object = node->field == CBX_FIELD_object && cbx_py_kind(node->parent) == PY_attribute;
        if (cbx_str_equal(name, shell) && is_compared(node)) {
            return shell;
        }
        *variable = shell_variable(py, node);
        if (*variable != NULL) {
            return shell;
        }
        if (!made && !object) {
            return (struct cbx_str){ 0 };
        }
        node = node->parent;
        name = name_of(cbx_py_eval(py, node, scope));
        if (object && name.len > 0 &&
            (cbx_sinks_cleared(CBX_PYTHON, name) || cbx_py_is_judged_callee(py, node))) {
            return name;
        }
    }
}

struct cbx_str cbx_py_harmless_read(struct cbx_walk *py, struct cbx_node *node)
{
    struct cbx_node *variable;
    const struct cbx_str *members;
    struct cbx_str read = read_of(py, node, &variable);
    return variable == NULL ||
                   cbx_py_harmless_members(py, cbx_walk_text(py, variable), &members) > 0
               ? read
               : (struct cbx_str){ 0 };
}

/* Returns true for definitions, keywords and attributes of other objects with the name: they are
 * no uses of it. */
static bool is_no_use(const struct cbx_node *node)
{
    switch (cbx_py_kind(node->parent)) {
    case PY_attribute:
        return node->field == CBX_FIELD_attribute;
    case PY_keyword_argument:
        return node->field == CBX_FIELD_name;
    case PY_assignment: /* the binding of a shell variable */
        return node->field == CBX_FIELD_left;
    case PY_dotted_name:
    case PY_aliased_import:
    case PY_delete_statement:
        return true;
    default:
        return false;
    }
}

static struct cbx_py_uses *read_uses(struct cbx_walk *py)
{
    struct cbx_py_uses *uses = cbx_arena_alloc(py->arena, sizeof(*uses));
    if (uses == NULL) {
        return NULL;
    }
    memset(uses, 0, sizeof(*uses));
    for (uint32_t i = 0; i < py->syntax.count; i++) {
        struct cbx_node *node = &py->syntax.nodes[i];
        if (node->kind == PY_import_statement || node->kind == PY_import_from_statement) {
            note_names(py, uses, node);
        }
        struct cbx_node *variable = node->kind == PY_call ? shell_variable(py, node) : NULL;
        if (variable != NULL) {
            note_name(uses, cbx_walk_text(py, variable));
        }
    }
    for (uint32_t i = 0; i < py->syntax.count; i++) {
        struct cbx_node *node = &py->syntax.nodes[i];
        struct cbx_str text =
            node->kind == PY_identifier ? cbx_walk_text(py, node) : (struct cbx_str){ 0 };
        struct cbx_py_use *use =
            text.len > 0 && (uses->names & cbx_name_bit(text)) != 0 ? find_use(uses, text) : NULL;
        if (use == NULL || use->other || is_no_use(node)) {
            continue;
        }
        struct cbx_node *variable;
        struct cbx_str member = read_of(py, node, &variable);
        use->other |= member.len == 0 && !cbx_py_is_judged_callee(py, node);
        note_member(use, member.len > 0 ? member : use->name);
    }
    return uses;
}

uint32_t cbx_py_harmless_members(struct cbx_walk *py, struct cbx_str name,
                                 const struct cbx_str **out)
{
    if (py->import_uses == NULL) {
        py->import_uses = read_uses(py);
    }
    struct cbx_py_use *use =
        py->import_uses != NULL && !py->namespaces ? find_use(py->import_uses, name) : NULL;
    *out = use != NULL ? use->members : NULL;
    return use != NULL && !use->other ? use->count : 0;
}

bool cbx_py_is_unused(struct cbx_walk *py, struct cbx_str name)
{
    const struct cbx_str *members;
    bool used = cbx_py_harmless_members(py, name, &members) > 0;
    struct cbx_py_use *use = py->import_uses != NULL ? find_use(py->import_uses, name) : NULL;
    return !used && use != NULL && !use->other && !py->namespaces;
}
