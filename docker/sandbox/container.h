/* SPDX-License-Identifier: MIT
 * A permit as the body of "create a container": the complete hardening as data. */
#ifndef CBX_DOCKER_SANDBOX_CONTAINER_H
#define CBX_DOCKER_SANDBOX_CONTAINER_H

#include "docker/kernel_names.h"
#include "docker/sandbox/sandbox.h"
#include "policies/base/json.h"

/* Labels of every container that the gateway creates. */
#define CBX_LABEL_OWNED    "codebox.sandbox"
#define CBX_LABEL_INSTANCE "codebox.instance"
#define CBX_LABEL_CREATED  "codebox.created" /* seconds since 1970 */
/* for an installer: seconds in which no reaper removes it */
#define CBX_LABEL_LEASE     "codebox.lease"
#define CBX_LABEL_ISOLATION "codebox.isolation" /* one of cbx_isolation_names */

/* True if these limits require gVisor. Unset isolation counts as gVisor. */
bool cbx_container_uses_gvisor(const struct cbx_limits *limits);

/* Makes the body (new reference) for a sandbox of this kernel within these limits, from the
 * image with this id. */
json_t *cbx_container_body(const struct cbx_sandbox_config *config, const char *kernel,
                           const struct cbx_limits *limits, const char *image_id);

/* Adds folders of the host (NULL = none) to such a body. */
void cbx_container_add_mounts(json_t *body, const struct cbx_sandbox_mounts *mounts);

#endif
