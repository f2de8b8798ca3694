/* SPDX-License-Identifier: MIT
 * The modules that a run may not import, for permits: derived from the policy here, so no worker
 * can change them. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_IMPORTS_H
#define CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_IMPORTS_H

#include "gateway/ipc/master/policy_set.h"
#include "policies/permit.h"

/* A cache of the last lists for different policies, languages and principals. Zeroed memory is
 * an empty cache. */
struct cbx_import_cache {
    struct cbx_import_list {
        struct cbx_sha256 policy;
        unsigned language;
        int64_t day; /* days since 1970; exceptions expire at the end of a day */
        char principal[CBX_NAME_MAX + 1];
        struct cbx_buf list;
    } items[16];
    size_t next; /* index of the list to replace next */
};

void cbx_import_cache_done(struct cbx_import_cache *cache);

/* Appends the list of modules (cbx_imports_list) for a permit; nothing if the guard does not
 * refuse imports for it. `now` in Unix seconds. Not thread-safe. CBX_ETOOBIG: nothing may run
 * then. */
int cbx_import_cache_list(struct cbx_import_cache *cache, const struct cbx_policies *policies,
                          const struct cbx_permit *fields, int64_t now, struct cbx_buf *out,
                          struct cbx_err *err);

/* Returns the rule that denies the module to a run of this permit, "guard.import" if none does.
 * Static, or borrowed from the policy. */
struct cbx_str cbx_import_rule(const struct cbx_policies *policies, const struct cbx_permit *permit,
                               struct cbx_str module, int64_t now);

#endif
