/* SPDX-License-Identifier: MIT
 * The table of languages. */
#include "analyzer/lang.h"

#include <pthread.h>
#include <stdio.h>

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_bash(void);
const TSLanguage *tree_sitter_typescript(void);
const TSLanguage *tree_sitter_c(void);

static const char *const python_endings[] = { ".py", ".pyw", NULL };
static const char *const notebook_endings[] = { ".ipy", NULL };
static const char *const javascript_endings[] = { ".js", ".mjs", ".cjs", NULL };
static const char *const shell_endings[] = { ".sh", ".bash", NULL };
static const char *const typescript_endings[] = { ".ts", ".mts", ".cts", NULL };
static const char *const c_endings[] = { ".c", ".h", NULL };

static const struct cbx_lang languages[] = {
    { "python", CBX_PYTHON, python_endings, tree_sitter_python, cbx_extract_python,
      .cookie = true },
    { "ipython", CBX_PYTHON, notebook_endings, tree_sitter_python, cbx_extract_python,
      .judge_lines = cbx_magics_judge, .cookie = true },
    { "javascript", CBX_JAVASCRIPT, javascript_endings, tree_sitter_javascript,
      cbx_extract_javascript, .cookie = false },
    { "shell", CBX_SHELL, shell_endings, tree_sitter_bash, cbx_extract_shell, .cookie = false },
    { "typescript", CBX_TYPESCRIPT, typescript_endings, tree_sitter_typescript,
      cbx_extract_javascript, .cookie = false },
    { "c", CBX_C, c_endings, tree_sitter_c, cbx_extract_c, .reads = true },
};
enum { LANGUAGES = sizeof(languages) / sizeof(languages[0]) };

const struct cbx_lang *cbx_lang_at(size_t index)
{
    return index < LANGUAGES ? &languages[index] : NULL;
}

const struct cbx_lang *cbx_lang_find(struct cbx_str name)
{
    static const struct {
        const char *said, *meant;
    } others[] = { { "bash", "shell" },
                   { "sh", "shell" },
                   { "ts", "typescript" },
                   { "js", "javascript" },
                   { "py", "python" } };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        name = cbx_str_is(name, others[i].said) ? cbx_str_of(others[i].meant) : name;
    }
    for (size_t i = 0; i < LANGUAGES; i++) {
        if (cbx_str_is(name, languages[i].name)) {
            return &languages[i];
        }
    }
    return NULL;
}

const TSLanguage *cbx_lang_grammar(enum cbx_language language)
{
    size_t i = 0;
    while (i + 1 < LANGUAGES && languages[i].policy != language) {
        i++;
    }
    return languages[i].grammar();
}

const struct cbx_lang *cbx_lang_of_file(const char *path)
{
    for (size_t i = 0; i < LANGUAGES; i++) {
        for (const char *const *e = languages[i].endings; *e != NULL; e++) {
            if (cbx_str_ends(cbx_str_of(path), cbx_str_of(*e))) {
                return &languages[i];
            }
        }
    }
    return NULL;
}

static char names[128];
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static void join_names(void)
{
    size_t used = 0;
    for (size_t i = 0; i < LANGUAGES && used < sizeof(names); i++) {
        int n = snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
                         languages[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
}

const char *cbx_lang_names(void)
{
    pthread_once(&names_once, join_names);
    return names;
}
