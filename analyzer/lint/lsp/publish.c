/* SPDX-License-Identifier: MIT
 * Makes diagnostics and code actions. */
#include "analyzer/lint/lsp/publish.h"

#include "analyzer/lint/lsp/fixes.h"

/* DiagnosticSeverity */
enum { SEVERITY_ERROR = 1, SEVERITY_WARNING = 2, SEVERITY_INFORMATION = 3 };

struct span {
    struct cbx_lsp_position start, end;
};

static uint32_t number(const json_t *finding, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(finding, key));
    return value > 0 && value <= INT32_MAX ? (uint32_t)value : 1;
}

/* Findings of a cell get places in its lines of the file, if these are known. */
static struct span span_of(const struct cbx_lsp_document *d, const json_t *finding,
                           enum cbx_lsp_encoding encoding)
{
    struct cbx_str text = cbx_buf_str(&d->text);
    if (json_object_get(finding, "cell") != NULL) {
        uint32_t line = number(finding, "file_line");
        return (struct span){ cbx_lsp_position_of(text, line, 1, encoding),
                              cbx_lsp_position_of(text, line, INT32_MAX, encoding) };
    }
    return (struct span){ cbx_lsp_position_of(text, number(finding, "line"),
                                              number(finding, "column"), encoding),
                          cbx_lsp_position_of(text, number(finding, "end_line"),
                                              number(finding, "end_column"), encoding) };
}

static int severity_of(const json_t *finding)
{
    struct cbx_str effect = cbx_json_str(json_object_get(finding, "effect"));
    if (cbx_str_is(effect, "deny")) {
        return SEVERITY_ERROR;
    }
    return cbx_str_is(effect, "ask") || cbx_str_is(effect, "warn") ? SEVERITY_WARNING
                                                                   : SEVERITY_INFORMATION;
}

/* "MESSAGE (SYMBOL)", and the hint on a line of its own. */
static json_t *message_of(const json_t *finding)
{
    CBX_AUTO_DONE(buf) text;
    struct cbx_str symbol = cbx_json_str(json_object_get(finding, "symbol"));
    struct cbx_str hint = cbx_json_str(json_object_get(finding, "hint"));
    cbx_buf_init(&text, 1024 * 1024);
    cbx_buf_add(&text, cbx_json_str(json_object_get(finding, "message")));
    if (symbol.len > 0) {
        cbx_buf_add_cstr(&text, " (");
        cbx_buf_add(&text, symbol);
        cbx_buf_add_char(&text, ')');
    }
    if (hint.len > 0) {
        cbx_buf_add_char(&text, '\n');
        cbx_buf_add(&text, hint);
    }
    return cbx_json_text(cbx_buf_str(&text));
}

static json_t *diagnostic_of(const struct cbx_lsp_document *d, const json_t *finding,
                             enum cbx_lsp_encoding encoding)
{
    struct span span = span_of(d, finding, encoding);
    return json_pack("{s:o,s:i,s:O,s:s,s:o}", "range", cbx_lsp_range_json(span.start, span.end),
                     "severity", severity_of(finding), "code", json_object_get(finding, "rule"),
                     "source", "codebox", "message", message_of(finding));
}

static json_t *parameters_of(const struct cbx_lsp_document *d, json_t *diagnostics)
{
    return json_pack("{s:s,s:I,s:o}", "uri", d->uri, "version", d->version, "diagnostics",
                     diagnostics);
}

json_t *cbx_lsp_diagnostics(const struct cbx_lsp_document *d, enum cbx_lsp_encoding encoding)
{
    json_t *diagnostics = json_array();
    size_t i;
    const json_t *finding;
    json_array_foreach(d->findings, i, finding)
    {
        json_array_append_new(diagnostics, diagnostic_of(d, finding, encoding));
    }
    return parameters_of(d, diagnostics);
}

json_t *cbx_lsp_diagnostics_failed(const struct cbx_lsp_document *d, const char *why)
{
    const struct cbx_lsp_position start = { 0, 0 };
    json_t *one = json_pack("{s:o,s:i,s:s,s:s}", "range", cbx_lsp_range_json(start, start),
                            "severity", SEVERITY_ERROR, "source", "codebox", "message", why);
    return parameters_of(d, json_pack("[o]", one));
}

/* --- actions ---------------------------------------------------------------------------------- */

static json_t *edit_json(struct cbx_str text, const struct cbx_lsp_edit *edit,
                         enum cbx_lsp_encoding encoding)
{
    CBX_AUTO_DONE(buf) with;
    cbx_buf_init(&with, CBX_LSP_TEXT_MAX);
    cbx_buf_add(&with, edit->text);
    cbx_buf_add_cstr(&with, edit->line ? "\n" : "");
    return json_pack("{s:o,s:o}", "range",
                     cbx_lsp_range_json(cbx_lsp_position_at(text, edit->start, encoding),
                                        cbx_lsp_position_at(text, edit->end, encoding)),
                     "newText", cbx_json_text(cbx_buf_str(&with)));
}

static json_t *workspace_edit(const struct cbx_lsp_document *d, json_t *edits, bool versioned)
{
    if (!versioned) {
        return json_pack("{s:{s:o}}", "changes", d->uri, edits);
    }
    return json_pack("{s:[{s:{s:s,s:I},s:o}]}", "documentChanges", "textDocument", "uri", d->uri,
                     "version", d->version, "edits", edits);
}

/* Returns the action for one finding; NULL if its hint has no edits. */
static json_t *action_of(const struct cbx_lsp_document *d, const json_t *finding,
                         enum cbx_lsp_encoding encoding, bool versioned)
{
    struct cbx_lsp_edit edits[CBX_LSP_EDITS_MAX];
    struct cbx_str text = cbx_buf_str(&d->text);
    struct cbx_str hint = cbx_json_str(json_object_get(finding, "hint"));
    const struct cbx_lsp_lines lines = { number(finding, "line"), number(finding, "end_line") };
    bool whole;
    if (json_object_get(finding, "cell") != NULL) {
        return NULL; /* the lines are texts within JSON */
    }
    size_t count = cbx_lsp_fixes(text, lines, hint, edits, &whole);
    if (count == 0) {
        return NULL;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, edit_json(text, &edits[i], encoding));
    }
    return json_pack("{s:O,s:s,s:[o],s:b,s:o}", "title", json_object_get(finding, "hint"), "kind",
                     "quickfix", "diagnostics", diagnostic_of(d, finding, encoding), "isPreferred",
                     whole, "edit", workspace_edit(d, list, versioned));
}

static bool comes_before(struct cbx_lsp_position a, struct cbx_lsp_position b)
{
    return a.line != b.line ? a.line < b.line : a.character < b.character;
}

json_t *cbx_lsp_actions(const struct cbx_lsp_document *d, struct cbx_lsp_position start,
                        struct cbx_lsp_position end, enum cbx_lsp_encoding encoding, bool versioned)
{
    json_t *actions = json_array();
    size_t i;
    const json_t *finding;
    json_array_foreach(d->findings, i, finding)
    {
        struct span span = span_of(d, finding, encoding);
        bool apart = comes_before(span.end, start) || comes_before(end, span.start);
        json_t *action = apart ? NULL : action_of(d, finding, encoding, versioned);
        if (action != NULL) {
            json_array_append_new(actions, action);
        }
    }
    return actions;
}
