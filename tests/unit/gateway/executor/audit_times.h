/* SPDX-License-Identifier: MIT
 * A log whose records have times chosen by a test: the real writer with another clock. */
#ifndef CBX_TESTS_UNIT_GATEWAY_EXECUTOR_AUDIT_TIMES_H
#define CBX_TESTS_UNIT_GATEWAY_EXECUTOR_AUDIT_TIMES_H

#include "tests/unit/gateway/executor/audit_log.h"

#include <openssl/pem.h>

/* The signing key of the log, the caller's. */
static inline EVP_PKEY *read_signing_key(const char *dir)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_KEY, dir);
    CBX_AUTO_FILE f = fopen(path, "re");
    assert_non_null(f);
    EVP_PKEY *key = PEM_read_PrivateKey(f, NULL, NULL, NULL);
    assert_non_null(key);
    return key;
}

/* Writes records with these times into a new log, behind `chain`, and signs its head. `notes`: they
 * say when the clock was set back, as records do. */
static inline void write_times(const char *dir, const char *file, struct cbx_chain *chain,
                               const int64_t *times, size_t count, bool notes)
{
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_DONE(buf) head;
    CBX_AUTO_JSON body = json_pack("{s:i}", "n", 1);
    append_many(dir, 0); /* makes the key */
    cbx_buf_init(&text, 1 << 20);
    cbx_buf_init(&head, 1024);
    for (size_t i = 0; i < count; i++) {
        if (!notes) {
            chain->time_ms = 0;
        }
        assert_int_equal(cbx_chain_add(chain, "note", body, times[i], &text), 0);
    }
    EVP_PKEY *key = read_signing_key(dir);
    assert_int_equal(cbx_chain_sign(chain, key, &head), 0);
    EVP_PKEY_free(key);
    scratch_write(dir, file, cbx_buf_str(&text));
    scratch_write(dir, CBX_AUDIT_HEAD, cbx_buf_str(&head));
}

#endif
