/* SPDX-License-Identifier: MIT
 * A sorted list of all positions in all texts, and a Bloom filter of the windows at them. */
#include "gateway/executor/redact/redact_index.h"

#include "gateway/executor/redact/redact.h"
#include "policies/base/memory.h"
#include "policies/base/sort.h"

#include <stdlib.h>
#include <string.h>

#define LETTERS(lower, upper) [upper] = lower, [lower] = lower
#define ALPHABET                                                                                   \
    LETTERS('a', 'A'), LETTERS('b', 'B'), LETTERS('c', 'C'), LETTERS('d', 'D'), LETTERS('e', 'E'), \
        LETTERS('f', 'F'), LETTERS('g', 'G'), LETTERS('h', 'H'), LETTERS('i', 'I'),                \
        LETTERS('j', 'J'), LETTERS('k', 'K'), LETTERS('l', 'L'), LETTERS('m', 'M'),                \
        LETTERS('n', 'N'), LETTERS('o', 'O'), LETTERS('p', 'P'), LETTERS('q', 'Q'),                \
        LETTERS('r', 'R'), LETTERS('s', 'S'), LETTERS('t', 'T'), LETTERS('u', 'U'),                \
        LETTERS('v', 'V'), LETTERS('w', 'W'), LETTERS('x', 'X'), LETTERS('y', 'Y'),                \
        LETTERS('z', 'Z'), ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4',        \
                           ['5'] = '5', ['6'] = '6', ['7'] = '7', ['8'] = '8', ['9'] = '9'
#define SAME(c) [c] = c
#define EIGHT(c)                                                                                   \
    SAME(c), SAME(c + 1), SAME(c + 2), SAME(c + 3), SAME(c + 4), SAME(c + 5), SAME(c + 6),         \
        SAME(c + 7)
#define NO_ASCII                                                                                   \
    EIGHT(0x80), EIGHT(0x88), EIGHT(0x90), EIGHT(0x98), EIGHT(0xa0), EIGHT(0xa8), EIGHT(0xb0),     \
        EIGHT(0xb8), EIGHT(0xc0), EIGHT(0xc8), EIGHT(0xd0), EIGHT(0xd8), EIGHT(0xe0), EIGHT(0xe8), \
        EIGHT(0xf0), EIGHT(0xf8)
#define PUNCTUATION                                                                                \
    SAME('!'), SAME('#'), SAME('$'), SAME('%'), SAME('&'), SAME('('), SAME(')'), SAME('*'),        \
        SAME('+'), SAME('<'), SAME('='), SAME('>'), SAME('?'), SAME('@'), SAME('['), SAME(']'),    \
        SAME('^'), SAME('{'), SAME('}'), SAME('~')

const uint8_t cbx_redact_reduced[CBX_REDACT_VIEWS][256] = {
    [CBX_REDACT_WORDS] = { ALPHABET, NO_ASCII },
    [CBX_REDACT_MARKS] = { ALPHABET, NO_ASCII, PUNCTUATION },
};

void cbx_redact_index_init(struct cbx_redact_index *index)
{
    enum { TEXT_MAX = 256 << 20 };
    *index = (struct cbx_redact_index){ 0 };
    cbx_buf_init(&index->text, TEXT_MAX);
    cbx_buf_add_char(&index->text, '\0');
}

/* Clears the texts: they reveal the secrets. */
void cbx_redact_index_done(struct cbx_redact_index *index)
{
    explicit_bzero(index->text.p, index->text.len);
    cbx_buf_done(&index->text);
    free(index->pieces);
    free(index->order);
    free(index->windows);
    free(index->starts);
}

static bool is_known(const struct cbx_redact_index *index, const char *text, size_t len,
                     uint32_t secret)
{
    for (size_t i = index->count; i > 0 && index->pieces[i - 1].secret == secret; i--) {
        const struct cbx_redact_piece *piece = &index->pieces[i - 1];
        if (piece->len == len && memcmp(index->text.p + piece->at, text, len) == 0) {
            return true;
        }
    }
    return false;
}

void cbx_redact_index_add(struct cbx_redact_index *index, enum cbx_redact_view view,
                          struct cbx_str text, size_t bytes, uint32_t secret)
{
    size_t at = index->text.len;
    char *to = cbx_buf_reserve(&index->text, text.len + 1);
    if (to == NULL) {
        abort(); /* the index would miss a secret */
    }
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = cbx_redact_reduced[view][(uint8_t)text.p[i]];
        to[len] = (char)c;
        len += c != 0;
    }
    to[len] = '\0';
    if (len < CBX_REDACT_WINDOW || is_known(index, to, len, secret)) {
        return;
    }
    size_t need =
        bytes <= CBX_REDACT_PIECE_BYTES ? len : (len * CBX_REDACT_PIECE_BYTES + bytes - 1) / bytes;
    need = need < CBX_REDACT_WINDOW     ? CBX_REDACT_WINDOW
           : need > CBX_REDACT_NEED_MAX ? CBX_REDACT_NEED_MAX
                                        : need;
    index->text.len += len + 1;
    index->pieces = cbx_grow(index->pieces, index->count, sizeof(*index->pieces));
    index->pieces[index->count++] = (struct cbx_redact_piece){
        .at = (uint32_t)at, .len = (uint32_t)len, .need = (uint32_t)need, .secret = secret
    };
}

/* --- sealing ---------------------------------------------------------------------------------- */

struct place {
    uint64_t key; /* the first characters at the position */
    const char *text;
};

static uint64_t key_at(const char *text)
{
    uint64_t key = 0;
    bool over = false;
    for (int i = 0; i < CBX_REDACT_WINDOW; i++) {
        over = over || text[i] == '\0';
        key = key << 8 | (over ? 0 : (uint8_t)text[i]);
    }
    return key;
}

static int by_text(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return (x->key & 255) == 0 /* both texts end here */
               ? 0
               : strncmp(x->text + CBX_REDACT_WINDOW, y->text + CBX_REDACT_WINDOW,
                         CBX_REDACT_DEPTH - CBX_REDACT_WINDOW);
}

/* Reads the binary digits at a position; false if there are too few. */
static bool read_binary(const char *text, uint32_t *digits)
{
    *digits = 0;
    for (int i = 0; i < CBX_REDACT_BINARY_WINDOW; i++) {
        if (text[i] != '0' && text[i] != '1') {
            return false;
        }
        *digits = *digits << 1 | (uint32_t)(text[i] & 1);
    }
    return true;
}

static void add_window(struct cbx_redact_index *index, uint64_t key)
{
    uint64_t bits, word = cbx_redact_hash(index, key, &bits);
    index->windows[word] |= bits;
}

static void make_windows(struct cbx_redact_index *index, const struct place *places)
{
    /* log2 of the minimum number of words; 32 bits for each position */
    enum { WORDS_LEAST = 6 };
    unsigned words = WORDS_LEAST;
    uint32_t digits;
    while ((UINT64_C(1) << words) < index->places / 2) {
        words++;
    }
    index->window_shift = 64 - words;
    index->windows = cbx_new_array(UINT64_C(1) << words, sizeof(uint64_t));
    for (size_t i = 0; i < index->places; i++) {
        index->order[i] = (uint32_t)(places[i].text - index->text.p);
        if ((places[i].key & 255) != 0) {
            add_window(index, places[i].key);
        }
        if (read_binary(places[i].text, &digits)) {
            add_window(index, cbx_redact_binary_key(digits));
        }
    }
}

static void sort_places(struct cbx_redact_index *index)
{
    struct place *places = cbx_new_array(index->text.len + 1, sizeof(*places));
    for (size_t at = 1; at < index->text.len; at++) {
        const char *text = index->text.p + at;
        if (*text != '\0') {
            places[index->places++] = (struct place){ .key = key_at(text), .text = text };
        }
    }
    cbx_sort_heap(places, index->places, sizeof(*places), by_text);
    index->order = cbx_new_array(index->places + 1, sizeof(*index->order));
    make_windows(index, places);
    explicit_bzero(places, index->places * sizeof(*places));
    free(places);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

void cbx_redact_index_seal(struct cbx_redact_index *index)
{
    enum { START_MAX = 3 };
    sort_places(index);
    index->starts = cbx_new_array(index->count * START_MAX + 1, sizeof(*index->starts));
    for (size_t i = 0; i < index->count; i++) {
        const uint8_t *text = (const uint8_t *)index->text.p + index->pieces[i].at;
        uint32_t start = 0;
        for (int k = 0; k < START_MAX; k++) {
            start = start << 8 | text[k];
            index->starts[index->start_count++] = start;
        }
    }
    cbx_sort_heap(index->starts, index->start_count, sizeof(*index->starts), by_number);
}

bool cbx_redact_is_start(const struct cbx_redact_index *index, uint32_t characters)
{
    return index->start_count > 0 && bsearch(&characters, index->starts, index->start_count,
                                             sizeof(*index->starts), by_number) != NULL;
}

/* --- searching -------------------------------------------------------------------------------- */

static uint8_t character_at(const struct cbx_redact_index *index, uint32_t place, uint32_t depth)
{
    return (uint8_t)index->text.p[index->order[place] + depth];
}

/* Returns the first position of the range whose next character is at least c. */
static uint32_t lower_bound(const struct cbx_redact_index *index,
                            const struct cbx_redact_range *range, unsigned c)
{
    uint32_t lo = range->lo, hi = range->hi;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (character_at(index, middle, range->depth) < c) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo;
}

bool cbx_redact_narrow(const struct cbx_redact_index *index, struct cbx_redact_range *range,
                       uint8_t c)
{
    /* not sorted beyond this depth: compare with the first text only */
    if (range->depth >= CBX_REDACT_DEPTH) {
        if (character_at(index, range->lo, range->depth) != c) {
            return false;
        }
        range->hi = range->lo + 1;
        range->depth++;
        return true;
    }
    uint32_t lo = lower_bound(index, range, c);
    if (lo == range->hi || character_at(index, lo, range->depth) != c) {
        return false;
    }
    range->hi = lower_bound(index, range, c + 1u);
    range->lo = lo;
    range->depth++;
    return true;
}

bool cbx_redact_is_complete(const struct cbx_redact_index *index,
                            const struct cbx_redact_range *range)
{
    uint32_t last = range->depth < CBX_REDACT_DEPTH ? range->hi - 1 : range->lo;
    return character_at(index, last, range->depth) == '\0';
}

static const struct cbx_redact_piece *piece_at(const struct cbx_redact_index *index, uint32_t at)
{
    size_t lo = 0, hi = index->count;
    while (hi - lo > 1) {
        size_t middle = lo + (hi - lo) / 2;
        if (index->pieces[middle].at <= at) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return &index->pieces[lo];
}

const struct cbx_redact_piece *cbx_redact_first(const struct cbx_redact_index *index,
                                                const struct cbx_redact_range *range)
{
    return piece_at(index, index->order[range->lo]);
}

const struct cbx_redact_piece *cbx_redact_met(const struct cbx_redact_index *index,
                                              const struct cbx_redact_range *range)
{
    enum { LOOK_MAX = 64 };
    for (uint32_t i = range->lo; i < range->hi && i < range->lo + LOOK_MAX; i++) {
        const struct cbx_redact_piece *piece = piece_at(index, index->order[i]);
        if (range->depth >= piece->need) {
            return piece;
        }
    }
    return NULL;
}
