/* SPDX-License-Identifier: MIT
 * The state of a shell that ended, as commands for the next one. The shell prints its state
 * itself (bash_session.sh), and its variables may have any text. So no text is passed on
 * unchanged: values are quoted literals, assigned before their attributes, and functions are
 * passed in the environment, from which bash takes only definitions. */
#ifndef CBX_DOCKER_INSIDE_COMMAND_SHELL_STATE_H
#define CBX_DOCKER_INSIDE_COMMAND_SHELL_STATE_H

#include <stdbool.h>
#include <stddef.h>

/* Input of the next shell: commands to read, and strings for its environment, NULL at the end. */
struct cbx_shell_restore {
    char *script;
    size_t len;
    char **env;
};

/* Reads records: a type, a text, a NUL each.
 *   v  declare -p        f  declare -f NAME   a  declare -F   t  trap -p
 *   m  umask             d  the folder        s  $BASHOPTS    o  $SHELLOPTS
 * False if a record is malformed; then there is no memory to free. */
bool cbx_shell_restore_read(const char *records, size_t len, struct cbx_shell_restore *out);

/* Frees its contents; a zeroed one is fine. */
void cbx_shell_restore_done(struct cbx_shell_restore *restore);

#endif
