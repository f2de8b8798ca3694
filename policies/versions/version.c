/* SPDX-License-Identifier: MIT
 * Names of packages, and the check whether an install could select a version below a minimum,
 * for Python and conda. */
#include "policies/versions/version.h"

#include "policies/versions/version_scan.h"

#include <stdio.h>

/* --- names ------------------------------------------------------------------------------------ */

/* Returns one character of the normal form from *at on; 0 at the end. */
static char next_normal(struct cbx_str name, size_t *at)
{
    size_t i = *at;
    while (i < name.len && (name.p[i] == '-' || name.p[i] == '_' || name.p[i] == '.')) {
        i++;
    }
    if (i > *at && i<name.len && * at> 0) {
        *at = i;
        return '-';
    }
    *at = i + 1;
    char c = i < name.len ? name.p[i] : '\0';
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

void cbx_package_normalise(struct cbx_str name, char *out, size_t size)
{
    size_t n = 0, at = 0;
    for (char c; n + 1 < size && (c = next_normal(name, &at)) != '\0';) {
        out[n++] = c;
    }
    out[n] = '\0';
}

bool cbx_package_same(struct cbx_str a, struct cbx_str b)
{
    size_t i = 0, k = 0;
    char x, y;
    do {
        x = next_normal(a, &i);
        y = next_normal(b, &k);
    } while (x == y && x != '\0');
    return x == y;
}

/* --- below a minimum -------------------------------------------------------------------------- */

enum outcome { OUT_BELOW = 0, OUT_HOLDS, OUT_ABOVE };

/* True if every version that this specifier allows is at least the minimum. */
static bool starts_above(const struct cbx_specifier *s, const struct cbx_pep440 *minimum)
{
    struct cbx_pep440 lowest = s->version;
    if (s->op == CBX_OP_NE || s->op == CBX_OP_LT || s->op == CBX_OP_LE || !s->readable) {
        return false;
    }
    lowest.has_dev |= s->wildcard; /* 1.0.dev0 is in 1.0.* */
    return cbx_pep440_order(&lowest, minimum) >= 0;
}

/* Finds the version after an exclusion, with at most as many parts as the minimum has: 1.3 for
 * !=1.2.*, 1.2.4 for !=1.2.3. */
static bool step_over(const struct cbx_pep440 *excluded, const struct cbx_pep440 *minimum,
                      char *out, size_t size)
{
    struct cbx_str a = excluded->release, b = minimum->release, last;
    size_t end = 0;
    do {
        cbx_scan_until(&b, ".");
        last = cbx_scan_until(&a, ".");
        end = (size_t)(last.p + last.len - excluded->release.p);
    } while (a.len > 0 && b.len > 0);
    unsigned long long number = 0;
    for (size_t i = 0; i < last.len && i < 18; i++) {
        number = number * 10 + (unsigned)(last.p[i] - '0');
    }
    int n = snprintf(out, size, "%.*s!%.*s%llu", (int)excluded->epoch.len + 1,
                     excluded->epoch.len > 0 ? excluded->epoch.p : "0", (int)(end - last.len),
                     excluded->release.p, number + 1);
    return last.len < 18 && end < size && excluded->epoch.len < size && n > 0 && (size_t)n < size;
}

static bool all_hold(struct cbx_str specifiers, struct cbx_str version)
{
    return cbx_pep440_matches(specifiers, version) == CBX_MATCH_YES;
}

/* The minimum itself is excluded: true if the version after the one exclusion is allowed. */
static bool leads_over(struct cbx_str specifiers, const struct cbx_specifier *exclusion,
                       const struct cbx_pep440 *minimum)
{
    char next[128];
    const struct cbx_pep440 *from = exclusion->wildcard ? &exclusion->version : minimum;
    return step_over(from, minimum, next, sizeof(next)) && all_hold(specifiers, cbx_str_of(next));
}

static enum outcome look(struct cbx_str specifiers, struct cbx_str text,
                         const struct cbx_pep440 *minimum)
{
    struct cbx_str rest = specifiers, one;
    struct cbx_specifier s, exclusion;
    bool holds = true, above = false, covered = false;
    size_t exclusions = 0;
    while (cbx_scan_next(&rest, &one)) {
        if (!cbx_scan_specifier(one, &s) || (s.op == CBX_OP_ARBITRARY && !s.readable)) {
            return OUT_BELOW;
        }
        bool held = cbx_scan_holds(&s, minimum, text);
        above |= starts_above(&s, minimum);
        if (s.op == CBX_OP_NE && (!held || cbx_pep440_order(&s.version, minimum) > 0)) {
            exclusions++;
            covered |= !held;
            exclusion = held ? exclusion : s;
        }
        holds &= held;
    }
    bool over = covered && exclusions == 1 && leads_over(specifiers, &exclusion, minimum);
    return holds || over ? OUT_HOLDS : above ? OUT_ABOVE : OUT_BELOW;
}

bool cbx_version_below(struct cbx_str specifiers, struct cbx_str minimum)
{
    struct cbx_pep440 least;
    return !cbx_pep440_parse(minimum, &least) ||
           look(specifiers, cbx_scan_trim(minimum), &least) == OUT_BELOW;
}

/* --- conda ------------------------------------------------------------------------------------ */

/* Converts one conda condition to PEP 440: "=1.2" is 1.2.*, "1.2*" too, "1.2" is ==1.2, and "*"
 * is no condition. */
static int write_condition(struct cbx_str text, char *out, size_t size)
{
    if (cbx_str_is(text, "*")) {
        return 0;
    }
    bool bare = text.len > 0 && strchr("=!<>~", text.p[0]) == NULL;
    bool fuzzy = text.len > 1 && text.p[0] == '=' && text.p[1] != '=';
    text = fuzzy ? cbx_scan_trim(cbx_str_sub(text, 1, text.len)) : text;
    bool open = cbx_str_ends(text, CBX_STR("*"));
    text.len -= open;
    text.len -= open && cbx_str_ends(text, CBX_STR("."));
    bool ordered = text.len > 1 && (text.p[0] == '>' || text.p[0] == '<');
    return snprintf(out, size, "%s%.*s%s,", bare || fuzzy ? "==" : "", (int)text.len, text.p,
                    fuzzy || (open && !ordered) ? ".*" : "");
}

static enum outcome look_conda(struct cbx_str conditions, struct cbx_str text,
                               const struct cbx_pep440 *minimum)
{
    char out[512];
    size_t len = 0;
    struct cbx_str one;
    while (cbx_scan_next(&conditions, &one)) {
        if (one.len > 128) {
            return OUT_BELOW;
        }
        int n = write_condition(one, out + len, sizeof(out) - len);
        len += n > 0 ? (size_t)n : 0;
        if (n < 0 || len >= sizeof(out)) {
            return OUT_BELOW;
        }
    }
    return look((struct cbx_str){ .p = out, .len = len }, text, minimum);
}

bool cbx_conda_below(struct cbx_str version, struct cbx_str minimum)
{
    struct cbx_pep440 least;
    bool above = true;
    if (!cbx_pep440_parse(minimum, &least)) {
        return true;
    }
    do {
        struct cbx_str one = cbx_scan_until(&version, "|");
        enum outcome o = look_conda(one, cbx_scan_trim(minimum), &least);
        if (o == OUT_HOLDS) {
            return false;
        }
        above &= o == OUT_ABOVE;
    } while (version.len > 0);
    return !above;
}
