/* SPDX-License-Identifier: MIT
 * `codebox audit verify --all`: the logs of several replicas together. */
#include "gateway/cli/audit/audit_compare.h"
#include "gateway/cli/audit/audit_join.h"
#include "gateway/cli/cli.h"
#include "gateway/ipc/replicas.h"

#include <inttypes.h>

/* The folders: the words behind `verify`, and of none the state directory alone. */
struct folders {
    const char *const *items;
    size_t count;
};

/* All anchors are read before the first log is verified: a record that a running replica appends
 * meanwhile is no finding. */
static int read_anchors(const struct folders *folders, struct cbx_audit_heads *heads,
                        struct cbx_err *err)
{
    for (size_t i = 0; i < folders->count; i++) {
        int failed = cbx_audit_heads_read_anchors(heads, folders->items[i], err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

static int verify_one(const char *folder, struct cbx_audit_heads *heads)
{
    static struct cbx_audit_report report;
    struct cbx_err err = { 0 };
    printf("%s:\n", folder);
    if (cbx_audit_verify_heads(folder, NULL, heads, &report, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    int status = cbx_audit_print_log(folder, false, &report);
    int compared = cbx_audit_compare_print(heads, "anchors of other replicas", folder, &report);
    return compared > status ? compared : status;
}

/* A log that anchors name and no folder has. */
static int print_lost(const struct cbx_audit_heads *heads)
{
    struct cbx_audit_lost lost;
    int status = 0;
    for (size_t at = 0; cbx_audit_heads_lost(heads, &at, &lost); status = 1) {
        char when[32];
        cbx_chain_format_time(lost.time_ms, when);
        printf("no folder has the log of instance %s, which had record %" PRIu64
               " at %s (%s): give its folder too, or it was removed or replaced\n",
               lost.instance, lost.seq, when, lost.source);
    }
    return status;
}

int cbx_audit_verify_all(const struct cbx_options *options)
{
    const struct folders folders = { .items = options->arguments.items + 1,
                                     .count = options->arguments.count - 1 };
    struct cbx_err err = { 0 };
    if (folders.count == 0 || folders.count > CBX_REPLICAS_MAX || options->head != NULL ||
        options->public_key != NULL) {
        fprintf(stderr,
                "codebox: audit verify --all takes the state directories of 1 to %d replicas, and "
                "neither --head nor --public-key\n",
                CBX_REPLICAS_MAX);
        return 2;
    }
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    if (read_anchors(&folders, heads, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    int status = 0;
    for (size_t i = 0; i < folders.count; i++) {
        int one = verify_one(folders.items[i], heads);
        status = one > status ? one : status;
    }
    int lost = print_lost(heads);
    int joined = cbx_audit_join_print(folders.items, folders.count);
    status = lost > status ? lost : status;
    return joined > status ? joined : status;
}
