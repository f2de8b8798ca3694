/* SPDX-License-Identifier: MIT
 * Converts TypeScript to JavaScript: removes the types from the tree, so that all code for
 * JavaScript applies. Nodes of types were left out when the tree was read
 * (lang/javascript/kinds.def). Linear: each node is visited once, or is a part of one chain of
 * wrappers. */
#include "analyzer/lang/javascript/internal.h"

/* Returns true for a wrapper around an expression: (x as T), x!, <T>x, f<T>, extends x. */
static bool is_wrapper(enum cbx_js_kind kind)
{
    return kind == JS_as_expression || kind == JS_satisfies_expression ||
           kind == JS_non_null_expression || kind == JS_type_assertion ||
           kind == JS_instantiation_expression || kind == JS_extends_clause;
}

/* Replaces `wrapper` by the node inside it; the inner node is removed. */
static void become(struct cbx_node *wrapper, struct cbx_node *inner)
{
    wrapper->kind = inner->kind;
    wrapper->start = inner->start;
    wrapper->end = inner->end;
    wrapper->first = inner->first;
    for (struct cbx_node *child = wrapper->first; child != NULL; child = child->next) {
        child->parent = wrapper;
    }
    inner->first = NULL;
    inner->kind = JS_OTHER;
}

static void unwrap(struct cbx_node *node)
{
    struct cbx_node *inner = node;
    while (is_wrapper(cbx_js_kind(inner)) && cbx_child_at(inner, 0) != NULL) {
        struct cbx_node *next = cbx_child_at(inner, 0);
        inner->kind = JS_OTHER;
        inner = next;
    }
    if (inner != node) {
        become(node, inner);
    }
}

/* (private x: T = v) becomes x = v, (x?: T) becomes x. */
static void reshape_parameter(struct cbx_node *node)
{
    struct cbx_node *pattern = cbx_child_of(node, CBX_FIELD_pattern),
                    *value = cbx_child_of(node, CBX_FIELD_value);
    pattern = pattern != NULL ? pattern : cbx_child_of(node, CBX_FIELD_name);
    if (pattern == NULL) {
        return;
    }
    if (value != NULL) {
        node->kind = JS_assignment_pattern;
        pattern->field = CBX_FIELD_left;
        value->field = CBX_FIELD_right;
    } else {
        become(node, pattern);
    }
}

static void reshape_field(struct cbx_node *node)
{
    struct cbx_node *name = cbx_child_of(node, CBX_FIELD_name);
    node->kind = JS_field_definition;
    if (name != NULL) {
        name->field = CBX_FIELD_property;
    }
}

/* import x = a.b.c becomes an assignment of x. */
static void reshape_alias(struct cbx_node *node)
{
    struct cbx_node *name = cbx_child_at(node, 0), *entity = cbx_child_at(node, 1);
    if (name == NULL || entity == NULL) {
        return;
    }
    node->kind = JS_assignment_expression;
    name->field = CBX_FIELD_left;
    entity->field = CBX_FIELD_right;
    if (cbx_js_kind(entity) == JS_nested_identifier) {
        entity->kind = JS_member_expression;
    }
}

/* import x = require('y') becomes import x from 'y'. */
static void reshape_require(struct cbx_node *clause)
{
    struct cbx_node *source = cbx_child_of(clause, CBX_FIELD_source),
                    *name = cbx_child_at(clause, 0);
    if (source == NULL || name == NULL || name == source ||
        cbx_js_kind(clause->parent) != JS_import_statement) {
        return;
    }
    clause->kind = JS_import_clause;
    clause->first = name;
    name->next = NULL;
    source->parent = clause->parent;
    source->next = NULL;
    clause->next = source;
}

static void reshape_member(struct cbx_node *node)
{
    struct cbx_node *name = cbx_child_of(node, CBX_FIELD_name);
    node->kind = JS_pair;
    if (name != NULL) {
        name->field = CBX_FIELD_key;
    }
}

/* --- import type ------------------------------------------------------------------------------ */

static bool is_name_byte(char c)
{
    return c == '_' || c == '$' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
           (unsigned char)c >= 0x80;
}

/* Returns the word at *at, after blanks and comments; empty if there is none. */
static struct cbx_str next_word(struct cbx_str text, size_t *at)
{
    for (bool more = true; more;) {
        struct cbx_str rest = cbx_str_sub(text, *at, text.len);
        const char *end = NULL;
        if (cbx_str_starts(rest, CBX_STR("//"))) {
            end = memchr(rest.p, '\n', rest.len);
        } else if (cbx_str_starts(rest, CBX_STR("/*"))) {
            end = memmem(rest.p + 2, rest.len - 2, "*/", 2);
            end = end != NULL ? end + 2 : NULL;
        } else {
            more = rest.len > 0 && strchr(" \t\n\v\f", rest.p[0]) != NULL;
            *at += more;
            continue;
        }
        *at = end != NULL ? (size_t)(end - text.p) : text.len;
    }
    size_t from = *at;
    while (*at < text.len && is_name_byte(text.p[*at])) {
        (*at)++;
    }
    return cbx_str_sub(text, from, *at);
}

/* Returns true for import type {x} from 'y', export type * from 'y', which run no code. `import
 * type from 'y'` is a default import with the name `type`. */
static bool is_type_only(struct cbx_str text)
{
    size_t at = 6; /* length of "import" and of "export" */
    if (!cbx_str_is(next_word(text, &at), "type")) {
        return false;
    }
    struct cbx_str word = next_word(text, &at);
    if (word.len == 0) {
        return at < text.len && (text.p[at] == '{' || text.p[at] == '*');
    }
    return !cbx_str_is(word, "from") || cbx_str_is(next_word(text, &at), "from");
}

void cbx_ts_reshape(struct cbx_walk *js)
{
    struct cbx_node *nodes = js->syntax.nodes;
    uint32_t gone = 0; /* nodes that begin before this byte are types */
    for (uint32_t i = 0; i < js->syntax.count; i++) {
        struct cbx_node *node = &nodes[i];
        enum cbx_js_kind kind = cbx_js_kind(node);
        if (node->start < gone) {
            node->kind = JS_OTHER;
            continue;
        }
        if (is_wrapper(kind)) {
            unwrap(node);
            kind = cbx_js_kind(node);
        }
        switch (kind) {
        case JS_required_parameter:
        case JS_optional_parameter:
            reshape_parameter(node);
            break;
        case JS_public_field_definition:
            reshape_field(node);
            break;
        case JS_abstract_class_declaration:
            node->kind = JS_class_declaration;
            break;
        case JS_import_alias:
            reshape_alias(node);
            break;
        case JS_import_require_clause:
            reshape_require(node);
            break;
        case JS_enum_body:
            node->kind = JS_object;
            break;
        case JS_enum_assignment:
            reshape_member(node);
            break;
        case JS_import_statement:
        case JS_export_statement:
            if (is_type_only(cbx_walk_text(js, node))) {
                gone = node->end;
                node->kind = JS_OTHER;
            }
            break;
        default:
            break;
        }
    }
}

/* --- what the grammar misreads ---------------------------------------------------------------- */

/* `static accessor x = 1`: the grammar accepts either word, but not both. Keeps `static`: a
 * static field has the same meaning here. */
static bool hide_accessor(struct cbx_str text, size_t at, char *copy)
{
    static const char word[] = "static";
    bool begins = cbx_str_starts(cbx_str_sub(text, at, text.len), CBX_STR("static")) &&
                  (at == 0 || memchr(" \t\n{};", text.p[at - 1], 6) != NULL);
    size_t to = at + strlen(word);
    if (!begins || !cbx_str_is(next_word(text, &to), "accessor")) {
        return false;
    }
    memset(copy + to - strlen("accessor"), ' ', strlen("accessor"));
    return true;
}

/* Returns the offset after a string without escapes; `at` if no such string begins there. */
static size_t skip_plain_string(struct cbx_str text, size_t at)
{
    char quote = at < text.len ? text.p[at] : '\0';
    size_t end = at + 1;
    if (quote != '"' && quote != '\'') {
        return at;
    }
    while (end < text.len && text.p[end] != quote) {
        if (text.p[end] == '\\' || text.p[end] == '\n') {
            return at;
        }
        end++;
    }
    return end < text.len ? end + 1 : at;
}

/* Replaces `import("x").T[]` by `("x")[]`, which keeps the text: the grammar does not parse arrays
 * of imported types. Only a type can have this form, because the brackets of an expression are not
 * empty. */
static bool hide_import(struct cbx_str text, size_t at, char *copy)
{
    size_t word = strlen("import"), open = at + word, name = open + 1;
    if (!cbx_str_starts(cbx_str_sub(text, at, text.len), CBX_STR("import(")) ||
        (at > 0 && is_name_byte(text.p[at - 1]))) {
        return false;
    }
    size_t behind = skip_plain_string(text, name), end = behind + 1;
    if (behind == name || behind >= text.len || text.p[behind] != ')') {
        return false;
    }
    while (end < text.len && (text.p[end] == '.' || is_name_byte(text.p[end]))) {
        end++;
    }
    if (end == behind + 1 || !cbx_str_starts(cbx_str_sub(text, end, text.len), CBX_STR("[]"))) {
        return false;
    }
    memset(copy + at, ' ', word);
    memset(copy + behind + 1, ' ', end - behind - 1);
    return true;
}

/* Handles `in?: T` and `in2: T` on a line of its own after a member without a semicolon: the
 * grammar parses the name as an operator, and fails at "?:" or ":", with which no operand begins.
 * Writes the semicolon that the line end stands for (ECMA-262, 12.10). */
static bool end_member(struct cbx_str text, size_t at, char *copy)
{
    size_t end = at, before = at;
    struct cbx_str word = next_word(text, &end);
    size_t length = cbx_str_starts(word, CBX_STR("instanceof")) ? strlen("instanceof") : 2;
    bool operator_like =
        cbx_str_starts(word, CBX_STR("in")) &&
        (word.len == length || ((word.p[length] | 32) < 'a') || ((word.p[length] | 32) > 'z'));
    while (before > 0 && (text.p[before - 1] == ' ' || text.p[before - 1] == '\t')) {
        before--;
    }
    bool indented = before > 0 && before < at && text.p[before - 1] == '\n';
    while (before > 0 && strchr(" \t\n", text.p[before - 1]) != NULL) {
        before--;
    }
    bool ended = before == 0 || strchr(";,{(", text.p[before - 1]) != NULL;
    struct cbx_str rest = cbx_str_sub(text, end, text.len);
    bool colon = cbx_str_starts(rest, CBX_STR(":")) || cbx_str_starts(rest, CBX_STR("?:"));
    if (!operator_like || !indented || ended || !colon) {
        return false;
    }
    copy[at - 1] = ';';
    return true;
}

/* Returns a copy of the text in which such names after '<' are replaced by other names of the same
 * length: in `i < unique.length` the grammar parses `unique` as a keyword of types, and '<' as the
 * start of type arguments. */
static struct cbx_str rename_words(const struct cbx_parsed *parsed)
{
    static const char *const words[] = {
        "unique", "infer", "keyof", "abstract", "never", "unknown"
    };
    struct cbx_str text = parsed->text, none = { 0 };
    char *copy = cbx_arena_alloc(parsed->arena, text.len + 1);
    bool found = false;
    for (size_t i = 0; copy != NULL && i < text.len; i++) {
        copy[i] = text.p[i];
    }
    for (size_t i = 0; copy != NULL && i < text.len; i++) {
        if (text.p[i] == 's') {
            found = hide_accessor(text, i, copy) || found;
        }
        if (text.p[i] == 'i') {
            found = hide_import(text, i, copy) || end_member(text, i, copy) || found;
        }
        if (text.p[i] != '<') {
            continue;
        }
        size_t at = i + 1;
        struct cbx_str word = next_word(text, &at);
        for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
            if (cbx_str_is(word, words[w])) {
                copy[at - 1] = '_';
                found = true;
            }
        }
    }
    return found ? (struct cbx_str){ .p = copy, .len = text.len } : none;
}

static struct cbx_str mend(const struct cbx_parsed *parsed, const TSLanguage *grammar)
{
    struct cbx_str renamed = rename_words(parsed);
    return renamed.p != NULL ? renamed : cbx_jsx_mend(parsed, grammar);
}

const TSLanguage *tree_sitter_typescript(void);
const struct cbx_lang_code cbx_lang_code_typescript = { .grammar = tree_sitter_typescript,
                                                        .extract = cbx_extract_javascript,
                                                        .between = CBX_JS_BETWEEN,
                                                        .around_file = cbx_js_around_file,
                                                        .other_grammar = cbx_tsx_grammar,
                                                        .mend = mend,
                                                        .misnames = cbx_js_misnames };
