/* SPDX-License-Identifier: MIT
 * The analyzer's part of each language of policies/languages.def: a grammar, an extractor, a table
 * of names. Core files never name a language. */
#ifndef CBX_ANALYZER_LANG_LANG_H
#define CBX_ANALYZER_LANG_LANG_H

#include "policies/policy.h"

#include <tree_sitter/api.h>

struct cbx_parsed;

/* Functions and texts of one language: cbx_lang_code_WORD, in the folder of the language. */
struct cbx_lang_code {
    const TSLanguage *(*grammar)(void);
    /* Adds the facts of a tree. */
    void (*extract)(struct cbx_parsed *parsed);
    /* Adds the facts of the rewritten notebook lines; NULL: a language without notebook syntax. */
    void (*judge_lines)(const struct cbx_parsed *parsed);
    /* Text between two cells of a session that are read as one program: it ends every construct
     * that a cell leaves open. NULL: programs of a session share no names. */
    const char *between;
    /* Text before and after a file in such a program; it keeps the names of the file apart.
     * NULL: the extractor opens a scope for each file (cbx_parsed.files). */
    const char *const *around_file;
    /* A second grammar, for texts in which `grammar` finds errors (TypeScript with JSX); may be
     * NULL. */
    const TSLanguage *(*other_grammar)(void);
    /* Returns true for an error node that the language accepts without doubt although its
     * grammar does not; may be NULL. */
    bool (*reads_error)(TSNode error, struct cbx_str text);
    /* Returns the text with replacements for bytes that this grammar reads wrongly, of the same
     * length and meaning; {NULL, 0} if there are none. May be NULL. */
    struct cbx_str (*mend)(const struct cbx_parsed *parsed, const TSLanguage *grammar);
    /* Does the same as `mend` for a tree without errors in which the grammar misread `text`.
     * Returns {NULL, 0} if the grammar read `text` right, {"", 0} if no text can replace it. May
     * be NULL. */
    struct cbx_str (*correct)(const struct cbx_parsed *parsed, struct cbx_str text, TSTree *tree);
    /* Finds a place whose indentation is wrong in every source of the language, in a text that
     * the grammar accepts; returns false if there is none. NULL: indentation has no meaning. */
    bool (*misindents)(struct cbx_str text, uint32_t *start, uint32_t *end);
    /* Finds a name with a typographic character (syntax_pasted.def), which no name of the language
     * has, in a tree without errors; returns false if there is none. NULL: the grammar accepts no
     * such names. */
    bool (*misnames)(const TSTree *tree, struct cbx_str text, uint32_t *start, uint32_t *end);
    bool cookie; /* true if coding cookies are respected */
    bool reads;  /* true if the extractor parses another text, and reports syntax errors itself */
};

struct cbx_lang {
    const char *name;           /* name for callers: "python", "ipython", ... */
    enum cbx_language policy;   /* name for policies */
    const char *const *endings; /* endings of file names, NULL-terminated */
    const struct cbx_lang_code *code;
};

/* Returns true if notebook syntax is rewritten before the text is parsed. */
static inline bool cbx_lang_is_notebook(const struct cbx_lang *lang)
{
    return lang->code->judge_lines != NULL;
}

/* Returns the language with this name or alias; NULL if there is none. */
const struct cbx_lang *cbx_lang_find(struct cbx_str name);

/* Returns the languages in the order of their table; NULL after the last. */
const struct cbx_lang *cbx_lang_at(size_t index);

/* Returns true if both languages are read alike, so that programs of one load files of the
 * other. */
bool cbx_lang_are_like(const struct cbx_lang *a, const struct cbx_lang *b);

/* Returns the language whose file ending this path has; NULL if there is none. */
const struct cbx_lang *cbx_lang_of_file(const char *path);

/* Returns the language of notebook cells. */
const struct cbx_lang *cbx_lang_of_notebooks(void);

/* Returns the names of all languages: "python, ipython, javascript, ..." */
const char *cbx_lang_names(void);

/* Returns the grammar of a language that policies name. */
const TSLanguage *cbx_lang_grammar(enum cbx_language language);

#endif
