/* SPDX-License-Identifier: MIT
 * Abstract values: what an expression may be, as a small set of alternatives. The one mechanism
 * behind aliases, folding and containers, in every language. Sets live in the request's arena and
 * never change once made. */
#ifndef CBX_ANALYZER_VALUE_H
#define CBX_ANALYZER_VALUE_H

#include "policies/base/arena.h"
#include "policies/base/str.h"

#include <stdint.h>

struct cbx_node;

enum cbx_value_kind {
    CBX_V_UNKNOWN = 0, /* could be anything */
    CBX_V_NAME,        /* the thing of this qualified name: "os.system" */
    CBX_V_TEXT,        /* a constant string or bytes */
    CBX_V_NUMBER,      /* a constant integer; or, count is 1, another constant: text is how it is
                          written */
    CBX_V_LIST,        /* a sequence of known members; number is 1 when it has any number of them,
                          each of which may be members[0] */
    CBX_V_MAP,         /* a mapping; keys beside members; number is 1 when there may be more */
    CBX_V_FUNCTION,    /* a function or class of this source: node, scope */
    CBX_V_PARTIAL,     /* a callable, members[0], whose first arguments are the other members */
};

struct cbx_values;
struct cbx_value {
    enum cbx_value_kind kind;
    uint32_t count;
    struct cbx_str text;
    int64_t number;
    const struct cbx_values *const *members;
    const struct cbx_str *keys;
    struct cbx_node *node;
    void *scope;
};

struct cbx_values {
    uint32_t count;
    const struct cbx_value *items[];
};

enum { CBX_VALUES_MAX = 48, CBX_FOLD_MAX_BYTES = 65536, CBX_MEMBERS_MAX = 4096 };

/* Anything; and nothing, which joins with everything. Whoever reads the first alternative of
 * nothing reads "anything". */
extern const struct cbx_values cbx_values_unknown, cbx_values_nothing;
/* "Anything" for nothing. */
const struct cbx_values *cbx_values_some(const struct cbx_values *values);

/* A set of one. */
const struct cbx_values *cbx_values_name(struct cbx_arena *arena, struct cbx_str name);
/* What the number of a name says besides: nothing in the source binds it (a builtin, or something
 * of an earlier cell); it is an object that the callable of this name made. */
enum { CBX_NAME_BARE = 1, CBX_NAME_OBJECT = 2 };
const struct cbx_values *cbx_values_bare(struct cbx_arena *arena, struct cbx_str name);
const struct cbx_values *cbx_values_text(struct cbx_arena *arena, struct cbx_str text);
/* A constant of bytes (value.number is CBX_TEXT_BYTES): iterated over, it gives numbers. */
enum { CBX_TEXT_BYTES = 1 };
const struct cbx_values *cbx_values_bytes(struct cbx_arena *arena, struct cbx_str text);
const struct cbx_values *cbx_values_number(struct cbx_arena *arena, struct cbx_str text,
                                           int64_t number);
/* Another constant: None, 1.5, true. */
const struct cbx_values *cbx_values_constant(struct cbx_arena *arena, struct cbx_str text);
const struct cbx_values *cbx_values_one(struct cbx_arena *arena, const struct cbx_value *value);
/* Any number of things, each of which may be `member`. */
const struct cbx_values *cbx_values_each(struct cbx_arena *arena, const struct cbx_values *member);
/* A list of `count` members; the array is borrowed. "Anything" when it is NULL. */
const struct cbx_values *cbx_values_list(struct cbx_arena *arena,
                                         const struct cbx_values *const *members, uint32_t count);
/* The one list or mapping with known members that it is, or NULL. */
const struct cbx_value *cbx_values_container(const struct cbx_values *values,
                                             enum cbx_value_kind kind);

/* Everything that either may be. Too many alternatives: those beyond the cap are dropped for
 * "anything", never silently: constants first, then names that nothing binds. When others were
 * dropped too, the "anything" has the number CBX_UNKNOWN_MORE. */
enum { CBX_UNKNOWN_MORE = 1 };
const struct cbx_values *cbx_values_join(struct cbx_arena *arena, const struct cbx_values *a,
                                         const struct cbx_values *b);

/* True when there is one alternative and it is a constant text. */
bool cbx_values_is_text(const struct cbx_values *values, struct cbx_str *out);
/* True when every alternative is a constant text, and there is one. */
bool cbx_values_all_text(const struct cbx_values *values);
/* The constant texts among the alternatives, paths of objects too; NULL when there are none. */
const struct cbx_str *cbx_values_texts(struct cbx_arena *arena, const struct cbx_values *values,
                                       uint32_t *count);
bool cbx_values_is_number(const struct cbx_values *values, int64_t *out);
/* Were there more names than could be followed? */
bool cbx_values_has_more(const struct cbx_values *values);
bool cbx_values_has_unknown(const struct cbx_values *values);

/* The member at `key` of a list (decimal) or map, over all alternatives. */
const struct cbx_values *cbx_values_member(struct cbx_arena *arena, const struct cbx_values *values,
                                           struct cbx_str key);

/* The same of something that may have been changed since it was made: of a list it is not known how
 * many members it has, of a mapping which others, and bytes may be others. */
const struct cbx_values *cbx_values_loose(struct cbx_arena *arena, const struct cbx_values *values);

/* Any member. */
const struct cbx_values *cbx_values_members(struct cbx_arena *arena,
                                            const struct cbx_values *values);

/* Text operations; {NULL, 0} when the result is over the cap, or one of the parts is {NULL, 0}. */
/* Interpreters count characters and know Unicode's cases, we count bytes: what depends on it is
 * unknown for a text that is not ASCII. */
struct cbx_str cbx_fold_concat(struct cbx_arena *arena, struct cbx_str a, struct cbx_str b);
struct cbx_str cbx_fold_reverse(struct cbx_arena *arena, struct cbx_str text);
/* Base64 and hex: {NULL, 0} for text that not every decoder reads alike. */
struct cbx_str cbx_fold_base64(struct cbx_arena *arena, struct cbx_str text);
struct cbx_str cbx_fold_hex(struct cbx_arena *arena, struct cbx_str text);
struct cbx_str cbx_fold_rot13(struct cbx_arena *arena, struct cbx_str text);
struct cbx_str cbx_fold_case(struct cbx_arena *arena, struct cbx_str text, bool upper);
struct cbx_str cbx_fold_replace(struct cbx_arena *arena, struct cbx_str text, struct cbx_str from,
                                struct cbx_str to);
/* The first one only, as JavaScript's replace() does. */
struct cbx_str cbx_fold_replace_first(struct cbx_arena *arena, struct cbx_str text,
                                      struct cbx_str from, struct cbx_str to);
struct cbx_str cbx_fold_trim(struct cbx_str text);
struct cbx_str cbx_fold_codepoint(struct cbx_arena *arena, int64_t code);

/* An integer as Python and JavaScript write it (0x, 0o, 0b, '_' between digits). False for a
 * fraction, an exponent, a suffix, or more than 64 bits: then it is not followed. */
bool cbx_fold_integer(struct cbx_str text, int64_t *out);

/* NFKC of an identifier (UAX 31; CPython and PEP 3131 do the same); ASCII is returned as it is. */
struct cbx_str cbx_fold_nfkc(struct cbx_arena *arena, struct cbx_str name);

/* Backslash escapes of a string's content taken away: \n \t \\ \' \" \xHH \uHHHH \u{H} \ooo and an
 * escaped line end; of Python also \a and \UHHHHHHHH, and \N{...} makes it unknown. */
struct cbx_str cbx_fold_unescape(struct cbx_arena *arena, struct cbx_str text, bool python);

#endif
