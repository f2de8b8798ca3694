/* SPDX-License-Identifier: MIT
 * The ledger of a session: a running SHA-256 over all admitted entries, in order. A decision
 * names the ledger that it was made against; the sandbox accepts only decisions for its present
 * ledger. So no entry can be left out, reordered or inserted between judging and running. */
#ifndef CBX_POLICIES_LEDGER_H
#define CBX_POLICIES_LEDGER_H

#include "policies/base/buf.h"
#include "policies/base/hash.h"

/* The kinds of entries. The values are part of the hashes. */
enum cbx_entry_kind {
    CBX_ENTRY_CELL = 1,  /* code that runs */
    CBX_ENTRY_FILE = 2,  /* a judged file of the workspace, which may be loaded as code */
    CBX_ENTRY_RESET = 3, /* the kernel restarts: earlier cells have no effect from then on */
};

/* One entry; texts are borrowed. A reset has neither language, name nor text. */
struct cbx_entry {
    enum cbx_entry_kind kind;
    struct cbx_str language; /* name of the language in permits */
    struct cbx_str name;     /* path of a file in the workspace */
    struct cbx_str text;     /* as the client sent it */
};

/* Returns the ledger of a session, or of a one-shot (empty name), without entries. */
struct cbx_sha256 cbx_ledger_begin(struct cbx_str session, const struct cbx_sha256 *policy);

/* Returns the hash of an entry: entries that differ in any member have different hashes. */
struct cbx_sha256 cbx_entry_hash(const struct cbx_entry *entry);

/* Appends the entry as bytes; sets the buffer's overflow flag if it does not fit. */
void cbx_entry_write(const struct cbx_entry *entry, struct cbx_buf *out);

/* Removes the first entry from `bytes`; *out borrows from it. False at the end, and if the rest
 * is not a whole entry: `bytes` is not empty then. */
bool cbx_entry_next(struct cbx_str *bytes, struct cbx_entry *out);

/* Returns the ledger with one more entry, by its hash. */
struct cbx_sha256 cbx_ledger_add(const struct cbx_sha256 *ledger, const struct cbx_sha256 *entry);

#endif
