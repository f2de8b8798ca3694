/* SPDX-License-Identifier: MIT
 * Fields of notebook lines: the syntax of str.format and of DollarFormatter, and the state of the
 * shell's quotes at each field. */
#include "analyzer/lang/python/notebook/expansion.h"

#include "analyzer/facts/fold.h"
#include "analyzer/parse.h"
#include "analyzer/syntax/tree_memory.h"
#include "policies/base/array.h"

/* --- splitting -------------------------------------------------------------------------------- */

struct split {
    struct cbx_arena *arena;
    struct cbx_str line;
    size_t at;
    struct cbx_expansion *x;
    size_t size;
    char *text; /* the line without fields and escapes; `before` and `after` are slices of it */
    size_t len, from;
    bool changed, failed;
};

enum { LINE_MAX_BYTES = 65536 };

/* Returns true for nodes that are an expression only within parentheses; eval() refuses them. */
static bool needs_parentheses(TSNode inside)
{
    static const char *const types[] = { "named_expression", "yield", "await", "list_splat" };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (ts_node_is_null(inside) || strcmp(ts_node_type(inside), types[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns true if the tree of "(code)" is one expression, or one tuple, between these
 * parentheses: not "(a)(b)". */
static bool is_parenthesized(TSNode root, size_t bytes)
{
    TSNode whole = ts_node_named_child(ts_node_named_child(root, 0), 0);
    if (ts_node_has_error(root) || ts_node_named_child_count(root) != 1 || ts_node_is_null(whole) ||
        ts_node_start_byte(whole) != 0 || ts_node_end_byte(whole) != bytes) {
        return false;
    }
    const char *type = ts_node_type(whole);
    return (strcmp(type, "parenthesized_expression") == 0 || strcmp(type, "tuple") == 0) &&
           !needs_parentheses(ts_node_named_child(whole, 0));
}

bool cbx_expansion_is_expression(struct cbx_str code, struct cbx_arena *arena)
{
    if (code.len == 0 || memchr(code.p, '\n', code.len) != NULL) {
        return false;
    }
    struct cbx_str text = CBX_JOIN(arena, CBX_STR("("), code, CBX_STR(")"));
    TSTree *tree =
        text.p != NULL ? cbx_parse_tree(cbx_lang_of_notebooks()->code->grammar(), text, 0) : NULL;
    bool expression = tree != NULL && is_parenthesized(ts_tree_root_node(tree), text.len);
    cbx_tree_delete(tree);
    return expression;
}

static void add_text(struct split *s, struct cbx_str text)
{
    memcpy(s->text + s->len, text.p, text.len);
    s->len += text.len;
}

static struct cbx_str take_text(struct split *s)
{
    struct cbx_str text = { .p = s->text + s->from, .len = s->len - s->from };
    s->from = s->len;
    return text;
}

static void add_field(struct split *s, struct cbx_str code, char conversion)
{
    struct cbx_expansion *x = s->x;
    if (!cbx_expansion_is_expression(code, s->arena) ||
        !CBX_ARRAY_RESERVE(s->arena, x->fields, x->count, &s->size, 1, CBX_FIELDS_MAX)) {
        s->failed = true;
        return;
    }
    x->fields[x->count++] =
        (struct cbx_placeholder){ .before = take_text(s), .code = code, .conversion = conversion };
}

static bool is_word(char c)
{
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
           (c & 0x80);
}

static size_t word_end(struct cbx_str text, size_t at)
{
    while (at < text.len && is_word(text.p[at])) {
        at++;
    }
    return at;
}

static size_t count_quotes(struct cbx_str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        count += text.p[i] == '\'';
    }
    return count;
}

/* Splits the text between braces: "$name" is a field if an even number of single quotes follows,
 * "$$name" is an escape. */
static void split_dollars(struct split *s, struct cbx_str text)
{
    size_t from = 0, behind = count_quotes(text);
    for (size_t at = 0; at + 1 < text.len; at++) {
        behind -= text.p[at] == '\'';
        bool twice = text.p[at] == '$' && text.p[at + 1] == '$';
        size_t name = at + 1 + twice, end = text.p[at] == '$' ? word_end(text, name) : name;
        if (end == name || behind % 2 != 0) {
            continue;
        }
        add_text(s, cbx_str_sub(text, from, at));
        if (twice) {
            add_text(s, cbx_str_sub(text, at + 1, end));
            s->changed = true;
        } else {
            add_field(s, cbx_str_sub(text, name, end), 0);
        }
        from = end;
        at = end - 1;
    }
    add_text(s, cbx_str_sub(text, from, text.len));
}

/* Returns the end of a field's name: '}', ':' or '!', but not within brackets. */
static size_t name_end(struct cbx_str line, size_t at)
{
    for (bool item = false; at < line.len; at++) {
        char c = line.p[at];
        item = c == '[' || (item && c != ']');
        if (!item && memchr("{}:!", c, 4) != NULL) {
            return at;
        }
    }
    return at;
}

/* Reads a field after its '{'. The part that str.format reads as the format belongs to the
 * expression here, so that it can be a slice. */
static void split_field(struct split *s)
{
    struct cbx_str line = s->line;
    size_t from = s->at, end = name_end(line, from), open = 1;
    char conversion = 0;
    struct cbx_str code = cbx_str_sub(line, from, end);
    if (end < line.len && line.p[end] == '!') {
        conversion = end + 1 < line.len ? line.p[end + 1] : 0;
        end += 2;
        s->failed |= end >= line.len || line.p[end] != '}' || conversion == 0 ||
                     memchr("rsa", conversion, 3) == NULL;
    } else if (end < line.len && line.p[end] == ':') {
        size_t colon = end;
        for (end++; end < line.len; end++) {
            open += line.p[end] == '{';
            open -= line.p[end] == '}';
            if (open == 0) {
                break;
            }
        }
        code = end > colon + 1 ? cbx_str_sub(line, from, end) : code;
    }
    s->failed |= end >= line.len || line.p[end] != '}';
    if (!s->failed) {
        add_field(s, code, conversion);
        s->at = end + 1;
    }
}

/* Reads one piece: text up to a brace, and the field that begins there. */
static void split_piece(struct split *s)
{
    struct cbx_str line = s->line;
    size_t end = s->at;
    while (end < line.len && line.p[end] != '{' && line.p[end] != '}') {
        end++;
    }
    bool twice = end + 1 < line.len && line.p[end] == line.p[end + 1];
    if (end < line.len && !twice && (line.p[end] == '}' || end + 1 == line.len)) {
        s->failed = true;
        return;
    }
    split_dollars(s, cbx_str_sub(line, s->at, end + twice));
    s->changed |= twice;
    s->at = end + 1 + twice;
    if (end < line.len && !twice) {
        split_field(s);
    }
}

struct cbx_expansion *cbx_expansion_split(struct cbx_str line, bool shell, struct cbx_arena *arena)
{
    if (line.len == 0 || line.len > LINE_MAX_BYTES ||
        (memchr(line.p, '$', line.len) == NULL && memchr(line.p, '{', line.len) == NULL &&
         memchr(line.p, '}', line.len) == NULL)) {
        return NULL;
    }
    struct split s = { .arena = arena,
                       .line = line,
                       .x = cbx_arena_array(arena, 1, sizeof(*s.x)),
                       .text = cbx_arena_alloc(arena, line.len + 1) };
    if (s.x == NULL || s.text == NULL) {
        return NULL;
    }
    while (s.at < line.len && !s.failed) {
        split_piece(&s);
    }
    s.x->shell = shell;
    s.x->after = take_text(&s);
    s.x->state = s.x->count == 0 ? CBX_EXPANSION_DONE : CBX_EXPANSION_OPEN;
    return s.failed || (s.x->count == 0 && !s.changed) ? NULL : s.x;
}

/* --- quotes of the shell ---------------------------------------------------------------------- */

struct quotes {
    char open;    /* the open quote: '\'', '"', or 0 */
    bool escaped; /* true after a backslash */
    bool opaque;  /* true if the quotes are unknown from here on */
    char last;
};

/* Returns true at the start of substitutions, here-documents, arithmetic and comments, which
 * have quotes of their own. */
static bool begins_nesting(const struct quotes *q, char c)
{
    bool plain = q->open == 0, dollar = q->last == '$';
    return c == '`' || (dollar && memchr("({[", c, 3) != NULL) || (plain && c == '(') ||
           (plain && dollar && c == '\'') || (plain && c == '<' && q->last == '<') ||
           (plain && c == '#' && (q->last == 0 || memchr(" \t\n;&|", q->last, 6) != NULL));
}

static void track_char(struct quotes *q, char c)
{
    if (q->escaped) {
        q->escaped = false;
        c = 'x';
    } else if (q->open == '\'') {
        q->open = c == '\'' ? 0 : '\'';
    } else if (begins_nesting(q, c)) {
        q->opaque = true;
    } else if (c == '\\') {
        q->escaped = true;
    } else if (c == '"') {
        q->open = q->open == 0 ? '"' : 0;
    } else if (c == '\'' && q->open == 0) {
        q->open = '\'';
    }
    q->last = c;
}

static void track(struct quotes *q, struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        track_char(q, text.p[i]);
    }
}

static enum cbx_quoting quoting_of(const struct quotes *q)
{
    bool dollar = q->open != '\'' && q->last == '$'; /* $'...' interprets backslashes */
    if (q->opaque || q->escaped || dollar) {
        return CBX_QUOTING_REFUSED;
    }
    if (q->open == '\'') {
        return CBX_QUOTING_SINGLE;
    }
    return q->open == '"' ? CBX_QUOTING_DOUBLE : CBX_QUOTING_WORD;
}

enum cbx_quoting *cbx_expansion_quoting(const struct cbx_expansion *x, struct cbx_arena *arena)
{
    enum cbx_quoting *quoting = cbx_arena_array(arena, x->count + 1, sizeof(*quoting));
    struct quotes q = { 0 };
    for (size_t i = 0; quoting != NULL && i < x->count; i++) {
        const struct cbx_placeholder *f = &x->fields[i];
        track(&q, f->before);
        quoting[i] = x->shell && !f->known ? quoting_of(&q) : CBX_QUOTING_TEXT;
        if (f->known) {
            track(&q, f->value);
        } else {
            q.last = 'x';
        }
    }
    return quoting;
}

/* --- the line for the analysis ---------------------------------------------------------------- */

/* Words for unknown values: $! is unknown, and no line can assign it. */
static const char *const unknown_word[] = {
    [CBX_QUOTING_WORD] = "\"$!\"", [CBX_QUOTING_SINGLE] = "'\"$!\"'", [CBX_QUOTING_DOUBLE] = "$!"
};

struct cbx_str cbx_expansion_shell(const struct cbx_expansion *x, struct cbx_arena *arena,
                                   struct cbx_str *refused)
{
    struct cbx_str out = CBX_STR("");
    enum cbx_quoting *quoting = cbx_expansion_quoting(x, arena);
    for (size_t i = 0; quoting != NULL && i < x->count; i++) {
        const struct cbx_placeholder *f = &x->fields[i];
        if (quoting[i] == CBX_QUOTING_REFUSED) {
            *refused = f->code;
            return (struct cbx_str){ 0 };
        }
        out = cbx_fold_concat(arena, out, f->before);
        out =
            cbx_fold_concat(arena, out, f->known ? f->value : cbx_str_of(unknown_word[quoting[i]]));
    }
    return quoting != NULL ? cbx_fold_concat(arena, out, x->after) : (struct cbx_str){ 0 };
}

struct cbx_str cbx_expansion_text(const struct cbx_expansion *x, struct cbx_arena *arena)
{
    struct cbx_str out = CBX_STR("");
    for (size_t i = 0; i < x->count; i++) {
        if (!x->fields[i].known) {
            return (struct cbx_str){ 0 };
        }
        out = cbx_fold_concat(arena, out, x->fields[i].before);
        out = cbx_fold_concat(arena, out, x->fields[i].value);
    }
    return cbx_fold_concat(arena, out, x->after);
}
