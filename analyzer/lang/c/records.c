/* SPDX-License-Identifier: MIT
 * Pointers to functions whose bytes come from data: memcpy, read or a pointer to numbers writes a
 * struct that holds them. Also other ways from data to code: functions within functions, for which
 * gcc needs an executable stack, and the registers in a signal's context. */
#include "analyzer/lang/c/names.h"

#include "analyzer/facts/sinks.h"

enum { NO_SOURCE = 255, DEPTH_MAX = 8 };

/* --- types that hold pointers to functions ---------------------------------------------------- */

static bool is_record(const struct cbx_c_walk *c, const struct cbx_node *type);

/* Returns true if a member is a pointer to a function, or holds one. */
static bool has_function(const struct cbx_c_walk *c, const struct cbx_node *specifier)
{
    const struct cbx_node *list = cbx_child_of(specifier, CBX_FIELD_body);
    for (const struct cbx_node *f = list != NULL ? list->first : NULL; f != NULL; f = f->next) {
        enum cbx_c_what what = CBX_C_OBJECT;
        struct cbx_node *declarator = cbx_child_of(f, CBX_FIELD_declarator),
                        *name = declarator != NULL ? cbx_c_declared(declarator, &what) : NULL;
        const struct cbx_node *type = cbx_child_of(f, CBX_FIELD_type);
        bool named = name != NULL && cbx_c_is_function_field(c, cbx_c_text(c, name));
        bool inside = cbx_c_kind(declarator) != CN_pointer_declarator && is_record(c, type);
        if ((name != NULL && what != CBX_C_OBJECT) || named || inside) {
            return true;
        }
    }
    return false;
}

static bool is_record(const struct cbx_c_walk *c, const struct cbx_node *type)
{
    switch (cbx_c_kind(type)) {
    case CN_type_identifier:
        return cbx_c_table_find(&c->records, cbx_c_text(c, type)) != NULL;
    case CN_struct_specifier:
    case CN_union_specifier: {
        const struct cbx_node *tag = cbx_child_of(type, CBX_FIELD_name);
        return (tag != NULL && cbx_c_table_find(&c->records, cbx_c_text(c, tag)) != NULL) ||
               has_function(c, type);
    }
    default:
        return false;
    }
}

static void note(struct cbx_c_walk *c, struct cbx_table *table, const struct cbx_node *name)
{
    if (name != NULL && cbx_c_table_find(table, cbx_c_text(c, name)) == NULL) {
        cbx_c_table_add(c, table, cbx_c_text(c, name));
    }
}

bool cbx_c_is_number(const struct cbx_c_walk *c, const struct cbx_node *type)
{
    struct cbx_str text = cbx_c_text(c, type);
    if (cbx_str_is(text, "void")) {
        return false;
    }
    return cbx_c_kind(type) == CN_primitive_type || cbx_c_kind(type) == CN_sized_type_specifier ||
           cbx_str_starts(text, CBX_STR("uint")) || cbx_str_starts(text, CBX_STR("int"));
}

/* Notes the names that a declaration, a member or a typedef declares. */
static void note_declared(struct cbx_c_walk *c, const struct cbx_node *node)
{
    const struct cbx_node *type = cbx_child_of(node, CBX_FIELD_type);
    bool record = is_record(c, type);
    for (struct cbx_node *d = node->first; d != NULL && record; d = d->next) {
        if (d->field != CBX_FIELD_declarator) {
            continue;
        }
        struct cbx_node *declarator = d;
        if (cbx_c_kind(d) == CN_init_declarator) {
            declarator = cbx_child_of(d, CBX_FIELD_declarator);
        }
        enum cbx_c_what what = CBX_C_OBJECT;
        struct cbx_node *name = declarator != NULL ? cbx_c_declared(declarator, &what) : NULL;
        if (what == CBX_C_OBJECT) {
            note(c, cbx_c_kind(node) == CN_type_definition ? &c->records : &c->objects, name);
        }
    }
}

/* Notes s.sa_sigaction = on, { .sa_sigaction = on }. */
static void note_handler(struct cbx_c_walk *c, const struct cbx_node *node)
{
    bool pair = cbx_c_kind(node) == CN_initializer_pair;
    const struct cbx_node *left = pair ? cbx_child_at(node, 0) : cbx_child_of(node, CBX_FIELD_left);
    struct cbx_node *value =
        cbx_c_strip(cbx_child_of(node, pair ? CBX_FIELD_value : CBX_FIELD_right));
    if (cbx_c_kind(value) == CN_pointer_expression) {
        value = cbx_c_strip(cbx_child_of(value, CBX_FIELD_argument));
    }
    if (cbx_str_ends(cbx_c_text(c, left), CBX_STR("sa_sigaction")) &&
        cbx_c_kind(value) == CN_identifier) {
        note(c, &c->handlers, value);
    }
}

void cbx_c_records_collect(struct cbx_c_walk *c)
{
    for (uint32_t i = 0; i < c->syntax.count; i++) {
        struct cbx_node *node = &c->syntax.nodes[i];
        switch (cbx_c_kind(node)) {
        case CN_struct_specifier:
        case CN_union_specifier:
            if (has_function(c, node)) {
                note(c, &c->records, cbx_child_of(node, CBX_FIELD_name));
            }
            break;
        case CN_type_definition:
        case CN_declaration:
        case CN_parameter_declaration:
        case CN_field_declaration:
            note_declared(c, node);
            break;
        case CN_assignment_expression:
        case CN_initializer_pair:
            note_handler(c, node);
            break;
        default:
            break;
        }
    }
}

/* --- writes ----------------------------------------------------------------------------------- */

static bool is_object(const struct cbx_c_walk *c, const struct cbx_node *name)
{
    return cbx_c_table_find(&c->objects, cbx_c_text(c, name)) != NULL;
}

/* Returns true for the name of an array of numbers, or of a pointer to them. */
static bool is_numbers(const struct cbx_c_walk *c, const struct cbx_node *node)
{
    const struct cbx_c_name *name =
        cbx_c_kind(node) == CN_identifier ? cbx_c_name_find(c, node) : NULL;
    return name != NULL && name->numbers;
}

/* Returns true if the bytes at this address belong to a pointer to a function: &s, p, &s.f,
 * table. */
static bool is_storage(const struct cbx_c_walk *c, struct cbx_node *node, int depth)
{
    node = cbx_c_strip(node);
    if (node == NULL || depth > DEPTH_MAX) {
        return false;
    }
    const struct cbx_node *field = cbx_child_of(node, CBX_FIELD_field);
    const struct cbx_c_name *name;
    switch (cbx_c_kind(node)) {
    case CN_pointer_expression:
        return is_storage(c, cbx_child_of(node, CBX_FIELD_argument), depth + 1);
    case CN_identifier:
        name = cbx_c_name_find(c, node);
        return is_object(c, node) || (name != NULL && name->what == CBX_C_POINTER);
    case CN_field_expression:
        return cbx_c_is_function_field(c, cbx_c_text(c, field)) || is_object(c, field);
    case CN_subscript_expression:
        return is_storage(c, cbx_child_of(node, CBX_FIELD_argument), depth + 1);
    case CN_binary_expression:
        return is_storage(c, cbx_child_of(node, CBX_FIELD_left), depth + 1) ||
               is_storage(c, cbx_child_of(node, CBX_FIELD_right), depth + 1);
    case CN_compound_literal_expression:
        return true; /* the members are checked at their own place */
    default:
        return false;
    }
}

static const struct {
    const char *name;
    uint8_t to, from;
} writers[] = {
    { "memcpy", 0, 1 },
    { "memmove", 0, 1 },
    { "mempcpy", 0, 1 },
    { "memccpy", 0, 1 },
    { "wmemcpy", 0, 1 },
    { "bcopy", 1, 0 },
    { "memset", 0, NO_SOURCE },
    { "read", 1, NO_SOURCE },
    { "pread", 1, NO_SOURCE },
    { "fread", 0, NO_SOURCE },
    { "recv", 1, NO_SOURCE },
    { "recvfrom", 1, NO_SOURCE },
    { "getrandom", 0, NO_SOURCE },
    { "strcpy", 0, NO_SOURCE },
    { "strncpy", 0, NO_SOURCE },
    { "stpcpy", 0, NO_SOURCE },
    { "strcat", 0, NO_SOURCE },
    { "sprintf", 0, NO_SOURCE },
    { "snprintf", 0, NO_SOURCE },
    { "gets", 0, NO_SOURCE },
    { "fgets", 0, NO_SOURCE },
    { "swab", 1, NO_SOURCE },
    { "fread_unlocked", 0, NO_SOURCE },
};

void cbx_c_check_written(struct cbx_c_walk *c, struct cbx_str callee, struct cbx_node *list,
                         const struct cbx_node *call)
{
    for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
        struct cbx_node *to =
            cbx_str_is(callee, writers[i].name) ? cbx_child_at(list, writers[i].to) : NULL;
        if (to == NULL || !is_storage(c, to, 0)) {
            continue;
        }
        bool copy =
            writers[i].from != NO_SOURCE && is_storage(c, cbx_child_at(list, writers[i].from), 0);
        bool zero = cbx_str_is(callee, "memset") &&
                    cbx_str_is(cbx_c_text(c, cbx_c_strip(cbx_child_at(list, 1))), "0");
        if (!copy && !zero) {
            cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL, cbx_str_sub(cbx_c_text(c, to), 0, 40),
                              call);
        }
        return;
    }
}

/* Returns true for an argument of a library call: the library reads it. */
static bool is_given_away(const struct cbx_c_walk *c, const struct cbx_node *cast)
{
    const struct cbx_node *list = cast->parent;
    struct cbx_node *callee = cbx_c_kind(list) == CN_argument_list
                                  ? cbx_child_of(list->parent, CBX_FIELD_function)
                                  : NULL;
    return cbx_c_kind(callee) == CN_identifier && cbx_c_name_find(c, callee) == NULL;
}

void cbx_c_check_record_cast(struct cbx_c_walk *c, struct cbx_node *cast)
{
    const struct cbx_node *type = cbx_child_of(cast, CBX_FIELD_type),
                          *base = cbx_child_of(type, CBX_FIELD_type);
    struct cbx_node *value = cbx_c_strip(cbx_child_of(cast, CBX_FIELD_value));
    bool pointer =
        cbx_c_kind(cbx_child_of(type, CBX_FIELD_declarator)) == CN_abstract_pointer_declarator;
    struct cbx_str text = cbx_c_text(c, type);
    bool empty = cbx_str_starts(text, CBX_STR("void")),
         constant = cbx_str_starts(text, CBX_STR("const"));
    if (!pointer || empty || constant || is_given_away(c, cast)) {
        return;
    }
    const struct cbx_node *up = cast->parent; /* container_of subtracts an offset */
    while (cbx_c_kind(up) == CN_parenthesized_expression) {
        up = up->parent;
    }
    bool offset = cbx_c_kind(up) == CN_binary_expression;
    bool to_numbers =
        cbx_c_is_number(c, base) && !offset &&
        (cbx_c_kind(value) == CN_identifier || cbx_c_kind(value) == CN_pointer_expression) &&
        is_storage(c, value, 0);
    bool from_numbers = is_record(c, base) && is_numbers(c, value);
    if (to_numbers || from_numbers) {
        cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL, cbx_str_sub(cbx_c_text(c, value), 0, 40),
                          cast);
    }
}

/* Checks struct s *p = (void *)bytes. */
void cbx_c_check_record_value(struct cbx_c_walk *c, struct cbx_node *left, struct cbx_node *value)
{
    enum cbx_c_what what;
    bool member =
        cbx_c_kind(left) == CN_field_expression || cbx_c_kind(left) == CN_subscript_expression;
    struct cbx_node *name = left != NULL && !member ? cbx_c_declared(left, &what) : NULL,
                    *from = cbx_c_strip(value);
    if (name != NULL && is_object(c, name) && is_numbers(c, from)) {
        cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL, cbx_c_text(c, from), value);
    }
}

/* --- functions within functions, contexts ----------------------------------------------------- */

/* Returns true for (void)c, which marks a name as unused. */
static bool is_ignored(const struct cbx_c_walk *c, const struct cbx_node *name)
{
    const struct cbx_node *cast = name->parent;
    return cbx_c_kind(cast) == CN_cast_expression &&
           cbx_str_is(cbx_c_text(c, cbx_child_of(cast, CBX_FIELD_type)), "void");
}

static void check_context(struct cbx_c_walk *c, const struct cbx_node *definition,
                          struct cbx_node *context)
{
    enum cbx_c_what what;
    struct cbx_node *declarator = cbx_child_of(context, CBX_FIELD_declarator),
                    *name = declarator != NULL ? cbx_c_declared(declarator, &what) : NULL;
    const struct cbx_node *body = cbx_child_of(definition, CBX_FIELD_body),
                          *end = cbx_node_behind(definition, c->syntax.nodes + c->syntax.count);
    struct cbx_str text = cbx_c_text(c, name);
    for (const struct cbx_node *n = body; name != NULL && n != NULL && n < end; n++) {
        if (cbx_c_kind(n) == CN_identifier && cbx_str_equal(cbx_c_text(c, n), text) &&
            !is_ignored(c, n)) {
            cbx_c_add(c, CBX_IS_REFERENCE, CBX_STR("signal.context"), n);
            return;
        }
    }
}

void cbx_c_check_definition(struct cbx_c_walk *c, const struct cbx_node *definition)
{
    for (const struct cbx_node *n = definition->parent; n != NULL; n = n->parent) {
        if (cbx_c_kind(n) == CN_function_definition) {
            cbx_c_add(c, CBX_IS_REFERENCE, CBX_STR("nested.function"), definition);
            break;
        }
    }
    enum cbx_c_what what;
    struct cbx_node *declarator = cbx_child_of(definition, CBX_FIELD_declarator),
                    *name = declarator != NULL ? cbx_c_declared(declarator, &what) : NULL;
    while (declarator != NULL && cbx_c_kind(declarator) != CN_function_declarator) {
        declarator = cbx_child_of(declarator, CBX_FIELD_declarator);
    }
    const struct cbx_node *list = cbx_child_of(declarator, CBX_FIELD_parameters);
    struct cbx_node *second = list != NULL ? cbx_child_at(list, 1) : NULL,
                    *third = list != NULL ? cbx_child_at(list, 2) : NULL;
    bool handler =
        (name != NULL && cbx_c_table_find(&c->handlers, cbx_c_text(c, name)) != NULL) ||
        cbx_str_starts(cbx_c_text(c, cbx_child_of(second, CBX_FIELD_type)), CBX_STR("siginfo_t"));
    if (handler && third != NULL) {
        check_context(c, definition, third);
    }
}

void cbx_c_check_field(struct cbx_c_walk *c, const struct cbx_node *field)
{
    struct cbx_str name = cbx_c_text(c, field);
    if (cbx_str_is(name, "uc_mcontext") || cbx_str_is(name, "gregs") ||
        cbx_str_is(name, "__gregs")) {
        cbx_c_add(c, CBX_IS_REFERENCE, CBX_STR("signal.context"), field);
    }
}
