/* SPDX-License-Identifier: MIT
 * Tunnels: the bytes that a client may send through a connection to the proxy. */
#include "docker/egress/relay/tunnel.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "docker/egress/relay/client_hello.c"
#include "docker/egress/relay/tunnel.c"
#include "docker/inside/wire/wire.c"

void cbx_die(void)
{
    abort();
}

#define REQUEST "CONNECT api.example.test:443 HTTP/1.1\r\nHost: api.example.test:443\r\n\r\n"

/* --- ClientHello messages --------------------------------------------------------------------- */

struct bytes {
    uint8_t p[64 * 1024];
    size_t len;
};

static void add(struct bytes *to, const void *p, size_t len)
{
    assert_true(to->len + len <= sizeof(to->p));
    memcpy(to->p + to->len, p, len);
    to->len += len;
}

static void add_text(struct bytes *to, const char *text)
{
    add(to, text, strlen(text));
}

static void add_number(struct bytes *to, size_t value, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        const uint8_t byte = (uint8_t)(value >> 8 * i);
        add(to, &byte, 1);
    }
}

static void add_extension(struct bytes *to, unsigned type, const void *p, size_t len)
{
    add_number(to, type, 2);
    add_number(to, len, 2);
    add(to, p, len);
}

/* An extension server_name with these names, separated by blanks. */
static void add_names(struct bytes *to, const char *names)
{
    struct bytes list = { .len = 0 }, extension = { .len = 0 };
    for (const char *at = names; *at != '\0';) {
        size_t len = strcspn(at, " ");
        add_number(&list, 0, 1);
        add_number(&list, len, 2);
        add(&list, at, len);
        at += len + (at[len] == ' ');
    }
    add_number(&extension, list.len, 2);
    add(&extension, list.p, list.len);
    add_extension(to, 0, extension.p, extension.len);
}

/* A ClientHello with these extensions (NULL = without the field), in records of `part` bytes. */
static void add_hello(struct bytes *to, const struct bytes *extensions, size_t part)
{
    static const uint8_t random[32], ciphers[] = { 0x13, 0x01, 0x13, 0x02 };
    struct bytes body = { .len = 0 }, message = { .len = 0 };
    add_number(&body, 0x0303, 2);
    add(&body, random, sizeof(random));
    add_number(&body, 0, 1);
    add_number(&body, sizeof(ciphers), 2);
    add(&body, ciphers, sizeof(ciphers));
    add_number(&body, 0x0100, 2);
    if (extensions != NULL) {
        add_number(&body, extensions->len, 2);
        add(&body, extensions->p, extensions->len);
    }
    add_number(&message, 1, 1);
    add_number(&message, body.len, 3);
    add(&message, body.p, body.len);
    for (size_t at = 0; at < message.len; at += part) {
        size_t len = message.len - at < part ? message.len - at : part;
        add_number(to, 0x160301, 3);
        add_number(to, len, 2);
        add(to, message.p + at, len);
    }
}

static void add_hello_for(struct bytes *to, const char *names)
{
    struct bytes extensions = { .len = 0 };
    static const uint8_t versions[] = { 2, 3, 4 };
    add_extension(&extensions, 43, versions, sizeof(versions));
    if (names != NULL) {
        add_names(&extensions, names);
    }
    add_hello(to, &extensions, 16384);
}

/* --- feeding a tunnel ------------------------------------------------------------------------- */

static enum cbx_tunnel_refusal refusal;
static char name[CBX_HELLO_NAME_BYTES];

/* Sends the bytes in pieces of `piece`; returns how many passed, in order. */
static size_t pass_in_pieces(const struct bytes *bytes, size_t piece)
{
    struct cbx_tunnel tunnel = { 0 };
    size_t passed = 0;
    for (size_t at = 0; at < bytes->len; at += piece) {
        size_t n = cbx_tunnel_take(&tunnel, bytes->p + at,
                                   bytes->len - at < piece ? bytes->len - at : piece);
        if (n > 0) {
            assert_memory_equal(tunnel.held.p, bytes->p + passed, n);
            cbx_tunnel_drop(&tunnel, n);
        }
        passed += n;
    }
    refusal = tunnel.refusal;
    memcpy(name, tunnel.name, sizeof(name));
    cbx_tunnel_done(&tunnel);
    return passed;
}

static size_t pass(const struct bytes *bytes)
{
    size_t passed = pass_in_pieces(bytes, bytes->len);
    enum cbx_tunnel_refusal whole = refusal;
    pass_in_pieces(bytes, 1);
    assert_int_equal(refusal, whole); /* however it arrives */
    return passed;
}

static void tunnels_for(const char *request, const char *names, enum cbx_tunnel_refusal expected)
{
    struct bytes all = { .len = 0 };
    add_text(&all, request);
    add_hello_for(&all, names);
    add_text(&all, "\x17\x03\x03 what follows");
    size_t passed = pass(&all);
    if (refusal != expected || passed != (expected == CBX_TUNNEL_NOT_REFUSED ? all.len : 0)) {
        fail_msg("'%s' with '%s': %d, %zu of %zu bytes", request, names != NULL ? names : "none",
                 (int)refusal, passed, all.len);
    }
}

/* --- requests --------------------------------------------------------------------------------- */

static void a_request_of_another_method_passes(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "GET http://api.example.test/ HTTP/1.1\r\n\r\n",
        "POST http://api.example.test/ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
        "M-SEARCH * HTTP/1.1\r\n\r\n",
        "CONNECTED x\r\n",
    };
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        struct bytes all = { .len = 0 };
        add_text(&all, requests[i]);
        assert_int_equal(pass(&all), all.len);
        assert_int_equal(refusal, CBX_TUNNEL_NOT_REFUSED);
        assert_int_equal(pass_in_pieces(&all, 1), all.len);
    }
}

static void what_the_proxy_could_read_as_another_request_is_refused(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "\r\nCONNECT a.test:443 HTTP/1.1\r\n\r\n",
        " CONNECT a.test:443 HTTP/1.1\r\n\r\n",
        "connect a.test:443 HTTP/1.1\r\n\r\n",
        "CONNECT\ta.test:443 HTTP/1.1\r\n\r\n",
        "CONNECT  a.test:443 HTTP/1.1\r\n\r\n",
        "CONNECT a.test:443\tHTTP/1.1\r\n\r\n",
        "CONNECT a.test:443  HTTP/1.1\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1 \r\n\r\n",
        "CONNECT a.test:443 HTTP/2.0\r\n\r\n",
        "CONNECT a.test:443\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\n\n",
        "CONNECT a.test:443 HTTP/1.1\r\nHost: a\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 9\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nCONTENT-length:9\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nX: a\r\n Content-Length: 9\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nContent-Length : 9\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nno field\r\n\r\n",
        "\x16\x03\x01",
    };
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        struct bytes all = { .len = 0 };
        add_text(&all, requests[i]);
        if (pass(&all) != 0 || refusal != CBX_TUNNEL_REQUEST) {
            fail_msg("'%s': %d", requests[i], (int)refusal);
        }
    }
}

static void a_request_has_a_largest_size(void **state)
{
    (void)state;
    struct bytes all = { .len = 0 };
    add_text(&all, "CONNECT a.test:443 HTTP/1.1\r\n");
    while (all.len <= CBX_TUNNEL_REQUEST_MAX_BYTES) {
        add_text(&all, "X-Padding: 0123456789012345678901234567890123456789\r\n");
    }
    assert_int_equal(pass_in_pieces(&all, 4096), 0);
    assert_int_equal(refusal, CBX_TUNNEL_REQUEST);
}

static void the_request_passes_before_the_handshake_is_there(void **state)
{
    (void)state;
    struct bytes all = { .len = 0 };
    add_text(&all, REQUEST);
    assert_int_equal(pass_in_pieces(&all, 1), all.len);
    assert_int_equal(refusal, CBX_TUNNEL_NOT_REFUSED);
}

/* --- names ------------------------------------------------------------------------------------ */

static void tls_for_the_host_of_the_request_passes(void **state)
{
    (void)state;
    tunnels_for(REQUEST, "api.example.test", CBX_TUNNEL_NOT_REFUSED);
    tunnels_for(REQUEST, "API.Example.TEST", CBX_TUNNEL_NOT_REFUSED);
    tunnels_for("CONNECT API.example.test.:8443 HTTP/1.0\r\n\r\n", "api.example.test",
                CBX_TUNNEL_NOT_REFUSED);
}

static void tls_for_another_host_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "other.example.test",
        "example.test",
        "api.example.test.other.test",
        "api.example.tes",
        "xapi.example.test",
        "api.example.test api.example.test",
        "api.example.test other.example.test",
        "api.example.test/",
        "",
        NULL,
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        tunnels_for(REQUEST, names[i], CBX_TUNNEL_TLS_NAME);
    }
    tunnels_for(REQUEST, "other.example.test", CBX_TUNNEL_TLS_NAME);
    assert_string_equal(name, "other.example.test");
}

static void a_target_that_is_no_host_name_gets_no_tls(void **state)
{
    (void)state;
    static const char *const targets[] = { "[2001:db8::1]:443", "a.test",       "a.test:0",
                                           "a.test:65536",      "a.test:x",     ":443",
                                           "user@a.test:443",   "a%2e.test:443" };
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        char request[128];
        snprintf(request, sizeof(request), "CONNECT %s HTTP/1.1\r\n\r\n", targets[i]);
        tunnels_for(request, "a.test", CBX_TUNNEL_TLS_NAME);
        tunnels_for(request, NULL, CBX_TUNNEL_TLS_NAME);
    }
}

static void names_that_cannot_be_known_are_refused(void **state)
{
    (void)state;
    static const unsigned types[] = { 0xfe0d, 42 }; /* encrypted_client_hello, early_data */
    for (size_t i = 0; i < 2; i++) {
        struct bytes all = { .len = 0 }, extensions = { .len = 0 };
        add_names(&extensions, "api.example.test");
        add_extension(&extensions, types[i], "abc", 3);
        add_text(&all, REQUEST);
        add_hello(&all, &extensions, 16384);
        assert_int_equal(pass(&all), 0);
        assert_int_equal(refusal, CBX_TUNNEL_TLS_NAME);
    }
    struct bytes all = { .len = 0 };
    add_text(&all, REQUEST);
    add_hello(&all, NULL, 16384);
    assert_int_equal(pass(&all), 0);
    assert_int_equal(refusal, CBX_TUNNEL_TLS_NAME);
}

/* --- handshakes ------------------------------------------------------------------------------- */

static void a_client_hello_may_be_spread_over_records(void **state)
{
    (void)state;
    for (size_t part = 1; part < 200; part += 7) {
        struct bytes all = { .len = 0 }, extensions = { .len = 0 };
        add_names(&extensions, "api.example.test");
        add_text(&all, REQUEST);
        add_hello(&all, &extensions, part);
        assert_int_equal(pass(&all), all.len);
        assert_int_equal(refusal, CBX_TUNNEL_NOT_REFUSED);
    }
}

static void what_is_no_client_hello_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
    } texts[] = {
#define TEXT(text) { text, sizeof(text) - 1 }
        TEXT("GET / HTTP/1.1\r\nHost: other.example.test\r\n\r\n"),
        TEXT("SSH-2.0-client\r\n"),
        TEXT("\x80\x2e\x01\x03\x01"),                 /* SSL 2.0 */
        TEXT("\x17\x03\x03\x00\x01\x00"),             /* application data */
        TEXT("\x16\x02\x00\x00\x05\x01"),             /* another version */
        TEXT("\x16\x03\x01\x00\x00"),                 /* an empty record */
        TEXT("\x16\x03\x01\x00\x04\x02\x00\x00\x00"), /* ServerHello */
        TEXT("\x16\x03\x01\x00\x04\x01\x00\x00\x00"), /* without a body */
        TEXT("\x16\x03\x01\x00\x04\x01\x01\x00\x00"), /* of 64 KiB */
#undef TEXT
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct bytes all = { .len = 0 };
        add_text(&all, REQUEST);
        add(&all, texts[i].bytes, texts[i].len);
        if (pass(&all) != 0 || refusal != CBX_TUNNEL_NOT_TLS) {
            fail_msg("case %zu: %d", i, (int)refusal);
        }
    }
}

/* Each byte of a good handshake is replaced, and each length cut: nothing is read beyond the end,
 * and no other name passes. */
static void damaged_handshakes_pass_no_other_name(void **state)
{
    (void)state;
    struct bytes good = { .len = 0 };
    add_text(&good, REQUEST);
    add_hello_for(&good, "api.example.test");
    for (size_t at = strlen(REQUEST); at < good.len; at++) {
        struct bytes bad = good;
        for (unsigned value = 0; value < 256; value += 5) {
            bad.p[at] = (uint8_t)value;
            size_t passed = pass_in_pieces(&bad, bad.len);
            assert_true(passed <= strlen(REQUEST) || refusal == CBX_TUNNEL_NOT_REFUSED);
            assert_true(passed <= strlen(REQUEST) || strcmp(name, "api.example.test") == 0);
        }
        bad.len = at;
        assert_true(pass_in_pieces(&bad, bad.len) <= strlen(REQUEST));
    }
}

static void an_extension_twice_is_refused(void **state)
{
    (void)state;
    struct bytes all = { .len = 0 }, extensions = { .len = 0 };
    add_names(&extensions, "api.example.test");
    add_names(&extensions, "other.example.test");
    add_text(&all, REQUEST);
    add_hello(&all, &extensions, 16384);
    assert_int_equal(pass(&all), 0);
    assert_int_equal(refusal, CBX_TUNNEL_NOT_TLS);
}

static void the_second_client_hello_has_the_same_name(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) {
        for (int cipher = 0; cipher < 2; cipher++) {
            struct bytes all = { .len = 0 };
            add_text(&all, REQUEST);
            add_hello_for(&all, "api.example.test");
            size_t first = all.len;
            if (cipher) {
                add(&all, "\x14\x03\x03\x00\x01\x01", 6);
            }
            add_hello_for(&all, other ? "other.example.test" : "api.example.test");
            size_t passed = pass_in_pieces(&all, 1);
            assert_int_equal(refusal, other ? CBX_TUNNEL_TLS_NAME : CBX_TUNNEL_NOT_REFUSED);
            assert_int_equal(passed, other ? first + (cipher ? 6 : 0) : all.len);
        }
    }
}

static void a_second_message_behind_the_client_hello_is_refused(void **state)
{
    (void)state;
    struct bytes all = { .len = 0 }, hello = { .len = 0 };
    add_hello_for(&hello, "api.example.test");
    add_text(&all, REQUEST);
    add_number(&all, 0x160301, 3);
    add_number(&all, 2 * (hello.len - 5), 2);
    add(&all, hello.p + 5, hello.len - 5);
    add(&all, hello.p + 5, hello.len - 5);
    assert_int_equal(pass(&all), 0);
    assert_int_equal(refusal, CBX_TUNNEL_NOT_TLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_of_another_method_passes),
        cmocka_unit_test(what_the_proxy_could_read_as_another_request_is_refused),
        cmocka_unit_test(a_request_has_a_largest_size),
        cmocka_unit_test(the_request_passes_before_the_handshake_is_there),
        cmocka_unit_test(tls_for_the_host_of_the_request_passes),
        cmocka_unit_test(tls_for_another_host_is_refused),
        cmocka_unit_test(a_target_that_is_no_host_name_gets_no_tls),
        cmocka_unit_test(names_that_cannot_be_known_are_refused),
        cmocka_unit_test(a_client_hello_may_be_spread_over_records),
        cmocka_unit_test(what_is_no_client_hello_is_refused),
        cmocka_unit_test(damaged_handshakes_pass_no_other_name),
        cmocka_unit_test(an_extension_twice_is_refused),
        cmocka_unit_test(the_second_client_hello_has_the_same_name),
        cmocka_unit_test(a_second_message_behind_the_client_hello_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
