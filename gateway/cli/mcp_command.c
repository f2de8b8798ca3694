/* SPDX-License-Identifier: MIT
 * `codebox mcp`: an MCP server over stdio. Some clients start a second, short-lived process first,
 * so a start has no effect outside: it loads the policies and forks. The first call opens engine
 * and audit log. */
#include "gateway/cli/cli.h"
#include "gateway/front/mcp/stdio.h"

#include <unistd.h>

int cbx_mcp_command(const struct cbx_options *options)
{
    if (options->arguments.count != 0) {
        fprintf(stderr, "codebox: mcp takes options only, not '%s'\n", options->arguments.items[0]);
        return 2;
    }
    struct cbx_err err = { 0 };
    struct cbx_flow flow;
    struct cbx_flow_config config = cbx_options_flow(options);
    cbx_options_log(options, CBX_LOG_WARNING, false);
    config.executor.pool.min = config.executor.pool.min > 0 ? config.executor.pool.min : 1;
    if (cbx_flow_start(&config, &flow, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    if (!cbx_stdio_serve(STDIN_FILENO, STDOUT_FILENO, &flow)) {
        _exit(0); /* threads still use the flow */
    }
    cbx_flow_done(&flow);
    return 0;
}
