/* SPDX-License-Identifier: MIT
 * Heads of `codebox audit verify --head`: reading them, and printing the result of the
 * comparison. */
#ifndef CBX_GATEWAY_CLI_AUDIT_AUDIT_COMPARE_H
#define CBX_GATEWAY_CLI_AUDIT_AUDIT_COMPARE_H

#include "gateway/executor/heads/audit_heads.h"

/* Reads heads from a file, a folder, "-" (standard input), or an http or https URL. For a URL:
 * no redirects, at most 60 s and 400 MB. Errors of audit_heads.h; CBX_EIO. */
int cbx_audit_compare_read(const char *source, struct cbx_audit_heads **out, struct cbx_err *err);

/* Prints the result of the comparison. Returns the exit status: 1 = findings; 2 = some heads are
 * of another log, or none is of this log. */
int cbx_audit_compare_print(struct cbx_audit_heads *heads, const char *state_dir,
                            const struct cbx_audit_report *report);

#endif
