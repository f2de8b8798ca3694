/* SPDX-License-Identifier: MIT
 * The question that is put before a program runs which a policy asks about: what would run, and which rules ask. The
 * source is hostile: no text in it can be read as a part of the question, for each of its lines begins with its
 * number and each character that cannot be seen is escaped. Pure. */
#ifndef CBX_GATEWAY_FRONT_DENIAL_QUESTION_H
#define CBX_GATEWAY_FRONT_DENIAL_QUESTION_H

#include "gateway/front/review.h"

enum { CBX_QUESTION_BYTES_MAX = 4000 };

/* Borrowed. */
struct cbx_question {
    const struct cbx_outcome *outcome; /* of the decision that asks */
    struct cbx_str source;             /* as the caller sent it */
    struct cbx_str policy;             /* its name */
    const char *language, *session;    /* session: empty for none */
};

/* Appends at most CBX_QUESTION_BYTES_MAX bytes of printable UTF-8 lines: what accepting does; language, session, network
 * and time; the rules that ask; the places that they found; size and SHA-256 of the source, and as many of its lines as
 * there is room for, with the number of those that are not shown. */
void cbx_question_add(const struct cbx_question *question, struct cbx_buf *out);

#endif
