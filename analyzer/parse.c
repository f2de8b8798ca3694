/* SPDX-License-Identifier: MIT
 * Converts one text from bytes to facts: parses it, notes unreadable parts, extracts. */
#include "analyzer/parse.h"

#include "analyzer/lang/python/notebook/notebook.h"
#include "analyzer/past/written.h"
#include "analyzer/syntax/tree_memory.h"
#include "policies/base/time/clock.h"

/* --- parsing ---------------------------------------------------------------------------------- */

static bool is_late(TSParseState *state)
{
    const int64_t *deadline = state->payload;
    return *deadline != 0 && cbx_clock_ms() > *deadline;
}

struct reader {
    struct cbx_str text;
};

static const char *read_text(void *payload, uint32_t byte, TSPoint at, uint32_t *len)
{
    (void)at;
    const struct reader *r = payload;
    *len = byte < r->text.len ? (uint32_t)(r->text.len - byte) : 0;
    return byte < r->text.len ? r->text.p + byte : "";
}

TSTree *cbx_parse_tree(const TSLanguage *grammar, struct cbx_str text, int64_t deadline)
{
    TSParser *parser = ts_parser_new();
    if (!ts_parser_set_language(parser, grammar)) {
        cbx_parser_delete(parser);
        return NULL;
    }
    struct reader reader = { .text = text };
    TSInput input = { .payload = &reader, .read = read_text, .encoding = TSInputEncodingUTF8 };
    TSParseOptions options = { .payload = &deadline, .progress_callback = is_late };
    TSTree *tree = ts_parser_parse_with_options(parser, NULL, input, options);
    cbx_parser_delete(parser);
    return tree;
}

bool cbx_tree_move(TSTreeCursor *cursor, bool inside, int *depth)
{
    if (inside && ts_tree_cursor_goto_first_child(cursor)) {
        ++*depth;
        return true;
    }
    while (*depth > 0) {
        if (ts_tree_cursor_goto_next_sibling(cursor)) {
            return true;
        }
        ts_tree_cursor_goto_parent(cursor);
        --*depth;
    }
    return false;
}

/* The depth bounds the memory of the cursor. */
enum { SYNTAX_MAX = 20, ERRORS_DEPTH_MAX = 100000 };

/* Returns true if the language accepts the text of this error node. */
static bool is_read(const struct cbx_parsed *parsed, TSNode node)
{
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    return ts_node_is_error(node) && parsed->lang->code->reads_error != NULL &&
           parsed->lang->code->reads_error(node, cbx_str_sub(parsed->text, start, end));
}

void cbx_parse_errors(const struct cbx_parsed *parsed, TSTree *tree, struct cbx_facts *facts)
{
    TSNode root = ts_tree_root_node(tree);
    if (!ts_node_has_error(root)) {
        return;
    }
    int found = 0, depth = 0;
    bool read = false, inside = true;
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    for (bool more = true; more && found < SYNTAX_MAX;
         more = cbx_tree_move(&cursor, inside, &depth)) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        bool bad = ts_node_is_error(node) || ts_node_is_missing(node);
        if (bad && is_read(parsed, node)) {
            read = true;
        } else if (bad) {
            found++;
            struct cbx_note what =
                ts_node_is_missing(node)
                    ? cbx_arena_note(facts->arena, "missing %s", ts_node_type(node))
                    : CBX_NOTE("syntax error");
            cbx_facts_add_note(facts, CBX_FACT_SYNTAX, what, ts_node_start_byte(node),
                               ts_node_end_byte(node));
        }
        inside = !bad && ts_node_has_error(node) && depth < ERRORS_DEPTH_MAX;
    }
    ts_tree_cursor_delete(&cursor);
    if (found == 0 && !read) {
        cbx_facts_add_special(facts, CBX_FACT_SYNTAX, CBX_STR("syntax error"), 0, 1);
    }
}

/* Replaces the tree by the tree of this text, if that one has no errors. */
static bool reads_better(const struct cbx_parsed *parsed, const TSLanguage *grammar,
                         struct cbx_str text, TSTree **tree, struct cbx_str *read)
{
    struct cbx_facts errors = { .arena = parsed->arena };
    TSTree *other = text.p != NULL ? cbx_parse_tree(grammar, text, parsed->deadline_ms) : NULL;
    if (other == NULL) {
        return false;
    }
    cbx_parse_errors(parsed, other, &errors);
    bool better = errors.count == 0 && !parsed->arena->exhausted;
    cbx_tree_delete(better ? *tree : other);
    *tree = better ? other : *tree;
    *read = better ? text : *read;
    return better;
}

/* If the grammar finds errors, tries other readings of the language; *read is the text of the
 * tree. */
static TSTree *read_otherwise(const struct cbx_parsed *parsed, TSTree *tree, struct cbx_str *read)
{
    const struct cbx_lang_code *code = parsed->lang->code;
    if (tree == NULL || !ts_node_has_error(ts_tree_root_node(tree))) {
        return tree;
    }
    const TSLanguage *(*grammars[])(void) = { code->grammar, code->other_grammar };
    for (size_t i = 0; i < 2; i++) {
        const TSLanguage *grammar = grammars[i] != NULL ? grammars[i]() : NULL;
        if (grammar != NULL &&
            ((i > 0 && reads_better(parsed, grammar, parsed->text, &tree, read)) ||
             (code->mend != NULL &&
              reads_better(parsed, grammar, code->mend(parsed, grammar), &tree, read)))) {
            break;
        }
    }
    return tree;
}

/* Makes the tree of the text. A part that is still misread after some corrections is an error. */
static TSTree *parse_language(const struct cbx_parsed *parsed)
{
    enum { CORRECTIONS_MAX = 8 };
    const struct cbx_lang_code *code = parsed->lang->code;
    struct cbx_str read = parsed->text;
    TSTree *tree = cbx_parse_tree(code->grammar(), read, parsed->deadline_ms);
    tree = read_otherwise(parsed, tree, &read);
    for (int i = 0; tree != NULL && code->correct != NULL; i++) {
        struct cbx_str correct = code->correct(parsed, read, tree);
        if (correct.p == NULL) {
            break;
        }
        if (i == CORRECTIONS_MAX || correct.len == 0) {
            cbx_facts_add_special(parsed->facts, CBX_FACT_SYNTAX, CBX_STR("misread"), 0, 1);
            break;
        }
        cbx_tree_delete(tree);
        read = correct;
        tree = cbx_parse_tree(code->grammar(), read, parsed->deadline_ms);
    }
    return tree;
}

/* --- characters that are not seen ------------------------------------------------------------- */

/* Recognises bidirectional controls, zero-width and filler characters: with them, the code that
 * runs differs from the code that a reader sees (CVE-2021-42574, "invisible backdoor"). Several
 * of them are letters in Unicode. */
static bool is_invisible(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = { { 0x00AD, 0x00AD }, { 0x034F, 0x034F },  { 0x061C, 0x061C }, { 0x115F, 0x1160 },
                   { 0x17B4, 0x17B5 }, { 0x180B, 0x180F },  { 0x200B, 0x200F }, { 0x202A, 0x202E },
                   { 0x2060, 0x206F }, { 0x3164, 0x3164 },  { 0xFE00, 0xFE0F }, { 0xFEFF, 0xFEFF },
                   { 0xFFA0, 0xFFA0 }, { 0xE0000, 0xE0FFF } };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (c >= ranges[i].first && c <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/* In a string, a comment or a here-document they are data. */
static bool is_in_text(TSNode root, uint32_t byte)
{
    TSNode node = ts_node_descendant_for_byte_range(root, byte, byte + 1);
    const char *type = ts_node_is_null(node) ? "" : ts_node_type(node);
    return strstr(type, "string") != NULL || strstr(type, "comment") != NULL ||
           strstr(type, "heredoc") != NULL || strstr(type, "regex") != NULL ||
           strcmp(type, "jsx_text") == 0;
}

/* Returns true for symbols that people see, and that no name of a language may have. */
static bool is_symbol(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = { { 0x00A9, 0x00A9 }, { 0x00AE, 0x00AE }, { 0x203C, 0x203C },  { 0x2049, 0x2049 },
                   { 0x2122, 0x2122 }, { 0x2139, 0x2139 }, { 0x2190, 0x21FF },  { 0x2300, 0x27BF },
                   { 0x2934, 0x2935 }, { 0x2B00, 0x2BFF }, { 0x3030, 0x3030 },  { 0x303D, 0x303D },
                   { 0x3297, 0x3297 }, { 0x3299, 0x3299 }, { 0x1F000, 0x1FAFF } };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (c >= ranges[i].first && c <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/* A character, and the two before it. */
struct characters {
    uint32_t code, before, earlier;
};

/* Returns true for the characters that are a part of an emoji (UTS #51): a selector of its form
 * behind a symbol or before a keycap, or a joiner behind either. */
static bool is_of_emoji(const struct characters *at, struct cbx_str rest)
{
    enum { TEXT_FORM = 0xFE0E, EMOJI_FORM = 0xFE0F, JOINER = 0x200D };
    bool digit = at->before < 0x80 && at->before != 0 && strchr("#*0123456789", (int)at->before);
    if (at->code == TEXT_FORM || at->code == EMOJI_FORM) {
        return is_symbol(at->before) || (digit && cbx_str_starts(rest, CBX_STR("\u20E3")));
    }
    return at->code == JOINER &&
           (is_symbol(at->before) || (at->before == EMOJI_FORM && is_symbol(at->earlier)));
}

static void note_invisible(TSTree *tree, struct cbx_str text, struct cbx_facts *facts)
{
    int found = 0;
    struct characters at = { 0 };
    for (size_t i = 0; i + 1 < text.len && found < SYNTAX_MAX; i++) {
        unsigned char c = (unsigned char)text.p[i];
        at = (struct characters){ c, at.code, at.before };
        if (c < 0xC2) {
            continue;
        }
        size_t len = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        uint32_t code = len == 2 ? c & 0x1Fu : len == 3 ? c & 0x0Fu : c & 0x07u;
        for (size_t k = 1; k < len && i + k < text.len; k++) {
            code = code << 6 | ((unsigned char)text.p[i + k] & 0x3F);
        }
        at.code = code;
        if (is_invisible(code) && !is_of_emoji(&at, cbx_str_sub(text, i + len, text.len)) &&
            !is_in_text(ts_tree_root_node(tree), (uint32_t)i)) {
            cbx_facts_add_note(facts, CBX_FACT_BIDI, cbx_arena_note(facts->arena, "U+%04X", code),
                               (uint32_t)i, (uint32_t)(i + len));
            found++;
        }
        i += len - 1;
    }
}

bool cbx_ranges_have(const struct cbx_ranges *ranges, uint32_t place)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->items[middle].end <= place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < ranges->count && ranges->items[low].start <= place;
}

/* --- the way of one text ---------------------------------------------------------------------- */

enum { DEFAULT_BUDGET_MS = 5000 };

int64_t cbx_parse_deadline(uint32_t budget_ms)
{
    return cbx_clock_ms() + (budget_ms > 0 ? budget_ms : DEFAULT_BUDGET_MS);
}

/* Maps places in rewritten notebook text to places in the cell. Facts of code in code have the
 * place of the outer code, which is mapped already. */
static void map_places(const struct cbx_parsed *parsed, size_t from)
{
    struct cbx_facts *facts = parsed->facts;
    for (size_t i = from; parsed->magic_count > 0 && facts->base_end == 0 && i < facts->count;
         i++) {
        facts->items[i].start =
            cbx_notebook_place(parsed->magics, parsed->magic_count, facts->items[i].start);
        facts->items[i].end =
            cbx_notebook_place(parsed->magics, parsed->magic_count, facts->items[i].end);
    }
}

void cbx_parse_text(const struct cbx_parsed *parent, const struct cbx_lang *lang,
                    struct cbx_str text, TSTree **tree_out)
{
    struct cbx_parsed parsed = *parent;
    parsed.walk = NULL;
    parsed.lang = lang;
    parsed.text = text;
    enum cbx_language outer = parsed.facts->language;
    parsed.facts->language = lang->policy;
    parsed.tree = parse_language(&parsed);
    if (parsed.tree == NULL) {
        cbx_facts_add_special(parsed.facts, CBX_FACT_TOO_COMPLEX, CBX_STR("time"), 0, 1);
    } else {
        size_t before = parsed.facts->count;
        if (!lang->code->reads) {
            cbx_parse_errors(&parsed, parsed.tree, parsed.facts);
        }
        note_invisible(parsed.tree, text, parsed.facts);
        lang->code->extract(&parsed);
        if (!parsed.names_only) {
            map_places(&parsed, before);
        }
    }
    if (!parsed.names_only && cbx_lang_is_notebook(lang)) {
        lang->code->judge_lines(&parsed);
    }
    if (parsed.depth == 0) {
        struct cbx_written written;
        cbx_written_read(parsed.facts, &written);
        cbx_written_imports(&written, parsed.facts);
    }
    parsed.facts->language = outer;
    if (tree_out != NULL) {
        *tree_out = parsed.tree;
    } else if (parsed.tree != NULL) {
        cbx_tree_delete(parsed.tree);
    }
}

/* Judges code in code that is rewritten already. */
static void parse_rewritten(const struct cbx_parsed *parent, const struct cbx_lang *lang,
                            const struct cbx_notebook *notebook, uint32_t start, uint32_t end)
{
    struct cbx_facts *facts = parent->facts;
    if (parent->depth >= CBX_CODE_DEPTH_MAX) {
        cbx_facts_add_special(facts, CBX_FACT_TOO_COMPLEX, CBX_STR("code in code"), start, end);
        return;
    }
    struct cbx_parsed inner = *parent;
    inner.walk = NULL;
    inner.functions = NULL;
    inner.recall = NULL;
    inner.summary = NULL;
    inner.files = (struct cbx_ranges){ 0 };
    inner.depth++;
    inner.magics = notebook->magics;
    inner.magic_count = notebook->magic_count;
    uint32_t base = facts->base, base_end = facts->base_end;
    if (base_end == 0) {
        facts->base = base + start;
        facts->base_end = base + (end > start ? end : start + 1);
    }
    cbx_parse_text(&inner, lang, notebook->text, NULL);
    facts->base = base;
    facts->base_end = base_end;
}

void cbx_parse_inner(const struct cbx_parsed *parent, const char *language, struct cbx_str text,
                     uint32_t start, uint32_t end)
{
    const struct cbx_lang *lang = cbx_lang_find(cbx_str_of(language));
    if (text.len == 0 || lang == NULL) {
        return;
    }
    struct cbx_notebook notebook = { .text = text };
    if (cbx_lang_is_notebook(lang) && cbx_notebook_rewrite(text, parent->arena, &notebook) != 0) {
        cbx_facts_add_special(parent->facts, CBX_FACT_TOO_COMPLEX, CBX_STR("notebook syntax"),
                              start, end);
    }
    parse_rewritten(parent, lang, &notebook, start, end);
}

void cbx_parse_cell(const struct cbx_parsed *parent, const struct cbx_notebook *cell,
                    uint32_t start, uint32_t end)
{
    if (cell->text.len > 0) {
        parse_rewritten(parent, cbx_lang_of_notebooks(), cell, start, end);
    }
}

void cbx_parse_shell_line(const struct cbx_parsed *parent, struct cbx_str text, uint32_t start,
                          uint32_t end)
{
    cbx_parse_inner(parent, "shell", text, start, end);
}
