/* SPDX-License-Identifier: MIT
 * `codebox image build --packages` and `--lock`: packages built into a sandbox image. They are
 * resolved, judged, recorded and installed like packages of a session, and the resulting layer
 * takes the name of the sandbox image. */
#ifndef CBX_GATEWAY_CLI_IMAGE_IMAGE_PACKAGES_H
#define CBX_GATEWAY_CLI_IMAGE_IMAGE_PACKAGES_H

#include "docker/packages/package_layers.h"
#include "gateway/cli/image/image_lock.h"
#include "gateway/cli/settings/cli_options.h"
#include "policies/base/buf.h"

/* The packages, and the image that gets them. All borrowed. */
struct cbx_image_packages {
    const struct cbx_options *options; /* with `packages` if there is no lock file */
    const struct cbx_image_lock *lock; /* NULL = no lock file */
    const char *prefix;                /* prefix of the images; NULL = "codebox" */
};

/* Returns the kernel whose image gets the packages. */
const char *cbx_image_packages_kernel(const struct cbx_image_packages *packages);

/* Resolves, judges and installs the packages; with a lock file exactly its packages. Forks:
 * another process becomes a gateway. *set (initialised with CBX_PACKAGE_SET_BYTES_MAX) gets the
 * installed packages, one a line; nothing if the image has all of them. Returns the exit status
 * of the command, 0 = done; otherwise a message was written to stderr. */
int cbx_image_packages_install(const struct cbx_image_packages *packages, struct cbx_buf *set);

/* Find the layer of such a set, "sha256:...", and the name of its image ("python-small"). The
 * same exit status. */
int cbx_image_packages_layer(const struct cbx_image_packages *packages, const char *docker_host,
                             struct cbx_str set, char id[CBX_IMAGE_ID_CHARS + 1],
                             char image[CBX_IMAGE_NAME_BYTES]);

#endif
