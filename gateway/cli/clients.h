/* SPDX-License-Identifier: MIT
 * MCP clients and the entry that registers `codebox mcp` with them. */
#ifndef CBX_GATEWAY_CLI_CLIENTS_H
#define CBX_GATEWAY_CLI_CLIENTS_H

#include "gateway/cli/options.h"
#include "policies/base/json.h"

struct cbx_client {
    const char *name, *title, *section;
    bool typed;
    const char *user_file, *project_file, *undo;
};

/* The row with this name; NULL = none. */
const struct cbx_client *cbx_client_find(const char *name);

/* Appends the names of all clients, separated by blanks. */
void cbx_client_add_names(struct cbx_buf *out);

/* The entry for `codebox mcp` (new reference): the path of this program, and the options of the
 * command mcp that were given. A client starts it in a folder and an environment of its own, so
 * files are named by absolute paths, and $DOCKER_HOST and $XDG_STATE_HOME of now become options.
 * NULL and CBX_EINVAL, CBX_EIO. */
json_t *cbx_client_entry(const struct cbx_client *client, const struct cbx_options *options,
                         struct cbx_err *err);

#endif
