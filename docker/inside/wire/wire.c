/* SPDX-License-Identifier: MIT
 * Byte arrays, received frames, the clock. */
#include "docker/inside/wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int64_t cbx_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void cbx_close(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

void cbx_bytes_add(struct cbx_bytes *bytes, const void *p, size_t len)
{
    if (bytes->size - bytes->len < len) {
        size_t size = bytes->size * 2 > bytes->len + len ? bytes->size * 2 : bytes->len + len;
        uint8_t *grown = realloc(bytes->p, size);
        if (grown == NULL) {
            cbx_die();
        }
        bytes->p = grown;
        bytes->size = size;
    }
    if (len > 0) {
        memcpy(bytes->p + bytes->len, p, len);
        bytes->len += len;
    }
}

void cbx_bytes_free(struct cbx_bytes *bytes)
{
    free(bytes->p);
    *bytes = (struct cbx_bytes){ 0 };
}

void cbx_frame_add(struct cbx_bytes *to, uint8_t type, const void *a, size_t a_len, const void *b,
                   size_t b_len)
{
    uint32_t len = (uint32_t)(a_len + b_len);
    cbx_bytes_add(to, &type, 1);
    cbx_bytes_add(to, &len, sizeof(len));
    cbx_bytes_add(to, a, a_len);
    cbx_bytes_add(to, b, b_len);
}

bool cbx_inbox_read(int fd, struct cbx_inbox *in)
{
    if (in->size - in->len < CBX_CHUNK_BYTES) {
        in->size = in->len + 4 * CBX_CHUNK_BYTES;
        in->bytes = realloc(in->bytes, in->size);
        if (in->bytes == NULL) {
            cbx_die();
        }
    }
    ssize_t n = read(fd, in->bytes + in->len, in->size - in->len);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return true;
    }
    in->len += n > 0 ? (size_t)n : 0;
    return n > 0;
}

void cbx_inbox_drop(struct cbx_inbox *in, size_t n)
{
    if (n == 0) {
        return; /* the inbox may have no memory yet */
    }
    memmove(in->bytes, in->bytes + n, in->len - n);
    in->len -= n;
}

bool cbx_inbox_take(struct cbx_inbox *in, size_t end, char direction,
                    void (*take)(uint8_t, const uint8_t *, size_t))
{
    size_t at = 0;
    while (end - at >= CBX_FRAME_HEAD_BYTES) {
        uint32_t len;
        memcpy(&len, in->bytes + at + 1, 4);
        if ((int64_t)len > cbx_frame_limit(in->bytes[at], direction)) {
            return false;
        }
        if (end - at - CBX_FRAME_HEAD_BYTES < len) {
            break;
        }
        take(in->bytes[at], in->bytes + at + CBX_FRAME_HEAD_BYTES, len);
        if (in->len == 0) {
            return true;
        }
        at += CBX_FRAME_HEAD_BYTES + len;
    }
    cbx_inbox_drop(in, at);
    return true;
}
