/* SPDX-License-Identifier: MIT
 * Removes control sequences from a stream, byte by byte. */
#include "gateway/cli/terminal.h"

enum { STRING_MAX = 4096, CSI_MAX = 64 };

/* TEXT; a character of several bytes; 0xc2, with which C1 controls begin; after ESC; in a CSI
 * sequence; in a string (OSC, DCS, SOS, PM, APC); after an ESC in a string. */
enum state { TEXT, CHARACTER, C2, ESCAPE, CSI, STRING, STRING_ESCAPE };

static void enter(struct cbx_terminal *t, enum state state)
{
    t->state = state;
    t->left = 0;
}

static void take_text(struct cbx_terminal *t, struct cbx_buf *out, unsigned char c)
{
    if (c == 0x1b) {
        enter(t, ESCAPE);
    } else if (c == 0xc2) {
        enter(t, C2);
    } else if (c > 0xc2 && c <= 0xf4) {
        enter(t, CHARACTER);
        t->left = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        cbx_buf_add_char(out, (char)c);
    } else if (c >= 0x80) {
        cbx_buf_add_char(out, '?');
    } else if (c >= 0x20 ? c != 0x7f : c == '\n' || c == '\t' || c == '\r') {
        cbx_buf_add_char(out, (char)c);
    }
}

/* Takes the byte that introduces a sequence: after ESC, or of a C1 control (c - 0x40). */
static void introduce(struct cbx_terminal *t, unsigned char c)
{
    enter(t, c == '[' ? CSI : c != '\0' && strchr("]PX^_", c) != NULL ? STRING : TEXT);
}

/* After ESC: an intermediate byte continues the sequence, any other ends it. */
static void take_escape(struct cbx_terminal *t, struct cbx_buf *out, unsigned char c)
{
    if (c >= 0x20 && c <= 0x2f && ++t->left < CSI_MAX) {
        return;
    }
    if (c >= 0x30 && c <= 0x7e) {
        introduce(t, t->left == 0 ? c : '\0');
    } else {
        enter(t, TEXT);
        take_text(t, out, c);
    }
}

static void take_csi(struct cbx_terminal *t, struct cbx_buf *out, unsigned char c)
{
    if (c >= 0x20 && c <= 0x3f && ++t->left < CSI_MAX) {
        return;
    }
    enter(t, TEXT);
    if (c < 0x20 || c > 0x7e) {
        take_text(t, out, c);
    }
}

static void take_string(struct cbx_terminal *t, struct cbx_buf *out, unsigned char c)
{
    bool ends = t->state == STRING_ESCAPE && c == '\\';
    if (c == '\a' || ends || ++t->left > STRING_MAX) {
        enter(t, TEXT);
    } else if (c == '\n') {
        enter(t, TEXT);
        take_text(t, out, c);
    } else {
        t->state = c == 0x1b ? STRING_ESCAPE : STRING;
    }
}

static void take_byte(struct cbx_terminal *t, struct cbx_buf *out, unsigned char c)
{
    bool continues = cbx_utf8_continues((char)c);
    switch ((enum state)t->state) {
    case TEXT:
        take_text(t, out, c);
        return;
    case CHARACTER:
        if (continues) {
            cbx_buf_add_char(out, (char)c);
            t->state = --t->left > 0 ? CHARACTER : TEXT;
        } else {
            enter(t, TEXT);
            take_text(t, out, c);
        }
        return;
    case C2:
        enter(t, TEXT);
        if (continues && c < 0xa0) {
            introduce(t, c - 0x40);
        } else if (continues) {
            cbx_buf_add_char(out, (char)0xc2);
            cbx_buf_add_char(out, (char)c);
        } else {
            cbx_buf_add_char(out, '?');
            take_text(t, out, c);
        }
        return;
    case ESCAPE:
        take_escape(t, out, c);
        return;
    case CSI:
        take_csi(t, out, c);
        return;
    case STRING:
    case STRING_ESCAPE:
        take_string(t, out, c);
        return;
    }
}

void cbx_terminal_add(struct cbx_terminal *terminal, struct cbx_buf *out, struct cbx_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        take_byte(terminal, out, (unsigned char)bytes.p[i]);
    }
}
