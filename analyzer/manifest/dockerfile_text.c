/* SPDX-License-Identifier: MIT
 * The text of a Dockerfile: lines, words, options and here-documents. */
#include "analyzer/manifest/dockerfile_text.h"

#include "analyzer/manifest/manifest_internal.h"

#include <ctype.h>

struct cbx_dockerfile_line cbx_dockerfile_next_line(struct cbx_dockerfile *in)
{
    const char *from = in->file.p + in->at;
    const char *newline = memchr(from, '\n', in->file.len - in->at);
    struct cbx_dockerfile_line line = { in->at, newline != NULL ? (uint32_t)(newline - in->file.p)
                                                                : (uint32_t)in->file.len };
    in->at = newline != NULL ? line.end + 1 : line.end;
    return line;
}

uint32_t cbx_dockerfile_skip_blanks(struct cbx_str file, uint32_t at, uint32_t end)
{
    while (at < end && (file.p[at] == ' ' || file.p[at] == '\t')) {
        at++;
    }
    return at;
}

uint32_t cbx_dockerfile_skip_word(struct cbx_str file, uint32_t at, uint32_t end)
{
    while (at < end && file.p[at] != ' ' && file.p[at] != '\t') {
        at++;
    }
    return at;
}

bool cbx_dockerfile_is_comment(struct cbx_str file, struct cbx_dockerfile_line line)
{
    uint32_t at = cbx_dockerfile_skip_blanks(file, line.start, line.end);
    return at < line.end && file.p[at] == '#';
}

bool cbx_dockerfile_is_blank(struct cbx_str file, struct cbx_dockerfile_line line)
{
    return cbx_dockerfile_skip_blanks(file, line.start, line.end) == line.end;
}

uint32_t cbx_dockerfile_continuation(struct cbx_str file, struct cbx_dockerfile_line line)
{
    uint32_t end = line.end;
    while (end > line.start && (file.p[end - 1] == ' ' || file.p[end - 1] == '\t')) {
        end--;
    }
    return end > line.start && file.p[end - 1] == '\\' ? end - 1 : line.end;
}

uint32_t cbx_dockerfile_end_of_word(struct cbx_str file, uint32_t at, uint32_t end)
{
    char quote = '\0';
    for (; at < end; at++) {
        char c = file.p[at];
        bool blank = c == ' ' || c == '\t' || c == '\n';
        if (quote == '\0' && blank) {
            return at;
        }
        if (c == '\\' && quote != '\'') {
            at++;
        } else if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            quote = '\0';
        }
    }
    return end;
}

static struct cbx_dockerfile_heredoc read_word(struct cbx_str file, uint32_t at, uint32_t end)
{
    struct cbx_dockerfile_heredoc h = { .start = at, .behind = end };
    while (at < end && isdigit((unsigned char)file.p[at])) {
        at++;
    }
    if (at + 2 >= end || file.p[at] != '<' || file.p[at + 1] != '<' || file.p[at + 2] == '<') {
        return h;
    }
    at += 2;
    h.tabs = file.p[at] == '-';
    struct cbx_str name = cbx_str_sub(file, at + h.tabs, end);
    bool quoted = name.len > 2 && (name.p[0] == '"' || name.p[0] == '\'') &&
                  name.p[name.len - 1] == name.p[0];
    h.word = quoted ? cbx_str_sub(name, 1, name.len - 1) : name;
    h.odd = h.word.len == 0;
    for (size_t i = 0; i < h.word.len; i++) {
        h.odd |= !isalnum((unsigned char)h.word.p[i]) && h.word.p[i] != '_';
    }
    return h;
}

struct cbx_dockerfile_heredoc cbx_dockerfile_find_heredoc(struct cbx_str file, uint32_t at,
                                                          uint32_t end)
{
    struct cbx_dockerfile_heredoc none = { 0 };
    while (at < end) {
        uint32_t behind = cbx_dockerfile_end_of_word(file, at, end);
        struct cbx_dockerfile_heredoc h = read_word(file, at, behind);
        if (h.word.len > 0 || h.odd) {
            return h;
        }
        at = behind > at ? behind : at + 1;
    }
    return none;
}

int cbx_dockerfile_read_heredoc(struct cbx_dockerfile *in, const struct cbx_dockerfile_heredoc *h,
                                struct cbx_dockerfile_line *body, struct cbx_err *err)
{
    *body = (struct cbx_dockerfile_line){ in->at, in->at };
    if (h->odd) {
        return cbx_manifest_fail(in->file, h->start,
                                 "a here-document whose name is not of letters and digits", err);
    }
    while (in->at < in->file.len) {
        struct cbx_dockerfile_line line = cbx_dockerfile_next_line(in);
        uint32_t start = line.start;
        while (h->tabs && start < line.end && in->file.p[start] == '\t') {
            start++;
        }
        if (cbx_str_equal(cbx_str_sub(in->file, start, line.end), h->word)) {
            body->end = line.start;
            return 0;
        }
    }
    return cbx_manifest_fail(in->file, h->start, "a here-document without an end", err);
}

uint32_t cbx_dockerfile_string_end(struct cbx_str file, uint32_t at, uint32_t end)
{
    uint32_t i = at + 1;
    while (i < end && file.p[i] != '"') {
        i += file.p[i] == '\\' ? 2 : 1;
    }
    return i < end ? i : end;
}

static uint32_t skip_flags(struct cbx_str file, uint32_t at, uint32_t end)
{
    at = cbx_dockerfile_skip_blanks(file, at, end);
    while (at + 1 < end && file.p[at] == '-' && file.p[at + 1] == '-') {
        at = cbx_dockerfile_skip_blanks(file, cbx_dockerfile_skip_word(file, at, end), end);
    }
    return at;
}

void cbx_dockerfile_skip_flag_lines(struct cbx_dockerfile *in, uint32_t *at,
                                    struct cbx_dockerfile_line *line)
{
    for (;;) {
        uint32_t behind = cbx_dockerfile_continuation(in->file, *line);
        *at = skip_flags(in->file, *at, line->end);
        bool ends = behind < line->end && (*at == behind || *at == line->end);
        if (!ends || in->at >= in->file.len) {
            return;
        }
        do { /* comments and empty lines count for nothing */
            *line = cbx_dockerfile_next_line(in);
        } while (in->at < in->file.len && (cbx_dockerfile_is_comment(in->file, *line) ||
                                           cbx_dockerfile_is_blank(in->file, *line)));
        *at = line->start;
    }
}

struct cbx_dockerfile_line cbx_dockerfile_continued(const struct cbx_dockerfile *in, uint32_t at,
                                                    struct cbx_dockerfile_line line,
                                                    uint32_t *behind)
{
    struct cbx_dockerfile ahead = *in;
    while (cbx_dockerfile_continuation(in->file, line) < line.end && ahead.at < in->file.len) {
        line = cbx_dockerfile_next_line(&ahead);
    }
    *behind = ahead.at;
    return (struct cbx_dockerfile_line){ at, line.end };
}
