/* SPDX-License-Identifier: MIT
 * Certificates of the HTTPS servers. */
#include "gateway/front/http/tls.h"

#include "policies/base/memory.h"

#include <gnutls/x509.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The group FFDHE2048 has 112 bits. */
const char cbx_tls_priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-AES-128-CBC:"
                                  "-AES-256-CBC:-AES-128-CCM:-AES-256-CCM:-GROUP-FFDHE2048:"
                                  "%SERVER_PRECEDENCE";

enum { CHAIN_MAX = 16 };

struct certificate {
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned count;
    gnutls_privkey_t key;
    int64_t expires_s;
    struct certificate *before; /* a handshake in progress may still use it, so none is freed */
};

static struct certificate *_Atomic in_use;

/* Header of the PEM texts. Writer and reader are the same program. */
struct head {
    uint64_t chain_bytes, key_bytes;
};

static gnutls_datum_t datum_of(struct cbx_str text)
{
    return (gnutls_datum_t){ .data = (unsigned char *)(uintptr_t)text.p,
                             .size = (unsigned)text.len };
}

/* --- checking --------------------------------------------------------------------------------- */

static int fail(struct cbx_err *err, const char *what, int status)
{
    return cbx_fail(err, CBX_EINVAL, "%s: %s", what, gnutls_strerror(status));
}

/* GnuTLS compares the key with the certificate. */
static int check_pair(const gnutls_datum_t *chain, const gnutls_datum_t *key, struct cbx_err *err)
{
    gnutls_certificate_credentials_t credentials;
    if (gnutls_certificate_allocate_credentials(&credentials) < 0) {
        abort();
    }
    int status = gnutls_certificate_set_x509_key_mem2(credentials, chain, key, GNUTLS_X509_FMT_PEM,
                                                      NULL, GNUTLS_PKCS_PLAIN);
    gnutls_certificate_free_credentials(credentials);
    if (status < 0) {
        return fail(err, "the certificate and its key cannot be used", status);
    }
    return 0;
}

static int check_time(gnutls_x509_crt_t leaf, int64_t now_s, struct cbx_err *err)
{
    time_t from = gnutls_x509_crt_get_activation_time(leaf);
    time_t until = gnutls_x509_crt_get_expiration_time(leaf);
    bool early = now_s < from;
    if (!early && now_s < until) {
        return 0;
    }
    char text[32] = "";
    struct tm parts;
    if (gmtime_r(early ? &from : &until, &parts) != NULL) {
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts);
    }
    return cbx_fail(err, CBX_EINVAL, "the certificate %s %s",
                    early ? "is not valid before" : "expired on", text);
}

static int check_strength(gnutls_x509_crt_t leaf, struct cbx_err *err)
{
    unsigned bits = 0;
    int algorithm = gnutls_x509_crt_get_pk_algorithm(leaf, &bits);
    int signature = gnutls_x509_crt_get_signature_algorithm(leaf);
    if (algorithm < 0 || gnutls_pk_bits_to_sec_param((gnutls_pk_algorithm_t)algorithm, bits) <
                             GNUTLS_SEC_PARAM_MEDIUM) {
        return cbx_fail(err, CBX_EINVAL,
                        "the certificate's key has %u bits, too few; allowed is RSA of 2048 bits "
                        "and more, EC on P-256 and larger curves, Ed25519",
                        bits);
    }
    if (signature < 0 || gnutls_sign_is_secure((gnutls_sign_algorithm_t)signature) == 0) {
        return cbx_fail(err, CBX_EINVAL, "the certificate is signed with %s, which is broken",
                        signature < 0 ? "an unknown algorithm"
                                      : gnutls_sign_get_name((gnutls_sign_algorithm_t)signature));
    }
    return 0;
}

static int check_leaf(const gnutls_datum_t *chain, int64_t now_s, struct cbx_err *err)
{
    gnutls_x509_crt_t leaf;
    if (gnutls_x509_crt_init(&leaf) < 0) {
        abort();
    }
    int status = gnutls_x509_crt_import(leaf, chain, GNUTLS_X509_FMT_PEM);
    int failed;
    if (status < 0) {
        failed = fail(err, "the certificate cannot be read", status);
    } else {
        failed = check_time(leaf, now_s, err);
    }
    if (!failed) {
        failed = check_strength(leaf, err);
    }
    gnutls_x509_crt_deinit(leaf);
    return failed;
}

static void free_certificate(struct certificate *certificate)
{
    for (unsigned i = 0; i < certificate->count; i++) {
        gnutls_pcert_deinit(&certificate->chain[i]);
    }
    if (certificate->key != NULL) {
        gnutls_privkey_deinit(certificate->key);
    }
    free(certificate);
}

/* Returns a status of gnutls. */
static int import(const gnutls_datum_t *chain, const gnutls_datum_t *key, gnutls_x509_crt_t leaf,
                  struct certificate *made)
{
    made->count = CHAIN_MAX;
    int status = gnutls_pcert_list_import_x509_raw(made->chain, &made->count, chain,
                                                   GNUTLS_X509_FMT_PEM, GNUTLS_X509_CRT_LIST_SORT);
    if (status < 0) {
        made->count = 0;
        return status;
    }
    status = gnutls_privkey_import_x509_raw(made->key, key, GNUTLS_X509_FMT_PEM, NULL,
                                            GNUTLS_PKCS_PLAIN);
    if (status < 0) {
        return status;
    }
    status = gnutls_x509_crt_import(leaf, chain, GNUTLS_X509_FMT_PEM);
    if (status < 0) {
        return status;
    }
    made->expires_s = gnutls_x509_crt_get_expiration_time(leaf);
    return 0;
}

static int read_certificate(const gnutls_datum_t *chain, const gnutls_datum_t *key,
                            struct certificate **out, struct cbx_err *err)
{
    struct certificate *made = cbx_new(sizeof(*made));
    gnutls_x509_crt_t leaf;
    if (gnutls_privkey_init(&made->key) < 0 || gnutls_x509_crt_init(&leaf) < 0) {
        abort();
    }
    int status = import(chain, key, leaf, made);
    gnutls_x509_crt_deinit(leaf);
    if (status < 0) {
        free_certificate(made);
        return fail(err, "the certificates of the file are no chain that can be used", status);
    }
    *out = made;
    return 0;
}

int cbx_tls_write(struct cbx_str chain, struct cbx_str key, int64_t now_s, struct cbx_buf *out,
                  struct cbx_err *err)
{
    const struct head head = { .chain_bytes = chain.len, .key_bytes = key.len };
    struct certificate *read = NULL;
    if (chain.len > CBX_TLS_PEM_MAX || key.len > CBX_TLS_PEM_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "a file of certificates or keys has at most %d bytes",
                        CBX_TLS_PEM_MAX);
    }
    gnutls_datum_t chain_datum = datum_of(chain), key_datum = datum_of(key);
    int failed = check_leaf(&chain_datum, now_s, err);
    if (failed) {
        return failed;
    }
    failed = check_pair(&chain_datum, &key_datum, err);
    if (failed) {
        return failed;
    }
    failed = read_certificate(&chain_datum, &key_datum, &read, err);
    if (failed) {
        return failed;
    }
    free_certificate(read);
    cbx_buf_add_bytes(out, &head, sizeof(head));
    cbx_buf_add(out, chain);
    cbx_buf_add(out, key);
    if (out->overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "certificate and key are too large");
    }
    return 0;
}

/* --- using ------------------------------------------------------------------------------------ */

int cbx_tls_use(struct cbx_str bytes, struct cbx_err *err)
{
    struct head head;
    struct certificate *read = NULL;
    if (bytes.len < sizeof(head)) {
        return cbx_fail(err, CBX_EPROTO, "the certificate is damaged");
    }
    memcpy(&head, bytes.p, sizeof(head));
    if (head.chain_bytes > CBX_TLS_PEM_MAX || head.key_bytes > CBX_TLS_PEM_MAX ||
        head.chain_bytes + head.key_bytes != bytes.len - sizeof(head)) {
        return cbx_fail(err, CBX_EPROTO, "the certificate is damaged");
    }
    struct cbx_str pem = cbx_str_sub(bytes, sizeof(head), bytes.len);
    gnutls_datum_t chain = datum_of(cbx_str_sub(pem, 0, head.chain_bytes));
    gnutls_datum_t key = datum_of(cbx_str_sub(pem, head.chain_bytes, pem.len));
    if (read_certificate(&chain, &key, &read, err) != 0) {
        return CBX_EPROTO;
    }
    read->before = in_use;
    in_use = read;
    return 0;
}

int64_t cbx_tls_expires_s(void)
{
    const struct certificate *certificate = in_use;
    return certificate != NULL ? certificate->expires_s : 0;
}

int cbx_tls_give(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
                 const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                 gnutls_pcert_st **chain, unsigned *count, gnutls_privkey_t *key)
{
    struct certificate *certificate = in_use;
    (void)session;
    (void)authorities;
    (void)authority_count;
    (void)algorithms;
    (void)algorithm_count;
    if (certificate == NULL) {
        return -1;
    }
    *chain = certificate->chain;
    *count = certificate->count;
    *key = certificate->key;
    return 0;
}
