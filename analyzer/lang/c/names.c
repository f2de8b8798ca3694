/* SPDX-License-Identifier: MIT
 * Declarations. A function that the source defines replaces the library function in the whole
 * source; other names are valid from their declaration to the end of their block. A declaration
 * under an unknown condition replaces nothing. */
#include "analyzer/lang/c/names.h"

struct cbx_str cbx_c_text(const struct cbx_c_walk *c, const struct cbx_node *node)
{
    return node == NULL ? CBX_STR("") : cbx_str_sub(c->text, node->start, node->end);
}

const struct cbx_c_token *cbx_c_token_at(const struct cbx_c_walk *c, uint32_t offset)
{
    size_t low = 0, high = c->tokens->count;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        if (c->offsets[middle] <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low < c->tokens->count ? &c->tokens->items[low] : NULL;
}

struct cbx_c_name *cbx_c_table_add(struct cbx_c_walk *c, struct cbx_table *table,
                                   struct cbx_str name)
{
    struct cbx_c_name *out = cbx_arena_alloc(c->arena, sizeof(*out));
    if (out != NULL) {
        void **chain = cbx_table_slot(c->arena, table, NULL, cbx_name_hash(name));
        out->name = name;
        out->next = *chain;
        *chain = out;
    }
    return out;
}

struct cbx_c_name *cbx_c_table_find(const struct cbx_table *table, struct cbx_str name)
{
    struct cbx_c_name *n = cbx_table_find(table, NULL, cbx_name_hash(name));
    while (n != NULL && !cbx_str_equal(n->name, name)) {
        n = n->next;
    }
    return n;
}

static bool is_function_type(const struct cbx_c_walk *c, struct cbx_str name)
{
    return cbx_c_table_find(&c->types, name) != NULL;
}

bool cbx_c_is_function_field(const struct cbx_c_walk *c, struct cbx_str name)
{
    return cbx_c_table_find(&c->fields, name) != NULL;
}

/* --- declarators ------------------------------------------------------------------------------ */

static struct cbx_node *inner_declarator(const struct cbx_node *node)
{
    struct cbx_node *inner = cbx_child_of(node, CBX_FIELD_declarator);
    for (struct cbx_node *child = inner == NULL ? node->first : NULL; child != NULL;
         child = child->next) {
        enum cbx_c_node_kind kind = cbx_c_kind(child);
        if (kind == CN_pointer_declarator || kind == CN_function_declarator ||
            kind == CN_array_declarator || kind == CN_parenthesized_declarator ||
            kind == CN_attributed_declarator || kind == CN_identifier ||
            kind == CN_type_identifier || kind == CN_field_identifier) {
            return child;
        }
    }
    return inner;
}

struct cbx_node *cbx_c_declared(struct cbx_node *declarator, enum cbx_c_what *what)
{
    bool function = false, direct = false;
    struct cbx_node *node = declarator;
    for (int depth = 0; node != NULL && depth < CBX_TREE_DEPTH_MAX; depth++) {
        enum cbx_c_node_kind kind = cbx_c_kind(node);
        if (kind == CN_identifier || kind == CN_type_identifier || kind == CN_field_identifier) {
            *what = direct ? CBX_C_FUNCTION : function ? CBX_C_POINTER : CBX_C_OBJECT;
            return node;
        }
        if (kind == CN_function_declarator || kind == CN_pointer_declarator ||
            kind == CN_array_declarator) {
            function |= kind == CN_function_declarator;
            direct = kind == CN_function_declarator;
        }
        node = inner_declarator(node);
    }
    return NULL;
}

bool cbx_c_is_callable_type(const struct cbx_c_walk *c, const struct cbx_node *descriptor)
{
    const struct cbx_node *type = cbx_child_of(descriptor, CBX_FIELD_type),
                          *node = cbx_child_of(descriptor, CBX_FIELD_declarator);
    if (cbx_c_kind(type) == CN_type_identifier && is_function_type(c, cbx_c_text(c, type))) {
        return true;
    }
    while (node != NULL) {
        if (cbx_c_kind(node) == CN_abstract_function_declarator) {
            return true;
        }
        const struct cbx_node *inner = cbx_child_of(node, CBX_FIELD_declarator);
        node = inner != NULL ? inner : cbx_child_at(node, 0);
        node = cbx_c_kind(node) == CN_parameter_list ? NULL : node;
    }
    if (cbx_c_kind(type) != CN_macro_type_specifier) {
        return false;
    }
    const struct cbx_node *named = cbx_child_of(type, CBX_FIELD_type); /* typeof(f) */
    const struct cbx_c_name *name =
        named != NULL ? cbx_c_table_find(&c->names, cbx_c_text(c, named)) : NULL;
    return name == NULL || name->what == CBX_C_FUNCTION || name->what == CBX_C_POINTER;
}

/* --- scopes ----------------------------------------------------------------------------------- */

static bool is_extern(const struct cbx_c_walk *c, const struct cbx_node *declaration)
{
    for (const struct cbx_node *child = declaration->first; child != NULL; child = child->next) {
        if (cbx_c_kind(child) == CN_storage_class_specifier &&
            cbx_str_is(cbx_c_text(c, child), "extern")) {
            return true;
        }
    }
    return false;
}

/* Returns true for `inline` without `static`: a call may reach the library function of that
 * name. */
static bool is_inline_alone(const struct cbx_c_walk *c, const struct cbx_node *definition)
{
    bool is_inline = false, is_static = false;
    for (const struct cbx_node *child = definition->first; child != NULL; child = child->next) {
        struct cbx_str text = cbx_c_text(c, child);
        bool specifier = cbx_c_kind(child) == CN_storage_class_specifier;
        is_static |= specifier && cbx_str_is(text, "static");
        is_inline |= specifier && (cbx_str_is(text, "inline") || cbx_str_is(text, "__inline") ||
                                   cbx_str_is(text, "__inline__"));
    }
    return is_inline && !is_static;
}

/* Returns the block of a declaration; NULL for the whole source. */
static const struct cbx_node *block_of(const struct cbx_node *node)
{
    for (const struct cbx_node *n = node->parent; n != NULL; n = n->parent) {
        enum cbx_c_node_kind kind = cbx_c_kind(n);
        if (kind == CN_compound_statement || kind == CN_for_statement ||
            kind == CN_function_definition) {
            return n;
        }
        /* parameters of a definition are valid in the whole definition */
        if (kind == CN_parameter_list) {
            const struct cbx_node *up = n->parent;
            while (up != NULL && (cbx_c_kind(up) == CN_function_declarator ||
                                  cbx_c_kind(up) == CN_pointer_declarator ||
                                  cbx_c_kind(up) == CN_parenthesized_declarator ||
                                  cbx_c_kind(up) == CN_attributed_declarator)) {
                up = up->parent;
            }
            return cbx_c_kind(up) == CN_function_definition ? up : n;
        }
    }
    return NULL;
}

/* Adds a name to the block; NULL for the whole source. */
static void add_name(struct cbx_c_walk *c, const struct cbx_node *name,
                     const struct cbx_node *block, enum cbx_c_what what,
                     const struct cbx_node *type, bool defines)
{
    struct cbx_str text = cbx_c_text(c, name);
    bool plain = name->field != CBX_FIELD_declarator ||
                 cbx_c_kind(name->parent) == CN_init_declarator ||
                 cbx_c_kind(name->parent) == CN_declaration ||
                 cbx_c_kind(name->parent) == CN_parameter_declaration;
    bool named = cbx_c_kind(type) == CN_type_identifier && is_function_type(c, cbx_c_text(c, type));
    struct cbx_c_name *out = block == NULL ? cbx_c_table_find(&c->names, text) : NULL;
    out = out != NULL ? out : cbx_c_table_add(c, &c->names, text);
    if (out == NULL) {
        return;
    }
    out->to = block != NULL ? block->end : UINT32_MAX;
    out->numbers = what == CBX_C_OBJECT && !plain && cbx_c_is_number(c, type);
    out->what = what == CBX_C_OBJECT && named        ? CBX_C_POINTER
                : what == CBX_C_FUNCTION && !defines ? CBX_C_POINTER /* f(int g(void)) */
                                                     : what;
    if (block != NULL) {
        out->around = c->local;
        c->local = out;
    }
}

static void add_value(struct cbx_c_walk *c, const struct cbx_node *name, struct cbx_node *value)
{
    struct cbx_c_name *out = cbx_c_table_find(&c->values, cbx_c_text(c, name));
    out = out != NULL ? out : cbx_c_table_add(c, &c->values, cbx_c_text(c, name));
    if (out != NULL && out->value_count < CBX_C_VALUES_MAX) {
        out->values[out->value_count++] = value;
    }
}

static void declare(struct cbx_c_walk *c, struct cbx_node *declaration, struct cbx_node *declarator,
                    bool defines)
{
    struct cbx_node *value = NULL;
    if (cbx_c_kind(declarator) == CN_init_declarator) {
        value = cbx_child_of(declarator, CBX_FIELD_value);
        declarator = cbx_child_of(declarator, CBX_FIELD_declarator);
    }
    enum cbx_c_what what = CBX_C_OBJECT;
    struct cbx_node *name = declarator != NULL ? cbx_c_declared(declarator, &what) : NULL;
    if (name == NULL ||
        (what == CBX_C_FUNCTION && !defines &&
         cbx_c_kind(declaration) != CN_parameter_declaration) ||
        (is_extern(c, declaration) && value == NULL && !defines)) {
        return; /* declared here, defined elsewhere */
    }
    const struct cbx_c_token *token = cbx_c_token_at(c, name->start);
    if (token == NULL || token->maybe || (defines && is_inline_alone(c, declaration))) {
        return;
    }
    add_name(c, name, block_of(declaration), what, cbx_child_of(declaration, CBX_FIELD_type),
             defines);
}

static void declare_all(struct cbx_c_walk *c, struct cbx_node *node)
{
    switch (cbx_c_kind(node)) {
    case CN_function_definition:
        declare(c, node, cbx_child_of(node, CBX_FIELD_declarator), true);
        return;
    case CN_declaration:
    case CN_parameter_declaration:
        for (struct cbx_node *child = node->first; child != NULL; child = child->next) {
            if (child->field == CBX_FIELD_declarator) {
                declare(c, node, child, false);
            }
        }
        return;
    case CN_enumerator: {
        const struct cbx_node *name = cbx_child_of(node, CBX_FIELD_name);
        const struct cbx_c_token *token = name != NULL ? cbx_c_token_at(c, name->start) : NULL;
        if (token != NULL && !token->maybe) {
            add_name(c, name, block_of(node), CBX_C_OBJECT, NULL, true);
        }
        return;
    }
    default:
        return;
    }
}

static void collect_types(struct cbx_c_walk *c, struct cbx_node *node)
{
    const struct cbx_node *type = cbx_child_of(node, CBX_FIELD_type);
    for (struct cbx_node *child = node->first; child != NULL; child = child->next) {
        enum cbx_c_what what = CBX_C_OBJECT;
        struct cbx_node *name =
            child->field == CBX_FIELD_declarator ? cbx_c_declared(child, &what) : NULL;
        bool function = what != CBX_C_OBJECT || (cbx_c_kind(type) == CN_type_identifier &&
                                                 is_function_type(c, cbx_c_text(c, type)));
        if (name != NULL && function) {
            cbx_c_table_add(c, cbx_c_kind(node) == CN_type_definition ? &c->types : &c->fields,
                            cbx_c_text(c, name));
        }
    }
}

bool cbx_c_is_union_function(const struct cbx_c_walk *c, struct cbx_str name)
{
    return cbx_c_table_find(&c->union_functions, name) != NULL;
}

bool cbx_c_is_union_field(const struct cbx_c_walk *c, struct cbx_str name)
{
    return cbx_c_table_find(&c->union_fields, name) != NULL;
}

/* Collects the members of a union that has a function among them. No arithmetic of floating-point
 * numbers gives an address, so that unions of such a number and a function are of a variable
 * type. */
static void collect_union(struct cbx_c_walk *c, const struct cbx_node *node)
{
    const struct cbx_node *list = cbx_child_of(node, CBX_FIELD_body);
    bool function = false;
    for (int pass = 0; pass < 2; pass++) {
        for (struct cbx_node *field = list != NULL ? list->first : NULL;
             field != NULL && (pass == 0 || function); field = field->next) {
            const struct cbx_node *type = cbx_child_of(field, CBX_FIELD_type);
            enum cbx_c_what what = CBX_C_OBJECT;
            struct cbx_node *declarator = cbx_child_of(field, CBX_FIELD_declarator);
            struct cbx_node *name = declarator != NULL ? cbx_c_declared(declarator, &what) : NULL;
            bool calls = what != CBX_C_OBJECT || (cbx_c_kind(type) == CN_type_identifier &&
                                                  is_function_type(c, cbx_c_text(c, type)));
            struct cbx_str type_text = cbx_c_text(c, type);
            bool real = cbx_str_is(type_text, "double") || cbx_str_is(type_text, "float");
            if (name != NULL && pass == 1 && (calls || !real)) {
                cbx_c_table_add(c, calls ? &c->union_functions : &c->union_fields,
                                cbx_c_text(c, name));
            }
            function |= calls;
        }
    }
}

static void collect_value(struct cbx_c_walk *c, const struct cbx_node *node)
{
    bool begins = cbx_c_kind(node) == CN_init_declarator;
    struct cbx_node *left = cbx_child_of(node, begins ? CBX_FIELD_declarator : CBX_FIELD_left),
                    *value = cbx_child_of(node, begins ? CBX_FIELD_value : CBX_FIELD_right);
    enum cbx_c_what what;
    const struct cbx_node *name = !begins && cbx_c_kind(left) != CN_identifier ? NULL
                                  : left != NULL ? cbx_c_declared(left, &what)
                                                 : NULL;
    if (name != NULL && value != NULL) {
        add_value(c, name, value);
    }
}

void cbx_c_names_collect(struct cbx_c_walk *c)
{
    for (uint32_t i = 0; i < c->syntax.count; i++) {
        struct cbx_node *node = &c->syntax.nodes[i];
        enum cbx_c_node_kind kind = cbx_c_kind(node);
        if (kind == CN_type_definition || kind == CN_field_declaration) {
            collect_types(c, node);
        } else if (kind == CN_init_declarator || kind == CN_assignment_expression) {
            collect_value(c, node);
        } else if (kind == CN_union_specifier) {
            collect_union(c, node);
        }
        bool declares =
            kind == CN_function_definition || kind == CN_declaration || kind == CN_enumerator;
        if (declares && block_of(node) == NULL) {
            declare_all(c, node);
        }
    }
}

void cbx_c_names_enter(struct cbx_c_walk *c, struct cbx_node *node)
{
    while (c->local != NULL && c->local->to <= node->start) {
        void **chain = cbx_table_slot(c->arena, &c->names, NULL, cbx_name_hash(c->local->name));
        *chain = c->local->next; /* the newest name is the first of its chain */
        c->local = c->local->around;
    }
    enum cbx_c_node_kind kind = cbx_c_kind(node);
    bool declares = kind == CN_function_definition || kind == CN_declaration ||
                    kind == CN_parameter_declaration || kind == CN_enumerator;
    if (declares && block_of(node) != NULL) {
        declare_all(c, node);
    }
}

struct cbx_c_name *cbx_c_name_find(const struct cbx_c_walk *c, const struct cbx_node *identifier)
{
    return cbx_c_table_find(&c->names, cbx_c_text(c, identifier));
}

const struct cbx_c_name *cbx_c_values(const struct cbx_c_walk *c, struct cbx_str name)
{
    return cbx_c_table_find(&c->values, name);
}
