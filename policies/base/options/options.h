/* SPDX-License-Identifier: MIT
 * Command lines from one table: parsing, --help, completions for shells and the list of a man
 * page. A program has one row per option and the struct that the rows fill. */
#ifndef CBX_POLICIES_BASE_OPTIONS_OPTIONS_H
#define CBX_POLICIES_BASE_OPTIONS_OPTIONS_H

#include "policies/base/arena.h"
#include "policies/base/buf.h"
#include "policies/base/err.h"

/* The type of an option's member. */
enum cbx_option_type {
    CBX_OPTION_FLAG,   /* bool */
    CBX_OPTION_TEXT,   /* const char *: the last one counts; NULL if not given */
    CBX_OPTION_WORD,   /* const char *: one of the row's words */
    CBX_OPTION_NUMBER, /* int64_t in lo..hi; unchanged if not given */
    CBX_OPTION_LIST,   /* struct cbx_words: each occurrence adds a value */
};

/* The values of an option that may be given more than once, and the arguments. */
struct cbx_words {
    const char **items;
    size_t count, size;
};

/* The member that an option of a type is stored in: CBX_MEMBER_<type>. */
#define CBX_MEMBER_FLAG   bool
#define CBX_MEMBER_TEXT   const char *
#define CBX_MEMBER_WORD   const char *
#define CBX_MEMBER_NUMBER int64_t
#define CBX_MEMBER_LIST   struct cbx_words

struct cbx_option {
    const char *name; /* name without the dashes */
    char letter;      /* -h is --help; '\0' = none */
    enum cbx_option_type type;
    size_t offset;
    const char *value;    /* name of the value in help; NULL for a flag */
    const char *words;    /* the permitted values, or a kind that begins with '@', or NULL */
    int64_t lo, hi;       /* range of a number; of a list's length, 0, 0 = any */
    const char *commands; /* letters of the commands that accept it; NULL = every command */
    const char *help;     /* one line; "{words}" stands for the words */
};

/* A kind of values: files, the rows of a table, the output of a command. */
struct cbx_option_kind {
    const char *name; /* "@file", ... */
    bool files;       /* true if files complete it */
    /* Appends the words, separated by blanks; NULL: any text is allowed. */
    void (*words)(struct cbx_buf *out);
    /* command that prints a value in the first column of each line; NULL = none */
    const char *command;
};

struct cbx_option_table {
    const char *program;
    const struct cbx_option *rows;
    size_t count;
    const struct cbx_option_kind *kinds;
    size_t kind_count;
    char command;             /* only rows that this command accepts; '\0' = all */
    bool first_argument_ends; /* true if no options follow the first argument */
    const char *environment;  /* prefix of variables that set options; NULL = none */
};

/* The source of a value; later sources replace earlier ones. */
enum cbx_option_source {
    CBX_OPTION_OF_DEFAULT,
    CBX_OPTION_OF_FILE,
    CBX_OPTION_OF_ENVIRONMENT,
    CBX_OPTION_OF_COMMAND_LINE,
};
struct cbx_option_origin {
    enum cbx_option_source source;
    uint32_t line, column; /* place of the key in the file */
};

/* Maximum size of a label, which names an option in an error. */
enum { CBX_OPTION_LABEL_BYTES = 96 };

/* The result of reading a command line. */
struct cbx_option_values {
    void *into;                        /* the struct of the rows' offsets */
    struct cbx_arena *arena;           /* arena of lists */
    struct cbx_words rest;             /* arguments that are no options, in order */
    struct cbx_option_origin *origins; /* one for each row of the table; NULL = not recorded */
};

/* Reads argv[from..argc). "--name value" and "--name=value" are equivalent, "-x" is the option
 * with that letter, after "--" everything is an argument, and so is "-". Values are borrowed
 * from argv. CBX_EINVAL with the option, the found and the allowed value; an unknown option
 * comes with the nearest known name. */
int cbx_options_read(const struct cbx_option_table *table, int argc, char **argv, int from,
                     struct cbx_option_values *out, struct cbx_err *err);

/* Sets one value of this row's option, as in a configuration file: a flag is "true" or "false".
 * `label` names it in an error: "key 'max-runs'". CBX_EINVAL, CBX_ETOOBIG. */
int cbx_option_set(const struct cbx_option_table *table, const struct cbx_option *row,
                   const char *label, const char *value, struct cbx_option_values *out,
                   struct cbx_err *err);

/* Sets the source of the row's next values. If the source is later than before, a list is
 * cleared. No effect without origins. */
void cbx_option_begin(const struct cbx_option_table *table, const struct cbx_option *row,
                      struct cbx_option_origin origin, struct cbx_option_values *out);

/* Reads the variable PREFIX_NAME of each row: the option's name in capitals, with '_' for '-'. A
 * list is separated by blanks. CBX_EINVAL with the variable and the allowed value. */
int cbx_options_read_environment(const struct cbx_option_table *table,
                                 struct cbx_option_values *out, struct cbx_err *err);

/* Writes the name of its variable; an empty text if the name does not fit. */
void cbx_option_variable(const struct cbx_option_table *table, const struct cbx_option *row,
                         char *out, size_t size);

/* Returns the option of this name that the table's command accepts; NULL if there is none. */
const struct cbx_option *cbx_option_find(const struct cbx_option_table *table, struct cbx_str name);

/* Returns the known name nearest to an unknown one; NULL if none is near. */
const char *cbx_option_nearest(const struct cbx_option_table *table, struct cbx_str name);

/* True if the table's command accepts this option. */
bool cbx_option_is_of(const struct cbx_option_table *table, const struct cbx_option *row);

/* Appends the row's help, with its words inserted. */
void cbx_option_sentence(const struct cbx_option_table *table, const struct cbx_option *row,
                         struct cbx_buf *out);

/* Appends the list of options for --help. */
void cbx_options_help(const struct cbx_option_table *table, struct cbx_buf *out);

/* The words that cbx_options_complete accepts. */
#define CBX_OPTION_SHELLS "bash zsh fish man"

/* Appends the completions for a shell, or the list of options for a man page (mdoc). Nothing for
 * another word. */
void cbx_options_complete(const struct cbx_option_table *table, const char *shell,
                          struct cbx_buf *out);

#endif
