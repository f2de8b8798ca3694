/* SPDX-License-Identifier: MIT
 * The workspace of a program of `codebox run` with files: a session that has the files before the
 * program starts, and ends with this process. */
#ifndef CBX_GATEWAY_CLI_RUN_RUN_WORKSPACE_H
#define CBX_GATEWAY_CLI_RUN_RUN_WORKSPACE_H

#include "gateway/cli/run/run_uploads.h"
#include "gateway/front/review.h"

/* Owned by the caller: cbx_run_workspace_done. */
struct cbx_run_workspace {
    struct cbx_flow *flow;
    const struct cbx_uploads *uploads; /* borrowed */
    struct cbx_str principal;          /* borrowed from the request */
    char session[37];                  /* empty: the program has no files, and no session */
    struct cbx_buf past;               /* the program's files of code, sealed */
    bool open;
    const struct cbx_upload *denied; /* the file of code that the policy denies; NULL = none */
};

/* If there are files, names the session in the request. */
void cbx_run_workspace_init(struct cbx_run_workspace *workspace, struct cbx_flow *flow,
                            const struct cbx_uploads *uploads, struct cbx_request *request);

/* Judges the files of code, which become the past of the request; the request can be judged
 * afterwards. Returns 0 also for a denial: *denial is the recorded decision (owned by the
 * caller, cbx_outcome_done), and workspace->denied the file. Errors of the flow. */
int cbx_run_workspace_judge(struct cbx_run_workspace *workspace, struct cbx_request *request,
                            struct cbx_outcome *denial, struct cbx_err *err);

/* Opens the session with the request's packages and mounts, and writes the files. Judge the
 * request once more after it. The same results; opening can be denied too. */
int cbx_run_workspace_fill(struct cbx_run_workspace *workspace, struct cbx_request *request,
                           struct cbx_outcome *denial, struct cbx_err *err);

/* Closes the session. */
void cbx_run_workspace_done(struct cbx_run_workspace *workspace);
CBX_DEFINE_AUTO_DONE(run_workspace)

#endif
