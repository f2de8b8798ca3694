/* SPDX-License-Identifier: MIT
 * Permits to resolve and to install packages, and the layers that sandboxes start from. */
#ifndef CBX_GATEWAY_EXECUTOR_PACKAGES_H
#define CBX_GATEWAY_EXECUTOR_PACKAGES_H

#include "gateway/executor/internal.h"

/* Carries out a RESOLVE or INSTALL permit for `text`, which was checked to be what the permit is for. Progress goes to the sink as stderr, a
 * line each; the report of a resolver as stdout. Errors of docker/packages.h, fit for a caller. */
int cbx_executor_packages(struct cbx_executor *e, const struct cbx_permit *permit,
                          struct cbx_str text, const struct cbx_sink *sink, struct cbx_err *err);

/* The layer of a set for a permit's sandbox; an empty set gives none. CBX_EENGINE, fit for a caller, when it was never made, or the sandbox
 * image was built anew since. */
int cbx_executor_layer(struct cbx_executor *e, const struct cbx_permit *permit, struct cbx_str set,
                       struct cbx_sandbox_layer *out, struct cbx_err *err);

#endif
