/* SPDX-License-Identifier: MIT
 * Reads pyproject.toml and Pipfile: the packages and commands of pyproject.def, and the packages
 * of pipenv. */
#include "analyzer/manifest/python_words.h"
#include "analyzer/manifest/readers.h"

struct row {
    const char *path;
    int (*read)(void *context, const struct cbx_doc_node *node);
};

#define PEP508    cbx_python_read_pep508
#define GROUP     cbx_python_read_group
#define POETRY    cbx_python_read_poetry
#define UV_SOURCE cbx_python_read_uv_source
#define INDEX     cbx_python_read_index
#define INDEXES   cbx_python_read_indexes
#define SCRIPT    cbx_python_read_script

static const struct row pyproject[] = {
#define CBX_PYPROJECT(path, reading) { path, reading },
#include "analyzer/manifest/pyproject.def"
#undef CBX_PYPROJECT
};

/* In a Pipfile each further table is a group of packages with a name of the author's choice. */
static const struct row pipfile[] = {
    { "source[].url", INDEX },
    { "scripts.*", SCRIPT },
};
static const char *const not_packages[] = { "source", "scripts", "requires", "pipenv" };

static int read_rows(struct cbx_python_words *w, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int failed = cbx_doc_each(w->doc, rows[i].path, rows[i].read, w, w->err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

int cbx_manifest_read_pyproject(struct cbx_str text, struct cbx_arena *arena,
                                struct cbx_manifest *out, struct cbx_err *err)
{
    struct cbx_doc doc;
    *out = (struct cbx_manifest){ .text = text };
    int failed = cbx_doc_read_toml(text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    struct cbx_python_words w = { &doc, arena, out, err, { 0 } };
    w.own = cbx_doc_text(cbx_doc_get(doc.root, "project"), "name");
    return read_rows(&w, pyproject, sizeof(pyproject) / sizeof(pyproject[0]));
}

static bool is_packages(struct cbx_str table)
{
    for (size_t i = 0; i < sizeof(not_packages) / sizeof(not_packages[0]); i++) {
        if (cbx_str_is(table, not_packages[i])) {
            return false;
        }
    }
    return true;
}

int cbx_manifest_read_pipfile(struct cbx_str text, struct cbx_arena *arena,
                              struct cbx_manifest *out, struct cbx_err *err)
{
    struct cbx_doc doc;
    *out = (struct cbx_manifest){ .text = text };
    int failed = cbx_doc_read_toml(text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    struct cbx_python_words w = { &doc, arena, out, err, { 0 } };
    failed = read_rows(&w, pipfile, sizeof(pipfile) / sizeof(pipfile[0]));
    for (const struct cbx_doc_node *table = doc.root->first; table != NULL && !failed;
         table = table->next) {
        const struct cbx_doc_node *entry = is_packages(table->key) ? table->first : NULL;
        for (; entry != NULL && !failed; entry = entry->next) {
            failed = cbx_python_read_poetry(&w, entry);
        }
    }
    return failed;
}
