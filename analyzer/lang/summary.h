/* SPDX-License-Identifier: MIT
 * Summaries of cells: what later cells need of them. Most statements of a cell are over when it has
 * run; what they leave is the values of names. So a summary has, for each name, the values that it
 * may have; and the text of those statements alone that bind functions and classes, which run
 * again. A reader takes the names and statements that its cell leads to, so that judging a cell
 * does not cost more the more cells ran before.
 *
 * A summary is a sequence of records. It is flow-insensitive as the analysis is: records are
 * added, and only the record of a name's values is replaced, by one that has the earlier values
 * too. */
#ifndef CBX_ANALYZER_LANG_SUMMARY_H
#define CBX_ANALYZER_LANG_SUMMARY_H

#include "policies/base/arena.h"
#include "policies/base/buf.h"

struct cbx_scope;
struct cbx_values;
struct cbx_walk;

enum cbx_record_kind {
    CBX_RECORD_CELL = 1, /* a cell as the client sent it, that is always needed */
    CBX_RECORD_PIECE,    /* statements: plain text of the language */
    CBX_RECORD_VALUES,   /* the values of a name */
    CBX_RECORD_WALK,     /* what holds for all names; there is at most one */
};

/* Texts are borrowed. */
struct cbx_record {
    enum cbx_record_kind kind;
    /* PIECE: the names that need it, separated by CBX_NAME_END; VALUES: the name. The name of an
     * attribute begins with '.'. */
    struct cbx_str names;
    struct cbx_str words; /* PIECE: a filter of the words in its text */
    struct cbx_str body;  /* the text; encoded values */
};
#define CBX_NAME_END '\n'
/* Of the filter of a piece. */
enum { CBX_RECORD_WORDS_BYTES = 64 };

void cbx_record_write(const struct cbx_record *record, struct cbx_buf *out);
/* Removes the first record; false at the end, and when the rest is not a whole record. */
bool cbx_record_next(struct cbx_str *records, struct cbx_record *out);

/* Writes the piece that these names need: CBX_NAMES_ALWAYS, or each followed by CBX_NAME_END. */
#define CBX_NAMES_ALWAYS "*"
void cbx_summary_add_statement(struct cbx_str names, struct cbx_str text, struct cbx_buf *out);

/* Applies the records of a newer summary to an older one. False when they do not fit. */
bool cbx_summary_merge(struct cbx_buf *summary, struct cbx_str newer, struct cbx_arena *arena);

/* --- reading ---------------------------------------------------------------------------------- */

/* A summary while a cell is read with it. */
struct cbx_recall;

/* NULL when the arena is exhausted, or the records are malformed. */
struct cbx_recall *cbx_recall_new(struct cbx_str records, struct cbx_arena *arena);

/* Takes the pieces that the words of this text lead to. */
void cbx_recall_words(struct cbx_recall *recall, struct cbx_str text);

/* Takes the pieces that the last reading needed and did not have; false when there were none. */
bool cbx_recall_more(struct cbx_recall *recall);

/* Notes that the new cell may change the meaning of any piece: cbx_recall_more takes them all. */
void cbx_recall_need_all(struct cbx_recall *recall);

/* Takes all pieces. */
void cbx_recall_all(struct cbx_recall *recall);

/* Calls `take` for each record of code that was taken, in order; false when `take` returned
 * false. */
bool cbx_recall_each(const struct cbx_recall *recall,
                     bool (*take)(void *context, const struct cbx_record *record), void *context);

struct cbx_written;
/* Adds the modules whose files earlier cells wrote. */
void cbx_recall_written(const struct cbx_recall *recall, struct cbx_written *out);

/* --- for walks -------------------------------------------------------------------------------- */

/* Gives a walk that begins what holds for all names. */
void cbx_recall_walk(struct cbx_walk *walk);

/* The callables that escaped before (walk->escaped_calls); NULL when there are none. For the
 * pass that collects them: before it they are not applied. */
const struct cbx_values *cbx_recall_calls(const struct cbx_walk *walk);

/* Before the bindings of a name in the module's scope, or of an attribute (scope NULL), are
 * read: gives the walk what the summary has of it. */
void cbx_recall_name(struct cbx_walk *walk, const struct cbx_scope *scope, struct cbx_str name);

/* At the end of a walk: notes what the new statements need of the pieces that were not taken, and
 * summarises them (parsed->fresh) into parsed->summary. */
void cbx_summary_make(struct cbx_walk *walk);

#endif
