/* SPDX-License-Identifier: MIT
 * Reads notebook files. */
#include "analyzer/lang/python/notebook/ipynb.h"

#include "policies/base/text/json.h"

/* --- lines of cells --------------------------------------------------------------------------- */

/* A scan of JSON that was parsed already; it only finds the lines of the cells in the file. */
struct places {
    struct cbx_str json;
    size_t at;
    uint32_t line;
    int depth;
    bool in_cells, in_source;
    struct cbx_str keys[4]; /* the last key of each of the outer objects */
    uint32_t first, count;  /* first line and number of the strings of a source */
    bool regular;           /* true if each string is on the line after the previous one */
};

static bool has_key(const struct places *p, int depth, const char *key)
{
    return cbx_str_is(p->keys[depth], key);
}

/* Takes a string: it is a key if a ':' follows, else it may be a line of a source. */
static void take_string(struct places *p)
{
    size_t start = p->at + 1;
    for (p->at++; p->at < p->json.len && p->json.p[p->at] != '"'; p->at++) {
        p->at += p->json.p[p->at] == '\\';
    }
    struct cbx_str text = cbx_str_sub(p->json, start, p->at);
    uint32_t line = p->line;
    for (p->at++; p->at < p->json.len && strchr(" \t\r\n", p->json.p[p->at]) != NULL; p->at++) {
        p->line += p->json.p[p->at] == '\n';
    }
    if (p->at < p->json.len && p->json.p[p->at] == ':') {
        if (p->depth < 4) {
            p->keys[p->depth] = text;
        }
    } else if (p->in_source) {
        p->first = p->count == 0 ? line : p->first;
        p->regular = p->regular && line == p->first + p->count;
        p->count++;
    }
}

static void take_open(struct places *p, char c, size_t *cell)
{
    p->depth++;
    if (c == '[' && p->depth == 2 && has_key(p, 1, "cells")) {
        p->in_cells = true;
    } else if (c == '{' && p->depth == 3 && p->in_cells) {
        ++*cell;
    } else if (c == '[' && p->depth == 4 && p->in_cells && has_key(p, 3, "source")) {
        p->in_source = p->regular = true;
        p->count = 0;
    }
}

static void take_close(struct places *p, uint32_t *lines, size_t cells, size_t cell)
{
    if (p->depth == 4 && p->in_source) {
        if (cell > 0 && cell <= cells && p->regular && p->count > 0) {
            lines[cell - 1] = p->first;
        }
        p->in_source = false;
    }
    p->in_cells = p->in_cells && p->depth > 2;
    p->depth--;
}

static void find_lines(struct cbx_str json, uint32_t *lines, size_t cells)
{
    struct places p = { .json = json, .line = 1 };
    size_t cell = 0;
    while (p.at < json.len) {
        char c = json.p[p.at];
        if (c == '"') {
            take_string(&p);
            continue; /* take_string() moved past it */
        }
        p.line += c == '\n';
        if (c == '{' || c == '[') {
            take_open(&p, c, &cell);
        } else if (c == '}' || c == ']') {
            take_close(&p, lines, cells, cell);
        }
        p.at++;
    }
}

/* Returns true if each of the strings is one line. */
static bool has_lines(const json_t *source)
{
    size_t i, count = json_array_size(source);
    const json_t *line;
    json_array_foreach(source, i, line)
    {
        struct cbx_str text = cbx_json_str(line);
        const char *end = text.len > 0 ? memchr(text.p, '\n', text.len) : NULL;
        if (end != NULL ? (size_t)(end - text.p) + 1 != text.len : i + 1 < count) {
            return false;
        }
    }
    return count > 0;
}

/* --- sources of cells ------------------------------------------------------------------------- */

/* Reads a cell's source: a string or a list of strings (nbformat: "multiline_string"). */
static int read_source(const json_t *value, struct cbx_arena *arena, struct cbx_str *out,
                       struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_IPYNB_MAX_BYTES);
    size_t i;
    const json_t *line;
    if (json_is_string(value)) {
        cbx_buf_add(&text, cbx_json_str(value));
    } else if (!json_is_array(value)) {
        return cbx_fail(err, CBX_EINVAL,
                        "a cell's 'source' is neither a string nor a list of strings");
    }
    json_array_foreach(value, i, line)
    {
        if (!json_is_string(line)) {
            return cbx_fail(err, CBX_EINVAL, "a cell's 'source' has a line that is not a string");
        }
        cbx_buf_add(&text, cbx_json_str(line));
    }
    *out = cbx_arena_copy(arena, cbx_buf_str(&text));
    if (out->p == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "the notebook is too large");
    }
    return 0;
}

static const json_t *find_cells(const json_t *root)
{
    const json_t *cells = json_object_get(root, "cells");
    if (cells == NULL) { /* nbformat 3 has worksheets */
        cells = json_object_get(json_array_get(json_object_get(root, "worksheets"), 0), "cells");
    }
    return cells;
}

static struct cbx_str read_language(const json_t *root, struct cbx_arena *arena)
{
    const json_t *metadata = json_object_get(root, "metadata");
    struct cbx_str name =
        cbx_json_str(json_object_get(json_object_get(metadata, "language_info"), "name"));
    if (name.len == 0) {
        name = cbx_json_str(json_object_get(json_object_get(metadata, "kernelspec"), "language"));
    }
    return name.len > 0 ? cbx_arena_copy(arena, name) : CBX_STR("python");
}

int cbx_ipynb_read(struct cbx_str text, struct cbx_arena *arena, struct cbx_ipynb *out,
                   struct cbx_err *err)
{
    CBX_AUTO_JSON root = NULL;
    int failed = cbx_json_parse(text, CBX_IPYNB_MAX_BYTES, &root, err);
    if (failed) {
        return failed;
    }
    const json_t *cells = find_cells(root), *cell;
    if (!json_is_array(cells)) {
        return cbx_fail(err, CBX_EINVAL, "this is JSON, but no notebook: it has no list 'cells'");
    }
    size_t i, n = json_array_size(cells), count = 0;
    struct cbx_cell *list =
        n <= CBX_IPYNB_CELLS_MAX ? cbx_arena_array(arena, n + 1, sizeof(*list)) : NULL;
    uint32_t *lines = list != NULL ? cbx_arena_array(arena, n + 1, sizeof(*lines)) : NULL;
    if (lines == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "the notebook has %zu cells, allowed are %d", n,
                        CBX_IPYNB_CELLS_MAX);
    }
    find_lines(text, lines, n);
    json_array_foreach(cells, i, cell)
    {
        if (!cbx_str_is(cbx_json_str(json_object_get(cell, "cell_type")), "code")) {
            continue;
        }
        const json_t *source = json_object_get(cell, "source");
        failed = read_source(source != NULL ? source : json_object_get(cell, "input"), arena,
                             &list[count].source, err);
        if (failed) {
            return cbx_wrap(err, "cell %zu", i + 1);
        }
        list[count].line = has_lines(source) ? lines[i] : 0;
        list[count++].number = (uint32_t)i + 1;
    }
    *out =
        (struct cbx_ipynb){ .cells = list, .count = count, .language = read_language(root, arena) };
    return 0;
}
