/* SPDX-License-Identifier: MIT
 * The texts of a message between the front and the process of the database: the first line is the
 * header, the rest are the bytes. Each text that is read is inside the bytes and ends with its NUL. */
#include "gateway/database/database_process.h"
#include "gateway/database/database_wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_texts(const struct cbx_message *message)
{
    struct cbx_texts_reader reader;
    const char *text, *begin = message->bytes.p, *end = begin + message->bytes.len;
    cbx_texts_read(&reader, message);
    while (cbx_texts_next(&reader, &text, NULL) == 0) {
        if (text != NULL && (text < begin || text + strlen(text) >= end)) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str input = { .p = (const char *)data, .len = size };
    const char *newline = size > 0 ? memchr(input.p, '\n', size) : NULL;
    struct cbx_str header =
        cbx_str_sub(input, 0, newline != NULL ? (size_t)(newline - input.p) : 0);
    CBX_AUTO_DONE(message) message;
    cbx_message_init(&message);
    cbx_buf_add(&message.bytes, cbx_str_sub(input, header.len + 1, size));
    if (cbx_json_parse(header, CBX_WIRE_HEADER_MAX, &message.header, NULL) == 0) {
        read_texts(&message);
    }
    struct cbx_database_target target;
    cbx_database_target_read(input, &target);
    return 0;
}
