/* SPDX-License-Identifier: MIT
 * Records of the audit log about the log itself, as a verification reads them. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_NOTES_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_NOTES_H

#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/audit_chain.h"

/* The signing key during a verification. Before the first record `trusted` is the caller's
 * trusted key. */
struct cbx_audit_notes {
    /* follows from the first trusted key by the records 'key' */
    uint8_t trusted[CBX_AUDIT_PUBLIC_BYTES];
    uint8_t before[CBX_AUDIT_PUBLIC_BYTES]; /* the trusted key before the last change */
    uint8_t named[CBX_AUDIT_PUBLIC_BYTES];  /* the new key of the last record 'key' */
    uint64_t key_seq;                       /* number of that record; 0 = none */
    bool trusted_changed;                   /* true if that record changed the trusted key */
    struct cbx_audit_heads *heads;          /* receives each named key; NULL = none */
};

/* Compares the time of the record with its predecessor's, report->last_time, and replaces that
 * by it. */
void cbx_audit_note_time(struct cbx_str time, struct cbx_str line, uint64_t seq,
                         struct cbx_audit_report *report);

/* Notes a record of the log; false for a change of the key that the previous key did not sign. */
bool cbx_audit_note(struct cbx_audit_notes *notes, struct cbx_str type, struct cbx_str line,
                    uint64_t seq, struct cbx_audit_report *report);

/* Finds the key that must have signed a head with this number. False if the log names another
 * key than the one derived from the trusted key. */
bool cbx_audit_notes_key(const struct cbx_audit_notes *notes, uint64_t head_seq,
                         uint8_t out[CBX_AUDIT_PUBLIC_BYTES]);

/* True if the line is a record 'pruned' with a file that ends at `before`. */
bool cbx_audit_names_pruned(struct cbx_str line, const struct cbx_chain *before);

#endif
