/* SPDX-License-Identifier: MIT
 * The flow between the scopes of a Python source that names do not show: arguments of calls, and
 * modules that escape. */
#include "analyzer/lang/python/internal.h"
#include "analyzer/lang/summary.h"

enum { PARAMETERS_MAX = 256, ESCAPED_CALLS_MAX = 12 };

/* --- arguments of parameters ------------------------------------------------------------------ */

/* Returns the argument for the n-th parameter, `name`; NULL if it is unknown. */
static struct cbx_node *argument_for(struct cbx_walk *py, struct cbx_node *list, uint32_t n,
                                     struct cbx_str name)
{
    uint32_t at = 0;
    for (struct cbx_node *a = list->first; a != NULL; a = a->next) {
        enum cbx_py_kind kind = cbx_py_kind(a);
        if (kind == PY_keyword_argument) {
            if (cbx_str_equal(cbx_py_name(py, a), name)) {
                return cbx_child_of(a, CBX_FIELD_value);
            }
        } else if (kind == PY_list_splat || kind == PY_dictionary_splat) {
            return NULL;
        } else if (at++ == n) {
            return a;
        }
    }
    return NULL;
}

/* Binds parameters to the arguments of a call. `bound`: the call has no argument for the first
 * parameter. */
static void give_parameters(struct cbx_walk *py, struct cbx_node *function, struct cbx_node *list,
                            struct cbx_scope *where, bool bound)
{
    struct cbx_node *parameters = cbx_child_of(function, CBX_FIELD_parameters);
    uint32_t n = 0;
    for (struct cbx_node *p = parameters != NULL ? parameters->first : NULL;
         p != NULL && n < PARAMETERS_MAX; p = p->next) {
        enum cbx_py_kind kind = cbx_py_kind(p);
        struct cbx_node *name = cbx_py_parameter(p);
        if (name == NULL || kind == PY_list_splat_pattern || kind == PY_dictionary_splat_pattern) {
            continue;
        }
        if (bound) {
            bound = false;
            continue;
        }
        struct cbx_str text = cbx_py_text(py, name);
        struct cbx_node *argument = argument_for(py, list, n++, text);
        if (argument != NULL) {
            cbx_scope_bind(py, function->inner, where, text, CBX_BIND_EXPR, argument);
        }
    }
}

static bool is_static(struct cbx_walk *py, const struct cbx_node *function)
{
    return cbx_py_kind(function->parent) == PY_decorated_definition &&
           cbx_str_is(cbx_walk_text(py, cbx_child_at(cbx_child_at(function->parent, 0), 0)),
                      "staticmethod");
}

/* Binds the fields of a class without __init__ (dataclass, NamedTuple) to these arguments, in the
 * order of their annotations. */
static void give_fields(struct cbx_walk *py, struct cbx_node *class, struct cbx_node *list,
                        struct cbx_scope *where)
{
    struct cbx_node *body = cbx_child_of(class, CBX_FIELD_body);
    uint32_t n = 0;
    for (struct cbx_node *s = body != NULL ? body->first : NULL; s != NULL && n < PARAMETERS_MAX;
         s = s->next) {
        struct cbx_node *field = cbx_child_at(s, 0), *name = cbx_child_of(field, CBX_FIELD_left);
        bool annotated = cbx_py_kind(field) == PY_assignment &&
                         cbx_child_of(field, CBX_FIELD_type) != NULL &&
                         cbx_py_kind(name) == PY_identifier;
        struct cbx_node *argument =
            annotated ? argument_for(py, list, n++, cbx_py_text(py, name)) : NULL;
        if (argument != NULL) {
            cbx_scope_bind(py, NULL, where, cbx_py_text(py, name), CBX_BIND_EXPR, argument);
        }
    }
}

/* Binds the parameters of every function in this chain of bindings to these arguments. */
static void call_chain(struct cbx_walk *py, struct cbx_binding *chain, struct cbx_str name,
                       struct cbx_node *list, struct cbx_scope *where, bool bound)
{
    int count = 0;
    for (struct cbx_binding *b = chain; b != NULL && count < 16; b = b->next) {
        if (!cbx_str_equal(b->name, name) || b->node == NULL) {
            continue;
        }
        enum cbx_py_kind kind = cbx_py_kind(b->node);
        if (kind == PY_class_definition && b->kind == CBX_BIND_FUNCTION) {
            struct cbx_str init = CBX_STR("__init__");
            struct cbx_binding *inits = cbx_scope_chain(py, b->node->inner, init);
            call_chain(py, inits, init, list, where, true);
            if (inits == NULL) {
                give_fields(py, b->node, list, where);
            }
            count++;
        } else if (kind == PY_lambda || kind == PY_function_definition) {
            give_parameters(py, b->node, list, where, bound && !is_static(py, b->node));
            count++;
        }
    }
}

/* Returns the bindings of a name in the scopes around a place; NULL if there are none. */
static struct cbx_binding *chain_around(struct cbx_walk *py, struct cbx_scope *where,
                                        struct cbx_str name)
{
    struct cbx_binding *chain = NULL;
    for (struct cbx_scope *s = where; s != NULL && chain == NULL; s = s->parent) {
        chain = cbx_scope_chain(py, s, name);
    }
    return chain;
}

/* Binds the parameters of the functions whose names other calls give a parameter: f of run(f). */
static void call_given(struct cbx_walk *py, struct cbx_binding *chain, struct cbx_node *list,
                       struct cbx_scope *where)
{
    int count = 0;
    for (struct cbx_binding *b = chain; b != NULL && count < 16; b = b->next, count++) {
        if (!b->given || cbx_py_kind(b->node) != PY_identifier || b->kind != CBX_BIND_EXPR) {
            continue;
        }
        struct cbx_str name = cbx_py_text(py, b->node);
        struct cbx_binding *functions = chain_around(py, b->where, name);
        if (functions != NULL && functions->kind == CBX_BIND_FUNCTION) {
            call_chain(py, functions, name, list, where, false);
        }
    }
}

/* Handles Thread(target=f, args=(a, b)). */
static void give_target(struct cbx_walk *py, struct cbx_node *list, struct cbx_scope *where)
{
    struct cbx_node *target = NULL, *arguments = NULL;
    for (struct cbx_node *a = list->first; a != NULL; a = a->next) {
        struct cbx_str keyword =
            cbx_py_kind(a) == PY_keyword_argument ? cbx_py_name(py, a) : CBX_STR("");
        struct cbx_node *value = cbx_child_of(a, CBX_FIELD_value);
        target = cbx_str_is(keyword, "target") ? value : target;
        arguments = cbx_str_is(keyword, "args") ? value : arguments;
    }
    bool tuple = cbx_py_kind(arguments) == PY_tuple || cbx_py_kind(arguments) == PY_list;
    if (tuple && cbx_py_kind(target) == PY_identifier) {
        struct cbx_str name = cbx_py_text(py, target);
        call_chain(py, chain_around(py, where, name), name, arguments, where, false);
    }
}

/* Handles map(f, xs), filter(f, xs): the first parameter may be any member of xs. */
static void give_members(struct cbx_walk *py, struct cbx_node *list, struct cbx_scope *where)
{
    struct cbx_node *function = list->first, *members = function->next;
    if (members == NULL || cbx_py_kind(function) != PY_lambda) {
        return;
    }
    struct cbx_node *first = cbx_child_at(cbx_child_of(function, CBX_FIELD_parameters), 0),
                    *name = first != NULL ? cbx_py_parameter(first) : NULL;
    struct cbx_binding *b = name != NULL
                                ? cbx_scope_bind(py, function->inner, where, cbx_py_text(py, name),
                                                 CBX_BIND_EXPR, members)
                                : NULL;
    if (b != NULL) {
        b->each = true;
    }
}

/* Handles a call of functions of this source, found by name only. */
static void give_call(struct cbx_walk *py, struct cbx_node *call)
{
    struct cbx_node *callee = cbx_child_of(call, CBX_FIELD_function),
                    *list = cbx_child_of(call, CBX_FIELD_arguments);
    struct cbx_scope *where = cbx_scope_around(py, call);
    while (cbx_py_kind(callee) == PY_parenthesized_expression) {
        callee = cbx_child_at(callee, 0);
    }
    if (list == NULL || list->first == NULL) {
        return;
    }
    if (cbx_py_kind(callee) == PY_lambda) {
        give_parameters(py, callee, list, where, false);
    } else if (cbx_py_kind(callee) == PY_attribute) {
        struct cbx_str name = cbx_py_text(py, cbx_child_of(callee, CBX_FIELD_attribute));
        call_chain(py, cbx_scope_chain(py, NULL, name), name, list, where, true);
    } else if (cbx_py_kind(callee) == PY_identifier) {
        struct cbx_str name = cbx_py_text(py, callee);
        if (cbx_str_is(name, "map") || cbx_str_is(name, "filter")) {
            give_members(py, list, where);
        }
        struct cbx_binding *chain = chain_around(py, where, name);
        call_chain(py, chain, name, list, where, false);
        call_given(py, chain, list, where);
    }
    give_target(py, list, where);
}

/* Handles @f before g: f is called with g. */
static void give_decorated(struct cbx_walk *py, struct cbx_node *definition)
{
    struct cbx_node *decorated = cbx_last_child(definition);
    struct cbx_scope *where = cbx_scope_around(py, definition);
    for (struct cbx_node *d = definition->first; d != NULL; d = d->next) {
        struct cbx_node *name = cbx_child_at(d, 0);
        if (cbx_py_kind(d) != PY_decorator || cbx_py_kind(name) != PY_identifier) {
            continue;
        }
        struct cbx_str text = cbx_py_text(py, name);
        for (struct cbx_scope *s = where; s != NULL; s = s->parent) {
            struct cbx_binding *b = cbx_scope_chain(py, s, text);
            struct cbx_node *function = b != NULL ? b->node : NULL;
            struct cbx_node *first = cbx_child_at(cbx_child_of(function, CBX_FIELD_parameters), 0);
            if (cbx_py_kind(function) == PY_function_definition &&
                cbx_py_parameter(first) != NULL) {
                cbx_scope_bind(py, function->inner, where, cbx_py_text(py, cbx_py_parameter(first)),
                               CBX_BIND_EXPR, decorated);
                break;
            }
        }
    }
}

/* --- escapes ---------------------------------------------------------------------------------- */

/* Returns true if a name is used as a value, not only for its attributes: a module then escapes. */
static bool is_value(const struct cbx_node *name)
{
    switch (cbx_py_kind(name->parent)) {
    case PY_attribute:
    case PY_dotted_name:
    case PY_aliased_import:
    case PY_decorator:
    case PY_expression_statement:
    case PY_not_operator:
    case PY_delete_statement:
    case PY_global_statement:
    case PY_nonlocal_statement:
    case PY_parameters:
    case PY_lambda_parameters:
        return false;
    case PY_call:
        return name->field != CBX_FIELD_function;
    case PY_assignment:
        return name->field == CBX_FIELD_right;
    case PY_keyword_argument:
    case PY_default_parameter:
    case PY_typed_default_parameter:
        return name->field == CBX_FIELD_value;
    case PY_subscript:
        return name->field == CBX_FIELD_subscript;
    default:
        return name->parent != NULL;
    }
}

static void let_escape(struct cbx_walk *py, struct cbx_node *name, bool powerful)
{
    struct cbx_str text = cbx_walk_text(py, name);
    if ((py->imported & cbx_name_bit(text)) == 0) {
        return;
    }
    for (struct cbx_scope *s = cbx_scope_around(py, name); s != NULL; s = s->parent) {
        struct cbx_binding *chain = cbx_scope_chain(py, s, text);
        for (struct cbx_binding *b = chain; b != NULL; b = b->next) {
            if (b->kind == CBX_BIND_NAME && cbx_str_equal(b->name, text) &&
                (powerful ? cbx_py_is_powerful(b->path) : cbx_py_holds_more(b->path))) {
                cbx_walk_escape(py, b->path, cbx_py_is_powerful(b->path));
            }
        }
        if (chain != NULL) {
            return;
        }
    }
}

/* Returns true for a callable whose caller can reach any attribute or module: getattr,
 * operator.attrgetter('a'). */
static bool is_giver(const struct cbx_value *v)
{
    if (v->kind == CBX_V_PARTIAL && v->count > 0 && v->members[0]->count == 1) {
        v = v->members[0]->items[0];
        return v->kind == CBX_V_NAME &&
               (cbx_str_starts(v->text, CBX_STR("operator.")) || is_giver(v));
    }
    if (v->kind != CBX_V_NAME) {
        return false;
    }
    switch (cbx_py_call_meaning(v->text)) {
    case PY_CALL_GETATTR:
    case PY_CALL_GETTER:
    case PY_CALL_METHOD_CALLER:
    case PY_CALL_REDUCE:
    case PY_CALL_MAP:
    case PY_CALL_STARMAP:
    case PY_CALL_CALL:
    case PY_CALL_VARS:
    case PY_CALL_IMPORT:
    case PY_CALL_IMPORT_TOP:
        return true;
    default:
        return false;
    }
}

/* Lets such a callable that is used as a value escape: any later callee may be this callable. */
static void let_call_escape(struct cbx_walk *py, struct cbx_node *node)
{
    const struct cbx_values *values = cbx_py_eval(py, node, cbx_scope_around(py, node));
    for (uint32_t i = 0; i < values->count; i++) {
        if (is_giver(values->items[i]) && py->escaped_calls->count < ESCAPED_CALLS_MAX) {
            py->escaped_calls = cbx_values_join(py->arena, py->escaped_calls,
                                                cbx_values_one(py->arena, values->items[i]));
        }
    }
}

/* A quick test for the names of these callables. */
static bool may_give(struct cbx_walk *py, const struct cbx_node *node)
{
    static const struct cbx_str names[] = {
        CBX_LITERAL("getattr"), CBX_LITERAL("attrgetter"), CBX_LITERAL("methodcaller"),
        CBX_LITERAL("reduce"),  CBX_LITERAL("starmap"),    CBX_LITERAL("__getattribute__"),
        CBX_LITERAL("call"),    CBX_LITERAL("vars"),       CBX_LITERAL("getattr_static"),
        CBX_LITERAL("map"),     CBX_LITERAL("__import__"), CBX_LITERAL("import_module")
    };
    const struct cbx_node *name = node;
    if (cbx_py_kind(node) == PY_call) {
        name = cbx_child_of(node, CBX_FIELD_function);
    }
    name = cbx_py_kind(name) == PY_attribute ? cbx_child_of(name, CBX_FIELD_attribute) : name;
    struct cbx_str text = cbx_walk_text(py, name);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (cbx_str_equal(text, names[i])) {
            return true;
        }
    }
    return cbx_py_kind(node) == PY_identifier && (py->givers & cbx_name_bit(text)) != 0;
}

/* Returns true for globals() and similar, which give access to all imports. */
static bool is_namespace(struct cbx_walk *py, const struct cbx_node *name)
{
    struct cbx_str text = cbx_walk_text(py, name);
    const struct cbx_node *use = name->parent != NULL ? name->parent->parent : NULL;
    bool handed_on = cbx_py_kind(use) == PY_keyword_argument; /* timeit(x, globals=globals()) */
    return name->field == CBX_FIELD_function && !handed_on &&
           (cbx_str_is(text, "globals") || cbx_str_is(text, "locals") ||
            (cbx_str_is(text, "vars") &&
             cbx_child_count(cbx_child_of(name->parent, CBX_FIELD_arguments)) == 0));
}

static bool is_import_of_main(struct cbx_walk *py, const struct cbx_node *node)
{
    return cbx_py_kind(node) == PY_dotted_name && cbx_str_is(cbx_walk_text(py, node), "__main__");
}

/* Returns true for f(x) of a parameter f: other calls bind it. */
static bool calls_parameter(struct cbx_walk *py, const struct cbx_node *call)
{
    struct cbx_node *callee = cbx_child_of(call, CBX_FIELD_function);
    const struct cbx_binding *chain =
        cbx_py_kind(callee) == PY_identifier
            ? chain_around(py, cbx_scope_around(py, call), cbx_py_text(py, callee))
            : NULL;
    return chain != NULL && chain->given;
}

void cbx_py_flow_all(struct cbx_walk *py)
{
    enum { LATER_MAX = 256 };
    struct cbx_node *later[LATER_MAX];
    uint32_t later_count = 0;
    py->giving = true;
    for (uint32_t i = 0; i < py->syntax.count; i++) {
        struct cbx_node *node = &py->syntax.nodes[i];
        if (is_import_of_main(py, node)) {
            py->namespaces = true; /* the attributes of __main__ are the names of this text */
        }
        if (node->kind == PY_call && later_count < LATER_MAX && calls_parameter(py, node)) {
            later[later_count++] = node;
        } else if (node->kind == PY_call) {
            give_call(py, node);
        } else if (node->kind == PY_decorated_definition) {
            give_decorated(py, node);
        } else if (node->kind == PY_identifier && is_value(node)) {
            let_escape(py, node, false);
        } else if (cbx_py_kind(node->parent) == PY_expression_statement &&
                   node->kind == PY_identifier) { /* IPython keeps the result */
            let_escape(py, node, true);
        } else if (node->kind == PY_identifier && is_namespace(py, node)) {
            py->namespaces = true;
            for (uint32_t k = 0; k < py->import_count; k++) {
                cbx_walk_escape(py, py->import_items[k], cbx_py_is_powerful(py->import_items[k]));
            }
        }
    }
    for (uint32_t i = 0; i < later_count; i++) {
        give_call(py, later[i]);
    }
    py->giving = false;
}

void cbx_py_flow_calls(struct cbx_walk *py)
{
    const struct cbx_values *before = cbx_recall_calls(py);
    py->escaped_calls = before != NULL ? before : &cbx_values_nothing;
    for (uint32_t i = 0; i < py->syntax.count; i++) {
        struct cbx_node *node = &py->syntax.nodes[i];
        bool kind =
            node->kind == PY_identifier || node->kind == PY_attribute || node->kind == PY_call;
        bool kept = cbx_py_kind(node->parent) == PY_expression_statement &&
                    node->kind != PY_call; /* IPython keeps the result */
        if (kind && (kept || is_value(node)) && may_give(py, node)) {
            let_call_escape(py, node);
        }
    }
}
