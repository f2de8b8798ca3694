/* SPDX-License-Identifier: MIT
 * A growing byte buffer with a cap that is set at the start. `p` is never NULL and always
 * terminated. An append that would exceed the cap appends nothing, sets `overflow` and returns
 * CBX_ETOOBIG; callers may continue to append and check `overflow` once at the end. */
#ifndef CBX_POLICIES_BASE_BUF_H
#define CBX_POLICIES_BASE_BUF_H

#include "policies/base/auto.h"
#include "policies/base/str.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct cbx_buf {
    char *p;
    size_t len, size, max_bytes;
    bool overflow;
};

void cbx_buf_init(struct cbx_buf *buf, size_t max_bytes);
void cbx_buf_done(struct cbx_buf *buf);
CBX_DEFINE_AUTO_DONE(buf)

/* Empties the buffer; keeps its memory and its cap. */
void cbx_buf_reset(struct cbx_buf *buf);

int cbx_buf_add(struct cbx_buf *buf, struct cbx_str s);
int cbx_buf_add_bytes(struct cbx_buf *buf, const void *p, size_t len);
int cbx_buf_add_cstr(struct cbx_buf *buf, const char *terminated);
int cbx_buf_add_char(struct cbx_buf *buf, char c);
int cbx_buf_printf(struct cbx_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Allocates space for `bytes` more bytes and returns its address; NULL over the cap. The caller
 * then adds the number of written bytes (at most `bytes`) to `len`. */
char *cbx_buf_reserve(struct cbx_buf *buf, size_t bytes);

/* Removes the first `bytes` bytes. */
void cbx_buf_consume(struct cbx_buf *buf, size_t bytes);

/* Returns the terminated string, which the caller frees; the buffer is empty and usable again. */
char *cbx_buf_take(struct cbx_buf *buf);

static inline struct cbx_str cbx_buf_str(const struct cbx_buf *buf)
{
    return (struct cbx_str){ .p = buf->p, .len = buf->len };
}

#endif
