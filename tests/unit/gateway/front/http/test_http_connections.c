/* SPDX-License-Identifier: MIT
 * Places and deadlines of connections: clients that send slowly or not at all, and the service for
 * others meanwhile. Deadlines are short, and the tests check only their effects. */
#include "gateway/front/http/http_connections.h"
#include "tests/unit/gateway/front/http/rig.h"

#include <poll.h>
#include <sys/resource.h>

enum { SHORT_MS = 400, LARGE_BYTES = 32 * 1024 * 1024 };

/* Inputs and results of handlers, under the rig's lock. */
static struct {
    bool open;
    int handled;
    struct cbx_http_stream *stream;
} seen;

static void handle(void *context, const struct cbx_http_request *request,
                   struct cbx_http_response *out)
{
    (void)context;
    out->status = 200;
    if (cbx_str_is(request->path, "/stream")) {
        out->stream = cbx_http_stream_new();
        RIG_SET(seen.stream = out->stream);
        return;
    }
    if (cbx_str_is(request->path, "/large")) {
        out->bytes = calloc(1, LARGE_BYTES);
        out->bytes_len = LARGE_BYTES;
        return;
    }
    RIG_SET(seen.handled++);
    if (cbx_str_is(request->path, "/block")) {
        RIG_AWAIT(seen.open);
    }
    out->json = json_pack("{s:i}", "fine", 1);
}

static void begin(struct cbx_http_limits limits)
{
    memset(&seen, 0, sizeof(seen));
    rig_start_limited(handle, 2, limits);
}

static const struct cbx_http_limits short_limits = {
    .headers_ms = SHORT_MS, .body_ms = SHORT_MS, .answer_ms = SHORT_MS, .idle_ms = SHORT_MS
};

/* Sends a byte again and again, until the server answers or closes. */
static void dribble(int fd, const char *byte)
{
    enum { STEP_MS = 5, STEPS = RIG_WAIT_MS / STEP_MS };
    struct pollfd answer = { .fd = fd, .events = POLLIN };
    for (int i = 0; i < STEPS && poll(&answer, 1, STEP_MS) == 0; i++) {
        client_send(fd, byte);
    }
}

static void assert_408(int fd, const char *part)
{
    RESPONSE(r);
    client_receive(fd, &r);
    assert_int_equal(r.status, 408);
    assert_non_null(strstr(r.head, "\r\nConnection: close\r\n"));
    assert_non_null(strstr(r.head, "\r\nX-Content-Type-Options: nosniff\r\n"));
    assert_non_null(strstr(r.body.p, part));
    assert_true(client_is_closed(fd));
    close(fd);
}

/* Opens a client whose deadline begins after all earlier actions of the test. */
static void await_a_deadline(void)
{
    assert_408(client_connect(), "the headers of the request did not arrive");
}

static int get_status(int fd, const char *path)
{
    RESPONSE(r);
    client_get(fd, path);
    client_receive(fd, &r);
    return r.status;
}

/* --- deadlines -------------------------------------------------------------------------------- */

static void headers_that_come_byte_by_byte_have_one_deadline(void **state)
{
    (void)state;
    begin(short_limits);
    int fd = client_connect();
    client_send(fd, "GET / HTTP/1.1\r\nX-Slow: ");
    dribble(fd, "x");
    assert_408(fd, "the headers of the request did not arrive");
    assert_int_equal(seen.handled, 0);
    rig_stop();
}

/* The server receives no first line. */
static void so_have_those_of_a_client_that_sends_less_than_a_line(void **state)
{
    (void)state;
    begin(short_limits);
    int fd = client_connect();
    dribble(fd, "G");
    assert_408(fd, "the headers of the request did not arrive");
    await_a_deadline(); /* deadline of a client that sends nothing */
    rig_stop();
}

static void a_body_that_comes_byte_by_byte_has_one_deadline(void **state)
{
    (void)state;
    begin(short_limits);
    int fd = client_connect();
    char head[256];
    snprintf(head, sizeof(head),
             "POST / HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: %d\r\n\r\n", rig.port,
             RIG_BODY_MAX);
    client_send(fd, head);
    dribble(fd, "x");
    assert_408(fd, "the body of the request did not arrive");
    assert_int_equal(seen.handled, 0);
    rig_stop();
}

static void a_connection_that_is_not_used_again_is_closed_without_an_answer(void **state)
{
    (void)state;
    begin(short_limits);
    int fd = client_connect();
    assert_int_equal(get_status(fd, "/"), 200);
    assert_true(client_is_closed(fd));
    close(fd);
    rig_stop();
}

/* The deadline does not change: a client that begins a request gains only the response. */
static void the_second_request_of_a_connection_has_a_deadline_too(void **state)
{
    (void)state;
    begin(short_limits);
    int fd = client_connect();
    assert_int_equal(get_status(fd, "/"), 200);
    client_send(fd, "GET / HTTP/1.1\r\nX-Slow: ");
    dribble(fd, "x");
    assert_408(fd, "the headers of the request did not arrive");
    rig_stop();
}

static void a_client_that_waits_for_its_answer_has_no_deadline(void **state)
{
    (void)state;
    RESPONSE(r);
    begin(short_limits);
    int waiting = client_connect(), streaming = client_connect();
    client_get(waiting, "/block");
    client_get(streaming, "/stream");
    RIG_AWAIT(seen.handled == 1 && seen.stream != NULL);
    for (int i = 0; i < 2; i++) {
        await_a_deadline();
    }
    cbx_http_stream_add(seen.stream, CBX_STR("event"));
    await_a_deadline();
    RIG_SET(seen.open = true);
    client_receive(waiting, &r);
    assert_int_equal(r.status, 200);
    cbx_http_stream_end(seen.stream);
    client_receive(streaming, &r);
    assert_int_equal(r.status, 200);
    assert_string_equal(r.body.p, "event");
    close(waiting);
    close(streaming);
    rig_stop();
}

/* The response is larger than the sockets' buffers, and the client reads its beginning. */
static void a_client_that_does_not_read_its_answer_loses_it(void **state)
{
    (void)state;
    RESPONSE(r);
    char head[1024];
    begin(short_limits);
    int slow = client_connect();
    client_get(slow, "/large");
    assert_true(receive_until(slow, "\r\n\r\n", head, sizeof(head)));
    await_a_deadline();
    await_a_deadline();
    assert_false(receive_bytes(slow, &r.body, LARGE_BYTES));
    assert_true(r.body.len > 0);
    close(slow);
    rig_stop();
}

/* --- places ----------------------------------------------------------------------------------- */

/* Clients that hold their places: each reads a stream. */
struct held {
    int fd;
    struct cbx_http_stream *stream;
};

static void take_places(struct held *held, int count)
{
    char head[1024];
    for (int i = 0; i < count; i++) {
        held[i].fd = client_connect();
        client_get(held[i].fd, "/stream");
        RIG_AWAIT(seen.stream != NULL);
        held[i].stream = cbx_steal(&seen.stream);
        assert_true(receive_until(held[i].fd, "\r\n\r\n", head, sizeof(head)));
    }
}

/* All responses are complete. */
static void release_places(const struct held *held, int count)
{
    char body[64];
    for (int i = 0; i < count; i++) {
        assert_int_equal(cbx_http_stream_add(held[i].stream, CBX_STR("event")), 0);
        cbx_http_stream_end(held[i].stream);
        assert_true(receive_until(held[i].fd, "event\r\n0\r\n\r\n", body, sizeof(body)));
        close(held[i].fd);
    }
}

static void assert_refused(int status, const char *says)
{
    RESPONSE(r);
    int fd = client_connect();
    client_get(fd, "/");
    client_receive(fd, &r);
    assert_int_equal(r.status, status);
    assert_non_null(strstr(r.head, "\r\nRetry-After: 1\r\n"));
    assert_non_null(strstr(r.body.p, says));
    assert_true(client_is_closed(fd));
    close(fd);
}

static void assert_healthy(void)
{
    int fd = client_connect();
    assert_int_equal(get_status(fd, "/healthz"), 200);
    assert_true(client_is_closed(fd)); /* its place is for the next one */
    close(fd);
}

static void beyond_the_limit_of_all_is_503_and_health_is_answered(void **state)
{
    (void)state;
    enum { PLACES = 3 };
    struct held held[PLACES];
    begin((struct cbx_http_limits){ .connections = PLACES });
    take_places(held, PLACES);
    for (int i = 0; i < 3; i++) {
        assert_refused(503, "all connections of the server are in use");
        assert_healthy();
    }
    release_places(held, PLACES);
    rig_stop();
}

static void beyond_the_limit_of_one_peer_is_429_and_health_is_answered(void **state)
{
    (void)state;
    enum { PLACES = 3 };
    struct held held[PLACES];
    begin((struct cbx_http_limits){ .per_peer = PLACES });
    take_places(held, PLACES);
    for (int i = 0; i < 3; i++) {
        assert_refused(429, "as many connections as one client may");
        assert_healthy();
    }
    release_places(held, PLACES);
    rig_stop();
}

static void a_place_is_free_again_when_its_connection_ends(void **state)
{
    (void)state;
    enum { PLACES = 2, TRIES = 1000 };
    struct held held[PLACES];
    int status = 0;
    begin((struct cbx_http_limits){ .connections = PLACES });
    take_places(held, PLACES);
    release_places(held, PLACES);
    for (int i = 0; i < TRIES && status != 200; i++) { /* until the server has read it */
        int fd = client_connect();
        status = get_status(fd, "/");
        close(fd);
    }
    assert_int_equal(status, 200);
    rig_stop();
}

static void the_connection_that_is_idle_longest_gives_its_place(void **state)
{
    (void)state;
    enum { PLACES = 3 };
    static const struct cbx_http_limits limits[] = { { .connections = PLACES },
                                                     { .per_peer = PLACES } };
    for (size_t i = 0; i < 2; i++) {
        struct held held[1];
        begin(limits[i]);
        take_places(held, 1);
        int first = client_connect(), second = client_connect();
        assert_int_equal(get_status(first, "/"), 200);
        assert_int_equal(get_status(second, "/"), 200);
        assert_int_equal(get_status(first, "/"), 200);
        int newcomer = client_connect();
        assert_int_equal(get_status(newcomer, "/"), 200);
        assert_true(client_is_closed(second));
        assert_int_equal(get_status(first, "/"), 200);
        release_places(held, 1);
        close(first);
        close(second);
        close(newcomer);
        rig_stop();
    }
}

/* With deadlines that never expire: the reserve stays free because the longest waiting connection
 * in it is closed. */
static void clients_that_send_nothing_do_not_fill_the_reserve(void **state)
{
    (void)state;
    enum { PLACES = 2, RESERVE = 4, IDLE = 40 };
    struct held held[PLACES];
    int idle[IDLE];
    begin((struct cbx_http_limits){ .connections = PLACES, .reserve = RESERVE });
    take_places(held, PLACES);
    for (int i = 0; i < IDLE; i++) {
        idle[i] = client_connect();
        client_send(idle[i], i % 2 == 0 ? "GET /healthz HTTP/1.1\r\n" : "");
        if (i % 10 == 9) {
            assert_healthy();
        }
    }
    assert_true(client_is_closed(idle[0]));
    for (int i = 0; i < IDLE; i++) {
        close(idle[i]);
    }
    release_places(held, PLACES);
    rig_stop();
}

static void health_is_answered_while_all_handlers_are_busy(void **state)
{
    (void)state;
    RESPONSE(r);
    int busy[3];
    begin((struct cbx_http_limits){ 0 });
    for (int i = 0; i < 3; i++) { /* two threads serve; the third request waits */
        busy[i] = client_connect();
        client_get(busy[i], "/block");
    }
    RIG_AWAIT(seen.handled == 2);
    int fd = client_connect();
    assert_int_equal(get_status(fd, "/healthz?x=1"), 200);
    assert_int_equal(get_status(fd, "/healthz"), 200); /* outside of the reserve, it stays open */
    RIG_SET(seen.open = true);
    for (int i = 0; i < 3; i++) {
        client_receive(busy[i], &r);
        assert_int_equal(r.status, 200);
        close(busy[i]);
    }
    close(fd);
    rig_stop();
}

/* Streams that wait for events are suspended connections: no thread, no deadline, one place
 * each. */
static void a_thousand_streams_of_one_client_leave_room_for_its_requests(void **state)
{
    (void)state;
    enum { STREAMS = 1000, DESCRIPTORS = 3000 };
    struct rlimit most;
    static struct held held[STREAMS];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &most), 0);
    if (most.rlim_max < DESCRIPTORS) {
        skip(); /* both ends of each connection are in this process */
    }
    begin((struct cbx_http_limits){ 0 });
    take_places(held, STREAMS);
    int fd = client_connect();
    assert_int_equal(get_status(fd, "/"), 200);
    release_places(held, STREAMS);
    close(fd);
    rig_stop();
}

/* --- peers ------------------------------------------------------------------------------------ */

static enum cbx_http_place place_of(struct cbx_http_connections *all, const char *address,
                                    struct cbx_http_connection **entry)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    bool is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;
    assert_true(is_v4 || inet_pton(AF_INET6, address, &v6.sin6_addr) == 1);
    *entry = cbx_http_connection_add(
        all, -1, is_v4 ? (const struct sockaddr *)&v4 : (const struct sockaddr *)&v6);
    return cbx_http_connection_place(*entry);
}

static void a_peer_is_a_host_whatever_its_loopback_address_or_interface(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        bool same;
    } pairs[] = {
        { "127.0.0.1", "127.0.0.1", true },     { "127.0.0.1", "127.200.3.4", true },
        { "10.0.0.1", "10.0.0.1", true },       { "10.0.0.1", "10.0.0.2", false },
        { "127.0.0.1", "::1", false },          { "::1", "::1", true },
        { "2001:db8::1", "2001:db8::2", true }, { "2001:db8::1", "2001:db8:0:1::1", false },
        { "10.0.0.1", "a00:1::", false },
    };
    struct cbx_http_limits limits = { .per_peer = 1 };
    cbx_http_limits_resolve(&limits);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct cbx_http_connection *first, *second;
        struct cbx_http_connections *all = cbx_http_connections_new(&limits, rig_refuse);
        assert_int_equal(place_of(all, pairs[i].first, &first), CBX_PLACE_ORDINARY);
        assert_int_equal(place_of(all, pairs[i].second, &second),
                         pairs[i].same ? CBX_PLACE_RESERVE_PEER : CBX_PLACE_ORDINARY);
        cbx_http_connection_remove(all, first);
        cbx_http_connection_remove(all, second);
        cbx_http_connections_free(all);
    }
}

static void the_defaults_leave_room_for_a_thousand_streams_of_one_client(void **state)
{
    (void)state;
    struct cbx_http_limits limits = { 0 };
    cbx_http_limits_resolve(&limits);
    assert_true(limits.per_peer > 1000 + 256);
    assert_true(limits.connections >= limits.per_peer);
    assert_true(limits.reserve > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_that_come_byte_by_byte_have_one_deadline),
        cmocka_unit_test(so_have_those_of_a_client_that_sends_less_than_a_line),
        cmocka_unit_test(a_body_that_comes_byte_by_byte_has_one_deadline),
        cmocka_unit_test(a_connection_that_is_not_used_again_is_closed_without_an_answer),
        cmocka_unit_test(the_second_request_of_a_connection_has_a_deadline_too),
        cmocka_unit_test(a_client_that_waits_for_its_answer_has_no_deadline),
        cmocka_unit_test(a_client_that_does_not_read_its_answer_loses_it),
        cmocka_unit_test(beyond_the_limit_of_all_is_503_and_health_is_answered),
        cmocka_unit_test(beyond_the_limit_of_one_peer_is_429_and_health_is_answered),
        cmocka_unit_test(a_place_is_free_again_when_its_connection_ends),
        cmocka_unit_test(the_connection_that_is_idle_longest_gives_its_place),
        cmocka_unit_test(clients_that_send_nothing_do_not_fill_the_reserve),
        cmocka_unit_test(health_is_answered_while_all_handlers_are_busy),
        cmocka_unit_test(a_thousand_streams_of_one_client_leave_room_for_its_requests),
        cmocka_unit_test(a_peer_is_a_host_whatever_its_loopback_address_or_interface),
        cmocka_unit_test(the_defaults_leave_room_for_a_thousand_streams_of_one_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
