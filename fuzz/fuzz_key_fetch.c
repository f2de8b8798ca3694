/* SPDX-License-Identifier: MIT
 * What the process that fetches keys sends the front, once it was taken over: messages, each behind its length in two bytes. What
 * is taken keeps the limits that the front relies on. */
#include "gateway/ipc/wire/key_fetch.h"

#include <stdlib.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct cbx_key_reading *r)
{
    if (r->bytes.len != r->head.bytes || r->bytes.len > CBX_JWKS_MAX || r->head.age_ms < 0 ||
        r->head.event < CBX_KEYS_STARTED || r->head.event > CBX_KEYS_FAILED ||
        memchr(r->head.reason, '\0', sizeof(r->head.reason)) == NULL) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    struct cbx_key_reading reading = { 0 };
    if (cbx_key_channel(ends, NULL) != 0) {
        abort();
    }
    cbx_buf_init(&reading.bytes, CBX_JWKS_MAX);
    for (size_t at = 0; at + 2 < size;) {
        size_t len = data[at] | (size_t)data[at + 1] << 8, left = size - at - 2;
        len = len < left ? len : left;
        (void)!send(ends[1], data + at + 2, len, MSG_DONTWAIT | MSG_NOSIGNAL);
        at += 2 + len;
        while (cbx_key_answer_take(ends[0], &reading)) {
            check(&reading);
        }
    }
    cbx_buf_done(&reading.bytes);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
