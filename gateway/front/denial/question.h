/* SPDX-License-Identifier: MIT
 * The approval question before a program runs under a policy with rules that ask: the program,
 * and the asking rules. The source is hostile: none of its text can be read as a part of the
 * question, because each of its lines begins with its number and each invisible character is
 * escaped. Pure. */
#ifndef CBX_GATEWAY_FRONT_DENIAL_QUESTION_H
#define CBX_GATEWAY_FRONT_DENIAL_QUESTION_H

#include "gateway/front/review.h"

enum { CBX_QUESTION_BYTES_MAX = 4000 };

/* Borrowed. */
struct cbx_question {
    const struct cbx_outcome *outcome; /* outcome of the decision that asks */
    struct cbx_str source;             /* as the caller sent it */
    struct cbx_str policy;             /* name of the policy */
    const char *language, *session;    /* session: empty for none */
};

/* Appends at most CBX_QUESTION_BYTES_MAX bytes of printable UTF-8 lines: the effect of
 * accepting; language, session, network and time; the asking rules; their places; size and
 * SHA-256 of the source, and as many of its lines as fit, with the number of the omitted ones. */
void cbx_question_add(const struct cbx_question *question, struct cbx_buf *out);

#endif
