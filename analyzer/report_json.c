/* SPDX-License-Identifier: MIT
 * A decision as JSON. */
#include "analyzer/report.h"

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
    set_text(object, "hint", f->rule->hint);
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
