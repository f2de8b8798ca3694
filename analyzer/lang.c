/* SPDX-License-Identifier: MIT
 * The languages, and the way of a text from bytes to facts: parse, note what cannot be read,
 * extract. */
#include "analyzer/lang.h"

#include "analyzer/notebook.h"
#include "analyzer/packages/install.h"
#include "analyzer/tree_memory.h"
#include "analyzer/value.h"
#include "analyzer/written.h"
#include "policies/base/clock.h"

#include <pthread.h>
#include <stdio.h>

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_bash(void);
const TSLanguage *tree_sitter_typescript(void);
const TSLanguage *tree_sitter_c(void);

static const char *const python_endings[] = { ".py", ".pyw", NULL };
static const char *const notebook_endings[] = { ".ipy", NULL };
static const char *const javascript_endings[] = { ".js", ".mjs", ".cjs", NULL };
static const char *const shell_endings[] = { ".sh", ".bash", NULL };
static const char *const typescript_endings[] = { ".ts", ".mts", ".cts", NULL };
static const char *const c_endings[] = { ".c", ".h", NULL };

static const struct cbx_lang languages[] = {
    { "python", CBX_PYTHON, python_endings, tree_sitter_python, cbx_extract_python,
      .cookie = true },
    { "ipython", CBX_PYTHON, notebook_endings, tree_sitter_python, cbx_extract_python,
      .notebook = true, .cookie = true },
    { "javascript", CBX_JAVASCRIPT, javascript_endings, tree_sitter_javascript,
      cbx_extract_javascript, .notebook = false },
    { "shell", CBX_SHELL, shell_endings, tree_sitter_bash, cbx_extract_shell, .notebook = false },
    { "typescript", CBX_TYPESCRIPT, typescript_endings, tree_sitter_typescript,
      cbx_extract_javascript, .notebook = false },
    { "c", CBX_C, c_endings, tree_sitter_c, cbx_extract_c, .reads = true },
};
enum { LANGUAGES = sizeof(languages) / sizeof(languages[0]) };

const struct cbx_lang *cbx_lang_at(size_t index)
{
    return index < LANGUAGES ? &languages[index] : NULL;
}

const struct cbx_lang *cbx_lang_find(struct cbx_str name)
{
    static const struct {
        const char *said, *meant;
    } others[] = { { "bash", "shell" },
                   { "sh", "shell" },
                   { "ts", "typescript" },
                   { "js", "javascript" },
                   { "py", "python" } };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        name = cbx_str_is(name, others[i].said) ? cbx_str_of(others[i].meant) : name;
    }
    for (size_t i = 0; i < LANGUAGES; i++) {
        if (cbx_str_is(name, languages[i].name)) {
            return &languages[i];
        }
    }
    return NULL;
}

const TSLanguage *cbx_lang_grammar(enum cbx_language language)
{
    size_t i = 0;
    while (i + 1 < LANGUAGES && languages[i].policy != language) {
        i++;
    }
    return languages[i].grammar();
}

const struct cbx_lang *cbx_lang_of_file(const char *path)
{
    for (size_t i = 0; i < LANGUAGES; i++) {
        for (const char *const *e = languages[i].endings; *e != NULL; e++) {
            if (cbx_str_ends(cbx_str_of(path), cbx_str_of(*e))) {
                return &languages[i];
            }
        }
    }
    return NULL;
}

static char names[128];
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static void join_names(void)
{
    size_t used = 0;
    for (size_t i = 0; i < LANGUAGES && used < sizeof(names); i++) {
        int n = snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
                         languages[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
}

const char *cbx_lang_names(void)
{
    pthread_once(&names_once, join_names);
    return names;
}

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

enum { SYNTAX_MAX = 20 };

/* Walks only where tree-sitter says that something is wrong. */
void cbx_parse_errors(TSTree *tree, struct cbx_facts *facts)
{
    TSNode root = ts_tree_root_node(tree);
    if (!ts_node_has_error(root)) {
        return;
    }
    int found = 0, depth = 0;
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    for (;;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        bool bad = ts_node_is_error(node) || ts_node_is_missing(node);
        if (bad && found++ < SYNTAX_MAX) {
            struct cbx_str what =
                ts_node_is_missing(node)
                    ? cbx_arena_printf(facts->arena, "missing %s", ts_node_type(node))
                    : CBX_STR("syntax error");
            cbx_facts_add_special(facts, CBX_FACT_SYNTAX, what, ts_node_start_byte(node),
                                  ts_node_end_byte(node));
        }
        if (found >= SYNTAX_MAX) {
            break;
        }
        if (!bad && ts_node_has_error(node) && depth < 100000 &&
            ts_tree_cursor_goto_first_child(&cursor)) {
            depth++;
            continue;
        }
        bool more;
        while (!(more = ts_tree_cursor_goto_next_sibling(&cursor)) && depth > 0 &&
               ts_tree_cursor_goto_parent(&cursor)) {
            depth--;
        }
        if (!more) {
            break;
        }
    }
    ts_tree_cursor_delete(&cursor);
    if (found == 0) {
        cbx_facts_add_special(facts, CBX_FACT_SYNTAX, CBX_STR("syntax error"), 0, 1);
    }
}

/* --- characters that are not seen ------------------------------------------------------------- */

/* Bidirectional controls, zero-width and filler characters: a reader sees other code than runs
 * (CVE-2021-42574, "invisible backdoor"). Several of them are letters to Unicode. */
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

/* In a string, a comment or a here-document they are text. */
static bool is_in_text(TSNode root, uint32_t byte)
{
    TSNode node = ts_node_descendant_for_byte_range(root, byte, byte + 1);
    const char *type = ts_node_is_null(node) ? "" : ts_node_type(node);
    return strstr(type, "string") != NULL || strstr(type, "comment") != NULL ||
           strstr(type, "heredoc") != NULL || strstr(type, "regex") != NULL;
}

static void note_invisible(TSTree *tree, struct cbx_str text, struct cbx_facts *facts)
{
    int found = 0;
    for (size_t i = 0; i + 1 < text.len && found < SYNTAX_MAX; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c < 0xC2) {
            continue;
        }
        size_t len = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        uint32_t code = len == 2 ? c & 0x1Fu : len == 3 ? c & 0x0Fu : c & 0x07u;
        for (size_t k = 1; k < len && i + k < text.len; k++) {
            code = code << 6 | ((unsigned char)text.p[i + k] & 0x3F);
        }
        if (is_invisible(code) && !is_in_text(ts_tree_root_node(tree), (uint32_t)i)) {
            cbx_facts_add_special(facts, CBX_FACT_BIDI,
                                  cbx_arena_printf(facts->arena, "U+%04X", code), (uint32_t)i,
                                  (uint32_t)(i + len));
            found++;
        }
        i += len - 1;
    }
}

/* --- notebook pieces -------------------------------------------------------------------------- */

enum magic_text {
    MAGIC_HARMLESS,
    MAGIC_SHELL,
    MAGIC_PIP,
    MAGIC_CONDA,
    MAGIC_PYTHON,
    MAGIC_BODY,
    MAGIC_COMMAND,
    MAGIC_WRITE,
    MAGIC_ASSIGN,
    MAGIC_CHDIR,
    MAGIC_IMPORT,
    MAGIC_CHOSEN,
    MAGIC_UNKNOWN
};

static enum magic_text magic_text(struct cbx_str name)
{
    static const struct {
        const char *name;
        enum magic_text text;
    } magics[] = {
#define CBX_MAGIC(name, text) { name, MAGIC_##text },
#include "analyzer/magics.def"
    };
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        if (cbx_str_is(name, magics[i].name)) {
            return magics[i].text;
        }
    }
    return MAGIC_UNKNOWN;
}

/* Is it one of the arguments with which this magic is harmless, or does it begin like one that ends
 * in '.'? */
static bool is_chosen(struct cbx_str name, struct cbx_str argument)
{
    static const struct {
        const char *name, *argument;
    } rows[] = {
#define CBX_MAGIC_ARGUMENT(name, argument) { name, argument },
#include "analyzer/magics.def"
    };
    argument = cbx_fold_trim(argument);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cbx_str row = cbx_str_of(rows[i].argument);
        bool open = cbx_str_ends(row, CBX_STR("."));
        if (cbx_str_is(name, rows[i].name) &&
            (open ? cbx_str_starts(argument, row) : cbx_str_equal(argument, row))) {
            return true;
        }
    }
    return false;
}

/* %env NAME=value, %env NAME value: an assignment of the shell. %env NAME shows it. */
static void judge_assignment(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    struct cbx_str rest = cbx_fold_trim(m->rest);
    size_t end = rest.len > 0 ? strcspn(rest.p, "= \n") : 0;
    if (rest.p != NULL && end < rest.len) {
        struct cbx_str line =
            cbx_arena_printf(parsed->arena, "%.*s=x", (int)(end < 200 ? end : 200), rest.p);
        cbx_parse_shell_line(parsed, line, m->start, m->end);
    }
}

/* %load_ext module: an import, whose code may add magics; those are not on any list. */
static void judge_import(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    struct cbx_str module = cbx_fold_trim(m->rest);
    bool plain = module.len > 0;
    for (size_t i = 0; i < module.len; i++) {
        char c = module.p[i];
        plain &=
            c == '_' || c == '.' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    }
    if (!plain) {
        cbx_facts_add_special(parsed->facts, CBX_FACT_MAGIC_NOT_LISTED, m->name, m->start, m->end);
        return;
    }
    struct cbx_fact *fact = cbx_facts_add(parsed->facts, CBX_IS_IMPORT, module, m->start, m->end);
    if (fact != NULL) {
        fact->language = CBX_PYTHON;
    }
}

/* %cd path: a call of os.chdir(path). */
static void judge_chdir(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    struct cbx_arg *arg = cbx_arena_array(parsed->arena, 1, sizeof(*arg));
    struct cbx_str path = cbx_fold_trim(cbx_fill_in(parsed, m->rest));
    struct cbx_fact *fact =
        cbx_facts_add(parsed->facts, CBX_IS_CALL, CBX_STR("os.chdir"), m->start, m->end);
    if (fact != NULL && arg != NULL && path.p != NULL) {
        *arg = (struct cbx_arg){ .known = true, .constant = true, .value = path };
        fact->args = arg;
        fact->arg_count = 1;
        fact->language = CBX_PYTHON;
    }
}

/* %%writefile path: a call of open(path, 'w'). What is written as a program is read as one: it will
 * be run or imported; requirements are: they will be installed. */
static void judge_write(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    struct cbx_str path = cbx_fold_trim(m->rest);
    bool appends = cbx_str_starts(path, CBX_STR("-a "));
    path = appends ? cbx_fold_trim(cbx_str_sub(path, 3, path.len)) : path;
    struct cbx_arg *args = cbx_arena_array(parsed->arena, 2, sizeof(*args));
    struct cbx_fact *fact =
        cbx_facts_add(parsed->facts, CBX_IS_CALL, CBX_STR("open"), m->start, m->end);
    if (fact == NULL || args == NULL || path.p == NULL) {
        cbx_facts_add_special(parsed->facts, CBX_FACT_MAGIC_NOT_LISTED, m->name, m->start, m->end);
        return;
    }
    args[0] = (struct cbx_arg){ .known = true, .constant = true, .value = path };
    args[1] =
        (struct cbx_arg){ .position = 1, .known = true, .constant = true, .value = CBX_STR("w") };
    fact->args = args;
    fact->arg_count = 2;
    cbx_facts_add(parsed->facts, CBX_IS_LITERAL, path, m->start, m->end);
    struct cbx_str name = cbx_arena_copy(parsed->arena, path);
    const struct cbx_lang *lang = name.p != NULL ? cbx_lang_of_file(name.p) : NULL;
    if (lang != NULL) {
        cbx_parse_inner(parsed, lang->name, m->body, m->start, m->end);
    } else if (cbx_packages_is_file(path)) {
        cbx_packages_read_file(parsed, m->body, m->start, m->end);
    }
}

/* Options of %timeit stand before its code: -n 10 -r 3. */
static struct cbx_str skip_options(struct cbx_str line)
{
    while (line.len > 1 && line.p[0] == '-') {
        size_t n = strcspn(line.p, " \n");
        line = cbx_str_sub(line, n < line.len ? n + 1 : line.len, line.len);
        size_t digits = strspn(line.p, "0123456789");
        line = cbx_str_sub(line, digits < line.len && digits > 0 ? digits + 1 : 0, line.len);
    }
    return line;
}

uint32_t cbx_magic_code(const struct cbx_magic *m, struct cbx_str out[CBX_MAGIC_CODES])
{
    enum magic_text text = m->kind == CBX_MAGIC_LINE || m->kind == CBX_MAGIC_CELL
                               ? magic_text(m->name)
                               : MAGIC_UNKNOWN;
    uint32_t count = 0;
    if (text == MAGIC_PYTHON && m->rest.len > 0) {
        out[count++] = skip_options(m->rest);
    }
    if ((text == MAGIC_PYTHON || text == MAGIC_BODY) && m->body.len > 0) {
        out[count++] = m->body;
    }
    return count;
}

static void judge_magic(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    struct cbx_str line, codes[CBX_MAGIC_CODES];
    if (m->kind == CBX_MAGIC_SHELL) {
        cbx_parse_shell_line(parsed, cbx_fill_in(parsed, m->body), m->start, m->end);
        return;
    }
    switch (magic_text(m->name)) {
    case MAGIC_HARMLESS:
        return;
    case MAGIC_SHELL:
        if (m->rest.len > 0 && !(m->kind == CBX_MAGIC_CELL && !cbx_str_is(m->name, "script"))) {
            cbx_parse_shell_line(parsed, cbx_fill_in(parsed, m->rest), m->start, m->end);
        }
        if (m->kind == CBX_MAGIC_CELL) {
            cbx_parse_shell_line(parsed, m->body, m->start, m->end);
        }
        return;
    case MAGIC_PIP:
    case MAGIC_CONDA:
        line = cbx_arena_printf(parsed->arena, "%s %.*s",
                                magic_text(m->name) == MAGIC_PIP ? "pip" : "conda",
                                (int)m->rest.len, m->rest.p);
        cbx_parse_shell_line(parsed, cbx_fill_in(parsed, line), m->start, m->end);
        return;
    case MAGIC_PYTHON:
    case MAGIC_BODY:
        for (uint32_t c = 0, count = cbx_magic_code(m, codes); c < count; c++) {
            cbx_parse_inner(parsed, "ipython", codes[c], m->start, m->end);
        }
        return;
    case MAGIC_COMMAND:
        line = cbx_arena_printf(parsed->arena, "%.*s %.*s", (int)m->name.len, m->name.p,
                                (int)m->rest.len, m->rest.p != NULL ? m->rest.p : "");
        cbx_parse_shell_line(parsed, cbx_fill_in(parsed, line), m->start, m->end);
        return;
    case MAGIC_ASSIGN:
        judge_assignment(parsed, m);
        return;
    case MAGIC_CHDIR:
        judge_chdir(parsed, m);
        return;
    case MAGIC_IMPORT:
        judge_import(parsed, m);
        return;
    case MAGIC_WRITE:
        judge_write(parsed, m);
        return;
    case MAGIC_CHOSEN:
        if (is_chosen(m->name, m->rest)) {
            return;
        }
        break;
    case MAGIC_UNKNOWN:
        break;
    }
    cbx_facts_add_special(parsed->facts, CBX_FACT_MAGIC_NOT_LISTED, m->name, m->start, m->end);
}

/* Places in rewritten notebook text to places in the cell. Code in code stands at one place, which
 * is none of these. */
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

/* --- the way of one text ---------------------------------------------------------------------- */

void cbx_parse_text(const struct cbx_parsed *parent, const struct cbx_lang *lang,
                    struct cbx_str text, TSTree **tree_out)
{
    struct cbx_parsed parsed = *parent;
    parsed.walk = NULL;
    parsed.lang = lang;
    parsed.text = text;
    enum cbx_language outer = parsed.facts->language;
    parsed.facts->language = lang->policy;
    parsed.tree = cbx_parse_tree(lang->grammar(), text, parsed.deadline_ms);
    if (parsed.tree == NULL) {
        cbx_facts_add_special(parsed.facts, CBX_FACT_TOO_COMPLEX, CBX_STR("time"), 0, 1);
    } else {
        size_t before = parsed.facts->count;
        if (!lang->reads) {
            cbx_parse_errors(parsed.tree, parsed.facts);
        }
        note_invisible(parsed.tree, text, parsed.facts);
        lang->extract(&parsed);
        if (!parsed.names_only) {
            map_places(&parsed, before);
        }
    }
    for (size_t i = 0; !parsed.names_only && i < parsed.magic_count; i++) {
        struct cbx_parsed inner = parsed;
        inner.magics = NULL;
        inner.magic_count = 0;
        judge_magic(&inner, &parsed.magics[i]);
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

void cbx_parse_inner(const struct cbx_parsed *parent, const char *language, struct cbx_str text,
                     uint32_t start, uint32_t end)
{
    struct cbx_facts *facts = parent->facts;
    const struct cbx_lang *lang = cbx_lang_find(cbx_str_of(language));
    if (text.len == 0 || lang == NULL) {
        return;
    }
    if (parent->depth >= CBX_CODE_DEPTH_MAX) {
        cbx_facts_add_special(facts, CBX_FACT_TOO_COMPLEX, CBX_STR("code in code"), start, end);
        return;
    }
    struct cbx_parsed inner = *parent;
    inner.walk = NULL;
    inner.depth++;
    inner.magics = NULL;
    inner.magic_count = 0;
    uint32_t base = facts->base, base_end = facts->base_end;
    if (base_end == 0) {
        facts->base = base + start;
        facts->base_end = base + (end > start ? end : start + 1);
    }
    struct cbx_notebook notebook = { .text = text };
    if (lang->notebook && cbx_notebook_rewrite(text, parent->arena, &notebook) != 0) {
        cbx_facts_add_special(facts, CBX_FACT_TOO_COMPLEX, CBX_STR("notebook syntax"), start, end);
    }
    inner.magics = notebook.magics;
    inner.magic_count = notebook.magic_count;
    cbx_parse_text(&inner, lang, notebook.text, NULL);
    facts->base = base;
    facts->base_end = base_end;
}

void cbx_parse_shell_line(const struct cbx_parsed *parent, struct cbx_str text, uint32_t start,
                          uint32_t end)
{
    cbx_parse_inner(parent, "shell", text, start, end);
}
