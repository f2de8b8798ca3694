/* SPDX-License-Identifier: MIT
 * Rows of a fixed size: a name, padded with zeros, and its seed. The first row has no name, and the
 * seed for vouchers. */
#include "gateway/executor/sessions/instance_seeds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME_BYTES = CBX_REPLICA_NAME_MAX + 1,
    ROW_BYTES = NAME_BYTES + CBX_INSTANCE_SEED_BYTES,
};
_Static_assert(sizeof(struct cbx_sha256) == CBX_INSTANCE_SEED_BYTES, "a seed is one hash");

/* The purpose keeps the seed of a name apart from other uses of the secret. */
static void add_row(struct cbx_str secret, const char *purpose, const char *name,
                    struct cbx_buf *out)
{
    char message[NAME_BYTES + 32], row[ROW_BYTES] = "";
    int len = snprintf(message, sizeof(message), "codebox %s %s", purpose, name);
    struct cbx_sha256 seed =
        cbx_hmac_sha256(secret, (struct cbx_str){ .p = message, .len = (size_t)len });
    snprintf(row, NAME_BYTES, "%s", name);
    memcpy(row + NAME_BYTES, seed.bytes, CBX_INSTANCE_SEED_BYTES);
    cbx_buf_add_bytes(out, row, sizeof(row));
    explicit_bzero(row, sizeof(row));
    explicit_bzero(&seed, sizeof(seed));
}

void cbx_instance_seeds_write(struct cbx_str secret, const struct cbx_replicas *replicas,
                              struct cbx_buf *out)
{
    cbx_buf_reserve(out, (replicas->count + 2) * ROW_BYTES); /* growth would leave copies behind */
    add_row(secret, "vouchers", "", out);
    add_row(secret, "instance", replicas->own_name, out);
    for (size_t i = 0; i < replicas->count; i++) {
        add_row(secret, "instance", replicas->others[i].name, out);
    }
}

/* Returns the seed of the row with this name, borrowed; NULL = none. */
static const char *find_row(struct cbx_str seeds, struct cbx_str name)
{
    for (size_t at = 0; at + ROW_BYTES <= seeds.len; at += ROW_BYTES) {
        if (cbx_str_is(name, seeds.p + at)) {
            return seeds.p + at + NAME_BYTES;
        }
    }
    return NULL;
}

bool cbx_instance_seeds_find(struct cbx_str seeds, struct cbx_str replica, uint64_t generation,
                             uint8_t out[CBX_INSTANCE_SEED_BYTES])
{
    char message[48];
    memset(out, 0, CBX_INSTANCE_SEED_BYTES);
    const char *row = replica.len > 0 ? find_row(seeds, replica) : NULL;
    if (row == NULL) {
        return false;
    }
    int len = snprintf(message, sizeof(message), "generation %" PRIu64, generation);
    struct cbx_sha256 seed =
        cbx_hmac_sha256((struct cbx_str){ .p = row, .len = CBX_INSTANCE_SEED_BYTES },
                        (struct cbx_str){ .p = message, .len = (size_t)len });
    memcpy(out, seed.bytes, CBX_INSTANCE_SEED_BYTES);
    explicit_bzero(&seed, sizeof(seed));
    return true;
}

bool cbx_instance_seeds_vouchers(struct cbx_str seeds, uint8_t out[CBX_INSTANCE_SEED_BYTES])
{
    const char *row = find_row(seeds, CBX_STR(""));
    if (row == NULL) {
        return false;
    }
    memcpy(out, row, CBX_INSTANCE_SEED_BYTES);
    return true;
}
