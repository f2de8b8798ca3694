/* SPDX-License-Identifier: MIT
 * The first stage: checks the bytes of the request and normalises their line ends. The judged text
 * is the text that runs. */
#ifndef CBX_ANALYZER_SYNTAX_SOURCE_H
#define CBX_ANALYZER_SYNTAX_SOURCE_H

#include "analyzer/facts/facts.h"

struct cbx_source {
    /* Line ends are '\n', no byte order mark in front; valid UTF-8 if `readable`. */
    struct cbx_str text;
    const uint32_t *lines; /* offset of each line's first byte */
    uint32_t line_count;
    bool readable; /* false: a fact has the reason, and the rest was not checked */
};

/* Normalises and checks: size, UTF-8, NUL, coding cookie (PEP 263; Python only). Each error
 * becomes a fact. CBX_ETOOBIG if the arena is exhausted. */
int cbx_source_read(struct cbx_str bytes, bool python, struct cbx_arena *arena,
                    struct cbx_facts *facts, struct cbx_source *out);

/* Returns the 1-based line and column (in characters) of a byte. */
void cbx_source_place(const struct cbx_source *source, uint32_t byte, uint32_t *line,
                      uint32_t *column);

#endif
