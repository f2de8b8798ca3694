/* SPDX-License-Identifier: MIT
 * Folders of the host: from a path that the policy allows to a descriptor that is open on the folder. What is mounted is what
 * the descriptor is open on, so renaming a folder, or putting a link in its place, changes nothing. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_MOUNTS_H
#define CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_MOUNTS_H

#include "docker/sandbox/sandbox.h"
#include "policies/base/json.h"
#include "policies/mounts.h"

/* Folders that are never mounted, nor what holds them or lies in them, besides those of the policy and /proc, /sys, /dev and
 * /run. NULL = none. */
struct cbx_host_rules {
    const char *state_dir;
    const char *engine_host; /* "unix:///run/docker.sock": the socket's folder */
    const char *engine_root; /* the engine's data */
};

/* Open folders. Zero-initialised; cbx_host_mounts_done closes them. */
struct cbx_host_mounts {
    struct cbx_sandbox_mounts mounts; /* `container` points into `requests` */
    struct cbx_mount_request *requests;
    json_t *
        description; /* [{host, container, mode}], host without links; "asked": the path that was asked for, where it is another */
};
void cbx_host_mounts_done(struct cbx_host_mounts *mounts);
CBX_DEFINE_AUTO_DONE(host_mounts)

/* Opens the folders of a sealed list (gateway/ipc/seal/mount_requests.h). A path is walked component by component, through no link. Where it has
 * one, its target is judged by the policy as a path of its own, and then walked. CBX_EINVAL, naming the path and what decides, for
 * what is no folder, or is not allowed, or is of a file system of Linux itself (proc, sysfs, cgroup, ...); CBX_EIO. */
int cbx_host_mounts_open(const struct cbx_policy *policy, const struct cbx_host_rules *rules,
                         const json_t *sealed, struct cbx_host_mounts *out, struct cbx_err *err);

/* The same with the rules of this engine, as each run does it, and `codebox policy check-mount`. CBX_EINVAL also for an engine that mounts
 * no folder of the host (rootless, SELinux); errors of the engine. */
int cbx_host_mounts_open_on(struct cbx_engine *engine, const char *state_dir,
                            const struct cbx_policy *policy, const json_t *sealed,
                            struct cbx_host_mounts *out, struct cbx_err *err);

#endif
