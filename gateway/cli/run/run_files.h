/* SPDX-License-Identifier: MIT
 * Files that a program of `codebox run` made: pictures, and files of its workspace. */
#ifndef CBX_GATEWAY_CLI_RUN_RUN_FILES_H
#define CBX_GATEWAY_CLI_RUN_RUN_FILES_H

#include "gateway/front/review.h"

enum { CBX_RUN_FILES_MAX = 10000 };

/* Owned by the caller: cbx_run_files_done. `folder` receives the files (made if missing); NULL =
 * pictures go to the current folder, and files of the workspace are only listed. Borrowed. */
struct cbx_run_files {
    const char *folder;
    struct cbx_str stem; /* first part of the pictures' names */
    int pictures;
    json_t *made;    /* [{path, size}], from the events */
    bool incomplete; /* true if there were more files than CBX_RUN_FILES_MAX */
};
void cbx_run_files_init(struct cbx_run_files *files, const char *folder, struct cbx_str stem);
void cbx_run_files_done(struct cbx_run_files *files);

/* Writes a picture to STEM-N.ENDING with the first free N, and prints its name on stderr. */
void cbx_run_files_picture(struct cbx_run_files *files, struct cbx_str bytes, const char *ending);

/* Notes a file of the workspace; a second note of a path has no effect. */
void cbx_run_files_note(struct cbx_run_files *files, struct cbx_str path, uint64_t size_bytes);

/* Copies the noted files from the run's workspace into the folder, or lists them on stderr with
 * the option that keeps them. Call it before the run's result is acknowledged. Paths are the
 * program's: a path that leaves the folder, goes through a link or is not printable is refused
 * and named. False if a file could not be copied. */
bool cbx_run_files_keep(struct cbx_run_files *files, struct cbx_flow *flow, const char *run,
                        struct cbx_str principal);

#endif
