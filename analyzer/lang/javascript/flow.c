/* SPDX-License-Identifier: MIT
 * The flow between the scopes of a JavaScript source that names do not show: arguments of calls,
 * and values that escape. */
#include "analyzer/lang/javascript/internal.h"
#include "analyzer/lang/summary.h"

/* --- arguments of parameters ------------------------------------------------------------------ */

/* The arguments of one call: f(a), f.call(self, a), f.apply(self, array), f.bind(self, a). */
struct given {
    struct cbx_node *self;  /* NULL: unknown */
    struct cbx_node *list;  /* node of the arguments */
    struct cbx_node *array; /* an array with the arguments; NULL: `list` has them */
    uint32_t skip;          /* number of nodes in `list` before the first argument */
    struct cbx_scope *where;
};

static bool is_rest(const struct cbx_node *parameter)
{
    return cbx_js_kind(parameter) == JS_rest_pattern;
}

/* Returns the key for the members of a list from the index `at` on. */
static struct cbx_str rest_key(struct cbx_walk *js, uint32_t at)
{
    return CBX_JOIN(js->arena, cbx_arena_number(js->arena, at), CBX_STR(":"));
}

/* Binds `this` and `arguments` of a function. Does nothing for an arrow function, which has
 * neither: both names mean the `this` and `arguments` of the enclosing function. */
static void give_self(struct cbx_walk *js, struct cbx_node *function, const struct given *given)
{
    if (cbx_js_kind(function) == JS_arrow_function) {
        return;
    }
    if (given->self != NULL) {
        cbx_scope_bind(js, function->inner, given->where, CBX_STR("this"), CBX_BIND_EXPR,
                       given->self);
    }
    if (js->uses_arguments) {
        cbx_js_bind_part(js, function->inner, given->where, CBX_STR("arguments"),
                         given->array != NULL ? given->array : given->list,
                         rest_key(js, given->array != NULL ? 0 : given->skip));
    }
}

static void give_parameters(struct cbx_walk *js, struct cbx_node *function,
                            const struct given *given)
{
    struct cbx_node *parameters = cbx_child_of(function, CBX_FIELD_parameters),
                    *single = cbx_child_of(function, CBX_FIELD_parameter);
    struct cbx_node *p = single != NULL ? single : parameters != NULL ? parameters->first : NULL;
    struct cbx_node *source = given->array != NULL ? given->array : given->list,
                    *argument =
                        given->array == NULL ? cbx_child_at(given->list, given->skip) : NULL;
    uint32_t at = given->array == NULL ? given->skip : 0;
    give_self(js, function, given);
    for (; p != NULL; p = single != NULL ? NULL : p->next, at++) {
        if (cbx_js_kind(argument) == JS_spread_element) {
            return;
        }
        if (is_rest(p) || given->array != NULL) {
            cbx_js_bind_key(js, function->inner, given->where, p, source,
                            is_rest(p) ? rest_key(js, at) : cbx_arena_number(js->arena, at));
            continue;
        }
        if (argument == NULL) {
            return;
        }
        cbx_js_bind_value(js, function->inner, given->where, p, argument, false);
        argument = argument->next;
    }
}

/* Binds the parameters of every function in this chain of bindings to these arguments. */
static void call_chain(struct cbx_walk *js, struct cbx_binding *chain, struct cbx_str name,
                       const struct given *given)
{
    int count = 0;
    for (struct cbx_binding *b = chain; b != NULL && count < 16; b = b->next) {
        if (cbx_str_equal(b->name, name) && cbx_js_is_function(cbx_js_kind(b->node))) {
            give_parameters(js, b->node, given);
            count++;
        }
    }
}

/* Returns the bindings of a name in the scopes around a place; NULL if there are none. */
static struct cbx_binding *chain_around(struct cbx_walk *js, struct cbx_scope *where,
                                        struct cbx_str name)
{
    struct cbx_binding *chain = NULL;
    for (struct cbx_scope *s = where; s != NULL && chain == NULL; s = s->parent) {
        chain = cbx_scope_chain(js, s, name);
    }
    return chain;
}

/* Binds the parameters of the functions whose names other calls give a parameter: f of run(f). */
static void call_given(struct cbx_walk *js, struct cbx_binding *chain, const struct given *given)
{
    int count = 0;
    for (struct cbx_binding *b = chain; b != NULL && count < 16; b = b->next, count++) {
        if (b->given && b->kind == CBX_BIND_EXPR && cbx_js_kind(b->node) == JS_identifier) {
            struct cbx_str name = cbx_js_name(js, b->node);
            call_chain(js, chain_around(js, b->where, name), name, given);
        }
    }
}

/* Handles [a].map(x => ...), promise.then(x => ...): the arguments of the function are members
 * of the object, or the object itself; for reduce its last result or the initial value, and a
 * member. */
static void give_callback(struct cbx_walk *js, struct cbx_node *callee, struct cbx_node *list,
                          struct cbx_scope *where)
{
    static const char *const each[] = { "map",  "forEach", "filter",  "find",      "some",
                                        "sort", "every",   "flatMap", "findIndex", "findLast" };
    struct cbx_str method = cbx_js_name(js, cbx_child_of(callee, CBX_FIELD_property));
    struct cbx_node *function = list->first, *object = cbx_child_of(callee, CBX_FIELD_object);
    struct cbx_node *parameters = cbx_child_of(function, CBX_FIELD_parameters),
                    *single = cbx_child_of(function, CBX_FIELD_parameter);
    struct cbx_node *first = single != NULL ? single : cbx_child_at(parameters, 0),
                    *second = cbx_child_at(parameters, 1);
    bool reduce = cbx_str_is(method, "reduce") || cbx_str_is(method, "reduceRight"), any = reduce;
    for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
        any |= cbx_str_is(method, each[i]);
    }
    if ((!any && !cbx_str_is(method, "then")) || first == NULL) {
        return;
    }
    struct cbx_scope *inner = function->inner;
    if (reduce && cbx_child_at(list, 1) != NULL) {
        cbx_js_bind_value(js, inner, where, first, cbx_child_at(list, 1), false);
    }
    cbx_js_bind_value(js, inner, where, first, object, any);
    if (reduce && second != NULL) {
        cbx_js_bind_value(js, inner, where, second, object, any);
    }
}

/* Returns true for Array.prototype.f = function () {...}: `this` is any array. In other methods
 * `this` is an object of the program. */
static bool is_of_prototype(struct cbx_walk *js, const struct cbx_node *function)
{
    const struct cbx_node *assignment = function->parent,
                          *member = cbx_child_of(assignment, CBX_FIELD_left),
                          *prototype = cbx_child_of(member, CBX_FIELD_object);
    static const char *const classes[] = { "Array.prototype",  "Object.prototype",
                                           "String.prototype", "Function.prototype",
                                           "Number.prototype", "Boolean.prototype" };
    struct cbx_str text = cbx_walk_text(js, prototype);
    for (size_t i = 0; cbx_js_kind(assignment) == JS_assignment_expression &&
                       i < sizeof(classes) / sizeof(classes[0]);
         i++) {
        if (cbx_str_is(text, classes[i])) {
            return true;
        }
    }
    return false;
}

/* Handles o.f(): o is `this` of such functions. */
static void give_object(struct cbx_walk *js, struct cbx_node *callee, struct cbx_str name,
                        struct cbx_scope *where)
{
    struct cbx_binding *b = cbx_scope_chain(js, NULL, name);
    for (int count = 0; b != NULL && count < 16; b = b->next, count++) {
        bool function = cbx_str_equal(b->name, name) && cbx_js_is_function(cbx_js_kind(b->node));
        if (function && is_of_prototype(js, b->node)) {
            cbx_scope_bind(js, b->node->inner, where, CBX_STR("this"), CBX_BIND_EXPR,
                           cbx_child_of(callee, CBX_FIELD_object));
        }
    }
}

/* Calls that are read after all others, because other calls bind what they call: f(x) of a parameter
 * f, o.emit('name', x); and the functions that wait for events: o.on('name', f). */
enum { LATER_MAX = 256, LISTENERS_MAX = 64 };
struct later {
    struct cbx_node *calls[LATER_MAX];
    struct cbx_node *listeners[LISTENERS_MAX]; /* arguments of o.on(...) */
    uint32_t call_count, listener_count;
};

/* Returns true for a call of a parameter. */
static bool calls_parameter(struct cbx_walk *js, const struct cbx_node *callee)
{
    const struct cbx_binding *chain =
        cbx_js_kind(callee) == JS_identifier
            ? chain_around(js, cbx_scope_around(js, callee), cbx_js_name(js, callee))
            : NULL;
    return chain != NULL && chain->given;
}

/* Returns the name of the event of o.on('name', f) and o.emit('name', x); "" for another call. */
static struct cbx_str event_of(struct cbx_walk *js, const struct cbx_node *list)
{
    struct cbx_node *name = cbx_child_at(list, 0);
    struct cbx_node *text = cbx_js_kind(name) == JS_string ? cbx_child_at(name, 0) : NULL;
    return cbx_walk_text(js, text);
}

/* Notes a call that is read later. Returns true if it was. */
static bool put_off(struct cbx_walk *js, struct cbx_node *call, struct later *later)
{
    static const char *const waits[] = { "on", "once", "addListener", "prependListener" };
    struct cbx_node *callee = cbx_child_of(call, CBX_FIELD_function),
                    *list = cbx_child_of(call, CBX_FIELD_arguments);
    struct cbx_str method = cbx_js_name(js, cbx_child_of(callee, CBX_FIELD_property));
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        if (cbx_str_is(method, waits[i]) && later->listener_count < LISTENERS_MAX) {
            later->listeners[later->listener_count++] = list;
        }
    }
    bool emits = cbx_str_is(method, "emit") && event_of(js, list).len > 0;
    if (callee == NULL || later->call_count == LATER_MAX ||
        !(emits || calls_parameter(js, callee))) {
        return false;
    }
    later->calls[later->call_count++] = call;
    return true;
}

/* Handles a call of functions of this source, found by name only. */
static void give_callee(struct cbx_walk *js, struct cbx_node *callee, const struct given *given)
{
    while (cbx_js_kind(callee) == JS_parenthesized_expression) {
        callee = cbx_child_at(callee, 0);
    }
    if (cbx_js_is_function(cbx_js_kind(callee))) {
        give_parameters(js, callee, given);
    } else if (cbx_js_kind(callee) == JS_member_expression) {
        struct cbx_str name = cbx_js_name(js, cbx_child_of(callee, CBX_FIELD_property));
        call_chain(js, cbx_scope_chain(js, NULL, name), name, given);
        give_object(js, callee, name, given->where);
    } else if (cbx_js_kind(callee) == JS_identifier) {
        struct cbx_str name = cbx_js_name(js, callee);
        struct cbx_binding *chain = chain_around(js, given->where, name);
        call_chain(js, chain, name, given);
        call_given(js, chain, given);
    }
}

/* Returns the function of f.call(self, a), f.apply(self, array), f.bind(self, a),
 * Reflect.apply(f, self, array); NULL for another call. */
static struct cbx_node *called_through(struct cbx_walk *js, struct cbx_node *callee,
                                       struct given *given)
{
    struct cbx_node *object = cbx_child_of(callee, CBX_FIELD_object),
                    *first = cbx_child_at(given->list, 0);
    struct cbx_str method = cbx_js_kind(callee) == JS_member_expression
                                ? cbx_js_name(js, cbx_child_of(callee, CBX_FIELD_property))
                                : CBX_STR("");
    bool apply = cbx_str_is(method, "apply");
    if (!apply && !cbx_str_is(method, "call") && !cbx_str_is(method, "bind")) {
        return NULL;
    }
    bool reflect = apply && cbx_str_is(cbx_walk_text(js, object), "Reflect");
    given->self = reflect ? cbx_child_at(given->list, 1) : first;
    given->skip = 1;
    given->array = apply ? cbx_child_at(given->list, reflect ? 2 : 1) : NULL;
    if (apply && given->array == NULL) {
        given->skip = cbx_child_count(given->list);
    }
    return reflect ? first : object;
}

/* Handles setTimeout(f, ms, x): f is called with x. */
static void give_timer(struct cbx_walk *js, const struct cbx_node *callee,
                       const struct given *given)
{
    struct cbx_str name = cbx_js_name(js, callee);
    bool waits = cbx_str_is(name, "setTimeout") || cbx_str_is(name, "setInterval");
    struct given later = *given;
    later.skip = waits ? 2 : 1;
    if (cbx_js_kind(callee) == JS_identifier && (waits || cbx_str_is(name, "setImmediate")) &&
        cbx_js_is_function(cbx_js_kind(given->list->first)) &&
        cbx_child_at(given->list, later.skip) != NULL) {
        give_parameters(js, given->list->first, &later);
    }
}

static void give_call(struct cbx_walk *js, struct cbx_node *call)
{
    bool is_new = cbx_js_kind(call) == JS_new_expression;
    struct cbx_node *callee =
        cbx_child_of(call, is_new ? CBX_FIELD_constructor : CBX_FIELD_function);
    struct given given = { .list = cbx_child_of(call, CBX_FIELD_arguments),
                           .where = cbx_scope_around(js, call) };
    while (cbx_js_kind(callee) == JS_parenthesized_expression) {
        callee = cbx_child_at(callee, 0);
    }
    if (cbx_js_kind(given.list) != JS_arguments) {
        return;
    }
    if (cbx_js_kind(callee) == JS_identifier && is_new) {
        struct cbx_str name = CBX_STR("constructor");
        call_chain(js, cbx_scope_chain(js, NULL, name), name, &given);
        return;
    }
    give_callee(js, callee, &given);
    give_timer(js, callee, &given);
    if (cbx_js_kind(callee) != JS_member_expression || given.list->first == NULL) {
        return;
    }
    if (cbx_js_is_function(cbx_js_kind(given.list->first))) {
        give_callback(js, callee, given.list, given.where);
    }
    struct cbx_node *inner = called_through(js, callee, &given);
    if (inner != NULL) {
        give_callee(js, inner, &given);
    }
}

/* Gives the arguments of o.emit('name', x) to the functions that wait for the event. */
static void give_event(struct cbx_walk *js, struct cbx_node *call, const struct later *later)
{
    struct given given = { .list = cbx_child_of(call, CBX_FIELD_arguments),
                           .skip = 1,
                           .where = cbx_scope_around(js, call) };
    struct cbx_str event = event_of(js, given.list);
    for (uint32_t i = 0; event.len > 0 && i < later->listener_count; i++) {
        struct cbx_node *function = cbx_child_at(later->listeners[i], 1);
        if (cbx_js_is_function(cbx_js_kind(function)) &&
            cbx_str_equal(event, event_of(js, later->listeners[i]))) {
            give_parameters(js, function, &given);
        }
    }
}

static void give_later(struct cbx_walk *js, const struct later *later)
{
    for (uint32_t i = 0; i < later->call_count; i++) {
        struct cbx_node *callee = cbx_child_of(later->calls[i], CBX_FIELD_function);
        if (cbx_js_kind(callee) == JS_identifier) {
            give_call(js, later->calls[i]);
        } else {
            give_event(js, later->calls[i], later);
        }
    }
}

/* --- getters ---------------------------------------------------------------------------------- */

/* Returns the member of an object literal: `get() {}`, `get: f`; NULL if there is none. */
static struct cbx_node *member_of(struct cbx_walk *js, struct cbx_node *object, const char *name)
{
    for (struct cbx_node *m = cbx_js_kind(object) == JS_object ? object->first : NULL; m != NULL;
         m = m->next) {
        bool pair = cbx_js_kind(m) == JS_pair;
        struct cbx_str key =
            cbx_js_name(js, cbx_child_of(m, pair ? CBX_FIELD_key : CBX_FIELD_name));
        if (m->named && cbx_str_is(key, name)) {
            return pair ? cbx_child_of(m, CBX_FIELD_value) : m;
        }
    }
    return NULL;
}

/* Binds an attribute to the results of its getter; `this` of the getter is the object at each
 * place that reads the attribute. */
static void bind_getter(struct cbx_walk *js, struct cbx_str name, struct cbx_node *getter)
{
    if (!cbx_js_is_function(cbx_js_kind(getter)) || getter->inner == NULL) {
        return;
    }
    for (const struct cbx_return *r = getter->inner->returns; r != NULL; r = r->next) {
        cbx_scope_bind(js, NULL, cbx_scope_around(js, r->node), name, CBX_BIND_EXPR, r->node);
    }
    for (uint32_t i = 0; i < js->syntax.count; i++) {
        struct cbx_node *node = &js->syntax.nodes[i];
        if (cbx_js_kind(node) == JS_member_expression &&
            cbx_str_equal(cbx_js_name(js, cbx_child_of(node, CBX_FIELD_property)), name)) {
            struct given given = { .self = cbx_child_of(node, CBX_FIELD_object),
                                   .where = cbx_scope_around(js, node) };
            cbx_scope_bind(js, getter->inner, given.where, CBX_STR("this"), CBX_BIND_EXPR,
                           given.self);
        }
    }
}

static void bind_described(struct cbx_walk *js, struct cbx_str name, struct cbx_node *descriptor)
{
    bind_getter(js, name, member_of(js, descriptor, "get"));
    struct cbx_node *value = member_of(js, descriptor, "value");
    if (value != NULL) {
        cbx_scope_bind(
            js, NULL, cbx_scope_around(js, value), name,
            cbx_js_kind(value) == JS_method_definition ? CBX_BIND_FUNCTION : CBX_BIND_EXPR, value);
    }
}

/* Handles Object.defineProperty(o, 'x', {get}), o.__defineGetter__('x', f),
 * Object.defineProperties(o, {x}). */
static void give_getter(struct cbx_walk *js, struct cbx_node *call)
{
    enum { GETTERS_MAX = 64 };
    struct cbx_node *callee = cbx_child_of(call, CBX_FIELD_function),
                    *list = cbx_child_of(call, CBX_FIELD_arguments);
    struct cbx_str method = cbx_js_name(js, cbx_child_of(callee, CBX_FIELD_property)), name;
    bool old = cbx_str_is(method, "__defineGetter__");
    if ((!old && !cbx_str_starts(method, CBX_STR("definePropert"))) ||
        js->getters++ > GETTERS_MAX) {
        return;
    }
    struct cbx_node *key = cbx_child_at(list, old ? 0 : 1), *what = cbx_child_at(list, old ? 1 : 2);
    if (cbx_str_is(method, "defineProperties")) {
        for (struct cbx_node *m = cbx_js_kind(key) == JS_object ? key->first : NULL; m != NULL;
             m = m->next) {
            if (cbx_js_kind(m) == JS_pair) {
                bind_described(js, cbx_js_name(js, cbx_child_of(m, CBX_FIELD_key)),
                               cbx_child_of(m, CBX_FIELD_value));
            }
        }
    } else if (key != NULL && cbx_values_is_text(cbx_js_eval(js, key, js->module), &name)) {
        if (old) {
            bind_getter(js, name, what);
        } else {
            bind_described(js, name, what);
        }
    }
}

/* --- escapes ---------------------------------------------------------------------------------- */

/* Returns true if the name is used as a value, not only for its members: process, globalThis and
 * similar, and modules then escape. */
static bool is_value(struct cbx_walk *js, const struct cbx_node *name)
{
    struct cbx_str operator;
    switch (cbx_js_kind(name->parent)) {
    case JS_member_expression:
    case JS_subscript_expression:
        return name->field == CBX_FIELD_index;
    case JS_call_expression:
    case JS_new_expression:
    case JS_expression_statement:
    case JS_unary_expression:
    case JS_import_specifier:
    case JS_import_clause:
    case JS_namespace_import:
    case JS_formal_parameters:
    case JS_object_pattern:
    case JS_array_pattern:
        return false;
    case JS_binary_expression:
        operator= cbx_walk_text(js, cbx_child_of(name->parent, CBX_FIELD_operator));
        return cbx_str_is(operator, "||") || cbx_str_is(operator, "&&") ||
               cbx_str_is(operator, "??") || cbx_str_is(operator, "instanceof");
    case JS_variable_declarator:
        return name->field == CBX_FIELD_value;
    case JS_assignment_expression:
        return name->field == CBX_FIELD_right;
    default:
        return name->field != CBX_FIELD_name && name->field != CBX_FIELD_parameter;
    }
}

static void let_escape(struct cbx_walk *js, struct cbx_node *name)
{
    struct cbx_str text = cbx_js_name(js, name);
    struct cbx_binding *chain = NULL;
    if ((js->imported & cbx_name_bit(text)) == 0) {
        return;
    }
    for (struct cbx_scope *s = cbx_scope_around(js, name); s != NULL && chain == NULL;
         s = s->parent) {
        chain = cbx_scope_chain(js, s, text);
    }
    for (struct cbx_binding *b = chain; b != NULL; b = b->next) {
        if (b->kind == CBX_BIND_NAME && cbx_str_equal(b->name, text)) {
            cbx_walk_escape(js, b->path, false);
        }
    }
    if (chain == NULL && cbx_js_is_powerful(text)) {
        cbx_walk_escape(js, text, true);
    }
}

/* Lets `require` escape if the arguments of the function that Node wraps around a module are
 * used as a value: any later callee may be this `require`. */
static void let_arguments_escape(struct cbx_walk *js, struct cbx_node *name)
{
    const struct cbx_values *values = cbx_js_eval(js, name, cbx_scope_around(js, name));
    const struct cbx_value *list = cbx_values_container(values, CBX_V_LIST);
    const struct cbx_values *second =
        list != NULL && list->count == 5 ? list->members[1] : &cbx_values_nothing;
    if (second->count == 1 && cbx_str_is(second->items[0]->text, "require")) {
        js->escaped_calls = second;
        cbx_walk_escape(js, CBX_STR("module"), true);
    }
}

/* Lets the member escape if globalThis.process is used as a value. */
static void let_member_escape(struct cbx_walk *js, struct cbx_node *member)
{
    struct cbx_str key = cbx_js_name(js, cbx_child_of(member, CBX_FIELD_property));
    struct cbx_str object = cbx_js_name(js, cbx_child_of(member, CBX_FIELD_object));
    if (cbx_js_is_global_object(object) && cbx_js_is_powerful(key)) {
        cbx_walk_escape(js, key, true);
    }
}

void cbx_js_flow_all(struct cbx_walk *js)
{
    js->escaped_calls = cbx_recall_calls(js);
    js->giving = true;
    struct cbx_node *nodes = js->syntax.nodes;
    struct later later = { .call_count = 0 };
    for (uint32_t i = 0; i < js->syntax.count; i++) {
        enum cbx_js_kind kind = cbx_js_kind(&nodes[i]);
        if (kind == JS_call_expression || kind == JS_new_expression) {
            if (!put_off(js, &nodes[i], &later)) {
                give_call(js, &nodes[i]);
            }
            js->giving = false; /* a getter counts as an assignment at this place */
            js->at = nodes[i].start;
            give_getter(js, &nodes[i]);
            js->giving = true;
        } else if (kind == JS_identifier && js->uses_arguments && is_value(js, &nodes[i]) &&
                   cbx_str_is(cbx_walk_text(js, &nodes[i]), "arguments")) {
            let_arguments_escape(js, &nodes[i]);
        } else if (kind == JS_identifier && is_value(js, &nodes[i])) {
            let_escape(js, &nodes[i]);
        } else if (kind == JS_member_expression && is_value(js, &nodes[i])) {
            let_member_escape(js, &nodes[i]);
        }
    }
    give_later(js, &later);
    js->giving = false;
}
