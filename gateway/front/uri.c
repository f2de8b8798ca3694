/* SPDX-License-Identifier: MIT
 * Paths in URIs. */
#include "gateway/front/uri.h"

#include "policies/base/text/hex.h"

static bool is_plain(char c)
{
    char low = (char)(c | 32);
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-._~/", c) != NULL);
}

void cbx_uri_add(struct cbx_buf *out, struct cbx_str path)
{
    for (size_t i = 0; i < path.len; i++) {
        if (is_plain(path.p[i])) {
            cbx_buf_add_char(out, path.p[i]);
        } else {
            cbx_buf_printf(out, "%%%02X", (unsigned char)path.p[i]);
        }
    }
}

int cbx_uri_decode(struct cbx_str text, struct cbx_buf *out, struct cbx_err *err)
{
    size_t began = out->len;
    for (size_t i = 0; i < text.len; i++) {
        int high = text.p[i] == '%' && i + 2 < text.len ? cbx_hex_value(text.p[i + 1]) : -1;
        int low = high >= 0 ? cbx_hex_value(text.p[i + 2]) : -1;
        if (text.p[i] == '%' && (low < 0 || (high == 0 && low == 0))) {
            return cbx_fail(err, CBX_EINVAL,
                            "the path has a '%%' that begins no escape, or one that is a NUL");
        }
        if (cbx_buf_add_char(out, text.p[i] == '%' ? (char)(high * 16 + low) : text.p[i]) != 0) {
            return cbx_fail(err, CBX_EINVAL, "the path is too long");
        }
        i += text.p[i] == '%' ? 2 : 0;
    }
    if (!cbx_str_is_utf8(cbx_str_sub(cbx_buf_str(out), began, out->len), NULL)) {
        return cbx_fail(err, CBX_EINVAL, "the path is not UTF-8");
    }
    return 0;
}
