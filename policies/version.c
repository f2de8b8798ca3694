/* SPDX-License-Identifier: MIT
 * Versions: PEP 440, appendix B of the specification, in the parts that order needs. */
#include "policies/version.h"

#include <stdint.h>
#include <stdio.h>

enum { RELEASE_MAX = 16 };

struct version {
    int64_t epoch, release[RELEASE_MAX];
    size_t count;
    int pre_kind;           /* 0 a, 1 b, 2 rc, 3 = none */
    int64_t pre, post, dev; /* post -1 = none; dev INT64_MAX = none */
    bool wildcard;
};

static bool take_number(struct cbx_str *text, int64_t *out)
{
    size_t n = 0;
    int64_t value = 0;
    while (n < text->len && n < 15 && text->p[n] >= '0' && text->p[n] <= '9') {
        value = value * 10 + (text->p[n++] - '0');
    }
    if (n == 0) {
        return false;
    }
    *out = value;
    *text = cbx_str_sub(*text, n, text->len);
    return true;
}

static bool take_word(struct cbx_str *text, const char *word)
{
    struct cbx_str w = cbx_str_of(word);
    for (size_t i = 0; i < w.len; i++) {
        if (i >= text->len || (text->p[i] | 32) != w.p[i]) {
            return false;
        }
    }
    *text = cbx_str_sub(*text, w.len, text->len);
    return true;
}

static void skip_separator(struct cbx_str *text)
{
    if (text->len > 0 && memchr(".-_", text->p[0], 3) != NULL) {
        *text = cbx_str_sub(*text, 1, text->len);
    }
}

/* The suffixes: a1, beta.2, rc3, .post1, -1, .dev0. */
static bool take_suffixes(struct cbx_str text, struct version *out)
{
    static const struct {
        const char *word;
        int kind; /* 0..2 pre, 3 post, 4 dev */
    } words[] = { { "alpha", 0 },   { "a", 0 },   { "beta", 1 }, { "b", 1 },
                  { "preview", 2 }, { "pre", 2 }, { "rc", 2 },   { "c", 2 },
                  { "post", 3 },    { "rev", 3 }, { "r", 3 },    { "dev", 4 } };
    while (text.len > 0) {
        int64_t number = 0;
        bool dash = text.p[0] == '-';
        skip_separator(&text);
        size_t i = 0;
        while (i < sizeof(words) / sizeof(words[0]) && !take_word(&text, words[i].word)) {
            i++;
        }
        if (i == sizeof(words) / sizeof(words[0])) {
            if (!dash || !take_number(&text, &number)) {
                return false;
            }
            out->post = number;
            continue;
        }
        skip_separator(&text);
        take_number(&text, &number);
        if (words[i].kind < 3) {
            out->pre_kind = words[i].kind;
            out->pre = number;
        } else if (words[i].kind == 3) {
            out->post = number;
        } else {
            out->dev = number;
        }
    }
    return true;
}

static bool parse(struct cbx_str text, struct version *out)
{
    *out = (struct version){ .pre_kind = 3, .post = -1, .dev = INT64_MAX };
    const char *plus = text.len > 0 ? memchr(text.p, '+', text.len) : NULL;
    if (plus != NULL) {
        text.len = (size_t)(plus - text.p);
    }
    if (text.len > 0 && (text.p[0] | 32) == 'v') {
        text = cbx_str_sub(text, 1, text.len);
    }
    const char *bang = text.len > 0 ? memchr(text.p, '!', text.len) : NULL;
    if (bang != NULL && (!take_number(&text, &out->epoch) || text.len == 0 || text.p[0] != '!')) {
        return false;
    }
    text = bang != NULL ? cbx_str_sub(text, 1, text.len) : text;
    do {
        if (cbx_str_is(text, "*")) {
            out->wildcard = true;
            return out->count > 0;
        }
        if (out->count == RELEASE_MAX || !take_number(&text, &out->release[out->count])) {
            return false;
        }
        out->count++;
        if (text.len < 2 || text.p[0] != '.' ||
            !((text.p[1] >= '0' && text.p[1] <= '9') || text.p[1] == '*')) {
            break;
        }
        text = cbx_str_sub(text, 1, text.len);
    } while (true);
    return take_suffixes(text, out);
}

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* 1.0.dev1 < 1.0a1 < 1.0b1 < 1.0rc1 < 1.0 < 1.0.post1 */
static int compare(const struct version *a, const struct version *b)
{
    int o = order(a->epoch, b->epoch);
    for (size_t i = 0; o == 0 && i < RELEASE_MAX; i++) {
        o = order(i < a->count ? a->release[i] : 0, i < b->count ? b->release[i] : 0);
    }
    bool a_dev_only = a->pre_kind == 3 && a->post < 0 && a->dev != INT64_MAX;
    bool b_dev_only = b->pre_kind == 3 && b->post < 0 && b->dev != INT64_MAX;
    o = o != 0 ? o : order(a_dev_only ? -1 : a->pre_kind, b_dev_only ? -1 : b->pre_kind);
    o = o != 0 ? o : order(a->pre, b->pre);
    o = o != 0 ? o : order(a->post, b->post);
    return o != 0 ? o : order(a->dev, b->dev);
}

int cbx_version_compare(struct cbx_str a, struct cbx_str b, bool *ok)
{
    struct version x, y;
    *ok = parse(a, &x) && parse(b, &y);
    return *ok ? compare(&x, &y) : 0;
}

void cbx_package_normalise(struct cbx_str name, char *out, size_t size)
{
    size_t n = 0;
    bool separator = false;
    for (size_t i = 0; i < name.len && n + 2 < size; i++) {
        char c = name.p[i];
        if (c == '-' || c == '_' || c == '.') {
            separator = true;
            continue;
        }
        if (separator && n > 0) {
            out[n++] = '-';
        }
        separator = false;
        out[n++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    out[n] = '\0';
}

/* The upper end that "~=1.4.2" has: 1.5. */
static void compatible_end(struct version *v)
{
    v->count -= v->count > 1;
    v->release[v->count - 1]++;
    v->pre_kind = 3;
    v->post = -1;
    v->dev = INT64_MAX;
}

static struct cbx_str trim(struct cbx_str text)
{
    while (text.len > 0 && (text.p[0] == ' ' || text.p[0] == '\t')) {
        text = cbx_str_sub(text, 1, text.len);
    }
    while (text.len > 0 && (text.p[text.len - 1] == ' ' || text.p[text.len - 1] == '\t')) {
        text.len--;
    }
    return text;
}

/* Does this one specifier keep everything it lets through below the minimum? */
static bool clause_below(struct cbx_str clause, const struct version *minimum)
{
    static const char *const operators[] = { "===", "==", "~=", "!=", "<=", ">=", "<", ">", "=" };
    struct version v;
    size_t i = 0;
    while (i < sizeof(operators) / sizeof(operators[0]) &&
           !cbx_str_starts(clause, cbx_str_of(operators[i]))) {
        i++;
    }
    if (i == sizeof(operators) / sizeof(operators[0])) {
        return true;
    }
    const char *op = operators[i];
    if (!parse(trim(cbx_str_sub(clause, strlen(op), clause.len)), &v)) {
        return true;
    }
    bool exact = op[0] == '=' && (op[1] == '\0' || op[1] == '=');
    if (v.wildcard) {
        /* ==1.4.* ends at 1.5; !=1.4.* takes nothing away that matters. */
        v.release[v.count - 1]++;
        return exact && compare(&v, minimum) <= 0;
    }
    if (exact) {
        return compare(&v, minimum) < 0;
    }
    if (strcmp(op, "~=") == 0) {
        compatible_end(&v);
        return compare(&v, minimum) <= 0;
    }
    if (strcmp(op, "<") == 0) {
        return compare(&v, minimum) <= 0;
    }
    return strcmp(op, "<=") == 0 && compare(&v, minimum) < 0;
}

bool cbx_version_below(struct cbx_str specifiers, struct cbx_str minimum)
{
    struct version least;
    if (!parse(minimum, &least)) {
        return true;
    }
    specifiers = trim(specifiers);
    while (specifiers.len > 0) {
        const char *comma = memchr(specifiers.p, ',', specifiers.len);
        size_t end = comma != NULL ? (size_t)(comma - specifiers.p) : specifiers.len;
        if (clause_below(trim(cbx_str_sub(specifiers, 0, end)), &least)) {
            return true;
        }
        specifiers = trim(cbx_str_sub(specifiers, end + 1, specifiers.len));
    }
    return false;
}

/* --- npm -------------------------------------------------------------------------------------- */

/* Does a range that ends where `part` of the version is one higher end below the minimum? "^1.2.3"
 * ends at 2, "~1.2.3" at 1.3. */
static bool ends_below(struct version v, size_t part, const struct version *minimum)
{
    v.release[part]++;
    v.count = part + 1;
    v.pre_kind = 3;
    v.post = -1;
    v.dev = INT64_MAX;
    return compare(&v, minimum) <= 0;
}

static bool is_any(struct cbx_str text)
{
    return text.len == 0 || cbx_str_is(text, "*") || cbx_str_is(text, "x") ||
           cbx_str_is(text, "X") || cbx_str_is(text, "latest");
}

/* "1.2.x" is "1.2". */
static struct cbx_str cut_wildcards(struct cbx_str text)
{
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.p[i] == '.' && memchr("xX*", text.p[i + 1], 3) != NULL) {
            return cbx_str_sub(text, 0, i);
        }
    }
    return text;
}

static bool comparator_below(struct cbx_str op, struct cbx_str text, const struct version *minimum)
{
    struct version v;
    while (text.len > 0 && (text.p[0] == 'v' || text.p[0] == '=')) {
        text = cbx_str_sub(text, 1, text.len);
    }
    if (is_any(text)) {
        return false;
    }
    if (!parse(cut_wildcards(text), &v) || v.wildcard) {
        return true;
    }
    size_t first = 0;
    bool partial = v.count < 3;
    while (first + 1 < v.count && v.release[first] == 0) {
        first++;
    }
    if (op.len > 0 && op.p[0] == '>') {
        return false;
    }
    if (op.len > 0 && op.p[0] == '^') {
        return ends_below(v, first, minimum);
    }
    if (op.len > 0 && op.p[0] == '~') {
        return ends_below(v, v.count > 1 ? 1 : 0, minimum);
    }
    if (cbx_str_is(op, "<")) {
        return compare(&v, minimum) <= 0;
    }
    return partial ? ends_below(v, v.count - 1, minimum) : compare(&v, minimum) < 0;
}

/* Comparators beside each other, all of which must hold. */
static bool all_of_below(struct cbx_str text, const struct version *minimum)
{
    const char *hyphen = text.len > 0 ? memmem(text.p, text.len, " - ", 3) : NULL;
    if (hyphen != NULL) {
        return comparator_below(CBX_STR("<="),
                                trim(cbx_str_sub(text, (size_t)(hyphen - text.p) + 3, text.len)),
                                minimum);
    }
    for (text = trim(text); text.len > 0; text = trim(text)) {
        size_t n = 0;
        while (n < text.len && memchr("<>=~^", text.p[n], 5) != NULL) {
            n++;
        }
        struct cbx_str op = cbx_str_sub(text, 0, n);
        text = trim(cbx_str_sub(text, n, text.len));
        for (n = 0; n < text.len && text.p[n] != ' '; n++) {
        }
        if (comparator_below(op, cbx_str_sub(text, 0, n), minimum)) {
            return true;
        }
        text = cbx_str_sub(text, n, text.len);
    }
    return false;
}

bool cbx_npm_below(struct cbx_str range, struct cbx_str minimum)
{
    struct version least;
    if (!parse(minimum, &least)) {
        return true;
    }
    for (;;) { /* the newest version of any alternative is taken */
        const char *bars = range.len > 0 ? memmem(range.p, range.len, "||", 2) : NULL;
        size_t end = bars != NULL ? (size_t)(bars - range.p) : range.len;
        if (!all_of_below(cbx_str_sub(range, 0, end), &least)) {
            return false;
        }
        if (bars == NULL) {
            return true;
        }
        range = cbx_str_sub(range, end + 2, range.len);
    }
}
