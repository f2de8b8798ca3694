/* SPDX-License-Identifier: MIT
 * The policies of one gateway. */
#include "gateway/ipc/master/policy_set.h"

#include "gateway/ipc/master/reload.h"
#include "policies/base/memory.h"

#include <stdio.h>
#include <stdlib.h>

void cbx_policies_done(struct cbx_policies *policies)
{
    for (size_t i = 0; i < policies->count; i++) {
        cbx_policy_free(policies->items[i]);
        json_decref(policies->granted != NULL ? policies->granted[i] : NULL);
    }
    free(policies->items);
    free(policies->granted);
    *policies = (struct cbx_policies){ 0 };
}

const struct cbx_policy *cbx_policies_find(const struct cbx_policies *policies, struct cbx_str name)
{
    for (size_t i = 0; i < policies->count; i++) {
        if (name.len == 0 || cbx_str_equal(policies->items[i]->name, name)) {
            return policies->items[i];
        }
    }
    return NULL;
}

const json_t *cbx_policies_granted(const struct cbx_policies *policies,
                                   const struct cbx_policy *policy)
{
    for (size_t i = 0; i < policies->count && policies->granted != NULL; i++) {
        if (policies->items[i] == policy) {
            return policies->granted[i];
        }
    }
    return NULL;
}

int cbx_policies_fail(const struct cbx_policies *policies, struct cbx_str name, struct cbx_err *err)
{
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < policies->count && used < sizeof(known); i++) {
        int n = snprintf(known + used, sizeof(known) - used, "%s%.*s", i > 0 ? ", " : "",
                         CBX_STR_ARG(policies->items[i]->name));
        used += n > 0 ? (size_t)n : 0;
    }
    return cbx_fail(err, CBX_ENOTFOUND, "no policy is called '%.*s'; this gateway has %s",
                    CBX_STR_SHOWN(name), known);
}

static int check_policy(const struct cbx_policies *loaded, const struct cbx_policy *policy,
                        enum cbx_modes modes, struct cbx_err *err)
{
    if (loaded->count > 0 && cbx_policies_find(loaded, policy->name) != NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "two policies are called '%.*s'; each name must be used once",
                        CBX_STR_SHOWN(policy->name));
    }
    if (policy->log_only && modes != CBX_MODES_ALL) {
        return cbx_fail(err, CBX_EINVAL,
                        "policy '%.*s' is in mode log-only, which only a principal with the right "
                        "policy:relax can run under, and nobody is authenticated here; allowed is "
                        "mode enforce, or 'codebox serve' with principals in its configuration",
                        CBX_STR_SHOWN(policy->name));
    }
    if (policy->languages == 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "policy '%.*s' lets no language run; add 'languages: [python, ...]'",
                        CBX_STR_SHOWN(policy->name));
    }
    return 0;
}

int cbx_policies_load(const char *const *names, size_t count, enum cbx_modes modes,
                      struct cbx_policies *out, struct cbx_err *err)
{
    struct cbx_policies loaded = { .items = cbx_new_array(count, sizeof(loaded.items[0])),
                                   .granted = cbx_new_array(count, sizeof(loaded.granted[0])) };
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        struct cbx_policy *policy = NULL;
        failed = cbx_policy_load(names[i], &policy, err);
        if (!failed) {
            failed = check_policy(&loaded, policy, modes, err);
        }
        if (failed) {
            cbx_policy_free(policy);
        } else {
            loaded.items[loaded.count++] = policy;
        }
    }
    if (failed) {
        cbx_policies_done(&loaded);
        return failed;
    }
    *out = loaded;
    return 0;
}

/* --- as bytes --------------------------------------------------------------------------------- */

/* Writes a policy, then a JSON list of its granted variables, or nothing. */
static int write_one(const struct cbx_policy *policy, const json_t *granted, struct cbx_buf *out,
                     struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) bytes;
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_JSON list = json_array();
    cbx_buf_init(&bytes, CBX_RELOAD_BYTES_MAX);
    cbx_buf_init(&text, CBX_RELOAD_BYTES_MAX);
    if (granted != NULL) {
        json_array_append(list, (json_t *)(uintptr_t)granted);
    }
    int failed = cbx_policy_write(policy, &bytes, err);
    if (failed) {
        return failed;
    }
    failed = cbx_json_write(&text, list);
    if (failed) {
        return failed;
    }
    const struct cbx_reload_part image = { .name = "policy", .bytes = cbx_buf_str(&bytes) };
    const struct cbx_reload_part grants = { .name = "granted", .bytes = cbx_buf_str(&text) };
    failed = cbx_reload_add(out, &image, err);
    if (failed) {
        return failed;
    }
    return cbx_reload_add(out, &grants, err);
}

int cbx_policies_write(const struct cbx_policies *policies, struct cbx_buf *out,
                       struct cbx_err *err)
{
    int failed = 0;
    for (size_t i = 0; i < policies->count && !failed; i++) {
        failed = write_one(policies->items[i],
                           policies->granted != NULL ? policies->granted[i] : NULL, out, err);
    }
    return failed;
}

static int read_one(struct cbx_str *rest, struct cbx_policies *into, struct cbx_err *err)
{
    struct cbx_reload_part image, grants;
    CBX_AUTO_JSON list = NULL;
    if (!cbx_reload_next(rest, &image) || !cbx_reload_next(rest, &grants)) {
        return cbx_fail(err, CBX_EPROTO, "a set of policies is malformed");
    }
    int failed = cbx_json_parse(grants.bytes, CBX_RELOAD_BYTES_MAX, &list, err);
    if (failed) {
        return failed;
    }
    failed = cbx_policy_read(image.bytes, &into->items[into->count], err);
    if (failed) {
        return failed;
    }
    into->granted[into->count++] = json_incref(json_array_get(list, 0));
    return 0;
}

int cbx_policies_read(struct cbx_str bytes, struct cbx_policies *out, struct cbx_err *err)
{
    size_t count = 0;
    struct cbx_reload_part part;
    for (struct cbx_str rest = bytes; cbx_reload_next(&rest, &part);) {
        count++;
    }
    struct cbx_policies loaded = { .items = cbx_new_array(count + 1, sizeof(loaded.items[0])),
                                   .granted = cbx_new_array(count + 1, sizeof(loaded.granted[0])) };
    int failed = 0;
    if (count == 0) {
        failed = cbx_fail(err, CBX_EPROTO, "a set of policies is empty");
    }
    while (!failed && bytes.len > 0) {
        failed = read_one(&bytes, &loaded, err);
    }
    if (failed) {
        cbx_policies_done(&loaded);
        return failed;
    }
    *out = loaded;
    return 0;
}

bool cbx_policies_equal(const struct cbx_policies *a, const struct cbx_policies *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++) {
        equal = cbx_str_equal(a->items[i]->name, b->items[i]->name) &&
                cbx_sha256_equal(&a->items[i]->sha256, &b->items[i]->sha256);
    }
    return equal;
}
