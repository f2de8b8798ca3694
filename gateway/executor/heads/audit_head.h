/* SPDX-License-Identifier: MIT
 * The format of a kept head: the position of the audit log at a time, on one line, signed with
 * the key of the log. It is kept outside of the state directory, to detect that the log was
 * replaced by an older copy of itself. */
#ifndef CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_HEAD_H
#define CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_HEAD_H

#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/audit_chain.h"

/* "codebox-head 1 SEQ HASH TIME INSTANCE KEY SIGNATURE": 20 digits, then hexadecimal texts of 64
 * digits, a time, 32, 64 and 128 digits. The signature covers all fields before it, without the
 * space between. */
#define CBX_AUDIT_HEAD_MARK "codebox-head 1 "
enum {
    CBX_AUDIT_INSTANCE_CHARS = 32,
    CBX_AUDIT_HEAD_TEXT = 15 + 21 + 65 + CBX_CHAIN_TIME_CHARS + 1 + CBX_AUDIT_INSTANCE_CHARS + 1 +
                          2 * CBX_AUDIT_PUBLIC_BYTES,
    CBX_AUDIT_HEAD_CHARS = CBX_AUDIT_HEAD_TEXT + 1 + 128
};

struct cbx_audit_head {
    struct cbx_chain chain; /* number and hash of the record; the number is not 0 */
    int64_t time_ms;        /* wall clock */
    char instance[CBX_AUDIT_INSTANCE_CHARS + 1];
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES]; /* key that signed it, as the line states */
};

/* Writes the line, without '\n'. `head->key` is not read: the line has the public key of `key`.
 * CBX_EIO if libcrypto fails. */
int cbx_audit_head_sign(const struct cbx_audit_head *head, EVP_PKEY *key,
                        char out[CBX_AUDIT_HEAD_CHARS + 1]);

/* Reads a line that is exactly a head. False for any other line. cbx_audit_head_is_signed checks
 * the signature, by the public key `head->key`. */
bool cbx_audit_head_read(struct cbx_str line, struct cbx_audit_head *out);
bool cbx_audit_head_is_signed(struct cbx_str line, EVP_PKEY *key);

#endif
