/* SPDX-License-Identifier: MIT
 * Public keys of the audit log: reading them, and checking with them. */
#include "gateway/executor/audit/audit_internal.h"

#include "policies/base/text/hex.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads a PEM file; never blocks on a FIFO. */
static int read_pem(const char *path, uint8_t out[CBX_AUDIT_PUBLIC_BYTES], struct cbx_err *err)
{
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_fail(err, CBX_EINVAL, "the public key '%s': %s", path, strerror(errno));
    }
    CBX_AUTO_FILE f = S_ISREG(status.st_mode) ? fdopen(dup(fd), "r") : NULL;
    EVP_PKEY *key = f != NULL ? PEM_read_PUBKEY(f, NULL, NULL, NULL) : NULL;
    size_t len = CBX_AUDIT_PUBLIC_BYTES;
    bool ok = key != NULL && EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 &&
              EVP_PKEY_get_raw_public_key(key, out, &len) == 1 && len == CBX_AUDIT_PUBLIC_BYTES;
    EVP_PKEY_free(key);
    if (!ok) {
        return cbx_fail(err, CBX_EINVAL,
                        "the public key '%s' is none, allowed is an Ed25519 public key in PEM",
                        path);
    }
    return 0;
}

int cbx_audit_public_key(const char *text, uint8_t out[CBX_AUDIT_PUBLIC_BYTES], struct cbx_err *err)
{
    enum { DIGITS = 2 * CBX_AUDIT_PUBLIC_BYTES };
    char lower[DIGITS + 1];
    size_t len = strlen(text);
    for (size_t i = 0; i < len && i < DIGITS; i++) {
        lower[i] = (char)tolower((unsigned char)text[i]);
    }
    if (len != DIGITS || !cbx_hex_decode((struct cbx_str){ .p = lower, .len = DIGITS }, out,
                                         CBX_AUDIT_PUBLIC_BYTES)) {
        return read_pem(text, out, err);
    }
    return 0;
}

int cbx_audit_find_key(const char *state_dir, const uint8_t *pinned,
                       uint8_t out[CBX_AUDIT_PUBLIC_BYTES], struct cbx_err *err)
{
    char path[PATH_MAX];
    if (pinned != NULL) {
        memcpy(out, pinned, CBX_AUDIT_PUBLIC_BYTES);
        return 0;
    }
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_PUB, state_dir);
    if (read_pem(path, out, err) != 0) {
        return cbx_fail(err, CBX_EAUDIT, "the public key '%s' cannot be read", path);
    }
    return 0;
}

EVP_PKEY *cbx_audit_key_of(const uint8_t bytes[CBX_AUDIT_PUBLIC_BYTES])
{
    return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes, CBX_AUDIT_PUBLIC_BYTES);
}

static void format_change(const uint8_t old_key[CBX_AUDIT_PUBLIC_BYTES],
                          const uint8_t new_key[CBX_AUDIT_PUBLIC_BYTES], char out[256])
{
    char from[2 * CBX_AUDIT_PUBLIC_BYTES + 1], to[2 * CBX_AUDIT_PUBLIC_BYTES + 1];
    cbx_hex_encode(old_key, CBX_AUDIT_PUBLIC_BYTES, from);
    cbx_hex_encode(new_key, CBX_AUDIT_PUBLIC_BYTES, to);
    snprintf(out, 256, "codebox-audit-key 1 %s %s", from, to);
}

enum { SIGNATURE_BYTES = CBX_AUDIT_SIGNATURE_HEX / 2 };

bool cbx_audit_sign_key_change(EVP_PKEY *key, const uint8_t old_key[CBX_AUDIT_PUBLIC_BYTES],
                               const uint8_t new_key[CBX_AUDIT_PUBLIC_BYTES],
                               char out[CBX_AUDIT_SIGNATURE_HEX + 1])
{
    uint8_t signature[SIGNATURE_BYTES];
    size_t len = sizeof(signature);
    char text[256];
    format_change(old_key, new_key, text);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok = context != NULL && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestSign(context, signature, &len, (const uint8_t *)text, strlen(text)) == 1 &&
              len == sizeof(signature);
    EVP_MD_CTX_free(context);
    if (ok) {
        cbx_hex_encode(signature, sizeof(signature), out);
    }
    return ok;
}

bool cbx_audit_key_change_is_signed(const uint8_t old_key[CBX_AUDIT_PUBLIC_BYTES],
                                    const uint8_t new_key[CBX_AUDIT_PUBLIC_BYTES],
                                    struct cbx_str hex)
{
    uint8_t signature[SIGNATURE_BYTES];
    char text[256];
    if (hex.len != 2 * SIGNATURE_BYTES || !cbx_hex_decode(hex, signature, SIGNATURE_BYTES)) {
        return false;
    }
    format_change(old_key, new_key, text);
    EVP_PKEY *key = cbx_audit_key_of(old_key);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok = key != NULL && context != NULL &&
              EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestVerify(context, signature, SIGNATURE_BYTES, (const uint8_t *)text,
                               strlen(text)) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return ok;
}
