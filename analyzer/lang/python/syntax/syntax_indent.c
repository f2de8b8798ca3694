/* SPDX-License-Identifier: MIT
 * Indentation of Python. */
#include "analyzer/lang/python/syntax/syntax_indent.h"

#include <stdio.h>

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

/* Returns CPython's name of the compound statement that begins with a line which ends with a
 * colon; NULL if the line begins none. */
static const char *name_block(struct cbx_str line)
{
    static const struct {
        const char *word, *name;
    } blocks[] = {
        { "if", "'if' statement" },
        { "elif", "'elif' statement" },
        { "else", "'else' statement" },
        { "for", "'for' statement" },
        { "while", "'while' statement" },
        { "with", "'with' statement" },
        { "try", "'try' statement" },
        { "except*", "'except*' statement" },
        { "except", "'except' statement" },
        { "finally", "'finally' statement" },
        { "def", "function definition" },
        { "class", "class definition" },
        { "match ", "'match' statement" },
        { "case ", "'case' statement" },
        { "async def", "function definition" },
        { "async for", "'for' statement" },
        { "async with", "'with' statement" },
    };
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        struct cbx_str word = cbx_str_of(blocks[i].word);
        bool whole = line.len > word.len && !is_word(line.p[word.len]);
        if (cbx_str_starts(line, word) && (whole || word.p[word.len - 1] == ' ')) {
            return blocks[i].name;
        }
    }
    return NULL;
}

/* Returns true if there is a statement between two logical lines, and not only blank lines and
 * comments: the scanner leaves out lines of notebook syntax, which are statements too. */
static bool has_statement(struct cbx_str text, uint32_t from, uint32_t to)
{
    bool first = false; /* only spaces since the beginning of the line */
    for (uint32_t i = from; i < to; i++) {
        char c = text.p[i];
        if (first && (c == '%' || c == '!' || c == '\\' || c == '\f')) {
            return true;
        }
        first = c == '\n' || (first && (c == ' ' || c == '\t'));
    }
    return false;
}

/* Measures the indentation of the line: in columns, and in characters. */
static void measure(struct cbx_str text, uint32_t start, uint32_t *column, uint32_t *characters)
{
    uint32_t from = start;
    while (from > 0 && (text.p[from - 1] == ' ' || text.p[from - 1] == '\t')) {
        from--;
    }
    *characters = start - from;
    *column = 0;
    for (uint32_t i = from; i < start; i++) {
        *column = text.p[i] == '\t' ? (*column / 8 + 1) * 8 : *column + 1;
    }
}

/* Opens or closes blocks for a line of this indentation. */
static enum cbx_indent_problem move(struct cbx_indent *indent, uint32_t column, uint32_t characters)
{
    size_t depth = indent->depth;
    if (column > indent->levels[depth].column) {
        if (characters <= indent->levels[depth].characters) {
            return CBX_INDENT_TABS;
        }
        if (indent->block == NULL) {
            return CBX_INDENT_UNEXPECTED;
        }
        indent->lost = depth + 1 == CBX_INDENT_DEPTH_MAX;
        depth += !indent->lost;
        indent->levels[depth].column = column;
        indent->levels[depth].characters = characters;
        indent->depth = depth;
        return CBX_INDENT_NONE;
    }
    while (depth > 0 && column < indent->levels[depth].column) {
        depth--;
    }
    if (column != indent->levels[depth].column) {
        return CBX_INDENT_MISMATCH;
    }
    if (characters != indent->levels[depth].characters) {
        return CBX_INDENT_TABS;
    }
    indent->depth = depth;
    return indent->block != NULL ? CBX_INDENT_MISSING : CBX_INDENT_NONE;
}

/* Returns true for "else:" and the like, which follow a block that ends. Anywhere else they are
 * another error, which is reported first. */
static bool is_clause(const char *block)
{
    static const char *const clauses[] = { "'el", "'except", "'finally" };
    for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]) && block != NULL; i++) {
        if (cbx_str_starts(cbx_str_of(block), cbx_str_of(clauses[i]))) {
            return true;
        }
    }
    return false;
}

enum cbx_indent_problem cbx_indent_take(struct cbx_indent *indent, struct cbx_str text,
                                        uint32_t start, uint32_t end)
{
    uint32_t column, characters;
    char first = text.p[start];
    indent->lost |= first == '\\' || first == '\f' || has_statement(text, indent->end, start) ||
                    (indent->end == 0 && start > 0 && (text.p[0] == '%' || text.p[0] == '!'));
    if (indent->lost) {
        return CBX_INDENT_NONE;
    }
    measure(text, start, &column, &characters);
    size_t depth = indent->depth;
    enum cbx_indent_problem problem = move(indent, column, characters);
    bool decorated = indent->end > 0 && text.p[indent->before] == '@';
    if (decorated && (problem != CBX_INDENT_NONE || indent->depth != depth)) {
        indent->lost = true; /* an error that is reported elsewhere */
        return CBX_INDENT_NONE;
    }
    if (problem != CBX_INDENT_NONE) {
        return problem;
    }
    bool colon = text.p[end - 1] == ':';
    indent->before = start;
    indent->end = end;
    indent->block = colon ? name_block(cbx_str_sub(text, start, end)) : NULL;
    indent->lost |=
        colon && (indent->block == NULL || (is_clause(indent->block) && indent->depth >= depth));
    return CBX_INDENT_NONE;
}

bool cbx_indent_lacks_end(const struct cbx_indent *indent, const struct cbx_scan *scan)
{
    return scan->whole && indent->block != NULL && !indent->lost;
}

struct search {
    struct cbx_indent indent;
    bool found;
    uint32_t start, end;
};

static bool take_line(void *context, struct cbx_str text, uint32_t start, uint32_t end, bool colon)
{
    struct search *search = context;
    (void)colon;
    search->found = cbx_indent_take(&search->indent, text, start, end) != CBX_INDENT_NONE;
    search->start = start;
    search->end = end;
    return search->found || search->indent.lost;
}

bool cbx_indent_find(struct cbx_str text, uint32_t *start, uint32_t *end)
{
    struct search search = { 0 };
    struct cbx_scan scan;
    cbx_scan_source(CBX_PYTHON, text, take_line, &search, &scan);
    if (!search.found && !cbx_indent_lacks_end(&search.indent, &scan)) {
        return false;
    }
    *start = search.start;
    *end = search.end;
    return true;
}
