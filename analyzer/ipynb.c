/* SPDX-License-Identifier: MIT
 * Notebook files. */
#include "analyzer/ipynb.h"

#include "policies/base/json.h"

/* A cell's source is a string or a list of strings (nbformat: "multiline_string"). */
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
    return out->p != NULL ? 0 : cbx_fail(err, CBX_ETOOBIG, "the notebook is too large");
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
    if (list == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "the notebook has %zu cells, allowed are %d", n,
                        CBX_IPYNB_CELLS_MAX);
    }
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
        list[count++].number = (uint32_t)i + 1;
    }
    *out =
        (struct cbx_ipynb){ .cells = list, .count = count, .language = read_language(root, arena) };
    return 0;
}
