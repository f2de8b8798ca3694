/* SPDX-License-Identifier: MIT
 * Certificates of the HTTPS servers: accepted ones; a damaged one leaves the previous one in
 * use. */
#include "gateway/front/http/tls.h"
#include "tests/unit/unit.h"

#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>

enum { NOW_S = 1800000000, DAY_S = 24 * 3600, PEM_MAX = 16 * 1024 };

/* A certificate that signs itself, and its key. */
struct made {
    char chain[PEM_MAX], key[PEM_MAX];
};

static void assert_good(int status)
{
    if (status < 0) {
        fail_msg("%s", gnutls_strerror(status));
    }
}

static void make_certificate(struct made *out, gnutls_pk_algorithm_t algorithm, unsigned bits,
                             int64_t from_s, int64_t until_s)
{
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t crt;
    size_t chain_size = sizeof(out->chain), key_size = sizeof(out->key);
    assert_good(gnutls_x509_privkey_init(&key));
    assert_good(gnutls_x509_crt_init(&crt));
    assert_good(gnutls_x509_privkey_generate(key, algorithm, bits, 0));
    assert_good(gnutls_x509_crt_set_version(crt, 3));
    assert_good(gnutls_x509_crt_set_serial(crt, "\1", 1));
    assert_good(gnutls_x509_crt_set_dn(crt, "CN=localhost", NULL));
    assert_good(gnutls_x509_crt_set_activation_time(crt, from_s));
    assert_good(gnutls_x509_crt_set_expiration_time(crt, until_s));
    assert_good(gnutls_x509_crt_set_key(crt, key));
    assert_good(gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0));
    assert_good(gnutls_x509_crt_export(crt, GNUTLS_X509_FMT_PEM, out->chain, &chain_size));
    assert_good(gnutls_x509_privkey_export(key, GNUTLS_X509_FMT_PEM, out->key, &key_size));
    out->chain[chain_size] = out->key[key_size] = '\0';
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(key);
}

static void make_ordinary(struct made *out, int64_t until_s)
{
    make_certificate(out, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
                     NOW_S - DAY_S, until_s);
}

static int write_made(const char *chain, const char *key, struct cbx_buf *out, struct cbx_err *err)
{
    cbx_buf_init(out, 4 * PEM_MAX);
    return cbx_tls_write(cbx_str_of(chain), cbx_str_of(key), NOW_S, out, err);
}

static void assert_refused(const char *chain, const char *key, const char *text)
{
    CBX_AUTO_DONE(buf) out;
    struct cbx_err err = { 0 };
    assert_int_equal(write_made(chain, key, &out, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, text));
    assert_int_equal(out.len, 0);
}

static void a_certificate_of_today_with_its_key_is_taken(void **state)
{
    (void)state;
    static struct made made;
    CBX_AUTO_DONE(buf) out;
    struct cbx_err err = { 0 };
    make_ordinary(&made, NOW_S + DAY_S);
    assert_int_equal(write_made(made.chain, made.key, &out, &err), 0);
    assert_int_equal(cbx_tls_use(cbx_buf_str(&out), &err), 0);
    assert_int_equal(cbx_tls_expires_s(), NOW_S + DAY_S);
}

static void one_that_is_not_of_today_is_refused(void **state)
{
    (void)state;
    static struct made made;
    make_ordinary(&made, NOW_S);
    assert_refused(made.chain, made.key, "expired on 2027-01-15 08:00:00 UTC");
    make_certificate(&made, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
                     NOW_S + 1, NOW_S + DAY_S);
    assert_refused(made.chain, made.key, "is not valid before 2027-01-15 08:00:01 UTC");
}

static void a_key_that_is_weak_or_of_another_certificate_is_refused(void **state)
{
    (void)state;
    static struct made made, other;
    make_certificate(&made, GNUTLS_PK_RSA, 1024, NOW_S - DAY_S, NOW_S + DAY_S);
    assert_refused(made.chain, made.key, "has 1024 bits, too few");
    make_ordinary(&made, NOW_S + DAY_S);
    make_ordinary(&other, NOW_S + DAY_S);
    assert_refused(made.chain, other.key, "cannot be used");
    assert_refused(made.chain, "", "cannot be used");
    assert_refused("", made.key, "cannot be read");
    assert_refused(made.key, made.key, "cannot be read");
}

/* The server sends the chain in its order, whatever the order in the file. */
static void foreign_certificates_behind_it_are_no_chain_of_it(void **state)
{
    (void)state;
    static struct made made, other;
    static char both[2 * PEM_MAX];
    CBX_AUTO_DONE(buf) out;
    make_ordinary(&made, NOW_S + DAY_S);
    make_ordinary(&other, NOW_S + DAY_S);
    snprintf(both, sizeof(both), "%s%s", other.chain, made.chain);
    assert_refused(both, made.key, "cannot be used");
    snprintf(both, sizeof(both), "%s%s", made.chain, other.chain);
    assert_int_equal(write_made(both, made.key, &out, NULL), 0);
}

static void a_file_that_is_too_large_is_refused(void **state)
{
    (void)state;
    static char large[CBX_TLS_PEM_MAX + 2];
    CBX_AUTO_DONE(buf) out;
    memset(large, '-', sizeof(large) - 1);
    assert_int_equal(write_made(large, "", &out, NULL), CBX_ETOOBIG);
}

static void damaged_bytes_leave_in_use_what_is(void **state)
{
    (void)state;
    static struct made made;
    CBX_AUTO_DONE(buf) out;
    make_ordinary(&made, NOW_S + 2 * DAY_S);
    assert_int_equal(write_made(made.chain, made.key, &out, NULL), 0);
    assert_int_equal(cbx_tls_use(cbx_buf_str(&out), NULL), 0);
    for (size_t len = 0; len < out.len; len += 7) {
        assert_int_equal(cbx_tls_use(cbx_str_sub(cbx_buf_str(&out), 0, len), NULL), CBX_EPROTO);
    }
    memset(out.p, 0xFF, 16);
    assert_int_equal(cbx_tls_use(cbx_buf_str(&out), NULL), CBX_EPROTO);
    assert_int_equal(cbx_tls_expires_s(), NOW_S + 2 * DAY_S);
}

/* A key that is stolen later decrypts no recorded connection, and no suite without AEAD is
 * negotiated. */
static void every_suite_has_forward_secrecy_and_authenticates_what_it_encrypts(void **state)
{
    (void)state;
    gnutls_priority_t priorities;
    assert_good(gnutls_priority_init(&priorities, cbx_tls_priorities, NULL));
    const unsigned *list = NULL;
    int n = gnutls_priority_kx_list(priorities, &list);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        assert_int_not_equal(list[i], GNUTLS_KX_RSA);
        assert_int_not_equal(list[i], GNUTLS_KX_PSK);
    }
    n = gnutls_priority_cipher_list(priorities, &list);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        const char *name = gnutls_cipher_get_name(list[i]);
        assert_true(strstr(name, "GCM") != NULL || strstr(name, "CHACHA20") != NULL);
    }
    n = gnutls_priority_group_list(priorities, &list);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        assert_int_not_equal(list[i], GNUTLS_GROUP_FFDHE2048);
    }
    n = gnutls_priority_protocol_list(priorities, &list);
    for (int i = 0; i < n; i++) {
        assert_true(list[i] == GNUTLS_TLS1_2 || list[i] == GNUTLS_TLS1_3);
    }
    gnutls_priority_deinit(priorities);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_certificate_of_today_with_its_key_is_taken),
        cmocka_unit_test(one_that_is_not_of_today_is_refused),
        cmocka_unit_test(a_key_that_is_weak_or_of_another_certificate_is_refused),
        cmocka_unit_test(foreign_certificates_behind_it_are_no_chain_of_it),
        cmocka_unit_test(a_file_that_is_too_large_is_refused),
        cmocka_unit_test(damaged_bytes_leave_in_use_what_is),
        cmocka_unit_test(every_suite_has_forward_secrecy_and_authenticates_what_it_encrypts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
