/* SPDX-License-Identifier: MIT
 * Parses the hostile bytes of a container's standard output into the frames that the supervisor
 * sends, incrementally, under caps. */
#ifndef CBX_DOCKER_SANDBOX_SANDBOX_STREAM_H
#define CBX_DOCKER_SANDBOX_SANDBOX_STREAM_H

#include "docker/inside/wire/frame.h"
#include "policies/base/buf.h"
#include "policies/base/err.h"

struct cbx_stream {
    struct cbx_buf frames;           /* bytes of incomplete frames */
    size_t used;                     /* number of returned bytes of `frames` */
    char mark[CBX_FRAME_MARK_BYTES]; /* mark to search for */
    bool seeking;
    char direction; /* of docker/inside/wire/frame.def: 's', from a supervisor */
};

/* max_frame caps the payload of one frame below the limit of frame.def. */
void cbx_stream_init(struct cbx_stream *stream, size_t max_frame);
void cbx_stream_done(struct cbx_stream *stream);
CBX_DEFINE_AUTO_DONE(stream)

/* Releases the memory of `frames` if it has no byte of an incomplete frame. Returned payloads
 * must not be used after this call. */
void cbx_stream_trim(struct cbx_stream *stream);

/* Skips all bytes up to and including the mark: they were sent to an earlier host. */
void cbx_stream_seek(struct cbx_stream *stream, const char mark[CBX_FRAME_MARK_BYTES]);

/* Adds bytes of standard output. CBX_EPROTO if a frame is longer than the cap. */
int cbx_stream_feed(struct cbx_stream *stream, struct cbx_str bytes, struct cbx_err *err);

struct cbx_frame {
    enum cbx_frame_type type;
    struct cbx_str payload; /* borrowed until the next feed */
};

/* Returns the next whole frame: 1 and *out, or 0 if more bytes are needed. CBX_EPROTO for a
 * frame that is not allowed in this direction or is too long; the stream cannot be used any
 * more. */
int cbx_stream_next(struct cbx_stream *stream, struct cbx_frame *out, struct cbx_err *err);

#endif
