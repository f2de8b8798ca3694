/* SPDX-License-Identifier: MIT
 * A check of the archive that becomes a layer, while it passes. An installer's Pod writes it, so it
 * is hostile: without the check it could replace any file of the sandbox image, such as the
 * supervisor. Pure. */
#ifndef CBX_DOCKER_ENGINE_KUBERNETES_LAYER_TAR_H
#define CBX_DOCKER_ENGINE_KUBERNETES_LAYER_TAR_H

#include "policies/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { CBX_LAYER_BLOCK = 512, CBX_LAYER_PATH_MAX = 4096 };

/* Zero-initialise, then set `place` and the limits. */
struct cbx_layer_tar {
    const char *place; /* "usr/local/lib/node_modules": all files are below this folder; borrowed */
    int64_t bytes_max; /* size of the whole archive */
    int64_t entries_max; /* number of files and folders */

    int64_t bytes, entries;            /* so far */
    char block[CBX_LAYER_BLOCK];       /* an incomplete header */
    size_t block_len;                  /* bytes of it */
    int64_t content, padding;          /* bytes of the entry that are still to come */
    bool reads_name;                   /* the contents are the name of the next entry */
    char name[CBX_LAYER_PATH_MAX + 1]; /* that name */
    size_t name_len;
    int zero_blocks; /* two of them end the archive; anything but zeros after them is refused */
};

/* Checks the next bytes of an archive in GNU's format (tar --format=gnu). Allowed are regular files
 * and folders of root below `place`, without the bits for set-id and sticky; no part of a path may
 * be "." or "..", or begin with ".wh.", which deletes files of the layers below (OCI image
 * specification, "Whiteouts"). CBX_EPROTO for anything else, CBX_ETOOBIG over a limit. */
int cbx_layer_tar_feed(struct cbx_layer_tar *tar, struct cbx_str bytes, struct cbx_err *err);

/* CBX_EPROTO if the archive is not complete. */
int cbx_layer_tar_end(const struct cbx_layer_tar *tar, struct cbx_err *err);

#endif
