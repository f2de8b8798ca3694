/* SPDX-License-Identifier: MIT
 * The modules that a run may not import, for permits: made from the policy here, so no worker has a part in it. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_IMPORTS_H
#define CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_IMPORTS_H

#include "gateway/ipc/master/policy_set.h"
#include "policies/permit.h"

/* Lists that were made: the last few of different policies, languages and principals. Zeroed memory has none. */
struct cbx_import_cache {
    struct cbx_import_list {
        struct cbx_sha256 policy;
        unsigned language;
        int64_t day; /* since 1970; exceptions end with one */
        char principal[CBX_NAME_MAX + 1];
        struct cbx_buf list;
    } items[16];
    size_t next; /* is replaced next */
};

void cbx_import_cache_done(struct cbx_import_cache *cache);

/* Appends the list of modules (cbx_imports_list) for a permit; nothing when the guard does not refuse imports to
 * it. `now` in Unix seconds. Not thread-safe. CBX_ETOOBIG: nothing may run then. */
int cbx_import_cache_list(struct cbx_import_cache *cache, const struct cbx_policies *policies,
                          const struct cbx_permit *fields, int64_t now, struct cbx_buf *out,
                          struct cbx_err *err);

/* The rule that denies the module to a run of this permit, "guard.import" when none does. Static, or borrowed from the
 * policy. */
struct cbx_str cbx_import_rule(const struct cbx_policies *policies, const struct cbx_permit *permit,
                               struct cbx_str module, int64_t now);

#endif
