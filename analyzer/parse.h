/* SPDX-License-Identifier: MIT
 * One text on its way from bytes to facts, and code inside code. */
#ifndef CBX_ANALYZER_PARSE_H
#define CBX_ANALYZER_PARSE_H

#include "analyzer/facts.h"
#include "analyzer/lang.h"

#include <tree_sitter/api.h>

struct cbx_scope;
struct cbx_walk;

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

/* The end of a budget that begins now, in milliseconds of CLOCK_MONOTONIC; 0 is 5,000 ms. */
int64_t cbx_parse_deadline(uint32_t budget_ms);

#endif
