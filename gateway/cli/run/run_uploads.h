/* SPDX-License-Identifier: MIT
 * Files of the host that a program of `codebox run` finds in its workspace (--file, and the folder
 * of a program). They are read before the processes of the gateway start: afterwards this process
 * may open only the folder for output. */
#ifndef CBX_GATEWAY_CLI_RUN_RUN_UPLOADS_H
#define CBX_GATEWAY_CLI_RUN_RUN_UPLOADS_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

enum {
    CBX_UPLOADS_MAX = 2000,
    CBX_UPLOAD_BYTES_MAX = 64 << 20,   /* bytes of one file, */
    CBX_UPLOADS_BYTES_MAX = 256 << 20, /* and of all files */
};

/* One file. */
struct cbx_upload {
    char *path;  /* in the workspace, relative; owned */
    char *shown; /* on the host; owned */
    struct cbx_buf bytes;
};

/* Owned by the caller: cbx_uploads_done. Zeroed memory has no files. */
struct cbx_uploads {
    struct cbx_upload *items;
    size_t count, total_bytes;
    size_t hidden, links, compiled; /* number of entries found in folders and left out */
};

/* Adds a file, or the files of a folder and of its subfolders. A path keeps its place beneath
 * `folder`, the folder of the program; else beneath the current folder; else only its last name.
 * Left out of folders, and counted, are names that begin with a dot, folders of dependencies and
 * caches (analyzer/folder_use.def), links, and code that no analyzer reads. A file that was added
 * before is skipped. CBX_EINVAL for anything but a file or folder, and for two files
 * with one place; CBX_ETOOBIG over the limits; CBX_EIO if a file cannot be read. */
int cbx_uploads_add(struct cbx_uploads *uploads, const char *path, const char *folder,
                    struct cbx_err *err);
void cbx_uploads_done(struct cbx_uploads *uploads);
CBX_DEFINE_AUTO_DONE(uploads)

/* If something was left out, prints on stderr what. */
void cbx_uploads_print_left_out(const struct cbx_uploads *uploads);

/* Finds the program of a folder: __main__.py, main.ENDING or index.ENDING, of a language that
 * runs here; the first kind that exists. CBX_ENOTFOUND without one, CBX_EINVAL with several of a
 * kind. *out is allocated: FOLDER/NAME. */
int cbx_uploads_find_main(const char *folder, char **out, struct cbx_err *err);

#endif
