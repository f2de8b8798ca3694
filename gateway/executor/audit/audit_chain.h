/* SPDX-License-Identifier: MIT
 * The format of one record and of the signed head: shared by the writer and the verifier, so it
 * is defined once. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_CHAIN_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_CHAIN_H

#include "policies/base/buf.h"
#include "policies/base/hash.h"
#include "policies/base/text/json.h"

#include <openssl/evp.h>

/* The position in a chain. Zero = before the first record. */
struct cbx_chain {
    uint64_t seq;
    struct cbx_sha256 hash;
    int64_t time_ms; /* time of the record; 0 = not known */
};

/* The version of the record's format, its field "v". Records of version 0 have no such field. */
enum { CBX_CHAIN_VERSION = 1 };

/* Reads the time of a record ("2026-11-23T10:00:00.000Z") as milliseconds of the wall clock.
 * Accepts "2026-11-23", and a time without milliseconds. False for any other text. */
bool cbx_chain_time(struct cbx_str text, int64_t *out);

/* Writes the time of a record, as cbx_chain_time reads it: CBX_CHAIN_TIME_CHARS characters up to
 * the year 9999. */
enum { CBX_CHAIN_TIME_CHARS = 24 };
void cbx_chain_format_time(int64_t time_ms, char out[32]);

/* Appends the line of the record that follows `chain`, with its '\n', and advances `chain`. If
 * the clock was set back since the previous record, the record has the difference:
 * clock_back_ms. CBX_ETOOBIG if the line has more than CBX_AUDIT_LINE_MAX bytes or does not fit;
 * nothing is changed then. */
int cbx_chain_add(struct cbx_chain *chain, const char *type, const json_t *body, int64_t time_ms,
                  struct cbx_buf *out);

/* Checks that `line` (without '\n') is the record that follows `chain`, byte for byte as
 * cbx_chain_add writes it, and advances `chain`. CBX_EAUDIT with the error. *record, if not
 * NULL, is a new reference. */
int cbx_chain_check(struct cbx_chain *chain, struct cbx_str line, json_t **record,
                    struct cbx_err *err);

/* The same check for a correct line, ten times as fast, because it reads only the members after
 * the body; false leaves `chain` unchanged, and cbx_chain_check gives the error. The texts of
 * *out borrow from the line. `scratch` must be initialised with CBX_AUDIT_LINE_MAX. */
struct cbx_chain_line {
    struct cbx_str type, time;
};
bool cbx_chain_follow(struct cbx_chain *chain, struct cbx_str line, struct cbx_buf *scratch,
                      struct cbx_chain_line *out);

/* Write the signed text of a head; and check it: CBX_EAUDIT if it is malformed or the signature
 * is not valid. Without a key (NULL) it is only read. */
int cbx_chain_sign(const struct cbx_chain *chain, EVP_PKEY *key, struct cbx_buf *out);
int cbx_chain_open(struct cbx_str head, EVP_PKEY *key, struct cbx_chain *out, struct cbx_err *err);

#endif
