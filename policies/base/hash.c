/* SPDX-License-Identifier: MIT
 * SHA-256, thin over libcrypto. codebox-lint uses no other part of libcrypto. */
/* The SHA-256 functions of OpenSSL 1.1: the functions of 3.0 first load all algorithms, which costs
 * a linter of one small file as much time as judging it. */
#define OPENSSL_API_COMPAT 0x10100000L
#include "policies/base/hash.h"

#include "policies/base/text/hex.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>

/* libcrypto fails here only if it is out of memory. */
static void require(bool ok)
{
    if (!ok) {
        fputs("codebox: libcrypto failed\n", stderr);
        abort();
    }
}

struct cbx_sha256 cbx_sha256_of2(struct cbx_str a, struct cbx_str b)
{
    struct cbx_sha256 hash = { 0 };
    SHA256_CTX context;
    require(SHA256_Init(&context) == 1 && SHA256_Update(&context, a.p, a.len) == 1 &&
            SHA256_Update(&context, b.p, b.len) == 1 && SHA256_Final(hash.bytes, &context) == 1);
    return hash;
}

struct cbx_sha256 cbx_sha256_of(struct cbx_str bytes)
{
    return cbx_sha256_of2(bytes, (struct cbx_str){ 0 });
}

struct cbx_sha256_sum {
    SHA256_CTX context;
};

struct cbx_sha256_sum *cbx_sha256_sum_new(void)
{
    struct cbx_sha256_sum *sum = calloc(1, sizeof(*sum));
    require(sum != NULL && SHA256_Init(&sum->context) == 1);
    return sum;
}

void cbx_sha256_add(struct cbx_sha256_sum *sum, struct cbx_str bytes)
{
    require(SHA256_Update(&sum->context, bytes.p, bytes.len) == 1);
}

struct cbx_sha256 cbx_sha256_now(const struct cbx_sha256_sum *sum)
{
    struct cbx_sha256 hash = { 0 };
    SHA256_CTX context = sum->context;
    require(SHA256_Final(hash.bytes, &context) == 1);
    return hash;
}

void cbx_sha256_sum_free(struct cbx_sha256_sum *sum)
{
    free(sum);
}

bool cbx_sha256_equal(const struct cbx_sha256 *a, const struct cbx_sha256 *b)
{
    return CRYPTO_memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

void cbx_sha256_hex(const struct cbx_sha256 *hash, char out[CBX_SHA256_HEX + 1])
{
    cbx_hex_encode(hash->bytes, sizeof(hash->bytes), out);
}

bool cbx_sha256_from_hex(struct cbx_str hex, struct cbx_sha256 *out)
{
    return cbx_hex_decode(hex, out->bytes, sizeof(out->bytes));
}
