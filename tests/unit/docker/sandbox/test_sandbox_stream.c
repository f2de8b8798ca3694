/* SPDX-License-Identifier: MIT
 * Hostile bytes to frames: in pieces, under caps. */
#include "docker/sandbox/sandbox_stream.h"
#include "tests/unit/unit.h"

#include <string.h>

static void puts_frames_together_from_single_bytes(void **state)
{
    (void)state;
    CBX_AUTO_DONE(stream) stream;
    cbx_stream_init(&stream, 4096);
    static const char frame[] = { CBX_FRAME_STDOUT, 2, 0, 0, 0, 'h', 'i' };
    struct cbx_str all = { .p = frame, .len = sizeof(frame) };
    struct cbx_frame out;
    struct cbx_err err;
    for (size_t i = 0; i < all.len; i++) {
        assert_int_equal(cbx_stream_next(&stream, &out, &err), 0);
        assert_int_equal(cbx_stream_feed(&stream, cbx_str_sub(all, i, i + 1), &err), 0);
    }
    assert_int_equal(cbx_stream_next(&stream, &out, &err), 1);
    assert_int_equal(out.type, CBX_FRAME_STDOUT);
    assert_true(cbx_str_is(out.payload, "hi"));
    assert_int_equal(cbx_stream_next(&stream, &out, &err), 0);
}

static int next_of(const void *frame, size_t len)
{
    CBX_AUTO_DONE(stream) stream;
    cbx_stream_init(&stream, 4096);
    struct cbx_frame out;
    struct cbx_err err;
    assert_int_equal(cbx_stream_feed(&stream, (struct cbx_str){ .p = frame, .len = len }, &err), 0);
    return cbx_stream_next(&stream, &out, &err);
}

static void refuses_frames_of_the_wrong_type_direction_or_length(void **state)
{
    (void)state;
    assert_int_equal(next_of("?\0\0\0\0", 5), CBX_EPROTO);
    assert_int_equal(next_of("E\0\0\0\0", 5), CBX_EPROTO); /* RUN goes to the supervisor only */
    assert_int_equal(next_of("F\0\0\0\0", 5), CBX_EPROTO); /* FINISH never leaves the sandbox */
    assert_int_equal(next_of("Y\1\0\0\0", 5), CBX_EPROTO);
    assert_int_equal(next_of("O\xff\xff\xff\xff", 5), CBX_EPROTO);
    assert_int_equal(next_of("Y\0\0\0\0", 5), 1);
}

static void caps_what_it_keeps_of_a_frame_that_never_ends(void **state)
{
    (void)state;
    CBX_AUTO_DONE(stream) stream;
    cbx_stream_init(&stream, 0);
    static char zeros[64 * 1024];
    struct cbx_err err;
    int failed = 0;
    for (size_t i = 0; i < 16 && !failed; i++) {
        failed = cbx_stream_feed(&stream, (struct cbx_str){ zeros, sizeof(zeros) }, &err);
    }
    assert_int_equal(failed, CBX_EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_frames_together_from_single_bytes),
        cmocka_unit_test(refuses_frames_of_the_wrong_type_direction_or_length),
        cmocka_unit_test(caps_what_it_keeps_of_a_frame_that_never_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
