/* SPDX-License-Identifier: MIT
 * The options of codebox, by the rows of cli_options.def. */
#ifndef CBX_GATEWAY_CLI_SETTINGS_CLI_OPTIONS_H
#define CBX_GATEWAY_CLI_SETTINGS_CLI_OPTIONS_H

#include "gateway/cli/settings/settings.h"
#include "policies/base/options/options.h"

#include <sys/types.h>

enum { CBX_POLICIES_MAX = 32, CBX_OPTIONS_ARENA_MAX = 64 * 1024 * 1024 };

/* The number of rows. */
enum {
#define CBX_OPTION(member, ...) CBX_OPTION_ROW_##member,
#include "gateway/cli/settings/cli_options.def"
#undef CBX_OPTION
    CBX_OPTION_ROWS
};

/* The options. One that was not given is zero. Strings are in argv, in the environment or in
 * the arena. */
struct cbx_options {
#define CBX_OPTION(member, name, letter, type, ...) CBX_MEMBER_##type member;
#include "gateway/cli/settings/cli_options.def"
#undef CBX_OPTION
    struct cbx_words arguments; /* words that are not options, in order */
    struct cbx_option_origin origins[CBX_OPTION_ROWS];
    const char *settings_path; /* the configuration file that was read; NULL = none */
    /* folder of that file; NULL = not given */
    const struct cbx_yaml *sections[CBX_SETTINGS_SECTIONS];
    struct {
        char command;
        int argc, from;
        char **argv;
    } line; /* the command line, which is read again after the configuration file */
    char state_buffer[4096];
    mode_t umask; /* the caller's umask, for the caller's files: the process has 077 */
    struct cbx_arena arena;
};

/* Reads argv[from..argc) for the command of this letter (cli_options.def), and for some commands
 * also the configuration file and the environment: cbx_cli_options_settings. `run` reads no
 * option after the first other word: the words are the program's arguments. CBX_EINVAL names the
 * option and the allowed values. The caller calls cbx_cli_options_done, also after a failure. */
int cbx_cli_options_read(char command, int argc, char **argv, int from, struct cbx_options *out,
                         struct cbx_err *err);
void cbx_cli_options_done(struct cbx_options *options);

/* Sets all options anew: from the configuration file (options->config, else the variable
 * CODEBOX_CONFIG, else for root CBX_SETTINGS_FILE if it exists), from the environment, from the
 * command line that was read; each source overrides the earlier ones. Every problem is added. */
void cbx_cli_options_settings(struct cbx_options *options, struct cbx_problems *problems);

/* Returns the table for the command of this letter; '\0' = of all commands. */
struct cbx_option_table cbx_cli_options_table(char command);

/* Appends the list of a command's options; '\0' = of all commands. */
void cbx_cli_options_help(char command, struct cbx_buf *out);

/* Appends the completions for a shell, or the options as a man page lists them. False for another
 * word. */
bool cbx_cli_options_complete(const char *shell, struct cbx_buf *out);

#endif
