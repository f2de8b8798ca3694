/* SPDX-License-Identifier: MIT
 * MCP clients, and the entry that registers `codebox mcp` with them. */
#ifndef CBX_GATEWAY_CLI_INSTALL_CLIENTS_H
#define CBX_GATEWAY_CLI_INSTALL_CLIENTS_H

#include "gateway/cli/install/client_entry.h"
#include "gateway/cli/settings/cli_options.h"

/* The entry of a client, as JSON (clients.def). */
struct cbx_client_form {
    const char *before, *command, *arguments, *once;
};

struct cbx_client {
    const char *name, *title;
    /* Sets the entry in a text of the client's format (client_entry.h). */
    int (*set)(struct cbx_str text, const struct cbx_client_entry *entry, enum cbx_splice *what,
               struct cbx_buf *out, struct cbx_err *err);
    const struct cbx_client_form *form;
    const char *section, *variable, *folder, *user_file, *project_file, *head, *undo;
};

/* Returns the row with this name; NULL = none. */
const struct cbx_client *cbx_client_find(const char *name);

/* Appends the names of all clients, separated by blanks. */
void cbx_client_add_names(struct cbx_buf *out);

/* Makes the path of the client's file, of the user or of the project in the working directory;
 * `out` has room for PATH_MAX bytes. CBX_EINVAL if the client has no such file, or $HOME is no
 * absolute path; CBX_ETOOBIG. */
int cbx_client_path(const struct cbx_client *client, bool project, char *out, struct cbx_err *err);

/* Returns the command of the server: the path of this program, and the given options of the
 * command mcp, as a list (new reference). A client starts it in another folder and environment,
 * so files are named by absolute paths, and the present $DOCKER_HOST and $XDG_STATE_HOME become
 * options. NULL and CBX_EINVAL, CBX_EIO. */
json_t *cbx_client_command(const struct cbx_options *options, struct cbx_err *err);

/* Makes the client's entry for that command (new references; *once may be NULL). */
void cbx_client_members(const struct cbx_client *client, const json_t *command, json_t **members,
                        json_t **once);

#endif
