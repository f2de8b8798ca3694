/* SPDX-License-Identifier: MIT
 * Parses the headers of the engine's chunks. */
#include "docker/engine/docker/docker_chunks.h"

/* Collects the engine's header; CBX_EPROTO if it is invalid. */
static int take_head(struct cbx_chunks *chunks, struct cbx_str *bytes, struct cbx_err *err)
{
    while (chunks->head_len < sizeof(chunks->head) && bytes->len > 0) {
        chunks->head[chunks->head_len++] = (uint8_t)bytes->p[0];
        *bytes = cbx_str_sub(*bytes, 1, bytes->len);
    }
    if (chunks->head_len < sizeof(chunks->head)) {
        return 0;
    }
    const uint8_t *h = chunks->head;
    if ((h[0] != 1 && h[0] != 2) || h[1] != 0 || h[2] != 0 || h[3] != 0) {
        return cbx_fail(err, CBX_EPROTO,
                        "the engine's stream is damaged: a chunk begins with %02x%02x%02x%02x",
                        h[0], h[1], h[2], h[3]);
    }
    chunks->channel = h[0] == 1 ? CBX_CHANNEL_STDOUT : CBX_CHANNEL_STDERR;
    chunks->left = (uint64_t)h[4] << 24 | (uint64_t)h[5] << 16 | (uint64_t)h[6] << 8 | h[7];
    chunks->head_len = 0;
    return 0;
}

int cbx_chunks_next(struct cbx_chunks *chunks, struct cbx_str *bytes, struct cbx_attach_bytes *out,
                    struct cbx_err *err)
{
    while (chunks->left == 0 && bytes->len > 0) {
        int failed = take_head(chunks, bytes, err);
        if (failed) {
            return failed;
        }
    }
    if (bytes->len == 0) {
        return 0;
    }
    size_t n = bytes->len < chunks->left ? bytes->len : (size_t)chunks->left;
    *out = (struct cbx_attach_bytes){ chunks->channel, cbx_str_sub(*bytes, 0, n) };
    *bytes = cbx_str_sub(*bytes, n, bytes->len);
    chunks->left -= n;
    return 1;
}
