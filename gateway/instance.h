/* SPDX-License-Identifier: MIT
 * Which gateway owns a container. Each executor holds a lock on a file of its own in the state
 * directory for as long as it lives; a name whose lock can be taken belongs to nobody, and its
 * containers are removed. */
#ifndef CBX_GATEWAY_INSTANCE_H
#define CBX_GATEWAY_INSTANCE_H

#include "docker/engine.h"
#include "policies/base/err.h"

struct cbx_instance {
    char name[33]; /* 32 hex digits; the value of the containers' label */
    char path[4096];
    int fd;
};

int cbx_instance_make(const char *state_dir, struct cbx_instance *out, struct cbx_err *err);

/* Gives the name up. Zeroed memory is fine. */
void cbx_instance_done(struct cbx_instance *instance);

/* Removes the containers of every instance that is gone; returns how many. A failure leaves them
 * for the next time. */
size_t cbx_instance_reap(const char *state_dir, struct cbx_engine *engine);

#endif
