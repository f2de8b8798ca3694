/* SPDX-License-Identifier: MIT
 * Packages of `codebox run`: the packages of --with, and those that the cell itself installs. */
#ifndef CBX_GATEWAY_CLI_RUN_RUN_PACKAGES_H
#define CBX_GATEWAY_CLI_RUN_RUN_PACKAGES_H

#include "gateway/cli/settings/cli_options.h"
#include "gateway/front/review.h"

/* Judges the request, and installs the packages that the program needs and the sandbox image
 * lacks: afterwards they stand in `asked`, to which the subject of the request points. On a
 * terminal, stderr shows the progress. Returns 0 with a judgement to submit, or with a recorded
 * denial of a package in *denial. Errors of the flow and of docker/packages/package_layers.h. */
int cbx_run_packages(struct cbx_flow *flow, const struct cbx_words *with,
                     struct cbx_request *request, struct cbx_asked *asked,
                     struct cbx_judgement *judgement, struct cbx_outcome *denial,
                     struct cbx_err *err);

#endif
