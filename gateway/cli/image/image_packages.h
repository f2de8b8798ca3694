/* SPDX-License-Identifier: MIT `codebox image build --packages` and `--lock`: packages built
 * into a sandbox image. They are resolved, judged, recorded and installed as those of a session
 * are, and the layer that comes of it takes the name of the sandbox image. */
#ifndef CBX_GATEWAY_CLI_IMAGE_IMAGE_PACKAGES_H
#define CBX_GATEWAY_CLI_IMAGE_IMAGE_PACKAGES_H

#include "docker/packages/package_layers.h"
#include "gateway/cli/image/image_lock.h"
#include "gateway/cli/settings/cli_options.h"
#include "policies/base/buf.h"

/* The packages, and the image that they go into. All borrowed. */
struct cbx_image_packages {
    const struct cbx_options *options; /* with `packages` when there is no lock file */
    const struct cbx_image_lock *lock; /* NULL = no lock file */
    const char *prefix;                /* of the images; NULL = "codebox" */
};

/* The kernel whose image the packages go into. */
const char *cbx_image_packages_kernel(const struct cbx_image_packages *packages);

/* Resolves, judges and installs the packages, of a lock file exactly what it has. Forks: another
 * process becomes a gateway. *set (initialised with CBX_PACKAGE_SET_BYTES_MAX) has what was
 * installed, one package a line; nothing when the image has all of it. Returns the exit status
 * of the command, 0 = done; else a message was written to stderr. */
int cbx_image_packages_install(const struct cbx_image_packages *packages, struct cbx_buf *set);

/* The layer of such a set, "sha256:...", and the name of the image that it is for
 * ("python-small"). The same exit status. */
int cbx_image_packages_layer(const struct cbx_image_packages *packages, const char *docker_host,
                             struct cbx_str set, char id[CBX_IMAGE_ID_CHARS + 1],
                             char image[CBX_IMAGE_NAME_BYTES]);

#endif
