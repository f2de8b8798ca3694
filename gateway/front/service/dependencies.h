/* SPDX-License-Identifier: MIT
 * Packages that callers request for a sandbox: requirements (PEP 508: name, extras, versions; no
 * URL, no marker; of npm for JavaScript and TypeScript: name, name@range). The image's packages
 * count as present; the others are installed (service_packages.h). */
#ifndef CBX_GATEWAY_FRONT_SERVICE_DEPENDENCIES_H
#define CBX_GATEWAY_FRONT_SERVICE_DEPENDENCIES_H

#include "gateway/front/claims.h"
#include "gateway/front/service/service.h"

/* All borrowed. */
struct cbx_dependencies {
    const json_t *list;              /* texts; NULL is none */
    struct cbx_str policy;           /* empty = the default */
    const char *language;            /* name in the flow (dialect.h) */
    struct cbx_str origin;           /* the API */
    const char *principal;           /* principal for judgement and record */
    const struct cbx_claims *claims; /* of the client; NULL = none */
    /* For an existing sandbox: its installed packages. None can be added. */
    bool exists;
    struct cbx_str installed;
    void (*progress)(void *context, struct cbx_str line); /* service_packages.h */
    bool (*gone)(void *context);
    void *context;
};

/* Judges the dependencies of a sandbox and installs those that its image lacks; adds the text of
 * the installed packages to *set (initialised with CBX_PACKAGE_SET_BYTES_MAX), which stays empty
 * without any. Returns 0 if the sandbox can have all of them, and if the policy denies one:
 * denial->verdict has the verdict, and the denial is in the audit log. CBX_EINVAL names a
 * dependency that is impossible and the reason; CBX_ESTATE for packages that an existing sandbox
 * lacks; errors of cbx_service_install. `denial` is the caller's (cbx_outcome_done). */
int cbx_service_have_dependencies(struct cbx_service *service,
                                  const struct cbx_dependencies *dependencies, struct cbx_buf *set,
                                  struct cbx_outcome *denial, struct cbx_err *err);

/* Returns the row of highlights.def: the runtime of a language, by the name for clients
 * (static); NULL if there is no row. */
struct cbx_runtime {
    const char *language, *program, *version;
};
const struct cbx_runtime *cbx_runtime_of(const char *language);

/* Appends a language with its runtime: "Python 3.13.5", "JavaScript (Node.js 24.21.0)". */
void cbx_runtime_add(const char *language, struct cbx_buf *out);

/* Appends all available languages as a list for people: with commas, and "and" before the last. */
void cbx_runtime_list(struct cbx_buf *out);

/* Returns the highlighted libraries of a language, in order (static); NULL after the last.
 * `small`: of the small images. */
const char *cbx_highlight_at(const char *language, bool small, size_t index);

/* Appends those that the policy lets a program import (NULL: all): "numpy, pandas". False if
 * there is none, and if the policy chooses an operator's own image for the language. Judges a
 * program of one line for each, about 0.1 ms. */
bool cbx_highlights_add(const struct cbx_policy *policy, const char *language, bool small,
                        struct cbx_buf *out);

#endif
