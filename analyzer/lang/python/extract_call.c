/* SPDX-License-Identifier: MIT
 * The facts about calls in Python: of each callable that the callee may be, of those that it calls
 * in turn, and calls of what is not known. */
#include "analyzer/lang/python/internal.h"

#include "analyzer/facts/sinks.h"

enum { BINDINGS_MAX = 32, DECORATORS_MAX = 32, THROUGH_DEPTH_MAX = 4, THROUGH_ITEMS_MAX = 16 };

/* Returns the library class that a class of this source extends, if it extends nothing else; else
 * NULL. A condition on an argument, as on yaml's Loader, means both: code that the class adds, and
 * what it mentions, is judged at its definition. */
static const struct cbx_value *extended(struct cbx_walk *py, const struct cbx_value *class)
{
    const struct cbx_node *list = cbx_py_kind(class->node) == PY_class_definition
                                      ? cbx_child_of(class->node, CBX_FIELD_superclasses)
                                      : NULL;
    struct cbx_node *base = cbx_child_at(list, 0);
    if (base == NULL || cbx_child_at(list, 1) != NULL ||
        (cbx_py_kind(base) != PY_identifier && cbx_py_kind(base) != PY_attribute)) {
        return NULL;
    }
    const struct cbx_values *values = cbx_py_eval(py, base, cbx_scope_around(py, base));
    return values->count == 1 && values->items[0]->kind == CBX_V_NAME ? values->items[0] : NULL;
}

static const struct cbx_arg *read_arguments(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    struct cbx_arg *args = cbx_arena_array(py->arena, actuals->count + 1u, sizeof(*args));
    uint32_t position = 0;
    for (uint32_t i = 0; args != NULL && i < actuals->count; i++) {
        struct cbx_actual *a = &actuals->items[i];
        a->values = a->values != NULL ? a->values : cbx_py_eval(py, a->node, a->scope);
        const struct cbx_value *v = a->values->count == 1 ? a->values->items[0] : NULL;
        bool path =
            v != NULL && v->kind == CBX_V_NAME && v->count == 1 && v->members[0]->count == 1;
        v = path ? v->members[0]->items[0] : v;
        v = v != NULL && v->kind == CBX_V_FUNCTION ? extended(py, v) : v;
        args[i].keyword = a->keyword;
        args[i].position = a->keyword.len > 0 ? UINT32_MAX : position++;
        args[i].known = v != NULL &&
                        (v->kind == CBX_V_TEXT || v->kind == CBX_V_NUMBER || v->kind == CBX_V_NAME);
        args[i].constant = args[i].known && v->kind != CBX_V_NAME;
        args[i].value = args[i].known ? v->text : CBX_STR("");
        if (!args[i].known) {
            args[i].texts = cbx_values_texts(py->arena, a->values, &args[i].text_count);
            args[i].likely = a->values->count == 1 && args[i].text_count == 1;
        }
        if (!args[i].constant) {
            args[i].partials = cbx_values_partials(py->arena, a->values, &args[i].partial_count);
        }
    }
    return args;
}

static void extract_values_call(struct cbx_walk *py, const struct cbx_values *callee,
                                struct cbx_actuals *actuals, struct cbx_node *call, int depth);

/* Handles a callable that calls one of its arguments. */
static void extract_through(struct cbx_walk *py, struct cbx_str name, struct cbx_actuals *actuals,
                            struct cbx_node *call, int depth)
{
    uint32_t function, first;
    struct cbx_actuals rest = { 0 };
    if (depth >= THROUGH_DEPTH_MAX || !cbx_py_calls_through(name, &function, &first) ||
        cbx_actual_find(actuals, function, NULL) == NULL) {
        return;
    }
    const struct cbx_values *callee = cbx_actual_values(py, actuals, function, NULL);
    if (first != 99) {
        cbx_actuals_shift(actuals, first, NULL, &rest);
        extract_values_call(py, callee, &rest, call, depth + 1);
        return;
    }
    const struct cbx_values *items = cbx_actual_values(py, actuals, function + 1, NULL);
    const struct cbx_value *list = cbx_py_sequence(py, items);
    uint32_t count = list != NULL && list->count <= THROUGH_ITEMS_MAX ? list->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        bool known = list != NULL && list->count <= THROUGH_ITEMS_MAX;
        rest.count = 0;
        cbx_actuals_add(&rest, (struct cbx_str){ 0 }, NULL, NULL,
                        known ? list->members[i] : cbx_py_members(py, items));
        for (uint32_t k = function + 2; cbx_actual_find(actuals, k, NULL) != NULL; k++) {
            const struct cbx_values *more = cbx_actual_values(py, actuals, k, NULL);
            cbx_actuals_add(&rest, (struct cbx_str){ 0 }, NULL, NULL, cbx_py_members(py, more));
        }
        extract_values_call(py, callee, &rest, call, depth + 1);
    }
}

/* Notes the members of a class that type(name, bases, members) makes. */
static void note_members(struct cbx_walk *py, const struct cbx_values *members,
                         const struct cbx_node *call)
{
    for (uint32_t i = 0; i < members->count; i++) {
        const struct cbx_value *v = members->items[i];
        for (uint32_t k = 0; v->kind == CBX_V_MAP && k < v->count; k++) {
            cbx_py_note_definition(py, v->keys[k], call);
        }
    }
}

static void extract_named_call(struct cbx_walk *py, struct cbx_str name,
                               struct cbx_actuals *actuals, struct cbx_node *call, int depth)
{
    struct cbx_fact *fact = cbx_facts_add(py->facts, CBX_IS_CALL, name, call->start, call->end);
    if (fact != NULL) {
        const struct cbx_arg *args = read_arguments(py, actuals);
        fact->args = args;
        fact->arg_count = args != NULL ? actuals->count : 0;
        fact->spread = actuals->spread;
        struct cbx_node *callee = cbx_child_of(call, CBX_FIELD_function);
        bool shell = cbx_str_is(name, "get_ipython") && callee != NULL &&
                     cbx_py_harmless_read(py, callee).len > 0;
        fact->cleared = cbx_str_ends(name, CBX_STR(".__set__"))             ? UINT32_MAX
                        : shell || cbx_py_is_judged_call(py, name, actuals) ? CBX_PY_JUDGED
                                                                            : 0;
    }
    switch (cbx_py_call_meaning(name)) {
    case PY_CALL_SETATTR:
        cbx_py_extract_setattr(py, actuals, call);
        /* fall through */
    case PY_CALL_GETATTR:
        cbx_py_extract_getattr(py, actuals, call);
        break;
    case PY_CALL_TYPE:
        note_members(py, cbx_actual_values(py, actuals, 2, NULL), call);
        break;
    case PY_CALL_GETTER:
    case PY_CALL_METHOD_CALLER:
        cbx_py_check_built_name(py, NULL, cbx_actual_values(py, actuals, 0, NULL), call);
        break;
    case PY_CALL_IMPORT:
    case PY_CALL_IMPORT_TOP:
    case PY_CALL_IMPORT_NAME:
        cbx_py_extract_import_call(py, name, actuals, call);
        break;
    default:
        break;
    }
    if (cbx_py_call_meaning(name) == PY_CALL_VARS ||
        cbx_py_call_meaning(name) == PY_CALL_MEMBERS_OF) {
        cbx_py_check_owned(py, cbx_actual_values(py, actuals, 0, NULL), CBX_STR("__dict__"), call);
    }
    if (cbx_py_call_meaning(name) == PY_CALL_MEMBERS_OF &&
        cbx_py_holds_power(cbx_actual_values(py, actuals, 0, NULL))) {
        cbx_py_special(py, CBX_FACT_COMPUTED_ATTRIBUTE, name, call);
    }
    if (cbx_str_starts(name, CBX_STR(CBX_PY_SHELL "."))) {
        struct cbx_str line = cbx_py_judged_line(py, name, actuals);
        cbx_parse_inner(py->parsed, "ipython", line, call->start, call->end);
    }
    cbx_py_extract_writer(py, name, actuals, call);
    cbx_py_check_sent(py, name, actuals, call);
    cbx_py_extract_code(py, name, actuals, call);
    cbx_py_extract_doctest(py, name, actuals, call);
    cbx_py_extract_format(py, name, actuals, call);
    extract_through(py, name, actuals, call, depth);
}

void cbx_py_extract_call(struct cbx_walk *py, struct cbx_str name, struct cbx_actuals *actuals,
                         struct cbx_node *call)
{
    extract_named_call(py, name, actuals, call, 0);
}

static void extract_partial_call(struct cbx_walk *py, const struct cbx_value *partial,
                                 struct cbx_actuals *actuals, struct cbx_node *call, int depth)
{
    struct cbx_actuals whole, rest = { 0 };
    const struct cbx_values *callee = partial->members[0];
    cbx_py_whole(partial, actuals, &whole);
    for (uint32_t i = 0; i < callee->count; i++) {
        const struct cbx_value *v = callee->items[i];
        if (v->kind == CBX_V_NAME && cbx_py_is_of_text(v->text)) {
            cbx_py_extract_format(py, v->text, &whole, call);
        } else if (v->kind == CBX_V_NAME && cbx_str_is(v->text, CBX_PY_METHOD_CALLER)) {
            extract_values_call(py, cbx_py_method_called(py, &whole, &rest), &rest, call,
                                depth + 1);
        } else {
            extract_values_call(py, cbx_values_one(py->arena, v), &whole, call, depth + 1);
        }
    }
}

static void extract_values_call(struct cbx_walk *py, const struct cbx_values *callee,
                                struct cbx_actuals *actuals, struct cbx_node *call, int depth)
{
    for (uint32_t i = 0; i < callee->count && depth < THROUGH_DEPTH_MAX; i++) {
        const struct cbx_value *v = callee->items[i];
        if (v->kind == CBX_V_NAME && cbx_py_is_own_function(v)) {
            continue;
        }
        if (v->kind == CBX_V_NAME) {
            extract_named_call(py, v->text, actuals, call, depth);
        } else if (v->kind == CBX_V_PARTIAL) {
            extract_partial_call(py, v, actuals, call, depth);
        }
    }
}

/* Handles x.submit(f, a), x.query(text), x.format(...) of an unknown x. */
static void extract_method_through(struct cbx_walk *py, const struct cbx_node *callee,
                                   struct cbx_actuals *actuals, struct cbx_node *call)
{
    char name[40];
    struct cbx_str method = cbx_walk_text(py, cbx_child_of(callee, CBX_FIELD_attribute));
    if (actuals->count == 0 && cbx_str_is(method, "load")) {
        cbx_walk_trigger(py, call);
    }
    if (method.len + 3 < sizeof(name)) {
        snprintf(name, sizeof(name), "*.%.*s", (int)method.len, method.p);
        if (actuals->count > 0) {
            extract_through(py, cbx_str_of(name), actuals, call, 0);
            cbx_py_extract_code(py, cbx_str_of(name), actuals, call);
        }
        if (cbx_sinks_of(CBX_PYTHON, cbx_str_of(name)) != 0 &&
            !cbx_py_is_judged_callee(py, cbx_child_of(call, CBX_FIELD_function))) {
            extract_named_call(py, cbx_arena_copy(py->arena, cbx_str_of(name)), actuals, call, 0);
        }
    }
    if (cbx_str_is(method, "format") && actuals->count > 1) { /* a Formatter of the program */
        cbx_py_extract_fields(py, actuals, 0, call);
    }
}

/* Returns true for Dense(8)(x): the callee is the result of a library function or of a class of
 * this source. */
static bool is_of_known_call(struct cbx_walk *py, struct cbx_node *callee, struct cbx_scope *scope)
{
    if (cbx_py_kind(callee) != PY_call) {
        return false;
    }
    const struct cbx_values *maker =
        cbx_py_eval(py, cbx_child_of(callee, CBX_FIELD_function), scope);
    const struct cbx_value *v = maker->items[0];
    return maker->count == 1 &&
           ((v->kind == CBX_V_NAME && (v->number == 0 || cbx_str_is(v->text, "type"))) ||
            (v->kind == CBX_V_FUNCTION && cbx_py_kind(v->node) == PY_class_definition));
}

/* Returns true if the name is bound by `as`, or to the result of a library function: its
 * attributes are unknown. */
static bool is_of_library(struct cbx_walk *py, struct cbx_node *name, struct cbx_scope *scope)
{
    struct cbx_binding *b = NULL;
    struct cbx_str text = cbx_py_text(py, name);
    for (struct cbx_scope *s = scope; s != NULL && b == NULL; s = s->parent) {
        b = cbx_scope_chain(py, s, text);
    }
    for (int steps = 0; b != NULL && steps < BINDINGS_MAX; b = b->next, steps++) {
        if (b->kind != CBX_BIND_EXPR || !cbx_str_equal(b->name, text)) {
            continue;
        }
        if (cbx_py_kind(b->node->parent) == PY_as_pattern) {
            return true;
        }
        const struct cbx_values *maker =
            cbx_py_kind(b->node) == PY_call
                ? cbx_py_eval(py, cbx_child_of(b->node, CBX_FIELD_function), b->where)
                : &cbx_values_nothing;
        if (maker->count == 1 && maker->items[0]->kind == CBX_V_NAME &&
            maker->items[0]->number == 0) {
            return true;
        }
    }
    return false;
}

/* Returns true if the callee comes from a module in a way that is not followed. Values of the
 * program's own lists, arguments and objects are judged where the program stores them. */
static bool comes_from_module(struct cbx_walk *py, struct cbx_node *callee, struct cbx_scope *scope)
{
    for (;;) {
        switch (cbx_py_kind(callee)) {
        case PY_attribute:
        case PY_subscript:
        case PY_call:
        case PY_parenthesized_expression:
        case PY_await:
            callee = cbx_child_at(callee, 0);
            continue;
        default:
            break;
        }
        break;
    }
    const struct cbx_values *root = cbx_py_eval(py, callee, scope);
    for (uint32_t i = 0; i < root->count; i++) {
        const struct cbx_value *v = root->items[i];
        if (v->kind == CBX_V_NAME && v->number != CBX_NAME_BARE && !cbx_py_is_plain(v->text)) {
            return true;
        }
    }
    return cbx_py_kind(callee) == PY_identifier && is_of_library(py, callee, scope);
}

/* Returns true for a call of isinstance and the like, even if globals() may bind the name. */
static bool is_builtin_callee(const struct cbx_node *callee, const struct cbx_values *targets,
                              struct cbx_str text)
{
    bool builtin = false;
    for (uint32_t i = 0; cbx_py_kind(callee) == PY_identifier && i < targets->count; i++) {
        builtin |= targets->items[i]->kind == CBX_V_NAME &&
                   targets->items[i]->number == CBX_NAME_BARE &&
                   cbx_str_equal(targets->items[i]->text, text);
    }
    return builtin;
}

void cbx_py_extract_calls(struct cbx_walk *py, struct cbx_node *call, struct cbx_scope *scope)
{
    struct cbx_node *callee = cbx_child_of(call, CBX_FIELD_function);
    const struct cbx_values *targets = cbx_py_eval(py, callee, scope);
    struct cbx_actuals actuals;
    cbx_py_actuals(py, call, scope, &actuals);
    size_t before = py->facts->count;
    extract_values_call(py, targets, &actuals, call, 0);
    if (py->facts->count > before && cbx_py_has_unbound_module(py, callee, scope)) {
        cbx_py_mark_alone(py, before);
    }
    if (cbx_values_has_unknown(targets) && py->escaped_calls->count > 0 &&
        !is_builtin_callee(callee, targets, cbx_walk_text(py, callee))) {
        read_arguments(py, &actuals);
        py->applying = true;
        py->applying_method = cbx_py_kind(callee) == PY_attribute;
        extract_values_call(py, py->escaped_calls, &actuals, call, 1);
        py->applying = false;
        if (actuals.spread && !py->applying_method &&
            cbx_py_holds_power(py->escaped)) { /* f(*args) may be getattr with os and a name */
            cbx_py_special(py, CBX_FACT_COMPUTED_ATTRIBUTE,
                           cbx_str_sub(cbx_walk_text(py, callee), 0, 80), call);
        }
    }
    while (cbx_py_kind(callee) == PY_parenthesized_expression) {
        callee = cbx_child_at(callee, 0);
    }
    enum cbx_py_kind kind = cbx_py_kind(callee);
    struct cbx_node *object = kind == PY_attribute ? cbx_child_of(callee, CBX_FIELD_object) : NULL;
    if (cbx_values_has_more(targets) ||
        (object != NULL && cbx_values_has_more(cbx_py_eval(py, object, scope)))) {
        cbx_py_special(py, CBX_FACT_TOO_COMPLEX, CBX_STR("alternatives"), call);
    }
    if (kind == PY_attribute) {
        extract_method_through(py, callee, &actuals, call);
    } else if (kind != PY_identifier && cbx_values_has_unknown(targets) &&
               !is_of_known_call(py, callee, scope) && comes_from_module(py, callee, scope)) {
        cbx_py_special(py, CBX_FACT_UNRESOLVED_CALL, cbx_str_sub(cbx_walk_text(py, callee), 0, 80),
                       call);
    }
}

void cbx_py_extract_decorator(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_actuals actuals = { 0 };
    struct cbx_node *below = node;
    for (int i = 0; below->next != NULL && i < DECORATORS_MAX; i++) {
        below = below->next;
    }
    cbx_actuals_add(&actuals, (struct cbx_str){ 0 }, below, scope,
                    below->next != NULL ? &cbx_values_unknown : NULL);
    extract_values_call(py, cbx_py_eval(py, cbx_child_at(node, 0), scope), &actuals, node, 0);
}
