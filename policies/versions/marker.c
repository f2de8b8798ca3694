/* SPDX-License-Identifier: MIT
 * Markers of PEP 508. They have no negation, so one flag suffices: "and" never holds if one part
 * never holds, "or" never holds if no part may hold. */
#include "policies/versions/requirement.h"
#include "policies/versions/version.h"

#include <ctype.h>
#include <stdio.h>

enum { NESTING_MAX = 32, VERSION_MAX_BYTES = 64 };

/* The value in every sandbox; NULL: unknown. A version is any 3.x. */
static const struct variable {
    const char *name, *value;
    bool version;
} variables[] = {
    { "python_version", NULL, true },
    { "python_full_version", NULL, true },
    { "implementation_version", NULL, true },
    { "os_name", "posix", false },
    { "os.name", "posix", false },
    { "sys_platform", "linux", false },
    { "sys.platform", "linux", false },
    { "platform_system", "Linux", false },
    { "platform_python_implementation", "CPython", false },
    { "platform.python_implementation", "CPython", false },
    { "python_implementation", "CPython", false },
    { "implementation_name", "cpython", false },
    { "platform_machine", NULL, false },
    { "platform.machine", NULL, false },
    { "platform_release", NULL, false },
    { "platform_version", NULL, false },
    { "platform.version", NULL, false },
    { "extra", NULL, false },
    { "extras", NULL, false },
    { "dependency_groups", NULL, false },
};

struct operand {
    struct cbx_str text; /* true for a literal */
    const struct variable *variable;
};

static void skip_space(struct cbx_str *text)
{
    *text = cbx_str_trim_start(*text);
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static struct cbx_str take_word(struct cbx_str *text)
{
    size_t n = 0;
    while (n < text->len && is_word_char(text->p[n])) {
        n++;
    }
    struct cbx_str word = cbx_str_sub(*text, 0, n);
    *text = cbx_str_sub(*text, n, text->len);
    return word;
}

static bool take_literal(struct cbx_str *text, struct cbx_str *out)
{
    const char *end = memchr(text->p + 1, text->p[0], text->len - 1);
    if (end == NULL) {
        return false;
    }
    *out = cbx_str_sub(*text, 1, (size_t)(end - text->p));
    *text = cbx_str_sub(*text, (size_t)(end - text->p) + 1, text->len);
    return true;
}

static bool take_operand(struct cbx_str *text, struct operand *out)
{
    *out = (struct operand){ 0 };
    skip_space(text);
    if (text->len > 0 && (text->p[0] == '"' || text->p[0] == '\'')) {
        return take_literal(text, &out->text);
    }
    struct cbx_str word = take_word(text);
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        if (cbx_str_is(word, variables[i].name)) {
            out->variable = &variables[i];
            return true;
        }
    }
    return false;
}

/* "not in" is returned as "not". */
static bool take_operator(struct cbx_str *text, struct cbx_str *out)
{
    static const char *const symbols[] = { "===", "==", "!=", "~=", "<=", ">=", "<", ">" };
    skip_space(text);
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        if (cbx_str_starts(*text, cbx_str_of(symbols[i]))) {
            *out = cbx_str_of(symbols[i]);
            *text = cbx_str_sub(*text, out->len, text->len);
            return true;
        }
    }
    *out = take_word(text);
    if (cbx_str_is(*out, "not")) {
        skip_space(text);
        return cbx_str_is(take_word(text), "in");
    }
    return cbx_str_is(*out, "in");
}

/* --- what may hold ---------------------------------------------------------------------------- */

static bool may_be(const char *op, struct cbx_str text, const char *version)
{
    char specifier[VERSION_MAX_BYTES + 8];
    snprintf(specifier, sizeof(specifier), "%s%.*s", op, (int)text.len, text.p);
    return cbx_pep440_matches(cbx_str_of(specifier), cbx_str_of(version)) != CBX_MATCH_NO;
}

/* Returns true if this holds for some Python 3. Tries the lowest version, a very high one, and
 * the named one. */
static bool python_may(struct cbx_str op, struct cbx_str text)
{
    char symbol[4], named[VERSION_MAX_BYTES + 1];
    if (op.p[0] == 'i' || op.p[0] == 'n' || cbx_str_is(op, "===") || text.len > VERSION_MAX_BYTES) {
        return true; /* "3.8" in "3.8 3.9" */
    }
    snprintf(symbol, sizeof(symbol), "%.*s", (int)op.len, op.p);
    snprintf(named, sizeof(named), "%.*s", (int)text.len, text.p);
    bool three = text.len > 0 && text.p[0] == '3' && (text.len == 1 || text.p[1] == '.');
    return may_be(symbol, text, "3.0") || may_be(symbol, text, "3.99999") ||
           (three && may_be(symbol, text, named));
}

static bool text_may(struct cbx_str value, struct cbx_str op, struct cbx_str literal, bool swapped)
{
    struct cbx_str part = swapped ? literal : value, whole = swapped ? value : literal;
    bool in = part.len == 0 || memmem(whole.p, whole.len, part.p, part.len) != NULL;
    if (cbx_str_is(op, "==") || cbx_str_is(op, "===")) {
        return cbx_str_equal(value, literal);
    }
    if (cbx_str_is(op, "!=")) {
        return !cbx_str_equal(value, literal);
    }
    if (cbx_str_is(op, "in")) {
        return in;
    }
    return cbx_str_is(op, "not") ? !in : true;
}

/* "3.8" > python_version is python_version < "3.8". */
static struct cbx_str turn(struct cbx_str op)
{
    static const char *const turned[][2] = {
        { "<", ">" }, { ">", "<" }, { "<=", ">=" }, { ">=", "<=" }, { "~=", "===" }
    };
    for (size_t i = 0; i < sizeof(turned) / sizeof(turned[0]); i++) {
        if (cbx_str_is(op, turned[i][0])) {
            return cbx_str_of(turned[i][1]);
        }
    }
    return op;
}

static bool may_hold(const struct operand *left, struct cbx_str op, const struct operand *right)
{
    bool swapped = left->variable == NULL;
    const struct variable *variable = swapped ? right->variable : left->variable;
    const struct operand *other = swapped ? left : right;
    if (variable == NULL || other->variable != NULL) {
        return true;
    }
    if (variable->version) {
        return python_may(swapped ? turn(op) : op, other->text);
    }
    return variable->value == NULL ||
           text_may(cbx_str_of(variable->value), op, other->text, swapped);
}

/* --- and, or, parentheses --------------------------------------------------------------------- */

struct frame {
    bool any, all; /* result of the alternatives before; of the conjunction so far */
};

struct reading {
    struct cbx_str rest;
    struct frame frames[NESTING_MAX];
    size_t depth;
};

/* Opening parentheses, then a comparison. */
static bool take_comparison(struct reading *r)
{
    struct operand left, right;
    struct cbx_str op;
    for (skip_space(&r->rest); r->rest.len > 0 && r->rest.p[0] == '('; skip_space(&r->rest)) {
        if (r->depth + 1 == NESTING_MAX) {
            return false;
        }
        r->frames[++r->depth] = (struct frame){ .all = true };
        r->rest = cbx_str_sub(r->rest, 1, r->rest.len);
    }
    if (!take_operand(&r->rest, &left) || !take_operator(&r->rest, &op) ||
        !take_operand(&r->rest, &right)) {
        return false;
    }
    r->frames[r->depth].all &= may_hold(&left, op, &right);
    return true;
}

static bool take_closing(struct reading *r)
{
    for (skip_space(&r->rest); r->rest.len > 0 && r->rest.p[0] == ')'; skip_space(&r->rest)) {
        if (r->depth == 0) {
            return false;
        }
        struct frame inner = r->frames[r->depth--];
        r->frames[r->depth].all &= inner.any || inner.all;
        r->rest = cbx_str_sub(r->rest, 1, r->rest.len);
    }
    return true;
}

enum cbx_marker cbx_marker_read(struct cbx_str text)
{
    struct reading r = { .rest = text, .frames = { { .all = true } } };
    while (take_comparison(&r) && take_closing(&r)) {
        struct frame *f = &r.frames[r.depth];
        if (r.rest.len == 0) {
            return r.depth > 0        ? CBX_MARKER_MALFORMED
                   : f->any || f->all ? CBX_MARKER_MAY
                                      : CBX_MARKER_NEVER;
        }
        struct cbx_str word = take_word(&r.rest);
        if (cbx_str_is(word, "or")) {
            *f = (struct frame){ .any = f->any || f->all, .all = true };
        } else if (!cbx_str_is(word, "and")) {
            break;
        }
    }
    return CBX_MARKER_MALFORMED;
}
