/* SPDX-License-Identifier: MIT
 * `codebox image list` and `prune`: the layers of packages that gateways of this engine made. */
#ifndef CBX_GATEWAY_CLI_IMAGE_IMAGE_LAYERS_H
#define CBX_GATEWAY_CLI_IMAGE_IMAGE_LAYERS_H

#include "docker/engine/engine.h"
#include "gateway/cli/settings/cli_options.h"

/* Adds the layers to `all` as {layer, kernel, name, id, size_bytes, current}, or prints their
 * number if `all` is NULL. `size_bytes` is the size beyond the sandbox image, 0 if the sandbox
 * image is gone. */
int cbx_image_layers_list(struct cbx_engine *engine, json_t *all, struct cbx_err *err);

/* Removes layers of sandbox images that were built anew since, which no gateway uses any more;
 * with `all` every layer. Prints each. A layer from which a sandbox runs stays. Returns the exit
 * status. */
int cbx_image_layers_prune(struct cbx_engine *engine, bool all);

#endif
