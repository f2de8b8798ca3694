/* SPDX-License-Identifier: MIT
 * What the parts of stored.h share: the rows of stored.def, and the notes that
 * stored_objects.c makes for the statements of stores.c, and stored.c reads. */
#ifndef CBX_ANALYZER_LANG_STORED_INTERNAL_H
#define CBX_ANALYZER_LANG_STORED_INTERNAL_H

#include "analyzer/lang/stored.h"

enum cbx_stored_rows {
    CBX_ROW_STORES,
    CBX_ROW_STORES_KEYED,
    CBX_ROW_SETS_KEYED,
    CBX_ROW_STORES_OPTION,
    CBX_ROW_MERGES,
    CBX_ROW_MERGES_INTO,
    CBX_ROW_STORES_INTO,
    CBX_ROW_STORES_AT,
    CBX_ROW_SETS_AT,
    CBX_ROW_STORES_SELF,
    CBX_ROW_SAVES_SELF,
    CBX_ROW_STORES_FILE,
    CBX_ROW_COPIES_FILE,
    CBX_ROW_LOGS,
    CBX_ROW_LOG_TO,
    CBX_ROW_PLACE,
    CBX_ROW_WRAPS,
    CBX_ROW_MEMBERS,
    CBX_ROW_FED,
    CBX_ROW_DIGESTS,
    CBX_ROW_VIEW,
    CBX_ROW_ATTRIBUTES,
    CBX_ROW_OPENS,
    CBX_ROW_READS,
    CBX_ROW_FOR_KEYS,
    CBX_ROW_KINDS
};

struct cbx_stored_row {
    enum cbx_stored_rows kind;
    struct cbx_str object, name;
    int from, to;
};

/* The rows of a callee, or of an attribute, by their kinds; NULL if there is none. */
struct cbx_stored_match {
    const struct cbx_stored_row *rows[CBX_ROW_KINDS];
};

/* Finds the rows of a name; `object`: the name in front of it, or "". */
void cbx_stored_match(struct cbx_str object, struct cbx_str name, struct cbx_stored_match *out);

/* Returns true if the name has a row of this kind. */
bool cbx_stored_is(enum cbx_stored_rows kind, struct cbx_str name);

/* What a note stores: the value of a node, its members under their keys, what the file at this path
 * holds, what is logged. */
enum cbx_stored_kind { CBX_NOTE_VALUE, CBX_NOTE_MEMBERS, CBX_NOTE_FILE, CBX_NOTE_LOG };

/* One store, in an object of a name or in a file. */
struct cbx_stored_note {
    enum cbx_stored_kind kind;
    bool logged;              /* it is in the log */
    bool each;                /* `key` is that of any member of the object */
    const void *owner;        /* the scope that binds `name`; NULL: an attribute */
    bool attribute;           /* `key` is the name of an attribute, not of an item */
    bool inner_attribute;     /* the same for `inner` */
    struct cbx_str name, key; /* "" as key: anywhere in the object */
    struct cbx_str inner;     /* the key in the member at `key`; "": anywhere in it */
    struct cbx_node *path;    /* of a file */
    struct cbx_node *value;
    struct cbx_stored_note *next;
    struct cbx_stored_note *before; /* the note before this one, of any object */
};

/* The owner of the notes of what is logged. */
const void *cbx_stored_log(void);

/* A store that is being noted: what, and in which place of the object. */
struct cbx_store {
    enum cbx_stored_kind kind;
    bool attribute; /* `key` is an attribute */
    bool inner_attribute;
    bool each;    /* `key` is that of any member of the object */
    bool through; /* in the object at `key`, which has its own names */
    int behind;   /* number of objects that were followed */
    struct cbx_str key, inner;
    struct cbx_node *value;
};

/* Notes a store in the object of an expression that gives it a name: o, o.x, vars(o). */
void cbx_store_in(struct cbx_walk *walk, struct cbx_node *target, struct cbx_store s);

/* Notes a store in the object of any expression. */
void cbx_store_behind(struct cbx_walk *walk, struct cbx_node *made, struct cbx_store s);

/* Notes a store in the objects of a class, or in the object of a literal. */
void cbx_store_in_maker(struct cbx_walk *walk, struct cbx_node *maker, const struct cbx_store *s);

/* Notes a store in the file at a path; nothing if the path is NULL. */
void cbx_store_in_file(struct cbx_walk *walk, struct cbx_node *path, const struct cbx_store *s);

/* Notes a store in the files that a variable is opened with. Returns false if there are none. */
bool cbx_store_in_opened(struct cbx_walk *walk, const struct cbx_node *node, struct cbx_str name,
                         const struct cbx_store *s);

/* Notes a store by the call of a parameter: new Promise((resolve) => resolve(value)). */
void cbx_store_in_called(struct cbx_walk *walk, const struct cbx_node *node, struct cbx_str name,
                         const struct cbx_store *s);

/* Notes that a value is logged. */
void cbx_store_in_log(struct cbx_walk *walk, const struct cbx_store *s);

/* Finds the rows of a callee: `dump` of json.dump. */
void cbx_stored_match_callee(struct cbx_walk *walk, const struct cbx_shape *callee,
                             struct cbx_stored_match *out);

/* Returns the n-th argument from `first` on; NULL if there is none. */
struct cbx_node *cbx_stored_argument(struct cbx_walk *walk, struct cbx_node *first, int at);

/* Returns the argument with the keyword of a CBX_PLACE, else the one at `to`; NULL if there is
 * none. */
struct cbx_node *cbx_stored_place(struct cbx_walk *walk, struct cbx_node *first, int to);

/* Returns the expression that a variable is bound to, the last one of the text; NULL if it is not
 * known. */
struct cbx_node *cbx_stored_value_of_name(struct cbx_walk *walk, const struct cbx_node *node,
                                          struct cbx_str name);

#endif
