/* SPDX-License-Identifier: MIT
 * Reads a source: its text, its lines, its encoding. */
#include "analyzer/syntax/source.h"

/* Converts "\r\n" and a lone '\r' to '\n': CPython ends a comment at '\r', tree-sitter does not.
 * Removes a leading byte order mark: some readers treat it as text, some do not. */
static struct cbx_str normalise(struct cbx_str bytes, struct cbx_arena *arena)
{
    if (cbx_str_starts(bytes, CBX_STR("\xEF\xBB\xBF"))) {
        bytes = cbx_str_sub(bytes, 3, bytes.len);
    }
    if (bytes.len == 0 || memchr(bytes.p, '\r', bytes.len) == NULL) {
        return cbx_arena_copy(arena, bytes);
    }
    char *out = cbx_arena_alloc(arena, bytes.len + 1);
    size_t n = 0;
    for (size_t i = 0; out != NULL && i < bytes.len; i++) {
        char c = bytes.p[i];
        if (c == '\r' && i + 1 < bytes.len && bytes.p[i + 1] == '\n') {
            continue;
        }
        out[n++] = c == '\r' ? '\n' : c;
    }
    return (struct cbx_str){ .p = out, .len = n };
}

static int index_lines(struct cbx_source *source, struct cbx_arena *arena)
{
    uint32_t count = 1;
    for (size_t i = 0; i < source->text.len; i++) {
        count += source->text.p[i] == '\n';
    }
    uint32_t *lines = cbx_arena_array(arena, count, sizeof(*lines));
    if (lines == NULL) {
        return CBX_ETOOBIG;
    }
    uint32_t n = 1;
    for (size_t i = 0; i < source->text.len; i++) {
        if (source->text.p[i] == '\n') {
            lines[n++] = (uint32_t)i + 1;
        }
    }
    source->lines = lines;
    source->line_count = count;
    return 0;
}

void cbx_source_place(const struct cbx_source *source, uint32_t byte, uint32_t *line,
                      uint32_t *column)
{
    uint32_t low = 0, high = source->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->lines[middle] <= byte) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *line = low + 1;
    *column = 1;
    for (uint32_t i = source->lines[low]; i < byte && i < source->text.len; i++) {
        *column += !cbx_utf8_continues(source->text.p[i]);
    }
}

static bool is_codec_char(char c)
{
    return c == '-' || c == '_' || c == '.' || (c >= '0' && c <= '9') ||
           ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* Returns the encoding after the first "coding:" or "coding=" that has one, as in CPython; empty
 * if there is none. */
static struct cbx_str find_cookie(struct cbx_str line)
{
    for (size_t at = 0; at < line.len;) {
        const char *word = memmem(line.p + at, line.len - at, "coding", 6);
        if (word == NULL) {
            break;
        }
        at = (size_t)(word - line.p) + 6;
        if (at >= line.len || (line.p[at] != ':' && line.p[at] != '=')) {
            continue;
        }
        do {
            at++;
        } while (at < line.len && (line.p[at] == ' ' || line.p[at] == '\t'));
        size_t end = at;
        while (end < line.len && is_codec_char(line.p[end])) {
            end++;
        }
        if (end > at) {
            return cbx_str_sub(line, at, end);
        }
    }
    return (struct cbx_str){ 0 };
}

static bool is_utf8_codec(struct cbx_str name)
{
    char normal[8] = "";
    for (size_t i = 0; i < name.len && i + 1 < sizeof(normal); i++) {
        char c = name.p[i];
        normal[i] = (char)(c == '_' ? '-' : c >= 'A' && c <= 'Z' ? c | 32 : c);
    }
    return strcmp(normal, "utf-8") == 0 || strcmp(normal, "utf8") == 0;
}

/* Checks the encoding in a comment. PEP 263: a comment on line 1 or 2 that matches
 * coding[:=]\s*([-\w.]+) names it. With any encoding but UTF-8, CPython reads a different text
 * than the analyzer. */
static void check_cookie(const struct cbx_source *source, struct cbx_facts *facts)
{
    for (uint32_t l = 0; l < 2 && l < source->line_count; l++) {
        uint32_t start = source->lines[l];
        uint32_t end =
            l + 1 < source->line_count ? source->lines[l + 1] : (uint32_t)source->text.len;
        struct cbx_str line = cbx_str_sub(source->text, start, end);
        size_t i = strspn(line.p, " \t\f");
        if (i < line.len && line.p[i] != '#' && line.p[i] != '\n') {
            return; /* code on the first line: the second line is not checked */
        }
        struct cbx_str name =
            i < line.len && line.p[i] == '#' ? find_cookie(line) : (struct cbx_str){ 0 };
        if (name.len > 0 && !is_utf8_codec(name)) {
            uint32_t from = start + (uint32_t)(name.p - line.p);
            cbx_facts_add_special(facts, CBX_FACT_ENCODING, name, from, from + (uint32_t)name.len);
        }
    }
}

int cbx_source_read(struct cbx_str bytes, bool python, struct cbx_arena *arena,
                    struct cbx_facts *facts, struct cbx_source *out)
{
    struct cbx_source source = { .text = normalise(bytes, arena), .readable = true };
    if (source.text.p == NULL || index_lines(&source, arena) != 0) {
        return CBX_ETOOBIG;
    }
    size_t bad = 0;
    const char *nul = source.text.len > 0 ? memchr(source.text.p, '\0', source.text.len) : NULL;
    if (!cbx_str_is_utf8(source.text, &bad)) {
        source.readable = false;
        cbx_facts_add_special(facts, CBX_FACT_ENCODING, CBX_STR("invalid UTF-8"), (uint32_t)bad,
                              (uint32_t)bad + 1);
    } else if (nul != NULL) {
        source.readable = false;
        cbx_facts_add_special(facts, CBX_FACT_ENCODING, CBX_STR("NUL"),
                              (uint32_t)(nul - source.text.p), (uint32_t)(nul - source.text.p) + 1);
    } else if (python) {
        check_cookie(&source, facts);
    }
    *out = source;
    return 0;
}
