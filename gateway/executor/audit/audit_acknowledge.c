/* SPDX-License-Identifier: MIT
 * Records by which an operator explains findings of a verification. */
#include "gateway/executor/audit/audit_internal.h"

#include <inttypes.h>

int cbx_audit_acknowledge(const char *state_dir, const struct cbx_audit_report *report,
                          struct cbx_str principal, struct cbx_str reason, struct cbx_err *err)
{
    if (report->line != 0) {
        return cbx_fail(err, CBX_ESTATE,
                        "line %" PRIu64 " is wrong, which cannot be acknowledged: %s", report->line,
                        report->problem);
    }
    json_t *records = json_array();
    for (size_t i = 0; i < report->unsigned_count && i < CBX_AUDIT_RANGES_MAX; i++) {
        json_array_append_new(records, json_integer((json_int_t)report->unsigned_ranges[i].record));
    }
    CBX_AUTO_JSON body = json_pack("{s:o}", "recovered", records);
    json_object_set_new(body, "principal", cbx_json_text(principal));
    json_object_set_new(body, "reason", cbx_json_text(reason));
    CBX_AUTO(audit) audit = NULL;
    int failed = cbx_audit_open(state_dir, &audit, err);
    if (failed) {
        return failed;
    }
    return cbx_audit_append(audit, "acknowledged", body, NULL, err);
}
