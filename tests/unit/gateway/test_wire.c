/* SPDX-License-Identifier: MIT
 * Messages between our processes: whole or refused, within caps and deadlines. */
#include "gateway/wire.h"
#include "tests/unit/gateway/scratch.h"

#include <string.h>

static int ends[2];

static int set_up(void **state)
{
    (void)state;
    struct cbx_err err;
    return cbx_wire_pair(ends, &err);
}

static int tear_down(void **state)
{
    (void)state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static int receive(struct cbx_message *out, int timeout_ms)
{
    struct cbx_err err;
    cbx_message_init(out);
    return cbx_wire_receive(ends[1], timeout_ms, out, &err);
}

static void carries_a_header_and_bytes(void **state)
{
    (void)state;
    CBX_AUTO_JSON header = json_pack("{s:s}", "op", "x");
    struct cbx_err err;
    CBX_AUTO_DONE(message) message;
    assert_int_equal(cbx_wire_send(ends[0], header, CBX_STR("a\0b"), &err), 0);
    assert_int_equal(receive(&message, 1000), 0);
    assert_true(json_equal(message.header, header));
    assert_true(cbx_str_equal(cbx_buf_str(&message.bytes), CBX_STR("a\0b")));
}

static void refuses_lengths_over_the_caps_before_it_takes_memory(void **state)
{
    (void)state;
    const uint32_t lengths[][2] = { { CBX_WIRE_HEADER_MAX + 1, 0 },
                                    { 2, CBX_WIRE_BYTES_MAX + 1 },
                                    { UINT32_MAX, UINT32_MAX } };
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        CBX_AUTO_DONE(message) message;
        assert_int_equal(write(ends[0], lengths[i], 8), 8);
        assert_int_equal(receive(&message, 1000), CBX_EPROTO);
    }
}

static void refuses_a_header_that_is_no_object(void **state)
{
    (void)state;
    static const char *const headers[] = { "[]", "1 ", "{\"a\":1,\"a\":2}", "{", "\xff\xff" };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        CBX_AUTO_DONE(message) message;
        const uint32_t lengths[2] = { (uint32_t)strlen(headers[i]), 0 };
        assert_int_equal(write(ends[0], lengths, 8), 8);
        assert_int_equal(write(ends[0], headers[i], lengths[0]), lengths[0]);
        assert_int_equal(receive(&message, 1000), CBX_EPROTO);
    }
}

static void tells_an_end_in_the_middle_from_a_message(void **state)
{
    (void)state;
    CBX_AUTO_DONE(message) message;
    const uint32_t lengths[2] = { 2, 100 };
    assert_int_equal(write(ends[0], lengths, 8), 8);
    assert_int_equal(write(ends[0], "{}half", 6), 6);
    close(ends[0]);
    assert_int_equal(receive(&message, 1000), CBX_EIO);
    ends[0] = dup(ends[1]);
}

static void gives_up_at_the_deadline_even_when_bytes_trickle(void **state)
{
    (void)state;
    CBX_AUTO_DONE(message) message;
    const uint32_t lengths[2] = { 2, 100 };
    assert_int_equal(receive(&message, 20), CBX_ETIMEDOUT);
    cbx_message_done(&message);
    assert_int_equal(write(ends[0], lengths, 8), 8);
    assert_int_equal(receive(&message, 20), CBX_ETIMEDOUT);
}

static void passes_a_descriptor(void **state)
{
    (void)state;
    struct cbx_err err;
    int passed = -1, pipe_ends[2];
    char tag = 0, byte = 0;
    assert_int_equal(pipe(pipe_ends), 0);
    assert_int_equal(cbx_wire_send_fd(ends[0], pipe_ends[0], 't', &err), 0);
    assert_int_equal(cbx_wire_receive_fd(ends[1], &passed, &tag, &err), 0);
    assert_int_equal(tag, 't');
    assert_int_equal(write(pipe_ends[1], "z", 1), 1);
    assert_int_equal(read(passed, &byte, 1), 1);
    assert_int_equal(byte, 'z');
    close(passed);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as main.c does */
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(carries_a_header_and_bytes),
        TEST(refuses_lengths_over_the_caps_before_it_takes_memory),
        TEST(refuses_a_header_that_is_no_object),
        TEST(tells_an_end_in_the_middle_from_a_message),
        TEST(gives_up_at_the_deadline_even_when_bytes_trickle),
        TEST(passes_a_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
