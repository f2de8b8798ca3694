/* SPDX-License-Identifier: MIT
 * The past of a session: the parts of its admitted entries that the judgement of the next entry
 * needs, and the ledger of all admitted entries. */
#ifndef CBX_ANALYZER_PAST_PAST_H
#define CBX_ANALYZER_PAST_PAST_H

#include "policies/base/arena.h"
#include "policies/base/err.h"
#include "policies/permit.h"

/* A judgement reads the entries that its source leads to; reading 1 MiB takes about 0.1 s. */
enum { CBX_PAST_MAX_BYTES = 1024 * 1024 };

/* The past of a session. Zeroed memory is an incomplete past, with which everything is denied.
 * End it with cbx_past_done. */
struct cbx_past {
    struct cbx_sha256 ledger;
    /* Summaries of the cells (lang/summary.h), and the files as entries (cbx_entry_next). A
     * reset removes the cells; the files stay in the workspace. */
    struct cbx_buf cells, files;
    bool has_all_cells, has_all_files; /* false: an entry did not fit */
};

/* Makes an empty, complete past with this ledger (cbx_ledger_begin). */
void cbx_past_begin(struct cbx_past *past, const struct cbx_sha256 *ledger);
void cbx_past_done(struct cbx_past *past);
CBX_DEFINE_AUTO_DONE(past)

/* Adds an entry to the past and to its ledger. An entry that does not fit makes the past
 * incomplete; if it is a cell, only until the next reset. */
void cbx_past_add(struct cbx_past *past, const struct cbx_entry *entry);

/* Does the same for a cell with its summary, which was made with this past (cbx_decision).
 * Without a summary the past keeps the whole cell. */
void cbx_past_add_cell_as(struct cbx_past *past, const struct cbx_entry *cell,
                          struct cbx_str summary, struct cbx_arena *arena);

/* Adds the file of code that a cell writes, if its whole text is known (%%writefile): it was
 * judged with the cell. The cell's entry in the ledger covers the file. */
void cbx_past_add_written(struct cbx_past *past, const struct cbx_entry *cell,
                          struct cbx_arena *arena);

/* Appends the SHA-256, in hexadecimal digits, of each file that programs of this language may
 * load as code: files that were judged in this language, or in one that is read like it. A text
 * that is harmless in one language may be harmful in another. */
void cbx_past_list_files(const struct cbx_past *past, struct cbx_str language, struct cbx_buf *out);

/* Adds a cell, the most common entry, without a language. */
void cbx_past_add_cell(struct cbx_past *past, struct cbx_str text);

/* Returns true if the past has every entry. */
bool cbx_past_is_complete(const struct cbx_past *past);

/* Returns true if the entry fits. */
bool cbx_past_fits(const struct cbx_past *past, const struct cbx_entry *entry);

/* cbx_past_write appends the past as bytes to `out` (CBX_PAST_BYTES_MAX). cbx_past_read reads
 * them; CBX_EPROTO for malformed bytes, *out is then an incomplete past without entries and with
 * a zero ledger. Records of cells are checked when they are recalled: an unreadable record
 * denies. */
enum { CBX_PAST_BYTES_MAX = 2 * CBX_PAST_MAX_BYTES + 4096 };
void cbx_past_write(const struct cbx_past *past, struct cbx_buf *out);
int cbx_past_read(struct cbx_str bytes, struct cbx_past *out, struct cbx_err *err);

/* Returns the number of its files and records. */
size_t cbx_past_count(const struct cbx_past *past);

#endif
