/* SPDX-License-Identifier: MIT
 * The execution of a permit. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_EXECUTION_H
#define CBX_GATEWAY_EXECUTOR_RUN_EXECUTION_H

#include "gateway/executor/executor_internal.h"

/* A permit, and what it is executed with. */
struct cbx_execution {
    struct cbx_executor_request *request;
    const struct cbx_permit *permit;
    struct cbx_submitted given;    /* the program and its input */
    const json_t *environment;     /* the caller's variables (grants.h), or NULL */
    struct cbx_str packages;       /* the packages installed for its sandbox */
    const json_t *sealed;          /* JSON of the decision */
    struct cbx_host_mounts mounts; /* folders opened for its sandbox; owned */
    struct cbx_err refusal;        /* error of opening the folders; code 0 = none */
    bool interactive;
    int64_t own_layers; /* maximum number of package layers of its principal; 0 = no limit */
    struct cbx_sink sink;
    struct cbx_result result; /* owned */
};

/* Executes what the permit allows, records its outcome and sends it to the client: the result, or
 * the error, which is returned. Waits for the turn in the session and among all runs. The caller has
 * counted the action with cbx_executor_count_unrecorded; it is taken back when its outcome is
 * recorded. */
int cbx_execution_run(struct cbx_execution *x, struct cbx_audit *audit, struct cbx_err *err);

#endif
