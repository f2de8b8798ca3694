/* SPDX-License-Identifier: MIT
 * Command lines from one table: parsing and --help. The completions are in options_complete.c. */
#include "policies/base/options/options.h"

#include "policies/base/array.h"
#include "policies/base/options/options_words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

bool cbx_option_is_of(const struct cbx_option_table *table, const struct cbx_option *row)
{
    return table->command == '\0' || row->commands == NULL ||
           strchr(row->commands, table->command) != NULL;
}

const struct cbx_option_kind *cbx_option_kind(const struct cbx_option_table *table,
                                              const struct cbx_option *row)
{
    for (size_t i = 0; row->words != NULL && i < table->kind_count; i++) {
        if (strcmp(row->words, table->kinds[i].name) == 0) {
            return &table->kinds[i];
        }
    }
    return NULL;
}

void cbx_option_words(const struct cbx_option_table *table, const struct cbx_option *row,
                      struct cbx_buf *out)
{
    const struct cbx_option_kind *kind = cbx_option_kind(table, row);
    if (kind != NULL && kind->words != NULL) {
        kind->words(out);
    } else if (kind == NULL && row->words != NULL) {
        cbx_buf_add_cstr(out, row->words);
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

const struct cbx_option *cbx_option_find(const struct cbx_option_table *table, struct cbx_str name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (cbx_option_is_of(table, &table->rows[i]) && cbx_str_is(name, table->rows[i].name)) {
            return &table->rows[i];
        }
    }
    return NULL;
}

static const struct cbx_option *find_letter(const struct cbx_option_table *table, const char *word)
{
    for (size_t i = 0; word[1] != '\0' && word[2] == '\0' && i < table->count; i++) {
        if (cbx_option_is_of(table, &table->rows[i]) && word[1] == table->rows[i].letter) {
            return &table->rows[i];
        }
    }
    return NULL;
}

const char *cbx_option_nearest(const struct cbx_option_table *table, struct cbx_str name)
{
    const char *nearest = NULL;
    size_t best = 4;
    for (size_t i = 0; i < table->count; i++) {
        size_t distance = cbx_option_is_of(table, &table->rows[i])
                              ? cbx_str_distance(name, cbx_str_of(table->rows[i].name), 3)
                              : best;
        nearest = distance < best ? table->rows[i].name : nearest;
        best = distance < best ? distance : best;
    }
    return nearest;
}

static int fail_unknown(const struct cbx_option_table *table, struct cbx_str name,
                        struct cbx_err *err)
{
    const char *nearest = cbx_option_nearest(table, name);
    if (nearest != NULL) {
        return cbx_fail(err, CBX_EINVAL, "unknown option '--%.*s', did you mean '--%s'",
                        CBX_STR_SHOWN(name), nearest);
    }
    return cbx_fail(err, CBX_EINVAL, "unknown option '--%.*s'; --help lists the options",
                    CBX_STR_SHOWN(name));
}

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

static int set_word(const struct cbx_option_table *table, const struct cbx_option *row,
                    const char *label, const char *value, const char **member, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) words;
    cbx_buf_init(&words, CBX_OPTION_WORDS_MAX_BYTES);
    cbx_option_words(table, row, &words);
    if (!is_word(words.p, cbx_str_of(value))) {
        return cbx_fail(err, CBX_EINVAL, "%s is '%s', allowed are: %s", label, value, words.p);
    }
    *member = value;
    return 0;
}

static int set_number(const struct cbx_option *row, const char *label, const char *value,
                      int64_t *member, struct cbx_err *err)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    bool whole = value[0] >= '0' && value[0] <= '9' && *end == '\0' && errno == 0;
    if (!whole || number < row->lo || number > row->hi) {
        return cbx_fail(err, CBX_EINVAL, "%s is '%s', allowed are %lld..%lld", label, value,
                        (long long)row->lo, (long long)row->hi);
    }
    *member = number;
    return 0;
}

static int set_flag(const char *label, const char *value, bool *member, struct cbx_err *err)
{
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0) {
        return cbx_fail(err, CBX_EINVAL, "%s is '%s', allowed are: true false", label, value);
    }
    *member = value[0] == 't';
    return 0;
}

static int add_word(struct cbx_words *list, const char *value, struct cbx_arena *arena,
                    struct cbx_err *err)
{
    if (!CBX_ARRAY_RESERVE(arena, list->items, list->count, &list->size, 1, SIZE_MAX)) {
        return cbx_fail(err, CBX_ETOOBIG, "the options take too much memory");
    }
    list->items[list->count++] = value;
    return 0;
}

int cbx_option_set(const struct cbx_option_table *table, const struct cbx_option *row,
                   const char *label, const char *value, struct cbx_option_values *out,
                   struct cbx_err *err)
{
    void *member = (char *)out->into + row->offset;
    struct cbx_words *list = member;
    switch (row->type) {
    case CBX_OPTION_FLAG:
        return set_flag(label, value, member, err);
    case CBX_OPTION_TEXT:
        *(const char **)member = value;
        return 0;
    case CBX_OPTION_WORD:
        return set_word(table, row, label, value, member, err);
    case CBX_OPTION_NUMBER:
        return set_number(row, label, value, member, err);
    case CBX_OPTION_LIST:
        if (row->hi > 0 && list->count >= (size_t)row->hi) {
            return cbx_fail(err, CBX_EINVAL, "%s is given more than %lld times", label,
                            (long long)row->hi);
        }
        return add_word(list, value, out->arena, err);
    }
    return 0;
}

void cbx_option_begin(const struct cbx_option_table *table, const struct cbx_option *row,
                      struct cbx_option_origin origin, struct cbx_option_values *out)
{
    if (out->origins == NULL) {
        return;
    }
    struct cbx_option_origin *now = &out->origins[row - table->rows];
    if (row->type == CBX_OPTION_LIST && now->source < origin.source) {
        *(struct cbx_words *)(void *)((char *)out->into + row->offset) = (struct cbx_words){ 0 };
    }
    *now = origin;
}

/* Reads the option at argv[*i], and its value. */
static int read_option(const struct cbx_option_table *table, int argc, char **argv, int *i,
                       struct cbx_option_values *out, struct cbx_err *err)
{
    const char *word = argv[*i], *equals = strchr(word, '=');
    bool dashes = word[1] == '-';
    struct cbx_str name = cbx_str_of(word);
    name = cbx_str_sub(name, 2, equals != NULL ? (size_t)(equals - word) : name.len);
    const struct cbx_option *row = dashes ? cbx_option_find(table, name) : find_letter(table, word);
    if (row == NULL) {
        if (dashes) {
            return fail_unknown(table, name, err);
        }
        return cbx_fail(err, CBX_EINVAL, "unknown option '%s'; --help lists the options", word);
    }
    const char *value = dashes && equals != NULL ? equals + 1 : NULL;
    if (row->type == CBX_OPTION_FLAG && value != NULL) {
        return cbx_fail(err, CBX_EINVAL, "--%s takes no value, it has '%s'", row->name, value);
    }
    if (row->type != CBX_OPTION_FLAG && value == NULL && ++*i >= argc) {
        return cbx_fail(err, CBX_EINVAL, "--%s needs a value: %s", row->name, row->value);
    }
    char label[CBX_OPTION_LABEL_BYTES];
    snprintf(label, sizeof(label), "--%s", row->name);
    cbx_option_begin(table, row, (struct cbx_option_origin){ .source = CBX_OPTION_OF_COMMAND_LINE },
                     out);
    value = value != NULL ? value : row->type == CBX_OPTION_FLAG ? "true" : argv[*i];
    return cbx_option_set(table, row, label, value, out, err);
}

int cbx_options_read(const struct cbx_option_table *table, int argc, char **argv, int from,
                     struct cbx_option_values *out, struct cbx_err *err)
{
    bool ended = false;
    int failed = 0;
    for (int i = from; !failed && i < argc; i++) {
        if (ended || argv[i][0] != '-' || argv[i][1] == '\0') {
            failed = add_word(&out->rest, argv[i], out->arena, err);
            ended = ended || table->first_argument_ends;
        } else if (strcmp(argv[i], "--") == 0) {
            ended = true;
        } else {
            failed = read_option(table, argc, argv, &i, out, err);
        }
    }
    return failed;
}

/* --- the environment -------------------------------------------------------------------------- */

void cbx_option_variable(const struct cbx_option_table *table, const struct cbx_option *row,
                         char *out, size_t size)
{
    size_t prefix = strlen(table->environment);
    if ((size_t)snprintf(out, size, "%s%s", table->environment, row->name) >= size) {
        out[0] = '\0';
        return;
    }
    for (char *c = out + prefix; *c != '\0'; c++) {
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    }
}

/* Sets values separated by blanks. */
static int set_words(const struct cbx_option_table *table, const struct cbx_option *row,
                     const char *label, const char *words, struct cbx_option_values *out,
                     struct cbx_err *err)
{
    int failed = 0;
    for (const char *at = words + strspn(words, " "); *at != '\0' && !failed;) {
        size_t len = strcspn(at, " ");
        struct cbx_str word = cbx_arena_copy(out->arena, (struct cbx_str){ .p = at, .len = len });
        if (word.p == NULL) {
            failed = cbx_fail(err, CBX_ETOOBIG, "the options take too much memory");
        } else {
            failed = cbx_option_set(table, row, label, word.p, out, err);
        }
        at += len + strspn(at + len, " ");
    }
    return failed;
}

int cbx_options_read_environment(const struct cbx_option_table *table,
                                 struct cbx_option_values *out, struct cbx_err *err)
{
    int failed = 0;
    for (size_t i = 0; i < table->count && !failed; i++) {
        const struct cbx_option *row = &table->rows[i];
        char name[CBX_OPTION_LABEL_BYTES];
        cbx_option_variable(table, row, name, sizeof(name));
        const char *value = cbx_option_is_of(table, row) ? getenv(name) : NULL;
        if (value == NULL) {
            continue;
        }
        cbx_option_begin(table, row,
                         (struct cbx_option_origin){ .source = CBX_OPTION_OF_ENVIRONMENT }, out);
        if (row->type == CBX_OPTION_LIST) {
            failed = set_words(table, row, name, value, out, err);
        } else {
            failed = cbx_option_set(table, row, name, value, out, err);
        }
    }
    return failed;
}

/* --- help ------------------------------------------------------------------------------------- */

enum { HELP_INDENT = 28, HELP_WIDTH = 100 };

void cbx_option_sentence(const struct cbx_option_table *table, const struct cbx_option *row,
                         struct cbx_buf *out)
{
    static const char mark[] = "{words}";
    const char *at = strstr(row->help, mark);
    if (at == NULL) {
        cbx_buf_add_cstr(out, row->help);
        return;
    }
    CBX_AUTO_DONE(buf) words;
    cbx_buf_init(&words, CBX_OPTION_WORDS_MAX_BYTES);
    cbx_option_words(table, row, &words);
    cbx_buf_add(out, cbx_str_sub(cbx_str_of(row->help), 0, (size_t)(at - row->help)));
    for (const char *word = words.p; *word != '\0'; word++) {
        bool last = *word == ' ' && strchr(word + 1, ' ') == NULL;
        cbx_buf_add_cstr(out, last ? " or" : *word == ' ' ? "," : "");
        cbx_buf_add_char(out, *word);
    }
    cbx_buf_add_cstr(out, at + sizeof(mark) - 1);
}

/* Adds words, broken before HELP_WIDTH, with an indent. */
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

void cbx_options_help(const struct cbx_option_table *table, struct cbx_buf *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct cbx_option *row = &table->rows[i];
        char left[64];
        CBX_AUTO_DONE(buf) sentence;
        cbx_buf_init(&sentence, CBX_OPTION_WORDS_MAX_BYTES);
        if (cbx_option_is_of(table, row)) {
            snprintf(left, sizeof(left), "  --%s%s%s", row->name, row->value != NULL ? " " : "",
                     row->value != NULL ? row->value : "");
            cbx_buf_printf(out, "%-*s", HELP_INDENT, left);
            cbx_option_sentence(table, row, &sentence);
            add_wrapped(sentence.p, HELP_INDENT, out);
        }
    }
}
