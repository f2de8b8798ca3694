/* SPDX-License-Identifier: MIT
 * Functions that the library calls for the program, functions in unions, and addresses near a
 * function: an address there that is not the address of a function is an unresolved call. */
#include "analyzer/facts/value.h"
#include "analyzer/lang/c/names.h"

static const struct {
    const char *name;
    uint32_t position;
} callers[] = {
    { "pthread_create", 2 },
    { "thrd_create", 1 },
    { "atexit", 0 },
    { "at_quick_exit", 0 },
    { "on_exit", 0 },
    { "signal", 1 },
    { "qsort", 3 },
    { "qsort_r", 3 },
    { "bsearch", 4 },
    { "call_once", 1 },
    { "pthread_once", 1 },
    { "pthread_key_create", 1 },
    { "tss_create", 1 },
    { "pthread_atfork", 0 },
    { "makecontext", 1 },
    { "lfind", 4 },
    { "lsearch", 4 },
    { "tsearch", 2 },
    { "tfind", 2 },
    { "twalk", 1 },
    { "nftw", 1 },
    { "ftw", 1 },
    { "scandir", 2 },
    { "glob", 2 },
    { "bsd_signal", 1 },
    { "sysv_signal", 1 },
    { "pthread_cleanup_push", 0 },
};

void cbx_c_check_callback(struct cbx_c_walk *c, struct cbx_str callee, struct cbx_node *list,
                          const struct cbx_node *call)
{
    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
        struct cbx_node *function =
            cbx_str_is(callee, callers[i].name) ? cbx_child_at(list, callers[i].position) : NULL;
        if (function != NULL && cbx_c_is_doubtful_target(c, function)) {
            cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL,
                              cbx_str_sub(cbx_c_text(c, function), 0, 40), call);
        }
    }
}

/* --- addresses ------------------------------------------------------------------------------- */

void cbx_c_check_offset(struct cbx_c_walk *c, const struct cbx_node *binary)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct cbx_node *operand = cbx_child_at(binary, i);
        while (cbx_c_kind(operand) == CN_parenthesized_expression) {
            operand = cbx_child_at(operand, 0);
        }
        struct cbx_node *value = cbx_c_strip(operand);
        const struct cbx_c_name *own =
            cbx_c_kind(value) == CN_identifier ? cbx_c_name_find(c, value) : NULL;
        bool function = cbx_c_kind(value) == CN_identifier &&
                        (own != NULL ? own->what == CBX_C_FUNCTION : true);
        struct cbx_str text = cbx_c_text(c, value);
        bool library = own == NULL && text.len > 0 && text.p[0] >= 'a' && text.p[0] <= 'z' &&
                       !cbx_str_starts(text, CBX_STR("std")) && !cbx_str_is(text, "environ") &&
                       !cbx_str_starts(text, CBX_STR("opt")) && !cbx_str_is(text, "errno");
        const struct cbx_node *type = cbx_child_of(operand, CBX_FIELD_type);
        bool pointer =
            cbx_c_kind(cbx_child_of(type, CBX_FIELD_declarator)) == CN_abstract_pointer_declarator;
        if (cbx_c_kind(operand) == CN_cast_expression && pointer && function &&
            (own != NULL || library)) {
            cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL, text, binary);
        }
    }
}

/* --- unions ----------------------------------------------------------------------------------- */

/* Returns the variable that contains a member: u of u.a.b, p of p->a. */
static const struct cbx_node *root_of(const struct cbx_node *field)
{
    while (cbx_c_kind(field) == CN_field_expression ||
           cbx_c_kind(field) == CN_subscript_expression ||
           cbx_c_kind(field) == CN_parenthesized_expression ||
           cbx_c_kind(field) == CN_pointer_expression) {
        const struct cbx_node *inner = cbx_child_of(field, CBX_FIELD_argument);
        field = inner != NULL ? inner : cbx_child_at(field, 0);
    }
    return field;
}

static const struct cbx_node *function_of(const struct cbx_node *node)
{
    while (node != NULL && cbx_c_kind(node) != CN_function_definition) {
        node = node->parent;
    }
    return node;
}

/* Linux maps nothing at small numbers (vm.mmap_min_addr): such a number is the address of no
 * function. */
static void note_write(struct cbx_c_walk *c, const struct cbx_node *root, struct cbx_node *value,
                       const struct cbx_node *where)
{
    enum { MAPPED_MIN = 65536 };
    int64_t number = MAPPED_MIN;
    struct cbx_node *spelled = cbx_c_strip(value);
    bool small = cbx_c_kind(spelled) == CN_number_literal &&
                 cbx_fold_integer(cbx_c_text(c, spelled), &number) && number < MAPPED_MIN;
    if (!small && c->union_write_count < CBX_C_UNION_WRITES_MAX) {
        c->union_writes[c->union_write_count++] =
            (struct cbx_c_union_write){ cbx_c_text(c, root), function_of(where) };
    }
}

/* Notes u.number = x, and { .number = x }, if a union with a function has the member `number`. */
void cbx_c_note_union(struct cbx_c_walk *c, const struct cbx_node *node)
{
    if (cbx_c_kind(node) == CN_assignment_expression) {
        const struct cbx_node *left = cbx_child_of(node, CBX_FIELD_left);
        if (cbx_c_kind(left) == CN_field_expression &&
            cbx_c_is_union_field(c, cbx_c_text(c, cbx_child_of(left, CBX_FIELD_field)))) {
            struct cbx_str operation = cbx_c_text(c, cbx_child_of(node, CBX_FIELD_operator));
            bool sets = cbx_str_is(operation, "=");
            note_write(c, root_of(left), sets ? cbx_child_of(node, CBX_FIELD_right) : NULL, node);
        }
        return;
    }
    const struct cbx_node *declaration = node;
    while (declaration != NULL && cbx_c_kind(declaration) != CN_init_declarator) {
        declaration = declaration->parent;
    }
    enum cbx_c_what what;
    struct cbx_node *declarator = cbx_child_of(declaration, CBX_FIELD_declarator);
    const struct cbx_node *name = declarator != NULL ? cbx_c_declared(declarator, &what) : NULL;
    if (name != NULL && cbx_c_is_union_field(c, cbx_c_text(c, cbx_child_at(node, 0)))) {
        note_write(c, name, cbx_child_of(node, CBX_FIELD_value), node);
    }
}

/* Checks u.f() in a function that writes another member of u. */
void cbx_c_check_union(struct cbx_c_walk *c, const struct cbx_node *call)
{
    const struct cbx_node *callee = cbx_child_of(call, CBX_FIELD_function);
    while (cbx_c_kind(callee) == CN_parenthesized_expression ||
           cbx_c_kind(callee) == CN_pointer_expression) {
        callee = cbx_child_of(callee, CBX_FIELD_argument) != NULL
                     ? cbx_child_of(callee, CBX_FIELD_argument)
                     : cbx_child_at(callee, 0);
    }
    if (c->union_write_count == 0 || cbx_c_kind(callee) != CN_field_expression ||
        !cbx_c_is_union_function(c, cbx_c_text(c, cbx_child_of(callee, CBX_FIELD_field)))) {
        return;
    }
    struct cbx_str root = cbx_c_text(c, root_of(callee));
    const struct cbx_node *function = function_of(call);
    /* the array is full: there may be more writes */
    bool written = c->union_write_count == CBX_C_UNION_WRITES_MAX;
    for (uint32_t i = 0; i < c->union_write_count; i++) {
        written |=
            c->union_writes[i].function == function && cbx_str_equal(c->union_writes[i].root, root);
    }
    if (written) {
        cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL, cbx_str_sub(cbx_c_text(c, callee), 0, 40),
                          call);
    }
}
