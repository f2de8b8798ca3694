/* SPDX-License-Identifier: MIT
 * The names of a C source: its functions and variables, their scopes, and which of them are
 * pointers to functions. Private to the extractor of C. */
#ifndef CBX_ANALYZER_LANG_C_NAMES_H
#define CBX_ANALYZER_LANG_C_NAMES_H

#include "analyzer/lang/c/internal.h"
#include "policies/base/table.h"

enum cbx_c_node_kind {
    CN_OTHER = 0,
#define CBX_KIND(name) CN_##name,
#define CBX_KEEP(name) CN_##name,
#define CBX_DROP(name) CN_##name,
#include "analyzer/lang/c/kinds.def"
#undef CBX_KIND
#undef CBX_KEEP
#undef CBX_DROP
    CN_KINDS
};

static inline enum cbx_c_node_kind cbx_c_kind(const struct cbx_node *node)
{
    return node != NULL ? (enum cbx_c_node_kind)node->kind : CN_OTHER;
}

/* The kind of a name: OBJECT is any other variable, enumerator or parameter. */
enum cbx_c_what { CBX_C_FOREIGN = 0, CBX_C_OBJECT, CBX_C_FUNCTION, CBX_C_POINTER };

enum { CBX_C_VALUES_MAX = 16 };
struct cbx_c_name {
    struct cbx_c_name *next; /* next name with the same hash; the newest is the first */
    struct cbx_str name;
    uint32_t to; /* end of its scope in the expanded text */
    enum cbx_c_what what;
    bool numbers;              /* true for an array of numbers, or a pointer to them */
    struct cbx_c_name *around; /* the local name that was declared before this one */
    /* The initial and assigned values of all variables of this name. */
    struct cbx_node *values[CBX_C_VALUES_MAX];
    uint32_t value_count;
};

/* The text that the program builds in an array. */
struct cbx_c_built {
    struct cbx_str name, text; /* name of the array; its text, with '*' for unknown parts */
    bool gaps;
};
/* An assignment to a member that shares a union with a function: of the variable `root`, in this
 * function. */
struct cbx_c_union_write {
    struct cbx_str root;
    const struct cbx_node *function;
};
enum { CBX_C_BUILT_MAX = 64, CBX_C_UNION_WRITES_MAX = 256 };

struct cbx_c_walk {
    struct cbx_parsed *parsed;
    struct cbx_arena *arena;
    struct cbx_facts *facts;
    struct cbx_str text; /* the expanded text */
    const struct cbx_c_tokens *tokens;
    const uint32_t *offsets; /* offsets of the tokens in the text */
    struct cbx_syntax syntax;
    struct cbx_table names;
    struct cbx_table types;           /* typedefs of functions and pointers to them */
    struct cbx_table fields;          /* members that are pointers to functions */
    struct cbx_table values;          /* values of the variables of each name in all scopes */
    struct cbx_table union_functions; /* members of unions that are functions */
    struct cbx_table union_fields;    /* the other members of these unions */
    struct cbx_table records;         /* types that hold a pointer to a function */
    struct cbx_table objects;         /* variables and members of such a type */
    struct cbx_table handlers;        /* functions that sa_sigaction is set to */
    struct cbx_c_built built[CBX_C_BUILT_MAX];
    uint32_t built_count;
    struct cbx_c_union_write union_writes[CBX_C_UNION_WRITES_MAX];
    uint32_t union_write_count;
    struct cbx_c_name *local; /* the newest local name that is in scope */
};

struct cbx_str cbx_c_text(const struct cbx_c_walk *c, const struct cbx_node *node);

/* cbx_c_table_add adds a name to a table; cbx_c_table_find returns NULL if the name is not
 * there. */
struct cbx_c_name *cbx_c_table_add(struct cbx_c_walk *c, struct cbx_table *table,
                                   struct cbx_str name);
struct cbx_c_name *cbx_c_table_find(const struct cbx_table *table, struct cbx_str name);

/* Returns true for a type of numbers. */
bool cbx_c_is_number(const struct cbx_c_walk *c, const struct cbx_node *type);
/* Collects the types that hold pointers to functions, and the variables and members of such a
 * type. Call it after cbx_c_names_collect. */
void cbx_c_records_collect(struct cbx_c_walk *c);
/* Add facts if the program writes the bytes of a pointer to a function (by a call of the
 * library, through a cast), for functions within functions, and for registers in a signal's
 * context. */
void cbx_c_check_written(struct cbx_c_walk *c, struct cbx_str callee, struct cbx_node *list,
                         const struct cbx_node *call);
void cbx_c_check_record_cast(struct cbx_c_walk *c, struct cbx_node *cast);
void cbx_c_check_record_value(struct cbx_c_walk *c, struct cbx_node *left, struct cbx_node *value);
void cbx_c_check_definition(struct cbx_c_walk *c, const struct cbx_node *definition);
void cbx_c_check_field(struct cbx_c_walk *c, const struct cbx_node *field);

/* Returns the token at an offset of the text; NULL if the text has no tokens. */
const struct cbx_c_token *cbx_c_token_at(const struct cbx_c_walk *c, uint32_t offset);

/* Joins the tokens to one text; false if the arena is exhausted. Adds facts for tokens that it
 * leaves out. */
bool cbx_c_join(struct cbx_c_walk *c);

/* Collects the declarations outside of functions, and all types, members and values. */
void cbx_c_names_collect(struct cbx_c_walk *c);

/* Advances to a node; call it in the order of the text. Adds the local names that the node
 * declares, and removes those whose scope ended. */
void cbx_c_names_enter(struct cbx_c_walk *c, struct cbx_node *node);

/* Returns the values of the variables of a name; NULL if there are none. */
const struct cbx_c_name *cbx_c_values(const struct cbx_c_walk *c, struct cbx_str name);

/* Returns the innermost declaration of the name at this place; NULL if the source does not
 * declare it. */
struct cbx_c_name *cbx_c_name_find(const struct cbx_c_walk *c, const struct cbx_node *identifier);

bool cbx_c_is_function_field(const struct cbx_c_walk *c, struct cbx_str name);

/* Return true for a member of a union that is a function, and for the other members of such a
 * union. */
bool cbx_c_is_union_function(const struct cbx_c_walk *c, struct cbx_str name);
bool cbx_c_is_union_field(const struct cbx_c_walk *c, struct cbx_str name);

/* --- facts and their places: extract.c -------------------------------------------------------- */

/* Finds the place in the source of [start, end) in the expanded text. */
void cbx_c_place_of(const struct cbx_c_walk *c, uint32_t start, uint32_t end, uint32_t *from,
                    uint32_t *to);
/* Add a fact at the place of a node in the source; cbx_c_add returns NULL if the arena is
 * exhausted. */
struct cbx_fact *cbx_c_add(struct cbx_c_walk *c, enum cbx_fact_kind kind, struct cbx_str name,
                           const struct cbx_node *node);
void cbx_c_add_special(struct cbx_c_walk *c, enum cbx_fact_id id, struct cbx_str name,
                       const struct cbx_node *node);

/* --- arguments.c ------------------------------------------------------------------------------ */

/* cbx_c_strip returns the value inside of casts and parentheses; cbx_c_read_text reads its text,
 * false if it is not constant. */
struct cbx_node *cbx_c_strip(struct cbx_node *node);
bool cbx_c_read_text(struct cbx_c_walk *c, struct cbx_node *node, struct cbx_str *out);

/* The texts that a value may be. */
enum { CBX_C_TEXTS_MAX = CBX_C_VALUES_MAX * 2 };
struct cbx_c_texts {
    struct cbx_str items[CBX_C_TEXTS_MAX];
    uint32_t count;
    bool all; /* true if the value is certainly one of `items` */
};

/* Adds the texts that an expression may be; clears `all` if it may be others. */
void cbx_c_add_texts(struct cbx_c_walk *c, struct cbx_node *node, struct cbx_c_texts *out);
/* Reads an argument of a call: its constant, or the texts that it may be. */
void cbx_c_read_argument(struct cbx_c_walk *c, struct cbx_node *node, uint32_t position,
                         struct cbx_arg *out);

/* --- extract_call.c --------------------------------------------------------------------------- */

/* Adds the facts of an identifier: of an attribute, and, if the source does not declare it, of a
 * call of that name of the library or of a reference to it. */
void cbx_c_extract_name(struct cbx_c_walk *c, struct cbx_node *node);

/* --- targets.c -------------------------------------------------------------------------------- */

/* Returns true if the value may be the address of something other than a function. */
bool cbx_c_is_doubtful_target(const struct cbx_c_walk *c, struct cbx_node *node);
/* Checks (void (*)(void))address; casts of members and elements count as casts of data. */
void cbx_c_check_cast(struct cbx_c_walk *c, struct cbx_node *cast);
/* Checks { .handler = value }, and `return value;` of a function that returns a pointer to a
 * function. */
void cbx_c_check_member(struct cbx_c_walk *c, struct cbx_node *pair);
void cbx_c_check_returned(struct cbx_c_walk *c, struct cbx_node *node);
/* Checks a pointer to a function whose initial or assigned value is no function. */
void cbx_c_check_assigned(struct cbx_c_walk *c, struct cbx_node *node);
/* Checks &f of a pointer to a function that is cast or passed on: other code may write its
 * bytes. */
void cbx_c_check_address(struct cbx_c_walk *c, struct cbx_node *node);

/* --- calls of the library --------------------------------------------------------------------- */

/* cbx_c_build handles a call of the library that writes a text into an array; cbx_c_built
 * returns the text of an array so far, NULL for other names. */
void cbx_c_build(struct cbx_c_walk *c, struct cbx_str callee, struct cbx_node *list,
                 const struct cbx_node *call);
const struct cbx_c_built *cbx_c_built(struct cbx_c_walk *c, struct cbx_str name);

/* Adds a fact for (char *)puts + 1000: the address of other code in the library. */
void cbx_c_check_offset(struct cbx_c_walk *c, const struct cbx_node *binary);
/* Handles a call of the library that calls one of its arguments. */
void cbx_c_check_callback(struct cbx_c_walk *c, struct cbx_str callee, struct cbx_node *list,
                          const struct cbx_node *call);
/* cbx_c_note_union notes an assignment or an initialiser that writes a member which shares a
 * union with a function; call it before cbx_c_check_union, which checks a call. */
void cbx_c_note_union(struct cbx_c_walk *c, const struct cbx_node *node);
void cbx_c_check_union(struct cbx_c_walk *c, const struct cbx_node *call);

/* Returns true if a cast to this type gives a value that can be called. */
bool cbx_c_is_callable_type(const struct cbx_c_walk *c, const struct cbx_node *descriptor);

/* Returns the identifier that a declarator declares, and its kind in *what; NULL for an abstract
 * declarator. */
struct cbx_node *cbx_c_declared(struct cbx_node *declarator, enum cbx_c_what *what);

#endif
