/* SPDX-License-Identifier: MIT
 * Semver 2.0.0, and the ranges of npm. */
#include "policies/versions/version.h"

#include "policies/versions/version_scan.h"

#include <ctype.h>

/* --- versions --------------------------------------------------------------------------------- */

static bool is_identifier_char(char c)
{
    return isalnum((unsigned char)c) || c == '-';
}

static bool is_number(struct cbx_str text)
{
    size_t n = 0;
    while (n < text.len && cbx_scan_is_digit(text.p[n])) {
        n++;
    }
    return n > 0 && n == text.len;
}

/* Identifiers between dots, none of them empty; no number of a pre-release begins with 0. */
static bool are_identifiers(struct cbx_str text, bool pre)
{
    do {
        struct cbx_str all = text, one = cbx_scan_until(&text, ".");
        bool zero = one.len > 1 && one.p[0] == '0' && is_number(one);
        if (one.len == 0 || (pre && zero) || (text.len == 0 && one.len < all.len)) {
            return false;
        }
        for (size_t i = 0; i < one.len; i++) {
            if (!is_identifier_char(one.p[i])) {
                return false;
            }
        }
    } while (text.len > 0);
    return true;
}

/* Takes "-pre" and "+build", the rest of a version. */
static bool take_tail(struct cbx_str text, struct cbx_str *pre, struct cbx_str *build)
{
    const char *plus = text.len > 0 ? memchr(text.p, '+', text.len) : NULL;
    size_t end = plus != NULL ? (size_t)(plus - text.p) : text.len;
    struct cbx_str before = cbx_str_sub(text, 0, end);
    *build = cbx_str_sub(text, end + 1, text.len);
    *pre = cbx_str_sub(before, 1, before.len);
    return (before.len == 0 || (before.p[0] == '-' && are_identifiers(*pre, true))) &&
           (plus == NULL || are_identifiers(*build, false));
}

bool cbx_semver_parse(struct cbx_str text, struct cbx_semver *out)
{
    struct cbx_semver v = { 0 };
    for (size_t i = 0; i < 3; i++) {
        bool zero = text.len > 1 && text.p[0] == '0' && cbx_scan_is_digit(text.p[1]);
        if (text.len == 0 || !cbx_scan_is_digit(text.p[0]) || zero) {
            return false;
        }
        v.number[i] = cbx_scan_number(&text);
        if (i < 2 && (text.len == 0 || text.p[0] != '.')) {
            return false;
        }
        text = cbx_str_sub(text, i < 2, text.len);
    }
    if (!take_tail(text, &v.pre, &v.build)) {
        return false;
    }
    *out = v;
    return true;
}

/* Numbers are below words; words are ordered by their bytes. */
static int order_identifier(struct cbx_str a, struct cbx_str b)
{
    bool x = is_number(a), y = is_number(b);
    if (x != y) {
        return x ? -1 : 1;
    }
    if (x) {
        struct cbx_str m = cbx_scan_number(&a), n = cbx_scan_number(&b);
        return cbx_scan_order(m, n);
    }
    size_t shared = a.len < b.len ? a.len : b.len;
    int o = memcmp(a.p, b.p, shared);
    return o != 0 ? (o > 0) - (o < 0) : (a.len > b.len) - (a.len < b.len);
}

/* A pre-release is below its release; fewer identifiers are below more. */
static int order_pre(struct cbx_str a, struct cbx_str b)
{
    if (a.len == 0 || b.len == 0) {
        return (a.len == 0) - (b.len == 0);
    }
    while (a.len > 0 && b.len > 0) {
        struct cbx_str m = cbx_scan_until(&a, "."), n = cbx_scan_until(&b, ".");
        int o = order_identifier(m, n);
        if (o != 0) {
            return o;
        }
    }
    return (a.len > 0) - (b.len > 0);
}

int cbx_semver_order(const struct cbx_semver *a, const struct cbx_semver *b)
{
    for (size_t i = 0; i < 3; i++) {
        int order = cbx_scan_order(a->number[i], b->number[i]);
        if (order != 0) {
            return order;
        }
    }
    return order_pre(a->pre, b->pre);
}

/* --- npm's versions: numbers have a bound there ----------------------------------------------- */

#define NPM_MAX 9007199254740991 /* 2^53 - 1 */

struct npm {
    int64_t number[3]; /* -1: x, or missing */
    struct cbx_str pre;
};

static int order(const struct npm *a, const struct npm *b)
{
    for (size_t i = 0; i < 3; i++) {
        if (a->number[i] != b->number[i]) {
            return a->number[i] < b->number[i] ? -1 : 1;
        }
    }
    return order_pre(a->pre, b->pre);
}

static bool take_part(struct cbx_str *text, int64_t *out)
{
    *out = -1;
    if (text->len > 0 && strchr("xX*", text->p[0]) != NULL && text->p[0] != '\0') {
        *text = cbx_str_sub(*text, 1, text->len);
        return true;
    }
    if (text->len == 0 || !cbx_scan_is_digit(text->p[0])) {
        return false;
    }
    struct cbx_str digits = cbx_scan_number(text);
    int64_t value = 0;
    for (size_t i = 0; i < digits.len && digits.len <= 16; i++) {
        value = value * 10 + (digits.p[i] - '0');
    }
    *out = value;
    return digits.len <= 16 && value <= NPM_MAX;
}

/* Reads "1", "1.2", "1.x", "v1.2.3-rc.1+build"; no number follows an x. "" is all x. */
static bool read_partial(struct cbx_str text, struct npm *out)
{
    struct cbx_str build;
    *out = (struct npm){ .number = { -1, -1, -1 } };
    while (text.len > 0 && (text.p[0] == 'v' || text.p[0] == '=')) {
        text = cbx_scan_trim(cbx_str_sub(text, 1, text.len));
    }
    size_t i = 0;
    while (text.len > 0 && i < 3) {
        if (!take_part(&text, &out->number[i])) {
            return false;
        }
        i++;
        if (i == 3 || text.len == 0) {
            break;
        }
        if (text.p[0] != '.' || text.len == 1) {
            return false;
        }
        text = cbx_str_sub(text, 1, text.len);
    }
    if ((out->number[0] < 0 && out->number[1] >= 0) ||
        (out->number[1] < 0 && out->number[2] >= 0)) {
        return false; /* 1.x.2 */
    }
    return take_tail(text, &out->pre, &build) && (i == 3 || text.len == 0);
}

static bool read_full(struct cbx_str text, struct npm *out)
{
    return read_partial(cbx_scan_trim(text), out) && out->number[2] >= 0;
}

/* --- comparators ------------------------------------------------------------------------------ */

struct bounds {
    /* above: low itself is excluded; up_to: high itself is included */
    bool has_low, has_high, above, up_to;
    struct npm low, high;
};

/* Returns the first version after all that begin with the first `parts` parts: 2.0.0-0 after 1. */
static struct npm behind(const struct npm *v, size_t parts)
{
    struct npm end = { .number = { 0 }, .pre = CBX_STR("0") };
    memcpy(end.number, v->number, parts * sizeof(end.number[0]));
    end.number[parts - 1]++;
    return end;
}

static struct npm floor_of(const struct npm *v)
{
    struct npm low = *v;
    for (size_t i = 0; i < 3; i++) {
        low.number[i] = low.number[i] < 0 ? 0 : low.number[i];
    }
    low.pre = v->number[2] < 0 ? (struct cbx_str){ 0 } : v->pre;
    return low;
}

/* Returns the number of given parts. */
static size_t parts_of(const struct npm *v)
{
    size_t parts = 0;
    while (parts < 3 && v->number[parts] >= 0) {
        parts++;
    }
    return parts;
}

static void bound_low(struct bounds *b, struct npm v, bool above)
{
    b->has_low = true;
    b->low = v;
    b->above = above;
}

static void bound_high(struct bounds *b, struct npm v, bool up_to)
{
    b->has_high = true;
    b->high = v;
    b->up_to = up_to;
}

/* Bounds the versions that begin with the first `parts` parts of v, from v on. */
static void bound_series(struct bounds *b, const struct npm *v, size_t parts)
{
    bound_low(b, floor_of(v), false);
    bound_high(b, behind(v, parts), false);
}

/* ^1.2 keeps its first part that is not 0. */
static size_t caret_parts(const struct npm *v)
{
    size_t given = parts_of(v), i = 1;
    while (i < given && v->number[i - 1] == 0) {
        i++;
    }
    return i;
}

static void bound_compared(struct bounds *b, struct cbx_str op, const struct npm *v)
{
    static const struct npm least = { .pre = { "0", 1 } };
    size_t parts = parts_of(v);
    bool or_equal = op.len > 1, greater = op.p[0] == '>';
    struct npm next = parts > 0 ? behind(v, parts) : least, low = floor_of(v);
    if (parts == 0) {
        if (!or_equal) {
            bound_high(b, least, false); /* >* and <* match nothing */
        }
    } else if (parts == 3) {
        if (greater) {
            bound_low(b, *v, !or_equal);
        } else {
            bound_high(b, *v, or_equal);
        }
    } else if (greater && or_equal) {
        bound_low(b, low, false);
    } else if (greater) {
        next.pre.len = 0;
        bound_low(b, next, false);
    } else {
        low.pre = CBX_STR("0");
        bound_high(b, or_equal ? next : low, false);
    }
}

static bool read_bounds(struct cbx_str op, struct cbx_str text, struct bounds *out)
{
    struct npm v;
    *out = (struct bounds){ 0 };
    if (!read_partial(text, &v)) {
        return false;
    }
    size_t parts = parts_of(&v);
    bool caret = cbx_str_is(op, "^"), tilde = cbx_str_is(op, "~") || cbx_str_is(op, "~>");
    if (cbx_str_is(op, "<") || cbx_str_is(op, "<=") || cbx_str_is(op, ">") ||
        cbx_str_is(op, ">=")) {
        bound_compared(out, op, &v);
        return true;
    }
    if (parts == 3 && op.len == 0) {
        bound_low(out, v, false);
        bound_high(out, v, true);
    } else if (parts > 0) { /* no parts: any version */
        if (caret) {
            parts = caret_parts(&v);
        } else if (tilde) {
            parts = parts > 1 ? 2 : 1;
        }
        bound_series(out, &v, parts);
    }
    return caret || tilde || op.len == 0;
}

/* --- ranges ----------------------------------------------------------------------------------- */

/* The check of one version by an alternative. `named`: one of its comparators has a pre-release
 * of the same three numbers. */
struct view {
    struct npm version;
    bool holds, named;
};

static bool same_numbers(const struct npm *a, const struct npm *b)
{
    return memcmp(a->number, b->number, sizeof(a->number)) == 0;
}

static void see(struct view *v, const struct bounds *b)
{
    int low = b->has_low ? order(&v->version, &b->low) : 1;
    int high = b->has_high ? order(&v->version, &b->high) : -1;
    v->holds &= (low > 0 || (low == 0 && !b->above)) && (high < 0 || (high == 0 && b->up_to));
    v->named |= (b->has_low && b->low.pre.len > 0 && same_numbers(&v->version, &b->low)) ||
                (b->has_high && b->high.pre.len > 0 && same_numbers(&v->version, &b->high));
}

static bool is_in(const struct view *v)
{
    return v->holds && (v->version.pre.len == 0 || v->named);
}

enum { VIEWS = 2 };

struct alternative {
    struct view views[VIEWS];
    bool above; /* true if no version of it is below the first view's version */
};

static void take_bounds(struct alternative *a, const struct bounds *b)
{
    for (size_t i = 0; i < VIEWS; i++) {
        see(&a->views[i], b);
    }
    a->above |= b->has_low && order(&b->low, &a->views[0].version) >= 0;
}

/* "1.2 - 2": from the first version to all versions that begin with the second. */
static bool take_hyphen(struct alternative *a, struct cbx_str from, struct cbx_str to)
{
    struct bounds low, high;
    bool ok = read_bounds(CBX_STR(">="), cbx_scan_trim(from), &low) &&
              read_bounds(CBX_STR("<="), cbx_scan_trim(to), &high);
    if (ok) {
        take_bounds(a, &low);
        take_bounds(a, &high);
    }
    return ok;
}

static size_t word_end(struct cbx_str text, size_t n)
{
    while (n < text.len && memchr(" \t\r\n\v\f", text.p[n], 6) == NULL) {
        n++;
    }
    return n;
}

/* <, <=, >, >=, ^, ~, ~> */
static size_t operator_length(struct cbx_str text)
{
    char first = text.p[0], second = text.len > 1 ? text.p[1] : '\0';
    bool compares = first == '<' || first == '>';
    return compares ? 1 + (second == '=') : first == '~' ? 1 + (second == '>') : first == '^';
}

/* Removes 'v', '=' and white space in front. */
static struct cbx_str cut_prefix(struct cbx_str text)
{
    size_t n = 0;
    while (n < text.len && memchr("v= \t\r\n\v\f", text.p[n], 8) != NULL) {
        n++;
    }
    return cbx_str_sub(text, n, text.len);
}

/* Reads adjacent comparators; white space may follow an operator. */
static bool take_comparators(struct alternative *a, struct cbx_str text)
{
    for (text = cbx_scan_trim(text); text.len > 0; text = cbx_scan_trim(text)) {
        struct bounds b;
        struct cbx_str op = cbx_str_sub(text, 0, operator_length(text));
        text = cut_prefix(cbx_str_sub(text, op.len, text.len));
        size_t n = word_end(text, 0);
        if (!read_bounds(op, cbx_str_sub(text, 0, n), &b)) {
            return false;
        }
        take_bounds(a, &b);
        text = cbx_str_sub(text, n, text.len);
    }
    return true;
}

static bool read_alternative(struct cbx_str text, const struct npm versions[VIEWS],
                             struct alternative *out)
{
    *out = (struct alternative){ .views = { { versions[0], true, false },
                                            { versions[1], true, false } } };
    struct cbx_str to = cbx_scan_trim(text), from = cbx_scan_until(&to, " - ");
    return to.len > 0 ? take_hyphen(out, from, to) : take_comparators(out, text);
}

enum cbx_match_result cbx_npm_matches(struct cbx_str range, struct cbx_str version)
{
    struct npm versions[VIEWS];
    struct alternative a;
    bool any = false;
    if (!read_full(version, &versions[0])) {
        return CBX_MATCH_MALFORMED;
    }
    versions[1] = versions[0];
    do {
        bool more = memmem(range.p != NULL ? range.p : "", range.len, "||", 2) != NULL;
        if (!read_alternative(cbx_scan_until(&range, "||"), versions, &a)) {
            return CBX_MATCH_MALFORMED;
        }
        any |= is_in(&a.views[0]);
        if (!more) {
            return any ? CBX_MATCH_YES : CBX_MATCH_NO;
        }
    } while (true);
}

bool cbx_npm_below(struct cbx_str range, struct cbx_str minimum)
{
    struct npm versions[VIEWS];
    struct alternative a;
    bool above = true, more = true, in = false;
    if (!read_partial(cbx_scan_trim(minimum), &versions[0]) || versions[0].number[0] < 0) {
        return true;
    }
    versions[0] = floor_of(&versions[0]);
    versions[1] = versions[0]; /* if the minimum is a pre-release: its release is enough */
    versions[1].pre = (struct cbx_str){ 0 };
    if (cbx_str_is(cbx_scan_trim(range), "latest")) {
        return false;
    }
    while (more) {
        more = memmem(range.p != NULL ? range.p : "", range.len, "||", 2) != NULL;
        if (!read_alternative(cbx_scan_until(&range, "||"), versions, &a)) {
            return true;
        }
        in |= is_in(&a.views[0]) || is_in(&a.views[1]);
        above &= a.above;
    }
    return !in && !above;
}
