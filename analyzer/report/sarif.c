/* SPDX-License-Identifier: MIT
 * Writes findings as SARIF 2.1.0, for code scanning: one run, the rules of the policy, a result
 * for each finding. Paths are URIs below the working directory (SRCROOT); columns count code
 * points. */
#include "analyzer/report/report.h"

#include "policies/release.h"
#include "policies/texts/explain.h"

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static void set_text(json_t *object, const char *key, struct cbx_str text)
{
    if (text.len > 0) {
        set(object, key, cbx_json_text(text));
    }
}

static json_t *text_json(struct cbx_str text)
{
    return json_pack("{s:o}", "text", cbx_json_text(text));
}

static const char *level_of(enum cbx_effect effect)
{
    static const char *const levels[] = { "error", "error", "warning", "note" };
    return levels[effect];
}

/* --- rules ------------------------------------------------------------------------------------ */

/* The scale of CVSS, in the steps by which code scanning sorts. */
static const char *severity_of(enum cbx_severity severity)
{
    static const char *const numbers[] = { "9.5", "8.0", "5.5", "2.0" };
    return numbers[severity];
}

static bool has_text(const json_t *array, struct cbx_str text)
{
    size_t i;
    const json_t *item;
    json_array_foreach(array, i, item)
    {
        if (cbx_str_equal(cbx_json_str(item), text)) {
            return true;
        }
    }
    return false;
}

static void add_tag(json_t *tags, struct cbx_str tag)
{
    if (!has_text(tags, tag)) {
        json_array_append_new(tags, cbx_json_text(tag));
    }
}

/* References as written, and CWE-78 also in the form of code scanning. */
static json_t *tags_json(const struct cbx_rule *rule)
{
    json_t *tags = json_pack("[s]", "security");
    for (size_t i = 0; i < rule->references.count; i++) {
        struct cbx_str reference = rule->references.items[i];
        add_tag(tags, reference);
        if (cbx_str_starts(reference, CBX_STR("CWE-"))) {
            char name[64];
            int n = snprintf(name, sizeof(name), "external/cwe/cwe-%.*s", (int)reference.len - 4,
                             reference.p + 4);
            add_tag(tags, (struct cbx_str){ .p = name, .len = n < 64 ? (size_t)n : 63 });
        }
    }
    return tags;
}

static void add_paragraph(struct cbx_buf *out, const char *label, struct cbx_str text)
{
    if (text.len > 0) {
        cbx_buf_printf(out, "%s%s", out->len > 0 ? "\n\n" : "", label);
        cbx_buf_add(out, text);
    }
}

static void add_code(struct cbx_buf *out, const char *label, const struct cbx_strs *snippets)
{
    for (size_t i = 0; i < snippets->count; i++) {
        cbx_buf_printf(out, "\n\n%s\n\n    ", i == 0 ? label : "");
        struct cbx_str code = snippets->items[i];
        for (size_t c = 0; c < code.len; c++) {
            cbx_buf_add_cstr(out, c > 0 && code.p[c - 1] == '\n' ? "    " : "");
            cbx_buf_add_char(out, code.p[c]);
        }
    }
}

/* Writes the help of a rule: what it matches and the replacement; examples in Markdown only. */
static json_t *help_json(const struct cbx_rule *rule)
{
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_DONE(buf) looks;
    cbx_buf_init(&text, 1 << 20);
    cbx_buf_init(&looks, 1 << 20);
    cbx_rule_explain(rule, &looks);
    add_paragraph(&text, "", rule->message.len > 0 ? rule->message : rule->id);
    add_paragraph(&text, "Instead: ", rule->hint);
    add_paragraph(&text, "It looks for:\n\n", cbx_buf_str(&looks));
    json_t *help = text_json(cbx_buf_str(&text));
    add_code(&text, "Found in:", &rule->test_deny);
    add_code(&text, "Not found in:", &rule->test_allow);
    set(help, "markdown", cbx_json_text(cbx_buf_str(&text)));
    return help;
}

static json_t *rule_json(const struct cbx_rule *rule)
{
    struct cbx_str message = rule->message.len > 0 ? rule->message : rule->id;
    CBX_AUTO_DONE(buf) whole;
    cbx_buf_init(&whole, 65536);
    add_paragraph(&whole, "", message);
    add_paragraph(&whole, "Instead: ", rule->hint);
    json_t *object = json_pack("{s:o}", "id", cbx_json_text(rule->id));
    set(object, "shortDescription", text_json(message));
    set(object, "fullDescription", text_json(cbx_buf_str(&whole)));
    set(object, "help", help_json(rule));
    set(object, "defaultConfiguration", json_pack("{s:s}", "level", level_of(rule->effect)));
    set(object, "properties",
        json_pack("{s:s,s:s,s:s,s:o}", "security-severity", severity_of(rule->severity), "severity",
                  cbx_severity_name(rule->severity), "effect", cbx_effect_name(rule->effect),
                  "tags", tags_json(rule)));
    return object;
}

static json_t *driver_json(const struct cbx_report *report)
{
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&report->policy->sha256, hex);
    json_t *rules = json_array();
    const struct cbx_rule *rule;
    for (size_t i = 0; (rule = cbx_report_rule(report->policy, i)) != NULL; i++) {
        json_array_append_new(rules, rule_json(rule));
    }
    return json_pack("{s:s,s:s,s:s,s:o,s:{s:o,s:s}}", "name", "codebox-lint", "version",
                     CBX_VERSION, "semanticVersion", CBX_VERSION, "rules", rules, "properties",
                     "policy", cbx_json_text(report->policy->name), "policySha256", hex);
}

static size_t index_of(const struct cbx_policy *policy, const struct cbx_rule *rule)
{
    if (rule >= policy->rules && rule < policy->rules + policy->rule_count) {
        return (size_t)(rule - policy->rules);
    }
    size_t i = policy->rule_count;
    const struct cbx_rule *other;
    while ((other = cbx_report_rule(policy, i)) != NULL && other != rule) {
        i++;
    }
    return i;
}

/* --- results ---------------------------------------------------------------------------------- */

static json_t *artifact_json(struct cbx_str uri)
{
    json_t *location = json_pack("{s:o}", "uri", cbx_json_text(uri));
    if (!cbx_str_starts(uri, CBX_STR("file:"))) {
        set(location, "uriBaseId", json_string("SRCROOT"));
    }
    return location;
}

/* A cell's columns are not the columns of the notebook file, which contains the text as JSON. */
static json_t *region_json(const struct cbx_report_finding *f)
{
    const struct cbx_span *s = &f->v.span;
    if (f->cell > 0) {
        return json_pack("{s:I,s:I}", "startLine", (json_int_t)f->file_line + s->line - 1,
                         "endLine", (json_int_t)f->file_line + s->end_line - 1);
    }
    return json_pack("{s:I,s:I,s:I,s:I}", "startLine", (json_int_t)s->line, "startColumn",
                     (json_int_t)s->column, "endLine", (json_int_t)s->end_line, "endColumn",
                     (json_int_t)s->end_column);
}

static json_t *location_json(const struct cbx_report_finding *f, struct cbx_str uri)
{
    json_t *physical = json_pack("{s:o}", "artifactLocation", artifact_json(uri));
    if (f->cell == 0 || f->file_line > 0) {
        set(physical, "region", region_json(f));
    }
    json_t *location = json_pack("{s:o}", "physicalLocation", physical);
    if (f->cell > 0) {
        char name[32], place[64];
        snprintf(name, sizeof(name), "cell %u", f->cell);
        snprintf(place, sizeof(place), "%s, line %u, column %u", name, f->v.span.line,
                 f->v.span.column);
        set(location, "logicalLocations",
            json_pack("[{s:s,s:s,s:s}]", "name", name, "fullyQualifiedName", place, "kind",
                      "module"));
    }
    return location;
}

/* Either all results have the list, or none. */
static json_t *suppressions_json(const struct cbx_report_finding *f)
{
    json_t *list = json_array();
    if (f->suppression != CBX_SUPPRESSED_NOT) {
        json_t *one = json_pack("{s:s,s:s}", "kind",
                                f->suppression == CBX_SUPPRESSED_INLINE ? "inSource" : "external",
                                "status", "accepted");
        set_text(one, "justification", f->reason);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *result_json(const struct cbx_report *report, const struct cbx_report_finding *f,
                           struct cbx_str uri)
{
    CBX_AUTO_DONE(buf) message;
    cbx_buf_init(&message, 65536);
    cbx_report_message(f, &message);
    json_t *result = json_pack("{s:o}", "ruleId", cbx_json_text(f->v.rule->id));
    set(result, "ruleIndex", json_integer((json_int_t)index_of(report->policy, f->v.rule)));
    set(result, "level", json_string(level_of(f->v.effect)));
    set(result, "message", text_json(cbx_buf_str(&message)));
    set(result, "locations", json_pack("[o]", location_json(f, uri)));
    if (f->fingerprint.len > 0) {
        set(result, "partialFingerprints",
            json_pack("{s:o}", "codeboxFinding/v1", cbx_json_text(f->fingerprint)));
    }
    set(result, "suppressions", suppressions_json(f));
    if (f->cell > 0) {
        set(result, "properties",
            json_pack("{s:I,s:I,s:I,s:I,s:I}", "cell", (json_int_t)f->cell, "line",
                      (json_int_t)f->v.span.line, "column", (json_int_t)f->v.span.column, "endLine",
                      (json_int_t)f->v.span.end_line, "endColumn",
                      (json_int_t)f->v.span.end_column));
    }
    return result;
}

static void add_file(const struct cbx_report *report, const struct cbx_report_file *file,
                     struct cbx_buf *out)
{
    for (size_t i = 0; i < file->count; i++) {
        CBX_AUTO_JSON result = result_json(report, &file->findings[i], file->uri);
        cbx_buf_add_cstr(out, i > 0 ? ",\n" : "");
        cbx_report_add_json(result, out);
    }
}

/* --- the run ---------------------------------------------------------------------------------- */

static void begin(const struct cbx_report *report, struct cbx_buf *out)
{
    CBX_AUTO_JSON driver = driver_json(report);
    cbx_buf_add_cstr(
        out, "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\n"
             "\"version\":\"2.1.0\",\n\"runs\":[{\n\"columnKind\":\"unicodeCodePoints\",\n"
             "\"originalUriBaseIds\":{\"SRCROOT\":{\"description\":{\"text\":\"The folder that "
             "codebox-lint ran in.\"}}},\n\"tool\":{\"driver\":");
    cbx_report_add_json(driver, out);
    cbx_buf_add_cstr(out, "},\n\"results\":[\n");
}

/* Files that could not be checked are notifications of the run, not results. */
static void end(const struct cbx_report *report, const struct cbx_report_totals *totals,
                struct cbx_buf *out)
{
    (void)report;
    CBX_AUTO_JSON notes = json_array();
    size_t i;
    const json_t *failure;
    json_array_foreach(totals->failures, i, failure)
    {
        json_t *note = text_json(cbx_json_str(json_object_get(failure, "error")));
        json_t *place = artifact_json(cbx_json_str(json_object_get(failure, "uri")));
        json_array_append_new(notes, json_pack("{s:s,s:o,s:[{s:{s:o}}]}", "level", "error",
                                               "message", note, "locations", "physicalLocation",
                                               "artifactLocation", place));
    }
    CBX_AUTO_JSON invocation = json_pack("{s:b,s:O}", "executionSuccessful", totals->errors == 0,
                                         "toolExecutionNotifications", notes);
    if (totals->skipped != NULL) {
        json_object_set_new(invocation, "properties",
                            json_pack("{s:o}", "skipped", json_deep_copy(totals->skipped)));
    }
    cbx_buf_add_cstr(out, "\n],\n\"invocations\":[");
    cbx_report_add_json(invocation, out);
    cbx_buf_add_cstr(out, "]\n}]}\n");
}

const struct cbx_report_format cbx_report_as_sarif = { "sarif", ",\n", begin, add_file, end };
