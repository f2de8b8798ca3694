/* SPDX-License-Identifier: MIT
 * Options, and all that is made of their table. */
#include "analyzer/lint/options.h"

#include "policies/policy.h"

#include <ctype.h>

enum option_type { OPTION_FLAG, OPTION_TEXT, OPTION_WORD, OPTION_LIST };

struct option {
    const char *name;
    enum option_type type;
    size_t offset;
    const char *value, *words, *help;
};

static const struct option options[] = {
#define CBX_OPTION(member, name, type, value, words, help)                                         \
    { name, OPTION_##type, offsetof(struct cbx_lint_options, member), value, words, help },
#include "analyzer/lint/options.def"
#undef CBX_OPTION
};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

/* --- parsing ---------------------------------------------------------------------------------- */

static const struct option *find_option(struct cbx_str name)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (cbx_str_is(name, options[i].name)) {
            return &options[i];
        }
    }
    return NULL;
}

static int fail_unknown(struct cbx_str name, struct cbx_err *err)
{
    const char *nearest = NULL;
    size_t best = 4;
    for (size_t i = 0; i < OPTIONS; i++) {
        size_t distance = cbx_str_distance(name, cbx_str_of(options[i].name), 3);
        nearest = distance < best ? options[i].name : nearest;
        best = distance < best ? distance : best;
    }
    return nearest != NULL
               ? cbx_fail(err, CBX_EINVAL, "unknown option '--%.*s', did you mean '--%s'",
                          CBX_STR_ARG(name), nearest)
               : cbx_fail(err, CBX_EINVAL, "unknown option '--%.*s'; --help lists the options",
                          CBX_STR_ARG(name));
}

/* Is it one of the words with a blank in between? */
static bool is_word(const char *words, struct cbx_str value)
{
    while (*words != '\0') {
        size_t len = strcspn(words, " ");
        if (cbx_str_equal(value, (struct cbx_str){ .p = words, .len = len })) {
            return true;
        }
        words += len + (words[len] == ' ');
    }
    return false;
}

static int set_option(const struct option *option, const char *value, struct cbx_lint_options *out,
                      struct cbx_err *err)
{
    void *member = (char *)out + option->offset;
    struct cbx_words *list = member;
    switch (option->type) {
    case OPTION_FLAG:
        *(bool *)member = true;
        return 0;
    case OPTION_WORD:
        if (!is_word(option->words, cbx_str_of(value))) {
            return cbx_fail(err, CBX_EINVAL, "--%s is '%s', allowed are: %s", option->name, value,
                            option->words);
        }
        *(const char **)member = value;
        return 0;
    case OPTION_TEXT:
        *(const char **)member = value;
        return 0;
    case OPTION_LIST:
        list->items[list->count++] = value;
        return 0;
    }
    return 0;
}

/* The option at argv[*i], and its value. */
static int parse_option(int argc, char **argv, int *i, struct cbx_lint_options *out,
                        struct cbx_err *err)
{
    const char *word = argv[*i][1] == 'h' && argv[*i][2] == '\0' ? "--help" : argv[*i];
    const char *equals = strchr(word, '=');
    struct cbx_str name = cbx_str_of(word);
    name = cbx_str_sub(name, 2, equals != NULL ? (size_t)(equals - word) : name.len);
    const struct option *option = word[1] == '-' ? find_option(name) : NULL;
    if (word[1] != '-') {
        return cbx_fail(err, CBX_EINVAL, "unknown option '%s'; --help lists the options", word);
    }
    if (option == NULL) {
        return fail_unknown(name, err);
    }
    const char *value = equals != NULL ? equals + 1 : NULL;
    if (option->type == OPTION_FLAG && value != NULL) {
        return cbx_fail(err, CBX_EINVAL, "--%s takes no value, it has '%s'", option->name, value);
    }
    if (option->type != OPTION_FLAG && value == NULL && ++*i >= argc) {
        return cbx_fail(err, CBX_EINVAL, "--%s needs a value: %s", option->name, option->value);
    }
    return set_option(option, value != NULL ? value : argv[*i], out, err);
}

int cbx_lint_options_parse(int argc, char **argv, struct cbx_lint_options *out, struct cbx_err *err)
{
    size_t size = (size_t)argc + 1;
    *out = (struct cbx_lint_options){ .memory = calloc(3 * size, sizeof(char *)) };
    if (out->memory == NULL) {
        abort();
    }
    out->paths.items = out->memory;
    out->include.items = out->memory + size;
    out->exclude.items = out->memory + 2 * size;
    bool ended = false;
    int failed = 0;
    for (int i = 1; !failed && i < argc; i++) {
        if (ended || argv[i][0] != '-' || argv[i][1] == '\0') {
            out->paths.items[out->paths.count++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            ended = true;
        } else {
            failed = parse_option(argc, argv, &i, out, err);
        }
    }
    return failed;
}

void cbx_lint_options_done(struct cbx_lint_options *o)
{
    free(o->memory);
    o->memory = NULL;
}

/* --- help ------------------------------------------------------------------------------------- */

enum { HELP_INDENT = 28, HELP_WIDTH = 100 };

/* Words, broken before HELP_WIDTH, behind an indent. */
static void add_wrapped(const char *text, size_t column, struct cbx_buf *out)
{
    for (const char *before = ""; *text != '\0'; before = " ") {
        size_t len = strcspn(text, " ");
        if (column + len + 1 > HELP_WIDTH) {
            cbx_buf_printf(out, "\n%*s", HELP_INDENT, "");
            column = HELP_INDENT;
            before = "";
        }
        cbx_buf_printf(out, "%s%.*s", before, (int)len, text);
        column += len + 1;
        text += len + strspn(text + len, " ");
    }
    cbx_buf_add_char(out, '\n');
}

void cbx_lint_help(struct cbx_buf *out)
{
    cbx_buf_add_cstr(
        out,
        "usage: codebox-lint [options] PATH ...\n"
        "Judges Python, JavaScript and shell files, folders and notebooks (.ipynb) under a policy; "
        "runs\nnothing. '-' is standard input. In folders, files of other names and hidden ones "
        "are "
        "left alone, and\nso is what .gitignore names; a file that is named itself is always "
        "checked.\n\n");
    for (size_t i = 0; i < OPTIONS; i++) {
        char left[64];
        const struct option *o = &options[i];
        snprintf(left, sizeof(left), "  --%s%s%s", o->name, o->value != NULL ? " " : "",
                 o->value != NULL ? o->value : "");
        cbx_buf_printf(out, "%-*s", HELP_INDENT, left);
        add_wrapped(o->help, HELP_INDENT, out);
    }
    cbx_buf_add_cstr(out, "\nexit status: 0 everything is allowed; 1 something is denied or needs "
                          "approval; 2 something could\nnot be checked\n");
}

/* --- completion ------------------------------------------------------------------------------- */

/* The words that an option's value completes to; "" when they are files or anything. */
static void add_words(const struct option *o, struct cbx_buf *out)
{
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    if (o->type == OPTION_WORD) {
        cbx_buf_add_cstr(out, o->words);
    }
    for (size_t i = 0; o->words != NULL && strcmp(o->words, "@policy") == 0 && i < count; i++) {
        cbx_buf_printf(out, "%s%s", i > 0 ? " " : "", presets[i].name);
    }
}

static bool takes_files(const struct option *o)
{
    return o->words != NULL && (strcmp(o->words, "@file") == 0 || strcmp(o->words, "@policy") == 0);
}

static bool takes_rules(const struct option *o)
{
    return o->words != NULL && strcmp(o->words, "@rule") == 0;
}

static void add_names(struct cbx_buf *out)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        cbx_buf_printf(out, "%s--%s", i > 0 ? " " : "", options[i].name);
    }
}

static void add_bash(struct cbx_buf *out)
{
    cbx_buf_add_cstr(out,
                     "# bash completion of codebox-lint\n"
                     "_codebox_lint() {\n"
                     "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "    COMPREPLY=()\n"
                     "    case $before in\n");
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *o = &options[i];
        if (o->type == OPTION_FLAG) {
            continue;
        }
        cbx_buf_printf(out, "    --%s)\n        COMPREPLY=($(compgen%s -W \"", o->name,
                       takes_files(o) ? " -f" : "");
        cbx_buf_add_cstr(out, takes_rules(o)
                                  ? "$(codebox-lint --list-rules 2>/dev/null | cut -d ' ' -f 1)"
                                  : "");
        add_words(o, out);
        cbx_buf_add_cstr(out, "\" -- \"$word\"))\n        return\n        ;;\n");
    }
    cbx_buf_add_cstr(
        out, "    esac\n    if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W \"");
    add_names(out);
    cbx_buf_add_cstr(out,
                     "\" -- \"$word\"))\n    else\n        COMPREPLY=($(compgen -f -- \"$word\"))\n"
                     "    fi\n}\ncomplete -o filenames -F _codebox_lint codebox-lint\n");
}

/* What ends a description in zsh's and fish's quotes. */
static void add_quoted(const char *text, const char *special, struct cbx_buf *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            cbx_buf_add_cstr(out, "'\\''");
        } else {
            cbx_buf_add_cstr(out, strchr(special, *text) != NULL ? "\\" : "");
            cbx_buf_add_char(out, *text);
        }
    }
}

static void add_zsh(struct cbx_buf *out)
{
    cbx_buf_add_cstr(out, "#compdef codebox-lint\n_arguments -S \\\n");
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *o = &options[i];
        cbx_buf_printf(out, "    '%s--%s%s[", o->type == OPTION_LIST ? "*" : "", o->name,
                       o->type == OPTION_FLAG ? "" : "=");
        add_quoted(o->help, "[]\\:", out);
        cbx_buf_add_char(out, ']');
        if (o->type != OPTION_FLAG) {
            CBX_AUTO_DONE(buf) words;
            cbx_buf_init(&words, 4096);
            add_words(o, &words);
            cbx_buf_printf(out, ":%s:", o->value);
            if (takes_rules(o)) {
                cbx_buf_add_cstr(out,
                                 "($(codebox-lint --list-rules 2>/dev/null | cut -d \" \" -f 1))");
            } else if (strcmp(o->words != NULL ? o->words : "", "@policy") == 0) {
                cbx_buf_printf(
                    out, " _alternative \"presets\\:preset\\:(%s)\" \"files\\:file\\:_files\"",
                    words.p);
            } else if (takes_files(o)) {
                cbx_buf_add_cstr(out, "_files");
            } else if (words.len > 0) {
                cbx_buf_printf(out, "(%s)", words.p);
            }
        }
        cbx_buf_add_cstr(out, "' \\\n");
    }
    cbx_buf_add_cstr(out, "    '*:path:_files'\n");
}

static void add_fish(struct cbx_buf *out)
{
    cbx_buf_add_cstr(out, "# fish completion of codebox-lint\n");
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *o = &options[i];
        CBX_AUTO_DONE(buf) words;
        cbx_buf_init(&words, 4096);
        add_words(o, &words);
        cbx_buf_printf(out, "complete -c codebox-lint -l %s%s%s", o->name,
                       o->type == OPTION_FLAG ? "" : " -r",
                       o->type == OPTION_FLAG || takes_files(o) ? "" : " -f");
        if (takes_rules(o)) {
            cbx_buf_add_cstr(
                out, " -a '(codebox-lint --list-rules 2>/dev/null | string split -f 1 \" \")'");
        } else if (words.len > 0) {
            cbx_buf_printf(out, " -a '%s'", words.p);
        }
        cbx_buf_add_cstr(out, " -d '");
        for (const char *c = o->help; *c != '\0'; c++) {
            cbx_buf_printf(out, "%s%c", *c == '\'' || *c == '\\' ? "\\" : "", *c);
        }
        cbx_buf_add_cstr(out, "'\n");
    }
}

/* The option list of the man page. */
static void add_man(struct cbx_buf *out)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *o = &options[i];
        cbx_buf_printf(out, ".It Fl Fl %s%s%s\n", o->name, o->value != NULL ? " Ar " : "",
                       o->value != NULL ? o->value : "");
        cbx_buf_add_char(out, (char)toupper((unsigned char)o->help[0]));
        cbx_buf_printf(out, "%s.\n", o->help + 1);
    }
}

void cbx_lint_completion(const char *shell, struct cbx_buf *out)
{
    static const struct {
        const char *name;
        void (*add)(struct cbx_buf *out);
    } shells[] = {
        { "bash", add_bash }, { "zsh", add_zsh }, { "fish", add_fish }, { "man", add_man }
    };
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].add(out);
        }
    }
}
