/* SPDX-License-Identifier: MIT
 * The first stage: bytes as they came, checked and with one kind of line end. What is judged is
 * what runs. */
#ifndef CBX_ANALYZER_SOURCE_H
#define CBX_ANALYZER_SOURCE_H

#include "analyzer/facts.h"

struct cbx_source {
    /* Line ends are '\n', no byte order mark in front; valid UTF-8 when `readable`. */
    struct cbx_str text;
    const uint32_t *lines; /* offset of each line's first byte */
    uint32_t line_count;
    bool readable; /* false: a fact says why, and nothing behind it was looked at */
};

/* Normalises and checks: size, UTF-8, NUL, coding cookie (PEP 263; Python only). What is wrong
 * becomes a fact. CBX_ETOOBIG when the arena is exhausted. */
int cbx_source_read(struct cbx_str bytes, bool python, struct cbx_arena *arena,
                    struct cbx_facts *facts, struct cbx_source *out);

/* 1-based line and column (in characters) of a byte. */
void cbx_source_place(const struct cbx_source *source, uint32_t byte, uint32_t *line,
                      uint32_t *column);

#endif
