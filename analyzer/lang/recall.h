/* SPDX-License-Identifier: MIT
 * The state of a summary while a cell is read with it (summary.h). Private to recall.c and
 * summary.c. */
#ifndef CBX_ANALYZER_LANG_RECALL_H
#define CBX_ANALYZER_LANG_RECALL_H

#include "analyzer/lang/summary.h"
#include "analyzer/past/written.h"

/* A record with text: the statements of a PIECE, or a CELL. */
struct cbx_recall_piece {
    const char *words; /* filter of the words of the statements; NULL: a cell */
    uint32_t at;       /* offset of the record */
    bool taken, needed;
};

/* A name of a piece or of values; entries with the same hash are a list. Small, because each cell
 * allocates an entry for every name of its session. */
struct cbx_recall_entry {
    const char *name;
    uint32_t name_bytes, hash;
    uint32_t next;  /* index + 1; 0 = the end */
    uint32_t piece; /* index of the piece; for values the offset of their record */
    bool is_values, given;
};

struct cbx_recall {
    struct cbx_arena *arena;
    struct cbx_str records; /* all records of the summary */
    struct cbx_recall_piece *pieces;
    size_t piece_count, piece_size;
    struct cbx_recall_entry *entries;
    size_t entry_count, entry_size;
    uint32_t *index; /* hash -> index + 1 of the first entry */
    size_t index_size;
    struct cbx_str walk;                              /* body of the record WALK */
    const struct cbx_values *escaped, *escaped_calls; /* values in the record WALK */
    struct cbx_written written;
    bool armed;
};

/* Longer names are not looked up. */
enum { CBX_RECALL_NAME_BYTES_MAX = 256 };

/* Removes the text up to the end of the next word; *out is the word. Returns false without one. */
bool cbx_recall_next_word(struct cbx_str *text, struct cbx_str *out);

/* Appends the state of a walk that holds for all names, the body of a record WALK; cbx_recall_walk
 * reads it. Returns false for values that cannot be encoded. */
bool cbx_recall_write_walk(const struct cbx_walk *walk, struct cbx_buf *out);

#endif
