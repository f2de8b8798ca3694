/* SPDX-License-Identifier: MIT
 * The format of a kept head. */
#include "gateway/executor/heads/audit_head.h"

#include "policies/base/text/hex.h"

#include <inttypes.h>
#include <string.h>

enum { SIGNATURE_BYTES = 64, SEQ_DIGITS = 20 };

static void format(const struct cbx_audit_head *head, char out[CBX_AUDIT_HEAD_TEXT + 1])
{
    char hash[CBX_SHA256_HEX + 1], when[32], key[2 * CBX_AUDIT_PUBLIC_BYTES + 1];
    cbx_sha256_hex(&head->chain.hash, hash);
    cbx_chain_format_time(head->time_ms, when);
    cbx_hex_encode(head->key, CBX_AUDIT_PUBLIC_BYTES, key);
    snprintf(out, CBX_AUDIT_HEAD_TEXT + 1, CBX_AUDIT_HEAD_MARK "%020" PRIu64 " %s %.24s %s %s",
             head->chain.seq, hash, when, head->instance, key);
}

int cbx_audit_head_sign(const struct cbx_audit_head *head, EVP_PKEY *key,
                        char out[CBX_AUDIT_HEAD_CHARS + 1])
{
    struct cbx_audit_head signed_head = *head;
    uint8_t signature[SIGNATURE_BYTES];
    size_t key_bytes = CBX_AUDIT_PUBLIC_BYTES, len = sizeof(signature);
    if (EVP_PKEY_get_raw_public_key(key, signed_head.key, &key_bytes) != 1 ||
        key_bytes != CBX_AUDIT_PUBLIC_BYTES) {
        return CBX_EIO;
    }
    format(&signed_head, out);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok = context != NULL && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestSign(context, signature, &len, (const uint8_t *)out, strlen(out)) == 1 &&
              len == sizeof(signature);
    EVP_MD_CTX_free(context);
    if (!ok) {
        return CBX_EIO;
    }
    out[CBX_AUDIT_HEAD_TEXT] = ' ';
    cbx_hex_encode(signature, sizeof(signature), out + CBX_AUDIT_HEAD_TEXT + 1);
    return 0;
}

/* Takes the next field of the line, up to the next space. */
static struct cbx_str take(struct cbx_str *left, size_t chars)
{
    struct cbx_str part = cbx_str_sub(*left, 0, chars);
    *left = cbx_str_sub(*left, chars + 1, left->len);
    return part;
}

static bool read_seq(struct cbx_str digits, uint64_t *out)
{
    uint64_t seq = 0;
    for (size_t i = 0; i < digits.len; i++) {
        uint64_t digit = (uint64_t)(unsigned char)digits.p[i] - '0';
        if (digit > 9 || seq > (UINT64_MAX - digit) / 10) {
            return false;
        }
        seq = 10 * seq + digit;
    }
    *out = seq;
    return seq > 0;
}

bool cbx_audit_head_read(struct cbx_str line, struct cbx_audit_head *out)
{
    struct cbx_audit_head head = { 0 };
    char again[CBX_AUDIT_HEAD_TEXT + 1];
    if (line.len != CBX_AUDIT_HEAD_CHARS || !cbx_str_starts(line, CBX_STR(CBX_AUDIT_HEAD_MARK))) {
        return false;
    }
    struct cbx_str left = cbx_str_sub(line, strlen(CBX_AUDIT_HEAD_MARK), line.len);
    struct cbx_str seq = take(&left, SEQ_DIGITS), hash = take(&left, CBX_SHA256_HEX);
    struct cbx_str when = take(&left, CBX_CHAIN_TIME_CHARS);
    struct cbx_str instance = take(&left, CBX_AUDIT_INSTANCE_CHARS);
    struct cbx_str key = take(&left, (size_t)2 * CBX_AUDIT_PUBLIC_BYTES);
    if (!read_seq(seq, &head.chain.seq) || !cbx_sha256_from_hex(hash, &head.chain.hash) ||
        !cbx_chain_time(when, &head.time_ms) || !cbx_hex_is(instance, CBX_AUDIT_INSTANCE_CHARS) ||
        !cbx_hex_decode(key, head.key, CBX_AUDIT_PUBLIC_BYTES) ||
        !cbx_hex_is(left, (size_t)2 * SIGNATURE_BYTES)) {
        return false;
    }
    snprintf(head.instance, sizeof(head.instance), "%.*s", CBX_STR_ARG(instance));
    format(&head, again); /* a head has exactly one text, including its spaces and its time */
    if (!cbx_str_equal(cbx_str_of(again), cbx_str_sub(line, 0, CBX_AUDIT_HEAD_TEXT)) ||
        line.p[CBX_AUDIT_HEAD_TEXT] != ' ') {
        return false;
    }
    *out = head;
    return true;
}

bool cbx_audit_head_is_signed(struct cbx_str line, EVP_PKEY *key)
{
    uint8_t signature[SIGNATURE_BYTES];
    if (line.len != CBX_AUDIT_HEAD_CHARS ||
        !cbx_hex_decode(cbx_str_sub(line, CBX_AUDIT_HEAD_TEXT + 1, line.len), signature,
                        sizeof(signature))) {
        return false;
    }
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok = key != NULL && context != NULL &&
              EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestVerify(context, signature, sizeof(signature), (const uint8_t *)line.p,
                               CBX_AUDIT_HEAD_TEXT) == 1;
    EVP_MD_CTX_free(context);
    return ok;
}
