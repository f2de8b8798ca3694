/* SPDX-License-Identifier: MIT
 * Traits of the output of commands (outputs.def): a command, the last command of a pipeline with
 * its input, or all commands of a compound statement. */
#include "analyzer/lang/shell/outputs.h"

#include <ctype.h>

enum { OUTPUT_DEPTH_MAX = 16, WORDS_MAX = 24 };
enum kind { NOTHING, NUMBERS, COUNTS, PATHS, NAMES, FOUND, LISTED, WORDS, PASSES, UNKNOWN };

static const struct {
    const char *word;
    enum kind kind;
} outputs[] = {
#define CBX_SHELL_OUTPUT(word, kind) { word, kind },
#include "analyzer/lang/shell/outputs.def"
};
static const struct {
    const char *word, *option, *operand;
} digits[] = {
#define CBX_SHELL_DIGITS(word, option, operand) { word, option, operand },
#include "analyzer/lang/shell/outputs.def"
};

/* The words of a command. */
struct line {
    TSNode nodes[WORDS_MAX];
    struct cbx_str texts[WORDS_MAX]; /* NULL: not a constant */
    size_t count, operands;
    bool all; /* true if `texts` has all words */
};

struct state {
    struct cbx_shell *s;
    struct cbx_shell_name *function;
};

static void read_line(struct cbx_shell *s, TSNode command, struct line *out)
{
    *out = (struct line){ .all = true };
    TSTreeCursor cursor = ts_tree_cursor_new(command);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (!cbx_shell_is_word(child, false)) {
            continue;
        }
        if (out->count == WORDS_MAX) {
            out->all = false;
            break;
        }
        struct cbx_shell_text text = cbx_shell_fold_constant(s, child);
        bool option = text.known && text.text.len > 1 && text.text.p[0] == '-';
        out->operands += out->count > 0 && !option;
        out->nodes[out->count] = child;
        out->texts[out->count++] = text.known ? text.text : (struct cbx_str){ 0 };
    }
    ts_tree_cursor_delete(&cursor);
}

static bool has_word(const struct line *line, const char *word)
{
    for (size_t w = 1; w < line->count; w++) {
        if (line->texts[w].p != NULL && cbx_str_is(line->texts[w], word)) {
            return true;
        }
    }
    return false;
}

static bool writes_digits(const struct line *line)
{
    for (size_t i = 0; i < sizeof(digits) / sizeof(digits[0]); i++) {
        if (cbx_str_is(line->texts[0], digits[i].word) && has_word(line, digits[i].option) &&
            (digits[i].operand[0] == '\0' || has_word(line, digits[i].operand))) {
            /* with several files grep also writes their names */
            return !(cbx_str_is(line->texts[0], "grep") && line->operands > 2);
        }
    }
    return false;
}

/* Returns true for printf FORMAT if it writes numbers only: %d, %f. */
static bool formats_numbers(const struct line *line)
{
    struct cbx_str format = line->count > 1 ? line->texts[1] : (struct cbx_str){ 0 };
    bool percent = false;
    for (size_t i = 0; i < format.len; i++) {
        unsigned char c = (unsigned char)format.p[i];
        bool ends = percent && strchr("dfiu", c) != NULL;
        bool escape = c == '\\' && i + 1 < format.len && format.p[i + 1] == 'n';
        if (!ends && !escape && !isdigit(c) && strchr("%.-+ ", c) == NULL) {
            return false;
        }
        percent = !ends && (percent || c == '%');
        i += escape;
    }
    return format.len > 0 && line->texts[0].len == 6;
}

/* --- awk -------------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return c == '_' || isalpha((unsigned char)c);
}

/* Returns true if the program assigns the name anything but sums and counts. */
static bool awk_assigns(struct cbx_str program, struct cbx_str name)
{
    for (size_t i = 0; i + name.len < program.len; i++) {
        bool here =
            memcmp(program.p + i, name.p, name.len) == 0 &&
            (i == 0 || !(is_letter(program.p[i - 1]) || isdigit((unsigned char)program.p[i - 1])));
        size_t at = i + name.len;
        while (here && at < program.len && memchr(" \t", program.p[at], 2) != NULL) {
            at++;
        }
        if (here && at + 1 < program.len && program.p[at] == '=' && program.p[at + 1] != '=') {
            size_t value = at + 1;
            while (value < program.len && memchr(" 0123456789", program.p[value], 11) != NULL) {
                value++;
            }
            if (value < program.len && memchr(";}", program.p[value], 2) == NULL) {
                return true;
            }
        }
    }
    return false;
}

/* Returns true if the operands of one print are numbers, counters, or, if `counts`, the first
 * field of lines that begin with a number. */
static bool prints_numbers(struct cbx_str program, struct cbx_str operands, bool counts)
{
    static const char *const known[] = { "NR", "NF", "FNR", "int", "length" };
    for (size_t i = 0; i < operands.len;) {
        char c = operands.p[i];
        size_t from = i;
        if (is_letter(c)) {
            while (i < operands.len &&
                   (is_letter(operands.p[i]) || isdigit((unsigned char)operands.p[i]))) {
                i++;
            }
            struct cbx_str name = cbx_str_sub(operands, from, i);
            bool is_known = false;
            for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
                is_known |= cbx_str_is(name, known[k]);
            }
            if (!is_known && awk_assigns(program, name)) {
                return false;
            }
        } else if (c == '$') {
            if (!counts || i + 1 >= operands.len || operands.p[i + 1] != '1') {
                return false;
            }
            i += 2;
        } else if (c == '"') {
            for (i++; i < operands.len && operands.p[i] != '"'; i++) {
                if (memchr("%.0123456789dfi\\n ", operands.p[i], 18) == NULL) {
                    return false;
                }
            }
            i++;
        } else if (isdigit((unsigned char)c) || memchr(" +-*/%(),.?:><", c, 14) != NULL) {
            i++;
        } else {
            return false;
        }
    }
    return operands.len > 0;
}

/* Returns true for awk if each of its prints writes numbers. */
static bool awk_counts(const struct line *line, bool counts)
{
    size_t w = 1;
    while (w < line->count && line->texts[w].p != NULL &&
           cbx_str_starts(line->texts[w], CBX_STR("-F"))) {
        w += line->texts[w].len == 2 ? 2 : 1;
    }
    struct cbx_str program = w < line->count ? line->texts[w] : (struct cbx_str){ 0 };
    bool prints = false;
    if (program.p == NULL || memmem(program.p, program.len, "sub(", 4) != NULL ||
        memmem(program.p, program.len, "split(", 6) != NULL ||
        memmem(program.p, program.len, "getline", 7) != NULL ||
        memmem(program.p, program.len, " in ", 4) != NULL) {
        return false;
    }
    for (size_t i = 0; i + 5 <= program.len;) {
        const char *print = memmem(program.p + i, program.len - i, "print", 5);
        if (print == NULL) {
            break;
        }
        size_t from = (size_t)(print - program.p) + 5, end;
        from += from < program.len && program.p[from] == 'f';
        for (end = from; end < program.len && memchr(";}\n", program.p[end], 3) == NULL; end++) {
        }
        if (!prints_numbers(program, cbx_str_sub(program, from, end), counts)) {
            return false;
        }
        prints = true;
        i = end;
    }
    /* a pattern without an action prints the line */
    return prints && program.len > 0 && program.p[program.len - 1] == '}' &&
           (program.p[0] == '{' || cbx_str_starts(program, CBX_STR("END")) ||
            cbx_str_starts(program, CBX_STR("NR")) || cbx_str_starts(program, CBX_STR("BEGIN")) ||
            memmem(program.p, program.len, "END", 3) != NULL || program.p[0] == '$' ||
            program.p[0] == '/');
}

/* --- commands --------------------------------------------------------------------------------- */

static enum kind kind_of(struct cbx_str word)
{
    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
        if (cbx_str_is(word, outputs[i].word)) {
            return outputs[i].kind;
        }
    }
    return UNKNOWN;
}

static unsigned of_words(struct state *t, const struct line *line, size_t from, int depth)
{
    unsigned may = 0;
    for (size_t w = from; w < line->count; w++) {
        unsigned word = cbx_shell_traits_at(t->s, line->nodes[w], t->function, depth + 1);
        may |= w == from ? word : word & ~(unsigned)CBX_SHELL_MAY_OPTION;
    }
    return line->all ? may : CBX_SHELL_MAY_ANY;
}

/* Returns true if the command takes the first field of its input. */
static bool takes_first(const struct line *line)
{
    return cbx_str_is(line->texts[0], "cut") && (has_word(line, "-f1") || has_word(line, "1"));
}

/* seq: with -f FORMAT, or with an argument that may be one, it writes any text. */
static unsigned of_numbers(struct state *t, const struct line *line, int depth)
{
    for (size_t w = 1; w < line->count; w++) {
        unsigned word = cbx_shell_traits_at(t->s, line->nodes[w], t->function, depth + 1);
        if ((word & (CBX_SHELL_MAY_OPTION | CBX_SHELL_MAY_SPLIT)) != 0) {
            return CBX_SHELL_MAY_ANY;
        }
    }
    return line->all ? 0 : CBX_SHELL_MAY_ANY;
}

/* find: names of files in the folders before its first option. */
static unsigned of_found(struct state *t, const struct line *line, int depth)
{
    unsigned may = CBX_SHELL_MAY_EVALUATE | CBX_SHELL_MAY_SPLIT;
    for (size_t w = 1; w < line->count; w++) {
        struct cbx_str text = line->texts[w];
        if (text.p != NULL && text.len > 0 && memchr("-(!", text.p[0], 3) != NULL) {
            /* -printf '%f' writes names alone */
            return has_word(line, "-printf") ? CBX_SHELL_MAY_ANY : may;
        }
        may |= cbx_shell_traits_at(t->s, line->nodes[w], t->function, depth + 1);
    }
    return may;
}

/* echo, printf: the arguments after an option, or after a format that changes nothing. */
static unsigned of_arguments(struct state *t, const struct line *line, int depth)
{
    struct cbx_str first = line->count > 1 ? line->texts[1] : (struct cbx_str){ 0 };
    bool skips;
    if (cbx_str_is(line->texts[0], "printf")) {
        skips = first.p != NULL && (cbx_str_is(first, "%s\\n") || cbx_str_is(first, "%s"));
    } else {
        skips = first.p != NULL && first.len == 2 && first.p[0] == '-';
    }
    return of_words(t, line, skips ? 2 : 1, depth);
}

/* head, sort, cut: parts of the input, if the command names no file. `counted`, *counts: as in
 * of_command. */
static unsigned of_parts(const struct line *line, unsigned input, bool counted, bool *counts)
{
    bool cuts = cbx_str_is(line->texts[0], "cut");
    size_t files = line->operands;
    for (size_t w = 1; w + 1 < line->count; w++) { /* -n 1, -d ' ' -f 1 */
        files -= files > 0 && line->texts[w].p != NULL && line->texts[w].len == 2 &&
                 line->texts[w].p[0] == '-' && memchr("ndfckt", line->texts[w].p[1], 6) != NULL;
    }
    if (files > 0) {
        return CBX_SHELL_MAY_ANY;
    }
    *counts = counted && !cuts;
    if (counted && takes_first(line)) {
        return 0;
    }
    return input | (cuts && input != 0 ? CBX_SHELL_MAY_OPTION : 0);
}

/* basename: the caller who chooses a path, as a parameter of the program, also chooses its last
 * part. A path that comes from a list of files has subscripts among its traits. */
static unsigned of_names(struct state *t, const struct line *line, int depth)
{
    unsigned words = of_words(t, line, 1, depth), names = CBX_SHELL_MAY_ANY;
    bool chosen = (words & (CBX_SHELL_MAY_OPTION | CBX_SHELL_MAY_CODE)) == 0;
    names &= ~(unsigned)CBX_SHELL_MAY_LEAVE;
    return chosen ? names & ~(unsigned)CBX_SHELL_MAY_OPTION : names;
}

/* Returns the traits of a program's output. */
static unsigned of_program(struct state *t, const struct line *line, unsigned input, bool *counts,
                           int depth)
{
    const unsigned names = CBX_SHELL_MAY_EVALUATE | CBX_SHELL_MAY_SPLIT;
    bool counted = *counts;
    *counts = false;
    if (line->texts[0].p == NULL) {
        return CBX_SHELL_MAY_ANY;
    }
    bool awk = cbx_str_is(line->texts[0], "awk") || cbx_str_is(line->texts[0], "mawk");
    if (writes_digits(line) || (awk && awk_counts(line, counted)) ||
        (cbx_str_is(line->texts[0], "printf") && formats_numbers(line))) {
        return 0;
    }
    switch (kind_of(line->texts[0])) {
    case NOTHING:
        return 0;
    case NUMBERS:
        return of_numbers(t, line, depth);
    case COUNTS:
        *counts = line->operands > 0;
        return line->operands > 0 ? names : 0;
    case PATHS:
        return names;
    case NAMES:
        return of_names(t, line, depth);
    case LISTED:
        return line->operands == 0 ? CBX_SHELL_MAY_ANY : of_words(t, line, 1, depth) | names;
    case FOUND:
        return of_found(t, line, depth);
    case WORDS:
        return of_arguments(t, line, depth);
    case PASSES:
        return of_parts(line, input, counted, counts);
    case UNKNOWN:
        break;
    }
    return cbx_str_is(line->texts[0], "tr") && has_word(line, "-d") ? input : CBX_SHELL_MAY_ANY;
}

/* Returns the traits of a command's output. `input`: the traits of standard input. *counts: true
 * if the lines of the input begin with a number; set to the same for the output. */
static unsigned of_command(struct state *t, TSNode node, unsigned input, bool *counts, int depth)
{
    struct line line;
    read_line(t->s, node, &line);
    if (line.count == 0) {
        *counts = false;
        return 0; /* the command has only assignments */
    }
    const struct cbx_shell_name *function =
        line.texts[0].p != NULL ? cbx_shell_name_find(t->s, line.texts[0]) : NULL;
    if (function == NULL || !function->function) {
        return of_program(t, &line, input, counts, depth);
    }
    unsigned may = function->output;
    if (cbx_shell_is_allowed(t->s, line.texts[0]) &&
        !cbx_shell_function(t->s, line.texts[0], ts_node_start_byte(node))) {
        /* where the function is not defined, the command runs */
        may |= of_program(t, &line, input, counts, depth);
    }
    *counts = false;
    return may;
}

static unsigned of_statement(struct state *t, TSNode node, unsigned input, bool *counts, int depth);

static unsigned of_pipeline(struct state *t, TSNode node, unsigned input, bool *counts, int depth)
{
    unsigned may = input;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_named(child)) {
            may = of_statement(t, child, may, counts, depth + 1);
        }
    }
    ts_tree_cursor_delete(&cursor);
    return may;
}

/* Returns true if a redirection sends the output to another place. */
static bool sends_away(const struct cbx_shell *s, TSNode statement)
{
    bool away = false;
    TSTreeCursor cursor = ts_tree_cursor_new(statement);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        struct cbx_str text = cbx_shell_source_of(s, child);
        away |= cbx_shell_type_is(child, "file_redirect") &&
                (cbx_str_starts(text, CBX_STR(">")) || cbx_str_starts(text, CBX_STR("1>")) ||
                 cbx_str_starts(text, CBX_STR("&>")));
    }
    ts_tree_cursor_delete(&cursor);
    return away;
}

/* Returns the joined traits of all statements in the node. */
static unsigned of_all(struct state *t, TSNode node, unsigned input, int depth)
{
    unsigned may = 0;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        bool counts = false;
        if (ts_node_is_named(child)) {
            may |= of_statement(t, child, input, &counts, depth + 1);
        }
    }
    ts_tree_cursor_delete(&cursor);
    return may;
}

static unsigned of_redirected(struct state *t, TSNode node, bool *counts, int depth)
{
    TSNode body = ts_node_child_by_field_name(node, "body", 4);
    if (sends_away(t->s, node)) {
        return 0;
    }
    return ts_node_is_null(body) ? CBX_SHELL_MAY_ANY
                                 : of_statement(t, body, CBX_SHELL_MAY_ANY, counts, depth + 1);
}

/* declare NAME writes nothing, export -p all variables. */
static unsigned of_declaration(TSNode node)
{
    TSNode last = ts_node_child(node, ts_node_child_count(node) - 1);
    bool names =
        cbx_shell_type_is(last, "variable_assignment") || cbx_shell_type_is(last, "variable_name");
    return names ? 0 : CBX_SHELL_MAY_ANY;
}

enum form { COMMAND, PIPELINE, REDIRECTED, DECLARATION, COMPOUND, SILENT, OTHER };

/* Returns how the output of a node is found: SILENT has none, COMPOUND has that of the statements
 * in the node. */
static enum form form_of(TSNode node)
{
    static const struct {
        const char *type;
        enum form form;
    } forms[] = {
        { "command", COMMAND },
        { "pipeline", PIPELINE },
        { "redirected_statement", REDIRECTED },
        { "declaration_command", DECLARATION },
        { "list", COMPOUND },
        { "compound_statement", COMPOUND },
        { "subshell", COMPOUND },
        { "if_statement", COMPOUND },
        { "elif_clause", COMPOUND },
        { "else_clause", COMPOUND },
        { "case_statement", COMPOUND },
        { "case_item", COMPOUND },
        { "do_group", COMPOUND },
        { "for_statement", COMPOUND },
        { "while_statement", COMPOUND },
        { "c_style_for_statement", COMPOUND },
        { "negated_command", COMPOUND },
        { "variable_assignment", SILENT },
        { "variable_assignments", SILENT },
        { "comment", SILENT },
        { "test_command", SILENT },
        { "function_definition", SILENT },
        { "word", SILENT },
        { "string", SILENT },
        { "variable_name", SILENT },
        { "raw_string", SILENT },
        { "concatenation", SILENT },
        { "simple_expansion", SILENT },
        { "expansion", SILENT },
        { "number", SILENT },
        { "extglob_pattern", SILENT },
        { "binary_expression", SILENT },
        { "brace_expression", SILENT },
        { "command_substitution", SILENT },
        { "postfix_expression", SILENT },
        { "unset_command", SILENT },
        { "regex", SILENT },
        { "heredoc_body", SILENT },
    };
    const char *type = ts_node_type(node);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (strcmp(type, forms[i].type) == 0) {
            return forms[i].form;
        }
    }
    return OTHER;
}

static unsigned of_statement(struct state *t, TSNode node, unsigned input, bool *counts, int depth)
{
    if (depth > OUTPUT_DEPTH_MAX) {
        return CBX_SHELL_MAY_ANY;
    }
    switch (form_of(node)) {
    case COMMAND:
        return of_command(t, node, input, counts, depth);
    case PIPELINE:
        return of_pipeline(t, node, input, counts, depth);
    case REDIRECTED:
        return of_redirected(t, node, counts, depth);
    case DECLARATION:
        return of_declaration(node);
    case COMPOUND:
        return of_all(t, node, input, depth);
    case SILENT:
        return 0;
    case OTHER:
        break;
    }
    return CBX_SHELL_MAY_ANY;
}

unsigned cbx_shell_outputs(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function,
                           int depth)
{
    struct state t = { .s = s, .function = function };
    bool counts = false;
    if (!cbx_shell_type_is(node, "command_substitution")) {
        return of_statement(&t, node, CBX_SHELL_MAY_ANY, &counts, depth);
    }
    unsigned may = 0;
    bool any = false;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (cbx_shell_type_is(child, "file_redirect")) {
            may = CBX_SHELL_MAY_ANY; /* $(<file) */
        } else if (ts_node_is_named(child)) {
            counts = false;
            may |= of_statement(&t, child, CBX_SHELL_MAY_ANY, &counts, depth + 1);
        }
        any |= ts_node_is_named(child);
    }
    ts_tree_cursor_delete(&cursor);
    return any ? may : 0;
}
