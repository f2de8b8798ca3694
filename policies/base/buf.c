/* SPDX-License-Identifier: MIT
 * A growing byte buffer with a cap. */
#include "policies/base/buf.h"

#include "policies/base/err.h"
#include "policies/base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The text of an empty buffer, so that p is never NULL. Never written: size 0 forces growth. */
static char empty[1];

void cbx_buf_init(struct cbx_buf *buf, size_t max_bytes)
{
    *buf = (struct cbx_buf){ .p = empty, .max_bytes = max_bytes };
}

void cbx_buf_done(struct cbx_buf *buf)
{
    if (buf->size > 0) {
        free(buf->p);
    }
    cbx_buf_init(buf, buf->max_bytes);
}

void cbx_buf_reset(struct cbx_buf *buf)
{
    buf->len = 0;
    buf->overflow = false;
    if (buf->size > 0) {
        buf->p[0] = '\0';
    }
}

char *cbx_buf_reserve(struct cbx_buf *buf, size_t bytes)
{
    if (buf->overflow || bytes > buf->max_bytes || buf->len > buf->max_bytes - bytes) {
        buf->overflow = true;
        return NULL;
    }
    size_t need = buf->len + bytes + 1;
    if (need > buf->size) {
        size_t size = buf->size < 64 ? 64 : buf->size;
        while (size < need) {
            size *= 2;
        }
        char *p = realloc(buf->size > 0 ? buf->p : NULL, size);
        if (p == NULL) {
            fputs("codebox: out of memory\n", stderr);
            abort();
        }
        p[buf->len] = '\0';
        buf->p = p;
        buf->size = size;
    }
    return buf->p + buf->len;
}

int cbx_buf_add_bytes(struct cbx_buf *buf, const void *p, size_t len)
{
    char *to = cbx_buf_reserve(buf, len);
    if (to == NULL) {
        return CBX_ETOOBIG;
    }
    if (len > 0) {
        memcpy(to, p, len);
    }
    buf->len += len;
    buf->p[buf->len] = '\0';
    return 0;
}

int cbx_buf_add(struct cbx_buf *buf, struct cbx_str s)
{
    return cbx_buf_add_bytes(buf, s.p, s.len);
}

int cbx_buf_add_cstr(struct cbx_buf *buf, const char *terminated)
{
    return cbx_buf_add_bytes(buf, terminated, strlen(terminated));
}

int cbx_buf_add_char(struct cbx_buf *buf, char c)
{
    return cbx_buf_add_bytes(buf, &c, 1);
}

int cbx_buf_printf(struct cbx_buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *to = n >= 0 ? cbx_buf_reserve(buf, (size_t)n) : NULL;
    if (to != NULL) {
        vsnprintf(to, (size_t)n + 1, format, again);
        buf->len += (size_t)n;
    }
    va_end(again);
    return to != NULL ? 0 : CBX_ETOOBIG;
}

void cbx_buf_consume(struct cbx_buf *buf, size_t bytes)
{
    if (bytes >= buf->len) {
        cbx_buf_reset(buf);
        return;
    }
    memmove(buf->p, buf->p + bytes, buf->len - bytes + 1);
    buf->len -= bytes;
}

char *cbx_buf_take(struct cbx_buf *buf)
{
    char *p = buf->p;
    if (buf->size == 0) {
        p = cbx_new(1);
    }
    cbx_buf_init(buf, buf->max_bytes);
    return p;
}
