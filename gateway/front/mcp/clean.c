/* SPDX-License-Identifier: MIT
 * Output of a program, made safe for models and terminals. */
#include "gateway/front/mcp/clean.h"

#include "policies/base/printable.h"

static bool is_final(char c)
{
    return c >= 0x40 && c <= 0x7e;
}

/* The end of the escape sequence that starts at `at` (an ESC): CSI up to its final byte; OSC, DCS,
 * SOS, PM and APC up to BEL or ST; anything else is two bytes. One that never ends takes only
 * itself, so that it cannot swallow the rest. */
static size_t end_of_escape(struct cbx_str text, size_t at)
{
    enum { STRING_MAX = 4096 };
    char kind = at + 1 < text.len ? text.p[at + 1] : '\0';
    if (kind == '[') {
        size_t end = at + 2;
        while (end < text.len && !is_final(text.p[end]) && end - at < 64) {
            end++;
        }
        return end < text.len && is_final(text.p[end]) ? end + 1 : at + 2;
    }
    if (kind != '\0' && strchr("]PX^_", kind) != NULL) {
        for (size_t end = at + 2; end < text.len && end - at < STRING_MAX; end++) {
            if (text.p[end] == '\a' || (text.p[end] == '\\' && text.p[end - 1] == '\x1b')) {
                return end + 1;
            }
        }
        return at + 2;
    }
    return kind >= 0x20 && kind <= 0x7e ? at + 2 : at + 1;
}

static bool is_plain(char c)
{
    unsigned char byte = (unsigned char)c;
    return (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t';
}

/* Drops what is not to be shown; what is left may still hold bad UTF-8 and invisible characters. */
static void strip(struct cbx_buf *out, struct cbx_str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        while (end < text.len && is_plain(text.p[end])) {
            end++;
        }
        cbx_buf_add(out, cbx_str_sub(text, at, end));
        at = end;
        if (at < text.len) {
            bool overwrites = text.p[at] == '\r' && at + 1 < text.len && text.p[at + 1] != '\n';
            if (overwrites) {
                cbx_buf_add_char(out, '\n'); /* a progress bar that draws over its line */
            }
            at = text.p[at] == '\x1b' ? end_of_escape(text, at) : at + 1;
        }
    }
}

/* Moves a cut to the start of a character. */
static size_t align(struct cbx_str text, size_t at)
{
    while (at > 0 && at < text.len && ((unsigned char)text.p[at] & 0xc0) == 0x80) {
        at--;
    }
    return at;
}

bool cbx_clean(struct cbx_buf *out, struct cbx_str text, size_t max_bytes)
{
    CBX_AUTO_DONE(buf) stripped;
    CBX_AUTO_DONE(buf) escaped;
    cbx_buf_init(&stripped, text.len + 1);
    cbx_buf_init(&escaped, 4 * text.len + 1); /* \xNN for one byte is the longest */
    strip(&stripped, text);
    cbx_printable_add(&escaped, cbx_buf_str(&stripped), CBX_PRINTABLE_LINES);
    struct cbx_str s = cbx_buf_str(&escaped);
    if (s.len <= max_bytes) {
        cbx_buf_add(out, s);
        return false;
    }
    size_t head = align(s, max_bytes / 4 * 3), tail = align(s, s.len - max_bytes / 4);
    cbx_buf_add(out, cbx_str_sub(s, 0, head));
    cbx_buf_printf(out, "\n[... %zu bytes left out ...]\n", tail - head);
    cbx_buf_add(out, cbx_str_sub(s, tail, s.len));
    return true;
}
