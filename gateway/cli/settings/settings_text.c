/* SPDX-License-Identifier: MIT
 * The configuration file as a text: the example with every key, and the explanation of the
 * settings in use. */
#include "gateway/cli/settings/settings.h"

#include "gateway/identity/principals.h"

#include <string.h>
#include <utf8proc.h>

static const struct section {
    const char *name, *help;
} rows[] = {
#define CBX_SETTINGS_SECTION(name, check, help) { #name, help },
#include "gateway/cli/settings/sections.def"
#undef CBX_SETTINGS_SECTION
};

/* Returns the default as the help has it: the parentheses at the end of the text; empty without
 * them. */
static struct cbx_str default_of(const struct cbx_option *row)
{
    struct cbx_str help = cbx_str_of(row->help);
    size_t depth = 0;
    for (size_t i = help.len; help.len > 0 && help.p[help.len - 1] == ')' && i > 0; i--) {
        depth += help.p[i - 1] == ')';
        depth -= help.p[i - 1] == '(';
        if (depth == 0) {
            return cbx_str_sub(help, i, help.len - 1);
        }
    }
    return CBX_STR("");
}

void cbx_settings_example(const struct cbx_option_table *table, struct cbx_buf *out)
{
    cbx_buf_add_cstr(
        out, "# Configuration of codebox serve and codebox mcp: " CBX_SETTINGS_FILE ".\n"
             "# Every key is an option of the same name. The command line comes before the\n"
             "# variables CODEBOX_KEY, these before this file, and this file before the\n"
             "# defaults, which stand in parentheses. 'codebox config check' checks it.\n");
    for (size_t i = 0; i < table->count; i++) {
        const struct cbx_option *row = &table->rows[i];
        CBX_AUTO_DONE(buf) sentence;
        cbx_buf_init(&sentence, 16384);
        if (cbx_settings_has(row)) {
            cbx_option_sentence(table, row, &sentence);
            cbx_buf_printf(out, "\n# %s\n#%s: ", sentence.p, row->name);
            if (row->type == CBX_OPTION_LIST) {
                cbx_buf_printf(out, "[%s]\n", row->value);
            } else {
                cbx_buf_printf(out, "%s\n", row->type == CBX_OPTION_FLAG ? "false" : row->value);
            }
        }
    }
    for (size_t i = 0; i < CBX_SETTINGS_SECTIONS; i++) {
        cbx_buf_printf(out, "\n# %s\n#%s:\n", rows[i].help, rows[i].name);
    }
}

/* Appends a text in quotes that YAML reads, in ASCII: characters that a terminal would obey, or
 * turn around, are escaped. */
static void add_quoted(const char *terminated, struct cbx_buf *out)
{
    struct cbx_str text = cbx_str_of(terminated);
    cbx_buf_add_char(out, '"');
    for (size_t at = 0; at < text.len;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text.p + at,
                                              (utf8proc_ssize_t)(text.len - at), &c);
        c = n > 0 ? c : (unsigned char)text.p[at];
        at += n > 0 ? (size_t)n : 1;
        if (c == '"' || c == '\\') {
            cbx_buf_printf(out, "\\%c", (char)c);
        } else if (c >= ' ' && c <= '~') {
            cbx_buf_add_char(out, (char)c);
        } else {
            cbx_buf_printf(out, c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
        }
    }
    cbx_buf_add_char(out, '"');
}

static void add_value(const struct cbx_option *row, const void *member, struct cbx_buf *out)
{
    const struct cbx_words *words = member;
    switch (row->type) {
    case CBX_OPTION_FLAG:
        cbx_buf_add_cstr(out, *(const bool *)member ? "true" : "false");
        break;
    case CBX_OPTION_NUMBER:
        cbx_buf_printf(out, "%lld", (long long)*(const int64_t *)member);
        break;
    case CBX_OPTION_LIST:
        cbx_buf_add_char(out, '[');
        for (size_t i = 0; i < words->count; i++) {
            cbx_buf_add_cstr(out, i > 0 ? ", " : "");
            add_quoted(words->items[i], out);
        }
        cbx_buf_add_char(out, ']');
        break;
    default:
        add_quoted(*(const char *const *)member, out);
    }
}

static void add_origin(const struct cbx_option_table *table, const struct cbx_option *row,
                       struct cbx_option_origin origin, const char *path, struct cbx_buf *out)
{
    char variable[CBX_OPTION_LABEL_BYTES];
    switch (origin.source) {
    case CBX_OPTION_OF_FILE:
        cbx_buf_printf(out, "%s:%u", path != NULL ? path : "", origin.line);
        break;
    case CBX_OPTION_OF_ENVIRONMENT:
        cbx_option_variable(table, row, variable, sizeof(variable));
        cbx_buf_add_cstr(out, variable);
        break;
    default:
        cbx_buf_add_cstr(out, "command line");
    }
}

void cbx_settings_explain(const struct cbx_option_table *table,
                          const struct cbx_option_values *values, const char *path,
                          const struct cbx_yaml *const *sections, struct cbx_buf *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct cbx_option *row = &table->rows[i];
        struct cbx_str fallback = default_of(row);
        if (!cbx_settings_has(row)) {
            continue;
        }
        if (values->origins[i].source == CBX_OPTION_OF_DEFAULT) {
            cbx_buf_printf(out, "#%s:  # default%s%.*s\n", row->name, fallback.len > 0 ? ": " : "",
                           CBX_STR_ARG(fallback));
            continue;
        }
        cbx_buf_printf(out, "%s: ", row->name);
        add_value(row, (const char *)values->into + row->offset, out);
        cbx_buf_add_cstr(out, "  # ");
        add_origin(table, row, values->origins[i], path, out);
        cbx_buf_add_char(out, '\n');
    }
    for (size_t i = 0; i < CBX_SETTINGS_SECTIONS; i++) {
        if (sections[i] != NULL) {
            cbx_buf_printf(out, "#%s:  # %s:%u\n", rows[i].name, path, sections[i]->key_line);
        } else {
            cbx_buf_printf(out, "#%s:  # default: none\n", rows[i].name);
        }
    }
}
