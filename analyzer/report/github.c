/* SPDX-License-Identifier: MIT
 * Writes findings as workflow commands: a line ::error file=...,line=...::message each, which
 * GitHub shows at the place in a pull request. */
#include "analyzer/report/report.h"

#include "policies/base/text/printable.h"

/* '%', line ends, and in a property also ',' and ':' would end the part in which they stand. */
static void add_value(struct cbx_str text, bool property, struct cbx_buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (c == '%' || c == '\r' || c == '\n' || (property && (c == ',' || c == ':'))) {
            cbx_buf_printf(out, "%%%02X", (unsigned char)c);
        } else {
            cbx_buf_add_char(out, c);
        }
    }
}

/* The text may quote hostile source: no control character may reach the log. */
static void add_text(struct cbx_str text, bool property, struct cbx_buf *out)
{
    CBX_AUTO_DONE(buf) escaped;
    cbx_buf_init(&escaped, 65536);
    cbx_printable_add(&escaped, text, CBX_PRINTABLE_LINE);
    add_value(cbx_buf_str(&escaped), property, out);
}

static void add_place(const struct cbx_report_finding *f, struct cbx_buf *out)
{
    const struct cbx_span *s = &f->v.span;
    if (f->cell == 0) {
        cbx_buf_printf(out, ",line=%u,endLine=%u,col=%u,endColumn=%u", s->line, s->end_line,
                       s->column, s->end_column);
    } else if (f->file_line > 0) { /* lines of the notebook's own text */
        cbx_buf_printf(out, ",line=%u,endLine=%u", f->file_line + s->line - 1,
                       f->file_line + s->end_line - 1);
    }
}

static void add_finding(const struct cbx_report_finding *f, struct cbx_str path,
                        struct cbx_buf *out)
{
    CBX_AUTO_DONE(buf) message;
    cbx_buf_init(&message, 65536);
    cbx_report_message(f, &message);
    bool stops = f->v.effect == CBX_EFFECT_DENY || f->v.effect == CBX_EFFECT_ASK;
    cbx_buf_add_cstr(out, stops ? "::error file=" : "::warning file=");
    add_value(path, true, out);
    add_place(f, out);
    cbx_buf_add_cstr(out, ",title=");
    add_text(f->v.rule->id, true, out);
    if (f->cell > 0) {
        cbx_buf_printf(out, " (cell %u%%2C line %u)", f->cell, f->v.span.line);
    }
    cbx_buf_add_cstr(out, "::");
    add_text(cbx_buf_str(&message), false, out);
    cbx_buf_add_char(out, '\n');
}

static void add_file(const struct cbx_report *report, const struct cbx_report_file *file,
                     struct cbx_buf *out)
{
    (void)report;
    for (size_t i = 0; i < file->count; i++) {
        if (file->findings[i].suppression == CBX_SUPPRESSED_NOT) {
            add_finding(&file->findings[i], file->normal, out);
        }
    }
    if (file->error.len > 0) {
        cbx_buf_add_cstr(out, "::error file=");
        add_value(file->normal, true, out);
        cbx_buf_add_cstr(out, ",title=not checked::");
        add_text(file->error, false, out);
        cbx_buf_add_char(out, '\n');
    }
}

const struct cbx_report_format cbx_report_as_github = { "github", "", NULL, add_file, NULL };
