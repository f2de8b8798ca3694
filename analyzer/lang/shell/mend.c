/* SPDX-License-Identifier: MIT
 * Replaces text that the grammar misreads. */
#include "analyzer/lang/shell/internal.h"

#include <ctype.h>

enum { DEFAULT_MAX_BYTES = 256, WORD_MAX_BYTES = 400 };

static char *copy_of(const struct cbx_parsed *parsed, struct cbx_str text)
{
    char *copy = cbx_arena_alloc(parsed->arena, text.len + 1);
    if (copy != NULL) {
        memcpy(copy, text.p, text.len);
        copy[text.len] = '\0';
    }
    return copy;
}

/* --- ${x:$i:1} -------------------------------------------------------------------------------- */

/* Returns the end of the offset after the colon of ${x:...}; it contains names, numbers and
 * operators only. */
static size_t end_of_offset(struct cbx_str text, size_t at)
{
    while (at < text.len &&
           (isalnum((unsigned char)text.p[at]) || memchr("_ :+-*/%$#", text.p[at], 11) != NULL)) {
        at++;
    }
    return at;
}

/* --- <>file ----------------------------------------------------------------------------------- */

/* Returns true at `<>` of N<>FILE, which opens a file to read and to write. In the mended text
 * it is `>`; the extractor reads the operator from the source. */
static bool is_read_write(struct cbx_str text, size_t at)
{
    bool before = at == 0 || memchr(" \t\n;|&({0123456789}", text.p[at - 1], 20) != NULL;
    return text.p[at] == '<' && text.p[at + 1] == '>' && before &&
           memchr("<>(&|;\n", text.p[at + 2], 7) == NULL;
}

/* --- >file <<<text, { y; } <<<text ------------------------------------------------------------ */

/* Returns true if a group, a loop or another compound command may end in front of `at`. */
static bool is_behind_group(struct cbx_str text, size_t at)
{
    static const char *const words[] = { "done", "esac", "fi" };
    while (at > 0 && (text.p[at - 1] == ' ' || text.p[at - 1] == '\t')) {
        at--;
    }
    if (at > 0 && memchr("})]", text.p[at - 1], 3) != NULL) {
        return true;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (cbx_str_ends(cbx_str_sub(text, 0, at), cbx_str_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* Returns true at `<<<` behind another redirection of its command, or behind a compound command. In
 * the mended text it is `<`, a file; the extractor reads the operator from the source
 * (cbx_shell_is_string). */
static bool is_late_string(struct cbx_str text, size_t at)
{
    enum { LENGTH_MAX = 1000 };
    if (at + 3 >= text.len || memcmp(text.p + at, "<<<", 3) != 0 ||
        (at > 0 && text.p[at - 1] == '<')) {
        return false;
    }
    if (is_behind_group(text, at)) {
        return true;
    }
    for (size_t i = at; i > 0 && at - i < LENGTH_MAX; i--) {
        char c = text.p[i - 1];
        bool joined = c == '&' && (text.p[i] == '>' || (i > 1 && text.p[i - 2] == '>'));
        if (c == '>') {
            return true;
        }
        if (!joined && memchr("\n;|(&", c, 5) != NULL) {
            return false;
        }
    }
    return false;
}

/* --- ${x:+(y)} -------------------------------------------------------------------------------- */

/* Returns the end of the name, with its subscript, of the expansion at `at`. */
static size_t end_of_name(struct cbx_str text, size_t at)
{
    at += 2;
    while (at < text.len &&
           (isalnum((unsigned char)text.p[at]) || memchr("_[]@", text.p[at], 4) != NULL)) {
        at++;
    }
    return at;
}

/* Returns the end of the word that begins at `at` in an expansion: the place of its '}'. 0 if it
 * has no parentheses, or if the end is not certain: quotes, substitutions and separators may put
 * the '}' or a command elsewhere. */
static size_t end_of_default(struct cbx_str text, size_t at)
{
    size_t inner = 0, last = at + DEFAULT_MAX_BYTES;
    bool brackets = false;
    for (; at + 1 < text.len && at < last; at++) {
        char c = text.p[at], after = text.p[at + 1];
        if (memchr("\"'`;&|<>\n\\", c, 10) != NULL || (c == '$' && after == '(')) {
            return 0;
        }
        if (c == '}' && inner == 0) {
            return brackets ? at : 0;
        }
        bool bracket = c == '(' || c == ')';
        if (bracket && inner > 0) {
            return 0;
        }
        brackets |= bracket;
        inner += c == '$' && after == '{';
        inner -= c == '}';
    }
    return 0;
}

/* Replaces parentheses in the word of ${x:+(y)}, which are text there. The grammar takes them for
 * an array. */
static void mend_default(const struct cbx_parsed *parsed, size_t start, char **copy)
{
    struct cbx_str text = parsed->text;
    size_t at = end_of_name(text, start), end = 0;
    bool escaped = start > 0 && text.p[start - 1] == '\\';
    at += at < text.len && text.p[at] == ':';
    if (!escaped && at > start + 2 && at < text.len && memchr("-=+?", text.p[at], 4) != NULL) {
        end = end_of_default(text, at + 1);
    }
    *copy = end > 0 && *copy == NULL ? copy_of(parsed, text) : *copy;
    for (; *copy != NULL && at < end; at++) {
        if (text.p[at] == '(' || text.p[at] == ')') {
            (*copy)[at] = '_';
        }
    }
}

/* --- ${x%%]*}, ${x//$y\/} --------------------------------------------------------------------- */

/* Returns the end of the pattern that begins at `at` in an expansion: the place of its '}'. 0 if the
 * end is not certain: quotes and substitutions may put it elsewhere. */
static size_t end_of_pattern(struct cbx_str text, size_t at)
{
    size_t inner = 0, last = at + DEFAULT_MAX_BYTES;
    for (; at + 1 < text.len && at < last; at++) {
        char c = text.p[at], after = text.p[at + 1];
        if (memchr("\"'`\n", c, 4) != NULL || (c == '$' && after == '(')) {
            return 0;
        }
        if (c == '}' && inner == 0) {
            return at;
        }
        inner += c == '$' && after == '{';
        inner -= c == '}';
        at += c == '\\';
    }
    return 0;
}

/* Replaces what the grammar does not read in the pattern of ${x%]}, ${x#]}, ${x/]/}: a bracket that
 * opens no class, and an escaped slash behind a name. The extractor takes the values of such
 * expansions for unknown. */
static void mend_pattern(const struct cbx_parsed *parsed, size_t start, char **copy)
{
    struct cbx_str text = parsed->text;
    size_t at = end_of_name(text, start), end = 0;
    bool pattern = at > start + 2 && at < text.len && memchr("#%/", text.p[at], 3) != NULL;
    if (pattern) {
        end = end_of_pattern(text, at + 1);
    }
    for (bool opened = false; at + 1 < end; at++) {
        char c = text.p[at + 1];
        bool slash = c == '/' && text.p[at] == '\\' && isalnum((unsigned char)text.p[at - 1]);
        bool bracket = c == ']' && !opened;
        opened = (opened || c == '[') && c != ']';
        *copy = (slash || bracket) && *copy == NULL ? copy_of(parsed, text) : *copy;
        if (*copy != NULL && bracket) {
            (*copy)[at + 1] = '_';
            (*copy)[at] = text.p[at] == '\\' ? '_' : text.p[at];
        } else if (*copy != NULL && slash) {
            memcpy(*copy + at, "..", 2);
        }
    }
}

/* --- a$/b ------------------------------------------------------------------------------------- */

/* Returns true at a '$' that begins no expansion. */
static bool is_lone_dollar(struct cbx_str text, size_t at)
{
    return text.p[at] == '$' && memchr("/.,:%]+=^~;|&)\\ \t\n", text.p[at + 1], 18) != NULL &&
           (at == 0 || (text.p[at - 1] != '$' && text.p[at - 1] != '{'));
}

/* --- <<X behind which a line begins with a backslash ------------------------------------------ */

/* Returns true at a backslash that begins the text of a here-document, or a line behind `<<` that is
 * none: with the character behind the backslash the line has the same words. In quotes the backslash
 * may quote nothing, so a quote behind the backslash stays. */
static bool begins_document(struct cbx_str text, size_t at)
{
    size_t end = at;
    while (text.p[at] == '\\' && end > 0 && text.p[end - 1] == '\n') {
        end--;
    }
    if (end == at || memchr("\n'`", text.p[at + 1], 3) != NULL) {
        return false;
    }
    size_t start = end;
    while (start > 0 && text.p[start - 1] != '\n') {
        start--;
    }
    return end > start && memmem(text.p + start, end - start, "<<", 2) != NULL;
}

/* --- 10#$x ------------------------------------------------------------------------------------ */

/* Returns true at the mark of a number whose base is written before a variable. The mended text
 * has an operator there, so that arithmetic still reads the variable. */
static bool is_base(struct cbx_str text, size_t at)
{
    size_t from = at;
    if (text.p[at] != '#' || text.p[at + 1] != '$') {
        return false;
    }
    while (from > 0 && isdigit((unsigned char)text.p[from - 1])) {
        from--;
    }
    bool begins = from == 0 || memchr(" \t(=+-*/%<>!?:,[", text.p[from - 1], 16) != NULL;
    return from < at && begins;
}

/* Replaces the '$' of names in the offset of ${x:$i:1}. Returns the last place that was read. */
static size_t mend_offset(const struct cbx_parsed *parsed, size_t start, char **copy)
{
    struct cbx_str text = parsed->text;
    size_t at = end_of_name(text, start);
    if (at + 1 >= text.len || text.p[at] != ':' || memchr("-=+?", text.p[at + 1], 4) != NULL) {
        return start;
    }
    size_t end = end_of_offset(text, at + 1);
    if (end >= text.len || text.p[end] != '}') {
        return start;
    }
    for (; at + 1 < end; at++) {
        bool name =
            text.p[at] == '$' && (text.p[at + 1] == '_' || isalpha((unsigned char)text.p[at + 1]));
        *copy = name && *copy == NULL ? copy_of(parsed, text) : *copy;
        if (name && *copy != NULL) {
            (*copy)[at] = ' ';
        }
    }
    return end;
}

/* --- x=$(y) 2>/dev/null ----------------------------------------------------------------------- */

/* Returns the end of the word at `at`: quotes and substitutions may contain blanks. The end of the
 * text if one of them is not closed, or the word is long. */
static size_t end_of_word(struct cbx_str text, size_t at)
{
    size_t parentheses = 0, last = at + WORD_MAX_BYTES;
    char quote = '\0';
    for (; at < text.len && at < last; at++) {
        char c = text.p[at];
        if (c == '\\' && quote != '\'') {
            at++;
        } else if (quote == '\'' || quote == '`') {
            quote = c == quote ? '\0' : quote;
        } else if (c == '"') {
            quote = quote == '\0' ? c : '\0';
        } else if (quote == '\0' && (c == '\'' || c == '`')) {
            quote = c;
        } else if (c == '(' && at > 0 && (text.p[at - 1] == '$' || parentheses > 0)) {
            parentheses++;
        } else if (c == ')' && parentheses > 0) {
            parentheses--;
        } else if (quote == '\0' && parentheses == 0 && memchr(" \t\n;&|<>()", c, 10) != NULL) {
            return at;
        }
    }
    return text.len;
}

static size_t skip_blanks(struct cbx_str text, size_t at)
{
    while (at < text.len && (text.p[at] == ' ' || text.p[at] == '\t')) {
        at++;
    }
    return at;
}

/* Returns the end of a redirection to /dev/null or to another descriptor at `at`; `at` if there is
 * none. */
static size_t end_of_redirect(struct cbx_str text, size_t at)
{
    static const char *const files[] = { ">/dev/null",  "> /dev/null",  ">>/dev/null",
                                         "&>/dev/null", "&> /dev/null", ">&1",
                                         ">&2" };
    size_t from = at;
    while (from < text.len && isdigit((unsigned char)text.p[from])) {
        from++;
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        size_t end = from + strlen(files[i]);
        bool whole = end >= text.len || memchr(" \t\n;&|)", text.p[end], 7) != NULL;
        if (whole && end <= text.len && memcmp(text.p + from, files[i], end - from) == 0) {
            return end;
        }
    }
    return at;
}

/* Returns true if a command begins at `at`. */
static bool begins_command(struct cbx_str text, size_t at)
{
    static const char *const words[] = { "then", "do", "else", "if", "elif", "while", "until" };
    while (at > 0 && (text.p[at - 1] == ' ' || text.p[at - 1] == '\t')) {
        at--;
    }
    if (at == 0 || memchr("\n;&|({`", text.p[at - 1], 7) != NULL) {
        return true;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i]);
        bool word = at >= len && memcmp(text.p + at - len, words[i], len) == 0;
        if (word && (at == len || !isalnum((unsigned char)text.p[at - len - 1]))) {
            return true;
        }
    }
    return false;
}

/* Replaces redirections that change no file by blanks, after an assignment without a command whose
 * '=' is at `at`. */
static void mend_assignment(const struct cbx_parsed *parsed, size_t at, char **copy)
{
    struct cbx_str text = parsed->text;
    size_t name = at - (at > 0 && text.p[at - 1] == '+');
    while (name > 0 && (isalnum((unsigned char)text.p[name - 1]) || text.p[name - 1] == '_')) {
        name--;
    }
    if (name == at || isdigit((unsigned char)text.p[name]) || !begins_command(text, name)) {
        return;
    }
    size_t first = end_of_word(text, at + 1), end = first, next = skip_blanks(text, end);
    for (size_t redirect; (redirect = end_of_redirect(text, next)) > next;) {
        end = redirect;
        next = skip_blanks(text, end);
    }
    bool ends = next >= text.len || memchr("\n;&|)#", text.p[next], 6) != NULL;
    if (end == first || !ends) {
        return;
    }
    *copy = *copy == NULL ? copy_of(parsed, text) : *copy;
    if (*copy != NULL) {
        memset(*copy + first, ' ', end - first);
    }
}

/* --- for i do --------------------------------------------------------------------------------- */

/* Returns the blank before `do` of `for i do`, which means `for i in "$@"; do`; 0 for another
 * place. The grammar reads `for i;do`. */
static size_t find_bare_do(struct cbx_str text, size_t at)
{
    if (at + 8 >= text.len || memcmp(text.p + at, "for ", 4) != 0 || !begins_command(text, at)) {
        return 0;
    }
    size_t name = skip_blanks(text, at + 4), end = name;
    while (end < text.len && (isalnum((unsigned char)text.p[end]) || text.p[end] == '_')) {
        end++;
    }
    size_t word = skip_blanks(text, end);
    bool bare = end > name && word > end && word + 2 < text.len &&
                memcmp(text.p + word, "do", 2) == 0 && isspace((unsigned char)text.p[word + 2]);
    return bare ? word - 1 : 0;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Marks that a text of the same length replaces. */
static const struct mark {
    bool (*is_at)(struct cbx_str text, size_t at);
    const char *replacement;
} marks[] = {
    { is_read_write, "> " }, { is_base, "+" },          { is_late_string, "<  " },
    { is_lone_dollar, "_" }, { begins_document, "__" },
};
enum { MARKS = sizeof(marks) / sizeof(marks[0]) };

struct cbx_str cbx_shell_mend(const struct cbx_parsed *parsed, const TSLanguage *grammar)
{
    (void)grammar;
    struct cbx_str text = parsed->text;
    char *copy = NULL;
    for (size_t i = 0; i + 2 < text.len; i++) {
        for (size_t k = 0; k < MARKS; k++) {
            bool found = marks[k].is_at(text, i);
            copy = found && copy == NULL ? copy_of(parsed, text) : copy;
            if (copy != NULL && found) {
                memcpy(copy + i, marks[k].replacement, strlen(marks[k].replacement));
                break;
            }
        }
        if (text.p[i] == '=') {
            mend_assignment(parsed, i, &copy);
        }
        size_t blank = text.p[i] == 'f' ? find_bare_do(text, i) : 0;
        copy = blank > 0 && copy == NULL ? copy_of(parsed, text) : copy;
        if (copy != NULL && blank > 0) {
            copy[blank] = ';';
        }
        if (text.p[i] == '$' && text.p[i + 1] == '{') {
            mend_default(parsed, i, &copy);
            mend_pattern(parsed, i, &copy);
            i = mend_offset(parsed, i, &copy);
        }
    }
    return (struct cbx_str){ .p = copy, .len = copy != NULL ? text.len : 0 };
}

/* --- line ends -------------------------------------------------------------------------------- */

/* Returns true for nodes whose children are on one line. */
static bool is_line(TSNode node)
{
    static const char *const types[] = { "command", "redirected_statement", "declaration_command",
                                         "unset_command", "file_redirect" };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (cbx_shell_type_is(node, types[i])) {
            return true;
        }
    }
    return false;
}

/* Returns the first line end in [from, end) that no backslash removes; `end` if there is none. */
static uint32_t find_line_end(struct cbx_str text, uint32_t from, uint32_t end)
{
    while (from < end && !(text.p[from] == '\n' && (from == 0 || text.p[from - 1] != '\\'))) {
        from++;
    }
    return from;
}

/* Ends a command with ';' at each line end between its words, before a comment there. Returns
 * false if the arena is exhausted. */
static bool end_lines(const struct cbx_parsed *parsed, struct cbx_str text, TSNode node,
                      char **copy)
{
    uint32_t from = UINT32_MAX, comment = 0; /* comment: its end; 0 = the gap has none */
    bool good = true;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && good;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        uint32_t start = ts_node_start_byte(child);
        uint32_t at =
            from < start ? find_line_end(text, comment > 0 ? comment : from, start) : start;
        if (cbx_shell_type_is(child, "comment")) {
            /* the blank or line end before the first comment */
            from = comment == 0 ? start - 1 : from;
            comment = ts_node_end_byte(child);
            continue;
        }
        if (at < start) {
            *copy = *copy == NULL ? copy_of(parsed, text) : *copy;
            good = *copy != NULL;
            if (good) {
                (*copy)[comment > 0 ? from : at] = ';';
            }
        }
        from = ts_node_end_byte(child);
        comment = 0;
    }
    ts_tree_cursor_delete(&cursor);
    return good;
}

struct cbx_str cbx_shell_correct(const struct cbx_parsed *parsed, struct cbx_str text, TSTree *tree)
{
    char *copy = NULL;
    bool good = true;
    int depth = 0;
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    for (bool more = memchr(text.p, '\n', text.len) != NULL; more && good;
         more = cbx_shell_next_node(&cursor, true, &depth)) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        good = !is_line(node) || end_lines(parsed, text, node, &copy);
    }
    ts_tree_cursor_delete(&cursor);
    return !good          ? CBX_STR("")
           : copy != NULL ? (struct cbx_str){ .p = copy, .len = text.len }
                          : (struct cbx_str){ 0 };
}
