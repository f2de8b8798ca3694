/* SPDX-License-Identifier: MIT
 * Lines of the proxy's log, as Squid 5.7 writes them. */
#include "docker/egress/proxy_log.h"

#include "tests/unit/unit.h"

static void knows_what_became_of_a_request(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum cbx_proxy_outcome outcome;
        const char *reason, *host;
        uint16_t port;
        uint32_t status;
    } cases[] = {
        { "TCP_MISS 200 - - GET a.test 80 172.18.0.2 190 84 1", CBX_PROXY_SERVED, "", "a.test", 80,
          200 },
        { "TCP_MISS 404 - - GET a.test 80 172.18.0.2 190 84 1", CBX_PROXY_SERVED, "", "a.test", 80,
          404 },
        { "TCP_TUNNEL 200 - - CONNECT a.test 443 172.18.0.2 146 112 0", CBX_PROXY_SERVED, "",
          "a.test", 443, 200 },
        { "TCP_TUNNEL_ABORTED 200 ERR_CLIENT_GONE WITH_CLIENT CONNECT a.test 443 172.18.0.2 146 "
          "112 0",
          CBX_PROXY_SERVED, "", "a.test", 443, 200 },
        { "TCP_MISS_ABORTED 200 ERR_READ_ERROR WITH_SERVER GET a.test 80 172.18.0.2 190 84 1",
          CBX_PROXY_SERVED, "", "a.test", 80, 200 },
        { "NONE_NONE 200 - - TRACE a.test 80 - 277 88 0", CBX_PROXY_SERVED, "", "a.test", 80, 200 },
        { "TCP_DENIED 403 ERR_CODEBOX_HOST - GET evil.test 80 - 258 70 0", CBX_PROXY_REFUSED,
          "not-granted", "evil.test", 80, 403 },
        { "TCP_DENIED 403 ERR_CODEBOX_ADDRESS - GET m.test 80 - 272 62 0", CBX_PROXY_REFUSED,
          "address-denied", "m.test", 80, 403 },
        { "TCP_DENIED 403 ERR_CODEBOX_FORM - GET a.test 443 - 261 70 0", CBX_PROXY_REFUSED,
          "scheme-denied", "a.test", 443, 403 },
        { "TCP_DENIED 403 ERR_ACCESS_DENIED - GET a.test 80 - 283 92 0", CBX_PROXY_REFUSED,
          "not-granted", "a.test", 80, 403 },
        { "TCP_DENIED 0 ERR_CODEBOX_TLS_NAME - CONNECT a.test 443 - 0 0 0", CBX_PROXY_REFUSED,
          "tls-name", "a.test", 443, 0 },
        { "TCP_DENIED 0 ERR_CODEBOX_TLS - CONNECT a.test 443 - 0 0 0", CBX_PROXY_REFUSED, "not-tls",
          "a.test", 443, 0 },
        { "TCP_DENIED 0 ERR_CODEBOX_REQUEST - - - 0 - 0 0 0", CBX_PROXY_REFUSED, "invalid-request",
          "", 0, 0 },
        { "TCP_DENIED 403 ERR_OF_ANOTHER_VERSION - GET a.test 80 - 283 92 0", CBX_PROXY_REFUSED,
          "not-granted", "a.test", 80, 403 },
        { "TCP_DENIED 200 - - GET a.test 80 1.2.3.4 283 92 0", CBX_PROXY_REFUSED, "not-granted",
          "a.test", 80, 200 },
        { "NONE_NONE 503 ERR_CONNECT_FAIL errno=13 CONNECT a.test 81 172.18.0.2 0 67 0",
          CBX_PROXY_REFUSED, "address-denied", "a.test", 81, 503 },
        { "NONE_NONE 503 ERR_CONNECT_FAIL errno=110 CONNECT a.test 81 172.18.0.2 0 67 11008",
          CBX_PROXY_FAILED, "timeout", "a.test", 81, 503 },
        { "TCP_MISS 503 ERR_CONNECT_FAIL WITH_SERVER GET a.test 81 172.18.0.2 293 72 0",
          CBX_PROXY_FAILED, "connect-failed", "a.test", 81, 503 },
        { "TCP_DENIED 503 503:ERR_CODEBOX_NAME - GET nx.test 80 - 265 60 0", CBX_PROXY_FAILED,
          "name-not-found", "nx.test", 80, 503 },
        { "TCP_MISS 504 ERR_READ_TIMEOUT WITH_SERVER GET a.test 80 172.18.0.2 287 73 4227",
          CBX_PROXY_FAILED, "timeout", "a.test", 80, 504 },
        { "NONE_NONE 400 - - - - - - 291 61 0", CBX_PROXY_FAILED, "invalid-request", "", 0, 400 },
        { "NONE_NONE 0 ERR_CLIENT_GONE WITH_CLIENT - - - - 0 0 0", CBX_PROXY_FAILED, "client-gone",
          "", 0, 0 },
        { "NONE_NONE 0 - - - - - - 0 8 0", CBX_PROXY_FAILED, "client-gone", "", 0, 0 },
        { "TCP_MISS 500 ERR_OF_ANOTHER_VERSION - GET a.test 80 - 1 1 1", CBX_PROXY_FAILED, "failed",
          "a.test", 80, 500 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[512];
        struct cbx_proxy_event event;
        snprintf(line, sizeof(line), "codebox2 %s -", cases[i].line);
        if (cbx_proxy_log_read(cbx_str_of(line), &event, NULL) != 0 ||
            event.outcome != cases[i].outcome || !cbx_str_is(event.reason, cases[i].reason) ||
            !cbx_str_is(event.host, cases[i].host) || event.port != cases[i].port ||
            event.status != cases[i].status) {
            fail_msg("%s", line);
        }
    }
}

static void reads_all_fields(void **state)
{
    (void)state;
    struct cbx_proxy_event event;
    assert_int_equal(
        cbx_proxy_log_read(CBX_STR("codebox2 TCP_MISS 200 - - FOO%7CBAR api.example.test 8080 "
                                   "93.184.215.14 1234567890123 84 4294967295 other.example.test"),
                           &event, NULL),
        0);
    assert_true(cbx_str_is(event.method, "FOO%7CBAR"));
    assert_true(cbx_str_is(event.address, "93.184.215.14"));
    assert_int_equal(event.received_bytes, 1234567890123);
    assert_int_equal(event.sent_bytes, 84);
    assert_int_equal(event.duration_ms, 4294967295);
    assert_true(cbx_str_is(event.tls_name, "other.example.test"));
}

static void refuses_what_is_no_line(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "codebox2",
        "codebox1 TCP_MISS 200 - - GET a.test 80 172.18.0.2 190 84 1 -",
        "codebox2 TCP_MISS 200 - - GET a.test 80 172.18.0.2 190 84 1",
        "codebox2 TCP_MISS 200 - - GET a.test 80 172.18.0.2 190 84 1 - 1",
        "codebox2 TCP_MISS 200 - - GET a.test 80 172.18.0.2 190 84 1 - ",
        " codebox2 TCP_MISS 200 - - GET a.test 80 172.18.0.2 190 84 1 -",
        "codebox2 TCP_MISS 200 - - GET  80 172.18.0.2 190 84 1 -",
        "codebox2 TCP_MISS 200 - - GET a\ttest 80 172.18.0.2 190 84 1 -",
        "codebox2 TCP_MISS 200 - - GET a\x1b[31m 80 172.18.0.2 190 84 1 -",
        "codebox2 TCP_MISS 200 - - GET a\xc3\xa4 80 172.18.0.2 190 84 1 -",
        "codebox2 TCP_MISS 200 - - GET a.test 80 172.18.0.2 190 84 1 -\n",
        "codebox2 TCP_MISS 200 - - GET a.test 65536 172.18.0.2 190 84 1 -",
        "codebox2 TCP_MISS 1000 - - GET a.test 80 172.18.0.2 190 84 1 -",
        "codebox2 TCP_MISS 200 - - GET a.test 80 172.18.0.2 190 -84 1 -",
        "codebox2 TCP_MISS 200 - - GET a.test 80 172.18.0.2 190 84 4294967296 -",
        "codebox2 TCP_MISS 200 - - GET a.test 80 172.18.0.2 99999999999999999999 84 1 -",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cbx_proxy_event event;
        if (cbx_proxy_log_read(cbx_str_of(bad[i]), &event, NULL) != CBX_EPROTO) {
            fail_msg("'%s'", bad[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_became_of_a_request),
        cmocka_unit_test(reads_all_fields),
        cmocka_unit_test(refuses_what_is_no_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
