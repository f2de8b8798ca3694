/* SPDX-License-Identifier: MIT
 * The file system of the engine's data. */
#ifndef CBX_DOCKER_DOCTOR_DISK_H
#define CBX_DOCKER_DOCTOR_DISK_H

#include "docker/engine/engine.h"
#include "docker/sandbox/sandbox.h"

/* In bytes. */
struct cbx_disk {
    int64_t total, available;
    bool by_container; /* a container was asked */
};

/* Looks at the engine's data folder, where this host has it; else asks df in a container of the kernel's sandbox image, whose root is there:
 * that takes a second. CBX_ENOTFOUND without the image; CBX_EPROTO when df printed no sizes; errors of the engine. */
int cbx_disk_look(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                  const char *kernel, struct cbx_disk *out, struct cbx_err *err);

/* Reads what df prints, which is hostile: a line of titles, and one with size and free bytes. CBX_EPROTO. Pure. */
int cbx_disk_read(const char *text, struct cbx_disk *out, struct cbx_err *err);

#endif
