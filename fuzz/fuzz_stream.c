/* SPDX-License-Identifier: MIT
 * Bytes from an engine and a sandbox, in pieces of changing size, and cut in two at every byte: the
 * same frames must result. With the first byte odd, a host seeks its mark.
 */
#include "docker/engine/docker/docker_chunks.h"
#include "docker/sandbox/sandbox_stream.h"

static const char mark[CBX_FRAME_MARK_BYTES] = "0123456789abcdef0123456789abcdefMARKMARKMARKMAR";

/* Feeds the frames' layer what the engine's layer yields of standard output.
 */
static int feed(struct cbx_stream *stream, struct cbx_chunks *chunks, struct cbx_str bytes)
{
    struct cbx_attach_bytes got;
    struct cbx_err err;
    int more;
    while ((more = cbx_chunks_next(chunks, &bytes, &got, &err)) > 0) {
        if (got.channel == CBX_CHANNEL_STDOUT && cbx_stream_feed(stream, got.bytes, &err) != 0) {
            return -1;
        }
    }
    return more;
}

/* Feeds `bytes` in pieces; returns a hash of the frames and of the error, if any.
 */
static uint64_t read_all(struct cbx_str bytes, size_t first, size_t piece, bool seeks)
{
    CBX_AUTO_DONE(stream) stream;
    cbx_stream_init(&stream, 64 * 1024);
    if (seeks) {
        cbx_stream_seek(&stream, mark);
    }
    uint64_t digest = 1469598103934665603u;
    struct cbx_err err;
    struct cbx_chunks chunks = { 0 };
    for (size_t n = first; bytes.len > 0; n = piece) {
        if (feed(&stream, &chunks, cbx_str_sub(bytes, 0, n)) != 0) {
            return 1; /* what came before in the same piece may be lost with it */
        }
        bytes = cbx_str_sub(bytes, n, bytes.len);
        struct cbx_frame frame;
        int got;
        while ((got = cbx_stream_next(&stream, &frame, &err)) > 0) {
            digest = (digest ^ frame.type) * 1099511628211u;
            for (size_t i = 0; i < frame.payload.len; i++) {
                digest = (digest ^ (unsigned char)frame.payload.p[i]) * 1099511628211u;
            }
        }
        if (got < 0) {
            return 1;
        }
        piece = piece < SIZE_MAX ? piece * 3 % 61 + 1 : piece;
    }
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    bool seeks = data[0] % 2 == 1;
    struct cbx_str bytes = { .p = (const char *)data + 1, .len = size - 1 };
    uint64_t pieces = read_all(bytes, 1, 1, seeks);
    for (size_t at = 1; at < bytes.len && at < 300; at++) {
        if (read_all(bytes, at, SIZE_MAX, seeks) != pieces) {
            abort();
        }
    }
    return 0;
}
