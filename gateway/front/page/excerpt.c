/* SPDX-License-Identifier: MIT
 * Excerpts of judged source. */
#include "gateway/front/page/excerpt.h"

#include "policies/base/text/html.h"

enum { PLACES_MAX = 16, AROUND = 2, LEAD = 40 };

/* From `column` of `line` to before `end_column` of `end_line`; from 1, in characters. */
struct place {
    json_int_t line, column, end_line, end_column;
};

struct excerpt {
    struct cbx_buf *out;
    struct place places[PLACES_MAX];
    size_t place_count;
    int lines;        /* number of written lines */
    json_int_t after; /* number of the last written line */
};

static json_int_t number_of(const json_t *finding, const char *name, json_int_t otherwise)
{
    const json_t *value = json_object_get(finding, name);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static void read_places(struct excerpt *e, const json_t *findings)
{
    for (size_t i = 0; i < json_array_size(findings) && e->place_count < PLACES_MAX; i++) {
        const json_t *f = json_array_get(findings, i);
        struct place p = { .line = number_of(f, "line", 0), .column = number_of(f, "column", 1) };
        p.end_line = number_of(f, "end_line", p.line);
        p.end_column = number_of(f, "end_column", p.column);
        bool empty = p.end_line == p.line && p.end_column <= p.column;
        p.end_column = empty ? p.column + 1 : p.end_column;
        if (p.line > 0 && p.end_line >= p.line) {
            e->places[e->place_count++] = p;
        }
    }
}

static bool is_shown(const struct excerpt *e, json_int_t line)
{
    bool shown = e->place_count == 0;
    for (size_t i = 0; i < e->place_count && !shown; i++) {
        const struct place *p = &e->places[i];
        shown = line >= p->line - AROUND && line <= p->end_line + AROUND;
    }
    return shown;
}

static bool is_marked(const struct excerpt *e, json_int_t line, json_int_t column)
{
    bool marked = false;
    for (size_t i = 0; i < e->place_count && !marked; i++) {
        const struct place *p = &e->places[i];
        bool begun = line > p->line || (line == p->line && column >= p->column);
        bool ended = line > p->end_line || (line == p->end_line && column >= p->end_column);
        marked = begun && !ended;
    }
    return marked;
}

/* Returns the first shown column of a long line: shortly before its first place. */
static json_int_t first_column(const struct excerpt *e, json_int_t line)
{
    json_int_t first = 0;
    for (size_t i = 0; i < e->place_count; i++) {
        const struct place *p = &e->places[i];
        if (p->line == line && (first == 0 || p->column < first)) {
            first = p->column;
        }
    }
    return first > CBX_EXCERPT_COLUMNS - LEAD ? first - LEAD : 1;
}

static size_t char_bytes(struct cbx_str text, size_t at)
{
    size_t end = at + 1;
    while (end < text.len && cbx_utf8_continues(text.p[end])) {
        end++;
    }
    return end - at;
}

static void add_piece(const struct excerpt *e, struct cbx_str text, bool marked)
{
    if (text.len > 0) {
        cbx_html_add(e->out, marked ? "<mark>%.*s</mark>" : "%.*s", CBX_STR_ARG(text));
    }
}

/* Adds the shown characters of one line, in marked and unmarked pieces. */
static void add_text(struct excerpt *e, struct cbx_str text, json_int_t line)
{
    json_int_t column = 1, first = first_column(e, line), last = first + CBX_EXCERPT_COLUMNS;
    size_t from = 0, at = 0;
    bool marked = false;
    cbx_html_add(e->out, first > 1 ? "<i>\u2026</i>" : "");
    for (; at < text.len && column < last; at += char_bytes(text, at), column++) {
        bool is = column >= first && is_marked(e, line, column);
        if (column <= first || is != marked) {
            add_piece(e, cbx_str_sub(text, column <= first ? at : from, at), marked);
            from = at;
            marked = is;
        }
    }
    add_piece(e, cbx_str_sub(text, from, at), marked);
    cbx_html_add(e->out, at < text.len ? "<i>\u2026</i>\n" : "\n");
}

static void add_gap(struct excerpt *e)
{
    cbx_html_add(e->out, "<i class=\"gap\">\u22EE</i>\n");
}

static void add_line(struct excerpt *e, struct cbx_str text, json_int_t line)
{
    if (line > e->after + 1) {
        add_gap(e);
    }
    e->after = line;
    e->lines++;
    cbx_html_add(e->out, "<b>%lld</b>", (long long)line);
    add_text(e, text, line);
}

void cbx_excerpt_add(struct cbx_buf *out, struct cbx_str source, const json_t *findings)
{
    struct excerpt e = { .out = out };
    json_int_t line = 1;
    read_places(&e, findings);
    for (size_t at = 0; at < source.len && e.lines < CBX_EXCERPT_LINES; line++) {
        const char *newline = memchr(source.p + at, '\n', source.len - at);
        size_t end = newline != NULL ? (size_t)(newline - source.p) : source.len;
        if (is_shown(&e, line)) {
            add_line(&e, cbx_str_sub(source, at, end), line);
        }
        at = end + 1;
        if (at < source.len && e.lines == CBX_EXCERPT_LINES) {
            add_gap(&e);
        }
    }
}
