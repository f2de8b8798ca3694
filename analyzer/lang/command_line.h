/* SPDX-License-Identifier: MIT
 * Programs that other languages start with a list of words. */
#ifndef CBX_ANALYZER_LANG_COMMAND_LINE_H
#define CBX_ANALYZER_LANG_COMMAND_LINE_H

#include "analyzer/facts/value.h"
#include "analyzer/parse.h"

/* Judges a program that is started with these words (argv) as the equivalent line of shell.
 * `open`: unknown words follow. Without words it adds the fact that the command is computed. */
void cbx_command_line(const struct cbx_parsed *parsed, const struct cbx_values *const *words,
                      uint32_t count, bool open, uint32_t start, uint32_t end);

#endif
