/* SPDX-License-Identifier: MIT
 * The scanner for syntax_error.h: it reads the lexical forms that the languages share, by
 * CBX_LEXIS of syntax_error.def. */
#include "analyzer/syntax/syntax_scan.h"

enum trait {
    TRIPLES = 1 << 0,
    TEMPLATES = 1 << 1,
    REGEXES = 1 << 2,
    BRACKETS = 1 << 3,
    MULTILINE = 1 << 4,
    LINES = 1 << 5,
};

static const struct lexis {
    enum cbx_language language;
    const char *comment, *comment_open, *comment_close;
    unsigned traits;
} lexes[] = {
#define CBX_LEXIS(language, comment, open, close, traits)                                          \
    { CBX_##language, comment, open, close, traits },
#include "analyzer/syntax/syntax_error.def"
};

struct scanner {
    const struct lexis *d;
    bool plain[256]; /* by byte: it is code, and begins nothing else in this language */
    struct cbx_str text;
    size_t at;
    uint32_t opened[CBX_SCAN_DEPTH_MAX]; /* offsets of open brackets and templates */
    size_t depth;
    size_t line, last; /* first byte of the logical line, and the end of its last word */
    bool colon, blank; /* blank: no word on the logical line yet */
    size_t string_start, string_end; /* the last string */
    cbx_scan_line *take;
    void *context;
    struct cbx_scan *out;
    bool stop;
};

static bool has_trait(const struct scanner *s, enum trait trait)
{
    return (s->d->traits & trait) != 0;
}

static bool has(const struct scanner *s, const char *word)
{
    return word != NULL &&
           cbx_str_starts(cbx_str_sub(s->text, s->at, s->text.len), cbx_str_of(word));
}

static void fail(struct scanner *s, enum cbx_scan_problem problem, size_t at, size_t opener)
{
    s->out->problem = problem;
    s->out->at = (uint32_t)at;
    s->out->opener = (uint32_t)opener;
    s->stop = true;
}

static void note_code(struct scanner *s, size_t from, size_t to)
{
    if (s->blank) {
        s->line = from;
        s->blank = false;
    }
    s->last = to;
}

static void end_line(struct scanner *s)
{
    if (!s->blank && s->take != NULL && !s->stop &&
        s->take(s->context, s->text, (uint32_t)s->line, (uint32_t)s->last, s->colon)) {
        s->stop = true;
    }
    s->blank = true;
    s->colon = false;
}

static void set_quote(struct scanner *s, char quote, size_t count)
{
    memset(s->out->quote, 0, sizeof(s->out->quote));
    memset(s->out->quote, quote, count);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

/* Returns true for 'it's': the string before this quote ends at the beginning of a word. */
static bool is_apostrophe(const struct scanner *s, size_t start, char quote)
{
    return s->string_end > 0 && s->string_end < start && s->text.p[s->string_end - 1] == quote &&
           is_word(s->text.p[s->string_end]) &&
           memchr(s->text.p + s->string_end, '\n', start - s->string_end) == NULL;
}

static void fail_string(struct scanner *s, size_t start, char quote, size_t count)
{
    set_quote(s, quote, count);
    if (count == 1 && is_apostrophe(s, start, quote)) {
        fail(s, CBX_SCAN_APOSTROPHE, start, s->string_start);
    } else {
        fail(s, CBX_SCAN_STRING, start, start);
    }
}

static void read_string(struct scanner *s)
{
    size_t start = s->at;
    char quote = s->text.p[start];
    const char triple[4] = { quote, quote, quote, 0 };
    size_t count = has_trait(s, TRIPLES) && has(s, triple) ? 3 : 1;
    bool raw = has_trait(s, MULTILINE) && quote == '\'';
    for (s->at += count; s->at < s->text.len; s->at++) {
        char c = s->text.p[s->at];
        if (c > '\\') { /* most letters */
            continue;
        }
        if (c == '\\' && !raw) {
            s->at++;
        } else if (c == quote && (count == 1 || has(s, triple))) {
            s->at += count;
            s->string_start = start;
            s->string_end = s->at;
            note_code(s, start, s->at);
            return;
        } else if (c == '\n' && count == 1 && !has_trait(s, MULTILINE)) {
            break;
        }
    }
    fail_string(s, start, quote, count);
}

/* Reads a template up to its end, or to the code of "${". */
static void read_template(struct scanner *s)
{
    for (; s->at < s->text.len; s->at++) {
        if (s->text.p[s->at] == '\\') {
            s->at++;
        } else if (s->text.p[s->at] == '`') {
            s->depth--;
            note_code(s, s->at, s->at + 1);
            s->at++;
            return;
        } else if (has(s, "${")) {
            if (s->depth < CBX_SCAN_DEPTH_MAX) {
                s->opened[s->depth++] = (uint32_t)s->at + 1;
            }
            s->at += 2;
            return;
        }
    }
    set_quote(s, '`', 1);
    fail(s, CBX_SCAN_STRING, s->opened[s->depth - 1], 0);
}

static void read_comment(struct scanner *s)
{
    size_t start = s->at;
    const char *close = s->d->comment_close;
    for (s->at += 2; s->at < s->text.len && !has(s, close); s->at++) {
    }
    if (s->at >= s->text.len) {
        snprintf(s->out->quote, sizeof(s->out->quote), "%s", close);
        fail(s, CBX_SCAN_COMMENT, start, start);
    }
    s->at += 2;
}

static void skip_line(struct scanner *s)
{
    const char *end = memchr(s->text.p + s->at, '\n', s->text.len - s->at);
    s->at = end != NULL ? (size_t)(end - s->text.p) : s->text.len;
}

/* Returns true if '/' begins a regular expression: a value may begin here. */
static bool begins_regex(const struct scanner *s)
{
    char before = s->blank || s->last == 0 ? '(' : s->text.p[s->last - 1];
    return has_trait(s, REGEXES) && strchr("(,=:[!&|?{};<>+-*%~^", before) != NULL;
}

static void read_regex(struct scanner *s)
{
    size_t start = s->at;
    bool set = false;
    for (s->at++; s->at < s->text.len && s->text.p[s->at] != '\n'; s->at++) {
        char c = s->text.p[s->at];
        if (c == '\\') {
            s->at++;
        } else if (c == '/' && !set) {
            break;
        } else if (c == '[' || c == ']') {
            set = c == '[';
        }
    }
    s->at++;
    note_code(s, start, s->at);
}

static char closer_of(char opener)
{
    return opener == '(' ? ')' : opener == '[' ? ']' : '}';
}

static void read_bracket(struct scanner *s)
{
    char c = s->text.p[s->at];
    if (c == '(' || c == '[' || c == '{') {
        if (s->depth == CBX_SCAN_DEPTH_MAX) {
            s->stop = true;
            return;
        }
        note_code(s, s->at, s->at + 1);
        s->opened[s->depth++] = (uint32_t)s->at++;
        return;
    }
    uint32_t opener = s->depth > 0 ? s->opened[s->depth - 1] : 0;
    if (s->depth == 0) {
        fail(s, CBX_SCAN_CLOSER, s->at, s->at);
    } else if (closer_of(s->text.p[opener]) != c) {
        fail(s, CBX_SCAN_MISMATCH, s->at, opener);
    } else {
        s->depth--;
        note_code(s, s->at, s->at + 1);
        s->at++;
    }
}

static bool is_in_template(const struct scanner *s)
{
    return has_trait(s, TEMPLATES) && s->depth > 0 && s->text.p[s->opened[s->depth - 1]] == '`';
}

static bool begins_comment(const struct scanner *s)
{
    bool after_word = s->at > 0 && strchr(" \t\n;(", s->text.p[s->at - 1]) == NULL;
    return has(s, s->d->comment) && !(has_trait(s, MULTILINE) && after_word);
}

/* Returns true at a line of notebook syntax, which is not Python. */
static bool begins_magic(const struct scanner *s)
{
    return has_trait(s, TRIPLES) && s->blank && s->depth == 0 &&
           (s->text.p[s->at] == '%' || s->text.p[s->at] == '!');
}

static void note_pasted(struct scanner *s)
{
    if (!s->out->has_pasted && cbx_syntax_is_pasted(cbx_str_sub(s->text, s->at, s->text.len))) {
        s->out->has_pasted = true;
        s->out->pasted = (uint32_t)s->at;
    }
}

static void read_byte(struct scanner *s)
{
    char c = s->text.p[s->at];
    if ((c & 0x80) != 0) {
        note_pasted(s);
    }
    if (c == '\n') {
        if (s->depth == 0 && has_trait(s, LINES)) {
            end_line(s);
        }
        s->at++;
    } else if (c == '\\') {
        note_code(s, s->at, s->at + 1);
        s->at += 2;
    } else {
        s->colon |= c == ':' && s->depth == 0;
        note_code(s, s->at, s->at + 1);
        s->at++;
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void skip_blanks(struct scanner *s)
{
    while (s->at < s->text.len && is_blank(s->text.p[s->at])) {
        s->at++;
    }
}

static void fill_plain(struct scanner *s)
{
    static const char others[] = " \t\n\\:\"'`/%!()[]{}";
    for (int c = 1; c < 0x80; c++) {
        s->plain[c] = strchr(others, c) == NULL && s->d->comment[0] != c &&
                      (s->d->comment_open == NULL || s->d->comment_open[0] != c);
    }
}

static void read_plain(struct scanner *s)
{
    size_t start = s->at;
    while (s->at < s->text.len && s->plain[(unsigned char)s->text.p[s->at]]) {
        s->at++;
    }
    note_code(s, start, s->at);
}

static void read_next(struct scanner *s)
{
    char c = s->text.p[s->at];
    if (is_in_template(s)) {
        read_template(s);
    } else if (s->plain[(unsigned char)c]) {
        read_plain(s);
    } else if (is_blank(c)) {
        skip_blanks(s);
    } else if (begins_comment(s) || begins_magic(s)) {
        skip_line(s);
    } else if (has(s, s->d->comment_open)) {
        read_comment(s);
    } else if (c == '"' || c == '\'') {
        read_string(s);
    } else if (c == '`' && has_trait(s, TEMPLATES) && s->depth < CBX_SCAN_DEPTH_MAX) {
        s->opened[s->depth++] = (uint32_t)s->at++;
    } else if (c == '/' && begins_regex(s)) {
        read_regex(s);
    } else if (has_trait(s, BRACKETS) && c != '\0' && strchr("()[]{}", c) != NULL) {
        read_bracket(s);
    } else {
        read_byte(s);
    }
}

static void fail_bracket(struct scanner *s)
{
    size_t n = 0;
    for (size_t i = s->depth; i > 0; i--) {
        s->out->closers[n++] = closer_of(s->text.p[s->opened[i - 1]]);
    }
    s->out->closers[n] = '\0';
    fail(s, CBX_SCAN_BRACKET, s->opened[s->depth - 1], s->opened[0]);
}

void cbx_scan_source(enum cbx_language language, struct cbx_str text, cbx_scan_line *line,
                     void *context, struct cbx_scan *out)
{
    struct scanner s = {
        .text = text, .blank = true, .take = line, .context = context, .out = out
    };
    *out = (struct cbx_scan){ 0 };
    for (size_t i = 0; i < sizeof(lexes) / sizeof(lexes[0]); i++) {
        s.d = lexes[i].language == language ? &lexes[i] : s.d;
    }
    if (s.d == NULL) {
        return;
    }
    fill_plain(&s);
    while (!s.stop && s.at < text.len) {
        read_next(&s);
    }
    if (s.stop) {
        return;
    }
    if (is_in_template(&s)) {
        set_quote(&s, '`', 1);
        fail(&s, CBX_SCAN_STRING, s.opened[s.depth - 1], 0);
    } else if (s.depth > 0) {
        fail_bracket(&s);
    } else {
        end_line(&s);
        out->whole = !s.stop;
    }
}
