/* SPDX-License-Identifier: MIT
 * Conditions on the arguments of a call. */
#include "analyzer/conditions.h"

#include <stdlib.h>

static bool any_glob(const struct cbx_strs *globs, struct cbx_str value, bool path)
{
    for (size_t i = 0; i < globs->count; i++) {
        if (path ? cbx_str_glob_path(globs->items[i], value)
                 : cbx_str_glob(globs->items[i], value)) {
            return true;
        }
    }
    return false;
}

/* A path as the sandbox sees it: absolute, in /workspace when relative, without "." and "..". */
static struct cbx_str resolve(struct cbx_arena *arena, struct cbx_str path)
{
    char *out = cbx_arena_alloc(arena, path.len + 16);
    size_t n = 0;
    if (out == NULL || path.len > 4096) {
        return path;
    }
    if (path.len == 0 || path.p[0] != '/') {
        memcpy(out, "/workspace", 10);
        n = 10;
    }
    for (size_t at = 0; at < path.len;) {
        size_t end = at;
        while (end < path.len && path.p[end] != '/') {
            end++;
        }
        struct cbx_str part = cbx_str_sub(path, at, end);
        if (cbx_str_is(part, "..")) {
            while (n > 0 && out[--n] != '/') {
            }
        } else if (part.len > 0 && !cbx_str_is(part, ".")) {
            out[n++] = '/';
            memcpy(out + n, part.p, part.len);
            n += part.len;
        }
        at = end + 1;
    }
    if (n == 0) {
        out[n++] = '/';
    }
    return (struct cbx_str){ .p = out, .len = n };
}

static const struct cbx_arg *find_argument(const struct cbx_fact *fact,
                                           const struct cbx_strs *names)
{
    for (uint32_t a = 0; a < fact->arg_count; a++) {
        const struct cbx_arg *arg = &fact->args[a];
        for (size_t n = 0; n < names->count; n++) {
            struct cbx_str name = names->items[n];
            bool position = name.len > 0 && name.p[0] >= '0' && name.p[0] <= '9';
            if (position
                    ? arg->keyword.len == 0 && arg->position == (uint32_t)strtoul(name.p, NULL, 10)
                    : cbx_str_equal(arg->keyword, name)) {
                return arg;
            }
        }
    }
    return NULL;
}

static bool condition_holds(struct cbx_arena *arena, const struct cbx_fact *fact,
                            const struct cbx_where *w)
{
    const struct cbx_arg *arg = find_argument(fact, &w->arg);
    if (arg == NULL && fact->spread) {
        return w->unknown_holds; /* it may be among *args */
    }
    if ((w->presence == CBX_PRESENT && arg == NULL) || (w->presence == CBX_ABSENT && arg != NULL)) {
        return false;
    }
    if (arg == NULL) {
        return w->not_matches.count > 0 || w->presence == CBX_ABSENT;
    }
    if ((w->constant == CBX_PRESENT && !arg->constant) ||
        (w->constant == CBX_ABSENT && arg->constant)) {
        return false;
    }
    bool tests = w->matches.count > 0 || w->not_matches.count > 0 || w->outside.count > 0 ||
                 w->inside.count > 0;
    if (!arg->known) {
        return !tests || w->unknown_holds;
    }
    if ((w->matches.count > 0 && !any_glob(&w->matches, arg->value, false)) ||
        (w->not_matches.count > 0 && any_glob(&w->not_matches, arg->value, false))) {
        return false;
    }
    if ((w->outside.count > 0 || w->inside.count > 0) && !arg->constant) {
        return w->unknown_holds;
    }
    struct cbx_str path =
        w->outside.count > 0 || w->inside.count > 0 ? resolve(arena, arg->value) : arg->value;
    return !(w->outside.count > 0 && any_glob(&w->outside, path, true)) &&
           !(w->inside.count > 0 && !any_glob(&w->inside, path, true));
}

bool cbx_call_holds(const struct cbx_call *call, const struct cbx_fact *fact,
                    struct cbx_arena *arena)
{
    if (fact->kind != CBX_IS_CALL) {
        return call->where_count == 0; /* handed on: who knows with which arguments */
    }
    for (size_t i = 0; i < call->where_count; i++) {
        if (!condition_holds(arena, fact, &call->where[i])) {
            return false;
        }
    }
    return true;
}
