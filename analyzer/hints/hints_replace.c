/* SPDX-License-Identifier: MIT
 * Hints that are computed from the source: a part of its code, and the replacement. */
#include "analyzer/hints/hints_internal.h"

#include "policies/language.h"
#include "policies/load/index.h"

enum { CODE_BYTES = 160 };

enum gives { TEXT, LIST, NUMBER, NOTHING };
static const struct command {
    enum cbx_language language;
    const char *command, *needs, *ignores, *module;
    enum gives gives;
    const char *write;
} commands[] = {
#define CBX_HINT_COMMAND(language, command, needs, ignores, module, gives, write)                  \
    { CBX_##language, command, needs, ignores, module, gives, write },
#include "analyzer/hints/hints.def"
};

enum role { STARTS = 1, RUNS_CODE, IMPORTS };
static const struct role_row {
    enum cbx_language language;
    enum role role;
    const char *symbol;
} roles[] = {
#define CBX_HINT_START(language, symbol)  { CBX_##language, STARTS, symbol },
#define CBX_HINT_CODE(language, symbol)   { CBX_##language, RUNS_CODE, symbol },
#define CBX_HINT_MODULE(language, symbol) { CBX_##language, IMPORTS, symbol },
#include "analyzer/hints/hints.def"
};

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

static bool has_role(const struct cbx_hints *h, const struct cbx_fact *call, enum role role)
{
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (roles[i].role == role && cbx_hints_holds(h, roles[i].language) &&
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

/* Adds a clause unless it exists already. */
static void add_clause(struct cbx_buf *out, struct cbx_str old, struct cbx_str new)
{
    CBX_AUTO_DONE(buf) clause;
    cbx_buf_init(&clause, CBX_HINT_BYTES);
    cbx_buf_add_cstr(&clause, "instead of `");
    cbx_buf_add(&clause, old);
    cbx_buf_add_cstr(&clause, "` write `");
    cbx_buf_add(&clause, new);
    cbx_buf_add_char(&clause, '`');
    if (memmem(out->p, out->len, clause.p, clause.len) == NULL) {
        cbx_buf_add_cstr(out, out->len > 0 ? "; " : "");
        cbx_buf_add(out, cbx_buf_str(&clause));
    }
}

/* Returns the whole line of a place, without the spaces around it. */
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

/* Returns true if the line of a finding imports: the finding then stands for all uses of the
 * import. */
static bool is_import(const struct cbx_hints *h, const struct cbx_finding *f)
{
    static const char *const importers[] = { "import ", "from ", "require(", "__import__(",
                                             "import_module(" };
    struct cbx_str line = line_at(h, f->span.start_byte);
    for (size_t i = 0; i < sizeof(importers) / sizeof(importers[0]); i++) {
        const char *found = memmem(line.p, line.len, importers[i], strlen(importers[i]));
        if (found != NULL && (i > 1 || found == line.p)) {
            return true;
        }
    }
    return false;
}

/* State of a finding while its calls are replaced. */
struct replacing {
    const struct cbx_hints *h;
    const struct cbx_finding *f;
    bool imports;
};

/* Collects the calls that a finding is about: at its place, or of the module that it imports. */
static bool is_about(const struct replacing *r, const struct cbx_fact *call)
{
    return call->kind == CBX_IS_CALL && !call->earlier &&
           (call->start == r->f->span.start_byte ||
            (r->imports && cbx_name_is_within(call->name, r->f->symbol)));
}

/* --- commands --------------------------------------------------------------------------------- */

/* A cell of a session is read twice: alone, and together with the cells before it. */
static bool are_same(const struct cbx_fact *a, const struct cbx_fact *b)
{
    if (!cbx_str_equal(a->name, b->name) || a->arg_count != b->arg_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->arg_count; i++) {
        if (!cbx_str_equal(a->args[i].value, b->args[i].value)) {
            return false;
        }
    }
    return true;
}

/* Returns the only shell command in the place of a call that starts programs. */
static const struct cbx_fact *command_of(const struct cbx_hints *h, const struct cbx_fact *call)
{
    const struct cbx_fact *found = NULL;
    for (size_t i = 0; i < h->facts->count; i++) {
        const struct cbx_fact *fact = &h->facts->items[i];
        if (fact->kind == CBX_IS_CALL && fact->language == CBX_SHELL && !fact->earlier &&
            fact->start == call->start && fact->end == call->end) {
            if (found != NULL && !are_same(found, fact)) {
                return NULL;
            }
            found = fact;
        }
    }
    return found;
}

/* The words of a command. */
struct words {
    struct cbx_str items[CBX_HINT_WORDS_MAX]; /* that are no options */
    int count;
    struct cbx_str number; /* of the option -n: head -n 5, head -n5, head -5 */
};

static bool is_number(struct cbx_str text)
{
    size_t digits = 0;
    while (digits < text.len && text.p[digits] >= '0' && text.p[digits] <= '9') {
        digits++;
    }
    return text.len > 0 && text.len < 10 && digits == text.len;
}

/* Returns true if a row accepts an option; *needed is set if the option is the one that it needs. */
static bool takes_option(const struct command *row, struct cbx_str option, bool *needed)
{
    bool any = strcmp(row->ignores, "*") == 0;
    if (cbx_str_starts(option, CBX_STR("--"))) {
        *needed |= cbx_str_is(option, row->needs);
        return any || cbx_str_is(option, row->needs);
    }
    for (size_t i = 1; i < option.len; i++) {
        bool is_needed = strlen(row->needs) == 1 && option.p[i] == row->needs[0];
        *needed |= is_needed;
        if (!any && !is_needed && strchr(row->ignores, option.p[i]) == NULL) {
            return false;
        }
    }
    return true;
}

/* Reads the words of a command as a row describes them; false if the row is for other forms of the
 * command. */
static bool read_words(const struct command *row, const struct cbx_fact *command, struct words *out)
{
    bool has_number = strstr(row->write, "{n") != NULL, needed = row->needs[0] == '\0';
    *out = (struct words){ .count = 0 };
    for (uint32_t i = 0; i < command->arg_count; i++) {
        struct cbx_str word = command->args[i].value;
        if (!command->args[i].known || !command->args[i].constant) {
            return false;
        }
        bool option = word.len > 1 && word.p[0] == '-';
        struct cbx_str value = option ? cbx_str_sub(word, 1, word.len) : word;
        if (option && has_number && value.p[0] == 'n') {
            value = cbx_str_sub(value, 1, value.len);
            if (value.len == 0 && i + 1 < command->arg_count) {
                value = command->args[++i].value;
            }
        }
        if (option && has_number && is_number(value)) {
            out->number = value;
        } else if (option && !takes_option(row, word, &needed)) {
            return false;
        } else if (!option && out->count == CBX_HINT_WORDS_MAX) {
            return false;
        } else if (!option) {
            out->items[out->count++] = word;
        }
    }
    return needed;
}

/* Converts a name in the home folder, which is the working folder of sandboxes, to a relative
 * one: functions of languages do not expand `~`. */
static struct cbx_str without_home(struct cbx_str word)
{
    bool in_home = word.len > 2 && cbx_str_starts(word, CBX_STR("~/"));
    return in_home ? cbx_str_sub(word, 2, word.len) : word;
}

static bool add_literal(struct cbx_str value, struct cbx_buf *out)
{
    if (value.len > CODE_BYTES || strcspn(value.p, "\"\\\n`$*?") < value.len) {
        return false;
    }
    cbx_buf_add_char(out, '"');
    cbx_buf_add(out, value);
    cbx_buf_add_char(out, '"');
    return true;
}

static struct cbx_str joined(const struct cbx_hints *h, const struct words *words)
{
    CBX_AUTO_DONE(buf) all;
    cbx_buf_init(&all, CBX_HINT_BYTES);
    for (int i = 0; i < words->count; i++) {
        cbx_buf_add_cstr(&all, i > 0 ? " " : "");
        cbx_buf_add(&all, words->items[i]);
    }
    return cbx_arena_copy(h->arena, cbx_buf_str(&all));
}

/* Writes what stands for a field of a template, the text between braces; *used is raised to the
 * number of its word. False if the word is missing, or is no number or literal. */
static bool fill_field(const struct cbx_hints *h, struct cbx_str field, const struct words *words,
                       int *used, struct cbx_buf *out)
{
    const char *colon = memchr(field.p, ':', field.len);
    struct cbx_str value = { 0 };
    int number = field.p[0] - '0';
    if (field.p[0] == 'n') {
        value = words->number;
    } else if (field.p[0] == '*') {
        *used = words->count;
        value = words->count > 0 ? joined(h, words) : value;
    } else {
        *used = number > *used ? number : *used;
        value = number <= words->count ? without_home(words->items[number - 1]) : value;
    }
    if (value.p == NULL && colon != NULL) {
        value = cbx_str_sub(field, (size_t)(colon - field.p) + 1, field.len);
    }
    if (field.p[0] == 'n' || cbx_str_ends(field, CBX_STR("#"))) {
        cbx_buf_add(out, value);
        return is_number(value);
    }
    return value.p != NULL && add_literal(value, out);
}

/* Writes the text of a row; false if the row does not fit the command. */
static bool fill(const struct cbx_hints *h, const struct command *row,
                 const struct cbx_fact *command, struct cbx_buf *out)
{
    struct words words;
    int used = 0;
    bool rest = false, filled = read_words(row, command, &words);
    for (const char *p = row->write; filled && *p != '\0'; p++) {
        bool field = p[0] == '{' && p[1] != '\0' && strchr("12*n.", p[1]) != NULL;
        const char *end = field ? strchr(p, '}') : NULL;
        if (end == NULL) {
            cbx_buf_add_char(out, *p);
            continue;
        }
        rest |= p[1] == '.';
        filled = p[1] == '.' || fill_field(h, (struct cbx_str){ p + 1, (size_t)(end - p - 1) },
                                           &words, &used, out);
        p = end;
    }
    return filled && (rest || used >= words.count);
}

/* Code that reads a command's output. What splits the output into lines goes where the new code gives
 * lines, what takes the first word goes where the new code gives a number. */
static const struct ending {
    const char *code;
    enum gives only; /* TEXT: in front of each kind of value */
} endings[] = {
    { ".stdout", TEXT },
    { ".read()", TEXT },
    { ".decode()", TEXT },
    { ".decode('utf-8')", TEXT },
    { ".decode(\"utf-8\")", TEXT },
    { ".strip()", TEXT },
    { ".toString()", TEXT },
    { ".toString('utf8')", TEXT },
    { ".readlines()", LIST },
    { ".splitlines()", LIST },
    { ".split('\\n')", LIST },
    { ".split(\"\\n\")", LIST },
    { ".split()[0]", NUMBER },
    { ".split()", LIST },
};
enum { ENDINGS = sizeof(endings) / sizeof(endings[0]) };

/* Returns the end of the code that reads the command's output: ".stdout", ".read().strip()". */
static uint32_t end_of_reading(const struct cbx_hints *h, enum gives gives, uint32_t end)
{
    for (size_t i = 0; i < ENDINGS; i++) {
        struct cbx_str rest = cbx_str_sub(h->text, end, h->text.len);
        bool goes = endings[i].only == TEXT || endings[i].only == gives;
        if (goes && cbx_str_starts(rest, cbx_str_of(endings[i].code))) {
            end += (uint32_t)strlen(endings[i].code);
            i = (size_t)-1;
        }
    }
    return end;
}

/* Returns true if code goes on with a member that values of this kind do not have. */
static bool goes_on(const struct cbx_hints *h, enum gives gives, uint32_t end)
{
    struct cbx_str rest = cbx_str_sub(h->text, end, h->text.len);
    bool member = cbx_str_starts(rest, CBX_STR("."));
    return member && (gives != TEXT || cbx_str_starts(rest, CBX_STR(".readlines(")));
}

/* Replaces `result.stdout` by `result` if the call that was assigned to `result` is replaced. */
static void add_reading(const struct cbx_hints *h, enum gives gives, const struct cbx_fact *call,
                        struct cbx_buf *out)
{
    struct cbx_str line = line_at(h, call->start);
    size_t end = cbx_hints_name_end(line, 0);
    bool assigned = end > 0 && cbx_str_starts(cbx_str_sub(line, end, line.len), CBX_STR(" = "));
    struct cbx_str name = cbx_str_sub(line, 0, end);
    if (!assigned || end > CODE_BYTES) {
        return;
    }
    struct cbx_str read = CBX_JOIN(h->arena, name, CBX_STR(".stdout"));
    const char *found = read.p != NULL ? memmem(h->text.p, h->text.len, read.p, read.len) : NULL;
    if (found != NULL) {
        uint32_t from = (uint32_t)(found - h->text.p);
        add_clause(out, slice(h, from, end_of_reading(h, gives, from + (uint32_t)name.len)), name);
    }
}

/* Rewrites "import a, b" without the module that a finding is about, and with `module` if that
 * is not empty; "" if the line is no such statement. */
static struct cbx_str without_module(const struct cbx_hints *h, struct cbx_str line,
                                     struct cbx_str symbol, const char *module)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, CBX_HINT_BYTES);
    cbx_buf_add_cstr(&out, module[0] != '\0' ? "import " : "import");
    cbx_buf_add_cstr(&out, module);
    for (size_t from = sizeof("import ") - 1; from < line.len;) {
        const char *comma = memchr(line.p + from, ',', line.len - from);
        size_t to = comma != NULL ? (size_t)(comma - line.p) : line.len;
        while (from < to && line.p[from] == ' ') {
            from++;
        }
        if (!cbx_str_equal(cbx_str_sub(line, from, cbx_hints_name_end(line, from)), symbol)) {
            bool first = out.len == sizeof("import") - 1;
            cbx_buf_add_cstr(&out, first ? " " : ", ");
            cbx_buf_add(&out, cbx_str_sub(line, from, to));
        }
        from = to + 1;
    }
    return cbx_arena_copy(h->arena, cbx_buf_str(&out));
}

/* Returns the statement that imports `module`, in the form of `line`, which it replaces. */
static struct cbx_str import_like(const struct cbx_hints *h, const struct cbx_finding *f,
                                  struct cbx_str line, const char *module)
{
    const struct cbx_hint_piece *piece = cbx_hints_piece(h);
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, CBX_HINT_BYTES);
    if (cbx_str_starts(line, CBX_STR("import ")) && memchr(line.p, ',', line.len) != NULL &&
        cbx_str_is(cbx_str_of(piece->modules), "*")) {
        return without_module(h, line, f->symbol, module);
    }
    if (module[0] == '\0') {
        return cbx_str_of(piece->none);
    }
    cbx_hints_add_import(h, line, cbx_str_of(module), &out);
    return cbx_arena_copy(h->arena, cbx_buf_str(&out));
}

/* Adds the import that the new code of a finding needs: in place of the finding's import, or as
 * a line of its own. */
static void add_import(const struct replacing *r, const char *module, struct cbx_buf *out)
{
    const struct cbx_hints *h = r->h;
    const struct cbx_finding *f = r->f;
    struct cbx_str line = line_at(h, f->span.start_byte);
    struct cbx_str new = import_like(h, f, line, module);
    if (r->imports && is_one_line(line)) {
        add_clause(out, line, new);
    } else if (module[0] != '\0' && memmem(h->text.p, h->text.len, new.p, new.len) == NULL) {
        cbx_buf_printf(out, "; add the line `%.*s`", CBX_STR_ARG(new));
    }
}

/* Writes the code that does what a command does; NULL if no row fits the command. */
static const struct command *write_command(const struct cbx_hints *h,
                                           const struct cbx_fact *command, struct cbx_buf *out)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (cbx_hints_holds(h, commands[i].language) &&
            cbx_str_glob(cbx_str_of(commands[i].command), command->name)) {
            cbx_buf_reset(out);
            if (fill(h, &commands[i], command, out)) {
                return &commands[i];
            }
        }
    }
    return NULL;
}

/* Returns true if a command may write into a file, or be a part of a pipe. */
static bool redirects(struct cbx_str code)
{
    return memchr(code.p, '>', code.len) != NULL || memchr(code.p, '<', code.len) != NULL ||
           memchr(code.p, '|', code.len) != NULL;
}

/* Replaces one call that starts a command. Returns the module that the new code needs, or NULL. */
static const char *replace_call(const struct cbx_hints *h, const struct cbx_fact *call,
                                struct cbx_buf *out)
{
    const struct cbx_fact *started = command_of(h, call);
    CBX_AUTO_DONE(buf) new;
    cbx_buf_init(&new, CBX_HINT_BYTES);
    const struct command *command = started != NULL ? write_command(h, started, &new) : NULL;
    enum gives gives = command != NULL ? command->gives : TEXT;
    uint32_t end = end_of_reading(h, gives, call->end);
    struct cbx_str old = slice(h, call->start, end);
    if (command == NULL || goes_on(h, gives, end) || !is_one_line(old) || redirects(old) ||
        !cbx_hints_allow_piece(h, cbx_buf_str(&new))) {
        return NULL;
    }
    add_clause(out, old, cbx_buf_str(&new));
    add_reading(h, gives, call, out);
    return command->module;
}

/* Modules that the new code of a finding needs. */
struct needed {
    const char *modules[CBX_HINT_CALLS_MAX];
    int count;
};

static void need(struct needed *needed, const char *module)
{
    for (int i = 0; i < needed->count; i++) {
        if (module[0] == '\0' || strcmp(needed->modules[i], module) == 0) {
            return;
        }
        if (needed->modules[i][0] == '\0') {
            needed->modules[i] = module;
            return;
        }
    }
    needed->modules[needed->count++] = module;
}

static void replace_commands(const struct replacing *r, struct cbx_buf *out)
{
    const struct cbx_hints *h = r->h;
    struct needed needed = { .count = 0 };
    int calls = 0;
    for (size_t i = 0; i < h->facts->count && calls < CBX_HINT_CALLS_MAX; i++) {
        const struct cbx_fact *call = &h->facts->items[i];
        if (is_about(r, call) && has_role(h, call, STARTS)) {
            const char *module = replace_call(h, call, out);
            if (module != NULL) {
                need(&needed, module);
            }
            calls++;
        }
    }
    struct replacing line = *r;
    for (int i = 0; i < needed.count; i++) {
        add_import(&line, needed.modules[i], out);
        line.imports = false; /* the first replacement also replaces the import */
    }
}

/* --- constant code, modules, paths ------------------------------------------------------------ */

/* Returns true if the code itself calls this name: calls in a text that it runs have the same
 * place. */
static bool calls_by_name(struct cbx_str code, struct cbx_str name)
{
    const char *open = memchr(code.p, '(', code.len);
    size_t last = name.len;
    while (last > 0 && name.p[last - 1] != '.') {
        last--;
    }
    return open != NULL && cbx_str_ends(cbx_str_sub(code, 0, (size_t)(open - code.p)),
                                        cbx_str_sub(name, last, name.len));
}

/* Replaces one call whose first argument is this constant; false if the policy denies the code. */
static bool replace_constant(const struct cbx_hints *h, const struct cbx_fact *call,
                             struct cbx_str code, struct cbx_buf *out)
{
    struct cbx_str old = slice(h, call->start, call->end);
    if (has_role(h, call, RUNS_CODE) && cbx_hints_allow_piece(h, code)) {
        add_clause(out, old, code);
        return true;
    }
    struct cbx_str import = CBX_JOIN(h->arena, CBX_STR("import "), code);
    if (import.p == NULL || !has_role(h, call, IMPORTS) ||
        !cbx_hints_allow(h, h->request->language, import)) {
        return false;
    }
    add_clause(out, old, code);
    cbx_buf_add_cstr(out, "; add the line `");
    cbx_buf_add(out, import);
    cbx_buf_add_char(out, '`');
    return true;
}

static void replace_code(const struct replacing *r, struct cbx_buf *out)
{
    int calls = 0;
    for (size_t i = 0; i < r->h->facts->count && calls < CBX_HINT_CALLS_MAX; i++) {
        const struct cbx_fact *call = &r->h->facts->items[i];
        const struct cbx_arg *code = is_about(r, call) ? constant_of(call, 0) : NULL;
        struct cbx_str old = slice(r->h, call->start, call->end);
        if (code == NULL || !is_one_line(old) || !is_one_line(code->value) ||
            !calls_by_name(old, call->name)) {
            continue;
        }
        calls++;
        if (replace_constant(r->h, call, code->value, out)) {
            return;
        }
    }
}

/* Returns the first absolute path in quotes in this code; or all of it if it is one. */
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

/* Replaces a file outside of the workspace by one of the same name in it. */
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

void cbx_hints_replace(const struct cbx_hints *h, const struct cbx_finding *f, struct cbx_buf *out)
{
    size_t before = out->len;
    struct replacing r = { h, f, is_import(h, f) };
    replace_commands(&r, out);
    if (out->len == before) {
        replace_code(&r, out);
    }
    if (out->len == before) {
        replace_path(h, f, out);
    }
}
