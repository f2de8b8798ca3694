/* SPDX-License-Identifier: MIT
 * Responses that another replica sends. The first byte is the size of the pieces in which they
 * arrive; a whole and a divided response give the same bytes. */
#include "gateway/front/forward/response.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t hash;

static void add(struct cbx_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        hash = hash * 31 + (uint8_t)bytes.p[i];
    }
}

static int note_field(void *context, struct cbx_str name, struct cbx_str value)
{
    (void)context;
    add(name);
    add(value);
    return 0;
}

static int note_begin(void *context, int status)
{
    (void)context;
    hash = hash * 31 + (uint64_t)status;
    return 0;
}

static int note_body(void *context, struct cbx_str piece)
{
    (void)context;
    add(piece);
    return 0;
}

/* Reads all; returns a hash of the parts, and whether the response was refused. */
static uint64_t read_all(struct cbx_str bytes, size_t piece, bool *refused)
{
    static const struct cbx_response_sink sink = { .field = note_field,
                                                   .begin = note_begin,
                                                   .body = note_body };
    CBX_AUTO_DONE(response) response = { .sink = NULL };
    struct cbx_err err;
    hash = 0;
    *refused = false;
    cbx_response_init(&response, &sink);
    while (bytes.len > 0 && !*refused) {
        *refused = cbx_response_take(&response, cbx_str_take(&bytes, piece), &err) != 0;
    }
    *refused = *refused || cbx_response_end(&response, &err) != 0;
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    bool whole_refused, pieces_refused;
    struct cbx_str bytes = { .p = (const char *)data + 1, .len = size - 1 };
    uint64_t whole = read_all(bytes, bytes.len, &whole_refused);
    uint64_t pieces = read_all(bytes, 1 + data[0] % 16, &pieces_refused);
    if (whole_refused != pieces_refused || (!whole_refused && whole != pieces)) {
        abort();
    }
    return 0;
}
