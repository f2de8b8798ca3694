/* SPDX-License-Identifier: MIT
 * Finds the id of a JSON-RPC message without parsing it, so that a malformed or too long line still
 * gets a response with its id. Incremental, linear, allocates nothing.
 *
 * Strings may have any bytes and escapes, and a word may replace a number. The structure around
 * them (braces, quotes, colons, commas) must be JSON: after the first violation the scan ends,
 * because text of a program could then be parsed as a member. A response with the id of another
 * request is worse than one without an id. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_REQUEST_ID_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_REQUEST_ID_H

#include "policies/base/str.h"

enum {
    CBX_REQUEST_ID_MAX = 256,     /* bytes of its JSON text */
    CBX_REQUEST_ID_LEVELS = 1024, /* deeper brackets are counted, their kind is not matched */
};

/* Zeroed memory is a scan before the first byte of a line. The members are private. */
struct cbx_request_id {
    uint64_t objects[CBX_REQUEST_ID_LEVELS / 64]; /* a set bit: the level is an object */
    size_t depth;
    unsigned expected; /* tokens that may come next */
    int where;
    bool ended;
    unsigned escape, escape_digits; /* state of \uXXXX */
    char name[8];                   /* current string at the top level, decoded */
    size_t name_len;
    bool is_id; /* true if the next value is that of the member "id" */
    char value[CBX_REQUEST_ID_MAX];
    size_t value_bytes;
    char id[CBX_REQUEST_ID_MAX];
    size_t id_bytes;
    bool has_id, conflict, has_method, has_outcome;
};

/* Reads the next bytes of the line, in pieces of any size. */
void cbx_request_id_feed(struct cbx_request_id *scan, struct cbx_str bytes);

/* Returns the value of the top-level member "id", byte by byte; borrowed from the scan. Empty if
 * it is missing, neither a string nor an integer, longer than CBX_REQUEST_ID_MAX, no JSON by
 * itself, or present twice with different values. */
struct cbx_str cbx_request_id_value(const struct cbx_request_id *scan);

/* The same for the response to an unreadable line: empty also for a response ("result" or
 * "error" without "method"), which must not be answered. */
struct cbx_str cbx_request_id_to_answer(const struct cbx_request_id *scan);

#endif
