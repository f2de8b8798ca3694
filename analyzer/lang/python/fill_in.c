/* SPDX-License-Identifier: MIT
 * Substitutions of IPython in a line of shell: {name} and $name, where the value of the name is one
 * constant of the program. */
#include "analyzer/lang/python/magics.h"
#include "analyzer/lang/scope.h"

#include <ctype.h>

static size_t end_of_name(struct cbx_str line, size_t at)
{
    while (at < line.len &&
           (line.p[at] == '_' || line.p[at] == '.' || isalnum((unsigned char)line.p[at]))) {
        at++;
    }
    return at;
}

/* The constant value of the name; false when it is not constant, or may differ. */
static bool constant_of(struct cbx_walk *walk, struct cbx_str name, struct cbx_str *out)
{
    bool gaps = false;
    if (cbx_str_is(name, "sys.executable")) { /* the usual name of the kernel's own interpreter */
        *out = CBX_STR("python");
        return true;
    }
    const struct cbx_values *values = cbx_scope_lookup(walk, walk->module, name);
    *out = values != NULL ? cbx_values_piece(values, &gaps) : *out;
    return values != NULL && !gaps;
}

struct cbx_str cbx_fill_in(const struct cbx_parsed *parsed, struct cbx_str line)
{
    struct cbx_str out = CBX_STR(""), value;
    size_t from = 0;
    for (size_t at = 0; parsed->walk != NULL && at + 1 < line.len; at++) {
        bool braces = line.p[at] == '{', dollar = line.p[at] == '$';
        if ((braces || dollar) && line.p[at + 1] == line.p[at]) {
            at++; /* {{ and $$ are escapes */
            continue;
        }
        size_t end = braces || dollar ? end_of_name(line, at + 1) : at;
        bool closed = !braces || (end < line.len && line.p[end] == '}');
        if (end > at + 1 && closed &&
            constant_of(parsed->walk, cbx_str_sub(line, at + 1, end), &value)) {
            out = cbx_fold_concat(parsed->arena, out, cbx_str_sub(line, from, at));
            out = cbx_fold_concat(parsed->arena, out, value);
            from = end + braces;
            at = from - 1;
        }
    }
    out = from > 0 ? cbx_fold_concat(parsed->arena, out, cbx_str_sub(line, from, line.len)) : line;
    return out.p != NULL ? out : line;
}
