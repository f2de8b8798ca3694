/* SPDX-License-Identifier: MIT
 * Checks whether an engine fulfils the gateway's requirements: its versions against the table of
 * known escapes, its configuration, and the results of a probe inside a sandbox. No code of a
 * caller runs here; the one container that is created runs the probe and is always removed. */
#ifndef CBX_DOCKER_DOCTOR_DOCTOR_H
#define CBX_DOCKER_DOCTOR_DOCTOR_H

#include "docker/sandbox/sandbox.h"

enum cbx_health { CBX_HEALTH_FAIL = 0, CBX_HEALTH_WARN, CBX_HEALTH_OK };

/* One finding. Texts are one line each, without a full stop; `advice` is empty if no action is
 * needed. Borrowed during the call. */
struct cbx_check {
    enum cbx_health health;
    const char *name, *found, *advice;
};

/* Receives the findings one by one. */
struct cbx_doctor {
    void (*take)(void *context, const struct cbx_check *check);
    void *context;
    const char *apparmor_file; /* path of the AppArmor profile for sandboxes; NULL = missing */
};

/* Reports one finding; the text is formatted and made printable. */
void cbx_doctor_report(const struct cbx_doctor *doctor, enum cbx_health health, const char *name,
                       const char *advice, const char *found, ...)
    __attribute__((format(printf, 5, 6)));

/* Checks the engine's report: versions, cgroups, seccomp, user namespaces, AppArmor. */
void cbx_doctor_engine(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                       const struct cbx_doctor *doctor);

/* Runs the probe of the image PREFIX-KERNEL in a container that is configured as a sandbox.
 * Reports each attempt that was not held, and one finding with the counts. `each` receives every
 * attempt as the probe reported it: name, "held", "reached" or "unknown", description. `sink`
 * may be NULL. */
struct cbx_probe_sink {
    void (*each)(void *context, const char *name, const char *outcome, const char *what);
    void *context;
};
void cbx_doctor_probe(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                      const char *kernel, const struct cbx_limits *limits,
                      const struct cbx_doctor *doctor, const struct cbx_probe_sink *sink);

/* Starts a sandbox with the isolation gvisor from the image PREFIX-KERNEL and reports whether it
 * has a host kernel of its own, and the gateway's seccomp profile: both depend on the arguments
 * of the runtime. config->gvisor_runtime must be set. */
void cbx_doctor_gvisor(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                       const char *kernel, const struct cbx_limits *limits,
                       const struct cbx_doctor *doctor);

/* Reports that finding, from the output of such a sandbox: /proc/version, then
 * /proc/self/status. `host_kernel` is the release that the engine reports. */
void cbx_doctor_read_gvisor(const char *shown, const char *host_kernel,
                            const struct cbx_doctor *doctor);

/* Reports that finding if no such sandbox starts. */
void cbx_doctor_no_gvisor(const struct cbx_err *err, const struct cbx_doctor *doctor);

#endif
