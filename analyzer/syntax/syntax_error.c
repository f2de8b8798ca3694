/* SPDX-License-Identifier: MIT
 * Explains a syntax error: characters around the code, another language, then the first line or
 * bracket that no source of the language can have. */
#include "analyzer/syntax/syntax_internal.h"

bool cbx_syntax_report_as(struct cbx_explainer *e, size_t start, size_t end, struct cbx_note name,
                          struct cbx_note hint)
{
    *e->out = (struct cbx_syntax_error){ .start = (uint32_t)start,
                                         .end = (uint32_t)(end > start ? end : start + 1),
                                         .name = name.shown,
                                         .hint = hint.shown };
    e->found = hint.shown.p != NULL && name.shown.p != NULL;
    return e->found;
}

bool cbx_syntax_report(struct cbx_explainer *e, size_t start, size_t end, const char *name,
                       struct cbx_note hint)
{
    return cbx_syntax_report_as(e, start, end, (struct cbx_note){ cbx_str_of(name) }, hint);
}

uint32_t cbx_syntax_line_number(struct cbx_str text, size_t at)
{
    uint32_t line, column;
    cbx_str_place(text, at, &line, &column);
    return line;
}

static size_t line_start(struct cbx_str text, size_t at)
{
    while (at > 0 && text.p[at - 1] != '\n') {
        at--;
    }
    return at;
}

static size_t line_end(struct cbx_str text, size_t at)
{
    const char *end = at < text.len ? memchr(text.p + at, '\n', text.len - at) : NULL;
    return end != NULL ? (size_t)(end - text.p) : text.len;
}

size_t cbx_syntax_first_word(struct cbx_str text, size_t at)
{
    while (at < text.len && cbx_syntax_is_space(text.p[at])) {
        at++;
    }
    return at;
}

bool cbx_syntax_begins_with(struct cbx_str line, const char *word)
{
    size_t n = strlen(word);
    return cbx_str_starts(line, cbx_str_of(word)) &&
           (line.len == n || !cbx_syntax_is_word(line.p[n]));
}

/* --- around the code -------------------------------------------------------------------------- */

static bool explain_fence(struct cbx_explainer *e)
{
    for (size_t at = 0; at < e->text.len; at = line_end(e->text, at) + 1) {
        size_t from = cbx_syntax_first_word(e->text, at);
        if (cbx_str_starts(cbx_str_sub(e->text, from, e->text.len), CBX_STR("```"))) {
            return cbx_syntax_report(
                e, from, line_end(e->text, from), "Markdown around the code",
                CBX_NOTE("remove the lines that begin with ```; send the code alone"));
        }
    }
    return false;
}

static bool explain_language(struct cbx_explainer *e)
{
    struct cbx_str display, word;
    const char *own = cbx_language_name(e->source->lang->policy);
    if (!cbx_syntax_looks_like(e->source, &display, &word)) {
        return false;
    }
    const struct cbx_lang *lang = cbx_lang_find(word);
    bool runs = lang != NULL && (e->source->languages >> lang->policy & 1) != 0;
    struct cbx_note hint =
        runs ? cbx_arena_note(e->arena,
                              "this looks like %.*s, but was sent as \"%s\"; send it with the "
                              "language \"%.*s\"",
                              CBX_STR_SHOWN(display), own, CBX_STR_SHOWN(word))
             : cbx_arena_note(e->arena,
                              "this looks like %.*s, which does not run here; send only code of "
                              "the language \"%s\"",
                              CBX_STR_SHOWN(display), own);
    return cbx_syntax_report(e, cbx_syntax_first_word(e->text, 0), line_end(e->text, 0),
                             CBX_SYNTAX_LANGUAGE, hint);
}

/* Explains one line with "\n" between its statements: the line breaks were escaped once too
 * often. */
static bool explain_escapes(struct cbx_explainer *e)
{
    const char *escape = memmem(e->text.p, e->text.len, "\\n", 2);
    if (escape == NULL || line_end(e->text, 0) + 1 < e->text.len) {
        return false;
    }
    size_t at = (size_t)(escape - e->text.p);
    size_t quotes = 0;
    for (size_t i = 0; i < at; i++) {
        quotes += e->text.p[i] == '"' || e->text.p[i] == '\'';
    }
    return quotes % 2 == 0 &&
           cbx_syntax_report(
               e, at, at + 2, "escaped line break",
               CBX_NOTE("write line breaks instead of `\\n`; the source came as one line"));
}

/* --- blocks of shell -------------------------------------------------------------------------- */

struct blocks {
    struct cbx_explainer *e;
    struct block {
        const char *opener, *closer;
    } open[CBX_SCAN_DEPTH_MAX];
    uint32_t at[CBX_SCAN_DEPTH_MAX];
    size_t depth;
    bool lost; /* true after a closing word without its opener */
};

static const struct block pairs[] = {
    { "if", "fi" }, { "case", "esac" }, { "for", "done" }, { "while", "done" }, { "until", "done" }
};

static void take_word(struct blocks *b, struct cbx_str word, uint32_t at)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]) && !b->lost; i++) {
        if (cbx_str_is(word, pairs[i].opener)) {
            b->lost = b->depth == CBX_SCAN_DEPTH_MAX;
            if (!b->lost) {
                b->open[b->depth] = pairs[i];
                b->at[b->depth++] = at;
            }
            return;
        }
        if (cbx_str_is(word, pairs[i].closer)) {
            b->lost = b->depth == 0 || !cbx_str_is(word, b->open[b->depth - 1].closer);
            b->depth -= !b->lost;
            return;
        }
    }
}

/* Returns true if a command may follow this word. */
static bool precedes_command(struct cbx_str word)
{
    static const char *const words[] = {
        "then", "do", "else", "elif", "if", "while", "until", "!"
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (cbx_str_is(word, words[i])) {
            return true;
        }
    }
    return false;
}

static bool take_shell_line(void *context, struct cbx_str text, uint32_t start, uint32_t end,
                            bool colon)
{
    (void)colon;
    struct blocks *b = context;
    bool command = true;
    b->lost |= memmem(text.p + start, end - start, "<<", 2) != NULL;
    for (uint32_t i = start; i < end && !b->lost;) {
        uint32_t to = i;
        while (to < end && cbx_syntax_is_word(text.p[to])) {
            to++;
        }
        if (to == i) {
            command =
                strchr(";|&(", text.p[i]) != NULL || (command && cbx_syntax_is_space(text.p[i]));
            i++;
            continue;
        }
        if (command) {
            take_word(b, cbx_str_sub(text, i, to), i);
        }
        command = command && precedes_command(cbx_str_sub(text, i, to));
        i = to;
    }
    return b->lost;
}

/* Finds the here-document that begins in the text and never ends. */
static bool explain_heredoc(struct cbx_explainer *e)
{
    const char *at = memmem(e->text.p, e->text.len, "<<", 2);
    size_t start = at != NULL ? (size_t)(at - e->text.p) : e->text.len;
    size_t from = start + 2;
    if (at == NULL || (from < e->text.len && e->text.p[from] == '<')) {
        return false;
    }
    while (from < e->text.len && strchr("-'\"", e->text.p[from]) != NULL) {
        from++;
    }
    size_t to = from;
    while (to < e->text.len && cbx_syntax_is_word(e->text.p[to])) {
        to++;
    }
    struct cbx_str word = cbx_str_sub(e->text, from, to);
    for (size_t line = line_end(e->text, to) + 1; line < e->text.len;
         line = line_end(e->text, line) + 1) {
        struct cbx_str body =
            cbx_str_sub(e->text, cbx_syntax_first_word(e->text, line), line_end(e->text, line));
        if (cbx_str_equal(body, word)) {
            return false;
        }
    }
    return word.len > 0 && word.len <= CBX_SYNTAX_SHOWN_MAX &&
           cbx_syntax_report(
               e, start, to, "unclosed here-document",
               cbx_arena_note(e->arena,
                              "add the line `%.*s` at the end; it stands alone, without "
                              "spaces before it",
                              CBX_STR_SHOWN(word)));
}

static bool explain_blocks(struct cbx_explainer *e)
{
    struct blocks b = { .e = e };
    struct cbx_scan scan;
    cbx_scan_source(CBX_SHELL, e->text, take_shell_line, &b, &scan);
    if (b.lost || scan.problem != CBX_SCAN_NONE || b.depth == 0) {
        return false;
    }
    const struct block *open = &b.open[b.depth - 1];
    uint32_t at = b.at[b.depth - 1];
    return cbx_syntax_report(
        e, at, at + strlen(open->opener), "unclosed block",
        cbx_arena_note(e->arena, "add the line `%s` at the end; the `%s` of line %u is not closed",
                       open->closer, open->opener, cbx_syntax_line_number(e->text, at)));
}

/* --- strings and brackets --------------------------------------------------------------------- */

static bool is_blank_line(struct cbx_str text, size_t at)
{
    size_t first = cbx_syntax_first_word(text, at);
    return first >= text.len || text.p[first] == '\n' || text.p[first] == '#';
}

/* Returns the end of the text before `at`, without spaces. */
static size_t before_spaces(struct cbx_str text, size_t at)
{
    while (at > 0 && (cbx_syntax_is_space(text.p[at - 1]) || text.p[at - 1] == '\n')) {
        at--;
    }
    return at;
}

static bool begins_statement(struct cbx_str line)
{
    static const char *const words[] = { "for",    "while",  "def",      "class", "import", "from",
                                         "with",   "return", "print",    "const", "let",    "var",
                                         "export", "try",    "function", "async", "printf" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (cbx_syntax_begins_with(line, words[i])) {
            return true;
        }
    }
    return false;
}

/* Returns where an unclosed bracket ends: before the next line that begins a statement and is
 * not indented more than the bracket's line; or before a line that begins with a word, if the
 * text before it is complete. */
static size_t bracket_end(struct cbx_str text, size_t opener)
{
    size_t own = line_start(text, opener);
    size_t indent = cbx_syntax_first_word(text, own) - own;
    for (size_t at = line_end(text, opener) + 1; at < text.len; at = line_end(text, at) + 1) {
        if (is_blank_line(text, at)) {
            continue;
        }
        size_t first = cbx_syntax_first_word(text, at), before = before_spaces(text, at);
        bool more =
            before > 0 && strchr(",([{+=", text.p[before - 1]) != NULL && before > opener + 1;
        bool statement = begins_statement(cbx_str_sub(text, first, line_end(text, first)));
        if (first - at <= indent && cbx_syntax_is_word(text.p[first]) && (statement || !more)) {
            return before;
        }
    }
    return before_spaces(text, text.len);
}

/* Returns the run of closing bytes that ends the text before `end`: ")", "); }". */
static size_t closing_run(struct cbx_str text, size_t end)
{
    while (end > 0 && text.p[end - 1] != '\0' && strchr(")]}; ", text.p[end - 1]) != NULL) {
        end--;
    }
    return end;
}

static bool explain_bracket(struct cbx_explainer *e, const struct cbx_scan *scan)
{
    size_t end = bracket_end(e->text, scan->at);
    char opener = e->text.p[scan->at];
    bool before = opener != '{' && end > 0 && e->text.p[end - 1] == ';';
    const char *message = "unclosed brace";
    if (opener == '(') {
        message = "unclosed parenthesis";
    } else if (opener == '[') {
        message = "unclosed bracket";
    }
    return cbx_syntax_report(
        e, scan->at, scan->at + 1, message,
        cbx_arena_note(e->arena, "add `%.40s` %sat the end of line %u", scan->closers,
                       before ? "before the `;` " : "",
                       cbx_syntax_line_number(e->text, end > 0 ? end - 1 : 0)));
}

static bool explain_string(struct cbx_explainer *e, const struct cbx_scan *scan)
{
    bool goes_on = scan->quote[1] != '\0' || scan->quote[0] == '`';
    size_t end = before_spaces(e->text, goes_on ? e->text.len : line_end(e->text, scan->at));
    size_t place_end = goes_on ? scan->at + strlen(scan->quote) : end;
    uint32_t line = cbx_syntax_line_number(e->text, end > 0 ? end - 1 : 0);
    size_t run = closing_run(e->text, end);
    struct cbx_str closing = cbx_str_sub(e->text, run, end);
    /* print("hello): the brackets at the end of the line belong after the quote */
    if (!goes_on && run > scan->at + 1 && memchr(closing.p, ')', closing.len) != NULL &&
        closing.len < CBX_SYNTAX_SHOWN_MAX &&
        memchr(e->text.p + scan->at, '(', run - scan->at) == NULL) {
        return cbx_syntax_report(e, scan->at, place_end, "unclosed string",
                                 cbx_arena_note(e->arena,
                                                "add `%s` before the `%.*s` at the end of line %u",
                                                scan->quote, CBX_STR_SHOWN(closing), line));
    }
    return cbx_syntax_report(
        e, scan->at, place_end, "unclosed string",
        scan->quote[0] == '`'
            ? cbx_arena_note(e->arena, "add the closing backquote at the end of line %u", line)
            : cbx_arena_note(e->arena, "add `%s` at the end of line %u", scan->quote, line));
}

/* Explains 'it's', which must be "it's". */
static bool explain_apostrophe(struct cbx_explainer *e, const struct cbx_scan *scan)
{
    struct cbx_str whole = cbx_str_sub(e->text, scan->opener, scan->at + 1);
    struct cbx_str inside = cbx_str_sub(whole, 1, whole.len - 1);
    char other = scan->quote[0] == '\'' ? '"' : '\'';
    if (memchr(inside.p, other, inside.len) != NULL || whole.len > CBX_SYNTAX_SHOWN_MAX * 2) {
        return explain_string(e, scan);
    }
    return cbx_syntax_report(e, scan->opener, scan->at + 1, "quote inside a string",
                             cbx_arena_note(e->arena, "instead of `%.*s` write `%c%.*s%c`",
                                            CBX_STR_SHOWN(whole), other, CBX_STR_SHOWN(inside),
                                            other));
}

static bool explain_scan(struct cbx_explainer *e, const struct cbx_scan *scan)
{
    uint32_t line = cbx_syntax_line_number(e->text, scan->at);
    switch (scan->problem) {
    case CBX_SCAN_NONE:
        return false;
    case CBX_SCAN_STRING:
        return explain_string(e, scan);
    case CBX_SCAN_APOSTROPHE:
        return explain_apostrophe(e, scan);
    case CBX_SCAN_COMMENT:
        return cbx_syntax_report(e, scan->at, scan->at + 2, "unclosed comment",
                                 cbx_arena_note(e->arena,
                                                "add `%s` where the comment of line %u ends",
                                                scan->quote, line));
    case CBX_SCAN_CLOSER:
        return cbx_syntax_report(
            e, scan->at, scan->at + 1, "unexpected closing bracket",
            cbx_arena_note(e->arena, "remove the last `%c` of line %u; it closes nothing",
                           e->text.p[scan->at], line));
    case CBX_SCAN_MISMATCH:
        return cbx_syntax_report(
            e, scan->at, scan->at + 1, "wrong closing bracket",
            cbx_arena_note(e->arena,
                           "add `%c` before the `%c` of line %u; it closes the `%c` of "
                           "line %u",
                           e->text.p[scan->opener] == '('   ? ')'
                           : e->text.p[scan->opener] == '[' ? ']'
                                                            : '}',
                           e->text.p[scan->at], line, e->text.p[scan->opener],
                           cbx_syntax_line_number(e->text, scan->opener)));
    case CBX_SCAN_BRACKET:
        return explain_bracket(e, scan);
    }
    return false;
}

bool cbx_syntax_explain(const struct cbx_syntax_source *source, struct cbx_arena *arena,
                        struct cbx_syntax_error *out)
{
    struct cbx_explainer e = { .source = source, .text = source->text, .arena = arena, .out = out };
    enum cbx_language language = source->lang->policy;
    if (source->text.len == 0 || source->text.len >= UINT32_MAX) {
        return false;
    }
    if (source->layout) {
        return cbx_syntax_python_layout(&e);
    }
    if (explain_fence(&e) || cbx_syntax_prompt(&e) || cbx_syntax_pasted_character(&e) ||
        explain_language(&e) || explain_escapes(&e) ||
        (language == CBX_SHELL && explain_heredoc(&e))) {
        return true;
    }
    struct cbx_scan scan;
    cbx_scan_source(language, e.text, language == CBX_PYTHON ? cbx_syntax_python_line : NULL, &e,
                    &scan);
    return e.found || explain_scan(&e, &scan) ||
           (language == CBX_PYTHON && cbx_syntax_python_end(&e, &scan)) ||
           (language == CBX_SHELL && explain_blocks(&e));
}
