/* SPDX-License-Identifier: MIT
 * The engine multiplexes a container's stdout and stderr on one connection: chunks with headers of
 * 8 bytes (Engine API, "ContainerAttach", stream format). */
#ifndef CBX_DOCKER_ENGINE_DOCKER_DOCKER_CHUNKS_H
#define CBX_DOCKER_ENGINE_DOCKER_DOCKER_CHUNKS_H

#include "docker/engine/engine.h"

#include <stdint.h>

/* Zeroed memory is the beginning of a stream. */
struct cbx_chunks {
    uint8_t head[8]; /* header of the current chunk */
    size_t head_len;
    uint64_t left; /* number of its bytes that have not arrived yet */
    enum cbx_channel channel;
};

/* Takes the next part of a chunk from *bytes: 1 and *out, or 0 if *bytes is empty. CBX_EPROTO for
 * a malformed header. */
int cbx_chunks_next(struct cbx_chunks *chunks, struct cbx_str *bytes, struct cbx_attach_bytes *out,
                    struct cbx_err *err);

#endif
