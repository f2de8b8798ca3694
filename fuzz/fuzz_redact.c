/* SPDX-License-Identifier: MIT
 * The redactor: whatever a program writes, and however it is split, no secret is left in the result, and text
 * without a secret comes out as it went in. */
#include "gateway/executor/redact/redact.h"

#include <stdlib.h>

#define SECRET "sk-Proj_A8fjK29dkf+LQpz/71XyTw"

static const struct cbx_redactor *redactor(void)
{
    static struct cbx_redactor *made;
    const struct cbx_redact_secret secrets[] = { { CBX_STR("KEY"), CBX_STR(SECRET) },
                                                 { CBX_STR("PIN"), CBX_STR("hunter2!") } };
    if (made == NULL) {
        made = cbx_redactor_new(secrets, 2);
    }
    return made;
}

static void redact(struct cbx_str text, size_t chunk, struct cbx_buf *out)
{
    CBX_AUTO(redact_stream) stream = cbx_redact_stream_new(redactor());
    for (size_t at = 0; at < text.len; at += chunk) {
        cbx_redact_feed(stream, cbx_str_sub(text, at, at + chunk), out);
    }
    cbx_redact_flush(stream, out);
}

static bool has(const struct cbx_buf *text, struct cbx_str what)
{
    return memmem(text->p, text->len, what.p, what.len) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 1 << 16) {
        return 0;
    }
    /* The first byte is the size of the chunks. */
    struct cbx_str text = { .p = (const char *)data + 1, .len = size - 1 };
    CBX_AUTO_DONE(buf) whole;
    CBX_AUTO_DONE(buf) split;
    cbx_buf_init(&whole, 1 << 20);
    cbx_buf_init(&split, 1 << 20);
    redact(text, SIZE_MAX / 2, &whole);
    redact(text, data[0] % 64 + 1u, &split);
    if (whole.overflow || split.overflow || has(&whole, CBX_STR(SECRET)) ||
        has(&split, CBX_STR(SECRET)) || has(&whole, CBX_STR("hunter2!")) ||
        has(&split, CBX_STR("hunter2!"))) {
        abort();
    }
    bool same = whole.len == text.len && (text.len == 0 || memcmp(whole.p, text.p, text.len) == 0);
    if (same != !cbx_redact_finds(redactor(), text)) {
        abort();
    }
    return 0;
}
