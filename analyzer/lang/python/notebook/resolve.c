/* SPDX-License-Identifier: MIT
 * The expansions of notebook lines, after the text is bound: IPython leaves a line unchanged if a
 * name in it does not exist ("!echo $HOME"), so the judgement of the line depends on the bound
 * names. */
#include "analyzer/lang/python/internal.h"
#include "analyzer/lang/python/notebook/magics.h"

bool cbx_py_is_given(struct cbx_str name)
{
    static const char *const names[] = {
#define CBX_BUILTIN(name) name,
#include "analyzer/lang/python/builtin_names.def"
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (cbx_str_is(name, names[i])) {
            return true;
        }
    }
    size_t digits = cbx_str_starts(name, CBX_STR("_i")) ? 2 : 1;
    bool numbered = name.len > digits && name.p[0] == '_';
    for (size_t i = digits; numbered && i < name.len; i++) {
        numbered = name.p[i] >= '0' && name.p[i] <= '9';
    }
    return numbered;
}

static bool is_bound(struct cbx_walk *py, const struct cbx_node *identifier)
{
    struct cbx_str name = cbx_py_text(py, identifier);
    bool bound = cbx_py_is_given(name);
    for (struct cbx_scope *s = cbx_scope_around(py, identifier); !bound && s != NULL;
         s = s->parent) {
        bound = cbx_scope_chain(py, s, name) != NULL;
    }
    return bound;
}

/* Returns true for an identifier that is read: no attribute, no keyword of a call. */
static bool is_read(const struct cbx_node *node)
{
    enum cbx_py_kind parent = cbx_py_kind(node->parent);
    return cbx_py_kind(node) == PY_identifier &&
           !(parent == PY_attribute && node->field == CBX_FIELD_attribute) &&
           !(parent == PY_keyword_argument && node->field == CBX_FIELD_name);
}

/* Returns the first node that begins at this byte or after it; NULL if there is none. */
static struct cbx_node *node_from(struct cbx_walk *py, uint32_t byte)
{
    uint32_t low = 0, high = py->syntax.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (py->syntax.nodes[middle].start < byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < py->syntax.count ? &py->syntax.nodes[low] : NULL;
}

static bool all_bound(struct cbx_walk *py, uint32_t start, uint32_t end)
{
    const struct cbx_node *last = py->syntax.nodes + py->syntax.count;
    for (const struct cbx_node *node = node_from(py, start);
         node != NULL && node < last && node->start < end; node++) {
        if (is_read(node) && !is_bound(py, node)) {
            return false;
        }
    }
    return true;
}

/* Returns true for the path of the kernel's own interpreter: the line gets a fixed name, so that
 * an assignment to sys.executable cannot start another program. */
static bool is_interpreter(struct cbx_str code)
{
    return cbx_str_is(cbx_fold_trim(code), "sys.executable");
}

/* Returns true if the value can become a literal of the program: a text of moderate size. */
static bool can_be_sealed(struct cbx_str value)
{
    enum { VALUE_MAX_BYTES = 4096 };
    size_t bad;
    return value.len <= VALUE_MAX_BYTES && cbx_str_is_utf8(value, &bad) &&
           (value.len == 0 || memchr(value.p, '\0', value.len) == NULL);
}

static void find_value(struct cbx_walk *py, struct cbx_placeholder *field, uint32_t at)
{
    struct cbx_node *node = node_from(py, at + field->start);
    if (is_interpreter(field->code)) {
        field->known = field->fixed = true;
        field->value = CBX_STR("python3");
    } else if (node != NULL && node->end <= at + field->end &&
               (field->conversion == 0 || field->conversion == 's')) {
        field->known =
            cbx_values_is_text(cbx_py_eval(py, node, cbx_scope_around(py, node)), &field->value) &&
            can_be_sealed(field->value);
    }
}

static void resolve(struct cbx_walk *py, const struct cbx_magic *magic)
{
    struct cbx_expansion *x = magic->expansion;
    uint32_t at = magic->text_start;
    x->state = CBX_EXPANSION_DONE;
    for (size_t i = 0; i < x->count && x->state == CBX_EXPANSION_DONE; i++) {
        const struct cbx_placeholder *field = &x->fields[i];
        bool bound =
            is_interpreter(field->code) || all_bound(py, at + field->start, at + field->end);
        x->state = bound ? CBX_EXPANSION_DONE : CBX_EXPANSION_NONE;
    }
    for (size_t i = 0; i < x->count && x->state == CBX_EXPANSION_DONE; i++) {
        find_value(py, &x->fields[i], at);
    }
}

void cbx_magic_resolve(struct cbx_walk *py)
{
    for (size_t i = 0; i < py->parsed->magic_count; i++) {
        const struct cbx_magic *magic = &py->parsed->magics[i];
        if (magic->expansion != NULL && magic->expansion->state == CBX_EXPANSION_OPEN) {
            resolve(py, magic);
        }
    }
}
