/* SPDX-License-Identifier: MIT
 * Starts the processes of a gateway: loads the policies, forks zygote, executor and front. The
 * only file that includes all three. */
#ifndef CBX_GATEWAY_CLI_SERVE_START_H
#define CBX_GATEWAY_CLI_SERVE_START_H

#include "gateway/cli/settings/cli_options.h"
#include "gateway/executor/executor.h"
#include "gateway/front/review.h"
#include "gateway/ipc/jail/files.h"
#include "gateway/ipc/jail/privileges.h"
#include "gateway/ipc/replicas.h"

/* The configuration of a gateway. Strings are borrowed for its whole life. */
struct cbx_flow_config {
    const char *const *policies; /* names or files; the first is the default */
    size_t policy_count;
    const struct cbx_options
        *options; /* for a reload, and for the places of errors; NULL = SIGHUP ends the gateway */
    /* words of --pass-env; NULL = all variables that the policies pass */
    const char *const *pass_env;
    size_t pass_env_count;
    const char *package_ca_file;      /* PEM, for installers; NULL = none */
    const char *const *egress_ranges; /* words of --egress-range */
    size_t egress_range_count;
    /* of --mount; NULL = none. cbx_flow_start refuses a mount that the first policy does not
     * allow */
    const json_t *mounts;
    int workers;             /* maximum number of analyzer workers; 0 = one per processor */
    int analysis_timeout_ms; /* 0 = 15,000 */
    struct cbx_executor_config executor;
    /* kernels whose sandboxes are made at start-up, with the limits of the first policy */
    const char *prewarm[4];
    size_t prewarm_count;
    /* a descriptor that is open in every front and in no other process; 0 = none */
    int front_fd;
    int socket_fd; /* the same; 0 = none */
    /* result of cbx_options_tls_read; cleansed; NULL or empty = HTTP */
    struct cbx_buf *certificate;
    /* the other replicas; borrowed, NULL = there are none. `replicas_fd` accepts their links, in
     * the process of links alone; `replicas_pem` is the result of cbx_link_write, cleansed */
    const struct cbx_replicas *replicas;
    int replicas_fd;
    struct cbx_buf *replicas_pem;
    /* result of cbx_options_database_read; cleansed; NULL or empty = the store is in a file */
    struct cbx_buf *database;
    /* result of cbx_options_instances_read; cleansed; NULL or empty = no replica takes over */
    struct cbx_buf *instances;
    /* identities of `serve`; NULL = callers are not authenticated */
    struct cbx_identity *identity;
    enum cbx_role front_role;       /* CBX_ROLE_FRONT or, for the caller's files, CBX_ROLE_CALLER */
    bool keep_code;                 /* true with --audit-code full */
    const char *syslog, *syslog_ca; /* of --syslog and --syslog-ca; NULL = none */
    /* the only folder in which the front may open files; path NULL = none. With CBX_ROLE_FRONT
     * it is the working directory */
    struct cbx_grant front_folder;
};

/* Loads the policies and forks. Returns 0 in a new process, the front, which is confined then:
 * to the calls of cbx_jail_front and the folder of the configuration. The caller's own process
 * becomes the master, stays in this call, and ends with the front's exit status after the
 * executor has cleaned up. If the front of a persistent flow is killed, the call returns once
 * more, in the next front. Call it before the process has threads. *out is owned: cbx_flow_done. */
int cbx_flow_start(const struct cbx_flow_config *config, struct cbx_flow *out, struct cbx_err *err);

/* Adds every problem for which cbx_flow_start would fail before it forks. Nothing is made or
 * started; the values of variables that policies pass are overwritten in this process's
 * environment. */
void cbx_flow_check(const struct cbx_flow_config *config, struct cbx_problems *problems);

#endif
