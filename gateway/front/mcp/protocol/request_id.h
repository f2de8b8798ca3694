/* SPDX-License-Identifier: MIT
 * Finds the id of a JSON-RPC message without parsing it, so that a line that is malformed or too
 * long is still answered under its id. Incremental, linear, allocates nothing.
 *
 * Strings may hold any bytes and escapes, and a word may stand where a number should. The structure
 * around them (braces, quotes, colons, commas) must be that of JSON: after the first violation the
 * scan ends, because text of a program could then be taken for a member. An answer under the id of
 * another request is worse than one without an id. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_REQUEST_ID_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_REQUEST_ID_H

#include "policies/base/str.h"

enum {
    CBX_REQUEST_ID_MAX = 256,     /* bytes of its JSON text */
    CBX_REQUEST_ID_LEVELS = 1024, /* deeper brackets are only counted, not matched by kind */
};

/* Zeroed memory is a scan before the first byte of a line. The members are the scan's own. */
struct cbx_request_id {
    uint64_t objects[CBX_REQUEST_ID_LEVELS / 64]; /* a set bit: the level is an object */
    size_t depth;
    unsigned expected; /* tokens that may come next */
    int where;
    bool ended;
    unsigned escape, escape_digits; /* of \uXXXX */
    char name[8];                   /* the string that is being read at the top, decoded */
    size_t name_len;
    bool is_id; /* the member whose value comes next is "id" */
    char value[CBX_REQUEST_ID_MAX];
    size_t value_bytes;
    char id[CBX_REQUEST_ID_MAX];
    size_t id_bytes;
    bool has_id, conflict, has_method, has_outcome;
};

/* Reads the next bytes of the line, in pieces of any size. */
void cbx_request_id_feed(struct cbx_request_id *scan, struct cbx_str bytes);

/* The value of the top-level member "id", byte by byte; borrowed from the scan. Empty when there is
 * none, when it is neither a string nor an integer, is longer than CBX_REQUEST_ID_MAX, is no JSON by
 * itself, or stands there twice with different values. */
struct cbx_str cbx_request_id_value(const struct cbx_request_id *scan);

/* The same for the answer to a line that could not be read: empty also for a response ("result" or
 * "error" without "method"), because nobody waits for an answer to one. */
struct cbx_str cbx_request_id_to_answer(const struct cbx_request_id *scan);

#endif
