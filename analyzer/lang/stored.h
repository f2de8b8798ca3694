/* SPDX-License-Identifier: MIT
 * Secrets that a program stores in an object after it made the object: out[k] = v, out.push(v),
 * file.write(v), json.dump(v, file). The evaluator knows what an object is made of, and stores.c
 * notes what the text stores in the object later, under every name that the object may have. Only
 * values with CBX_UNKNOWN_SECRET count: other values of the object are not changed, and sources
 * that do not mention the environment cost one search of their text.
 *
 * Flow-insensitive, like bindings: an object holds what any statement of the text stores in it. */
#ifndef CBX_ANALYZER_LANG_STORED_H
#define CBX_ANALYZER_LANG_STORED_H

#include "analyzer/lang/scope.h"

/* What a node is, in the words that the languages share. */
struct cbx_shape {
    enum {
        CBX_SHAPE_OTHER,
        CBX_SHAPE_SAME,   /* `object` in brackets, or awaited */
        CBX_SHAPE_NAME,   /* the variable `name` */
        CBX_SHAPE_SELF,   /* the object of the method: self, this */
        CBX_SHAPE_MEMBER, /* object.name */
        CBX_SHAPE_ITEM,   /* object['name']; `name` is empty for another key */
        CBX_SHAPE_CALL,   /* object(arguments), and `new object(arguments)` */
        CBX_SHAPE_ASSIGN, /* object = value; `adds`: object += value */
        CBX_SHAPE_FIELD,  /* name = value in the body of a class */
        CBX_SHAPE_CHOICE, /* one of its children: a ? b : c, a or b */
        CBX_SHAPE_PARTS,  /* a list, a tuple or a mapping of its children */
    } kind;
    bool adds;
    struct cbx_node *object, *value, *arguments;
    struct cbx_str name;
};

/* The functions of a language. */
struct cbx_stored_lang {
    /* Returns the shape of a node, also of NULL. Evaluates nothing but constants. */
    struct cbx_shape (*shape)(struct cbx_walk *walk, struct cbx_node *node);
    /* Sets *out to the text of a literal without holes; false for another node, and for NULL. */
    bool (*literal)(struct cbx_walk *walk, struct cbx_node *node, struct cbx_str *out);
    /* Returns the value of an argument (f(name=value), f(...value), f(value)) or of a part of a
     * literal (name: value) or a choice (NULL for the condition); *keyword is empty if it has no
     * name. */
    struct cbx_node *(*argument)(struct cbx_walk *walk, struct cbx_node *argument,
                                 struct cbx_str *keyword);
    /* Returns CBX_UNKNOWN_SECRET and CBX_UNKNOWN_ENVIRONMENT as the values have them. */
    uint32_t (*secrets)(struct cbx_walk *walk, const struct cbx_values *values);
    /* Returns the class or the literal whose object is `self` at a node; NULL if there is none. */
    struct cbx_node *(*maker)(const struct cbx_node *node);
    /* Returns the values of the classes from which a class inherits. */
    const struct cbx_values *(*bases)(struct cbx_walk *walk, const struct cbx_node *maker);
    struct cbx_str self; /* the name of the variable `self`; "" if it is no variable */
};

/* Notes every store of the text, after all names are bound and before a value is read. `lang` is
 * borrowed as long as the walk. */
void cbx_stored_read(struct cbx_walk *walk, const struct cbx_stored_lang *lang);

/* Returns what the text stores in the object that a scope (NULL: an attribute of any object) binds
 * to the name: "anything" with the flags of secrets, a mapping where a constant key has the
 * secret, or nothing. `run`: a run of the scope, or NULL. */
const struct cbx_values *cbx_stored_in(struct cbx_walk *walk, const struct cbx_scope *scope,
                                       struct cbx_str name, struct cbx_scope *run);

/* Returns the flags of what the text writes into the file that a call opens: `callee` is the
 * callable's qualified name, `path` the values of its first argument. */
uint32_t cbx_stored_in_file(struct cbx_walk *walk, struct cbx_str callee,
                            const struct cbx_values *path);

/* Returns what the text stores in the object that a literal or a call makes, as cbx_stored_in. */
const struct cbx_values *cbx_stored_in_made(struct cbx_walk *walk, const struct cbx_node *made);

/* Returns a CBX_MAP_INSTANCE without members for the objects of a class, or of a literal, that
 * stores in `self`; else nothing. It evaluates nothing, so its result can stand for `self`
 * everywhere. cbx_stored_in_self returns the members that are secrets, with the members of the
 * bases of the class. */
const struct cbx_values *cbx_stored_instance(struct cbx_walk *walk, struct cbx_node *maker);
const struct cbx_values *cbx_stored_in_self(struct cbx_walk *walk, const struct cbx_node *maker);

/* Returns true if only the text of an expression says where values are that are stored in its
 * result: also in other objects or in a file (csv.writer(buffer), url.searchParams, open(path), a
 * variable with a list, a list of such variables), or nowhere (a hash). `part`: the result becomes a
 * part of an object; then a variable with anything does not count. */
bool cbx_stored_goes_on(struct cbx_walk *walk, struct cbx_node *node, bool part);

/* Returns true if two bindings with these expressions are one object: a = b = []. */
bool cbx_stored_is_shared(struct cbx_walk *walk, struct cbx_node *node, struct cbx_node *other);

/* Returns where a statement at [start, end) stores a secret; IN_FILE if it does both. */
enum cbx_stored_where { CBX_STORED_NOWHERE, CBX_STORED_IN_OBJECT, CBX_STORED_IN_FILE };
enum cbx_stored_where cbx_stored_within(struct cbx_walk *walk, uint32_t start, uint32_t end);

/* Calls `each` for the names, of the module and of attributes, under which statements at
 * [start, end) store secrets. */
void cbx_stored_names(struct cbx_walk *walk, uint32_t start, uint32_t end,
                      void (*each)(void *context, struct cbx_str name, bool attribute),
                      void *context);

/* Returns the flags of a member of an iterable that is known by its name alone: os.environ. */
uint32_t cbx_stored_of_members(struct cbx_walk *walk, const struct cbx_values *values);

/* Returns true for a header or an option in which a key identifies the program to the host that
 * issued it. Case is ignored. */
bool cbx_is_for_keys(struct cbx_str name);

#endif
