/* SPDX-License-Identifier: MIT
 * The executor: the only process with the Docker socket and the audit log. It parses no source.
 * The front passes it one end of a socket pair per request; each is served by its own thread and
 * carries one request and its replies. */
#ifndef CBX_GATEWAY_EXECUTOR_EXECUTOR_H
#define CBX_GATEWAY_EXECUTOR_EXECUTOR_H

#include "docker/pool/pool.h"
#include "gateway/executor/sessions/instance.h"
#include "gateway/ipc/master/master.h"
#include "gateway/ipc/master/policy_set.h"
#include "policies/base/err.h"

#include <stdint.h>

struct cbx_identity;

struct cbx_executor_config {
    const struct cbx_policies *policies; /* the gateway's policies; borrowed */
    /* principals and their rights; borrowed. NULL = callers are not authenticated */
    struct cbx_identity *identity;
    int variables_fd; /* gateway/ipc/master/variables.h; 0 = none */
    /* seeds of replicas (sessions/instance_seeds.h), borrowed; empty = the instance is of the state
     * directory, and no replica takes over */
    struct cbx_str instances;
    const char *replica; /* name of this one; only with `instances` */
    const char *state_dir;
    int64_t audit_max_bytes; /* size of a file of the audit log; 0 = CBX_AUDIT_FILE_MIB */
    int64_t audit_keep_ms;   /* age from which files of the audit log are removed; 0 = never */
    /* place of the audit log's kept heads (audit_keeper.h); NULL = none */
    const char *audit_heads;
    bool audit_forwarded;       /* true if the health includes the number of records to forward */
    const char *docker_host;    /* NULL = DOCKER_HOST, else the usual sockets */
    const char *runtime;        /* NULL = the engine's default */
    const char *gvisor_runtime; /* NULL = none: a request for gVisor fails */
    const char *apparmor;       /* NULL = the engine's default */
    const char *image_prefix;   /* prefix of all images; NULL = "codebox" */
    /* variant of the images that no policy chooses (docker/kernel_names.h) */
    const char *variant;
    /* network of installers; NULL = the engine's default network */
    const char *package_network;
    /* http(s) URLs; NULL = the package managers' defaults */
    const char *pip_index, *npm_registry;
    const char *package_ca; /* additional authorities of installers, PEM text; NULL = none */
    struct cbx_network_settings network; /* network settings of proxies */
    int max_sessions;
    int max_runs; /* maximum of concurrent runs; more runs are queued */
    /* maximum of concurrent installers; a principal has half of them at most */
    int max_installs;
    int64_t layers_bytes, layer_bytes, layers_free_bytes; /* executor_layers.h */
    /* time limit of a resolve, and of an install; 0 = CBX_PACKAGES_TIMEOUT_MS */
    int64_t install_ms;
    int64_t idle_ms; /* time without a run after which a session is closed */
    /* time without an executor after which a sandbox ends; 0 = CBX_SANDBOX_LEASE_MS */
    int64_t lease_ms;
    struct cbx_pool_config pool;
    /* true if sessions outlive this gateway: the next one on the state directory adopts them */
    bool persistent;
    /* The profiles that the pool prewarms at start-up. */
    struct cbx_profile {
        const char *kernel;
        struct cbx_limits limits;
    } profiles[8];
    int profile_count;
};

/* Serves the calls of executor.def on the control socket until the socket is closed or SIGTERM
 * arrives. Then it removes its containers, or detaches from its sessions if they are persistent,
 * and exits; never returns. After all records are written and each sandbox is being ended, and
 * after 1 s at the latest, an executor that is not persistent shuts `control` down, so the master
 * need not wait for the engine. It exits within 20 s. The first call that needs the audit log and
 * the engine opens them, a persistent executor opens them at once; opening them adopts sandboxes of
 * an earlier executor.
 *
 * Every call may be answered by an error instead. Runs of one session begin in the order of
 * their admission. An opened session that the front does not acknowledge is closed. The executor
 * owns the channels. */
_Noreturn void cbx_executor_main(const struct cbx_executor_channels *channels,
                                 const struct cbx_executor_config *config);

#endif
