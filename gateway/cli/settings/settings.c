/* SPDX-License-Identifier: MIT
 * Reads the configuration file. The example and the explanation are in settings_text.c. */
#include "gateway/cli/settings/settings.h"

#include "gateway/identity/principals.h"

#include "gateway/ipc/jail/trusted.h"
#include "policies/base/auto.h"

#include <errno.h>
#include <string.h>

enum { FILE_MAX_BYTES = 256 * 1024, DEPTH_MAX = 16 };

static const struct section {
    const char *name;
    int (*check)(const struct cbx_yaml *node, struct cbx_err *err);
} rows[] = {
#define CBX_SETTINGS_SECTION(name, check, help) { #name, check },
#include "gateway/cli/settings/sections.def"
#undef CBX_SETTINGS_SECTION
};

/* A file that is being read. */
struct reader {
    const char *path;
    const struct cbx_option_table *table;
    struct cbx_option_values *out;
    const struct cbx_yaml **sections;
    struct cbx_problems *problems;
};

void cbx_problems_add(struct cbx_problems *problems, const struct cbx_err *err)
{
    for (size_t i = 0; i < problems->count; i++) {
        if (strcmp(problems->items[i].text, err->text) == 0) {
            return;
        }
    }
    if (problems->count < CBX_PROBLEMS_MAX) {
        problems->items[problems->count++] = *err;
    }
}

/* The text has the place, because it names the file too. */
static void add_placed(const struct reader *r, struct cbx_err *err, uint32_t line, uint32_t column)
{
    cbx_wrap(err, "%s:%u:%u", r->path, line, column);
    err->line = err->column = 0;
    cbx_problems_add(r->problems, err);
}

bool cbx_settings_has(const struct cbx_option *row)
{
    return row->commands != NULL && strchr(row->commands, 'c') != NULL &&
           strcmp(row->name, "config") != 0;
}

static const struct cbx_option *find_key(const struct reader *r, struct cbx_str name)
{
    for (size_t i = 0; i < r->table->count; i++) {
        const struct cbx_option *row = &r->table->rows[i];
        if (cbx_settings_has(row) && cbx_str_is(name, row->name)) {
            return row;
        }
    }
    return NULL;
}

static void add_unknown(const struct reader *r, const struct cbx_yaml *entry)
{
    struct cbx_option_table keys = *r->table;
    struct cbx_err err = { 0 };
    keys.command = 'c';
    const char *nearest = cbx_option_nearest(&keys, entry->key);
    if (nearest != NULL && strcmp(nearest, "config") != 0) {
        cbx_fail(&err, CBX_EINVAL, "unknown key '%.*s', did you mean '%s'",
                 CBX_STR_SHOWN(entry->key), nearest);
    } else {
        cbx_fail(&err, CBX_EINVAL, "unknown key '%.*s'; 'codebox config example' lists the keys",
                 CBX_STR_SHOWN(entry->key));
    }
    add_placed(r, &err, entry->key_line, entry->key_column);
}

static const char *form_of(const struct cbx_option *row)
{
    switch (row->type) {
    case CBX_OPTION_LIST:
        return "a text or a list of texts";
    case CBX_OPTION_NUMBER:
        return "a whole number";
    case CBX_OPTION_FLAG:
        return "true or false";
    default:
        return "a text";
    }
}

static void set_value(const struct reader *r, const struct cbx_option *row,
                      const struct cbx_yaml *key, const struct cbx_yaml *node)
{
    static const char *const found[] = { [CBX_YAML_SCALAR] = "no value",
                                         [CBX_YAML_SEQUENCE] = "a list",
                                         [CBX_YAML_MAPPING] = "a mapping" };
    struct cbx_err err = { 0 };
    char label[CBX_OPTION_LABEL_BYTES];
    snprintf(label, sizeof(label), "key '%s'", row->name);
    int failed;
    if (node->kind != CBX_YAML_SCALAR || node->text.len == 0) {
        failed = cbx_fail(&err, CBX_EINVAL, "%s has %s, allowed is %s", label, found[node->kind],
                          form_of(row));
    } else {
        failed = cbx_option_set(r->table, row, label, node->text.p, r->out, &err);
    }
    if (failed) {
        add_placed(r, &err, node->line != 0 ? node->line : key->key_line, node->column);
    }
}

static void read_key(const struct reader *r, const struct cbx_option *row,
                     const struct cbx_yaml *entry)
{
    struct cbx_option_origin origin = { .source = CBX_OPTION_OF_FILE,
                                        .line = entry->key_line,
                                        .column = entry->key_column };
    cbx_option_begin(r->table, row, origin, r->out);
    if (row->type != CBX_OPTION_LIST || entry->kind != CBX_YAML_SEQUENCE) {
        set_value(r, row, entry, entry);
        return;
    }
    for (const struct cbx_yaml *item = entry->first; item != NULL; item = item->next) {
        set_value(r, row, entry, item);
    }
}

/* Returns true if the entry is a section. */
static bool read_section(const struct reader *r, const struct cbx_yaml *entry)
{
    struct cbx_err err = { 0 };
    for (size_t i = 0; i < CBX_SETTINGS_SECTIONS; i++) {
        if (!cbx_str_is(entry->key, rows[i].name)) {
            continue;
        }
        r->sections[i] = entry;
        if (rows[i].check != NULL && rows[i].check(entry, &err) != 0) {
            add_placed(r, &err, err.line != 0 ? err.line : entry->line,
                       err.line != 0 ? err.column : entry->column);
        }
        return true;
    }
    return false;
}

void cbx_settings_read_text(struct cbx_str text, const char *path,
                            const struct cbx_option_table *table, struct cbx_option_values *out,
                            const struct cbx_yaml **sections, struct cbx_problems *problems)
{
    struct reader r = {
        .path = path, .table = table, .out = out, .sections = sections, .problems = problems
    };
    struct cbx_yaml *root = NULL;
    struct cbx_err err = { 0 };
    int failed = cbx_yaml_parse(text, DEPTH_MAX, out->arena, &root, &err);
    if (!failed && root->kind != CBX_YAML_MAPPING) {
        failed = cbx_fail_at(&err, CBX_EINVAL, root->line, root->column,
                             "the file is no mapping, allowed are lines such as 'max-runs: 8'");
    }
    if (failed) {
        add_placed(&r, &err, err.line, err.column);
        return;
    }
    for (const struct cbx_yaml *entry = root->first; entry != NULL; entry = entry->next) {
        const struct cbx_option *row = find_key(&r, entry->key);
        if (row != NULL) {
            read_key(&r, row, entry);
        } else if (!read_section(&r, entry)) {
            add_unknown(&r, entry);
        }
    }
}

static int read_file(const char *path, struct cbx_buf *text, struct cbx_err *err)
{
    static const struct cbx_trusted_kind kind = {
        .what = "the configuration file",
        .advice = "it decides what is allowed, so it must belong to root or to the user who starts "
                  "codebox",
        .code = CBX_EINVAL,
        .file = true
    };
    enum { CHUNK_BYTES = 16 * 1024 };
    CBX_AUTO_FD fd = -1;
    int failed = cbx_trusted_open(&kind, path, &fd, err);
    if (failed) {
        return failed;
    }
    for (ssize_t n = 1; n > 0;) {
        char chunk[CHUNK_BYTES];
        n = read(fd, chunk, sizeof(chunk));
        if (n < 0) {
            return cbx_fail(err, CBX_EIO, "'%s' cannot be read: %s", path, strerror(errno));
        }
        if (cbx_buf_add_bytes(text, chunk, (size_t)n) != 0) {
            return cbx_fail(err, CBX_ETOOBIG, "'%s' has more than %d bytes", path, FILE_MAX_BYTES);
        }
    }
    return 0;
}

/* A file that has only comments has no settings. */
static bool is_blank(struct cbx_str text)
{
    bool comment = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        comment = c == '#' || (comment && c != '\n');
        if (!comment && c != ' ' && c != '\n' && c != '\r') {
            return false;
        }
    }
    return true;
}

void cbx_settings_read(const char *path, const struct cbx_option_table *table,
                       struct cbx_option_values *out, const struct cbx_yaml **sections,
                       struct cbx_problems *problems)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, FILE_MAX_BYTES);
    if (read_file(path, &text, &err) != 0) {
        cbx_problems_add(problems, &err);
    } else if (!is_blank(cbx_buf_str(&text))) {
        cbx_settings_read_text(cbx_buf_str(&text), path, table, out, sections, problems);
    }
}

extern char **environ;

const char *cbx_settings_unknown_variable(const struct cbx_option_table *table)
{
    static char name[CBX_OPTION_LABEL_BYTES];
    size_t prefix = strlen(table->environment);
    for (char **at = environ; at != NULL && *at != NULL; at++) {
        const char *equals = strchr(*at, '=');
        bool known = equals == NULL || strncmp(*at, table->environment, prefix) != 0;
        for (size_t i = 0; i < table->count && !known; i++) {
            cbx_option_variable(table, &table->rows[i], name, sizeof(name));
            known = cbx_str_is((struct cbx_str){ .p = *at, .len = (size_t)(equals - *at) }, name);
        }
        if (!known) {
            snprintf(name, sizeof(name), "%.*s", (int)(equals - *at), *at);
            return name;
        }
    }
    return NULL;
}
