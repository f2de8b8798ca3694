/* SPDX-License-Identifier: MIT
 * Collects the variables and functions of a shell text. A name is certain only if its first
 * definition is at the top level of the text, where it cannot be skipped and does not run in a
 * subshell; anything else that could change the name makes it uncertain. */
#include "analyzer/lang/shell/collect.h"
#include "policies/base/array.h"

#include <string.h>

void cbx_shell_name_assign(struct cbx_shell *s, struct cbx_shell_name *n)
{
    n->assigned = true;
    n->inside += s->names.inside;
    while (n->open > 0 && s->names.at >= n->loops[n->open - 1].until) {
        n->open = n->loops[n->open - 1].around;
    }
    /* what changes a loop has changed the loops around it */
    for (size_t l = n->open; l > 0 && !n->loops[l - 1].changed; l = n->loops[l - 1].around) {
        n->loops[l - 1].changed = true;
    }
}

/* Records that an unknown value is assigned to this name; the caller records its traits. */
struct cbx_shell_name *cbx_shell_name_doubt(struct cbx_shell *s, struct cbx_str name)
{
    struct cbx_shell_name *n = cbx_shell_name_make(s, name);
    if (n != NULL) {
        n->constant = false;
        cbx_shell_name_assign(s, n);
    }
    return n;
}

/* Records that the text gives the variable a value. */
void cbx_shell_name_give(struct cbx_shell_name *n, uint32_t at)
{
    if (n != NULL && (!n->given || at < n->first)) {
        n->given = true;
        n->first = at;
    }
}

/* Records that the value of `node` (any value if it is null) is assigned to the variable. */
void cbx_shell_name_flow(struct cbx_shell_collector *c, struct cbx_shell_name *variable,
                         TSNode node, uint32_t at)
{
    cbx_shell_name_give(variable, at);
    if (variable != NULL) {
        cbx_shell_traits_flow(c->s, &(struct cbx_shell_flow){ .slot = &variable->may,
                                                              .node = node,
                                                              .function = c->function,
                                                              .variable = variable,
                                                              .at = at });
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
static void collect_assignment(struct cbx_shell_collector *c, TSNode node, bool top, bool computes)
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
            cbx_shell_name_doubt(s, cbx_shell_source_of(s, ts_node_is_null(inner) ? name : inner));
        if (!computes && !ts_node_is_null(value)) {
            cbx_shell_name_flow(c, array, value, ts_node_start_byte(node));
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
    cbx_shell_name_give(n, ts_node_start_byte(node));
    if (!computes && !ts_node_is_null(value)) {
        cbx_shell_name_flow(c, n, value, ts_node_start_byte(node));
    }
    n->constant = n->constant && text.known && (!n->assigned || cbx_str_equal(n->value, text.text));
    cbx_shell_name_assign(s, n);
    n->value = text.text;
    if (top && n->since == UINT32_MAX) {
        n->since = ts_node_end_byte(node);
        c->last = n;
    }
}

/* `level`: the definition is a statement of the text or of an earlier cell; `top`: of the text. */
static struct cbx_shell_name *collect_function(struct cbx_shell_collector *c, TSNode node,
                                               bool level, bool top)
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

/* Notes the words of `for NAME in WORD...`, if all are constants. `select` is a loop of this kind for
 * the grammar; its variable may be empty. */
static void note_turns(struct cbx_shell_collector *c, struct cbx_shell_name *n, TSNode node)
{
    struct cbx_arena *arena = c->s->parsed->arena;
    struct cbx_str *turns = cbx_arena_array(arena, CBX_SHELL_TURNS_MAX, sizeof(*turns));
    uint32_t count = 0;
    bool all = turns != NULL && cbx_str_starts(cbx_shell_source_of(c->s, node), CBX_STR("for"));
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = all && ts_tree_cursor_goto_first_child(&cursor); more && all;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        const char *field = ts_tree_cursor_current_field_name(&cursor);
        if (field == NULL || strcmp(field, "value") != 0) {
            continue;
        }
        struct cbx_shell_text text =
            cbx_shell_fold_constant(c->s, ts_tree_cursor_current_node(&cursor));
        all = text.known && !text.pattern && !text.fields && count < CBX_SHELL_TURNS_MAX;
        if (all) {
            turns[count++] = text.text;
        }
    }
    ts_tree_cursor_delete(&cursor);
    if (!CBX_ARRAY_RESERVE(arena, n->loops, n->loop_count, &n->loop_size, 1, SIZE_MAX)) {
        c->s->names.lost = true;
        return;
    }
    n->loops[n->loop_count++] = (struct cbx_shell_loop){ .turns = turns,
                                                         .turn_count = all ? count : 0,
                                                         .from = ts_node_start_byte(node),
                                                         .until = ts_node_end_byte(node),
                                                         .inside = c->function != NULL,
                                                         .around = n->open };
    n->open = n->loop_count;
}

/* Handles for NAME in WORD... */
static void collect_for(struct cbx_shell_collector *c, TSNode node)
{
    TSNode variable = ts_node_child_by_field_name(node, "variable", 8);
    struct cbx_shell_name *n =
        ts_node_is_null(variable) ? NULL
                                  : cbx_shell_name_doubt(c->s, cbx_shell_source_of(c->s, variable));
    bool words = false;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = n != NULL && ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        const char *field = ts_tree_cursor_current_field_name(&cursor);
        if (field != NULL && strcmp(field, "value") == 0) {
            cbx_shell_name_give(n, ts_node_start_byte(node));
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
        cbx_shell_name_flow(c, n, node, ts_node_start_byte(node));
    }
    if (n != NULL) {
        note_turns(c, n, node);
    }
}

/* Handles ${X:=...} */
static void collect_default(struct cbx_shell_collector *c, TSNode node)
{
    struct cbx_str text = cbx_shell_source_of(c->s, node);
    TSNode name = ts_node_named_child(node, 0);
    uint32_t count = ts_node_named_child_count(node);
    if (memchr(text.p, '=', text.len) != NULL && !ts_node_is_null(name)) {
        struct cbx_shell_name *n = cbx_shell_name_doubt(c->s, cbx_shell_source_of(c->s, name));
        cbx_shell_name_flow(c, n, count > 1 ? ts_node_named_child(node, count - 1) : (TSNode){ 0 },
                            ts_node_start_byte(node));
    }
}

/* Handles ((NAME = ...)), ((NAME += ...)), ((NAME++)) */
static void collect_computed(struct cbx_shell_collector *c, TSNode node)
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
        cbx_shell_name_give(cbx_shell_name_doubt(c->s, cbx_shell_source_of(c->s, name)),
                            ts_node_start_byte(node));
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

/* Collects a node that needs no context. */
static void collect_kind(struct cbx_shell_collector *c, TSNode node)
{
    static const struct {
        const char *type;
        void (*collect)(struct cbx_shell_collector *c, TSNode node);
    } kinds[] = {
        { "command", cbx_shell_collect_command },
        { "file_redirect", cbx_shell_collect_redirect },
        { "declaration_command", cbx_shell_collect_declaration },
        { "unset_command", cbx_shell_collect_declaration },
        { "for_statement", collect_for },
        { "expansion", collect_default },
        { "binary_expression", collect_computed },
        { "postfix_expression", collect_computed },
        { "unary_expression", collect_computed },
    };
    const char *type = ts_node_type(node);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(type, kinds[i].type) == 0) {
            kinds[i].collect(c, node);
            return;
        }
    }
}

/* Handles `X=1 &`, which runs in another process. */
static void take_back(struct cbx_shell_collector *c)
{
    if (c->last != NULL) {
        c->last->since = c->last->function_since = UINT32_MAX;
        c->last->constant = false;
        c->last->unset = true;
    }
}

/* Collects one node; returns the context for its children. */
static struct cbx_shell_level collect_node(struct cbx_shell_collector *c, TSNode node,
                                           const struct cbx_shell_level *at, int depth)
{
    const char *type = ts_node_type(node);
    bool process = cbx_shell_scope_of((TSNode){ 0 }, node) == CBX_SHELL_SCOPE_KEEPS;
    struct cbx_shell_level inner = { parent_of(node), at->taken, at->apart || process,
                                     at->function };
    bool fresh = ts_node_start_byte(node) >= c->s->fresh;
    bool top = fresh && (depth == 1 || (depth == 2 && at->parent == DECLARES));
    bool background = depth == 1 && strcmp(type, "&") == 0;
    c->s->names.at = ts_node_start_byte(node);
    c->s->names.inside = at->function != NULL;
    c->function = at->function;
    c->apart = at->apart;
    c->top = fresh && depth == 1;
    if (depth == 1 && !background) {
        c->last = NULL;
    }
    if (writes_output(type) && at->function != NULL && !at->taken) {
        cbx_shell_traits_flow(c->s, &(struct cbx_shell_flow){ .slot = &at->function->output,
                                                              .node = node,
                                                              .function = at->function,
                                                              .output = true });
    }
    inner.taken |= writes_output(type);
    if (background) {
        take_back(c);
    } else if (strcmp(type, "variable_assignment") == 0) {
        collect_assignment(c, node, top, at->parent == COMPUTES);
    } else if (strcmp(type, "function_definition") == 0) {
        inner.function = collect_function(c, node, depth == 1, top);
        inner.taken = false;
    } else if (strcmp(type, "variable_name") == 0 && at->parent == COMPUTES) {
        struct cbx_shell_name *n = cbx_shell_name_make(c->s, cbx_shell_source_of(c->s, node));
        if (n != NULL) {
            n->constant = false; /* an assignment that the grammar does not parse may be here */
        }
    } else {
        collect_kind(c, node);
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
    struct cbx_shell_collector c = { .s = s };
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
        cbx_shell_wrappers_find(s);
        collect(s, ts_tree_root_node(s->parsed->tree));
        cbx_shell_traits_solve(s);
    }
}

void cbx_shell_names_collect_of(struct cbx_shell *s, TSNode statement)
{
    s->names = (struct cbx_shell_names){ .levels = s->names.levels };
    collect(s, statement);
}
