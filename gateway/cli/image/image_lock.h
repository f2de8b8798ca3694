/* SPDX-License-Identifier: MIT
 * The lock file of `codebox image build --lock`. */
#ifndef CBX_GATEWAY_CLI_IMAGE_IMAGE_LOCK_H
#define CBX_GATEWAY_CLI_IMAGE_IMAGE_LOCK_H

#include "analyzer/manifest/locks/lockfile.h"
#include "gateway/cli/settings/cli_options.h"

/* Zeroed memory: no lock file. */
struct cbx_image_lock {
    struct cbx_arena arena;
    struct cbx_lockfile file; /* in the arena */
    const char
        /* the kernel whose programs load the packages: --language, else python or javascript */
        *language;
};

/* Reads options->lock: a regular file of at most CBX_REPORT_BYTES_MAX bytes
 * (analyzer/manifest/locks/lockfile.h). The first policy judges the indexes that the file names;
 * its packages are judged when they are installed. CBX_EINVAL, CBX_ETOOBIG or CBX_EIO, with the
 * name of the file and the line: nothing was built then. CBX_EPOLICY: the policy refuses an
 * index, or the address of a file. */
int cbx_image_lock_read(const struct cbx_options *options, struct cbx_image_lock *out,
                        struct cbx_err *err);
void cbx_image_lock_done(struct cbx_image_lock *lock);
CBX_DEFINE_AUTO_DONE(image_lock)

#endif
