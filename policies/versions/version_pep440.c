/* SPDX-License-Identifier: MIT
 * Versions and specifiers of PEP 440. */
#include "policies/versions/version.h"

#include "policies/versions/version_scan.h"

#include <ctype.h>
#include <stdio.h>

/* --- reading ---------------------------------------------------------------------------------- */

static bool take_word(struct cbx_str *text, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i < len; i++) {
        if (i >= text->len || (text->p[i] | 32) != word[i]) {
            return false;
        }
    }
    *text = cbx_str_sub(*text, len, text->len);
    return true;
}

static bool take_char(struct cbx_str *text, const char *set)
{
    bool is = text->len > 0 && strchr(set, text->p[0]) != NULL && text->p[0] != '\0';
    *text = is ? cbx_str_sub(*text, 1, text->len) : *text;
    return is;
}

struct suffix {
    const char *word;
    char kind;
};

/* [-_.]? WORD [-_.]? digits? */
static bool take_suffix(struct cbx_str *text, const struct suffix *words, size_t count, char *kind,
                        struct cbx_str *number)
{
    struct cbx_str rest = *text;
    take_char(&rest, ".-_");
    for (size_t i = 0; i < count; i++) {
        if (take_word(&rest, words[i].word)) {
            take_char(&rest, ".-_");
            *kind = words[i].kind;
            *number = cbx_scan_number(&rest);
            *text = rest;
            return true;
        }
    }
    return false;
}

static bool take_pre(struct cbx_str *text, struct cbx_pep440 *out)
{
    static const struct suffix words[] = {
        { "alpha", 'a' },   { "a", 'a' },   { "beta", 'b' }, { "b", 'b' },
        { "preview", 'r' }, { "pre", 'r' }, { "rc", 'r' },   { "c", 'r' },
    };
    return take_suffix(text, words, sizeof(words) / sizeof(words[0]), &out->pre_kind, &out->pre);
}

/* "-1" is a post-release too. */
static void take_post(struct cbx_str *text, struct cbx_pep440 *out)
{
    static const struct suffix words[] = { { "post", 1 }, { "rev", 1 }, { "r", 1 } };
    char kind;
    if (text->len > 1 && text->p[0] == '-' && cbx_scan_is_digit(text->p[1])) {
        *text = cbx_str_sub(*text, 1, text->len);
        out->post = cbx_scan_number(text);
        out->has_post = true;
    } else {
        out->has_post = take_suffix(text, words, 3, &kind, &out->post);
    }
}

static void take_dev(struct cbx_str *text, struct cbx_pep440 *out)
{
    static const struct suffix words[] = { { "dev", 1 } };
    char kind;
    out->has_dev = take_suffix(text, words, 1, &kind, &out->dev);
}

/* [a-z0-9]+([-_.][a-z0-9]+)* */
static bool is_local(struct cbx_str text)
{
    bool word = false;
    for (size_t i = 0; i < text.len; i++) {
        bool separator = memchr(".-_", text.p[i], 3) != NULL;
        if (!separator && !isalnum((unsigned char)text.p[i])) {
            return false;
        }
        if (separator && !word) {
            return false;
        }
        word = !separator;
    }
    return word;
}

static bool take_local(struct cbx_str *text, struct cbx_pep440 *out)
{
    out->has_local = take_char(text, "+");
    out->local = out->has_local ? *text : (struct cbx_str){ 0 };
    *text = out->has_local ? (struct cbx_str){ 0 } : *text;
    return !out->has_local || is_local(out->local);
}

/* Reads v? epoch! digits(.digits)*, as far as it matches. */
static bool take_release(struct cbx_str *text, struct cbx_pep440 *out)
{
    take_char(text, "vV");
    struct cbx_str rest = *text;
    struct cbx_str epoch = cbx_scan_number(&rest);
    if (rest.p != text->p && take_char(&rest, "!")) {
        out->epoch = epoch;
        *text = rest;
    }
    size_t n = 0;
    while (n < text->len && (cbx_scan_is_digit(text->p[n]) ||
                             (text->p[n] == '.' && n > 0 && n + 1 < text->len &&
                              cbx_scan_is_digit(text->p[n + 1]) && text->p[n - 1] != '.'))) {
        n++;
    }
    out->release = cbx_str_sub(*text, 0, n);
    *text = cbx_str_sub(*text, n, text->len);
    return n > 0;
}

bool cbx_pep440_parse(struct cbx_str text, struct cbx_pep440 *out)
{
    struct cbx_pep440 v = { 0 };
    text = cbx_scan_trim(text);
    if (!take_release(&text, &v)) {
        return false;
    }
    take_pre(&text, &v);
    take_post(&text, &v);
    take_dev(&text, &v);
    if (!take_local(&text, &v) || text.len > 0) {
        return false;
    }
    *out = v;
    return true;
}

/* --- order ------------------------------------------------------------------------------------ */

static struct cbx_str next_part(struct cbx_str *release)
{
    take_char(release, ".");
    return cbx_scan_number(release);
}

/* Missing parts are zeros. */
static int order_release(struct cbx_str a, struct cbx_str b)
{
    int o = 0;
    while (o == 0 && (a.len > 0 || b.len > 0)) {
        o = cbx_scan_order(next_part(&a), next_part(&b));
    }
    return o;
}

/* Compares a part of a local version: numbers are above words. */
static int order_local_part(struct cbx_str a, struct cbx_str b)
{
    struct cbx_str x = a, y = b;
    struct cbx_str m = cbx_scan_number(&x), n = cbx_scan_number(&y);
    bool a_number = x.len == 0, b_number = y.len == 0;
    if (a_number != b_number) {
        return a_number ? 1 : -1;
    }
    if (a_number) {
        return cbx_scan_order(m, n);
    }
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        int o = tolower((unsigned char)a.p[i]) - tolower((unsigned char)b.p[i]);
        if (o != 0) {
            return o < 0 ? -1 : 1;
        }
    }
    return (a.len > b.len) - (a.len < b.len);
}

static struct cbx_str next_local(struct cbx_str *local)
{
    take_char(local, ".-_");
    size_t n = 0;
    while (n < local->len && memchr(".-_", local->p[n], 3) == NULL) {
        n++;
    }
    struct cbx_str part = cbx_str_sub(*local, 0, n);
    *local = cbx_str_sub(*local, n, local->len);
    return part;
}

static int order_local(const struct cbx_pep440 *a, const struct cbx_pep440 *b)
{
    struct cbx_str x = a->local, y = b->local;
    while (x.len > 0 && y.len > 0) {
        int o = order_local_part(next_local(&x), next_local(&y));
        if (o != 0) {
            return o;
        }
    }
    return (x.len > 0) - (y.len > 0);
}

/* 1.0.dev1 < 1.0a1 < 1.0b1 < 1.0rc1 < 1.0 < 1.0.post1 */
static int rank_pre(const struct cbx_pep440 *v)
{
    return v->pre_kind != 0 ? v->pre_kind : !v->has_post && v->has_dev ? 0 : 'z';
}

static int order_public(const struct cbx_pep440 *a, const struct cbx_pep440 *b)
{
    const int orders[] = { cbx_scan_order(a->epoch, b->epoch),
                           order_release(a->release, b->release),
                           (rank_pre(a) > rank_pre(b)) - (rank_pre(a) < rank_pre(b)),
                           cbx_scan_order(a->pre, b->pre),
                           a->has_post - b->has_post,
                           cbx_scan_order(a->post, b->post),
                           b->has_dev - a->has_dev,
                           cbx_scan_order(a->dev, b->dev) };
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        if (orders[i] != 0) {
            return orders[i];
        }
    }
    return 0;
}

int cbx_pep440_order(const struct cbx_pep440 *a, const struct cbx_pep440 *b)
{
    int order = order_public(a, b);
    if (order != 0) {
        return order;
    }
    return order_local(a, b);
}

int cbx_version_compare(struct cbx_str a, struct cbx_str b, bool *ok)
{
    struct cbx_pep440 x, y;
    *ok = cbx_pep440_parse(a, &x) && cbx_pep440_parse(b, &y);
    return *ok ? cbx_pep440_order(&x, &y) : 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

struct writer {
    char *out;
    size_t len, size;
    bool full;
};

static void put(struct writer *w, struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        w->full |= w->len + 1 >= w->size;
        if (!w->full) {
            w->out[w->len++] = (char)tolower((unsigned char)text.p[i]);
        }
    }
}

static void put_number(struct writer *w, const char *before, struct cbx_str number)
{
    put(w, cbx_str_of(before));
    put(w, number.len > 0 ? number : CBX_STR("0"));
}

static void put_local(struct writer *w, struct cbx_str local)
{
    const char *before = "+";
    while (local.len > 0) {
        struct cbx_str part = next_local(&local), rest = part;
        struct cbx_str number = cbx_scan_number(&rest);
        put(w, cbx_str_of(before));
        put(w, rest.len > 0 ? part : number.len > 0 ? number : CBX_STR("0"));
        before = ".";
    }
}

bool cbx_pep440_write(const struct cbx_pep440 *v, char *out, size_t size)
{
    struct writer w = { .out = out, .size = size, .full = size == 0 };
    struct cbx_str release = v->release;
    if (v->epoch.len > 0) {
        put(&w, v->epoch);
        put(&w, CBX_STR("!"));
    }
    for (const char *before = ""; release.len > 0; before = ".") {
        put_number(&w, before, next_part(&release));
    }
    if (v->pre_kind != 0) {
        put_number(&w, v->pre_kind == 'a' ? "a" : v->pre_kind == 'b' ? "b" : "rc", v->pre);
    }
    if (v->has_post) {
        put_number(&w, ".post", v->post);
    }
    if (v->has_dev) {
        put_number(&w, ".dev", v->dev);
    }
    if (v->has_local) {
        put_local(&w, v->local);
    }
    if (!w.full) {
        out[w.len] = '\0';
    }
    return !w.full;
}

/* --- specifiers ------------------------------------------------------------------------------- */

bool cbx_scan_specifier(struct cbx_str text, struct cbx_specifier *out)
{
    static const struct {
        const char *text;
        enum cbx_operator op;
    } operators[] = { { "===", CBX_OP_ARBITRARY }, { "==", CBX_OP_EQ }, { "!=", CBX_OP_NE },
                      { "~=", CBX_OP_COMPATIBLE }, { "<=", CBX_OP_LE }, { ">=", CBX_OP_GE },
                      { "<", CBX_OP_LT },          { ">", CBX_OP_GT } };
    struct cbx_specifier s = { 0 };
    text = cbx_scan_trim(text);
    size_t i = 0, count = sizeof(operators) / sizeof(operators[0]);
    while (i < count && !cbx_str_starts(text, cbx_str_of(operators[i].text))) {
        i++;
    }
    if (i == count) {
        return false;
    }
    s.op = operators[i].op;
    s.text = cbx_scan_trim(cbx_str_sub(text, strlen(operators[i].text), text.len));
    bool equality = s.op == CBX_OP_EQ || s.op == CBX_OP_NE;
    struct cbx_str version = s.text;
    if (equality && cbx_str_ends(version, CBX_STR(".*"))) {
        s.wildcard = true;
        version.len -= 2;
    }
    s.readable = cbx_pep440_parse(version, &s.version);
    const struct cbx_pep440 *v = &s.version;
    bool suffixed = v->pre_kind != 0 || v->has_post || v->has_dev || v->has_local;
    bool wrong = (s.wildcard && suffixed) || (!equality && v->has_local) ||
                 (s.op == CBX_OP_COMPATIBLE &&
                  (v->release.len == 0 || memchr(v->release.p, '.', v->release.len) == NULL));
    if (s.op != CBX_OP_ARBITRARY ? !s.readable || wrong
                                 : s.text.len == 0 || !cbx_scan_is_word(s.text)) {
        return false;
    }
    *out = s;
    return true;
}

/* True if the release of a version begins with the first `parts` (or all) parts of a prefix. */
static bool has_prefix(const struct cbx_pep440 *v, const struct cbx_pep440 *prefix, bool but_last)
{
    struct cbx_str a = v->release, b = prefix->release;
    if (but_last) {
        b.len = (size_t)((const char *)memrchr(b.p, '.', b.len) - b.p);
    }
    while (b.len > 0) {
        if (cbx_scan_order(next_part(&a), next_part(&b)) != 0) {
            return false;
        }
    }
    return cbx_scan_order(v->epoch, prefix->epoch) == 0;
}

static bool same_base(const struct cbx_pep440 *a, const struct cbx_pep440 *b)
{
    return cbx_scan_order(a->epoch, b->epoch) == 0 && order_release(a->release, b->release) == 0;
}

static bool is_pre(const struct cbx_pep440 *v)
{
    return v->pre_kind != 0 || v->has_dev;
}

static bool is_equal(const struct cbx_specifier *s, const struct cbx_pep440 *v)
{
    return s->wildcard            ? has_prefix(v, &s->version, false)
           : s->version.has_local ? cbx_pep440_order(v, &s->version) == 0
                                  : order_public(v, &s->version) == 0;
}

static bool same_text(struct cbx_str a, struct cbx_str b)
{
    bool same = a.len == b.len;
    for (size_t i = 0; same && i < a.len; i++) {
        same = tolower((unsigned char)a.p[i]) == tolower((unsigned char)b.p[i]);
    }
    return same;
}

bool cbx_scan_holds(const struct cbx_specifier *s, const struct cbx_pep440 *v, struct cbx_str text)
{
    const struct cbx_pep440 *w = &s->version;
    switch (s->op) {
    case CBX_OP_ARBITRARY:
        return same_text(s->text, text);
    case CBX_OP_EQ:
        return is_equal(s, v);
    case CBX_OP_NE:
        return !is_equal(s, v);
    case CBX_OP_COMPATIBLE:
        return order_public(v, w) >= 0 && has_prefix(v, w, true);
    case CBX_OP_LE:
        return order_public(v, w) <= 0;
    case CBX_OP_GE:
        return order_public(v, w) >= 0;
    case CBX_OP_LT:
        return cbx_pep440_order(v, w) < 0 && !(is_pre(v) && !is_pre(w) && same_base(v, w));
    case CBX_OP_GT:
        return cbx_pep440_order(v, w) > 0 && !(v->has_post && !w->has_post && same_base(v, w)) &&
               !(v->has_local && same_base(v, w));
    }
    return false;
}

bool cbx_scan_next(struct cbx_str *specifiers, struct cbx_str *out)
{
    while (specifiers->len > 0) {
        *out = cbx_scan_trim(cbx_scan_until(specifiers, ","));
        if (out->len > 0) {
            return true;
        }
    }
    return false;
}

enum cbx_match_result cbx_pep440_matches(struct cbx_str specifiers, struct cbx_str version)
{
    struct cbx_pep440 v;
    struct cbx_str one;
    struct cbx_specifier s;
    bool all = true;
    if (!cbx_pep440_parse(version, &v)) {
        return CBX_MATCH_MALFORMED;
    }
    while (cbx_scan_next(&specifiers, &one)) {
        if (!cbx_scan_specifier(one, &s)) {
            return CBX_MATCH_MALFORMED;
        }
        all = all && cbx_scan_holds(&s, &v, cbx_scan_trim(version));
    }
    return all ? CBX_MATCH_YES : CBX_MATCH_NO;
}
