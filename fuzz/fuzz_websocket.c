/* SPDX-License-Identifier: MIT
 * Frames that a cluster's API server sends. The first byte is the size of the pieces in which they
 * arrive; a whole and a divided stream give the same bytes. */
#include "docker/engine/kubernetes/websocket.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads all; returns a hash of the events, and whether the stream was refused. */
static uint64_t read_all(struct cbx_str bytes, size_t piece, bool *refused)
{
    struct cbx_websocket reader = { .left = 0 };
    uint64_t hash = 0;
    *refused = false;
    while (bytes.len > 0 && !*refused) {
        struct cbx_str part = cbx_str_take(&bytes, piece);
        struct cbx_websocket_event event;
        struct cbx_err err;
        int got;
        while ((got = cbx_websocket_next(&reader, &part, &event, &err)) > 0) {
            bool data = event.kind == CBX_WEBSOCKET_DATA;
            hash = data ? hash : hash * 31 + (uint64_t)event.kind + event.bytes.len;
            for (size_t i = 0; data && i < event.bytes.len; i++) {
                hash = hash * 31 + (uint8_t)event.bytes.p[i] + event.channel * 257u;
            }
        }
        *refused = got < 0;
    }
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
    if (whole != pieces || whole_refused != pieces_refused) {
        abort();
    }
    return 0;
}
