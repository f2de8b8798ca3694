/* SPDX-License-Identifier: MIT
 * Pass two over Python: the facts. One walk; what each node means is looked up with the evaluator.
 */
#include "analyzer/lang/python.h"

#include "analyzer/notebook.h"

enum { ARGS_MAX = 32 };

static void add(struct cbx_walk *py, enum cbx_fact_kind kind, struct cbx_str name, TSNode node)
{
    cbx_facts_add(py->facts, kind, name, ts_node_start_byte(node), ts_node_end_byte(node));
}

static void add_special(struct cbx_walk *py, enum cbx_fact_id id, struct cbx_str name, TSNode node)
{
    cbx_facts_add_special(py->facts, id, name, ts_node_start_byte(node), ts_node_end_byte(node));
}

/* --- imports ---------------------------------------------------------------------------------- */

static struct cbx_str folded(struct cbx_walk *py, TSNode node)
{
    return cbx_fold_nfkc(py->arena, cbx_walk_text(py, node));
}

static void add_import(struct cbx_walk *py, struct cbx_str name, TSNode node)
{
    struct cbx_str canonical = cbx_py_canonical(py, name);
    add(py, CBX_IS_IMPORT, name, node);
    if (!cbx_str_equal(canonical, name)) {
        add(py, CBX_IS_IMPORT, canonical, node);
    }
}

/* "from a.b import c" is noted as a.b.c: a rule for a.b covers it, and one that leaves a.b.c out
 * ("!importlib.metadata") finds the name that it speaks of. */
static void extract_import(struct cbx_walk *py, TSNode node, bool from)
{
    TSNode module = from ? cbx_node_field(node, CBX_FIELD_module_name) : node;
    struct cbx_str prefix = from ? folded(py, module) : (struct cbx_str){ 0 };
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        enum cbx_py_kind kind = cbx_py_kind(child);
        if (kind == PY_wildcard_import) {
            add_special(py, CBX_FACT_STAR_IMPORT, prefix, node);
            add_import(py, prefix, node);
        }
        if ((kind != PY_dotted_name && kind != PY_aliased_import) ||
            (from && ts_node_eq(child, module))) {
            continue;
        }
        struct cbx_str name =
            folded(py, kind == PY_aliased_import ? cbx_node_field(child, CBX_FIELD_name) : child);
        if (from) {
            struct cbx_value object = { .kind = CBX_V_NAME, .text = cbx_py_canonical(py, prefix) };
            struct cbx_str full = cbx_py_qualify(py, &object, name);
            add_import(py, full, child);
            add(py, CBX_IS_REFERENCE, full, child);
        } else {
            add_import(py, name, child);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void read_argument(struct cbx_walk *py, TSNode node, struct cbx_scope *scope,
                          struct cbx_arg *arg)
{
    const struct cbx_values *values = cbx_py_eval(py, node, scope);
    if (values->count == 1 &&
        (values->items[0].kind == CBX_V_TEXT || values->items[0].kind == CBX_V_NUMBER ||
         values->items[0].kind == CBX_V_NAME)) {
        arg->known = true;
        arg->constant = values->items[0].kind != CBX_V_NAME;
        arg->value = values->items[0].text;
    }
}

static const struct cbx_arg *read_arguments(struct cbx_walk *py, TSNode call,
                                            struct cbx_scope *scope, uint32_t *count, bool *spread)
{
    TSNode list = cbx_node_field(call, CBX_FIELD_arguments);
    struct cbx_arg *args = cbx_arena_array(py->arena, ARGS_MAX, sizeof(*args));
    uint32_t n = 0, position = 0;
    *spread = false;
    *count = 0;
    if (args == NULL || ts_node_is_null(list) || cbx_py_kind(list) != PY_argument_list) {
        return args;
    }
    TSTreeCursor cursor = ts_tree_cursor_new(list);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && n < ARGS_MAX;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        enum cbx_py_kind kind = cbx_py_kind(child);
        if (!ts_node_is_named(child) || kind == PY_comment) {
            continue;
        }
        if (kind == PY_list_splat || kind == PY_dictionary_splat) {
            *spread = true;
        } else if (kind == PY_keyword_argument) {
            args[n].keyword = cbx_walk_text(py, cbx_node_field(child, CBX_FIELD_name));
            args[n].position = UINT32_MAX;
            read_argument(py, cbx_node_field(child, CBX_FIELD_value), scope, &args[n++]);
        } else {
            args[n].position = position++;
            read_argument(py, child, scope, &args[n++]);
        }
    }
    ts_tree_cursor_delete(&cursor);
    *count = n;
    return args;
}

static void check_name_of_attribute(struct cbx_walk *py, struct cbx_str name, TSNode node)
{
    add(py, CBX_IS_ATTRIBUTE, name, node);
    if (cbx_py_is_dunder(name)) {
        add_special(py, CBX_FACT_DUNDER_WALK, name, node);
    }
}

/* A module or a namespace of the interpreter: a computed name there can be anything that it holds.
 */
static bool is_module_like(const struct cbx_values *values)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = &values->items[i];
        struct cbx_str t = v->text;
        if (v->kind == CBX_V_NAME &&
            (v->number != 1 || cbx_str_is(t, "__builtins__") || cbx_str_is(t, "builtins"))) {
            return true;
        }
    }
    return false;
}

static void extract_getattr(struct cbx_walk *py, TSNode call, struct cbx_scope *scope)
{
    TSNode object = cbx_py_argument(py, call, 0, NULL), name = cbx_py_argument(py, call, 1, NULL);
    if (ts_node_is_null(name)) {
        return;
    }
    const struct cbx_values *names = cbx_py_eval(py, name, scope);
    for (uint32_t i = 0; i < names->count; i++) {
        if (names->items[i].kind == CBX_V_TEXT) {
            check_name_of_attribute(py, names->items[i].text, call);
        }
    }
    if (!cbx_values_all_text(names)) {
        bool module = is_module_like(cbx_py_eval(py, object, scope));
        add_special(py, module ? CBX_FACT_COMPUTED_ATTRIBUTE : CBX_FACT_COMPUTED_MEMBER,
                    cbx_walk_text(py, cbx_node_field(call, CBX_FIELD_function)), call);
    }
}

static void extract_import_call(struct cbx_walk *py, struct cbx_str callee, TSNode call,
                                struct cbx_scope *scope)
{
    TSNode name = cbx_py_argument(py, call, 0, "name");
    const struct cbx_values *values =
        ts_node_is_null(name) ? &cbx_values_unknown : cbx_py_eval(py, name, scope);
    for (uint32_t i = 0; i < values->count; i++) {
        if (values->items[i].kind == CBX_V_TEXT) {
            add_import(py, values->items[i].text, call);
        }
    }
    if (!cbx_values_all_text(values)) {
        add_special(py, CBX_FACT_DYNAMIC_IMPORT, callee, call);
    }
}

static void extract_code(struct cbx_walk *py, struct cbx_str callee, const char *language,
                         TSNode call, struct cbx_scope *scope)
{
    TSNode code = cbx_py_argument(py, call, 0, NULL);
    struct cbx_str text;
    if (ts_node_is_null(code)) {
        code = cbx_py_argument(py, call, 99, "stmt");
    }
    if (ts_node_is_null(code)) {
        return;
    }
    const struct cbx_values *values = cbx_py_eval(py, code, scope);
    if (values->count == 1 && values->items[0].kind == CBX_V_FUNCTION) {
        return;
    }
    if (cbx_values_is_text(values, &text)) {
        cbx_parse_inner(py->parsed, language, text, ts_node_start_byte(call),
                        ts_node_end_byte(call));
    } else {
        add_special(py, CBX_FACT_DYNAMIC_CODE, callee, call);
    }
}

static void extract_named_call(struct cbx_walk *py, struct cbx_str name, TSNode call,
                               struct cbx_scope *scope, const struct cbx_arg *args, uint32_t count,
                               bool spread)
{
    struct cbx_fact *fact = cbx_facts_add(py->facts, CBX_IS_CALL, name, ts_node_start_byte(call),
                                          ts_node_end_byte(call));
    if (fact != NULL) {
        fact->args = args;
        fact->arg_count = count;
        fact->spread = spread;
    }
    enum cbx_py_call meaning = cbx_py_call_meaning(name);
    const char *language = cbx_py_runs(name);
    if (meaning == PY_CALL_GETATTR || meaning == PY_CALL_SETATTR) {
        extract_getattr(py, call, scope);
    } else if (meaning == PY_CALL_IMPORT || meaning == PY_CALL_IMPORT_TOP ||
               meaning == PY_CALL_IMPORT_NAME) {
        extract_import_call(py, name, call, scope);
    }
    if (language != NULL) {
        extract_code(py, name, language, call, scope);
    }
}

static void extract_call(struct cbx_walk *py, TSNode call, struct cbx_scope *scope)
{
    TSNode callee = cbx_node_field(call, CBX_FIELD_function);
    const struct cbx_values *targets = cbx_py_eval(py, callee, scope);
    const struct cbx_arg *args = NULL;
    uint32_t count = 0;
    bool spread = false;
    for (uint32_t i = 0; i < targets->count; i++) {
        if (targets->items[i].kind != CBX_V_NAME) {
            continue;
        }
        if (args == NULL) {
            args = read_arguments(py, call, scope, &count, &spread);
        }
        extract_named_call(py, targets->items[i].text, call, scope, args, count, spread);
    }
    enum cbx_py_kind kind = cbx_py_kind(callee);
    while (kind == PY_parenthesized_expression) {
        callee = ts_node_named_child(callee, 0);
        kind = cbx_py_kind(callee);
    }
    if (kind != PY_identifier && kind != PY_attribute && cbx_values_has_unknown(targets)) {
        add_special(py, CBX_FACT_UNRESOLVED_CALL, cbx_str_sub(cbx_walk_text(py, callee), 0, 80),
                    call);
    }
}

/* A decorator is a call with what is below it. */
static void extract_decorator(struct cbx_walk *py, TSNode node, struct cbx_scope *scope)
{
    const struct cbx_values *targets = cbx_py_eval(py, ts_node_named_child(node, 0), scope);
    for (uint32_t i = 0; i < targets->count; i++) {
        if (targets->items[i].kind == CBX_V_NAME) {
            add(py, CBX_IS_CALL, targets->items[i].text, node);
        }
    }
}

/* A name that an expression came out to: what rules call a reference. */
static void add_references(struct cbx_walk *py, TSNode node, struct cbx_scope *scope)
{
    const struct cbx_values *values = cbx_py_eval(py, node, scope);
    for (uint32_t i = 0; i < values->count; i++) {
        if (values->items[i].kind == CBX_V_NAME) {
            add(py, CBX_IS_REFERENCE, values->items[i].text, node);
        }
    }
}

/* --- strings ---------------------------------------------------------------------------------- */

/* "{0.__class__.__globals__}": an attribute walk inside what str.format is given. */
static void check_format(struct cbx_walk *py, struct cbx_str text, TSNode node)
{
    const char *open = text.len > 0 ? memchr(text.p, '{', text.len) : NULL;
    for (size_t at = open != NULL ? (size_t)(open - text.p) : text.len; at < text.len; at++) {
        char c = text.p[at];
        if (c != '.' && c != '[') {
            continue;
        }
        size_t end = at + 1;
        while (end < text.len &&
               (text.p[end] == '_' || (text.p[end] >= '0' && text.p[end] <= '9') ||
                ((text.p[end] | 32) >= 'a' && (text.p[end] | 32) <= 'z'))) {
            end++;
        }
        struct cbx_str name = cbx_str_sub(text, at + 1, end);
        if (cbx_str_starts(name, CBX_STR("__")) &&
            (cbx_py_is_dunder(name) || cbx_str_is(name, "__class__") ||
             cbx_str_is(name, "__dict__") || cbx_str_is(name, "__init__"))) {
            add_special(py, CBX_FACT_DUNDER_WALK, name, node);
            return;
        }
    }
}

static void extract_text(struct cbx_walk *py, TSNode node, struct cbx_scope *scope)
{
    struct cbx_str text;
    if (cbx_values_is_text(cbx_py_eval(py, node, scope), &text)) {
        add(py, CBX_IS_LITERAL, text, node);
        check_format(py, text, node);
    }
}

/* --- the walk --------------------------------------------------------------------------------- */

/* True for nodes that belong to a notebook line that the gateway rewrote: the facts of those come
 * from the line itself. */
static bool is_rewritten(const struct cbx_walk *py, TSNode node)
{
    return cbx_notebook_covers(py->parsed->magics, py->parsed->magic_count,
                               ts_node_start_byte(node), ts_node_end_byte(node));
}

struct step {
    struct cbx_scope *scope;
    enum cbx_py_kind kind;
};

/* An identifier that is only a name, not a use: of an attribute, a keyword, a definition, a target.
 */
static bool is_plain_name(enum cbx_py_kind parent, const char *field)
{
    if (field == NULL) {
        return parent == PY_dotted_name || parent == PY_global_statement ||
               parent == PY_nonlocal_statement || parent == PY_parameters ||
               parent == PY_lambda_parameters || parent == PY_pattern_list ||
               parent == PY_tuple_pattern || parent == PY_list_pattern;
    }
    return (parent == PY_attribute && strcmp(field, "attribute") == 0) ||
           (parent == PY_assignment && strcmp(field, "left") == 0) ||
           ((parent == PY_keyword_argument || parent == PY_function_definition ||
             parent == PY_class_definition || parent == PY_default_parameter ||
             parent == PY_typed_default_parameter) &&
            strcmp(field, "name") == 0);
}

/* Returns false when the children are not to be visited. */
static bool extract_node(struct cbx_walk *py, TSNode node, enum cbx_py_kind kind,
                         enum cbx_py_kind parent, const char *field, struct cbx_scope *scope)
{
    switch (kind) {
    case PY_import_statement:
        extract_import(py, node, false);
        return false;
    case PY_import_from_statement:
        extract_import(py, node, true);
        return false;
    case PY_future_import_statement:
        return false;
    case PY_print_statement:
    case PY_exec_statement:
        add_special(py, CBX_FACT_SYNTAX, CBX_STR("Python 2 statement"), node);
        return true;
    case PY_identifier:
        if (!is_plain_name(parent, field)) {
            add_references(py, node, scope);
        }
        return false;
    case PY_attribute:
        check_name_of_attribute(py, folded(py, cbx_node_field(node, CBX_FIELD_attribute)),
                                cbx_node_field(node, CBX_FIELD_attribute));
        add_references(py, node, scope);
        return true;
    case PY_subscript:
        add_references(py, node, scope);
        return true;
    case PY_call:
        extract_call(py, node, scope);
        add_references(py, node, scope);
        extract_text(py, node, scope);
        return true;
    case PY_binary_operator:
        if (parent != PY_binary_operator) {
            extract_text(py, node, scope);
        }
        return true;
    case PY_concatenated_string:
        extract_text(py, node, scope);
        return true;
    case PY_string:
        if (parent != PY_expression_statement) {
            extract_text(py, node, scope);
        }
        return true;
    case PY_decorator:
        extract_decorator(py, node, scope);
        return true;
    default:
        return true;
    }
}

static void extract_all(struct cbx_walk *py, TSNode root)
{
    struct step *stack = cbx_arena_array(py->arena, CBX_TREE_DEPTH_MAX + 2, sizeof(*stack));
    if (stack == NULL) {
        return;
    }
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    int depth = 0;
    stack[0] = (struct step){ .scope = py->module };
    for (;;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        enum cbx_py_kind kind = cbx_py_kind(node),
                         parent = depth > 0 ? stack[depth - 1].kind : PY_OTHER;
        struct cbx_scope *scope = depth > 0 ? stack[depth - 1].scope : py->module;
        const char *field =
            kind == PY_identifier ? ts_tree_cursor_current_field_name(&cursor) : NULL;
        bool down = !is_rewritten(py, node) &&
                    (kind == PY_OTHER || extract_node(py, node, kind, parent, field, scope));
        /* Defaults and decorators belong to the scope outside, but a name there is as bad as one
         * inside: one scope will do. */
        stack[depth] =
            (struct step){ .scope = kind != PY_OTHER ? cbx_scope_of(py, node, scope) : scope,
                           .kind = kind };
        if (down && depth >= CBX_TREE_DEPTH_MAX && ts_node_child_count(node) > 0) {
            add_special(py, CBX_FACT_TOO_COMPLEX, CBX_STR("nesting"), node);
        } else if (down && ts_tree_cursor_goto_first_child(&cursor)) {
            depth++;
            continue;
        }
        while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
            if (depth == 0 || !ts_tree_cursor_goto_parent(&cursor)) {
                ts_tree_cursor_delete(&cursor);
                return;
            }
            depth--;
        }
    }
}

void cbx_extract_python(struct cbx_parsed *parsed)
{
    struct cbx_walk *py = cbx_arena_alloc(parsed->arena, sizeof(*py));
    if (py == NULL) {
        return;
    }
    py->parsed = parsed;
    py->arena = parsed->arena;
    py->facts = parsed->facts;
    py->src = parsed->text.p;
    TSNode root = ts_tree_root_node(parsed->tree);
    cbx_py_bind_all(py, root);
    if (py->module != NULL) {
        extract_all(py, root);
    }
}
