/* SPDX-License-Identifier: MIT
 * Exports records of the audit log in the formats of other systems, by the tables
 * audit_classes.def and audit_mapping.def. Pure. */
#ifndef CBX_GATEWAY_CLI_AUDIT_AUDIT_EXPORT_H
#define CBX_GATEWAY_CLI_AUDIT_AUDIT_EXPORT_H

#include "policies/base/text/json.h"

/* Appends the record in the format "ecs", "ocsf" or "cef", on one line with its end. CBX_ETOOBIG
 * if it does not fit. */
int cbx_audit_export(const char *format, const json_t *record, struct cbx_buf *out);

/* Returns the rule that decided: of the first finding that is not a warning, else the record's
 * own. {NULL, 0} = none. */
struct cbx_str cbx_audit_rule(const json_t *body);

#endif
