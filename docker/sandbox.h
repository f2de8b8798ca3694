/* SPDX-License-Identifier: MIT
 * A sandbox is one hardened container with our supervisor as PID 1 and, once code ran, a kernel in
 * it. It is created and entered only with a permit. Calls on one sandbox come from one thread at a
 * time, except cbx_sandbox_interrupt. */
#ifndef CBX_DOCKER_SANDBOX_H
#define CBX_DOCKER_SANDBOX_H

#include "docker/engine.h"
#include "docker/result.h"
#include "policies/permit.h"

struct cbx_sandbox;

/* How sandboxes are made on this gateway; from configuration, never from a caller. */
struct cbx_sandbox_config {
    const char *instance;     /* label value: which gateway owns it; [a-z0-9-]{1,64} */
    const char *runtime;      /* NULL = the engine's default; "runc", "crun", "runsc", ... */
    const char *image_prefix; /* NULL = "codebox"; images are PREFIX-python:latest and so on */
    const char *apparmor;     /* NULL = the engine's default; a profile that the host has loaded */
};

/* Creates and starts a container for the permit's language and limits and waits until the
 * supervisor says hello. Requires an OPEN or RUN permit. Nothing is left behind on failure.
 * CBX_EENGINE when the engine is absent, too old or refuses; CBX_ENOTFOUND when the image is
 * missing (the text says how to build it). */
int cbx_sandbox_new(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                    const struct cbx_permit *permit, struct cbx_sandbox **out, struct cbx_err *err);

/* Runs `source` in the sandbox's kernel, state stays. Requires a RUN permit whose source_sha256 is
 * the SHA-256 of `source` (CBX_ESEAL otherwise, nothing runs) and whose session is the one that the
 * sandbox was made for. Returns 0 whenever the program ran, however it ended; *out then owns the
 * result. Events go to `sink` while it runs. When the wall clock is exceeded the program is
 * interrupted, and its whole process tree killed one second later. */
int cbx_sandbox_run(struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                    struct cbx_str source, const struct cbx_sink *sink, struct cbx_result *out,
                    struct cbx_err *err);

/* Interrupts what runs (KeyboardInterrupt in Python). From any thread; no effect when nothing runs.
 */
void cbx_sandbox_interrupt(struct cbx_sandbox *sandbox);

/* The container's id (64 hex digits), borrowed. */
const char *cbx_sandbox_id(const struct cbx_sandbox *sandbox);

/* False once the container is known to be gone. */
bool cbx_sandbox_alive(const struct cbx_sandbox *sandbox);

/* Kills and removes the container. */
void cbx_sandbox_free(struct cbx_sandbox *sandbox);
CBX_DEFINE_AUTO(sandbox)

/* Removes every container with our labels and this instance whose gateway is gone. *removed counts
 * them. At start-up and periodically. */
int cbx_sandbox_reap(struct cbx_engine *engine, const char *instance, size_t *removed,
                     struct cbx_err *err);

#endif
