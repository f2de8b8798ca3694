/* SPDX-License-Identifier: MIT
 * The index of the texts that the redactor searches for, for one view of the output. Private to
 * redact*.c. */
#ifndef CBX_GATEWAY_EXECUTOR_REDACT_REDACT_INDEX_H
#define CBX_GATEWAY_EXECUTOR_REDACT_REDACT_INDEX_H

#include "policies/base/buf.h"

#include <stdint.h>

/* Reductions of characters. */
enum cbx_redact_view { CBX_REDACT_WORDS, CBX_REDACT_MARKS, CBX_REDACT_VIEWS };

enum {
    CBX_REDACT_WINDOW = 8,         /* length of the key of a piece, */
    CBX_REDACT_BINARY_WINDOW = 32, /* and of a piece that consists of 0 and 1 */
    CBX_REDACT_DEPTH = 160,        /* number of characters by which pieces are sorted */
    CBX_REDACT_NEED_MAX = 128,
};

/* The reduced character of each byte; 0 = left out. */
extern const uint8_t cbx_redact_reduced[CBX_REDACT_VIEWS][256];

struct cbx_redact_index {
    struct cbx_buf text; /* NUL, then each text followed by a NUL */
    struct cbx_redact_piece {
        uint32_t at, len, need; /* a run of at least `need` characters is replaced */
        uint32_t secret;
    } * pieces;
    size_t count;
    uint32_t *order; /* positions in the text, sorted by the following characters */
    size_t places;
    uint64_t *windows; /* Bloom filter of the windows */
    unsigned window_shift;
    uint32_t *starts; /* sorted: the first one, two and three characters of texts */
    size_t start_count;
};

void cbx_redact_index_init(struct cbx_redact_index *index);
void cbx_redact_index_done(struct cbx_redact_index *index);

/* Adds a text in one of the views, which represents `bytes` bytes of the secret. Texts that are
 * too short, and known ones, are left out. */
void cbx_redact_index_add(struct cbx_redact_index *index, enum cbx_redact_view view,
                          struct cbx_str text, size_t bytes, uint32_t secret);

/* Builds the index; call it after the last text. */
void cbx_redact_index_seal(struct cbx_redact_index *index);

/* A range of positions in `order` that begin with the same `depth` characters. */
struct cbx_redact_range {
    uint32_t lo, hi, depth;
};

/* Narrows a range to the positions that continue with this character; false, and unchanged, if
 * there are none. */
bool cbx_redact_narrow(const struct cbx_redact_index *index, struct cbx_redact_range *range,
                       uint8_t c);

/* True if no position of the range continues. */
bool cbx_redact_is_complete(const struct cbx_redact_index *index,
                            const struct cbx_redact_range *range);

/* Returns the text at the first position of the range. */
const struct cbx_redact_piece *cbx_redact_first(const struct cbx_redact_index *index,
                                                const struct cbx_redact_range *range);

/* Returns the text at the first position of the range with enough characters for its `need`,
 * else NULL. */
const struct cbx_redact_piece *cbx_redact_met(const struct cbx_redact_index *index,
                                              const struct cbx_redact_range *range);

/* A window of eight binary digits occurs in most output with such digits: their windows are
 * longer, and have a separate key. */
static inline uint64_t cbx_redact_binary_key(uint32_t digits)
{
    return UINT64_C(0x0101010101010101) ^ ((uint64_t)digits << 32 | digits);
}

/* Returns the word and the bits of the Bloom filter for a window. */
static inline uint64_t cbx_redact_hash(const struct cbx_redact_index *index, uint64_t key,
                                       uint64_t *bits)
{
    uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
    hash *= UINT64_C(0xBF58476D1CE4E5B9);
    *bits = UINT64_C(1) << (hash & 63) | UINT64_C(1) << (hash >> 6 & 63) |
            UINT64_C(1) << (hash >> 12 & 63);
    return hash >> index->window_shift;
}

/* True if a text may have these characters. False if none has them. */
static inline bool cbx_redact_has_window(const struct cbx_redact_index *index, uint64_t key)
{
    uint64_t bits, word = cbx_redact_hash(index, key, &bits);
    return (index->windows[word] & bits) == bits;
}

/* True if a text begins with these characters, at most three, the last one in the lowest byte. */
bool cbx_redact_is_start(const struct cbx_redact_index *index, uint32_t characters);

/* Adds the texts of a secret (redact_forms.def). */
void cbx_redact_add_forms(struct cbx_redact_index indexes[CBX_REDACT_VIEWS], struct cbx_str value,
                          uint32_t secret);

#endif
