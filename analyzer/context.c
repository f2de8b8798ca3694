/* SPDX-License-Identifier: MIT
 * The past of a session. A context is a sequence of cells, each preceded by its length (32 bits,
 * host order), so that no text in a cell can end it early. */
#include "analyzer/context.h"

#include "policies/base/err.h"

/* Removes the record at `at`. */
static void drop_record(struct cbx_buf *context, size_t at)
{
    uint32_t length;
    memcpy(&length, context->p + at, sizeof(length));
    size_t next = at + sizeof(length) + length;
    memmove(context->p + at, context->p + next, context->len - next);
    context->len -= next - at;
}

/* A length that no cell has: behind it, nothing is a whole cell. */
static const uint32_t incomplete = UINT32_MAX;

int cbx_context_add(struct cbx_buf *context, struct cbx_str cell)
{
    uint32_t length = (uint32_t)cell.len;
    if (!cbx_context_is_complete(cbx_buf_str(context))) {
        return CBX_ETOOBIG;
    }
    /* A repeated cell is kept once: it binds the same names each time. */
    for (size_t at = 0; at < context->len;) {
        uint32_t other;
        memcpy(&other, context->p + at, sizeof(other));
        struct cbx_str text = { .p = context->p + at + sizeof(other), .len = other };
        if (cbx_str_equal(text, cell)) {
            drop_record(context, at);
            break;
        }
        at += sizeof(other) + other;
    }
    if (cell.len > CBX_CONTEXT_MAX_BYTES ||
        context->len + sizeof(length) + cell.len > CBX_CONTEXT_MAX_BYTES) {
        cbx_buf_add_bytes(context, &incomplete, sizeof(incomplete));
        return CBX_ETOOBIG;
    }
    cbx_buf_add_bytes(context, &length, sizeof(length));
    return cbx_buf_add(context, cell);
}

bool cbx_context_is_complete(struct cbx_str context)
{
    struct cbx_str cell;
    while (cbx_context_next(&context, &cell)) {
    }
    return context.len == 0;
}

bool cbx_context_next(struct cbx_str *context, struct cbx_str *cell)
{
    uint32_t length;
    if (context->len < sizeof(length)) {
        return false;
    }
    memcpy(&length, context->p, sizeof(length));
    *cell = cbx_str_sub(*context, sizeof(length), sizeof(length) + (size_t)length);
    if (cell->len != length) {
        return false;
    }
    *context = cbx_str_sub(*context, sizeof(length) + (size_t)length, context->len);
    return true;
}

size_t cbx_context_count(struct cbx_str context)
{
    struct cbx_str cell;
    size_t count = 0;
    while (cbx_context_next(&context, &cell)) {
        count++;
    }
    return count;
}
