/* SPDX-License-Identifier: MIT
 * Landlock domains (landlock(7)) of programs in a sandbox. Shared by the supervisor and the command kernel. */
#ifndef CBX_DOCKER_INSIDE_CONFINE_CONFINE_H
#define CBX_DOCKER_INSIDE_CONFINE_CONFINE_H

#include "docker/inside/confine/open_places.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A ruleset, a descriptor: under it a file is opened, and executed, only with the rights of the rows that
 * are above it. -1 when Linux has no Landlock, or too little memory. */
int cbx_confine_new(const struct cbx_place *rows, size_t count);

/* Applies a ruleset to this process and those that it starts; it stays open. */
bool cbx_confine_enter(int ruleset);

/* Puts this process, and those that it starts, into a domain of its own: it cannot trace processes outside of
 * it (ptrace(2), /proc/PID/mem), nor send them signals (from Landlock ABI 6 on). False when Linux has no
 * Landlock. */
bool cbx_confine_separate(void);

#endif
