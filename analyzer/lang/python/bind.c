/* SPDX-License-Identifier: MIT
 * Pass one over Python: the bindings of every scope. Flow-insensitive: a name may have any value
 * that the text binds to it anywhere in its scope. */
#include "analyzer/lang/builtins.h"
#include "analyzer/lang/python/internal.h"

/* --- targets ---------------------------------------------------------------------------------- */

/* The source of a target's value: `value`, a member of it, or the part of either at `path`. */
enum { PATTERN_DEPTH_MAX = 64 };

struct target {
    struct cbx_scope *scope, *where;
    struct cbx_node *value;
    bool each, unknown;
    struct cbx_str path;
};

/* Notes the attribute that `json.m = x` or setattr(json, 'm', x) assigns: it may have another value
 * than in the module json. */
static void note_patch(struct cbx_walk *py, struct cbx_node *object, struct cbx_str attribute)
{
    struct cbx_str name = cbx_walk_text(py, object);
    if (cbx_py_kind(object) == PY_identifier && !cbx_str_is(name, "self") &&
        !cbx_str_is(name, "cls")) {
        py->patched |= cbx_name_bit(attribute);
    }
}

static void bind_name(struct cbx_walk *py, const struct target *t, struct cbx_scope *scope,
                      struct cbx_str name)
{
    bool unknown = t->unknown || t->value == NULL;
    struct cbx_binding *binding = cbx_scope_bind(
        py, scope, t->where, name, unknown ? CBX_BIND_UNKNOWN : CBX_BIND_EXPR, t->value);
    if (binding != NULL) {
        binding->each = t->each;
        binding->path = t->path;
    }
}

/* Binds x['k'] = value: a read of 'k' from an unknown object may give it; globals()['k'] = value
 * binds a name. */
static void bind_item(struct cbx_walk *py, const struct target *t, struct cbx_node *target)
{
    struct cbx_str key;
    struct cbx_node *subscript = cbx_child_of(target, CBX_FIELD_subscript),
                    *object = cbx_child_of(target, CBX_FIELD_value);
    bool plain = cbx_py_kind(subscript) == PY_string && cbx_child_count(subscript) <= 3 &&
                 cbx_py_kind(cbx_child_at(subscript, 1)) != PY_interpolation; /* not bound yet */
    if (cbx_py_kind(subscript) == PY_integer) {
        key = cbx_walk_text(py, subscript);
    } else if (!plain || !cbx_values_is_text(cbx_py_eval(py, subscript, t->where), &key)) {
        return;
    }
    struct cbx_str call = cbx_walk_text(py, object);
    bool names = cbx_py_kind(object) == PY_call &&
                 (cbx_str_is(call, "globals()") || cbx_str_is(call, "locals()") ||
                  cbx_str_is(call, "vars()"));
    bind_name(py, t, names ? py->module : NULL, key);
}

/* Returns the path to the i-th of `count` targets; targets after a starred one are counted from
 * the end. */
static struct cbx_str path_to(struct cbx_walk *py, struct cbx_str path, uint32_t i, uint32_t count,
                              uint32_t star)
{
    static const char *const low[] = { "0", "1", "2", "3", "4", "5", "6", "7" };
    if (path.len == 0 && i < 8 && i < star) {
        return cbx_str_of(low[i]);
    }
    char index[32];
    if (i == star) {
        snprintf(index, sizeof(index), "%u:%u", i, count - 1 - i);
    } else {
        snprintf(index, sizeof(index), "%d", i < star ? (int)i : (int)i - (int)count);
    }
    if (path.len == 0) {
        return cbx_arena_copy(py->arena, cbx_str_of(index));
    }
    const char separator = CBX_PATH_SEPARATOR;
    return CBX_JOIN(py->arena, path, { &separator, 1 }, cbx_str_of(index));
}

static void bind_target(struct cbx_walk *py, struct target t, struct cbx_node *target, int depth);

/* Binds a, (b, *c) = value: each target gets the member at its place. */
static void bind_places(struct cbx_walk *py, const struct target *t, struct cbx_node *target,
                        int depth)
{
    uint32_t count = cbx_child_count(target), star = UINT32_MAX, i = 0;
    for (struct cbx_node *c = target->first; c != NULL; c = c->next, i++) {
        bool starred = cbx_py_kind(c) == PY_list_splat_pattern || cbx_py_kind(c) == PY_list_splat;
        star = starred ? i : star;
    }
    i = 0;
    for (struct cbx_node *c = target->first; c != NULL; c = c->next, i++) {
        struct target inner = *t;
        inner.path = path_to(py, t->path, i, count, star);
        bind_target(py, inner, i == star ? cbx_child_at(c, 0) : c, depth + 1);
    }
}

static void bind_target(struct cbx_walk *py, struct target t, struct cbx_node *target, int depth)
{
    if (depth >= PATTERN_DEPTH_MAX) {
        py->gave_up = true; /* the names of the deeper pattern are not bound */
        return;
    }
    switch (cbx_py_kind(target)) {
    case PY_identifier:
        bind_name(py, &t, t.scope, cbx_py_text(py, target));
        return;
    case PY_attribute:
        note_patch(py, cbx_child_of(target, CBX_FIELD_object),
                   cbx_py_text(py, cbx_child_of(target, CBX_FIELD_attribute)));
        bind_name(py, &t, NULL, cbx_py_text(py, cbx_child_of(target, CBX_FIELD_attribute)));
        return;
    case PY_subscript:
        py->changes = true;
        bind_item(py, &t, target);
        return;
    case PY_parenthesized_expression:
    case PY_as_pattern_target:
        bind_target(py, t, cbx_child_at(target, 0), depth + 1);
        return;
    case PY_pattern_list:
    case PY_tuple_pattern:
    case PY_list_pattern:
    case PY_expression_list:
    case PY_tuple:
    case PY_list:
        bind_places(py, &t, target, depth);
        return;
    default:
        return;
    }
}

static void bind_value(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *target,
                       struct cbx_node *value, bool each)
{
    struct target t = { .scope = scope, .where = scope, .value = value, .each = each };
    bind_target(py, t, target, 0);
}

/* --- imports ---------------------------------------------------------------------------------- */

/* Notes an imported name. The number of noted names is limited; names of powerful modules replace
 * others. */
static void note_import(struct cbx_walk *py, struct cbx_str path)
{
    if (py->import_count < CBX_IMPORTS_MAX && cbx_py_holds_more(path)) {
        py->import_items[py->import_count++] = path;
        return;
    }
    for (uint32_t i = 0; cbx_py_is_powerful(path) && i < py->import_count; i++) {
        if (!cbx_py_is_powerful(py->import_items[i])) {
            py->import_items[i] = path;
            return;
        }
    }
}

static void bind_qualified(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *name,
                           struct cbx_str qualified)
{
    struct cbx_binding *binding =
        cbx_scope_bind(py, scope, scope, cbx_py_text(py, name), CBX_BIND_NAME, name);
    /* the name is an attribute of the class too */
    if (binding != NULL && scope->kind == CBX_SCOPE_CLASS) {
        struct cbx_binding *field =
            cbx_scope_bind(py, NULL, scope, binding->name, CBX_BIND_NAME, name);
        if (field != NULL) {
            field->path = cbx_py_canonical(py, qualified);
        }
    }
    if (binding != NULL) {
        binding->path = cbx_py_canonical(py, qualified);
        py->imported |= cbx_name_bit(binding->name);
        py->givers |=
            cbx_py_call_meaning(binding->path) != PY_CALL_NONE ? cbx_name_bit(binding->name) : 0;
        note_import(py, binding->path);
    }
}

/* Binds b of `from a import b`: b may be a name of a file. */
static void bind_from_file(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *name,
                           struct cbx_str attribute)
{
    struct cbx_binding *binding =
        py->files != NULL
            ? cbx_scope_bind(py, scope, scope, cbx_py_text(py, name), CBX_BIND_FIELD, name)
            : NULL;
    if (binding != NULL) {
        binding->path = attribute;
    }
}

static void note_star(struct cbx_walk *py, struct cbx_str module)
{
    for (size_t i = 0; i < py->stars.count; i++) {
        if (cbx_str_equal(py->star_items[i], module)) {
            return;
        }
    }
    if (py->stars.count == sizeof(py->star_items) / sizeof(py->star_items[0])) {
        py->gave_up = true; /* a name may come from any of these modules */
        return;
    }
    py->star_items[py->stars.count++] = module;
    py->stars.items = py->star_items;
}

/* import a.b.c binds a; import a.b.c as x binds x to a.b.c; from a import b as x binds x to a.b;
 * from a import * binds unknown names. */
static void bind_import(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *module = cbx_child_of(node, CBX_FIELD_module_name);
    struct cbx_value package = { .kind = CBX_V_NAME,
                                 .text = cbx_py_canonical(py, cbx_py_text(py, module)) };
    for (struct cbx_node *child = node->first; child != NULL; child = child->next) {
        enum cbx_py_kind kind = cbx_py_kind(child);
        if (kind == PY_wildcard_import) {
            note_star(py, package.text);
        }
        if ((kind != PY_dotted_name && kind != PY_aliased_import) || child == module) {
            continue;
        }
        struct cbx_node *name =
            kind == PY_aliased_import ? cbx_child_of(child, CBX_FIELD_name) : child;
        struct cbx_str text = cbx_py_text(py, name);
        if (kind == PY_aliased_import) {
            bind_qualified(py, scope, cbx_child_of(child, CBX_FIELD_alias),
                           module != NULL ? cbx_py_qualify(py, &package, text) : text);
            bind_from_file(py, scope, cbx_child_of(child, CBX_FIELD_alias), text);
        } else if (module != NULL) {
            bind_qualified(py, scope, name, cbx_py_qualify(py, &package, text));
            bind_from_file(py, scope, name, text);
        } else {
            const char *dot = memchr(text.p, '.', text.len);
            bind_qualified(py, scope, cbx_child_at(name, 0),
                           dot != NULL ? cbx_str_sub(text, 0, (size_t)(dot - text.p)) : text);
        }
    }
}

/* --- parameters ------------------------------------------------------------------------------- */

/* Returns the values that a parameter may have besides the arguments of the calls in the text. */
static const struct cbx_values *other_arguments(struct cbx_walk *py, struct cbx_node *function)
{
    return cbx_values_marked(py->arena,
                             cbx_py_is_only_called(py, function) ? CBX_UNKNOWN_CALLER : 0);
}

static void bind_parameters(struct cbx_walk *py, struct cbx_scope *inner, struct cbx_scope *outer,
                            struct cbx_node *function)
{
    const struct cbx_values *other = other_arguments(py, function);
    struct cbx_node *parameters = cbx_child_of(function, CBX_FIELD_parameters);
    for (struct cbx_node *p = parameters != NULL ? parameters->first : NULL; p != NULL;
         p = p->next) {
        struct cbx_node *name = cbx_py_parameter(p), *value = cbx_child_of(p, CBX_FIELD_value);
        if (name == NULL) {
            continue;
        }
        struct cbx_str text = cbx_py_text(py, name);
        struct cbx_binding *b = cbx_scope_bind(py, inner, outer, text, CBX_BIND_VALUES, name);
        if (b != NULL) {
            b->values = other;
        }
        if (value != NULL) {
            cbx_scope_bind(py, inner, outer, text, CBX_BIND_EXPR, value);
        }
    }
}

/* --- match ------------------------------------------------------------------------------------ */

static struct cbx_node *subject_of(struct cbx_node *node)
{
    while (node != NULL && cbx_py_kind(node) != PY_match_statement) {
        node = node->parent;
    }
    return cbx_child_of(node, CBX_FIELD_subject);
}

static bool is_in_pattern(const struct cbx_node *node)
{
    enum cbx_py_kind parent = cbx_py_kind(node->parent);
    return cbx_py_kind(node) == PY_splat_pattern || parent == PY_case_pattern ||
           parent == PY_keyword_pattern;
}

/* Binds a name of a pattern: in case Point(x=a) `a` is the subject's attribute x; elsewhere it
 * is the subject, or a part of it. */
static void bind_capture(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *name)
{
    struct target t = { .scope = scope, .where = scope, .value = subject_of(name) };
    struct cbx_node *pattern = name->parent;
    while (pattern != NULL && cbx_py_kind(pattern) != PY_case_clause &&
           cbx_py_kind(pattern) != PY_keyword_pattern) {
        pattern = pattern->parent;
    }
    if (cbx_py_kind(pattern) == PY_keyword_pattern) {
        if (cbx_child_at(pattern, 0) == name) {
            return;
        }
        t.path = cbx_py_text(py, cbx_child_at(pattern, 0));
        bind_target(py, t, name, 0);
        t.each = true;
    } else {
        bind_target(py, t, name, 0);
        t.each = true;
    }
    bind_target(py, t, name, 0);
    t.unknown = true; /* or a deeper part of it */
    bind_target(py, t, name, 0);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void bind_globals(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    bool global = cbx_py_kind(node) == PY_global_statement;
    for (struct cbx_node *name = node->first; name != NULL; name = name->next) {
        cbx_scope_bind(py, scope, scope, cbx_py_text(py, name),
                       global ? CBX_BIND_GLOBAL : CBX_BIND_NONLOCAL, node);
    }
}

/* Returns the scope in which an assignment binds: a walrus in a comprehension binds in the
 * enclosing function. */
static struct cbx_scope *binding_scope(struct cbx_scope *scope)
{
    while (scope->kind == CBX_SCOPE_COMPREHENSION && scope->parent != NULL) {
        scope = scope->parent;
    }
    return scope;
}

/* Binds the names in the cases of a match that is misread: the grammar reads `match [a, b]:` as
 * `match[a, b]: type`, with the cases as types. These names may have any value. */
static void bind_misread_match(struct cbx_walk *py, struct cbx_scope *scope,
                               const struct cbx_node *node)
{
    struct cbx_node *type = cbx_child_of(node, CBX_FIELD_type);
    if (!cbx_str_starts(cbx_walk_text(py, node), CBX_STR("match")) || type == NULL) {
        return;
    }
    const struct cbx_node *end = cbx_node_behind(type, py->syntax.nodes + py->syntax.count);
    for (struct cbx_node *n = type; n < end; n++) {
        struct cbx_binding *b =
            cbx_py_kind(n) == PY_identifier && n->field == CBX_FIELD_NONE
                ? cbx_scope_bind(py, scope, scope, cbx_py_text(py, n), CBX_BIND_VALUES, n)
                : NULL;
        if (b != NULL) { /* the old value stays possible */
            b->values = cbx_values_join(py->arena, cbx_values_bare(py->arena, b->name),
                                        &cbx_values_unknown);
        }
    }
}

static void bind_walrus(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    struct target t = { .scope = binding_scope(scope),
                        .where = scope,
                        .value = cbx_child_of(node, CBX_FIELD_value) };
    bind_target(py, t, cbx_child_of(node, CBX_FIELD_name), 0);
}

static void bind_setattr(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *call)
{
    struct cbx_node *list = cbx_child_of(call, CBX_FIELD_arguments), *name = cbx_child_at(list, 1);
    struct cbx_node *text = cbx_py_kind(name) == PY_string ? cbx_child_at(name, 1) : NULL;
    if (cbx_py_kind(text) == PY_string_content) {
        struct target t = { .where = scope, .value = cbx_child_at(list, 2) };
        bind_name(py, &t, NULL, cbx_walk_text(py, text));
        note_patch(py, cbx_child_at(list, 0), cbx_walk_text(py, text));
    }
}

static void bind_call(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *call)
{
    struct cbx_node *callee = cbx_child_of(call, CBX_FIELD_function);
    if (cbx_py_kind(callee) == PY_identifier && cbx_str_is(cbx_walk_text(py, callee), "setattr")) {
        bind_setattr(py, scope, call);
    }
}

static void bind_assignment(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *right = cbx_child_of(node, CBX_FIELD_right);
    while (cbx_py_kind(right) == PY_assignment) {
        right = cbx_child_of(right, CBX_FIELD_right); /* a = b = value */
    }
    struct cbx_node *left = cbx_child_of(node, CBX_FIELD_left);
    if (right == NULL) {
        bind_misread_match(py, scope, node);
        return;
    }
    bind_value(py, scope, left, right, false);
    if (scope->kind == CBX_SCOPE_CLASS && cbx_py_kind(left) == PY_identifier) {
        cbx_scope_bind(py, NULL, scope, cbx_py_text(py, left), CBX_BIND_EXPR, right);
    }
}

/* x += y: the value is the node; the evaluator computes the sum. */
static void bind_augmented(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *left = cbx_child_of(node, CBX_FIELD_left);
    struct target t = { .scope = scope, .where = scope, .value = node, .unknown = true };
    bind_target(py, t, left, 0);
    t.unknown = false;
    bind_target(py, t, left, 0);
}

/* Binds the name of a definition in its scope, in a class also an attribute. With decorators,
 * the name may also have the value that they return. */
static void bind_definition(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_str name = cbx_py_name(py, node);
    bool decorated = cbx_py_kind(node->parent) == PY_decorated_definition;
    for (int attribute = 0; attribute <= (scope->kind == CBX_SCOPE_CLASS); attribute++) {
        struct cbx_scope *where = attribute ? NULL : scope;
        cbx_scope_bind(py, where, scope, name, CBX_BIND_FUNCTION, node);
        if (decorated) {
            cbx_scope_bind(py, where, scope, name, CBX_BIND_EXPR, node->parent);
        }
    }
}

static struct cbx_scope *open_function(struct cbx_walk *py, struct cbx_scope *scope,
                                       struct cbx_node *node)
{
    struct cbx_scope *inner = cbx_scope_open(py, scope, node, CBX_SCOPE_FUNCTION);
    py->giving = true;
    bind_parameters(py, inner, scope, node);
    py->giving = false;
    return inner;
}

static void bind_result(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    scope = binding_scope(scope);
    struct cbx_node *value = cbx_child_at(node, 0);
    bool from = false;
    for (struct cbx_node *token = node->first; token != NULL; token = token->next) {
        from |= !token->named && cbx_str_is(cbx_walk_text(py, token), "from");
    }
    enum cbx_result kind = cbx_py_kind(node) != PY_yield ? CBX_RETURNS
                           : from                        ? CBX_YIELDS_FROM
                                                         : CBX_YIELDS;
    if (scope->kind == CBX_SCOPE_FUNCTION && value != NULL) {
        cbx_scope_return(py, scope, value, kind);
    }
}

/* Binds x of `with f() as x`: the value that f returns, or that its generator yields
 * (contextlib.contextmanager). */
static void bind_alias(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *value = cbx_child_at(node, 0), *alias = cbx_child_of(node, CBX_FIELD_alias);
    if (alias == NULL) { /* `as` of a case */
        alias = cbx_last_child(node);
        if (cbx_py_kind(alias) == PY_identifier) {
            bind_capture(py, scope, alias);
        }
        return;
    }
    bind_value(py, scope, alias, value, false);
    bind_value(py, scope, alias, value, true);
}

/* Binds the names of one node; returns the scope for its children. */
static struct cbx_scope *bind_node(struct cbx_walk *py, struct cbx_scope *scope,
                                   struct cbx_node *node)
{
    struct cbx_scope *inner;
    switch (cbx_py_kind(node)) {
    case PY_import_statement:
    case PY_import_from_statement:
        bind_import(py, scope, node);
        return scope;
    case PY_assignment:
        bind_assignment(py, scope, node);
        return scope;
    case PY_call:
        bind_call(py, scope, node);
        return scope;
    case PY_attribute:
        py->changes |= cbx_py_changes(cbx_walk_text(py, cbx_child_of(node, CBX_FIELD_attribute)));
        return scope;
    case PY_delete_statement:
        py->changes = true;
        return scope;
    case PY_augmented_assignment:
        bind_augmented(py, scope, node);
        return scope;
    /* f(o=os): an object that f makes may have the argument as its attribute */
    case PY_keyword_argument:
        cbx_scope_bind(py, NULL, scope, cbx_py_name(py, node), CBX_BIND_EXPR,
                       cbx_child_of(node, CBX_FIELD_value));
        return scope;
    case PY_named_expression:
        bind_walrus(py, scope, node);
        return scope;
    case PY_for_statement:
    case PY_for_in_clause:
        bind_value(py, scope, cbx_child_of(node, CBX_FIELD_left),
                   cbx_child_of(node, CBX_FIELD_right), true);
        return scope;
    case PY_as_pattern:
        bind_alias(py, scope, node);
        return scope;
    case PY_dotted_name:
    case PY_splat_pattern:
        if (cbx_child_count(node) == 1 && is_in_pattern(node) && subject_of(node) != NULL) {
            bind_capture(py, scope, cbx_child_at(node, 0));
        }
        return scope;
    case PY_function_definition:
        bind_definition(py, scope, node);
        return open_function(py, scope, node);
    case PY_lambda:
        inner = open_function(py, scope, node);
        cbx_scope_return(py, inner, cbx_child_of(node, CBX_FIELD_body), CBX_RETURNS);
        return inner;
    case PY_class_definition:
        bind_definition(py, scope, node);
        return cbx_scope_open(py, scope, node, CBX_SCOPE_CLASS);
    case PY_list_comprehension:
    case PY_set_comprehension:
    case PY_dictionary_comprehension:
    case PY_generator_expression:
        return cbx_scope_open(py, scope, node, CBX_SCOPE_COMPREHENSION);
    case PY_return_statement:
    case PY_yield:
        bind_result(py, scope, node);
        return scope;
    case PY_global_statement:
    case PY_nonlocal_statement:
        bind_globals(py, scope, node);
        return scope;
    default:
        return scope;
    }
}

void cbx_py_bind_all(struct cbx_walk *py)
{
    py->eval = cbx_py_eval;
    py->member = cbx_py_member;
    cbx_builtins_begin(py, &cbx_py_builtins);
    cbx_py_read_mentions(py);
    for (uint32_t i = 0; i < py->syntax.count; i++) {
        struct cbx_node *node = &py->syntax.nodes[i];
        struct cbx_scope *scope = cbx_scope_around(py, node);
        py->at = node->start;
        node->inner = node->kind != PY_OTHER ? bind_node(py, scope, node) : scope;
    }
    py->patched |= cbx_walk_file_names(py);
    cbx_builtins_keep(py, &cbx_py_builtins);
}
