/* SPDX-License-Identifier: MIT
 * Functions shared by the programs that exchange frames (docker/inside/wire/frame.h) with the
 * host: the supervisor of a sandbox and the relay of a proxy container. Static programs with
 * only the C library; out of memory ends them. */
#ifndef CBX_DOCKER_INSIDE_WIRE_WIRE_H
#define CBX_DOCKER_INSIDE_WIRE_WIRE_H

#include "docker/inside/wire/frame.h"

#include <stdbool.h>

/* Ends the container and every process in it. */
_Noreturn void cbx_die(void);

/* Returns the milliseconds of CLOCK_MONOTONIC. */
int64_t cbx_now_ms(void);

void cbx_close(int *fd);

/* A growing byte array. Its users cap it, so running out of memory ends the container. */
struct cbx_bytes {
    uint8_t *p;
    size_t len, size;
};
void cbx_bytes_add(struct cbx_bytes *bytes, const void *p, size_t len);
void cbx_bytes_free(struct cbx_bytes *bytes);

/* Appends a frame whose payload is a followed by b. */
void cbx_frame_add(struct cbx_bytes *to, uint8_t type, const void *a, size_t a_len, const void *b,
                   size_t b_len);

/* Received bytes, up to an incomplete frame. */
struct cbx_inbox {
    uint8_t *bytes;
    size_t len, size;
};

enum { CBX_CHUNK_BYTES = 65536 };

/* Reads the available bytes once. False at the end of the stream, and on errors other than EINTR
 * and EAGAIN. */
bool cbx_inbox_read(int fd, struct cbx_inbox *in);

/* Drops the first n bytes. */
void cbx_inbox_drop(struct cbx_inbox *in, size_t n);

/* Passes every complete frame in the first `end` bytes to `take`, which may empty the inbox, and
 * drops them. False if a frame's type or length is not allowed in this direction
 * (docker/inside/wire/frame.def). */
bool cbx_inbox_take(struct cbx_inbox *in, size_t end, char direction,
                    void (*take)(uint8_t type, const uint8_t *payload, size_t len));

#endif
