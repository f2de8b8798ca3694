/* SPDX-License-Identifier: MIT
 * Scopes and bindings: the names that each scope binds, and their values. Shared by the
 * extractors. Flow-insensitive: a name may have any value that the text binds to it anywhere in
 * its scope. All memory is in the request's arena. */
#ifndef CBX_ANALYZER_LANG_SCOPE_H
#define CBX_ANALYZER_LANG_SCOPE_H

#include "analyzer/facts/value.h"
#include "analyzer/parse.h"
#include "analyzer/syntax/syntax.h"
#include "policies/base/table.h"

enum cbx_bind {
    CBX_BIND_NAME, /* the object with the qualified name `path` */
    /* the value of `node`; with `each` any member of that value; then the part at `path` */
    CBX_BIND_EXPR,
    CBX_BIND_FUNCTION, /* the function or class at `node` */
    CBX_BIND_VALUES,   /* `values` */
    CBX_BIND_UNKNOWN,  /* anything */
    CBX_BIND_KEY,      /* anything: a name of a member of the value of `node` */
    CBX_BIND_FIELD,    /* the attribute `path` of any object, for a file that is imported */
    CBX_BIND_GLOBAL,   /* the module's variable of this name (`global`) */
    CBX_BIND_NONLOCAL, /* the variable of this name in an enclosing scope (`nonlocal`) */
};

/* Separates the keys of a path: destructuring reads 'a', then 'b'. */
#define CBX_PATH_SEPARATOR '\x1f'

struct cbx_builtins;
struct cbx_scope;
struct cbx_py_uses;
struct cbx_stored_lang;
struct cbx_stored_note;
struct cbx_binding {
    enum cbx_bind kind;
    bool each;
    bool builtin; /* the value of the name if nothing binds it */
    bool given;   /* a parameter, its default, or an argument of a call; not an assignment */
    uint8_t retries;
    uint32_t at; /* the place in the text that binds it; UINT32_MAX: an earlier cell binds it */
    struct cbx_str name, path;
    struct cbx_scope *where; /* the scope in which `node` is evaluated */
    struct cbx_node *node;
    const struct cbx_values *values;
    struct cbx_binding *next; /* another binding of the same name */
    /* values of the whole chain; only in the first binding of the chain */
    const struct cbx_values *memo;
};

/* How a function returns a result; `yield from` yields every member of it. */
enum cbx_result { CBX_RETURNS, CBX_YIELDS, CBX_YIELDS_FROM };

struct cbx_scope {
    struct cbx_scope *parent;
    /* The scope of the code of which this scope is one run, with known parameters; else NULL. */
    struct cbx_scope *origin;
    enum { CBX_SCOPE_MODULE, CBX_SCOPE_FUNCTION, CBX_SCOPE_CLASS, CBX_SCOPE_COMPREHENSION } kind;
    struct cbx_node *node;
    uint32_t runs;  /* number of runs of its code */
    uint64_t bound; /* bits of the hashes of the names that the scope binds: a quick test */
    struct cbx_return {
        struct cbx_node *node;
        enum cbx_result kind;
        struct cbx_return *next;
    } * returns;
};

/* What the text stores in objects (stored.h); `lang` is NULL if that is not followed. */
struct cbx_stored {
    const struct cbx_stored_lang *lang;
    struct cbx_table names;   /* (scope, hash of name) -> chain of notes */
    struct cbx_table classes; /* (class, 0) -> what it stores in `self`; (class, 1): whether */
    struct cbx_stored_note *files, *last;
    uint32_t count, file_count;
    uint32_t self_count; /* stores in `self` */
    uint32_t steps;      /* steps for the current statement */
    int depth;           /* files that are read to know what a file holds */
    bool logs;           /* the text gives the log a file or an object to write to */
};

enum { CBX_TENTATIVE_MAX = 1024, CBX_IMPORTS_MAX = 32 };
struct cbx_walk {
    struct cbx_parsed *parsed;
    struct cbx_arena *arena;
    struct cbx_facts *facts;
    const char *src;
    struct cbx_syntax syntax;
    struct cbx_scope *module;
    /* scopes of the files in the text, in the order of parsed->files; NULL if there are no
     * files; an item is NULL until the scope of its file is open */
    struct cbx_scope **files;
    /* (scope, hash of name) -> chain; scope NULL: attributes of any object, by their name */
    struct cbx_table bindings;
    struct cbx_stored stored;
    struct cbx_table memo; /* (node or scope, scope or hash) -> values, for scopes of runs */
    /* The evaluator of the language, and its function that reads a member. */
    const struct cbx_values *(*eval)(struct cbx_walk *walk, struct cbx_node *node,
                                     struct cbx_scope *scope);
    const struct cbx_values *(*member)(struct cbx_walk *walk, const struct cbx_values *object,
                                       struct cbx_str key);
    /* Modules and other powerful objects that the text passes to code that is not followed: an
     * unknown value may be one of them. */
    const struct cbx_values *escaped;
    struct cbx_scope escapes; /* memo of cbx_walk_escaped: attribute -> values */
    /* Callables that read attributes or call their arguments (getattr, require) and that are
     * used as values: an unknown callee may be one of them. NULL: none. */
    const struct cbx_values *escaped_calls;
    uint64_t givers; /* bits of the names that imports bind to such callables */
    /* true while an escaped callable is applied to x.name(): the callee is a member `name` */
    bool applying_method;
    bool applying; /* true while an escaped callable is applied */
    /* bits of the names of attributes that the text assigns to imported objects */
    uint64_t patched;
    bool changes; /* true if the text changes containers in place */
    bool giving;  /* true while new bindings are marked `given` */
    uint32_t at;  /* the place in the text for new bindings */
    const struct cbx_builtins *builtin_names;
    bool namespaces;   /* true if the text uses globals() and the like */
    uint64_t builtins; /* bits of the names of powerful builtins */
    uint64_t rebound;  /* bits of the builtins that the text binds */
    uint64_t imported; /* bits of the names that imports bind */
    /* qualified names of the imported modules and members */
    struct cbx_str import_items[CBX_IMPORTS_MAX];
    uint32_t import_count;
    struct cbx_strs stars; /* modules with a star import */
    struct cbx_str star_items[16];
    int depth, run_depth, apply_depth, expand_depth;
    uint32_t steps, runs, cycles;
    struct cbx_table mentions;       /* Python: how the text uses each name */
    struct cbx_py_uses *import_uses; /* Python; NULL: not read yet */
    bool examples;                   /* Python: the examples of docstrings were judged */
    bool uses_arguments;             /* JavaScript: functions use `arguments` */
    /* True if the text imports a module whose objects have a powerful method (express: listen;
     * entry points: load). `triggers`: uses of methods of that name. */
    bool armed;
    const struct cbx_node **triggers;
    size_t trigger_count, trigger_size;
    bool withs;       /* JavaScript: the text has a `with` */
    uint32_t getters; /* JavaScript: number of getters that were followed */
    /* true after a bound was reached: some value is "anything" although it could be computed */
    bool gave_up;
    /* Values that were computed inside a cycle; they are discarded when the cycle ends. */
    const struct cbx_values **tentative[CBX_TENTATIVE_MAX];
    uint32_t tentative_count;
};

/* Returns one of 64 bits for a name, for quick membership tests. */
uint64_t cbx_name_bit(struct cbx_str name);

/* Initialises a walk over a parsed text with its array of nodes; adds facts for nodes that are
 * nested too deep. Returns false if the arena is exhausted. */
bool cbx_walk_begin(struct cbx_walk *walk, struct cbx_parsed *parsed,
                    const struct cbx_grammar *grammar);

/* Adds a fact if a bound was reached: some of the text was not judged. */
void cbx_walk_end(struct cbx_walk *walk);

/* cbx_walk_trigger notes a node that counts if the walk is `armed`; cbx_walk_fire adds a fact
 * with this name for each noted node if the walk is `armed`. */
void cbx_walk_trigger(struct cbx_walk *walk, const struct cbx_node *node);
void cbx_walk_fire(struct cbx_walk *walk, struct cbx_str name);

/* Returns the bits of the names that files in the text bind: these are attributes of the
 * imported files. */
uint64_t cbx_walk_file_names(const struct cbx_walk *walk);

/* Returns the scope of the module or file that contains a scope. */
struct cbx_scope *cbx_scope_root(struct cbx_scope *scope);

/* Returns the scope that contains a node; the scope of the node's children is node->inner. */
struct cbx_scope *cbx_scope_around(const struct cbx_walk *walk, const struct cbx_node *node);

/* Binds `name` in `scope` (NULL: as an attribute of any object), or in the scope that a `global`
 * or `nonlocal` there selects; returns NULL if the arena is exhausted. The caller fills in the
 * members of the kind. */
struct cbx_binding *cbx_scope_bind(struct cbx_walk *walk, struct cbx_scope *scope,
                                   struct cbx_scope *where, struct cbx_str name, enum cbx_bind kind,
                                   struct cbx_node *node);

/* Returns true if the scope assigns the name; a parameter is no assignment. */
bool cbx_scope_assigns(struct cbx_walk *walk, const struct cbx_scope *scope, struct cbx_str name);

/* Returns the chain of the scope's own bindings of the name; NULL if there are none. */
struct cbx_binding *cbx_scope_chain(struct cbx_walk *walk, const struct cbx_scope *scope,
                                    struct cbx_str name);

/* Opens a scope for `node`. */
struct cbx_scope *cbx_scope_open(struct cbx_walk *walk, struct cbx_scope *parent,
                                 struct cbx_node *node, int kind);

/* Opens a scope for one run of the code of `origin`: names are looked up in it first. Returns
 * NULL if there are too many runs, or they are nested too deep. */
struct cbx_scope *cbx_scope_run(struct cbx_walk *walk, struct cbx_scope *origin,
                                struct cbx_scope *parent);

/* Records an expression that a function returns or yields. */
void cbx_scope_return(struct cbx_walk *walk, struct cbx_scope *scope, struct cbx_node *node,
                      enum cbx_result kind);

/* Returns all values that the function of this scope may return; for a generator, a list of the
 * values that it yields. */
const struct cbx_values *cbx_scope_returns(struct cbx_walk *walk, struct cbx_scope *scope);

/* Returns all values of a name in one scope; NULL if the scope does not bind it. Scope NULL: as
 * an attribute of any object. */
const struct cbx_values *cbx_scope_lookup(struct cbx_walk *walk, struct cbx_scope *scope,
                                          struct cbx_str name);

/* Returns the value of one binding, evaluated in `where`. */
const struct cbx_values *cbx_binding_eval(struct cbx_walk *walk, const struct cbx_binding *binding,
                                          struct cbx_scope *where);

/* Calls `eval_kind` with a memo and with bounds on depth and steps; returns "anything" beyond a
 * bound or without a node. Never NULL. */
const struct cbx_values *
cbx_scope_eval(struct cbx_walk *walk, struct cbx_node *node, struct cbx_scope *scope,
               const struct cbx_values *(*eval_kind)(struct cbx_walk *, struct cbx_node *,
                                                     struct cbx_scope *));

/* Records that the object of this name has escaped. The set is bounded; `first`: replace another
 * entry if necessary. */
void cbx_walk_escape(struct cbx_walk *walk, struct cbx_str name, bool first);

/* Returns the possible values of an attribute of an unknown object: the results of `read` for
 * each escaped object, without those that no rule could match. */
const struct cbx_values *cbx_walk_escaped(
    struct cbx_walk *walk, struct cbx_str attribute, enum cbx_language language,
    const struct cbx_values *(*read)(struct cbx_walk *walk, const struct cbx_value *object,
                                     struct cbx_str attribute));

/* Returns the source of a node; empty if there is no node. */
struct cbx_str cbx_walk_text(const struct cbx_walk *walk, const struct cbx_node *node);

#endif
