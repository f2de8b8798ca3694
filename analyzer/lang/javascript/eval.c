/* SPDX-License-Identifier: MIT
 * The JavaScript evaluator: the possible values of an expression. Bounded in depth and steps;
 * beyond a bound the value is "anything". */
#include "analyzer/lang/javascript/internal.h"

#include <stdlib.h>

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

static const struct cbx_values *read_name(struct cbx_walk *js, const struct cbx_value *object,
                                          struct cbx_str key)
{
    if (object->number == CBX_NAME_BARE && cbx_js_is_global_object(object->text)) {
        const struct cbx_values *own = cbx_scope_lookup(js, js->module, key);
        const struct cbx_values *bare = cbx_values_bare(js->arena, key);
        return own != NULL ? cbx_values_join(js->arena, own, bare) : bare;
    }
    /* A default export is the module; the call of a function's method is handled there. */
    if (cbx_str_is(key, "default") || cbx_str_is(key, "promises") || cbx_str_is(key, "value")) {
        return cbx_values_one(js->arena, object);
    }
    if (object->text.len + key.len > 512) {
        return cbx_values_one(js->arena, object); /* longer than any name of a policy */
    }
    char *p = cbx_arena_alloc(js->arena, object->text.len + key.len + 2);
    if (p == NULL) {
        return &cbx_values_unknown;
    }
    memcpy(p, object->text.p, object->text.len);
    p[object->text.len] = '.';
    memcpy(p + object->text.len + 1, key.p, key.len);
    struct cbx_str name = { .p = p, .len = object->text.len + 1 + key.len };
    return cbx_values_name(js->arena, cbx_js_canonical(name));
}

/* Returns a member of an escaped object; of the global object only powerful members. */
static const struct cbx_values *read_escaped(struct cbx_walk *js, const struct cbx_value *object,
                                             struct cbx_str key)
{
    struct cbx_value global = *object;
    global.number = cbx_js_is_global_object(object->text) ? CBX_NAME_BARE : object->number;
    return global.number != CBX_NAME_BARE || cbx_js_is_powerful(key) || cbx_js_runs(key) != NULL
               ? read_name(js, &global, key)
               : &cbx_values_nothing;
}

/* Returns a member of an unknown object: any value that the text assigns to a member of that
 * name, or the member of an escaped powerful object. */
static const struct cbx_values *read_anything(struct cbx_walk *js, struct cbx_str key)
{
    const struct cbx_values *fields = cbx_scope_lookup(js, NULL, key);
    const struct cbx_values *out = fields != NULL
                                       ? cbx_values_join(js->arena, fields, &cbx_values_unknown)
                                       : &cbx_values_unknown;
    out = js->changes ? cbx_values_loose(js->arena, out) : out;
    return cbx_values_join(js->arena, out, cbx_walk_escaped(js, key, CBX_JAVASCRIPT, read_escaped));
}

/* Returns true for `this` of a plain function: a plain call makes it the global object. */
static bool is_this(const struct cbx_value *v)
{
    return v->kind == CBX_V_NAME && v->number == CBX_NAME_BARE && cbx_str_is(v->text, "this");
}

static const struct cbx_values *read_one(struct cbx_walk *js, const struct cbx_value *v,
                                         struct cbx_str key, bool *opaque)
{
    bool maker = cbx_str_is(key, "constructor"), plain = is_this(v);
    bool shared = cbx_str_is(v->text, "module.exports") || cbx_str_is(v->text, "exports");
    *opaque |= v->kind != CBX_V_NAME || plain || shared || cbx_js_is_file(js, v->text);
    if (plain) {
        return cbx_js_is_powerful(key) || cbx_str_is(key, "eval") || cbx_str_is(key, "Function")
                   ? cbx_values_bare(js->arena, key)
                   : &cbx_values_nothing;
    }
    if (v->kind == CBX_V_NAME) {
        return read_name(js, v, key);
    }
    if (v->kind == CBX_V_FUNCTION && maker) {
        return cbx_values_name(js->arena, CBX_STR("Function"));
    }
    if (maker) { /* a class is possible: its constructor is Function */
        *opaque = v->kind == CBX_V_UNKNOWN;
        return cbx_values_name(js->arena, v->kind == CBX_V_UNKNOWN ? CBX_STR(CBX_JS_SOME_CLASS)
                                                                   : CBX_STR("Object"));
    }
    return v->kind == CBX_V_MAP || v->kind == CBX_V_LIST
               ? cbx_values_member(js->arena, cbx_values_one(js->arena, v), key)
               : &cbx_values_nothing;
}

const struct cbx_values *cbx_js_read(struct cbx_walk *js, const struct cbx_values *object,
                                     struct cbx_str key)
{
    const struct cbx_values *out = &cbx_values_nothing;
    bool opaque = object->count == 0;
    if (cbx_str_is(key, "require")) { /* require of any module is the same */
        out = cbx_values_name(js->arena, CBX_STR("require"));
    }
    for (uint32_t i = 0; i < object->count; i++) {
        out = cbx_values_join(js->arena, out, read_one(js, object->items[i], key, &opaque));
    }
    if (opaque) {
        const uint32_t kept = CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT;
        uint32_t flags = cbx_values_flags(object) & kept;
        out = cbx_values_join(js->arena, out, read_anything(js, key));
        out =
            flags != 0 ? cbx_values_join(js->arena, out, cbx_values_marked(js->arena, flags)) : out;
    }
    return cbx_values_some(out);
}

bool cbx_js_member(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope,
                   struct cbx_str *out)
{
    if (cbx_js_kind(node) == JS_member_expression) {
        *out = cbx_js_name(js, cbx_child_of(node, CBX_FIELD_property));
        return true;
    }
    const struct cbx_values *key = cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_index), scope);
    int64_t number;
    if (cbx_values_is_number(key, &number)) {
        *out = cbx_arena_number(js->arena, number);
        return out->p != NULL;
    }
    return cbx_values_is_text(key, out);
}

/* Returns the folder that a variable of the environment names; empty for other names. */
static struct cbx_str folder_of_environment(struct cbx_str name)
{
    if (cbx_str_is(name, "process.env.HOME")) {
        return CBX_STR("~");
    }
    return cbx_str_is(name, "process.env.PWD") ? CBX_STR(".") : CBX_STR("");
}

/* A value that is only there if the variable is not set (process.env.HOME || '/root') does not
 * count: HOME and PWD are set. */
struct cbx_str cbx_js_piece(const struct cbx_values *values, uint32_t *gaps)
{
    enum { ALTERNATIVES_MAX = 2 };
    struct cbx_str piece = cbx_values_piece(values, gaps);
    for (uint32_t i = 0; i < values->count && values->count <= ALTERNATIVES_MAX; i++) {
        const struct cbx_value *v = values->items[i];
        struct cbx_str folder =
            v->kind == CBX_V_NAME ? folder_of_environment(v->text) : CBX_STR("");
        if (folder.len > 0) {
            return folder;
        }
    }
    return piece;
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
            gaps |= cbx_js_secrets(value, false);
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

static const struct cbx_values *eval_number(struct cbx_walk *js, struct cbx_node *node)
{
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

/* Computes x op y; returns false if JavaScript's numbers would give another result, or for
 * another operator. */
static bool compute(struct cbx_str op, int64_t x, int64_t y, int64_t *out)
{
    bool shifts = y >= 0 && y < 31 && x >= 0 && x <= INT32_MAX;
    if (cbx_str_is(op, "<<")) {
        *out = shifts ? x << y : 0;
        return shifts;
    }
    if (cbx_str_is(op, ">>") || cbx_str_is(op, ">>>")) {
        *out = shifts ? x >> y : 0;
        return shifts;
    }
    if (op.len != 1) {
        return false;
    }
    switch (op.p[0]) {
    case '+':
        return !__builtin_add_overflow(x, y, out);
    case '-':
        return !__builtin_sub_overflow(x, y, out);
    case '*':
        return !__builtin_mul_overflow(x, y, out);
    case '^':
        *out = x ^ y;
        return true;
    case '&':
        *out = x & y;
        return true;
    case '|':
        *out = x | y;
        return true;
    case '%':
        if (y <= 0 || x < 0) {
            return false;
        }
        *out = x % y;
        return true;
    default:
        return false;
    }
}

static const struct cbx_values *eval_numbers(struct cbx_walk *js, struct cbx_str op, int64_t x,
                                             int64_t y)
{
    int64_t out = 0;
    if (!compute(op, x, y, &out)) {
        return &cbx_values_unknown;
    }
    return cbx_values_number(js->arena, cbx_arena_number(js->arena, out), out);
}

static const struct cbx_values *eval_operator(struct cbx_walk *js, struct cbx_str op,
                                              const struct cbx_values *left,
                                              const struct cbx_values *right)
{
    struct cbx_str a, b;
    int64_t x, y;
    if (cbx_str_is(op, "||") || cbx_str_is(op, "&&") || cbx_str_is(op, "??")) {
        return cbx_values_join(js->arena, left, right);
    }
    if (cbx_values_is_number(left, &x) && cbx_values_is_number(right, &y)) {
        return eval_numbers(js, op, x, y);
    }
    uint32_t gaps = cbx_js_secrets(left, false) | cbx_js_secrets(right, false);
    a = cbx_js_piece(left, &gaps);
    b = cbx_js_piece(right, &gaps);
    return cbx_str_is(op, "+") ? cbx_values_built(js->arena, cbx_fold_concat(js->arena, a, b), gaps)
                               : &cbx_values_unknown;
}

/* Evaluates a + b + c + ..., which is nested to the left: down to the first operand, then up
 * again. */
static const struct cbx_values *eval_binary(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    struct cbx_node *first = node;
    while (cbx_js_kind(cbx_child_of(first, CBX_FIELD_left)) == JS_binary_expression) {
        first = cbx_child_of(first, CBX_FIELD_left);
    }
    const struct cbx_values *out = cbx_js_eval(js, cbx_child_of(first, CBX_FIELD_left), scope);
    for (struct cbx_node *n = first;; n = n->parent) {
        struct cbx_str op = cbx_walk_text(js, cbx_child_of(n, CBX_FIELD_operator));
        out = eval_operator(js, op, out, cbx_js_eval(js, cbx_child_of(n, CBX_FIELD_right), scope));
        if (n == node) {
            return out;
        }
    }
}

/* Evaluates `x += y`: the values of the binding before it, and of y. */
static const struct cbx_values *eval_augmented(struct cbx_walk *js, struct cbx_node *node,
                                               struct cbx_scope *scope)
{
    struct cbx_node *left = cbx_child_of(node, CBX_FIELD_left);
    struct cbx_str op = cbx_walk_text(js, cbx_child_of(node, CBX_FIELD_operator)),
                   name = cbx_js_name(js, left);
    struct cbx_binding *b = NULL;
    for (struct cbx_scope *s = scope; s != NULL && b == NULL; s = s->parent) {
        b = cbx_js_kind(left) == JS_identifier ? cbx_scope_chain(js, s, name) : NULL;
    }
    /* in the chain declarations follow assignments, the first declaration first */
    struct cbx_binding *before = NULL;
    for (; b != NULL && b->node != node; b = b->next) {
        before = cbx_str_equal(b->name, name) && b->kind == CBX_BIND_EXPR ? b : before;
    }
    for (bool first = before == NULL; b != NULL && first; b = b->next) { /* the declaration */
        bool other = cbx_str_equal(b->name, name) && b->node != node;
        before = other && b->kind == CBX_BIND_EXPR ? b : before;
    }
    bool logical = cbx_str_is(op, "||=") || cbx_str_is(op, "&&=") || cbx_str_is(op, "?\?=");
    if (before == NULL && logical) { /* the old value, or the right side */
        return cbx_values_join(js->arena,
                               cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_right), scope),
                               &cbx_values_unknown);
    }
    return before == NULL || op.len < 2
               ? &cbx_values_unknown
               : eval_operator(js, cbx_str_sub(op, 0, op.len - 1),
                               cbx_binding_eval(js, before, before->where),
                               cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_right), scope));
}

static const struct cbx_values *eval_this(struct cbx_walk *js, const struct cbx_node *node)
{
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
    const struct cbx_values *given =
        n != NULL && n->inner != NULL ? cbx_scope_lookup(js, n->inner, CBX_STR("this")) : NULL;
    return given != NULL ? cbx_values_join(js->arena, out, given) : out;
}

static const struct cbx_values *eval_container(struct cbx_walk *js, struct cbx_node *node,
                                               struct cbx_scope *scope, bool map)
{
    uint32_t capacity = cbx_child_count(node);
    const struct cbx_values **members =
        capacity <= CBX_MEMBERS_MAX ? cbx_arena_array(js->arena, capacity + 1u, sizeof(*members))
                                    : NULL;
    struct cbx_str *keys =
        map && members != NULL ? cbx_arena_array(js->arena, capacity + 1u, sizeof(*keys)) : NULL;
    bool spread = false;
    struct cbx_value value = { .kind = map ? CBX_V_MAP : CBX_V_LIST,
                               .members = members,
                               .keys = keys };
    if (members == NULL || (map && keys == NULL)) {
        return &cbx_values_unknown;
    }
    for (struct cbx_node *child = node != NULL ? node->first : NULL; child != NULL;
         child = child->next) {
        enum cbx_js_kind kind = cbx_js_kind(child);
        if (!child->named || value.count == capacity) {
            continue;
        }
        if (map && kind == JS_pair) {
            struct cbx_node *key = cbx_child_of(child, CBX_FIELD_key);
            if (cbx_js_kind(key) == JS_property_identifier) {
                keys[value.count] = cbx_js_name(js, key);
            } else if (!to_text(cbx_js_eval(js,
                                            cbx_js_kind(key) == JS_computed_property_name
                                                ? cbx_child_at(key, 0)
                                                : key,
                                            scope),
                                &keys[value.count])) {
                keys[value.count] = CBX_STR("\xff");
            }
            members[value.count++] = cbx_js_eval(js, cbx_child_of(child, CBX_FIELD_value), scope);
        } else if (map && kind == JS_shorthand_property_identifier) {
            keys[value.count] = cbx_js_name(js, child);
            members[value.count++] = eval_identifier(js, cbx_js_name(js, child), scope);
        } else if (map && kind == JS_method_definition) {
            keys[value.count] = cbx_js_name(js, cbx_child_of(child, CBX_FIELD_name));
            members[value.count++] = cbx_values_one(
                js->arena, &(struct cbx_value){
                               .kind = CBX_V_FUNCTION, .node = child, .scope = child->inner });
        } else if (map && kind == JS_spread_element) {
            value.number = 1; /* members of the spread object override earlier ones */
            keys[value.count] = CBX_STR("\xff");
            members[value.count] = cbx_values_marked(
                js->arena, cbx_js_secrets(cbx_js_eval(js, cbx_child_at(child, 0), scope), false));
            value.count += cbx_values_flags(members[value.count]) != 0;
        } else if (map && kind == JS_property_identifier) {
            value.number = 1; /* a member of an enum without a value is a number */
        } else if (!map) {
            spread |= kind == JS_spread_element;
            members[value.count++] = cbx_js_eval(js, child, scope);
        }
    }
    if (spread) { /* the indexes of the array's members are unknown */
        return cbx_values_each(js->arena,
                               cbx_values_members(js->arena, cbx_values_one(js->arena, &value)));
    }
    return cbx_values_one(js->arena, &value);
}

/* --- expressions ------------------------------------------------------------------------------ */

bool cbx_js_holds_power(const struct cbx_values *values)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool global = cbx_js_is_global_object(v->text);
        if (v->kind == CBX_V_NAME &&
            (global ? v->number == CBX_NAME_BARE : cbx_js_is_powerful(v->text))) {
            return true;
        }
    }
    return false;
}

/* Returns object[key] for each possible text of the key. */
static const struct cbx_values *read_keys(struct cbx_walk *js, const struct cbx_values *object,
                                          const struct cbx_values *keys)
{
    const struct cbx_values *out = &cbx_values_unknown;
    const struct cbx_value *v = object->items[0];
    bool container = object->count == 1 && (v->kind == CBX_V_LIST || v->kind == CBX_V_MAP);
    if (container) {
        out = cbx_values_join(js->arena, cbx_values_members(js->arena, object), out);
    }
    for (uint32_t i = 0; i < keys->count; i++) {
        if (keys->items[i]->kind == CBX_V_TEXT) {
            out = cbx_values_join(js->arena, out, cbx_js_read(js, object, keys->items[i]->text));
        }
    }
    uint32_t flags = cbx_values_flags(object);
    flags |=
        (cbx_values_flags(keys) & CBX_UNKNOWN_ENVIRONMENT) != 0 ? cbx_js_secrets(object, false) : 0;
    flags &= CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT;
    return flags != 0 ? cbx_values_join(js->arena, out, cbx_values_marked(js->arena, flags)) : out;
}

static const struct cbx_values *eval_member(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    const struct cbx_values *object = cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_object), scope);
    struct cbx_str key, text;
    int64_t index;
    if (!cbx_js_member(js, node, scope, &key)) {
        return read_keys(js, object, cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_index), scope));
    }
    if (cbx_values_is_text(object, &text) && cbx_js_kind(node) == JS_subscript_expression &&
        cbx_values_is_number(cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_index), scope), &index)) {
        return index >= 0 && index < (int64_t)text.len
                   ? cbx_values_text(js->arena, cbx_str_sub(text, (size_t)index, (size_t)index + 1))
                   : &cbx_values_unknown;
    }
    const struct cbx_values *out = cbx_js_read(js, object, key);
    bool picked = (cbx_values_flags(out) & CBX_UNKNOWN_NAMES) != 0 &&
                  cbx_js_kind(cbx_child_of(node, CBX_FIELD_index)) == JS_number;
    return picked
               ? cbx_values_join(js->arena, out, cbx_values_marked(js->arena, CBX_UNKNOWN_PICKED))
               : out;
}

/* Returns the members of an array from an index on. */
static const struct cbx_values *members_from(struct cbx_walk *js, const struct cbx_values *array,
                                             uint32_t from)
{
    const struct cbx_value *list = cbx_values_container(array, CBX_V_LIST);
    if (list == NULL) {
        return cbx_values_each(js->arena, cbx_values_members(js->arena, array));
    }
    struct cbx_value rest = *list;
    rest.members += from < list->count ? from : list->count;
    rest.count -= from < list->count ? from : list->count;
    return cbx_values_one(js->arena, &rest);
}

const struct cbx_values *cbx_js_path(struct cbx_walk *js, const struct cbx_values *object,
                                     struct cbx_str key)
{
    if (key.len > 1 && key.p[0] == CBX_JS_COMPUTED) {
        uint32_t at = (uint32_t)strtoul(key.p + 1, NULL, 10);
        struct cbx_node *node = at < js->syntax.count ? &js->syntax.nodes[at] : NULL;
        const struct cbx_values *keys =
            node != NULL ? cbx_js_eval(js, node, cbx_scope_around(js, node)) : &cbx_values_unknown;
        if (!cbx_values_all_text(keys) && cbx_js_holds_power(object)) {
            cbx_facts_add_special(js->facts, CBX_FACT_COMPUTED_ATTRIBUTE, CBX_STR("[...]"),
                                  node != NULL ? node->start : 0, node != NULL ? node->end : 1);
        }
        return read_keys(js, object, keys);
    }
    if (key.len > 1 && key.p[key.len - 1] == ':') {
        return members_from(js, object, (uint32_t)strtoul(key.p, NULL, 10));
    }
    return cbx_js_read(js, object, key);
}

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

static const struct cbx_values *eval_kind(struct cbx_walk *js, struct cbx_node *node,
                                          struct cbx_scope *scope)
{
    enum cbx_js_kind kind = cbx_js_kind(node);
    int64_t number;
    switch (kind) {
    case JS_identifier:
    case JS_shorthand_property_identifier:
        return eval_within(js, node, cbx_js_name(js, node),
                           eval_identifier(js, cbx_js_name(js, node), scope));
    case JS_member_expression:
    case JS_subscript_expression:
        return eval_member(js, node, scope);
    case JS_string:
    case JS_template_string:
        return cbx_js_eval_string(js, node, scope, false);
    case JS_number:
        return eval_number(js, node);
    case JS_true:
    case JS_false:
    case JS_null:
    case JS_undefined:
        return cbx_values_constant(js->arena, cbx_walk_text(js, node));
    case JS_this:
        return eval_this(js, node);
    case JS_augmented_assignment_expression:
        return eval_augmented(js, node, scope);
    case JS_spread_element:
        return cbx_values_members(js->arena, cbx_js_eval(js, cbx_child_at(node, 0), scope));
    case JS_regex:
        return cbx_values_one(js->arena, &(struct cbx_value){ .kind = CBX_V_MAP });
    case JS_binary_expression:
        return eval_binary(js, node, scope);
    case JS_unary_expression:
        if (cbx_str_is(cbx_walk_text(js, cbx_child_of(node, CBX_FIELD_operator)), "-") &&
            cbx_values_is_number(cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_argument), scope),
                                 &number) &&
            number != INT64_MIN) {
            return cbx_values_number(js->arena, cbx_walk_text(js, node), -number);
        }
        return &cbx_values_unknown;
    case JS_object:
    case JS_array:
    case JS_arguments:
        return eval_container(js, node, scope, kind == JS_object);
    case JS_call_expression:
    case JS_new_expression:
        return cbx_js_eval_call(js, node, scope);
    case JS_parenthesized_expression:
    case JS_await_expression:
        return cbx_js_eval(js, cbx_child_at(node, 0), scope);
    case JS_sequence_expression:
        return cbx_js_eval(js, cbx_last_child(node), scope);
    case JS_ternary_expression:
        return cbx_values_join(js->arena,
                               cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_consequence), scope),
                               cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_alternative), scope));
    case JS_assignment_expression:
        return cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_right), scope);
    case JS_class:
    case JS_class_declaration:
        return cbx_values_one(js->arena,
                              &(struct cbx_value){ .kind = CBX_V_FUNCTION, .node = node });
    case JS_yield_expression:
        return &cbx_values_unknown;
    case JS_import:
        return cbx_values_name(js->arena, CBX_STR("import"));
    default:
        if (cbx_js_is_function(kind)) {
            return cbx_values_one(
                js->arena,
                &(struct cbx_value){ .kind = CBX_V_FUNCTION, .node = node, .scope = node->inner });
        }
        return &cbx_values_unknown;
    }
}

const struct cbx_values *cbx_js_eval(struct cbx_walk *js, struct cbx_node *node,
                                     struct cbx_scope *scope)
{
    return cbx_scope_eval(js, node, scope, eval_kind);
}
