/* SPDX-License-Identifier: MIT
 * Whether an engine holds what the gateway promises: what it says about itself, against the table
 * of known escapes, and what a probe inside a sandbox can reach. Nothing here runs code of a
 * caller; the one container that is made runs our own program and is removed, whatever happens. */
#ifndef CBX_DOCKER_DOCTOR_H
#define CBX_DOCKER_DOCTOR_H

#include "docker/sandbox.h"

enum cbx_health { CBX_HEALTH_FAIL = 0, CBX_HEALTH_WARN, CBX_HEALTH_OK };

/* One thing that was looked at. Texts are one line each, without a full stop; `advice` is empty
 * when there is nothing to do. Borrowed during the call. */
struct cbx_check {
    enum cbx_health health;
    const char *name, *found, *advice;
};

/* Takes checks, one after the other. */
struct cbx_doctor {
    void (*take)(void *context, const struct cbx_check *check);
    void *context;
};

/* Hands one check over; the texts are formatted and made printable. */
void cbx_doctor_report(const struct cbx_doctor *doctor, enum cbx_health health, const char *name,
                       const char *advice, const char *found, ...)
    __attribute__((format(printf, 5, 6)));

/* What the engine says about itself: versions, cgroups, seccomp, user namespaces, AppArmor. */
void cbx_doctor_engine(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                       const struct cbx_doctor *doctor);

/* Runs the probe of the image PREFIX-KERNEL in a container with the body of a sandbox, and hands
 * over each attempt that was not held, and one check with the counts. `each` (may be NULL) takes
 * every attempt as the probe said it: name, "held", "reached" or "unknown", what happened. */
struct cbx_probe_sink {
    void (*each)(void *context, const char *name, const char *outcome, const char *what);
    void *context;
};
void cbx_doctor_probe(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                      const char *kernel, const struct cbx_limits *limits,
                      const struct cbx_doctor *doctor, const struct cbx_probe_sink *sink);

#endif
