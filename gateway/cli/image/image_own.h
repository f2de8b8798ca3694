/* SPDX-License-Identifier: MIT
 * Images of one's own on the command line. */
#ifndef CBX_GATEWAY_CLI_IMAGE_IMAGE_OWN_H
#define CBX_GATEWAY_CLI_IMAGE_IMAGE_OWN_H

#include "docker/doctor/doctor.h"
#include "gateway/cli/settings/cli_options.h"

/* Prints the images, a line each, or adds them to `all` if it is not NULL. Errors of the engine. */
int cbx_image_own_list(struct cbx_engine *engine, json_t *all, struct cbx_err *err);

/* Runs the probe in each image of this name (NULL = each image of one's own), within the limits,
 * and reports the results. */
void cbx_image_own_probe(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                         const char *name, const struct cbx_limits *limits,
                         const struct cbx_doctor *doctor);

#endif
