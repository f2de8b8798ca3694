/* SPDX-License-Identifier: MIT
 * Grants the files and calls that the executor needs while it serves; all others are refused. */
#include "gateway/executor/executor_confine.h"

#include "docker/engine/engine.h"
#include "gateway/ipc/jail/files.h"
#include "gateway/ipc/jail/jail.h"
#include "gateway/ipc/master/state.h"
#include "policies/base/auto.h"
#include "policies/base/hash.h"

#include <unistd.h>

struct grants {
    struct cbx_grant items[3 + CBX_ENGINE_FOLDERS];
    size_t count;
};

static void grant(struct grants *grants, const char *path, bool writes)
{
    if (access(path, F_OK) == 0) {
        grants->items[grants->count++] =
            (struct cbx_grant){ .path = path, .reads = true, .writes = writes };
    }
}

int cbx_executor_confine(const char *state_dir, const char *docker_host, struct cbx_err *err)
{
    struct cbx_engine_needs needs;
    struct grants grants = { .count = 0 };
    CBX_AUTO_FD state = -1;
    cbx_engine_prepare(docker_host, state_dir, &needs);
    cbx_hmac_sha256(CBX_STR(""), CBX_STR("")); /* libcrypto reads its configuration */
    if (state_dir != NULL && cbx_state_open(state_dir, &state, NULL) == 0) {
        grant(&grants, state_dir, true);
    } /* else every call that needs it fails, with the reason */
    if (needs.tcp) {
        /* The resolver's files are replaced by renaming, so grants of the files would become
         * stale. */
        grant(&grants, "/etc", false);
        grant(&grants, "/run/systemd/resolve", false);
    }
    for (size_t i = 0; i < needs.folder_count; i++) {
        grant(&grants, needs.folders[i], false);
    }
    int failed = cbx_files_confine(grants.items, grants.count, needs.tcp, err);
    if (failed) {
        return failed;
    }
    return cbx_jail_executor(needs.tcp, err);
}
