/* SPDX-License-Identifier: MIT
 * A hint for a program of `codebox run` that failed because it misses a file or a module that lies
 * beside it on the host. */
#ifndef CBX_GATEWAY_CLI_RUN_RUN_MISSING_H
#define CBX_GATEWAY_CLI_RUN_RUN_MISSING_H

#include "gateway/cli/run/run_uploads.h"

enum { CBX_MISSING_ENTRIES_MAX = 4096 };

/* A file or a folder of the host. */
struct cbx_missing_entry {
    char *path; /* as the caller can give it: FOLDER/NAME, with a '/' behind a folder; owned */
    size_t name_at;
};

/* The entries of the program's folder and of the current folder, read before the processes
 * start. Owned by the caller: cbx_run_missing_done. Zeroed memory has none. */
struct cbx_run_missing {
    struct cbx_missing_entry *entries;
    size_t count;
};
void cbx_run_missing_read(struct cbx_run_missing *missing, const char *folder);
void cbx_run_missing_done(struct cbx_run_missing *missing);
CBX_DEFINE_AUTO_DONE(run_missing)

/* Appends how the program gets the entry that its errors name as missing: "'data.csv' lies
 * beside the program, and the sandbox does not have it: add --file data.csv". False if the
 * errors name no entry of the list, or one that is among the uploads. The errors are the
 * program's, so hostile: they choose a name of the host's list, which is printed in quotes. */
bool cbx_run_missing_advise(const struct cbx_run_missing *missing,
                            const struct cbx_uploads *uploads, const char *kernel,
                            struct cbx_str errors, struct cbx_buf *out);

#endif
