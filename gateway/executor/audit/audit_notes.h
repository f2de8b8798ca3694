/* SPDX-License-Identifier: MIT
 * Records of the audit log that are about the log itself, as a verification meets them. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_NOTES_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_NOTES_H

#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/audit_chain.h"

/* The signing key on the way through the log. Before the first record `trusted` is the key that the
 * caller trusts. */
struct cbx_audit_notes {
    uint8_t trusted[CBX_AUDIT_PUBLIC_BYTES]; /* follows from the first one by the records 'key' */
    uint8_t before[CBX_AUDIT_PUBLIC_BYTES];  /* the trusted one before the last change */
    uint8_t named[CBX_AUDIT_PUBLIC_BYTES];   /* by the last record 'key' */
    uint64_t key_seq;                        /* of that record; 0 = none */
    bool trusted_changed;                    /* by that record */
    struct cbx_audit_heads *heads;           /* to which each key is named; NULL = none */
};

/* Compares the time of the record with that of its predecessor, report->last_time, which it becomes. */
void cbx_audit_note_time(struct cbx_str time, struct cbx_str line, uint64_t seq,
                         struct cbx_audit_report *report);

/* Notes a record of the log; false when it is a change of the key that the key before it did not
 * sign. */
bool cbx_audit_note(struct cbx_audit_notes *notes, struct cbx_str type, struct cbx_str line,
                    uint64_t seq, struct cbx_audit_report *report);

/* The key that must have signed a head with this number. False when the log names another key than
 * the one that follows from the trusted one. */
bool cbx_audit_notes_key(const struct cbx_audit_notes *notes, uint64_t head_seq,
                         uint8_t out[CBX_AUDIT_PUBLIC_BYTES]);

/* True when the line is a record 'pruned' with a file that ends at `before`. */
bool cbx_audit_names_pruned(struct cbx_str line, const struct cbx_chain *before);

#endif
