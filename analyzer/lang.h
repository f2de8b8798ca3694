/* SPDX-License-Identifier: MIT
 * What the analyzer has for each language of policies/languages.def: a grammar, an extractor, a
 * table of names. Core files never name a language. */
#ifndef CBX_ANALYZER_LANG_H
#define CBX_ANALYZER_LANG_H

#include "policies/policy.h"

#include <tree_sitter/api.h>

struct cbx_parsed;

/* A language's own part: cbx_lang_code_WORD, in its folder. */
struct cbx_lang_code {
    const TSLanguage *(*grammar)(void);
    /* Adds the facts of a tree. */
    void (*extract)(struct cbx_parsed *parsed);
    /* Adds the facts of the notebook lines that were rewritten; NULL: a language without notebook
     * syntax. */
    void (*judge_lines)(const struct cbx_parsed *parsed);
    bool cookie; /* coding cookies count */
    bool reads;  /* the extractor parses another text, and says itself what cannot be read */
};

struct cbx_lang {
    const char *name;           /* as callers say it: "python", "ipython", ... */
    enum cbx_language policy;   /* as policies say it */
    const char *const *endings; /* of file names, NULL-terminated */
    const struct cbx_lang_code *code;
};

/* True when notebook syntax is rewritten before the text is parsed. */
static inline bool cbx_lang_is_notebook(const struct cbx_lang *lang)
{
    return lang->code->judge_lines != NULL;
}

/* By the name that callers use, or an alias; NULL when there is none. */
const struct cbx_lang *cbx_lang_find(struct cbx_str name);

/* The languages in the order of their table; NULL behind the last. */
const struct cbx_lang *cbx_lang_at(size_t index);

/* By the ending of a file's name; NULL when none has it. */
const struct cbx_lang *cbx_lang_of_file(const char *path);

/* The language whose cells are notebooks' when a notebook does not say another. */
const struct cbx_lang *cbx_lang_of_notebooks(void);

/* "python, ipython, javascript, ..." */
const char *cbx_lang_names(void);

/* What the language that policies call so is parsed with. */
const TSLanguage *cbx_lang_grammar(enum cbx_language language);

#endif
