/* SPDX-License-Identifier: MIT
 * Results of tools: denials and failures; what all have. */
#include "gateway/front/mcp/content_internal.h"

#include "policies/base/printable.h"

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

json_t *cbx_content_finish(struct cbx_content *c, bool is_error)
{
    json_t *content = json_array();
    json_array_append_new(content, json_pack("{s:s,s:o}", "type", "text", "text",
                                             cbx_json_text(cbx_buf_str(&c->text))));
    json_array_extend(content, c->blocks);
    json_decref(c->blocks);
    cbx_buf_done(&c->text);
    return json_pack("{s:o,s:o,s:b}", "content", content, "structuredContent", c->structured,
                     "isError", is_error);
}

void cbx_content_add_audit(struct cbx_content *c, struct cbx_str id)
{
    if (id.len > 0) {
        cbx_buf_printf(&c->text, "audit id %.*s\n", CBX_STR_ARG(id));
        cbx_content_set(c, "audit_id", id);
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
    cbx_buf_printf(&c->text, "line %lld, column %lld: ",
                   (long long)json_integer_value(json_object_get(finding, "line")),
                   (long long)json_integer_value(json_object_get(finding, "column")));
    cbx_content_add_escaped(&c->text, "rule ", json_object_get(finding, "rule"));
    cbx_content_add_escaped(&c->text, ", found ", json_object_get(finding, "symbol"));
    cbx_content_add_escaped(&c->text, " (", json_object_get(finding, "detail"));
    cbx_buf_add_cstr(&c->text,
                     json_string_length(json_object_get(finding, "detail")) > 0 ? ")\n" : "\n");
    cbx_content_add_escaped(&c->text, "  ", json_object_get(finding, "message"));
    cbx_content_add_escaped(&c->text, "\n  hint: ", json_object_get(finding, "hint"));
    cbx_buf_add_char(&c->text, '\n');
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
static bool refuses(const json_t *finding)
{
    struct cbx_str effect = cbx_json_str(json_object_get(finding, "effect"));
    return cbx_str_is(effect, "deny") || cbx_str_is(effect, "ask");
}

static void add_findings(struct cbx_content *c, const json_t *findings)
{
    size_t i, refused = 0;
    json_t *finding;
    json_object_set_new(c->structured, "findings", json_array());
    json_array_foreach((json_t *)(uintptr_t)findings, i, finding)
    {
        if (refuses(finding) && ++refused <= CBX_CONTENT_FINDINGS_MAX) {
            add_finding(c, finding);
        }
    }
    if (refused > CBX_CONTENT_FINDINGS_MAX) {
        cbx_buf_printf(&c->text, "and %zu more\n", refused - CBX_CONTENT_FINDINGS_MAX);
    }
}

/* The first line names the rule: some clients show no more. */
static void add_verdict(struct cbx_content *c, bool ask, const json_t *findings)
{
    size_t first = 0;
    while (first < json_array_size(findings) && !refuses(json_array_get(findings, first))) {
        first++;
    }
    cbx_buf_add_cstr(&c->text, ask ? "needs approval" : "denied");
    cbx_content_add_escaped(&c->text, " by policy rule ",
                            json_object_get(json_array_get(findings, first), "rule"));
    cbx_buf_add_cstr(&c->text, "; nothing ran\n");
}

json_t *cbx_content_of_denial(const struct cbx_outcome *outcome)
{
    const json_t *findings = json_object_get(outcome->decision, "findings");
    bool ask = outcome->verdict == CBX_ASK;
    struct cbx_content c;
    cbx_content_init(&c, ask ? "needs-approval" : "denied");
    add_verdict(&c, ask, findings);
    add_findings(&c, findings);
    cbx_buf_add_cstr(&c.text, ask ? "A person has to approve this code, which cannot be done "
                                    "through this client. Change the code, or ask the operator.\n"
                                  : "Change the code as the hints say and try again, or ask the "
                                    "operator of this gateway for another policy.\n");
    cbx_content_add_audit(&c, cbx_str_of(outcome != NULL ? outcome->id : ""));
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

json_t *cbx_content_of_text(const char *member, struct cbx_str text)
{
    struct cbx_content c;
    cbx_content_init(&c, "ok");
    cbx_buf_add(&c.text, text);
    cbx_content_set(&c, member, text);
    return cbx_content_finish(&c, false);
}

json_t *cbx_content_schema(void)
{
    static const struct {
        const char *name, *type;
    } members[] = {
#define CBX_MEMBER(name, type) { name, type },
#include "gateway/front/mcp/content.def"
#undef CBX_MEMBER
    };
    json_t *properties = json_object();
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_object_set_new(properties, members[i].name,
                            json_pack("{s:s}", "type", members[i].type));
    }
    return json_pack("{s:s,s:o,s:[s]}", "type", "object", "properties", properties, "required",
                     "status");
}
