/* SPDX-License-Identifier: MIT
 * The folders of the host that a run's sandbox has. */
#include "gateway/executor/internal.h"

/* SELinux: the engine would give the files of the host another label. Rootless: the engine cannot open what the executor's
 * descriptors are open on. */
static int check_engine(const json_t *info, struct cbx_err *err)
{
    static const struct {
        const char *option, *why;
    } kinds[] = {
        { "name=selinux", "labels what it mounts (SELinux), and would label files of the host" },
        { "name=rootless", "runs without root, in a mount namespace of its own" },
    };
    size_t i;
    const json_t *option;
    json_array_foreach(json_object_get(info, "SecurityOptions"), i, option)
    {
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            if (cbx_str_starts(cbx_json_str(option), cbx_str_of(kinds[k].option))) {
                return cbx_fail(err, CBX_EINVAL, "no folder of the host is mounted: the engine %s",
                                kinds[k].why);
            }
        }
    }
    return 0;
}

int cbx_executor_open_mounts(struct cbx_executor *e, const json_t *sealed,
                             struct cbx_host_mounts *out, struct cbx_err *err)
{
    struct cbx_pool *pool; /* opening it opens the engine */
    CBX_AUTO_JSON info = NULL;
    int failed = cbx_executor_pool(e, &pool, err);
    failed = failed ? failed : cbx_engine_info(e->engine, &info, err);
    failed = failed ? failed : check_engine(info, err);
    const struct cbx_policy *policy = cbx_policy_history_find_sealed(&e->policies, sealed);
    if (failed || policy == NULL) {
        return failed ? failed : cbx_fail(err, CBX_ESEAL, "the decision has no policy");
    }
    const struct cbx_host_rules rules = {
        .state_dir = e->config.state_dir,
        .engine_host = cbx_engine_host(e->engine),
        .engine_root = json_string_value(json_object_get(info, "DockerRootDir")),
    };
    return cbx_host_mounts_open(policy, &rules, json_object_get(sealed, "mounts"), out, err);
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
    struct cbx_pool *pool; /* opening it adopts the session's sandbox */
    int failed = opens ? cbx_executor_open_mounts(e, sealed->json, out, err)
                       : cbx_executor_pool(e, &pool, err);
    json_t *mounted = failed  ? NULL
                      : opens ? json_deep_copy(out->description)
                              : cbx_sessions_mounted(e->sessions, fields->session);
    if (mounted != NULL) {
        json_object_set_new(sealed->json, "mounted", mounted);
    }
    return failed;
}
