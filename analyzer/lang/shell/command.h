/* SPDX-License-Identifier: MIT
 * A command line that is being judged. Private to analyzer/lang/shell/. */
#ifndef CBX_ANALYZER_LANG_SHELL_COMMAND_H
#define CBX_ANALYZER_LANG_SHELL_COMMAND_H

#include "analyzer/lang/shell/traits.h"

/* A command, or a command that another one runs (a runner: xargs, find -exec). */
struct cbx_shell_command {
    struct cbx_shell *s;
    const struct cbx_word *words; /* at least one word */
    const bool *patterns;
    const unsigned char *may;
    size_t count;
    int depth;
    bool by_shell;                   /* the shell runs it, at any depth: it may be a function */
    bool fed;                        /* true if the runner adds words when it runs */
    unsigned fed_may;                /* traits of the added words (traits.h) */
    struct cbx_str hole;             /* text that the runner replaces in its words, or empty */
    const struct cbx_str *fed_words; /* some of the words that the runner adds */
    size_t fed_count;
    bool fed_all; /* true if these are all of them */
    bool filled;  /* they are among `words` */
};

#define CBX_SHELL_COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* Adds the fact that a part of the command (`what`) is computed. */
void cbx_shell_unresolved(struct cbx_shell *s, const char *what, const struct cbx_word *word);

/* Adds the fact that the command runs the word, a script of its own language, and that a part of the
 * word is unknown; for a word of which nothing is known, the fact that its code is computed. */
void cbx_shell_unknown_script(const struct cbx_shell_command *c, const struct cbx_word *word);

/* Returns true if a command reads the word as an option. */
bool cbx_shell_is_option(const struct cbx_word *word);

/* The kinds of options: without a value, with a value, with code, with the name of a module.
 * Lists of long names have blanks around each name; a short option may be anywhere in a cluster. */
enum cbx_shell_option {
    CBX_SHELL_OPTION_PLAIN,
    CBX_SHELL_OPTION_VALUE,
    CBX_SHELL_OPTION_CODE,
    CBX_SHELL_OPTION_MODULE
};
struct cbx_shell_options {
    const char *values, *long_values, *code, *long_code, *module;
};

/* Reads the option at *w, moves *w past it and its value, and sets *value. */
enum cbx_shell_option cbx_shell_take_option(const struct cbx_shell_command *c, size_t *w,
                                            const struct cbx_shell_options *names,
                                            struct cbx_word *value);

/* Returns true if the runner replaces a part of the text (xargs -I X, find -exec {}). */
bool cbx_shell_has_hole(const struct cbx_shell_command *c, struct cbx_str text);

/* --- awk.c ---------------------------------------------------------------------------------- */

/* Judges awk and its relatives: options that load code, unknown programs, and programs that
 * print into files and commands. */
void cbx_shell_judge_awk(const struct cbx_shell_command *c);

/* --- sent.c --------------------------------------------------------------------------------- */

/* Adds a fact if the command sends the environment or a credential to another machine. */
void cbx_shell_check_sent(const struct cbx_shell_command *c, struct cbx_str name);

/* --- cwd.c -------------------------------------------------------------------------------- */

/* Sets the working folder of the following commands, after cd, pushd and popd. */
void cbx_shell_follow_place(const struct cbx_shell_command *c, struct cbx_str name);

/* Finds the words that the pipe before a command feeds it: all words of a constant output, or
 * the folders that a list of files is from. `lines`: each line is a word. */
void cbx_shell_read_fed(struct cbx_shell_command *c, bool lines);

/* Returns the command with the fed words: with word `at` in the place of the holes, or with all of
 * them at its end if it has no hole. False if there is no such word, or if the words are not known
 * for certain. */
bool cbx_shell_fill_fed(const struct cbx_shell_command *c, size_t at,
                        struct cbx_shell_command *out);

/* Adds the known fed words to the arguments of a call. */
void cbx_shell_add_fed(const struct cbx_shell_command *c, struct cbx_fact *fact);

/* Judges constant code in its language ("" = not supported); adds a fact for any other code. */
void cbx_shell_judge_code(struct cbx_shell *s, const char *language, struct cbx_str text,
                          bool known, const struct cbx_word *place);

/* Judges the words from `from` on as one line of shell. */
void cbx_shell_judge_joined(const struct cbx_shell_command *c, size_t from);

/* Judges the command that begins at the word `from`; `fed`: the runner adds words to it. */
void cbx_shell_judge_inner(const struct cbx_shell_command *c, size_t from, bool fed);

/* Returns true if the command is "$@" of a function whose calls are judged with their arguments. */
bool cbx_shell_is_passed(const struct cbx_shell_command *c);

/* Judges the words that a function of the text runs as a command, if the first word is such a
 * function. */
void cbx_shell_judge_passed(const struct cbx_shell_command *c);

/* Returns true for a program that runs the words after its own as a command: env, timeout. */
bool cbx_shell_is_runner(struct cbx_str name);

/* Judges the command that begins at the word `from` and that the shell itself runs, so that it may
 * be a function. */
void cbx_shell_judge_in_shell(const struct cbx_shell_command *c, size_t from);

/* Adds the command as a call, for rules with calls and capabilities. */
void cbx_shell_add_call(const struct cbx_shell_command *c, struct cbx_str name);

/* Judges the command by its name: interpreters (code.c), commands that run others (run.c), and
 * builtins and tools with a language of their own (special.c). */
void cbx_shell_judge_interpreters(const struct cbx_shell_command *c, struct cbx_str name);
void cbx_shell_judge_specials(const struct cbx_shell_command *c, struct cbx_str name);

/* Adds facts for words that the command may take for an option that runs code (options.c). */
void cbx_shell_check_options(const struct cbx_shell_command *c, struct cbx_str name);

/* Checks arguments that run code, and files that the command writes. */
void cbx_shell_check_arguments(const struct cbx_shell_command *c, struct cbx_str name);

#endif
