/* SPDX-License-Identifier: MIT
 * Adds the facts of IPython's lines: shell, installs, code inside of magics, files that are
 * written. */
#include "analyzer/lang/python/notebook/magics.h"

#include "analyzer/facts/fold.h"
#include "analyzer/lang/python/internal.h"
#include "analyzer/lang/python/syntax/syntax_indent.h"
#include "analyzer/packages/install.h"

enum magic_kind {
    MAGIC_UNKNOWN,
    MAGIC_WORDS,
    MAGIC_CODE,
    MAGIC_BODY,
    MAGIC_CONFIG,
    MAGIC_SHELL,
    MAGIC_PIP,
    MAGIC_CONDA,
    MAGIC_COMMAND,
    MAGIC_SCRIPT,
    MAGIC_WRITE,
    MAGIC_CHDIR,
    MAGIC_ASSIGN,
    MAGIC_IMPORT,
    MAGIC_REFUSED,
};

struct magic_row {
    const char *name;
    enum magic_kind kind;
    const char *options;
};

static const struct magic_row *find_row(struct cbx_str name)
{
    static const struct magic_row rows[] = {
#define CBX_MAGIC(name, kind, options) { name, MAGIC_##kind, options },
#include "analyzer/lang/python/notebook/magics.def"
    };
    static const struct magic_row unknown = { "", MAGIC_UNKNOWN, "" };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (cbx_str_is(name, rows[i].name)) {
            return &rows[i];
        }
    }
    return &unknown;
}

/* Returns true for a class that the magic may configure. */
static bool is_chosen(struct cbx_str name, struct cbx_str argument)
{
    static const struct {
        const char *name, *argument;
    } rows[] = {
#define CBX_MAGIC_ARGUMENT(name, argument) { name, argument },
#include "analyzer/lang/python/notebook/magics.def"
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (cbx_str_is(name, rows[i].name) &&
            cbx_str_starts(argument, cbx_str_of(rows[i].argument))) {
            return true;
        }
    }
    return false;
}

static void refuse(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    cbx_facts_add_special(parsed->facts, CBX_FACT_MAGIC_NOT_LISTED, m->name, m->start, m->end);
}

static bool is_expanded(const struct cbx_magic *m)
{
    return m->expansion != NULL && m->expansion->state != CBX_EXPANSION_NONE;
}

/* Returns the argument with its values; {NULL, 0} if a value is unknown. */
static struct cbx_str known_rest(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    struct cbx_str rest = m->rest.p != NULL ? m->rest : CBX_STR("");
    return cbx_fold_trim(is_expanded(m) ? cbx_expansion_text(m->expansion, parsed->arena) : rest);
}

/* --- lines of shell --------------------------------------------------------------------------- */

/* Returns the line as the shell reads it; {NULL, 0} if a value in it cannot be quoted, with a
 * fact. */
static struct cbx_str shell_text(struct cbx_parsed *parsed, const struct cbx_magic *m,
                                 struct cbx_str text)
{
    struct cbx_str refused = { 0 };
    if (is_expanded(m)) {
        text = cbx_expansion_shell(m->expansion, parsed->arena, &refused);
    }
    if (refused.p != NULL) {
        struct cbx_note what =
            cbx_arena_note(parsed->arena, "{%.*s} inside a substitution; make it a word of its own",
                           CBX_STR_SHOWN(refused));
        cbx_facts_add_note(parsed->facts, CBX_FACT_SHELL_UNRESOLVED, what, m->start, m->end);
    } else if (text.p == NULL) {
        cbx_facts_add_special(parsed->facts, CBX_FACT_TOO_COMPLEX, CBX_STR("expansion"), m->start,
                              m->end);
    }
    return text;
}

/* Judges "word rest". */
static void judge_command(struct cbx_parsed *parsed, const struct cbx_magic *m, struct cbx_str word)
{
    struct cbx_str rest = shell_text(parsed, m, m->rest.p != NULL ? m->rest : CBX_STR(""));
    if (rest.p != NULL) {
        struct cbx_str line = CBX_JOIN(parsed->arena, word, CBX_STR(" "), rest);
        cbx_parse_shell_line(parsed, line, m->start, m->end);
    }
}

static void judge_shell(struct cbx_parsed *parsed, const struct cbx_magic *m, struct cbx_str text)
{
    text = text.len > 0 ? shell_text(parsed, m, text) : text;
    if (text.len > 0) {
        cbx_parse_shell_line(parsed, text, m->start, m->end);
    }
}

static struct cbx_str next_word(struct cbx_str *text)
{
    *text = cbx_fold_trim(*text);
    size_t n = 0;
    while (n < text->len && memchr(" \t\n", text->p[n], 3) == NULL) {
        n++;
    }
    struct cbx_str word = cbx_str_sub(*text, 0, n);
    *text = cbx_str_sub(*text, n, text->len);
    return word;
}

/* Returns true for options of the shell (-e, -eux, -o pipefail) and of IPython that run nothing. */
static bool is_plain_option(struct cbx_str word, struct cbx_str *rest)
{
    static const char *const with_value[] = { "--out", "--err", "--proc" };
    static const char *const alone[] = { "--bg", "--no-raise-error", "pipefail" };
    bool plain = word.len > 1 && word.p[0] == '-';
    for (size_t i = 1; i < word.len; i++) {
        plain &= memchr("euxvo", word.p[i], 5) != NULL;
    }
    for (size_t i = 0; i < 3; i++) {
        if (cbx_str_is(word, with_value[i])) {
            return next_word(rest).len > 0;
        }
        plain |= cbx_str_is(word, alone[i]);
    }
    return plain;
}

/* Returns true if the first argument after -s ends the shell's options: it is certainly no
 * option itself. */
static bool ends_options(struct cbx_str word)
{
    while (word.len > 0 && (word.p[0] == '"' || word.p[0] == '\'')) {
        word = cbx_str_sub(word, 1, word.len);
    }
    return cbx_str_is(word, "-") || (word.len > 0 && memchr("-+$\\{`", word.p[0], 6) == NULL);
}

/* Judges %%bash: any other option could run another text than the body. */
static void judge_script(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    struct cbx_str rest = m->rest.len > 0 ? shell_text(parsed, m, m->rest) : CBX_STR("");
    bool plain = rest.p != NULL;
    while (plain && cbx_fold_trim(rest).len > 0) {
        struct cbx_str word = next_word(&rest);
        if (cbx_str_is(word, "-s")) {
            rest = cbx_fold_trim(rest);
            plain = rest.len == 0 || ends_options(next_word(&rest));
            break;
        }
        plain = is_plain_option(word, &rest);
    }
    if (!plain) {
        refuse(parsed, m);
    }
    cbx_parse_shell_line(parsed, m->body, m->start, m->end);
}

/* --- files, folders, variables, modules ------------------------------------------------------- */

/* Removes quotes around a whole name, as IPython does. */
static struct cbx_str unquote(struct cbx_str name)
{
    bool quoted = name.len > 1 && (name.p[0] == '"' || name.p[0] == '\'') &&
                  name.p[name.len - 1] == name.p[0];
    return quoted ? cbx_str_sub(name, 1, name.len - 1) : name;
}

static struct cbx_arg argument(uint32_t position, struct cbx_str value)
{
    bool known = value.p != NULL;
    return (
        struct cbx_arg){ .position = position, .known = known, .constant = known, .value = value };
}

/* Adds a call of this function of Python. */
static void add_call(struct cbx_parsed *parsed, const struct cbx_magic *m, struct cbx_str name,
                     struct cbx_str first, struct cbx_str second)
{
    struct cbx_arg *args = cbx_arena_array(parsed->arena, 2, sizeof(*args));
    struct cbx_fact *fact = cbx_facts_add(parsed->facts, CBX_IS_CALL, name, m->start, m->end);
    if (args != NULL && fact != NULL) {
        args[0] = argument(0, first);
        args[1] = argument(1, second);
        fact->args = args;
        fact->arg_count = second.p != NULL ? 2 : 1;
        fact->language = CBX_PYTHON;
    }
}

/* Judges %env NAME=value, %env NAME value as an assignment of the shell. %env NAME shows the
 * variable. */
static void judge_assignment(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    bool open = is_expanded(m) && known_rest(parsed, m).p == NULL;
    struct cbx_str rest = open ? m->expansion->fields[0].before : known_rest(parsed, m);
    size_t end = 0;
    while (end < rest.len && memchr("= \t\n", rest.p[end], 4) == NULL) {
        end++;
    }
    if (end < rest.len) {
        struct cbx_str line = CBX_JOIN(parsed->arena, cbx_str_sub(rest, 0, end), CBX_STR("=x"));
        cbx_parse_shell_line(parsed, line, m->start, m->end);
    } else if (open) {
        refuse(parsed, m); /* the name of the variable is unknown */
    }
}

/* Judges %load_ext module as an import. No list has the magics that its code adds. */
static void judge_import(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    struct cbx_str module = known_rest(parsed, m);
    bool plain = module.len > 0;
    for (size_t i = 0; i < module.len; i++) {
        char c = module.p[i];
        plain &=
            c == '_' || c == '.' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    }
    if (!plain) {
        refuse(parsed, m);
        return;
    }
    struct cbx_fact *fact = cbx_facts_add(parsed->facts, CBX_IS_IMPORT, module, m->start, m->end);
    if (fact != NULL) {
        fact->language = CBX_PYTHON;
    }
}

/* Judges %cd path as a call of os.chdir(path). */
static void judge_chdir(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    struct cbx_str path = known_rest(parsed, m);
    while (cbx_str_starts(path, CBX_STR("-q ")) || cbx_str_starts(path, CBX_STR("-b "))) {
        path = cbx_fold_trim(cbx_str_sub(path, 3, path.len));
    }
    add_call(parsed, m, CBX_STR("os.chdir"), unquote(path), (struct cbx_str){ 0 });
}

/* Returns the file of "[-a] path"; {NULL, 0} for other arguments, which IPython may read as
 * another file. */
static struct cbx_str file_name(struct cbx_str rest)
{
    struct cbx_str path = unquote(rest);
    if (path.len < rest.len) {
        return path;
    }
    path = (struct cbx_str){ 0 };
    while (cbx_fold_trim(rest).len > 0) {
        struct cbx_str word = next_word(&rest);
        bool option = cbx_str_starts(word, CBX_STR("-"));
        if (option ? !cbx_str_is(word, "-a") && !cbx_str_is(word, "--append") : path.p != NULL) {
            return (struct cbx_str){ 0 };
        }
        path = option ? path : unquote(word);
    }
    return path;
}

/* Judges the text of a file with an unknown name, which may be a module. A text that is not
 * Python is no module. */
static void judge_module(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    struct cbx_facts *facts = parsed->facts;
    size_t before = facts->count;
    bool python = true;
    cbx_parse_inner(parsed, "python", m->body, m->start, m->end);
    for (size_t i = before; i < facts->count; i++) {
        const struct cbx_fact *fact = &facts->items[i];
        python &= fact->kind != CBX_IS_SPECIAL || fact->special != CBX_FACT_SYNTAX;
    }
    facts->count = python ? facts->count : before;
}

bool cbx_magic_file(const struct cbx_magic *m, struct cbx_str *path)
{
    struct cbx_str rest = cbx_fold_trim(m->rest);
    *path = m->kind == CBX_MAGIC_CELL && find_row(m->name)->kind == MAGIC_WRITE &&
                    m->expansion == NULL && !cbx_str_starts(rest, CBX_STR("-"))
                ? file_name(rest)
                : (struct cbx_str){ 0 };
    return path->len > 0;
}

/* Judges %%writefile path as a call of open(path, 'w'). A file of code is judged as code,
 * because it may be run or imported; a file of requirements as an install. */
static void judge_write(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    struct cbx_str rest = known_rest(parsed, m), path = file_name(rest);
    if (rest.p != NULL && path.p == NULL) {
        refuse(parsed, m);
        return;
    }
    add_call(parsed, m, CBX_STR("open"), path, CBX_STR("w"));
    if (path.p == NULL) {
        judge_module(parsed, m);
        return;
    }
    cbx_facts_add(parsed->facts, CBX_IS_LITERAL, path, m->start, m->end);
    struct cbx_str name = cbx_arena_copy(parsed->arena, path);
    const struct cbx_lang *lang = name.p != NULL ? cbx_lang_of_file(name.p) : NULL;
    if (lang != NULL) {
        cbx_parse_inner(parsed, lang->name, m->body, m->start, m->end);
    } else if (cbx_packages_is_file(path)) {
        cbx_packages_read_file(parsed, m->body, m->start, m->end);
    }
}

static void judge_words(struct cbx_parsed *parsed, const struct cbx_magic *m, const char *refused)
{
    struct cbx_str rest = known_rest(parsed, m);
    bool plain = rest.p != NULL || refused[0] == '\0';
    while (plain && refused[0] != '\0' && cbx_fold_trim(rest).len > 0) {
        struct cbx_str word = next_word(&rest);
        plain = !cbx_str_starts(word, CBX_STR("-")) ||
                strpbrk(cbx_arena_copy(parsed->arena, word).p, refused) == NULL;
    }
    if (!plain) {
        refuse(parsed, m);
    }
}

/* --- code inside ------------------------------------------------------------------------------ */

/* Returns true for a plain value of an option: a number, a file, a module, or the name of a
 * function. IPython evaluates the values of some options. */
static bool is_plain_value(struct cbx_str word)
{
    for (size_t i = 0; i < word.len; i++) {
        char c = word.p[i];
        if (!(memchr("_./-", c, 4) != NULL || (c >= '0' && c <= '9') ||
              ((c | 32) >= 'a' && (c | 32) <= 'z'))) {
            return false;
        }
    }
    return true;
}

/* Skips options as getopt does. Returns {NULL, 0} for an option that is not in the list: IPython
 * then reads the line in an unknown way. */
static struct cbx_str skip_options(struct cbx_str line, const char *options)
{
    while (options[0] != '\0' && line.len > 1 && line.p[0] == '-') {
        struct cbx_str word = next_word(&line);
        if (cbx_str_is(word, "--")) {
            break;
        }
        for (size_t i = 1; i < word.len; i++) {
            char c = word.p[i];
            const char *option = c != ':' && c != '\0' ? strchr(options, c) : NULL;
            if (option == NULL) {
                return (struct cbx_str){ 0 };
            }
            if (option[1] == ':') {
                struct cbx_str value =
                    i + 1 == word.len ? next_word(&line) : cbx_str_sub(word, i + 1, word.len);
                if (!is_plain_value(value)) {
                    return (struct cbx_str){ 0 };
                }
                break;
            }
        }
        line = cbx_fold_trim(line);
    }
    return line;
}

uint32_t cbx_magic_code(const struct cbx_magic *m, struct cbx_str out[CBX_MAGIC_CODES])
{
    bool named = m->kind == CBX_MAGIC_LINE || m->kind == CBX_MAGIC_CELL;
    const struct magic_row *row = find_row(named ? m->name : CBX_STR(""));
    uint32_t count = 0;
    if (row->kind == MAGIC_CODE && m->rest.len > 0) {
        struct cbx_str code = skip_options(m->rest, row->options);
        out[count++] = code.p != NULL ? code : m->rest;
    }
    if ((row->kind == MAGIC_CODE || row->kind == MAGIC_BODY) && m->body.len > 0) {
        out[count++] = m->body;
    }
    return count;
}

bool cbx_magic_is_python(struct cbx_str line)
{
    struct cbx_str rest = line;
    switch (find_row(next_word(&rest))->kind) {
    case MAGIC_WORDS:
    case MAGIC_CODE:
    case MAGIC_BODY:
    case MAGIC_CONFIG:
    case MAGIC_IMPORT:
        return true;
    default:
        return false;
    }
}

bool cbx_magic_expands(struct cbx_str name, bool *shell)
{
    enum magic_kind kind = find_row(name)->kind;
    *shell = kind == MAGIC_SHELL || kind == MAGIC_PIP || kind == MAGIC_CONDA ||
             kind == MAGIC_COMMAND || kind == MAGIC_SCRIPT;
    return kind != MAGIC_CODE && kind != MAGIC_CONFIG;
}

bool cbx_magic_configures(const struct cbx_magic *m, struct cbx_str *name,
                          struct cbx_str *expression)
{
    struct cbx_str rest = m->rest;
    const char *equals = rest.len > 0 ? memchr(rest.p, '=', rest.len) : NULL;
    if (find_row(m->name)->kind != MAGIC_CONFIG || equals == NULL) {
        return false;
    }
    *name = cbx_fold_trim(cbx_str_sub(rest, 0, (size_t)(equals - rest.p)));
    *expression = cbx_fold_trim(cbx_str_sub(rest, (size_t)(equals - rest.p) + 1, rest.len));
    size_t dots = 0;
    for (size_t i = 0; i < name->len; i++) {
        char c = name->p[i];
        dots += c == '.';
        if (!(c == '.' || c == '_' || (c >= '0' && c <= '9') ||
              ((c | 32) >= 'a' && (c | 32) <= 'z'))) {
            return false;
        }
    }
    return dots == 1;
}

static void judge_config(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    bool evaluates = m->rest.len > 0 && memchr(m->rest.p, '=', m->rest.len) != NULL;
    if (evaluates || !is_chosen(m->name, cbx_fold_trim(m->rest))) {
        refuse(parsed, m); /* an assignment that could not be rewritten, or another class */
    }
}

/* Judges the code that the rewriting found. Code that is nested too deep was not rewritten,
 * which is a fact. */
static void judge_code(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    struct cbx_str codes[CBX_MAGIC_CODES];
    if (cbx_magic_code(m, codes) != m->code_count) {
        cbx_facts_add_special(parsed->facts, CBX_FACT_TOO_COMPLEX, CBX_STR("code in code"),
                              m->start, m->end);
    }
    for (uint32_t c = 0; c < m->code_count; c++) {
        cbx_parse_cell(parsed, m->codes[c], m->start, m->end);
    }
}

/* --- lines ------------------------------------------------------------------------------------ */

static void judge_magic(struct cbx_parsed *parsed, const struct cbx_magic *m)
{
    const struct magic_row *row = find_row(m->name);
    if (m->kind == CBX_MAGIC_SHELL) {
        judge_shell(parsed, m, m->body);
        return;
    }
    switch (row->kind) {
    case MAGIC_WORDS:
        judge_words(parsed, m, row->options);
        return;
    case MAGIC_CODE:
        if (skip_options(m->rest, row->options).p == NULL && m->rest.len > 0) {
            refuse(parsed, m);
        }
        /* fall through */
    case MAGIC_BODY:
        judge_code(parsed, m);
        return;
    case MAGIC_CONFIG:
        judge_config(parsed, m);
        return;
    case MAGIC_SHELL:
        judge_shell(parsed, m, m->rest);
        cbx_parse_shell_line(parsed, m->body, m->start, m->end);
        return;
    case MAGIC_SCRIPT:
        judge_script(parsed, m);
        return;
    case MAGIC_PIP:
        judge_command(parsed, m, CBX_STR("pip"));
        return;
    case MAGIC_CONDA:
        judge_command(parsed, m, CBX_STR("conda"));
        return;
    case MAGIC_COMMAND:
        judge_command(parsed, m, m->name);
        return;
    case MAGIC_WRITE:
        judge_write(parsed, m);
        return;
    case MAGIC_CHDIR:
        judge_chdir(parsed, m);
        return;
    case MAGIC_ASSIGN:
        judge_assignment(parsed, m);
        return;
    case MAGIC_IMPORT:
        judge_import(parsed, m);
        return;
    case MAGIC_REFUSED:
    case MAGIC_UNKNOWN:
        break;
    }
    refuse(parsed, m);
}

static void judge_lines(const struct cbx_parsed *parsed)
{
    for (size_t i = 0; i < parsed->magic_count; i++) {
        struct cbx_parsed inner = *parsed;
        inner.magics = NULL;
        inner.magic_count = 0;
        judge_magic(&inner, &parsed->magics[i]);
    }
}

const TSLanguage *tree_sitter_python(void);
const struct cbx_lang_code cbx_lang_code_ipython = { .grammar = tree_sitter_python,
                                                     .extract = cbx_extract_python,
                                                     .reads_error = cbx_py_reads_error,
                                                     .correct = cbx_py_correct,
                                                     .misindents = cbx_indent_find,
                                                     .judge_lines = judge_lines,
                                                     .between = CBX_PY_BETWEEN,
                                                     .cookie = true };
