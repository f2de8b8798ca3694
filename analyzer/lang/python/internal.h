/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the Python extractor. */
#ifndef CBX_ANALYZER_LANG_PYTHON_INTERNAL_H
#define CBX_ANALYZER_LANG_PYTHON_INTERNAL_H

#include "analyzer/lang/actuals.h"
#include "analyzer/lang/command_line.h"
#include "analyzer/lang/names.h"

enum cbx_py_kind {
    PY_OTHER = 0,
#define CBX_KIND(name) PY_##name,
#define CBX_KEEP(name) PY_##name,
#define CBX_DROP(name) PY_##name,
#include "analyzer/lang/python/kinds.def"
#undef CBX_KIND
#undef CBX_KEEP
#undef CBX_DROP
    PY_KINDS
};

static inline enum cbx_py_kind cbx_py_kind(const struct cbx_node *node)
{
    return node != NULL ? (enum cbx_py_kind)node->kind : PY_OTHER;
}

enum cbx_py_call {
    PY_CALL_NONE = 0, /* the evaluator does not follow the callable */
#define CBX_MEANING(name) PY_CALL_##name,
#include "analyzer/lang/python/values/meanings.def"
#undef CBX_MEANING
};

/* For cbx_stored_read (analyzer/lang/stored.h). */
extern const struct cbx_stored_lang cbx_py_stored;

const struct cbx_grammar *cbx_py_grammar(void);
bool cbx_py_reads_error(TSNode error, struct cbx_str text);

/* cbx_lang_code.correct: `f"{title:=^40}"` without the equals sign. Linear in the text. */
struct cbx_str cbx_py_correct(const struct cbx_parsed *parsed, struct cbx_str text, TSTree *tree);

/* Text between two cells of a program: an empty line ends any continued line. */
#define CBX_PY_BETWEEN "\n\n"

/* Return the text of a node as a name (NFKC); the name of a definition or of a keyword argument;
 * the identifier of a parameter. */
struct cbx_str cbx_py_text(struct cbx_walk *py, const struct cbx_node *node);
struct cbx_str cbx_py_name(struct cbx_walk *py, const struct cbx_node *node);
struct cbx_node *cbx_py_parameter(struct cbx_node *parameter);
/* Returns true if this is a module, judged by its name. Members of modules are resolved
 * separately. */
bool cbx_py_holds_more(struct cbx_str name);

/* Reads how the text uses each name, once, before the names are bound. */
void cbx_py_read_mentions(struct cbx_walk *py);
/* Returns true if the text binds the name to a display of a list or mapping, and no code in it
 * could change the object or pass it to code that could. */
bool cbx_py_is_only_read(struct cbx_walk *py, struct cbx_str name);
/* Returns true if only calls by its name can call the function: it is used as no value, and no
 * library calls it. */
bool cbx_py_is_only_called(struct cbx_walk *py, struct cbx_node *function);

/* Pass one: cbx_py_bind_all collects every binding of every scope, cbx_py_flow_all the arguments
 * of parameters and the objects that escape, cbx_py_flow_calls the callables that escape. Only the
 * last one reads values, so it comes after cbx_stored_read. */
void cbx_py_bind_all(struct cbx_walk *py);
void cbx_py_flow_all(struct cbx_walk *py);
void cbx_py_flow_calls(struct cbx_walk *py);

/* Returns the possible values of an expression in this scope. Never NULL. */
const struct cbx_values *cbx_py_eval(struct cbx_walk *py, struct cbx_node *node,
                                     struct cbx_scope *scope);
/* Returns the values of a bare name in a scope. */
const struct cbx_values *cbx_py_eval_name(struct cbx_walk *py, struct cbx_str name,
                                          struct cbx_scope *scope);

/* Return the values of a string, and of several strings in a row (string.c). */
const struct cbx_values *cbx_py_eval_string(struct cbx_walk *py, struct cbx_node *node,
                                            struct cbx_scope *scope);
const struct cbx_values *cbx_py_eval_strings(struct cbx_walk *py, struct cbx_node *node,
                                             struct cbx_scope *scope);
/* Return the value of a list, tuple or set, and of a dictionary (display.c). Where a spread member
 * is not known, members of a list have no order, and a dictionary may have others. */
const struct cbx_values *cbx_py_eval_list(struct cbx_walk *py, struct cbx_node *node,
                                          struct cbx_scope *scope);
const struct cbx_values *cbx_py_eval_dictionary(struct cbx_walk *py, struct cbx_node *node,
                                                struct cbx_scope *scope);
/* Returns the members of a comprehension as one; they are evaluated one by one only if their
 * members are needed. */
const struct cbx_values *cbx_py_eval_comprehension(struct cbx_walk *py, struct cbx_node *node,
                                                   struct cbx_scope *scope);

/* Returns the values of an attribute, or of an item. */
const struct cbx_values *cbx_py_read(struct cbx_walk *py, const struct cbx_values *object,
                                     struct cbx_str attribute);
/* Does the same for a key of a path: an index, "from:rest" of a starred target, an attribute of
 * a pattern. */
const struct cbx_values *cbx_py_member(struct cbx_walk *py, const struct cbx_values *object,
                                       struct cbx_str key);
const struct cbx_values *cbx_py_item(struct cbx_walk *py, const struct cbx_values *object,
                                     const struct cbx_values *key, struct cbx_scope *scope);

/* Returns the value of a variable of the environment: the folders of HOME and PATH are known. */
const struct cbx_values *cbx_py_variable(struct cbx_walk *py, struct cbx_str name);

/* Returns object[a:b] for each possible value. */
const struct cbx_values *cbx_py_slice(struct cbx_walk *py, const struct cbx_values *object,
                                      struct cbx_node *slice, struct cbx_scope *scope);

/* Collects the arguments of a call. */
void cbx_py_actuals(struct cbx_walk *py, struct cbx_node *call, struct cbx_scope *scope,
                    struct cbx_actuals *out);
/* Returns the values of a call with these arguments. */
const struct cbx_values *cbx_py_apply(struct cbx_walk *py, const struct cbx_values *callee,
                                      struct cbx_actuals *actuals, struct cbx_scope *scope);

/* Returns the result of a function of this source; "anything" if it is a class or returns
 * nothing. */
const struct cbx_values *cbx_py_call_function(struct cbx_walk *py, const struct cbx_value *function,
                                              struct cbx_actuals *actuals);

/* Returns the result of a callable of this meaning that calls no other code. */
const struct cbx_values *cbx_py_make(struct cbx_walk *py, enum cbx_py_call meaning,
                                     struct cbx_actuals *actuals, struct cbx_scope *scope);

/* --- paths.c ---------------------------------------------------------------------------------- */

/* Does the same for the meanings of paths. */
const struct cbx_values *cbx_py_make_path(struct cbx_walk *py, enum cbx_py_call meaning,
                                          struct cbx_actuals *actuals);
/* Returns the constant text of a path object, or of a value. */
bool cbx_py_path_text(const struct cbx_values *values, struct cbx_str *out);
/* Returns the text of a path object that is no constant; else NULL. */
const struct cbx_values *cbx_py_path_likely(const struct cbx_values *values);
/* Returns path.parents. */
const struct cbx_values *cbx_py_path_parents(struct cbx_walk *py, const struct cbx_value *path);

/* Returns the text of a mapping's key; "\xff" for an unknown one. */
struct cbx_str cbx_py_key(struct cbx_walk *py, const struct cbx_values *key);
/* Returns the pair (a, b). */
const struct cbx_values *cbx_py_pair(struct cbx_walk *py, const struct cbx_values *a,
                                     const struct cbx_values *b);

/* Collects the arguments of a call of a partial: first the partial's, then the call's. */
void cbx_py_whole(const struct cbx_value *partial, const struct cbx_actuals *actuals,
                  struct cbx_actuals *whole);
/* Returns the callee of a partial of this name (operator.methodcaller) with all its arguments;
 * *rest are the method's. */
#define CBX_PY_METHOD_CALLER "operator.methodcaller()"
const struct cbx_values *cbx_py_method_called(struct cbx_walk *py, struct cbx_actuals *actuals,
                                              struct cbx_actuals *rest);

/* Returns the members of an iterable, one by one; a comprehension is evaluated for each member
 * of its iterable. NULL if they are unknown. */
const struct cbx_value *cbx_py_sequence(struct cbx_walk *py, const struct cbx_values *values);
/* Returns any member of an iterable. */
const struct cbx_values *cbx_py_members(struct cbx_walk *py, const struct cbx_values *values);

/* Evaluates a condition in which everything is constant. */
enum cbx_py_truth { CBX_PY_NO, CBX_PY_YES, CBX_PY_MAYBE };
enum cbx_py_truth cbx_py_test(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);

/* Evaluates methods of constant texts; `self` is the text. NULL for a method that is not
 * followed. */
const struct cbx_values *cbx_py_text_method(struct cbx_walk *py, struct cbx_str self,
                                            struct cbx_str method, struct cbx_actuals *actuals);
/* Evaluates a binary operator for all values of both operands. */
const struct cbx_values *cbx_py_operator(struct cbx_walk *py, struct cbx_str op,
                                         const struct cbx_values *left,
                                         const struct cbx_values *right);
/* Evaluates left % right. */
const struct cbx_values *cbx_py_percent(struct cbx_walk *py, struct cbx_str format,
                                        const struct cbx_values *right);
/* Evaluates bytes([111, 115]); returns the value itself if it is no list of numbers. */
const struct cbx_values *cbx_py_from_numbers(struct cbx_walk *py, const struct cbx_values *values);
/* Evaluates codecs.decode and encode, bytes.decode, str.encode with a known encoding. */
const struct cbx_values *cbx_py_codec(struct cbx_walk *py, struct cbx_str text,
                                      struct cbx_str name);
/* Evaluates format.format(...), as secret as **mapping among the arguments. */
const struct cbx_values *cbx_py_format(struct cbx_walk *py, struct cbx_str format,
                                       struct cbx_actuals *actuals);
/* Calls `found` for every field of a format string that reads attributes or items of an
 * argument, with the resulting values and the last name in the field. */
void cbx_py_format_fields(struct cbx_walk *py, struct cbx_str format, struct cbx_actuals *actuals,
                          void (*found)(struct cbx_walk *py, const struct cbx_values *values,
                                        struct cbx_str name, void *context),
                          void *context);

/* Returns the canonical name of a member: "logging", "os" -> "os". */
struct cbx_str cbx_py_qualify(struct cbx_walk *py, const struct cbx_value *object,
                              struct cbx_str attribute);
struct cbx_str cbx_py_canonical(struct cbx_walk *py, struct cbx_str name);
/* Returns the module that an attribute of any object may be (x.os), or NULL. */
const char *cbx_py_module_anywhere(struct cbx_str attribute);

/* Returns how the evaluator follows a callable of this name. */
enum cbx_py_call cbx_py_call_meaning(struct cbx_str name);
/* Returns true if this attribute leads into the interpreter. */
bool cbx_py_is_dunder(struct cbx_str name);
/* Returns true if the glob matches such an attribute. */
bool cbx_py_may_be_dunder(struct cbx_str pattern);
/* Returns true if the text is a part of such an attribute's name, so that a test with it
 * distinguishes the attribute from others. */
bool cbx_py_is_part_of_dunder(struct cbx_str text);
/* Returns true for an object of the kernel, and for values read from it. */
bool cbx_py_is_owned(struct cbx_str name);
/* Returns true if a method or function of this name changes a container in place. */
bool cbx_py_changes(struct cbx_str method);
/* Returns true if many types have a method of this name. */
bool cbx_py_is_common(struct cbx_str method);
/* Returns true if `import *` from this module cannot hide a builtin. */
bool cbx_py_is_plain(struct cbx_str module);
/* Returns the constant text of this name; {NULL, 0} if there is none. */
struct cbx_str cbx_py_constant(struct cbx_str name);
/* Returns true for a built-in name, and for a name of IPython's history. */
bool cbx_py_is_given(struct cbx_str name);
/* Returns the CBX_UNKNOWN_ flags of the value of this name, or of an attribute of any object.
 * CBX_PY_CARRIES: also the flags of its arguments; CBX_PY_HOLDS: of the named object itself. */
enum { CBX_PY_CARRIES = 32, CBX_PY_HOLDS = 64 };
uint32_t cbx_py_gives(struct cbx_str name);
uint32_t cbx_py_gives_anywhere(struct cbx_str attribute);
/* Returns the flags of a value: of "anything", of names, and of the members of containers. */
uint32_t cbx_py_flags(const struct cbx_values *values);
/* Marks the facts from index `before` on: they depend on names that another cell may bind or
 * use. */
void cbx_py_mark_alone(struct cbx_walk *py, size_t before);
/* Adds the facts that a module, or a member of one, is imported: under its name, and under the
 * name that rules have for it. */
void cbx_py_add_import(struct cbx_walk *py, struct cbx_str name, const struct cbx_node *node);

/* Returns true for a callable that sends its arguments to another machine. */
bool cbx_py_sends(struct cbx_str name);
/* Adds a fact if a call of this name sends the environment or a credential. */
void cbx_py_check_sent(struct cbx_walk *py, struct cbx_str name, struct cbx_actuals *actuals,
                       const struct cbx_node *call);
/* Returns the flags of secrets among the arguments that are not known one by one. */
uint32_t cbx_py_unknown_secrets(const struct cbx_actuals *actuals);
/* Returns the values of a call of this name with the flags of its row, if they are not constant. */
const struct cbx_values *cbx_py_mark(struct cbx_walk *py, struct cbx_str name,
                                     struct cbx_actuals *actuals, const struct cbx_values *values);
/* Does the same for an attribute of a literal. */
bool cbx_py_climbs(struct cbx_str name);
/* Returns true for a powerful module: os, sys, builtins, ... */
bool cbx_py_is_powerful(struct cbx_str module);
/* Returns the language of the n-th (0, 1) argument that the callable runs as code, and the
 * position of that argument; NULL if there is none. */
const char *cbx_py_runs(struct cbx_str name, uint32_t n, uint32_t *position, const char **keyword);
/* Returns the type of the object that the callable returns ("pathlib.Path"); NULL if the
 * evaluator does not follow it. */
const char *cbx_py_makes(struct cbx_str name);
/* Returns true for results of sympy's functions: such objects, their members, and the results of
 * operators on them are no texts. */
bool cbx_py_is_symbolic(const struct cbx_value *v);
/* Returns true if the callable has power only through the name or the code in its arguments. */
bool cbx_py_judges_constant(struct cbx_str name);
/* Capabilities that do not count for such a call: facts of their own describe the code or the
 * module. */
enum {
    CBX_PY_JUDGED = 1 << CBX_CAN_RUN_CODE | 1 << CBX_CAN_LOAD_MODULE | 1 << CBX_CAN_SHELL_INTERFACE
};
/* Returns the type of get_ipython()'s result. */
#define CBX_PY_SHELL "ipython_shell"
/* Returns the name that a chain of attributes at `node` reads, if the attribute can do nothing,
 * or is called with constants that are judged ("importlib.util.find_spec"), or if a shell is
 * only compared; else empty. */
struct cbx_str cbx_py_harmless_read(struct cbx_walk *py, struct cbx_node *node);
/* Returns the name that one part of an import statement binds. */
struct cbx_str cbx_py_bound_text(struct cbx_walk *py, const struct cbx_node *import,
                                 struct cbx_node *part);
/* Returns the members that the text reads from the names bound by the imports of this name
 * (borrowed); 0 if there are none, or if the text may use the names for more than these harmless
 * members. */
uint32_t cbx_py_harmless_members(struct cbx_walk *py, struct cbx_str name,
                                 const struct cbx_str **out);
/* Returns true if the text does not use the names bound by the imports of this name. */
bool cbx_py_is_unused(struct cbx_walk *py, struct cbx_str name);
/* Returns true for a callable that calls one of its arguments: *function is the position of that
 * argument, *first the position of the first argument for it. */
bool cbx_py_calls_through(struct cbx_str name, uint32_t *function, uint32_t *first);

/* --- facts ------------------------------------------------------------------------------------ */

/* Adds the facts of the tree of a plain file or a notebook cell. */
void cbx_extract_python(struct cbx_parsed *parsed);

void cbx_py_special(struct cbx_walk *py, enum cbx_fact_id id, struct cbx_str name,
                    const struct cbx_node *node);
/* Adds a fact if an item (or attribute) of a module's dictionary is read by a name that is not
 * constant, and if a loop iterates over its members. */
void cbx_py_check_dictionary(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);
void cbx_py_check_iteration(struct cbx_walk *py, const struct cbx_node *node,
                            struct cbx_scope *scope);
/* Handles the definition of a name that libraries look up in any object, as a method, an
 * attribute, or a key of a class's dictionary: the name defines code. */
void cbx_py_extract_definition(struct cbx_walk *py, const struct cbx_node *node);

/* The same for a name that is known to be defined at the node. */
void cbx_py_note_definition(struct cbx_walk *py, struct cbx_str name, const struct cbx_node *node);
/* Returns the notebook line that a method of IPython's shell runs as a line of shell, or as a
 * magic that is no Python: get_ipython().system('ls') is `!ls`. {NULL, 0} if it is not constant,
 * or has expressions that IPython would expand. */
struct cbx_str cbx_py_shell_line(struct cbx_walk *py, struct cbx_str method,
                                 struct cbx_actuals *actuals);
/* Adds a fact for a private attribute of an object of the kernel. */
void cbx_py_check_owned(struct cbx_walk *py, const struct cbx_values *object, struct cbx_str name,
                        const struct cbx_node *node);
/* Adds a fact if a name out of dir() is compared with the name of an attribute that leads into
 * the interpreter, or with a part of that name, and if such a name is taken by its position. */
void cbx_py_check_names(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);
/* Adds the facts of an attribute that is read at a node, directly, by getattr or in a format
 * string. */
void cbx_py_extract_attribute(struct cbx_walk *py, struct cbx_str name,
                              const struct cbx_node *node);
/* Judges code in the arguments of a call of this name. */
void cbx_py_extract_code(struct cbx_walk *py, struct cbx_str callee, struct cbx_actuals *actuals,
                         const struct cbx_node *call);
/* Handles a call of doctest: judges the examples of all docstrings. */
void cbx_py_extract_doctest(struct cbx_walk *py, struct cbx_str callee, struct cbx_actuals *actuals,
                            const struct cbx_node *call);
/* Judges a text that may be Python, and that can use the names around the node unless it is
 * `alone`. Syntax errors in it are no facts; false if there were any. */
bool cbx_py_judge_loosely(struct cbx_walk *py, struct cbx_str text, const struct cbx_node *node,
                          bool alone);
/* Judges a text of Python that has only numbers in its holes: f'f({n})', 'f(%d)' % n. False if
 * it may have anything else. */
bool cbx_py_judge_numbered(struct cbx_walk *py, const struct cbx_actual *text,
                           const struct cbx_node *call);
/* Judges the arguments of a call of this name that a library evaluates (evaluated.def). */
void cbx_py_extract_evaluated(struct cbx_walk *py, struct cbx_str callee,
                              struct cbx_actuals *actuals, const struct cbx_node *call);
/* Judges x: "code", and List["code"] at a subscript: types that are texts. */
void cbx_py_extract_annotation(struct cbx_walk *py, struct cbx_node *type);
void cbx_py_extract_generic(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);
/* The same for setattr(x, '__annotations__', values), and for x.__annotations__.update and other
 * methods that change a dictionary. */
void cbx_py_check_annotations(struct cbx_walk *py, const struct cbx_values *values,
                              const struct cbx_node *node);
void cbx_py_extract_annotation_change(struct cbx_walk *py, const struct cbx_node *function);
/* Handles x.__annotations__ = y, x.__annotations__['a'] = y, {'__annotations__': y}: annotations
 * that are texts are code for get_type_hints, singledispatch and dataclass; here they are data. */
void cbx_py_extract_annotations(struct cbx_walk *py, struct cbx_node *node,
                                struct cbx_scope *scope);
/* Handle a target of an assignment, and a call of this name, that write a variable of the
 * environment or an attribute of a module. */
void cbx_py_extract_written(struct cbx_walk *py, struct cbx_node *target, struct cbx_scope *scope);
void cbx_py_extract_writer(struct cbx_walk *py, struct cbx_str name, struct cbx_actuals *actuals,
                           struct cbx_node *call);
/* Adds a fact for a concatenated text that is SQL. */
void cbx_py_extract_built(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);
/* Adds the constant texts that are values of an expression. */
void cbx_py_extract_text(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);

/* --- extract_call.c --------------------------------------------------------------------------- */

/* Adds the facts of a call expression: of each callable that the callee may be. */
void cbx_py_extract_calls(struct cbx_walk *py, struct cbx_node *call, struct cbx_scope *scope);
/* Does the same for a decorator: a call with the definition below it. */
void cbx_py_extract_decorator(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);
/* Adds the facts of a call of a callable of this name at the node. */
void cbx_py_extract_call(struct cbx_walk *py, struct cbx_str name, struct cbx_actuals *actuals,
                         struct cbx_node *call);

/* --- imports.c -------------------------------------------------------------------------------- */

/* Adds the facts of an import statement. */
void cbx_py_extract_import(struct cbx_walk *py, struct cbx_node *node);
/* Adds the facts of a call of a function that imports what its arguments name. */
void cbx_py_extract_import_call(struct cbx_walk *py, struct cbx_str callee,
                                struct cbx_actuals *actuals, const struct cbx_node *call);

/* --- judged.c --------------------------------------------------------------------------------- */

/* Returns true for a call of this name if the modules, the code or the notebook line in its
 * arguments are constant: they are judged in the place of the call. */
bool cbx_py_is_judged_call(struct cbx_walk *py, struct cbx_str name, struct cbx_actuals *actuals);
/* Returns true if the node is the callee of such a call, whatever its possible values. */
bool cbx_py_is_judged_callee(struct cbx_walk *py, struct cbx_node *callee);
/* Returns the notebook line that a method of IPython's shell runs; {NULL, 0} if it is not
 * constant. */
struct cbx_str cbx_py_judged_line(struct cbx_walk *py, struct cbx_str method,
                                  struct cbx_actuals *actuals);

/* --- references.c ----------------------------------------------------------------------------- */

/* Adds a reference, for rules, for each name that an expression may have as its value. */
void cbx_py_add_references(struct cbx_walk *py, const struct cbx_values *values,
                           const struct cbx_node *node);
/* Does so for the expression at the node, unless facts of another kind describe its use. */
void cbx_py_extract_references(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);
/* Handles os.environ['X'] as a call with 'X', so that rules can match the variable. */
void cbx_py_extract_variable(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);
/* Returns true for an identifier that is no use of a name: an attribute, a keyword, a
 * definition, a target. */
bool cbx_py_is_plain_name(const struct cbx_node *name);
/* Returns true for names whose mention is harmless, but not their call: methods of constants,
 * and the type of functions, which type(f) also gives. */
bool cbx_py_is_of_text(struct cbx_str name);
/* Returns true for marshal in marshal(x) if nothing in this text binds `marshal`: a module
 * cannot be called, so the name is a function of an earlier cell. */
bool cbx_py_is_own_function(const struct cbx_value *v);
/* Returns true for subprocess.run if nothing in the text binds `subprocess`: in another cell it
 * may be a function or a variable of the program. A builtin is no such name. */
bool cbx_py_has_unbound_module(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);

/* --- attribute.c: attributes by their names --------------------------------------------------- */

/* Returns true for a powerful module of the interpreter: a computed attribute may be any of its
 * members. */
bool cbx_py_holds_power(const struct cbx_values *values);
/* Adds a fact if a name of an attribute that is put together with unknown parts, as in
 * f'__{name}__', may lead from a class or function into the interpreter. `object`: NULL if
 * it is not known which objects the name is read from. */
void cbx_py_check_built_name(struct cbx_walk *py, const struct cbx_values *object,
                             const struct cbx_values *names, const struct cbx_node *call);
/* Adds the facts of getattr(object, name), and of setattr(object, name, value). */
void cbx_py_extract_getattr(struct cbx_walk *py, struct cbx_actuals *actuals,
                            const struct cbx_node *call);
void cbx_py_extract_setattr(struct cbx_walk *py, struct cbx_actuals *actuals,
                            struct cbx_node *call);

/* --- code.c: format strings ------------------------------------------------------------------- */

/* Adds the facts of what a format string reads from the arguments behind it; `format` is its
 * position. Nothing if it is not constant. */
void cbx_py_extract_fields(struct cbx_walk *py, struct cbx_actuals *actuals, uint32_t format,
                           struct cbx_node *call);
/* Handles '{0.a}'.format(x), which reads x.a; nothing for other callees. */
void cbx_py_extract_format(struct cbx_walk *py, struct cbx_str callee, struct cbx_actuals *actuals,
                           struct cbx_node *call);

#endif
