/* SPDX-License-Identifier: MIT
 * Parses hostile bytes into frames. */
#include "docker/sandbox/sandbox_stream.h"

void cbx_stream_init(struct cbx_stream *stream, size_t max_frame)
{
    *stream = (struct cbx_stream){ .direction = 's' };
    cbx_buf_init(&stream->frames, max_frame + 256 * 1024);
}

void cbx_stream_done(struct cbx_stream *stream)
{
    cbx_buf_done(&stream->frames);
}

void cbx_stream_trim(struct cbx_stream *stream)
{
    cbx_buf_consume(&stream->frames, stream->used);
    stream->used = 0;
    if (stream->frames.len == 0) {
        cbx_buf_done(&stream->frames);
    }
}

void cbx_stream_seek(struct cbx_stream *stream, const char mark[CBX_FRAME_MARK_BYTES])
{
    memcpy(stream->mark, mark, sizeof(stream->mark));
    stream->seeking = true;
    cbx_buf_reset(&stream->frames);
    stream->used = 0;
}

/* Drops bytes that cannot be the start of the mark, or all bytes up to the mark's end. */
static void seek(struct cbx_stream *stream)
{
    struct cbx_buf *frames = &stream->frames;
    const char *found = memmem(frames->p, frames->len, stream->mark, sizeof(stream->mark));
    if (found != NULL) {
        stream->seeking = false;
        cbx_buf_consume(frames, (size_t)(found - frames->p) + sizeof(stream->mark));
    } else if (frames->len >= sizeof(stream->mark)) {
        cbx_buf_consume(frames, frames->len - sizeof(stream->mark) + 1);
    }
}

int cbx_stream_feed(struct cbx_stream *stream, struct cbx_str bytes, struct cbx_err *err)
{
    /* Only then: moving a large incomplete frame for every chunk would cost too much. */
    if (stream->used > 0) {
        cbx_buf_consume(&stream->frames, stream->used);
        stream->used = 0;
    }
    if (cbx_buf_add(&stream->frames, bytes) != 0) {
        return cbx_fail(err, CBX_EPROTO, "the sandbox sent more bytes than a frame may have");
    }
    if (stream->seeking) {
        seek(stream);
    }
    return 0;
}

int cbx_stream_next(struct cbx_stream *stream, struct cbx_frame *out, struct cbx_err *err)
{
    size_t have = stream->frames.len - stream->used;
    const char *at = stream->frames.p + stream->used;
    if (stream->seeking || have < CBX_FRAME_HEAD_BYTES) {
        return 0;
    }
    uint32_t len;
    memcpy(&len, at + 1, sizeof(len));
    int64_t limit = cbx_frame_limit((uint8_t)at[0], stream->direction);
    if ((int64_t)len > limit) {
        return cbx_fail(err, CBX_EPROTO,
                        "the sandbox sent a frame of type %02x with %u bytes, allowed are %lld",
                        (uint8_t)at[0], len, (long long)limit);
    }
    if (have - CBX_FRAME_HEAD_BYTES < len) {
        return 0;
    }
    *out = (struct cbx_frame){ .type = (enum cbx_frame_type)at[0],
                               .payload = { .p = at + CBX_FRAME_HEAD_BYTES, .len = len } };
    stream->used += CBX_FRAME_HEAD_BYTES + len;
    return 1;
}
