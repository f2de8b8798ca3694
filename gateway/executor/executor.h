/* SPDX-License-Identifier: MIT
 * The executor: the one process with the Docker socket and the audit log. It parses no source. The
 * front passes it one end of a socket pair per request; each is served by a thread of its own and
 * carries one request and its answers. */
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
    const struct cbx_policies *policies; /* of the gateway; borrowed */
    struct cbx_identity
        *identity;    /* who may have what done; borrowed. NULL = callers are not authenticated */
    int variables_fd; /* gateway/ipc/master/variables.h; 0 = none */
    const char *state_dir;
    int64_t audit_max_bytes;     /* of a file of the audit log; 0 = CBX_AUDIT_FILE_MIB */
    int64_t audit_keep_ms;       /* older files of it are removed; 0 = none */
    const char *audit_heads;     /* where heads of it are kept (audit_keeper.h); NULL = nowhere */
    bool audit_forwarded;        /* its health says how many records wait for that */
    const char *docker_host;     /* NULL = DOCKER_HOST, else the usual sockets */
    const char *runtime;         /* NULL = the engine's default */
    const char *gvisor_runtime;  /* NULL = none: what asks for gVisor fails */
    const char *apparmor;        /* NULL = the engine's default */
    const char *image_prefix;    /* of all images; NULL = "codebox" */
    const char *variant;         /* of the images that no policy chooses (docker/kernel_names.h) */
    const char *package_network; /* of installers; NULL = the engine's default network */
    const char *pip_index, *npm_registry; /* http(s) URLs; NULL = the managers' own */
    const char *package_ca;               /* PEM text that installers trust too; NULL = none */
    struct cbx_network_settings network;  /* of proxies */
    int max_sessions;
    int max_runs;     /* at the same time; more wait their turn */
    int max_installs; /* installers at the same time; a principal has half of them at most */
    int64_t layers_bytes, layer_bytes, layers_free_bytes; /* executor_layers.h */
    int64_t
        install_ms; /* a resolve, and an install, may take this long; 0 = CBX_PACKAGES_TIMEOUT_MS */
    int64_t idle_ms;  /* a session without a run for this long is closed */
    int64_t lease_ms; /* a sandbox without an executor ends after this; 0 = CBX_SANDBOX_LEASE_MS */
    struct cbx_pool_config pool;
    bool persistent; /* sessions outlive this gateway: the next one on the state directory has them
                      */
    /* The profiles of the pool that are made at start-up. */
    struct cbx_profile {
        const char *kernel;
        struct cbx_limits limits;
    } profiles[8];
    int profile_count;
};

/* Serves the calls of executor.def on the control socket until that closes or SIGTERM comes. Then it
 * removes its containers, or detaches from its sessions when they are persistent, and exits;
 * never returns. When all is recorded and each sandbox was
 * told to end, and after 1 s at the latest, one that is not persistent shuts `control` down: whoever waits for its
 * end need not wait for the engine. It exits within 20 s. The audit log and the
 * engine are opened by the first call that needs them, or at once when it is persistent, and
 * sandboxes that an executor before this one left are adopted then.
 *
 * Every call may be answered by an error instead. Runs of one session begin in the order in
 * which they were admitted. An opened session that the front does not acknowledge is closed.
 * The channels become the executor's. */
_Noreturn void cbx_executor_main(const struct cbx_executor_channels *channels,
                                 const struct cbx_executor_config *config);

#endif
