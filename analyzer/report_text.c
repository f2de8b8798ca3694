/* SPDX-License-Identifier: MIT
 * A decision for a person. */
#include "analyzer/report.h"

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

/* The line, and a caret below what the finding speaks of. A long line is shown from a little before
 * the place on. */
static void add_line(const struct cbx_finding *f, struct cbx_str source, struct cbx_buf *out)
{
    uint32_t offset;
    struct cbx_str line = line_at(source, f->span.start_byte, &offset);
    size_t from = offset > 100 ? offset - 60 : 0;
    while (from > 0 && from < line.len && ((unsigned char)line.p[from] & 0xC0) == 0x80) {
        from--;
    }
    struct cbx_str before = cbx_str_sub(line, from, offset);
    size_t end = f->span.end_byte - f->span.start_byte + offset;
    struct cbx_str marked = cbx_str_sub(line, offset, end > offset ? end : offset + 1);
    CBX_AUTO_DONE(buf) left, middle, right;
    cbx_buf_init(&left, 4096);
    cbx_buf_init(&middle, 65536);
    cbx_buf_init(&right, 65536);
    cbx_buf_add_escaped(&left, before, false);
    cbx_buf_add_escaped(&middle, cbx_str_sub(marked, 0, LINE_MAX_CHARS), false);
    cbx_buf_add_escaped(&right, cbx_str_sub(line, offset + marked.len, offset + marked.len + 60),
                        false);
    cbx_buf_printf(out, "  %5u | %s%s%s%s\n        | ", f->span.line, from > 0 ? "..." : "", left.p,
                   middle.p, right.p);
    for (size_t i = 0, columns = left.len + (from > 0 ? 3 : 0); i < columns; i++) {
        if (i >= left.len || ((unsigned char)left.p[i] & 0xC0) != 0x80) {
            cbx_buf_add_char(out, ' ');
        }
    }
    for (size_t i = 0; i == 0 || i < middle.len; i++) {
        if (i == 0 || ((unsigned char)middle.p[i] & 0xC0) != 0x80) {
            cbx_buf_add_char(out, i == 0 ? '^' : '~');
        }
    }
    cbx_buf_add_char(out, '\n');
}

static void add_finding(const struct cbx_finding *f, struct cbx_str path, struct cbx_str source,
                        bool color, struct cbx_buf *out)
{
    bool stops = f->effect == CBX_EFFECT_DENY || f->effect == CBX_EFFECT_ASK;
    const char *mark = !color  ? ""
                       : stops ? "\033[1;31m"
                               : "\033[1;33m",
               *bold = color ? "\033[1m" : "", *off = color ? "\033[0m" : "";
    cbx_buf_add_cstr(out, bold);
    cbx_buf_add_escaped(out, path, false);
    cbx_buf_printf(out, ":%u:%u: %s%s%s [%.*s] ", f->span.line, f->span.column, mark,
                   cbx_effect_name(f->effect), off, CBX_STR_ARG(f->rule->id));
    cbx_buf_add_escaped(out, cbx_str_sub(f->symbol, 0, 200), false);
    cbx_buf_add_char(out, '\n');
    add_line(f, source, out);
    struct {
        const char *label;
        struct cbx_str text;
    } lines[] = { { "", f->rule->message },
                  { "", f->detail },
                  { "instead: ", f->rule->hint },
                  { "let through by an exception: ", f->exception } };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (lines[i].text.len > 0) {
            cbx_buf_printf(out, "          %s", lines[i].label);
            cbx_buf_add_escaped(out, lines[i].text, false);
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
        cbx_buf_add_escaped(out, path, false);
        cbx_buf_add_cstr(out, ": more findings than are shown\n");
    }
}
