/* SPDX-License-Identifier: MIT
 * Summaries of cells: what later cells need of them. A statement of a cell that ran leaves nothing
 * but the values of names, in most cases. So a summary has, for each name, its possible values; and
 * the text of only those statements that bind functions and classes, which run again. A reader
 * takes the names and statements that its cell leads to, so that the cost of judging a cell does
 * not grow with the number of earlier cells.
 *
 * A summary is a sequence of records. It is flow-insensitive, as the analysis is: new records are
 * added, and only the record of a name's values is replaced, by one that contains the earlier
 * values too. */
#ifndef CBX_ANALYZER_LANG_SUMMARY_H
#define CBX_ANALYZER_LANG_SUMMARY_H

#include "policies/base/arena.h"
#include "policies/base/buf.h"

struct cbx_scope;
struct cbx_values;
struct cbx_walk;

enum cbx_record_kind {
    CBX_RECORD_CELL = 1, /* a cell as the client sent it; every reader needs it */
    CBX_RECORD_PIECE,    /* statements: plain text of the language */
    CBX_RECORD_VALUES,   /* the values of a name */
    CBX_RECORD_WALK,     /* the state of a walk that holds for all names; at most one record */
};

/* A record of a summary. Its texts are borrowed. */
struct cbx_record {
    enum cbx_record_kind kind;
    /* PIECE: the names whose users need the piece, separated by CBX_NAME_END; VALUES: the name.
     * The name of an attribute begins with '.'. */
    struct cbx_str names;
    struct cbx_str words; /* PIECE: a filter of the words in `body` */
    struct cbx_str body;  /* PIECE, CELL: the text; VALUES, WALK: encoded values */
};
#define CBX_NAME_END '\n'
/* Size of the filter of a piece. */
enum { CBX_RECORD_WORDS_BYTES = 64 };

void cbx_record_write(const struct cbx_record *record, struct cbx_buf *out);
/* Removes the first record. Returns false at the end, and if the rest is not a whole record. */
bool cbx_record_next(struct cbx_str *records, struct cbx_record *out);

/* Writes a piece for the users of these names: CBX_NAMES_ALWAYS, or each name followed by
 * CBX_NAME_END. */
#define CBX_NAMES_ALWAYS "*"
void cbx_summary_add_statement(struct cbx_str names, struct cbx_str text, struct cbx_buf *out);

/* Applies the records of a newer summary to an older one. Returns false if they do not fit. */
bool cbx_summary_merge(struct cbx_buf *summary, struct cbx_str newer, struct cbx_arena *arena);

/* --- reading ---------------------------------------------------------------------------------- */

/* State of a summary while a cell is read with it. */
struct cbx_recall;

/* Returns NULL if the arena is exhausted, or the records are malformed. */
struct cbx_recall *cbx_recall_new(struct cbx_str records, struct cbx_arena *arena);

/* Takes the pieces that the words of this text lead to. */
void cbx_recall_words(struct cbx_recall *recall, struct cbx_str text);

/* Takes the pieces that the last reading needed and did not have; false if there were none. */
bool cbx_recall_more(struct cbx_recall *recall);

/* Notes that the new cell may change the meaning of any piece: cbx_recall_more takes them all. */
void cbx_recall_need_all(struct cbx_recall *recall);

/* Takes all pieces. */
void cbx_recall_all(struct cbx_recall *recall);

/* Calls `take` for each record of code that was taken, in order; returns false as soon as `take`
 * does. */
bool cbx_recall_each(const struct cbx_recall *recall,
                     bool (*take)(void *context, const struct cbx_record *record), void *context);

struct cbx_written;
/* Adds the modules whose files earlier cells wrote. */
void cbx_recall_written(const struct cbx_recall *recall, struct cbx_written *out);

/* --- for walks -------------------------------------------------------------------------------- */

/* Initialises a new walk with the state that holds for all names. */
void cbx_recall_walk(struct cbx_walk *walk);

/* Returns the callables that escaped in earlier cells (walk->escaped_calls); NULL if there are
 * none. For the pass that collects them: no earlier pass applies them. */
const struct cbx_values *cbx_recall_calls(const struct cbx_walk *walk);

/* Gives the walk what the summary has of a name in the module's scope, or of an attribute (scope
 * NULL). Call it before the name's bindings are read. */
void cbx_recall_name(struct cbx_walk *walk, const struct cbx_scope *scope, struct cbx_str name);

/* Notes what the new statements (parsed->fresh) need of the pieces that were not taken, and
 * writes their summary to parsed->summary. Call it at the end of a walk. */
void cbx_summary_make(struct cbx_walk *walk);

#endif
