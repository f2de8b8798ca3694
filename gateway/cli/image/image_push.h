/* SPDX-License-Identifier: MIT
 * `codebox image push`: sandbox images for the nodes of a cluster, and the images file that the
 * settings of --cluster name. */
#ifndef CBX_GATEWAY_CLI_IMAGE_IMAGE_PUSH_H
#define CBX_GATEWAY_CLI_IMAGE_IMAGE_PUSH_H

#include "gateway/cli/settings/cli_options.h"

/* Pushes the images (arguments: "push", REGISTRY, images) with the script docker/images/push, and
 * then writes the images file: completely, or not at all. With --local pushes nothing; no
 * REGISTRY is given then. Returns the exit status: 0, or 2 after a message on stderr. */
int cbx_image_push(const struct cbx_options *options);

#endif
