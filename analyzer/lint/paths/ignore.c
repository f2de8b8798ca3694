/* SPDX-License-Identifier: MIT
 * gitignore(5). Matching is linear in pattern times path and never recursive. Where the manual is
 * silent, this file behaves like git. */
#include "analyzer/lint/paths/ignore.h"

#include "policies/base/memory.h"

#include <ctype.h>

struct pattern {
    struct cbx_str text; /* without '!', leading and trailing '/' */
    bool negated, folders_only, anchored;
    size_t plain_bytes; /* before the first special character */
};

struct cbx_ignore {
    struct cbx_arena arena;
    struct pattern *patterns;
    size_t count;
};

/* --- one name against one pattern ------------------------------------------------------------- */

/* 1: in the class, 0: not, -1: unknown class. */
static int is_in_class(struct cbx_str name, unsigned char c)
{
    static const struct {
        const char *name;
        int (*holds)(int);
    } classes[] = { { "alnum", isalnum }, { "alpha", isalpha }, { "blank", isblank },
                    { "cntrl", iscntrl }, { "digit", isdigit }, { "graph", isgraph },
                    { "lower", islower }, { "print", isprint }, { "punct", ispunct },
                    { "space", isspace }, { "upper", isupper }, { "xdigit", isxdigit } };
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (cbx_str_is(name, classes[i].name)) {
            return classes[i].holds(c) != 0;
        }
    }
    return -1;
}

/* Reads a byte of a set, quoted or not; false at the end of the pattern. */
static bool take_byte(struct cbx_str p, size_t *i, unsigned char *byte)
{
    *i += *i < p.len && p.p[*i] == '\\';
    if (*i >= p.len) {
        return false;
    }
    *byte = (unsigned char)p.p[(*i)++];
    return true;
}

/* Returns the length of the class "[:alpha:]" at p[i], 0 if there is none. */
static size_t class_at(struct cbx_str p, size_t i)
{
    const char *close = i + 2 < p.len && p.p[i] == '[' && p.p[i + 1] == ':'
                            ? memmem(p.p + i + 2, p.len - i - 2, ":]", 2)
                            : NULL;
    return close != NULL ? (size_t)(close - p.p) + 2 - i : 0;
}

/* Matches the set at p[0] == '[' against a byte. Returns the set's length, 0 if it is malformed. */
static size_t match_set(struct cbx_str p, unsigned char c, bool *matches)
{
    size_t i = 1;
    bool negated = i < p.len && (p.p[i] == '!' || p.p[i] == '^'), found = false;
    i += negated;
    for (bool first = true; i < p.len && (first || p.p[i] != ']'); first = false) {
        size_t class = class_at(p, i);
        unsigned char low, high;
        if (class > 0) {
            int in = is_in_class(cbx_str_sub(p, i + 2, i + class - 2), c);
            if (in < 0) {
                return 0;
            }
            found |= in == 1;
            i += class;
            continue;
        }
        if (!take_byte(p, &i, &low)) {
            return 0;
        }
        high = low;
        if (i + 1 < p.len && p.p[i] == '-' && p.p[i + 1] != ']') {
            i++;
            if (!take_byte(p, &i, &high)) {
                return 0;
            }
        }
        found |= c == low || (c >= low && c <= high); /* the first byte counts, even of "z-a" */
    }
    *matches = found != negated;
    return i < p.len ? i + 1 : 0;
}

/* Matches one element of a pattern other than '*' against one byte. Returns its length, 0 = no
 * match. */
static size_t match_one(struct cbx_str p, unsigned char c)
{
    bool matches = false;
    size_t n;
    switch (p.p[0]) {
    case '?':
        return 1;
    case '[':
        n = match_set(p, c, &matches);
        return matches ? n : 0;
    case '\\':
        return p.len > 1 && (unsigned char)p.p[1] == c ? 2 : 0;
    default:
        return (unsigned char)p.p[0] == c ? 1 : 0;
    }
}

/* Matches a name without '/'. After a failure only the last star is retried, one byte later. */
static bool match_name(struct cbx_str pattern, struct cbx_str name)
{
    size_t p = 0, t = 0, star_p = SIZE_MAX, star_t = 0;
    for (;;) {
        if (p < pattern.len && pattern.p[p] == '*') {
            star_p = ++p;
            star_t = t;
            continue;
        }
        if (p == pattern.len && t == name.len) {
            return true;
        }
        size_t n = p < pattern.len && t < name.len
                       ? match_one(cbx_str_sub(pattern, p, pattern.len), (unsigned char)name.p[t])
                       : 0;
        if (n > 0) {
            p += n;
            t++;
        } else if (star_p != SIZE_MAX && star_t < name.len) {
            p = star_p;
            t = ++star_t;
        } else {
            return false;
        }
    }
}

/* --- a path ----------------------------------------------------------------------------------- */

/* Removes the next name. */
static struct cbx_str take_name(struct cbx_str *path)
{
    const char *slash = path->len > 0 ? memchr(path->p, '/', path->len) : NULL;
    size_t end = slash != NULL ? (size_t)(slash - path->p) : path->len;
    struct cbx_str name = cbx_str_sub(*path, 0, end);
    *path = cbx_str_sub(*path, end + 1, path->len);
    return name;
}

/* The same for a pattern: a '/' in a set does not end a name. */
static struct cbx_str take_pattern(struct cbx_str *pattern)
{
    size_t end = 0;
    while (end < pattern->len && pattern->p[end] != '/') {
        bool ignored;
        size_t set = pattern->p[end] == '['
                         ? match_set(cbx_str_sub(*pattern, end, pattern->len), 0, &ignored)
                         : 0;
        bool quoted = pattern->p[end] == '\\' && end + 1 < pattern->len;
        end += set > 0 ? set : quoted ? 2 : 1;
    }
    struct cbx_str name = cbx_str_sub(*pattern, 0, end);
    *pattern = cbx_str_sub(*pattern, end + 1, pattern->len);
    return name;
}

static bool is_stars(struct cbx_str name)
{
    return name.len > 0 && strspn(name.p, "*") >= name.len;
}

static bool is_deep(struct cbx_str name)
{
    return name.len > 1 && is_stars(name);
}

/* Matches a sequence of names; "**" matches any number of them, after the last name at least
 * one. */
static bool match_names(struct cbx_str pattern, struct cbx_str path)
{
    struct cbx_str deep_pattern = { 0 }, deep_path = { 0 };
    bool deep = false;
    for (;;) {
        struct cbx_str rest_pattern = pattern, rest_path = path;
        struct cbx_str want = take_pattern(&rest_pattern), have = take_name(&rest_path);
        if (is_deep(want)) {
            if (rest_pattern.len == 0) {
                return path.len > 0;
            }
            deep = true;
            deep_pattern = pattern = rest_pattern;
            deep_path = path;
            continue;
        }
        if (pattern.len == 0 && path.len == 0) {
            return true;
        }
        if (pattern.len > 0 && path.len > 0 && match_name(want, have)) {
            pattern = rest_pattern;
            path = rest_path;
        } else if (deep && deep_path.len > 0) {
            take_name(&deep_path);
            pattern = deep_pattern;
            path = deep_path;
        } else {
            return false;
        }
    }
}

/* git compares the prefix before the first special character literally and then starts again: so
 * the "**" of "a**" and of "a**" + "/b" counts as the beginning of a name. */
static bool match_path(const struct pattern *p, struct cbx_str path)
{
    struct cbx_str plain = cbx_str_sub(p->text, 0, p->plain_bytes);
    struct cbx_str rest = cbx_str_sub(p->text, p->plain_bytes, p->text.len);
    if (!cbx_str_starts(path, plain)) {
        return false;
    }
    path = cbx_str_sub(path, plain.len, path.len);
    return match_names(rest, path) || (path.len == 0 && is_stars(rest));
}

static struct cbx_str name_of(struct cbx_str path)
{
    const char *slash = path.len > 0 ? memrchr(path.p, '/', path.len) : NULL;
    return slash != NULL ? cbx_str_sub(path, (size_t)(slash - path.p) + 1, path.len) : path;
}

static bool matches(const struct pattern *p, struct cbx_str path, struct cbx_str name, bool folder)
{
    struct cbx_str text = p->anchored ? path : name;
    if (p->folders_only && !folder) {
        return false;
    }
    return p->plain_bytes == p->text.len ? cbx_str_equal(p->text, text)
           : p->anchored                 ? match_path(p, text)
                                         : match_name(p->text, text);
}

enum cbx_ignored cbx_ignore_match(const struct cbx_ignore *ignore, struct cbx_str path, bool folder)
{
    struct cbx_str name = name_of(path);
    for (size_t i = ignore->count; i > 0; i--) {
        const struct pattern *p = &ignore->patterns[i - 1];
        if (matches(p, path, name, folder)) {
            return p->negated ? CBX_IGNORE_IN : CBX_IGNORE_OUT;
        }
    }
    return CBX_IGNORE_SILENT;
}

bool cbx_ignore_covers(const struct cbx_ignore *ignore, struct cbx_str path)
{
    for (size_t end = 1; end <= path.len; end++) {
        bool whole = end == path.len;
        if ((whole || path.p[end] == '/') &&
            cbx_ignore_match(ignore, cbx_str_sub(path, 0, end), !whole) == CBX_IGNORE_OUT) {
            return true;
        }
    }
    return false;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Trailing blanks are ignored, unless they are quoted. */
static struct cbx_str trim_end(struct cbx_str line)
{
    size_t end = 0;
    for (size_t i = 0; i < line.len; i++) {
        bool quoted = line.p[i] == '\\' && i + 1 < line.len;
        i += quoted;
        end = quoted || line.p[i] != ' ' ? i + 1 : end;
    }
    return cbx_str_sub(line, 0, end);
}

/* '/' at the start or in the middle: the pattern matches the path, not only the name. */
static bool read_pattern(struct cbx_str line, struct pattern *out)
{
    line = cbx_str_sub(line, 0, line.len - (line.len > 0 && line.p[line.len - 1] == '\r'));
    if (line.len == 0 || line.p[0] == '#') {
        return false;
    }
    line = trim_end(line);
    *out = (struct pattern){ .negated = line.len > 0 && line.p[0] == '!' };
    line = cbx_str_sub(line, out->negated, line.len);
    out->folders_only = line.len > 0 && line.p[line.len - 1] == '/';
    line.len -= out->folders_only;
    out->anchored = line.len > 0 && memchr(line.p, '/', line.len) != NULL;
    out->text = cbx_str_sub(line, line.len > 0 && line.p[0] == '/', line.len);
    while (out->plain_bytes < out->text.len &&
           strchr("*?[\\", out->text.p[out->plain_bytes]) == NULL) {
        out->plain_bytes++;
    }
    return out->text.len > 0;
}

/* "\\/" is "/", except at the end, where the backslash quotes nothing and '/' marks a folder. */
static struct cbx_str unquote_slashes(struct cbx_str line, struct cbx_arena *arena)
{
    if (line.len == 0 || memmem(line.p, line.len, "\\/", 2) == NULL) {
        return line;
    }
    char *out = cbx_arena_alloc(arena, line.len);
    size_t n = 0;
    for (size_t i = 0; out != NULL && i < line.len; i++) {
        bool quote = line.p[i] == '\\' && i + 1 < line.len;
        bool slash = quote && line.p[i + 1] == '/' && i + 2 < line.len;
        if (quote && !slash) {
            out[n++] = line.p[i];
        }
        i += quote;
        out[n++] = line.p[i];
    }
    return (struct cbx_str){ .p = out, .len = n };
}

static int read_patterns(struct cbx_ignore *ignore, struct cbx_str text, struct cbx_err *err)
{
    if (cbx_str_starts(text, CBX_STR("\xEF\xBB\xBF"))) {
        text = cbx_str_sub(text, 3, text.len);
    }
    size_t lines = 1;
    for (size_t i = 0; i < text.len; i++) {
        lines += text.p[i] == '\n';
    }
    ignore->patterns = cbx_arena_array(&ignore->arena, lines, sizeof(*ignore->patterns));
    while (ignore->patterns != NULL && text.len > 0) {
        const char *end = memchr(text.p, '\n', text.len);
        size_t len = end != NULL ? (size_t)(end - text.p) : text.len;
        struct cbx_str line = unquote_slashes(cbx_str_sub(text, 0, len), &ignore->arena);
        ignore->count += read_pattern(line, &ignore->patterns[ignore->count]);
        text = cbx_str_sub(text, len + 1, text.len);
    }
    if (ignore->arena.exhausted || ignore->count > CBX_IGNORE_PATTERNS_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "%zu patterns, allowed are %d", ignore->count,
                        CBX_IGNORE_PATTERNS_MAX);
    }
    return 0;
}

int cbx_ignore_new(struct cbx_str text, struct cbx_ignore **out, struct cbx_err *err)
{
    if (text.len > CBX_IGNORE_MAX_BYTES) {
        return cbx_fail(err, CBX_ETOOBIG, "larger than %d bytes", CBX_IGNORE_MAX_BYTES);
    }
    CBX_AUTO(ignore) ignore = cbx_new(sizeof(*ignore));
    cbx_arena_init(&ignore->arena, 128 * 1024 * 1024);
    struct cbx_str copy = cbx_arena_copy(&ignore->arena, text);
    int failed;
    if (copy.p == NULL) {
        failed = cbx_fail(err, CBX_ETOOBIG, "larger than memory allows");
    } else {
        failed = read_patterns(ignore, copy, err);
    }
    if (!failed) {
        *out = cbx_steal(&ignore);
    }
    return failed;
}

void cbx_ignore_free(struct cbx_ignore *ignore)
{
    if (ignore != NULL) {
        cbx_arena_done(&ignore->arena);
        free(ignore);
    }
}
