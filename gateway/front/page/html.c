/* SPDX-License-Identifier: MIT
 * Text in HTML. */
#include "gateway/front/page/html.h"

#include "policies/base/printable.h"

/* The characters that end text or an attribute; '`' does so in old browsers. */
static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '`':
        return "&#96;";
    default:
        return NULL;
    }
}

void cbx_html_add(struct cbx_buf *out, struct cbx_str text)
{
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, text.len * CBX_PRINTABLE_GROWTH + 1);
    cbx_printable_add(&clean, text, CBX_PRINTABLE_LINES);
    size_t from = 0;
    for (size_t i = 0; i < clean.len; i++) {
        const char *entity = entity_of(clean.p[i]);
        if (entity != NULL) {
            cbx_buf_add_bytes(out, clean.p + from, i - from);
            cbx_buf_add_cstr(out, entity);
            from = i + 1;
        }
    }
    cbx_buf_add_bytes(out, clean.p + from, clean.len - from);
}

void cbx_html_add_duration(struct cbx_buf *out, int64_t ms)
{
    enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR };
    if (ms < SECOND) {
        cbx_buf_printf(out, "%d ms", ms > 0 ? (int)ms : 0);
    } else if (ms < 10 * SECOND) {
        cbx_buf_printf(out, "%d.%d s", (int)ms / SECOND, (int)ms % SECOND / 100);
    } else if (ms < 2 * MINUTE) {
        cbx_buf_printf(out, "%d s", (int)ms / SECOND);
    } else if (ms < HOUR) {
        cbx_buf_printf(out, "%d min", (int)ms / MINUTE);
    } else if (ms < DAY) {
        cbx_buf_printf(out, "%d h %d min", (int)ms / HOUR, (int)ms % HOUR / MINUTE);
    } else {
        cbx_buf_printf(out, "%lld d %d h", (long long)(ms / DAY), (int)(ms % DAY) / HOUR);
    }
}

void cbx_html_add_member(struct cbx_buf *out, const json_t *object, const char *name)
{
    cbx_html_add(out, cbx_json_str(json_object_get(object, name)));
}

/* --- excerpts --------------------------------------------------------------------------------- */

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
    while (end < text.len && ((unsigned char)text.p[end] & 0xC0) == 0x80) {
        end++;
    }
    return end - at;
}

/* Adds the shown characters of one line, in marked and unmarked pieces. */
static void add_text(struct excerpt *e, struct cbx_str text, json_int_t line)
{
    json_int_t column = 1, first = first_column(e, line), last = first + CBX_EXCERPT_COLUMNS;
    size_t from = 0, at = 0;
    bool marked = false;
    cbx_buf_add_cstr(e->out, first > 1 ? "<i>\u2026</i>" : "");
    for (; at < text.len && column < last; at += char_bytes(text, at), column++) {
        bool is = column >= first && is_marked(e, line, column);
        if (column <= first || is != marked) {
            cbx_html_add(e->out, column <= first ? CBX_STR("") : cbx_str_sub(text, from, at));
            cbx_buf_add_cstr(e->out, is && !marked ? "<mark>" : !is && marked ? "</mark>" : "");
            from = at;
            marked = is;
        }
    }
    cbx_html_add(e->out, cbx_str_sub(text, from, at));
    cbx_buf_add_cstr(e->out, marked ? "</mark>" : "");
    cbx_buf_add_cstr(e->out, at < text.len ? "<i>\u2026</i>" : "");
}

static void add_line(struct excerpt *e, struct cbx_str text, json_int_t line)
{
    if (line > e->after + 1) {
        cbx_buf_add_cstr(e->out, "<i class=\"gap\">\u22EE</i>\n");
    }
    e->after = line;
    e->lines++;
    cbx_buf_printf(e->out, "<b>%lld</b>", (long long)line);
    add_text(e, text, line);
    cbx_buf_add_char(e->out, '\n');
}

void cbx_html_excerpt(struct cbx_buf *out, struct cbx_str source, const json_t *findings)
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
            cbx_buf_add_cstr(out, "<i class=\"gap\">\u22EE</i>\n");
        }
    }
}
