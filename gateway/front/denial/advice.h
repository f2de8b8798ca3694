/* SPDX-License-Identifier: MIT
 * What a run that failed or was stopped tells its reader to do: the limit that it reached, and what
 * its error means in the sandbox. Pure. What the program wrote is hostile: it chooses among fixed
 * texts and adds a short printable word. */
#ifndef CBX_GATEWAY_FRONT_DENIAL_ADVICE_H
#define CBX_GATEWAY_FRONT_DENIAL_ADVICE_H

#include "docker/contents.h"
#include "docker/result.h"
#include "policies/base/buf.h"
#include "policies/policy.h"

/* A run that has ended. */
struct cbx_advice {
    const struct cbx_result *result;
    const struct cbx_limits *limits; /* that it had; a value that is not positive is not known */
    struct cbx_str language;         /* of the decision */
    struct cbx_str policy;           /* its name; empty = the default */
    const struct cbx_strs *hosts;    /* that the policy lets programs reach; NULL = none */
    bool installs;                   /* the policy lets packages of the language be installed */
    struct cbx_str errors;           /* what it wrote to stderr, or the end of it */
    const struct cbx_contents
        *contents; /* of the image that new sandboxes are made from; NULL = not known */
    bool small_images;
};

enum { CBX_ADVICE_MAX = 3, CBX_ADVICE_READ_BYTES = 32 * 1024 };

/* True when the advice would name what the image has: `contents` is worth a question. */
bool cbx_advice_names_contents(const struct cbx_advice *advice);

/* Calls `take` with each line of advice, terminated, without a line end: at most CBX_ADVICE_MAX, none for a run
 * that did not fail. The ends of `errors` and of the traceback are read, CBX_ADVICE_READ_BYTES of
 * each. */
void cbx_advice_give(const struct cbx_advice *advice,
                     void (*take)(void *context, struct cbx_str line), void *context);

/* Appends that the run lost a part of its input, and why it was stopped, with the limit, when it was stopped at one: "oom: stopped, the
 * program needed more than 512 MiB of memory, the limit; process the data in pieces". Returns false
 * for every other end. */
bool cbx_advice_stopped(const struct cbx_result *result, const struct cbx_limits *limits,
                        struct cbx_buf *out);

#endif
