/* SPDX-License-Identifier: MIT
 * The forms of a secret, by the rows of redact_forms.def. */
#include "gateway/executor/redact/redact.h"
#include "gateway/executor/redact/redact_index.h"

#include <stdlib.h>
#include <string.h>

enum { FORM_MAX = 64 * CBX_REDACT_BYTES_MAX };

/* --- before ----------------------------------------------------------------------------------- */

static void before_plain(struct cbx_str value, struct cbx_buf *out)
{
    cbx_buf_add(out, value);
}

static void before_reverse(struct cbx_str value, struct cbx_buf *out)
{
    for (size_t i = value.len; i > 0; i--) {
        cbx_buf_add_char(out, value.p[i - 1]);
    }
}

static void before_utf16(struct cbx_str value, struct cbx_buf *out)
{
    for (size_t i = 0; i < value.len; i++) {
        cbx_buf_add_char(out, value.p[i]);
        cbx_buf_add_char(out, '\0');
    }
}

static void before_utf16be(struct cbx_str value, struct cbx_buf *out)
{
    for (size_t i = 0; i < value.len; i++) {
        cbx_buf_add_char(out, '\0');
        cbx_buf_add_char(out, value.p[i]);
    }
}

/* Swaps the bytes of 16-bit words, as hexdump shows them. */
static void before_pairs(struct cbx_str value, struct cbx_buf *out)
{
    for (size_t i = 0; i < value.len; i += 2) {
        cbx_buf_add_char(out, i + 1 < value.len ? value.p[i + 1] : '\0');
        cbx_buf_add_char(out, value.p[i]);
    }
}

/* --- forms ------------------------------------------------------------------------------------ */

/* The input of one form, and the index of its texts. */
struct form {
    struct cbx_redact_index *indexes;
    enum cbx_redact_view view;
    struct cbx_str value; /* after the CBX_BEFORE step */
    size_t bytes;         /* size of the secret */
    uint32_t secret;
};

static void add(const struct form *form, const struct cbx_buf *text)
{
    cbx_redact_index_add(&form->indexes[form->view], form->view, cbx_buf_str(text), form->bytes,
                         form->secret);
}

/* Returns the bit at this position of `skipped` zero bytes and the value. */
static unsigned bit_at(struct cbx_str value, size_t skipped, size_t place)
{
    size_t byte = place / 8;
    return byte < skipped || byte - skipped >= value.len
               ? 0
               : (uint8_t)value.p[byte - skipped] >> (7 - place % 8) & 1;
}

/* Adds the digits from bit `from` to bit `to`. */
static void add_digits(const struct form *form, const char *alphabet, unsigned bits, size_t skipped,
                       size_t from, size_t to, struct cbx_buf *text)
{
    cbx_buf_reset(text);
    for (size_t at = from; at < to; at += bits) {
        unsigned digit = 0;
        for (unsigned i = 0; i < bits; i++) {
            digit = digit << 1 | bit_at(form->value, skipped, at + i);
        }
        cbx_buf_add_char(text, alphabet[digit]);
    }
    add(form, text);
}

/* Digits that depend on bytes next to the value are left out, except at the end of a value that
 * stands alone. */
static void add_radix(const struct form *form, const char *alphabet, unsigned bits,
                      struct cbx_buf *text)
{
    /* number of bytes until a digit and a byte begin at the same bit */
    size_t group = bits == 6 ? 3 : bits == 5 ? 5 : 1;
    for (size_t skipped = 0; skipped < group; skipped++) {
        size_t from = (skipped * 8 + bits - 1) / bits * bits;
        size_t end = (skipped + form->value.len) * 8;
        if (skipped == 0) {
            add_digits(form, alphabet, bits, 0, 0, end, text);
        }
        add_digits(form, alphabet, bits, skipped, from, end / bits * bits, text);
    }
}

static void add_bytes(const struct form *form, const char *prefix, unsigned base, int digits,
                      struct cbx_buf *text)
{
    cbx_buf_reset(text);
    for (size_t i = 0; i < form->value.len; i++) {
        char number[16];
        int at = (int)sizeof(number);
        for (unsigned left = (uint8_t)form->value.p[i], n = 0; left > 0 || (int)n < digits;
             left /= base, n++) {
            number[--at] = "0123456789abcdef"[left % base];
        }
        cbx_buf_add_cstr(text, prefix);
        cbx_buf_add_bytes(text, number + at, sizeof(number) - (size_t)at);
    }
    add(form, text);
}

static void add_counted(const struct form *form, size_t first, struct cbx_buf *text)
{
    cbx_buf_reset(text);
    for (size_t i = 0; i < form->value.len; i++) {
        cbx_buf_printf(text, "%zu%c", first + i, form->value.p[i]);
    }
    add(form, text);
}

static void add_forms(struct cbx_redact_index *indexes, struct cbx_str value, size_t bytes,
                      uint32_t secret)
{
    struct form form = { .indexes = indexes, .value = value, .bytes = bytes, .secret = secret };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, FORM_MAX);
    for (enum cbx_redact_view view = 0; view < CBX_REDACT_VIEWS; view++) {
        cbx_redact_index_add(&indexes[view], view, value, bytes, secret);
    }
#define CBX_BEFORE(name)
#define CBX_RADIX(name, bits, view_, alphabet)                                                     \
    form.view = CBX_REDACT_##view_;                                                                \
    add_radix(&form, alphabet, bits, &text);
#define CBX_BYTES(name, view_, prefix, base, digits)                                               \
    form.view = CBX_REDACT_##view_;                                                                \
    add_bytes(&form, prefix, base, digits, &text);
#define CBX_COUNTED(name, view_, first)                                                            \
    form.view = CBX_REDACT_##view_;                                                                \
    add_counted(&form, first, &text);
#include "gateway/executor/redact/redact_forms.def"
#undef CBX_BEFORE
#undef CBX_RADIX
#undef CBX_BYTES
#undef CBX_COUNTED
    explicit_bzero(text.p, text.size);
}

void cbx_redact_add_forms(struct cbx_redact_index indexes[CBX_REDACT_VIEWS], struct cbx_str value,
                          uint32_t secret)
{
    static void (*const all[])(struct cbx_str value, struct cbx_buf * out) = {
#define CBX_BEFORE(name) before_##name,
#define CBX_RADIX(name, bits, view, alphabet)
#define CBX_BYTES(name, view, prefix, base, digits)
#define CBX_COUNTED(name, view, first)
#include "gateway/executor/redact/redact_forms.def"
#undef CBX_BEFORE
#undef CBX_RADIX
#undef CBX_BYTES
#undef CBX_COUNTED
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        CBX_AUTO_DONE(buf) changed;
        cbx_buf_init(&changed, FORM_MAX);
        all[i](value, &changed);
        add_forms(indexes, cbx_buf_str(&changed), value.len, secret);
        explicit_bzero(changed.p, changed.size);
    }
}
