/* SPDX-License-Identifier: MIT
 * Interpreters: the code on their command lines and on their standard input. */
#include "analyzer/lang/shell/command.h"

struct interpreter {
    const char *word, *language, *code, *module, *values, *long_code;
};

static const struct interpreter interpreters[] = {
#define CBX_INTERPRETER(...) { __VA_ARGS__ },
#include "analyzer/lang/shell/commands.def"
};
static const char *const shell_words[] = {
#define CBX_SHELL_WORD(word) word,
#include "analyzer/lang/shell/commands.def"
};

void cbx_shell_judge_code(struct cbx_shell *s, const char *language, struct cbx_str text,
                          bool known, const struct cbx_word *place)
{
    if (!known || language[0] == '\0') {
        cbx_shell_unresolved(s, "code", place);
    }
    if (known && language[0] != '\0') {
        struct cbx_parsed outer = *s->parsed;
        outer.places = &s->places;
        cbx_parse_inner(&outer, language, text, place->start, place->end);
    }
}

/* Judges the standard input of an interpreter that has no other code to run. */
static void judge_input(const struct cbx_shell_command *c, const char *language)
{
    struct cbx_shell *s = c->s;
    struct cbx_str text = { 0 };
    bool known = false;
    switch (s->input.source) {
    case CBX_SHELL_INHERITED:
        if (c->fed) {
            cbx_shell_unresolved(s, "code", &c->words[0]);
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
    cbx_shell_judge_code(s, language, text, known, &c->words[0]);
}

/* Judges a script on the command line: a policy that lists the interpreter allows files, but not
 * substitutions. */
static void judge_script(const struct cbx_shell_command *c, size_t w, const char *language)
{
    const struct cbx_word *word = w < c->count ? &c->words[w] : NULL;
    if (word == NULL && c->fed) {
        cbx_shell_unresolved(c->s, "code", &c->words[0]); /* the runner adds the name of the file */
    } else if (word == NULL || (word->known && (cbx_str_is(word->text, "-") ||
                                                cbx_str_starts(word->text, CBX_STR("/dev/stdin")) ||
                                                cbx_str_starts(word->text, CBX_STR("/dev/fd/"))))) {
        judge_input(c, language);
    } else if (!word->known) {
        cbx_shell_unresolved(c->s, "code", word);
    }
}

/* Judges sh -c: the code is the first word after the options, wherever the 'c' is. */
static void judge_shell(const struct cbx_shell_command *c)
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
        cbx_shell_judge_code(c->s, "shell", c->words[w].text,
                             c->words[w].known && !cbx_shell_has_hole(c, c->words[w].text),
                             &c->words[w]);
    }
}

/* Returns true if the list has the long option; without `whole` also an abbreviation, which
 * getopt_long accepts. */
static bool names_option(const char *list, struct cbx_str name, bool whole)
{
    char text[40];
    if (list[0] == '\0' || name.len == 0 || name.len > 32) {
        return false;
    }
    snprintf(text, sizeof(text), " %.*s%s", (int)name.len, name.p, whole ? " " : "");
    return strstr(list, text) != NULL;
}

static enum cbx_shell_option kind_of_name(const struct cbx_shell_options *names,
                                          struct cbx_str name)
{
    if (names_option(names->long_values, name, true)) {
        return CBX_SHELL_OPTION_VALUE;
    }
    if (names_option(names->long_code, name, false)) {
        return CBX_SHELL_OPTION_CODE;
    }
    return names_option(names->long_values, name, false) ? CBX_SHELL_OPTION_VALUE
                                                         : CBX_SHELL_OPTION_PLAIN;
}

static enum cbx_shell_option kind_of_letter(const struct cbx_shell_options *names, char letter)
{
    if (strchr(names->code, letter) != NULL) {
        return CBX_SHELL_OPTION_CODE;
    }
    if (strchr(names->module, letter) != NULL) {
        return CBX_SHELL_OPTION_MODULE;
    }
    return strchr(names->values, letter) != NULL ? CBX_SHELL_OPTION_VALUE : CBX_SHELL_OPTION_PLAIN;
}

enum cbx_shell_option cbx_shell_take_option(const struct cbx_shell_command *c, size_t *w,
                                            const struct cbx_shell_options *names,
                                            struct cbx_word *value)
{
    struct cbx_str word = c->words[*w].text;
    enum cbx_shell_option kind = CBX_SHELL_OPTION_PLAIN;
    size_t at = 1;
    const char *equals = memchr(word.p, '=', word.len);
    if (word.p[1] == '-') {
        struct cbx_str name =
            cbx_str_sub(word, 2, equals != NULL ? (size_t)(equals - word.p) : word.len);
        kind = kind_of_name(names, name);
        at = equals != NULL ? (size_t)(equals - word.p) + 1 : word.len;
    }
    for (; word.p[1] != '-' && at < word.len && kind == CBX_SHELL_OPTION_PLAIN; at++) {
        kind = kind_of_letter(names, word.p[at]);
        const char *rest = strchr(names->values, '/');
        if (rest != NULL && strchr(rest, word.p[at]) != NULL) {
            kind = CBX_SHELL_OPTION_PLAIN;
            break;
        }
    }
    /* node -pe CODE: letters of options with code may be joined */
    while (kind == CBX_SHELL_OPTION_CODE && word.p[1] != '-' && at < word.len &&
           strchr(names->code, word.p[at]) != NULL) {
        at++;
    }
    *value = c->words[*w];
    value->text = cbx_str_sub(word, at, word.len);
    *w += 1;
    bool inside = at < word.len || (equals != NULL && word.p[1] == '-');
    if (kind != CBX_SHELL_OPTION_PLAIN && !inside) {
        *value = *w < c->count ? c->words[*w]
                               : (struct cbx_word){ .start = value->start, .end = value->end };
        *w += *w < c->count;
    }
    return kind;
}

bool cbx_shell_is_option(const struct cbx_word *word)
{
    return word->known && word->text.len > 1 && word->text.p[0] == '-';
}

/* Judges python -m MODULE as an import. Installers are handled elsewhere. In a build, a module
 * that is run counts as a program of the image. */
static void judge_module(const struct cbx_shell_command *c, const struct cbx_word *module)
{
    static const char *const installers[] = { "pip", "ensurepip", "venv" };
    if (c->s->parsed->project) {
        return;
    }
    if (!module->known) {
        cbx_shell_unresolved(c->s, "module", module);
        return;
    }
    static const char *const run_words[] = { "timeit", "pdb", "code", "IPython", "idlelib" };
    for (size_t i = 0; i < CBX_SHELL_COUNT(installers); i++) {
        if (cbx_str_is(module->text, installers[i])) {
            return;
        }
    }
    for (size_t i = 0; i < CBX_SHELL_COUNT(run_words); i++) {
        if (cbx_str_is(module->text, run_words[i])) {
            cbx_shell_unresolved(c->s, "code", module);
        }
    }
    struct cbx_str code = CBX_JOIN(c->s->parsed->arena, CBX_STR("import "), module->text);
    if (code.p != NULL) {
        cbx_parse_inner(c->s->parsed, "python", code, module->start, module->end);
    }
}

static void judge_interpreter(const struct cbx_shell_command *c, const struct interpreter *in)
{
    const struct cbx_shell_options names = { .values = in->values,
                                             .long_values = "",
                                             .code = in->code,
                                             .long_code = in->long_code,
                                             .module = in->module };
    bool done = false;
    size_t w = 1;
    while (w < c->count && cbx_shell_is_option(&c->words[w]) && !done) {
        struct cbx_word value;
        if (cbx_str_is(c->words[w].text, "--")) {
            w++;
            break;
        }
        enum cbx_shell_option kind = cbx_shell_take_option(c, &w, &names, &value);
        if (kind == CBX_SHELL_OPTION_CODE) {
            cbx_shell_judge_code(c->s, in->language, value.text,
                                 value.known && !cbx_shell_has_hole(c, value.text), &value);
        } else if (kind == CBX_SHELL_OPTION_MODULE) {
            judge_module(c, &value);
        } else if (kind == CBX_SHELL_OPTION_VALUE && !value.known) {
            cbx_shell_unresolved(c->s, "option", &value); /* the value may be several words */
        }
        done = kind == CBX_SHELL_OPTION_CODE || kind == CBX_SHELL_OPTION_MODULE;
    }
    if (!done) {
        judge_script(c, w, in->language);
    }
}

void cbx_shell_judge_interpreters(const struct cbx_shell_command *c, struct cbx_str name)
{
    for (size_t i = 0; i < CBX_SHELL_COUNT(shell_words); i++) {
        if (cbx_str_is(name, shell_words[i])) {
            judge_shell(c);
        }
    }
    for (size_t i = 0; i < CBX_SHELL_COUNT(interpreters); i++) {
        if (cbx_str_glob(cbx_str_of(interpreters[i].word), name)) {
            judge_interpreter(c, &interpreters[i]);
        }
    }
}
