/* SPDX-License-Identifier: MIT
 * Finds the places where bash evaluates a value, and the tests before them that make it safe. */
#include "analyzer/lang/shell/arithmetic.h"

#include <ctype.h>

enum { CONDITIONS_MAX = 16, GUARDED_MAX = 16 };

static void add_fact(struct cbx_shell *s, TSNode node)
{
    cbx_shell_add_fact(s, CBX_FACT_SHELL_EVALUATED, CBX_STR("arithmetic"), node);
}

static bool type_is(TSNode node, const char *type)
{
    return cbx_shell_type_is(node, type);
}

static bool source_starts(const struct cbx_shell *s, TSNode node, const char *text)
{
    return cbx_str_starts(cbx_shell_source_of(s, node), cbx_str_of(text));
}

/* --- contexts --------------------------------------------------------------------------------- */

/* Returns true if `declare -A` of the array certainly ran before this place. */
static bool is_keyed(const struct cbx_shell *s, TSNode array)
{
    const struct cbx_shell_name *n = cbx_shell_name_find(s, cbx_shell_source_of(s, array));
    uint32_t at = ts_node_start_byte(array);
    bool unset =
        n != NULL && n->unset_names && (n->unset_at <= at || n->unset_at <= s->names.last_call);
    return n != NULL && n->keyed && !n->indexed && !unset && !s->names.lost &&
           n->keyed_since <= at && (n->keyed_in == NULL || n->keyed_in == s->function);
}

static bool compares_numbers(const struct cbx_shell *s, TSNode node)
{
    static const char *const operators[] = { "-eq", "-ne", "-lt", "-le", "-gt", "-ge" };
    TSNode operator= ts_node_child_by_field_name(node, "operator", 8);
    for (size_t i = 0; !ts_node_is_null(operator) && i < sizeof(operators) / sizeof(operators[0]);
         i++) {
        if (cbx_str_is(cbx_shell_source_of(s, operator), operators[i])) {
            return true;
        }
    }
    return false;
}

/* Returns true for NAME=VALUE if NAME is declared as an integer, or is one of the shell's own
 * integers. */
static bool assigns_number(const struct cbx_shell *s, TSNode assignment)
{
    static const char *const own[] = { "RANDOM", "OPTIND", "HISTSIZE", "HISTFILESIZE" };
    TSNode name = ts_node_child_by_field_name(assignment, "name", 4);
    if (type_is(name, "subscript")) {
        name = ts_node_named_child(name, 0);
    }
    if (ts_node_is_null(name)) {
        return false;
    }
    struct cbx_str text = cbx_shell_source_of(s, name);
    const struct cbx_shell_name *n = cbx_shell_name_find(s, text);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (cbx_str_is(text, own[i])) {
            return true;
        }
    }
    return n != NULL && n->integer;
}

enum cbx_shell_context cbx_shell_context_of(struct cbx_shell *s, TSNode above, TSNode parent,
                                            enum cbx_shell_context context, TSNode node)
{
    if (type_is(parent, "command_substitution") || type_is(parent, "process_substitution") ||
        type_is(node, "do_group") || type_is(node, "test_command")) {
        return CBX_SHELL_TEXT;
    }
    if (type_is(parent, "arithmetic_expansion") || type_is(parent, "c_style_for_statement") ||
        (type_is(parent, "compound_statement") && source_starts(s, parent, "(("))) {
        return type_is(node, "compound_statement") ? CBX_SHELL_TEXT : CBX_SHELL_ARITHMETIC;
    }
    if (type_is(parent, "test_command")) {
        return source_starts(s, parent, "[[")   ? CBX_SHELL_CONDITION
               : source_starts(s, parent, "((") ? CBX_SHELL_ARITHMETIC
                                                : CBX_SHELL_TEXT;
    }
    if (type_is(parent, "binary_expression") && context == CBX_SHELL_CONDITION &&
        compares_numbers(s, parent)) {
        return CBX_SHELL_ARITHMETIC;
    }
    if (type_is(parent, "subscript")) {
        TSNode array = ts_node_child_by_field_name(parent, "name", 4);
        bool index = !ts_node_eq(array, node);
        struct cbx_str text = cbx_shell_source_of(s, node);
        bool all = cbx_str_is(text, "@") || cbx_str_is(text, "*");
        if (!index) { /* $((a[1])): the element is evaluated; ${a[1]} is judged as a whole */
            return type_is(above, "expansion") ? CBX_SHELL_TEXT : context;
        }
        return !all && !is_keyed(s, array) ? CBX_SHELL_ARITHMETIC : CBX_SHELL_TEXT;
    }
    if (type_is(parent, "variable_assignment")) {
        TSNode value = ts_node_child_by_field_name(parent, "value", 5);
        bool is_value = !ts_node_is_null(value) && ts_node_eq(value, node);
        return is_value && (context == CBX_SHELL_ARITHMETIC || assigns_number(s, parent))
                   ? CBX_SHELL_ARITHMETIC
                   : CBX_SHELL_TEXT;
    }
    if (type_is(parent, "array") && type_is(node, "concatenation") && source_starts(s, node, "[")) {
        TSNode name = type_is(above, "variable_assignment")
                          ? ts_node_child_by_field_name(above, "name", 4)
                          : (TSNode){ 0 };
        return ts_node_is_null(name) || !is_keyed(s, name) ? CBX_SHELL_ARITHMETIC : CBX_SHELL_TEXT;
    }
    if (type_is(parent, "command")) {
        TSNode name = ts_node_child_by_field_name(parent, "name", 4);
        bool let = !ts_node_is_null(name) && cbx_str_is(cbx_shell_source_of(s, name), "let");
        return let && !ts_node_eq(name, node) ? CBX_SHELL_ARITHMETIC : CBX_SHELL_TEXT;
    }
    return context;
}

/* --- operands --------------------------------------------------------------------------------- */

/* Returns the name in an operand that is one variable: $x, ${x}, "$x", x. */
static struct cbx_str variable_of(const struct cbx_shell *s, TSNode node)
{
    struct cbx_str text = cbx_shell_source_of(s, node);
    size_t from = 0, end;
    while (from < text.len && memchr("\" \t${", text.p[from], 5) != NULL) {
        from++;
    }
    end = from;
    while (end < text.len && (text.p[end] == '_' || isalnum((unsigned char)text.p[end]))) {
        end++;
    }
    return cbx_str_sub(text, from, end);
}

static bool is_number_here(const struct cbx_shell *s, struct cbx_str name, uint32_t at)
{
    const struct cbx_shell_name *n = cbx_shell_name_find(s, name);
    return n != NULL && n->valid_from <= at && at < n->valid_until;
}

static void check_name(struct cbx_shell *s, struct cbx_str name, TSNode node)
{
    uint32_t at = ts_node_start_byte(node);
    const struct cbx_shell_name *n = cbx_shell_name_find(s, name);
    bool before = n != NULL && n->given && n->first > at && s->function == NULL &&
                  cbx_shell_variable_traits(s, name) == 0;
    if (!is_number_here(s, name, at) &&
        (before || (cbx_shell_variable_traits(s, name) & CBX_SHELL_MAY_EVALUATE) != 0)) {
        add_fact(s, node);
    }
}

/* Checks the names in a text that the shell evaluates. */
static void check_text(struct cbx_shell *s, struct cbx_str text, TSNode node)
{
    for (size_t i = 0; i < text.len; i++) {
        size_t from = i;
        while (i < text.len &&
               (text.p[i] == '_' || isalnum((unsigned char)text.p[i]) || text.p[i] == '#')) {
            i++;
        }
        if (i > from && !isdigit((unsigned char)text.p[from]) && text.p[from] != '#') {
            check_name(s, cbx_str_sub(text, from, i), node);
        }
    }
}

void cbx_shell_check_arithmetic(struct cbx_shell *s, TSNode parent, TSNode node,
                                enum cbx_shell_context context)
{
    static const char *const values[] = { "simple_expansion", "expansion", "command_substitution" };
    static const char *const texts[] = { "variable_name", "word", "string_content", "raw_string",
                                         "extglob_pattern" };
    if (context != CBX_SHELL_ARITHMETIC) {
        return;
    }
    bool assigned = type_is(parent, "variable_assignment") &&
                    ts_node_eq(ts_node_child_by_field_name(parent, "name", 4), node);
    bool inside = type_is(parent, "simple_expansion") || type_is(parent, "expansion") || assigned;
    for (size_t i = 0; !inside && i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (type_is(node, texts[i])) {
            struct cbx_str text = cbx_shell_source_of(s, node);
            const char *equals = memchr(text.p, '=', text.len);
            bool let = equals != NULL && equals[-1] != '+' && equals > text.p &&
                       (equals + 1 == text.p + text.len || equals[1] != '=');
            check_text(s, let ? cbx_str_sub(text, (size_t)(equals - text.p) + 1, text.len) : text,
                       node);
        }
    }
    for (size_t i = 0; !inside && i < sizeof(values) / sizeof(values[0]); i++) {
        if (type_is(node, values[i]) &&
            (cbx_shell_traits(s, node, s->function) & CBX_SHELL_MAY_EVALUATE) != 0 &&
            !(i < 2 && is_number_here(s, variable_of(s, node), ts_node_start_byte(node)))) {
            add_fact(s, node);
        }
    }
}

void cbx_shell_check_expansion(struct cbx_shell *s, TSNode node)
{
    struct cbx_str text = cbx_shell_source_of(s, node);
    struct cbx_str name = variable_of(s, node);
    const char *brace = memchr(text.p, '{', text.len);
    if (brace == NULL) {
        return;
    }
    size_t at = (size_t)(brace - text.p) + 1;
    if (at + 1 < text.len && text.p[at] == '!' && text.p[at + 1] != '}') {
        struct cbx_str inner = cbx_str_sub(text, at + 1, text.len);
        size_t end = 0;
        while (end < inner.len && (inner.p[end] == '_' || isalnum((unsigned char)inner.p[end]))) {
            end++;
        }
        bool plain = end < inner.len && inner.p[end] != '[' && inner.p[end] != '*' &&
                     inner.p[end] != '@' && end > 0;
        if (plain) {
            struct cbx_str pointer = cbx_str_sub(inner, 0, end);
            unsigned may = isdigit((unsigned char)pointer.p[0])
                               ? (s->function != NULL ? s->function->args : s->names.args)
                               : cbx_shell_variable_traits(s, pointer);
            if ((may & CBX_SHELL_MAY_CODE) != 0) {
                add_fact(s, node);
            }
        }
        return;
    }
    size_t end = name.len > 0 ? (size_t)(name.p - text.p) + name.len : at;
    while (end < text.len && text.p[end] != ':') {
        if (text.p[end] != '[' && text.p[end] != ']' && text.p[end] != '@' && text.p[end] != '*') {
            return;
        }
        end++;
    }
    if (end + 1 >= text.len || memchr("-=+?", text.p[end + 1], 4) != NULL) {
        return;
    }
    /* ${x:offset:length}: check its names; the expansions in it are nodes of their own */
    struct cbx_str offset = cbx_str_sub(text, end + 1, text.len - 1);
    for (size_t i = 0; i < offset.len; i++) {
        bool value =
            offset.p[i] == '$' && i + 1 < offset.len && memchr("#?{(", offset.p[i + 1], 4) != NULL;
        if (value && offset.p[i + 1] == '{' && i + 2 < offset.len && offset.p[i + 2] == '#') {
            return; /* ${x:0:${#x}-1} */
        }
        if (value && memchr("{(", offset.p[i + 1], 2) != NULL) {
            break;
        }
    }
    check_text(s, offset, node);
}

/* --- tests ------------------------------------------------------------------------------------ */

/* Returns true for a regular expression that only numbers match. */
static bool is_number_regex(struct cbx_str text)
{
    int level = 0;
    bool bracket = false;
    if (text.len < 3 || text.p[0] != '^' || text.p[text.len - 1] != '$') {
        return false;
    }
    for (size_t i = 1; i + 1 < text.len; i++) {
        char c = text.p[i];
        if (cbx_str_starts(cbx_str_sub(text, i, text.len), CBX_STR("[:digit:]")) && bracket) {
            i += 8;
        } else if (c == '\\' && i + 2 < text.len && memchr(".+-", text.p[i + 1], 3) != NULL) {
            i++;
        } else if (bracket && c == ']') {
            bracket = false;
        } else if (bracket ? !isdigit((unsigned char)c) && memchr("-+.", c, 3) == NULL
                           : !isdigit((unsigned char)c) && memchr("[()+*?{},-|", c, 11) == NULL) {
            return false;
        } else if (!bracket) {
            bracket = c == '[';
            level += (c == '(') - (c == ')');
            if (c == '|' && level == 0) {
                return false;
            }
        } else if (c == '-' &&
                   !(isdigit((unsigned char)text.p[i - 1]) &&
                     isdigit((unsigned char)text.p[i + 1])) &&
                   text.p[i - 1] != '[' && text.p[i + 1] != ']' && text.p[i - 1] != '+') {
            return false;
        }
    }
    return true;
}

/* Returns true for a pattern that matches every text with a character that is no digit. */
static bool is_other_pattern(struct cbx_str text)
{
    return cbx_str_is(text, "*[!0-9]*") || cbx_str_is(text, "*[^0-9]*") ||
           cbx_str_is(text, "*[![:digit:]]*") || cbx_str_is(text, "*[^[:digit:]]*");
}

/* One condition that shows a variable to be a number: [[ $x =~ ^[0-9]+$ ]] and [[ $x == +([0-9])
 * ]] if it holds, [[ $x ==
 * *[!0-9]* ]] and [[ ! $x =~ ^[0-9]+$ ]] if it does not hold. */
struct shown {
    struct cbx_str name;
    bool holds;
};

static bool read_test(struct cbx_shell *s, TSNode test, struct shown *out)
{
    TSNode inner = ts_node_named_child(test, 0);
    bool negated = false;
    while (type_is(inner, "unary_expression") || type_is(inner, "parenthesized_expression")) {
        negated ^= source_starts(s, inner, "!");
        if (type_is(inner, "unary_expression") && !source_starts(s, inner, "!")) {
            return false;
        }
        inner = ts_node_named_child(inner, ts_node_named_child_count(inner) - 1);
    }
    TSNode left = type_is(inner, "binary_expression")
                      ? ts_node_child_by_field_name(inner, "left", 4)
                      : (TSNode){ 0 };
    TSNode right = type_is(inner, "binary_expression")
                       ? ts_node_child_by_field_name(inner, "right", 5)
                       : (TSNode){ 0 };
    if (ts_node_is_null(left) || ts_node_is_null(right)) {
        return false;
    }
    while (type_is(left, "unary_expression") && source_starts(s, left, "!")) {
        negated = !negated;
        left = ts_node_named_child(left, 0);
    }
    uint32_t between = ts_node_end_byte(left), end = ts_node_start_byte(right);
    struct cbx_str operator= { .p = s->src + between, .len = end > between ? end - between : 0 };
    bool matches = memmem(operator.p, operator.len, "=~", 2) != NULL;
    bool equal = memmem(operator.p, operator.len, "==", 2) != NULL || cbx_str_is(operator, " = ");
    bool differs = memmem(operator.p, operator.len, "!=", 2) != NULL;
    struct cbx_shell_text folded = cbx_shell_fold(s, right);
    struct cbx_str pattern = cbx_shell_source_of(s, right);
    if (type_is(right, "simple_expansion") || type_is(right, "expansion")) {
        pattern = folded.known ? folded.text : CBX_STR("");
    }
    out->name = variable_of(s, left);
    struct cbx_str whole = cbx_shell_source_of(s, left);
    bool only = memchr(whole.p, '$', whole.len) != NULL && out->name.len > 0 &&
                out->name.len + 5 >= whole.len;
    bool all = cbx_str_is(pattern, "+([0-9])") || cbx_str_is(pattern, "+([[:digit:]])");
    bool digits = (matches && is_number_regex(pattern)) || (equal && all);
    bool other =
        (equal && is_other_pattern(pattern)) || (differs && all) ||
        (matches && (cbx_str_is(pattern, "[^0-9]") || cbx_str_is(pattern, "[^[:digit:]]")));
    bool none = differs && is_other_pattern(pattern);
    out->holds = (digits || none) != negated;
    return only && (digits || other || none);
}

/* Returns true if a statement leaves the block: exit, return, continue, break; also as the last
 * statement of a group. */
static bool leaves(const struct cbx_shell *s, TSNode node)
{
    static const char *const words[] = { "exit", "return", "continue", "break" };
    for (int depth = 0; depth < 4; depth++) {
        if (type_is(node, "compound_statement") || type_is(node, "list")) {
            uint32_t count = ts_node_named_child_count(node);
            if (count == 0 || source_starts(s, node, "((")) {
                return false;
            }
            if (type_is(node, "list") &&
                memmem(cbx_shell_source_of(s, node).p, cbx_shell_source_of(s, node).len, "||", 2) !=
                    NULL) {
                return false;
            }
            node = ts_node_named_child(node, count - 1);
        }
    }
    TSNode name =
        type_is(node, "command") ? ts_node_child_by_field_name(node, "name", 4) : (TSNode){ 0 };
    for (size_t i = 0; !ts_node_is_null(name) && i < sizeof(words) / sizeof(words[0]); i++) {
        if (cbx_str_is(cbx_shell_source_of(s, name), words[i])) {
            return true;
        }
    }
    return false;
}

/* Notes that the variable is a number in [from, until), unless another value is assigned to it
 * there or anywhere in another function. */
static void note(struct cbx_shell *s, struct cbx_str name, uint32_t from, uint32_t until)
{
    struct cbx_shell_name *n = cbx_shell_name_make(s, name);
    bool earlier = s->function == NULL && from < s->fresh; /* `exit` ended only that cell */
    if (n == NULL || until <= from || earlier) {
        return;
    }
    size_t low = 0, high = n->unsafe_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (n->unsafe[middle].at < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool again = low < n->unsafe_count && n->unsafe[low].at < until;
    if (!again && !s->names.lost && !s->names.sources && n->unsafe_functions <= 1 &&
        (n->unsafe_count == 0 || n->unsafe[0].function == s->function) && until > n->valid_until) {
        n->valid_from = from;
        n->valid_until = until;
    }
}

/* Reads the conditions that show a number if the condition `node` holds (`holds`: all of a &&
 * b), or if it does not hold (all of a || b); returns their count. */
static size_t read_conditions(struct cbx_shell *s, TSNode node, bool holds, struct shown *out)
{
    size_t count = 0;
    const char *operator= holds ? "&&" : "||";
    for (int i = 0; i < CONDITIONS_MAX && !ts_node_is_null(node); i++) {
        TSNode test = node, next = { 0 };
        if (type_is(node, "list")) {
            TSNode second = ts_node_child(node, 1);
            if (!cbx_str_is(cbx_shell_source_of(s, second), operator)) {
                break;
            }
            test = ts_node_named_child(node, 1);
            next = ts_node_named_child(node, 0);
        }
        bool negated = type_is(test, "negated_command");
        if (negated) {
            test = ts_node_named_child(test, 0);
        }
        if (type_is(test, "test_command") && source_starts(s, test, "[[") &&
            read_test(s, test, &out[count])) {
            out[count].holds ^= negated;
            count += out[count].holds == holds;
        }
        node = next;
    }
    return count;
}

static void note_all(struct cbx_shell *s, TSNode condition, bool holds, uint32_t from,
                     uint32_t until)
{
    struct shown shown[CONDITIONS_MAX];
    size_t count = read_conditions(s, condition, holds, shown);
    for (size_t i = 0; i < count; i++) {
        note(s, shown[i].name, from, until);
    }
}

/* Returns the end of the block; 0 in a list or pipeline, which may skip the statement and its
 * test. */
static uint32_t end_of(TSNode block)
{
    return ts_node_is_null(block) || type_is(block, "list") || type_is(block, "pipeline")
               ? 0
               : ts_node_end_byte(block);
}

static void check_case(struct cbx_shell *s, TSNode block, TSNode node)
{
    TSNode value = ts_node_child_by_field_name(node, "value", 5);
    uint32_t count = ts_node_named_child_count(node);
    if (ts_node_is_null(value) || count == 0 || count > GUARDED_MAX) {
        return;
    }
    struct cbx_str name = variable_of(s, value);
    for (uint32_t i = 1; i < count; i++) {
        TSNode item = ts_node_named_child(node, i);
        uint32_t parts = type_is(item, "case_item") ? ts_node_named_child_count(item) : 0;
        bool other = false;
        for (uint32_t k = 0; k < parts && k < GUARDED_MAX; k++) {
            other |= is_other_pattern(cbx_shell_source_of(s, ts_node_named_child(item, k)));
        }
        struct cbx_str text = cbx_shell_source_of(s, item);
        if (other && memmem(text.p, text.len, ";&", 2) == NULL &&
            memmem(text.p, text.len, ";;&", 3) == NULL) {
            bool ends = leaves(s, ts_node_named_child(item, parts - 1));
            note(s, name, ts_node_end_byte(item), ends ? end_of(block) : ts_node_end_byte(node));
            return;
        }
    }
}

static void check_if(struct cbx_shell *s, TSNode block, TSNode node)
{
    TSNode condition = ts_node_child_by_field_name(node, "condition", 9), last = { 0 };
    if (ts_node_is_null(condition)) {
        return;
    }
    uint32_t until = ts_node_end_byte(node);
    bool otherwise = false;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (type_is(child, "elif_clause") || type_is(child, "else_clause")) {
            until = otherwise ? until : ts_node_start_byte(child);
            otherwise = true;
        } else if (ts_node_is_named(child) && !otherwise) {
            last = child;
        }
    }
    ts_tree_cursor_delete(&cursor);
    note_all(s, condition, true, ts_node_end_byte(condition), until);
    if (otherwise) {
        note_all(s, condition, false, until, ts_node_end_byte(node));
    } else if (!ts_node_is_null(last) && !ts_node_eq(last, condition) && leaves(s, last)) {
        note_all(s, condition, false, ts_node_end_byte(node), end_of(block));
    }
}

/* Handles loops: the condition holds in the body of `while`, and does not hold after it, unless the
 * body has a `break`; for `until` it is the other way round. */
static void check_loop(struct cbx_shell *s, TSNode block, TSNode node)
{
    TSNode condition = ts_node_child_by_field_name(node, "condition", 9);
    TSNode body = ts_node_child_by_field_name(node, "body", 4);
    if (ts_node_is_null(condition) || ts_node_is_null(body)) {
        return;
    }
    bool holds = source_starts(s, node, "while");
    struct cbx_str text = cbx_shell_source_of(s, body);
    note_all(s, condition, holds, ts_node_start_byte(body), ts_node_end_byte(body));
    if (memmem(text.p, text.len, "break", 5) == NULL) {
        note_all(s, condition, !holds, ts_node_end_byte(node), end_of(block));
    }
}

static void check_list(struct cbx_shell *s, TSNode block, TSNode node)
{
    TSNode first = ts_node_named_child(node, 0);
    TSNode second = ts_node_named_child(node, 1), operator= ts_node_child(node, 1);
    if (ts_node_is_null(second) || ts_node_is_null(operator)) {
        return;
    }
    bool and = cbx_str_is(cbx_shell_source_of(s, operator), "&&");
    note_all(s, first, and, ts_node_end_byte(first), ts_node_end_byte(node));
    if (leaves(s, second)) {
        note_all(s, first, !and, ts_node_end_byte(node), end_of(block));
    }
}

void cbx_shell_check_guard(struct cbx_shell *s, TSNode block, TSNode node)
{
    static const struct {
        const char *type;
        void (*check)(struct cbx_shell *s, TSNode block, TSNode node);
    } guards[] = { { "case_statement", check_case },
                   { "if_statement", check_if },
                   { "while_statement", check_loop },
                   { "list", check_list } };
    for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++) {
        if (type_is(node, guards[i].type)) {
            TSNode behind = ts_node_next_sibling(node);
            bool apart = !ts_node_is_null(behind) && type_is(behind, "&"); /* in a process */
            guards[i].check(s, apart ? (TSNode){ 0 } : block, node);
        }
    }
}
