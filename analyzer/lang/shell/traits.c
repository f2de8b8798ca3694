/* SPDX-License-Identifier: MIT
 * Traits of values. The flows of values into names are collected with the names (collect.c) and
 * solved once; then the traits of any word follow from its parts. outputs.c has the traits of
 * commands' output. */
#include "analyzer/lang/shell/traits.h"
#include "analyzer/lang/shell/outputs.h"

#include "policies/base/array.h"

#include <ctype.h>

enum { DEPTH_MAX = 12, ROUNDS_MAX = 6 };

/* --- constants -------------------------------------------------------------------------------- */

static bool is_number(struct cbx_str text)
{
    size_t i = text.len > 0 && memchr("+-", text.p[0], 2) != NULL;
    bool hex = text.len > i + 2 && text.p[i] == '0' && (text.p[i + 1] | 32) == 'x';
    for (i += hex ? 2 : 0; i < text.len; i++) {
        if (hex ? !isxdigit((unsigned char)text.p[i]) : !isdigit((unsigned char)text.p[i])) {
            return false;
        }
    }
    return true;
}

/* Returns the traits of a text in arithmetic: a text without names has no effect. */
static unsigned arithmetic_traits(struct cbx_str text)
{
    unsigned may = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.p[i];
        may |= isalpha(c) || c == '_' ? CBX_SHELL_MAY_NAME : 0u;
        may |= c >= 0x80 || memchr("[]$`\\", c, 5) != NULL ? CBX_SHELL_MAY_CODE : 0u;
    }
    return is_number(text) ? 0 : may;
}

/* Returns true if the names of files that a pattern such as *.csv matches end in letters that
 * end no dangerous option. */
static bool has_ending(struct cbx_str pattern)
{
    if (pattern.len > 1 && pattern.p[pattern.len - 1] == '/') {
        return true; /* it matches folders */
    }
    const char *dot = memrchr(pattern.p, '.', pattern.len);
    size_t from = dot != NULL ? (size_t)(dot - pattern.p) + 1 : pattern.len;
    bool letters = from < pattern.len;
    for (size_t i = from; i < pattern.len; i++) {
        letters &= isalnum((unsigned char)pattern.p[i]) != 0;
    }
    return letters;
}

unsigned cbx_shell_text_traits(struct cbx_str text, bool pattern)
{
    if (text.len == 0) {
        return 0;
    }
    char first = text.p[0];
    bool braces =
        memmem(text.p, text.len, "{-", 2) != NULL || memmem(text.p, text.len, ",-", 2) != NULL;
    bool option = (first == '-' && text.len > 1 && !is_number(text)) || (first == '{' && braces) ||
                  (pattern && memchr("*?[", first, 3) != NULL && !has_ending(text));
    bool split = pattern || cbx_shell_has_any(text, " \t\n*?[");
    unsigned may = pattern ? CBX_SHELL_MAY_EVALUATE : arithmetic_traits(text);
    if (option) {
        may |= CBX_SHELL_MAY_OPTION;
    }
    if (split) {
        may |= CBX_SHELL_MAY_SPLIT;
    }
    if (!cbx_shell_stays_inside(text)) {
        may |= CBX_SHELL_MAY_LEAVE;
    }
    return may;
}

/* --- variables -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned may;
} own_variables[] = {
#define CBX_SHELL_OWN(name, may) { name, may },
#include "analyzer/lang/shell/outputs.def"
};

unsigned cbx_shell_variable_traits(struct cbx_shell *s, struct cbx_str name)
{
    const struct cbx_shell_name *n = cbx_shell_name_find(s, name);
    if (s->names.lost) {
        return CBX_SHELL_MAY_ANY;
    }
    if (cbx_str_is(name, "OPTARG")) {
        return s->function != NULL ? s->function->args : s->names.args;
    }
    for (size_t i = 0; i < sizeof(own_variables) / sizeof(own_variables[0]); i++) {
        if (cbx_str_is(name, own_variables[i].name)) {
            return own_variables[i].may | (n != NULL ? n->may : 0u);
        }
    }
    if (n != NULL && n->given) {
        return n->may;
    }
    /* Only the caller of the program can have set the variable, like the arguments; if the line
     * is in a program of another language, that program can. */
    bool own = s->parsed->facts->source == CBX_SHELL && (n == NULL || !n->assigned);
    return CBX_SHELL_MAY_ANY & ~(own ? (unsigned)CBX_SHELL_MAY_OPTION : 0u);
}

static unsigned parameter(const struct cbx_shell *s, const struct cbx_shell_name *function)
{
    return s->names.lost ? CBX_SHELL_MAY_ANY : function != NULL ? function->args : s->names.args;
}

/* Returns the traits of a special parameter: $#, $? and $$ are numbers, $@ and $1 parameters. $!
 * may be any text (cbx_expansion_shell). */
static unsigned of_special(const struct cbx_shell *s, struct cbx_str name,
                           const struct cbx_shell_name *function)
{
    if (name.len == 1 && memchr("#?$", name.p[0], 3) != NULL) {
        return 0;
    }
    if (name.len == 1 && name.p[0] == '!') {
        return CBX_SHELL_MAY_ANY;
    }
    bool first = name.len == 1 && name.p[0] == '0';
    bool all = name.len == 1 && memchr("@*", name.p[0], 2) != NULL;
    return first ? CBX_SHELL_MAY_LEAVE : parameter(s, function) | (all ? CBX_SHELL_MAY_SPLIT : 0u);
}

static unsigned of_name(struct cbx_shell *s, struct cbx_str name,
                        const struct cbx_shell_name *function)
{
    bool special = name.len > 0 && name.p[0] != '_' && !isalpha((unsigned char)name.p[0]);
    return special || name.len == 0 ? of_special(s, name, function)
                                    : cbx_shell_variable_traits(s, name);
}

static unsigned traits_of(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function,
                          int depth);

/* Returns the traits of the words after the name of an expansion: the default of ${x:-word}. */
static unsigned of_operands(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function,
                            int depth)
{
    unsigned may = 0;
    bool name = true;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_named(child) && !name) {
            may |= traits_of(s, child, function, depth + 1);
        }
        name = name && !ts_node_is_named(child);
    }
    ts_tree_cursor_delete(&cursor);
    return may;
}

/* Returns true for the operator of ${x//[^0-9]/}: only digits remain. */
static bool keeps_digits(struct cbx_str operator)
{
    return cbx_str_is(operator, "//[^0-9]/}") || cbx_str_is(operator, "//[!0-9]/}") ||
           cbx_str_is(operator, "//[^0-9]}") || cbx_str_is(operator, "//[!0-9]}") ||
           cbx_str_is(operator, "//[^[:digit:]]/}") || cbx_str_is(operator, "//[![:digit:]]/}");
}

/* Returns the traits of ${NAME OPERATOR ...}. */
static unsigned of_expansion(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function,
                             int depth)
{
    struct cbx_str text = cbx_shell_source_of(s, node);
    const char *brace = memchr(text.p, '{', text.len);
    size_t i = brace != NULL ? (size_t)(brace - text.p) + 1 : text.len, from;
    if (i + 1 < text.len && text.p[i] == '#' && text.p[i + 1] != '}') {
        return 0; /* ${#x} */
    }
    bool indirect = i < text.len && text.p[i] == '!';
    from = i += indirect;
    while (i < text.len && (text.p[i] == '_' || isalnum((unsigned char)text.p[i]))) {
        i++;
    }
    i += i == from; /* ${@}, ${*} */
    struct cbx_str name = cbx_str_sub(text, from, i), rest = cbx_str_sub(text, i, text.len);
    if (indirect) {
        const struct cbx_shell_name *n = cbx_shell_name_find(s, name);
        bool keys = cbx_str_starts(rest, CBX_STR("[@]")) || cbx_str_starts(rest, CBX_STR("[*]"));
        /* the indexes of an array are numbers */
        return keys && n != NULL && !n->keyed && n->assigned && !s->names.lost ? 0
                                                                               : CBX_SHELL_MAY_ANY;
    }
    unsigned may = of_name(s, name, function);
    const char *bracket = rest.len > 0 && rest.p[0] == '[' ? memchr(rest.p, ']', rest.len) : NULL;
    if (bracket != NULL) {
        rest = cbx_str_sub(rest, (size_t)(bracket - rest.p) + 1, rest.len);
    }
    char op = rest.len > 0 ? rest.p[0] : '}', second = rest.len > 1 ? rest.p[1] : '}';
    bool given = (op == ':' && memchr("-=+?", second, 4) != NULL) || memchr("-=+", op, 3) != NULL;
    if (given) {
        bool own = function == NULL && name.len > 0 && isdigit((unsigned char)name.p[0]);
        bool other = (op == ':' ? second : op) == '+';
        return (other ? 0 : may & (own ? ~(unsigned)CBX_SHELL_MAY_LEAVE : ~0u)) |
               of_operands(s, node, function, depth);
    }
    if (keeps_digits(rest)) {
        return 0;
    }
    bool cuts = op == '#' || op == '/' || (op == ':' && second != '}');
    if (cbx_str_is(rest, "##*/}")) {
        may &= ~(unsigned)CBX_SHELL_MAY_LEAVE;
    }
    if (op == '/') {
        may |=
            of_operands(s, node, function, depth) & (CBX_SHELL_MAY_EVALUATE | CBX_SHELL_MAY_SPLIT);
    }
    return may | (cuts && may != 0 ? CBX_SHELL_MAY_OPTION : 0u);
}

/* --- words ------------------------------------------------------------------------------------ */

static bool is_constant(TSNode node)
{
    static const char *const types[] = { "word",          "number",           "raw_string",
                                         "ansi_c_string", "extglob_pattern",  "string_content",
                                         "regex",         "translated_string" };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (cbx_shell_type_is(node, types[i])) {
            return true;
        }
    }
    return false;
}

static unsigned of_constant(struct cbx_shell *s, TSNode node)
{
    struct cbx_shell_text text = cbx_shell_fold_constant(s, node);
    struct cbx_str source = cbx_shell_source_of(s, node);
    if (!text.known && cbx_shell_substitutes(source)) {
        return CBX_SHELL_MAY_ANY;
    }
    return cbx_shell_text_traits(text.known ? text.text : source, text.pattern);
}

/* Returns the traits of a word with several parts. The first part determines how the word
 * begins; if it may be empty, so does the next part. */
static unsigned of_parts(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function,
                         int depth)
{
    const unsigned begins = CBX_SHELL_MAY_OPTION | CBX_SHELL_MAY_LEAVE;
    unsigned may = 0;
    bool first = true, open = false; /* open: the word begins with an unknown part */
    size_t constants = 0;
    struct cbx_str behind = { 0 };
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        struct cbx_str source = cbx_shell_source_of(s, child);
        bool quote = !ts_node_is_named(child) && source.len > 0 && source.p[0] == '"';
        if (quote || ts_node_end_byte(child) == ts_node_start_byte(child)) {
            continue;
        }
        bool constant = !ts_node_is_named(child) || is_constant(child);
        unsigned part = !ts_node_is_named(child) ? cbx_shell_text_traits(source, false)
                                                 : traits_of(s, child, function, depth + 1);
        may |= first ? part : part & ~begins;
        open |= first && !constant;
        if (constant && open && constants == 0) {
            behind = source;
        }
        constants += constant;
        first = first && !constant;
        if (constant && memmem(source.p, source.len, "..", 2) != NULL) {
            may |= CBX_SHELL_MAY_LEAVE;
        }
    }
    ts_tree_cursor_delete(&cursor);
    /* A part of the path is known: the path counts as outside only if it is so for every text of
     * the unknown part. */
    if (behind.len > 0) {
        may &= ~(unsigned)CBX_SHELL_MAY_LEAVE;
        may |= cbx_shell_is_of_system(behind) ? CBX_SHELL_MAY_LEAVE : 0u;
    }
    return may;
}

/* Returns the traits of the words that an unquoted value gives: each of them may begin like an
 * option. */
static unsigned of_fields(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function,
                          int depth)
{
    unsigned may = traits_of(s, node, function, depth);
    bool value =
        cbx_shell_type_is(node, "simple_expansion") || cbx_shell_type_is(node, "expansion");
    bool split = (may & CBX_SHELL_MAY_SPLIT) != 0 || s->names.splits;
    return may | (value && split && (may & CBX_SHELL_MAY_EVALUATE) != 0
                      ? CBX_SHELL_MAY_OPTION | CBX_SHELL_MAY_LEAVE | CBX_SHELL_MAY_SPLIT
                      : 0u);
}

static unsigned traits_of(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function,
                          int depth)
{
    const char *type = ts_node_type(node);
    if (depth > DEPTH_MAX) {
        return CBX_SHELL_MAY_ANY;
    }
    if (is_constant(node)) {
        return of_constant(s, node);
    }
    if (strcmp(type, "simple_expansion") == 0) {
        struct cbx_str text = cbx_shell_source_of(s, node);
        const char *dollar = memchr(text.p, '$', text.len);
        return dollar == NULL
                   ? CBX_SHELL_MAY_ANY
                   : of_name(s, cbx_str_sub(text, (size_t)(dollar - text.p) + 1, text.len),
                             function);
    }
    if (strcmp(type, "expansion") == 0) {
        return of_expansion(s, node, function, depth);
    }
    if (strcmp(type, "command_substitution") == 0) {
        return cbx_shell_outputs(s, node, function, depth + 1);
    }
    if (strcmp(type, "arithmetic_expansion") == 0 || strcmp(type, "process_substitution") == 0 ||
        strcmp(type, "brace_expression") == 0 || strcmp(type, "binary_expression") == 0 ||
        strcmp(type, "postfix_expression") == 0 || strcmp(type, "unary_expression") == 0) {
        return 0;
    }
    if (strcmp(type, "for_statement") == 0) {
        return parameter(s, function); /* for x; do */
    }
    if (strcmp(type, "variable_name") == 0) {
        return cbx_shell_variable_traits(s, cbx_shell_source_of(s, node));
    }
    if (strcmp(type, "array") == 0) {
        unsigned may = 0;
        uint32_t count = ts_node_named_child_count(node);
        TSTreeCursor cursor = ts_tree_cursor_new(node);
        for (bool more = count > 0 && ts_tree_cursor_goto_first_child(&cursor); more;
             more = ts_tree_cursor_goto_next_sibling(&cursor)) {
            TSNode child = ts_tree_cursor_current_node(&cursor);
            may |= ts_node_is_named(child) ? of_fields(s, child, function, depth + 1) : 0u;
        }
        ts_tree_cursor_delete(&cursor);
        return may;
    }
    return strcmp(type, "string") == 0 || strcmp(type, "concatenation") == 0 ||
                   strcmp(type, "command_name") == 0
               ? of_parts(s, node, function, depth)
               : CBX_SHELL_MAY_ANY;
}

unsigned cbx_shell_traits(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function)
{
    return traits_of(s, node, function, 0);
}

unsigned cbx_shell_traits_at(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function,
                             int depth)
{
    return traits_of(s, node, function, depth);
}

unsigned cbx_shell_output_traits(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function)
{
    return cbx_shell_outputs(s, node, function, 0);
}

/* --- flows ------------------------------------------------------------------------------------ */

void cbx_shell_traits_flow(struct cbx_shell *s, const struct cbx_shell_flow *flow)
{
    struct cbx_shell_names *names = &s->names;
    if (!CBX_ARRAY_RESERVE(s->parsed->arena, names->flows, names->flow_count, &names->flow_size, 1,
                           SIZE_MAX)) {
        names->lost = true;
        return;
    }
    names->flows[names->flow_count++] = *flow;
}

static unsigned follow(struct cbx_shell *s, const struct cbx_shell_flow *f)
{
    s->function = f->function;
    if (ts_node_is_null(f->node)) {
        return CBX_SHELL_MAY_ANY;
    }
    if (f->output) {
        return cbx_shell_outputs(s, f->node, f->function, 0);
    }
    if (f->fields) {
        return of_fields(s, f->node, f->function, 0);
    }
    return traits_of(s, f->node, f->function, 0);
}

/* Keeps the places where a variable gets a value that arithmetic may evaluate. */
static void keep_unsafe(struct cbx_shell *s, const struct cbx_shell_flow *f)
{
    struct cbx_shell_name *n = f->variable;
    if (n == NULL || (follow(s, f) & CBX_SHELL_MAY_EVALUATE) == 0) {
        return;
    }
    if (!CBX_ARRAY_RESERVE(s->parsed->arena, n->unsafe, n->unsafe_count, &n->unsafe_size, 1,
                           SIZE_MAX)) {
        s->names.lost = true;
        return;
    }
    bool same = n->unsafe_count > 0 && n->unsafe[n->unsafe_count - 1].function == f->function;
    n->unsafe_functions += !same;
    n->unsafe[n->unsafe_count++] = (struct cbx_shell_place){ .at = f->at, .function = f->function };
}

void cbx_shell_traits_solve(struct cbx_shell *s)
{
    bool changed = true;
    for (int round = 0; changed && round < ROUNDS_MAX; round++) {
        changed = false;
        for (size_t i = 0; i < s->names.flow_count; i++) {
            const struct cbx_shell_flow *f = &s->names.flows[i];
            unsigned may = round + 1 == ROUNDS_MAX ? CBX_SHELL_MAY_ANY : follow(s, f);
            changed |= (*f->slot | may) != *f->slot;
            *f->slot = (unsigned char)(*f->slot | may);
        }
    }
    for (size_t i = 0; i < s->names.flow_count; i++) {
        keep_unsafe(s, &s->names.flows[i]);
    }
    s->function = NULL;
}
