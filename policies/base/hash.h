/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4), HMAC-SHA256 (RFC 2104), random bytes and identifiers, by libcrypto. */
#ifndef CBX_POLICIES_BASE_HASH_H
#define CBX_POLICIES_BASE_HASH_H

#include "policies/base/err.h"
#include "policies/base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { CBX_SHA256_BYTES = 32, CBX_SHA256_HEX = 64, CBX_ID_CHARS = 26 };

struct cbx_sha256 {
    uint8_t bytes[CBX_SHA256_BYTES];
};

struct cbx_sha256 cbx_sha256_of(struct cbx_str bytes);

/* Returns the hash of the message `a` followed by `b`. */
struct cbx_sha256 cbx_sha256_of2(struct cbx_str a, struct cbx_str b);

/* A hash of a message in pieces: call cbx_sha256_add any number of times; cbx_sha256_now returns
 * the hash of all bytes so far. */
struct cbx_sha256_sum;
struct cbx_sha256_sum *cbx_sha256_sum_new(void);
void cbx_sha256_add(struct cbx_sha256_sum *sum, struct cbx_str bytes);
struct cbx_sha256 cbx_sha256_now(const struct cbx_sha256_sum *sum);
void cbx_sha256_sum_free(struct cbx_sha256_sum *sum);

struct cbx_sha256 cbx_hmac_sha256(struct cbx_str key, struct cbx_str message);

/* Compares in constant time. */
bool cbx_sha256_equal(const struct cbx_sha256 *a, const struct cbx_sha256 *b);

/* Writes 64 lower-case digits and a NUL. */
void cbx_sha256_hex(const struct cbx_sha256 *hash, char out[CBX_SHA256_HEX + 1]);

/* Reads exactly 64 lower-case digits; false, and *out unchanged, for any other text. */
bool cbx_sha256_from_hex(struct cbx_str hex, struct cbx_sha256 *out);

/* Random bytes from the host kernel. Aborts on failure: no caller could continue safely. */
void cbx_random(void *p, size_t bytes);

/* Makes a new identifier: 26 characters of Crockford base 32, 48 bits of milliseconds then 80
 * random bits (the ULID layout), so that ids sort by time. Terminated: 27 bytes. */
void cbx_id_make(char out[CBX_ID_CHARS + 1]);

/* Makes a random UUID of version 4, or with a tag of version 8 (RFC 9562): 36 characters and a
 * NUL. */
void cbx_uuid_make(char out[37]);

/* The tag of a gateway: 20 bits that each identifier made by its processes has in place of random
 * bits, so that another gateway knows whose object an identifier names (gateway/ipc/replicas.h).
 * Random texts of lower-case hexadecimal digits have it in their first CBX_TAG_HEX digits. */
enum { CBX_TAG_BITS = 20, CBX_TAG_HEX = CBX_TAG_BITS / 4, CBX_TAG_NONE = -1 };

/* Sets the tag of the identifiers that this process, and its later children, make;
 * CBX_TAG_NONE = identifiers without a tag, the default. Call it before the process has threads. */
void cbx_tag_use(int32_t tag);

/* Writes the tag into the first digits of a random text of hexadecimal digits; no effect without
 * a tag. */
void cbx_tag_mark(char *hex);

/* Returns the tag in an identifier: 26 characters of cbx_id_make, a UUID of version 8, or 64
 * hexadecimal digits of cbx_tag_mark. CBX_TAG_NONE for any other text. An identifier of the first
 * or the last form that was made without a tag gives a random number. */
int32_t cbx_tag_of(struct cbx_str id);

#endif
