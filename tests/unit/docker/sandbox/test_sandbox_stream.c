/* SPDX-License-Identifier: MIT
 * Hostile bytes to frames: both layers, in pieces, under caps. */
#include "docker/sandbox/sandbox_stream.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct cbx_str chunk_of(struct cbx_buf *buf, uint8_t kind, const void *bytes, size_t len)
{
    unsigned char head[8] = { kind,
                              0,
                              0,
                              0,
                              (unsigned char)(len >> 24),
                              (unsigned char)(len >> 16),
                              (unsigned char)(len >> 8),
                              (unsigned char)len };
    cbx_buf_add_bytes(buf, head, sizeof(head));
    cbx_buf_add_bytes(buf, bytes, len);
    return cbx_buf_str(buf);
}

static void puts_frames_together_from_single_bytes(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) bytes;
    CBX_AUTO_DONE(stream) stream;
    cbx_buf_init(&bytes, 4096);
    cbx_stream_init(&stream, 4096);
    static const char frame[] = { CBX_FRAME_STDOUT, 2, 0, 0, 0, 'h', 'i' };
    chunk_of(&bytes, 1, frame, 3);
    struct cbx_str all = chunk_of(&bytes, 1, frame + 3, sizeof(frame) - 3);
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

static void passes_over_the_engines_stderr(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) bytes;
    CBX_AUTO_DONE(stream) stream;
    cbx_buf_init(&bytes, 4096);
    cbx_stream_init(&stream, 4096);
    struct cbx_frame out;
    struct cbx_err err;
    assert_int_equal(cbx_stream_feed(&stream, chunk_of(&bytes, 2, "Y\0\0\0\0", 5), &err), 0);
    assert_int_equal(cbx_stream_next(&stream, &out, &err), 0);
}

static void refuses_a_head_that_no_engine_sends(void **state)
{
    (void)state;
    static const char heads[][8] = {
        { 0, 0, 0, 0 }, { 3, 0, 0, 0 }, { 1, 1, 0, 0 }, { 'H', 'T', 'T', 'P' }
    };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        CBX_AUTO_DONE(stream) stream;
        cbx_stream_init(&stream, 4096);
        struct cbx_err err;
        assert_int_equal(cbx_stream_feed(&stream, (struct cbx_str){ heads[i], 8 }, &err),
                         CBX_EPROTO);
    }
}

static int next_of(const void *frame, size_t len)
{
    CBX_AUTO_DONE(buf) bytes;
    CBX_AUTO_DONE(stream) stream;
    cbx_buf_init(&bytes, 4096);
    cbx_stream_init(&stream, 4096);
    struct cbx_frame out;
    struct cbx_err err;
    assert_int_equal(cbx_stream_feed(&stream, chunk_of(&bytes, 1, frame, len), &err), 0);
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
    static const char head[8] = { 1, 0, 0, 0, 0x7f, 0, 0, 0 };
    struct cbx_err err;
    int failed = cbx_stream_feed(&stream, (struct cbx_str){ head, 8 }, &err);
    for (size_t i = 0; i < 16 && !failed; i++) {
        failed = cbx_stream_feed(&stream, (struct cbx_str){ zeros, sizeof(zeros) }, &err);
    }
    assert_int_equal(failed, CBX_EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_frames_together_from_single_bytes),
        cmocka_unit_test(passes_over_the_engines_stderr),
        cmocka_unit_test(refuses_a_head_that_no_engine_sends),
        cmocka_unit_test(refuses_frames_of_the_wrong_type_direction_or_length),
        cmocka_unit_test(caps_what_it_keeps_of_a_frame_that_never_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
