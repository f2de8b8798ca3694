/* SPDX-License-Identifier: MIT
 * The same table as completions for bash, zsh and fish, and as the list of a man page. */
#include "policies/base/options/options_words.h"

#include <ctype.h>

static bool takes_files(const struct cbx_option_table *table, const struct cbx_option *row)
{
    const struct cbx_option_kind *kind = cbx_option_kind(table, row);
    return kind != NULL && kind->files;
}

/* Returns the command whose first column completes the value, or NULL. */
static const char *command_of(const struct cbx_option_table *table, const struct cbx_option *row)
{
    const struct cbx_option_kind *kind = cbx_option_kind(table, row);
    return kind != NULL ? kind->command : NULL;
}

/* Adds the name of a shell function: "_codebox_lint". */
static void add_function(const struct cbx_option_table *table, struct cbx_buf *out)
{
    cbx_buf_add_char(out, '_');
    for (const char *c = table->program; *c != '\0'; c++) {
        cbx_buf_add_char(out, *c == '-' ? '_' : *c);
    }
}

static void add_bash_option(const struct cbx_option_table *table, const struct cbx_option *row,
                            struct cbx_buf *out)
{
    const char *command = command_of(table, row);
    if (row->type == CBX_OPTION_FLAG) {
        return;
    }
    cbx_buf_printf(out, "    --%s)\n        COMPREPLY=($(compgen%s -W \"", row->name,
                   takes_files(table, row) ? " -f" : "");
    if (command != NULL) {
        cbx_buf_printf(out, "$(%s | cut -d ' ' -f 1)", command);
    }
    cbx_option_words(table, row, out);
    cbx_buf_add_cstr(out, "\" -- \"$word\"))\n        return\n        ;;\n");
}

static void add_bash(const struct cbx_option_table *table, struct cbx_buf *out)
{
    cbx_buf_printf(out, "# bash completion of %s\n", table->program);
    add_function(table, out);
    cbx_buf_add_cstr(out,
                     "() {\n"
                     "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "    COMPREPLY=()\n"
                     "    case $before in\n");
    for (size_t i = 0; i < table->count; i++) {
        if (cbx_option_is_of(table, &table->rows[i])) {
            add_bash_option(table, &table->rows[i], out);
        }
    }
    cbx_buf_add_cstr(
        out, "    esac\n    if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W \"");
    const char *before = "";
    for (size_t i = 0; i < table->count; i++) {
        if (cbx_option_is_of(table, &table->rows[i])) {
            cbx_buf_printf(out, "%s--%s", before, table->rows[i].name);
            before = " ";
        }
    }
    cbx_buf_add_cstr(out,
                     "\" -- \"$word\"))\n    else\n        COMPREPLY=($(compgen -f -- \"$word\"))\n"
                     "    fi\n}\ncomplete -o filenames -F ");
    add_function(table, out);
    cbx_buf_printf(out, " %s\n", table->program);
}

/* Escapes the characters that end a description in zsh's quotes. */
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

static void add_zsh_value(const struct cbx_option_table *table, const struct cbx_option *row,
                          struct cbx_buf *out)
{
    CBX_AUTO_DONE(buf) words;
    cbx_buf_init(&words, CBX_OPTION_WORDS_MAX_BYTES);
    cbx_option_words(table, row, &words);
    cbx_buf_printf(out, ":%s:", row->value);
    if (command_of(table, row) != NULL) {
        cbx_buf_printf(out, "($(%s | cut -d \" \" -f 1))", command_of(table, row));
    } else if (takes_files(table, row) && words.len > 0) {
        cbx_buf_printf(out, " _alternative \"presets\\:preset\\:(%s)\" \"files\\:file\\:_files\"",
                       words.p);
    } else if (takes_files(table, row)) {
        cbx_buf_add_cstr(out, "_files");
    } else if (words.len > 0) {
        cbx_buf_printf(out, "(%s)", words.p);
    }
}

static void add_zsh(const struct cbx_option_table *table, struct cbx_buf *out)
{
    cbx_buf_printf(out, "#compdef %s\n_arguments -S \\\n", table->program);
    for (size_t i = 0; i < table->count; i++) {
        const struct cbx_option *row = &table->rows[i];
        CBX_AUTO_DONE(buf) sentence;
        cbx_buf_init(&sentence, CBX_OPTION_WORDS_MAX_BYTES);
        if (!cbx_option_is_of(table, row)) {
            continue;
        }
        cbx_buf_printf(out, "    '%s--%s%s[", row->type == CBX_OPTION_LIST ? "*" : "", row->name,
                       row->type == CBX_OPTION_FLAG ? "" : "=");
        cbx_option_sentence(table, row, &sentence);
        add_quoted(sentence.p, "[]\\:", out);
        cbx_buf_add_char(out, ']');
        if (row->type != CBX_OPTION_FLAG) {
            add_zsh_value(table, row, out);
        }
        cbx_buf_add_cstr(out, "' \\\n");
    }
    cbx_buf_add_cstr(out, "    '*:path:_files'\n");
}

static void add_fish_option(const struct cbx_option_table *table, const struct cbx_option *row,
                            struct cbx_buf *out)
{
    CBX_AUTO_DONE(buf) words;
    CBX_AUTO_DONE(buf) sentence;
    cbx_buf_init(&words, CBX_OPTION_WORDS_MAX_BYTES);
    cbx_buf_init(&sentence, CBX_OPTION_WORDS_MAX_BYTES);
    cbx_option_words(table, row, &words);
    cbx_buf_printf(out, "complete -c %s -l %s%s%s", table->program, row->name,
                   row->type == CBX_OPTION_FLAG ? "" : " -r",
                   row->type == CBX_OPTION_FLAG || takes_files(table, row) ? "" : " -f");
    if (command_of(table, row) != NULL) {
        cbx_buf_printf(out, " -a '(%s | string split -f 1 \" \")'", command_of(table, row));
    } else if (words.len > 0) {
        cbx_buf_printf(out, " -a '%s'", words.p);
    }
    cbx_buf_add_cstr(out, " -d '");
    cbx_option_sentence(table, row, &sentence);
    for (const char *c = sentence.p; *c != '\0'; c++) {
        cbx_buf_printf(out, "%s%c", *c == '\'' || *c == '\\' ? "\\" : "", *c);
    }
    cbx_buf_add_cstr(out, "'\n");
}

static void add_fish(const struct cbx_option_table *table, struct cbx_buf *out)
{
    cbx_buf_printf(out, "# fish completion of %s\n", table->program);
    for (size_t i = 0; i < table->count; i++) {
        if (cbx_option_is_of(table, &table->rows[i])) {
            add_fish_option(table, &table->rows[i], out);
        }
    }
}

static void add_man(const struct cbx_option_table *table, struct cbx_buf *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct cbx_option *row = &table->rows[i];
        CBX_AUTO_DONE(buf) sentence;
        cbx_buf_init(&sentence, CBX_OPTION_WORDS_MAX_BYTES);
        if (cbx_option_is_of(table, row)) {
            cbx_buf_printf(out, ".It Fl Fl %s%s%s\n", row->name, row->value != NULL ? " Ar " : "",
                           row->value != NULL ? row->value : "");
            cbx_option_sentence(table, row, &sentence);
            cbx_buf_add_char(out, (char)toupper((unsigned char)sentence.p[0]));
            cbx_buf_printf(out, "%s.\n", sentence.len > 0 ? sentence.p + 1 : "");
        }
    }
}

void cbx_options_complete(const struct cbx_option_table *table, const char *shell,
                          struct cbx_buf *out)
{
    static const struct {
        const char *name;
        void (*add)(const struct cbx_option_table *table, struct cbx_buf *out);
    } shells[] = {
        { "bash", add_bash }, { "zsh", add_zsh }, { "fish", add_fish }, { "man", add_man }
    };
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].add(table, out);
        }
    }
}
