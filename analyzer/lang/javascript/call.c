/* SPDX-License-Identifier: MIT
 * The values of a call in JavaScript: of callables of the library (make.c), of methods, and of
 * functions of this source. */
#include "analyzer/lang/javascript/internal.h"
#include "analyzer/lang/stored.h"

struct cbx_js_call_site cbx_js_call_site(struct cbx_walk *js, struct cbx_node *call,
                                         struct cbx_scope *scope)
{
    bool is_new = cbx_js_kind(call) == JS_new_expression;
    struct cbx_node *callee =
        cbx_child_of(call, is_new ? CBX_FIELD_constructor : CBX_FIELD_function);
    struct cbx_js_call_site site = { .list = cbx_child_of(call, CBX_FIELD_arguments) };
    site.makes = is_new;
    while (cbx_js_kind(callee) == JS_parenthesized_expression) {
        callee = cbx_child_at(callee, 0);
    }
    struct cbx_str method = { 0 };
    bool member = cbx_js_kind(callee) == JS_member_expression ||
                  cbx_js_kind(callee) == JS_subscript_expression;
    if (!is_new && member && cbx_js_member(js, callee, scope, &method) &&
        (cbx_str_is(method, "call") || cbx_str_is(method, "apply")) &&
        !cbx_str_is(cbx_walk_text(js, cbx_child_of(callee, CBX_FIELD_object)), "Reflect")) {
        site.targets = cbx_js_eval(js, cbx_child_of(callee, CBX_FIELD_object), scope);
        site.skip = 1;
        site.from_array = cbx_str_is(method, "apply");
    } else {
        site.targets = cbx_js_eval(js, callee, scope);
    }
    if (site.targets->count == 1 && site.targets->items[0]->kind == CBX_V_PARTIAL) {
        site.bound = site.targets->items[0];
        site.targets = site.bound->members[0];
    }
    struct cbx_str name = site.targets->count == 1 && site.targets->items[0]->kind == CBX_V_NAME
                              ? site.targets->items[0]->text
                              : CBX_STR("");
    if (cbx_js_call_meaning(name) == JS_CALL_APPLY && !site.from_array) {
        site.targets = cbx_js_eval(js, cbx_child_at(site.list, site.skip), scope);
        site.skip += cbx_str_is(name, "Reflect.apply") ? 2 : 1;
        site.from_array = true;
    }
    return site;
}

uint32_t cbx_js_argument_count(const struct cbx_js_call_site *site)
{
    uint32_t n = cbx_js_kind(site->list) == JS_template_string ? 1
                 : site->list == NULL                          ? 0
                                                               : cbx_child_count(site->list);
    n = site->from_array ? 8 : n > site->skip ? n - site->skip : 0;
    return site->bound != NULL ? n + site->bound->count - 1 : n;
}

const struct cbx_values *cbx_js_argument(struct cbx_walk *js, const struct cbx_js_call_site *site,
                                         uint32_t position, struct cbx_scope *scope, bool *given)
{
    uint32_t bound = site->bound != NULL ? site->bound->count - 1 : 0;
    if (position < bound) {
        *given = true;
        return site->bound->members[position + 1];
    }
    position -= bound;
    if (cbx_js_kind(site->list) == JS_template_string) {
        *given = position == 0;
        return *given ? cbx_js_eval_string(js, site->list, scope, true) : &cbx_values_unknown;
    }
    struct cbx_node *node =
        cbx_child_at(site->list, site->skip + (site->from_array ? 0 : position));
    *given = node != NULL;
    if (!*given || cbx_js_kind(node) == JS_spread_element) {
        return &cbx_values_unknown;
    }
    const struct cbx_values *values = cbx_js_eval(js, node, scope);
    if (!site->from_array) {
        return values;
    }
    *given = !(values->count == 1 && values->items[0]->kind == CBX_V_LIST &&
               values->items[0]->count <= position);
    return cbx_values_member(js->arena, values, cbx_arena_number(js->arena, position));
}

const char *const cbx_js_around_file[2] = { "(async function () {\n", "\n;})();\n" };

bool cbx_js_is_file(const struct cbx_walk *js, struct cbx_str module)
{
    return js->files != NULL && module.len > 0 && (module.p[0] == '.' || module.p[0] == '/');
}

const struct cbx_values *cbx_js_load(struct cbx_walk *js, struct cbx_str module)
{
    const struct cbx_values *name = cbx_values_name(js->arena, module),
                            *exports = cbx_js_is_file(js, module)
                                           ? cbx_scope_lookup(js, NULL, CBX_STR("exports"))
                                           : NULL;
    return exports != NULL ? cbx_values_join(js->arena, name, exports) : name;
}

/* Opens a run with the parameters of a call; NULL if not all arguments are known. */
static struct cbx_scope *make_run(struct cbx_walk *js, const struct cbx_value *function,
                                  const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    struct cbx_node *list = cbx_child_of(function->node, CBX_FIELD_parameters),
                    *single = cbx_child_of(function->node, CBX_FIELD_parameter);
    const struct cbx_values *arguments[8];
    uint32_t count = cbx_js_argument_count(site), n = 0;
    for (; n < count && n < 8; n++) {
        bool given;
        arguments[n] = cbx_js_argument(js, site, n, scope, &given);
        if (!given || cbx_values_has_unknown(arguments[n])) {
            break;
        }
    }
    if (n == 0 || (n < count && !site->from_array)) {
        return NULL;
    }
    struct cbx_scope *natural = function->scope;
    struct cbx_scope *run = cbx_scope_run(js, natural, natural->parent);
    struct cbx_node *p = single != NULL ? single : list != NULL ? list->first : NULL;
    for (uint32_t i = 0; run != NULL && p != NULL && i < n;
         i++, p = single != NULL ? NULL : p->next) {
        if (cbx_js_kind(p) == JS_identifier) {
            struct cbx_binding *b =
                cbx_scope_bind(js, run, run, cbx_js_name(js, p), CBX_BIND_VALUES, p);
            if (b != NULL) { /* the function may assign it another value */
                bool stays = !cbx_scope_assigns(js, natural, b->name) && !js->uses_arguments;
                b->values = stays ? arguments[i]
                                  : cbx_values_join(js->arena, arguments[i], &cbx_values_unknown);
            }
        }
    }
    return run;
}

static const struct cbx_values *call_function(struct cbx_walk *js, const struct cbx_value *function,
                                              const struct cbx_js_call_site *site,
                                              struct cbx_scope *scope)
{
    const struct cbx_values *made =
        site->makes ? cbx_stored_instance(js, function->node) : &cbx_values_nothing;
    if (function->scope == NULL || ((struct cbx_scope *)function->scope)->returns == NULL) {
        return cbx_values_join(js->arena, made, &cbx_values_unknown);
    }
    struct cbx_scope *run = make_run(js, function, site, scope);
    const struct cbx_values *out = &cbx_values_nothing;
    if (run != NULL) {
        js->run_depth++;
        out = cbx_scope_returns(js, run);
        js->run_depth--;
    }
    out = out->count == 0 || cbx_values_has_unknown(out)
              ? cbx_values_join(js->arena, out, cbx_scope_returns(js, function->scope))
              : out;
    return cbx_values_some(out);
}

/* Returns true if the program has a method of this name: Array.prototype.last = f. */
static bool has_own_method(struct cbx_walk *js, const struct cbx_node *callee)
{
    struct cbx_str name = cbx_js_name(js, cbx_child_of(callee, CBX_FIELD_property));
    return name.len > 0 && cbx_scope_chain(js, NULL, name) != NULL;
}

/* Returns the flags of the file that a call opens. */
static uint32_t stored_in_file(struct cbx_walk *js, const struct cbx_js_call_site *site,
                               struct cbx_scope *scope)
{
    uint32_t flags = 0;
    bool given;
    for (uint32_t i = 0; js->stored.files != NULL && i < site->targets->count; i++) {
        const struct cbx_value *v = site->targets->items[i];
        if (v->kind == CBX_V_NAME) {
            flags |= cbx_stored_in_file(js, v->text, cbx_js_argument(js, site, 0, scope, &given));
        }
    }
    return flags;
}

/* Returns the flags of map.get(key), by the member if the key is known. */
static uint32_t secrets_at(struct cbx_walk *js, const struct cbx_values *object,
                           const struct cbx_values *key)
{
    struct cbx_str text;
    bool known = cbx_values_is_text(key, &text);
    uint32_t flags = 0;
    for (uint32_t i = 0; i < object->count; i++) {
        const struct cbx_value *v = object->items[i];
        if (v->kind == CBX_V_MAP) {
            const struct cbx_values *one = cbx_values_one(js->arena, v);
            flags |= cbx_js_secrets(js, known ? cbx_value_member(js->arena, v, text) : one, false);
        }
    }
    return flags;
}

/* Returns true for a callable of the library that the evaluator follows: Object.values. */
static bool has_meaning(const struct cbx_js_call_site *site)
{
    const struct cbx_value *v = site->targets->count == 1 ? site->targets->items[0] : NULL;
    return v != NULL && v->kind == CBX_V_NAME && cbx_js_call_meaning(v->text) != JS_CALL_NONE;
}

/* Returns the flags that the result of a method has from the object and the arguments:
 * 'a'.concat(x), map.get('k'). */
static uint32_t kept_by_method(struct cbx_walk *js, const struct cbx_node *callee,
                               const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    enum { ARGUMENTS_MAX = 8 };
    struct cbx_str method = cbx_js_kind(callee) == JS_member_expression
                                ? cbx_js_name(js, cbx_child_of(callee, CBX_FIELD_property))
                                : CBX_STR("");
    bool get = cbx_str_is(method, "get"), given;
    if (js->stored.lang == NULL || site->skip > 0 || !(get || cbx_js_keeps(method)) ||
        has_meaning(site)) {
        return 0;
    }
    const struct cbx_values *object =
        cbx_js_eval(js, cbx_child_of(callee, CBX_FIELD_object), scope);
    if (get) {
        return secrets_at(js, object, cbx_js_argument(js, site, 0, scope, &given));
    }
    uint32_t flags = cbx_js_secrets(js, object, false);
    uint32_t count = cbx_js_argument_count(site);
    for (uint32_t i = 0; i < count && i < ARGUMENTS_MAX; i++) {
        flags |= cbx_js_secrets(js, cbx_js_argument(js, site, i, scope, &given), false);
    }
    return flags;
}

static const struct cbx_values *with_flags(struct cbx_walk *js, const struct cbx_values *values,
                                           uint32_t flags)
{
    return flags != 0 ? cbx_values_join(js->arena, values, cbx_values_marked(js->arena, flags))
                      : values;
}

const struct cbx_values *cbx_js_eval_call(struct cbx_walk *js, struct cbx_node *node,
                                          struct cbx_scope *scope)
{
    struct cbx_js_call_site site = cbx_js_call_site(js, node, scope);
    struct cbx_node *callee = cbx_child_of(
        node, cbx_js_kind(node) == JS_new_expression ? CBX_FIELD_constructor : CBX_FIELD_function);
    if (cbx_js_kind(callee) == JS_import) {
        return cbx_js_make(js, CBX_STR("import"), &site, scope);
    }
    const struct cbx_values *out =
        site.skip == 0 ? cbx_js_call_method(js, callee, &site, scope) : NULL;
    uint32_t flags = kept_by_method(js, callee, &site, scope);
    if (out != NULL && !has_own_method(js, callee)) {
        return with_flags(js, out, flags);
    }
    out = out != NULL ? out : &cbx_values_nothing;
    for (uint32_t i = 0; i < site.targets->count; i++) {
        const struct cbx_value *v = site.targets->items[i];
        out = cbx_values_join(js->arena, out,
                              v->kind == CBX_V_NAME       ? cbx_js_make(js, v->text, &site, scope)
                              : v->kind == CBX_V_FUNCTION ? call_function(js, v, &site, scope)
                                                          : &cbx_values_unknown);
    }
    out = out->count > 0 ? out : &cbx_values_unknown;
    const uint32_t kept = CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT;
    flags |= cbx_values_flags(site.targets) & kept;
    flags |= stored_in_file(js, &site, scope);
    out = with_flags(js, out, flags);
    return js->escaped_calls != NULL && cbx_values_has_unknown(site.targets)
               ? cbx_values_join(js->arena, out, cbx_js_make(js, CBX_STR("require"), &site, scope))
               : out;
}
