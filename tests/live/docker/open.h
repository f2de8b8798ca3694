/* SPDX-License-Identifier: MIT
 * Opens a sandbox for a permit, as the pool does for a call when none is ready. */
#ifndef CBX_TESTS_LIVE_DOCKER_OPEN_H
#define CBX_TESTS_LIVE_DOCKER_OPEN_H

#include "docker/sandbox/sandbox.h"

/* Prepares and claims. Errors of cbx_sandbox_permitted, cbx_sandbox_prepare and cbx_sandbox_claim.
 */
static inline int open_with(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                            const struct cbx_permit *permit, struct cbx_sandbox **out,
                            struct cbx_err *err)
{
    const char *kernel;
    CBX_AUTO(sandbox) sandbox = NULL;
    int failed = cbx_sandbox_permitted(permit, &kernel, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sandbox_prepare(engine, config, kernel, &permit->limits, NULL, &sandbox, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sandbox_claim(sandbox, permit, err);
    if (failed) {
        return failed;
    }
    *out = cbx_steal(&sandbox);
    return 0;
}

#endif
