/* SPDX-License-Identifier: MIT
 * Versions and the table of known escapes. */
#include "docker/doctor/escapes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 4 };

struct version {
    long n[NUMBERS];
    int count;   /* number of given numbers */
    long before; /* rank of a pre-release; LONG_MAX for a release */
};

static const struct cbx_escape escapes[] = {
#define ESCAPE_FAIL true
#define ESCAPE_WARN false
#define CBX_ESCAPE(id, component, since, fixed, weight, what)                                      \
    { id, component, since, fixed, ESCAPE_##weight, what },
#include "docker/doctor/escapes.def"
#undef CBX_ESCAPE
#undef ESCAPE_FAIL
#undef ESCAPE_WARN
};

const struct cbx_escape *cbx_escape_at(size_t index)
{
    return index < sizeof(escapes) / sizeof(escapes[0]) ? &escapes[index] : NULL;
}

/* Reads "-rc.3", "~rc3", "-beta1": alpha before beta before rc, each by its number. */
static long read_rank(const char *text)
{
    static const char *const words[] = { "alpha", "beta", "rc" };
    text += strspn(text, "-~.");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i]);
        if (strncmp(text, words[i], len) == 0) {
            text += len + strspn(text + len, ".-");
            return (long)i * 1000 + strtol(text, NULL, 10);
        }
    }
    return 1000000;
}

static struct version parse(const char *text)
{
    struct version v = { .before = 1000000 };
    text += *text == 'v';
    while (v.count < NUMBERS && isdigit((unsigned char)*text)) {
        char *end;
        v.n[v.count++] = strtol(text, &end, 10);
        text = end;
        if (*text != '.' || !isdigit((unsigned char)text[1])) {
            break;
        }
        text++;
    }
    v.before = read_rank(text);
    return v;
}

static int compare(const struct version *a, const struct version *b)
{
    for (int i = 0; i < NUMBERS; i++) {
        if (a->n[i] != b->n[i]) {
            return a->n[i] < b->n[i] ? -1 : 1;
        }
    }
    return (a->before > b->before) - (a->before < b->before);
}

int cbx_release_compare(const char *a, const char *b)
{
    struct version x = parse(a), y = parse(b);
    return compare(&x, &y);
}

/* "1.2.8" and "1.2.11" are of one line; so are "7.0" and "7.0.3". */
static bool is_same_line(const struct version *a, const struct version *b)
{
    return a->n[0] == b->n[0] && a->n[1] == b->n[1];
}

bool cbx_escape_applies(const struct cbx_escape *escape, const char *version)
{
    struct version v = parse(version);
    if (v.count == 0 || cbx_release_compare(version, escape->since) < 0) {
        return false;
    }
    struct version fix = { 0 };
    for (const char *at = escape->fixed; *at != '\0';) {
        char one[32];
        size_t len = strcspn(at, " ");
        snprintf(one, sizeof(one), "%.*s", (int)len, at);
        fix = parse(one);
        if (is_same_line(&v, &fix)) {
            return compare(&v, &fix) < 0;
        }
        at += len + strspn(at + len, " ");
    }
    /* of a line without a fix: fixed only if newer than the last fix */
    return compare(&v, &fix) < 0;
}

bool cbx_release_is_packaged(const char *version)
{
    const char *rest = version + (*version == 'v');
    rest += strspn(rest, "0123456789.");
    if (*rest == '\0' || read_rank(rest) != 1000000) {
        return false;
    }
    return strncmp(rest, "-ce", 3) != 0; /* "19.03.1-ce" is an upstream release */
}
