/* SPDX-License-Identifier: MIT
 * Rewrites notebook syntax to plain Python. A small scanner keeps track of strings and brackets,
 * because a line that begins with '%' or '!' inside of either is Python. */
#include "analyzer/lang/python/notebook/notebook.h"

#include "analyzer/lang/python/notebook/magics.h"
#include "policies/base/array.h"
#include "policies/base/text/hex.h"

enum { MAGICS_MAX = 8192, CODE_DEPTH_MAX = 4 };

struct scan {
    struct cbx_str cell;
    struct cbx_arena *arena;
    struct cbx_magic *magics;
    size_t count, size;
    const struct cbx_notebook *judged; /* result of the first rewriting; NULL during it */
    int depth;                         /* depth of code in lines */
    bool expands;
    char *out;
    size_t len, room;
    bool full;
    int brackets;
    char quote; /* quote of the open string; 0: none */
    bool triple, continued;
};

static void put(struct scan *s, struct cbx_str text)
{
    if (s->len + text.len > s->room) {
        size_t room = (s->len + text.len) * 2 + 256;
        char *out = cbx_arena_alloc(s->arena, room + 1);
        if (out == NULL) {
            s->full = true;
            return;
        }
        if (s->len > 0) {
            memcpy(out, s->out, s->len);
        }
        s->out = out;
        s->room = room;
    }
    if (text.len > 0) { /* memcpy must not get NULL, even for 0 bytes */
        memcpy(s->out + s->len, text.p, text.len);
        s->len += text.len;
    }
}

static void put_escaped(struct scan *s, struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.p[i];
        char escape[4] = { '\\', 'x', cbx_hex_digits[c >> 4], cbx_hex_digits[c & 15] };
        if (c == '\'' || c == '\\') {
            put(s, CBX_STR("\\"));
            put(s, cbx_str_sub(text, i, i + 1));
        } else if (c < 0x20 || c == 0x7f) {
            put(s, (struct cbx_str){ .p = escape, .len = 4 });
        } else {
            put(s, cbx_str_sub(text, i, i + 1));
        }
    }
}

/* Writes a Python string literal on one line. */
static void put_literal(struct scan *s, struct cbx_str text)
{
    put(s, CBX_STR("'"));
    put_escaped(s, text);
    put(s, CBX_STR("'"));
}

static void add_magic(struct scan *s, struct cbx_magic magic, size_t text_start, size_t text_end)
{
    if (!CBX_ARRAY_RESERVE(s->arena, s->magics, s->count, &s->size, 1, MAGICS_MAX)) {
        s->full = true;
        return;
    }
    magic.text_start = (uint32_t)text_start;
    magic.text_end = (uint32_t)text_end;
    s->magics[s->count++] = magic;
}

/* Splits "name rest" at the first blank. */
static void split_name(struct cbx_str text, struct cbx_str *name, struct cbx_str *rest)
{
    text = cbx_str_trim_start(text); /* `% matplotlib inline` */
    size_t n = 0;
    while (n < text.len && text.p[n] != ' ' && text.p[n] != '\t' && text.p[n] != '\n') {
        n++;
    }
    *name = cbx_str_sub(text, 0, n);
    *rest = cbx_str_trim(cbx_str_sub(text, n, text.len));
}

static void put_newlines(struct scan *s, struct cbx_str replaced)
{
    for (size_t i = 0; i < replaced.len; i++) {
        if (replaced.p[i] == '\n') {
            put(s, CBX_STR("\n"));
        }
    }
}

static int rewrite(struct scan *s, struct cbx_notebook *out);

/* Rewrites the Python inside of the line; it runs as a text of its own. */
static void rewrite_codes(struct scan *s, struct cbx_magic *magic)
{
    struct cbx_str codes[CBX_MAGIC_CODES];
    uint32_t count = s->depth < CODE_DEPTH_MAX ? cbx_magic_code(magic, codes) : 0;
    for (uint32_t c = 0; c < count; c++) {
        struct cbx_notebook *inner = cbx_arena_array(s->arena, 1, sizeof(*inner));
        struct scan scan = { .cell = codes[c],
                             .arena = s->arena,
                             .judged =
                                 s->judged != NULL ? s->judged->magics[s->count].codes[c] : NULL,
                             .depth = s->depth + 1 };
        if (inner == NULL || rewrite(&scan, inner) != 0) {
            s->full = true;
            return;
        }
        s->expands |= inner->expands;
        magic->codes[c] = inner;
        magic->code_count = c + 1;
    }
}

/* Writes the text as a literal, with the code inside of it rewritten. */
static void put_with_code(struct scan *s, const struct cbx_magic *magic, struct cbx_str text)
{
    struct cbx_str codes[CBX_MAGIC_CODES], rest = text;
    uint32_t count = magic->code_count > 0 ? cbx_magic_code(magic, codes) : 0;
    put(s, CBX_STR("'"));
    for (uint32_t c = 0; c < count; c++) {
        if (codes[c].p >= text.p && codes[c].p + codes[c].len == text.p + text.len) {
            put_escaped(s, cbx_str_sub(text, 0, (size_t)(codes[c].p - text.p)));
            put_escaped(s, magic->codes[c]->text);
            rest.len = 0;
        }
    }
    put_escaped(s, rest);
    put(s, CBX_STR("'"));
}

/* Writes the expression in parentheses. Its place remains that of the first rewriting, which is
 * judged. */
static void put_expression(struct scan *s, struct cbx_placeholder *field, size_t from)
{
    uint32_t start = (uint32_t)(s->len - from);
    put(s, CBX_STR("("));
    put(s, field->code);
    put(s, CBX_STR(")"));
    if (s->judged == NULL) {
        field->start = start;
        field->end = (uint32_t)(s->len - from);
        field->place = (uint32_t)(field->code.p - s->cell.p);
    }
}

/* Writes (expression, conversion, quoting[, value]), of which the kernel makes a text. */
static void put_field(struct scan *s, struct cbx_placeholder *field, enum cbx_quoting quoting,
                      size_t from)
{
    static const char *const names[] = { [CBX_QUOTING_TEXT] = "text",
                                         [CBX_QUOTING_WORD] = "word",
                                         [CBX_QUOTING_SINGLE] = "single",
                                         [CBX_QUOTING_DOUBLE] = "double",
                                         [CBX_QUOTING_REFUSED] = "refused" };
    if (field->fixed) {
        put_literal(s, field->value);
        return;
    }
    put(s, CBX_STR("("));
    put_expression(s, field, from);
    put(s, CBX_STR(", "));
    put_literal(s, (struct cbx_str){ .p = &field->conversion, .len = field->conversion != 0 });
    put(s, CBX_STR(", "));
    put_literal(s, cbx_str_of(names[quoting]));
    if (field->known) {
        put(s, CBX_STR(", "));
        put_literal(s, field->value);
    }
    put(s, CBX_STR(")"));
}

/* Writes the argument of a replacement that begins at `from`. */
static void put_argument(struct scan *s, struct cbx_magic *magic, struct cbx_str text, size_t from)
{
    struct cbx_expansion *x = magic->expansion;
    if (x == NULL || x->state == CBX_EXPANSION_NONE) {
        put_with_code(s, magic, text);
        return;
    }
    enum cbx_quoting *quoting = cbx_expansion_quoting(x, s->arena);
    if (quoting == NULL) {
        s->full = true;
    } else if (x->count == 0) {
        put_literal(s, x->after);
    } else {
        put(s, CBX_STR("get_ipython().expand("));
        for (size_t i = 0; i < x->count; i++) {
            put_literal(s, x->fields[i].before);
            put(s, CBX_STR(", "));
            put_field(s, &x->fields[i], quoting[i], from);
            put(s, CBX_STR(", "));
        }
        put_literal(s, x->after);
        put(s, CBX_STR(")"));
    }
}

/* Returns the expansion of a line: from the first rewriting, or a new one. */
static struct cbx_expansion *expand(struct scan *s, const struct cbx_magic *magic,
                                    struct cbx_str text)
{
    bool shell = true;
    struct cbx_expansion *x =
        s->judged != NULL ? s->judged->magics[s->count].expansion
        : magic->kind == CBX_MAGIC_SHELL || cbx_magic_expands(magic->name, &shell)
            ? cbx_expansion_split(text, shell, s->arena)
            : NULL;
    s->expands |= x != NULL;
    return x;
}

/* Writes %config A.b = expression: IPython would evaluate the text with names that the cell does
 * not have, so the expression becomes an argument. */
static bool put_configuration(struct scan *s, struct cbx_magic *magic, size_t from)
{
    struct cbx_str name = magic->rest, code;
    if (!cbx_magic_configures(magic, &name, &code)) {
        return false;
    }
    struct cbx_expansion *x = cbx_arena_array(s->arena, 1, sizeof(*x));
    struct cbx_placeholder *field = cbx_arena_array(s->arena, 1, sizeof(*field));
    if (x == NULL || field == NULL || !cbx_expansion_is_expression(code, s->arena)) {
        return false;
    }
    put(s, CBX_STR("get_ipython().configure("));
    put_literal(s, name);
    put(s, CBX_STR(", "));
    field->code = code;
    put_expression(s, field, from);
    *x = (struct cbx_expansion){ .state = CBX_EXPANSION_DONE, .fields = field, .count = 1 };
    magic->expansion = x;
    magic->configures = true;
    magic->rest = name;
    return true;
}

static void put_shell(struct scan *s, struct cbx_str text, bool assigned, struct cbx_magic *magic)
{
    size_t from = s->len;
    bool twice = cbx_str_starts(text, CBX_STR("!!"));
    magic->kind = CBX_MAGIC_SHELL;
    magic->body = cbx_str_trim(cbx_str_sub(text, twice ? 2 : 1, text.len));
    magic->expansion = expand(s, magic, magic->body);
    put(s,
        twice || assigned ? CBX_STR("get_ipython().getoutput(") : CBX_STR("get_ipython().system("));
    put_argument(s, magic, magic->body, from);
}

static void put_magic(struct scan *s, struct cbx_str text, struct cbx_magic *magic)
{
    size_t from = s->len;
    magic->kind = CBX_MAGIC_LINE;
    split_name(cbx_str_sub(text, 1, text.len), &magic->name, &magic->rest);
    if (put_configuration(s, magic, from)) {
        return;
    }
    rewrite_codes(s, magic);
    magic->expansion = expand(s, magic, magic->rest);
    put(s, CBX_STR("get_ipython().run_line_magic("));
    put_literal(s, magic->name);
    put(s, CBX_STR(", "));
    put_argument(s, magic, magic->rest, from);
}

/* Writes the call that replaces `text` ("!cmd", "%magic ..." and so on), which begins at `at` in
 * the cell. */
static void put_line(struct scan *s, struct cbx_str text, size_t at, bool assigned)
{
    struct cbx_magic magic = { .start = (uint32_t)at, .end = (uint32_t)(at + text.len) };
    size_t from = s->len;
    if (cbx_str_starts(text, CBX_STR("!"))) {
        put_shell(s, text, assigned, &magic);
    } else {
        put_magic(s, text, &magic);
    }
    put_newlines(s, text); /* a continued line keeps its number of lines, inside the brackets */
    put(s, CBX_STR(")"));
    add_magic(s, magic, from, s->len);
}

static void put_help(struct scan *s, struct cbx_str text, size_t at)
{
    struct cbx_str subject = cbx_str_trim(text);
    while (subject.len > 0 && subject.p[0] == '?') {
        subject = cbx_str_sub(subject, 1, subject.len);
    }
    while (subject.len > 0 && subject.p[subject.len - 1] == '?') {
        subject.len--;
    }
    struct cbx_magic magic = { .kind = CBX_MAGIC_HELP,
                               .start = (uint32_t)at,
                               .end = (uint32_t)(at + text.len),
                               .name = CBX_STR("pinfo"),
                               .rest = cbx_str_trim(subject) };
    size_t from = s->len;
    put(s, CBX_STR("get_ipython().run_line_magic('pinfo', "));
    put_literal(s, magic.rest);
    put(s, CBX_STR(")"));
    add_magic(s, magic, from, s->len);
}

/* Returns the end of the line that begins at `at`; if `joins`, lines that end in a backslash are
 * joined with the next. */
static size_t line_end(struct cbx_str cell, size_t at, bool joins)
{
    for (;;) {
        const char *newline = at < cell.len ? memchr(cell.p + at, '\n', cell.len - at) : NULL;
        size_t end = newline != NULL ? (size_t)(newline - cell.p) : cell.len;
        if (!joins || newline == NULL || end == at || cell.p[end - 1] != '\\') {
            return end;
        }
        at = end + 1;
    }
}

/* Moves the state of strings and brackets over one line of Python. */
static void scan_python(struct scan *s, struct cbx_str line)
{
    for (size_t i = 0; i < line.len; i++) {
        char c = line.p[i];
        if (s->quote != 0) {
            bool closes =
                c == s->quote &&
                (!s->triple || (i + 2 < line.len && line.p[i + 1] == c && line.p[i + 2] == c));
            if (c == '\\') {
                i++;
            } else if (closes) {
                i += s->triple ? 2 : 0;
                s->quote = 0;
            }
        } else if (c == '#') {
            s->continued = false;
            return;
        } else if (c == '"' || c == '\'') {
            s->quote = c;
            s->triple = i + 2 < line.len && line.p[i + 1] == c && line.p[i + 2] == c;
            i += s->triple ? 2 : 0;
        } else if (c == '(' || c == '[' || c == '{') {
            s->brackets++;
        } else if (c == ')' || c == ']' || c == '}') {
            s->brackets -= s->brackets > 0;
        }
    }
    s->continued = line.len > 0 && line.p[line.len - 1] == '\\';
    if (s->quote != 0 && !s->triple && !s->continued) {
        s->quote = 0; /* the parser reports this error */
    }
}

/* Returns the offset of '!' or '%' in "x = !cmd" or "x = %magic"; 0 for other lines. */
static size_t find_assigned(struct cbx_str line)
{
    const char *equals = line.len > 0 ? memchr(line.p, '=', line.len) : NULL;
    if (equals == NULL || (size_t)(equals - line.p) + 1 >= line.len || equals[1] == '=') {
        return 0;
    }
    size_t i = (size_t)(equals - line.p);
    for (size_t k = 0; k < i; k++) {
        char c = line.p[k];
        bool target = c == '_' || c == '.' || c == ',' || c == ' ' || c == '*' || c == '[' ||
                      c == ']' || c == '\'' || (c >= '0' && c <= '9') ||
                      ((c | 32) >= 'a' && (c | 32) <= 'z') || (c & 0x80);
        if (!target) {
            return 0;
        }
    }
    i++;
    while (i < line.len && (line.p[i] == ' ' || line.p[i] == '\t')) {
        i++;
    }
    return i + 1 < line.len && (line.p[i] == '!' ||
                                (line.p[i] == '%' &&
                                 ((line.p[i + 1] | 32) >= 'a' && (line.p[i + 1] | 32) <= 'z')))
               ? i
               : 0;
}

static bool is_help(struct cbx_str line)
{
    struct cbx_str text = cbx_str_trim(line);
    if (text.len < 2 || (text.p[0] != '?' && text.p[text.len - 1] != '?')) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (!(c == '?' || c == '_' || c == '.' || c == '*' || c == '%' || (c >= '0' && c <= '9') ||
              ((c | 32) >= 'a' && (c | 32) <= 'z') || (c & 0x80))) {
            return false;
        }
    }
    return true;
}

/* Reads one line that begins outside of strings, brackets and continuations. Returns the offset
 * of its end. */
static size_t take_line(struct scan *s, size_t at)
{
    size_t end = line_end(s->cell, at, false);
    size_t indent = at;
    while (indent < end && (s->cell.p[indent] == ' ' || s->cell.p[indent] == '\t')) {
        indent++;
    }
    struct cbx_str line = cbx_str_sub(s->cell, indent, end);
    bool magic = line.len > 0 && (line.p[0] == '!' || line.p[0] == '%');
    size_t assigned = magic ? 0 : find_assigned(line);
    if (is_help(line)) {
        put(s, cbx_str_sub(s->cell, at, indent));
        put_help(s, line, indent);
    } else if (magic || assigned > 0) {
        end = line_end(s->cell, indent + assigned, true);
        put(s, cbx_str_sub(s->cell, at, indent + assigned));
        put_line(s, cbx_str_sub(s->cell, indent + assigned, end), indent + assigned, assigned > 0);
    } else {
        put(s, cbx_str_sub(s->cell, at, end));
        scan_python(s, line);
    }
    return end;
}

/* Reads a cell that begins with "%%name": the whole cell belongs to that magic. */
static bool take_cell_magic(struct scan *s)
{
    size_t at = 0;
    while (at < s->cell.len &&
           (s->cell.p[at] == '\n' || s->cell.p[at] == ' ' || s->cell.p[at] == '\t')) {
        at++;
    }
    if (at + 2 >= s->cell.len || s->cell.p[at] != '%' || s->cell.p[at + 1] != '%') {
        return false;
    }
    size_t end = line_end(s->cell, at, false);
    struct cbx_magic magic = { .kind = CBX_MAGIC_CELL,
                               .start = (uint32_t)at,
                               .end = (uint32_t)s->cell.len };
    split_name(cbx_str_sub(s->cell, at + 2, end), &magic.name, &magic.rest);
    magic.body = cbx_str_sub(s->cell, end + 1, s->cell.len);
    rewrite_codes(s, &magic);
    magic.expansion = expand(s, &magic, magic.rest);
    put_newlines(s, cbx_str_sub(s->cell, 0, at));
    size_t from = s->len;
    put(s, CBX_STR("get_ipython().run_cell_magic("));
    put_literal(s, magic.name);
    put(s, CBX_STR(", "));
    put_argument(s, &magic, magic.rest, from);
    put(s, CBX_STR(", "));
    put_with_code(s, &magic, magic.body);
    put(s, CBX_STR(")\n"));
    add_magic(s, magic, from, s->len);
    return true;
}

static bool has_notebook_syntax(struct cbx_str cell)
{
    return cell.len > 0 &&
           (memchr(cell.p, '!', cell.len) != NULL || memchr(cell.p, '%', cell.len) != NULL ||
            memchr(cell.p, '?', cell.len) != NULL);
}

static int rewrite(struct scan *s, struct cbx_notebook *out)
{
    struct cbx_str cell = s->cell;
    *out = (struct cbx_notebook){ .text = cell };
    if (!has_notebook_syntax(cell)) {
        return 0;
    }
    if (!take_cell_magic(s)) {
        for (size_t at = 0; at < cell.len;) {
            if (s->quote != 0 || s->brackets > 0 || s->continued) {
                size_t end = line_end(cell, at, false);
                put(s, cbx_str_sub(cell, at, end));
                scan_python(s, cbx_str_sub(cell, at, end));
                at = end;
            } else {
                at = take_line(s, at);
            }
            if (at < cell.len) {
                put(s, CBX_STR("\n"));
                at++;
            }
        }
    }
    if (s->full) {
        return CBX_ETOOBIG;
    }
    if (s->count > 0) {
        *out = (struct cbx_notebook){ .text = { .p = s->out, .len = s->len },
                                      .magics = s->magics,
                                      .magic_count = s->count,
                                      .expands = s->expands };
    }
    return 0;
}

int cbx_notebook_rewrite(struct cbx_str cell, struct cbx_arena *arena, struct cbx_notebook *out)
{
    return rewrite(&(struct scan){ .cell = cell, .arena = arena }, out);
}

int cbx_notebook_finish(struct cbx_str cell, const struct cbx_notebook *judged,
                        struct cbx_arena *arena, struct cbx_str *out)
{
    struct cbx_notebook final = *judged;
    int failed = 0;
    if (judged->expands) {
        failed = rewrite(&(struct scan){ .cell = cell, .arena = arena, .judged = judged }, &final);
    }
    *out = failed ? *out : final.text;
    return failed;
}

/* Returns the number of replacements that begin at or before this place of the rewritten text. */
static size_t count_before(const struct cbx_magic *magics, size_t count, uint32_t byte)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (magics[middle].text_start <= byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns the field of the line whose expression contains this byte; NULL if there is none. */
static const struct cbx_placeholder *field_at(const struct cbx_magic *m, uint32_t byte)
{
    const struct cbx_expansion *x = m->expansion;
    for (size_t i = 0; x != NULL && i < x->count && byte < m->text_end; i++) {
        const struct cbx_placeholder *field = &x->fields[i];
        if (byte >= m->text_start + field->start && byte < m->text_start + field->end) {
            return field;
        }
    }
    return NULL;
}

enum cbx_notebook_part cbx_notebook_part(const struct cbx_magic *magics, size_t count,
                                         uint32_t start, uint32_t end)
{
    size_t before = count_before(magics, count, start);
    const struct cbx_magic *m = before > 0 ? &magics[before - 1] : NULL;
    enum cbx_notebook_part part = CBX_PART_LINE;
    if (m == NULL || end > m->text_end) {
        return CBX_PART_PYTHON;
    }
    const struct cbx_expansion *x = m->expansion;
    for (size_t i = 0; x != NULL && x->state == CBX_EXPANSION_DONE && i < x->count; i++) {
        uint32_t from = m->text_start + x->fields[i].start, to = m->text_start + x->fields[i].end;
        if (start >= from && end <= to) {
            return CBX_PART_PYTHON;
        }
        part = start <= from && end >= to ? CBX_PART_AROUND : part;
    }
    return part;
}

uint32_t cbx_notebook_place(const struct cbx_magic *magics, size_t count, uint32_t byte)
{
    size_t before = count_before(magics, count, byte);
    if (before == 0) {
        return byte;
    }
    const struct cbx_magic *last = &magics[before - 1];
    const struct cbx_placeholder *field = field_at(last, byte);
    if (field != NULL) {
        uint32_t inside = byte - last->text_start - field->start;
        return field->place + (inside > 0 ? inside - 1 : 0); /* without the added parenthesis */
    }
    return byte < last->text_end ? last->start : byte - last->text_end + last->end;
}
