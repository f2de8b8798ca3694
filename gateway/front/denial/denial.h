/* SPDX-License-Identifier: MIT
 * A denial as the text that a model reads: where, what was found, why, and what to write instead.
 * Pure: it shows the decision and the source, and nothing of the policy's file. */
#ifndef CBX_GATEWAY_FRONT_DENIAL_DENIAL_H
#define CBX_GATEWAY_FRONT_DENIAL_DENIAL_H

#include "policies/base/buf.h"
#include "policies/base/json.h"

enum { CBX_DENIAL_BYTES_MAX = 2048 };

struct cbx_denial {
    const json_t *decision; /* {findings} */
    bool ask;               /* it needs approval */
    const char *approval;   /* then: a line on how that is got; NULL = not by this client */
    bool shown_to_approve;  /* places have the numbers of their lines, and no hints */
    struct cbx_str source;  /* as the caller sent it */
    const char *audit_id;   /* of the decision; empty or NULL: none */
};

/* Appends at most CBX_DENIAL_BYTES_MAX bytes of printable UTF-8 lines. The first line names the
 * rule, the last one the audit id. Between them stand the places: the source line with a caret below
 * what was found, the rule's message once for each rule, and the hint once for each hint; further
 * places of the same rule and hint are listed. Findings that do not deny are left out. What has no
 * room is counted: "and 3 more". */
void cbx_denial_add(const struct cbx_denial *denial, struct cbx_buf *out);

/* Appends the places alone, at most max_bytes, with the line that counts what has no room. */
void cbx_denial_add_places(const struct cbx_denial *denial, size_t max_bytes, struct cbx_buf *out);

/* The findings of a decision that deny or ask for approval, a new reference: those that deny decide and come first, each in the order of
 * the source. */
json_t *cbx_denial_list(const json_t *decision);

#endif
