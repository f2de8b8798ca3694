/* SPDX-License-Identifier: MIT
 * The caller's requests besides its program, as JSON. */
#include "gateway/ipc/seal/asked.h"

#include "policies/environment.h"
#include "policies/mounts.h"
#include "policies/packages.h"

#include <string.h>

enum kind { LIST, VALUES, TEXT, LIMITS };

static const struct row {
    const char *name;
    size_t offset; /* offset of the member: a json_t *, or the limits */
    enum kind kind;
    size_t most; /* maximum: items of a list, values, bytes of a text */
} rows[] = {
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_ASK(member, type, most, meaning)                                                       \
    { #member, offsetof(struct cbx_asked, member), type, most },
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct cbx_asked cbx_asked_nothing = {
#define CBX_LIMIT(member, ...) .limits.member = CBX_LIMIT_UNSET,
#include "policies/limits.def"
#undef CBX_LIMIT
};

static json_t **at(struct cbx_asked *asked, const struct row *row)
{
    return (json_t **)(void *)((char *)asked + row->offset);
}

static json_t *get(const struct cbx_asked *asked, const struct row *row)
{
    return *(json_t *const *)(const void *)((const char *)asked + row->offset);
}

static size_t size_of(enum kind kind, const json_t *value)
{
    switch (kind) {
    case LIST:
        return json_array_size(value);
    case VALUES:
        return json_object_size(value);
    case TEXT:
        return json_string_length(value);
    default:
        return 0;
    }
}

void cbx_asked_init(struct cbx_asked *asked)
{
    *asked = cbx_asked_nothing;
}

void cbx_asked_done(struct cbx_asked *asked)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].kind != LIMITS) {
            json_decref(get(asked, &rows[i]));
        }
    }
    cbx_asked_init(asked);
}

void cbx_asked_copy(struct cbx_asked *to, const struct cbx_asked *from)
{
    const struct cbx_asked copy = *from;
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].kind != LIMITS) {
            json_incref(get(from, &rows[i]));
        }
    }
    cbx_asked_done(to);
    *to = copy;
}

struct cbx_str cbx_asked_packages(const struct cbx_asked *asked)
{
    struct cbx_str text = cbx_json_str(asked->packages);
    return text.p != NULL ? text : CBX_STR("");
}

void cbx_asked_set_packages(struct cbx_asked *asked, struct cbx_str packages)
{
    json_decref(asked->packages);
    asked->packages = packages.len > 0 ? cbx_json_text(packages) : NULL;
}

void cbx_asked_write(const struct cbx_asked *asked, json_t *into)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].kind == LIMITS) {
            cbx_limits_write(&asked->limits, into);
        } else if (size_of(rows[i].kind, get(asked, &rows[i])) > 0) {
            json_object_set(into, rows[i].name, get(asked, &rows[i]));
        }
    }
}

static bool has_type(enum kind kind, const json_t *value)
{
    switch (kind) {
    case LIST:
        return json_is_array(value);
    case VALUES:
        return json_is_object(value);
    case TEXT:
        return json_is_string(value);
    default:
        return false;
    }
}

static int check_value(const struct row *row, const json_t *value, struct cbx_err *err)
{
    static const char *const names[] = {
        [LIST] = "an array", [VALUES] = "an object", [TEXT] = "a string"
    };
    if (!has_type(row->kind, value)) {
        return cbx_fail(err, CBX_EINVAL, "%s is not %s", row->name, names[row->kind]);
    }
    size_t size = size_of(row->kind, value);
    if (size > row->most) {
        return cbx_fail(err, CBX_ETOOBIG, "%s has a size of %zu, allowed are %zu", row->name, size,
                        row->most);
    }
    return 0;
}

int cbx_asked_read(const json_t *from, struct cbx_asked *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(asked) read = cbx_asked_nothing;
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].kind == LIMITS) {
            cbx_limits_read(from, &read.limits);
            continue;
        }
        json_t *value = json_object_get(from, rows[i].name);
        if (value == NULL) {
            continue;
        }
        int failed = check_value(&rows[i], value, err);
        if (failed) {
            return failed;
        }
        *at(&read, &rows[i]) = json_incref(value);
    }
    cbx_asked_copy(out, &read);
    return 0;
}

json_t *cbx_asked_concealed(const struct cbx_asked *asked)
{
    json_t *json = json_object();
    cbx_asked_write(asked, json);
    for (size_t i = 0; i < ROWS; i++) {
        const json_t *values = json_object_get(json, rows[i].name);
        if (rows[i].kind == VALUES && values != NULL) {
            json_object_set_new(json, rows[i].name, cbx_environment_hashes(values));
        }
    }
    return json;
}

json_t *cbx_asked_sealed(const struct cbx_asked *asked)
{
    json_t *json = json_object();
    cbx_asked_write(asked, json);
    for (size_t i = 0; i < ROWS; i++) {
        const json_t *text = json_object_get(json, rows[i].name);
        if (rows[i].kind == TEXT && text != NULL) {
            char hex[CBX_SHA256_HEX + 1];
            struct cbx_sha256 hash = cbx_sha256_of(cbx_json_str(text));
            cbx_sha256_hex(&hash, hex);
            json_object_set_new(json, rows[i].name, json_string(hex));
        }
    }
    return json;
}

/* --- variables and arguments ------------------------------------------------------------------ */

int cbx_environment_check(const struct cbx_policy *policy, const json_t *environment,
                          struct cbx_err *err)
{
    const char *name;
    json_t *value;
    size_t bytes = 0;
    if (json_object_size(environment) > CBX_VARIABLES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "%zu variables are set, allowed are %d",
                        json_object_size(environment), CBX_VARIABLES_MAX);
    }
    json_object_foreach((json_t *)(uintptr_t)environment, name, value)
    {
        struct cbx_str text = cbx_json_str(value);
        int failed = cbx_variable_may_set(policy, cbx_str_of(name), err);
        if (failed) {
            return failed;
        }
        if (text.p == NULL || memchr(text.p, '\0', text.len) != NULL) {
            return cbx_fail(err, CBX_EINVAL,
                            "the value of the variable '%s' is no text without NUL", name);
        }
        bytes += strlen(name) + text.len + 2;
    }
    if (bytes > CBX_VARIABLES_BYTES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "the variables have %zu bytes, allowed are %d", bytes,
                        CBX_VARIABLES_BYTES_MAX);
    }
    return 0;
}

json_t *cbx_environment_hashes(const json_t *environment)
{
    const char *name;
    json_t *value;
    if (json_object_size(environment) == 0) {
        return NULL;
    }
    json_t *hashes = json_object();
    json_object_foreach((json_t *)(uintptr_t)environment, name, value)
    {
        char hex[CBX_SHA256_HEX + 1];
        struct cbx_sha256 hash = cbx_sha256_of(cbx_json_str(value));
        cbx_sha256_hex(&hash, hex);
        json_object_set_new(hashes, name, json_string(hex));
    }
    return hashes;
}

struct cbx_sha256 cbx_environment_digest(const json_t *hashes)
{
    if (json_object_size(hashes) == 0) {
        return (struct cbx_sha256){ 0 };
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_VARIABLES_BYTES_MAX);
    cbx_json_write(&text, hashes);
    return cbx_sha256_of(cbx_buf_str(&text));
}

int cbx_arguments_join(const json_t *arguments, struct cbx_buf *out, struct cbx_err *err)
{
    size_t i;
    const json_t *item;
    if (json_array_size(arguments) > CBX_ARGUMENTS_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "there are %zu arguments, allowed are %d",
                        json_array_size(arguments), CBX_ARGUMENTS_MAX);
    }
    json_array_foreach(arguments, i, item)
    {
        struct cbx_str text = cbx_json_str(item);
        if (text.p == NULL || memchr(text.p, '\0', text.len) != NULL) {
            return cbx_fail(err, CBX_EINVAL, "argument %zu is not a text without NUL", i + 1);
        }
        if (cbx_buf_add(out, text) != 0 || cbx_buf_add_char(out, '\0') != 0) {
            return cbx_fail(err, CBX_ETOOBIG, "the arguments have more than %d bytes",
                            CBX_ARGUMENTS_BYTES_MAX);
        }
    }
    return 0;
}
