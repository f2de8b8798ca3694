/* SPDX-License-Identifier: MIT
 * The engine's chunks: the channel of each, in pieces of any size. */
#include "docker/engine/docker/docker_chunks.h"
#include "tests/unit/unit.h"

#include <string.h>

static void the_bytes_of_a_channel_are_the_same_however_the_stream_is_cut(void **state)
{
    (void)state;
    static const char stream[] = "\1\0\0\0\0\0\0\2hi\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\3err"
                                 "\1\0\0\0\0\0\0\1!";
    for (size_t piece = 1; piece <= sizeof(stream); piece++) {
        struct cbx_chunks chunks = { 0 };
        char text[2][8] = { "", "" };
        size_t len[2] = { 0, 0 };
        for (size_t at = 0; at < sizeof(stream) - 1; at += piece) {
            struct cbx_str all = { .p = stream, .len = sizeof(stream) - 1 };
            struct cbx_str bytes = cbx_str_sub(all, at, at + piece);
            struct cbx_attach_bytes got;
            struct cbx_err err;
            while (cbx_chunks_next(&chunks, &bytes, &got, &err) > 0) {
                bool is_stderr = got.channel == CBX_CHANNEL_STDERR;
                assert_true(len[is_stderr] + got.bytes.len < sizeof(text[0]));
                memcpy(text[is_stderr] + len[is_stderr], got.bytes.p, got.bytes.len);
                len[is_stderr] += got.bytes.len;
            }
        }
        assert_string_equal(text[0], "hi!");
        assert_string_equal(text[1], "err");
    }
}

static void refuses_a_head_that_no_engine_sends(void **state)
{
    (void)state;
    static const char heads[][8] = {
        { 0, 0, 0, 0 }, { 3, 0, 0, 0 }, { 1, 1, 0, 0 }, { 'H', 'T', 'T', 'P' }
    };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        struct cbx_chunks chunks = { 0 };
        struct cbx_str bytes = { .p = heads[i], .len = 8 };
        struct cbx_attach_bytes got;
        struct cbx_err err;
        assert_int_equal(cbx_chunks_next(&chunks, &bytes, &got, &err), CBX_EPROTO);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_of_a_channel_are_the_same_however_the_stream_is_cut),
        cmocka_unit_test(refuses_a_head_that_no_engine_sends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
