/* SPDX-License-Identifier: MIT
 * Results of tools: denials, failures, and functions for all of them. */
#include "gateway/front/denial/denial.h"
#include "gateway/front/mcp/tools/content_internal.h"

#include "policies/base/text/printable.h"

enum { SMALL_MAX = 4096 };

/* --- building --------------------------------------------------------------------------------- */

void cbx_content_init(struct cbx_content *c, const char *status)
{
    enum { TEXT_MAX = 1024 * 1024 };
    cbx_buf_init(&c->text, TEXT_MAX);
    c->structured = json_pack("{s:s}", "status", status);
    c->blocks = json_array();
}

void cbx_content_set(struct cbx_content *c, const char *name, struct cbx_str text)
{
    if (text.len > 0) {
        json_object_set_new(c->structured, name, cbx_json_text(text));
    }
}

/* Codex and Mastra pass a model the structured part, if there is one, and drop the blocks with
 * the pictures. */
static bool has_pictures(const json_t *blocks)
{
    size_t i;
    const json_t *block;
    json_array_foreach((json_t *)(uintptr_t)blocks, i, block)
    {
        if (cbx_str_is(cbx_json_str(json_object_get(block, "type")), "image")) {
            return true;
        }
    }
    return false;
}

json_t *cbx_content_finish(struct cbx_content *c, bool is_error)
{
    json_t *content = json_array();
    json_array_append_new(content, json_pack("{s:s,s:o}", "type", "text", "text",
                                             cbx_json_text(cbx_buf_str(&c->text))));
    json_array_extend(content, c->blocks);
    json_t *result = json_pack("{s:o,s:b}", "content", content, "isError", is_error);
    if (!has_pictures(c->blocks)) {
        json_object_set(result, "structuredContent", c->structured);
    }
    json_decref(c->structured);
    json_decref(c->blocks);
    cbx_buf_done(&c->text);
    return result;
}

void cbx_content_add_audit(struct cbx_content *c, struct cbx_str id)
{
    if (id.len > 0) {
        cbx_buf_printf(&c->text, "audit id %.*s\n", CBX_STR_ARG(id));
        cbx_content_set(c, "audit_id", id);
    }
}

enum { WARNINGS_SHOWN = 5 };

size_t cbx_content_warnings_cost(const json_t *warnings)
{
    enum { EXTRA = 64 };
    size_t cost = 0, count = json_array_size(warnings);
    for (size_t i = 0; i < count && i < WARNINGS_SHOWN; i++) {
        cost += json_string_length(json_array_get(warnings, i)) + EXTRA;
    }
    return cost;
}

void cbx_content_add_warnings(struct cbx_content *c, const json_t *warnings)
{
    size_t count = json_array_size(warnings);
    CBX_AUTO_JSON shown = json_array();
    for (size_t i = 0; i < count && i < WARNINGS_SHOWN; i++) {
        json_array_append(shown, json_array_get(warnings, i));
    }
    if (count > WARNINGS_SHOWN) {
        json_array_append_new(shown, json_string("there are more; the audit log has them"));
    }
    for (size_t i = 0; i < json_array_size(shown); i++) {
        cbx_buf_printf(&c->text, "warning: %s\n", json_string_value(json_array_get(shown, i)));
    }
    if (count > 0) {
        json_object_set(c->structured, "warnings", shown);
    }
}

void cbx_content_add_escaped(struct cbx_buf *to, const char *before, const json_t *text)
{
    struct cbx_str s = cbx_str_sub(cbx_json_str(text), 0, SMALL_MAX);
    if (s.len > 0) {
        cbx_buf_add_cstr(to, before);
        cbx_printable_add(to, s, CBX_PRINTABLE_LINE);
    }
}

json_t *cbx_content_escape(const json_t *text)
{
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, 5 * SMALL_MAX);
    cbx_content_add_escaped(&clean, "", text);
    return cbx_json_text(cbx_buf_str(&clean));
}

/* --- a denial, a failure ---------------------------------------------------------------------- */

static void add_finding(struct cbx_content *c, const json_t *finding)
{
    static const char *const kept[] = { "rule",   "severity", "effect",    "message",
                                        "hint",   "symbol",   "detail",    "line",
                                        "column", "end_line", "end_column" };
    json_t *copy = json_object();
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        const json_t *value = json_object_get(finding, kept[i]);
        if (json_is_integer(value)) {
            json_object_set_new(copy, kept[i], json_integer(json_integer_value(value)));
        } else if (json_string_length(value) > 0) {
            json_object_set_new(copy, kept[i], cbx_content_escape(value));
        }
    }
    json_array_append_new(json_object_get(c->structured, "findings"), copy);
}

/* Warnings are omitted: they would hide the findings that deny. */
static void add_findings(struct cbx_content *c, const json_t *decision)
{
    CBX_AUTO_JSON findings = cbx_denial_list(decision);
    size_t i;
    json_t *finding;
    json_object_set_new(c->structured, "findings", json_array());
    json_array_foreach(findings, i, finding)
    {
        if (i < CBX_CONTENT_FINDINGS_MAX) {
            add_finding(c, finding);
        }
    }
}

json_t *cbx_content_of_denial(const struct cbx_outcome *outcome, struct cbx_str source,
                              const char *approval)
{
    struct cbx_denial denial = { .decision = outcome->decision,
                                 .ask = outcome->verdict == CBX_ASK,
                                 .approval = approval,
                                 .source = source,
                                 .audit_id = outcome->id };
    struct cbx_content c;
    cbx_content_init(&c, denial.ask ? "needs-approval" : "denied");
    cbx_denial_add(&denial, &c.text);
    add_findings(&c, outcome->decision);
    cbx_content_set(&c, "audit_id", cbx_str_of(outcome->id));
    return cbx_content_finish(&c, true);
}

json_t *cbx_content_of_failure(const char *status, const struct cbx_outcome *outcome,
                               const char *text)
{
    struct cbx_content c;
    cbx_content_init(&c, status);
    cbx_buf_printf(&c.text, "%s: %s\n", status, text);
    cbx_content_set(&c, "message", cbx_str_of(text));
    cbx_content_add_audit(&c, cbx_str_of(outcome != NULL ? outcome->id : ""));
    return cbx_content_finish(&c, true);
}

json_t *cbx_content_of_error(const struct cbx_err *err, const struct cbx_outcome *outcome)
{
    static const int callers[] = { CBX_EINVAL,  CBX_ETOOBIG, CBX_ENOTFOUND,
                                   CBX_EPOLICY, CBX_ESTATE,  CBX_EFORBIDDEN };
    bool invalid = false;
    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
        invalid |= err->code == callers[i];
    }
    return cbx_content_of_failure(invalid                  ? "invalid"
                                  : err->code == CBX_EBUSY ? "busy"
                                                           : "failed",
                                  outcome, err->text);
}

json_t *cbx_content_of_text(const char *member, struct cbx_str text)
{
    struct cbx_content c;
    cbx_content_init(&c, "ok");
    cbx_buf_add(&c.text, text);
    cbx_content_set(&c, member, text);
    return cbx_content_finish(&c, false);
}

/* --- sizes ------------------------------------------------------------------------------------ */

const struct cbx_content_unit *cbx_content_unit_of(double bytes)
{
    static const struct cbx_content_unit units[] = {
        { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "kB" }, { 1, "bytes" }
    };
    enum { LAST = sizeof(units) / sizeof(units[0]) - 1 };
    size_t u = 0;
    while (u < LAST && bytes < units[u].bytes) {
        u++;
    }
    return &units[u];
}

void cbx_content_add_size(struct cbx_buf *to, size_t bytes)
{
    const struct cbx_content_unit *unit = cbx_content_unit_of((double)bytes);
    cbx_buf_printf(to, unit->bytes > 1 ? "%.1f %s" : "%.0f %s", (double)bytes / unit->bytes,
                   unit->name);
}
