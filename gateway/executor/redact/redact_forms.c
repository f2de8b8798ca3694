/* SPDX-License-Identifier: MIT
 * The forms of a secret, by the rows of redact_forms.def. */
#include "gateway/executor/redact/redact.h"
#include "gateway/executor/redact/redact_index.h"
#include "policies/base/base64.h"
#include "policies/base/hex.h"

#include <stdlib.h>
#include <string.h>

enum { LONG_BYTES = 512, NUMBER_BYTES_MAX = 512, FORM_MAX = 64 * CBX_REDACT_BYTES_MAX };

/* --- before ----------------------------------------------------------------------------------- */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* A function of each character. */
static void map(struct cbx_str value, char (*change)(char), struct cbx_buf *out)
{
    for (size_t i = 0; i < value.len; i++) {
        cbx_buf_add_char(out, change(value.p[i]));
    }
}

static char to_same(char c)
{
    return c;
}

static char to_upper(char c)
{
    return is_lower(c) ? (char)(c - 32) : c;
}

static char to_lower(char c)
{
    return is_upper(c) ? (char)(c + 32) : c;
}

static char to_other(char c)
{
    return is_upper(c) ? (char)(c + 32) : to_upper(c);
}

static char to_rot13(char c)
{
    return is_lower(c)   ? (char)('a' + (c - 'a' + 13) % 26)
           : is_upper(c) ? (char)('A' + (c - 'A' + 13) % 26)
                         : c;
}

static char to_rot47(char c)
{
    return c >= '!' && c <= '~' ? (char)('!' + (c - '!' + 47) % 94) : c;
}

static char to_atbash(char c)
{
    return is_lower(c) ? (char)('z' - (c - 'a')) : is_upper(c) ? (char)('Z' - (c - 'A')) : c;
}

static void before_plain(struct cbx_str value, struct cbx_buf *out)
{
    map(value, to_same, out);
}

static void before_upper(struct cbx_str value, struct cbx_buf *out)
{
    map(value, to_upper, out);
}

static void before_lower(struct cbx_str value, struct cbx_buf *out)
{
    map(value, to_lower, out);
}

static void before_swap(struct cbx_str value, struct cbx_buf *out)
{
    map(value, to_other, out);
}

static void before_rot13(struct cbx_str value, struct cbx_buf *out)
{
    map(value, to_rot13, out);
}

static void before_rot47(struct cbx_str value, struct cbx_buf *out)
{
    map(value, to_rot47, out);
}

static void before_atbash(struct cbx_str value, struct cbx_buf *out)
{
    map(value, to_atbash, out);
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

/* Words of 16 bits whose bytes are in the other order, as hexdump shows them. */
static void before_pairs(struct cbx_str value, struct cbx_buf *out)
{
    for (size_t i = 0; i < value.len; i += 2) {
        cbx_buf_add_char(out, i + 1 < value.len ? value.p[i + 1] : '\0');
        cbx_buf_add_char(out, value.p[i]);
    }
}

static void before_doubled(struct cbx_str value, struct cbx_buf *out)
{
    for (size_t i = 0; i < value.len; i++) {
        cbx_buf_add_char(out, value.p[i]);
        cbx_buf_add_char(out, value.p[i]);
    }
}

static void before_hex(struct cbx_str value, struct cbx_buf *out)
{
    for (size_t i = 0; i < value.len; i++) {
        cbx_buf_printf(out, "%02x", (uint8_t)value.p[i]);
    }
}

static void before_base64(struct cbx_str value, struct cbx_buf *out)
{
    cbx_base64_encode(value, out);
}

/* --- forms ------------------------------------------------------------------------------------ */

/* What one form is made of, and where its texts go. */
struct form {
    struct cbx_redact_index *indexes;
    enum cbx_redact_view view;
    struct cbx_str value; /* after what is done before */
    size_t bytes;         /* of the secret */
    uint32_t secret;
    bool twice; /* also what is done to the form afterwards */
};

static void add_twice(const struct form *form, struct cbx_str text)
{
    CBX_AUTO_DONE(buf) changed;
    cbx_buf_init(&changed, FORM_MAX);
    before_reverse(text, &changed);
    cbx_redact_index_add(&form->indexes[form->view], form->view, cbx_buf_str(&changed), form->bytes,
                         form->secret);
    cbx_buf_reset(&changed);
    map(text, to_rot13, &changed);
    cbx_redact_index_add(&form->indexes[form->view], form->view, cbx_buf_str(&changed), form->bytes,
                         form->secret);
    explicit_bzero(changed.p, changed.size);
}

static void add(const struct form *form, const struct cbx_buf *text)
{
    if (form->twice) {
        add_twice(form, cbx_buf_str(text));
    }
    cbx_redact_index_add(&form->indexes[form->view], form->view, cbx_buf_str(text), form->bytes,
                         form->secret);
}

/* The bit at this place of `skipped` zero bytes and the value. */
static unsigned bit_at(struct cbx_str value, size_t skipped, size_t place)
{
    size_t byte = place / 8;
    return byte < skipped || byte - skipped >= value.len
               ? 0
               : (uint8_t)value.p[byte - skipped] >> (7 - place % 8) & 1;
}

/* The digits from bit `from` to bit `to`. */
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

/* Digits that depend on neighbours of the value are left out, except at the end of a value that stands alone. */
static void add_radix(const struct form *form, const char *alphabet, unsigned bits,
                      struct cbx_buf *text)
{
    size_t group = bits == 6 ? 3 : bits == 5 ? 5 : 1; /* bytes until a digit begins with one */
    for (size_t skipped = 0; skipped < group; skipped++) {
        size_t from = (skipped * 8 + bits - 1) / bits * bits;
        size_t end = (skipped + form->value.len) * 8;
        if (skipped == 0) {
            add_digits(form, alphabet, bits, 0, 0, end, text);
        }
        add_digits(form, alphabet, bits, skipped, from, end / bits * bits, text);
    }
}

static void add_group(const uint8_t bytes[4], const char *alphabet, size_t digits,
                      struct cbx_buf *text)
{
    uint32_t number =
        (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    char five[5];
    for (int i = 4; i >= 0; i--, number /= 85) {
        five[i] = alphabet[number % 85];
    }
    cbx_buf_add_bytes(text, five, digits);
}

/* Whole groups, and the rest of a value that stands alone. */
static void add_fives(const struct form *form, const char *alphabet, struct cbx_buf *text)
{
    for (size_t skipped = 0; skipped < 4; skipped++) {
        size_t at = (4 - skipped) % 4, rest = 0;
        cbx_buf_reset(text);
        for (; at + 4 <= form->value.len; at += 4) {
            add_group((const uint8_t *)form->value.p + at, alphabet, 5, text);
        }
        rest = at < form->value.len ? form->value.len - at : 0;
        if (skipped == 0 && rest > 0) {
            uint8_t last[4] = { 0 };
            struct cbx_buf whole;
            cbx_buf_init(&whole, FORM_MAX);
            cbx_buf_add(&whole, cbx_buf_str(text));
            memcpy(last, form->value.p + at, rest);
            add_group(last, alphabet, rest + 1, &whole);
            add(form, &whole);
            explicit_bzero(whole.p, whole.len);
            cbx_buf_done(&whole);
        }
        add(form, text);
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

static void add_shifted(const struct form *form, struct cbx_buf *text)
{
    for (int by = 1; by < 26; by++) {
        cbx_buf_reset(text);
        for (size_t i = 0; i < form->value.len; i++) {
            char c = to_lower(form->value.p[i]);
            cbx_buf_add_char(text, is_lower(c) ? (char)('a' + (c - 'a' + by) % 26) : c);
        }
        cbx_redact_index_add(&form->indexes[form->view], form->view, cbx_buf_str(text), form->bytes,
                             form->secret);
    }
}

/* Quadratic in the length, so long values have no such form. */
static void add_number(const struct form *form, const char *alphabet, struct cbx_buf *text)
{
    uint8_t left[NUMBER_BYTES_MAX];
    size_t len = form->value.len, from = 0;
    unsigned base = (unsigned)strlen(alphabet);
    if (len > sizeof(left)) {
        return;
    }
    memcpy(left, form->value.p, len);
    cbx_buf_reset(text);
    while (from < len) {
        unsigned carry = 0;
        for (size_t i = from; i < len; i++) {
            carry = carry << 8 | left[i];
            left[i] = (uint8_t)(carry / base);
            carry %= base;
        }
        cbx_buf_add_char(text, alphabet[carry]);
        while (from < len && left[from] == 0) {
            from++;
        }
    }
    for (size_t i = 0; i < text->len / 2; i++) {
        char c = text->p[i];
        text->p[i] = text->p[text->len - 1 - i];
        text->p[text->len - 1 - i] = c;
    }
    add(form, text);
    explicit_bzero(left, sizeof(left));
}

static void add_forms(struct cbx_redact_index *indexes, struct cbx_str value, size_t bytes,
                      uint32_t secret, bool twice)
{
    struct form form = {
        .indexes = indexes, .value = value, .bytes = bytes, .secret = secret, .twice = twice
    };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, FORM_MAX);
    for (enum cbx_redact_view view = 0; view < CBX_REDACT_VIEWS; view++) {
        cbx_redact_index_add(&indexes[view], view, value, bytes, secret);
    }
#define CBX_BEFORE(name, short_only)
#define CBX_RADIX(name, bits, view_, alphabet)                                                     \
    form.view = CBX_REDACT_##view_;                                                                \
    add_radix(&form, alphabet, bits, &text);
#define CBX_FIVES(name, view_, alphabet)                                                           \
    form.view = CBX_REDACT_##view_;                                                                \
    add_fives(&form, alphabet, &text);
#define CBX_BYTES(name, view_, prefix, base, digits)                                               \
    form.view = CBX_REDACT_##view_;                                                                \
    add_bytes(&form, prefix, base, digits, &text);
#define CBX_COUNTED(name, view_, first)                                                            \
    form.view = CBX_REDACT_##view_;                                                                \
    add_counted(&form, first, &text);
#define CBX_SHIFTED(name, view_)                                                                   \
    if (twice) {                                                                                   \
        form.view = CBX_REDACT_##view_;                                                            \
        add_shifted(&form, &text);                                                                 \
    }
#define CBX_NUMBER(name, view_, alphabet)                                                          \
    form.view = CBX_REDACT_##view_;                                                                \
    add_number(&form, alphabet, &text);
#include "gateway/executor/redact/redact_forms.def"
#undef CBX_BEFORE
#undef CBX_RADIX
#undef CBX_FIVES
#undef CBX_BYTES
#undef CBX_NUMBER
#undef CBX_COUNTED
#undef CBX_SHIFTED
    explicit_bzero(text.p, text.size);
}

void cbx_redact_add_forms(struct cbx_redact_index indexes[CBX_REDACT_VIEWS], struct cbx_str value,
                          uint32_t secret)
{
    static const struct {
        void (*change)(struct cbx_str value, struct cbx_buf *out);
        bool short_only;
    } all[] = {
#define CBX_BEFORE(name, short_only) { before_##name, short_only },
#define CBX_RADIX(name, bits, view, alphabet)
#define CBX_FIVES(name, view, alphabet)
#define CBX_BYTES(name, view, prefix, base, digits)
#define CBX_NUMBER(name, view, alphabet)
#define CBX_COUNTED(name, view, first)
#define CBX_SHIFTED(name, view)
#include "gateway/executor/redact/redact_forms.def"
#undef CBX_BEFORE
#undef CBX_RADIX
#undef CBX_FIVES
#undef CBX_BYTES
#undef CBX_NUMBER
#undef CBX_COUNTED
#undef CBX_SHIFTED
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (value.len > LONG_BYTES && all[i].short_only) {
            continue;
        }
        CBX_AUTO_DONE(buf) changed;
        cbx_buf_init(&changed, FORM_MAX);
        all[i].change(value, &changed);
        add_forms(indexes, cbx_buf_str(&changed), value.len, secret,
                  all[i].change == before_plain && value.len <= LONG_BYTES);
        explicit_bzero(changed.p, changed.size);
    }
}
