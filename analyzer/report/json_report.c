/* SPDX-License-Identifier: MIT
 * Writes a decision as JSON. */
#include "analyzer/report/report.h"

#include "policies/release.h"

static void set_text(json_t *object, const char *key, struct cbx_str text)
{
    if (text.len > 0) {
        json_object_set_new(object, key, cbx_json_text(text));
    }
}

static json_t *finding_json(const struct cbx_finding *f)
{
    json_t *object = json_object();
    set_text(object, "rule", f->rule->id);
    json_object_set_new(object, "severity", json_string(cbx_severity_name(f->rule->severity)));
    json_object_set_new(object, "effect", json_string(cbx_effect_name(f->effect)));
    set_text(object, "message", f->rule->message);
    set_text(object, "hint", f->hint);
    set_text(object, "symbol", f->symbol);
    set_text(object, "detail", f->detail);
    set_text(object, "exception", f->exception);
    json_object_set_new(object, "line", json_integer(f->span.line));
    json_object_set_new(object, "column", json_integer(f->span.column));
    json_object_set_new(object, "end_line", json_integer(f->span.end_line));
    json_object_set_new(object, "end_column", json_integer(f->span.end_column));
    json_t *references = json_array();
    for (size_t i = 0; i < f->rule->references.count; i++) {
        json_array_append_new(references, cbx_json_text(f->rule->references.items[i]));
    }
    json_object_set_new(object, "references", references);
    return object;
}

int cbx_decision_json(const struct cbx_decision *decision, json_t **out, struct cbx_err *err)
{
    CBX_AUTO_JSON object = json_object();
    CBX_AUTO_JSON findings = json_array();
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&decision->sha256, hex);
    json_object_set_new(object, "verdict", json_string(cbx_verdict_name(decision->verdict)));
    json_object_set_new(object, "language", cbx_json_text(decision->language));
    json_object_set_new(object, "sha256", json_string(hex));
    for (size_t i = 0; i < decision->finding_count; i++) {
        json_array_append_new(findings, finding_json(&decision->findings[i]));
    }
    if (object == NULL || json_array_size(findings) != decision->finding_count) {
        return cbx_fail(err, CBX_ETOOBIG, "%zu findings are more than memory allows",
                        decision->finding_count);
    }
    json_object_set(object, "findings", findings);
    if (decision->truncated) {
        json_object_set_new(object, "truncated", json_true());
    }
    *out = json_incref(object);
    return 0;
}

/* --- files ------------------------------------------------------------------------------------ */

static json_t *reported_json(const struct cbx_report_finding *f)
{
    static const char *const kinds[] = { "", "inline", "baseline" };
    json_t *object = finding_json(&f->v);
    set_text(object, "fingerprint", f->fingerprint);
    if (f->cell > 0) {
        json_object_set_new(object, "cell", json_integer(f->cell));
    }
    if (f->cell > 0 && f->file_line > 0) { /* its line in the notebook's own text */
        json_object_set_new(object, "file_line", json_integer(f->file_line + f->v.span.line - 1));
    }
    if (f->suppression != CBX_SUPPRESSED_NOT) {
        json_t *suppression = json_pack("{s:s}", "kind", kinds[f->suppression]);
        set_text(suppression, "reason", f->reason);
        json_object_set_new(object, "suppression", suppression);
    }
    return object;
}

static void begin(const struct cbx_report *report, struct cbx_buf *out)
{
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&report->policy->sha256, hex);
    CBX_AUTO_JSON tool = json_pack("{s:s,s:s}", "name", "codebox-lint", "version", CBX_VERSION);
    CBX_AUTO_JSON policy =
        json_pack("{s:o,s:s}", "name", cbx_json_text(report->policy->name), "sha256", hex);
    cbx_buf_add_cstr(out, "{\"version\":1,\n\"tool\":");
    cbx_report_add_json(tool, out);
    cbx_buf_add_cstr(out, ",\n\"policy\":");
    cbx_report_add_json(policy, out);
    cbx_buf_add_cstr(out, ",\n\"files\":[\n");
}

static void add_file(const struct cbx_report *report, const struct cbx_report_file *file,
                     struct cbx_buf *out)
{
    (void)report;
    CBX_AUTO_JSON findings = json_array();
    CBX_AUTO_JSON suppressed = json_array();
    CBX_AUTO_JSON object = json_pack("{s:o}", "path", cbx_json_text(file->path));
    for (size_t i = 0; i < file->count; i++) {
        const struct cbx_report_finding *f = &file->findings[i];
        json_array_append_new(f->suppression == CBX_SUPPRESSED_NOT ? findings : suppressed,
                              reported_json(f));
    }
    set_text(object, "language", file->language);
    json_object_set_new(
        object, "verdict",
        json_string(file->error.len > 0 ? "error" : cbx_verdict_name(file->verdict)));
    set_text(object, "error", file->error);
    json_object_set(object, "findings", findings);
    if (json_array_size(suppressed) > 0) {
        json_object_set(object, "suppressed", suppressed);
    }
    if (file->truncated) {
        json_object_set_new(object, "truncated", json_true());
    }
    cbx_report_add_json(object, out);
}

static void end(const struct cbx_report *report, const struct cbx_report_totals *t,
                struct cbx_buf *out)
{
    (void)report;
    CBX_AUTO_JSON summary =
        json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "files", (json_int_t)t->files, "denied",
                  (json_int_t)t->denied, "findings", (json_int_t)t->findings, "errors",
                  (json_int_t)t->errors, "suppressed", (json_int_t)t->suppressed, "ignored",
                  (json_int_t)t->ignored, "gone", (json_int_t)t->gone);
    if (t->skipped != NULL) {
        json_object_set_new(summary, "skipped", json_deep_copy(t->skipped));
    }
    cbx_buf_add_cstr(out, "\n],\n\"summary\":");
    cbx_report_add_json(summary, out);
    cbx_buf_add_cstr(out, "}\n");
}

const struct cbx_report_format cbx_report_as_json = { "json", ",\n", begin, add_file, end };
