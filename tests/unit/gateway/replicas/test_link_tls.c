/* SPDX-License-Identifier: MIT
 * Links: who is accepted, and bytes through a tunnel. */
#include "gateway/replicas/link_tls.h"
#include "gateway/replicas/link_tunnel.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Certificates that the tests make: an authority, and what it certifies. */
struct made {
    EVP_PKEY *key;
    X509 *certificate;
    char *pem, *key_pem;
};

static char *pem_of(X509 *certificate, EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *bytes;
    if (certificate != NULL) {
        PEM_write_bio_X509(bio, certificate);
    } else {
        PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    }
    long len = BIO_get_mem_data(bio, &bytes);
    char *copy = strndup(bytes, (size_t)len);
    BIO_free(bio);
    return copy;
}

static void extend(X509 *certificate, int nid, const char *value)
{
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    X509_add_ext(certificate, e, -1);
    X509_EXTENSION_free(e);
}

/* Signed by `authority`; NULL = by itself, as an authority. */
static struct made make(const char *name, const struct made *authority, const char *usage,
                        long valid_s)
{
    struct made m = { .key = EVP_EC_gen("P-256"), .certificate = X509_new() };
    X509_NAME *subject = X509_NAME_new();
    char san[100];
    snprintf(san, sizeof(san), "DNS:%s", name);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
    X509_set_version(m.certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(m.certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(m.certificate), -100000);
    X509_gmtime_adj(X509_getm_notAfter(m.certificate), valid_s);
    X509_set_pubkey(m.certificate, m.key);
    X509_set_subject_name(m.certificate, subject);
    X509_set_issuer_name(
        m.certificate, authority != NULL ? X509_get_subject_name(authority->certificate) : subject);
    X509_NAME_free(subject);
    if (authority == NULL) {
        extend(m.certificate, NID_basic_constraints, "critical,CA:TRUE");
    } else {
        extend(m.certificate, NID_subject_alt_name, san);
        extend(m.certificate, NID_ext_key_usage, usage);
    }
    X509_sign(m.certificate, authority != NULL ? authority->key : m.key, EVP_sha256());
    m.pem = pem_of(m.certificate, NULL);
    m.key_pem = pem_of(NULL, m.key);
    return m;
}

static void drop(struct made *m)
{
    EVP_PKEY_free(m->key);
    X509_free(m->certificate);
    free(m->pem);
    free(m->key_pem);
}

enum { AUTHORITY, STRANGER, A, B, OTHER, FOREIGN, OLD, SERVER, MADE };
static struct made made[MADE];
static struct cbx_replicas at_a, at_b;
#define BOTH    "serverAuth,clientAuth"
#define A_DAY_S 86400

static int begin(void **state)
{
    static const char *const rows[] = { "a=h:1", "b=h:2" };
    struct cbx_err err;
    (void)state;
    signal(SIGPIPE, SIG_IGN); /* as in the process */
    made[AUTHORITY] = make("authority", NULL, NULL, A_DAY_S);
    made[STRANGER] = make("authority", NULL, NULL, A_DAY_S);
    made[A] = make("a", &made[AUTHORITY], BOTH, A_DAY_S);
    made[B] = make("b", &made[AUTHORITY], BOTH, A_DAY_S);
    made[OTHER] = make("other", &made[AUTHORITY], BOTH, A_DAY_S);
    made[FOREIGN] = make("b", &made[STRANGER], BOTH, A_DAY_S);
    made[OLD] = make("a", &made[AUTHORITY], BOTH, -1000);
    made[SERVER] = make("a", &made[AUTHORITY], "serverAuth", A_DAY_S);
    return cbx_replicas_read("a", rows, 2, &at_a, &err) != 0 ||
           cbx_replicas_read("b", rows, 2, &at_b, &err) != 0;
}

static int end(void **state)
{
    (void)state;
    for (size_t i = 0; i < MADE; i++) {
        drop(&made[i]);
    }
    return 0;
}

static int write_pem(int certificate, int key, int authority, const char *name, struct cbx_buf *out,
                     struct cbx_err *err)
{
    const struct cbx_link_pem pem = { .certificate = cbx_str_of(made[certificate].pem),
                                      .key = cbx_str_of(made[key].key_pem),
                                      .authorities = cbx_str_of(made[authority].pem) };
    cbx_buf_init(out, 1 << 20);
    return cbx_link_write(&pem, name, out, err);
}

static void refuses_a_certificate_that_replicas_would_refuse(void **state)
{
    (void)state;
    static const struct {
        int certificate, key, authority;
        const char *name, *text;
    } cases[] = {
        { A, A, AUTHORITY, "a", NULL },
        { A, B, AUTHORITY, "a", "is not the key of" },
        { A, A, STRANGER, "a", "not accepted by the authorities" },
        { FOREIGN, FOREIGN, AUTHORITY, "b", "not accepted by the authorities" },
        { B, B, AUTHORITY, "a", "needs DNS:a" },
        { OLD, OLD, AUTHORITY, "a", "expired" },
        { SERVER, SERVER, AUTHORITY, "a", "serverAuth and clientAuth" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        struct cbx_err err = { 0 };
        int failed = write_pem(cases[i].certificate, cases[i].key, cases[i].authority,
                               cases[i].name, &out, &err);
        assert_int_equal(failed, cases[i].text != NULL ? CBX_EINVAL : 0);
        assert_true(cases[i].text == NULL || strstr(err.text, cases[i].text) != NULL);
        assert_true((out.len > 0) == (cases[i].text == NULL));
    }
    const struct cbx_link_pem none = { .certificate = CBX_STR("x"),
                                       .key = CBX_STR("x"),
                                       .authorities = CBX_STR("x") };
    CBX_AUTO_DONE(buf) out;
    struct cbx_err err = { 0 };
    cbx_buf_init(&out, 1 << 20);
    assert_int_equal(cbx_link_write(&none, "a", &out, &err), CBX_EINVAL);
}

static void refuses_damaged_bytes(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) out;
    struct cbx_err err = { 0 };
    struct cbx_link_tls tls;
    assert_int_equal(write_pem(A, A, AUTHORITY, "a", &out, &err), 0);
    for (size_t len = 0; len < out.len; len += 97) {
        assert_int_equal(
            cbx_link_tls_new(cbx_str_sub(cbx_buf_str(&out), 0, len), &at_a, &tls, &err),
            CBX_EPROTO);
    }
}

/* --- handshakes ------------------------------------------------------------------------------- */

struct side {
    struct cbx_link_tls tls;
    int fd, plain, failed;
    SSL *link;
    struct cbx_err err;
};

/* The settings without the checks of cbx_link_write, which would refuse some of them. */
static void set_up(struct side *s, int certificate, const struct cbx_replicas *replicas)
{
    CBX_AUTO_DONE(buf) bytes;
    struct {
        uint64_t certificate_bytes, authorities_bytes, key_bytes;
    } head = { strlen(made[certificate].pem), strlen(made[AUTHORITY].pem),
               strlen(made[certificate].key_pem) };
    cbx_buf_init(&bytes, 1 << 20);
    cbx_buf_add_bytes(&bytes, &head, sizeof(head));
    cbx_buf_add_cstr(&bytes, made[certificate].pem);
    cbx_buf_add_cstr(&bytes, made[AUTHORITY].pem);
    cbx_buf_add_cstr(&bytes, made[certificate].key_pem);
    assert_int_equal(cbx_link_tls_new(cbx_buf_str(&bytes), replicas, &s->tls, &s->err), 0);
}

static void *accept_link(void *context)
{
    struct side *s = context;
    s->failed = cbx_link_accept(&s->tls, s->fd, &s->link, &s->err);
    if (s->failed) {
        shutdown(s->fd, SHUT_RDWR);
    } else if (s->plain >= 0) {
        cbx_tunnel_carry(s->plain, s->link);
        shutdown(s->plain, SHUT_RDWR);
        shutdown(s->fd, SHUT_RDWR);
    }
    return NULL;
}

static void make_nonblocking(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* Connects `client` to replica b of `server`; true if both accept. */
static bool meet(int client_certificate, int server_certificate)
{
    struct side client = { .plain = -1 }, server = { .plain = -1 };
    int pair[2];
    pthread_t thread;
    set_up(&client, client_certificate, &at_a);
    set_up(&server, server_certificate, &at_b);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    client.fd = pair[0];
    server.fd = pair[1];
    pthread_create(&thread, NULL, accept_link, &server);
    client.failed =
        cbx_link_connect(&client.tls, client.fd, &at_a.others[0], &client.link, &client.err);
    if (client.failed) {
        shutdown(client.fd, SHUT_RDWR);
    }
    pthread_join(thread, NULL);
    bool met = client.failed == 0 && server.failed == 0;
    assert_true(met || client.failed == CBX_EIO);
    SSL_free(client.link);
    SSL_free(server.link);
    SSL_CTX_free(client.tls.client);
    SSL_CTX_free(client.tls.server);
    SSL_CTX_free(server.tls.client);
    SSL_CTX_free(server.tls.server);
    close(pair[0]);
    close(pair[1]);
    return met;
}

static void only_replicas_meet(void **state)
{
    (void)state;
    assert_true(meet(A, B));
    assert_false(meet(OTHER, B));   /* of the authority, and no replica of the table */
    assert_false(meet(FOREIGN, B)); /* of another authority */
    assert_false(meet(OLD, B));
    assert_false(meet(A, OTHER)); /* the server is not replica b */
    assert_false(meet(A, A));
    assert_false(meet(A, FOREIGN));
}

/* --- tunnels ---------------------------------------------------------------------------------- */

static void *echo(void *context)
{
    int fd = *(int *)context;
    static char bytes[100000];
    ssize_t n;
    while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
        for (ssize_t at = 0; at < n;) {
            ssize_t written = write(fd, bytes + at, (size_t)(n - at));
            at += written > 0 ? written : 0;
        }
    }
    shutdown(fd, SHUT_RDWR);
    return NULL;
}

struct carrier {
    int front;
    SSL *link;
};

static void *carry(void *context)
{
    struct carrier *c = context;
    cbx_tunnel_carry(c->front, c->link);
    shutdown(c->front, SHUT_RDWR);
    return NULL;
}

/* More than all buffers hold, in both directions at once. */
static void a_tunnel_carries_every_byte_both_ways(void **state)
{
    (void)state;
    enum { BYTES = 3000000 };
    static char sent[BYTES], received[BYTES];
    struct side client = { .plain = -1 }, server = { .plain = -1 };
    int pair[2], near_ends[2], far_ends[2];
    pthread_t accepting, echoing, carrying;
    set_up(&client, A, &at_a);
    set_up(&server, B, &at_b);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, near_ends), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, far_ends), 0);
    client.fd = pair[0];
    server.fd = pair[1];
    server.plain = far_ends[0];
    make_nonblocking(far_ends[0]);
    make_nonblocking(near_ends[0]);
    pthread_create(&accepting, NULL, accept_link, &server);
    pthread_create(&echoing, NULL, echo, &far_ends[1]);
    assert_int_equal(
        cbx_link_connect(&client.tls, client.fd, &at_a.others[0], &client.link, &client.err), 0);
    struct carrier carrier = { .front = near_ends[0], .link = client.link };
    pthread_create(&carrying, NULL, carry, &carrier);
    for (size_t i = 0; i < BYTES; i++) {
        sent[i] = (char)(i * 2654435761u >> 13);
    }
    make_nonblocking(near_ends[1]);
    for (size_t at = 0, back = 0; back < BYTES;) {
        ssize_t n = at < BYTES ? write(near_ends[1], sent + at, BYTES - at) : 0;
        at += n > 0 ? (size_t)n : 0;
        n = read(near_ends[1], received + back, BYTES - back);
        assert_int_not_equal(n, 0);
        back += n > 0 ? (size_t)n : 0;
    }
    assert_memory_equal(sent, received, BYTES);
    shutdown(near_ends[1], SHUT_RDWR); /* the front ends: both tunnels and the other side end */
    pthread_join(carrying, NULL);
    shutdown(pair[0], SHUT_RDWR);
    pthread_join(accepting, NULL);
    pthread_join(echoing, NULL);
    SSL_free(client.link);
    SSL_free(server.link);
    SSL_CTX_free(client.tls.client);
    SSL_CTX_free(client.tls.server);
    SSL_CTX_free(server.tls.client);
    SSL_CTX_free(server.tls.server);
    const int all[] = { pair[0], pair[1], near_ends[0], near_ends[1], far_ends[0], far_ends[1] };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        close(all[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_a_certificate_that_replicas_would_refuse),
        cmocka_unit_test(refuses_damaged_bytes),
        cmocka_unit_test(only_replicas_meet),
        cmocka_unit_test(a_tunnel_carries_every_byte_both_ways),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
