/* SPDX-License-Identifier: MIT
 * Bytes of unknown origin to text that is safe to show. */
#include "policies/base/text/printable.h"

#include "policies/base/err.h"

#include <utf8proc.h>

static bool is_control(unsigned char c)
{
    return c < 0x20 || c == 0x7f;
}

static bool is_invisible(utf8proc_int32_t c)
{
    utf8proc_category_t category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
           category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

/* Appends the multi-byte character at the start of `text`; returns its length. */
static size_t add_wide(struct cbx_buf *buf, struct cbx_str text)
{
    utf8proc_int32_t code;
    utf8proc_ssize_t n =
        utf8proc_iterate((const utf8proc_uint8_t *)text.p, (utf8proc_ssize_t)text.len, &code);
    if (n <= 0) {
        cbx_buf_printf(buf, "\\x%02x", (unsigned char)text.p[0]);
        return 1;
    }
    if (is_invisible(code)) {
        cbx_buf_printf(buf, "\\u{%04x}", (unsigned)code);
    } else {
        cbx_buf_add_bytes(buf, text.p, (size_t)n);
    }
    return (size_t)n;
}

static void add_escaped(struct cbx_buf *buf, struct cbx_str text, bool lines)
{
    for (size_t i = 0; i < text.len;) {
        unsigned char c = (unsigned char)text.p[i];
        if (c >= 0x80) {
            i += add_wide(buf, cbx_str_sub(text, i, text.len));
            continue;
        }
        bool kept = !is_control(c) || (lines && (c == '\n' || c == '\t'));
        if (kept) {
            cbx_buf_add_char(buf, (char)c);
        } else {
            cbx_buf_printf(buf, "\\x%02x", c);
        }
        i++;
    }
}

static void add_utf8(struct cbx_buf *buf, struct cbx_str text)
{
    for (size_t bad; !cbx_str_is_utf8(text, &bad); text = cbx_str_sub(text, bad + 1, text.len)) {
        cbx_buf_add(buf, cbx_str_sub(text, 0, bad));
        cbx_buf_add_cstr(buf, "\xEF\xBF\xBD");
    }
    cbx_buf_add(buf, text);
}

int cbx_printable_add(struct cbx_buf *buf, struct cbx_str text, enum cbx_printable mode)
{
    if (mode == CBX_PRINTABLE_UTF8) {
        add_utf8(buf, text);
    } else {
        add_escaped(buf, text, mode == CBX_PRINTABLE_LINES);
    }
    return buf->overflow ? CBX_ETOOBIG : 0;
}

void cbx_printable_mask(char *terminated)
{
    /* a fixed size may have cut a character, and JSON requires UTF-8 */
    for (size_t bad; !cbx_str_is_utf8(cbx_str_of(terminated), &bad);) {
        terminated[bad] = '?';
    }
    for (char *p = terminated; *p != '\0'; p++) {
        *p = is_control((unsigned char)*p) ? '?' : *p;
    }
}

bool cbx_printable_has_no_control(struct cbx_str text)
{
    size_t i = 0;
    while (i < text.len && !is_control((unsigned char)text.p[i])) {
        i++;
    }
    return i == text.len;
}
