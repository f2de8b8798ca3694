/* SPDX-License-Identifier: MIT
 * Texts in pages of HTML. */
#include "analyzer/manifest/html_text.h"

#include <ctype.h>
#include <utf8proc.h>

static const struct reference {
    struct cbx_str name;
    const char *bytes;
} references[] = {
#define CBX_REFERENCE(name, bytes) { { name, sizeof(name) - 1 }, bytes },
#include "analyzer/manifest/html_scripts.def"
};

static int digit_of(char c, int base)
{
    int value = -1;
    if (isdigit((unsigned char)c)) {
        value = c - '0';
    } else if (isalpha((unsigned char)c)) {
        value = tolower((unsigned char)c) - 'a' + 10;
    }
    return value < base ? value : -1;
}

/* Decodes "&#65;" at `at`; returns the place behind it, or `at` if it is no reference. */
static uint32_t take_number(struct cbx_piece_maker *maker, uint32_t at, uint32_t end)
{
    enum { LARGEST = 0x10FFFF };
    uint32_t i = at + 2, code = 0, digits = 0;
    bool hex = i < end && (maker->file.p[i] | 0x20) == 'x';
    i += hex;
    for (; i < end && digit_of(maker->file.p[i], hex ? 16 : 10) >= 0; i++) {
        code = code * (hex ? 16 : 10) + (uint32_t)digit_of(maker->file.p[i], hex ? 16 : 10);
        code = code > LARGEST ? LARGEST + 1 : code;
        digits++;
    }
    if (digits == 0) {
        return at;
    }
    utf8proc_uint8_t bytes[4];
    bool valid = code != 0 && utf8proc_codepoint_valid((utf8proc_int32_t)code);
    utf8proc_ssize_t n = utf8proc_encode_char(valid ? (utf8proc_int32_t)code : 0xFFFD, bytes);
    cbx_piece_maker_put(maker, (struct cbx_str){ (const char *)bytes, n > 0 ? (size_t)n : 0 }, at);
    return i + (i < end && maker->file.p[i] == ';');
}

static uint32_t take_name(struct cbx_piece_maker *maker, uint32_t at, uint32_t end)
{
    uint32_t i = at + 1;
    while (i < end && isalnum((unsigned char)maker->file.p[i])) {
        i++;
    }
    struct cbx_str name = cbx_str_sub(maker->file, at + 1, i);
    if (i == end || maker->file.p[i] != ';') {
        return at;
    }
    for (size_t r = 0; r < sizeof(references) / sizeof(references[0]); r++) {
        if (cbx_str_equal(name, references[r].name)) {
            cbx_piece_maker_put(maker, cbx_str_of(references[r].bytes), at);
            return i + 1;
        }
    }
    return at;
}

void cbx_html_take(struct cbx_piece_maker *maker, uint32_t start, uint32_t end)
{
    for (uint32_t at = start; at < end;) {
        uint32_t behind = at;
        if (maker->file.p[at] == '&' && at + 1 < end) {
            bool number = maker->file.p[at + 1] == '#';
            behind = number ? take_number(maker, at, end) : take_name(maker, at, end);
        }
        if (behind == at) {
            cbx_piece_maker_take(maker, at, at + 1);
            behind = at + 1;
        }
        at = behind;
    }
}

size_t cbx_html_url_behind(struct cbx_str text, const char *scheme)
{
    size_t at = 0, n = 0;
    while (at < text.len && (unsigned char)text.p[at] <= ' ') {
        at++;
    }
    for (; at < text.len && scheme[n] != '\0'; at++) {
        char c = text.p[at];
        if (c == '\t' || c == '\n' || c == '\r') {
            continue;
        }
        if (tolower((unsigned char)c) != scheme[n]) {
            return 0;
        }
        n++;
    }
    return scheme[n] == '\0' ? at : 0;
}

void cbx_html_take_url(struct cbx_piece_maker *out, const struct cbx_piece_maker *url, size_t from)
{
    struct cbx_str text = cbx_buf_str(&url->text);
    for (size_t i = from; i < text.len; i++) {
        uint32_t place = cbx_piece_maker_place(url, (uint32_t)i);
        int high = text.p[i] == '%' && i + 2 < text.len ? digit_of(text.p[i + 1], 16) : -1;
        int low = high >= 0 ? digit_of(text.p[i + 2], 16) : -1;
        char c = low >= 0 ? (char)(high * 16 + low) : text.p[i];
        cbx_piece_maker_put(out, (struct cbx_str){ &c, 1 }, place);
        i += low >= 0 ? 2 : 0;
    }
}

/* --- templates -------------------------------------------------------------------------------- */

/* The longest marks come first. */
static const struct template_mark {
    const char *begin, *end, *stands_for;
} marks[] = {
    { "<%=", "%>", "EXPRESSION" }, { "<%-", "%>", "EXPRESSION" }, { "<?=", "?>", "EXPRESSION" },
    { "{{", "}}", "EXPRESSION" },  { "{%", "%}", " " },           { "{#", "#}", " " },
    { "<%", "%>", " " },           { "<?", "?>", " " },
};

enum { MARKS = sizeof(marks) / sizeof(marks[0]) };

/* Finds the mark that begins at `at`, and the place behind its end; NULL if there is none.
 * `unended`: marks without an end from there on, for which the text is not searched again. */
static const struct template_mark *find_mark(struct cbx_str text, size_t at, bool unended[MARKS],
                                             size_t *behind)
{
    struct cbx_str rest = cbx_str_sub(text, at, text.len);
    for (size_t i = 0; i < MARKS; i++) {
        if (!cbx_str_starts(rest, cbx_str_of(marks[i].begin))) {
            continue;
        }
        if (unended[i]) {
            return NULL;
        }
        const char *end = memmem(rest.p, rest.len, marks[i].end, strlen(marks[i].end));
        *behind = end != NULL ? at + (size_t)(end - rest.p) + strlen(marks[i].end) : 0;
        unended[i] = end == NULL;
        return end != NULL ? &marks[i] : NULL;
    }
    return NULL;
}

bool cbx_html_take_template(struct cbx_piece_maker *out, const struct cbx_piece_maker *code)
{
    struct cbx_str text = cbx_buf_str(&code->text);
    bool found = false, unended[MARKS] = { false };
    for (size_t at = 0; at < text.len;) {
        size_t behind = 0;
        uint32_t place = cbx_piece_maker_place(code, (uint32_t)at);
        const struct template_mark *mark = find_mark(text, at, unended, &behind);
        if (mark != NULL) {
            cbx_piece_maker_put(out, cbx_str_of(mark->stands_for), place);
            at = behind;
            found = true;
            continue;
        }
        cbx_piece_maker_put(out, cbx_str_sub(text, at, at + 1), place);
        at++;
    }
    return found;
}
