/* SPDX-License-Identifier: MIT
 * Finds the places of strings in JSON. */
#include "analyzer/manifest/documents/json_text.h"

#include <utf8proc.h>

/* Returns the end of the string that begins at `at`, behind its quote. */
static uint32_t end_of_string(struct cbx_str file, uint32_t at)
{
    uint32_t i = at + 1;
    while (i < file.len && file.p[i] != '"') {
        i += file.p[i] == '\\' ? 2 : 1;
    }
    return i + 1 < file.len ? i + 1 : (uint32_t)file.len;
}

struct cbx_json_place cbx_json_text_at(struct cbx_str file, uint32_t at)
{
    return (struct cbx_json_place){ at, end_of_string(file, at) };
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *at = c != '\0' ? strchr(digits, c | (c > '9' ? 0x20 : 0)) : NULL;
    return at != NULL ? (int)(at - digits) : 0;
}

static uint32_t read_unit(struct cbx_str file, uint32_t at)
{
    uint32_t unit = 0;
    for (uint32_t i = at; i < at + 4 && i < file.len; i++) {
        unit = unit * 16 + (uint32_t)hex_digit(file.p[i]);
    }
    return unit;
}

/* Appends the character of \uXXXX at `at`, or of a pair of surrogates; returns its length. */
static uint32_t put_unicode(struct cbx_piece_maker *maker, uint32_t at)
{
    uint32_t unit = read_unit(maker->file, at + 2), len = 6;
    if (unit >= 0xD800 && unit < 0xDC00) { /* jansson refused a single surrogate */
        unit = 0x10000 + ((unit - 0xD800) << 10) + (read_unit(maker->file, at + 8) - 0xDC00);
        len = 12;
    }
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)unit, bytes);
    cbx_piece_maker_put(maker, (struct cbx_str){ (const char *)bytes, n > 0 ? (size_t)n : 0 }, at);
    return len;
}

static uint32_t put_escape(struct cbx_piece_maker *maker, uint32_t at)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\n\t";
    char c = at + 1 < maker->file.len ? maker->file.p[at + 1] : '\\';
    const char *known = memchr(from, c, sizeof(from) - 1);
    if (c == 'u') {
        return put_unicode(maker, at);
    }
    char text = known != NULL ? to[known - from] : c;
    cbx_piece_maker_put(maker, (struct cbx_str){ &text, 1 }, at);
    return 2;
}

void cbx_json_text_take(struct cbx_piece_maker *maker, struct cbx_json_place string)
{
    uint32_t at = string.start + 1, end = string.end - 1;
    while (at < end) {
        const char *escape = memchr(maker->file.p + at, '\\', end - at);
        uint32_t stop = escape != NULL ? (uint32_t)(escape - maker->file.p) : end;
        if (stop > at) {
            cbx_piece_maker_take(maker, at, stop);
        }
        at = stop;
        at += stop < end ? put_escape(maker, stop) : 0;
    }
}

struct cbx_str cbx_json_text_read(struct cbx_arena *arena, struct cbx_str file,
                                  struct cbx_json_place string)
{
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, arena, file);
    cbx_json_text_take(&maker, string);
    return cbx_arena_copy(arena, cbx_buf_str(&maker.text));
}
