/* SPDX-License-Identifier: MIT
 * A set of SHA-256 values that only grows: the files that a kernel may load as code. Shared by
 * the supervisor and the command kernel, so it needs only the C library. */
#ifndef CBX_DOCKER_INSIDE_CONFINE_HASH_SET_H
#define CBX_DOCKER_INSIDE_CONFINE_HASH_SET_H

#include "docker/inside/wire/frame.h"

#include <stdbool.h>
#include <string.h>

/* Zero-initialised = empty. */
struct cbx_hash_set {
    uint8_t hashes[CBX_FRAME_ACCEPTED_MAX][CBX_FRAME_HASH_BYTES];
    uint32_t count;
    /* An open-addressing table of positions in `hashes`, from 1; 0 = free. */
    uint32_t slots[2 * CBX_FRAME_ACCEPTED_MAX];
};

/* Returns the slot of this value, or the free slot for it. */
static inline uint32_t *cbx_hash_set_slot(struct cbx_hash_set *set, const uint8_t *hash)
{
    uint64_t at;
    memcpy(&at, hash, sizeof(at));
    for (;; at++) {
        uint32_t *slot = &set->slots[at % (2 * CBX_FRAME_ACCEPTED_MAX)];
        if (*slot == 0 || memcmp(set->hashes[*slot - 1], hash, CBX_FRAME_HASH_BYTES) == 0) {
            return slot;
        }
    }
}

static inline bool cbx_hash_set_has(struct cbx_hash_set *set, const uint8_t *hash)
{
    return *cbx_hash_set_slot(set, hash) != 0;
}

/* Adds values. False if the set is full then, and some values are not in it. */
static inline bool cbx_hash_set_add(struct cbx_hash_set *set, const uint8_t *hashes, size_t count)
{
    for (const uint8_t *hash = hashes; hash < hashes + count * CBX_FRAME_HASH_BYTES;
         hash += CBX_FRAME_HASH_BYTES) {
        uint32_t *slot = cbx_hash_set_slot(set, hash);
        if (*slot == 0 && set->count == CBX_FRAME_ACCEPTED_MAX) {
            return false;
        }
        if (*slot == 0) {
            memcpy(set->hashes[set->count], hash, CBX_FRAME_HASH_BYTES);
            *slot = ++set->count;
        }
    }
    return true;
}

#endif
