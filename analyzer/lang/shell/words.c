/* SPDX-License-Identifier: MIT
 * Words of the shell: quoting, variables and what commands are fed, as far as they are constants.
 */
#include "analyzer/lang/shell/internal.h"

enum { FOLD_DEPTH_MAX = 4, FOLD_BYTES_MAX = 65536, FIELDS_MAX = 32 };

bool cbx_shell_type_is(TSNode node, const char *type)
{
    return !ts_node_is_null(node) && strcmp(ts_node_type(node), type) == 0;
}

struct cbx_str cbx_shell_source_of(const struct cbx_shell *s, TSNode node)
{
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    return (struct cbx_str){ .p = s->src + start, .len = end - start };
}

/* --- building a text -------------------------------------------------------------------------- */

struct folding {
    struct cbx_shell *s;
    char *p;
    size_t len, size;
    bool pattern, fields, literal_only;
};

static bool append(struct folding *f, struct cbx_str part)
{
    if (part.len > FOLD_BYTES_MAX - f->len) {
        return false;
    }
    if (f->len + part.len > f->size) {
        size_t size = (f->len + part.len) * 2 + 16;
        char *p = cbx_arena_alloc(f->s->parsed->arena, size);
        if (p == NULL) {
            return false;
        }
        if (f->len > 0) {
            memcpy(p, f->p, f->len);
        }
        f->p = p;
        f->size = size;
    }
    if (part.len > 0) {
        memcpy(f->p + f->len, part.p, part.len);
    }
    f->len += part.len;
    return true;
}

static bool append_char(struct folding *f, char c)
{
    return append(f, (struct cbx_str){ .p = &c, .len = 1 });
}

/* --- pieces of words -------------------------------------------------------------------------- */

bool cbx_shell_substitutes(struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool opens = text.p[i] == '$' && i + 1 < text.len && text.p[i + 1] == '(';
        if (opens || text.p[i] == '`') {
            return true;
        }
        i += text.p[i] == '\\';
    }
    return false;
}

/* ~ and ~root at the start of a word; another user's home is not known. */
static bool append_home(struct folding *f, struct cbx_str text, size_t *taken)
{
    bool plain = text.len == 1 || text.p[1] == '/';
    bool root = cbx_str_starts(text, CBX_STR("~root")) && (text.len == 5 || text.p[5] == '/');
    *taken = root ? 5 : 1;
    return (plain || root) && append(f, root ? CBX_STR("/root") : CBX_STR("~"));
}

/* An unquoted piece. A brace that is no "{}" would expand (in notebooks too). `end` is where the
 * piece ends in the source. */
static bool fold_word(struct folding *f, struct cbx_str text, uint32_t end)
{
    const struct cbx_str all = f->s->parsed->text;
    size_t i = 0;
    if (f->len == 0 && text.len > 0 && text.p[0] == '~' && !append_home(f, text, &i)) {
        return false;
    }
    if (cbx_shell_substitutes(text)) {
        return false;
    }
    for (; i < text.len; i++) {
        char c = text.p[i], after = i + 1 < text.len ? text.p[i + 1] : '\0';
        if (c == '{' && (i + 1 < text.len ? after : end < all.len ? all.p[end] : '\0') != '}') {
            return false;
        }
        if (c == '\\' && i + 1 < text.len) {
            i++;
            if (after == '\n') {
                continue;
            }
            c = after;
        } else {
            f->pattern |= c == '*' || c == '?' || c == '[';
        }
        if (!append_char(f, c)) {
            return false;
        }
    }
    return true;
}

/* Inside double quotes a backslash quotes only what would be special there. */
static bool fold_quoted(struct folding *f, struct cbx_str text)
{
    if (cbx_shell_substitutes(text)) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (c == '\\' && i + 1 < text.len && memchr("$`\"\\\n", text.p[i + 1], 5) != NULL) {
            c = text.p[++i];
            if (c == '\n') {
                continue;
            }
        }
        if (!append_char(f, c)) {
            return false;
        }
    }
    return true;
}

static size_t read_digits(struct cbx_str text, unsigned base, size_t most, unsigned *value)
{
    size_t n = 0;
    for (*value = 0; n < text.len && n < most; n++) {
        char c = text.p[n];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 99;
        if (digit >= base) {
            break;
        }
        *value = *value * base + digit;
    }
    return n;
}

/* The escapes of $'...' that make one byte; what makes more (\u, \U, \c) is left unknown. */
static bool fold_escape(struct folding *f, struct cbx_str text, size_t *taken)
{
    static const char names[] = "abeEfnrtv\\'\"?";
    static const char values[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
    const char *known = memchr(names, text.p[0], sizeof(names) - 1);
    unsigned value;
    if (known != NULL) {
        *taken = 1;
        return append_char(f, values[known - names]);
    }
    bool hex = text.p[0] == 'x';
    size_t n = read_digits(cbx_str_sub(text, hex, text.len), hex ? 16 : 8, hex ? 2 : 3, &value);
    *taken = n + hex;
    return n > 0 && value > 0 && value < 256 && append_char(f, (char)value);
}

static bool fold_ansi(struct folding *f, struct cbx_str text)
{
    for (size_t i = 2; i + 1 < text.len; i++) {
        size_t taken = 0;
        if (text.p[i] != '\\') {
            if (!append_char(f, text.p[i])) {
                return false;
            }
            continue;
        }
        if (!fold_escape(f, cbx_str_sub(text, i + 1, text.len - 1), &taken)) {
            return false;
        }
        i += taken;
    }
    return true;
}

static bool has_any(struct cbx_str text, const char *bytes)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr(bytes, text.p[i]) != NULL && text.p[i] != '\0') {
            return true;
        }
    }
    return false;
}

/* $X and ${X}; what ${X:-...} and its like give is not followed. */
static bool fold_variable(struct folding *f, TSNode node, bool quoted)
{
    struct cbx_str text = cbx_shell_source_of(f->s, node), value;
    uint32_t count = ts_node_child_count(node);
    bool braces = cbx_shell_type_is(node, "expansion");
    TSNode name = ts_node_named_child(node, 0);
    if (f->literal_only || !cbx_shell_type_is(name, "variable_name") ||
        count != (braces ? 3u : 2u)) {
        return false;
    }
    const char *dollar =
        memchr(text.p, '$', text.len); /* the grammar takes blanks before it along */
    if (dollar == NULL || !append(f, cbx_str_sub(text, 0, (size_t)(dollar - text.p)))) {
        return false;
    }
    struct cbx_str word = cbx_shell_source_of(f->s, name);
    if (!cbx_shell_variable(f->s, word, ts_node_start_byte(node), &value)) {
        bool home = cbx_str_is(word, "HOME") && !cbx_shell_assigned(f->s, word);
        return home && append(f, CBX_STR("~"));
    }
    if (!quoted) {
        f->fields |= value.len == 0 || has_any(value, " \t\n");
        f->pattern |= has_any(value, "*?[");
    }
    return append(f, value);
}

static bool fold_node(struct folding *f, TSNode node, bool quoted, int depth);

/* The parts of a string or a joined word; what lies between the parts of a string is text too. */
static bool fold_parts(struct folding *f, TSNode node, bool quoted, int depth)
{
    uint32_t at = ts_node_start_byte(node) + quoted, end = ts_node_end_byte(node) - quoted;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool known = true;
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && known;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        uint32_t from = ts_node_start_byte(child);
        if (!ts_node_is_named(child) && quoted && (from < at || ts_node_end_byte(child) > end)) {
            continue; /* the quotes */
        }
        if (quoted && from > at) {
            known = append(f, (struct cbx_str){ .p = f->s->src + at, .len = from - at });
        }
        known = known && (ts_node_is_named(child) ? fold_node(f, child, quoted, depth + 1)
                                                  : append(f, cbx_shell_source_of(f->s, child)));
        at = ts_node_end_byte(child);
    }
    ts_tree_cursor_delete(&cursor);
    if (known && quoted && end > at) {
        known = append(f, (struct cbx_str){ .p = f->s->src + at, .len = end - at });
    }
    return known;
}

static bool fold_node(struct folding *f, TSNode node, bool quoted, int depth)
{
    const char *type = ts_node_type(node);
    struct cbx_str text = cbx_shell_source_of(f->s, node);
    if (depth > FOLD_DEPTH_MAX) {
        return false;
    }
    if (strcmp(type, "word") == 0 || strcmp(type, "number") == 0) {
        return fold_word(f, text, ts_node_end_byte(node));
    }
    if (strcmp(type, "string_content") == 0) {
        return fold_quoted(f, text);
    }
    if (strcmp(type, "raw_string") == 0) {
        return append(f, cbx_str_sub(text, 1, text.len > 0 ? text.len - 1 : 0));
    }
    if (strcmp(type, "ansi_c_string") == 0) {
        return fold_ansi(f, text);
    }
    if (strcmp(type, "simple_expansion") == 0 || strcmp(type, "expansion") == 0) {
        return fold_variable(f, node, quoted);
    }
    if (strcmp(type, "string") == 0) {
        return fold_parts(f, node, true, depth);
    }
    if (strcmp(type, "translated_string") == 0) {
        TSNode inner = ts_node_named_child(node, 0);
        return !ts_node_is_null(inner) && fold_node(f, inner, quoted, depth + 1);
    }
    return (strcmp(type, "concatenation") == 0 || strcmp(type, "command_name") == 0) &&
           fold_parts(f, node, false, depth);
}

static struct cbx_shell_text fold(struct cbx_shell *s, TSNode node, bool literal_only)
{
    struct folding f = { .s = s, .literal_only = literal_only };
    bool known = fold_node(&f, node, false, 0);
    return (struct cbx_shell_text){ .text = { .p = f.p != NULL ? f.p : "", .len = f.len },
                                    .known = known,
                                    .pattern = f.pattern,
                                    .fields = f.fields };
}

struct cbx_shell_text cbx_shell_fold(struct cbx_shell *s, TSNode node)
{
    return fold(s, node, false);
}

struct cbx_shell_text cbx_shell_fold_constant(struct cbx_shell *s, TSNode node)
{
    return fold(s, node, true);
}

/* --- command lines ---------------------------------------------------------------------------- */

static bool is_word_of_line(TSNode child, bool behind)
{
    static const char *const others[] = { "variable_assignment", "file_redirect", "comment",
                                          "herestring_redirect", "heredoc_redirect" };
    static const char *const words[] = { "word",
                                         "string",
                                         "raw_string",
                                         "concatenation",
                                         "number",
                                         "expansion",
                                         "simple_expansion",
                                         "ansi_c_string",
                                         "translated_string",
                                         "command_substitution",
                                         "process_substitution",
                                         "arithmetic_expansion",
                                         "brace_expression" };
    const char *type = ts_node_type(child);
    if (behind) {
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            if (strcmp(type, words[i]) == 0) {
                return true;
            }
        }
        return false;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(type, others[i]) == 0) {
            return false;
        }
    }
    return true;
}

static void add_word(struct cbx_shell_line *line, struct cbx_str text, bool known, bool pattern,
                     TSNode node)
{
    line->patterns[line->count] = pattern;
    line->words[line->count++] = (struct cbx_word){ .text = text,
                                                    .known = known,
                                                    .start = ts_node_start_byte(node),
                                                    .end = ts_node_end_byte(node) };
}

/* The value of a variable falls apart at blanks; an empty one is no word at all. */
static bool add_fields(struct cbx_shell_line *line, const struct cbx_shell_text *value, TSNode node)
{
    int fields = 0;
    for (size_t i = 0; i < value->text.len;) {
        size_t from = i;
        while (i < value->text.len && memchr(" \t\n", value->text.p[i], 3) == NULL) {
            i++;
        }
        if (i > from && fields++ < FIELDS_MAX) {
            add_word(line, cbx_str_sub(value->text, from, i), true, value->pattern, node);
        }
        i++;
    }
    return fields <= FIELDS_MAX;
}

static bool is_bare_variable(TSNode node)
{
    TSNode inner = cbx_shell_type_is(node, "command_name") ? ts_node_named_child(node, 0) : node;
    return cbx_shell_type_is(inner, "simple_expansion") || cbx_shell_type_is(inner, "expansion");
}

static bool type_is_number(TSNode node)
{
    return cbx_shell_type_is(node, "number") || cbx_shell_type_is(node, "file_descriptor");
}

static void take_child(struct cbx_shell *s, struct cbx_shell_line *line, TSNode child, size_t limit)
{
    uint32_t end = ts_node_end_byte(child);
    if (type_is_number(child) && end < s->parsed->text.len &&
        (s->src[end] == '<' || s->src[end] == '>')) {
        return; /* the descriptor of a redirection, which the grammar takes for a word */
    }
    if (!ts_node_is_named(child)) { /* '?', '*' and the like stand as tokens; they are words */
        add_word(line, cbx_shell_source_of(s, child), true, true, child);
        return;
    }
    struct cbx_shell_text value = cbx_shell_fold(s, child);
    if (value.known && value.fields && is_bare_variable(child) &&
        line->count + FIELDS_MAX < limit && add_fields(line, &value, child)) {
        return;
    }
    value.known = value.known && !value.fields;
    add_word(line, value.known ? value.text : (struct cbx_str){ .p = "", .len = 0 }, value.known,
             value.pattern, child);
}

static void take_children(struct cbx_shell *s, struct cbx_shell_line *line, TSNode node,
                          size_t limit)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && line->count < limit;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (is_word_of_line(child, false)) {
            take_child(s, line, child, limit);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

/* The words behind the first one, which is the file. */
static void take_behind_file(struct cbx_shell *s, struct cbx_shell_line *line, TSNode redirect,
                             size_t limit)
{
    TSTreeCursor cursor = ts_tree_cursor_new(redirect);
    bool file = true;
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && line->count < limit;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        bool word = is_word_of_line(child, true);
        if (word && !file) {
            take_child(s, line, child, limit);
        }
        file = file && !word;
    }
    ts_tree_cursor_delete(&cursor);
}

/* The words behind the redirections that are children of `node`; behind a here-document's mark too.
 */
static void take_behind(struct cbx_shell *s, struct cbx_shell_line *line, TSNode node, size_t limit)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool heredoc = cbx_shell_type_is(node, "heredoc_redirect");
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && line->count < limit;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (cbx_shell_type_is(child, "file_redirect")) {
            take_behind_file(s, line, child, limit);
        } else if (heredoc && is_word_of_line(child, true)) {
            take_child(s, line, child, limit);
        } else if (!heredoc && cbx_shell_type_is(child, "heredoc_redirect")) {
            take_behind(s, line, child, limit);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

bool cbx_shell_has_words_behind(TSNode redirect)
{
    TSTreeCursor cursor = ts_tree_cursor_new(redirect);
    int words = 0;
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        words += is_word_of_line(ts_tree_cursor_current_node(&cursor), true);
    }
    ts_tree_cursor_delete(&cursor);
    return words > 1;
}

/* Descendants that may be words; what nests deeper is none of a line's. */
static size_t count_words(TSNode node, int depth)
{
    size_t count = ts_node_child_count(node);
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = depth > 0 && ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (cbx_shell_type_is(child, "file_redirect") ||
            cbx_shell_type_is(child, "heredoc_redirect")) {
            count += count_words(child, depth - 1);
        }
    }
    ts_tree_cursor_delete(&cursor);
    return count;
}

struct cbx_shell_line cbx_shell_read(struct cbx_shell *s, TSNode command, const TSNode *statements,
                                     size_t count)
{
    struct cbx_shell_line line = { 0 };
    /* Only the value of a variable makes more words than there are nodes. */
    size_t limit = ts_node_child_count(command) + (s->names.buckets != NULL ? 2u * FIELDS_MAX : 0);
    for (size_t i = 0; i < count; i++) {
        limit += count_words(statements[i], 2);
    }
    line.words = cbx_arena_array(s->parsed->arena, limit, sizeof(*line.words));
    line.patterns = cbx_arena_array(s->parsed->arena, limit, sizeof(*line.patterns));
    if (line.words == NULL || line.patterns == NULL) {
        return (struct cbx_shell_line){ 0 };
    }
    take_children(s, &line, command, limit);
    for (size_t i = 0; i < count; i++) {
        take_behind(s, &line, statements[i], limit);
    }
    return line;
}

/* --- what a command is fed -------------------------------------------------------------------- */

static TSNode find_child(TSNode node, const char *type)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    TSNode found = { 0 };
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        if (cbx_shell_type_is(ts_tree_cursor_current_node(&cursor), type)) {
            found = ts_tree_cursor_current_node(&cursor);
            break;
        }
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

/* <<- takes the tabs at the start of lines away. */
static struct cbx_str without_tabs(struct cbx_shell *s, struct cbx_str text)
{
    char *p = cbx_arena_alloc(s->parsed->arena, text.len + 1);
    size_t n = 0;
    bool begins = true;
    for (size_t i = 0; p != NULL && i < text.len; i++) {
        if (!(begins && text.p[i] == '\t')) {
            p[n++] = text.p[i];
            begins = text.p[i] == '\n';
        }
    }
    return (struct cbx_str){ .p = p, .len = p != NULL ? n : 0 };
}

bool cbx_shell_heredoc(struct cbx_shell *s, TSNode heredoc, struct cbx_str *out)
{
    TSNode body = find_child(heredoc, "heredoc_body");
    if (cbx_shell_type_is(heredoc, "herestring_redirect")) {
        TSNode word = ts_node_named_child(heredoc, ts_node_named_child_count(heredoc) - 1);
        struct cbx_shell_text value = { 0 };
        if (!ts_node_is_null(word)) {
            value = cbx_shell_fold(s, word);
        }
        *out = value.text;
        return value.known;
    }
    if (ts_node_is_null(body)) {
        return false;
    }
    struct cbx_str text = cbx_shell_source_of(s, body);
    TSNode start = find_child(heredoc, "heredoc_start");
    struct cbx_str mark =
        ts_node_is_null(start) ? (struct cbx_str){ 0 } : cbx_shell_source_of(s, start);
    if (!has_any(mark, "'\"\\") && has_any(text, "$`\\")) {
        return false;
    }
    bool tabs = cbx_str_starts(cbx_shell_source_of(s, heredoc), CBX_STR("<<-"));
    *out = tabs ? without_tabs(s, text) : text;
    return out->p != NULL;
}

/* echo WORD..., printf '%s\n' WORD... or printf TEXT: only what needs no interpretation. */
static bool join_output(struct cbx_shell *s, const struct cbx_shell_line *line, struct cbx_str *out)
{
    struct folding f = { .s = s };
    bool echo = cbx_str_is(line->words[0].text, "echo");
    size_t w = 1;
    if (!echo) {
        bool format =
            line->count > 1 && line->words[1].known &&
            (cbx_str_is(line->words[1].text, "%s") || cbx_str_is(line->words[1].text, "%s\\n"));
        w += format;
        if (line->count < 2 || (!format && (line->count > 2 || !line->words[1].known ||
                                            has_any(line->words[1].text, "%\\")))) {
            return false;
        }
    } else if (line->count > 1 && cbx_str_is(line->words[1].text, "-n")) {
        w++;
    }
    for (size_t from = w; w < line->count; w++) {
        struct cbx_str word = line->words[w].text;
        /* some shells' echo reads backslashes */
        bool plain = line->words[w].known && !line->patterns[w] && !has_any(word, "\\") &&
                     !(echo && w == from && word.len > 0 && word.p[0] == '-');
        if (!plain || (w > from && !append_char(&f, echo ? ' ' : '\n')) || !append(&f, word)) {
            return false;
        }
    }
    *out = (struct cbx_str){ .p = f.p != NULL ? f.p : "", .len = f.len };
    return true;
}

bool cbx_shell_reads_more(const struct cbx_shell *s, TSNode node)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool found = false;
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && !found;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        struct cbx_str text = cbx_shell_source_of(s, child);
        found = cbx_shell_type_is(child, "herestring_redirect") ||
                (cbx_shell_type_is(child, "file_redirect") &&
                 (cbx_str_starts(text, CBX_STR("<")) || cbx_str_starts(text, CBX_STR("0<"))));
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

/* What `cat` writes that is fed a here-document or here-string and nothing else. */
static bool read_cat(struct cbx_shell *s, TSNode statement, TSNode command, struct cbx_str *out)
{
    bool redirected = !ts_node_eq(statement, command);
    TSNode heredoc = find_child(statement, redirected ? "heredoc_redirect" : "herestring_redirect");
    if (ts_node_is_null(heredoc) ||
        (redirected && (cbx_shell_reads_more(s, statement) || cbx_shell_reads_more(s, heredoc) ||
                        cbx_shell_reads_more(s, command)))) {
        return false;
    }
    struct cbx_shell_line line = cbx_shell_read(s, command, &statement, redirected ? 1 : 0);
    return line.count == 1 && cbx_shell_heredoc(s, heredoc, out);
}

bool cbx_shell_output(struct cbx_shell *s, TSNode node, struct cbx_str *out)
{
    bool redirected = cbx_shell_type_is(node, "redirected_statement");
    TSNode command = redirected ? ts_node_named_child(node, 0) : node;
    if (!cbx_shell_type_is(command, "command")) {
        return false;
    }
    struct cbx_shell_line line = cbx_shell_read(s, command, NULL, 0);
    if (line.count == 0 || !line.words[0].known ||
        cbx_shell_may_be_function(s, line.words[0].text)) {
        return false;
    }
    struct cbx_str word = line.words[0].text;
    if (cbx_str_is(word, "cat")) {
        return read_cat(s, node, command, out);
    }
    return !redirected && (cbx_str_is(word, "echo") || cbx_str_is(word, "printf")) &&
           join_output(s, &line, out);
}
