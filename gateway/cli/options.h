/* SPDX-License-Identifier: MIT
 * The options of codebox, by the rows of options.def. */
#ifndef CBX_GATEWAY_CLI_OPTIONS_H
#define CBX_GATEWAY_CLI_OPTIONS_H

#include "policies/base/options.h"

#include <sys/types.h>

enum { CBX_POLICIES_MAX = 32 };

/* An option that was not given is zero. Strings are those of argv. */
struct cbx_options {
#define CBX_OPTION(member, name, letter, type, ...) CBX_MEMBER_##type member;
#include "gateway/cli/options.def"
#undef CBX_OPTION
    struct cbx_words arguments; /* the words that are not options, in order */
    char state_buffer[4096];
    mode_t umask; /* of the caller, for what is the caller's: the process has 077 */
    struct cbx_arena arena;
};

/* Reads argv[from..argc) for the command of this letter (options.def). After the first word that is
 * not an option, `run` reads none: the words are the program's arguments. CBX_EINVAL names the
 * option and what is allowed. Free with cbx_cli_options_done, also after a failure. */
int cbx_cli_options_read(char command, int argc, char **argv, int from, struct cbx_options *out,
                         struct cbx_err *err);
void cbx_cli_options_done(struct cbx_options *options);

/* Appends the list of a command's options; '\0' = of all commands. */
void cbx_cli_options_help(char command, struct cbx_buf *out);

/* Appends the completions for a shell, or the options as a man page lists them. False for another
 * word. */
bool cbx_cli_options_complete(const char *shell, struct cbx_buf *out);

#endif
