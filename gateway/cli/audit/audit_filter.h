/* SPDX-License-Identifier: MIT
 * The filters of `codebox audit`: the options --type, --principal, --session, --verdict, --rule,
 * --origin, --since and --until. A record passes if it fulfils all given options. */
#ifndef CBX_GATEWAY_CLI_AUDIT_AUDIT_FILTER_H
#define CBX_GATEWAY_CLI_AUDIT_AUDIT_FILTER_H

#include "gateway/cli/settings/cli_options.h"
#include "policies/base/text/json.h"

struct cbx_audit_filter {
    const struct cbx_options *options; /* borrowed */
    int64_t since_ms, until_ms;
    json_t *decisions; /* ids of decisions that passed, for records that name only a decision */
};

/* Reads the options. CBX_EINVAL names a malformed time. */
int cbx_audit_filter_init(struct cbx_audit_filter *filter, const struct cbx_options *options,
                          struct cbx_err *err);
void cbx_audit_filter_done(struct cbx_audit_filter *filter);
CBX_DEFINE_AUTO_DONE(audit_filter)

/* Returns true if the record passes. Call it in the order of the log: an outcome has no
 * principal, session, origin or verdict of its own, so it passes if its decision did. */
bool cbx_audit_filter_passes(struct cbx_audit_filter *filter, const json_t *record);

#endif
