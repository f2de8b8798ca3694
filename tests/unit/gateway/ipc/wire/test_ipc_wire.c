/* SPDX-License-Identifier: MIT
 * Messages between processes when the other end is hostile, slow or closed. */
#include "gateway/ipc/wire/ipc_wire.h"
#include "tests/unit/gateway/scratch.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>

struct ends {
    int a, b;
    struct cbx_message message;
    struct cbx_err err;
};

static void begin(struct ends *e)
{
    int pair[2];
    *e = (struct ends){ 0 };
    assert_int_equal(cbx_wire_pair(pair, &e->err), 0);
    e->a = pair[0];
    e->b = pair[1];
    cbx_message_init(&e->message);
}

static void end(struct ends *e)
{
    cbx_message_done(&e->message);
    cbx_fd_auto(&e->a);
    cbx_fd_auto(&e->b);
}

static void send_raw(struct ends *e, uint32_t header, uint32_t bytes, const char *rest, size_t len)
{
    uint32_t lengths[2] = { header, bytes };
    assert_int_equal(send(e->a, lengths, sizeof(lengths), 0), sizeof(lengths));
    assert_int_equal(len > 0 ? send(e->a, rest, len, 0) : 0, len);
}

static int receive(struct ends *e, int timeout_ms)
{
    return cbx_wire_receive(e->b, timeout_ms, &e->message, &e->err);
}

static void carries_a_header_and_bytes_with_nul(void **state)
{
    (void)state;
    struct ends e;
    begin(&e);
    CBX_AUTO_JSON header = json_pack("{s:s%}", "op", "a\0b", (size_t)3);
    for (int timeout = -1; timeout < 20000; timeout += 10001) {
        assert_int_equal(cbx_wire_send(e.a, header, CBX_STR("x\0y"), &e.err), 0);
        assert_int_equal(cbx_wire_send(e.a, header, (struct cbx_str){ 0 }, &e.err), 0);
        assert_int_equal(receive(&e, timeout), 0);
        assert_true(json_equal(e.message.header, header));
        assert_true(cbx_str_equal(cbx_buf_str(&e.message.bytes), CBX_STR("x\0y")));
        assert_int_equal(receive(&e, timeout), 0);
        assert_int_equal(e.message.bytes.len, 0);
    }
    end(&e);
}

static void *send_large(void *context)
{
    struct ends *e = context;
    char *bytes = calloc(1, CBX_WIRE_BYTES_MAX);
    CBX_AUTO_JSON header = json_object();
    bytes[CBX_WIRE_BYTES_MAX - 1] = 'z';
    struct cbx_str all = { .p = bytes, .len = CBX_WIRE_BYTES_MAX };
    int failed = cbx_wire_send(e->a, header, all, NULL);
    free(bytes);
    return failed ? context : NULL;
}

static void carries_as_much_as_is_allowed_through_a_small_socket(void **state)
{
    (void)state;
    struct ends e;
    pthread_t thread;
    void *failed;
    begin(&e);
    assert_int_equal(pthread_create(&thread, NULL, send_large, &e), 0);
    assert_int_equal(receive(&e, DEADLINE_MS), 0);
    pthread_join(thread, &failed);
    assert_null(failed);
    assert_int_equal(e.message.bytes.len, CBX_WIRE_BYTES_MAX);
    assert_int_equal(e.message.bytes.p[CBX_WIRE_BYTES_MAX - 1], 'z');
    end(&e);
}

static void sends_nothing_that_is_too_large(void **state)
{
    (void)state;
    struct ends e;
    begin(&e);
    CBX_AUTO_JSON header = json_object();
    struct cbx_str bytes = { .p = "x", .len = (size_t)CBX_WIRE_BYTES_MAX + 1 };
    assert_int_equal(cbx_wire_send(e.a, header, bytes, &e.err), CBX_ETOOBIG);
    char *text = calloc(1, CBX_WIRE_HEADER_MAX);
    memset(text, 'x', CBX_WIRE_HEADER_MAX);
    json_object_set_new(header, "text", json_stringn(text, CBX_WIRE_HEADER_MAX));
    free(text);
    assert_int_equal(cbx_wire_send(e.a, header, CBX_STR("x"), &e.err), CBX_ETOOBIG);
    struct pollfd ready = { .fd = e.b, .events = POLLIN };
    assert_int_equal(poll(&ready, 1, 0), 0);
    end(&e);
}

/* A length is refused before memory is allocated for it. */
static void refuses_lengths_over_the_caps(void **state)
{
    (void)state;
    static const uint32_t lengths[][2] = { { CBX_WIRE_HEADER_MAX + 1, 0 },
                                           { 2, CBX_WIRE_BYTES_MAX + 1 },
                                           { UINT32_MAX, UINT32_MAX } };
    for (size_t i = 0; i < 3; i++) {
        struct ends e;
        begin(&e);
        send_raw(&e, lengths[i][0], lengths[i][1], "{}", 2);
        assert_int_equal(receive(&e, DEADLINE_MS), CBX_EPROTO);
        assert_null(e.message.header);
        end(&e);
    }
}

static void refuses_headers_that_are_not_json(void **state)
{
    (void)state;
    static const char *const headers[] = { "", "{", "{}x", "{\"a\":1,\"a\":2}", "\xff", "nul" };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        struct ends e;
        begin(&e);
        send_raw(&e, (uint32_t)strlen(headers[i]), 0, headers[i], strlen(headers[i]));
        assert_int_equal(receive(&e, DEADLINE_MS), CBX_EPROTO);
        end(&e);
    }
}

static void reports_a_closed_connection_at_every_byte(void **state)
{
    (void)state;
    static const char whole[] = "\2\0\0\0\3\0\0\0{}abc";
    for (size_t len = 0; len < sizeof(whole) - 1; len++) {
        struct ends e;
        begin(&e);
        assert_int_equal(len > 0 ? send(e.a, whole, len, 0) : 0, len);
        cbx_fd_auto(&e.a);
        assert_int_equal(receive(&e, len % 2 == 0 ? DEADLINE_MS : -1), CBX_EIO);
        assert_null(e.message.header);
        end(&e);
    }
}

static void keeps_the_deadline_wherever_the_other_end_stops(void **state)
{
    (void)state;
    static const char whole[] = "\2\0\0\0\3\0\0\0{}abc";
    for (size_t len = 0; len < sizeof(whole) - 1; len++) {
        struct ends e;
        begin(&e);
        assert_int_equal(len > 0 ? send(e.a, whole, len, 0) : 0, len);
        int64_t before = cbx_clock_ms();
        assert_int_equal(receive(&e, 20), CBX_ETIMEDOUT);
        assert_true(cbx_clock_ms() >= before + 20);
        end(&e);
    }
}

struct dripper {
    int fd;
    _Atomic bool stop;
};

static void *drip(void *context)
{
    struct dripper *d = context;
    while (!d->stop && send(d->fd, "x", 1, MSG_NOSIGNAL) == 1) {
        poll(NULL, 0, 5);
    }
    return NULL;
}

/* The deadline is for the whole message, not for each read. */
static void keeps_the_deadline_when_bytes_drip_in(void **state)
{
    (void)state;
    struct ends e;
    pthread_t thread;
    begin(&e);
    struct dripper d = { .fd = e.a };
    send_raw(&e, 1000000, 0, "", 0);
    assert_int_equal(pthread_create(&thread, NULL, drip, &d), 0);
    assert_int_equal(receive(&e, 100), CBX_ETIMEDOUT);
    d.stop = true;
    pthread_join(thread, NULL);
    end(&e);
}

static void survives_sending_to_an_end_that_is_closed(void **state)
{
    (void)state;
    struct ends e;
    begin(&e);
    CBX_AUTO_JSON header = json_object();
    cbx_fd_auto(&e.b);
    assert_int_equal(cbx_wire_send(e.a, header, CBX_STR("x"), &e.err),
                     CBX_EIO); /* and no SIGPIPE */
    assert_int_equal(cbx_wire_send_fd(e.a, e.a, 'x', &e.err), CBX_EIO);
    end(&e);
}

static void passes_a_descriptor_that_is_closed_on_exec(void **state)
{
    (void)state;
    struct ends e;
    int passed = -1;
    char tag = 0, byte = 'z', text[4] = "";
    begin(&e);
    CBX_AUTO_FILE file = tmpfile();
    assert_int_equal(fputs("abc", file) >= 0 && fflush(file) == 0, 1);
    assert_int_equal(cbx_wire_send_fd(e.a, fileno(file), 'k', &e.err), 0);
    assert_int_equal(cbx_wire_receive_fd(e.b, &passed, &tag, &e.err), 0);
    assert_int_equal(tag, 'k');
    assert_int_equal(fcntl(passed, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(pread(passed, text, 3, 0), 3);
    assert_string_equal(text, "abc");
    close(passed);
    assert_int_equal(write(e.a, &byte, 1), 1);
    assert_int_equal(cbx_wire_receive_fd(e.b, &passed, &tag, &e.err), 0);
    assert_int_equal(passed, -1);
    assert_int_equal(tag, 'z');
    cbx_fd_auto(&e.a);
    assert_int_equal(cbx_wire_receive_fd(e.b, &passed, &tag, &e.err), CBX_EIO);
    end(&e);
}

static void waits_for_a_receiver_no_longer_than_asked(void **state)
{
    enum { WAIT_MS = 50, QUEUED_MAX = 10000 };
    (void)state;
    struct ends e;
    int passed = -1, failed = 0, queued = 0;
    char tag = 0;
    begin(&e);
    assert_int_equal(cbx_wire_receive_fd_now(e.b, &passed, &tag, &e.err), CBX_ETIMEDOUT);
    for (; queued < QUEUED_MAX && failed == 0; queued += failed == 0) {
        failed = cbx_wire_send_fd_until(e.a, STDERR_FILENO, 'k', cbx_clock_ms() + WAIT_MS, &e.err);
    }
    assert_int_equal(failed, CBX_ETIMEDOUT);
    for (int i = 0; i < queued; i++) {
        assert_int_equal(cbx_wire_receive_fd_now(e.b, &passed, &tag, &e.err), 0);
        assert_int_equal(tag, 'k');
        close(passed);
    }
    assert_int_equal(
        cbx_wire_send_fd_until(e.a, STDERR_FILENO, 'k', cbx_clock_ms() + WAIT_MS, &e.err), 0);
    cbx_fd_auto(&e.b);
    assert_int_equal(
        cbx_wire_send_fd_until(e.a, STDERR_FILENO, 'k', cbx_clock_ms() + WAIT_MS, &e.err), CBX_EIO);
    end(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carries_a_header_and_bytes_with_nul),
        cmocka_unit_test(carries_as_much_as_is_allowed_through_a_small_socket),
        cmocka_unit_test(sends_nothing_that_is_too_large),
        cmocka_unit_test(refuses_lengths_over_the_caps),
        cmocka_unit_test(refuses_headers_that_are_not_json),
        cmocka_unit_test(reports_a_closed_connection_at_every_byte),
        cmocka_unit_test(keeps_the_deadline_wherever_the_other_end_stops),
        cmocka_unit_test(keeps_the_deadline_when_bytes_drip_in),
        cmocka_unit_test(survives_sending_to_an_end_that_is_closed),
        cmocka_unit_test(passes_a_descriptor_that_is_closed_on_exec),
        cmocka_unit_test(waits_for_a_receiver_no_longer_than_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
