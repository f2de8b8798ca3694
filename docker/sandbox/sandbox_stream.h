/* SPDX-License-Identifier: MIT
 * Parses hostile bytes into frames. The engine multiplexes a container's stdout and stderr with
 * headers of 8 bytes; on stdout our supervisor sends frames. Both layers are parsed here,
 * incrementally, under caps. */
#ifndef CBX_DOCKER_SANDBOX_SANDBOX_STREAM_H
#define CBX_DOCKER_SANDBOX_SANDBOX_STREAM_H

#include "docker/inside/wire/frame.h"
#include "policies/base/buf.h"
#include "policies/base/err.h"

/* The engine's layer. Zeroed memory is the beginning of a stream. */
struct cbx_chunks {
    uint8_t head[8]; /* of the current chunk */
    size_t head_len;
    uint64_t left; /* bytes of it that have not arrived yet */
    uint8_t kind;  /* 1 = stdout, 2 = stderr */
};

/* Takes the next part of a chunk from *bytes: 1 and *part, whose kind is chunks->kind, or 0 when *bytes is used up. CBX_EPROTO when they are
 * not what an engine sends. */
int cbx_chunks_next(struct cbx_chunks *chunks, struct cbx_str *bytes, struct cbx_str *part,
                    struct cbx_err *err);

struct cbx_stream {
    struct cbx_chunks chunks;
    struct cbx_buf frames;           /* bytes of incomplete frames */
    size_t used;                     /* bytes of `frames` that were returned */
    char mark[CBX_FRAME_MARK_BYTES]; /* to seek */
    bool seeking;
    char direction; /* of docker/inside/wire/frame.def: 's', from a supervisor */
};

/* max_frame caps the payload of one frame below what frame.def allows. */
void cbx_stream_init(struct cbx_stream *stream, size_t max_frame);
void cbx_stream_done(struct cbx_stream *stream);
CBX_DEFINE_AUTO_DONE(stream)

/* Releases the memory of `frames` when no byte of an incomplete frame is in it. Payloads that were returned must not be used any more. */
void cbx_stream_trim(struct cbx_stream *stream);

/* Skips everything up to and including the mark: it was sent to an earlier host. */
void cbx_stream_seek(struct cbx_stream *stream, const char mark[CBX_FRAME_MARK_BYTES]);

/* Adds bytes from the engine. CBX_EPROTO when they are not what an engine sends. */
int cbx_stream_feed(struct cbx_stream *stream, struct cbx_str bytes, struct cbx_err *err);

struct cbx_frame {
    enum cbx_frame_type type;
    struct cbx_str payload; /* borrowed until the next feed */
};

/* The next whole frame: 1 and *out, or 0 when more bytes are needed. CBX_EPROTO for a frame that is not
 * allowed in this direction or that is too long; the stream cannot be used any more. */
int cbx_stream_next(struct cbx_stream *stream, struct cbx_frame *out, struct cbx_err *err);

#endif
