/* SPDX-License-Identifier: MIT
 * Responses of replicas, in pieces of every size. */
#include "gateway/front/forward/response.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct {
    struct cbx_buf text;
    bool refuses; /* true: the sink takes no body */
} seen;

static int note_field(void *context, struct cbx_str name, struct cbx_str value)
{
    (void)context;
    cbx_buf_printf(&seen.text, "%.*s=%.*s;", CBX_STR_ARG(name), CBX_STR_ARG(value));
    return 0;
}

static int note_begin(void *context, int status)
{
    (void)context;
    return cbx_buf_printf(&seen.text, "<%d>", status);
}

static int note_body(void *context, struct cbx_str piece)
{
    (void)context;
    return seen.refuses ? CBX_ETOOBIG : cbx_buf_add(&seen.text, piece);
}

static const struct cbx_response_sink sink = { .field = note_field,
                                               .begin = note_begin,
                                               .body = note_body };

/* Reads the text in pieces and then the end of the connection; *leaves_open as
 * cbx_response_leaves_open before that end. */
static int read_in_pieces(const char *text, size_t piece, bool *leaves_open)
{
    CBX_AUTO_DONE(response) response = { .sink = NULL };
    struct cbx_str bytes = cbx_str_of(text);
    struct cbx_err err;
    int failed = 0;
    cbx_buf_done(&seen.text);
    cbx_buf_init(&seen.text, 1 << 20);
    cbx_response_init(&response, &sink);
    while (bytes.len > 0 && !failed) {
        failed = cbx_response_take(&response, cbx_str_sub(bytes, 0, piece), &err);
        bytes = cbx_str_sub(bytes, piece, bytes.len);
    }
    *leaves_open = cbx_response_leaves_open(&response);
    return failed ? failed : cbx_response_end(&response, &err);
}

static void reads_each_form_of_a_body(void **state)
{
    (void)state;
    static const struct {
        const char *text, *read;
        bool leaves_open;
    } cases[] = {
        { "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\n\r\nhello",
          "A=b;Content-Length=5;<200>hello", true },
        { "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", "Content-Length=0;<404>", true },
        { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n"
          "0\r\nT: u\r\n\r\n",
          "Transfer-Encoding=chunked;<200>abc0123456789", true },
        { "HTTP/1.1 200 OK\r\nX:  a b \r\n\r\nto the end", "X=a b;<200>to the end", false },
        { "HTTP/1.1 204 No Content\r\n\r\n", "<204>", true },
        { "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
          "Connection=close;Content-Length=1;<200>x", false },
        { "HTTP/1.1 100 Continue\r\nZ: 1\r\n\r\nHTTP/1.1 201 Made\r\nContent-Length: 2\r\n\r\nok",
          "Content-Length=2;<201>ok", true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t piece = 1; piece <= strlen(cases[i].text); piece++) {
            bool leaves_open;
            assert_int_equal(read_in_pieces(cases[i].text, piece, &leaves_open), 0);
            assert_string_equal(seen.text.p, cases[i].read);
            assert_int_equal(leaves_open, cases[i].leaves_open);
        }
    }
}

static void refuses_what_is_no_response(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
        "SSH-2.0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno field\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
        "HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: x\nB: y\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: x\rB\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA b: x\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n123456789\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        for (size_t piece = 1; piece < 40; piece += 3) {
            bool leaves_open;
            assert_int_equal(read_in_pieces(bad[i], piece, &leaves_open), CBX_EPROTO);
            assert_false(leaves_open && i != 16); /* the 16th ends, and goes on */
        }
    }
}

static void a_header_has_a_limit(void **state)
{
    (void)state;
    static char text[2 * CBX_RESPONSE_HEAD_MAX];
    bool leaves_open;
    int at = snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nA: ");
    memset(text + at, 'x', sizeof(text) - (size_t)at - 1);
    assert_int_equal(read_in_pieces(text, 4096, &leaves_open), CBX_EPROTO);
}

/* Bytes of the body that come with the end of the header do not count. */
static void a_body_behind_a_part_of_the_header_has_no_limit(void **state)
{
    (void)state;
    enum { BODY = 100 * 1024, PIECE = 64 * 1024 };
    static char text[200 * 1024];
    for (size_t first = 1; first < 40; first++) {
        CBX_AUTO_DONE(response) response = { .sink = NULL };
        struct cbx_err err;
        int head =
            snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", BODY);
        struct cbx_str bytes = { .p = text, .len = (size_t)head + BODY };
        memset(text + head, 'x', BODY);
        cbx_buf_done(&seen.text);
        cbx_buf_init(&seen.text, 1 << 20);
        cbx_response_init(&response, &sink);
        assert_int_equal(cbx_response_take(&response, cbx_str_sub(bytes, 0, first), &err), 0);
        assert_true(cbx_response_has_begun(&response));
        bytes = cbx_str_sub(bytes, first, bytes.len);
        assert_int_equal(cbx_response_take(&response, cbx_str_sub(bytes, 0, PIECE), &err), 0);
        assert_int_equal(cbx_response_take(&response, cbx_str_sub(bytes, PIECE, bytes.len), &err),
                         0);
        assert_true(cbx_response_is_done(&response));
    }
}

/* Appends `piece` to a beginning again and again: it is refused at last. */
static void refuses_without_end(const char *begin, const char *piece)
{
    enum { TIMES = 100 * 1024 };
    CBX_AUTO_DONE(response) response = { .sink = NULL };
    struct cbx_err err;
    cbx_buf_done(&seen.text);
    cbx_buf_init(&seen.text, 1 << 20);
    cbx_response_init(&response, &sink);
    int failed = cbx_response_take(&response, cbx_str_of(begin), &err);
    for (int i = 0; i < TIMES && !failed; i++) {
        failed = cbx_response_take(&response, cbx_str_of(piece), &err);
    }
    assert_int_equal(failed, CBX_EPROTO);
}

static void interim_responses_and_trailers_end(void **state)
{
    (void)state;
    refuses_without_end("HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 102 Processing\r\n\r\n");
    refuses_without_end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A: b\r\n");
}

static void a_sink_ends_the_reading(void **state)
{
    (void)state;
    bool leaves_open;
    seen.refuses = true;
    assert_int_equal(
        read_in_pieces("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 100, &leaves_open),
        CBX_ETOOBIG);
    seen.refuses = false;
}

static int end(void **state)
{
    (void)state;
    cbx_buf_done(&seen.text);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_form_of_a_body),
        cmocka_unit_test(refuses_what_is_no_response),
        cmocka_unit_test(a_header_has_a_limit),
        cmocka_unit_test(a_body_behind_a_part_of_the_header_has_no_limit),
        cmocka_unit_test(interim_responses_and_trailers_end),
        cmocka_unit_test(a_sink_ends_the_reading),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
