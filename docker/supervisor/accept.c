/* SPDX-License-Identifier: MIT
 * The files that the kernel may load as code, by the SHA-256 of their bytes. The set only grows. A
 * kernel that is started anew receives all of it, as the files are still in the workspace. */
#include "docker/supervisor/supervisor.h"

#include <string.h>

/* An open-addressing table over the values of the set: positions from 1, 0 = free. Twice as many
 * slots as values. */
enum { SLOTS = 2 * CBX_FRAME_ACCEPTED_MAX };

struct cbx_accepted cbx_accepted;

/* The slot of this value, or the free one where it belongs. */
static uint32_t *slot_of(const uint8_t *hash)
{
    uint64_t at;
    memcpy(&at, hash, sizeof(at));
    for (;; at++) {
        uint32_t *slot = &cbx_accepted.slots[at % SLOTS];
        if (*slot == 0 ||
            memcmp(cbx_accepted.hashes.p + (size_t)(*slot - 1) * CBX_FRAME_HASH_BYTES, hash,
                   CBX_FRAME_HASH_BYTES) == 0) {
            return slot;
        }
    }
}

bool cbx_accept_add(const uint8_t *hashes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *hash = hashes + i * CBX_FRAME_HASH_BYTES;
        uint32_t *slot = slot_of(hash);
        if (*slot != 0) {
            continue;
        }
        if (cbx_accepted.count == CBX_FRAME_ACCEPTED_MAX) {
            return false;
        }
        cbx_bytes_add(&cbx_accepted.hashes, hash, CBX_FRAME_HASH_BYTES);
        *slot = ++cbx_accepted.count;
    }
    return true;
}

void cbx_accept_send(void)
{
    size_t from = cbx_kernel.accepted * CBX_FRAME_HASH_BYTES;
    if (cbx_kernel.accepted < cbx_accepted.count) {
        cbx_kernel_send(CBX_FRAME_ACCEPT, cbx_accepted.hashes.p + from,
                        cbx_accepted.hashes.len - from, NULL, 0);
        cbx_kernel.accepted = cbx_accepted.count;
    }
}
