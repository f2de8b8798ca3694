/* SPDX-License-Identifier: MIT
 * Names of attributes that lead into the interpreter, and dictionaries of modules, whose items are
 * the attributes. */
#include "analyzer/lang/python/internal.h"

/* Returns true for an attribute of a literal: "".__class__, [].append. */
static bool is_of_literal(const struct cbx_node *node)
{
    for (;;) {
        switch (cbx_py_kind(node)) {
        case PY_attribute:
        case PY_subscript:
        case PY_call:
        case PY_parenthesized_expression:
            node = cbx_child_at(node, 0);
            continue;
        case PY_string:
        case PY_tuple:
        case PY_list:
        case PY_dictionary:
        case PY_set:
        case PY_integer:
        case PY_float:
        case PY_true:
        case PY_false:
        case PY_none:
        case PY_lambda:
            return true;
        default:
            return false;
        }
    }
}

/* Returns true unless the code object is only read: f.__code__.co_name reads,
 * f.__code__.replace() changes the function. */
static bool is_code_object(struct cbx_walk *py, struct cbx_str name, const struct cbx_node *node)
{
    const struct cbx_node *whole = node->parent, *use = whole != NULL ? whole->parent : NULL;
    bool looks =
        cbx_py_kind(use) == PY_attribute &&
        cbx_str_starts(cbx_walk_text(py, cbx_child_of(use, CBX_FIELD_attribute)), CBX_STR("co_"));
    return (cbx_str_is(name, "__code__") || cbx_str_is(name, "func_code")) && !looks;
}

/* Returns true for obj.__dict__.get(self.name), obj.__dict__[k] of a parameter in a method of a
 * class of this source: descriptors keep their values so. Dictionaries of modules have facts of
 * their own. */
static bool is_own_dictionary(struct cbx_walk *py, struct cbx_str name, const struct cbx_node *node)
{
    const struct cbx_node *dictionary = node->parent, *use = dictionary->parent,
                          *object = cbx_child_of(dictionary, CBX_FIELD_object);
    if (!cbx_str_is(name, "__dict__") || cbx_py_kind(dictionary) != PY_attribute ||
        cbx_py_kind(object) != PY_identifier ||
        (cbx_py_kind(use) != PY_subscript && cbx_py_kind(use) != PY_attribute)) {
        return false;
    }
    const struct cbx_scope *scope = cbx_scope_around(py, node);
    const struct cbx_binding *b = cbx_scope_chain(py, scope, cbx_walk_text(py, object));
    bool method = scope->kind == CBX_SCOPE_FUNCTION && scope->parent != NULL &&
                  scope->parent->kind == CBX_SCOPE_CLASS;
    for (; method && b != NULL && b->given; b = b->next) {
        if (b->next == NULL) {
            return true;
        }
    }
    return false;
}

void cbx_py_extract_attribute(struct cbx_walk *py, struct cbx_str name, const struct cbx_node *node)
{
    if (is_own_dictionary(py, name, node)) {
        return;
    }
    cbx_facts_add(py->facts, CBX_IS_ATTRIBUTE, name, node->start, node->end);
    bool climbs =
        cbx_py_climbs(name) && (node->field != CBX_FIELD_attribute || is_of_literal(node->parent));
    if (climbs || cbx_py_is_dunder(name) || is_code_object(py, name, node)) {
        cbx_py_special(py, CBX_FACT_DUNDER_WALK, name, node);
    }
}

/* Returns true for __array_interface__ and __array_struct__; with `part` also for their beginnings,
 * which only a comparison with a name that numpy asks for has. */
static bool is_address_name(struct cbx_str name, bool part)
{
    static const struct cbx_str names[] = { { .p = "__array_interface__", .len = 19 },
                                            { .p = "__array_struct__", .len = 16 } };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (part ? cbx_str_starts(names[i], name) && name.len < names[i].len
                 : cbx_str_equal(names[i], name)) {
            return true;
        }
    }
    return false;
}

void cbx_py_note_definition(struct cbx_walk *py, struct cbx_str name, const struct cbx_node *node)
{
    if (name.len > 10 && name.p[0] == '_' && is_address_name(name, false)) {
        cbx_facts_add(py->facts, CBX_IS_REFERENCE, CBX_JOIN(py->arena, CBX_STR("defined:"), name),
                      node->start, node->end);
    }
}

void cbx_py_extract_definition(struct cbx_walk *py, const struct cbx_node *node)
{
    struct cbx_str name = cbx_walk_text(py, node);
    const struct cbx_node *string = node->parent;
    bool attribute = cbx_py_kind(string) == PY_attribute && node->field == CBX_FIELD_attribute;
    bool key = cbx_py_kind(string->parent) == PY_pair && string->field == CBX_FIELD_key,
         given = cbx_py_kind(string->parent) == PY_argument_list &&
                 cbx_str_starts(cbx_walk_text(py, string->parent->parent), CBX_STR("setattr"));
    /* the grammar reads `type(x).name = y` as an alias of a type */
    bool alias = cbx_py_kind(string->parent) == PY_type && string->parent->field == CBX_FIELD_left;
    /* 'x' + '__array_interface__', '__array_' + x are no names that are only read */
    bool built = cbx_py_kind(string->parent) == PY_binary_operator ||
                 (cbx_py_kind(node) == PY_string_content && node->next != NULL &&
                  cbx_py_kind(node->next) == PY_interpolation);
    given |= built;
    bool read = attribute ? string->field != CBX_FIELD_left && !alias
                          : cbx_py_kind(node) == PY_string_content && !key && !given;
    if (built && cbx_str_starts(name, CBX_STR("__array_")) && is_address_name(name, true)) {
        cbx_py_note_definition(py, CBX_STR("__array_interface__"), node);
    } else if (!read) {
        cbx_py_note_definition(py, name, node);
    } else if (name.len > 8 && name.p[0] == '_' && cbx_py_kind(node) == PY_string_content &&
               is_address_name(name, true)) {
        cbx_py_note_definition(py, CBX_STR("__array_interface__"), node);
    }
}

/* --- objects of the kernel, names out of dir() ------------------------------------------------ */

void cbx_py_check_owned(struct cbx_walk *py, const struct cbx_values *object, struct cbx_str name,
                        const struct cbx_node *node)
{
    bool private =
        name.len > 1 && name.p[0] == '_' && (name.p[1] != '_' || cbx_str_is(name, "__dict__"));
    for (uint32_t i = 0; private && i < object->count; i++) {
        const struct cbx_value *v = object->items[i];
        if (v->kind == CBX_V_NAME && cbx_py_is_owned(v->text)) {
            cbx_py_special(py, CBX_FACT_DUNDER_WALK, name, node);
            return;
        }
    }
}

static bool are_names(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    return node != NULL &&
           (cbx_values_flags(cbx_py_eval(py, node, scope)) & CBX_UNKNOWN_NAMES) != 0;
}

/* Adds a fact if a constant of a test is a part of such a name. */
static void check_test(struct cbx_walk *py, struct cbx_node *constant, struct cbx_scope *scope)
{
    const struct cbx_values *values = cbx_py_eval(py, constant, scope);
    values = values->items[0]->kind == CBX_V_LIST ? cbx_py_members(py, values) : values;
    for (uint32_t i = 0; i < values->count; i++) {
        if (values->items[i]->kind == CBX_V_TEXT &&
            cbx_py_is_part_of_dunder(values->items[i]->text)) {
            cbx_py_special(py, CBX_FACT_DUNDER_WALK, values->items[i]->text, constant);
            return;
        }
    }
}

/* Checks the operands or arguments of a node: if one of them is a name out of dir(), the others
 * are the constants of a test. */
static void check_operands(struct cbx_walk *py, struct cbx_node *parent, struct cbx_scope *scope,
                           bool names)
{
    for (struct cbx_node *child = parent->first; child != NULL && !names; child = child->next) {
        names = child->named && are_names(py, child, scope);
    }
    for (struct cbx_node *child = parent->first; child != NULL && names; child = child->next) {
        if (child->named) {
            check_test(py, child, scope);
        }
    }
}

/* [getattr(x, a) for a in dir(x)][3] */
static void check_picked(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    if ((cbx_values_flags(cbx_py_eval(py, node, scope)) & CBX_UNKNOWN_MEMBER) != 0) {
        cbx_py_special(py, CBX_FACT_DUNDER_WALK, CBX_STR("dir"), node);
    }
}

void cbx_py_check_names(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    int64_t number;
    struct cbx_node *callee, *list;
    switch (cbx_py_kind(node)) {
    case PY_comparison_operator:
        check_operands(py, node, scope, false);
        return;
    case PY_call: /* a.startswith('f_b'), re.match('f_b', a), next(a) */
        callee = cbx_child_of(node, CBX_FIELD_function);
        list = cbx_child_of(node, CBX_FIELD_arguments);
        if (list != NULL && cbx_py_kind(list) == PY_argument_list) {
            bool method = cbx_py_kind(callee) == PY_attribute &&
                          are_names(py, cbx_child_of(callee, CBX_FIELD_object), scope);
            check_operands(py, list, scope, method);
        }
        if (cbx_str_is(cbx_walk_text(py, callee), "next")) {
            check_picked(py, node, scope);
        }
        return;
    case PY_subscript:
        if (cbx_values_is_number(cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_subscript), scope),
                                 &number)) {
            check_picked(py, node, scope);
        }
        return;
    default:
        return;
    }
}

/* --- dictionaries of modules ------------------------------------------------------------------ */

/* Returns true for the dictionary of a module, as an object. */
static bool is_module_dictionary(const struct cbx_values *values)
{
    struct cbx_str dict = CBX_STR(".__dict__");
    if (values->count != 1 || values->items[0]->kind != CBX_V_NAME) {
        return false; /* empty while a cycle is evaluated */
    }
    struct cbx_str name = values->items[0]->text;
    return cbx_str_ends(name, dict) &&
           cbx_py_is_powerful(cbx_str_sub(name, 0, name.len - dict.len));
}

/* os.__dict__[name], vars(os).values() give any member of os. */
void cbx_py_check_dictionary(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    bool subscript = cbx_py_kind(node) == PY_subscript;
    struct cbx_node *object = cbx_child_of(node, subscript ? CBX_FIELD_value : CBX_FIELD_object);
    const struct cbx_values *values = cbx_py_eval(py, object, scope);
    if (!is_module_dictionary(values)) {
        return;
    }
    struct cbx_str method = cbx_walk_text(py, cbx_child_of(node, CBX_FIELD_attribute));
    struct cbx_node *key = subscript ? cbx_child_of(node, CBX_FIELD_subscript) : NULL,
                    *call = node->parent;
    bool get = cbx_str_is(method, "get") || cbx_str_is(method, "pop");
    if (get && cbx_py_kind(call) == PY_call) {
        key = cbx_child_at(cbx_child_of(call, CBX_FIELD_arguments), 0);
    }
    if (cbx_str_is(method, "keys") ||
        (key != NULL && cbx_values_all_text(cbx_py_eval(py, key, scope)))) {
        return;
    }
    cbx_py_special(py, CBX_FACT_COMPUTED_ATTRIBUTE, cbx_walk_text(py, object), node);
}

/* for name, value in vars(os).items(): and similar loops give any member of the module. */
void cbx_py_check_iteration(struct cbx_walk *py, const struct cbx_node *node,
                            struct cbx_scope *scope)
{
    struct cbx_node *right = cbx_child_of(node, CBX_FIELD_right);
    if (is_module_dictionary(cbx_py_eval(py, right, scope)) && cbx_py_kind(right) == PY_call) {
        cbx_py_special(py, CBX_FACT_COMPUTED_ATTRIBUTE, cbx_walk_text(py, right), right);
    }
}

/* --- getattr, setattr ------------------------------------------------------------------------ */

bool cbx_py_holds_power(const struct cbx_values *values)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        if (v->kind == CBX_V_NAME && v->number != CBX_NAME_OBJECT &&
            (cbx_str_is(v->text, "__builtins__") || cbx_str_is(v->text, "builtins") ||
             (v->number != CBX_NAME_BARE && cbx_py_is_powerful(v->text)))) {
            return true;
        }
    }
    return false;
}

/* Returns true for q.get(), x[0]: the unknown result of an object that is not followed may be a
 * module that escaped. */
static bool comes_from_call(struct cbx_walk *py, const struct cbx_actual *object)
{
    enum cbx_py_kind kind = cbx_py_kind(object->node);
    return (kind == PY_call || kind == PY_subscript) && py->escaped->count > 0 &&
           cbx_values_has_unknown(cbx_py_eval(py, object->node, object->scope));
}

/* Returns true if the value is a builtin, or a class or function of this source: objects of other
 * types have operators under such names. */
static bool leads_on(const struct cbx_values *object)
{
    for (uint32_t i = 0; i < object->count; i++) {
        const struct cbx_value *v = object->items[i];
        bool builtin = v->kind == CBX_V_NAME && v->number != CBX_NAME_OBJECT &&
                       memchr(v->text.p, '.', v->text.len) == NULL;
        if (v->kind != CBX_V_FUNCTION && v->kind != CBX_V_PARTIAL && !builtin) {
            return false;
        }
    }
    return object->count > 0;
}

void cbx_py_check_built_name(struct cbx_walk *py, const struct cbx_values *object,
                             const struct cbx_values *names, const struct cbx_node *call)
{
    bool checked = object == NULL || leads_on(object);
    for (uint32_t i = 0; checked && i < names->count; i++) {
        const struct cbx_value *v = names->items[i];
        bool here = v->kind == CBX_V_UNKNOWN && (v->number & CBX_UNKNOWN_CALLER) == 0;
        if (here && cbx_str_starts(v->text, CBX_STR("__")) && cbx_py_may_be_dunder(v->text)) {
            cbx_py_special(py, CBX_FACT_DUNDER_WALK, v->text, call);
            return;
        }
    }
}

void cbx_py_extract_getattr(struct cbx_walk *py, struct cbx_actuals *actuals,
                            const struct cbx_node *call)
{
    if (cbx_actual_find(actuals, 1, NULL) == NULL) {
        return;
    }
    const struct cbx_values *names = cbx_actual_values(py, actuals, 1, NULL);
    for (uint32_t i = 0; i < names->count; i++) {
        if (names->items[i]->kind == CBX_V_TEXT) {
            cbx_py_extract_attribute(py, names->items[i]->text, call);
            cbx_py_check_owned(py, cbx_actual_values(py, actuals, 0, NULL), names->items[i]->text,
                               call);
            cbx_py_add_references(
                py, cbx_py_read(py, cbx_actual_values(py, actuals, 0, NULL), names->items[i]->text),
                call);
        }
    }
    uint32_t flags = cbx_values_flags(names);
    cbx_py_check_built_name(py, cbx_actual_values(py, actuals, 0, NULL), names, call);
    if ((flags & CBX_UNKNOWN_PICKED) != 0) {
        cbx_py_special(py, CBX_FACT_DUNDER_WALK, CBX_STR("dir"), call);
    } else if ((flags & CBX_UNKNOWN_NAMES) != 0) {
        cbx_py_check_owned(py, cbx_actual_values(py, actuals, 0, NULL), CBX_STR("__dict__"), call);
    }
    if (!cbx_values_all_text(names)) {
        const struct cbx_actual *object = cbx_actual_find(actuals, 0, NULL);
        const struct cbx_values *values = cbx_actual_values(py, actuals, 0, NULL);
        bool twice = cbx_py_kind(object->node) == PY_call &&
                     cbx_str_is(cbx_walk_text(py, cbx_child_of(object->node, CBX_FIELD_function)),
                                "getattr");
        bool module = twice || cbx_py_holds_power(values) ||
                      (comes_from_call(py, object) && cbx_py_holds_power(py->escaped));
        if (py->applying && (!module || py->applying_method)) {
            return; /* the callee is unknown, and hardly getattr */
        }
        cbx_py_special(py, module ? CBX_FACT_COMPUTED_ATTRIBUTE : CBX_FACT_COMPUTED_MEMBER,
                       cbx_walk_text(py, cbx_child_of(call, CBX_FIELD_function)), call);
    }
}

void cbx_py_extract_setattr(struct cbx_walk *py, struct cbx_actuals *actuals, struct cbx_node *call)
{
    const struct cbx_values *object = cbx_actual_values(py, actuals, 0, NULL),
                            *names = cbx_actual_values(py, actuals, 1, NULL);
    struct cbx_str name;
    if (cbx_values_is_text(names, &name)) {
        cbx_py_note_definition(py, name, call);
    }
    if (cbx_values_is_text(names, &name) && cbx_str_is(name, "__annotations__")) {
        cbx_py_check_annotations(py, cbx_actual_values(py, actuals, 2, NULL), call);
    }
    for (uint32_t i = 0; i < object->count && cbx_values_is_text(names, &name); i++) {
        struct cbx_actuals value = { 0 };
        if (object->items[i]->kind == CBX_V_NAME) {
            struct cbx_str full = cbx_py_qualify(py, object->items[i], name);
            cbx_actuals_add(&value, (struct cbx_str){ 0 }, NULL, NULL,
                            cbx_actual_values(py, actuals, 2, NULL));
            cbx_py_extract_call(py, CBX_JOIN(py->arena, CBX_STR("set:"), full), &value, call);
        }
    }
}
