/* SPDX-License-Identifier: MIT
 * Command lines of the shell: their words, and the standard input of commands, as far as they are
 * constant. */
#include "analyzer/lang/shell/command.h"

enum { FIELDS_MAX = 32 };

static void add_word(struct cbx_shell_line *line, struct cbx_str text, bool known, bool pattern,
                     TSNode node)
{
    line->patterns[line->count] = pattern;
    line->may[line->count] = 0;
    line->words[line->count++] = (struct cbx_word){ .text = text,
                                                    .known = known,
                                                    .start = ts_node_start_byte(node),
                                                    .end = ts_node_end_byte(node) };
}

/* Adds the words of a variable's value, which is split at blanks; an empty value gives no word. */
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

/* Returns the traits that make a word of unknown text an option or several words: an unquoted
 * word may become several words, and each may begin like an option. */
static unsigned shape_of(struct cbx_shell *s, TSNode node)
{
    const char *type = ts_node_type(node);
    unsigned may = cbx_shell_traits(s, node, s->function);
    bool bare = strcmp(type, "string") != 0 && strcmp(type, "word") != 0;
    if (strcmp(type, "concatenation") == 0) {
        bare = false;
        TSTreeCursor cursor = ts_tree_cursor_new(node);
        for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
             more = ts_tree_cursor_goto_next_sibling(&cursor)) {
            TSNode child = ts_tree_cursor_current_node(&cursor);
            bare |= is_bare_variable(child) || cbx_shell_type_is(child, "command_substitution");
        }
        ts_tree_cursor_delete(&cursor);
    }
    may |= s->names.splits && may != 0 ? CBX_SHELL_MAY_SPLIT : 0u;
    struct cbx_str source = cbx_shell_source_of(s, node);
    bool many = memchr(source.p, '@', source.len) != NULL; /* "$@", "${a[@]}" */
    return (may & CBX_SHELL_MAY_OPTION) | (bare ? may & CBX_SHELL_MAY_SPLIT : 0u) |
           (many ? CBX_SHELL_MAY_MANY : 0u);
}

static void take_child(struct cbx_shell *s, struct cbx_shell_line *line, TSNode child, size_t limit)
{
    uint32_t end = ts_node_end_byte(child);
    if (type_is_number(child) && end < s->parsed->text.len &&
        (s->src[end] == '<' || s->src[end] == '>')) {
        return; /* the descriptor of a redirection, which is a word in the grammar */
    }
    if (!ts_node_is_named(child)) { /* '?', '*' and similar tokens are words */
        add_word(line, cbx_shell_source_of(s, child), true, true, child);
        return;
    }
    struct cbx_shell_text value = cbx_shell_fold(s, child);
    if (value.known && value.fields && is_bare_variable(child) &&
        line->count + FIELDS_MAX < limit && add_fields(line, &value, child)) {
        return;
    }
    value.known = value.known && !value.fields;
    size_t w = line->count;
    add_word(line, value.known ? value.text : (struct cbx_str){ .p = "", .len = 0 }, value.known,
             value.pattern, child);
    if (!value.known || value.pattern) {
        line->may[w] = (unsigned char)shape_of(s, child);
    }
}

static void take_children(struct cbx_shell *s, struct cbx_shell_line *line, TSNode node,
                          size_t limit)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && line->count < limit;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (cbx_shell_is_word(child, false)) {
            take_child(s, line, child, limit);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

/* Takes the words after the first one, which is the file. */
static void take_behind_file(struct cbx_shell *s, struct cbx_shell_line *line, TSNode redirect,
                             size_t limit)
{
    TSTreeCursor cursor = ts_tree_cursor_new(redirect);
    bool file = true;
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && line->count < limit;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        bool word = cbx_shell_is_word(child, true);
        if (word && !file) {
            take_child(s, line, child, limit);
        }
        file = file && !word;
    }
    ts_tree_cursor_delete(&cursor);
}

/* Takes the words after the redirections that are children of `node`, and after the mark of a
 * here-document. */
static void take_behind(struct cbx_shell *s, struct cbx_shell_line *line, TSNode node, size_t limit)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool heredoc = cbx_shell_type_is(node, "heredoc_redirect");
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && line->count < limit;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (cbx_shell_type_is(child, "file_redirect")) {
            take_behind_file(s, line, child, limit);
        } else if (heredoc && cbx_shell_is_word(child, true)) {
            take_child(s, line, child, limit);
        } else if (!heredoc && cbx_shell_type_is(child, "heredoc_redirect")) {
            take_behind(s, line, child, limit);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

/* Counts the descendants that may be words of the line; deeper nodes are not. */
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
    /* Only values of variables add more words than there are nodes. */
    size_t limit = ts_node_child_count(command) + (s->names.table.count > 0 ? 2u * FIELDS_MAX : 0);
    for (size_t i = 0; i < count; i++) {
        limit += count_words(statements[i], 2);
    }
    line.words = cbx_arena_array(s->parsed->arena, limit, sizeof(*line.words));
    line.patterns = cbx_arena_array(s->parsed->arena, limit, sizeof(*line.patterns));
    line.may = cbx_arena_array(s->parsed->arena, limit, sizeof(*line.may));
    if (line.words == NULL || line.patterns == NULL || line.may == NULL) {
        return (struct cbx_shell_line){ 0 };
    }
    take_children(s, &line, command, limit);
    for (size_t i = 0; i < count; i++) {
        take_behind(s, &line, statements[i], limit);
    }
    return line;
}

/* --- standard input of a command -------------------------------------------------------------- */

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

/* Removes tabs at the start of lines, as <<- does. */
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

bool cbx_shell_is_string(const struct cbx_shell *s, TSNode redirect)
{
    return cbx_shell_type_is(redirect, "herestring_redirect") ||
           (cbx_shell_type_is(redirect, "file_redirect") &&
            cbx_str_starts(cbx_shell_source_of(s, redirect), CBX_STR("<<<")));
}

bool cbx_shell_heredoc(struct cbx_shell *s, TSNode heredoc, struct cbx_str *out)
{
    TSNode body = find_child(heredoc, "heredoc_body");
    if (cbx_shell_is_string(s, heredoc)) {
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
    if (!cbx_shell_has_any(mark, "'\"\\") && cbx_shell_has_any(text, "$`\\")) {
        return false;
    }
    bool tabs = cbx_str_starts(cbx_shell_source_of(s, heredoc), CBX_STR("<<-"));
    *out = tabs ? without_tabs(s, text) : text;
    return out->p != NULL;
}

/* Returns what printf prints for a format without '%'; no text if it has other escapes than those
 * of line ends, tabs, quotes and backslashes. */
static struct cbx_str print_format(struct cbx_shell *s, struct cbx_str format)
{
    static const char escapes[] = "nt\\\"'", meanings[] = "\n\t\\\"'";
    char *p = cbx_arena_alloc(s->parsed->arena, format.len + 1);
    size_t n = 0;
    for (size_t i = 0; p != NULL && i < format.len; i++) {
        bool escaped = format.p[i] == '\\' && i + 1 < format.len;
        const char *known =
            escaped ? memchr(escapes, format.p[++i], sizeof(escapes) - 1) : &format.p[i];
        if (known == NULL || format.p[i] == '%') {
            return (struct cbx_str){ 0 };
        }
        p[n++] = escaped ? meanings[known - escapes] : format.p[i];
    }
    return (struct cbx_str){ .p = p, .len = n };
}

/* Joins the output of echo WORD..., printf '%s\n' WORD... or printf TEXT; false if a word needs
 * interpretation. */
static bool join_output(struct cbx_shell *s, const struct cbx_shell_line *line, struct cbx_str *out)
{
    struct cbx_arena *arena = s->parsed->arena;
    struct cbx_shell_built built = { 0 };
    bool echo = cbx_str_is(line->words[0].text, "echo");
    size_t w = 1;
    if (!echo) {
        w += line->count > 2 && cbx_str_is(line->words[1].text, "--");
        struct cbx_str text = w < line->count ? line->words[w].text : CBX_STR("");
        bool known = w < line->count && line->words[w].known,
             format = known && (cbx_str_is(text, "%s") || cbx_str_is(text, "%s\\n"));
        w += format;
        if (!format) {
            *out = known && w + 1 == line->count ? print_format(s, text) : (struct cbx_str){ 0 };
            return out->p != NULL;
        }
    } else if (line->count > 1 && cbx_str_is(line->words[1].text, "-n")) {
        w++;
    }
    for (size_t from = w; w < line->count; w++) {
        struct cbx_str word = line->words[w].text;
        /* some shells' echo interprets backslashes */
        bool plain = line->words[w].known && !line->patterns[w] && !cbx_shell_has_any(word, "\\") &&
                     !(echo && w == from && word.len > 0 && word.p[0] == '-');
        struct cbx_str between = w == from ? CBX_STR("") : echo ? CBX_STR(" ") : CBX_STR("\n");
        if (!plain || !cbx_shell_append(arena, &built, between) ||
            !cbx_shell_append(arena, &built, word)) {
            return false;
        }
    }
    *out = cbx_shell_built_text(&built);
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

/* Reads the output of a `cat` whose only input is a here-document or here-string. */
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

void cbx_shell_unresolved(struct cbx_shell *s, const char *what, const struct cbx_word *word)
{
    cbx_facts_add_special(s->parsed->facts, CBX_FACT_SHELL_UNRESOLVED, cbx_str_of(what),
                          word->start, word->end);
}

/* Returns true if nothing of a word is known: it has only variables and substitutions. */
static bool is_wholly_unknown(struct cbx_str word)
{
    for (size_t i = 0; i < word.len; i++) {
        if (word.p[i] == '$' || word.p[i] == '`') {
            i = cbx_shell_end_of_expansion(word, i) - 1;
        } else if (word.p[i] != '"') {
            return false;
        }
    }
    return true;
}

void cbx_shell_unknown_script(const struct cbx_shell_command *c, const struct cbx_word *word)
{
    if (is_wholly_unknown(cbx_str_sub(c->s->parsed->text, word->start, word->end))) {
        cbx_shell_unresolved(c->s, "code", word);
        return;
    }
    cbx_facts_add_special(c->s->parsed->facts, CBX_FACT_SHELL_SCRIPT, c->words[0].text, word->start,
                          word->end);
}

bool cbx_shell_has_hole(const struct cbx_shell_command *c, struct cbx_str text)
{
    return c->fed && c->hole.len > 0 && memmem(text.p, text.len, c->hole.p, c->hole.len) != NULL;
}

bool cbx_shell_is_inner_descriptor(struct cbx_str number)
{
    while (number.len > 1 && number.p[0] == '0') {
        number = cbx_str_sub(number, 1, number.len);
    }
    return number.len > 1;
}
