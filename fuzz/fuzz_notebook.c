/* SPDX-License-Identifier: MIT
 * Notebook cells, and whole notebook files, which begin with '{'. Rewriting keeps the lines, every
 * place of the rewritten text has a place in the cell, and an expression in a line stands in the
 * text as it is in the cell. */
#include "analyzer/lang/python/notebook/ipynb.h"
#include "analyzer/lang/python/notebook/notebook.h"

static size_t count_lines(struct cbx_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        n += text.p[i] == '\n';
    }
    return n;
}

/* The expressions of a line are where they are said to be, here and in the cell. */
static void check_fields(struct cbx_str cell, const struct cbx_notebook *out,
                         const struct cbx_magic *m)
{
    const struct cbx_expansion *x = m->expansion;
    for (size_t i = 0; x != NULL && i < x->count; i++) {
        const struct cbx_placeholder *f = &x->fields[i];
        uint32_t start = m->text_start + f->start, end = m->text_start + f->end;
        if (end > m->text_end || end - start != f->code.len + 2 ||
            memcmp(out->text.p + start + 1, f->code.p, f->code.len) != 0 ||
            f->place + f->code.len > cell.len ||
            memcmp(cell.p + f->place, f->code.p, f->code.len) != 0) {
            abort();
        }
    }
}

/* The text that runs keeps the lines, whatever is known of the values. */
static void finish(struct cbx_str cell, const struct cbx_notebook *judged, struct cbx_arena *arena)
{
    struct cbx_str text = { 0 };
    for (size_t i = 0; i < judged->magic_count; i++) {
        struct cbx_expansion *x = judged->magics[i].expansion;
        for (size_t k = 0; x != NULL && k < x->count; k++) {
            x->fields[k].known = (i + k) % 2 == 0;
            x->fields[k].value = CBX_STR("'\n\\");
        }
        if (x != NULL && i % 3 == 0) {
            x->state = CBX_EXPANSION_NONE;
        }
    }
    if (cbx_notebook_finish(cell, judged, arena, &text) == 0 &&
        count_lines(text) != count_lines(judged->text)) {
        abort();
    }
}

static void rewrite(struct cbx_str cell, struct cbx_arena *arena)
{
    struct cbx_notebook out;
    if (cbx_notebook_rewrite(cell, arena, &out) != 0) {
        return;
    }
    bool whole = out.magic_count == 1 && out.magics[0].kind == CBX_MAGIC_CELL;
    if (!whole && count_lines(out.text) != count_lines(cell)) {
        abort();
    }
    uint32_t end = 0, text_end = 0;
    for (size_t i = 0; i < out.magic_count; i++) {
        const struct cbx_magic *m = &out.magics[i];
        if (m->start < end || m->end < m->start || m->end > cell.len || m->text_start < text_end ||
            m->text_end <= m->text_start || m->text_end > out.text.len ||
            cbx_notebook_part(out.magics, out.magic_count, m->text_start, m->text_end) ==
                CBX_PART_PYTHON) {
            abort();
        }
        check_fields(cell, &out, m);
        end = m->end, text_end = m->text_end;
    }
    for (uint32_t i = 0; out.magic_count < 100 && i < out.text.len && i < 10000; i++) {
        uint32_t place = cbx_notebook_place(out.magics, out.magic_count, i);
        if (place > cell.len && !whole) {
            abort();
        }
    }
    finish(cell, &out, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 64 << 20);
    struct cbx_str text = { .p = (const char *)data, .len = size };
    if (size == 0 || data[0] != '{') {
        rewrite(text, &arena);
        return 0;
    }
    struct cbx_ipynb notebook;
    struct cbx_err err;
    if (cbx_ipynb_read(text, &arena, &notebook, &err) == 0) {
        for (size_t i = 0; i < notebook.count; i++) {
            rewrite(notebook.cells[i].source, &arena);
        }
    }
    return 0;
}
