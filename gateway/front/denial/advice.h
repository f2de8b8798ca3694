/* SPDX-License-Identifier: MIT
 * Advice for the reader of a run that failed or was stopped: the limit that it reached, and the
 * meaning of its error in the sandbox. Pure. The program's output is hostile: it selects among
 * fixed texts and adds a short printable word. */
#ifndef CBX_GATEWAY_FRONT_DENIAL_ADVICE_H
#define CBX_GATEWAY_FRONT_DENIAL_ADVICE_H

#include "docker/contents.h"
#include "docker/result.h"
#include "policies/base/buf.h"
#include "policies/policy.h"

/* A run that has ended. */
struct cbx_advice {
    const struct cbx_result *result;
    /* limits of the run; a value that is not positive is not known */
    const struct cbx_limits *limits;
    struct cbx_str language;      /* language of the decision */
    struct cbx_str policy;        /* name of the policy; empty = the default */
    const struct cbx_strs *hosts; /* hosts that the policy grants; NULL = none */
    bool installs;         /* true if the policy allows installing packages of the language */
    struct cbx_str errors; /* its output to stderr, or the end of it */
    /* contents of the image for new sandboxes; NULL = not known */
    const struct cbx_contents *contents;
    bool small_images;
    bool at_command_line; /* the reader has the options of `codebox run`, not the fields of REST */
};

enum { CBX_ADVICE_MAX = 3, CBX_ADVICE_READ_BYTES = 32 * 1024 };

/* True if the advice would name contents of the image: the caller should then query `contents`. */
bool cbx_advice_names_contents(const struct cbx_advice *advice);

/* Calls `take` with each line of advice, terminated, without a line end: at most CBX_ADVICE_MAX,
 * none for a run that did not fail. Reads the ends of `errors` and of the traceback,
 * CBX_ADVICE_READ_BYTES of each. */
void cbx_advice_give(const struct cbx_advice *advice,
                     void (*take)(void *context, struct cbx_str line), void *context);

/* Appends that the run lost a part of its input, and, if it was stopped at a limit, the reason
 * with the limit: "oom: stopped, the program needed more than 512 MiB of memory, the limit;
 * process the data in pieces". Returns false for every other end. */
bool cbx_advice_stopped(const struct cbx_result *result, const struct cbx_limits *limits,
                        struct cbx_buf *out);

#endif
