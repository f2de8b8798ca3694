/* SPDX-License-Identifier: MIT
 * Judges the code that hints name by the policy of the denial. */
#include "analyzer/hints/hints_internal.h"

enum { JUDGE_MS = 500, JUDGE_BYTES = 64 * 1024 * 1024 };

bool cbx_hints_allow(const struct cbx_hints *h, struct cbx_str language, struct cbx_str code)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, JUDGE_BYTES);
    struct cbx_analysis request = { .source = code,
                                    .language = language,
                                    .principal = h->request->principal,
                                    .now = h->request->now,
                                    .budget_ms = JUDGE_MS,
                                    .no_hints = true };
    struct cbx_decision decision = { 0 };
    return cbx_analyze(h->policy, &request, &arena, &decision, NULL) == 0 &&
           decision.verdict == CBX_ALLOW;
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

size_t cbx_hints_name_end(struct cbx_str text, size_t from)
{
    while (from < text.len && is_name_byte(text.p[from])) {
        from++;
    }
    return from;
}

/* A row of hints.def for a language also holds for its dialects. */
bool cbx_hints_holds(const struct cbx_hints *h, enum cbx_language language)
{
    return (cbx_language_likes(language) >> h->facts->source & 1) != 0;
}

const struct cbx_hint_piece *cbx_hints_piece(const struct cbx_hints *h)
{
    static const struct cbx_hint_piece pieces[] = {
#define CBX_HINT_PIECE(language, before, after, modules, none)                                     \
    { CBX_##language, before, after, modules, none },
#include "analyzer/hints/hints.def"
    };
    static const struct cbx_hint_piece other = { 0, "", "", "", "" };
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        if (cbx_hints_holds(h, pieces[i].language)) {
            return &pieces[i];
        }
    }
    return &other;
}

void cbx_hints_add_import(const struct cbx_hints *h, struct cbx_str line, struct cbx_str module,
                          struct cbx_buf *out)
{
    static const struct {
        enum cbx_language language;
        const char *mark, *first, *between, *end;
    } imports[] = {
#define CBX_HINT_IMPORT(language, mark, first, between, end)                                       \
    { CBX_##language, mark, first, between, end },
#include "analyzer/hints/hints.def"
    };
    for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++) {
        const char *mark = imports[i].mark;
        if (cbx_hints_holds(h, imports[i].language) &&
            (mark[0] == '\0' || memmem(line.p, line.len, mark, strlen(mark)) != NULL)) {
            cbx_buf_add_cstr(out, imports[i].first);
            cbx_buf_add(out, module);
            cbx_buf_add_cstr(out, imports[i].between != NULL ? imports[i].between : "");
            cbx_buf_add(out, imports[i].between != NULL ? module : CBX_STR(""));
            cbx_buf_add_cstr(out, imports[i].end);
            return;
        }
    }
}

/* Returns true if the name before a dot is a module in a piece of code. */
static bool is_module(const struct cbx_hint_piece *piece, struct cbx_str name)
{
    struct cbx_str names = cbx_str_of(piece->modules);
    bool found = cbx_str_is(names, "*");
    for (size_t from = 0; from < names.len && !found;) {
        size_t to = cbx_hints_name_end(names, from);
        found = cbx_str_equal(cbx_str_sub(names, from, to), name);
        from = to + 1;
    }
    return found;
}

/* Imports each NAME before a dot, so that json.dump is read as the function of the module. */
static void add_imports(const struct cbx_hints *h, struct cbx_str code, struct cbx_buf *out)
{
    const struct cbx_hint_piece *piece = cbx_hints_piece(h);
    for (size_t i = 0; i < code.len; i++) {
        size_t end = cbx_hints_name_end(code, i);
        bool first = i == 0 || code.p[i - 1] != '.';
        if (end > i && first && end + 1 < code.len && code.p[end] == '.' &&
            is_name_byte(code.p[end + 1]) && (code.p[i] < '0' || code.p[i] > '9') &&
            is_module(piece, cbx_str_sub(code, i, end))) {
            cbx_hints_add_import(h, CBX_STR("require("), cbx_str_sub(code, i, end), out);
            cbx_buf_add_char(out, '\n');
        }
        i = end > i ? end : i;
    }
}

/* Makes a program of the request's language from a piece of code. */
bool cbx_hints_allow_piece(const struct cbx_hints *h, struct cbx_str code)
{
    const struct cbx_hint_piece *piece = cbx_hints_piece(h);
    CBX_AUTO_DONE(buf) program;
    cbx_buf_init(&program, 8 * CBX_HINT_BYTES);
    add_imports(h, code, &program);
    cbx_buf_add_cstr(&program, piece->before);
    cbx_buf_add(&program, code);
    cbx_buf_add_cstr(&program, piece->after);
    return cbx_hints_allow(h, h->request->language, cbx_buf_str(&program));
}

/* Returns true if the code that begins at `at` is the code to replace. */
static bool is_replaced(struct cbx_str hint, size_t at)
{
    struct cbx_str before = cbx_str_sub(hint, 0, at);
    return cbx_str_ends(before, CBX_STR("nstead of ")) || cbx_str_ends(before, CBX_STR("emove "));
}

static bool is_clause_allowed(const struct cbx_hints *h, struct cbx_str clause)
{
    for (size_t i = 0; i < clause.len; i++) {
        const char *end =
            clause.p[i] == '`' ? memchr(clause.p + i + 1, '`', clause.len - i - 1) : NULL;
        if (end == NULL) {
            continue;
        }
        size_t to = (size_t)(end - clause.p);
        if (!is_replaced(clause, i) && !cbx_hints_allow_piece(h, cbx_str_sub(clause, i + 1, to))) {
            return false;
        }
        i = to;
    }
    return true;
}

size_t cbx_hints_clause_end(struct cbx_str hint, size_t from)
{
    bool code = false;
    for (size_t i = from; i + 1 < hint.len; i++) {
        code ^= hint.p[i] == '`';
        if (!code && hint.p[i] == ';' && hint.p[i + 1] == ' ') {
            return i;
        }
    }
    return hint.len;
}

struct cbx_str cbx_hints_allowed(const struct cbx_hints *h, struct cbx_str hint)
{
    if (hint.len == 0 || memchr(hint.p, '`', hint.len) == NULL) {
        return hint;
    }
    CBX_AUTO_DONE(buf) kept;
    cbx_buf_init(&kept, 4 * CBX_HINT_BYTES);
    for (size_t from = 0; from < hint.len;) {
        size_t end = cbx_hints_clause_end(hint, from);
        struct cbx_str clause = cbx_str_sub(hint, from, end);
        if (is_clause_allowed(h, clause)) {
            cbx_buf_add_cstr(&kept, kept.len > 0 ? "; " : "");
            cbx_buf_add(&kept, clause);
        }
        from = end + 2;
    }
    return cbx_arena_copy(h->arena, cbx_buf_str(&kept));
}
