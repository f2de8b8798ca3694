/* SPDX-License-Identifier: MIT
 * Unpaired surrogates in JSON, such as "\ud83d" without its second half. Programs that cut text
 * by UTF-16 units, and Python, write them; UTF-8 text cannot have them. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_UNPAIRED_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_UNPAIRED_H

#include <stdbool.h>
#include <stddef.h>

/* The first one of a message. Zeroed memory is none. */
struct cbx_unpaired {
    char escape[7]; /* "\ud83d"; empty = none */
    char name[65];  /* its member, or the nearest one before it; cut, as written in JSON */
};

/* Replaces every escape of an unpaired surrogate in the strings of a JSON text by "\ufffd",
 * which has as many bytes. True if there was one; *first is the first. The text need not be
 * well-formed. */
bool cbx_unpaired_replace(char *text, size_t len, struct cbx_unpaired *first);

#endif
