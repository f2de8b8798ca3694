/* SPDX-License-Identifier: MIT
 * Files that codebox-lint reads besides code, selected by the first byte. '#': a .gitignore, with a
 * path to match in its last line; '{': a baseline, or a notebook; any other: Python with
 * comments. */
#include "analyzer/lang/python/notebook/ipynb.h"
#include "analyzer/lint/files/baseline.h"
#include "analyzer/lint/files/suppress.h"
#include "analyzer/lint/paths/ignore.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_ignore(struct cbx_str text)
{
    CBX_AUTO(ignore) ignore = NULL;
    struct cbx_err err;
    const char *end = memrchr(text.p, '\n', text.len);
    size_t lines = end != NULL ? (size_t)(end - text.p) : 0;
    if (cbx_ignore_new(cbx_str_sub(text, 0, lines), &ignore, &err) == 0) {
        struct cbx_str path = cbx_str_sub(text, lines + 1, text.len);
        cbx_ignore_match(ignore, path, false);
        cbx_ignore_match(ignore, path, true);
        cbx_ignore_covers(ignore, path);
    }
}

static void read_json(struct cbx_str text)
{
    CBX_AUTO(baseline) baseline = NULL;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 64 * 1024 * 1024);
    struct cbx_ipynb notebook;
    struct cbx_err err;
    if (cbx_baseline_parse(text, &baseline, &err) == 0 &&
        cbx_ipynb_read(text, &arena, &notebook, &err) == 0) {
        abort(); /* nothing is both */
    }
    if (baseline == NULL && cbx_ipynb_read(text, &arena, &notebook, &err) == 0) {
        for (size_t i = 0; i < notebook.count; i++) {
            if (notebook.cells[i].line > text.len + 1) {
                abort();
            }
        }
    }
}

static void read_comments(struct cbx_str text)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 64 * 1024 * 1024);
    struct cbx_lint_comments comments;
    struct cbx_err err;
    if (cbx_lint_comments_read(text, CBX_STR("ipython"), &arena, &comments, &err) != 0) {
        return;
    }
    for (size_t i = 0; i < comments.count; i++) {
        const struct cbx_span *s = &comments.items[i].span;
        if (s->end_byte < s->start_byte || s->end_byte > text.len || s->line == 0 ||
            comments.items[i].line < s->line) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str text = { .p = (const char *)data, .len = size };
    char kind = size > 0 ? text.p[0] : '{';
    kind == '#' ? read_ignore(text) : kind == '{' ? read_json(text) : read_comments(text);
    return 0;
}
