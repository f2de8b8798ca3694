/* SPDX-License-Identifier: MIT
 * `codebox mcp`: an MCP server over stdio. Some clients first start a second, short-lived process,
 * so a start has no effect outside: it loads the policies and forks. The first call opens engine
 * and audit log. */
#include "gateway/cli/cli.h"
#include "gateway/front/mcp/protocol/stdio.h"

#include <unistd.h>

/* Returns only if it cannot serve. Sessions and results live as long as the client's process:
 * the store is in memory. Programs may still run at the end, also those that no call waits for;
 * the executor ends their sandboxes. */
static void serve(struct cbx_flow *flow, int64_t idle_ms, struct cbx_err *err)
{
    static const struct cbx_store_limits limits = { .executions = 1000,
                                                    .known = 10000,
                                                    .execution_bytes = INT64_C(32) << 20,
                                                    .session_bytes = INT64_C(64) << 20,
                                                    .store_bytes = INT64_C(192) << 20 };
    CBX_AUTO(store) store = NULL;
    struct cbx_service service;
    struct cbx_mcp mcp;
    if (cbx_store_open(NULL, &limits, &store, err) != 0) {
        return;
    }
    cbx_service_init(&service, flow, store, CBX_STDIO_CALLS_MAX);
    cbx_mcp_init(&mcp, &service, idle_ms);
    cbx_stdio_serve(STDIN_FILENO, STDOUT_FILENO, &mcp);
    _exit(0); /* threads may still use all members */
}

int cbx_mcp_command(const struct cbx_options *options)
{
    if (options->arguments.count != 0) {
        fprintf(stderr, "codebox: mcp takes options only, not '%s'\n", options->arguments.items[0]);
        return 2;
    }
    struct cbx_err err = { 0 };
    struct cbx_flow flow;
    struct cbx_flow_config config = cbx_options_flow(options);
    CBX_AUTO_JSON mounts = NULL;
    if (cbx_options_mounts(options, &mounts, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    config.mounts = mounts;
    cbx_options_log(options, CBX_LOG_WARNING, false);
    config.executor.pool.min = config.executor.pool.min > 0 ? config.executor.pool.min : 1;
    if (cbx_flow_start(&config, &flow, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    serve(&flow, config.executor.idle_ms, &err);
    cbx_flow_done(&flow);
    return cbx_cli_fail(&err);
}
