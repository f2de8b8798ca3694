/* SPDX-License-Identifier: MIT
 * Command lines: what is run, what is run inside it, which code is handed to interpreters, and
 * where it writes. What commands do with their words is in shell_commands.def. */
#include "analyzer/lang/shell.h"

enum { INNER_MAX = 8 };
enum how { NOTHING, REST, JOINED, FED };

struct runner {
    const char *word, *values, *long_values, *code, *long_code;
    size_t skip;
    enum how how;
};
struct interpreter {
    const char *word, *language, *code, *module, *values, *long_code;
};
struct pair {
    const char *word, *text;
};

#define CBX_RUNNER(...)
#define CBX_INTERPRETER(...)
#define CBX_SHELL_WORD(word)
#define CBX_HANDS_OUT(word, glob)
#define CBX_VERB(word, verb)
#define CBX_WRITES(word, option)
#define CBX_VARIABLE(glob)

static const struct runner runners[] = {
#undef CBX_RUNNER
#define CBX_RUNNER(...) { __VA_ARGS__ },
#include "analyzer/lang/shell_commands.def"
#undef CBX_RUNNER
#define CBX_RUNNER(...)
};
static const struct interpreter interpreters[] = {
#undef CBX_INTERPRETER
#define CBX_INTERPRETER(...) { __VA_ARGS__ },
#include "analyzer/lang/shell_commands.def"
#undef CBX_INTERPRETER
#define CBX_INTERPRETER(...)
};
static const char *const shell_words[] = {
#undef CBX_SHELL_WORD
#define CBX_SHELL_WORD(word) word,
#include "analyzer/lang/shell_commands.def"
#undef CBX_SHELL_WORD
#define CBX_SHELL_WORD(word)
};
static const struct pair hand_outs[] = {
#undef CBX_HANDS_OUT
#define CBX_HANDS_OUT(word, glob) { word, glob },
#include "analyzer/lang/shell_commands.def"
#undef CBX_HANDS_OUT
#define CBX_HANDS_OUT(word, glob)
};
static const struct pair verbs[] = {
#undef CBX_VERB
#define CBX_VERB(word, verb) { word, verb },
#include "analyzer/lang/shell_commands.def"
#undef CBX_VERB
#define CBX_VERB(word, verb)
};
static const struct pair writers[] = {
#undef CBX_WRITES
#define CBX_WRITES(word, option) { word, option },
#include "analyzer/lang/shell_commands.def"
#undef CBX_WRITES
#define CBX_WRITES(word, option)
};
static const char *const variables[] = {
#undef CBX_VARIABLE
#define CBX_VARIABLE(glob) glob,
#include "analyzer/lang/shell_commands.def"
};
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* A command inside a command. */
struct command {
    struct cbx_shell *s;
    const struct cbx_word *words;
    const bool *patterns;
    size_t count;
    int depth;
    bool fed; /* more words are added when it runs */
};

static void judge(const struct command *c);

static void add_fact(struct cbx_shell *s, enum cbx_fact_id id, struct cbx_str name,
                     const struct cbx_word *word)
{
    cbx_facts_add_special(s->parsed->facts, id, name, word->start, word->end);
}

static void add_unresolved(struct cbx_shell *s, const char *what, const struct cbx_word *word)
{
    add_fact(s, CBX_FACT_SHELL_UNRESOLVED, cbx_str_of(what), word);
}

bool cbx_shell_is_listed(const struct cbx_shell *s, struct cbx_str word)
{
    const struct cbx_strs *list = &s->parsed->policy->shell_allow;
    for (size_t i = 0; i < list->count; i++) {
        if (cbx_str_equal(list->items[i], word)) {
            return true;
        }
    }
    return false;
}

static struct cbx_str base_name(struct cbx_str word)
{
    const char *slash = memrchr(word.p, '/', word.len);
    return slash != NULL ? cbx_str_sub(word, (size_t)(slash - word.p) + 1, word.len) : word;
}

/* --- variables and files ---------------------------------------------------------------------- */

void cbx_shell_check_variable(struct cbx_shell *s, struct cbx_str name, uint32_t start,
                              uint32_t end)
{
    for (size_t i = 0; i < COUNT(variables); i++) {
        if (cbx_str_glob(cbx_str_of(variables[i]), name)) {
            cbx_facts_add_special(s->parsed->facts, CBX_FACT_SHELL_UNRESOLVED, name, start, end);
            return;
        }
    }
}

static bool is_inside(struct cbx_str path)
{
    static const char *const devices[] = { "/dev/null",  "/dev/stdout", "/dev/stderr",
                                           "/dev/stdin", "/workspace",  "/tmp" };
    if (path.len == 0 || memmem(path.p, path.len, "..", 2) != NULL || path.p[0] == '~') {
        return false;
    }
    for (size_t i = 0; i < COUNT(devices); i++) {
        if (cbx_str_is(path, devices[i])) {
            return true;
        }
    }
    return path.p[0] != '/' || cbx_str_starts(path, CBX_STR("/workspace/")) ||
           cbx_str_starts(path, CBX_STR("/tmp/")) || cbx_str_starts(path, CBX_STR("/dev/fd/"));
}

void cbx_shell_check_target(struct cbx_shell *s, struct cbx_str path, bool known, bool writes,
                            uint32_t start, uint32_t end)
{
    bool network = known && (cbx_str_starts(path, CBX_STR("/dev/tcp/")) ||
                             cbx_str_starts(path, CBX_STR("/dev/udp/")));
    if (network) {
        cbx_facts_add(s->parsed->facts, CBX_IS_CALL, cbx_str_sub(path, 0, 8), start, end);
    }
    if (network || (writes && (!known || !is_inside(path)))) {
        cbx_facts_add_special(s->parsed->facts, CBX_FACT_SHELL_REDIRECT,
                              known ? path : CBX_STR("(computed)"), start, end);
    }
}

/* The value of an option: joined to it (-oX, --out=X) or the next word. */
static const struct cbx_word *option_value(const struct command *c, size_t w, const char *option,
                                           struct cbx_str *value)
{
    struct cbx_str word = c->words[w].text, name = cbx_str_of(option);
    if (!c->words[w].known || !cbx_str_starts(word, name)) {
        return NULL;
    }
    struct cbx_str rest = cbx_str_sub(word, name.len, word.len);
    bool is_long = name.len > 2;
    if (rest.len == 0) {
        *value = w + 1 < c->count ? c->words[w + 1].text : rest;
        return w + 1 < c->count ? &c->words[w + 1] : NULL;
    }
    if (is_long && rest.p[0] != '=') {
        return NULL;
    }
    *value = cbx_str_sub(rest, is_long, rest.len);
    return &c->words[w];
}

static void check_writes(const struct command *c, struct cbx_str name)
{
    for (size_t i = 0; i < COUNT(writers); i++) {
        for (size_t w = 1; cbx_str_is(name, writers[i].word) && w < c->count; w++) {
            struct cbx_str value = c->words[w].text;
            const struct cbx_word *word = &c->words[w];
            if (writers[i].text[0] != '\0') {
                word = option_value(c, w, writers[i].text, &value);
            } else if (word->known && value.len > 0 && value.p[0] == '-') {
                continue;
            }
            if (word != NULL) {
                cbx_shell_check_target(c->s, value, word->known, true, word->start, word->end);
            }
        }
    }
}

/* --- code ------------------------------------------------------------------------------------- */

/* In notebooks {x} and $x are replaced by what a variable of Python holds, in quotes too. */
static bool may_be_expanded(const struct cbx_shell *s, struct cbx_str text)
{
    for (size_t i = 0; s->expanded && i + 1 < text.len; i++) {
        unsigned char next = (unsigned char)text.p[i + 1];
        bool name = (next | 32) >= 'a' && (next | 32) <= 'z';
        if ((text.p[i] == '{' || text.p[i] == '$') && (name || next == '_' || next == '{')) {
            return true;
        }
    }
    return false;
}

/* Code that is a constant is judged as its language; any other is a fact. */
static void judge_code(struct cbx_shell *s, const char *language, struct cbx_str text, bool known,
                       const struct cbx_word *place)
{
    if (!known || language[0] == '\0' || may_be_expanded(s, text)) {
        add_unresolved(s, "code", place);
    }
    if (known && language[0] != '\0') {
        cbx_parse_inner(s->parsed, language, text, place->start, place->end);
    }
}

/* What an interpreter reads when nothing else tells it what to run. */
static void judge_input(const struct command *c, const char *language)
{
    struct cbx_shell *s = c->s;
    struct cbx_str text = { 0 };
    bool known = false;
    switch (s->input.source) {
    case CBX_SHELL_INHERITED:
        if (c->fed) {
            add_unresolved(s, "code", &c->words[0]);
        }
        return;
    case CBX_SHELL_OUTPUT:
        known = cbx_shell_output(s, s->input.node, &text);
        break;
    case CBX_SHELL_HEREDOC:
    case CBX_SHELL_HERESTRING:
        known = cbx_shell_heredoc(s, s->input.node, &text);
        break;
    case CBX_SHELL_OTHER:
        break;
    }
    judge_code(s, language, text, known, &c->words[0]);
}

/* A script that is named on the command line: a file is a matter of whoever lists the interpreter,
 * a substitution is not. */
static void judge_script(const struct command *c, size_t w, const char *language)
{
    const struct cbx_word *word = w < c->count ? &c->words[w] : NULL;
    if (word == NULL && c->fed) {
        add_unresolved(c->s, "code", &c->words[0]); /* the name of a file that is added */
    } else if (word == NULL || (word->known && (cbx_str_is(word->text, "-") ||
                                                cbx_str_starts(word->text, CBX_STR("/dev/stdin")) ||
                                                cbx_str_starts(word->text, CBX_STR("/dev/fd/"))))) {
        judge_input(c, language);
    } else if (!word->known) {
        add_unresolved(c->s, "code", word);
    }
}

/* sh -c: the code is the first word behind the options, wherever the 'c' stands. */
static void judge_shell(const struct command *c)
{
    bool code = false, input = false;
    size_t w = 1;
    for (; w < c->count && c->words[w].known && c->words[w].text.len > 1 &&
           (c->words[w].text.p[0] == '-' || c->words[w].text.p[0] == '+');
         w++) {
        struct cbx_str word = c->words[w].text;
        bool is_long = word.p[1] == '-';
        char last = word.p[word.len - 1];
        code |= !is_long && word.p[0] == '-' && memchr(word.p, 'c', word.len) != NULL;
        input |= !is_long && memchr(word.p, 's', word.len) != NULL;
        if (is_long && word.len == 2) {
            w++;
            break;
        }
        w += (!is_long && (last == 'o' || last == 'O')) || cbx_str_is(word, "--rcfile") ||
             cbx_str_is(word, "--init-file");
    }
    if (!code) {
        judge_script(c, input ? c->count : w, "shell");
    } else if (w < c->count) {
        judge_code(c->s, "shell", c->words[w].text, c->words[w].known, &c->words[w]);
    }
}

/* Is the long option in the list? getopt_long also takes what only begins an option's name. */
static bool names_option(const char *list, struct cbx_str name, bool whole)
{
    char text[40];
    if (list[0] == '\0' || name.len == 0 || name.len > 32) {
        return false;
    }
    snprintf(text, sizeof(text), " %.*s%s", (int)name.len, name.p, whole ? " " : "");
    return strstr(list, text) != NULL;
}

/* What stands at an option. */
enum option { OPTION_NONE, OPTION_PLAIN, OPTION_VALUE, OPTION_CODE, OPTION_MODULE };
struct option_names {
    const char *values, *long_values, *code, *long_code, *module;
};

/* Reads the option at *w and moves behind it and its value; what the value is stands in *value. */
static enum option take_option(const struct command *c, size_t *w, const struct option_names *names,
                               struct cbx_word *value)
{
    struct cbx_str word = c->words[*w].text;
    enum option kind = OPTION_PLAIN;
    size_t at = 1;
    const char *equals = memchr(word.p, '=', word.len);
    if (word.p[1] == '-') {
        struct cbx_str name =
            cbx_str_sub(word, 2, equals != NULL ? (size_t)(equals - word.p) : word.len);
        kind = names_option(names->long_values, name, true)    ? OPTION_VALUE
               : names_option(names->long_code, name, false)   ? OPTION_CODE
               : names_option(names->long_values, name, false) ? OPTION_VALUE
                                                               : OPTION_PLAIN;
        at = equals != NULL ? (size_t)(equals - word.p) + 1 : word.len;
    }
    for (; word.p[1] != '-' && at < word.len && kind == OPTION_PLAIN; at++) {
        kind = strchr(names->code, word.p[at]) != NULL     ? OPTION_CODE
               : strchr(names->module, word.p[at]) != NULL ? OPTION_MODULE
               : strchr(names->values, word.p[at]) != NULL ? OPTION_VALUE
                                                           : OPTION_PLAIN;
    }
    /* node -pe CODE: letters of the same kind may stand together */
    while (kind == OPTION_CODE && word.p[1] != '-' && at < word.len &&
           strchr(names->code, word.p[at]) != NULL) {
        at++;
    }
    *value = c->words[*w];
    value->text = cbx_str_sub(word, at, word.len);
    *w += 1;
    bool inside = at < word.len || (equals != NULL && word.p[1] == '-');
    if (kind != OPTION_PLAIN && !inside) {
        *value = *w < c->count ? c->words[*w]
                               : (struct cbx_word){ .start = value->start, .end = value->end };
        *w += *w < c->count;
    }
    return kind;
}

static bool is_option(const struct cbx_word *word)
{
    return word->known && word->text.len > 1 && word->text.p[0] == '-';
}

/* python -m MODULE: as if it were imported. Installers are read as such elsewhere. */
static void judge_module(const struct command *c, const struct cbx_word *module)
{
    static const char *const installers[] = { "pip", "ensurepip", "venv" };
    if (!module->known) {
        add_unresolved(c->s, "module", module);
        return;
    }
    for (size_t i = 0; i < COUNT(installers); i++) {
        if (cbx_str_is(module->text, installers[i])) {
            return;
        }
    }
    struct cbx_str code =
        cbx_arena_printf(c->s->parsed->arena, "import %.*s", CBX_STR_ARG(module->text));
    if (code.p != NULL) {
        cbx_parse_inner(c->s->parsed, "python", code, module->start, module->end);
    }
}

static void judge_interpreter(const struct command *c, const struct interpreter *in)
{
    const struct option_names names = { .values = in->values,
                                        .long_values = "",
                                        .code = in->code,
                                        .long_code = in->long_code,
                                        .module = in->module };
    bool done = false;
    size_t w = 1;
    while (w < c->count && is_option(&c->words[w]) && !done) {
        struct cbx_word value;
        if (cbx_str_is(c->words[w].text, "--")) {
            w++;
            break;
        }
        enum option kind = take_option(c, &w, &names, &value);
        if (kind == OPTION_CODE) {
            judge_code(c->s, in->language, value.text, value.known, &value);
        } else if (kind == OPTION_MODULE) {
            judge_module(c, &value);
        }
        done = kind == OPTION_CODE || kind == OPTION_MODULE;
    }
    if (!done) {
        judge_script(c, w, in->language);
    }
}

/* --- commands that run commands -----------------------------------------------------------------
 */

static void judge_inner(const struct command *c, size_t from, bool fed)
{
    struct command inner = *c;
    inner.words += from;
    inner.patterns += from;
    inner.count -= from;
    inner.depth++;
    inner.fed = fed;
    if (inner.depth > INNER_MAX) {
        add_unresolved(c->s, "nesting", &c->words[0]);
    } else if (inner.count > 0) {
        judge(&inner);
    } else if (c->fed) {
        add_unresolved(c->s, "command word", &c->words[0]);
    }
}

/* The words from `from` on as one line of shell. */
static void judge_joined(const struct command *c, size_t from)
{
    struct cbx_str line = CBX_STR("");
    for (size_t w = from; w < c->count; w++) {
        if (!c->words[w].known) {
            add_unresolved(c->s, "code", &c->words[w]);
            return;
        }
        if (cbx_str_starts(c->words[w].text, CBX_STR(":::"))) {
            break; /* parallel's arguments */
        }
    }
    size_t bytes = 1;
    for (size_t w = from; w < c->count; w++) {
        bytes += c->words[w].text.len + 1;
    }
    char *p = cbx_arena_alloc(c->s->parsed->arena, bytes), *at = p;
    for (size_t w = from; p != NULL && w < c->count; w++) {
        struct cbx_str word = c->words[w].text;
        if (cbx_str_starts(word, CBX_STR(":::"))) {
            break;
        }
        if (word.len > 0) {
            memcpy(at, word.p, word.len);
        }
        at[word.len] = ' ';
        at += word.len + 1;
    }
    line = (struct cbx_str){ .p = p, .len = p != NULL ? (size_t)(at - p) : 0 };
    if (line.len > 0) {
        judge_code(c->s, "shell", line, true, &c->words[from]);
    }
}

static bool is_assignment(const struct cbx_word *word)
{
    struct cbx_str text = word->text;
    size_t n = 0;
    while (n < text.len &&
           (text.p[n] == '_' || ((text.p[n] | 32) >= 'a' && (text.p[n] | 32) <= 'z') ||
            (n > 0 && text.p[n] >= '0' && text.p[n] <= '9'))) {
        n++;
    }
    return word->known && n > 0 && n < text.len && text.p[n] == '=';
}

static void judge_runner(const struct command *c, const struct runner *r)
{
    const struct option_names names = { r->values, r->long_values, r->code, r->long_code, "" };
    size_t w = 1, skip = r->skip;
    for (bool options = true; w < c->count && (r->how != NOTHING || options);) {
        const struct cbx_word *word = &c->words[w];
        struct cbx_word value;
        if (options && cbx_str_is(word->text, "--") && word->known) {
            options = r->how == NOTHING;
            w++;
        } else if (options && is_option(word)) {
            if (take_option(c, &w, &names, &value) == OPTION_CODE) {
                /* tar's action: exec=COMMAND */
                bool exec = cbx_str_starts(value.text, CBX_STR("exec="));
                judge_code(c->s, "shell", cbx_str_sub(value.text, exec ? 5 : 0, value.text.len),
                           value.known, &value);
            }
        } else if (is_assignment(word) && r->how != NOTHING) {
            const char *equals = memchr(word->text.p, '=', word->text.len);
            cbx_shell_check_variable(c->s,
                                     cbx_str_sub(word->text, 0, (size_t)(equals - word->text.p)),
                                     word->start, word->end);
            w++;
        } else if (r->how == NOTHING || cbx_str_is(word->text, "-")) {
            w++;
        } else if (skip > 0) {
            skip--;
            w++;
        } else {
            break;
        }
    }
    if (r->how == JOINED && w < c->count) {
        judge_joined(c, w);
    } else if (r->how == REST || r->how == FED) {
        judge_inner(c, w < c->count ? w : c->count, r->how == FED || c->fed);
    }
}

static bool ends_exec(const struct command *c, size_t w)
{
    return c->words[w].known && (cbx_str_is(c->words[w].text, ";") ||
                                 (cbx_str_is(c->words[w].text, "+") && c->words[w - 1].known &&
                                  cbx_str_is(c->words[w - 1].text, "{}")));
}

/* find DIR -exec COMMAND ; */
static void judge_find(const struct command *c)
{
    static const char *const runs[] = { "-exec", "-execdir", "-ok", "-okdir" };
    for (size_t w = 1; w + 1 < c->count; w++) {
        for (size_t i = 0; i < COUNT(runs); i++) {
            if (c->words[w].known && cbx_str_is(c->words[w].text, runs[i])) {
                size_t end = w + 1;
                while (end < c->count && !ends_exec(c, end)) {
                    end++;
                }
                struct command inner = *c;
                inner.count = end;
                judge_inner(&inner, w + 1, true);
                w = end;
                break;
            }
        }
    }
}

/* --- builtins that run texts --------------------------------------------------------------------
 */

static void judge_eval(const struct command *c)
{
    if (c->count > 1) {
        judge_joined(c, 1);
    }
}

/* trap TEXT SIGNAL... */
static void judge_trap(const struct command *c)
{
    size_t w = c->count > 1 && c->words[1].known && cbx_str_is(c->words[1].text, "--") ? 2 : 1;
    if (w + 1 < c->count && !(c->words[w].known && cbx_str_is(c->words[w].text, "-"))) {
        judge_code(c->s, "shell", c->words[w].text, c->words[w].known, &c->words[w]);
    }
}

static void judge_source(const struct command *c)
{
    add_unresolved(c->s, "code of another file", &c->words[0]);
}

/* alias NAME=TEXT */
static void judge_alias(const struct command *c)
{
    for (size_t w = 1; w < c->count; w++) {
        struct cbx_str word = c->words[w].text;
        const char *equals = memchr(word.p, '=', word.len);
        if (!c->words[w].known) {
            add_unresolved(c->s, "alias", &c->words[w]);
        } else if (equals != NULL) {
            size_t at = (size_t)(equals - word.p);
            if (cbx_shell_is_listed(c->s, cbx_str_sub(word, 0, at))) {
                add_unresolved(c->s, "alias", &c->words[w]);
            }
            judge_code(c->s, "shell", cbx_str_sub(word, at + 1, word.len), true, &c->words[w]);
        }
    }
}

/* read NAME..., printf -v NAME, unset NAME */
static void judge_names(const struct command *c)
{
    for (size_t w = 1; w < c->count; w++) {
        if (c->words[w].known) {
            struct cbx_str word = c->words[w].text;
            const char *equals = memchr(word.p, '=', word.len);
            cbx_shell_check_variable(
                c->s, cbx_str_sub(word, 0, equals != NULL ? (size_t)(equals - word.p) : word.len),
                c->words[w].start, c->words[w].end);
        }
    }
}

/* A script of sed may run commands (e) and write files (w): any such letter where a command or a
 * flag can stand counts. */
static bool sed_acts(struct cbx_str script)
{
    for (size_t i = 0; i < script.len;) {
        char c = script.p[i];
        if (c == 'e' || c == 'w' || c == 'W') {
            return true;
        }
        if (c == 's' || c == 'y' || c == '/' || c == '\\') {
            char mark = c == '/' ? '/' : i + 1 < script.len ? script.p[i + 1] : '\0';
            int parts = c == 's' || c == 'y' ? 2 : 1;
            i += c == '/' ? 1 : 2;
            for (; i < script.len && parts > 0; i++) {
                parts -= script.p[i] == mark;
                i += script.p[i] == '\\';
            }
        } else if (strchr("aicrRbtT:#", c) != NULL && c != '\0') {
            while (i < script.len && script.p[i] != '\n' &&
                   !(strchr("bt", c) != NULL && script.p[i] == ';')) {
                i++;
            }
        } else {
            i++;
        }
    }
    return false;
}

static void judge_sed(const struct command *c)
{
    bool given = false;
    for (size_t w = 1; w < c->count; w++) {
        struct cbx_str word = c->words[w].text;
        struct cbx_str script = word;
        bool option = is_option(&c->words[w]);
        bool short_e = option && word.p[1] != '-' && memchr(word.p, 'e', word.len) != NULL;
        bool long_e = option && cbx_str_starts(word, CBX_STR("--expression="));
        bool file = option && (cbx_str_starts(word, CBX_STR("-f")) ||
                               cbx_str_starts(word, CBX_STR("--file")));
        if (file) {
            add_unresolved(c->s, "code", &c->words[w]);
            given = true;
            continue;
        }
        if (long_e) {
            script = cbx_str_sub(word, 13, word.len);
        } else if (short_e) {
            const char *e = memchr(word.p, 'e', word.len);
            script = cbx_str_sub(word, (size_t)(e - word.p) + 1, word.len);
            if (script.len == 0 && w + 1 < c->count) {
                script = c->words[++w].text;
            }
        } else if (option || given) {
            continue;
        }
        given = true;
        if (!c->words[w].known || sed_acts(script)) {
            add_unresolved(c->s, "code", &c->words[w]);
        }
    }
}

static const struct {
    const char *word;
    void (*judge)(const struct command *c);
} specials[] = {
    { "find", judge_find },       { "eval", judge_eval },     { "trap", judge_trap },
    { "source", judge_source },   { ".", judge_source },      { "alias", judge_alias },
    { "read", judge_names },      { "printf", judge_names },  { "mapfile", judge_names },
    { "readarray", judge_names }, { "getopts", judge_names }, { "unset", judge_names },
    { "let", judge_names },       { "export", judge_names },  { "declare", judge_names },
    { "typeset", judge_names },   { "local", judge_names },   { "readonly", judge_names },
    { "sed", judge_sed },         { "gsed", judge_sed },
};

/* --- a command line --------------------------------------------------------------------------- */

static void check_arguments(const struct command *c, struct cbx_str name)
{
    size_t first = 1;
    while (first < c->count && is_option(&c->words[first])) {
        first++;
    }
    for (size_t i = 0; first < c->count && i < COUNT(verbs); i++) {
        if (cbx_str_is(name, verbs[i].word) && c->words[first].known &&
            cbx_str_is(c->words[first].text, verbs[i].text)) {
            add_unresolved(c->s, "code", &c->words[first]);
        }
    }
    for (size_t i = 0; i < COUNT(hand_outs); i++) {
        for (size_t w = 1; cbx_str_is(name, hand_outs[i].word) && w < c->count; w++) {
            if (c->words[w].known &&
                cbx_str_glob(cbx_str_of(hand_outs[i].text), c->words[w].text)) {
                add_unresolved(c->s, "code", &c->words[w]);
            }
        }
    }
}

/* The command as a call, for rules that speak of calls and capabilities. */
static void add_call(const struct command *c, struct cbx_str name)
{
    struct cbx_facts *facts = c->s->parsed->facts;
    struct cbx_arg *args = cbx_arena_array(facts->arena, c->count, sizeof(*args));
    struct cbx_fact *fact =
        args != NULL ? cbx_facts_add(facts, CBX_IS_CALL, name, c->words[0].start, c->words[0].end)
                     : NULL;
    if (fact == NULL) {
        return;
    }
    for (size_t w = 1; w < c->count; w++) {
        args[w - 1] = (struct cbx_arg){ .position = (uint32_t)(w - 1),
                                        .known = c->words[w].known,
                                        .constant = c->words[w].known,
                                        .value = c->words[w].text };
        fact->spread |= !c->words[w].known;
    }
    fact->args = args;
    fact->arg_count = (uint32_t)(c->count - 1);
    fact->spread |= c->fed;
}

/* Installs are read by the bare name of the installer, wherever it lies. */
static void read_packages(const struct command *c, struct cbx_str name)
{
    if (!c->fed && name.len == c->words[0].text.len) {
        cbx_packages_read(c->s->parsed, c->words, c->count);
        return;
    }
    struct cbx_word *words = cbx_arena_array(c->s->parsed->arena, c->count + 1, sizeof(*words));
    if (words != NULL) {
        memcpy(words, c->words, c->count * sizeof(*words));
        words[0].text = name;
        words[c->count] = (struct cbx_word){ .start = words[0].start, .end = words[0].end };
        cbx_packages_read(c->s->parsed, words, c->count + c->fed);
    }
}

static void judge_by_name(const struct command *c, struct cbx_str name)
{
    for (size_t i = 0; i < COUNT(shell_words); i++) {
        if (cbx_str_is(name, shell_words[i])) {
            judge_shell(c);
        }
    }
    for (size_t i = 0; i < COUNT(interpreters); i++) {
        if (cbx_str_glob(cbx_str_of(interpreters[i].word), name)) {
            judge_interpreter(c, &interpreters[i]);
        }
    }
    for (size_t i = 0; i < COUNT(runners); i++) {
        if (cbx_str_is(name, runners[i].word)) {
            judge_runner(c, &runners[i]);
        }
    }
    for (size_t i = 0; i < COUNT(specials); i++) {
        if (cbx_str_is(name, specials[i].word)) {
            specials[i].judge(c);
        }
    }
}

static void judge(const struct command *c)
{
    const struct cbx_word *word = &c->words[0];
    if (!word->known || word->text.len == 0 || c->patterns[0]) {
        add_unresolved(c->s, "command word", word);
        return;
    }
    struct cbx_str name = base_name(word->text);
    bool function = c->depth == 0 && cbx_shell_function(c->s, word->text, word->start);
    if (!function && !cbx_shell_is_listed(c->s, word->text)) {
        add_fact(c->s, CBX_FACT_SHELL_NOT_LISTED, word->text, word);
    }
    if (!function) {
        add_call(c, name);
    }
    read_packages(c, name);
    check_arguments(c, name);
    check_writes(c, name);
    judge_by_name(c, name);
}

void cbx_shell_judge(struct cbx_shell *s, const struct cbx_shell_line *line)
{
    if (line->count > 0) {
        judge(&(struct command){
            .s = s, .words = line->words, .patterns = line->patterns, .count = line->count });
    }
}
