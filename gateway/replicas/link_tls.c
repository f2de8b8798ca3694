/* SPDX-License-Identifier: MIT
 * TLS of links, by libssl. The side that accepts sends one byte after it has checked the other
 * one: in TLS 1.3 the connecting side ends its handshake before that check. */
#include "gateway/replicas/link_tls.h"

#include "policies/base/time/clock.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <string.h>

enum { CHAIN_MAX = 16, AUTHORITIES_MAX = 64, ACCEPTED = '+' };

/* Header of the PEM texts. Writer and reader are the same program. */
struct head {
    uint64_t certificate_bytes, authorities_bytes, key_bytes;
};

/* What the PEM texts have. */
struct parsed {
    X509 *leaf;
    STACK_OF(X509) * chain, *authorities;
    EVP_PKEY *key;
};

static void parsed_done(struct parsed *p)
{
    X509_free(p->leaf);
    sk_X509_pop_free(p->chain, X509_free);
    sk_X509_pop_free(p->authorities, X509_free);
    EVP_PKEY_free(p->key);
    ERR_clear_error();
}

static int fail_ssl(const char *what, struct cbx_err *err)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return cbx_fail(err, CBX_EINVAL, "%s: %s", what, reason != NULL ? reason : "it is malformed");
}

/* --- reading ---------------------------------------------------------------------------------- */

static STACK_OF(X509) * read_certificates(struct cbx_str pem, int max)
{
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.len);
    STACK_OF(X509) *all = sk_X509_new_null();
    X509 *one = NULL;
    while (bio != NULL && all != NULL && sk_X509_num(all) < max &&
           (one = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
        sk_X509_push(all, one);
    }
    BIO_free(bio);
    return all;
}

/* A key with a passphrase would ask for it on the terminal. */
static int no_passphrase(char *out, int size, int writes, void *context)
{
    (void)out;
    (void)size;
    (void)writes;
    (void)context;
    return -1;
}

static int parse(const struct cbx_link_pem *pem, struct parsed *out, struct cbx_err *err)
{
    out->chain = read_certificates(pem->certificate, CHAIN_MAX);
    out->authorities = read_certificates(pem->authorities, AUTHORITIES_MAX);
    if (out->chain == NULL || sk_X509_num(out->chain) == 0) {
        return fail_ssl("--peer-certificate has no certificate in PEM", err);
    }
    if (out->authorities == NULL || sk_X509_num(out->authorities) == 0) {
        return fail_ssl("--peer-ca has no certificate in PEM", err);
    }
    ERR_clear_error(); /* the end of each text is an error of the library */
    out->leaf = sk_X509_shift(out->chain);
    BIO *bio = BIO_new_mem_buf(pem->key.p, (int)pem->key.len);
    out->key = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;
    BIO_free(bio);
    if (out->key == NULL) {
        return fail_ssl("--peer-key is no private key in PEM without a passphrase", err);
    }
    return 0;
}

/* --- checking --------------------------------------------------------------------------------- */

static int check_chain(const struct parsed *p, struct cbx_err *err)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    bool made = store != NULL && context != NULL;
    for (int i = 0; made && i < sk_X509_num(p->authorities); i++) {
        X509_STORE_add_cert(store, sk_X509_value(p->authorities, i));
    }
    made = made && X509_STORE_CTX_init(context, store, p->leaf, p->chain) == 1;
    bool good = made && X509_verify_cert(context) == 1;
    long reason = made ? X509_STORE_CTX_get_error(context) : X509_V_ERR_OUT_OF_MEM;
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    if (good) {
        return 0;
    }
    return cbx_fail(err, CBX_EINVAL,
                    "--peer-certificate is not accepted by the authorities of --peer-ca: %s",
                    X509_verify_cert_error_string(reason));
}

static int check(const struct parsed *p, const char *own_name, struct cbx_err *err)
{
    if (X509_check_private_key(p->leaf, p->key) != 1) {
        ERR_clear_error();
        return cbx_fail(err, CBX_EINVAL, "--peer-key is not the key of --peer-certificate");
    }
    int failed = check_chain(p, err);
    if (failed) {
        return failed;
    }
    if (X509_check_host(p->leaf, own_name, 0, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) != 1) {
        return cbx_fail(err, CBX_EINVAL,
                        "--peer-certificate is not for this replica: its subjectAltName needs "
                        "DNS:%s, the name of --replica",
                        own_name);
    }
    if (X509_check_purpose(p->leaf, X509_PURPOSE_SSL_SERVER, 0) != 1 ||
        X509_check_purpose(p->leaf, X509_PURPOSE_SSL_CLIENT, 0) != 1) {
        return cbx_fail(err, CBX_EINVAL,
                        "--peer-certificate is not for both sides of a connection: its extended "
                        "key usage needs serverAuth and clientAuth");
    }
    return 0;
}

int cbx_link_write(const struct cbx_link_pem *pem, const char *own_name, struct cbx_buf *out,
                   struct cbx_err *err)
{
    const struct head head = { .certificate_bytes = pem->certificate.len,
                               .authorities_bytes = pem->authorities.len,
                               .key_bytes = pem->key.len };
    struct parsed parsed = { .leaf = NULL };
    if (pem->certificate.len > CBX_LINK_PEM_MAX || pem->key.len > CBX_LINK_PEM_MAX ||
        pem->authorities.len > CBX_LINK_PEM_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "a file of certificates or keys has at most %d bytes",
                        CBX_LINK_PEM_MAX);
    }
    int failed = parse(pem, &parsed, err);
    if (!failed) {
        failed = check(&parsed, own_name, err);
    }
    parsed_done(&parsed);
    if (failed) {
        return failed;
    }
    cbx_buf_add_bytes(out, &head, sizeof(head));
    cbx_buf_add(out, pem->certificate);
    cbx_buf_add(out, pem->authorities);
    cbx_buf_add(out, pem->key); /* the last one: a buffer that grows leaves its bytes behind */
    if (out->overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "certificate, key and authorities are too large");
    }
    return 0;
}

/* --- settings --------------------------------------------------------------------------------- */

static int split(struct cbx_str bytes, struct cbx_link_pem *out, struct cbx_err *err)
{
    struct head head;
    bool good = bytes.len >= sizeof(head);
    if (good) {
        memcpy(&head, bytes.p, sizeof(head));
        good = head.certificate_bytes <= CBX_LINK_PEM_MAX && head.key_bytes <= CBX_LINK_PEM_MAX &&
               head.authorities_bytes <= CBX_LINK_PEM_MAX &&
               head.certificate_bytes + head.key_bytes + head.authorities_bytes ==
                   bytes.len - sizeof(head);
    }
    if (!good) {
        return cbx_fail(err, CBX_EPROTO, "the certificate of the replica is damaged");
    }
    struct cbx_str texts = cbx_str_sub(bytes, sizeof(head), bytes.len);
    out->certificate = cbx_str_sub(texts, 0, head.certificate_bytes);
    texts = cbx_str_sub(texts, head.certificate_bytes, texts.len);
    out->authorities = cbx_str_sub(texts, 0, head.authorities_bytes);
    out->key = cbx_str_sub(texts, head.authorities_bytes, texts.len);
    return 0;
}

/* The system's authorities certify nothing here, and a session is not resumed, so each connection
 * is checked as a whole. */
static SSL_CTX *make_settings(const SSL_METHOD *method, const struct parsed *p)
{
    SSL_CTX *settings = SSL_CTX_new(method);
    bool ok = settings != NULL && SSL_CTX_set_min_proto_version(settings, TLS1_3_VERSION) == 1 &&
              SSL_CTX_use_certificate(settings, p->leaf) == 1 &&
              SSL_CTX_use_PrivateKey(settings, p->key) == 1;
    for (int i = 0; ok && i < sk_X509_num(p->chain); i++) {
        ok = SSL_CTX_add1_chain_cert(settings, sk_X509_value(p->chain, i)) == 1;
    }
    for (int i = 0; ok && i < sk_X509_num(p->authorities); i++) {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(settings), sk_X509_value(p->authorities, i));
    }
    if (!ok) {
        SSL_CTX_free(settings);
        return NULL;
    }
    SSL_CTX_set_verify(settings, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_mode(settings, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                   SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_session_cache_mode(settings, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(settings, 0);
    return settings;
}

int cbx_link_tls_new(struct cbx_str bytes, const struct cbx_replicas *replicas,
                     struct cbx_link_tls *out, struct cbx_err *err)
{
    struct cbx_link_pem pem;
    struct parsed parsed = { .leaf = NULL };
    int failed = split(bytes, &pem, err);
    if (failed) {
        return failed;
    }
    failed = parse(&pem, &parsed, err);
    if (!failed) {
        *out = (struct cbx_link_tls){ .server = make_settings(TLS_server_method(), &parsed),
                                      .client = make_settings(TLS_client_method(), &parsed),
                                      .replicas = replicas };
        if (out->server == NULL || out->client == NULL) {
            failed = fail_ssl("the certificate of the replica cannot be used", err);
        }
    }
    parsed_done(&parsed);
    return failed ? CBX_EPROTO : 0;
}

/* --- handshakes ------------------------------------------------------------------------------- */

static int fail_link(SSL *tls, const char *what, struct cbx_err *err)
{
    long verified = SSL_get_verify_result(tls);
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    if (verified != X509_V_OK) {
        reason = X509_verify_cert_error_string(verified);
    }
    return cbx_fail(err, CBX_EIO, "%s: %s", what,
                    reason != NULL ? reason : "the connection ended, or took too long");
}

/* Waits for the event that a call of the library needs; false if the call failed, or after the
 * deadline. */
static bool wait_for(SSL *tls, int result, int64_t until_ms)
{
    int reason = SSL_get_error(tls, result);
    struct pollfd ready = { .fd = SSL_get_fd(tls),
                            .events = reason == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN };
    int64_t left = until_ms - cbx_clock_ms();
    if ((reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE) || left <= 0) {
        return false;
    }
    return poll(&ready, 1, (int)left) >= 0;
}

static int shake_hands(SSL *tls, int64_t until_ms, struct cbx_err *err)
{
    int result;
    while ((result = SSL_do_handshake(tls)) != 1) {
        if (!wait_for(tls, result, until_ms)) {
            return fail_link(tls, "TLS", err);
        }
    }
    return 0;
}

static int await_acceptance(SSL *tls, int64_t until_ms, struct cbx_err *err)
{
    char byte = 0;
    int result;
    while ((result = SSL_read(tls, &byte, 1)) != 1) {
        if (!wait_for(tls, result, until_ms)) {
            return fail_link(tls, "the replica does not accept this one", err);
        }
    }
    if (byte != ACCEPTED) {
        return cbx_fail(err, CBX_EIO, "the server is no replica");
    }
    return 0;
}

int cbx_link_connect(const struct cbx_link_tls *tls, int fd, const struct cbx_replica *replica,
                     SSL **out, struct cbx_err *err)
{
    int64_t until_ms = cbx_clock_ms() + CBX_LINK_HANDSHAKE_MS;
    SSL *made = SSL_new(tls->client);
    if (made == NULL || SSL_set_fd(made, fd) != 1 || SSL_set1_host(made, replica->name) != 1 ||
        SSL_set_tlsext_host_name(made, replica->name) != 1) {
        SSL_free(made);
        return cbx_fail(err, CBX_EIO, "TLS cannot begin");
    }
    SSL_set_hostflags(made, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    SSL_set_connect_state(made);
    int failed = shake_hands(made, until_ms, err);
    if (!failed) {
        failed = await_acceptance(made, until_ms, err);
    }
    if (failed) {
        SSL_free(made);
        return failed;
    }
    *out = made;
    return 0;
}

/* The authority may have certified others than replicas. */
static bool is_replica(const struct cbx_link_tls *tls, SSL *link)
{
    X509 *certificate = SSL_get0_peer_certificate(link);
    for (size_t i = 0; certificate != NULL && i < tls->replicas->count; i++) {
        if (X509_check_host(certificate, tls->replicas->others[i].name, 0,
                            X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) == 1) {
            return true;
        }
    }
    return false;
}

static int accept_replica(const struct cbx_link_tls *tls, SSL *link, struct cbx_err *err)
{
    static const char accepted = ACCEPTED;
    int64_t until_ms = cbx_clock_ms() + CBX_LINK_HANDSHAKE_MS;
    int failed = shake_hands(link, until_ms, err);
    if (failed) {
        return failed;
    }
    if (!is_replica(tls, link)) {
        return cbx_fail(err, CBX_EIO,
                        "the certificate of the other end has the name of no replica of --peer");
    }
    int result;
    while ((result = SSL_write(link, &accepted, 1)) != 1) {
        if (!wait_for(link, result, until_ms)) {
            return fail_link(link, "TLS", err);
        }
    }
    return 0;
}

int cbx_link_accept(const struct cbx_link_tls *tls, int fd, SSL **out, struct cbx_err *err)
{
    SSL *made = SSL_new(tls->server);
    if (made == NULL || SSL_set_fd(made, fd) != 1) {
        SSL_free(made);
        return cbx_fail(err, CBX_EIO, "TLS cannot begin");
    }
    SSL_set_accept_state(made);
    int failed = accept_replica(tls, made, err);
    if (failed) {
        SSL_free(made);
        return failed;
    }
    *out = made;
    return 0;
}
