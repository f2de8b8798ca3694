/* SPDX-License-Identifier: MIT
 * Slices: order, distance, globs, UTF-8. */
#include "policies/base/str.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct cbx_str cbx_str_trim_start(struct cbx_str a)
{
    size_t n = 0;
    while (n < a.len && is_blank(a.p[n])) {
        n++;
    }
    return cbx_str_sub(a, n, a.len);
}

struct cbx_str cbx_str_trim(struct cbx_str a)
{
    while (a.len > 0 && is_blank(a.p[a.len - 1])) {
        a.len--;
    }
    return cbx_str_trim_start(a);
}

int cbx_str_compare(struct cbx_str a, struct cbx_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n > 0 ? memcmp(a.p, b.p, n) : 0;
    if (order != 0) {
        return order;
    }
    return (a.len > b.len) - (a.len < b.len);
}

enum { DISTANCE_MAX_BYTES = 64 };

size_t cbx_str_distance(struct cbx_str a, struct cbx_str b, size_t limit)
{
    if (a.len > DISTANCE_MAX_BYTES || b.len > DISTANCE_MAX_BYTES) {
        return limit + 1;
    }
    size_t row[DISTANCE_MAX_BYTES + 1];
    for (size_t j = 0; j <= b.len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t best = diagonal + (a.p[i - 1] != b.p[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) {
                best = row[j] + 1;
            }
            if (row[j - 1] + 1 < best) {
                best = row[j - 1] + 1;
            }
            row[j] = best;
        }
    }
    return row[b.len] > limit ? limit + 1 : row[b.len];
}

/* Matches one character against the set that starts at p[0] == '['. Returns the length of the
 * set in the pattern, 0 if the set has no end. */
static size_t match_set(struct cbx_str p, char c, bool *matches)
{
    size_t i = 1;
    bool negate = i < p.len && (p.p[i] == '!' || p.p[i] == '^');
    i += negate;
    bool found = false;
    for (bool first = true; i < p.len && (first || p.p[i] != ']'); first = false) {
        unsigned char low = (unsigned char)p.p[i++], high = low;
        if (i + 1 < p.len && p.p[i] == '-' && p.p[i + 1] != ']') {
            high = (unsigned char)p.p[i + 1];
            i += 2;
        }
        found |= (unsigned char)c >= low && (unsigned char)c <= high;
    }
    if (i >= p.len) {
        return 0;
    }
    *matches = found != negate;
    return i + 1;
}

/* Matches one pattern element other than '*' against one byte; returns its length in the
 * pattern, 0 = no match. */
static size_t match_one(struct cbx_str p, char c, bool path)
{
    bool matches = false;
    size_t n;
    switch (p.p[0]) {
    case '?':
        return path && c == '/' ? 0 : 1;
    case '[':
        n = match_set(p, c, &matches);
        if (n > 0) {
            return matches && !(path && c == '/') ? n : 0;
        }
        return c == '[' ? 1 : 0;
    case '\\':
        if (p.len > 1) {
            return p.p[1] == c ? 2 : 0;
        }
        return c == '\\' ? 1 : 0;
    default:
        return p.p[0] == c ? 1 : 0;
    }
}

/* Two resume points suffice: the start of the last '**' (or, outside path mode, '*'), and the
 * start of the last '*' after it. Trying each start once per resume point keeps the cost at
 * |pattern| * |text|. */
static bool glob(struct cbx_str pattern, struct cbx_str text, bool path)
{
    size_t p = 0, t = 0;
    size_t star_p = SIZE_MAX, star_t = 0, deep_p = SIZE_MAX, deep_t = 0;
    bool folders = false;
    for (;;) {
        if (p < pattern.len && pattern.p[p] == '*') {
            bool deep = !path || (p + 1 < pattern.len && pattern.p[p + 1] == '*');
            while (p < pattern.len && pattern.p[p] == '*') {
                p++;
            }
            bool slash = deep && path && p < pattern.len && pattern.p[p] == '/' &&
                         (t == 0 || text.p[t - 1] == '/');
            p += slash; /* a "**" that matches no folder matches its slash too */
            if (deep) {
                deep_p = p, deep_t = t;
                folders = slash;
                star_p = SIZE_MAX;
            } else {
                star_p = p, star_t = t;
            }
            continue;
        }
        if (t == text.len && p == pattern.len) {
            return true;
        }
        size_t n = p < pattern.len && t < text.len
                       ? match_one(cbx_str_sub(pattern, p, pattern.len), text.p[t], path)
                       : 0;
        if (n > 0) {
            p += n;
            t++;
        } else if (star_p != SIZE_MAX && star_t < text.len && text.p[star_t] != '/') {
            p = star_p, t = ++star_t;
        } else if (deep_p != SIZE_MAX && deep_t < text.len) {
            do { /* after a consumed slash, only the start of a name can follow */
                deep_t++;
            } while (folders && deep_t < text.len && text.p[deep_t - 1] != '/');
            if (folders && text.p[deep_t - 1] != '/') {
                return false;
            }
            p = deep_p, t = deep_t;
            star_p = SIZE_MAX;
        } else {
            return false;
        }
    }
}

/* --- paths ------------------------------------------------------------------------------------ */

size_t cbx_path_append(char *out, size_t n, struct cbx_str path)
{
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
    return n;
}

/* --- two globs -------------------------------------------------------------------------------- */

enum { MEET_MAX_BYTES = 256 };

/* Elements of a glob, one byte each. */
enum { ANY = 1, SOME = 2 };
static size_t read_elements(struct cbx_str glob, unsigned char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < glob.len; i++) {
        char c = glob.p[i];
        const char *close =
            c == '[' && i + 2 < glob.len ? memchr(glob.p + i + 2, ']', glob.len - i - 2) : NULL;
        if (c == '*') {
            n -= n > 0 && out[n - 1] == SOME;
            out[n++] = SOME;
        } else if (c == '?' || close != NULL) {
            out[n++] = ANY;
            i = close != NULL ? (size_t)(close - glob.p) : i;
        } else {
            i += c == '\\' && i + 1 < glob.len;
            out[n++] = (unsigned char)glob.p[i];
        }
    }
    return n;
}

/* row[j]: true if a text matches the first i elements of `a` and the first j of `b`. */
bool cbx_str_globs_meet(struct cbx_str pattern, struct cbx_str files)
{
    unsigned char a[MEET_MAX_BYTES], b[MEET_MAX_BYTES];
    bool rows[2][MEET_MAX_BYTES + 1] = { { true } };
    if (pattern.len > MEET_MAX_BYTES || files.len > MEET_MAX_BYTES) {
        return true;
    }
    size_t n = read_elements(pattern, a), m = read_elements(files, b);
    for (size_t i = 0; i <= n; i++) {
        bool *row = rows[i & 1], *next = rows[(i + 1) & 1];
        memset(next, 0, sizeof(rows[0]));
        for (size_t j = 0; j <= m; j++) {
            bool more_a = row[j] && i < n, more_b = row[j] && j < m;
            bool some_a = more_a && a[i] == SOME, some_b = more_b && b[j] == SOME;
            /* no wildcard matches a dot at the start of a name */
            bool takes = more_a && a[i] != '/' && !(a[i] == '.' && i > 0 && a[i - 1] == '/');
            bool both = more_a && more_b && !some_a && !some_b &&
                        (a[i] == b[j] || a[i] == ANY || (b[j] == ANY && takes));
            next[j] |= some_a || (some_b && takes);
            if (more_b && (some_a || some_b)) {
                row[j + 1] = true;
            }
            if (both) {
                next[j + 1] = true;
            }
        }
    }
    return rows[n & 1][m];
}

bool cbx_str_glob(struct cbx_str pattern, struct cbx_str text)
{
    return glob(pattern, text, false);
}

bool cbx_str_glob_path(struct cbx_str pattern, struct cbx_str text)
{
    return glob(pattern, text, true);
}

bool cbx_str_is_utf8(struct cbx_str a, size_t *bad)
{
    for (size_t i = 0; i < a.len;) {
        size_t n = cbx_utf8_bytes(a.p + i, a.len - i);
        if (n == 0) {
            if (bad != NULL) {
                *bad = i;
            }
            return false;
        }
        i += n;
    }
    return true;
}

struct cbx_str cbx_str_cut(struct cbx_str a, size_t max_bytes)
{
    size_t end = a.len < max_bytes ? a.len : max_bytes;
    while (end > 0 && end < a.len && cbx_utf8_continues(a.p[end])) {
        end--;
    }
    return cbx_str_sub(a, 0, end);
}

bool cbx_str_is_ascii(struct cbx_str a)
{
    for (size_t i = 0; i < a.len; i++) {
        if ((unsigned char)a.p[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

void cbx_str_place(struct cbx_str a, size_t byte, uint32_t *line, uint32_t *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < byte && i < a.len; i++) {
        if (a.p[i] == '\n') {
            ++*line;
            *column = 1;
        } else {
            *column += !cbx_utf8_continues(a.p[i]);
        }
    }
}
