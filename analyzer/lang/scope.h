/* SPDX-License-Identifier: MIT
 * Scopes and bindings: which name is bound where, and to what. Shared by the extractors; flow does
 * not count, a name may be anything that it is bound to anywhere in its scope. All of it lives in
 * the request's arena. */
#ifndef CBX_ANALYZER_LANG_SCOPE_H
#define CBX_ANALYZER_LANG_SCOPE_H

#include "analyzer/parse.h"
#include "analyzer/syntax.h"
#include "analyzer/value.h"

enum cbx_bind {
    CBX_BIND_NAME,     /* the thing of the qualified name `path` */
    CBX_BIND_EXPR,     /* what `node` may be; of it `each` member, of that what is at `path` */
    CBX_BIND_FUNCTION, /* the function or class at `node` */
    CBX_BIND_VALUES,   /* `values` */
    CBX_BIND_UNKNOWN,  /* anything */
    CBX_BIND_GLOBAL,   /* the module's variable of this name (`global`) */
    CBX_BIND_NONLOCAL, /* that of a scope around this one (`nonlocal`) */
};

/* Between the keys of a path: destructuring reads 'a', then 'b'. */
#define CBX_PATH_SEPARATOR '\x1f'

struct cbx_scope;
struct cbx_binding {
    enum cbx_bind kind;
    bool each;
    bool builtin; /* what the name is when nothing binds it */
    bool given;   /* a parameter, its default, or what a call gives it; not an assignment */
    uint8_t retries;
    struct cbx_str name, path;
    struct cbx_scope *where; /* evaluated in */
    struct cbx_node *node;
    const struct cbx_values *values;
    struct cbx_binding *next;      /* another binding of the same name */
    const struct cbx_values *memo; /* of the whole chain, on its first */
};

/* What a function does with a result: `yield from` yields every member. */
enum cbx_result { CBX_RETURNS, CBX_YIELDS, CBX_YIELDS_FROM };

struct cbx_scope {
    struct cbx_scope *parent;
    struct cbx_scope
        *origin; /* set: one run of that scope's code, with parameters that are known */
    enum { CBX_SCOPE_MODULE, CBX_SCOPE_FUNCTION, CBX_SCOPE_CLASS, CBX_SCOPE_COMPREHENSION } kind;
    struct cbx_node *node;
    uint32_t runs;  /* of its code */
    uint64_t bound; /* bits of the hashes of the names that it binds: a quick "no" */
    struct cbx_return {
        struct cbx_node *node;
        enum cbx_result kind;
        struct cbx_return *next;
    } * returns;
};

/* A hash table from two words to one pointer. */
struct cbx_table {
    struct cbx_slot {
        const void *a;
        uint64_t b;
        void *value;
    } * slots;
    size_t count, size;
};

enum { CBX_TENTATIVE_MAX = 1024, CBX_IMPORTS_MAX = 32 };
struct cbx_walk {
    struct cbx_parsed *parsed;
    struct cbx_arena *arena;
    struct cbx_facts *facts;
    const char *src;
    struct cbx_syntax syntax;
    struct cbx_scope *module;
    struct cbx_table bindings; /* (scope, hash of name) -> chain; scope NULL: attributes of objects,
                                  by their name */
    struct cbx_table memo;     /* (node or scope, scope or hash) -> values, for runs */
    /* The evaluator of the language, and how it reads a member. */
    const struct cbx_values *(*eval)(struct cbx_walk *walk, struct cbx_node *node,
                                     struct cbx_scope *scope);
    const struct cbx_values *(*member)(struct cbx_walk *walk, const struct cbx_values *object,
                                       struct cbx_str key);
    /* Modules and other powerful things that were handed to where they are not followed: whatever
     * is not known may be one of them. */
    const struct cbx_values *escaped;
    struct cbx_scope escapes; /* what was said about their attributes */
    uint64_t patched;         /* bits of the attributes that are assigned to what was imported */
    bool changes;             /* containers are changed in place, somewhere */
    bool giving;              /* what is bound now is `given` */
    bool namespaces;          /* globals() and the like are used */
    uint64_t builtins;        /* bits of the names of powerful builtins */
    uint64_t rebound;         /* of those of them that the text binds */
    uint64_t imported;        /* bits of the names that imports bind */
    struct cbx_str import_items[CBX_IMPORTS_MAX]; /* what they bind them to */
    uint32_t import_count;
    struct cbx_strs stars; /* modules that were star-imported */
    struct cbx_str star_items[16];
    int depth, run_depth, apply_depth, expand_depth;
    uint32_t steps, runs, cycles;
    bool examples;       /* of docstrings were read */
    bool uses_arguments; /* of JavaScript's functions */
    bool withs;          /* there is a `with` of JavaScript's */
    bool gave_up;        /* a bound was reached: something is "anything" that could be known */
    /* Values that were worked out inside a cycle, to be forgotten. */
    const struct cbx_values **tentative[CBX_TENTATIVE_MAX];
    uint32_t tentative_count;
};

/* One bit of 64, for sets that say "no" quickly. */
uint64_t cbx_name_bit(struct cbx_str name);

/* What is at (a, b); NULL when nothing is. */
void *cbx_table_find(const struct cbx_table *table, const void *a, uint64_t b);

/* The place of (a, b) in the table; what it holds is NULL until it is set. When the arena is
 * exhausted it is a place that nobody reads. */
void **cbx_table_slot(struct cbx_walk *walk, struct cbx_table *table, const void *a, uint64_t b);

/* Sets up a walk over a parsed text, its array of nodes included; facts for what is nested too
 * deep. False when the arena is exhausted. */
bool cbx_walk_begin(struct cbx_walk *walk, struct cbx_parsed *parsed,
                    const struct cbx_grammar *grammar);

/* A bound that was reached is a fact: what was not followed to its end was not judged. */
void cbx_walk_end(struct cbx_walk *walk);

/* The scope that a node stands in; the scope of its children is node->inner. */
struct cbx_scope *cbx_scope_around(const struct cbx_walk *walk, const struct cbx_node *node);

/* Binds `name` in `scope` (NULL: as an attribute of any object), or where a `global` or `nonlocal`
 * there says; NULL when the arena is exhausted. The caller fills in what the kind needs. */
struct cbx_binding *cbx_scope_bind(struct cbx_walk *walk, struct cbx_scope *scope,
                                   struct cbx_scope *where, struct cbx_str name, enum cbx_bind kind,
                                   struct cbx_node *node);

/* Is the name assigned in the scope, besides being a parameter of it? */
bool cbx_scope_assigns(struct cbx_walk *walk, const struct cbx_scope *scope, struct cbx_str name);

/* Does the scope itself bind the name? The chain of its bindings, or NULL. */
struct cbx_binding *cbx_scope_chain(struct cbx_walk *walk, const struct cbx_scope *scope,
                                    struct cbx_str name);

/* A scope that `node` opens. */
struct cbx_scope *cbx_scope_open(struct cbx_walk *walk, struct cbx_scope *parent,
                                 struct cbx_node *node, int kind);

/* One run of the code of `origin`: names that are bound in it are looked up there first. NULL when
 * there were too many, or they are nested too deep. */
struct cbx_scope *cbx_scope_run(struct cbx_walk *walk, struct cbx_scope *origin,
                                struct cbx_scope *parent);

/* Notes an expression that a function returns or yields. */
void cbx_scope_return(struct cbx_walk *walk, struct cbx_scope *scope, struct cbx_node *node,
                      enum cbx_result kind);

/* Everything that the function of this scope may return; a generator is a list of what it yields.
 */
const struct cbx_values *cbx_scope_returns(struct cbx_walk *walk, struct cbx_scope *scope);

/* Everything that a name may be in one scope; NULL when the scope does not bind it. Scope NULL: as
 * an attribute of any object. */
const struct cbx_values *cbx_scope_lookup(struct cbx_walk *walk, struct cbx_scope *scope,
                                          struct cbx_str name);

/* What one binding says, evaluated in `where`. */
const struct cbx_values *cbx_binding_eval(struct cbx_walk *walk, const struct cbx_binding *binding,
                                          struct cbx_scope *where);

/* `eval_kind` behind a memo and the bounds on depth and steps; whatever is beyond them is
 * "anything". Never NULL; "anything" for no node. */
const struct cbx_values *
cbx_scope_eval(struct cbx_walk *walk, struct cbx_node *node, struct cbx_scope *scope,
               const struct cbx_values *(*eval_kind)(struct cbx_walk *, struct cbx_node *,
                                                     struct cbx_scope *));

/* Notes that this name is out of sight from now on. There is room for some; `first`: rather for
 * this one than for others. */
void cbx_walk_escape(struct cbx_walk *walk, struct cbx_str name, bool first);

/* What an attribute of something that went out of sight may be: of each escaped thing `read` says,
 * and what no rule could speak of is left out. */
const struct cbx_values *cbx_walk_escaped(
    struct cbx_walk *walk, struct cbx_str attribute, enum cbx_language language,
    const struct cbx_values *(*read)(struct cbx_walk *walk, const struct cbx_value *object,
                                     struct cbx_str attribute));

/* --- arguments -------------------------------------------------------------------------------- */

/* What a call is given, in the order of the source; evaluated when asked for. */
struct cbx_actual {
    struct cbx_str keyword; /* empty: by position */
    struct cbx_node *node;  /* evaluated in `scope`, when `values` is NULL */
    struct cbx_scope *scope;
    const struct cbx_values *values;
};
enum { CBX_ACTUALS_MAX = 20 };
struct cbx_actuals {
    struct cbx_actual items[CBX_ACTUALS_MAX];
    uint32_t count;
    bool spread; /* more that is not known (*args), or beyond the cap */
};

void cbx_actuals_add(struct cbx_actuals *actuals, struct cbx_str keyword, struct cbx_node *node,
                     struct cbx_scope *scope, const struct cbx_values *values);
/* The argument at a position, or of this keyword (NULL: none); NULL when it is not given. */
struct cbx_actual *cbx_actual_find(struct cbx_actuals *actuals, uint32_t position,
                                   const char *keyword);
/* Its values; "anything" when it is not given. */
const struct cbx_values *cbx_actual_values(struct cbx_walk *walk, struct cbx_actuals *actuals,
                                           uint32_t position, const char *keyword);
/* Without the first `drop` positional ones, and with `first` (may be NULL) in front. */
void cbx_actuals_shift(const struct cbx_actuals *from, uint32_t drop,
                       const struct cbx_values *first, struct cbx_actuals *out);

/* A program that is started with these words (argv), judged as the line of shell that would start
 * it. `open`: more words follow that are not known. No words: a fact that it is computed. */
void cbx_command_line(const struct cbx_parsed *parsed, const struct cbx_values *const *words,
                      uint32_t count, bool open, uint32_t start, uint32_t end);

/* --- tables of names -------------------------------------------------------------------------- */

/* A row of a table of names: what it says about the name is one of the table's own kinds. */
struct cbx_name_row {
    uint8_t what;
    struct cbx_str name, text;
    int number;
    const char *more;
};
#define CBX_LITERAL(literal)                                                                       \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }
enum { CBX_NAMES_SLOTS = 2048 };
struct cbx_names {
    const struct cbx_name_row *rows;
    size_t count;                    /* at most half of the slots */
    uint16_t slots[CBX_NAMES_SLOTS]; /* 1 + row */
};
/* Fills the slots; once, before anyone looks. */
void cbx_names_fill(struct cbx_names *names);
/* The row that says this about the name, or NULL. */
const struct cbx_name_row *cbx_names_find(const struct cbx_names *names, uint8_t what,
                                          struct cbx_str name);

/* The source of a node; empty for no node. */
struct cbx_str cbx_walk_text(const struct cbx_walk *walk, const struct cbx_node *node);

#endif
