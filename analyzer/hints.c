/* SPDX-License-Identifier: MIT
 * Chooses hints. The order for a finding: the commands that it starts, constant code in its
 * arguments, paths, rows of the table, the rule's own hint. */
#include "analyzer/hints.h"

#include "analyzer/syntax_error.h"
#include "policies/index.h"
#include "policies/language.h"

enum {
    HINTED_MAX = 16, /* findings; the text of a denial has room for fewer */
    CLAUSES_MAX = 4, /* of calls in one finding */
    CODE_BYTES = 160,
    HINT_BYTES = 1024,
    JUDGE_MS = 500,
    JUDGE_BYTES = 64 * 1024 * 1024,
};

#define CBX_HINT_COMMAND(...)
#define CBX_HINT_START(...)
#define CBX_HINT_CODE(...)
#define CBX_HINT_MODULE(...)
static const struct cbx_hint_row rows[] = {
#define CBX_HINT(language, symbol, hint, example) { CBX_##language, symbol, hint, example },
#include "analyzer/hints.def"
};
#undef CBX_HINT
#undef CBX_HINT_COMMAND

#define CBX_HINT(...)
static const struct command {
    enum cbx_language language;
    const char *command, *module, *write;
} commands[] = {
#define CBX_HINT_COMMAND(language, command, module, write)                                         \
    { CBX_##language, command, module, write },
#include "analyzer/hints.def"
};
#undef CBX_HINT_COMMAND
#undef CBX_HINT_START
#undef CBX_HINT_CODE
#undef CBX_HINT_MODULE

enum role { STARTS = 1, RUNS_CODE, IMPORTS };
static const struct role_row {
    enum cbx_language language;
    enum role role;
    const char *symbol;
} roles[] = {
#define CBX_HINT_COMMAND(...)
#define CBX_HINT_START(language, symbol)  { CBX_##language, STARTS, symbol },
#define CBX_HINT_CODE(language, symbol)   { CBX_##language, RUNS_CODE, symbol },
#define CBX_HINT_MODULE(language, symbol) { CBX_##language, IMPORTS, symbol },
#include "analyzer/hints.def"
};
#undef CBX_HINT
#undef CBX_HINT_COMMAND
#undef CBX_HINT_START
#undef CBX_HINT_CODE
#undef CBX_HINT_MODULE

bool cbx_hints_row(size_t index, struct cbx_hint_row *out)
{
    if (index >= sizeof(rows) / sizeof(rows[0])) {
        return false;
    }
    *out = rows[index];
    return true;
}

/* --- judging ---------------------------------------------------------------------------------- */

static bool is_allowed(const struct cbx_hints *h, struct cbx_str language, struct cbx_str code)
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

static size_t name_end(struct cbx_str text, size_t from)
{
    while (from < text.len && is_name_byte(text.p[from])) {
        from++;
    }
    return from;
}

static void add_import_of(enum cbx_language language, struct cbx_str name, struct cbx_buf *out)
{
    if (language == CBX_PYTHON) {
        cbx_buf_printf(out, "import %.*s\n", CBX_STR_ARG(name));
    } else if (cbx_str_is(name, "fs") || cbx_str_is(name, "os")) {
        cbx_buf_printf(out, "const %.*s = require(\"%.*s\");\n", CBX_STR_ARG(name),
                       CBX_STR_ARG(name));
    }
}

/* Imports each NAME before a dot, so that json.dump is read as the function of the module. */
static void add_imports(enum cbx_language language, struct cbx_str code, struct cbx_buf *out)
{
    for (size_t i = 0; i < code.len; i++) {
        size_t end = name_end(code, i);
        bool first = i == 0 || code.p[i - 1] != '.';
        if (end > i && first && end + 1 < code.len && code.p[end] == '.' &&
            is_name_byte(code.p[end + 1]) && (code.p[i] < '0' || code.p[i] > '9')) {
            add_import_of(language, cbx_str_sub(code, i, end), out);
        }
        i = end > i ? end : i;
    }
}

/* A piece of code as a program of the request's language. */
static bool is_allowed_piece(const struct cbx_hints *h, struct cbx_str code)
{
    CBX_AUTO_DONE(buf) program;
    cbx_buf_init(&program, 8 * HINT_BYTES);
    if (h->facts->source != CBX_C && h->facts->source != CBX_SHELL) {
        add_imports(h->facts->source, code, &program);
    }
    cbx_buf_add_cstr(&program, h->facts->source == CBX_C ? "void f(void) { " : "");
    cbx_buf_add(&program, code);
    cbx_buf_add_cstr(&program, h->facts->source == CBX_C ? "; }" : "");
    return is_allowed(h, h->request->language, cbx_buf_str(&program));
}

/* True when the code that begins at `at` is what is replaced. */
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
        if (!is_replaced(clause, i) && !is_allowed_piece(h, cbx_str_sub(clause, i + 1, to))) {
            return false;
        }
        i = to;
    }
    return true;
}

/* The end of the clause that begins at `from`: a "; " outside backquotes, or the end. */
static size_t clause_end(struct cbx_str hint, size_t from)
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
    cbx_buf_init(&kept, 4 * HINT_BYTES);
    for (size_t from = 0; from < hint.len;) {
        size_t end = clause_end(hint, from);
        struct cbx_str clause = cbx_str_sub(hint, from, end);
        if (is_clause_allowed(h, clause)) {
            cbx_buf_add_cstr(&kept, kept.len > 0 ? "; " : "");
            cbx_buf_add(&kept, clause);
        }
        from = end + 2;
    }
    return cbx_arena_copy(h->arena, cbx_buf_str(&kept));
}

/* --- facts and source ------------------------------------------------------------------------- */

static struct cbx_str slice(const struct cbx_hints *h, uint32_t from, uint32_t to)
{
    return cbx_str_sub(h->text, from, to);
}

static bool is_one_line(struct cbx_str code)
{
    return code.len > 0 && code.len <= CODE_BYTES && memchr(code.p, '\n', code.len) == NULL &&
           memchr(code.p, '`', code.len) == NULL;
}

/* The calls that a finding is about: at its place, or in the module that it imports. */
static bool is_about(const struct cbx_finding *f, const struct cbx_fact *call)
{
    return call->kind == CBX_IS_CALL &&
           (call->start == f->span.start_byte || cbx_name_is_within(call->name, f->symbol));
}

static bool has_role(const struct cbx_hints *h, const struct cbx_fact *call, enum role role)
{
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (roles[i].role == role && roles[i].language == h->facts->source &&
            cbx_str_glob(cbx_str_of(roles[i].symbol), call->name)) {
            return true;
        }
    }
    return false;
}

static const struct cbx_arg *constant_of(const struct cbx_fact *call, uint32_t position)
{
    for (uint32_t i = 0; i < call->arg_count; i++) {
        const struct cbx_arg *arg = &call->args[i];
        if (arg->keyword.len == 0 && arg->position == position && arg->known && arg->constant) {
            return arg;
        }
    }
    return NULL;
}

static void add_clause(struct cbx_buf *out, struct cbx_str old, struct cbx_str new)
{
    cbx_buf_add_cstr(out, out->len > 0 ? "; instead of `" : "instead of `");
    cbx_buf_add(out, old);
    cbx_buf_add_cstr(out, "` write `");
    cbx_buf_add(out, new);
    cbx_buf_add_char(out, '`');
}

/* The whole line of a place, without the spaces around it. */
static struct cbx_str line_at(const struct cbx_hints *h, uint32_t at)
{
    size_t from = at < h->text.len ? at : h->text.len, to = from;
    while (from > 0 && h->text.p[from - 1] != '\n') {
        from--;
    }
    while (to < h->text.len && h->text.p[to] != '\n') {
        to++;
    }
    while (from < to && (h->text.p[from] == ' ' || h->text.p[from] == '\t')) {
        from++;
    }
    while (to > from && (h->text.p[to - 1] == ' ' || h->text.p[to - 1] == '\t')) {
        to--;
    }
    return cbx_str_sub(h->text, from, to);
}

/* --- commands --------------------------------------------------------------------------------- */

/* The only shell command in the place of a call that starts programs. */
static const struct cbx_fact *command_of(const struct cbx_hints *h, const struct cbx_fact *call)
{
    const struct cbx_fact *found = NULL;
    for (size_t i = 0; i < h->facts->count; i++) {
        const struct cbx_fact *fact = &h->facts->items[i];
        if (fact->kind == CBX_IS_CALL && fact->language == CBX_SHELL &&
            fact->start == call->start && fact->end == call->end) {
            if (found != NULL) {
                return NULL;
            }
            found = fact;
        }
    }
    return found;
}

/* The argument with this number, from 1, that is no option. */
static struct cbx_str word_of(const struct cbx_fact *command, int number)
{
    for (uint32_t i = 0; i < command->arg_count; i++) {
        const struct cbx_arg *arg = &command->args[i];
        bool option = arg->value.len > 0 && arg->value.p[0] == '-';
        if (arg->known && arg->constant && !option && --number == 0) {
            return arg->value;
        }
    }
    return (struct cbx_str){ 0 };
}

/* Writes a template; false when an argument is missing or cannot stand in quotes. */
static bool fill(const char *template, const struct cbx_fact *command, struct cbx_buf *out)
{
    for (const char *p = template; *p != '\0'; p++) {
        bool word = p[0] == '{' && (p[1] == '1' || p[1] == '2') && (p[2] == '}' || p[2] == ':');
        const char *end = word ? strchr(p, '}') : NULL;
        if (end == NULL) {
            cbx_buf_add_char(out, *p);
            continue;
        }
        struct cbx_str value = word_of(command, p[1] - '0');
        if (value.p == NULL && p[2] == ':') {
            value = (struct cbx_str){ p + 3, (size_t)(end - p - 3) };
        }
        if (value.p == NULL || value.len > CODE_BYTES ||
            strcspn(value.p, "\"\\\n`$*?") < value.len) {
            return false;
        }
        cbx_buf_add_char(out, '"');
        cbx_buf_add(out, value);
        cbx_buf_add_char(out, '"');
        p = end;
    }
    return true;
}

/* The end of what reads the command's output: ".stdout", ".read().strip()". */
static uint32_t end_of_reading(const struct cbx_hints *h, uint32_t end)
{
    static const char *const endings[] = { ".stdout",          ".read()",
                                           ".readlines()",     ".decode()",
                                           ".decode('utf-8')", ".decode(\"utf-8\")",
                                           ".strip()",         ".splitlines()",
                                           ".toString()",      ".toString('utf8')" };
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        struct cbx_str rest = cbx_str_sub(h->text, end, h->text.len);
        if (cbx_str_starts(rest, cbx_str_of(endings[i]))) {
            end += (uint32_t)strlen(endings[i]);
            i = (size_t)-1;
        }
    }
    return end;
}

/* `result.stdout` is `result` when the call that it was assigned from is replaced. */
static void add_reading(const struct cbx_hints *h, const struct cbx_fact *call, struct cbx_buf *out)
{
    struct cbx_str line = line_at(h, call->start);
    size_t end = name_end(line, 0);
    bool assigned = end > 0 && cbx_str_starts(cbx_str_sub(line, end, line.len), CBX_STR(" = "));
    struct cbx_str name = cbx_str_sub(line, 0, end);
    if (!assigned || end > CODE_BYTES) {
        return;
    }
    struct cbx_str read = cbx_arena_printf(h->arena, "%.*s.stdout", CBX_STR_ARG(name));
    const char *found = read.p != NULL ? memmem(h->text.p, h->text.len, read.p, read.len) : NULL;
    if (found != NULL) {
        uint32_t from = (uint32_t)(found - h->text.p);
        add_clause(out, slice(h, from, end_of_reading(h, from + (uint32_t)name.len)), name);
    }
}

static void add_import(const struct cbx_hints *h, const struct cbx_finding *f, const char *module,
                       struct cbx_buf *out)
{
    struct cbx_str line = line_at(h, f->span.start_byte);
    bool alone = cbx_str_starts(line, CBX_STR("import ")) || cbx_str_starts(line, CBX_STR("from "));
    bool required = memmem(line.p, line.len, "require(", 8) != NULL;
    struct cbx_str new =
        h->facts->source == CBX_PYTHON
            ? cbx_arena_printf(h->arena, module[0] != '\0' ? "import %s" : "pass%s", module)
        : module[0] == '\0' ? CBX_STR("// no module")
                            : cbx_arena_printf(h->arena,
                                               required ? "const %s = require(\"%s\");"
                                                        : "import * as %s from \"%s\";",
                                               module, module);
    if ((alone || required) && memchr(line.p, ',', line.len) == NULL && is_one_line(line)) {
        add_clause(out, line, new);
    } else if (alone && module[0] != '\0') {
        add_clause(out, f->symbol, cbx_str_of(module));
    } else if (module[0] != '\0' && h->facts->source == CBX_PYTHON &&
               memmem(h->text.p, h->text.len, new.p, new.len) == NULL) {
        cbx_buf_printf(out, "; add the line `import %s`", module);
    }
}

static const struct command *find_command(const struct cbx_hints *h, struct cbx_str name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (commands[i].language == h->facts->source &&
            cbx_str_glob(cbx_str_of(commands[i].command), name)) {
            return &commands[i];
        }
    }
    return NULL;
}

/* Replaces one call that starts a command. Returns the module that the new code needs, or NULL. */
static const char *replace_call(const struct cbx_hints *h, const struct cbx_fact *call,
                                struct cbx_buf *out)
{
    const struct cbx_fact *started = command_of(h, call);
    const struct command *command = started != NULL ? find_command(h, started->name) : NULL;
    struct cbx_str old = slice(h, call->start, end_of_reading(h, call->end));
    CBX_AUTO_DONE(buf) new;
    cbx_buf_init(&new, HINT_BYTES);
    if (command == NULL || !is_one_line(old) || !fill(command->write, started, &new) ||
        !is_allowed_piece(h, cbx_buf_str(&new))) {
        return NULL;
    }
    add_clause(out, old, cbx_buf_str(&new));
    add_reading(h, call, out);
    return command->module;
}

static void replace_commands(const struct cbx_hints *h, const struct cbx_finding *f,
                             struct cbx_buf *out)
{
    const char *module = NULL;
    int calls = 0;
    for (size_t i = 0; i < h->facts->count && calls < CLAUSES_MAX; i++) {
        const struct cbx_fact *call = &h->facts->items[i];
        if (is_about(f, call) && has_role(h, call, STARTS)) {
            const char *needs = replace_call(h, call, out);
            module = needs != NULL && (module == NULL || module[0] == '\0') ? needs : module;
            calls++;
        }
    }
    if (module != NULL) {
        add_import(h, f, module, out);
    }
}

/* --- constant code, modules, paths ------------------------------------------------------------ */

static void replace_code(const struct cbx_hints *h, const struct cbx_finding *f,
                         struct cbx_buf *out)
{
    for (size_t i = 0; i < h->facts->count; i++) {
        const struct cbx_fact *call = &h->facts->items[i];
        const struct cbx_arg *code = is_about(f, call) ? constant_of(call, 0) : NULL;
        struct cbx_str old = slice(h, call->start, call->end);
        if (code == NULL || !is_one_line(old) || !is_one_line(code->value)) {
            continue;
        }
        if (has_role(h, call, RUNS_CODE) && is_allowed_piece(h, code->value)) {
            add_clause(out, old, code->value);
            return;
        }
        struct cbx_str import = cbx_arena_printf(h->arena, "import %.*s", CBX_STR_ARG(code->value));
        if (has_role(h, call, IMPORTS) && is_allowed(h, h->request->language, import)) {
            add_clause(out, old, code->value);
            cbx_buf_add_cstr(out, "; add the line `");
            cbx_buf_add(out, import);
            cbx_buf_add_char(out, '`');
            return;
        }
    }
}

/* The first absolute path in quotes in this code; or all of it when it is one. */
static struct cbx_str path_in(struct cbx_str code)
{
    for (size_t i = 0; i + 1 < code.len; i++) {
        bool quote = code.p[i] == '"' || code.p[i] == '\'';
        const char *end = quote ? memchr(code.p + i + 1, code.p[i], code.len - i - 1) : NULL;
        if (end != NULL && (code.p[i + 1] == '/' || code.p[i + 1] == '~')) {
            return cbx_str_sub(code, i + 1, (size_t)(end - code.p));
        }
        i = end != NULL ? (size_t)(end - code.p) : i;
    }
    const char *slash = code.len > 0 ? memchr(code.p, '/', code.len) : NULL;
    bool bare = slash != NULL && memchr(code.p, '(', code.len) == NULL;
    return bare ? cbx_str_sub(code, (size_t)(slash - code.p), code.len) : CBX_STR("");
}

/* A file outside of the workspace becomes one of the same name in it. */
static void replace_path(const struct cbx_hints *h, const struct cbx_finding *f,
                         struct cbx_buf *out)
{
    const uint64_t changes_files = 1ull << CBX_CAN_FILE_WRITE | 1ull << CBX_CAN_FILE_DELETE;
    struct cbx_str code = slice(h, f->span.start_byte, f->span.end_byte);
    bool redirects = code.len > 0 && code.p[0] == '>';
    struct cbx_str path = path_in(code);
    size_t name = path.len;
    if ((f->rule->match.capabilities & changes_files) == 0 && !redirects) {
        return;
    }
    while (name > 0 && path.p[name - 1] != '/') {
        name--;
    }
    if (name < path.len && is_one_line(path) && memchr(path.p, ' ', path.len) == NULL) {
        add_clause(out, path, cbx_str_sub(path, name, path.len));
    }
}

/* --- the table -------------------------------------------------------------------------------- */

static void add_row(const struct cbx_hints *h, const struct cbx_finding *f,
                    const struct cbx_hint_row *row, struct cbx_buf *out)
{
    struct cbx_str hint = cbx_str_of(row->hint);
    if (memmem(out->p, out->len, hint.p, hint.len) != NULL ||
        (row->example[0] != '\0' &&
         !is_allowed(h, cbx_str_of(cbx_language_name(row->language)), cbx_str_of(row->example)))) {
        return;
    }
    cbx_buf_add_cstr(out, out->len > 0 ? "; " : "");
    for (size_t i = 0; i < hint.len; i++) {
        if (cbx_str_starts(cbx_str_sub(hint, i, hint.len), CBX_STR("{line}"))) {
            cbx_buf_printf(out, "%u", f->span.line);
            i += sizeof("{line}") - 2;
        } else {
            cbx_buf_add_char(out, hint.p[i]);
        }
    }
}

static const struct cbx_hint_row *find_row(enum cbx_language language, struct cbx_str symbol)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if ((cbx_language_likes(language) >> rows[i].language & 1) != 0 &&
            cbx_str_glob(cbx_str_of(rows[i].symbol), symbol)) {
            return &rows[i];
        }
    }
    return NULL;
}

/* The language of the fact that a finding was made from: a line of shell stands in a notebook. */
static enum cbx_language language_of(const struct cbx_hints *h, const struct cbx_finding *f)
{
    for (size_t i = 0; i < h->facts->count; i++) {
        const struct cbx_fact *fact = &h->facts->items[i];
        if (fact->start == f->span.start_byte && cbx_str_equal(fact->name, f->symbol)) {
            return fact->language;
        }
    }
    return h->facts->source;
}

/* Rows for what is used of an imported module; else those for the symbol itself. */
static void add_rows(const struct cbx_hints *h, const struct cbx_finding *f, struct cbx_buf *out)
{
    enum cbx_language language = language_of(h, f);
    const struct cbx_hint_row *own = find_row(language, f->symbol);
    int used = 0;
    for (size_t i = 0; i < h->facts->count && used < CLAUSES_MAX; i++) {
        const struct cbx_fact *fact = &h->facts->items[i];
        bool within = fact->kind == CBX_IS_CALL && cbx_name_is_within(fact->name, f->symbol);
        const struct cbx_hint_row *row = within ? find_row(language, fact->name) : NULL;
        if (row != NULL && row != own) {
            add_row(h, f, row, out);
            used++;
        }
    }
    if (own != NULL && out->len == 0) {
        add_row(h, f, own, out);
    }
}

static struct cbx_str choose(const struct cbx_hints *h, const struct cbx_finding *f)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4 * HINT_BYTES);
    if (h->syntax_name.len > 0 && f->symbol.p == h->syntax_name.p) {
        return h->syntax_hint;
    }
    if (cbx_str_is(h->syntax_name, CBX_SYNTAX_LANGUAGE)) {
        return CBX_STR(""); /* it was read as what it is not */
    }
    replace_commands(h, f, &out);
    if (out.len == 0) {
        replace_code(h, f, &out);
    }
    if (out.len == 0) {
        replace_path(h, f, &out);
    }
    if (out.len == 0) {
        add_rows(h, f, &out);
    }
    return out.len > 0 && out.len <= HINT_BYTES ? cbx_arena_copy(h->arena, cbx_buf_str(&out))
                                                : cbx_hints_allowed(h, f->rule->hint);
}

void cbx_hints_choose(const struct cbx_hints *h, struct cbx_finding *findings, size_t count)
{
    int hinted = 0;
    for (size_t i = 0; i < count && hinted < HINTED_MAX; i++) {
        if (findings[i].effect < CBX_EFFECT_WARN) {
            findings[i].hint = choose(h, &findings[i]);
            hinted++;
        }
    }
}
