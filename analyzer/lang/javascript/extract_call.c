/* SPDX-License-Identifier: MIT
 * Facts about calls in JavaScript, and about the imports that calls cause. */
#include "analyzer/lang/javascript/internal.h"

enum { ARGS_MAX = 16 };

static void add(struct cbx_walk *js, enum cbx_fact_kind kind, struct cbx_str name,
                struct cbx_node *node)
{
    cbx_facts_add(js->facts, kind, name, node->start, node->end);
}

static void add_special(struct cbx_walk *js, enum cbx_fact_id id, struct cbx_str name,
                        struct cbx_node *node)
{
    cbx_facts_add_special(js->facts, id, name, node->start, node->end);
}

/* --- imports ---------------------------------------------------------------------------------- */

void cbx_js_add_import(struct cbx_walk *js, struct cbx_str module, struct cbx_node *node)
{
    add(js, CBX_IS_IMPORT, module, node);
    js->armed |= cbx_js_is_server(module);
}

/* Returns true for files of the program itself, by the beginning of the name:
 * require(`./themes/${name}.js`), require(path.join(__dirname, name)). */
static bool is_local_file(const struct cbx_value *name)
{
    return name->kind == CBX_V_UNKNOWN && cbx_str_starts(name->text, CBX_STR("./"));
}

static void add_imports(struct cbx_walk *js, const struct cbx_values *values, struct cbx_node *node)
{
    bool known = values->count > 0;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *name = values->items[i];
        bool whole = is_local_file(name) && memchr(name->text.p, '*', name->text.len) == NULL;
        if (name->kind == CBX_V_TEXT || whole) {
            cbx_js_add_import(js, cbx_js_module(name->text), node);
        }
        known &= name->kind == CBX_V_TEXT || is_local_file(name);
    }
    if (!known) {
        add_special(js, CBX_FACT_DYNAMIC_IMPORT, CBX_STR("require"), node);
    }
}

/* --- calls ------------------------------------------------------------------------------------ */

static const struct cbx_arg *read_arguments(struct cbx_walk *js,
                                            const struct cbx_js_call_site *site,
                                            struct cbx_scope *scope, uint32_t *count)
{
    uint32_t n = cbx_js_argument_count(site);
    n = n > ARGS_MAX ? ARGS_MAX : n;
    struct cbx_arg *args = cbx_arena_array(js->arena, n + 1u, sizeof(*args));
    *count = 0;
    for (uint32_t i = 0; args != NULL && i < n; i++) {
        bool given;
        const struct cbx_values *values = cbx_js_argument(js, site, i, scope, &given);
        if (!given) {
            break;
        }
        enum cbx_value_kind kind = values->count == 1 ? values->items[0]->kind : CBX_V_UNKNOWN;
        args[i].position = i;
        args[i].known = kind == CBX_V_TEXT || kind == CBX_V_NUMBER || kind == CBX_V_NAME;
        args[i].constant = args[i].known && kind != CBX_V_NAME;
        args[i].value = args[i].known ? values->items[0]->text : CBX_STR("");
        if (!args[i].known) {
            args[i].texts = cbx_values_texts(js->arena, values, &args[i].text_count);
            args[i].likely = values->count == 1 && args[i].text_count == 1;
        }
        if (!args[i].constant) {
            args[i].partials = cbx_values_partials(js->arena, values, &args[i].partial_count);
        }
        *count = i + 1;
    }
    return args;
}

/* Judges spawn('git', ['log']): a program and its words. With shell: true it is a line of shell,
 * which is not followed. */
static void extract_program(struct cbx_walk *js, struct cbx_node *call,
                            const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    enum { WORDS_MAX = 64 };
    const struct cbx_values *words[WORDS_MAX];
    bool given, has_list, has_options;
    words[0] = cbx_js_argument(js, site, 0, scope, &given);
    const struct cbx_values *second = cbx_js_argument(js, site, 1, scope, &has_list),
                            *third = cbx_js_argument(js, site, 2, scope, &has_options);
    const struct cbx_value *list = has_list ? cbx_values_container(second, CBX_V_LIST) : NULL;
    const struct cbx_values *options = list != NULL ? third : second;
    const struct cbx_value *map = cbx_values_container(options, CBX_V_MAP);
    bool asked = list != NULL ? has_options : has_list, shell = asked && map == NULL;
    for (uint32_t i = 0; map != NULL && i < map->count; i++) {
        shell |= cbx_str_is(map->keys[i], "shell") &&
                 !cbx_str_is(map->members[i]->items[0]->text, "false");
    }
    uint32_t count = given;
    for (uint32_t i = 0; list != NULL && i < list->count && count < WORDS_MAX; i++) {
        words[count++] = list->members[i];
    }
    cbx_command_line(js->parsed, words, shell ? 0 : count, has_list && list == NULL && map == NULL,
                     call->start, call->end);
}

/* Judges code in a string: the last argument of Function, else the first argument. */
static void extract_code(struct cbx_walk *js, struct cbx_str callee, const char *language,
                         struct cbx_node *call, const struct cbx_js_call_site *site,
                         struct cbx_scope *scope)
{
    if (strcmp(language, "program") == 0) {
        extract_program(js, call, site, scope);
        return;
    }
    bool timer = strcmp(language, "timer") == 0, given = false;
    uint32_t count = cbx_js_argument_count(site);
    bool last = cbx_str_ends(callee, CBX_STR("Function")) && !site->from_array && count > 0;
    const struct cbx_values *code = cbx_js_argument(js, site, last ? count - 1 : 0, scope, &given);
    struct cbx_str text;
    bool is_text = given && cbx_values_is_text(code, &text);
    enum cbx_js_kind first = cbx_js_kind(site->skip == 0 ? cbx_child_at(site->list, 0) : NULL);
    bool built = first == JS_binary_expression || first == JS_template_string;
    if (!given || (timer && !is_text && !built)) {
        return;
    }
    if (is_text) {
        cbx_parse_inner(js->parsed, timer ? "javascript" : language, text, call->start, call->end);
    }
    if (timer || !is_text) {
        add_special(js, CBX_FACT_DYNAMIC_CODE, callee, call);
    }
}

void cbx_js_extract_environment(struct cbx_walk *js, struct cbx_str name, struct cbx_node *call,
                                const struct cbx_js_call_site *site, struct cbx_scope *scope);

static void extract_named_call(struct cbx_walk *js, struct cbx_str name, struct cbx_node *call,
                               const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    cbx_js_extract_environment(js, name, call, site, scope);
    struct cbx_fact *fact = cbx_facts_add(js->facts, CBX_IS_CALL, name, call->start, call->end);
    if (fact != NULL) {
        fact->args = read_arguments(js, site, scope, &fact->arg_count);
        fact->spread = site->from_array;
    }
    bool given;
    if (cbx_js_call_meaning(name) == JS_CALL_REQUIRE) {
        const struct cbx_values *module = cbx_js_argument(js, site, 0, scope, &given);
        if (given) {
            add_imports(js, module, call);
        }
    }
    const char *language = cbx_js_runs(name);
    if (language != NULL) {
        extract_code(js, name, language, call, site, scope);
    }
    cbx_js_check_keys(js, name, call, site, scope);
    cbx_js_check_sent(js, name, call, site, scope);
}

/* Returns true for Parent.prototype.constructor.call(this), as in classes from before the class
 * syntax. */
static bool is_of_own_class(struct cbx_walk *js, const struct cbx_node *object)
{
    struct cbx_str name = cbx_js_name(js, cbx_child_of(object, CBX_FIELD_property));
    return cbx_js_kind(object) == JS_this || cbx_str_is(name, "prototype") ||
           cbx_str_is(name, "superclass") || cbx_str_is(name, "super_");
}

/* Checks f.constructor(...) without `new`: it leads to Function for any f. Ordinary code does
 * not call Array or Object like that. */
static void check_constructor_call(struct cbx_walk *js, struct cbx_node *callee,
                                   struct cbx_node *call, struct cbx_scope *scope)
{
    struct cbx_str method;
    bool through = false; /* the call goes through call, apply or bind */
    while (
        (cbx_js_kind(callee) == JS_member_expression ||
         cbx_js_kind(callee) == JS_subscript_expression) &&
        cbx_js_member(js, callee, scope, &method) &&
        (cbx_str_is(method, "call") || cbx_str_is(method, "apply") || cbx_str_is(method, "bind"))) {
        callee = cbx_child_of(callee, CBX_FIELD_object);
        through = true;
    }
    if (through && is_of_own_class(js, cbx_child_of(callee, CBX_FIELD_object))) {
        return;
    }
    while (cbx_js_kind(callee) == JS_member_expression &&
           cbx_js_member(js, callee, scope, &method) && cbx_str_is(method, "value")) {
        callee = cbx_child_of(callee, CBX_FIELD_object); /* `value` of a property's descriptor */
    }
    bool member = cbx_js_kind(callee) == JS_member_expression ||
                  cbx_js_kind(callee) == JS_subscript_expression;
    bool direct =
        member && cbx_js_member(js, callee, scope, &method) && cbx_str_is(method, "constructor");
    const struct cbx_values *targets = cbx_js_eval(js, callee, scope);
    for (uint32_t i = 0; i < targets->count; i++) {
        direct |= targets->items[i]->kind == CBX_V_NAME &&
                  cbx_str_is(targets->items[i]->text, CBX_JS_SOME_CLASS);
    }
    if (cbx_js_kind(call) == JS_call_expression && direct) {
        add_special(js, CBX_FACT_DUNDER_WALK, CBX_STR("constructor()"), call);
    }
}

/* Checks Reflect.apply(x.constructor, ...), and the properties of the object that all functions
 * inherit from. */
static void check_reflected_call(struct cbx_walk *js, struct cbx_node *callee,
                                 struct cbx_node *call, struct cbx_scope *scope)
{
    const struct cbx_values *targets = cbx_js_eval(js, callee, scope);
    struct cbx_node *first = cbx_child_at(cbx_child_of(call, CBX_FIELD_arguments), 0);
    const struct cbx_value *v = targets->count == 1 ? targets->items[0] : NULL;
    struct cbx_str name = v != NULL && v->kind == CBX_V_NAME ? v->text : CBX_STR(""), key;
    bool member =
        cbx_js_kind(first) == JS_member_expression || cbx_js_kind(first) == JS_subscript_expression;
    if (cbx_js_call_meaning(name) == JS_CALL_APPLY && member &&
        cbx_js_member(js, first, scope, &key) && cbx_str_is(key, "constructor") &&
        !is_of_own_class(js, cbx_child_of(first, CBX_FIELD_object))) {
        add_special(js, CBX_FACT_DUNDER_WALK, CBX_STR("constructor()"), call);
    }
    struct cbx_str inner = cbx_js_kind(first) == JS_call_expression
                               ? cbx_walk_text(js, cbx_child_of(first, CBX_FIELD_function))
                               : CBX_STR("");
    if (cbx_str_is(name, "Object.getOwnPropertyDescriptors") &&
        cbx_str_ends(inner, CBX_STR(".getPrototypeOf"))) {
        add_special(js, CBX_FACT_DUNDER_WALK, name, call);
    }
}

/* Returns true if every alternative is an object or array with known members. */
static bool is_container(const struct cbx_values *values)
{
    bool container = values->count > 0;
    for (uint32_t i = 0; i < values->count; i++) {
        container &= values->items[i]->kind == CBX_V_MAP || values->items[i]->kind == CBX_V_LIST;
    }
    return container;
}

/* Returns true if the key is a well-known symbol (Symbol.iterator), which is not a text. */
static bool is_symbol(struct cbx_walk *js, const struct cbx_node *member, struct cbx_scope *scope)
{
    const struct cbx_values *key = cbx_js_eval(js, cbx_child_of(member, CBX_FIELD_index), scope);
    return key->count == 1 && key->items[0]->kind == CBX_V_NAME &&
           cbx_str_starts(key->items[0]->text, CBX_STR("Symbol."));
}

/* Returns the node o[k] that is the expression, or the value of the variable; NULL if there is
 * none. */
static struct cbx_node *computed_member(struct cbx_walk *js, struct cbx_node *node,
                                        struct cbx_scope *scope)
{
    struct cbx_str key;
    while (cbx_js_kind(node) == JS_parenthesized_expression) {
        node = cbx_child_at(node, 0);
    }
    if (cbx_js_kind(node) == JS_subscript_expression) {
        return cbx_js_member(js, node, scope, &key) || is_symbol(js, node, scope) ? NULL : node;
    }
    struct cbx_binding *b = NULL;
    struct cbx_str name = cbx_walk_text(js, node);
    for (struct cbx_scope *s = scope; cbx_js_kind(node) == JS_identifier && b == NULL && s != NULL;
         s = s->parent) {
        b = cbx_scope_chain(js, s, name);
    }
    for (; b != NULL; b = b->next) {
        bool member = b->kind == CBX_BIND_EXPR && b->path.len == 0 && !b->each &&
                      cbx_js_kind(b->node) == JS_subscript_expression;
        if (member && !cbx_js_member(js, b->node, b->where, &key)) {
            return b->node;
        }
    }
    return NULL;
}

/* Checks ""[k](...) and o[k](...)(...): a program calls a computed member of a literal, or its
 * result, only to reach Function. */
static void check_computed_call(struct cbx_walk *js, struct cbx_node *callee,
                                struct cbx_scope *scope)
{
    bool again = cbx_js_kind(callee) == JS_call_expression;
    struct cbx_node *member =
        computed_member(js, again ? cbx_child_of(callee, CBX_FIELD_function) : callee, scope);
    struct cbx_node *object = cbx_child_of(member, CBX_FIELD_object);
    while (cbx_js_kind(object) == JS_parenthesized_expression) {
        object = cbx_child_at(object, 0);
    }
    enum cbx_js_kind kind = cbx_js_kind(object);
    bool literal = kind == JS_string || kind == JS_template_string || kind == JS_number ||
                   kind == JS_regex || kind == JS_true || kind == JS_false ||
                   (kind == JS_array && cbx_child_count(object) == 0) || cbx_js_is_function(kind);
    /* one step from the program's own object reaches only Object */
    bool away = again && member != NULL && !is_container(cbx_js_eval(js, object, scope));
    if (away || literal) {
        add_special(js, CBX_FACT_COMPUTED_ATTRIBUTE, cbx_str_sub(cbx_walk_text(js, object), 0, 40),
                    callee);
    }
}

/* Returns true if the callee comes from a module or a global object in a way that is not
 * followed. Values that the program's functions return are judged where the program creates
 * them. */
static bool comes_from_module(struct cbx_walk *js, struct cbx_node *callee, struct cbx_scope *scope)
{
    for (enum cbx_js_kind kind = cbx_js_kind(callee);
         kind == JS_call_expression || kind == JS_member_expression ||
         kind == JS_subscript_expression || kind == JS_parenthesized_expression;
         kind = cbx_js_kind(callee)) {
        callee = cbx_child_at(callee, 0);
    }
    const struct cbx_values *root = cbx_js_eval(js, callee, scope);
    for (uint32_t i = 0; i < root->count; i++) {
        if (root->items[i]->kind == CBX_V_NAME && root->items[i]->number != CBX_NAME_BARE) {
            return true;
        }
    }
    return cbx_js_kind(callee) != JS_identifier;
}

void cbx_js_extract_call(struct cbx_walk *js, struct cbx_node *call, struct cbx_scope *scope)
{
    struct cbx_node *callee = cbx_child_of(
        call, cbx_js_kind(call) == JS_new_expression ? CBX_FIELD_constructor : CBX_FIELD_function);
    struct cbx_js_call_site site = cbx_js_call_site(js, call, scope);
    if (cbx_js_kind(callee) == JS_import) {
        extract_named_call(js, CBX_STR("import"), call, &site, scope);
        return;
    }
    /* this.constructor is a class */
    bool own = cbx_js_kind(cbx_child_of(callee, CBX_FIELD_object)) == JS_this;
    for (uint32_t i = 0; i < site.targets->count; i++) {
        bool maker = own && cbx_str_is(site.targets->items[i]->text, "Function");
        if (site.targets->items[i]->kind == CBX_V_NAME && !maker) {
            extract_named_call(js, site.targets->items[i]->text, call, &site, scope);
        }
    }
    if (js->escaped_calls != NULL && cbx_values_has_unknown(site.targets)) {
        extract_named_call(js, CBX_STR("require"), call, &site, scope);
    }
    if (cbx_values_has_more(site.targets)) {
        add_special(js, CBX_FACT_TOO_COMPLEX, CBX_STR("alternatives"), call);
    }
    check_computed_call(js, callee, scope);
    check_constructor_call(js, callee, call, scope);
    check_reflected_call(js, callee, call, scope);
    while (cbx_js_kind(callee) == JS_parenthesized_expression) {
        callee = cbx_child_at(callee, 0);
    }
    enum cbx_js_kind kind = cbx_js_kind(callee);
    struct cbx_str method;
    bool computed = kind == JS_subscript_expression && !cbx_js_member(js, callee, scope, &method) &&
                    !is_symbol(js, callee, scope) &&
                    !is_container(cbx_js_eval(js, cbx_child_of(callee, CBX_FIELD_object), scope));
    bool given = kind == JS_call_expression && !comes_from_module(js, callee, scope);
    if (!given &&
        (computed || (kind != JS_identifier && kind != JS_member_expression &&
                      kind != JS_subscript_expression && kind != JS_OTHER)) &&
        cbx_values_has_unknown(site.targets)) {
        add_special(js, CBX_FACT_UNRESOLVED_CALL, cbx_str_sub(cbx_walk_text(js, callee), 0, 80),
                    call);
    }
}
