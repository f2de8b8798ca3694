/* SPDX-License-Identifier: MIT
 * The JavaScript evaluator: the possible values of an expression. Bounded in depth and steps;
 * beyond a bound the value is "anything". */
#include "analyzer/lang/javascript/internal.h"
#include "analyzer/lang/stored.h"

/* Returns the arguments of the function that Node wraps around a module: exports, require, module,
 * two texts; anything inside of another function. */
static const struct cbx_values *eval_arguments(struct cbx_walk *js, const struct cbx_scope *scope)
{
    static const char *const given[] = { "exports", "require", "module", "__filename",
                                         "__dirname" };
    const struct cbx_values **members = cbx_arena_array(js->arena, 5, sizeof(*members));
    const struct cbx_scope *s = scope;
    while (s != NULL && !(s->kind == CBX_SCOPE_FUNCTION && s->node != NULL &&
                          cbx_js_kind(s->node) != JS_arrow_function)) {
        s = s->parent;
    }
    for (uint32_t i = 0; members != NULL && i < 5; i++) {
        members[i] = cbx_values_bare(js->arena, cbx_str_of(given[i]));
    }
    return s != NULL ? &cbx_values_unknown : cbx_values_list(js->arena, members, 5);
}

static const struct cbx_values *eval_identifier(struct cbx_walk *js, struct cbx_str name,
                                                struct cbx_scope *scope)
{
    for (struct cbx_scope *s = scope; s != NULL; s = s->parent) {
        const struct cbx_values *found = cbx_scope_lookup(js, s, name);
        if (found != NULL) {
            return js->changes ? cbx_values_loose(js->arena, found) : found;
        }
    }
    if (cbx_str_is(name, "arguments")) {
        return eval_arguments(js, scope);
    }
    return cbx_str_is(name, "__dirname") ? cbx_values_likely(js->arena, CBX_STR("."))
                                         : cbx_values_bare(js->arena, name);
}

/* --- constants -------------------------------------------------------------------------------- */

/* Evaluates a string, or a template without or with constant substitutions; `raw` keeps
 * backslashes (String.raw). */
const struct cbx_values *cbx_js_eval_string(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope, bool raw)
{
    struct cbx_str out = CBX_STR("");
    uint32_t gaps = 0;
    for (struct cbx_node *child = node != NULL ? node->first : NULL; child != NULL && out.p != NULL;
         child = child->next) {
        enum cbx_js_kind kind = cbx_js_kind(child);
        struct cbx_str part = cbx_walk_text(js, child);
        if (kind == JS_template_substitution) {
            const struct cbx_values *value = cbx_js_eval(js, cbx_child_at(child, 0), scope);
            gaps |= cbx_js_secrets(js, value, false);
            part = cbx_js_piece(value, &gaps);
        } else if (kind != JS_string_fragment && kind != JS_escape_sequence) {
            continue;
        } else if (!raw) {
            part = cbx_fold_unescape(js->arena, part, false);
        }
        out = out.len == 0 ? part : cbx_fold_concat(js->arena, out, part);
    }
    return cbx_values_built(js->arena, out, gaps);
}

static const struct cbx_values *eval_number(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    (void)scope;
    int64_t number;
    struct cbx_str text = cbx_walk_text(js, node);
    return cbx_fold_integer(text, &number) ? cbx_values_number(js->arena, text, number)
                                           : &cbx_values_unknown;
}

/* Reads the text that string concatenation makes of a constant. */
static bool to_text(const struct cbx_values *values, struct cbx_str *out)
{
    if (values->count == 1 && values->items[0]->kind == CBX_V_NUMBER) {
        *out = values->items[0]->text;
        return true;
    }
    return cbx_values_is_text(values, out);
}

static const struct cbx_values *eval_this(struct cbx_walk *js, struct cbx_node *node,
                                          struct cbx_scope *scope)
{
    (void)scope;
    const struct cbx_node *n = node->parent;
    while (n != NULL && cbx_js_kind(n) != JS_function_declaration &&
           cbx_js_kind(n) != JS_function_expression && cbx_js_kind(n) != JS_method_definition &&
           cbx_js_kind(n) != JS_class_body) {
        n = n->parent;
    }
    bool plain = n == NULL || cbx_js_kind(n) == JS_function_declaration ||
                 cbx_js_kind(n) == JS_function_expression;
    const struct cbx_values *out =
        plain ? cbx_values_bare(js->arena, CBX_STR("this")) : &cbx_values_unknown;
    struct cbx_node *maker = js->stored.self_count > 0 ? js->stored.lang->maker(node) : NULL;
    const struct cbx_values *given =
        n != NULL && n->inner != NULL ? cbx_scope_lookup(js, n->inner, CBX_STR("this")) : NULL;
    out = cbx_values_join(js->arena, out, cbx_stored_instance(js, maker));
    return given != NULL ? cbx_values_join(js->arena, out, given) : out;
}

static const struct cbx_values *eval_function(struct cbx_walk *js, struct cbx_node *node,
                                              struct cbx_scope *scope)
{
    (void)scope;
    struct cbx_value function = { .kind = CBX_V_FUNCTION, .node = node, .scope = node->inner };
    return cbx_values_one(js->arena, &function);
}

/* --- containers ------------------------------------------------------------------------------- */

static const struct cbx_values **members_for(struct cbx_walk *js, uint32_t capacity)
{
    const struct cbx_values **none = NULL;
    return capacity <= CBX_MEMBERS_MAX ? cbx_arena_array(js->arena, capacity + 1u, sizeof(*none))
                                       : none;
}

static const struct cbx_values *eval_array(struct cbx_walk *js, struct cbx_node *node,
                                           struct cbx_scope *scope)
{
    uint32_t capacity = cbx_child_count(node);
    const struct cbx_values **members = members_for(js, capacity);
    struct cbx_value list = { .kind = CBX_V_LIST, .members = members };
    bool spread = false;
    if (members == NULL) {
        return &cbx_values_unknown;
    }
    for (struct cbx_node *child = node->first; child != NULL && list.count < capacity;
         child = child->next) {
        if (child->named) {
            spread |= cbx_js_kind(child) == JS_spread_element;
            members[list.count++] = cbx_js_eval(js, child, scope);
        }
    }
    const struct cbx_values *out = cbx_values_one(js->arena, &list);
    /* after a spread element the indexes of the members are unknown */
    return spread ? cbx_values_each(js->arena, cbx_values_members(js->arena, out)) : out;
}

struct object {
    const struct cbx_values **members;
    struct cbx_str *keys;
    uint32_t count;
    uint32_t spare; /* room for members that are no children of the literal */
    bool more;      /* it may have other members, also in place of these */
};

static void add_member(struct object *object, struct cbx_str key, const struct cbx_values *member)
{
    object->keys[object->count] = key;
    object->members[object->count++] = member;
}

/* Returns the key of a pair; "\xff" for an unknown one. */
static struct cbx_str eval_key(struct cbx_walk *js, struct cbx_node *key, struct cbx_scope *scope)
{
    struct cbx_str text;
    if (cbx_js_kind(key) == JS_property_identifier) {
        return cbx_js_name(js, key);
    }
    struct cbx_node *inner =
        cbx_js_kind(key) == JS_computed_property_name ? cbx_child_at(key, 0) : key;
    return to_text(cbx_js_eval(js, inner, scope), &text) ? text : CBX_STR("\xff");
}

/* Adds the members of a mapping that are secrets, in the spare room of `object`. Returns the flags
 * of those without room. */
static uint32_t add_secrets(struct cbx_walk *js, struct object *object, const struct cbx_value *map)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < map->count; i++) {
        uint32_t flags = cbx_js_secrets(js, map->members[i], false);
        if (flags != 0 && object->spare > 0) {
            object->spare--;
            add_member(object, map->keys[i], cbx_values_marked(js->arena, flags));
        } else {
            left |= flags;
        }
    }
    return left;
}

/* Adds the secrets of ...values: a mapping keeps its keys, other values have any key. */
static void add_spread(struct cbx_walk *js, struct object *object, const struct cbx_values *values)
{
    uint32_t flags = 0;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        flags |= v->kind == CBX_V_MAP && v->keys != NULL
                     ? add_secrets(js, object, v)
                     : cbx_js_secrets(js, cbx_values_one(js->arena, v), false);
    }
    if (flags != 0) {
        add_member(object, CBX_STR("\xff"), cbx_values_marked(js->arena, flags));
    }
}

static void add_child(struct cbx_walk *js, struct object *object, struct cbx_node *child,
                      struct cbx_scope *scope)
{
    struct cbx_str key;
    switch (cbx_js_kind(child)) {
    case JS_pair:
        key = eval_key(js, cbx_child_of(child, CBX_FIELD_key), scope);
        add_member(object, key, cbx_js_eval(js, cbx_child_of(child, CBX_FIELD_value), scope));
        return;
    case JS_shorthand_property_identifier:
        key = cbx_js_name(js, child);
        add_member(object, key, eval_identifier(js, key, scope));
        return;
    case JS_method_definition:
        key = cbx_js_name(js, cbx_child_of(child, CBX_FIELD_name));
        add_member(object, key, eval_function(js, child, scope));
        return;
    case JS_spread_element: /* its members override earlier ones */
        object->more = true;
        add_spread(js, object, cbx_js_eval(js, cbx_child_at(child, 0), scope));
        return;
    case JS_property_identifier: /* a member of an enum without a value is a number */
        object->more = true;
        return;
    default:
        return;
    }
}

static const struct cbx_values *eval_object(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    enum { SPARE = 16 };
    uint32_t capacity = cbx_child_count(node);
    struct object object = { .members = members_for(js, capacity + SPARE), .spare = SPARE };
    if (object.members != NULL) {
        object.keys = cbx_arena_array(js->arena, capacity + SPARE + 1u, sizeof(*object.keys));
    }
    if (object.keys == NULL) {
        return &cbx_values_unknown;
    }
    for (struct cbx_node *child = node->first; child != NULL; child = child->next) {
        if (child->named) {
            add_child(js, &object, child, scope);
        }
    }
    struct cbx_value map = { .kind = CBX_V_MAP,
                             .members = object.members,
                             .keys = object.keys,
                             .count = object.count,
                             .number = object.more };
    return cbx_values_one(js->arena, &map);
}

/* --- expressions ------------------------------------------------------------------------------ */

/* Returns the values of x in `with (o) { x }`: x may be a member of o. */
static const struct cbx_values *eval_within(struct cbx_walk *js, const struct cbx_node *name,
                                            struct cbx_str text, const struct cbx_values *out)
{
    for (const struct cbx_node *n = name; js->withs && n->parent != NULL; n = n->parent) {
        struct cbx_node *object = cbx_child_of(n->parent, CBX_FIELD_object);
        if (cbx_js_kind(n->parent) == JS_with_statement && n->field == CBX_FIELD_body) {
            const struct cbx_values *values = cbx_js_eval(js, object, cbx_scope_around(js, object));
            out = cbx_values_join(js->arena, out, cbx_js_read(js, values, text));
        }
    }
    return out;
}

static const struct cbx_values *eval_name(struct cbx_walk *js, struct cbx_node *node,
                                          struct cbx_scope *scope)
{
    struct cbx_str name = cbx_js_name(js, node);
    return eval_within(js, node, name, eval_identifier(js, name, scope));
}

static const struct cbx_values *eval_string(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    return cbx_js_eval_string(js, node, scope, false);
}

static const struct cbx_values *eval_constant(struct cbx_walk *js, struct cbx_node *node,
                                              struct cbx_scope *scope)
{
    (void)scope;
    return cbx_values_constant(js->arena, cbx_walk_text(js, node));
}

/* A regular expression has no members that a program stores. */
static const struct cbx_values *eval_regex(struct cbx_walk *js, struct cbx_node *node,
                                           struct cbx_scope *scope)
{
    (void)node;
    (void)scope;
    return cbx_values_one(js->arena, &(struct cbx_value){ .kind = CBX_V_MAP });
}

/* -n; any other unary operator gives anything. */
static const struct cbx_values *eval_negative(struct cbx_walk *js, struct cbx_node *node,
                                              struct cbx_scope *scope)
{
    int64_t number;
    if (!cbx_str_is(cbx_walk_text(js, cbx_child_of(node, CBX_FIELD_operator)), "-") ||
        !cbx_values_is_number(cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_argument), scope),
                              &number) ||
        number == INT64_MIN) {
        return &cbx_values_unknown;
    }
    return cbx_values_number(js->arena, cbx_walk_text(js, node), -number);
}

static const struct cbx_values *eval_assigned(struct cbx_walk *js, struct cbx_node *node,
                                              struct cbx_scope *scope)
{
    return cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_right), scope);
}

static const struct cbx_values *eval_either(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    return cbx_values_join(js->arena,
                           cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_consequence), scope),
                           cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_alternative), scope));
}

static const struct cbx_values *eval_last(struct cbx_walk *js, struct cbx_node *node,
                                          struct cbx_scope *scope)
{
    return cbx_js_eval(js, cbx_last_child(node), scope);
}

static const struct cbx_values *eval_inner(struct cbx_walk *js, struct cbx_node *node,
                                           struct cbx_scope *scope)
{
    return cbx_js_eval(js, cbx_child_at(node, 0), scope);
}

static const struct cbx_values *eval_spread(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    return cbx_values_members(js->arena, cbx_js_eval(js, cbx_child_at(node, 0), scope));
}

static const struct cbx_values *eval_class(struct cbx_walk *js, struct cbx_node *node,
                                           struct cbx_scope *scope)
{
    (void)scope;
    return cbx_values_one(js->arena, &(struct cbx_value){ .kind = CBX_V_FUNCTION, .node = node });
}

static const struct cbx_values *eval_import(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    (void)node;
    (void)scope;
    return cbx_values_name(js->arena, CBX_STR("import"));
}

/* import.meta; new.target is anything. */
static const struct cbx_values *eval_meta(struct cbx_walk *js, struct cbx_node *node,
                                          struct cbx_scope *scope)
{
    (void)scope;
    return cbx_str_starts(cbx_walk_text(js, node), CBX_STR("import"))
               ? cbx_values_name(js->arena, CBX_STR("import.meta"))
               : &cbx_values_unknown;
}

static const struct cbx_values *(*const evaluators[JS_KINDS])(struct cbx_walk *js,
                                                              struct cbx_node *node,
                                                              struct cbx_scope *scope) = {
    [JS_identifier] = eval_name,
    [JS_shorthand_property_identifier] = eval_name,
    [JS_member_expression] = cbx_js_eval_member,
    [JS_subscript_expression] = cbx_js_eval_member,
    [JS_call_expression] = cbx_js_eval_call,
    [JS_new_expression] = cbx_js_eval_call,
    [JS_import] = eval_import,
    [JS_meta_property] = eval_meta,
    [JS_string] = eval_string,
    [JS_template_string] = eval_string,
    [JS_number] = eval_number,
    [JS_true] = eval_constant,
    [JS_false] = eval_constant,
    [JS_null] = eval_constant,
    [JS_undefined] = eval_constant,
    [JS_regex] = eval_regex,
    [JS_this] = eval_this,
    [JS_binary_expression] = cbx_js_eval_binary,
    [JS_unary_expression] = eval_negative,
    [JS_augmented_assignment_expression] = cbx_js_eval_augmented,
    [JS_assignment_expression] = eval_assigned,
    [JS_ternary_expression] = eval_either,
    [JS_sequence_expression] = eval_last,
    [JS_parenthesized_expression] = eval_inner,
    [JS_await_expression] = eval_inner,
    [JS_spread_element] = eval_spread,
    [JS_object] = eval_object,
    [JS_array] = eval_array,
    [JS_arguments] = eval_array,
    [JS_arrow_function] = eval_function,
    [JS_function_expression] = eval_function,
    [JS_function_declaration] = eval_function,
    [JS_generator_function] = eval_function,
    [JS_generator_function_declaration] = eval_function,
    [JS_method_definition] = eval_function,
    [JS_class] = eval_class,
    [JS_class_declaration] = eval_class,
};

static const struct cbx_values *eval_kind(struct cbx_walk *js, struct cbx_node *node,
                                          struct cbx_scope *scope)
{
    enum cbx_js_kind kind = cbx_js_kind(node);
    return evaluators[kind] != NULL ? evaluators[kind](js, node, scope) : &cbx_values_unknown;
}

const struct cbx_values *cbx_js_eval(struct cbx_walk *js, struct cbx_node *node,
                                     struct cbx_scope *scope)
{
    return cbx_scope_eval(js, node, scope, eval_kind);
}
