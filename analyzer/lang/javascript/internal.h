/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the JavaScript extractor. */
#ifndef CBX_ANALYZER_LANG_JAVASCRIPT_INTERNAL_H
#define CBX_ANALYZER_LANG_JAVASCRIPT_INTERNAL_H

#include "analyzer/lang/command_line.h"
#include "analyzer/lang/names.h"
#include "analyzer/lang/scope.h"

enum cbx_js_kind {
    JS_OTHER = 0,
#define CBX_KIND(name) JS_##name,
#define CBX_KEEP(name) JS_##name,
#define CBX_DROP(name) JS_##name,
#include "analyzer/lang/javascript/kinds.def"
#undef CBX_KIND
#undef CBX_KEEP
#undef CBX_DROP
    JS_KINDS
};

static inline enum cbx_js_kind cbx_js_kind(const struct cbx_node *node)
{
    return node != NULL ? (enum cbx_js_kind)node->kind : JS_OTHER;
}

/* For cbx_stored_read (analyzer/lang/stored.h). */
extern const struct cbx_stored_lang cbx_js_stored;

const struct cbx_grammar *cbx_js_grammar(const TSTree *tree);
const TSLanguage *cbx_tsx_grammar(void);
struct cbx_str cbx_jsx_mend(const struct cbx_parsed *parsed, const TSLanguage *grammar);

/* cbx_lang_code.mend of JavaScript and TypeScript. */
struct cbx_str cbx_js_mend(const struct cbx_parsed *parsed, const TSLanguage *grammar);
bool cbx_js_is_name_byte(char c);
/* Returns the word at *at, after blanks and comments; empty if there is none. *at becomes the
 * offset behind it. */
struct cbx_str cbx_js_next_word(struct cbx_str text, size_t *at);

/* Finds a name with a typographic character: the misnames of cbx_lang_code. Looks at the first
 * 1,000 such characters of the text. */
bool cbx_js_misnames(const TSTree *tree, struct cbx_str text, uint32_t *start, uint32_t *end);

/* Text between two cells: the line break ends a comment, the semicolon ends a statement that the
 * next cell could continue (`var r = require` and `(x)` are no call). */
#define CBX_JS_BETWEEN "\n;\n"
/* Text around a file in such a program. */
extern const char *const cbx_js_around_file[2];

/* Binds namespace A.B { ... }: an object whose members are its exports. */
void cbx_ts_bind_namespace(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node);
/* Binds `export let k` in a namespace N: N.k = x sets the variable. `declaration` binds `name`. */
void cbx_ts_bind_export(struct cbx_walk *js, struct cbx_scope *scope,
                        const struct cbx_node *declaration, struct cbx_node *name);
/* Binds enum K { A = 'a', B = A + 'b' }, an object; returns the scope of its members. */
struct cbx_scope *cbx_ts_bind_enum(struct cbx_walk *js, struct cbx_scope *scope,
                                   struct cbx_node *node);
/* Converts a tree of TypeScript to one of JavaScript by removing the types. */
void cbx_ts_reshape(struct cbx_walk *js);

/* Returns true for a node that opens a function's scope. */
bool cbx_js_is_function(enum cbx_js_kind kind);

/* Binds the names of a pattern to `value`, or to any member of it. */
void cbx_js_bind_value(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_scope *where,
                       struct cbx_node *pattern, struct cbx_node *value, bool each);
/* Does the same for the part of `value` at a key: an index, or "n:" for the members from index n
 * on; and for a bare name. */
void cbx_js_bind_key(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_scope *where,
                     struct cbx_node *pattern, struct cbx_node *value, struct cbx_str key);
void cbx_js_bind_part(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_scope *where,
                      struct cbx_str name, struct cbx_node *value, struct cbx_str key);
/* Pass one: cbx_js_bind_all collects every binding of every scope, cbx_js_flow_all the arguments
 * of parameters and the objects that escape. */
void cbx_js_bind_all(struct cbx_walk *js);
void cbx_js_flow_all(struct cbx_walk *js);

/* Returns the possible values of an expression in this scope. Never NULL. */
const struct cbx_values *cbx_js_eval(struct cbx_walk *js, struct cbx_node *node,
                                     struct cbx_scope *scope);

/* cbx_values_piece, which also knows the folders of the environment: HOME and PWD. They stay names
 * otherwise, for rules about references. */
struct cbx_str cbx_js_piece(const struct cbx_values *values, uint32_t *gaps);

/* Returns a member of a value, by its name. */
const struct cbx_values *cbx_js_read(struct cbx_walk *js, const struct cbx_values *object,
                                     struct cbx_str key);

/* The name of the constructor of an unknown object. */
#define CBX_JS_SOME_CLASS "(class)"
/* Returns true for the global object, process and the module machinery: a computed member of
 * them may be any of their members. */
bool cbx_js_holds_power(const struct cbx_values *values);
/* Returns the member at a key of a destructuring's path; a computed key is CBX_JS_COMPUTED and
 * the number of its node. */
#define CBX_JS_COMPUTED '\x02'
const struct cbx_values *cbx_js_path(struct cbx_walk *js, const struct cbx_values *object,
                                     struct cbx_str key);
/* Reads a string, or a template whose substitutions are constants; `raw` keeps backslashes
 * (String.raw). */
const struct cbx_values *cbx_js_eval_string(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope, bool raw);

/* Return the values of o.k and o[k]; of operators, with constants where both operands are; of
 * `x += y`. */
const struct cbx_values *cbx_js_eval_member(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope);
const struct cbx_values *cbx_js_eval_binary(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope);
const struct cbx_values *cbx_js_eval_augmented(struct cbx_walk *js, struct cbx_node *node,
                                               struct cbx_scope *scope);

/* Returns the values of a call or `new`. */
const struct cbx_values *cbx_js_eval_call(struct cbx_walk *js, struct cbx_node *node,
                                          struct cbx_scope *scope);

/* Returns the name of an identifier or property, with its \u escapes resolved. */
struct cbx_str cbx_js_name(struct cbx_walk *js, const struct cbx_node *node);

/* Returns the name of a module in rules: without "node:". */
struct cbx_str cbx_js_module(struct cbx_str specifier);
/* Returns true if a module of this name may be one of the files in the text. */
bool cbx_js_is_file(const struct cbx_walk *js, struct cbx_str module);
/* Returns the module of this name: the library's, and the exports of files. */
const struct cbx_values *cbx_js_load(struct cbx_walk *js, struct cbx_str module);

/* Returns the canonical name of an object with several names. */
struct cbx_str cbx_js_canonical(struct cbx_str name);

/* Reads the name of the member in a member expression or subscript; false if it is computed and
 * not constant. */
bool cbx_js_member(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope,
                   struct cbx_str *out);

/* Reads the callee and the arguments of a call, for f(a), f.call(this, a), f.apply(this, [a]),
 * f.bind(this)(a) and Reflect.apply(f, this, [a]). */
struct cbx_js_call_site {
    const struct cbx_values *targets;
    /* node of the arguments; a template string for a tagged template */
    struct cbx_node *list;
    uint32_t skip;   /* number of nodes in it before the first argument */
    bool from_array; /* true if the node after `skip` is an array with the arguments */
    /* f.bind(this, a): the arguments that precede all others, or NULL */
    const struct cbx_value *bound;
    bool makes; /* new f(...) */
};

enum cbx_js_call {
    JS_CALL_NONE = 0,
    JS_CALL_REQUIRE,
    JS_CALL_SKIP,
    JS_CALL_MAKE_REQUIRE,
    JS_CALL_FROM_CODES,
    JS_CALL_BASE64,
    JS_CALL_BUFFER,
    JS_CALL_PERCENT,
    JS_CALL_SAME,
    JS_CALL_GET,
    JS_CALL_MEMBERS,
    JS_CALL_VALUES,
    JS_CALL_ENTRIES,
    JS_CALL_LIST,
    JS_CALL_JOIN_PATH,
    JS_CALL_RESOLVE_PATH,
    JS_CALL_NORMAL, /* a normalised path */
    JS_CALL_PARENT, /* the parent folder of a path */
    JS_CALL_HOME,
    JS_CALL_HERE, /* the folder of the program */
    JS_CALL_INT,
    JS_CALL_APPLY,
    JS_CALL_NAMES,   /* an object with all members of its argument */
    JS_CALL_CARRIES, /* text made of its arguments */
    JS_CALL_OBJECT,  /* an object whose methods have names: WebSocket.send */
};
/* Returns how the evaluator follows a callable of this name. */
enum cbx_js_call cbx_js_call_meaning(struct cbx_str name);

/* Returns the kind of code that the callable runs: "javascript", "shell", "timer" (code only if
 * it is a string); NULL if it runs none. */
const char *cbx_js_runs(struct cbx_str name);
/* Returns true for a callable that sends its arguments to another machine. */
bool cbx_js_sends(struct cbx_str name);
/* Returns the folder that the name has as its text; empty for other names. */
struct cbx_str cbx_js_folder(struct cbx_str name);
/* Returns the length of the beginning of the name that is an object with all variables of the
 * environment; 0 if there is none. */
size_t cbx_js_environment(struct cbx_str name);
/* Returns the flags CBX_UNKNOWN_SECRET and CBX_UNKNOWN_ENVIRONMENT of a value: process.env, and
 * values made from it. `for_keys`: for headers, which send a key to the host that issued it,
 * only the whole environment counts. */
uint32_t cbx_js_secrets(struct cbx_walk *js, const struct cbx_values *values, bool for_keys);
/* Adds a fact if a call of this name sends the environment or a credential. */
void cbx_js_check_sent(struct cbx_walk *js, struct cbx_str name, struct cbx_node *call,
                       const struct cbx_js_call_site *site, struct cbx_scope *scope);
/* Returns "lodash" for lodash and its members; empty for another name. */
struct cbx_str cbx_js_wrapper(struct cbx_str name);
/* Adds facts for the arguments of a call of this name: paths of lodash that lead to a
 * constructor or a template, keys that are not constant and may lead out of the program, names
 * of members that all functions have. */
void cbx_js_check_keys(struct cbx_walk *js, struct cbx_str name, struct cbx_node *call,
                       const struct cbx_js_call_site *site, struct cbx_scope *scope);
/* Does the same for object[keys] at a node. */
void cbx_js_check_computed(struct cbx_walk *js, const struct cbx_values *object,
                           const struct cbx_values *keys, struct cbx_node *node);
/* Returns true for globalThis, global, window, ... */
bool cbx_js_is_global_object(struct cbx_str name);
/* Returns true for express and similar packages. */
bool cbx_js_is_server(struct cbx_str module);
/* Returns true if a method of this name changes an object in place. */
bool cbx_js_changes(struct cbx_str method);
/* Returns true if the result of a method of this name contains the object and the arguments, or
 * parts of them. */
bool cbx_js_keeps(struct cbx_str method);
/* Returns true for global objects, process, require, ...: an unknown object may be one of them.
 * The bits of their names allow a quick test. */
bool cbx_js_is_powerful(struct cbx_str name);
uint64_t cbx_js_powerful_bits(void);

struct cbx_js_call_site cbx_js_call_site(struct cbx_walk *js, struct cbx_node *call,
                                         struct cbx_scope *scope);

/* Returns the n-th argument's value; "anything" if there is none. *given is true if there is or
 * may be one. */
const struct cbx_values *cbx_js_argument(struct cbx_walk *js, const struct cbx_js_call_site *site,
                                         uint32_t position, struct cbx_scope *scope, bool *given);
uint32_t cbx_js_argument_count(const struct cbx_js_call_site *site);

/* Returns the result of a callable of the library; "anything" if the evaluator does not follow
 * it. */
const struct cbx_values *cbx_js_make(struct cbx_walk *js, struct cbx_str name,
                                     const struct cbx_js_call_site *site, struct cbx_scope *scope);

/* Returns the result of 'a'.concat('b'), ['a', 'b'].join(''), f.bind(x); NULL for an unknown
 * method. */
const struct cbx_values *cbx_js_call_method(struct cbx_walk *js, struct cbx_node *callee,
                                            const struct cbx_js_call_site *site,
                                            struct cbx_scope *scope);

/* Returns true for encodings that keep the bytes of an ASCII text. */
bool cbx_js_keeps_ascii(struct cbx_str encoding);
/* Returns a list of any number of pairs [key, member]. */
const struct cbx_values *cbx_js_entries(struct cbx_walk *js, const struct cbx_values *member);

/* --- facts ------------------------------------------------------------------------------------ */

/* Adds the import of a module. If it is a server, its objects listen on a socket as soon as the
 * program calls listen. */
void cbx_js_add_import(struct cbx_walk *js, struct cbx_str module, struct cbx_node *node);
/* Adds the facts of a call: its name, imports that it causes, and code and programs in its
 * arguments. */
void cbx_js_extract_call(struct cbx_walk *js, struct cbx_node *call, struct cbx_scope *scope);
/* Handles calls of this name that write the environment: Object.assign(process.env, {A: b}),
 * Reflect.set(process.env, 'A', b), Object.defineProperty. */
void cbx_js_extract_environment(struct cbx_walk *js, struct cbx_str name, struct cbx_node *call,
                                const struct cbx_js_call_site *site, struct cbx_scope *scope);
/* Adds the facts of the tree, of JavaScript or TypeScript. */
void cbx_extract_javascript(struct cbx_parsed *parsed);

#endif
