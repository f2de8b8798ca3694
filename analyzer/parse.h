/* SPDX-License-Identifier: MIT
 * One text from bytes to facts, and code inside code. */
#ifndef CBX_ANALYZER_PARSE_H
#define CBX_ANALYZER_PARSE_H

#include "analyzer/facts/facts.h"
#include "analyzer/lang/lang.h"

#include <tree_sitter/api.h>

struct cbx_buf;
struct cbx_past;
struct cbx_recall;
struct cbx_scope;
struct cbx_walk;

/* Parts of a text that do not overlap, in order: [start, end). */
struct cbx_range {
    uint32_t start, end;
};
struct cbx_ranges {
    struct cbx_range *items;
    size_t count, size;
};
/* Returns true if the place is in one of them. */
bool cbx_ranges_have(const struct cbx_ranges *ranges, uint32_t place);

/* A text between source and facts. `depth` is the nesting of code in code. */
struct cbx_places;
struct cbx_parsed {
    const struct cbx_policy *policy;
    const struct cbx_lang *lang;
    struct cbx_str text;
    TSTree *tree;
    struct cbx_arena *arena;
    struct cbx_facts *facts;
    int depth;
    int64_t deadline_ms;            /* deadline of CLOCK_MONOTONIC; 0 = none */
    const struct cbx_magic *magics; /* rewritten notebook lines, by place */
    size_t magic_count;
    /* the extractor's result for this text, after the extractor has read it */
    struct cbx_walk *walk;
    /* Code in code: its free names are searched in this text, from this scope on. Only for code in
     * the same language. */
    struct cbx_walk *outer;
    struct cbx_scope *outer_scope;
    /* Only names are read: the notebook lines are judged elsewhere, places are not mapped. */
    bool names_only;
    /* true in a build: files and paths of the project are allowed sources of packages */
    bool project;
    /* working folders in which code of the shell begins; NULL: the workspace */
    const struct cbx_places *places;
    /* true for a lock file: it has packages that others required, which no allow list names */
    bool locked;
    struct cbx_ranges files; /* files whose content stands in the text */
    /* If not NULL, it receives the functions of the text, whose bodies may run later than the
     * text. */
    struct cbx_ranges *functions;
    const struct cbx_past *past;   /* files of the session, for #include; or NULL */
    const struct cbx_buf *headers; /* files whose macros are read for #include; or NULL */
    /* Of a program with a past: the data from which the past is recalled; the new part of the
     * text, and the destination of its summary, or NULL (lang/summary.h). */
    struct cbx_recall *recall;
    struct cbx_range fresh;
    struct cbx_buf *summary;
};

enum { CBX_CODE_DEPTH_MAX = 6, CBX_TREE_DEPTH_MAX = 1500 };

/* Parses `text` as `lang` and adds its facts: syntax errors, then the extractor's. Used for the
 * source itself (depth 0) and for constant code that the source runs (depth + 1; the caller sets
 * facts->base_end). */
void cbx_parse_text(const struct cbx_parsed *parent, const struct cbx_lang *lang,
                    struct cbx_str text, TSTree **tree_out);

/* Parses a text, for extractors that rewrite the text before they parse it. Returns NULL after the
 * deadline. */
TSTree *cbx_parse_tree(const TSLanguage *grammar, struct cbx_str text, int64_t deadline_ms);

/* Moves the cursor to the next node in the order of the text: to the first child of the current
 * node if `inside`, else after the current node. *depth is 0 at the node where the walk began.
 * Returns false after the last node. */
bool cbx_tree_move(TSTreeCursor *cursor, bool inside, int *depth);

/* Adds a fact for each syntax error of a tree, at most 20; visits only nodes with an error inside.
 * An error node that the language accepts (reads_error) gives no fact. */
void cbx_parse_errors(const struct cbx_parsed *parsed, TSTree *tree, struct cbx_facts *facts);

/* Judges `text` as code of `language` in code; its findings get the place [start, end). */
void cbx_parse_inner(const struct cbx_parsed *parent, const char *language, struct cbx_str text,
                     uint32_t start, uint32_t end);

/* The same for a cell that is rewritten already. */
struct cbx_notebook;
void cbx_parse_cell(const struct cbx_parsed *parent, const struct cbx_notebook *cell,
                    uint32_t start, uint32_t end);

/* Judges a line of shell inside another language as code in code, with findings at [start, end). */
void cbx_parse_shell_line(const struct cbx_parsed *parent, struct cbx_str text, uint32_t start,
                          uint32_t end);

/* Returns the deadline of a budget that begins now, in milliseconds of CLOCK_MONOTONIC; a budget
 * of 0 is 5,000 ms. */
int64_t cbx_parse_deadline(uint32_t budget_ms);

#endif
