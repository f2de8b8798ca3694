/* SPDX-License-Identifier: MIT
 * Abstract values: the possible values of an expression, as a small set of alternatives. The
 * evaluators of all languages build on them: aliases, constant folding, containers. Sets are
 * allocated in the request's arena and are immutable. */
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
    CBX_V_NAME,        /* the object with this qualified name: "os.system" */
    CBX_V_TEXT,        /* a constant string or bytes */
    /* a constant integer; if count is 1, another constant, with text as its spelling */
    CBX_V_NUMBER,
    /* a sequence of known members; if number is 1, any number of members, each of which may be
     * members[0] */
    CBX_V_LIST,
    /* a mapping; keys[i] belongs to members[i]; number is 1 if there may be more; text:
       CBX_MAP_OBJECT or CBX_MAP_INSTANCE if they are attributes, not items */
    CBX_V_MAP,
    CBX_V_FUNCTION, /* a function or class of this source: node, scope */
    CBX_V_PARTIAL,  /* a callable, members[0], whose first arguments are the other members */
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

/* Attributes that statements set on an object; attributes that a class gives its instances. */
#define CBX_MAP_OBJECT   "object"
#define CBX_MAP_INSTANCE "instance"

enum { CBX_VALUES_MAX = 48, CBX_MEMBERS_MAX = 4096 };

/* "Anything", that is any value; and "nothing", no value, the neutral element of a join. The
 * first alternative of "nothing" is "anything". */
extern const struct cbx_values cbx_values_unknown, cbx_values_nothing;
/* Returns the values; "anything" for "nothing". */
const struct cbx_values *cbx_values_some(const struct cbx_values *values);

/* Functions that return a set of one value. */
const struct cbx_values *cbx_values_name(struct cbx_arena *arena, struct cbx_str name);
/* `number` of a name. BARE: nothing in the source binds the name (a builtin, or a name of an
 * earlier cell). OBJECT: the value is an object that the callable of this name returned. */
enum { CBX_NAME_BARE = 1, CBX_NAME_OBJECT = 2 };
const struct cbx_values *cbx_values_bare(struct cbx_arena *arena, struct cbx_str name);
const struct cbx_values *cbx_values_text(struct cbx_arena *arena, struct cbx_str text);
/* Flags in `number` of "anything". */
enum {
    CBX_UNKNOWN_MORE = 1,  /* replaces names over the cap */
    CBX_UNKNOWN_BUILT = 4, /* a concatenation with unknown parts */
    /* a text from outside of the source (a file, the input, a message), or read from one */
    CBX_UNKNOWN_TEXT = 8,
    CBX_UNKNOWN_ENVIRONMENT = 1024, /* with SECRET: from the whole environment */
    CBX_UNKNOWN_SECRET = 16,        /* made from the environment or from a credential */
    /* only a caller outside of the text can give the value; the text of that caller is judged
     * together with the function */
    CBX_UNKNOWN_CALLER = 32,
    /* the name of an attribute, from a list of all attributes of an object (dir) */
    CBX_UNKNOWN_NAMES = 128,
    CBX_UNKNOWN_PICKED = 256,  /* with NAMES: selected by its place in the list */
    CBX_UNKNOWN_MEMBER = 512,  /* an attribute that was read by such a name; not inherited */
    CBX_UNKNOWN_NUMBER = 2048, /* a number; not inherited */
    CBX_UNKNOWN_HERE = 64      /* only in `gaps`: a part without CBX_UNKNOWN_CALLER */
};
/* Returns the flags of a value that is read from "anything" with these flags, or returned by it. */
static inline uint32_t cbx_unknown_inherited(uint32_t flags)
{
    return flags & ~(uint32_t)(CBX_UNKNOWN_MORE | CBX_UNKNOWN_MEMBER | CBX_UNKNOWN_NUMBER);
}
/* Returns "anything" with these flags. */
const struct cbx_values *cbx_values_marked(struct cbx_arena *arena, uint32_t flags);
/* Returns the flags of the alternatives that are "anything"; CBX_UNKNOWN_CALLER and
 * CBX_UNKNOWN_NUMBER only if all of them have the flag. */
uint32_t cbx_values_flags(const struct cbx_values *values);
/* Returns a text that depends on the program's surroundings, with its most likely value: its
 * home, its working folder, a path within them. The value is "anything" with this text, which
 * contains no '*'. */
const struct cbx_values *cbx_values_likely(struct cbx_arena *arena, struct cbx_str text);
/* Returns one piece of a concatenated text: the text of a constant, "*" for any other value,
 * whose flags and CBX_UNKNOWN_BUILT are added to *gaps. */
struct cbx_str cbx_values_piece(const struct cbx_values *values, uint32_t *gaps);
/* Returns the result of a concatenation: a constant; with gaps "anything" with these flags,
 * which keeps the known parts if they may be a path, or the name of an attribute that begins with
 * "__". */
const struct cbx_values *cbx_values_built(struct cbx_arena *arena, struct cbx_str text,
                                          uint32_t gaps);
/* Returns a constant of bytes (value.number is CBX_TEXT_BYTES): its members are numbers. */
enum { CBX_TEXT_BYTES = 1 };
const struct cbx_values *cbx_values_bytes(struct cbx_arena *arena, struct cbx_str text);
const struct cbx_values *cbx_values_number(struct cbx_arena *arena, struct cbx_str text,
                                           int64_t number);
/* Returns another constant: None, 1.5, true. */
const struct cbx_values *cbx_values_constant(struct cbx_arena *arena, struct cbx_str text);
const struct cbx_values *cbx_values_one(struct cbx_arena *arena, const struct cbx_value *value);
/* Returns a list of any length, each member of which may be `member`. */
const struct cbx_values *cbx_values_each(struct cbx_arena *arena, const struct cbx_values *member);
/* Returns a list of `count` members; the array is borrowed. "Anything" if it is NULL. */
const struct cbx_values *cbx_values_list(struct cbx_arena *arena,
                                         const struct cbx_values *const *members, uint32_t count);
/* Returns the only alternative, if it is a list or mapping (`kind`) with known members; else
 * NULL. */
const struct cbx_value *cbx_values_container(const struct cbx_values *values,
                                             enum cbx_value_kind kind);

/* Returns the union of both. Alternatives over the cap are replaced by "anything": constants
 * first, then names that nothing binds. If other alternatives were replaced too, the "anything"
 * has the flag CBX_UNKNOWN_MORE. */
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
/* Returns true if there are alternatives and all of them are constant texts. */
bool cbx_values_all_text(const struct cbx_values *values);
/* Returns the constant and the likely texts among the alternatives, paths of objects included;
 * NULL if there are none. */
const struct cbx_str *cbx_values_texts(struct cbx_arena *arena, const struct cbx_values *values,
                                       uint32_t *count);
/* Does the same for texts that are known in part. */
const struct cbx_str *cbx_values_partials(struct cbx_arena *arena, const struct cbx_values *values,
                                          uint32_t *count);
bool cbx_values_is_number(const struct cbx_values *values, int64_t *out);
/* Returns true if names over the cap were replaced (CBX_UNKNOWN_MORE). */
bool cbx_values_has_more(const struct cbx_values *values);
bool cbx_values_has_unknown(const struct cbx_values *values);

/* Returns the member at `key` of a list (decimal) or map, over all alternatives. */
const struct cbx_values *cbx_values_member(struct cbx_arena *arena, const struct cbx_values *values,
                                           struct cbx_str key);

/* The same of one alternative; it may be "nothing". */
const struct cbx_values *cbx_value_member(struct cbx_arena *arena, const struct cbx_value *v,
                                          struct cbx_str key);

/* The same value when it may have been changed since it was made: a list of unknown length, a
 * mapping that may have other keys, bytes that may differ. */
const struct cbx_values *cbx_values_loose(struct cbx_arena *arena, const struct cbx_values *values);

/* Returns any member. */
const struct cbx_values *cbx_values_members(struct cbx_arena *arena,
                                            const struct cbx_values *values);

#endif
