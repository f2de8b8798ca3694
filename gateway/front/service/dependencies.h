/* SPDX-License-Identifier: MIT
 * What callers ask a sandbox to have: requirements (PEP 508: name, extras, versions; no URL, no marker; of npm for JavaScript and TypeScript:
 * name, name@range). What the sandbox image has counts as there; the rest is installed (service_packages.h). */
#ifndef CBX_GATEWAY_FRONT_SERVICE_DEPENDENCIES_H
#define CBX_GATEWAY_FRONT_SERVICE_DEPENDENCIES_H

#include "gateway/front/claims.h"
#include "gateway/front/service/service.h"

/* All borrowed. */
struct cbx_dependencies {
    const json_t *list;              /* texts; NULL is none */
    struct cbx_str policy;           /* empty = the default */
    const char *language;            /* as the flow names it (dialect.h) */
    struct cbx_str origin;           /* the API */
    const char *principal;           /* in whose name it is judged and recorded */
    const struct cbx_claims *claims; /* of the client; NULL = none */
    /* Of a sandbox that exists already: what was installed for it. Nothing can be added to it. */
    bool exists;
    struct cbx_str installed;
    void (*progress)(void *context, struct cbx_str line); /* service_packages.h */
    bool (*gone)(void *context);
    void *context;
};

/* Judges the dependencies of a sandbox and installs what its image lacks; the text of what is installed is added to *set (initialised with
 * CBX_PACKAGE_SET_BYTES_MAX), which stays empty when nothing is. Returns 0 when the sandbox can have all of them, and when the policy denies
 * one: denial->verdict says so, and the denial is in the audit log. CBX_EINVAL says which cannot be had and why; CBX_ESTATE for what a
 * sandbox that exists lacks; errors of cbx_service_install. `denial` is the caller's (cbx_outcome_done). */
int cbx_service_have_dependencies(struct cbx_service *service,
                                  const struct cbx_dependencies *dependencies, struct cbx_buf *set,
                                  struct cbx_outcome *denial, struct cbx_err *err);

/* The rows of highlights.def: what runs a language, by the name that clients use (static); NULL when there is
 * no row. */
struct cbx_runtime {
    const char *language, *program, *version;
};
const struct cbx_runtime *cbx_runtime_of(const char *language);

/* Appends a language with what runs it: "Python 3.13.5", "JavaScript (Node.js 24.21.0)". */
void cbx_runtime_add(const char *language, struct cbx_buf *out);

/* Appends all that can run, as people read a list: with commas, and "and" before the last. */
void cbx_runtime_list(struct cbx_buf *out);

/* The libraries of a language that are named to callers at once, in order (static); NULL behind the last. `small`: of the small images. */
const char *cbx_highlight_at(const char *language, bool small, size_t index);

/* Appends those that the policy lets a program import (NULL: all): "numpy, pandas". False when there is none, and when the policy chooses an
 * image of one's own for the language. Judges a program of one line for
 * each, about 0.1 ms. */
bool cbx_highlights_add(const struct cbx_policy *policy, const char *language, bool small,
                        struct cbx_buf *out);

#endif
