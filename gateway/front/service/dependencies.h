/* SPDX-License-Identifier: MIT
 * What callers ask a sandbox to have. Nothing can be installed yet: each dependency must be a requirement
 * (PEP 508: name, extras, versions; no URL, no marker) that the policy allows and that the sandbox image
 * fulfils. */
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

/* The rows of libraries.def, in order; false behind the last. */
struct cbx_library {
    const char *language, *name, *version;
};
bool cbx_library_at(size_t index, struct cbx_library *out);

#endif
