/* SPDX-License-Identifier: MIT
 * Pass one over Python: which name is bound where, and to what. Flow does not count: a name may be anything that it is bound to
 * anywhere in its scope. */
#include "analyzer/lang/python.h"

#include <pthread.h>

const TSLanguage *tree_sitter_python(void);

static uint8_t kind_of_symbol[1024];
static pthread_once_t kinds_once = PTHREAD_ONCE_INIT;

/* Symbol numbers of the grammar to our kinds, once per process. */
static void fill_kinds(void)
{
    static const struct {
        const char *name;
        enum cbx_py_kind kind;
    } names[] = {
#define CBX_KIND(name) { #name, PY_##name },
#include "analyzer/lang/python_kinds.def"
#undef CBX_KIND
    };
    const TSLanguage *language = tree_sitter_python();
    uint32_t count = ts_language_symbol_count(language);
    for (uint32_t s = 0; s < count && s < sizeof(kind_of_symbol); s++) {
        if (ts_language_symbol_type(language, (TSSymbol)s) != TSSymbolTypeRegular) {
            continue;
        }
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            if (strcmp(ts_language_symbol_name(language, (TSSymbol)s), names[i].name) == 0) {
                kind_of_symbol[s] = (uint8_t)names[i].kind;
            }
        }
    }
}

enum cbx_py_kind cbx_py_kind(TSNode node)
{
    pthread_once(&kinds_once, fill_kinds);
    TSSymbol symbol = ts_node_is_null(node) ? 0 : ts_node_symbol(node);
    return symbol < sizeof(kind_of_symbol) ? (enum cbx_py_kind)kind_of_symbol[symbol] : PY_OTHER;
}

TSNode cbx_py_field(TSNode node, const char *field)
{
    return ts_node_child_by_field_name(node, field, (uint32_t)strlen(field));
}

struct cbx_str cbx_py_text(const struct cbx_py *py, TSNode node)
{
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    return (struct cbx_str){ .p = py->src + start, .len = end - start };
}

uint64_t cbx_py_hash(struct cbx_str text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char)text.p[i]) * 0x100000001b3u;
    }
    return hash;
}

static void grow(struct cbx_py *py, struct cbx_py_table *table)
{
    size_t size = table->size == 0 ? 256 : table->size * 2;
    struct cbx_py_slot *slots = cbx_arena_array(py->arena, size, sizeof(*slots));
    if (slots == NULL) {
        return;
    }
    for (size_t i = 0; i < table->size; i++) {
        if (table->slots[i].value != NULL) {
            size_t at = (((uintptr_t)table->slots[i].a >> 3) * 0x9E3779B97F4A7C15u ^ table->slots[i].b) & (size - 1);
            while (slots[at].value != NULL) {
                at = (at + 1) & (size - 1);
            }
            slots[at] = table->slots[i];
        }
    }
    table->slots = slots;
    table->size = size;
}

void **cbx_py_slot(struct cbx_py *py, struct cbx_py_table *table, const void *a, uint64_t b)
{
    static void *nowhere;
    if (table->count * 2 >= table->size) {
        grow(py, table);
    }
    if (table->size == 0 || table->count + 1 >= table->size) {
        nowhere = NULL;
        return &nowhere;
    }
    size_t at = (((uintptr_t)a >> 3) * 0x9E3779B97F4A7C15u ^ b) & (table->size - 1);
    while (table->slots[at].value != NULL && (table->slots[at].a != a || table->slots[at].b != b)) {
        at = (at + 1) & (table->size - 1);
    }
    if (table->slots[at].value == NULL) {
        table->slots[at].a = a;
        table->slots[at].b = b;
        table->count++;
    }
    return &table->slots[at].value;
}

static struct cbx_py_binding *bind_name(struct cbx_py *py, struct cbx_py_scope *scope, struct cbx_py_scope *where, TSNode name,
                                   enum cbx_py_bind kind, TSNode node)
{
    struct cbx_py_binding *binding = cbx_arena_alloc(py->arena, sizeof(*binding));
    if (binding == NULL) {
        return NULL;
    }
    struct cbx_str text = cbx_fold_nfkc(py->arena, cbx_py_text(py, name));
    *binding = (struct cbx_py_binding){ .kind = kind, .name = text, .scope = scope, .where = where, .node = node };
    void **slot = cbx_py_slot(py, &py->bindings, scope, cbx_py_hash(text));
    binding->next = *slot;
    *slot = binding;
    return binding;
}

/* A target of an assignment of the value of `node`; kind says how the target's value comes out of it. */
static void bind_target(struct cbx_py *py, struct cbx_py_scope *scope, TSNode target, enum cbx_py_bind kind, TSNode node,
                        uint32_t index, int depth)
{
    struct cbx_py_binding *binding;
    TSTreeCursor cursor;
    uint32_t i = 0;
    switch (cbx_py_kind(target)) {
    case PY_identifier:
        binding = bind_name(py, scope, scope, target, kind, node);
        if (binding != NULL) {
            binding->index = index;
        }
        return;
    case PY_attribute:
        binding = bind_name(py, NULL, scope, cbx_py_field(target, "attribute"), kind, node);
        if (binding != NULL) {
            binding->index = index;
        }
        return;
    case PY_subscript:
        return;
    case PY_pattern_list: case PY_tuple_pattern: case PY_list_pattern: case PY_expression_list: case PY_tuple: case PY_list:
    case PY_list_splat_pattern: case PY_parenthesized_expression: case PY_as_pattern_target: case PY_list_splat:
        cursor = ts_tree_cursor_new(target);
        for (bool more = depth < 32 && ts_tree_cursor_goto_first_child(&cursor); more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
            TSNode child = ts_tree_cursor_current_node(&cursor);
            if (ts_node_is_named(child)) {
                bool flat = kind == PY_BIND_EXPR && cbx_py_kind(target) != PY_parenthesized_expression && cbx_py_kind(target) != PY_as_pattern_target;
                bind_target(py, scope, child, flat ? PY_BIND_ITEM : kind == PY_BIND_EXPR ? kind : PY_BIND_MEMBER, node, i++, depth + 1);
            }
        }
        ts_tree_cursor_delete(&cursor);
        return;
    default:
        return;
    }
}

static void bind_qualified(struct cbx_py *py, struct cbx_py_scope *scope, TSNode name, struct cbx_str qualified)
{
    struct cbx_py_binding *binding = bind_name(py, scope, scope, name, PY_BIND_NAME, name);
    if (binding != NULL) {
        binding->qualified = cbx_py_canonical(py, qualified);
    }
}

static struct cbx_str join_names(struct cbx_py *py, struct cbx_str a, struct cbx_str b)
{
    return cbx_arena_printf(py->arena, "%.*s.%.*s", (int)a.len, a.p, (int)b.len, b.p);
}

/* import a.b.c binds a; import a.b.c as x binds x to a.b.c; from a import b as x binds x to a.b; from a import * binds whatever. */
static void bind_import(struct cbx_py *py, struct cbx_py_scope *scope, TSNode node, bool from)
{
    TSNode module = from ? cbx_py_field(node, "module_name") : node;
    struct cbx_str prefix = from ? cbx_fold_nfkc(py->arena, cbx_py_text(py, module)) : (struct cbx_str){ 0 };
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        enum cbx_py_kind kind = cbx_py_kind(child);
        if (kind == PY_wildcard_import && py->stars.count < 16) {
            py->star_items[py->stars.count++] = prefix;
            py->stars.items = py->star_items;
        }
        TSNode name = kind == PY_aliased_import ? cbx_py_field(child, "name") : child;
        if ((kind != PY_dotted_name && kind != PY_aliased_import) || (from && ts_node_eq(child, module))) {
            continue;
        }
        struct cbx_str text = cbx_fold_nfkc(py->arena, cbx_py_text(py, name));
        if (kind == PY_aliased_import) {
            bind_qualified(py, scope, cbx_py_field(child, "alias"), from ? join_names(py, prefix, text) : text);
        } else if (from) {
            bind_qualified(py, scope, name, join_names(py, prefix, text));
        } else {
            const char *dot = memchr(text.p, '.', text.len);
            TSNode first = ts_node_named_child(name, 0);
            bind_qualified(py, scope, first, dot != NULL ? cbx_str_sub(text, 0, (size_t)(dot - text.p)) : text);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

static void bind_parameters(struct cbx_py *py, struct cbx_py_scope *inner, struct cbx_py_scope *outer, TSNode parameters)
{
    if (ts_node_is_null(parameters)) {
        return;
    }
    TSTreeCursor cursor = ts_tree_cursor_new(parameters);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode p = ts_tree_cursor_current_node(&cursor);
        enum cbx_py_kind kind = cbx_py_kind(p);
        TSNode name = kind == PY_identifier ? p
                      : kind == PY_default_parameter || kind == PY_typed_default_parameter ? cbx_py_field(p, "name")
                                                                                          : ts_node_named_child(p, 0);
        while (cbx_py_kind(name) == PY_list_splat_pattern || cbx_py_kind(name) == PY_dictionary_splat_pattern) {
            name = ts_node_named_child(name, 0);
        }
        if (cbx_py_kind(name) != PY_identifier) {
            continue;
        }
        bind_name(py, inner, outer, name, PY_BIND_UNKNOWN, name);
        if (kind == PY_default_parameter || kind == PY_typed_default_parameter) {
            bind_name(py, inner, outer, name, PY_BIND_EXPR, cbx_py_field(p, "value"));
        }
    }
    ts_tree_cursor_delete(&cursor);
}

static struct cbx_py_scope *open_scope(struct cbx_py *py, struct cbx_py_scope *parent, TSNode node, int kind)
{
    struct cbx_py_scope *scope = cbx_arena_alloc(py->arena, sizeof(*scope));
    if (scope == NULL) {
        return parent;
    }
    *scope = (struct cbx_py_scope){ .parent = parent, .node = node.id };
    scope->kind = kind;
    *cbx_py_slot(py, &py->scopes, node.id, 0) = scope;
    return scope;
}

static void bind_globals(struct cbx_py *py, struct cbx_py_scope *scope, TSNode node)
{
    for (uint32_t i = 0, n = ts_node_named_child_count(node); i < n && i < 64; i++) {
        bind_name(py, scope, scope, ts_node_named_child(node, i), PY_BIND_GLOBAL, node);
    }
}

/* The scope that an assignment in here binds in: names of a comprehension's walrus belong to the function around it. */
static struct cbx_py_scope *binding_scope(struct cbx_py_scope *scope)
{
    while (scope->kind == PY_COMPREHENSION && scope->parent != NULL) {
        scope = scope->parent;
    }
    return scope;
}

/* One node on the way down; returns the scope for its children. */
static struct cbx_py_scope *bind_node(struct cbx_py *py, struct cbx_py_scope *scope, TSNode node)
{
    struct cbx_py_scope *inner;
    struct cbx_py_return *ret;
    TSNode right;
    switch (cbx_py_kind(node)) {
    case PY_import_statement:
        bind_import(py, scope, node, false);
        return scope;
    case PY_import_from_statement:
        bind_import(py, scope, node, true);
        return scope;
    case PY_assignment:
        right = cbx_py_field(node, "right");
        while (cbx_py_kind(right) == PY_assignment) {
            right = cbx_py_field(right, "right"); /* a = b = value */
        }
        if (!ts_node_is_null(right)) {
            bind_target(py, scope, cbx_py_field(node, "left"), PY_BIND_EXPR, right, 0, 0);
        }
        return scope;
    case PY_augmented_assignment:
        bind_target(py, scope, cbx_py_field(node, "left"), PY_BIND_UNKNOWN, node, 0, 0);
        return scope;
    case PY_named_expression:
        bind_target(py, binding_scope(scope), cbx_py_field(node, "name"), PY_BIND_EXPR, cbx_py_field(node, "value"), 0, 0);
        return scope;
    case PY_for_statement:
    case PY_for_in_clause:
        bind_target(py, scope, cbx_py_field(node, "left"), PY_BIND_MEMBER, cbx_py_field(node, "right"), 0, 0);
        return scope;
    case PY_as_pattern:
        bind_target(py, scope, cbx_py_field(node, "alias"), PY_BIND_EXPR, ts_node_named_child(node, 0), 0, 0);
        return scope;
    case PY_case_pattern:
        for (uint32_t i = 0, n = ts_node_named_child_count(node); i < n && i < 64; i++) {
            TSNode name = ts_node_named_child(node, i);
            if (cbx_py_kind(name) == PY_dotted_name && ts_node_named_child_count(name) == 1) {
                bind_name(py, scope, scope, name, PY_BIND_UNKNOWN, node);
            }
        }
        return scope;
    case PY_function_definition:
        bind_name(py, scope, scope, cbx_py_field(node, "name"), PY_BIND_FUNCTION, node);
        inner = open_scope(py, scope, node, PY_FUNCTION);
        bind_parameters(py, inner, scope, cbx_py_field(node, "parameters"));
        return inner;
    case PY_lambda:
        inner = open_scope(py, scope, node, PY_FUNCTION);
        bind_parameters(py, inner, scope, cbx_py_field(node, "parameters"));
        ret = cbx_arena_alloc(py->arena, sizeof(*ret));
        if (ret != NULL) {
            *ret = (struct cbx_py_return){ .node = cbx_py_field(node, "body") };
            inner->returns = ret;
        }
        return inner;
    case PY_class_definition:
        bind_name(py, scope, scope, cbx_py_field(node, "name"), PY_BIND_UNKNOWN, node);
        return open_scope(py, scope, node, PY_CLASS);
    case PY_list_comprehension: case PY_set_comprehension: case PY_dictionary_comprehension: case PY_generator_expression:
        return open_scope(py, scope, node, PY_COMPREHENSION);
    case PY_return_statement:
        ret = cbx_arena_alloc(py->arena, sizeof(*ret));
        if (ret != NULL && scope->kind == PY_FUNCTION && ts_node_named_child_count(node) > 0) {
            *ret = (struct cbx_py_return){ .node = ts_node_named_child(node, 0), .next = scope->returns };
            scope->returns = ret;
        }
        return scope;
    case PY_global_statement: case PY_nonlocal_statement:
        bind_globals(py, scope, node);
        return scope;
    default:
        return scope;
    }
}

void cbx_py_bind_all(struct cbx_py *py, TSNode root)
{
    static const struct cbx_py_scope module;
    py->module = cbx_arena_alloc(py->arena, sizeof(*py->module));
    struct cbx_py_scope **stack = cbx_arena_array(py->arena, CBX_TREE_DEPTH_MAX + 2, sizeof(struct cbx_py_scope *));
    if (py->module == NULL || stack == NULL) {
        return;
    }
    *py->module = module;
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    int depth = 0;
    stack[0] = py->module;
    for (;;) {
        struct cbx_py_scope *inner = bind_node(py, stack[depth], ts_tree_cursor_current_node(&cursor));
        if (depth < CBX_TREE_DEPTH_MAX && ts_tree_cursor_goto_first_child(&cursor)) {
            stack[++depth] = inner;
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
