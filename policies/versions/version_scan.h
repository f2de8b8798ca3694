/* SPDX-License-Identifier: MIT
 * Functions shared by the readers of versions: numbers without bounds, and single specifiers.
 * Private to version*.c. */
#ifndef CBX_POLICIES_VERSIONS_VERSION_SCAN_H
#define CBX_POLICIES_VERSIONS_VERSION_SCAN_H

#include "policies/versions/version.h"

bool cbx_scan_is_digit(char c);

/* Takes digits from the front; the result has no leading zeros, so that 0 and nothing are "". */
struct cbx_str cbx_scan_number(struct cbx_str *text);

/* Returns the order of two such numbers: -1, 0, 1. */
int cbx_scan_order(struct cbx_str a, struct cbx_str b);

/* Returns the text without white space (space, tab, line ends) at both ends. */
struct cbx_str cbx_scan_trim(struct cbx_str text);

/* Takes the text before the separator, and removes the separator; all of the text if there is
 * none. */
struct cbx_str cbx_scan_until(struct cbx_str *text, const char *separator);

/* True if the text has no white space, ';' or ')'. */
bool cbx_scan_is_word(struct cbx_str text);

enum cbx_operator {
    CBX_OP_EQ,
    CBX_OP_NE,
    CBX_OP_LT,
    CBX_OP_LE,
    CBX_OP_GT,
    CBX_OP_GE,
    CBX_OP_COMPATIBLE,
    CBX_OP_ARBITRARY, /* ===: compares the text */
};

struct cbx_specifier {
    enum cbx_operator op;
    bool wildcard, readable; /* readable: version is set; only === can lack one */
    struct cbx_str text;
    struct cbx_pep440 version;
};

/* Reads one specifier. False if it is malformed; *out is then unchanged. */
bool cbx_scan_specifier(struct cbx_str text, struct cbx_specifier *out);

/* True if the specifier allows this version, which was written as `text`. */
bool cbx_scan_holds(const struct cbx_specifier *s, const struct cbx_pep440 *v, struct cbx_str text);

/* Takes the next specifier of a list, skipping empty ones. False at the end. */
bool cbx_scan_next(struct cbx_str *specifiers, struct cbx_str *out);

#endif
