/* SPDX-License-Identifier: MIT
 * Reads messages from a byte stream. */
#include "analyzer/lint/lsp/lsp_frame.h"

#include <ctype.h>

struct headers {
    bool has_length;
    size_t length;
};

static int read_length(struct cbx_str value, struct headers *h, struct cbx_err *err)
{
    size_t length = 0;
    if (h->has_length) {
        return cbx_fail(err, CBX_EPROTO, "header 'Content-Length' stands there twice");
    }
    for (size_t i = 0; i < value.len; i++) {
        if (!isdigit((unsigned char)value.p[i]) || length > CBX_LSP_BODY_MAX) {
            break;
        }
        length = length * 10 + (size_t)(value.p[i] - '0');
        h->has_length = i + 1 == value.len;
    }
    if (!h->has_length || length > CBX_LSP_BODY_MAX) {
        return cbx_fail(err, CBX_EPROTO, "header 'Content-Length' is '%.*s', allowed is 0..%d",
                        CBX_STR_SHOWN(value), CBX_LSP_BODY_MAX);
    }
    h->length = length;
    return 0;
}

static int read_type(struct cbx_str value, struct cbx_err *err)
{
    const char *charset = memmem(cbx_str_bytes(value), value.len, "charset=", 8);
    if (charset == NULL) {
        return 0;
    }
    struct cbx_str name = cbx_str_sub(value, (size_t)(charset - value.p) + 8, value.len);
    if (cbx_str_is_nocase(name, "utf-8") || cbx_str_is_nocase(name, "utf8")) {
        return 0;
    }
    return cbx_fail(err, CBX_EPROTO, "charset is '%.*s', allowed is utf-8", CBX_STR_SHOWN(name));
}

static int read_header(struct cbx_str line, struct headers *h, struct cbx_err *err)
{
    const char *colon = line.len > 0 ? memchr(line.p, ':', line.len) : NULL;
    if (colon == NULL || colon == line.p) {
        return cbx_fail(err, CBX_EPROTO, "'%.*s' is no header", CBX_STR_SHOWN(line));
    }
    struct cbx_str name = cbx_str_sub(line, 0, (size_t)(colon - line.p));
    struct cbx_str value = cbx_str_trim(cbx_str_sub(line, name.len + 1, line.len));
    if (cbx_str_is_nocase(name, "Content-Length")) {
        return read_length(value, h, err);
    }
    if (cbx_str_is_nocase(name, "Content-Type")) {
        return read_type(value, err);
    }
    return cbx_fail(err, CBX_EPROTO,
                    "header '%.*s' is not known, allowed are Content-Length and Content-Type",
                    CBX_STR_SHOWN(name));
}

int cbx_lsp_frame_next(struct cbx_str in, struct cbx_str *body, size_t *used, struct cbx_err *err)
{
    struct headers h = { 0 };
    size_t at = 0;
    for (;;) {
        const char *end = at < in.len ? memmem(in.p + at, in.len - at, "\r\n", 2) : NULL;
        size_t length = end != NULL ? (size_t)(end - in.p) - at : in.len - at;
        if (at + length > CBX_LSP_HEADERS_MAX) {
            return cbx_fail(err, CBX_EPROTO, "headers of more than %d bytes", CBX_LSP_HEADERS_MAX);
        }
        if (end == NULL) {
            return 0;
        }
        struct cbx_str line = cbx_str_sub(in, at, at + length);
        at += length + 2;
        if (line.len == 0) {
            break;
        }
        int failed = read_header(line, &h, err);
        if (failed) {
            return failed;
        }
    }
    if (!h.has_length) {
        return cbx_fail(err, CBX_EPROTO, "a message without the header 'Content-Length'");
    }
    if (in.len - at < h.length) {
        return 0;
    }
    *body = cbx_str_sub(in, at, at + h.length);
    *used = at + h.length;
    return 1;
}
