/* SPDX-License-Identifier: MIT
 * A denial as text for a model: the place, the finding, the reason, and the alternative. Pure:
 * it shows the decision and the source, and no part of the policy's file. */
#ifndef CBX_GATEWAY_FRONT_DENIAL_DENIAL_H
#define CBX_GATEWAY_FRONT_DENIAL_DENIAL_H

#include "policies/base/buf.h"
#include "policies/base/text/json.h"

enum { CBX_DENIAL_BYTES_MAX = 2048 };

struct cbx_denial {
    const json_t *decision; /* {findings} */
    bool ask;               /* true if it needs approval */
    /* then: a line on how to get the approval; NULL = not by this client */
    const char *approval;
    bool shown_to_approve; /* true for places with line numbers, and without hints */
    struct cbx_str source; /* as the caller sent it */
    const char *audit_id;  /* id of the decision; empty or NULL: none */
};

/* Appends at most CBX_DENIAL_BYTES_MAX bytes of printable UTF-8 lines. The first line names the
 * rule, the last one the audit id. Between them are the places: the source line with a caret
 * below the finding, the rule's message once for each rule, and the hint once for each hint;
 * further places of the same rule and hint are listed. Findings that do not deny are left out.
 * Omitted places are counted: "and 3 more". */
void cbx_denial_add(const struct cbx_denial *denial, struct cbx_buf *out);

/* Appends only the places, at most max_bytes, with the line that counts the omitted ones. */
void cbx_denial_add_places(const struct cbx_denial *denial, size_t max_bytes, struct cbx_buf *out);

/* Returns the findings of a decision that deny or ask for approval, a new reference: denying
 * findings come first, each group in the order of the source. */
json_t *cbx_denial_list(const json_t *decision);

#endif
