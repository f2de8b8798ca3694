/* SPDX-License-Identifier: MIT
 * What a program wrote, on its way to somebody's terminal: control sequences could move the cursor,
 * set the title or the clipboard, or have the terminal type. Text, '\n', '\t' and '\r' go through.
 */
#ifndef CBX_GATEWAY_CLI_TERMINAL_H
#define CBX_GATEWAY_CLI_TERMINAL_H

#include "policies/base/buf.h"

/* Where one stream is; a sequence or a character may be split over pieces. Zeroed memory begins. */
struct cbx_terminal {
    int state;
    unsigned left; /* bytes of a character that are still to come; or that a sequence has had */
};

/* Appends what may be shown of `bytes`. A sequence that does not end takes 4 KiB at most, and no
 * line end with it. Bytes that are no UTF-8 become '?'. */
void cbx_terminal_add(struct cbx_terminal *terminal, struct cbx_buf *out, struct cbx_str bytes);

#endif
