/* SPDX-License-Identifier: MIT
 * Landlock domains (landlock(7)) of programs in a sandbox. Shared by the supervisor and the
 * command kernel. */
#ifndef CBX_DOCKER_INSIDE_CONFINE_CONFINE_H
#define CBX_DOCKER_INSIDE_CONFINE_CONFINE_H

#include "docker/inside/confine/open_places.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes a ruleset, a descriptor: under it a file can be opened, and executed, only with the
 * rights of the rows that contain it. -1 if Linux has no Landlock, or too little memory. */
int cbx_confine_new(const struct cbx_place *rows, size_t count);

/* Applies a ruleset to this process and its later children; the ruleset stays open. */
bool cbx_confine_enter(int ruleset);

/* Puts this process, and its later children, into a separate domain: it cannot trace processes
 * outside of it (ptrace(2), /proc/PID/mem), nor send them signals (from Landlock ABI 6 on).
 * False if Linux has no Landlock. */
bool cbx_confine_separate(void);

#endif
