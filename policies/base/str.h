/* SPDX-License-Identifier: MIT
 * A borrowed slice of bytes: pointer and length, not terminated, may contain NUL. The owner of the
 * bytes keeps them alive; passing a slice never transfers ownership. */
#ifndef CBX_POLICIES_BASE_STR_H
#define CBX_POLICIES_BASE_STR_H

#include "policies/base/text/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

struct cbx_str {
    const char *p;
    size_t len;
};

/* printf: "%.*s", CBX_STR_ARG(s). The whole slice, up to its first NUL byte. */
#define CBX_STR_ARG(s) ((int)((s).len > INT32_MAX ? INT32_MAX : (s).len)), cbx_str_bytes(s)

/* The same for text that is only shown, cut to 200 bytes. It compiles only among the arguments
 * of a message function (CBX_MESSAGE_SCOPE): judged text is never cut. */
#define CBX_STR_SHOWN(s)                                                                           \
    ((int)((s).len > CBX_SHOWN_BYTES ? CBX_SHOWN_BYTES : (s).len)), cbx_str_bytes(s)

/* The value of a call whose arguments may include CBX_STR_SHOWN. */
#define CBX_MESSAGE_SCOPE(call)                                                                    \
    __extension__({                                                                                \
        enum { CBX_SHOWN_BYTES = 200 };                                                            \
        (void)CBX_SHOWN_BYTES;                                                                     \
        call;                                                                                      \
    })

/* A text for people, which may be cut. Functions that judge do not accept it; functions that
 * report do. Only they use `shown`. */
struct cbx_note {
    struct cbx_str shown;
};
#define CBX_NOTE(literal) ((struct cbx_note){ CBX_STR(literal) })

/* A slice of a string literal. */
#define CBX_STR(literal) ((struct cbx_str){ .p = (literal), .len = sizeof(literal) - 1 })

/* The bytes for printf's "%.*s". */
static inline const char *cbx_str_bytes(struct cbx_str s)
{
    return s.p != NULL ? s.p : "";
}

static inline struct cbx_str cbx_str_of(const char *terminated)
{
    return (struct cbx_str){ .p = terminated, .len = terminated != NULL ? strlen(terminated) : 0 };
}

static inline bool cbx_str_equal(struct cbx_str a, struct cbx_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static inline bool cbx_str_is(struct cbx_str a, const char *terminated)
{
    return cbx_str_equal(a, cbx_str_of(terminated));
}

/* True if they are equal but for the case of ASCII letters. */
static inline bool cbx_str_is_nocase(struct cbx_str a, const char *terminated)
{
    return a.len == strlen(terminated) && (a.len == 0 || strncasecmp(a.p, terminated, a.len) == 0);
}

static inline bool cbx_str_starts(struct cbx_str a, struct cbx_str prefix)
{
    return a.len >= prefix.len && (prefix.len == 0 || memcmp(a.p, prefix.p, prefix.len) == 0);
}

static inline bool cbx_str_ends(struct cbx_str a, struct cbx_str suffix)
{
    return a.len >= suffix.len &&
           (suffix.len == 0 || memcmp(a.p + a.len - suffix.len, suffix.p, suffix.len) == 0);
}

/* Returns the part [from, to); bounds are clamped to the slice. */
static inline struct cbx_str cbx_str_sub(struct cbx_str a, size_t from, size_t to)
{
    from = from > a.len ? a.len : from;
    to = to > a.len ? a.len : to;
    return (struct cbx_str){ .p = a.p != NULL ? a.p + from : NULL,
                             .len = to > from ? to - from : 0 };
}

/* Removes `len` bytes from the front and returns them; fewer if the slice is shorter. */
static inline struct cbx_str cbx_str_take(struct cbx_str *bytes, size_t len)
{
    struct cbx_str first = cbx_str_sub(*bytes, 0, len);
    *bytes = cbx_str_sub(*bytes, first.len, bytes->len);
    return first;
}

/* Return the slice without blanks (' ' and '\t') at its start; at both ends. */
struct cbx_str cbx_str_trim_start(struct cbx_str a);
struct cbx_str cbx_str_trim(struct cbx_str a);

/* memcmp order, shorter first: for cbx_sort and bsearch over slices. */
int cbx_str_compare(struct cbx_str a, struct cbx_str b);

/* Returns the edit distance (Levenshtein) up to `limit`; limit + 1 if it is larger. For "did you
 * mean". Slices over 64 bytes always give limit + 1. */
size_t cbx_str_distance(struct cbx_str a, struct cbx_str b, size_t limit);

/* Shell-style match over the whole of `text`: '*' any run of bytes, '?' one byte, '[abc]'
 * '[a-z]' '[!a]' a set, '\\' quotes. '*' stops at no separator; in `path` mode ('**' there
 * crosses) it stops at '/'. Linear in text times pattern; never recursive. A malformed set
 * matches itself literally. */
bool cbx_str_glob(struct cbx_str pattern, struct cbx_str text);
bool cbx_str_glob_path(struct cbx_str pattern, struct cbx_str text);

/* Appends the parts of a path to the straight path out[0..n): no ".", no "..", no doubled or
 * trailing slashes; ".." at the root stays there. `out` has space for path.len + 1 more bytes;
 * returns the new length, 0 for the root. */
size_t cbx_path_append(char *out, size_t n, struct cbx_str path);

/* True if some path matches both `pattern` and the shell pattern `files` (glob(7): no wildcard
 * matches '/', nor a dot at the start of a name). Sets count as '?'; true for patterns that are
 * too long to compare. */
bool cbx_str_globs_meet(struct cbx_str pattern, struct cbx_str files);

/* True if the bytes are well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms);
 * otherwise *bad is the offset of the first malformed byte. `bad` may be NULL. */
bool cbx_str_is_utf8(struct cbx_str a, size_t *bad);

/* Returns the longest beginning of at most max_bytes bytes that ends between characters of
 * UTF-8. */
struct cbx_str cbx_str_cut(struct cbx_str a, size_t max_bytes);

/* True when every byte is below 0x80. */
bool cbx_str_is_ascii(struct cbx_str a);

/* Writes the 1-based line and column (in characters) of a byte; an offset after the end counts
 * as the end. */
void cbx_str_place(struct cbx_str a, size_t byte, uint32_t *line, uint32_t *column);

#endif
