/* SPDX-License-Identifier: MIT
 * The file system of the engine's data. */
#ifndef CBX_DOCKER_DOCTOR_DISK_H
#define CBX_DOCKER_DOCTOR_DISK_H

#include "docker/engine/engine.h"
#include "docker/sandbox/sandbox.h"

/* Sizes in bytes. */
struct cbx_disk {
    int64_t total, available;
    bool by_container; /* true if the sizes come from a container */
};

/* Reads the sizes of the engine's data folder if this host has it; otherwise runs df in a
 * container of the kernel's sandbox image, whose root is on the same file system: this takes a
 * second. CBX_ENOTFOUND without the image; CBX_EPROTO if df printed no sizes; errors of the
 * engine. */
int cbx_disk_look(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                  const char *kernel, struct cbx_disk *out, struct cbx_err *err);

/* Reads the output of df, which is hostile: a line of titles, and a line with size and free
 * bytes. CBX_EPROTO. Pure. */
int cbx_disk_read(const char *text, struct cbx_disk *out, struct cbx_err *err);

#endif
