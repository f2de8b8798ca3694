/* SPDX-License-Identifier: MIT
 * The values of variables: from the environment, or from files. */
#include "gateway/cli/settings/cli_variables.h"

#include "gateway/executor/redact/redact.h"
#include "gateway/ipc/master/variables.h"
#include "policies/base/log.h"
#include "policies/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 64 * 1024 };

/* A value that was read from a file; the caller cleanses it. */
struct value {
    char bytes[FILE_BYTES_MAX + 1];
    size_t len;
};

static int check_file(int fd, const char *path, struct cbx_err *err)
{
    struct stat status;
    if (fstat(fd, &status) < 0) {
        return cbx_fail(err, CBX_EINVAL, "the file '%s': %s", path, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return cbx_fail(err, CBX_EINVAL, "'%s' is no regular file", path);
    }
    if (status.st_uid != 0 && status.st_uid != geteuid()) {
        return cbx_fail(err, CBX_EINVAL, "'%s' belongs to user %u, allowed are root and user %u",
                        path, (unsigned)status.st_uid, (unsigned)geteuid());
    }
    if ((status.st_mode & (S_IWGRP | S_IRWXO)) != 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%s' has mode %04o, and others may read it or its group may write it; "
                        "'chmod 600' keeps it to its owner",
                        path, (unsigned)status.st_mode & 07777);
    }
    if (status.st_size > FILE_BYTES_MAX) {
        return cbx_fail(err, CBX_EINVAL, "'%s' has %lld bytes, allowed are %d", path,
                        (long long)status.st_size, FILE_BYTES_MAX);
    }
    return 0;
}

/* Reads a secret's file. CBX_ENOTFOUND if it is missing. One line end at its end is left out. */
static int read_file(struct cbx_str path, struct value *out, struct cbx_err *err)
{
    char name[4097];
    snprintf(name, sizeof(name), "%.*s", (int)path.len, path.p);
    CBX_AUTO_FD fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return cbx_fail(err, errno == ENOENT ? CBX_ENOTFOUND : CBX_EINVAL, "the file '%s': %s",
                        name, errno == ELOOP ? "it is a link" : strerror(errno));
    }
    int failed = check_file(fd, name, err);
    for (ssize_t n = 1; !failed && n > 0;) {
        n = read(fd, out->bytes + out->len, sizeof(out->bytes) - out->len);
        out->len += n > 0 ? (size_t)n : 0;
        if (n < 0) {
            failed = cbx_fail(err, CBX_EINVAL, "the file '%s': %s", name, strerror(errno));
        }
    }
    if (!failed && out->len > FILE_BYTES_MAX) {
        failed = cbx_fail(err, CBX_EINVAL, "'%s' has more than %d bytes", name, FILE_BYTES_MAX);
    }
    out->len -= !failed && out->len > 0 && out->bytes[out->len - 1] == '\n';
    out->len -= !failed && out->len > 0 && out->bytes[out->len - 1] == '\r';
    return failed;
}

/* `value` receives a value that is read from a file. CBX_ENOTFOUND, with the reason, if there is
 * no value. */
static int read_variable(struct cbx_variable *v, struct value *value, struct cbx_err *err)
{
    char name[CBX_VARIABLE_NAME_MAX + 1];
    snprintf(name, sizeof(name), "%.*s", CBX_STR_ARG(v->name));
    value->len = 0;
    int failed = 0;
    if (v->file.len > 0) {
        failed = read_file(v->file, value, err);
    }
    const char *set = getenv(name);
    v->value = v->file.len > 0 ? (struct cbx_str){ .p = value->bytes, .len = value->len }
                               : cbx_str_of(set);
    if (!failed && v->value.p == NULL) {
        return cbx_fail(err, CBX_ENOTFOUND, "the gateway has no variable '%s'", name);
    }
    if (!failed && memchr(v->value.p, '\0', v->value.len) != NULL) {
        failed = cbx_fail(err, CBX_EINVAL, "the variable '%s' has a NUL in its value", name);
    }
    if (!failed && v->value.len > FILE_BYTES_MAX) {
        failed = cbx_fail(err, CBX_EINVAL, "the variable '%s' has %zu bytes, allowed are %d", name,
                          v->value.len, FILE_BYTES_MAX);
    }
    struct cbx_redact_secret secret = { .name = v->name, .value = v->value };
    if (failed || !v->secret) {
        return failed;
    }
    return cbx_redact_check(&secret, err);
}

/* Returns variable number i of the policy; false after the last one. */
static bool variable_of(const struct cbx_policy *policy, size_t i, struct cbx_variable *out)
{
    size_t passed = policy->environment_pass.count;
    *out = (struct cbx_variable){ 0 };
    if (i < passed) {
        out->name = policy->environment_pass.items[i];
    } else if (i < passed + policy->secret_count) {
        out->name = policy->secrets[i - passed].name;
        out->file = policy->secrets[i - passed].file;
        out->secret = true;
    }
    return out->name.len > 0;
}

void cbx_variables_check(const struct cbx_policy *policy,
                         void (*tell)(void *context, const struct cbx_variable_state *state),
                         void *context)
{
    static struct value value;
    struct cbx_variable v;
    for (size_t i = 0; variable_of(policy, i, &v); i++) {
        struct cbx_err err = { 0 };
        int failed = read_variable(&v, &value, &err);
        struct cbx_variable_state state = { .name = v.name,
                                            .file = v.file,
                                            .secret = v.secret,
                                            .value_bytes = failed ? 0 : v.value.len };
        snprintf(state.problem, sizeof(state.problem), "%s", failed ? err.text : "");
        explicit_bzero(&value, sizeof(value));
        tell(context, &state);
    }
}

/* --- collecting ------------------------------------------------------------------------------- */

/* Returns true if one of the words has the name; a word may be several names with commas. */
static bool lists(const char *const *words, size_t count, struct cbx_str name)
{
    for (size_t i = 0; i < count; i++) {
        for (const char *at = words[i]; *at != '\0'; at += *at == ',') {
            size_t len = strcspn(at, ",");
            if (cbx_str_equal(name, (struct cbx_str){ .p = at, .len = len })) {
                return true;
            }
            at += len;
        }
    }
    return false;
}

static bool is_passed(const struct cbx_policies *policies, struct cbx_str name)
{
    struct cbx_variable v;
    bool passed = false;
    for (size_t p = 0; p < policies->count; p++) {
        for (size_t i = 0; variable_of(policies->items[p], i, &v); i++) {
            passed |= cbx_str_equal(v.name, name);
        }
    }
    return passed;
}

static int check_only(const struct cbx_policies *policies, const char *const *only, size_t count,
                      struct cbx_err *err)
{
    for (size_t i = 0; i < count; i++) {
        for (const char *at = only[i]; *at != '\0'; at += *at == ',') {
            struct cbx_str name = { .p = at, .len = strcspn(at, ",") };
            at += name.len;
            if (!is_passed(policies, name)) {
                return cbx_fail(err, CBX_EINVAL,
                                "--pass-env names '%.*s', which no policy passes; list it under "
                                "environment.pass or environment.secrets of the policy",
                                CBX_STR_SHOWN(name));
            }
        }
    }
    return 0;
}

/* Overwrites the value in the memory that getenv returns: /proc/PID/environ shows it. */
static void wipe(struct cbx_str name)
{
    char terminated[CBX_VARIABLE_NAME_MAX + 1];
    snprintf(terminated, sizeof(terminated), "%.*s", CBX_STR_ARG(name));
    char *value = getenv(terminated);
    if (value != NULL) {
        explicit_bzero(value, strlen(value));
    }
}

static void note_granted(json_t *granted, const struct cbx_variable *v)
{
    json_array_append_new(json_object_get(granted, v->secret ? "secrets" : "pass"),
                          cbx_json_text(v->name));
}

/* Adds the variables of one policy. */
static int collect(const struct cbx_policy *policy, const char *const *only, size_t only_count,
                   int fd, json_t *granted, struct cbx_err *err)
{
    static struct value value;
    struct cbx_variable v;
    size_t total = 0;
    int failed = 0;
    for (size_t i = 0; !failed && variable_of(policy, i, &v); i++) {
        if (only_count > 0 && !lists(only, only_count, v.name)) {
            continue;
        }
        struct cbx_err inner = { 0 };
        failed = read_variable(&v, &value, &inner);
        total += v.name.len + v.value.len + 2;
        if (failed == CBX_ENOTFOUND) {
            cbx_log(CBX_LOG_WARNING, "policy '%.*s' passes '%.*s', and %s: programs do not have it",
                    CBX_STR_SHOWN(policy->name), CBX_STR_SHOWN(v.name), inner.text);
            failed = 0;
        } else if (failed) {
            *err = inner;
        } else if (total > CBX_VARIABLES_GRANTED_MAX) {
            failed =
                cbx_fail(err, CBX_EINVAL, "the variables of policy '%.*s' have more than %d bytes",
                         CBX_STR_SHOWN(policy->name), CBX_VARIABLES_GRANTED_MAX);
        } else {
            failed = cbx_variables_add(fd, &v, err);
            note_granted(granted, &v);
        }
    }
    explicit_bzero(&value, sizeof(value));
    return failed;
}

int cbx_variables_collect(struct cbx_policies *policies, const char *const *only, size_t only_count,
                          int *fd, struct cbx_err *err)
{
    struct cbx_variable v;
    size_t count = 0;
    int failed = check_only(policies, only, only_count, err);
    *fd = 0;
    for (size_t p = 0; p < policies->count; p++) {
        count += policies->items[p]->environment_pass.count + policies->items[p]->secret_count;
    }
    if (failed || count == 0) {
        return failed;
    }
    CBX_AUTO_FD file = cbx_variables_new();
    if (file < 0) {
        return cbx_fail(err, CBX_EIO, "memory for the variables: %s", strerror(errno));
    }
    for (size_t p = 0; p < policies->count && !failed; p++) {
        json_t *granted = json_pack("{s:[],s:[]}", "pass", "secrets");
        failed = collect(policies->items[p], only, only_count, file, granted, err);
        policies->granted[p] = granted;
    }
    for (size_t p = 0; p < policies->count; p++) {
        for (size_t i = 0; variable_of(policies->items[p], i, &v); i++) {
            wipe(v.name);
        }
    }
    if (!failed) {
        failed = cbx_variables_seal(file, err);
    }
    *fd = failed ? 0 : cbx_fd_steal(&file);
    return failed;
}

/* --- policies that are loaded later ----------------------------------------------------------- */

static bool has_name(const json_t *names, struct cbx_str name)
{
    for (size_t i = 0; i < json_array_size(names); i++) {
        if (cbx_str_equal(cbx_json_str(json_array_get(names, i)), name)) {
            return true;
        }
    }
    return false;
}

/* Returns true if a policy passes the same variable. *granted: programs get its value. */
static bool was_passed(const struct cbx_policies *before, const struct cbx_variable *wanted,
                       bool *granted)
{
    struct cbx_variable v;
    bool passed = false;
    for (size_t p = 0; p < before->count; p++) {
        for (size_t i = 0; variable_of(before->items[p], i, &v); i++) {
            bool same = cbx_str_equal(v.name, wanted->name) &&
                        cbx_str_equal(v.file, wanted->file) && v.secret == wanted->secret;
            passed |= same;
            *granted |=
                same && has_name(json_object_get(before->granted[p], v.secret ? "secrets" : "pass"),
                                 v.name);
        }
    }
    return passed;
}

int cbx_variables_grant_again(const struct cbx_policies *before, struct cbx_policies *loaded,
                              struct cbx_err *err)
{
    size_t count = 0;
    for (size_t p = 0; p < loaded->count; p++) {
        count += loaded->items[p]->environment_pass.count + loaded->items[p]->secret_count;
    }
    /* As in cbx_variables_collect: without any variable there is no list. */
    for (size_t p = 0; p < loaded->count && count > 0; p++) {
        struct cbx_variable v;
        loaded->granted[p] = json_pack("{s:[],s:[]}", "pass", "secrets");
        for (size_t i = 0; variable_of(loaded->items[p], i, &v); i++) {
            bool granted = false;
            if (!was_passed(before, &v, &granted)) {
                return cbx_fail(err, CBX_EINVAL,
                                "policy '%.*s' passes '%.*s', which no policy passed when the "
                                "gateway read its variables; start it anew",
                                CBX_STR_SHOWN(loaded->items[p]->name), CBX_STR_SHOWN(v.name));
            }
            if (granted) {
                note_granted(loaded->granted[p], &v);
            }
        }
    }
    return 0;
}
