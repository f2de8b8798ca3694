/* SPDX-License-Identifier: MIT
 * Limits: the rows, and operations on all members. */
#include "policies/limits.h"

const char *const cbx_isolation_names[] = { "gvisor", "container", NULL };

#define WORDS_OF_DURATION  NULL
#define WORDS_OF_CPUS      NULL
#define WORDS_OF_BYTES     NULL
#define WORDS_OF_INT       NULL
#define WORDS_OF_ISOLATION cbx_isolation_names
static const struct cbx_limit_row rows[] = {
#define CBX_LIMIT(member, key, type, lo, hi, initial, scope, title, divisor, suffix, help)         \
    { #member,                                                                                     \
      key,                                                                                         \
      offsetof(struct cbx_limits, member),                                                         \
      lo,                                                                                          \
      hi,                                                                                          \
      initial,                                                                                     \
      CBX_LIMIT_##scope,                                                                           \
      title,                                                                                       \
      divisor,                                                                                     \
      suffix,                                                                                      \
      WORDS_OF_##type },
#include "policies/limits.def"
#undef CBX_LIMIT
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct cbx_limit_row *cbx_limit_row(size_t index)
{
    return index < ROWS ? &rows[index] : NULL;
}

int64_t *cbx_limit_at(struct cbx_limits *limits, const struct cbx_limit_row *row)
{
    return (int64_t *)(void *)((char *)limits + row->offset);
}

int64_t cbx_limit_get(const struct cbx_limits *limits, const struct cbx_limit_row *row)
{
    return *(const int64_t *)(const void *)((const char *)limits + row->offset);
}

void cbx_limits_unset(struct cbx_limits *limits)
{
    for (size_t i = 0; i < ROWS; i++) {
        *cbx_limit_at(limits, &rows[i]) = CBX_LIMIT_UNSET;
    }
}

void cbx_limits_default(struct cbx_limits *limits)
{
    for (size_t i = 0; i < ROWS; i++) {
        *cbx_limit_at(limits, &rows[i]) = rows[i].initial;
    }
}

void cbx_limits_tighten(struct cbx_limits *limits, const struct cbx_limits *by)
{
    for (size_t i = 0; i < ROWS; i++) {
        int64_t *own = cbx_limit_at(limits, &rows[i]), other = cbx_limit_get(by, &rows[i]);
        if (other >= 0 && (*own < 0 || other < *own)) {
            *own = other;
        }
    }
}

static int64_t value_of_word(const struct cbx_limit_row *row, struct cbx_str word)
{
    for (int64_t i = 0; row->words[i] != NULL; i++) {
        if (cbx_str_is(word, row->words[i])) {
            return row->lo + i;
        }
    }
    return CBX_LIMIT_UNSET;
}

/* A value outside the bounds has the strictest word. */
static const char *word_of(const struct cbx_limit_row *row, int64_t value)
{
    return row->words[value >= row->lo && value <= row->hi ? value - row->lo : 0];
}

int64_t cbx_isolation_of(struct cbx_str name)
{
    size_t i = 0;
    while (rows[i].words != cbx_isolation_names) {
        i++;
    }
    return value_of_word(&rows[i], name);
}

void cbx_limits_write(const struct cbx_limits *limits, json_t *object)
{
    for (size_t i = 0; i < ROWS; i++) {
        int64_t value = cbx_limit_get(limits, &rows[i]);
        if (value >= 0) {
            json_object_set_new(object, rows[i].name,
                                rows[i].words != NULL ? json_string(word_of(&rows[i], value))
                                                      : json_integer(value));
        }
    }
}

void cbx_limits_read(const json_t *object, struct cbx_limits *limits)
{
    for (size_t i = 0; i < ROWS; i++) {
        const json_t *value = json_object_get(object, rows[i].name);
        if (rows[i].words != NULL) {
            *cbx_limit_at(limits, &rows[i]) = value_of_word(&rows[i], cbx_json_str(value));
            continue;
        }
        bool is_set = json_is_integer(value) && json_integer_value(value) >= (rows[i].lo > 0);
        *cbx_limit_at(limits, &rows[i]) = is_set ? json_integer_value(value) : CBX_LIMIT_UNSET;
    }
}

const struct cbx_limit_row *cbx_limits_missing(const struct cbx_limits *limits,
                                               enum cbx_limit_scope scope)
{
    size_t i = 0;
    while (i < ROWS && (rows[i].scope != scope || cbx_limit_get(limits, &rows[i]) > 0)) {
        i++;
    }
    return cbx_limit_row(i);
}

void cbx_limits_describe(const struct cbx_limits *limits, const char *separator,
                         struct cbx_buf *out)
{
    for (size_t i = 0; i < ROWS; i++) {
        int64_t value = cbx_limit_get(limits, &rows[i]);
        cbx_buf_printf(out, "%s%s: ", i > 0 ? separator : "", rows[i].title);
        if (rows[i].words != NULL) {
            cbx_buf_add_cstr(out, word_of(&rows[i], value));
        } else {
            cbx_buf_printf(out, "%.7g%s", (double)value / rows[i].divisor, rows[i].suffix);
        }
    }
}

bool cbx_limits_same_container(const struct cbx_limits *a, const struct cbx_limits *b)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].scope == CBX_LIMIT_CONTAINER &&
            cbx_limit_get(a, &rows[i]) != cbx_limit_get(b, &rows[i])) {
            return false;
        }
    }
    return true;
}
