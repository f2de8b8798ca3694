/* SPDX-License-Identifier: MIT
 * Subjects and limits as JSON. */
#include "gateway/ipc/seal/subject.h"

#include "policies/environment.h"

#include <string.h>

static const char *const action_names[] = {
    [CBX_ACTION_CHECK] = "check",     [CBX_ACTION_OPEN] = "open",
    [CBX_ACTION_RUN] = "run",         [CBX_ACTION_FILE] = "file",
    [CBX_ACTION_RESOLVE] = "resolve", [CBX_ACTION_INSTALL] = "install",
};
enum { ACTIONS = sizeof(action_names) / sizeof(action_names[0]) };

const char *cbx_action_name(enum cbx_action action)
{
    return (unsigned)action < ACTIONS ? action_names[action] : "check";
}

enum cbx_action cbx_action_of(struct cbx_str name)
{
    for (unsigned i = 0; i < ACTIONS; i++) {
        if (cbx_str_is(name, action_names[i])) {
            return (enum cbx_action)i;
        }
    }
    return CBX_ACTION_CHECK;
}

const struct cbx_asked *cbx_subject_asked(const struct cbx_subject *subject)
{
    return subject->asked != NULL ? subject->asked : &cbx_asked_nothing;
}

void cbx_claim_write(const char *name, struct cbx_str claim, json_t *into)
{
    if (claim.len > 0) {
        json_object_set_new(into, name, cbx_json_text(claim));
    }
}

void cbx_claim_copy(const json_t *from, json_t *into)
{
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning)                                                      \
    cbx_claim_write(#member, cbx_json_str(json_object_get(from, #member)), into);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
}

void cbx_subject_write(const struct cbx_subject *subject, json_t *into)
{
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)                                         \
    json_object_set_new(into, #member, cbx_json_text(subject->member));
#define CBX_CLAIM(member, max_bytes, meaning) cbx_claim_write(#member, subject->member, into);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
}

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
