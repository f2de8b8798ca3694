/* SPDX-License-Identifier: MIT
 * The folders of the host that are mounted in a run's sandbox. */
#include "gateway/executor/executor_internal.h"

int cbx_executor_open_mounts(struct cbx_executor *e, const json_t *sealed,
                             struct cbx_host_mounts *out, struct cbx_err *err)
{
    struct cbx_pool *pool; /* opening the pool opens the engine */
    int failed = cbx_executor_pool(e, &pool, err);
    if (failed) {
        return failed;
    }
    const struct cbx_policy *policy = cbx_policy_history_find_sealed(&e->policies, sealed);
    if (policy == NULL) {
        return cbx_fail(err, CBX_ESEAL, "the decision has no policy");
    }
    return cbx_host_mounts_open_on(e->engine, e->config.state_dir, policy,
                                   json_object_get(sealed, "mounts"), out, err);
}

int cbx_executor_prepare_mounts(struct cbx_executor *e, struct cbx_sealed *sealed,
                                struct cbx_host_mounts *out, struct cbx_err *err)
{
    const struct cbx_permit *fields = &sealed->fields;
    bool own = fields->session[0] == '\0', run = fields->action == CBX_ACTION_RUN;
    bool opens = fields->action == CBX_ACTION_OPEN || (run && own);
    bool joins = !own && (run || fields->action == CBX_ACTION_FILE);
    if (json_array_size(json_object_get(sealed->json, "mounts")) == 0 || (!opens && !joins) ||
        sealed->verdict == CBX_DENY) {
        return 0;
    }
    struct cbx_pool *pool; /* opening the pool adopts the session's sandbox */
    int failed;
    if (opens) {
        failed = cbx_executor_open_mounts(e, sealed->json, out, err);
    } else {
        failed = cbx_executor_pool(e, &pool, err);
    }
    json_t *mounted = failed  ? NULL
                      : opens ? json_deep_copy(out->description)
                              : cbx_sessions_mounted(e->sessions, fields->session);
    if (mounted != NULL) {
        json_object_set_new(sealed->json, "mounted", mounted);
    }
    return failed;
}
