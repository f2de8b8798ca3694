/* SPDX-License-Identifier: MIT
 * The HTTP server with real connections: reused connections, limits of headers and bodies,
 * responses before the end of their handlers, and the end of the server. */
#include "tests/unit/gateway/front/http/rig.h"

/* Inputs and results of handlers, under the rig's lock. */
static struct {
    bool open; /* /block and /early: their handlers may return */
    int handled, returned;
} seen;

static void echo(const struct cbx_http_request *request, struct cbx_http_response *out)
{
    struct cbx_buf text;
    cbx_buf_init(&text, 1 << 20);
    cbx_buf_add(&text, request->method);
    cbx_buf_add_char(&text, ' ');
    cbx_buf_add(&text, request->path);
    cbx_buf_add_char(&text, '|');
    cbx_buf_add(&text, request->query);
    cbx_buf_add_char(&text, '|');
    cbx_buf_add(&text, request->body);
    out->status = 200;
    out->type = "text/plain";
    out->bytes_len = text.len;
    out->bytes = cbx_buf_take(&text);
}

static void handle(void *context, const struct cbx_http_request *request,
                   struct cbx_http_response *out)
{
    (void)context;
    RIG_SET(seen.handled++);
    if (cbx_str_is(request->path, "/early")) {
        struct cbx_http_response early = { .status = 201, .json = json_pack("{s:i}", "early", 1) };
        cbx_http_answer(request->exchange, &early);
        out->answered = true;
        RIG_AWAIT(seen.open);
        RIG_SET(seen.returned++);
        return;
    }
    if (cbx_str_is(request->path, "/block")) {
        RIG_AWAIT(seen.open);
    }
    if (cbx_str_is(request->path, "/allow")) {
        out->status = 405;
        snprintf(out->allow, sizeof(out->allow), "GET, PUT");
        return;
    }
    echo(request, out);
    out->relayed = cbx_str_is(request->path, "/relayed") ? json_object() : NULL;
    if (cbx_str_is(request->path, "/file")) {
        out->attachment = strdup("out/a\"\r\nX-Evil: 1.html");
    }
}

static int begin_test(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof(seen));
    rig_start(handle, 2);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    rig_stop();
    return 0;
}

static void *stop_in_thread(void *server)
{
    cbx_http_server_free(server);
    return NULL;
}

static pthread_t start_stop(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, stop_in_thread, cbx_steal(&rig.server));
    return thread;
}

/* --- connections ------------------------------------------------------------------------------ */

static void serves_several_requests_on_one_connection(void **state)
{
    (void)state;
    RESPONSE(r);
    char id[64] = "";
    int fd = client_connect();
    for (int i = 0; i < 3; i++) {
        client_request(fd, "POST /a%2Fb?x=%00", "", "body");
        client_receive(fd, &r);
        assert_int_equal(r.status, 200);
        assert_string_equal(r.body.p, "POST /a%2Fb|x=%00|body"); /* as sent, not decoded */
        const char *own = strstr(r.head, "X-Request-Id: ");
        assert_non_null(own);
        assert_int_not_equal(strncmp(own, id, sizeof(id) - 1), 0);
        snprintf(id, sizeof(id), "%s", own);
    }
    close(fd);
}

static void answers_pipelined_requests_in_their_order(void **state)
{
    (void)state;
    RESPONSE(r);
    char two[512];
    int fd = client_connect();
    snprintf(two, sizeof(two),
             "GET /first HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n"
             "GET /second HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
             rig.port, rig.port);
    assert_true(client_send(fd, two));
    client_receive(fd, &r);
    assert_string_equal(r.body.p, "GET /first||");
    client_receive(fd, &r);
    assert_string_equal(r.body.p, "GET /second||");
    close(fd);
}

static void a_request_waits_while_all_threads_are_busy(void **state)
{
    (void)state;
    RESPONSE(r);
    int busy[2], fd = client_connect();
    for (int i = 0; i < 2; i++) {
        busy[i] = client_connect();
        client_get(busy[i], "/block");
    }
    RIG_AWAIT(seen.handled == 2);
    client_get(fd, "/waits");
    RIG_SET(seen.open = true);
    client_receive(fd, &r);
    assert_string_equal(r.body.p, "GET /waits||");
    for (int i = 0; i < 2; i++) {
        client_receive(busy[i], &r);
        assert_int_equal(r.status, 200);
        close(busy[i]);
    }
    close(fd);
}

static void a_client_that_leaves_costs_no_other_client(void **state)
{
    (void)state;
    RESPONSE(r);
    int gone = client_connect(), fd = client_connect();
    client_get(gone, "/block");
    RIG_AWAIT(seen.handled == 1);
    close(gone);
    RIG_SET(seen.open = true);
    client_get(fd, "/next");
    client_receive(fd, &r);
    assert_string_equal(r.body.p, "GET /next||");
    close(fd);
}

static void sends_fields_that_the_response_asks_for(void **state)
{
    (void)state;
    RESPONSE(r);
    int fd = client_connect();
    client_get(fd, "/allow");
    client_receive(fd, &r);
    assert_int_equal(r.status, 405);
    assert_non_null(strstr(r.head, "Allow: GET, PUT\r\n"));
    assert_null(strstr(r.head, "\r\nContent-Type"));
    client_get(fd, "/");
    client_receive(fd, &r);
    assert_non_null(strstr(r.head, "Content-Type: text/plain\r\n"));
    assert_non_null(strstr(r.head, "Cache-Control: no-store\r\n"));
    assert_non_null(strstr(r.head, "X-Content-Type-Options: nosniff\r\n"));
    close(fd);
}

static void nothing_that_is_served_runs_in_a_browser_and_a_file_is_stored(void **state)
{
    (void)state;
    RESPONSE(r);
    int fd = client_connect();
    static const char *const paths[] = { "/", "/relayed", "/file" };
    for (size_t i = 0; i < 3; i++) {
        client_get(fd, paths[i]);
        client_receive(fd, &r);
        assert_int_equal(r.status, 200);
        assert_non_null(
            strstr(r.head, "\r\nContent-Security-Policy: sandbox; default-src 'none'\r\n"));
        assert_non_null(strstr(r.head, "\r\nCross-Origin-Resource-Policy: same-origin\r\n"));
        assert_non_null(strstr(r.head, "\r\nX-Content-Type-Options: nosniff\r\n"));
        const char *stored = strstr(r.head, "\r\nContent-Disposition: attachment; filename=");
        assert_int_equal(stored != NULL, i == 2);
        assert_non_null(strstr(r.head, "\r\nX-Request-Id: "));
    }
    assert_non_null(strstr(r.head, "filename=\"a___X-Evil_ 1.html\"; "
                                   "filename*=UTF-8''a%22__X-Evil%3a%201.html\r\n"));
    assert_null(strstr(r.head, "\r\nX-Evil"));
    close(fd);
}

/* --- limits ----------------------------------------------------------------------------------- */

/* A body in pieces, without its length in front. */
static void send_chunked(int fd, size_t bytes)
{
    enum { PIECE = 100 };
    char piece[PIECE + 16];
    snprintf(piece, sizeof(piece), "%x\r\n%0*d\r\n", PIECE, PIECE, 0);
    char head[256];
    snprintf(head, sizeof(head),
             "POST /chunked HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nTransfer-Encoding: chunked\r\n\r\n",
             rig.port);
    bool open = client_send(fd, head);
    for (size_t sent = 0; open && sent < bytes; sent += PIECE) {
        open = client_send(fd, piece);
    }
    if (open) {
        client_send(fd, "0\r\n\r\n");
    }
}

static void a_body_up_to_the_limit_is_whole(void **state)
{
    (void)state;
    RESPONSE(r);
    char body[RIG_BODY_MAX + 1];
    memset(body, 'b', RIG_BODY_MAX);
    body[RIG_BODY_MAX] = '\0';
    int fd = client_connect();
    client_request(fd, "POST /", "", body);
    client_receive(fd, &r);
    assert_int_equal(r.status, 200);
    assert_string_equal(strchr(r.body.p, 'b'), body);
    send_chunked(fd, RIG_BODY_MAX);
    client_receive(fd, &r);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.body.len, strlen("POST /chunked||") + RIG_BODY_MAX);
    close(fd);
}

static void a_body_over_the_limit_is_413_and_the_connection_ends(void **state)
{
    (void)state;
    RESPONSE(r);
    char body[RIG_BODY_MAX + 2];
    memset(body, 'b', sizeof(body) - 1);
    body[sizeof(body) - 1] = '\0';
    int announced = client_connect(), chunked = client_connect();
    client_request(announced, "POST /", "", body);
    client_receive(announced, &r);
    assert_int_equal(r.status, 413);
    assert_true(client_is_closed(announced));
    send_chunked(chunked, RIG_BODY_MAX + 100);
    client_receive(chunked, &r);
    assert_int_equal(r.status, 413);
    assert_true(client_is_closed(chunked));
    assert_int_equal(seen.handled, 0);
    close(announced);
    close(chunked);
}

/* Reading on would be work for nothing. */
static void a_body_that_goes_on_beyond_the_limit_ends_the_connection(void **state)
{
    (void)state;
    RESPONSE(r);
    int endless = client_connect(), fd = client_connect();
    send_chunked(endless, 100 * RIG_BODY_MAX);
    client_receive(endless, &r);
    assert_int_equal(r.status, 0);
    assert_true(client_is_closed(endless));
    client_get(fd, "/next");
    client_receive(fd, &r);
    assert_int_equal(r.status, 200);
    assert_int_equal(seen.handled, 1);
    close(endless);
    close(fd);
}

/* The request of an nginx without further configuration. */
static void a_request_of_http_1_0_is_answered_and_ends_the_connection(void **state)
{
    (void)state;
    RESPONSE(r);
    int fd = client_connect();
    assert_true(client_send_line(fd, "GET /old HTTP/1.0"));
    client_receive(fd, &r);
    assert_int_equal(r.status, 200);
    assert_non_null(strstr(r.head, "Content-Length: "));
    assert_true(client_is_closed(fd));
    assert_int_equal(seen.handled, 1);
    close(fd);
}

static void head_is_answered_as_get_is_without_the_body(void **state)
{
    (void)state;
    RESPONSE(whole);
    RESPONSE(r);
    int fd = client_connect();
    assert_true(client_send_line(fd, "GET /x HTTP/1.1"));
    client_receive(fd, &whole);
    assert_true(client_send_line(fd, "HEAD /x HTTP/1.1"));
    assert_true(client_receive_head(fd, &r));
    assert_int_equal(r.status, 200);
    const char *length = strstr(r.head, "Content-Length: ");
    assert_non_null(length);
    assert_int_equal(strtoul(length + 16, NULL, 10), whole.body.len);
    /* The answer that follows begins at once, so no body stood between. */
    assert_true(client_send_line(fd, "GET /x HTTP/1.1"));
    client_receive(fd, &whole);
    assert_int_equal(whole.status, 200);
    assert_int_equal(seen.handled, 3);
    close(fd);
}

static void headers_that_are_too_large_are_431(void **state)
{
    (void)state;
    RESPONSE(r);
    enum { FIELD = 64 * 1024 };
    char *text = malloc(FIELD + 256);
    int n = snprintf(text, 256, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX-Large: ", rig.port);
    memset(text + n, 'x', FIELD);
    memcpy(text + n + FIELD, "\r\n\r\n", 5);
    int fd = client_connect();
    client_send(fd, text);
    client_receive(fd, &r);
    assert_int_equal(r.status, 431);
    assert_int_equal(seen.handled, 0);
    free(text);
    close(fd);
}

static void what_the_check_refuses_reaches_no_handler(void **state)
{
    (void)state;
    RESPONSE(r);
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        { "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421 },
        { "GET / HTTP/1.1\r\n\r\n", 400 },
        { "GET / HTTP/1.0\r\n\r\n", 400 },
        { "POST / HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", 400 },
        { "GET / HTTP/1.2\r\nHost: localhost\r\n\r\n", 505 },
        { "GET / HTTP/0.9\r\nHost: localhost\r\n\r\n", 505 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int fd = client_connect();
        assert_true(client_send(fd, cases[i].text));
        client_receive(fd, &r);
        assert_int_equal(r.status, cases[i].status);
        assert_non_null(strstr(r.head, "Connection: close\r\n"));
        assert_true(client_is_closed(fd));
        close(fd);
    }
    assert_int_equal(seen.handled, 0);
}

/* Line ends that libmicrohttpd and other readers of HTTP interpret differently (RFC 9112 2.2,
 * 5.2). */
static void lines_that_others_could_read_differently_are_refused(void **state)
{
    (void)state;
    RESPONSE(r);
#define FIRST "GET /healthz HTTP/1.1\r\n"
#define OURS  "Host: localhost\r\n"
#define TEXT(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
    static const struct {
        const char *text;
        size_t len;
    } cases[] = {
        TEXT("GET /healthz HTTP/1.1\nHost: localhost\n\n"),
        TEXT("GET /healthz HTTP/1.1\n" OURS "\r\n"),
        TEXT(FIRST "Host: localhost\n\r\n"),
        TEXT(FIRST OURS "\n"),
        TEXT(FIRST OURS "\nGET /admin HTTP/1.1\r\n" OURS "\r\n"),
        TEXT(FIRST OURS "X: a\nY: b\r\n\r\n"),
        TEXT(FIRST OURS "X: a\r\n b\r\n\r\n"),
        TEXT(FIRST OURS "X: a\r\n\tb\r\n\r\n"),
        TEXT(FIRST " X: a\r\n" OURS "\r\n"),
        TEXT(FIRST OURS "X: a\rY: b\r\n\r\n"),
        TEXT(FIRST OURS "X: a\r\r\n\r\n"),
        TEXT(FIRST OURS "X: a\0b\r\n\r\n"),
        TEXT(FIRST OURS "X: a\0bcdefgh\r\n\r\n"),
        TEXT(FIRST "Host: localhost\0.evil.example\r\n\r\n"),
        TEXT(FIRST OURS "X\0Y: a\r\n\r\n"),
        TEXT(FIRST OURS ": a\r\n\r\n"),
        TEXT(FIRST OURS ":\r\n\r\n"),
        TEXT(FIRST OURS ":\r\nX: y\r\n\r\n"),
        TEXT(FIRST OURS "no colon\r\n\r\n"),
        TEXT("GET /healthz\0x HTTP/1.1\r\n" OURS "\r\n"),
        TEXT("GET /healthz?a=\0b HTTP/1.1\r\n" OURS "\r\n"),
        TEXT("GET /healthz HTTP/1.1\0\r\n" OURS "\r\n"),
        TEXT("GET  /healthz HTTP/1.1\r\n" OURS "\r\n"),
        TEXT("GET\t/healthz HTTP/1.1\r\n" OURS "\r\n"),
        TEXT("GET /healthz HTTP/1.1 \r\n" OURS "\r\n"),
        TEXT("POST / HTTP/1.1\r\n" OURS "Content-Length: 3\r\n\nabc"),
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int fd = client_connect();
        assert_int_equal(send(fd, cases[i].text, cases[i].len, MSG_NOSIGNAL), cases[i].len);
        client_receive(fd, &r);
        if (r.status != 400 && r.status != 505) {
            fail_msg("case %zu: %d", i, r.status);
        }
        assert_true(client_is_closed(fd));
        close(fd);
    }
    assert_int_equal(seen.handled, 0);
#undef TEXT
#undef FIRST
#undef OURS
}

/* Headers are read where they were received, which moves while they grow. */
static void headers_of_any_size_and_in_any_pieces_are_taken(void **state)
{
    (void)state;
    RESPONSE(r);
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 64 * 1024);
    for (size_t field = 1; field < 20000; field = field * 3 + 1) {
        for (size_t piece = 1 + field / 5; piece < 2 * field + 200; piece += 1 + field) {
            int fd = client_connect();
            cbx_buf_reset(&text);
            cbx_buf_printf(&text,
                           "POST /x HTTP/1.1\r\nHost:127.0.0.1:%u \r\nEmpty:\r\nX: ", rig.port);
            for (size_t i = 0; i < field; i++) {
                cbx_buf_add_char(&text, 'x');
            }
            cbx_buf_add_cstr(&text, "\t\r\nCookie: a=b; c=d\r\nContent-Length: 4\r\n\r\nbody");
            for (size_t at = 0; at < text.len; at += piece) {
                size_t n = text.len - at < piece ? text.len - at : piece;
                assert_int_equal(send(fd, text.p + at, n, MSG_NOSIGNAL), n);
            }
            client_receive(fd, &r);
            if (r.status != 200) {
                fail_msg("a field of %zu bytes in pieces of %zu: %d", field, piece, r.status);
            }
            assert_string_equal(r.body.p, "POST /x||body");
            close(fd);
        }
    }
}

/* --- early answers ---------------------------------------------------------------------------- */

static void a_handler_answers_before_it_returns(void **state)
{
    (void)state;
    RESPONSE(r);
    int fd = client_connect();
    client_get(fd, "/early");
    client_receive(fd, &r);
    assert_int_equal(r.status, 201);
    assert_string_equal(r.body.p, "{\"early\":1}");
    assert_non_null(strstr(r.head, "Content-Type: application/json\r\n"));
    client_get(fd, "/after");
    client_receive(fd, &r);
    assert_string_equal(r.body.p, "GET /after||");
    RIG_AWAIT(seen.returned == 0);
    RIG_SET(seen.open = true);
    close(fd);
}

static void stopping_waits_for_a_handler_that_answered(void **state)
{
    (void)state;
    RESPONSE(r);
    int fd = client_connect();
    client_get(fd, "/early");
    client_receive(fd, &r);
    pthread_t stop = start_stop();
    RIG_SET(seen.open = true);
    pthread_join(stop, NULL);
    assert_int_equal(seen.returned, 1);
    close(fd);
}

/* --- stopping --------------------------------------------------------------------------------- */

/* Begins to stop; returns once the server refuses requests, with the refusal in *r. */
static pthread_t begin_stop(int fd, struct response *r)
{
    pthread_t thread = start_stop();
    do {
        client_get(fd, "/probe");
        client_receive(fd, r);
    } while (r->status == 200);
    return thread;
}

static void stopping_waits_for_handlers_and_refuses_new_requests(void **state)
{
    (void)state;
    RESPONSE(r);
    int fd = client_connect(), other = client_connect();
    client_get(fd, "/block");
    RIG_AWAIT(seen.handled == 1);
    pthread_t stop = begin_stop(other, &r);
    assert_int_equal(r.status, 503);
    assert_string_equal(r.body.p, "{\"detail\":\"the server is stopping\"}");
    assert_non_null(strstr(r.head, "Connection: close\r\n"));
    assert_true(client_is_closed(other));
    RIG_SET(seen.open = true);
    client_receive(fd, &r);
    assert_int_equal(r.status, 200);
    pthread_join(stop, NULL);
    assert_true(client_is_closed(fd));
    close(fd);
    close(other);
}

/* Returns when the server has read all bytes that were sent before: a turn of its event loop reads
 * every connection, and each of these requests takes a turn of its own at least. */
static void await_reading(void)
{
    RESPONSE(r);
    for (int i = 0; i < 2; i++) {
        int fd = client_connect();
        client_send(fd, "GET / HTTP/1.1\r\n\r\n"); /* refused in the event loop */
        client_receive(fd, &r);
        assert_int_equal(r.status, 400);
        close(fd);
    }
}

static void stopping_serves_what_is_queued(void **state)
{
    (void)state;
    RESPONSE(r);
    int fds[4];
    for (int i = 0; i < 4; i++) {
        fds[i] = client_connect();
        client_get(fds[i], i < 2 ? "/block" : "/queued");
        if (i == 1) {
            RIG_AWAIT(seen.handled == 2);
        }
    }
    await_reading();
    pthread_t stop = start_stop();
    RIG_SET(seen.open = true);
    for (int i = 0; i < 4; i++) {
        client_receive(fds[i], &r);
        assert_int_equal(r.status, 200);
        close(fds[i]);
    }
    pthread_join(stop, NULL);
}

static void listens_on_addresses_alone(void **state)
{
    (void)state;
    uint16_t port = 0;
    struct cbx_err err;
    assert_int_equal(cbx_http_listen("localhost", 0, &port, &err), CBX_EINVAL);
    assert_int_equal(cbx_http_listen("192.0.2.1", 0, &port, &err), CBX_EIO); /* not of this host */
    int fd = cbx_http_listen("127.0.0.1", 0, &port, &err);
    assert_true(fd >= 0);
    assert_int_not_equal(port, 0);
    close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(serves_several_requests_on_one_connection),
        TEST(answers_pipelined_requests_in_their_order),
        TEST(a_request_waits_while_all_threads_are_busy),
        TEST(a_client_that_leaves_costs_no_other_client),
        TEST(sends_fields_that_the_response_asks_for),
        TEST(nothing_that_is_served_runs_in_a_browser_and_a_file_is_stored),
        TEST(a_body_up_to_the_limit_is_whole),
        TEST(a_request_of_http_1_0_is_answered_and_ends_the_connection),
        TEST(head_is_answered_as_get_is_without_the_body),
        TEST(a_body_over_the_limit_is_413_and_the_connection_ends),
        TEST(a_body_that_goes_on_beyond_the_limit_ends_the_connection),
        TEST(headers_that_are_too_large_are_431),
        TEST(what_the_check_refuses_reaches_no_handler),
        TEST(lines_that_others_could_read_differently_are_refused),
        TEST(headers_of_any_size_and_in_any_pieces_are_taken),
        TEST(a_handler_answers_before_it_returns),
        TEST(stopping_waits_for_a_handler_that_answered),
        TEST(stopping_waits_for_handlers_and_refuses_new_requests),
        TEST(stopping_serves_what_is_queued),
        cmocka_unit_test(listens_on_addresses_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
