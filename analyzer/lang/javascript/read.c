/* SPDX-License-Identifier: MIT
 * Members of values in JavaScript: by a name, by a key that is evaluated, and along the path of a
 * destructuring. */
#include "analyzer/lang/javascript/internal.h"

#include <stdlib.h>

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

/* Adds what the getters among the values return: o.k of { get k() { return x; } }. Only secrets
 * count. */
static const struct cbx_values *with_getters(struct cbx_walk *js, const struct cbx_values *values)
{
    uint32_t flags = 0;
    for (uint32_t i = 0; js->stored.lang != NULL && i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool getter = v->kind == CBX_V_FUNCTION && v->scope != NULL &&
                      cbx_js_kind(v->node) == JS_method_definition &&
                      cbx_str_starts(cbx_walk_text(js, v->node), CBX_STR("get "));
        flags |= getter ? cbx_js_secrets(js, cbx_scope_returns(js, v->scope), false) : 0;
    }
    return flags != 0 ? cbx_values_join(js->arena, values, cbx_values_marked(js->arena, flags))
                      : values;
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
    return cbx_values_some(with_getters(js, out));
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
    flags |= (cbx_values_flags(keys) & CBX_UNKNOWN_ENVIRONMENT) != 0
                 ? cbx_js_secrets(js, object, false)
                 : 0;
    flags &= CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT;
    return flags != 0 ? cbx_values_join(js->arena, out, cbx_values_marked(js->arena, flags)) : out;
}

const struct cbx_values *cbx_js_eval_member(struct cbx_walk *js, struct cbx_node *node,
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
