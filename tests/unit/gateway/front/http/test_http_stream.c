/* SPDX-License-Identifier: MIT
 * Response bodies that one thread produces while the event loop sends them, with real connections.
 */
#include "tests/unit/gateway/front/http/rig.h"

#include "policies/base/time/clock.h"

/* The stream of the last request, for its producer, under the rig's lock. */
static struct {
    struct cbx_http_stream *stream;
    int ended; /* exchanges of "/noted", and those before that are over */
} seen;

static void note_end(void *context)
{
    (void)context;
    RIG_SET(seen.ended++);
}

static struct cbx_http_stream *take_stream(void)
{
    RIG_AWAIT(seen.stream != NULL);
    return cbx_steal(&seen.stream);
}

static void handle(void *context, const struct cbx_http_request *request,
                   struct cbx_http_response *out)
{
    (void)context;
    if (cbx_str_is(request->path, "/look")) {
        cbx_http_drop_gone(request->exchange);
        out->status = 204;
        return;
    }
    if (cbx_str_is(request->path, "/noted")) {
        cbx_http_on_end(request->exchange, note_end, NULL);
    }
    struct cbx_http_stream *stream = cbx_http_stream_new();
    out->status = 200;
    out->type = "text/event-stream";
    out->stream = stream;
    if (cbx_str_is(request->path, "/ended")) { /* before the server has connected it */
        cbx_http_stream_add(stream, request->query);
        cbx_http_stream_end(stream);
        return;
    }
    RIG_SET(seen.stream = stream);
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

/* Bytes by their place, so that a lost, doubled or moved piece shows. */
static void fill(char *to, size_t at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        to[i] = (char)('a' + (at + i) * 2654435761u / 65536 % 26);
    }
}

/* A thread that adds so many pieces of this length and ends the stream. */
struct producer {
    size_t pieces, len;
    size_t added; /* pieces that were taken */
    int failed;   /* result of the first failed addition */
    pthread_t thread;
};

static void *produce(void *context)
{
    struct producer *p = context;
    struct cbx_http_stream *stream = take_stream();
    char *piece = malloc(p->len);
    for (; p->added < p->pieces && !p->failed; p->added += !p->failed) {
        fill(piece, p->added * p->len, p->len);
        p->failed = cbx_http_stream_add(stream, (struct cbx_str){ .p = piece, .len = p->len });
    }
    free(piece);
    cbx_http_stream_end(stream);
    return NULL;
}

static void start_producing(struct producer *p)
{
    pthread_create(&p->thread, NULL, produce, p);
}

static void assert_received(const struct response *r, size_t bytes)
{
    assert_int_equal(r->status, 200);
    assert_int_equal(r->body.len, bytes);
    char *want = malloc(bytes);
    fill(want, 0, bytes);
    assert_memory_equal(r->body.p, want, bytes);
    free(want);
}

/* --- completeness ----------------------------------------------------------------------------- */

static void many_small_pieces_arrive_whole_and_in_order(void **state)
{
    (void)state;
    RESPONSE(r);
    struct producer p = { .pieces = 50000, .len = 7 };
    int fd = client_connect();
    start_producing(&p);
    client_get(fd, "/");
    client_receive(fd, &r);
    pthread_join(p.thread, NULL);
    assert_int_equal(p.failed, 0);
    assert_received(&r, p.pieces * p.len);
    assert_non_null(strstr(r.head, "Content-Type: text/event-stream\r\n"));
    close(fd);
}

static void more_than_the_queue_holds_arrives_whole(void **state)
{
    (void)state;
    RESPONSE(r);
    struct producer p = { .pieces = 16, .len = 700 * 1000 };
    int fd = client_connect();
    start_producing(&p);
    client_get(fd, "/");
    client_receive(fd, &r);
    pthread_join(p.thread, NULL);
    assert_int_equal(p.failed, 0);
    assert_received(&r, p.pieces * p.len);
    close(fd);
}

static void a_piece_is_sent_before_the_next_is_added(void **state)
{
    (void)state;
    char head[4096], line[64], bytes[8];
    int fd = client_connect();
    client_get(fd, "/");
    assert_true(receive_until(fd, "\r\n\r\n", head, sizeof(head)));
    struct cbx_http_stream *stream = take_stream();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cbx_http_stream_add(stream, CBX_STR("event\n")), 0);
        assert_true(receive_until(fd, "\r\n", line, sizeof(line)));
        assert_int_equal(strtoul(line, NULL, 16), 6);
        assert_int_equal(recv(fd, bytes, 8, MSG_WAITALL), 8);
        assert_memory_equal(bytes, "event\n\r\n", 8);
    }
    cbx_http_stream_end(stream);
    assert_true(receive_until(fd, "0\r\n\r\n", line, sizeof(line)));
    close(fd);
}

static void a_stream_that_ended_before_it_is_connected_is_sent(void **state)
{
    (void)state;
    RESPONSE(r);
    int fd = client_connect();
    static const char *const bodies[] = { "all", "" };
    for (int i = 0; i < 2; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/ended?%s", bodies[i]);
        client_get(fd, path);
        client_receive(fd, &r);
        assert_int_equal(r.status, 200);
        assert_string_equal(r.body.p, bodies[i]);
    }
    close(fd); /* the connection was used again after a stream */
}

/* --- clients that disconnect, streams without a reader ---------------------------------------- */

static void the_producer_gets_an_error_after_its_client_left(void **state)
{
    (void)state;
    char head[4096];
    /* Far more than the sockets and the queue hold. */
    struct producer p = { .pieces = 100000, .len = 64 * 1024 };
    int fd = client_connect();
    client_get(fd, "/");
    assert_true(receive_until(fd, "\r\n\r\n", head, sizeof(head)));
    close(fd);
    start_producing(&p);
    pthread_join(p.thread, NULL);
    assert_int_equal(p.failed, CBX_EIO);
}

static void a_producer_that_waits_for_its_client_ends_when_the_client_leaves(void **state)
{
    (void)state;
    char head[4096];
    struct producer p = { .pieces = 100000, .len = 64 * 1024 };
    int fd = client_connect();
    start_producing(&p);
    client_get(fd, "/"); /* and reads no more than the head */
    assert_true(receive_until(fd, "\r\n\r\n", head, sizeof(head)));
    close(fd);
    pthread_join(p.thread, NULL);
    assert_int_equal(p.failed, CBX_EIO);
}

/* The number of exchanges that are over, with the rig's lock. */
static int count_ended(void)
{
    pthread_mutex_lock(&rig.lock);
    int ended = seen.ended;
    pthread_mutex_unlock(&rig.lock);
    return ended;
}

static void an_exchange_is_over_when_its_stream_is(void **state)
{
    (void)state;
    RESPONSE(r);
    int fd = client_connect();
    client_get(fd, "/noted");
    struct cbx_http_stream *stream = take_stream();
    assert_int_equal(cbx_http_stream_add(stream, CBX_STR("one")), 0);
    assert_int_equal(count_ended(), 0);
    cbx_http_stream_end(stream);
    client_receive(fd, &r);
    assert_string_equal(r.body.p, "one");
    RIG_AWAIT(seen.ended == 1);
    close(fd);
}

/* The server writes nothing to the connection, so no write fails. */
static void a_silent_stream_whose_client_left_ends_when_the_server_looks(void **state)
{
    (void)state;
    RESPONSE(r);
    char head[4096];
    int gone = client_connect(), stays = client_connect(), other = client_connect();
    client_get(gone, "/noted");
    struct cbx_http_stream *first = take_stream();
    assert_true(receive_until(gone, "\r\n\r\n", head, sizeof(head)));
    client_get(stays, "/noted");
    struct cbx_http_stream *second = take_stream();
    assert_true(receive_until(stays, "\r\n\r\n", head, sizeof(head)));
    close(gone);
    int64_t deadline = cbx_clock_ms() + RIG_WAIT_MS;
    while (count_ended() == 0 && cbx_clock_ms() < deadline) {
        client_get(other, "/look");
        client_receive(other, &r);
        assert_int_equal(r.status, 204);
    }
    assert_int_equal(count_ended(), 1);
    assert_int_equal(cbx_http_stream_add(first, CBX_STR("more")), CBX_EIO);
    assert_int_equal(cbx_http_stream_add(second, CBX_STR("more")), 0);
    cbx_http_stream_end(first);
    cbx_http_stream_end(second);
    RIG_AWAIT(seen.ended == 2);
    close(stays);
    close(other);
}

/* The client neither reads nor disconnects. */
static void a_client_that_reads_nothing_holds_its_producer_no_longer_than_the_limit(void **state)
{
    (void)state;
    char head[4096];
    struct producer p = { .pieces = 100000, .len = 64 * 1024 };
    rig_start_limited(handle, 2, (struct cbx_http_limits){ .stall_ms = 100 });
    int fd = client_connect();
    client_get(fd, "/");
    assert_true(receive_until(fd, "\r\n\r\n", head, sizeof(head)));
    start_producing(&p);
    pthread_join(p.thread, NULL);
    assert_int_equal(p.failed, CBX_EIO);
    assert_true(p.added > 16); /* the items of the queue were taken */
    rig_stop();
    close(fd);
}

static void a_stream_that_is_never_sent_takes_nothing(void **state)
{
    (void)state;
    struct cbx_http_stream *stream = cbx_http_stream_new();
    assert_int_equal(cbx_http_stream_add(stream, CBX_STR("lost")), 0);
    cbx_http_stream_discard(stream);
    assert_int_equal(cbx_http_stream_add(stream, CBX_STR("more")), CBX_EIO);
    cbx_http_stream_end(stream);
    stream = cbx_http_stream_new();
    cbx_http_stream_end(stream);
    cbx_http_stream_discard(stream);
}

/* --- stopping --------------------------------------------------------------------------------- */

static void *stop_in_thread(void *server)
{
    cbx_http_server_free(server);
    return NULL;
}

static void a_stream_that_ends_while_the_server_stops_is_sent_whole(void **state)
{
    (void)state;
    RESPONSE(r);
    pthread_t stop;
    struct producer p = { .pieces = 20, .len = 1000 };
    int fd = client_connect();
    client_get(fd, "/");
    RIG_AWAIT(seen.stream != NULL);
    pthread_create(&stop, NULL, stop_in_thread, cbx_steal(&rig.server));
    start_producing(&p);
    client_receive(fd, &r);
    pthread_join(p.thread, NULL);
    pthread_join(stop, NULL);
    assert_received(&r, p.pieces * p.len);
    close(fd);
}

static void stopping_cuts_a_stream_that_does_not_end(void **state)
{
    (void)state;
    RESPONSE(r);
    int fd = client_connect();
    client_get(fd, "/");
    struct cbx_http_stream *stream = take_stream();
    assert_int_equal(cbx_http_stream_add(stream, CBX_STR("begun")), 0);
    rig_stop();
    client_receive(fd, &r);
    assert_int_equal(r.status, 0); /* the client detects the incomplete body */
    assert_string_equal(r.body.p, "begun");
    assert_int_equal(cbx_http_stream_add(stream, CBX_STR("more")), CBX_EIO);
    cbx_http_stream_end(stream);
    close(fd);
    rig_start(handle, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_small_pieces_arrive_whole_and_in_order),
        TEST(more_than_the_queue_holds_arrives_whole),
        TEST(a_piece_is_sent_before_the_next_is_added),
        TEST(a_stream_that_ended_before_it_is_connected_is_sent),
        TEST(the_producer_gets_an_error_after_its_client_left),
        TEST(a_producer_that_waits_for_its_client_ends_when_the_client_leaves),
        TEST(an_exchange_is_over_when_its_stream_is),
        TEST(a_silent_stream_whose_client_left_ends_when_the_server_looks),
        cmocka_unit_test(a_client_that_reads_nothing_holds_its_producer_no_longer_than_the_limit),
        cmocka_unit_test(a_stream_that_is_never_sent_takes_nothing),
        TEST(a_stream_that_ends_while_the_server_stops_is_sent_whole),
        TEST(stopping_cuts_a_stream_that_does_not_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
