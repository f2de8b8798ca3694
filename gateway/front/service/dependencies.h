/* SPDX-License-Identifier: MIT
 * What callers ask a sandbox to have. Nothing can be installed yet: each dependency must be a requirement
 * (PEP 508: name, extras, versions; no URL, no marker; of npm for JavaScript and TypeScript: name, name@range) that the policy allows and
 * that the sandbox image fulfils. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_DEPENDENCIES_H
#define CBX_GATEWAY_FRONT_SERVICE_DEPENDENCIES_H

#include "gateway/front/service/service.h"

/* Judges the dependencies (a list of texts; NULL is none) of a sandbox for this language, by the name that
 * clients use. Returns 0 when it can have all of them, and when the policy denies one: denial->verdict says
 * so, and the denial is in the audit log. CBX_EINVAL says which cannot be had and why; errors of the flow.
 * `denial` is the caller's (cbx_outcome_done). */
int cbx_service_check_dependencies(struct cbx_service *service, struct cbx_str policy,
                                   const char *language, const json_t *dependencies,
                                   struct cbx_str origin, struct cbx_outcome *denial,
                                   struct cbx_err *err);

/* The rows of highlights.def: what runs a language, by the name that clients use (static); NULL when there is
 * no row. */
struct cbx_runtime {
    const char *language, *program, *version;
};
const struct cbx_runtime *cbx_runtime_of(const char *language);

/* Appends a language with what runs it: "Python 3.11.2", "JavaScript (Node.js 24.21.0)". */
void cbx_runtime_add(const char *language, struct cbx_buf *out);

/* Appends all that can run, as people read a list: with commas, and "and" before the last. */
void cbx_runtime_list(struct cbx_buf *out);

/* The libraries of a language that callers are told of at once, in order (static); NULL behind the last. `small`: of the small images. */
const char *cbx_highlight_at(const char *language, bool small, size_t index);

/* Appends all of them: "numpy, pandas". */
void cbx_highlights_add(const char *language, bool small, struct cbx_buf *out);

#endif
