/* SPDX-License-Identifier: MIT
 * A tar archive (POSIX ustar) of a few small files, as the context of an image's build. Pure. */
#ifndef CBX_DOCKER_ENGINE_DOCKER_TAR_H
#define CBX_DOCKER_ENGINE_DOCKER_TAR_H

#include "policies/base/buf.h"

/* Appends a regular file with mode 0644 and without a time. The name must be shorter than 100
 * bytes. */
void cbx_tar_add(struct cbx_buf *tar, const char *name, struct cbx_str bytes);

/* Appends the end of the archive. */
void cbx_tar_end(struct cbx_buf *tar);

#endif
