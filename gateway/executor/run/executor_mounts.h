/* SPDX-License-Identifier: MIT
 * Folders of the host: from a path that the policy allows to a descriptor that is open on the
 * folder. The descriptor's folder is mounted, so renaming the folder, or putting a link in its
 * place, has no effect. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_MOUNTS_H
#define CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_MOUNTS_H

#include "docker/sandbox/sandbox.h"
#include "policies/base/text/json.h"
#include "policies/mounts.h"

/* Folders that are never mounted, nor any folder that contains them or lies in them, in addition
 * to the policy's and /proc, /sys, /dev and /run. NULL = none. */
struct cbx_host_rules {
    const char *state_dir;
    const char *engine_host; /* "unix:///run/docker.sock": its folder is never mounted */
    const char *engine_root; /* folder of the engine's data */
};

/* Open folders. Zero-initialise it; cbx_host_mounts_done closes the folders. */
struct cbx_host_mounts {
    struct cbx_sandbox_mounts mounts; /* `container` points into `requests` */
    struct cbx_mount_request *requests;
    /* [{host, container, mode}], host without links; "asked": the requested path, if different */
    json_t *description;
};
void cbx_host_mounts_done(struct cbx_host_mounts *mounts);
CBX_DEFINE_AUTO_DONE(host_mounts)

/* Opens the folders of a sealed list (gateway/ipc/seal/mount_requests.h). A path is walked
 * component by component, through no link. If it has a link, the policy judges the target as a
 * separate path, which is then walked. CBX_EINVAL, with the path and the deciding rule, for a
 * path that is no folder, or is not allowed, or is in a file system of Linux itself (proc,
 * sysfs, cgroup, ...); CBX_EIO. */
int cbx_host_mounts_open(const struct cbx_policy *policy, const struct cbx_host_rules *rules,
                         const json_t *sealed, struct cbx_host_mounts *out, struct cbx_err *err);

/* The same with the rules of this engine, as each run and `codebox policy check-mount` do.
 * CBX_EINVAL also for an engine that cannot mount folders of the host (rootless, SELinux);
 * errors of the engine. */
int cbx_host_mounts_open_on(struct cbx_engine *engine, const char *state_dir,
                            const struct cbx_policy *policy, const json_t *sealed,
                            struct cbx_host_mounts *out, struct cbx_err *err);

#endif
