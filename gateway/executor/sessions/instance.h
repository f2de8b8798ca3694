/* SPDX-License-Identifier: MIT
 * The owner of a container. An instance is 32 random bytes: its name, on the containers' labels,
 * and the secret that proves to a sandbox that the gateway may adopt it, are derived from them.
 * Each executor locks a file of that name in the state directory and updates its time. If that
 * time is older than a sandbox's lease, the instance has ended, and its containers are removed. */
#ifndef CBX_GATEWAY_EXECUTOR_SESSIONS_INSTANCE_H
#define CBX_GATEWAY_EXECUTOR_SESSIONS_INSTANCE_H

#include "docker/engine/engine.h"
#include "docker/sandbox/sandbox.h"
#include "gateway/ipc/master/master.h"

struct cbx_instance {
    char name[33]; /* 32 hex digits; the value of the containers' label */
    uint8_t secret[CBX_SANDBOX_SECRET_BYTES];
    char path[4096];
    int fd;
};

/* Reads the seed of the state directory, created at its first use: the next gateway on the
 * directory is the same instance. */
int cbx_instance_seed(const char *state_dir, uint8_t out[CBX_INSTANCE_SEED_BYTES],
                      struct cbx_err *err);

/* Writes the name of the instance with this seed. */
void cbx_instance_name_of(const uint8_t seed[CBX_INSTANCE_SEED_BYTES], char out[33]);

/* Writes the name and the secret of the instance with this seed. */
void cbx_instance_identify(const uint8_t seed[CBX_INSTANCE_SEED_BYTES], char name[33],
                           uint8_t secret[CBX_SANDBOX_SECRET_BYTES]);

/* Reads the name of the state directory's instance, without creating anything; false if there is
 * none yet. */
bool cbx_instance_name(const char *state_dir, char out[33]);

/* Makes and locks the instance. CBX_EBUSY if another process still has the lock after a wait of
 * 15 s. */
int cbx_instance_make(const char *state_dir, const uint8_t seed[CBX_INSTANCE_SEED_BYTES],
                      struct cbx_instance *out, struct cbx_err *err);

/* Updates the time of the instance's file: the instance is alive. */
void cbx_instance_touch(const struct cbx_instance *instance);

/* Releases the lock; with `forget` the file is removed too. Zeroed memory is fine. */
void cbx_instance_done(struct cbx_instance *instance, bool forget);

/* Removes the containers of every ended instance; returns their number. After a failure the next
 * call removes them. */
size_t cbx_instance_reap(const char *state_dir, struct cbx_engine *engine);

#endif
