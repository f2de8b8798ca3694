/* SPDX-License-Identifier: MIT
 * Records as syslog messages: addresses, header, structured data, cutting. */
#include "gateway/forwarder/syslog.h"
#include "tests/unit/unit.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void reads_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum cbx_syslog_transport transport;
        const char *host, *port, *path;
    } urls[] = {
        { "udp://127.0.0.1:514", CBX_SYSLOG_UDP, "127.0.0.1", "514", "" },
        { "tcp://logs.example.org:601", CBX_SYSLOG_TCP, "logs.example.org", "601", "" },
        { "tls://[2001:db8::1]:6514", CBX_SYSLOG_TLS, "2001:db8::1", "6514", "" },
        { "unix:///dev/log", CBX_SYSLOG_UNIX, "", "", "/dev/log" },
    };
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        struct cbx_syslog_url url;
        assert_int_equal(cbx_syslog_parse(urls[i].text, &url, NULL), 0);
        assert_int_equal(url.transport, urls[i].transport);
        assert_string_equal(url.host, urls[i].host);
        assert_string_equal(url.port, urls[i].port);
        assert_string_equal(url.path, urls[i].path);
    }
}

static void refuses_addresses_that_are_none(void **state)
{
    (void)state;
    char path[300] = "unix:///";
    memset(path + 8, 'x', sizeof(path) - 9);
    const char *const wrong[] = { "",
                                  "udp://",
                                  "udp://host",
                                  "udp://host:",
                                  "udp://:514",
                                  "udp://host:0",
                                  "udp://host:65536",
                                  "udp://host:5x",
                                  "udp://a b:514",
                                  "udp://a/b:514",
                                  "udp://2001:db8::1:514",
                                  "udp://[]:514",
                                  "http://host:514",
                                  "unix://dev/log",
                                  "unix:///",
                                  path };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct cbx_syslog_url url;
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_syslog_parse(wrong[i], &url, &err), CBX_EINVAL);
        assert_non_null(strstr(err.text, "udp://HOST:PORT"));
    }
}

static void assert_message(const char *line, size_t max, const char *expected)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 1 << 20);
    assert_int_equal(cbx_syslog_format(cbx_str_of(line), "host", max, &out, NULL), 0);
    assert_string_equal(out.p, expected);
}

static void makes_a_message_of_a_record(void **state)
{
    (void)state;
    static const char line[] =
        "{\"body\":{\"verdict\":\"deny\"},\"hash\":\"" HASH
        "\",\"seq\":7,\"time\":\"2026-11-23T10:00:00.123Z\",\"type\":\"decision\"}";
    char expected[1000];
    snprintf(expected, sizeof(expected),
             "<109>1 2026-11-23T10:00:00.123Z host codebox - decision [codebox@32473 seq=\"7\" "
             "hash=\"" HASH "\"] %s",
             line);
    assert_message(line, 0, expected);
    CBX_AUTO_DONE(buf) frame;
    cbx_buf_init(&frame, 1 << 20);
    assert_int_equal(cbx_syslog_frame(cbx_str_of(line), "host", &frame, NULL), 0);
    char *end;
    assert_int_equal(strtoul(frame.p, &end, 10), strlen(expected));
    assert_string_equal(end + 1, expected);
}

static void marks_what_is_not_ascii(void **state)
{
    (void)state;
    static const char line[] = "{\"body\":{\"x\":\"\xc3\xa9\"},\"hash\":\"" HASH
                               "\",\"seq\":7,\"time\":\"t\",\"type\":\"blocked\"}";
    char expected[1000];
    snprintf(expected, sizeof(expected),
             "<108>1 t host codebox - blocked [codebox@32473 seq=\"7\" hash=\"" HASH
             "\"] \xef\xbb\xbf%s",
             line);
    assert_message(line, 0, expected);
}

static void cuts_a_datagram_at_a_whole_character(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, 1 << 20);
    cbx_buf_add_cstr(&line, "{\"body\":{\"x\":\"");
    for (int i = 0; i < 3000; i++) {
        cbx_buf_add_cstr(&line, "\xe2\x82\xac");
    }
    cbx_buf_add_cstr(&line,
                     "\"},\"hash\":\"" HASH "\",\"seq\":7,\"time\":\"t\",\"type\":\"note\"}");
    for (size_t max = 400; max < 410; max++) {
        CBX_AUTO_DONE(buf) out;
        char cut[32];
        cbx_buf_init(&out, 1 << 20);
        assert_int_equal(cbx_syslog_format(cbx_buf_str(&line), "host", max, &out, NULL), 0);
        assert_in_range(out.len, max - 4, max);
        assert_true(cbx_str_ends(cbx_buf_str(&out), CBX_STR("...")));
        assert_true(cbx_str_is_utf8(cbx_buf_str(&out), NULL));
        snprintf(cut, sizeof(cut), " cut=\"%zu\"]", line.len);
        assert_non_null(strstr(out.p, cut));
    }
}

static void keeps_hostile_texts_out_of_header_and_structured_data(void **state)
{
    (void)state;
    static const char line[] =
        "{\"body\":{},\"hash\":\"" HASH "\",\"seq\":7,\"time\":\"a b\",\"type\":\"x] \\n<1>\"}";
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 1 << 20);
    assert_int_equal(cbx_syslog_format(cbx_str_of(line), "ho st", 0, &out, NULL), 0);
    assert_non_null(strstr(out.p, "<110>1 a_b ho_st codebox - x]__<1> [codebox@32473 "));
    assert_null(strchr(out.p, '\n'));
    static const char *const wrong[] = { "",
                                         "x",
                                         "{}",
                                         "[]",
                                         "{\"type\":\"note\",\"hash\":\"x\"}",
                                         "{\"type\":1,\"hash\":\"" HASH "\"}" };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct cbx_err err;
        assert_true(cbx_syslog_format(cbx_str_of(wrong[i]), "h", 0, &out, &err) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_addresses),
        cmocka_unit_test(refuses_addresses_that_are_none),
        cmocka_unit_test(makes_a_message_of_a_record),
        cmocka_unit_test(marks_what_is_not_ascii),
        cmocka_unit_test(cuts_a_datagram_at_a_whole_character),
        cmocka_unit_test(keeps_hostile_texts_out_of_header_and_structured_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
