/* SPDX-License-Identifier: MIT
 * The values of programs' variables. */
#include "gateway/executor/run/grants.h"

#include "gateway/executor/run/executor_network.h"
#include "gateway/ipc/seal/subject.h"
#include "policies/environment.h"

#include <stdlib.h>
#include <unistd.h>

enum { PAYLOAD_MAX = CBX_VARIABLES_GRANTED_MAX + CBX_VARIABLES_BYTES_MAX };

int cbx_grants_init(struct cbx_grants *grants, int fd, struct cbx_err *err)
{
    struct cbx_grants read = { 0 };
    int failed = cbx_variables_read(fd, &read.variables, err);
    if (fd > 0) {
        close(fd);
    }
    if (failed) {
        return failed;
    }
    struct cbx_redact_secret *secrets = calloc(read.variables.count + 1, sizeof(*secrets));
    size_t count = 0;
    for (size_t i = 0; secrets != NULL && i < read.variables.count; i++) {
        const struct cbx_variable *v = &read.variables.items[i];
        if (v->secret) {
            secrets[count++] = (struct cbx_redact_secret){ .name = v->name, .value = v->value };
        }
    }
    read.redactor = count > 0 ? cbx_redactor_new(secrets, count) : NULL;
    free(secrets);
    *grants = read;
    return 0;
}

void cbx_grants_done(struct cbx_grants *grants)
{
    cbx_redactor_free(grants->redactor);
    cbx_variables_done(&grants->variables);
    *grants = (struct cbx_grants){ 0 };
}

int cbx_grants_read_set(struct cbx_str text, const json_t *hashes, json_t **out,
                        struct cbx_err *err)
{
    CBX_AUTO_JSON set = NULL;
    CBX_AUTO_JSON own = NULL;
    *out = NULL;
    if (json_object_size(hashes) == 0) {
        return 0;
    }
    if (cbx_json_parse(text, 8 * CBX_VARIABLES_BYTES_MAX, &set, NULL) == 0 && json_is_object(set)) {
        own = cbx_environment_hashes(set);
    }
    if (own == NULL || !json_equal(own, hashes)) {
        return cbx_fail(err, CBX_ESEAL, "the decision is for other variables than these");
    }
    *out = cbx_steal(&set);
    return 0;
}

static void add(struct cbx_buf *out, struct cbx_str name, struct cbx_str value)
{
    cbx_buf_add(out, name);
    cbx_buf_add_char(out, '=');
    cbx_buf_add(out, value);
    cbx_buf_add_char(out, '\0');
}

/* Adds the variables that the policy passes: those without a value at the gateway's start are
 * left out. */
static void add_granted(const struct cbx_grants *grants, const struct cbx_policy *policy,
                        struct cbx_buf *out)
{
    for (size_t i = 0; i < policy->environment_pass.count; i++) {
        const struct cbx_variable *v =
            cbx_variables_find(&grants->variables, policy->environment_pass.items[i], CBX_STR(""));
        if (v != NULL) {
            add(out, v->name, v->value);
        }
    }
    for (size_t i = 0; i < policy->secret_count; i++) {
        const struct cbx_variable *v = cbx_variables_find(
            &grants->variables, policy->secrets[i].name, policy->secrets[i].file);
        if (v != NULL) {
            add(out, v->name, v->value);
        }
    }
}

/* Returns a keyed digest: the sandbox has the digest, and must not be able to test guesses of
 * the values. All zero for no variables. */
static struct cbx_sha256 digest_of(struct cbx_str granted, struct cbx_str key)
{
    return granted.len > 0 ? cbx_hmac_sha256(key, granted) : (struct cbx_sha256){ 0 };
}

int cbx_grants_give(const struct cbx_grants *grants, const struct cbx_policy *policy,
                    const json_t *set, struct cbx_str key, struct cbx_sandbox *sandbox,
                    struct cbx_err *err)
{
    const char *name;
    json_t *value;
    CBX_AUTO_DONE(buf) payload;
    cbx_buf_init(&payload, PAYLOAD_MAX);
    add_granted(grants, policy, &payload);
    struct cbx_sha256 granted = digest_of(cbx_buf_str(&payload), key);
    json_object_foreach((json_t *)(uintptr_t)set, name, value)
    {
        add(&payload, cbx_str_of(name), cbx_json_str(value));
    }
    cbx_network_variables(policy, &payload);
    int failed = 0;
    if (payload.overflow) {
        failed = cbx_fail(err, CBX_ETOOBIG, "the variables have more than %d bytes", PAYLOAD_MAX);
    } else if (payload.len > 0) {
        failed = cbx_sandbox_give(sandbox, cbx_buf_str(&payload), &granted, err);
    }
    explicit_bzero(payload.p, payload.size);
    return failed;
}

bool cbx_grants_match(const struct cbx_grants *grants, const struct cbx_policy *policy,
                      struct cbx_str key, const struct cbx_sandbox *sandbox)
{
    static const struct cbx_sha256 nothing;
    CBX_AUTO_DONE(buf) payload;
    cbx_buf_init(&payload, PAYLOAD_MAX);
    if (policy != NULL) {
        add_granted(grants, policy, &payload);
    }
    struct cbx_sha256 granted = digest_of(cbx_buf_str(&payload), key);
    explicit_bzero(payload.p, payload.size);
    return cbx_sha256_equal(cbx_sandbox_granted(sandbox), policy != NULL ? &granted : &nothing);
}

char *cbx_grants_clean(const struct cbx_grants *grants, const char *text)
{
    if (text == NULL) {
        return NULL;
    }
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, 64 << 20);
    cbx_redact_text(grants->redactor, cbx_str_of(text), &clean);
    return cbx_buf_take(&clean);
}

static json_t *redact_string(const struct cbx_redactor *redactor, struct cbx_str text)
{
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, 64 << 20);
    cbx_redact_text(redactor, text, &clean);
    return cbx_json_text(cbx_buf_str(&clean));
}

/* Recursive: the executor makes these values, and their depth is bounded. */
json_t *cbx_redact_json(const struct cbx_redactor *redactor, const json_t *json)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_string(json)) {
        return redact_string(redactor, cbx_json_str(json));
    }
    if (json_is_array(json)) {
        json_t *copy = json_array();
        json_array_foreach((json_t *)(uintptr_t)json, i, value)
        {
            json_array_append_new(copy, cbx_redact_json(redactor, value));
        }
        return copy;
    }
    if (json_is_object(json)) {
        json_t *copy = json_object();
        json_object_foreach((json_t *)(uintptr_t)json, key, value)
        {
            CBX_AUTO_JSON name = redact_string(redactor, cbx_str_of(key));
            json_object_set_new(copy, json_string_value(name), cbx_redact_json(redactor, value));
        }
        return copy;
    }
    return json_incref((json_t *)(uintptr_t)json);
}
