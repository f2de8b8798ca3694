/* SPDX-License-Identifier: MIT
 * What the grammars of JavaScript and TypeScript misread, and the text of the same length and
 * meaning that they read. Each row is a construct that has no other meaning in a source without
 * errors, because a text in its place may not change what the source does. */
#include "analyzer/lang/javascript/internal.h"

#include "analyzer/syntax/tree_memory.h"

#include <string.h>

bool cbx_js_is_name_byte(char c)
{
    return c == '_' || c == '$' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
           (unsigned char)c >= 0x80;
}

struct cbx_str cbx_js_next_word(struct cbx_str text, size_t *at)
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
    while (*at < text.len && cbx_js_is_name_byte(text.p[*at])) {
        (*at)++;
    }
    return cbx_str_sub(text, from, *at);
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

/* A place looks at this many bytes around it, so that the whole is linear. */
enum { NEAR_MAX = 1024 };

/* Returns the offset behind the last character before `at` that is no blank and in no comment. */
static size_t code_before(struct cbx_str text, size_t at)
{
    size_t least = at > NEAR_MAX ? at - NEAR_MAX : 0;
    for (;;) {
        while (at > least && strchr(" \t\n", text.p[at - 1]) != NULL) {
            at--;
        }
        size_t line = at, open = at;
        while (line > least && text.p[line - 1] != '\n') {
            line--;
        }
        size_t first = line;
        while (first < at && (text.p[first] == ' ' || text.p[first] == '\t')) {
            first++;
        }
        if (cbx_str_starts(cbx_str_sub(text, first, at), CBX_STR("//"))) {
            at = line;
            continue;
        }
        if (at < least + 4 || memcmp(text.p + at - 2, "*/", 2) != 0) {
            return at;
        }
        for (open = at - 4; open > least && memcmp(text.p + open, "/*", 2) != 0; open--) {
        }
        at = open;
    }
}

/* True if this is the first character of an indented line, and the code before it has an end that
 * the next line could continue. */
static bool continues_line(struct cbx_str text, size_t at)
{
    size_t before = at;
    while (before > 0 && (text.p[before - 1] == ' ' || text.p[before - 1] == '\t')) {
        before--;
    }
    if (before == 0 || before == at || text.p[before - 1] != '\n') {
        return false;
    }
    before = code_before(text, before);
    bool arrow = before > 1 && memcmp(text.p + before - 2, "=>", 2) == 0;
    return before > 0 && !arrow && strchr(";,{(=?:|&", text.p[before - 1]) == NULL;
}

/* True if a word begins here, and is this one. */
static bool is_word(struct cbx_str text, size_t at, const char *word)
{
    size_t end = at;
    return (at == 0 || (!cbx_js_is_name_byte(text.p[at - 1]) && text.p[at - 1] != '.')) &&
           cbx_js_is_name_byte(text.p[at]) && cbx_str_is(cbx_js_next_word(text, &end), word);
}

/* Returns the offset behind the bracket that closes the one at `at`; 0 if there is none. Counts
 * brackets of this pair only, and no `>` of an arrow. */
static size_t skip_brackets(struct cbx_str text, size_t at, char close)
{
    char open = text.p[at];
    int depth = 0;
    for (size_t i = at; i < text.len && i < at + NEAR_MAX; i++) {
        depth += text.p[i] == open;
        depth -= text.p[i] == close && text.p[i - 1] != '=';
        if (depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* --- JavaScript ------------------------------------------------------------------------------- */

/* export { x as null }, import { in as x }: the names are any words, the grammar takes no
 * keywords. Replaces the first character of each. */
static bool rename_specifiers(struct cbx_str text, size_t at, char *copy)
{
    static const char *const keywords[] = {
        "break",    "case",   "catch",  "class",  "const",      "continue", "debugger", "delete",
        "do",       "else",   "enum",   "export", "extends",    "false",    "finally",  "for",
        "function", "if",     "import", "in",     "instanceof", "new",      "null",     "return",
        "super",    "switch", "this",   "throw",  "true",       "try",      "typeof",   "undefined",
        "var",      "void",   "while",  "with",
    };
    size_t end = at;
    bool found = false;
    if (!is_word(text, at, "export") && !is_word(text, at, "import")) {
        return false;
    }
    cbx_js_next_word(text, &end);
    cbx_js_next_word(text, &end); /* `type`, or the name of a default import */
    while (end < text.len && text.p[end] != '{' && text.p[end] == ',') {
        end++;
        cbx_js_next_word(text, &end);
    }
    if (end >= text.len || text.p[end] != '{') {
        return false;
    }
    end++;
    for (;;) {
        struct cbx_str word = cbx_js_next_word(text, &end);
        for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
            if (cbx_str_is(word, keywords[i])) {
                copy[end - word.len] = '_';
                found = true;
            }
        }
        if (word.len == 0 && end < text.len && text.p[end] == ',') {
            end++;
        } else if (word.len == 0) {
            break; /* '}', or no list of names */
        }
    }
    return found;
}

/* A field `#x` on a line of its own, before `[computed] = ...`: no expression begins with a
 * private name on a line of its own. Writes the semicolon that the line end stands for (ECMA-262,
 * 12.10). */
static bool end_field(struct cbx_str text, size_t at, char *copy)
{
    size_t before = at, end = at + 1;
    while (before > 0 && (text.p[before - 1] == ' ' || text.p[before - 1] == '\t')) {
        before--;
    }
    while (end < text.len && cbx_js_is_name_byte(text.p[end])) {
        end++;
    }
    size_t behind = end;
    if ((before > 0 && text.p[before - 1] != '\n') || end == at + 1 || end >= text.len ||
        text.p[end] != '\n' || cbx_js_next_word(text, &behind).len > 0 || behind >= text.len ||
        text.p[behind] != '[') {
        return false;
    }
    copy[end] = ';';
    return true;
}

/* --- TypeScript ------------------------------------------------------------------------------- */

/* `static accessor x = 1`: the grammar accepts either word, but not both. Keeps `static`: a
 * static field has the same meaning here. */
static bool hide_accessor(struct cbx_str text, size_t at, char *copy)
{
    static const char word[] = "static";
    bool begins = cbx_str_starts(cbx_str_sub(text, at, text.len), CBX_STR("static")) &&
                  (at == 0 || memchr(" \t\n{};", text.p[at - 1], 6) != NULL);
    size_t to = at + strlen(word);
    if (!begins || !cbx_str_is(cbx_js_next_word(text, &to), "accessor")) {
        return false;
    }
    memset(copy + to - strlen("accessor"), ' ', strlen("accessor"));
    return true;
}

/* Writes a name for `import("x").T`: the grammar does not parse arrays and arguments of imported
 * types. keep_texts puts the import back where it is no type. */
static bool hide_import(struct cbx_str text, size_t at, char *copy)
{
    size_t name = at + strlen("import("), end = name;
    if (!cbx_str_starts(cbx_str_sub(text, at, text.len), CBX_STR("import(")) ||
        (at > 0 && cbx_js_is_name_byte(text.p[at - 1]))) {
        return false;
    }
    end = skip_plain_string(text, name);
    if (end == name || end + 1 >= text.len || text.p[end] != ')' || text.p[end + 1] != '.') {
        return false;
    }
    end++;
    while (end < text.len && (text.p[end] == '.' || cbx_js_is_name_byte(text.p[end]))) {
        end++;
    }
    memset(copy + at, '_', end - at);
    return true;
}

/* Handles `in?: T` and `in2: T` on a line of its own after a member without a semicolon: the
 * grammar parses the name as an operator, and fails at "?:" or ":", with which no operand begins.
 * Writes the semicolon that the line end stands for (ECMA-262, 12.10). */
static bool end_member(struct cbx_str text, size_t at, char *copy)
{
    size_t end = at;
    struct cbx_str word = cbx_js_next_word(text, &end);
    size_t length = cbx_str_starts(word, CBX_STR("instanceof")) ? strlen("instanceof") : 2;
    bool operator_like =
        cbx_str_starts(word, CBX_STR("in")) &&
        (word.len == length || ((word.p[length] | 32) < 'a') || ((word.p[length] | 32) > 'z'));
    struct cbx_str rest = cbx_str_sub(text, end, text.len);
    bool colon = cbx_str_starts(rest, CBX_STR(":")) || cbx_str_starts(rest, CBX_STR("?:"));
    if (!operator_like || !colon || !continues_line(text, at)) {
        return false;
    }
    copy[at - 1] = ';';
    return true;
}

/* `<T>(x: T): T` on a line of its own after a member without a semicolon: the grammar takes it for
 * arguments of the type before. Only a signature has the second colon. */
static bool end_signature(struct cbx_str text, size_t at, char *copy)
{
    size_t types = continues_line(text, at) ? skip_brackets(text, at, '>') : 0;
    size_t parameters =
        types > 0 && types < text.len && text.p[types] == '(' ? skip_brackets(text, types, ')') : 0;
    if (parameters == 0 || parameters >= text.len || text.p[parameters] != ':') {
        return false;
    }
    copy[at - 1] = ';';
    return true;
}

/* sql<T>`...`: the grammar takes no type arguments before a template. What is no type is compared
 * (`a < f(x) > `t``), so nothing may be hidden that could call something. */
static bool hide_arguments(struct cbx_str text, size_t at, char *copy)
{
    size_t end = at > 0 && cbx_js_is_name_byte(text.p[at - 1]) ? skip_brackets(text, at, '>') : 0;
    if (end == 0 || end >= text.len || text.p[end] != '`') {
        return false;
    }
    for (size_t i = at; i < end; i++) {
        if ((!cbx_js_is_name_byte(text.p[i]) && strchr(" \n.,:;|&?[]{}<>\"'", text.p[i]) == NULL) ||
            is_word(text, i, "new") || is_word(text, i, "import")) {
            return false;
        }
    }
    for (size_t i = at; i < end; i++) {
        copy[i] = text.p[i] == '\n' ? '\n' : ' ';
    }
    return true;
}

/* <in T>, <out T>, <in out T = X>: the variance of a type's parameter. An expression has no two
 * names after each other. */
static bool hide_variance(struct cbx_str text, size_t at, char *copy)
{
    size_t end = at + 1, first = 0;
    struct cbx_str word = cbx_js_next_word(text, &end);
    bool found = false;
    for (int i = 0; i < 2 && (cbx_str_is(word, "in") || cbx_str_is(word, "out")); i++) {
        size_t from = end - word.len;
        first = i == 0 ? from : first;
        word = cbx_js_next_word(text, &end);
        found = word.len > 0 && !cbx_str_is(word, "extends");
    }
    size_t name = end - word.len;
    struct cbx_str next = cbx_js_next_word(text, &end);
    bool ends = next.len > 0 ? cbx_str_is(next, "extends")
                             : end < text.len && strchr(",>=", text.p[end]) != NULL;
    if (!found || !ends) {
        return false;
    }
    for (size_t i = first; i < name; i++) {
        copy[i] = text.p[i] == '\n' ? '\n' : ' ';
    }
    return true;
}

/* `i < unique.length`: the grammar parses `unique` as a keyword of types, and '<' as the start of
 * type arguments. Replaces such names after '<' by others. */
static bool rename_word(struct cbx_str text, size_t at, char *copy)
{
    static const char *const words[] = {
        "unique", "infer", "keyof", "abstract", "never", "unknown"
    };
    size_t end = at + 1;
    struct cbx_str word = cbx_js_next_word(text, &end);
    size_t next = end;
    bool keyword = cbx_js_next_word(text, &next).len > 0; /* `infer T` */
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !keyword; i++) {
        if (cbx_str_is(word, words[i])) {
            copy[end - 1] = '_';
            return true;
        }
    }
    return false;
}

static bool names_a_type(struct cbx_str word)
{
    static const char *const types[] = { "string", "number", "boolean", "any",  "object",
                                         "symbol", "bigint", "unknown", "never" };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (cbx_str_is(word, types[i])) {
            return true;
        }
    }
    return false;
}

/* `(string) => void`: a parameter without a type, with the name of a type. The grammar parses the name
 * as a type, and fails. Replaces the last character of each. */
static bool rename_parameters(struct cbx_str text, size_t at, char *copy)
{
    bool found = false, names = true;
    for (int pass = 0; pass < 2 && names; pass++) {
        size_t end = at;
        do {
            end++;
            struct cbx_str word = cbx_js_next_word(text, &end);
            names = word.len > 0;
            bool type = names_a_type(word);
            found |= type;
            if (type && pass == 1) {
                copy[end - 1] = '_';
            }
            names = names && cbx_js_next_word(text, &end).len == 0;
        } while (names && end < text.len && text.p[end] == ',');
        end += names && end < text.len && text.p[end] == ')';
        names = names && found && text.p[end - 1] == ')' && cbx_js_next_word(text, &end).len == 0 &&
                cbx_str_starts(cbx_str_sub(text, end, text.len), CBX_STR("=>"));
    }
    return found && names;
}

/* Writes `export type{}` for `export type *` and `export type * as x`, which run no code either. */
static bool empty_types(struct cbx_str text, size_t at, char *copy)
{
    size_t end = at, name;
    if (!is_word(text, at, "export") || cbx_js_next_word(text, &end).len == 0 ||
        !cbx_str_is(cbx_js_next_word(text, &end), "type") || cbx_js_next_word(text, &end).len > 0 ||
        end >= text.len || text.p[end] != '*' || text.p[end - 1] != ' ') {
        return false;
    }
    copy[end - 1] = '{';
    copy[end] = '}';
    name = end + 1;
    if (cbx_str_is(cbx_js_next_word(text, &name), "as")) {
        cbx_js_next_word(text, &name);
        memset(copy + end + 1, ' ', name - end - 1);
    }
    return true;
}

/* `global { ... }` within `declare module`: a block. The word `declare` before it is missing, as
 * all of it is declared. */
static bool hide_global(struct cbx_str text, size_t at, char *copy)
{
    size_t end = at, before = at;
    while (before > 0 && (text.p[before - 1] == ' ' || text.p[before - 1] == '\t')) {
        before--;
    }
    if (!is_word(text, at, "global") || before == 0 || text.p[before - 1] != '\n') {
        return false;
    }
    end += strlen("global");
    size_t word = end;
    if (cbx_js_next_word(text, &end).len > 0 || end >= text.len || text.p[end] != '{' ||
        memchr(text.p + word, '\n', end - word) != NULL) {
        return false;
    }
    memset(copy + at, ' ', word - at);
    return true;
}

/* --- the text --------------------------------------------------------------------------------- */

static const struct {
    char first; /* at this character */
    bool typed; /* in TypeScript alone */
    /* Changes the copy near `at`; false if nothing was to be changed. */
    bool (*mend)(struct cbx_str text, size_t at, char *copy);
} mends[] = {
    { 'e', false, rename_specifiers }, { 'i', false, rename_specifiers },
    { '#', false, end_field },         { 's', true, hide_accessor },
    { 'i', true, hide_import },        { 'i', true, end_member },
    { '<', true, end_signature },      { '<', true, hide_arguments },
    { '<', true, hide_variance },      { ',', true, hide_variance },
    { '<', true, rename_word },        { '(', true, rename_parameters },
    { 'e', true, empty_types },        { 'g', true, hide_global },
};

/* True if the byte is text of a string, a template, a comment or a regular expression. */
static bool is_text(TSNode root, uint32_t byte)
{
    static const char *const types[] = { "string",  "string_fragment", "template_string",
                                         "comment", "regex_pattern",   "jsx_text" };
    TSNode node = ts_node_descendant_for_byte_range(root, byte, byte + 1);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (!ts_node_is_null(node) && strcmp(ts_node_type(node), types[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_import_outside_types(struct cbx_str text, TSNode root, size_t at)
{
    TSNode node = ts_node_descendant_for_byte_range(root, (uint32_t)at, (uint32_t)at + 1);
    return cbx_str_starts(cbx_str_sub(text, at, text.len), CBX_STR("import(")) &&
           (ts_node_is_null(node) || strcmp(ts_node_type(node), "type_identifier") != 0);
}

/* Puts back what was changed in texts, and imports that are no types. */
static void keep_texts(const struct cbx_parsed *parsed, const TSLanguage *grammar, char *copy)
{
    struct cbx_str text = parsed->text, mended = { .p = copy, .len = text.len };
    TSTree *tree = cbx_parse_tree(grammar, mended, parsed->deadline_ms);
    bool import = false;
    for (size_t i = 0; tree != NULL && i < text.len; i++) {
        if (copy[i] == text.p[i]) {
            import = import && copy[i] == '_';
            continue;
        }
        TSNode root = ts_tree_root_node(tree);
        import = (import && copy[i] == '_') || is_import_outside_types(text, root, i);
        if (import || is_text(root, (uint32_t)i)) {
            copy[i] = text.p[i];
        }
    }
    if (tree != NULL) {
        cbx_tree_delete(tree);
    }
}

struct cbx_str cbx_js_mend(const struct cbx_parsed *parsed, const TSLanguage *grammar)
{
    struct cbx_str text = parsed->text;
    bool typed = parsed->lang->policy == CBX_TYPESCRIPT, found = false;
    char *copy = cbx_arena_alloc(parsed->arena, text.len + 1);
    if (copy == NULL) {
        return (struct cbx_str){ 0 };
    }
    memcpy(copy, text.p, text.len);
    for (size_t i = 0; i < text.len; i++) {
        for (size_t m = 0; m < sizeof(mends) / sizeof(mends[0]); m++) {
            if (text.p[i] == mends[m].first && (typed || !mends[m].typed)) {
                found = mends[m].mend(text, i, copy) || found;
            }
        }
    }
    if (!found) {
        return cbx_jsx_mend(parsed, grammar);
    }
    keep_texts(parsed, grammar, copy);
    return (struct cbx_str){ .p = copy, .len = text.len };
}
