/* SPDX-License-Identifier: MIT
 * Output of a program, made safe for models and terminals. */
#include "gateway/front/mcp/tools/clean.h"

#include "policies/base/text/printable.h"

static bool is_final(char c)
{
    return c >= 0x40 && c <= 0x7e;
}

/* Returns the end of the escape sequence that starts at `at` (an ESC): CSI up to its final byte;
 * OSC, DCS, SOS, PM and APC up to BEL or ST; any other is two bytes. An unterminated one
 * includes only the ESC, so that it cannot remove the rest. */
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

/* Drops invisible sequences; the result may still have malformed UTF-8 and invisible characters. */
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
                cbx_buf_add_char(out, '\n'); /* a progress bar that overwrites its line */
            }
            at = text.p[at] == '\x1b' ? end_of_escape(text, at) : at + 1;
        }
    }
}

void cbx_clean(struct cbx_buf *out, struct cbx_str text)
{
    CBX_AUTO_DONE(buf) stripped;
    cbx_buf_init(&stripped, text.len + 1);
    strip(&stripped, text);
    cbx_printable_add(out, cbx_buf_str(&stripped), CBX_PRINTABLE_LINES);
}

/* --- cutting ---------------------------------------------------------------------------------- */

static size_t cost_of(char byte)
{
    return cbx_utf8_continues(byte)                                      ? 0
           : byte == '"' || byte == '\\' || byte == '\n' || byte == '\t' ? 2
                                                                         : 1;
}

size_t cbx_clean_cost(struct cbx_str text)
{
    size_t cost = 0;
    for (size_t i = 0; i < text.len; i++) {
        cost += cost_of(text.p[i]);
    }
    return cost;
}

/* Returns the end of the longest beginning that costs at most this. */
static size_t end_of_head(struct cbx_str text, size_t max_cost)
{
    size_t at = 0, cost = 0;
    while (at < text.len && cost + cost_of(text.p[at]) <= max_cost) {
        cost += cost_of(text.p[at++]);
    }
    return at;
}

/* Returns the start of the longest end that costs at most this. */
static size_t start_of_tail(struct cbx_str text, size_t max_cost)
{
    size_t at = text.len, cost = 0;
    while (at > 0 && cost + cost_of(text.p[at - 1]) <= max_cost) {
        cost += cost_of(text.p[--at]);
    }
    while (at < text.len && cost_of(text.p[at]) == 0) { /* not within a character */
        at++;
    }
    return at;
}

/* Moves to the next line, if that is near. */
static size_t to_line(struct cbx_str text, size_t at)
{
    enum { NEAR = 200 };
    const char *end = memchr(text.p + at, '\n', text.len - at < NEAR ? text.len - at : NEAR);
    return end != NULL ? (size_t)(end - text.p) + 1 : at;
}

bool cbx_clean_cut(struct cbx_buf *out, struct cbx_str text, size_t max_cost, const char *where)
{
    enum { NOTE = 160 };
    if (cbx_clean_cost(text) <= max_cost) {
        cbx_buf_add(out, text);
        return false;
    }
    size_t room = max_cost > NOTE ? max_cost - NOTE : 0;
    size_t head = end_of_head(text, room / 5);
    size_t tail = start_of_tail(text, room - room / 5);
    tail = tail < text.len ? to_line(text, tail) : tail;
    cbx_buf_add(out, cbx_str_sub(text, 0, head));
    cbx_buf_printf(out, "\n[... %zu bytes are left out here", tail - head);
    if (where != NULL) {
        cbx_buf_printf(out, "; %s", where);
    }
    cbx_buf_add_cstr(out, " ...]\n");
    cbx_buf_add(out, cbx_str_sub(text, tail, text.len));
    return true;
}
