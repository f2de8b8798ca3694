/* SPDX-License-Identifier: MIT
 * Collects the variables and functions of a shell text. A name is certain only if its first
 * definition is at the top level of the text, where it cannot be skipped and does not run in a
 * subshell; anything else that could change the name makes it uncertain. */
#include "analyzer/lang/shell/traits.h"

#include <ctype.h>
#include <string.h>

struct collector {
    struct cbx_shell *s;
    /* the name that the last top-level statement defines, or NULL */
    struct cbx_shell_name *last;
    struct cbx_shell_name *function; /* the function around the current node, or NULL */
    bool apart;                      /* the current node runs in a process of its own */
    bool moved; /* a command before the current node may have changed the working folder */
    bool top;   /* the current node is a top-level statement of the new cell */
};

/* Records that an unknown value is assigned to this name; the caller records its traits. */
static struct cbx_shell_name *doubt(struct cbx_shell *s, struct cbx_str name)
{
    struct cbx_shell_name *n = cbx_shell_name_make(s, name);
    if (n != NULL) {
        n->assigned = true;
        n->constant = false;
    }
    return n;
}

/* Records that the text gives the variable a value. */
static void give(struct cbx_shell_name *n, uint32_t at)
{
    if (n != NULL && (!n->given || at < n->first)) {
        n->given = true;
        n->first = at;
    }
}

/* Records that the value of `node` (any value if it is null) is assigned to the variable. */
static void flow(struct collector *c, struct cbx_shell_name *variable, TSNode node, uint32_t at)
{
    give(variable, at);
    if (variable != NULL) {
        cbx_shell_traits_flow(c->s, &(struct cbx_shell_flow){ .slot = &variable->may,
                                                              .node = node,
                                                              .function = c->function,
                                                              .variable = variable,
                                                              .at = at });
    }
}

/* Records an assignment to NAME, NAME=VALUE, or an option that is joined to NAME (printf
 * -vNAME). `data`: the value may be any. */
static void doubt_word(struct collector *c, struct cbx_str word, bool data, uint32_t at)
{
    const TSNode any = { 0 };
    size_t end = 0;
    while (end < word.len && memchr("=[", word.p[end], 2) == NULL) {
        end++;
    }
    struct cbx_shell_name *n = doubt(c->s, cbx_str_sub(word, 0, end));
    if (n != NULL) {
        n->unset |= !data;
    }
    if (end < word.len && word.p[end] == '=') {
        give(n, at);
    }
    if (data) {
        flow(c, n, any, at);
    }
    for (size_t i = 2; word.len > 0 && word.p[0] == '-' && i < word.len && i < 6; i++) {
        n = doubt(c->s, cbx_str_sub(word, i, word.len));
        if (data) {
            flow(c, n, any, at);
        }
    }
}

static bool is_operator(TSNode assignment, const struct cbx_shell *s)
{
    TSNode second = ts_node_child(assignment, 1);
    return !ts_node_is_null(second) && cbx_str_is(cbx_shell_source_of(s, second), "=");
}

/* Returns true for IFS in `IFS= read -r line`: it applies to this command alone, whose values
 * are unknown anyway. */
static bool is_of_read(const struct cbx_shell *s, TSNode assignment)
{
    TSNode name = ts_node_child_by_field_name(assignment, "name", 4);
    TSNode command = ts_node_parent(assignment);
    if (!cbx_str_is(cbx_shell_source_of(s, name), "IFS") || ts_node_is_null(command) ||
        !cbx_shell_type_is(command, "command")) {
        return false;
    }
    TSNode word = ts_node_child_by_field_name(command, "name", 4);
    return !ts_node_is_null(word) && cbx_str_is(cbx_shell_source_of(s, word), "read");
}

/* `computes`: the assignment is in arithmetic, whose values are numbers. */
static void collect_assignment(struct collector *c, TSNode node, bool top, bool computes)
{
    struct cbx_shell *s = c->s;
    TSNode name = ts_node_child_by_field_name(node, "name", 4);
    TSNode value = ts_node_child_by_field_name(node, "value", 5);
    if (ts_node_is_null(name)) {
        return;
    }
    if (!cbx_shell_type_is(name, "variable_name") || !is_operator(node, s)) {
        TSNode inner = ts_node_named_child(name, 0);
        struct cbx_shell_name *array =
            doubt(s, cbx_shell_source_of(s, ts_node_is_null(inner) ? name : inner));
        if (!computes && !ts_node_is_null(value)) {
            flow(c, array, value, ts_node_start_byte(node));
        }
        return;
    }
    if (is_of_read(s, node)) {
        return;
    }
    struct cbx_shell_name *n = cbx_shell_name_make(s, cbx_shell_source_of(s, name));
    struct cbx_shell_text text = { .text = CBX_STR(""), .known = true };
    if (!ts_node_is_null(value)) {
        text = cbx_shell_fold_constant(s, value);
    }
    if (n == NULL) {
        return;
    }
    if (!text.known && !c->moved && !computes) {
        n->of_folder |= cbx_shell_fold_folder(s, value, &text);
    }
    give(n, ts_node_start_byte(node));
    if (!computes && !ts_node_is_null(value)) {
        flow(c, n, value, ts_node_start_byte(node));
    }
    n->constant = n->constant && text.known && (!n->assigned || cbx_str_equal(n->value, text.text));
    n->assigned = true;
    n->value = text.text;
    if (top && n->since == UINT32_MAX) {
        n->since = ts_node_end_byte(node);
        c->last = n;
    }
}

/* Returns true for commands that assign the names in their arguments. */
static bool assigns(struct cbx_str word)
{
    static const char *const words[] = { "read",  "mapfile", "readarray", "getopts",
                                         "let",   "unset",   "declare",   "typeset",
                                         "local", "export",  "readonly" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (cbx_str_is(word, words[i])) {
            return true;
        }
    }
    return false;
}

/* Returns true for commands that run a text in the same shell. */
static bool runs_unseen(struct cbx_str word)
{
    return cbx_str_is(word, "eval") || cbx_str_is(word, "source") || cbx_str_is(word, ".");
}

/* Returns true for a word before a command that runs in the same shell. */
static bool passes_on(struct cbx_str word)
{
    return cbx_str_is(word, "builtin") || cbx_str_is(word, "command") || cbx_str_is(word, "time") ||
           cbx_str_starts(word, CBX_STR("-"));
}

/* Returns true if this text, which trap runs, may redefine a name. Any sign counts; functions
 * that the text calls are collected themselves. */
static bool may_assign(struct cbx_str text)
{
    static const char *const others[] = { "for",    "select", "coproc", "function",
                                          "printf", "wait",   "trap" };
    for (size_t i = 0; i < text.len; i++) {
        size_t end = i;
        while (end < text.len && (isalnum((unsigned char)text.p[end]) || text.p[end] == '.')) {
            end++;
        }
        struct cbx_str word = cbx_str_sub(text, i, end);
        bool does = assigns(word) || runs_unseen(word);
        for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
            does |= cbx_str_is(word, others[k]);
        }
        if (does || (end < text.len && strchr("=(", text.p[end]) != NULL)) {
            return true;
        }
        i = end;
    }
    return false;
}

/* Returns true if the command may be a function, or run one. */
static bool may_call(const struct cbx_shell *s, const struct cbx_shell_text *word)
{
    static const char *const callers[] = { "time", "trap", "builtin", "command" };
    bool calls = !word->known || !cbx_shell_is_allowed(s, word->text) ||
                 cbx_shell_may_be_function(s, word->text);
    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
        calls |= cbx_str_is(word->text, callers[i]);
    }
    return calls;
}

/* Records the words of a command as arguments of a function with its name, or as the program's
 * or function's own parameters (set -- WORD...). */
static void collect_arguments(struct collector *c, TSNode command)
{
    struct cbx_shell_name *function = NULL;
    unsigned char *slot = NULL;
    bool set = false, operands = false, value = false;
    TSTreeCursor cursor = ts_tree_cursor_new(command);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (!cbx_shell_is_word(child, false)) {
            continue;
        }
        struct cbx_shell_text word = cbx_shell_fold_constant(c->s, child);
        if (slot == NULL) {
            set = word.known && cbx_str_is(word.text, "set");
            if (c->function == NULL && ts_node_start_byte(command) >= c->s->fresh &&
                may_call(c->s, &word)) {
                uint32_t at = ts_node_start_byte(command), *first = &c->s->names.first_call;
                *first = at < *first ? at : *first;
                c->s->names.last_call = at;
            }
            function = word.known ? cbx_shell_name_make(c->s, word.text) : NULL;
            if (set) {
                slot = c->function != NULL ? &c->function->args : &c->s->names.args;
            } else {
                slot = function != NULL ? &function->args : NULL;
            }
            if (slot == NULL) {
                break;
            }
            continue;
        }
        bool option = set && !operands && word.known && word.text.len > 0 &&
                      memchr("-+", word.text.p[0], 2) != NULL;
        if (!option && !value) {
            operands = true;
            cbx_shell_traits_flow(
                c->s, &(struct cbx_shell_flow){
                          .slot = slot, .node = child, .function = c->function, .fields = true });
        }
        operands |= option && cbx_str_is(word.text, "--");
        value = option && word.text.p[word.text.len - 1] == 'o';
    }
    ts_tree_cursor_delete(&cursor);
}

/* Records that shift and set change the parameters. */
static void collect_shift(struct collector *c, uint32_t at)
{
    static const char *const parameters[] = { "1", "2", "3", "4", "5", "6", "7", "8", "9" };
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
        struct cbx_shell_name *n = cbx_shell_name_make(c->s, cbx_str_of(parameters[i]));
        flow(c, n, (TSNode){ 0 }, at);
    }
}

/* Handles `read X`, in any wrapper. A command that runs unknown code could assign any name;
 * printf assigns with -v only. */
/* Returns true for commands that change the working folder. */
static bool changes_folder(struct cbx_str word)
{
    return cbx_str_is(word, "cd") || cbx_str_is(word, "pushd") || cbx_str_is(word, "popd");
}

static void collect_command(struct collector *c, TSNode node)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool names = false, prints = false, traps = false, data = false, given = false, begins = true;
    struct cbx_shell_name *printed = NULL;
    uint32_t at = ts_node_start_byte(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (cbx_shell_type_is(child, "herestring_redirect")) {
            continue; /* its text holds no name that the command assigns */
        }
        struct cbx_shell_text word = cbx_shell_fold_constant(c->s, child);
        bool option = prints && word.known && cbx_str_starts(word.text, CBX_STR("-v"));
        names |= option;
        if (printed != NULL) {
            flow(c, printed, child, at);
        } else if (names && word.known) {
            doubt_word(c, word.text, data || (option && word.text.len > 2), at);
            if (given) {
                give(cbx_shell_name_make(c->s, word.text), at);
            }
            printed = prints && !option ? cbx_shell_name_make(c->s, word.text) : NULL;
        }
        bool unseen = begins && word.known && runs_unseen(word.text);
        c->moved |= begins && !c->apart && (!word.known || unseen || changes_folder(word.text));
        if (unseen && !cbx_str_is(word.text, "eval") && c->s->parsed->past != NULL) {
            c->s->names.sources = true; /* the text contains every file that the command may read */
            unseen = false;
        }
        begins &=
            cbx_shell_type_is(child, "variable_assignment") || (word.known && passes_on(word.text));
        c->s->names.lost |= word.known ? unseen || (traps && may_assign(word.text))
                                       : (names && printed == NULL) || traps;
        traps |= word.known && cbx_str_is(word.text, "trap");
        prints |= word.known && cbx_str_is(word.text, "printf");
        names |= word.known && assigns(word.text);
        if (word.known && cbx_str_is(word.text, "getopts")) {
            given = true;
        }
        data |= word.known && assigns(word.text) && !cbx_str_is(word.text, "let") &&
                !cbx_str_is(word.text, "unset") && !cbx_str_is(word.text, "getopts");
        if (word.known && (cbx_str_is(word.text, "shift") || cbx_str_is(word.text, "set"))) {
            collect_shift(c, at);
        }
    }
    ts_tree_cursor_delete(&cursor);
    collect_arguments(c, node);
}

/* Handles one word after declare, local, export or unset that is not an assignment. */
static void collect_declared(struct collector *c, TSNode child, bool keeps, bool unsets)
{
    /* a name that is declared in a function is a new variable */
    struct cbx_str text = cbx_shell_source_of(c->s, child);
    if (!cbx_shell_type_is(child, "variable_name") && !cbx_shell_type_is(child, "word")) {
        c->s->names.lost = true; /* a computed name */
        return;
    }
    /* -n makes a name refer to another one */
    c->s->names.lost |= text.len > 1 && text.p[0] == '-' && !keeps && !unsets &&
                        memchr(text.p, 'n', text.len) != NULL;
    struct cbx_shell_name *entry = keeps ? NULL : cbx_shell_name_make(c->s, text);
    if (entry != NULL) {
        entry->constant = false;
        entry->assigned = true;
        entry->unset |= unsets;
        if (unsets) {
            uint32_t at = c->top ? ts_node_start_byte(child) : 0;
            entry->unset_at = entry->unset_names && entry->unset_at < at ? entry->unset_at : at;
            entry->unset_names = true;
        }
        if (c->function != NULL && !unsets) {
            give(entry, ts_node_start_byte(child));
        }
    }
}

/* Records declare -i, -A and -a of these names. */
static void collect_attributes(struct collector *c, TSNode node)
{
    bool integer = false, keyed = false;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        struct cbx_str text = cbx_shell_source_of(c->s, child);
        bool option = cbx_shell_type_is(child, "word") && text.len > 1 && text.p[0] == '-';
        integer |= option && memchr(text.p, 'i', text.len) != NULL;
        keyed |= option && memchr(text.p, 'A', text.len) != NULL;
        bool assignment = cbx_shell_type_is(child, "variable_assignment");
        if (!assignment && !cbx_shell_type_is(child, "variable_name") &&
            !(cbx_shell_type_is(child, "word") && !option)) {
            continue;
        }
        TSNode name = assignment ? ts_node_child_by_field_name(child, "name", 4) : child;
        struct cbx_shell_name *n = ts_node_is_null(name)
                                       ? NULL
                                       : cbx_shell_name_make(c->s, cbx_shell_source_of(c->s, name));
        if (n == NULL) {
            continue;
        }
        n->integer |= integer;
        if (keyed && (!n->keyed || c->function == NULL)) {
            bool certain = c->function != NULL || ts_node_start_byte(child) >= c->s->fresh;
            /* includes the keys of this very assignment */
            n->keyed_since = certain    ? ts_node_start_byte(child)
                             : n->keyed ? n->keyed_since
                                        : UINT32_MAX;
            n->keyed_in = c->function;
        }
        n->indexed |= !keyed && n->keyed;
        n->keyed |= keyed;
    }
    ts_tree_cursor_delete(&cursor);
}

static void collect_declaration(struct collector *c, TSNode node)
{
    struct cbx_str word = cbx_shell_source_of(c->s, node);
    bool keeps =
        cbx_str_starts(word, CBX_STR("export")) || cbx_str_starts(word, CBX_STR("readonly"));
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_named(child) && !cbx_shell_type_is(child, "variable_assignment")) {
            collect_declared(c, child, keeps, cbx_shell_type_is(node, "unset_command"));
        }
    }
    ts_tree_cursor_delete(&cursor);
}

/* `level`: the definition is a statement of the text or of an earlier cell; `top`: of the text. */
static struct cbx_shell_name *collect_function(struct collector *c, TSNode node, bool level,
                                               bool top)
{
    TSNode name = ts_node_child_by_field_name(node, "name", 4);
    struct cbx_shell_name *n =
        ts_node_is_null(name) ? NULL : cbx_shell_name_make(c->s, cbx_shell_source_of(c->s, name));
    if (n != NULL) {
        n->function = true;
        n->earlier |= level && ts_node_start_byte(node) < c->s->fresh;
        if (top && n->function_since == UINT32_MAX) {
            n->function_since = ts_node_end_byte(node);
            c->last = n;
        }
    }
    return n;
}

/* Handles the words after a redirection: they may belong to a `read` before it. */
static void collect_redirect(struct collector *c, TSNode redirect)
{
    TSTreeCursor cursor = ts_tree_cursor_new(redirect);
    for (bool more =
             cbx_shell_has_words_behind(redirect) && ts_tree_cursor_goto_first_child(&cursor);
         more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_named(child)) {
            struct cbx_shell_text word = cbx_shell_fold_constant(c->s, child);
            c->s->names.lost |= !word.known || runs_unseen(word.text) || may_assign(word.text);
            doubt_word(c, word.text, true, ts_node_start_byte(child));
        }
    }
    ts_tree_cursor_delete(&cursor);
}

enum parent { OTHER, DECLARES, COMPUTES };

/* Returns how a node affects the names in it: arithmetic may assign them. */
static enum parent parent_of(TSNode node)
{
    static const char *const places[] = { "binary_expression",  "postfix_expression",
                                          "unary_expression",   "parenthesized_expression",
                                          "for_statement",      "c_style_for_statement",
                                          "ternary_expression", "subscript" };
    const char *type = ts_node_type(node);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (strcmp(type, places[i]) == 0) {
            return COMPUTES;
        }
    }
    return strcmp(type, "declaration_command") == 0 ? DECLARES : OTHER;
}

/* Handles for NAME in WORD... */
static void collect_for(struct collector *c, TSNode node)
{
    TSNode variable = ts_node_child_by_field_name(node, "variable", 8);
    struct cbx_shell_name *n =
        ts_node_is_null(variable) ? NULL : doubt(c->s, cbx_shell_source_of(c->s, variable));
    bool words = false;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = n != NULL && ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        const char *field = ts_tree_cursor_current_field_name(&cursor);
        if (field != NULL && strcmp(field, "value") == 0) {
            give(n, ts_node_start_byte(node));
            cbx_shell_traits_flow(
                c->s, &(struct cbx_shell_flow){ .slot = &n->may,
                                                .node = ts_tree_cursor_current_node(&cursor),
                                                .function = c->function,
                                                .variable = n,
                                                .at = ts_node_start_byte(node),
                                                .fields = true });
            words = true;
        }
    }
    ts_tree_cursor_delete(&cursor);
    if (!words) {
        flow(c, n, node, ts_node_start_byte(node));
    }
}

/* Handles ${X:=...} */
static void collect_default(struct collector *c, TSNode node)
{
    struct cbx_str text = cbx_shell_source_of(c->s, node);
    TSNode name = ts_node_named_child(node, 0);
    uint32_t count = ts_node_named_child_count(node);
    if (memchr(text.p, '=', text.len) != NULL && !ts_node_is_null(name)) {
        struct cbx_shell_name *n = doubt(c->s, cbx_shell_source_of(c->s, name));
        flow(c, n, count > 1 ? ts_node_named_child(node, count - 1) : (TSNode){ 0 },
             ts_node_start_byte(node));
    }
}

/* Handles ((NAME = ...)), ((NAME += ...)), ((NAME++)) */
static void collect_computed(struct collector *c, TSNode node)
{
    bool binary = cbx_shell_type_is(node, "binary_expression");
    TSNode second = ts_node_child(node, binary ? 1 : 0);
    uint32_t count = ts_node_named_child_count(node);
    if (ts_node_is_null(second) || count == 0) {
        return;
    }
    struct cbx_str operator= cbx_shell_source_of(c->s, second);
    TSNode name = ts_node_named_child(node, 0);
    bool assigns_it =
        !binary ||
        (operator.len> 0 && operator.p[operator.len - 1] == '=' && !cbx_str_is(operator, "==") &&
                                       !cbx_str_is(operator, "!=") && !cbx_str_is(operator, "<=") &&
                                       !cbx_str_is(operator, ">="));
    if (cbx_shell_type_is(node, "unary_expression")) {
        assigns_it = cbx_str_is(operator, "++") || cbx_str_is(operator, "--");
    }
    if (cbx_shell_type_is(name, "subscript")) {
        name = ts_node_named_child(name, 0);
    }
    if (assigns_it &&
        (cbx_shell_type_is(name, "variable_name") || cbx_shell_type_is(name, "word"))) {
        give(doubt(c->s, cbx_shell_source_of(c->s, name)), ts_node_start_byte(node));
    }
}

/* Returns true for statements whose output is the output of the function around them, if no
 * substitution contains them. */
static bool writes_output(const char *type)
{
    static const char *const types[] = { "command", "pipeline", "redirected_statement",
                                         "declaration_command" };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(type, types[i]) == 0) {
            return true;
        }
    }
    return false;
}

struct cbx_shell_level {
    enum parent parent;
    bool taken; /* a statement around the node was recorded with its output */
    bool apart; /* the node runs in a process of its own */
    struct cbx_shell_name *function;
};

/* Collects one node; returns the context for its children. */
static struct cbx_shell_level collect_node(struct collector *c, TSNode node,
                                           const struct cbx_shell_level *at, int depth)
{
    const char *type = ts_node_type(node);
    bool process = cbx_shell_scope_of((TSNode){ 0 }, node) == CBX_SHELL_SCOPE_KEEPS;
    struct cbx_shell_level inner = { parent_of(node), at->taken, at->apart || process,
                                     at->function };
    bool fresh = ts_node_start_byte(node) >= c->s->fresh;
    bool top = fresh && (depth == 1 || (depth == 2 && at->parent == DECLARES));
    c->function = at->function;
    c->apart = at->apart;
    c->top = fresh && depth == 1;
    if (depth == 1 && strcmp(type, "&") != 0) {
        c->last = NULL;
    }
    if (writes_output(type) && at->function != NULL && !at->taken) {
        cbx_shell_traits_flow(c->s, &(struct cbx_shell_flow){ .slot = &at->function->output,
                                                              .node = node,
                                                              .function = at->function,
                                                              .output = true });
    }
    inner.taken |= writes_output(type);
    if (strcmp(type, "variable_assignment") == 0) {
        collect_assignment(c, node, top, at->parent == COMPUTES);
    } else if (strcmp(type, "declaration_command") == 0 || strcmp(type, "unset_command") == 0) {
        if (strcmp(type, "declaration_command") == 0) {
            collect_attributes(c, node);
        }
        collect_declaration(c, node);
    } else if (strcmp(type, "function_definition") == 0) {
        inner.function = collect_function(c, node, depth == 1, top);
        inner.taken = false;
    } else if (strcmp(type, "command") == 0) {
        collect_command(c, node);
    } else if (strcmp(type, "file_redirect") == 0) {
        collect_redirect(c, node);
    } else if (strcmp(type, "for_statement") == 0) {
        collect_for(c, node);
    } else if (strcmp(type, "variable_name") == 0 && at->parent == COMPUTES) {
        struct cbx_shell_name *n = cbx_shell_name_make(c->s, cbx_shell_source_of(c->s, node));
        if (n != NULL) {
            n->constant = false; /* an assignment that the grammar does not parse may be here */
        }
    } else if (strcmp(type, "binary_expression") == 0 || strcmp(type, "postfix_expression") == 0 ||
               strcmp(type, "unary_expression") == 0) {
        collect_computed(c, node);
    } else if (strcmp(type, "expansion") == 0) {
        collect_default(c, node);
    } else if (depth == 1 && strcmp(type, "&") == 0 && c->last != NULL) {
        /* `X=1 &` runs in another process */
        c->last->since = c->last->function_since = UINT32_MAX;
        c->last->constant = false;
        c->last->unset = true;
    }
    return inner;
}

/* A quick test: most lines have no name at all. */
static bool may_have_names(struct cbx_str text)
{
    static const char *const signs[] = { "=", "(", "function", "for", "[[", "set", "$" };
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (memmem(text.p, text.len, signs[i], strlen(signs[i])) != NULL) {
            return true;
        }
    }
    return false;
}

static void collect(struct cbx_shell *s, TSNode node)
{
    struct collector c = { .s = s };
    struct cbx_shell_level *levels = s->names.levels;
    s->names.first_call = UINT32_MAX;
    s->names.args = CBX_SHELL_ARGS;
    if (levels == NULL) {
        levels = cbx_arena_array(s->parsed->arena, CBX_TREE_DEPTH_MAX + 1, sizeof(*levels));
        s->names.levels = levels;
    }
    if (levels == NULL) {
        s->names.lost = true;
        return;
    }
    levels[0] = (struct cbx_shell_level){ .parent = OTHER };
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    int depth = 0;
    for (bool more = true; more;) {
        struct cbx_shell_level inner =
            collect_node(&c, ts_tree_cursor_current_node(&cursor), &levels[depth], depth);
        int above = depth;
        more = cbx_shell_next_node(&cursor, true, &depth);
        if (depth > above) {
            levels[depth] = inner;
        }
    }
    ts_tree_cursor_delete(&cursor);
    s->names.splits = cbx_shell_name_find(s, CBX_STR("IFS")) != NULL;
}

void cbx_shell_names_collect(struct cbx_shell *s)
{
    s->names.first_call = UINT32_MAX;
    s->names.args = CBX_SHELL_ARGS;
    if (may_have_names(s->parsed->text)) {
        collect(s, ts_tree_root_node(s->parsed->tree));
        cbx_shell_traits_solve(s);
    }
}

void cbx_shell_names_collect_of(struct cbx_shell *s, TSNode statement)
{
    s->names = (struct cbx_shell_names){ .levels = s->names.levels };
    collect(s, statement);
}
