/* SPDX-License-Identifier: MIT
 * The ledger of a session: a running SHA-256 over everything that was admitted to it, in order. A
 * decision names the ledger that it was made against; the sandbox takes only what was judged
 * against its own. So nothing can be left out, reordered or inserted between judging and running. */
#ifndef CBX_POLICIES_LEDGER_H
#define CBX_POLICIES_LEDGER_H

#include "policies/base/buf.h"
#include "policies/base/hash.h"

/* What is admitted. The values are part of the hashes. */
enum cbx_entry_kind {
    CBX_ENTRY_CELL = 1,  /* code that runs */
    CBX_ENTRY_FILE = 2,  /* a file of the workspace that was judged, and may be loaded as code */
    CBX_ENTRY_RESET = 3, /* the kernel starts anew: earlier cells have no effect any more */
};

/* One entry; texts are borrowed. A reset has neither language, name nor text. */
struct cbx_entry {
    enum cbx_entry_kind kind;
    struct cbx_str language; /* by the name that permits have for it */
    struct cbx_str name;     /* of a file: its path in the workspace */
    struct cbx_str text;     /* as the client sent it */
};

/* The ledger of a session, or of a one-shot (empty name), to which nothing was admitted yet. */
struct cbx_sha256 cbx_ledger_begin(struct cbx_str session, const struct cbx_sha256 *policy);

/* The hash of an entry: two entries that differ in any member have different ones. */
struct cbx_sha256 cbx_entry_hash(const struct cbx_entry *entry);

/* Appends the entry as bytes; the buffer's overflow flag says when it did not fit. */
void cbx_entry_write(const struct cbx_entry *entry, struct cbx_buf *out);

/* Removes the first entry from `bytes`; *out borrows from it. False at the end, and when the rest is
 * not a whole entry: bytes are left then. */
bool cbx_entry_next(struct cbx_str *bytes, struct cbx_entry *out);

/* The ledger with one more entry, of which this is the hash. */
struct cbx_sha256 cbx_ledger_add(const struct cbx_sha256 *ledger, const struct cbx_sha256 *entry);

#endif
