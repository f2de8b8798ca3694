/* SPDX-License-Identifier: MIT
 * Facts about code, as the extractors found them: names that are imported, called or used,
 * attributes that are read, constant strings, and expressions that could not be resolved. Rules
 * match facts, never syntax. */
#ifndef CBX_ANALYZER_FACTS_FACTS_H
#define CBX_ANALYZER_FACTS_FACTS_H

#include "policies/policy.h"

enum cbx_fact_kind {
    CBX_IS_IMPORT = 1, /* name: the module */
    CBX_IS_CALL,       /* name: what is called; args */
    CBX_IS_REFERENCE,  /* name: what is used, called or not */
    CBX_IS_ATTRIBUTE,  /* name: of the attribute */
    CBX_IS_LITERAL,    /* name: the string */
    CBX_IS_FILES,      /* name: a pattern that a shell expands to files */
    CBX_IS_SPECIAL,    /* `special` is the fact */
};

/* An argument of a call: value is the constant as text, or the qualified name; valid only
 * when known. */
struct cbx_arg {
    struct cbx_str keyword; /* empty = by position */
    uint32_t position;
    bool known, constant;
    struct cbx_str value;
    const struct cbx_str *texts; /* not certain: the constants that it may be */
    uint32_t text_count;
    /* it is the one text, unless the surroundings of the program are others (value.h) */
    bool likely;
    const struct cbx_str
        *partials; /* and texts that are known in part, '*' for each unknown part */
    uint32_t partial_count;
};

struct cbx_fact {
    enum cbx_fact_kind kind;
    enum cbx_fact_id special;
    struct cbx_str name, detail;
    const struct cbx_arg *args;
    uint32_t arg_count;
    const struct cbx_str *places; /* not NULL: the known working folders of a call; NULL: the
                                     workspace (places.h) */
    uint32_t place_count;
    uint32_t cleared; /* bits 1 << enum cbx_capability that do not count here: what the call runs or
                            loads is in facts of its own */
    bool alone;       /* it holds only while nothing but this text binds its names: a module that
                         another cell may bind, or import and use */
    bool earlier;     /* of what was admitted before; only its denials count */
    bool spread;      /* *args or **kwargs among them: a missing argument may be given */
    uint32_t start, end; /* bytes of the source */
    enum cbx_language language;
};

struct cbx_facts {
    struct cbx_arena *arena;
    struct cbx_fact *items;
    size_t count, size;
    uint32_t base, base_end;    /* added to every place; when base_end is set, every place is that
                                   whole range (code in code) */
    enum cbx_language language; /* of the text that is read now */
    enum cbx_language source;   /* of the source that it stands in */
};

/* Adds a fact at [start, end). Returns NULL when the arena is exhausted; the arena's flag makes the
 * decision too-complex then. */
struct cbx_fact *cbx_facts_add(struct cbx_facts *facts, enum cbx_fact_kind kind,
                               struct cbx_str name, uint32_t start, uint32_t end);
/* Removes the facts that hold for the text alone: it was read with the other cells too. */
void cbx_facts_drop_alone(struct cbx_facts *facts);
void cbx_facts_add_special(struct cbx_facts *facts, enum cbx_fact_id id, struct cbx_str name,
                           uint32_t start, uint32_t end);
/* The same where the name is a sentence for people. */
void cbx_facts_add_note(struct cbx_facts *facts, enum cbx_fact_id id, struct cbx_note name,
                        uint32_t start, uint32_t end);

/* True when a variable of the environment of this name sounds like a credential. */
bool cbx_is_secret_name(struct cbx_str name);

/* True when the text begins a statement of SQL: SELECT ... FROM, INSERT INTO, UPDATE ... SET and so
 * on. */
bool cbx_is_sql(struct cbx_str text);

#endif
