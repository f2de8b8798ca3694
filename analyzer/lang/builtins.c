/* SPDX-License-Identifier: MIT
 * Builtins whose names the text binds. A name may have any value that the text binds to it; it
 * stops being the builtin only after a binding that has certainly happened before the use. */
#include "analyzer/lang/builtins.h"

static size_t find(const struct cbx_builtins *language, struct cbx_str name)
{
    size_t i = 0;
    while (i < language->count && !cbx_str_is(name, language->names[i])) {
        i++;
    }
    return i;
}

void cbx_builtins_begin(struct cbx_walk *walk, const struct cbx_builtins *language)
{
    walk->builtin_names = language;
    for (size_t i = 0; i < language->count; i++) {
        walk->builtins |= cbx_name_bit(cbx_str_of(language->names[i]));
    }
}

/* Returns the scope whose binding a use of the name reads: the module's or a class's; NULL if a
 * function or the like binds the name. */
static struct cbx_scope *scope_of_use(struct cbx_walk *walk, const struct cbx_node *use,
                                      struct cbx_str name)
{
    struct cbx_scope *around = cbx_scope_around(walk, use), *s = around;
    for (; s != NULL && s->parent != NULL; s = s->parent) {
        bool reaches = s->kind != CBX_SCOPE_CLASS || s == around;
        const struct cbx_binding *chain = reaches ? cbx_scope_chain(walk, s, name) : NULL;
        if (chain != NULL && chain->kind != CBX_BIND_GLOBAL) {
            return s->kind == CBX_SCOPE_CLASS ? s : NULL;
        }
    }
    return s;
}

/* Adds the builtin to the possible values of the name in the scope, once. */
static void keep(struct cbx_walk *walk, struct cbx_scope *scope, struct cbx_str name)
{
    const struct cbx_binding *b = cbx_scope_chain(walk, scope, name);
    while (b != NULL && !(b->kind == CBX_BIND_VALUES && b->builtin)) {
        b = b->next;
    }
    struct cbx_binding *added =
        b == NULL ? cbx_scope_bind(walk, scope, scope, name, CBX_BIND_VALUES, NULL) : NULL;
    if (added != NULL) {
        added->values = cbx_values_bare(walk->arena, name);
        added->builtin = true;
    }
}

/* Returns true if one of the bindings of the name in a module or file has certainly happened
 * before the use. */
static bool is_replaced(struct cbx_walk *walk, const struct cbx_builtins *language,
                        const struct cbx_node *use, const struct cbx_scope *scope,
                        struct cbx_str name)
{
    for (const struct cbx_binding *b = cbx_scope_chain(walk, scope, name); b != NULL; b = b->next) {
        uint32_t from = cbx_str_equal(b->name, name) ? language->holds_from(walk, b) : UINT32_MAX;
        if (from != UINT32_MAX &&
            (use->start >= from ||
             (language->runs_later != NULL && language->runs_later(walk, b, use, from)))) {
            return true;
        }
    }
    return false;
}

void cbx_builtins_keep(struct cbx_walk *walk, const struct cbx_builtins *language)
{
    for (uint32_t i = 0; walk->rebound != 0 && i < walk->syntax.count; i++) {
        const struct cbx_node *node = &walk->syntax.nodes[i];
        enum cbx_builtin_use what = language->use(node);
        struct cbx_str name = what != CBX_BUILTIN_NO_USE ? cbx_walk_text(walk, node) : CBX_STR("");
        if (name.len == 0 || (walk->rebound & cbx_name_bit(name)) == 0 ||
            find(language, name) == language->count) {
            continue;
        }
        struct cbx_scope *scope = scope_of_use(walk, node, name);
        if (scope != NULL && cbx_scope_chain(walk, scope, name) != NULL &&
            (what == CBX_BUILTIN_DELETED || scope->parent != NULL ||
             !is_replaced(walk, language, node, scope, name))) {
            keep(walk, scope, cbx_str_of(language->names[find(language, name)]));
        }
    }
}
