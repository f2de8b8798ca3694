/* SPDX-License-Identifier: MIT
 * The form of one record and of the signed head: shared by the writer and the verifier, so that
 * there is one truth. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_CHAIN_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_CHAIN_H

#include "policies/base/buf.h"
#include "policies/base/hash.h"
#include "policies/base/json.h"

#include <openssl/evp.h>

/* Where a chain stands. Zero = before the first record. */
struct cbx_chain {
    uint64_t seq;
    struct cbx_sha256 hash;
    int64_t time_ms; /* of the record, where it is known; 0 = not known */
};

/* The version of the record's form, its field "v". Records of version 0 have no such field. */
enum { CBX_CHAIN_VERSION = 1 };

/* Milliseconds of the wall clock from the time of a record ("2026-11-23T10:00:00.000Z"). Also "2026-11-23",
 * and a time without milliseconds. False for anything else. */
bool cbx_chain_time(struct cbx_str text, int64_t *out);

/* The time of a record, as cbx_chain_time reads it: CBX_CHAIN_TIME_CHARS characters up to the year 9999. */
enum { CBX_CHAIN_TIME_CHARS = 24 };
void cbx_chain_format_time(int64_t time_ms, char out[32]);

/* Appends the line of the record that follows `chain`, with its '\n', and moves `chain` on. When the clock was set back since the record
 * before it, the record says by how much: clock_back_ms.
 * CBX_ETOOBIG when the line has more than CBX_AUDIT_LINE_MAX bytes or does not fit; nothing has
 * changed then. */
int cbx_chain_add(struct cbx_chain *chain, const char *type, const json_t *body, int64_t time_ms,
                  struct cbx_buf *out);

/* Checks that `line` (without '\n') is the record that follows `chain`, byte for byte as
 * cbx_chain_add writes it, and moves `chain` on. CBX_EAUDIT says what is wrong. *record, when
 * not NULL, is a new reference. */
int cbx_chain_check(struct cbx_chain *chain, struct cbx_str line, json_t **record,
                    struct cbx_err *err);

/* The same for a line that is right, ten times as fast, because only the members behind the body
 * are read; false leaves `chain` unchanged, and cbx_chain_check says what is wrong. The texts of
 * *out borrow from the line. `scratch` was initialised with CBX_AUDIT_LINE_MAX. */
struct cbx_chain_line {
    struct cbx_str type, time;
};
bool cbx_chain_follow(struct cbx_chain *chain, struct cbx_str line, struct cbx_buf *scratch,
                      struct cbx_chain_line *out);

/* The head's text, signed. And its check: CBX_EAUDIT when it is malformed or the
 * signature is not valid. Without a key (NULL) it is only read. */
int cbx_chain_sign(const struct cbx_chain *chain, EVP_PKEY *key, struct cbx_buf *out);
int cbx_chain_open(struct cbx_str head, EVP_PKEY *key, struct cbx_chain *out, struct cbx_err *err);

#endif
