/* SPDX-License-Identifier: MIT
 * A language is one table: its names, its grammar, its extractor. Core files never name one. */
#ifndef CBX_ANALYZER_LANG_H
#define CBX_ANALYZER_LANG_H

#include "policies/policy.h"

#include <tree_sitter/api.h>

struct cbx_parsed;

struct cbx_lang {
    const char *name;           /* as callers say it: "python", "ipython", ... */
    enum cbx_language policy;   /* as policies say it */
    const char *const *endings; /* of file names, NULL-terminated */
    const TSLanguage *(*grammar)(void);
    /* Adds the facts of a tree. */
    void (*extract)(struct cbx_parsed *parsed);
    /* Adds the facts of the notebook lines that were rewritten; NULL: a language without notebook
     * syntax. */
    void (*judge_lines)(const struct cbx_parsed *parsed);
    bool cookie; /* coding cookies count */
    bool reads;  /* the extractor parses another text, and says itself what cannot be read */
};

/* True when notebook syntax is rewritten before the text is parsed. */
static inline bool cbx_lang_is_notebook(const struct cbx_lang *lang)
{
    return lang->judge_lines != NULL;
}

/* By the name that callers use, or another one that they say (bash, sh, ts, js, py); NULL when
 * there is none. */
const struct cbx_lang *cbx_lang_find(struct cbx_str name);

/* The languages in the order of their table; NULL behind the last. */
const struct cbx_lang *cbx_lang_at(size_t index);

/* By the ending of a file's name; NULL when none has it. */
const struct cbx_lang *cbx_lang_of_file(const char *path);

/* "python, ipython, javascript, ..." */
const char *cbx_lang_names(void);

/* What the language that policies call so is parsed with. */
const TSLanguage *cbx_lang_grammar(enum cbx_language language);

/* The extractors, and what judges the lines of notebooks. */
void cbx_extract_python(struct cbx_parsed *parsed);
void cbx_extract_javascript(struct cbx_parsed *parsed);
void cbx_extract_shell(struct cbx_parsed *parsed);
void cbx_extract_c(struct cbx_parsed *parsed);
void cbx_magics_judge(const struct cbx_parsed *parsed);

#endif
