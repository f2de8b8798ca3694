/* SPDX-License-Identifier: MIT
 * A language is one table: its names, its grammar, its extractor. Core files never name one. */
#ifndef CBX_ANALYZER_LANG_H
#define CBX_ANALYZER_LANG_H

#include "analyzer/facts.h"
#include "analyzer/source.h"

#include <tree_sitter/api.h>

struct cbx_parsed;
struct cbx_scope;
struct cbx_walk;

struct cbx_lang {
    const char *name;           /* as callers say it: "python", "ipython", ... */
    enum cbx_language policy;   /* as policies say it */
    const char *const *endings; /* of file names, NULL-terminated */
    const TSLanguage *(*grammar)(void);
    /* Adds the facts of a tree. */
    void (*extract)(struct cbx_parsed *parsed);
    bool notebook; /* notebook syntax is rewritten first */
    bool cookie;   /* coding cookies count */
    bool reads;    /* the extractor parses another text, and says itself what cannot be read */
};

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

/* A text on its way from source to facts. `depth` counts code in code. */
struct cbx_parsed {
    const struct cbx_policy *policy;
    const struct cbx_lang *lang;
    struct cbx_str text;
    TSTree *tree;
    struct cbx_arena *arena;
    struct cbx_facts *facts;
    int depth;
    int64_t deadline_ms;            /* of CLOCK_MONOTONIC; 0 = none */
    const struct cbx_magic *magics; /* notebook lines that were rewritten, by place */
    size_t magic_count;
    struct cbx_walk *walk;         /* what the extractor knows of this text, once it has read it */
    struct cbx_walk *outer;        /* code in code: what its free names mean is asked there, */
    struct cbx_scope *outer_scope; /* as seen from here; of the same language only */
    bool names_only; /* read for what names mean: the notebook lines are judged elsewhere, places
                        are not mapped */
};

enum { CBX_CODE_DEPTH_MAX = 6, CBX_TREE_DEPTH_MAX = 1500 };

/* The Python inside a notebook line (%time f(), %%capture): how many pieces, at most
 * CBX_MAGIC_CODES. */
enum { CBX_MAGIC_CODES = 2 };
uint32_t cbx_magic_code(const struct cbx_magic *magic, struct cbx_str out[CBX_MAGIC_CODES]);

/* Parses `text` as `lang` and adds its facts: syntax errors, then what the extractor finds. For the
 * source itself (depth 0) and for constant code that is handed to something that runs it (depth +
 * 1, with facts->base_end set by the caller). */
void cbx_parse_text(const struct cbx_parsed *parent, const struct cbx_lang *lang,
                    struct cbx_str text, TSTree **tree_out);

/* The tree of a text, NULL when the time is over, and facts for what is wrong in it, with places in
 * that text. For extractors of languages that are parsed after something else was done. */
TSTree *cbx_parse_tree(const TSLanguage *grammar, struct cbx_str text, int64_t deadline_ms);
void cbx_parse_errors(TSTree *tree, struct cbx_facts *facts);

/* Code in code: `text` is judged as `language`, its findings stand at [start, end). */
void cbx_parse_inner(const struct cbx_parsed *parent, const char *language, struct cbx_str text,
                     uint32_t start, uint32_t end);

/* A line of shell inside another language: its findings stand where it stands when it is a part of
 * the source (offset of the text in it), else at [start, end). */
void cbx_parse_shell_line(const struct cbx_parsed *parent, struct cbx_str text, uint32_t start,
                          uint32_t end);

/* The line with the constants that IPython puts into it: {name}, $name. Borrows from the line, or
 * the arena. */
struct cbx_str cbx_fill_in(const struct cbx_parsed *parsed, struct cbx_str line);

void cbx_extract_python(struct cbx_parsed *parsed);
void cbx_extract_javascript(struct cbx_parsed *parsed);
void cbx_extract_shell(struct cbx_parsed *parsed);
void cbx_extract_c(struct cbx_parsed *parsed);

#endif
