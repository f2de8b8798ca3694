/* SPDX-License-Identifier: MIT
 * Syntax errors of Python that one logical line shows: statements of Python 2, operators of
 * other languages, missing colons and operands, and the indentation. */
#include "analyzer/syntax/syntax_internal.h"

static bool explain_print(struct cbx_explainer *e, struct cbx_str line, uint32_t start)
{
    struct cbx_str rest = cbx_str_sub(line, cbx_syntax_first_word(line, 5), line.len);
    bool names =
        rest.len > 0 && (cbx_syntax_is_word(rest.p[0]) || rest.p[0] == '"' || rest.p[0] == '\'');
    if (!cbx_syntax_begins_with(line, "print") || line.len < 7 || !cbx_syntax_is_space(line.p[5]) ||
        !names || line.len > CBX_SYNTAX_SHOWN_MAX * 2) {
        return false;
    }
    return cbx_syntax_report(e, start, start + line.len, "Python 2 statement",
                             cbx_arena_note(e->arena, "instead of `%.*s` write `print(%.*s)`",
                                            CBX_STR_SHOWN(line), CBX_STR_SHOWN(rest)));
}

/* Explains "except ValueError, e:" of Python 2. */
static bool explain_except(struct cbx_explainer *e, struct cbx_str line, uint32_t start)
{
    const char *comma = memchr(line.p, ',', line.len);
    if (!cbx_syntax_begins_with(line, "except") || comma == NULL ||
        memchr(line.p, '(', line.len) != NULL || line.p[line.len - 1] != ':' ||
        line.len > CBX_SYNTAX_SHOWN_MAX) {
        return false;
    }
    size_t at = (size_t)(comma - line.p);
    struct cbx_str before = cbx_str_sub(line, 0, at);
    struct cbx_str after = cbx_str_sub(line, cbx_syntax_first_word(line, at + 1), line.len);
    return cbx_syntax_report(e, start, start + line.len, "Python 2 statement",
                             cbx_arena_note(e->arena, "instead of `%.*s` write `%.*s as %.*s`",
                                            CBX_STR_SHOWN(line), CBX_STR_SHOWN(before),
                                            CBX_STR_SHOWN(after)));
}

static bool explain_colon(struct cbx_explainer *e, struct cbx_str line, uint32_t start, bool colon)
{
    static const char *const words[] = { "if",  "elif",   "else",    "for",  "while", "def",
                                         "try", "except", "finally", "with", "class", "async" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !colon; i++) {
        if (cbx_syntax_begins_with(line, words[i])) {
            return cbx_syntax_report(
                e, start, start + line.len, "missing colon",
                cbx_arena_note(e->arena,
                               "add `:` at the end of line %u; a line that begins with `%s` ends "
                               "with a colon",
                               cbx_syntax_line_number(e->text, start + line.len - 1), words[i]));
        }
    }
    return false;
}

/* Explains words of other languages that Python has under other names. */
static bool explain_word(struct cbx_explainer *e, struct cbx_str line, uint32_t start)
{
    static const struct {
        const char *found, *write;
    } pairs[] = { { "else if ", "elif " }, { " && ", " and " }, { " || ", " or " },
                  { " !== ", " != " },     { " === ", " == " }, { " <> ", " != " } };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct cbx_str found = cbx_str_of(pairs[i].found);
        const char *at = memmem(line.p, line.len, found.p, found.len);
        size_t before = at != NULL ? (size_t)(at - line.p) : 0;
        bool quoted = memchr(line.p, '"', before) != NULL || memchr(line.p, '\'', before) != NULL;
        if (at != NULL && !quoted) {
            return cbx_syntax_report(e, start + before, start + before + found.len,
                                     "operator of another language",
                                     cbx_arena_note(e->arena, "instead of `%s` write `%s`",
                                                    pairs[i].found, pairs[i].write));
        }
    }
    return false;
}

/* Explains "i++" and "i--" as statements. */
static bool explain_increment(struct cbx_explainer *e, struct cbx_str line, uint32_t start)
{
    bool plus = cbx_str_ends(line, CBX_STR("++")), minus = cbx_str_ends(line, CBX_STR("--"));
    struct cbx_str name = cbx_str_sub(line, 0, line.len > 2 ? line.len - 2 : 0);
    if ((!plus && !minus) || name.len == 0 || name.len > CBX_SYNTAX_SHOWN_MAX ||
        !cbx_syntax_is_word(name.p[0])) {
        return false;
    }
    return cbx_syntax_report(e, start, start + line.len, "operator of another language",
                             cbx_arena_note(e->arena, "instead of `%.*s` write `%.*s %s 1`",
                                            CBX_STR_SHOWN(line), CBX_STR_SHOWN(name),
                                            plus ? "+=" : "-="));
}

/* Explains operators that cannot end a line: their right operand is on the same line, or in
 * brackets. Lines of notebook syntax and lines that may end so are left out: `from m import *`,
 * `...`, `1.`. */
static bool explain_operator(struct cbx_explainer *e, struct cbx_str line, uint32_t start)
{
    static const char *const operators[] = {
        "**", "//", "<<", ">>", "<=", ">=", "==", "!=",   "+",   "-",    "*",   "/",  "%",
        "@",  "&",  "|",  "^",  "<",  ">",  "=",  " and", " or", " not", " is", " in"
    };
    if (cbx_syntax_begins_with(line, "from") || memchr(line.p, '!', line.len) != NULL ||
        memchr(line.p, '?', line.len) != NULL || memmem(line.p, line.len, "= %", 3) != NULL) {
        return false;
    }
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        struct cbx_str operator= cbx_str_of(operators[i]);
        if (line.len > operator.len && cbx_str_ends(line, operator)) {
            size_t blank = cbx_syntax_is_space(operator.p[0]),
                   at = start + line.len - operator.len + blank;
            return cbx_syntax_report_as(
                e, at, start + line.len,
                cbx_arena_note(e->arena, "the expression ends after the operator %s",
                               operators[i] + blank),
                cbx_arena_note(e->arena,
                               "write what follows the `%s` on line %u too, or put the expression "
                               "in parentheses",
                               operators[i] + blank, cbx_syntax_line_number(e->text, at)));
        }
    }
    return false;
}

/* Explains a missing block after the line that begins it: before the line at `at`, or at the end
 * of the text. */
static bool explain_block(struct cbx_explainer *e, size_t at, size_t end)
{
    uint32_t header = cbx_syntax_line_number(e->text, e->indent.before);
    struct cbx_note name = cbx_arena_note(
        e->arena, "expected an indented block after %s on line %u", e->indent.block, header);
    return cbx_syntax_report_as(
        e, at, end, name,
        at == e->indent.before
            ? cbx_arena_note(e->arena, "add a line behind line %u, indented more, such as `pass`",
                             header)
            : cbx_arena_note(e->arena, "indent line %u more than line %u, or put `pass` before it",
                             cbx_syntax_line_number(e->text, at), header));
}

static bool explain_indentation(struct cbx_explainer *e, uint32_t start, uint32_t end)
{
    enum cbx_indent_problem problem = cbx_indent_take(&e->indent, e->text, start, end);
    uint32_t line = cbx_syntax_line_number(e->text, start);
    switch (problem) {
    case CBX_INDENT_NONE:
        return false;
    case CBX_INDENT_UNEXPECTED:
        return cbx_syntax_report(
            e, start, end, "unexpected indent",
            cbx_arena_note(e->arena,
                           "indent line %u no more than the line before it, which does "
                           "not end with a colon",
                           line));
    case CBX_INDENT_MISSING:
        return explain_block(e, start, end);
    case CBX_INDENT_MISMATCH:
        return cbx_syntax_report(
            e, start, end, "unindent does not match any outer indentation level",
            cbx_arena_note(e->arena,
                           "indent line %u as far as the other lines of the block that "
                           "it belongs to",
                           line));
    case CBX_INDENT_TABS:
        return cbx_syntax_report(e, start, end,
                                 "inconsistent use of tabs and spaces in indentation",
                                 cbx_arena_note(e->arena,
                                                "indent line %u, and the lines around it, with "
                                                "spaces alone",
                                                line));
    }
    return false;
}

static bool take_indentation(void *context, struct cbx_str text, uint32_t start, uint32_t end,
                             bool colon)
{
    (void)text;
    (void)colon;
    return explain_indentation(context, start, end);
}

bool cbx_syntax_python_end(struct cbx_explainer *e, const struct cbx_scan *scan)
{
    return cbx_indent_lacks_end(&e->indent, scan) &&
           explain_block(e, e->indent.before, e->indent.end);
}

bool cbx_syntax_python_layout(struct cbx_explainer *e)
{
    struct cbx_scan scan;
    cbx_scan_source(CBX_PYTHON, e->text, take_indentation, e, &scan);
    return e->found || cbx_syntax_python_end(e, &scan);
}

bool cbx_syntax_python_line(void *context, struct cbx_str text, uint32_t start, uint32_t end,
                            bool colon)
{
    struct cbx_explainer *e = context;
    struct cbx_str line = cbx_str_sub(text, start, end);
    return explain_indentation(e, start, end) || explain_print(e, line, start) ||
           explain_except(e, line, start) || explain_word(e, line, start) ||
           explain_colon(e, line, start, colon) || explain_increment(e, line, start) ||
           explain_operator(e, line, start);
}
