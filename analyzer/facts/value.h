/* SPDX-License-Identifier: MIT
 * Abstract values: the possible values of an expression, as a small set of alternatives. Aliases,
 * constant folding and containers are built on it, in every language. Sets lie in the request's
 * arena and are immutable. */
#ifndef CBX_ANALYZER_FACTS_VALUE_H
#define CBX_ANALYZER_FACTS_VALUE_H

#include "analyzer/facts/fold.h"
#include "policies/base/arena.h"
#include "policies/base/str.h"

#include <stdint.h>

struct cbx_node;

enum cbx_value_kind {
    CBX_V_UNKNOWN = 0, /* any value; text: the known parts of a text, '*' for each unknown part;
                          number: CBX_UNKNOWN_ flags */
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

/* Any value; and no value, the neutral element of a join. The first alternative of "nothing" reads
 * as "anything". */
extern const struct cbx_values cbx_values_unknown, cbx_values_nothing;
/* "Anything" for nothing. */
const struct cbx_values *cbx_values_some(const struct cbx_values *values);

/* A set of one. */
const struct cbx_values *cbx_values_name(struct cbx_arena *arena, struct cbx_str name);
/* Values of the number of a name: nothing in the source binds the name (a builtin, or a name of an
 * earlier cell); it is an object that the callable of this name returned. */
enum { CBX_NAME_BARE = 1, CBX_NAME_OBJECT = 2 };
const struct cbx_values *cbx_values_bare(struct cbx_arena *arena, struct cbx_str name);
const struct cbx_values *cbx_values_text(struct cbx_arena *arena, struct cbx_str text);
/* What is known of "anything", as flags in its number. */
enum {
    CBX_UNKNOWN_MORE = 1,  /* it replaces names that were more than the cap */
    CBX_UNKNOWN_BUILT = 4, /* a concatenation with parts that are not known */
    CBX_UNKNOWN_TEXT = 8,  /* it is, or is read from, a text that is not in the source: a file, the
                               input, a message */
    CBX_UNKNOWN_ENVIRONMENT = 1024, /* with SECRET: from the whole environment */
    CBX_UNKNOWN_SECRET = 16,        /* it is made from the environment or from a credential */
    CBX_UNKNOWN_CALLER =
        32, /* only a caller that is not in the text could give it: where that caller
                                stands, it is judged with the function */
    CBX_UNKNOWN_NAMES = 128,   /* a name of an attribute, out of a list of all of an object (dir) */
    CBX_UNKNOWN_PICKED = 256,  /* with NAMES: taken by its place in the list */
    CBX_UNKNOWN_MEMBER = 512,  /* an attribute that was read by such a name; not inherited */
    CBX_UNKNOWN_NUMBER = 2048, /* it is a number; not inherited */
    CBX_UNKNOWN_HERE = 64      /* in `gaps` alone: a part that has no such caller */
};
/* The flags of what is read from it, or called on it. */
static inline uint32_t cbx_unknown_inherited(uint32_t flags)
{
    return flags & ~(uint32_t)(CBX_UNKNOWN_MORE | CBX_UNKNOWN_MEMBER | CBX_UNKNOWN_NUMBER);
}
/* "Anything" with these flags. */
const struct cbx_values *cbx_values_marked(struct cbx_arena *arena, uint32_t flags);
/* The flags of the alternatives that are "anything"; CBX_UNKNOWN_CALLER and
 * CBX_UNKNOWN_NUMBER when all of them have it. */
uint32_t cbx_values_flags(const struct cbx_values *values);
/* A text that the program's surroundings decide, most likely this one: its home, its working
 * folder, a path within them. "Anything" with this text, in which there is no '*'. */
const struct cbx_values *cbx_values_likely(struct cbx_arena *arena, struct cbx_str text);
/* One piece of a concatenated text: the text of a constant, "*" for any other value, whose flags
 * and CBX_UNKNOWN_BUILT are added to *gaps. */
struct cbx_str cbx_values_piece(const struct cbx_values *values, uint32_t *gaps);
/* Result of the concatenation: a constant; with gaps "anything" with these flags, which keeps the
 * known parts when they may be a path. */
const struct cbx_values *cbx_values_built(struct cbx_arena *arena, struct cbx_str text,
                                          uint32_t gaps);
/* A constant of bytes (value.number is CBX_TEXT_BYTES): iterated over, it gives numbers. */
enum { CBX_TEXT_BYTES = 1 };
const struct cbx_values *cbx_values_bytes(struct cbx_arena *arena, struct cbx_str text);
const struct cbx_values *cbx_values_number(struct cbx_arena *arena, struct cbx_str text,
                                           int64_t number);
/* Another constant: None, 1.5, true. */
const struct cbx_values *cbx_values_constant(struct cbx_arena *arena, struct cbx_str text);
const struct cbx_values *cbx_values_one(struct cbx_arena *arena, const struct cbx_value *value);
/* A list of any length, each member of which may be `member`. */
const struct cbx_values *cbx_values_each(struct cbx_arena *arena, const struct cbx_values *member);
/* A list of `count` members; the array is borrowed. "Anything" when it is NULL. */
const struct cbx_values *cbx_values_list(struct cbx_arena *arena,
                                         const struct cbx_values *const *members, uint32_t count);
/* The only alternative, when it is a list or mapping with known members; else NULL. */
const struct cbx_value *cbx_values_container(const struct cbx_values *values,
                                             enum cbx_value_kind kind);

/* The union of both. Alternatives over the cap are replaced by "anything": constants first, then
 * names that nothing binds. When other alternatives were replaced too, the "anything" has the flag
 * CBX_UNKNOWN_MORE. */
const struct cbx_values *cbx_values_join(struct cbx_arena *arena, const struct cbx_values *a,
                                         const struct cbx_values *b);

/* A union that grows in its own memory: a loop of cbx_values_join makes a set for each step. It
 * begins as { .values = &cbx_values_nothing }, and `values` is the result after each step; a set
 * that was taken from it changes with the next step. */
struct cbx_union {
    const struct cbx_values *values;
    struct cbx_values *own; /* `values`, when it is no set of a caller */
    uint32_t room;          /* of own */
};
void cbx_union_add(struct cbx_arena *arena, struct cbx_union *sum, const struct cbx_values *values);

/* True when there is one alternative and it is a constant text. */
bool cbx_values_is_text(const struct cbx_values *values, struct cbx_str *out);
/* True when every alternative is a constant text, and there is one. */
bool cbx_values_all_text(const struct cbx_values *values);
/* The constant and the likely texts among the alternatives, paths of objects too; NULL when
 * there are none. */
const struct cbx_str *cbx_values_texts(struct cbx_arena *arena, const struct cbx_values *values,
                                       uint32_t *count);
/* The same for texts that are known in part. */
const struct cbx_str *cbx_values_partials(struct cbx_arena *arena, const struct cbx_values *values,
                                          uint32_t *count);
bool cbx_values_is_number(const struct cbx_values *values, int64_t *out);
/* True when there were more names than the cap. */
bool cbx_values_has_more(const struct cbx_values *values);
bool cbx_values_has_unknown(const struct cbx_values *values);

/* The member at `key` of a list (decimal) or map, over all alternatives. */
const struct cbx_values *cbx_values_member(struct cbx_arena *arena, const struct cbx_values *values,
                                           struct cbx_str key);

/* The same of one alternative; it may be "nothing". */
const struct cbx_values *cbx_value_member(struct cbx_arena *arena, const struct cbx_value *v,
                                          struct cbx_str key);

/* The same value when it may have been changed since it was made: a list of unknown length, a
 * mapping that may have other keys, bytes that may differ. */
const struct cbx_values *cbx_values_loose(struct cbx_arena *arena, const struct cbx_values *values);

/* Any member. */
const struct cbx_values *cbx_values_members(struct cbx_arena *arena,
                                            const struct cbx_values *values);

#endif
