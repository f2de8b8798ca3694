/* SPDX-License-Identifier: MIT
 * One program of an image in a container that is configured as a sandbox: the probe of `codebox
 * doctor`, df. No permit: no code of a caller runs in it. */
#ifndef CBX_DOCKER_DOCTOR_ATTEMPT_H
#define CBX_DOCKER_DOCTOR_ATTEMPT_H

#include "docker/engine/engine.h"
#include "docker/sandbox/sandbox.h"
#include "policies/base/buf.h"
#include "policies/limits.h"

enum { CBX_ATTEMPT_BYTES_MAX = 1024 * 1024 };

/* All borrowed. The program replaces the supervisor in the kernel's sandbox image. */
struct cbx_attempt {
    struct cbx_engine *engine;
    const struct cbx_sandbox_config *config;
    const char *kernel;
    const struct cbx_limits *limits;
    const char *program, *arguments[4]; /* end with NULL, or with the array */
};

/* Appends the program's output, stdout and stderr, to *report, whose cap should be
 * CBX_ATTEMPT_BYTES_MAX. The output is untrusted: the image may be wrong. CBX_ENOTFOUND without
 * the image; CBX_EPROTO; CBX_ETIMEDOUT after a minute without a byte; errors of the engine. */
int cbx_attempt_run(const struct cbx_attempt *attempt, struct cbx_buf *report, struct cbx_err *err);

#endif
