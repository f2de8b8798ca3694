/* SPDX-License-Identifier: MIT
 * The lines of IPython to facts: shell, installs, code inside magics, files that are written. */
#include "analyzer/lang/python/magics.h"

#include "analyzer/fold.h"
#include "analyzer/lang/python/internal.h"
#include "analyzer/packages/install.h"

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
#include "analyzer/lang/python/magics.def"
    };
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        if (cbx_str_is(name, magics[i].name)) {
            return magics[i].text;
        }
    }
    return MAGIC_UNKNOWN;
}

/* True when this is an argument with which the magic is harmless; a row that ends in '.' matches as
 * a prefix. */
static bool is_chosen(struct cbx_str name, struct cbx_str argument)
{
    static const struct {
        const char *name, *argument;
    } rows[] = {
#define CBX_MAGIC_ARGUMENT(name, argument) { name, argument },
#include "analyzer/lang/python/magics.def"
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

/* %load_ext module: an import. Magics that its code adds are on no list. */
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

/* %%writefile path: a call of open(path, 'w'). A file of code is judged as code, because it may be
 * run or imported; a file of requirements as an install. */
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

/* Skips the options of %timeit before its code: -n 10 -r 3. */
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
const struct cbx_lang_code cbx_lang_code_ipython = {
    .grammar = tree_sitter_python,
    .extract = cbx_extract_python,
    .judge_lines = judge_lines,
    .between = "\n\n", /* an empty line ends any continued line */
    .cookie = true
};
