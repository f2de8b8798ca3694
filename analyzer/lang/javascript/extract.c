/* SPDX-License-Identifier: MIT
 * Pass two over JavaScript: the facts. One walk; the evaluator gives the values. */
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

/* --- modules ---------------------------------------------------------------------------------- */

/* Adds the import of a module. If it is a server, its objects listen on a socket as soon as the
 * program calls listen. */
static void add_import(struct cbx_walk *js, struct cbx_str module, struct cbx_node *node)
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
            add_import(js, cbx_js_module(name->text), node);
        }
        known &= name->kind == CBX_V_TEXT || is_local_file(name);
    }
    if (!known) {
        add_special(js, CBX_FACT_DYNAMIC_IMPORT, CBX_STR("require"), node);
    }
}

/* Handles import ... from 'm' and export ... from 'm'; each imported name is a reference. */
static void extract_module(struct cbx_walk *js, struct cbx_node *node)
{
    struct cbx_node *source = cbx_child_of(node, CBX_FIELD_source);
    struct cbx_str module;
    if (source == NULL || !cbx_values_is_text(cbx_js_eval(js, source, js->module), &module)) {
        return;
    }
    module = cbx_js_module(module);
    add_import(js, module, source);
    struct cbx_node *clause = cbx_child_at(node, 0);
    for (uint32_t i = 0, n = cbx_js_kind(clause) == JS_import_clause ? cbx_child_count(clause) : 0;
         i < n && i < 8; i++) {
        struct cbx_node *names = cbx_child_at(clause, i);
        for (uint32_t k = 0,
                      m = cbx_js_kind(names) == JS_named_imports ? cbx_child_count(names) : 0;
             k < m && k < 256; k++) {
            struct cbx_str name =
                cbx_js_name(js, cbx_child_of(cbx_child_at(names, k), CBX_FIELD_name));
            add(js, CBX_IS_REFERENCE, CBX_JOIN(js->arena, module, CBX_STR("."), name),
                cbx_child_at(names, k));
        }
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

static void extract_environment(struct cbx_walk *js, struct cbx_str name, struct cbx_node *call,
                                const struct cbx_js_call_site *site, struct cbx_scope *scope);

static void extract_named_call(struct cbx_walk *js, struct cbx_str name, struct cbx_node *call,
                               const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    extract_environment(js, name, call, site, scope);
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

static void extract_call(struct cbx_walk *js, struct cbx_node *call, struct cbx_scope *scope)
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

/* --- names ------------------------------------------------------------------------------------ */

/* Returns true for uses of Function that create no function: `x instanceof Function`,
 * Function.prototype.call. */
static bool is_only_asked(struct cbx_walk *js, struct cbx_str name, const struct cbx_node *node)
{
    const struct cbx_node *parent = node->parent;
    if (!cbx_str_ends(name, CBX_STR("Function"))) {
        return false;
    }
    if (cbx_js_kind(parent) == JS_binary_expression) {
        return true;
    }
    return cbx_js_kind(parent) == JS_member_expression && node->field == CBX_FIELD_object &&
           cbx_str_is(cbx_js_name(js, cbx_child_of(parent, CBX_FIELD_property)), "prototype");
}

/* Returns true at a node whose value the evaluator follows (a variable, a property, a callee) or
 * the program only reads. */
static bool is_followed(struct cbx_walk *js, const struct cbx_node *node)
{
    for (;;) {
        const struct cbx_node *parent = node->parent;
        struct cbx_str operator;
        switch (cbx_js_kind(parent)) {
        case JS_parenthesized_expression:
        case JS_sequence_expression:
        case JS_ternary_expression:
        case JS_await_expression:
            node = parent;
            continue;
        case JS_binary_expression:
            operator= cbx_walk_text(js, cbx_child_of(parent, CBX_FIELD_operator));
            if (cbx_str_is(operator, "||") || cbx_str_is(operator, "&&") ||
                cbx_str_is(operator, "??")) {
                node = parent;
                continue;
            }
            return true;
        case JS_call_expression:
        case JS_new_expression:
        case JS_member_expression:
        case JS_subscript_expression:
        case JS_variable_declarator:
        case JS_assignment_expression:
        case JS_assignment_pattern:
        case JS_object_assignment_pattern:
        case JS_field_definition:
        case JS_unary_expression:
        case JS_expression_statement:
        case JS_import_specifier:
        case JS_object_pattern:
        case JS_pair_pattern:
        case JS_OTHER:
            return true;
        case JS_augmented_assignment_expression:
            return cbx_js_kind(cbx_child_of(parent, CBX_FIELD_left)) == JS_identifier;
        default:
            return false;
        }
    }
}

/* Adds a reference, for rules, for each name that an expression may have as its value. A require
 * that is passed on loads any module. */
static void add_references(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    const struct cbx_values *values = cbx_js_eval(js, node, scope);
    enum cbx_js_kind parent = cbx_js_kind(node->parent);
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        if (v->kind != CBX_V_NAME || is_only_asked(js, v->text, node)) {
            continue;
        }
        add(js, CBX_IS_REFERENCE, v->text, node);
        bool handed_on = parent == JS_pair || !is_followed(js, node) ||
                         cbx_js_kind(node) == JS_shorthand_property_identifier;
        if (handed_on && cbx_js_call_meaning(v->text) == JS_CALL_REQUIRE) {
            add_special(js, CBX_FACT_DYNAMIC_IMPORT, v->text, node);
        }
    }
}

/* Adds a reference to a hook: V8 reads it from the class of any error, so every object counts. */
static void add_hook(struct cbx_walk *js, struct cbx_str key, struct cbx_node *node)
{
    if (cbx_str_is(key, "prepareStackTrace")) {
        add(js, CBX_IS_REFERENCE, CBX_STR("Error.prepareStackTrace"), node);
    }
}

/* Handles {prepareStackTrace: f}, for Object.assign and similar. */
static void extract_key(struct cbx_walk *js, struct cbx_node *node)
{
    add_hook(js,
             cbx_js_name(js, cbx_child_of(node, cbx_js_kind(node) == JS_pair ? CBX_FIELD_key
                                                                             : CBX_FIELD_name)),
             node);
}

static void extract_member(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_node *object = cbx_child_of(node, CBX_FIELD_object);
    struct cbx_str key, inner;
    if (!cbx_js_member(js, node, scope, &key)) {
        cbx_js_check_computed(js, cbx_js_eval(js, object, scope),
                              cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_index), scope), node);
        return;
    }
    add(js, CBX_IS_ATTRIBUTE, key, node);
    if (cbx_str_is(key, "listen")) {
        cbx_walk_trigger(js, node);
    }
    add_hook(js, key, node);
    /* f.caller.arguments: the arguments of a caller; the outermost caller is the module, which
     * has require */
    bool callers = cbx_js_kind(object) == JS_member_expression &&
                   cbx_js_member(js, object, scope, &inner) &&
                   ((cbx_str_is(inner, "caller") && cbx_str_is(key, "arguments")) ||
                    (cbx_str_is(inner, "callee") && cbx_str_is(key, "caller")));
    if (callers) {
        add_special(js, CBX_FACT_DUNDER_WALK, key, node);
    }
    if (cbx_str_is(key, "__lookupGetter__") || cbx_str_is(key, "__lookupSetter__")) {
        add_special(js, CBX_FACT_DUNDER_WALK, key, node);
    }
    bool member = cbx_js_kind(object) == JS_member_expression ||
                  cbx_js_kind(object) == JS_subscript_expression;
    bool maker = cbx_str_is(key, "constructor");
    if (maker &&
        ((member && cbx_js_member(js, object, scope, &inner) && cbx_str_is(inner, "constructor")) ||
         cbx_js_is_function(cbx_js_kind(object)))) {
        add_special(js, CBX_FACT_DUNDER_WALK, CBX_STR("constructor.constructor"), node);
    }
    add_references(js, node, scope);
}

/* Returns true for a name that is no use: of a declaration, a parameter, a label. */
static bool is_plain_name(const struct cbx_node *name)
{
    switch (cbx_js_kind(name->parent)) {
    case JS_formal_parameters:
    case JS_import_specifier:
    case JS_import_clause:
    case JS_namespace_import:
    case JS_array_pattern:
    case JS_rest_pattern:
        return true;
    case JS_variable_declarator:
    case JS_function_declaration:
    case JS_function_expression:
    case JS_class_declaration:
    case JS_class:
    case JS_generator_function:
    case JS_generator_function_declaration:
        return name->field == CBX_FIELD_name;
    case JS_arrow_function:
    case JS_catch_clause:
        return name->field == CBX_FIELD_parameter;
    case JS_assignment_pattern:
        return name->field == CBX_FIELD_left;
    default:
        return false;
    }
}

static void extract_text(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    /* `${home}/.ssh`: '*' for each unknown part, to match the patterns of rules */
    const struct cbx_values *values = cbx_js_eval(js, node, scope);
    const struct cbx_value *v = values->count == 1 ? values->items[0] : NULL;
    if (v != NULL && (v->kind == CBX_V_TEXT || (v->kind == CBX_V_UNKNOWN && v->text.len > 0))) {
        add(js, CBX_IS_LITERAL, v->text, node);
    }
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Adds a fact for a concatenated text that is SQL. */
static void extract_built(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    const struct cbx_node *first = node;
    while (first != NULL && cbx_js_kind(first) != JS_string_fragment) {
        first = cbx_child_at(first, 0);
    }
    if (cbx_is_sql(cbx_walk_text(js, first)) &&
        cbx_values_has_unknown(cbx_js_eval(js, node, scope))) {
        add_special(js, CBX_FACT_SQL_BUILT, cbx_str_sub(cbx_walk_text(js, node), 0, 60), node);
    }
}

static void add_variable(struct cbx_walk *js, const struct cbx_values *key,
                         const struct cbx_values *value, struct cbx_node *node)
{
    struct cbx_fact *fact =
        cbx_facts_add(js->facts, CBX_IS_CALL, CBX_STR("process.env.set"), node->start, node->end);
    struct cbx_arg *args = cbx_arena_array(js->arena, 2, sizeof(*args));
    const struct cbx_values *values[] = { key, value };
    for (uint32_t i = 0; args != NULL && i < 2; i++) {
        struct cbx_str text;
        args[i] = (struct cbx_arg){ .position = i };
        args[i].known = args[i].constant = cbx_values_is_text(values[i], &text);
        args[i].value = args[i].known ? text : CBX_STR("");
    }
    if (fact != NULL && args != NULL) {
        fact->args = args;
        fact->arg_count = 2;
    }
}

static bool is_environment(const struct cbx_values *values)
{
    bool is = false;
    for (uint32_t i = 0; i < values->count; i++) {
        is |= values->items[i]->kind == CBX_V_NAME &&
              cbx_str_is(values->items[i]->text, "process.env");
    }
    return is;
}

/* Handles process.env.A = b. */
static void extract_assignment(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_node *left = cbx_child_of(node, CBX_FIELD_left);
    struct cbx_str key;
    bool member =
        cbx_js_kind(left) == JS_member_expression || cbx_js_kind(left) == JS_subscript_expression;
    if (member && is_environment(cbx_js_eval(js, cbx_child_of(left, CBX_FIELD_object), scope)) &&
        cbx_js_member(js, left, scope, &key)) {
        add_variable(js, cbx_values_text(js->arena, key),
                     cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_right), scope), node);
    }
}

/* Handles Object.assign(process.env, {A: b}), Reflect.set(process.env, 'A', b),
 * Object.defineProperty. */
static void extract_environment(struct cbx_walk *js, struct cbx_str name, struct cbx_node *call,
                                const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    bool given;
    bool assigns = cbx_str_is(name, "Object.assign"),
         sets = cbx_str_is(name, "Reflect.set") || cbx_str_is(name, "Object.defineProperty") ||
                cbx_str_is(name, "Reflect.defineProperty");
    if ((!assigns && !sets) || !is_environment(cbx_js_argument(js, site, 0, scope, &given))) {
        return;
    }
    if (sets) {
        add_variable(js, cbx_js_argument(js, site, 1, scope, &given), &cbx_values_unknown, call);
        return;
    }
    for (uint32_t i = 1; i < cbx_js_argument_count(site) && i < ARGS_MAX; i++) {
        const struct cbx_values *object = cbx_js_argument(js, site, i, scope, &given);
        const struct cbx_value *map = cbx_values_container(object, CBX_V_MAP);
        for (uint32_t k = 0; map != NULL && k < map->count; k++) {
            add_variable(js, cbx_values_text(js->arena, map->keys[k]), map->members[k], call);
        }
    }
}

static void extract_node(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    switch (cbx_js_kind(node)) {
    case JS_import_statement:
    case JS_export_statement:
        extract_module(js, node);
        return;
    case JS_call_expression:
    case JS_new_expression:
        extract_call(js, node, scope);
        add_references(js, node, scope);
        extract_text(js, node, scope);
        return;
    case JS_member_expression:
    case JS_subscript_expression:
        extract_member(js, node, scope);
        return;
    case JS_identifier:
        if (!is_plain_name(node)) {
            add_references(js, node, scope);
        }
        return;
    case JS_shorthand_property_identifier:
        add_references(js, node, scope);
        return;
    case JS_property_identifier:
    case JS_shorthand_property_identifier_pattern: /* { listen } = app */
        if (cbx_str_is(cbx_walk_text(js, node), "listen") &&
            cbx_js_kind(node->parent) != JS_member_expression &&
            cbx_js_kind(node->parent) != JS_pair &&
            cbx_js_kind(node->parent) != JS_method_definition) {
            cbx_walk_trigger(js, node);
        }
        return;
    case JS_assignment_expression:
    case JS_augmented_assignment_expression:
        extract_assignment(js, node, scope);
        return;
    case JS_pair:
    case JS_method_definition:
        extract_key(js, node);
        return;
    case JS_binary_expression:
        if (cbx_js_kind(node->parent) != JS_binary_expression) {
            extract_text(js, node, scope);
            extract_built(js, node, scope);
        }
        return;
    case JS_string:
        extract_text(js, node, scope);
        return;
    case JS_template_string:
        extract_text(js, node, scope);
        extract_built(js, node, scope);
        return;
    default:
        return;
    }
}

void cbx_extract_javascript(struct cbx_parsed *parsed)
{
    struct cbx_walk *js = cbx_arena_alloc(parsed->arena, sizeof(*js));
    if (js == NULL || !cbx_walk_begin(js, parsed, cbx_js_grammar(parsed->tree))) {
        return;
    }
    if (parsed->lang->policy == CBX_TYPESCRIPT) {
        cbx_ts_reshape(js);
    }
    cbx_js_bind_all(js);
    cbx_js_flow_all(js);
    for (uint32_t i = 0; i < js->syntax.count; i++) {
        struct cbx_node *node = &js->syntax.nodes[i];
        if (node->kind != JS_OTHER) {
            extract_node(js, node, cbx_scope_around(js, node));
        }
    }
    cbx_walk_fire(js, CBX_STR("(server).listen"));
    cbx_walk_end(js);
}

const TSLanguage *tree_sitter_javascript(void);
const struct cbx_lang_code cbx_lang_code_javascript = { .grammar = tree_sitter_javascript,
                                                        .extract = cbx_extract_javascript,
                                                        .between = CBX_JS_BETWEEN,
                                                        .around_file = cbx_js_around_file,
                                                        .mend = cbx_jsx_mend,
                                                        .misnames = cbx_js_misnames };
