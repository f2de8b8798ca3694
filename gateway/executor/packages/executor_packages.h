/* SPDX-License-Identifier: MIT
 * Permits to resolve and to install packages, and the layers that sandboxes start from. */
#ifndef CBX_GATEWAY_EXECUTOR_PACKAGES_EXECUTOR_PACKAGES_H
#define CBX_GATEWAY_EXECUTOR_PACKAGES_EXECUTOR_PACKAGES_H

#include "gateway/executor/executor_internal.h"

/* Makes the turns of installers; never NULL. */
struct cbx_turns *cbx_executor_install_turns(int max);

/* Carries out a RESOLVE or INSTALL permit for `text`, which was checked to match the permit. An
 * installer takes a turn (turns.h); a set whose layer exists needs none. The sink receives
 * progress as stderr, a line each, also while the call waits, and the report of a resolver as
 * stdout. If the sink cancels or the executor ends, the call ends within a second and removes
 * its container. Errors of docker/packages/package_layers.h, fit for a caller; CBX_EQUOTA with
 * retry_s if too many wait; errors of cbx_layers_reserve. The principal may have `own_layers`
 * layers; 0 = no limit. */
int cbx_executor_packages(struct cbx_executor *e, const struct cbx_permit *permit,
                          struct cbx_str text, int64_t own_layers, const struct cbx_sink *sink,
                          struct cbx_err *err);

/* Returns 0 if this set has a layer for the language's sandbox image under the policy of this
 * name; CBX_ENOTFOUND if it has none. Errors of cbx_layer_find. */
int cbx_executor_has_layer(struct cbx_executor *e, const char *language, struct cbx_str policy,
                           struct cbx_str set, struct cbx_err *err);

/* Finds the layer of a set for a permit's sandbox; an empty set gives the image that the policy
 * chooses, if it chooses one. CBX_EENGINE, fit for a caller, if the layer was never made, or the
 * sandbox image was rebuilt since. */
int cbx_executor_layer(struct cbx_executor *e, const struct cbx_permit *permit, struct cbx_str set,
                       struct cbx_sandbox_layer *out, struct cbx_err *err);

#endif
