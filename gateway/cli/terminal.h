/* SPDX-License-Identifier: MIT
 * Removes control sequences from a program's output before a terminal gets it: they could move the
 * cursor, set the title or the clipboard, or make the terminal send input. Text, '\n', '\t' and
 * '\r' are kept. */
#ifndef CBX_GATEWAY_CLI_TERMINAL_H
#define CBX_GATEWAY_CLI_TERMINAL_H

#include "policies/base/buf.h"

/* The state of one stream; a sequence or a character may be split over pieces. Zero-initialise. */
struct cbx_terminal {
    int state;
    unsigned left; /* number of missing bytes of a character, or of bytes of a sequence so far */
};

/* Appends `bytes` without control sequences. A sequence without an end hides at most 4 KiB, and
 * no line end. Bytes that are not UTF-8 become '?'. */
void cbx_terminal_add(struct cbx_terminal *terminal, struct cbx_buf *out, struct cbx_str bytes);

#endif
