/* SPDX-License-Identifier: MIT
 * The state of a shell that ended, as commands for the next one. The shell prints its state itself
 * (bash_session.sh), and its variables may hold any text. So nothing is passed on as it came:
 * values are quoted literals, assigned before their attributes, and functions go through the
 * environment, from which bash takes definitions only. */
#ifndef CBX_DOCKER_INSIDE_COMMAND_SHELL_STATE_H
#define CBX_DOCKER_INSIDE_COMMAND_SHELL_STATE_H

#include <stdbool.h>
#include <stddef.h>

/* What the next shell is given: commands to read, and strings for its environment, NULL at the end.
 */
struct cbx_shell_restore {
    char *script;
    size_t len;
    char **env;
};

/* Reads records: a type, a text, a NUL each.
 *   v  declare -p        f  declare -f NAME   a  declare -F   t  trap -p
 *   m  umask             d  the folder        s  $BASHOPTS    o  $SHELLOPTS
 * False when a record is malformed; then nothing is to be freed. */
bool cbx_shell_restore_read(const char *records, size_t len, struct cbx_shell_restore *out);

/* Frees its contents; a zeroed one is fine. */
void cbx_shell_restore_done(struct cbx_shell_restore *restore);

#endif
