/* SPDX-License-Identifier: MIT
 * A command line while it is judged. Private to analyzer/lang/shell_*.c. */
#ifndef CBX_ANALYZER_LANG_SHELL_COMMAND_H
#define CBX_ANALYZER_LANG_SHELL_COMMAND_H

#include "analyzer/lang/shell/internal.h"

/* A command, or one inside another. */
struct cbx_shell_command {
    struct cbx_shell *s;
    const struct cbx_word *words; /* at least one */
    const bool *patterns;
    size_t count;
    int depth;
    bool fed;            /* more words are added when it runs */
    struct cbx_str hole; /* what is replaced in its words when it runs, or empty */
};

#define CBX_SHELL_COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* A fact that something is computed: `what` says what. */
void cbx_shell_unresolved(struct cbx_shell *s, const char *what, const struct cbx_word *word);

/* Is the word one that a command takes as an option? */
bool cbx_shell_is_option(const struct cbx_word *word);

/* What stands at an option: its own letters, with a value, with code, with a module's name. Lists
 * of long names have blanks around each; a short one may stand anywhere in a cluster. */
enum cbx_shell_option {
    CBX_SHELL_OPTION_PLAIN,
    CBX_SHELL_OPTION_VALUE,
    CBX_SHELL_OPTION_CODE,
    CBX_SHELL_OPTION_MODULE
};
struct cbx_shell_options {
    const char *values, *long_values, *code, *long_code, *module;
};

/* Reads the option at *w and moves behind it and its value, which is then in *value. */
enum cbx_shell_option cbx_shell_take_option(const struct cbx_shell_command *c, size_t *w,
                                            const struct cbx_shell_options *names,
                                            struct cbx_word *value);

/* Will the text be another one when the command runs (xargs -I X, find -exec {})? */
bool cbx_shell_has_hole(const struct cbx_shell_command *c, struct cbx_str text);

/* Code that is a constant is judged as its language ("" = none that can be read); any other is a
 * fact. */
void cbx_shell_judge_code(struct cbx_shell *s, const char *language, struct cbx_str text,
                          bool known, const struct cbx_word *place);

/* The words from `from` on as one line of shell. */
void cbx_shell_judge_joined(const struct cbx_shell_command *c, size_t from);

/* The command that begins at the word `from`; `fed`: more words are added to it. */
void cbx_shell_judge_inner(const struct cbx_shell_command *c, size_t from, bool fed);

/* The command as a call, for rules that speak of calls and capabilities. */
void cbx_shell_add_call(const struct cbx_shell_command *c, struct cbx_str name);

/* What the command does by its name, when it is an interpreter (code.c), one that runs others
 * (run.c), or a builtin or tool with a language of its own (special.c). */
void cbx_shell_judge_interpreters(const struct cbx_shell_command *c, struct cbx_str name);
void cbx_shell_judge_specials(const struct cbx_shell_command *c, struct cbx_str name);

/* Arguments that hand code out, and files that are written. */
void cbx_shell_check_arguments(const struct cbx_shell_command *c, struct cbx_str name);

#endif
