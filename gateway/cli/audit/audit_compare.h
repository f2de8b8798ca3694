/* SPDX-License-Identifier: MIT
 * The heads of `codebox audit verify --head`: where they come from, and what is printed about
 * them. */
#ifndef CBX_GATEWAY_CLI_AUDIT_AUDIT_COMPARE_H
#define CBX_GATEWAY_CLI_AUDIT_AUDIT_COMPARE_H

#include "gateway/executor/heads/audit_heads.h"

/* Reads heads from a file, a folder, "-" (standard input), or an http or https URL. A URL is
 * fetched without redirects, within 60 s, and 400 MB of it at most. Errors of audit_heads.h;
 * CBX_EIO. */
int cbx_audit_compare_read(const char *source, struct cbx_audit_heads **out, struct cbx_err *err);

/* Prints what the comparison found. Returns the exit status: 1 = findings, 2 = heads that are
 * not this log's, or none that is. */
int cbx_audit_compare_print(struct cbx_audit_heads *heads, const char *state_dir,
                            const struct cbx_audit_report *report);

#endif
