/* SPDX-License-Identifier: MIT
 * Seeds of instances (instance.h) that replicas derive from one secret (`--instance-secret`), so that
 * each of them can adopt the sandboxes of the others. The master derives one seed for each name of
 * the configuration, and only the executor gets them: it can name no other replica. A replica has a
 * new instance, of the next generation, after another one took its sandboxes over. */
#ifndef CBX_GATEWAY_EXECUTOR_SESSIONS_INSTANCE_SEEDS_H
#define CBX_GATEWAY_EXECUTOR_SESSIONS_INSTANCE_SEEDS_H

#include "gateway/ipc/master/master.h"
#include "gateway/ipc/replicas.h"
#include "policies/base/buf.h"

/* The name of the part in a reload (gateway/ipc/master/reload.h). */
#define CBX_INSTANCES_PART "instances"

enum { CBX_INSTANCE_SECRET_MIN = 32 };

/* Appends the seeds of these replicas, this one included, and the seed that all of them have for
 * vouchers. `out` is as secret as `secret`: the caller cleanses both. */
void cbx_instance_seeds_write(struct cbx_str secret, const struct cbx_replicas *replicas,
                              struct cbx_buf *out);

/* Derives the seed of a replica's instance; false, and *out is zero, for a name that was not
 * written. */
bool cbx_instance_seeds_find(struct cbx_str seeds, struct cbx_str replica, uint64_t generation,
                             uint8_t out[CBX_INSTANCE_SEED_BYTES]);

/* Copies the seed for vouchers: a run that another replica accepted is followed with its voucher. */
bool cbx_instance_seeds_vouchers(struct cbx_str seeds, uint8_t out[CBX_INSTANCE_SEED_BYTES]);

#endif
