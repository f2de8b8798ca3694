/* SPDX-License-Identifier: MIT
 * What an engine and a sandbox may send, in pieces of changing size. */
#include "docker/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CBX_AUTO_DONE(stream) stream;
    cbx_stream_init(&stream, 64 * 1024);
    struct cbx_str rest = { .p = (const char *)data, .len = size };
    struct cbx_err err;
    for (size_t piece = 1; rest.len > 0; piece = piece * 3 % 61 + 1) {
        if (cbx_stream_feed(&stream, cbx_str_sub(rest, 0, piece), &err) != 0) {
            return 0;
        }
        rest = cbx_str_sub(rest, piece, rest.len);
        struct cbx_frame frame;
        int got;
        while ((got = cbx_stream_next(&stream, &frame, &err)) > 0) {
        }
        if (got < 0) {
            return 0;
        }
    }
    return 0;
}
