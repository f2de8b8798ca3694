/* SPDX-License-Identifier: MIT
 * Keyed hashes and randomness, thin over libcrypto. */
#include "policies/base/hash.h"
#include "policies/base/time/clock.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
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

struct cbx_sha256 cbx_hmac_sha256(struct cbx_str key, struct cbx_str message)
{
    struct cbx_sha256 mac;
    unsigned len = sizeof(mac.bytes);
    require(HMAC(EVP_sha256(), key.p, (int)key.len, (const unsigned char *)message.p, message.len,
                 mac.bytes, &len) != NULL);
    return mac;
}

void cbx_random(void *p, size_t bytes)
{
    require(RAND_bytes(p, (int)bytes) == 1);
}

void cbx_id_make(char out[CBX_ID_CHARS + 1])
{
    static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    uint64_t ms = (uint64_t)cbx_time_ms();
    uint8_t bytes[16];
    cbx_random(bytes, sizeof(bytes));
    for (int i = 9; i >= 0; i--) {
        out[i] = alphabet[ms & 31];
        ms >>= 5;
    }
    for (int i = 10; i < CBX_ID_CHARS; i++) {
        out[i] = alphabet[bytes[i - 10] & 31];
    }
    out[CBX_ID_CHARS] = '\0';
}

void cbx_uuid_make(char out[37])
{
    uint8_t b[16];
    cbx_random(b, sizeof(b));
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    snprintf(out, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
             b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}
