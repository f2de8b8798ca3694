/* SPDX-License-Identifier: MIT
 * Sending over TLS to a peer that reads nothing for a while: what a message that was given up
 * leaves for the next one. */
#include "docker/engine/upgrade.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 60000, SOON_MS = 100, LATER_MS = 20000, RECEIVED_MAX = 16 << 20 };

/* A TLS server in the test process. It reads when `reads` is set, until the end. */
static struct {
    int listening, port;
    pthread_t thread;
    SSL_CTX *context;
    atomic_bool reads;
    struct cbx_buf received;
} server;

static struct cbx_upgrade upgrade;

static void make_certificate(void)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    assert_non_null(key);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               (const unsigned char *)"test", -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
    assert_int_equal(SSL_CTX_use_certificate(server.context, certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(server.context, key), 1);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

static void *serve(void *context)
{
    char chunk[4096];
    int n, fd = accept(server.listening, NULL, NULL);
    SSL *ssl = SSL_new(server.context);
    (void)context;
    SSL_set_fd(ssl, fd);
    assert_int_equal(SSL_accept(ssl), 1);
    while (!atomic_load(&server.reads)) {
        poll(NULL, 0, 1);
    }
    while ((n = SSL_read(ssl, chunk, sizeof(chunk))) > 0) {
        cbx_buf_add_bytes(&server.received, chunk, (size_t)n);
    }
    SSL_free(ssl);
    close(fd);
    return NULL;
}

/* Small buffers of both sockets, so that a record does not fit. */
static int begin_test(void **state)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);
    int small = 1;
    char url[64];
    (void)state;
    memset(&server, 0, sizeof(server));
    cbx_buf_init(&server.received, RECEIVED_MAX);
    server.context = SSL_CTX_new(TLS_server_method());
    make_certificate();
    server.listening = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(server.listening, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    assert_int_equal(bind(server.listening, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(server.listening, 1), 0);
    assert_int_equal(getsockname(server.listening, (struct sockaddr *)&address, &size), 0);
    pthread_create(&server.thread, NULL, serve, NULL);
    cbx_upgrade_init(&upgrade);
    CURL *curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    snprintf(url, sizeof(url), "https://127.0.0.1:%d", ntohs(address.sin_port));
    assert_int_equal(cbx_upgrade_connect(&upgrade, curl, url), CURLE_OK);
    assert_int_equal(setsockopt(upgrade.socket, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
    return 0;
}

static void end_connection(void)
{
    atomic_store(&server.reads, true);
    cbx_upgrade_done(&upgrade);
    pthread_join(server.thread, NULL);
}

static int end_test(void **state)
{
    (void)state;
    close(server.listening);
    SSL_CTX_free(server.context);
    cbx_buf_done(&server.received);
    return 0;
}

/* Fills the connection with messages of this byte; *sent_bytes counts the accepted ones. Returns the
 * error of the first that was given up; *rest has the number of its bytes that were not accepted. */
static int fill(char byte, size_t len, size_t *sent_bytes, size_t *rest)
{
    CBX_AUTO_MEM char *message = malloc(len);
    int failed = 0;
    struct cbx_err err;
    memset(message, byte, len);
    for (*sent_bytes = 0; !failed;) {
        for (size_t at = 0, sent; !failed && at < len; at += sent) {
            failed = cbx_upgrade_send_some(&upgrade, message + at, len - at, SOON_MS, &sent, &err);
            *sent_bytes += failed ? 0 : sent;
            *rest = len - at;
        }
    }
    return failed;
}

static int send_all(const char *bytes, size_t len, struct cbx_err *err)
{
    for (size_t at = 0, sent; at < len; at += sent) {
        int failed = cbx_upgrade_send_some(&upgrade, bytes + at, len - at, LATER_MS, &sent, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

/* Asserts that this many bytes of the first kind arrived, then the other text and nothing else. */
static void assert_received(char byte, size_t count, const char *text)
{
    size_t len = strlen(text);
    assert_int_equal(server.received.len, count + len);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(server.received.p[i], byte);
    }
    assert_memory_equal(server.received.p + count, text, len);
}

static void after_a_part_of_a_message_another_one_breaks_the_connection(void **state)
{
    (void)state;
    size_t sent = 0, rest = 0;
    struct cbx_err err = { 0 };
    assert_int_equal(fill('a', MESSAGE_BYTES, &sent, &rest), CBX_ETIMEDOUT);
    assert_true(cbx_upgrade_holds(&upgrade));
    atomic_store(&server.reads, true);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(send_all("another", 7, &err), CBX_EIO);
        assert_string_equal(err.text,
                            "the connection to the sandbox is broken: a message was sent in part");
    }
    end_connection();
    assert_null(memmem(server.received.p, server.received.len, "another", 7));
}

static void the_same_message_continues_where_it_was_given_up(void **state)
{
    (void)state;
    size_t sent = 0, rest = 0;
    struct cbx_err err = { 0 };
    assert_int_equal(fill('a', MESSAGE_BYTES, &sent, &rest), CBX_ETIMEDOUT);
    assert_true(cbx_upgrade_holds(&upgrade));
    CBX_AUTO_MEM char *again = malloc(rest); /* the bytes count, not their address */
    memset(again, 'a', rest);
    atomic_store(&server.reads, true);
    assert_int_equal(send_all(again, rest, &err), 0);
    assert_false(cbx_upgrade_holds(&upgrade));
    assert_int_equal(send_all("another", 7, &err), 0);
    end_connection();
    assert_received('a', sent + rest, "another");
}

/* As a PING that a full connection does not take. */
static void a_message_that_finds_no_room_leaves_nothing(void **state)
{
    (void)state;
    size_t sent = 0, rest = 0, more = 0;
    struct cbx_err err = { 0 };
    assert_int_equal(fill('a', 16, &sent, &rest), CBX_ETIMEDOUT);
    assert_false(cbx_upgrade_holds(&upgrade));
    assert_int_equal(cbx_upgrade_send_some(&upgrade, "ping", 4, 0, &more, &err), CBX_ETIMEDOUT);
    atomic_store(&server.reads, true);
    assert_int_equal(send_all("another", 7, &err), 0);
    end_connection();
    assert_received('a', sent, "another");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)
    const struct CMUnitTest tests[] = {
        TEST(after_a_part_of_a_message_another_one_breaks_the_connection),
        TEST(the_same_message_continues_where_it_was_given_up),
        TEST(a_message_that_finds_no_room_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
