/* SPDX-License-Identifier: MIT
 * Checks a notebook: cells of IPython as one program, cells of other kernels as a session, in
 * order. */
#include "analyzer/lint/files/lint_check.h"

#include "analyzer/filetype.h"
#include "analyzer/past/past.h"
#include "analyzer/past/program.h"

#include <ctype.h>

/* Returns the language of the kernel; an unknown language keeps its name in the file. */
static struct cbx_filetype type_of(const struct cbx_ipynb *notebook)
{
    char word[64];
    struct cbx_str name = notebook->language;
    size_t n = 0;
    for (; n < name.len && n < sizeof(word); n++) {
        word[n] = (char)tolower((unsigned char)name.p[n]);
    }
    struct cbx_filetype type = cbx_filetype_of_word((struct cbx_str){ word, n });
    if (type.lang == NULL && type.foreign.len == 0) {
        type.foreign = name;
    }
    return type;
}

/* A notebook is judged as one program; its budget grows with its size. */
static int check_program(struct cbx_lint_check *c, struct cbx_str text,
                         const struct cbx_ipynb *notebook)
{
    enum { BUDGET_MS = 5000, BYTES_PER_BUDGET = 1024 * 1024 };
    struct cbx_arena *arena = &c->worker->file;
    int failed = 0;
    struct cbx_str *sources = cbx_arena_array(arena, notebook->count + 1, sizeof(*sources));
    const struct cbx_program *program;
    for (size_t i = 0; sources != NULL && i < notebook->count; i++) {
        sources[i] = notebook->cells[i].source;
    }
    uint32_t budget = BUDGET_MS * (1 + (uint32_t)(text.len / BYTES_PER_BUDGET));
    if (sources == NULL || cbx_program_read(c->lint->report.policy, sources, notebook->count,
                                            budget, arena, &program) != 0) {
        return cbx_fail(c->err, CBX_ETOOBIG, "the notebook is too large");
    }
    for (size_t i = 0; !failed && i < notebook->count; i++) {
        failed = cbx_lint_check_cell(c, &notebook->cells[i], program, i);
    }
    return failed;
}

/* Judges each cell after the cells before it, as in a session of the kernel. */
static int check_cells(struct cbx_lint_check *c, const struct cbx_lang *lang,
                       const struct cbx_ipynb *notebook)
{
    CBX_AUTO_DONE(past) past = { 0 };
    const struct cbx_sha256 none = { 0 };
    int failed = 0;
    cbx_past_begin(&past, &none);
    c->file.language = cbx_str_of(lang->name);
    c->past = &past;
    for (size_t i = 0; !failed && i < notebook->count; i++) {
        failed = cbx_lint_check_cell(c, &notebook->cells[i], NULL, 0);
    }
    c->past = NULL;
    return failed;
}

int cbx_lint_check_notebook(struct cbx_lint_check *c, struct cbx_str text)
{
    struct cbx_arena *arena = &c->worker->file;
    struct cbx_ipynb notebook;
    int failed = cbx_ipynb_read(text, arena, &notebook, c->err);
    if (failed) {
        return failed;
    }
    const struct cbx_filetype type = type_of(&notebook);
    if (type.lang == NULL) {
        c->foreign = true;
        cbx_lint_check_skip(c, CBX_LINT_SKIP_FOREIGN, type.foreign);
        return 0;
    }
    if (type.lang->policy != CBX_PYTHON) {
        return check_cells(c, type.lang, &notebook);
    }
    return check_program(c, text, &notebook);
}
