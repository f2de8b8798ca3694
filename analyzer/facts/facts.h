/* SPDX-License-Identifier: MIT
 * Facts about code, from the extractors: names that are imported, called or used, attributes that
 * are read, constant strings, and expressions that could not be resolved. Rules match facts, never
 * syntax. */
#ifndef CBX_ANALYZER_FACTS_FACTS_H
#define CBX_ANALYZER_FACTS_FACTS_H

#include "policies/policy.h"

enum cbx_fact_kind {
    CBX_IS_IMPORT = 1, /* name: the module */
    CBX_IS_CALL,       /* name: the called name; args */
    CBX_IS_REFERENCE,  /* name: a name that is used, called or not */
    CBX_IS_ATTRIBUTE,  /* name: of the attribute */
    CBX_IS_LITERAL,    /* name: the string */
    CBX_IS_FILES,      /* name: a pattern that a shell expands to files */
    CBX_IS_SPECIAL,    /* `special` is the fact */
};

/* An argument of a call. `value`, valid only if `known`, is the constant as text, or the
 * qualified name. */
struct cbx_arg {
    struct cbx_str keyword; /* name of a keyword argument; empty = by position */
    uint32_t position;
    bool known, constant;
    struct cbx_str value;
    const struct cbx_str *texts; /* if not certain: the possible constants */
    uint32_t text_count;
    /* the value is this one text, unless the program's environment is an unusual one (value.h) */
    bool likely;
    /* texts that are known in part, with '*' for each unknown part */
    const struct cbx_str *partials;
    uint32_t partial_count;
};

struct cbx_fact {
    enum cbx_fact_kind kind;
    enum cbx_fact_id special;
    struct cbx_str name, detail;
    const struct cbx_arg *args;
    uint32_t arg_count;
    /* the known working folders of a call; NULL: the workspace (places.h) */
    const struct cbx_str *places;
    uint32_t place_count;
    /* of a call in shell: start of the commands whose output it reads through a pipe, or its own
     * start. Of ">": start of the commands whose output it writes */
    uint32_t stream;
    /* bits 1 << enum cbx_capability that do not count: facts of their own describe what the call
     * runs or loads */
    uint32_t cleared;
    /* true if the fact holds only while no text but this one binds its names: a module that
     * another cell may bind, or import and use */
    bool alone;
    /* true for a fact about code that was admitted before; only its denials count */
    bool earlier;
    /* true if *args or **kwargs are among the arguments: a missing argument may be given */
    bool spread;
    uint32_t start, end; /* in bytes of the source */
    enum cbx_language language;
};

struct cbx_facts {
    struct cbx_arena *arena;
    struct cbx_fact *items;
    size_t count, size;
    /* Added to every place; if base_end is set, every place is that whole range (code in code). */
    uint32_t base, base_end;
    enum cbx_language language; /* language of the text that is being read */
    enum cbx_language source;   /* language of the source that contains the text */
};

/* Adds a fact at [start, end). Returns NULL if the arena is exhausted; the arena's flag then
 * makes the decision too-complex. */
struct cbx_fact *cbx_facts_add(struct cbx_facts *facts, enum cbx_fact_kind kind,
                               struct cbx_str name, uint32_t start, uint32_t end);
/* Removes the facts that hold for the text alone: it was also read together with the other
 * cells. */
void cbx_facts_drop_alone(struct cbx_facts *facts);
void cbx_facts_add_special(struct cbx_facts *facts, enum cbx_fact_id id, struct cbx_str name,
                           uint32_t start, uint32_t end);
/* The same for a name that is a sentence for people. */
void cbx_facts_add_note(struct cbx_facts *facts, enum cbx_fact_id id, struct cbx_note name,
                        uint32_t start, uint32_t end);

/* Returns true if a variable of the environment with this name may be a credential. */
bool cbx_is_secret_name(struct cbx_str name);

/* Returns true if the text begins a statement of SQL: SELECT ... FROM, INSERT INTO, UPDATE ...
 * SET and so on. */
bool cbx_is_sql(struct cbx_str text);

#endif
