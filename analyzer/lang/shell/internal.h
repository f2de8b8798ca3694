/* SPDX-License-Identifier: MIT
 * Declarations that the files of the shell extractor share. Private to analyzer/lang/shell/; the
 * public part is cbx_lang_code_shell (lang.h). */
#ifndef CBX_ANALYZER_LANG_SHELL_INTERNAL_H
#define CBX_ANALYZER_LANG_SHELL_INTERNAL_H

#include "analyzer/facts/places.h"
#include "analyzer/packages/install.h"
#include "analyzer/parse.h"
#include "policies/base/table.h"

/* The source of a command's standard input, as far as the text determines it. */
enum cbx_shell_source {
    CBX_SHELL_INHERITED = 0,
    CBX_SHELL_OUTPUT,     /* what `node` writes */
    CBX_SHELL_HEREDOC,    /* `node` is the heredoc_redirect */
    CBX_SHELL_HERESTRING, /* `node` is the herestring_redirect */
    CBX_SHELL_OTHER,      /* a file, or the caller of the function */
};
struct cbx_shell_input {
    enum cbx_shell_source source;
    TSNode node;
};

struct cbx_shell_name;
struct cbx_shell_flow;
struct cbx_shell_level;

/* Variables and functions of one text. */
struct cbx_shell_names {
    struct cbx_table table; /* by name */
    bool lost;              /* a command assigns unknown names: nothing is certain */
    bool splits;            /* IFS may be another: the fields of an unquoted value are not known */
    bool sources; /* files that stand in the text are read (source FILE), when is not known */
    /* the first and the last place outside of functions where one may be called */
    uint32_t first_call, last_call;
    unsigned char args; /* the traits of the program's own parameters (traits.h) */
    struct cbx_shell_flow *flows;
    size_t flow_count, flow_size;
    struct cbx_shell_level *levels; /* memory of collect.c */
};

struct cbx_shell {
    struct cbx_parsed *parsed;
    const char *src;
    struct cbx_shell_names names;
    struct cbx_shell_input input;     /* of the present command */
    struct cbx_shell_name *function;  /* around the present node, or NULL */
    struct cbx_places places, before; /* the working folder, and the one before the last cd */
    /* Where the new cell begins. What stands before it belongs to earlier cells and to files: it
     * may have run, so that its values are possible and its functions may exist, but nothing of
     * it is certain. */
    uint32_t fresh;
};

/* A word after expansion. */
struct cbx_shell_text {
    struct cbx_str text;
    bool known;
    bool pattern; /* it has unquoted wildcards: as a command word it names any matching file */
    bool fields;  /* the value of an unquoted variable: it is split at blanks */
};

/* A command line. `patterns` and `may` go with `words`; may: of the words that are not constant,
 * whether they begin like an option (CBX_SHELL_MAY_OPTION of traits.h) or are several words
 * (CBX_SHELL_MAY_SPLIT). */
struct cbx_shell_line {
    struct cbx_word *words;
    bool *patterns;
    unsigned char *may;
    size_t count;
};

/* --- nodes.c --------------------------------------------------------------------------------- */

bool cbx_shell_type_is(TSNode node, const char *type);

/* Moves to the next node of a tree in the order of the text: into the present one when `inside`.
 * *depth is 0 at the node where the walk began; false behind its end. Not deeper than
 * CBX_TREE_DEPTH_MAX. */
bool cbx_shell_next_node(TSTreeCursor *cursor, bool inside, int *depth);

/* The source of a node. Borrows from the text. */
struct cbx_str cbx_shell_source_of(const struct cbx_shell *s, TSNode node);

/* True when the text contains one of these bytes. */
bool cbx_shell_has_any(struct cbx_str text, const char *bytes);

/* True when this child of a command is one of its words. `behind`: of a redirection, whose other
 * children are not words. */
bool cbx_shell_is_word(TSNode child, bool behind);

/* True when words of a command follow the file of this `file_redirect`. */
bool cbx_shell_has_words_behind(TSNode redirect);

/* --- mend.c ---------------------------------------------------------------------------------- */

/* cbx_lang_code.mend: the grammar does not read ${x:$i:1}, and reads ${x: i:1}, which means the
 * same. */
struct cbx_str cbx_shell_mend(const struct cbx_parsed *parsed, const TSLanguage *grammar);

/* cbx_lang_code.correct: behind a pipeline whose last word is a number, the grammar can take the
 * next line for words of the same command; ';' means the same as the line end. */
struct cbx_str cbx_shell_correct(const struct cbx_parsed *parsed, struct cbx_str text,
                                 TSTree *tree);

/* --- fold.c ---------------------------------------------------------------------------------- */

/* A text that is put together in the arena; zeroed memory is the empty text. */
struct cbx_shell_built {
    char *p;
    size_t len, size;
};

/* Appends `part`; false, and nothing is appended, when the text would pass 64 KiB or the arena
 * is exhausted. */
bool cbx_shell_append(struct cbx_arena *arena, struct cbx_shell_built *built, struct cbx_str part);

static inline struct cbx_str cbx_shell_built_text(const struct cbx_shell_built *built)
{
    return (struct cbx_str){ .p = built->p != NULL ? built->p : "", .len = built->len };
}

/* Expands a node of a word as far as constants go. */
struct cbx_shell_text cbx_shell_fold(struct cbx_shell *s, TSNode node);

/* Expands a word that is an assignment's value, before variables are known. */
struct cbx_shell_text cbx_shell_fold_constant(struct cbx_shell *s, TSNode node);

/* True when the text contains a substitution that is not quoted by a backslash. The grammar leaves
 * some of them in words. */
bool cbx_shell_substitutes(struct cbx_str text);

/* --- words.c --------------------------------------------------------------------------------- */

/* The words of a `command` node. Words can also follow the redirections of the statements that it
 * ends (`a >x b`: b is a child of the redirection): `statements`, innermost first. */
struct cbx_shell_line cbx_shell_read(struct cbx_shell *s, TSNode command, const TSNode *statements,
                                     size_t count);

/* The text of a here-document or here-string, or the output of a command such as `echo x`; false
 * when it is not a constant. */
bool cbx_shell_heredoc(struct cbx_shell *s, TSNode heredoc, struct cbx_str *out);
bool cbx_shell_output(struct cbx_shell *s, TSNode node, struct cbx_str *out);

/* True when the here-document's node, or the statement, has another redirection of standard
 * input. */
bool cbx_shell_reads_more(const struct cbx_shell *s, TSNode node);

/* True for a number of 10 and more: descriptors that bash keeps for itself. Through them the
 * shell of a session reads its cells and reports its state (docker/inside/command/shell.c). */
bool cbx_shell_is_inner_descriptor(struct cbx_str number);

/* --- names.c ---------------------------------------------------------------------------- */

/* A place in the text, in a function or outside of all. */
struct cbx_shell_place {
    uint32_t at;
    const struct cbx_shell_name *function;
};

struct cbx_shell_name {
    struct cbx_str name, value;
    bool assigned, constant, function, unset;
    bool earlier; /* a function of an earlier cell or of a file */
    bool given;   /* the text assigns it a value, first at `first` */
    uint32_t first;
    bool integer;     /* declared with -i: every assignment is arithmetic */
    bool unset_names; /* `unset` of it, only behind unset_at */
    uint32_t unset_at;
    bool keyed, indexed;            /* declared with -A; with -a, or without */
    uint32_t since, function_since; /* UINT32_MAX: never for certain */
    /* The traits (traits.h) of its values as a variable; of the arguments and of the output of a
     * function. */
    unsigned char may, args, output;
    /* The places where it gets a value that arithmetic may evaluate, in the order of the text. */
    struct cbx_shell_place *unsafe;
    size_t unsafe_count, unsafe_size, unsafe_functions; /* how often the function changes */
    uint32_t valid_from, valid_until; /* where a test has shown that it is a number */
    uint32_t keyed_since;             /* declared with -A from here on, in keyed_in or at the top */
    const struct cbx_shell_name *keyed_in;
    struct cbx_shell_name *next; /* of the same hash */
};

/* The entry of a name, a new one when there is none: constant, never certain. NULL when the
 * arena is exhausted; the table then counts as incomplete. */
struct cbx_shell_name *cbx_shell_name_make(struct cbx_shell *s, struct cbx_str name);

/* The value of a variable at the place `at`: true when every assignment in the text is the same
 * constant and one of them has certainly happened before. */
bool cbx_shell_variable(const struct cbx_shell *s, struct cbx_str name, uint32_t at,
                        struct cbx_str *out);

/* The entry of a name, or NULL. */
struct cbx_shell_name *cbx_shell_name_find(const struct cbx_shell *s, struct cbx_str name);

/* True when the text assigns the name anywhere. */
bool cbx_shell_assigned(const struct cbx_shell *s, struct cbx_str name);

/* True when the word is a function of this text at the place `at`: certainly, or of an earlier
 * cell or a file, and then no program has its name (programs.def). */
bool cbx_shell_function(const struct cbx_shell *s, struct cbx_str name, uint32_t at);

/* True when it may be one. */
bool cbx_shell_may_be_function(const struct cbx_shell *s, struct cbx_str name);

/* --- collect.c -------------------------------------------------------------------------------- */

/* Collects the names that the text assigns and defines. */
void cbx_shell_names_collect(struct cbx_shell *s);

/* The same for one statement; the traits of the values are not found. */
void cbx_shell_names_collect_of(struct cbx_shell *s, TSNode statement);

/* --- summary.c -------------------------------------------------------------------------------- */

/* Fills parsed->functions: the bodies of the text's functions, which run later too. */
void cbx_shell_note_functions(struct cbx_parsed *parsed);

/* True when no statement of an earlier cell reaches into the new one. */
bool cbx_shell_begins_alone(const struct cbx_parsed *parsed);

/* Marks the facts from index `from` on that are about names which the text does not bind:
 * earlier cells of a session may bind them, and with these the text is read again. */
void cbx_shell_mark_alone(struct cbx_facts *facts, size_t from);

/* Writes the summary of the new cell (lang/summary.h) to parsed->summary: the statements that
 * bind names, or that change what other statements mean. */
void cbx_shell_summarise(const struct cbx_shell *s);

/* --- redirect.c ------------------------------------------------------------------------------- */

/* Adds facts for a `file_redirect`: its target, and descriptors of the shell itself. */
void cbx_shell_extract_redirect(struct cbx_shell *s, TSNode node);

/* --- cwd.c ----------------------------------------------------------------------------------- */

/* What a cd inside of a node is to the commands behind it: in a process of its own it is
 * nothing, and what may not run, or runs when a function is called, may have changed the folder. */
enum cbx_shell_scope { CBX_SHELL_SCOPE_PASSES, CBX_SHELL_SCOPE_MAY_CHANGE, CBX_SHELL_SCOPE_KEEPS };
enum cbx_shell_scope cbx_shell_scope_of(TSNode up, TSNode node);

/* --- run.c ------------------------------------------------------------------------------ */

/* Judges a command line: its words, the commands inside it, and code that it runs. */
void cbx_shell_judge(struct cbx_shell *s, const struct cbx_shell_line *line);

/* Adds a fact when an assignment of this variable changes the meaning of later words. */
void cbx_shell_check_variable(struct cbx_shell *s, struct cbx_str name, uint32_t start,
                              uint32_t end);

/* True for a path in the folders that a program may write, from each working folder that is
 * possible. */
bool cbx_shell_is_inside(const struct cbx_shell *s, struct cbx_str path);

/* True when that holds from every working folder that is one of these folders. */
bool cbx_shell_stays_inside(struct cbx_str path);

/* True for a path in a folder of the system. */
bool cbx_shell_is_of_system(struct cbx_str path);

/* Adds a fact when a redirection, or an option that writes, has a target that is not allowed. */
void cbx_shell_check_target(struct cbx_shell *s, struct cbx_str path, bool known, bool writes,
                            uint32_t start, uint32_t end);

/* Adds facts for a word that is not constant but may be a path (paths.c). */
void cbx_shell_extract_path(struct cbx_shell *s, TSNode node);

/* True for one of the shell's own words for control flow and variables. */
bool cbx_shell_is_own_word(struct cbx_str word);

/* True when the policy lists the command, or it is one of the shell's own for control flow. */
bool cbx_shell_is_allowed(const struct cbx_shell *s, struct cbx_str word);

#endif
