/* SPDX-License-Identifier: MIT
 * The table of the variables and functions of a shell text. */
#include "analyzer/lang/shell/internal.h"

#include <ctype.h>
#include <string.h>

static struct cbx_shell_name *find(const struct cbx_shell_names *names, struct cbx_str name)
{
    struct cbx_shell_name *n = cbx_table_find(&names->table, NULL, cbx_name_hash(name));
    while (n != NULL && !cbx_str_equal(n->name, name)) {
        n = n->next;
    }
    return n;
}

struct cbx_shell_name *cbx_shell_name_find(const struct cbx_shell *s, struct cbx_str name)
{
    return find(&s->names, name);
}

struct cbx_shell_name *cbx_shell_name_make(struct cbx_shell *s, struct cbx_str name)
{
    struct cbx_shell_name *n = find(&s->names, name);
    if (n != NULL) {
        return n;
    }
    n = cbx_arena_alloc(s->parsed->arena, sizeof(*n));
    if (n == NULL) {
        s->names.lost = true;
        return NULL;
    }
    void **chain = cbx_table_slot(s->parsed->arena, &s->names.table, NULL, cbx_name_hash(name));
    *n = (struct cbx_shell_name){ .name = name,
                                  .constant = true,
                                  .since = UINT32_MAX,
                                  .function_since = UINT32_MAX,
                                  .next = *chain };
    *chain = n;
    return n;
}

/* Returns true if the text gives other meanings to the words of cbx_shell_fold_folder. */
static bool redefines_folders(const struct cbx_shell *s)
{
    static const char *const words[] = { "HOME",    "PWD",      "pwd",     "cd",
                                         "dirname", "realpath", "readlink" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const struct cbx_shell_name *n = find(&s->names, cbx_str_of(words[i]));
        if (n != NULL && (n->function || n->assigned)) {
            return true;
        }
    }
    return false;
}

bool cbx_shell_variable(const struct cbx_shell *s, struct cbx_str name, uint32_t at,
                        struct cbx_str *out)
{
    const struct cbx_shell_name *n = find(&s->names, name);
    if (n == NULL || s->names.lost || !n->constant || n->since > at ||
        (n->of_folder && redefines_folders(s))) {
        return false;
    }
    *out = n->value;
    return true;
}

const struct cbx_shell_loop *cbx_shell_loop_of(const struct cbx_shell *s,
                                               const struct cbx_shell_name *name, uint32_t at)
{
    size_t low = 0, high = name != NULL ? name->loop_count : 0;
    while (low < high) { /* the last loop that begins before the place */
        size_t middle = low + (high - low) / 2;
        if (name->loops[middle].from <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    while (low > 0 && at >= name->loops[low - 1].until) {
        low = name->loops[low - 1].around;
    }
    const struct cbx_shell_loop *found = low > 0 ? &name->loops[low - 1] : NULL;
    bool certain = found != NULL && !found->changed && found->turn_count > 0 && !s->names.lost &&
                   name->inside == found->inside;
    return certain ? found : NULL;
}

bool cbx_shell_assigned(const struct cbx_shell *s, struct cbx_str name)
{
    const struct cbx_shell_name *n = find(&s->names, name);
    return s->names.lost || (n != NULL && n->assigned);
}

/* Returns true for the name of a program that an image may have. */
static bool is_program(struct cbx_str name)
{
    static const char *const programs[] = {
#define CBX_PROGRAM(name) name,
#include "analyzer/lang/shell/programs.def"
#define CBX_RUNNER(name, ...)      name,
#define CBX_INTERPRETER(name, ...) name,
#define CBX_SHELL_WORD(name)       name,
#include "analyzer/lang/shell/commands.def"
    };
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (cbx_str_glob(cbx_str_of(programs[i]), name)) {
            return true;
        }
    }
    return memchr(name.p, '/', name.len) != NULL;
}

bool cbx_shell_function(const struct cbx_shell *s, struct cbx_str name, uint32_t at)
{
    const struct cbx_shell_name *n = find(&s->names, name);
    if (n == NULL || !n->function || n->unset || s->names.lost) {
        return false;
    }
    if (n->earlier && !is_program(name)) {
        return true;
    }
    if (n->function_since == UINT32_MAX) {
        return false;
    }
    /* the body of a function runs only when the function is called */
    return n->function_since <= at || n == s->function ||
           (s->function != NULL && n->function_since <= s->names.first_call);
}

bool cbx_shell_may_be_function(const struct cbx_shell *s, struct cbx_str name)
{
    const struct cbx_shell_name *n = find(&s->names, name);
    return s->names.lost || (n != NULL && n->function);
}
