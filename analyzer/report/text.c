/* SPDX-License-Identifier: MIT
 * Decisions as text. */
#include "analyzer/report/report.h"

#include "policies/base/text/printable.h"

#include <utf8proc.h>

enum { LINE_MAX_CHARS = 160 };

static struct cbx_str line_at(struct cbx_str source, uint32_t byte, uint32_t *offset)
{
    size_t from = byte > source.len ? source.len : byte;
    size_t to = from;
    while (from > 0 && source.p[from - 1] != '\n') {
        from--;
    }
    while (to < source.len && source.p[to] != '\n') {
        to++;
    }
    *offset = (uint32_t)((byte > source.len ? source.len : byte) - from);
    return cbx_str_sub(source, from, to);
}

static size_t width_of(struct cbx_str text)
{
    size_t columns = 0;
    for (size_t i = 0; i < text.len;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text.p + i,
                                              (utf8proc_ssize_t)(text.len - i), &c);
        columns += n > 0 ? (size_t)utf8proc_charwidth(c) : 1;
        i += n > 0 ? (size_t)n : 1;
    }
    return columns;
}

size_t cbx_report_shown(struct cbx_str text, struct cbx_buf *out)
{
    size_t from = out->len;
    for (size_t i = 0; i < text.len; i++) {
        const char *tab = memchr(text.p + i, '\t', text.len - i);
        size_t end = tab != NULL ? (size_t)(tab - text.p) : text.len;
        cbx_printable_add(out, cbx_str_sub(text, i, end), CBX_PRINTABLE_LINE);
        cbx_buf_add_cstr(out, tab != NULL ? "    " : "");
        i = end;
    }
    return width_of(cbx_str_sub(cbx_buf_str(out), from, out->len));
}

static void add_repeated(struct cbx_buf *out, char c, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cbx_buf_add_char(out, c);
    }
}

/* The source line, and a caret below the place of the finding. A long line is cut a little before
 * the place. */
static void add_line(const struct cbx_finding *f, struct cbx_str source, struct cbx_buf *out)
{
    uint32_t offset;
    struct cbx_str line = line_at(source, f->span.start_byte, &offset);
    size_t from = cbx_str_cut(line, offset > 100 ? offset - 60 : 0).len;
    size_t end = f->span.end_byte - f->span.start_byte + offset;
    end = end > offset ? end : offset + 1;
    size_t shown_end =
        cbx_str_cut(line, end < offset + LINE_MAX_CHARS ? end : offset + LINE_MAX_CHARS).len;
    size_t right_end = cbx_str_cut(line, end + 60).len;
    cbx_buf_printf(out, "  %5u | %s", f->span.line, from > 0 ? "..." : "");
    size_t left = cbx_report_shown(cbx_str_sub(line, from, offset), out) + (from > 0 ? 3 : 0);
    size_t marked = cbx_report_shown(cbx_str_sub(line, offset, shown_end), out);
    cbx_report_shown(cbx_str_sub(line, end, right_end), out);
    cbx_buf_add_cstr(out, "\n        | ");
    add_repeated(out, ' ', left);
    cbx_buf_add_char(out, '^');
    add_repeated(out, '~', marked > 1 ? marked - 1 : 0);
    cbx_buf_add_char(out, '\n');
}

static void add_finding(const struct cbx_finding *f, struct cbx_str path, struct cbx_str source,
                        bool color, struct cbx_buf *out)
{
    bool stops = f->effect == CBX_EFFECT_DENY || f->effect == CBX_EFFECT_ASK;
    const char *mark = "", *bold = "", *off = "";
    if (color) {
        mark = stops ? "\033[1;31m" : "\033[1;33m";
        bold = "\033[1m";
        off = "\033[0m";
    }
    cbx_buf_add_cstr(out, bold);
    cbx_printable_add(out, path, CBX_PRINTABLE_LINE);
    cbx_buf_printf(out, ":%u:%u: %s%s%s [%.*s] ", f->span.line, f->span.column, mark,
                   cbx_effect_name(f->effect), off, CBX_STR_ARG(f->rule->id));
    cbx_printable_add(out, cbx_str_sub(f->symbol, 0, 200), CBX_PRINTABLE_LINE);
    cbx_buf_add_char(out, '\n');
    add_line(f, source, out);
    struct {
        const char *label;
        struct cbx_str text;
    } lines[] = { { "", f->rule->message },
                  { "", f->detail },
                  { "hint: ", f->hint },
                  { "let through by an exception: ", f->exception } };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (lines[i].text.len > 0) {
            cbx_buf_printf(out, "          %s", lines[i].label);
            cbx_printable_add(out, lines[i].text, CBX_PRINTABLE_LINE);
            cbx_buf_add_char(out, '\n');
        }
    }
}

void cbx_report_text(const struct cbx_decision *decision, struct cbx_str path,
                     struct cbx_str source, bool color, struct cbx_buf *out)
{
    for (size_t i = 0; i < decision->finding_count; i++) {
        if (decision->findings[i].effect != CBX_EFFECT_ALLOW ||
            decision->findings[i].exception.len > 0) {
            add_finding(&decision->findings[i], path, source, color, out);
        }
    }
    if (decision->truncated) {
        cbx_printable_add(out, path, CBX_PRINTABLE_LINE);
        cbx_buf_add_cstr(out, ": more findings than are shown\n");
    }
}

/* --- files ------------------------------------------------------------------------------------ */

static void add_suppressed(const struct cbx_report_finding *f, struct cbx_buf *out)
{
    cbx_buf_add_cstr(out, f->suppression == CBX_SUPPRESSED_INLINE
                              ? "          suppressed in the source: "
                              : "          suppressed by the baseline");
    cbx_printable_add(out, f->reason, CBX_PRINTABLE_LINE);
    cbx_buf_add_char(out, '\n');
}

static void add_file(const struct cbx_report *report, const struct cbx_report_file *file,
                     struct cbx_buf *out)
{
    for (size_t i = 0; i < file->count; i++) {
        const struct cbx_report_finding *f = &file->findings[i];
        if (f->suppression != CBX_SUPPRESSED_NOT && !report->show_suppressed) {
            continue;
        }
        CBX_AUTO_DONE(buf) name;
        cbx_buf_init(&name, 128 * 1024);
        cbx_buf_add(&name, file->path);
        if (f->cell > 0) {
            cbx_buf_printf(&name, ":cell %u", f->cell);
        }
        add_finding(&f->v, cbx_buf_str(&name), f->source, report->color, out);
        if (f->suppression != CBX_SUPPRESSED_NOT) {
            add_suppressed(f, out);
        }
    }
    if (file->truncated) {
        cbx_printable_add(out, file->path, CBX_PRINTABLE_LINE);
        cbx_buf_add_cstr(out, ": more findings than are shown\n");
    }
}

const struct cbx_report_format cbx_report_as_text = { "text", "", NULL, add_file, NULL };
