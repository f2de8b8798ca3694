/* SPDX-License-Identifier: MIT
 * The past of a session. A context is a sequence of cells, each preceded by its length (32 bits,
 * host order), so that no text in a cell can end it early. */
#include "analyzer/context.h"

/* Removes the record at `at`. */
static void drop_record(struct cbx_buf *context, size_t at)
{
    uint32_t length;
    memcpy(&length, context->p + at, sizeof(length));
    size_t next = at + sizeof(length) + length;
    memmove(context->p + at, context->p + next, context->len - next);
    context->len -= next - at;
}

void cbx_context_add(struct cbx_buf *context, struct cbx_str cell)
{
    uint32_t length = (uint32_t)cell.len;
    if (cell.len > CBX_CONTEXT_MAX_BYTES - sizeof(length)) {
        return;
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
    while (context->len + sizeof(length) + cell.len > CBX_CONTEXT_MAX_BYTES) {
        drop_record(context, 0);
    }
    cbx_buf_add_bytes(context, &length, sizeof(length));
    cbx_buf_add(context, cell);
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
