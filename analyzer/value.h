/* SPDX-License-Identifier: MIT
 * Abstract values: what an expression may be, as a small set of alternatives. The one mechanism
 * behind aliases, folding and containers, in every language. Sets live in the request's arena and
 * never change once made. */
#ifndef CBX_ANALYZER_VALUE_H
#define CBX_ANALYZER_VALUE_H

#include "analyzer/fold.h"
#include "policies/base/arena.h"
#include "policies/base/str.h"

#include <stdint.h>

struct cbx_node;

enum cbx_value_kind {
    CBX_V_UNKNOWN = 0, /* could be anything; text: of a text some parts are known, '*' stands for
                          those that are not */
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

enum { CBX_VALUES_MAX = 48, CBX_MEMBERS_MAX = 4096 };

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
/* One more piece of a text that is put together: a constant as it is, "*" for anything else, which
 * sets *gaps. */
struct cbx_str cbx_values_piece(const struct cbx_values *values, bool *gaps);
/* What came of the pieces: a constant; with gaps "anything", which remembers what is known of it
 * when that may be a path. */
const struct cbx_values *cbx_values_built(struct cbx_arena *arena, struct cbx_str text, bool gaps);
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
/* The same of texts of which only parts are known. */
const struct cbx_str *cbx_values_partials(struct cbx_arena *arena, const struct cbx_values *values,
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

#endif
