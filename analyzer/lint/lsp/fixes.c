/* SPDX-License-Identifier: MIT
 * Makes edits from hints. */
#include "analyzer/lint/lsp/fixes.h"

#include "analyzer/lint/lsp/document.h"

#include <ctype.h>

struct fixing {
    struct cbx_str text;
    struct cbx_lsp_lines lines;
    struct cbx_lsp_edit *edits;
    size_t count;
};

static bool take(struct cbx_str *rest, const char *words)
{
    if (!cbx_str_starts(*rest, cbx_str_of(words))) {
        return false;
    }
    *rest = cbx_str_sub(*rest, strlen(words), rest->len);
    return true;
}

/* Takes `code` in backquotes. */
static bool take_code(struct cbx_str *rest, struct cbx_str *out)
{
    if (!take(rest, "`")) {
        return false;
    }
    const char *end = rest->len > 0 ? memchr(rest->p, '`', rest->len) : NULL;
    if (end == NULL) {
        return false;
    }
    *out = cbx_str_sub(*rest, 0, (size_t)(end - rest->p));
    *rest = cbx_str_sub(*rest, out->len + 1, rest->len);
    return true;
}

static bool take_number(struct cbx_str *rest, uint32_t *out)
{
    size_t digits = 0;
    *out = 0;
    while (digits < rest->len && digits < 9 && isdigit((unsigned char)rest->p[digits])) {
        *out = *out * 10 + (uint32_t)(rest->p[digits] - '0');
        digits++;
    }
    *rest = cbx_str_sub(*rest, digits, rest->len);
    return digits > 0 && *out > 0;
}

static size_t start_of(struct cbx_str text, uint32_t line)
{
    return cbx_lsp_offset(text, (struct cbx_lsp_position){ line, 0 }, CBX_LSP_UTF8);
}

static bool add(struct fixing *f, size_t start, size_t end, struct cbx_str with, bool line)
{
    if (f->count == CBX_LSP_EDITS_MAX) {
        return false;
    }
    for (size_t i = 0; i < f->count; i++) {
        if (start < f->edits[i].end && f->edits[i].start < end) {
            return false; /* the order of two edits of the same place is undefined */
        }
    }
    f->edits[f->count++] = (struct cbx_lsp_edit){ start, end, with, line };
    return true;
}

/* Returns the place of the code in [from, to) if it occurs there once; SIZE_MAX otherwise. */
static size_t find_once(struct cbx_str text, size_t from, size_t to, struct cbx_str code)
{
    const char *at = to > from ? memmem(text.p + from, to - from, code.p, code.len) : NULL;
    if (at == NULL) {
        return SIZE_MAX;
    }
    size_t start = (size_t)(at - text.p);
    const char *again = memmem(at + 1, to - start - 1, code.p, code.len);
    return again == NULL ? start : SIZE_MAX;
}

/* Replaces the code if it occurs once in the lines of the finding, else if it occurs once in the
 * document: the hint of an import names its use. */
static bool replace(struct fixing *f, struct cbx_str code, struct cbx_str with)
{
    size_t from = start_of(f->text, f->lines.first - 1);
    struct cbx_str last = cbx_lsp_line(f->text, f->lines.last - 1);
    size_t to = start_of(f->text, f->lines.last - 1) + last.len;
    if (code.len == 0) {
        return false;
    }
    size_t start = find_once(f->text, from, to, code);
    if (start == SIZE_MAX) {
        start = find_once(f->text, 0, f->text.len, code);
    }
    return start != SIZE_MAX && add(f, start, start + code.len, with, false);
}

static bool remove_line(struct fixing *f, uint32_t line)
{
    size_t start = start_of(f->text, line - 1), end = start_of(f->text, line);
    return end > start && add(f, start, end, CBX_STR(""), false);
}

enum { HEAD_LINES = 200 }; /* imports stand in the first lines */

/* Adds an import or a similar line before the first one, else after a line of "#!". */
static bool add_line(struct fixing *f, struct cbx_str code)
{
    uint32_t line = cbx_str_starts(f->text, CBX_STR("#!")) ? 1 : 0;
    size_t first = start_of(f->text, line);
    for (uint32_t i = line;
         start_of(f->text, i) < f->text.len && i < f->lines.first && i < HEAD_LINES; i++) {
        struct cbx_str bytes = cbx_lsp_line(f->text, i);
        if (cbx_str_starts(bytes, CBX_STR("import ")) || cbx_str_starts(bytes, CBX_STR("from "))) {
            first = start_of(f->text, i);
            break;
        }
    }
    return add(f, first, first, code, true);
}

static bool add_at_end(struct fixing *f, struct cbx_str code, uint32_t line)
{
    size_t end = start_of(f->text, line - 1) + cbx_lsp_line(f->text, line - 1).len;
    return add(f, end, end, code, false);
}

static bool follow(struct fixing *f, struct cbx_str clause)
{
    struct cbx_str code, with;
    uint32_t line;
    if (take(&clause, "instead of ")) {
        return take_code(&clause, &code) && take(&clause, " write ") && take_code(&clause, &with) &&
               clause.len == 0 && replace(f, code, with);
    }
    if (take(&clause, "remove line ")) {
        return take_number(&clause, &line) && clause.len == 0 && remove_line(f, line);
    }
    if (take(&clause, "remove ")) {
        return take_code(&clause, &code) && clause.len == 0 && replace(f, code, CBX_STR(""));
    }
    if (take(&clause, "add the line ")) {
        return take_code(&clause, &code) && clause.len == 0 && add_line(f, code);
    }
    return take(&clause, "add ") && take_code(&clause, &code) &&
           take(&clause, " at the end of line ") && take_number(&clause, &line) &&
           clause.len == 0 && add_at_end(f, code, line);
}

/* Returns the end of the first clause: "; " outside of backquotes. */
static size_t end_of_clause(struct cbx_str hint)
{
    bool code = false;
    for (size_t i = 0; i < hint.len; i++) {
        code ^= hint.p[i] == '`';
        if (!code && hint.p[i] == ';' && i + 1 < hint.len && hint.p[i + 1] == ' ') {
            return i;
        }
    }
    return hint.len;
}

size_t cbx_lsp_fixes(struct cbx_str text, struct cbx_lsp_lines lines, struct cbx_str hint,
                     struct cbx_lsp_edit edits[CBX_LSP_EDITS_MAX], bool *whole)
{
    struct fixing f = { .text = text, .lines = lines, .edits = edits };
    *whole = hint.len > 0;
    if (lines.first == 0 || lines.last < lines.first) {
        return 0;
    }
    while (hint.len > 0) {
        size_t end = end_of_clause(hint);
        struct cbx_str clause = cbx_str_sub(hint, 0, end);
        bool followed = follow(&f, clause);
        *whole = *whole && followed;
        hint = cbx_str_sub(hint, end + 2, hint.len);
    }
    return f.count;
}
