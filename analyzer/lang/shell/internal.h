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
    CBX_SHELL_OUTPUT,     /* the output of `node` */
    CBX_SHELL_HEREDOC,    /* the here-document `node`, a heredoc_redirect */
    CBX_SHELL_HERESTRING, /* the here-string `node`, a herestring_redirect */
    CBX_SHELL_OTHER,      /* a file, or the standard input of a function */
};
struct cbx_shell_input {
    enum cbx_shell_source source;
    TSNode node;
};

struct cbx_shell_name;
struct cbx_shell_flow;
struct cbx_shell_level;

/* Variables and functions of one text. */
struct cbx_shell_loop;
struct cbx_shell_names {
    struct cbx_table table; /* hash of name -> chain */
    bool lost;              /* a command assigns unknown names: no value is certain */
    /* IFS may differ from its default: the fields of an unquoted value are unknown */
    bool splits;
    bool sources; /* the text contains files that `source FILE` reads at an unknown time */
    /* the first and the last place outside of functions where a function may be called */
    uint32_t first_call, last_call;
    unsigned char args; /* the traits of the program's own parameters (traits.h) */
    struct cbx_shell_flow *flows;
    size_t flow_count, flow_size;
    /* of the collector: the place of the current node, and whether it is in a function */
    uint32_t at;
    bool inside;
    struct cbx_shell_level *levels; /* array that collect.c uses */
};

struct cbx_shell {
    struct cbx_parsed *parsed;
    const char *src;
    struct cbx_shell_names names;
    struct cbx_shell_input input;    /* standard input of the current command */
    uint32_t stream;                 /* cbx_fact.stream of the current command */
    struct cbx_shell_name *function; /* function around the current node, or NULL */
    /* the working folder, and the working folder before the last cd */
    struct cbx_places places, before;
    /* Offset of the new cell. Earlier cells and files are before it: they may have run, so their
     * values are possible and their functions may exist, but none is certain. */
    uint32_t fresh;
    /* The loop whose variable has one of its words while a command is read; the last loop whose
     * variable the command needs and that has none. */
    const struct cbx_shell_loop *turn, *needed;
    struct cbx_str turn_value;
};

/* A word after expansion. */
struct cbx_shell_text {
    struct cbx_str text;
    bool known;
    bool pattern; /* has unquoted wildcards: as a command word it matches any file */
    bool fields;  /* is the value of an unquoted variable: the shell splits it at blanks */
};

/* A command line. `patterns` and `may` have an item for each word. An item of `may` tells of a
 * word that is not constant whether it may begin like an option (CBX_SHELL_MAY_OPTION of
 * traits.h) or give several words (CBX_SHELL_MAY_SPLIT). */
struct cbx_shell_line {
    struct cbx_word *words;
    bool *patterns;
    unsigned char *may;
    size_t count;
};

/* --- nodes.c --------------------------------------------------------------------------------- */

bool cbx_shell_type_is(TSNode node, const char *type);

/* Moves the cursor like cbx_tree_move, but not deeper than CBX_TREE_DEPTH_MAX. */
bool cbx_shell_next_node(TSTreeCursor *cursor, bool inside, int *depth);

/* Returns the source of a node, borrowed from the text. */
struct cbx_str cbx_shell_source_of(const struct cbx_shell *s, TSNode node);

/* Returns true if the text contains one of these bytes. */
bool cbx_shell_has_any(struct cbx_str text, const char *bytes);

/* Returns true if this child of a command is one of its words. `behind`: the parent is a
 * redirection, whose other children are not words. */
bool cbx_shell_is_word(TSNode child, bool behind);

/* Returns true if words of a command follow the file of this `file_redirect`. */
bool cbx_shell_has_words_behind(TSNode redirect);

/* Adds a fact about the text of a node. */
void cbx_shell_add_fact(struct cbx_shell *s, enum cbx_fact_id id, struct cbx_str name, TSNode node);

/* --- mend.c ---------------------------------------------------------------------------------- */

/* cbx_lang_code.mend: the grammar does not read ${x:$i:1}, ${x:+(y $z)}, 10#$x, >x <<<y,
 * { x; } <<<y, x=$(y) 2>/dev/null, ${x%%]*}, ${x//$y\/}, s/x$//, a here-document that begins with a
 * backslash, and `for x do`, but reads a text of the same length that means the
 * same to the extractor. */
struct cbx_str cbx_shell_mend(const struct cbx_parsed *parsed, const TSLanguage *grammar);

/* cbx_lang_code.correct: after a pipeline whose last word is a number, the grammar may take the
 * next line for words of the same command; ';' means the same as the line end. */
struct cbx_str cbx_shell_correct(const struct cbx_parsed *parsed, struct cbx_str text,
                                 TSTree *tree);

/* --- fold.c ---------------------------------------------------------------------------------- */

/* A text that grows in the arena; zeroed memory is the empty text. */
struct cbx_shell_built {
    char *p;
    size_t len, size;
};

/* Appends `part`; returns false and appends nothing if the text would exceed 64 KiB or the arena
 * is exhausted. */
bool cbx_shell_append(struct cbx_arena *arena, struct cbx_shell_built *built, struct cbx_str part);

static inline struct cbx_str cbx_shell_built_text(const struct cbx_shell_built *built)
{
    return (struct cbx_str){ .p = built->p != NULL ? built->p : "", .len = built->len };
}

/* Expands a node of a word as far as constants go. */
struct cbx_shell_text cbx_shell_fold(struct cbx_shell *s, TSNode node);

/* Expands a word that is the value of an assignment, before the values of variables are known. */
struct cbx_shell_text cbx_shell_fold_constant(struct cbx_shell *s, TSNode node);

/* The same for a value that is made of the home or of the working folder at the start of the text,
 * by variables and by commands that print a folder; false for other values. */
bool cbx_shell_fold_folder(struct cbx_shell *s, TSNode node, struct cbx_shell_text *out);

/* Returns true if the text contains a substitution that no backslash quotes. The grammar leaves
 * some of them in words. */
bool cbx_shell_substitutes(struct cbx_str text);

/* --- words.c --------------------------------------------------------------------------------- */

/* Returns the words of a `command` node. Words can also follow the redirections of the
 * statements that the command ends (`a >x b`: b is a child of the redirection): `statements`,
 * innermost first. */
struct cbx_shell_line cbx_shell_read(struct cbx_shell *s, TSNode command, const TSNode *statements,
                                     size_t count);

/* Returns true for a here-string: a herestring_redirect, and a file_redirect with this operator in
 * the source (mend.c). */
bool cbx_shell_is_string(const struct cbx_shell *s, TSNode redirect);

/* Read the text of a here-document or here-string, and the output of a command such as `echo x`;
 * false if it is not a constant. */
bool cbx_shell_heredoc(struct cbx_shell *s, TSNode heredoc, struct cbx_str *out);
bool cbx_shell_output(struct cbx_shell *s, TSNode node, struct cbx_str *out);

/* Returns true if the here-document's node, or the statement, has another redirection of
 * standard input. */
bool cbx_shell_reads_more(const struct cbx_shell *s, TSNode node);

/* Returns true for a number of 10 and more: bash keeps these descriptors for itself. Through
 * them the shell of a session reads its cells and reports its state
 * (docker/inside/command/shell.c). */
bool cbx_shell_is_inner_descriptor(struct cbx_str number);

/* --- names.c ---------------------------------------------------------------------------- */

/* A place in the text; `function`: the function around it, or NULL. */
struct cbx_shell_place {
    uint32_t at;
    const struct cbx_shell_name *function;
};

struct cbx_shell_name {
    struct cbx_str name, value;
    bool assigned, constant, function, unset;
    bool earlier;   /* an earlier cell or a file defines it as a function */
    bool of_folder; /* a value is of cbx_shell_fold_folder */
    bool given;     /* the text assigns it a value, the first time at `first` */
    uint32_t first;
    bool integer;     /* declared with -i: every assignment to it is arithmetic */
    bool unset_names; /* the text has `unset` of it, the first at `unset_at` */
    uint32_t unset_at;
    bool keyed, indexed; /* declared with -A; declared without -A after that */
    /* the places from which the value and the function are certain; UINT32_MAX: never */
    uint32_t since, function_since;
    /* Traits (traits.h) of the values of a variable; of the arguments and of the output of a
     * function. */
    unsigned char may, args, output;
    /* The places where the variable gets a value that arithmetic may evaluate, in the order of
     * the text. */
    struct cbx_shell_place *unsafe;
    /* unsafe_functions: number of runs of neighbours in `unsafe` with the same function */
    size_t unsafe_count, unsafe_size, unsafe_functions;
    /* the range in which a test has shown that the value is a number */
    uint32_t valid_from, valid_until;
    /* declared with -A from this place on, in the function `keyed_in` or at the top level */
    uint32_t keyed_since;
    const struct cbx_shell_name *keyed_in;
    /* CBX_SHELL_PASSES_ALL and the number of arguments that a function takes itself, if the function
     * runs the others as a command (wrappers.c) */
    int passes;
    /* the loops of which this is the variable, in the order of the text; `open`: one more than the
     * index of the last one, while the collector is in it; 0: none */
    struct cbx_shell_loop *loops;
    size_t loop_count, loop_size, open;
    uint32_t inside;             /* number of places in functions that assign the variable */
    struct cbx_shell_name *next; /* next name with the same hash */
};

enum { CBX_SHELL_TURNS_MAX = 16 };
/* for NAME in WORD...: the words, if all are constants, and the range of the loop in the text. */
struct cbx_shell_loop {
    const struct cbx_str *turns;
    uint32_t turn_count; /* 0: a word is no constant */
    uint32_t from, until;
    bool inside;   /* the loop is in a function */
    bool changed;  /* the text of the loop assigns the variable */
    size_t around; /* as `open`: the loop around this one */
};
/* Returns the loop, one of whose constant words the variable certainly is at this place, or NULL. */
const struct cbx_shell_loop *cbx_shell_loop_of(const struct cbx_shell *s,
                                               const struct cbx_shell_name *name, uint32_t at);

/* NONE: the function runs none of its arguments as a command. UNKNOWN: it may run words that are not
 * in the text of its calls. */
enum { CBX_SHELL_PASSES_UNKNOWN = -1, CBX_SHELL_PASSES_NONE, CBX_SHELL_PASSES_ALL };

/* Returns the entry of a name, a new one if there is none: constant, never certain. Returns NULL
 * if the arena is exhausted; the table then counts as incomplete. */
struct cbx_shell_name *cbx_shell_name_make(struct cbx_shell *s, struct cbx_str name);

/* Reads the value of a variable at the place `at`; false unless every assignment in the text is
 * the same constant and one of them has certainly happened before. */
bool cbx_shell_variable(const struct cbx_shell *s, struct cbx_str name, uint32_t at,
                        struct cbx_str *out);

/* Returns the entry of a name; NULL if there is none. */
struct cbx_shell_name *cbx_shell_name_find(const struct cbx_shell *s, struct cbx_str name);

/* Returns true if the text assigns the name anywhere. */
bool cbx_shell_assigned(const struct cbx_shell *s, struct cbx_str name);

/* Returns true if the word is a function at the place `at`: the text certainly defines it, or an
 * earlier cell or a file does and no program has its name (programs.def). */
bool cbx_shell_function(const struct cbx_shell *s, struct cbx_str name, uint32_t at);

/* Returns true if the word may be a function. */
bool cbx_shell_may_be_function(const struct cbx_shell *s, struct cbx_str name);

/* --- collect.c -------------------------------------------------------------------------------- */

/* Collects the names that the text assigns and defines. */
void cbx_shell_names_collect(struct cbx_shell *s);

/* Collects the names of one statement; does not determine the traits of their values. */
void cbx_shell_names_collect_of(struct cbx_shell *s, TSNode statement);

/* --- collect_command.c ------------------------------------------------------------------------ */

/* Returns true for a builtin that changes the shell itself: its names, folder, arguments, options or
 * traps. */
bool cbx_shell_changes_shell(struct cbx_str word);

/* --- wrappers.c ------------------------------------------------------------------------------- */

/* Sets `passes` of the functions of the text. Call it before names are collected. */
void cbx_shell_wrappers_find(struct cbx_shell *s);

/* --- summary.c -------------------------------------------------------------------------------- */

/* Fills parsed->functions: the bodies of the text's functions, which also run later. */
void cbx_shell_note_functions(struct cbx_parsed *parsed);

/* Returns true if no statement of an earlier cell extends into the new one. */
bool cbx_shell_begins_alone(const struct cbx_parsed *parsed);

/* Marks the facts from index `from` on that are about names which the text does not bind:
 * earlier cells of a session may bind them, and then the text is read again with those cells. */
void cbx_shell_mark_alone(struct cbx_facts *facts, size_t from);

/* Writes the summary of the new cell (lang/summary.h) to parsed->summary: the statements that
 * bind names, or that change the meaning of other statements. */
void cbx_shell_summarise(const struct cbx_shell *s);

/* --- extract_node.c --------------------------------------------------------------------------- */

/* Adds the facts about a node that need no other context than the names; none for a `command` or a
 * `heredoc_body`. */
void cbx_shell_extract_node(struct cbx_shell *s, TSNode node);

/* The same for the `heredoc_body` of this `heredoc_redirect`. */
void cbx_shell_extract_heredoc(struct cbx_shell *s, TSNode body, TSNode redirect);

/* --- redirect.c ------------------------------------------------------------------------------- */

/* Adds facts for a `file_redirect`: its target, and the descriptors that bash keeps for itself. */
void cbx_shell_extract_redirect(struct cbx_shell *s, TSNode node);

/* --- cwd.c ----------------------------------------------------------------------------------- */

/* How a cd inside of a node affects the commands after the node. KEEPS: not at all, the node
 * runs in a process of its own. MAY_CHANGE: the node may not run, or runs when a function is
 * called, so the folder may have changed. */
enum cbx_shell_scope { CBX_SHELL_SCOPE_PASSES, CBX_SHELL_SCOPE_MAY_CHANGE, CBX_SHELL_SCOPE_KEEPS };
enum cbx_shell_scope cbx_shell_scope_of(TSNode up, TSNode node);

/* --- run.c ------------------------------------------------------------------------------ */

/* Judges a command line: its words, the commands inside it, and code that it runs. */
void cbx_shell_judge(struct cbx_shell *s, const struct cbx_shell_line *line);

/* Adds a fact if an assignment of this variable changes the meaning of later words. */
void cbx_shell_check_variable(struct cbx_shell *s, struct cbx_str name, uint32_t start,
                              uint32_t end);

/* Returns true if the path is in the folders that a program may write, from every possible
 * working folder. */
bool cbx_shell_is_inside(const struct cbx_shell *s, struct cbx_str path);

/* Returns true if the path is in these folders from every working folder that is one of them. */
bool cbx_shell_stays_inside(struct cbx_str path);

/* Returns true for a path in a folder of the system. */
bool cbx_shell_is_of_system(struct cbx_str path);

/* Stores the working folders and the stream of the current command in a fact about it. */
void cbx_shell_note_command(const struct cbx_shell *s, struct cbx_fact *fact);

/* Adds a fact if a redirection, or an option that writes, has a target that is not allowed. */
void cbx_shell_check_target(struct cbx_shell *s, struct cbx_str path, bool known, bool writes,
                            uint32_t start, uint32_t end);

/* Returns the end of the expansion that begins at `at`: $x, $1, ${...}, $(...), `...`. */
size_t cbx_shell_end_of_expansion(struct cbx_str word, size_t at);

/* Returns true for a slash and a star behind an unknown word: these are files of the folder that the
 * word names. */
bool cbx_shell_is_in_unknown_folder(struct cbx_shell *s, TSNode node);

/* Adds facts for a word that is not constant but may be a path (paths.c). */
void cbx_shell_extract_path(struct cbx_shell *s, TSNode node);
/* Sets the alternatives and the known parts of an argument whose word is not constant. */
void cbx_shell_read_partial(struct cbx_shell *s, const struct cbx_word *word, struct cbx_arg *arg);

/* Returns true for one of the shell's own words for control flow and variables. */
bool cbx_shell_is_own_word(struct cbx_str word);

/* Returns true if the policy lists the command, or it is one of the shell's own words for
 * control flow. */
bool cbx_shell_is_allowed(const struct cbx_shell *s, struct cbx_str word);

#endif
