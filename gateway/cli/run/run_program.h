/* SPDX-License-Identifier: MIT
 * The program of `codebox run`, read from the host before the processes start. */
#ifndef CBX_GATEWAY_CLI_RUN_RUN_PROGRAM_H
#define CBX_GATEWAY_CLI_RUN_RUN_PROGRAM_H

#include "gateway/cli/run/run_missing.h"
#include "gateway/cli/run/run_uploads.h"
#include "gateway/cli/settings/cli_options.h"
#include "policies/base/text/json.h"

#include <sys/types.h>

/* Owned by the caller: cbx_run_program_done. */
struct cbx_run_program {
    const char *path;     /* "-" = standard input */
    const char *name;     /* without folders; empty for standard input */
    const char *language; /* by the name that permits have for it; static */
    struct cbx_buf source;
    json_t *arguments;          /* owned */
    struct cbx_uploads uploads; /* --file, and the files of a folder that is the program */
    struct cbx_run_missing missing;
    uid_t user; /* the user of the caller; the front has another one if the caller is root */
    char *main; /* path of a folder's program; owned */
};

/* Reads the FILE or folder of the options, its arguments and the files for its workspace.
 * Nonzero if the program cannot run: err has the reason or, with err->code 0, a message was
 * written to stderr. */
int cbx_run_program_read(const struct cbx_options *options, struct cbx_run_program *out,
                         struct cbx_err *err);
void cbx_run_program_done(struct cbx_run_program *program);
CBX_DEFINE_AUTO_DONE(run_program)

#endif
