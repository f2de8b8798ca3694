/* SPDX-License-Identifier: MIT
 * Keyed hashes and randomness, thin over libcrypto. */
#include "policies/base/hash.h"
#include "policies/base/time/clock.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const char crockford[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
enum { ID_TIME_CHARS = 10, ID_TAG_CHARS = 4, ID_DIGIT_BITS = 5, UUID_CHARS = 36, HEX_BITS = 4 };

static int32_t own_tag = CBX_TAG_NONE;

void cbx_tag_use(int32_t tag)
{
    own_tag = tag;
}

void cbx_id_make(char out[CBX_ID_CHARS + 1])
{
    uint64_t ms = (uint64_t)cbx_time_ms();
    uint8_t bytes[CBX_ID_CHARS - ID_TIME_CHARS];
    cbx_random(bytes, sizeof(bytes));
    for (int i = ID_TIME_CHARS - 1; i >= 0; i--) {
        out[i] = crockford[ms & 31];
        ms >>= ID_DIGIT_BITS;
    }
    for (int i = ID_TIME_CHARS; i < CBX_ID_CHARS; i++) {
        out[i] = crockford[bytes[i - ID_TIME_CHARS] & 31];
    }
    for (int i = 0; i < ID_TAG_CHARS && own_tag != CBX_TAG_NONE; i++) {
        int shift = CBX_TAG_BITS - ID_DIGIT_BITS * (i + 1);
        out[ID_TIME_CHARS + i] = crockford[((uint32_t)own_tag >> shift) & 31];
    }
    out[CBX_ID_CHARS] = '\0';
}

void cbx_tag_mark(char *hex)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < CBX_TAG_HEX && own_tag != CBX_TAG_NONE; i++) {
        hex[i] = digits[((uint32_t)own_tag >> (CBX_TAG_BITS - HEX_BITS * (i + 1))) & 15];
    }
}

void cbx_uuid_make(char out[UUID_CHARS + 1])
{
    uint8_t b[16], version = own_tag != CBX_TAG_NONE ? 0x80 : 0x40;
    cbx_random(b, sizeof(b));
    b[6] = (uint8_t)((b[6] & 0x0f) | version);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    snprintf(out, UUID_CHARS + 1,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
    cbx_tag_mark(out);
}

/* Reads digits of an alphabet; CBX_TAG_NONE for a character that is none of them. */
static int32_t read_digits(struct cbx_str text, const char *alphabet, int bits)
{
    uint32_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = text.p[i] != '\0' ? strchr(alphabet, text.p[i]) : NULL;
        if (digit == NULL) {
            return CBX_TAG_NONE;
        }
        value = value << bits | (uint32_t)(digit - alphabet);
    }
    return (int32_t)value;
}

int32_t cbx_tag_of(struct cbx_str id)
{
    enum { UUID_VERSION_AT = 14 };
    bool is_uuid = id.len == UUID_CHARS && id.p[UUID_VERSION_AT] == '8' && id.p[8] == '-';
    if (id.len == CBX_ID_CHARS) {
        return read_digits(cbx_str_sub(id, ID_TIME_CHARS, ID_TIME_CHARS + ID_TAG_CHARS), crockford,
                           ID_DIGIT_BITS);
    }
    if (is_uuid || id.len == CBX_SHA256_HEX) {
        return read_digits(cbx_str_sub(id, 0, CBX_TAG_HEX), "0123456789abcdef", HEX_BITS);
    }
    return CBX_TAG_NONE;
}
