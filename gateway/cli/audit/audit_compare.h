/* SPDX-License-Identifier: MIT
 * `codebox audit verify`: its output, and the comparison with the heads of --head and with the
 * anchors of other replicas' logs. */
#ifndef CBX_GATEWAY_CLI_AUDIT_AUDIT_COMPARE_H
#define CBX_GATEWAY_CLI_AUDIT_AUDIT_COMPARE_H

#include "gateway/cli/settings/cli_options.h"
#include "gateway/executor/heads/audit_heads.h"

/* Reads heads from a file, a folder, "-" (standard input), or an http or https URL. For a URL:
 * no redirects, at most 60 s and 400 MB. Errors of audit_heads.h; CBX_EIO. */
int cbx_audit_compare_read(const char *source, struct cbx_audit_heads **out, struct cbx_err *err);

/* Prints the result of the comparison; `noun` names the heads ("kept heads"). Returns the exit
 * status: 1 = findings; 2 = some heads are of another log, or none is of this log. */
int cbx_audit_compare_print(struct cbx_audit_heads *heads, const char *noun, const char *state_dir,
                            const struct cbx_audit_report *report);

/* `codebox audit verify --all DIR...`: verifies each log, and compares it with the anchors in the
 * logs of the other folders. */
int cbx_audit_verify_all(const struct cbx_options *options);

/* Verifies and prints the log itself; returns the exit status. */
int cbx_audit_print_log(const char *state_dir, bool pinned, const struct cbx_audit_report *report);

#endif
