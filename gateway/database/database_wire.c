/* SPDX-License-Identifier: MIT
 * Texts in messages. */
#include "gateway/database/database_wire.h"

#include <string.h>

void cbx_texts_init(struct cbx_texts *texts)
{
    texts->lengths = json_array();
    cbx_buf_init(&texts->bytes, CBX_WIRE_BYTES_MAX);
}

void cbx_texts_done(struct cbx_texts *texts)
{
    json_decref(texts->lengths);
    cbx_buf_done(&texts->bytes);
}

int cbx_texts_add(struct cbx_texts *texts, const char *text, struct cbx_err *err)
{
    if (text == NULL) {
        json_array_append_new(texts->lengths, json_integer(-1));
        return 0;
    }
    struct cbx_str bytes = cbx_str_of(text);
    json_array_append_new(texts->lengths, json_integer((json_int_t)bytes.len));
    bytes.len++; /* its NUL */
    if (cbx_buf_add(&texts->bytes, bytes) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "a row of the database has more than %d bytes",
                        CBX_WIRE_BYTES_MAX);
    }
    return 0;
}

void cbx_texts_read(struct cbx_texts_reader *reader, const struct cbx_message *message)
{
    *reader = (struct cbx_texts_reader){ .lengths = json_object_get(message->header, "lengths"),
                                         .left = cbx_buf_str(&message->bytes) };
}

int cbx_texts_next(struct cbx_texts_reader *reader, const char **out, struct cbx_err *err)
{
    const json_t *length = json_array_get(reader->lengths, reader->next++);
    json_int_t len = json_integer_value(length);
    *out = NULL;
    if (json_is_integer(length) && len == -1) {
        return 0;
    }
    if (!json_is_integer(length) || len < 0 || (uint64_t)len >= reader->left.len ||
        memchr(reader->left.p, '\0', (size_t)len + 1) != reader->left.p + len) {
        return cbx_fail(err, CBX_EPROTO, "a message of the database's process is malformed");
    }
    *out = reader->left.p;
    reader->left = cbx_str_sub(reader->left, (size_t)len + 1, reader->left.len);
    return 0;
}
