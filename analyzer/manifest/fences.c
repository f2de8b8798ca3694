/* SPDX-License-Identifier: MIT
 * Fenced blocks of Markdown. */
#include "analyzer/manifest/fences.h"

#include <ctype.h>

enum { TAB = 4 };

/* A block quote, or an item of a list whose content is indented by `indent` columns. */
struct container {
    bool quote;
    uint32_t indent;
};

struct fence {
    bool open;
    char mark;
    uint32_t length, indent;
    size_t depth; /* number of containers of the open block */
};

struct reading {
    struct cbx_str text;
    const struct cbx_fence_sink *sink;
    struct container containers[CBX_FENCE_CONTAINERS_MAX];
    size_t depth;
    struct fence fence;
    /* the line that is being read */
    uint32_t at, end, column;
    uint32_t spare; /* columns of a tab that were not consumed yet */
};

static char peek(const struct reading *r)
{
    return r->at < r->end ? r->text.p[r->at] : '\n';
}

/* Takes one column of blanks. */
static void take_column(struct reading *r)
{
    if (r->spare == 0 && peek(r) == '\t') {
        r->spare = TAB - r->column % TAB;
    }
    r->column++;
    if (r->spare > 0) {
        r->spare--;
    }
    r->at += r->spare == 0;
}

static uint32_t indentation(const struct reading *r)
{
    struct reading ahead = *r;
    uint32_t columns = 0;
    while (peek(&ahead) == ' ' || peek(&ahead) == '\t') {
        take_column(&ahead);
        columns++;
    }
    return columns;
}

static bool is_blank(const struct reading *r)
{
    uint32_t at = r->at;
    while (at < r->end && (r->text.p[at] == ' ' || r->text.p[at] == '\t')) {
        at++;
    }
    return at == r->end;
}

static void take_columns(struct reading *r, uint32_t columns)
{
    for (; columns > 0 && (peek(r) == ' ' || peek(r) == '\t'); columns--) {
        take_column(r);
    }
}

static void take_mark(struct reading *r, uint32_t bytes)
{
    r->at += bytes;
    r->column += bytes;
}

/* Returns the number of open containers that this line continues. */
static size_t continue_containers(struct reading *r)
{
    size_t i = 0;
    for (; i < r->depth; i++) {
        const struct container *c = &r->containers[i];
        uint32_t indent = indentation(r);
        if (!c->quote && !is_blank(r) && indent < c->indent) {
            return i;
        }
        if (!c->quote) {
            take_columns(r, c->indent);
            continue;
        }
        struct reading ahead = *r;
        take_columns(&ahead, indent);
        if (indent > 3 || peek(&ahead) != '>') {
            return i;
        }
        take_columns(r, indent);
        take_mark(r, 1);
        take_columns(r, 1);
    }
    return i;
}

/* Returns the bytes of a list's mark: "-", "12."; 0 if there is none. */
static uint32_t list_mark(const struct reading *r)
{
    uint32_t at = r->at, digits = 0;
    char c = peek(r);
    if (c == '-' || c == '*' || c == '+') {
        at++;
    } else {
        while (at < r->end && isdigit((unsigned char)r->text.p[at]) && digits < 9) {
            at++;
            digits++;
        }
        if (digits == 0 || at == r->end || (r->text.p[at] != '.' && r->text.p[at] != ')')) {
            return 0;
        }
        at++;
    }
    bool ends = at == r->end || r->text.p[at] == ' ' || r->text.p[at] == '\t';
    return ends ? at - r->at : 0;
}

/* Opens the containers that begin in this line. */
static void open_containers(struct reading *r)
{
    while (r->depth < CBX_FENCE_CONTAINERS_MAX) {
        uint32_t indent = indentation(r);
        if (indent > 3) {
            return;
        }
        struct reading ahead = *r;
        take_columns(&ahead, indent);
        if (peek(&ahead) == '>') {
            take_mark(&ahead, 1);
            take_columns(&ahead, 1);
            *r = ahead;
            r->containers[r->depth++] = (struct container){ .quote = true };
            continue;
        }
        uint32_t mark = list_mark(&ahead);
        if (mark == 0) {
            return;
        }
        take_mark(&ahead, mark);
        uint32_t blanks = indentation(&ahead);
        bool one = is_blank(&ahead) || blanks > 4;
        take_columns(&ahead, one ? 1 : blanks);
        *r = ahead;
        r->containers[r->depth++] =
            (struct container){ .indent = indent + mark + (one ? 1 : blanks) };
    }
}

/* Returns the length of a run of backticks or tildes at `at`. */
static uint32_t run_length(const struct reading *r, uint32_t at)
{
    uint32_t n = 0;
    char c = at < r->end ? r->text.p[at] : '\0';
    while ((c == '`' || c == '~') && at + n < r->end && r->text.p[at + n] == c) {
        n++;
    }
    return n;
}

static int end_block(struct reading *r)
{
    bool open = r->fence.open;
    r->fence.open = false;
    return open ? r->sink->end(r->sink->context) : 0;
}

static struct cbx_range rest(const struct reading *r)
{
    return (struct cbx_range){ r->at, r->end };
}

static int read_block_line(struct reading *r)
{
    uint32_t indent = indentation(r);
    struct reading ahead = *r;
    take_columns(&ahead, indent);
    uint32_t length = run_length(&ahead, ahead.at);
    bool closes = indent <= 3 && length >= r->fence.length && peek(&ahead) == r->fence.mark;
    ahead.at += closes ? length : 0;
    if (closes && is_blank(&ahead)) {
        return end_block(r);
    }
    take_columns(r, r->fence.indent);
    return r->sink->line(r->sink->context, rest(r));
}

/* Begins a block if the line is a fence. */
static int read_text_line(struct reading *r)
{
    uint32_t indent = indentation(r);
    struct reading ahead = *r;
    take_columns(&ahead, indent);
    char mark = peek(&ahead);
    uint32_t length = run_length(&ahead, ahead.at);
    uint32_t info = ahead.at + length;
    bool ticks = mark == '`' && memchr(r->text.p + info, '`', r->end - info) != NULL;
    if (indent > 3 || length < 3 || ticks) {
        return r->sink->text(r->sink->context, rest(r));
    }
    r->fence = (struct fence){ true, mark, length, indent, r->depth };
    return r->sink->begin(r->sink->context, cbx_str_sub(r->text, info, r->end),
                          (struct cbx_range){ info, r->end });
}

static int read_line(struct reading *r)
{
    size_t depth = continue_containers(r);
    if (r->fence.open && depth >= r->fence.depth) {
        return read_block_line(r);
    }
    r->depth = depth;
    int failed = end_block(r);
    if (failed) {
        return failed;
    }
    open_containers(r);
    return read_text_line(r);
}

int cbx_fences_read(struct cbx_str document, uint32_t from, const struct cbx_fence_sink *sink)
{
    struct reading r = { .text = document, .sink = sink };
    while (from < document.len) {
        const char *feed = memchr(document.p + from, '\n', document.len - from);
        r.at = from;
        r.end = feed != NULL ? (uint32_t)(feed - document.p) : (uint32_t)document.len;
        r.column = r.spare = 0;
        int failed = read_line(&r);
        if (failed) {
            return failed;
        }
        from = r.end + 1;
    }
    return end_block(&r);
}
