/* SPDX-License-Identifier: MIT
 * What every file of the supervisor uses: the end of the sandbox, byte arrays, the clock. */
#include "docker/supervisor/supervisor.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void cbx_die(void)
{
    kill(-1, SIGKILL);
    _exit(1);
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

int64_t cbx_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
