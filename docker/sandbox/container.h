/* SPDX-License-Identifier: MIT
 * The container of a sandbox. */
#ifndef CBX_DOCKER_SANDBOX_CONTAINER_H
#define CBX_DOCKER_SANDBOX_CONTAINER_H

#include "docker/engine/container_spec.h"
#include "docker/sandbox/sandbox.h"

/* Specifies the container for a sandbox of this kernel within these limits, from the image with
 * this id, with these folders of the host (NULL = none). The arguments are borrowed until
 * cbx_container_spec_done. */
void cbx_sandbox_spec(const struct cbx_sandbox_config *config, const char *kernel,
                      const struct cbx_limits *limits, const char *image,
                      const struct cbx_sandbox_mounts *mounts, struct cbx_container_spec *out);

#endif
