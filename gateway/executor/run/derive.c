/* SPDX-License-Identifier: MIT
 * Settings of a decision that follow from its policy. Not derived are results that only a parser
 * can give: the verdict, the text of a rewritten cell, the files that the session may load, the
 * lines that run programs. */
#include "gateway/executor/run/derive.h"

#include "gateway/ipc/seal/mount_requests.h"
#include "policies/environment.h"
#include "policies/guard/guard.h"
#include "policies/packages.h"

#include <string.h>

static int refuse(const struct cbx_permit *fields, const char *what, struct cbx_err *err)
{
    return cbx_fail(err, CBX_ESEAL, "the decision has %s that policy '%s' does not give", what,
                    fields->policy);
}

static bool may_run(const struct cbx_sealed *sealed)
{
    return sealed->verdict == CBX_ALLOW || sealed->verdict == CBX_ASK;
}

/* A file is stored as it was sent, so its entry follows from its bytes. A cell's entry is
 * computed from the cell as it was sent, and its text may be rewritten. */
static bool entry_is(const struct cbx_permit *fields, struct cbx_str text)
{
    const struct cbx_entry entry = { .kind = CBX_ENTRY_FILE,
                                     .language = cbx_str_of(fields->language),
                                     .name = cbx_str_of(fields->path),
                                     .text = text };
    struct cbx_sha256 hash = cbx_entry_hash(&entry);
    return fields->action != CBX_ACTION_FILE || cbx_sha256_equal(&hash, &fields->entry);
}

/* The seal has the hash of the packages installed for a sandbox. */
static bool packages_are(const struct cbx_sealed *sealed, struct cbx_str packages)
{
    char hex[CBX_SHA256_HEX + 1] = "";
    struct cbx_sha256 hash = cbx_sha256_of(packages);
    if (packages.len > 0) {
        cbx_sha256_hex(&hash, hex);
    }
    return cbx_str_is(cbx_asked_packages(&sealed->asked), hex);
}

/* True if the policy allows installing packages of the language. A worker judges the packages
 * themselves. */
static bool installs_are_given(const struct cbx_policy *policy, const struct cbx_permit *fields)
{
    bool installs = fields->action == CBX_ACTION_RESOLVE || fields->action == CBX_ACTION_INSTALL;
    return !installs || cbx_policy_installs(policy, cbx_str_of(fields->language));
}

int cbx_executor_check_policy(const struct cbx_policies *policies, const struct cbx_sealed *sealed,
                              struct cbx_str text, struct cbx_str packages, struct cbx_err *err)
{
    const struct cbx_permit *fields = &sealed->fields;
    const struct cbx_policy *policy = cbx_policies_find(policies, cbx_str_of(fields->policy));
    const struct cbx_language_row *row = cbx_language_find(cbx_str_of(fields->language));
    if (policy == NULL || !cbx_sha256_equal(&policy->sha256, &fields->policy_sha256)) {
        return cbx_fail(err, CBX_ESEAL, "the decision is under a policy of another gateway");
    }
    if (may_run(sealed) && (row == NULL || (policy->languages >> row->language & 1) == 0)) {
        return refuse(fields, "a language", err);
    }
    if (cbx_environment_check(policy, sealed->asked.environment, NULL) != 0) {
        return refuse(fields, "a variable", err);
    }
    if (cbx_mounts_check(policy, sealed->asked.mounts, NULL) != 0) {
        return refuse(fields, "a mount", err);
    }
    if (may_run(sealed) && !installs_are_given(policy, fields)) {
        return refuse(fields, "an install", err);
    }
    if (!packages_are(sealed, packages)) {
        return cbx_fail(err, CBX_ESEAL, "the decision is for other packages than these");
    }
    if (!entry_is(fields, text)) {
        return cbx_fail(err, CBX_ESEAL, "the decision's entry is of another file than this");
    }
    return 0;
}

/* --- settings of the policy ------------------------------------------------------------------- */

/* Writes "guard": {REFUSAL: RULE}; "refusal_ends". */
static void derive_guard(const struct cbx_policy *policy, const struct cbx_language_row *row,
                         struct cbx_sealed *sealed)
{
    struct cbx_permit *fields = &sealed->fields;
    json_t *refused = json_object();
    json_object_set_new(sealed->json, "guard", refused);
    if (row == NULL || fields->action != CBX_ACTION_RUN) {
        return;
    }
    struct cbx_guard guard = cbx_guard_of(policy, row->language, cbx_str_of(fields->principal),
                                          sealed->issued_ms / 1000);
    fields->refused = guard.refused;
    fields->refusal_ends = policy->guard.ends_run;
    for (unsigned i = 0; i < CBX_REFUSALS; i++) {
        if ((guard.refused >> i & 1) != 0) {
            struct cbx_str rule = cbx_str_sub(guard.rules[i], 0, CBX_NAME_MAX);
            snprintf(fields->refused_by[i], sizeof(fields->refused_by[i]), "%.*s",
                     CBX_STR_ARG(rule));
            json_object_set_new(refused, cbx_refusal_row((enum cbx_refusal)i)->name,
                                cbx_json_text(rule));
        }
    }
    if (fields->refusal_ends) {
        json_object_set_new(sealed->json, "refusal_ends", json_true());
    }
}

/* Writes "programs": the names that may be started although starting programs is refused, for
 * shell and for judged lines of shell. Names that do not fit are left out, so they are refused. */
static void derive_programs(const struct cbx_policy *policy, const struct cbx_language_row *row,
                            struct cbx_sealed *sealed)
{
    struct cbx_permit *fields = &sealed->fields;
    bool starts_some = (fields->refused >> CBX_REFUSE_START & 1) != 0 && row != NULL &&
                       (row->language == CBX_SHELL || sealed->runs_lines);
    if (!starts_some) {
        return;
    }
    json_t *programs = json_array();
    cbx_buf_init(&sealed->programs, CBX_PROGRAMS_BYTES_MAX);
    for (size_t i = 0; i < policy->shell_allow.count; i++) {
        struct cbx_str name = policy->shell_allow.items[i];
        if (sealed->programs.len + name.len + 1 <= CBX_PROGRAMS_BYTES_MAX) {
            cbx_buf_add(&sealed->programs, name);
            cbx_buf_add_char(&sealed->programs, '\0');
            json_array_append_new(programs, cbx_json_text(name));
        }
    }
    fields->programs = cbx_buf_str(&sealed->programs);
    json_object_set_new(sealed->json, "programs", programs);
}

/* Writes "environment": {pass: [NAME], secrets: [NAME], set: {NAME: SHA-256}}; left out if a
 * program gets no variables. The record has no value. */
static void derive_environment(const struct cbx_policies *policies, const struct cbx_policy *policy,
                               struct cbx_sealed *sealed)
{
    const json_t *granted = cbx_policies_granted(policies, policy);
    enum cbx_action action = sealed->fields.action;
    bool any = granted != NULL || json_object_size(sealed->asked.environment) > 0;
    if (!any || (action != CBX_ACTION_RUN && action != CBX_ACTION_OPEN)) {
        return;
    }
    json_t *environment = json_object();
    json_object_set(environment, "pass", json_object_get(granted, "pass"));
    json_object_set(environment, "secrets", json_object_get(granted, "secrets"));
    if (json_object_size(sealed->asked.environment) > 0) {
        json_object_set(environment, "set", sealed->asked.environment);
    }
    json_object_set_new(sealed->json, "environment", environment);
}

/* Writes "packages": the lines of the packages to resolve, to install, or of the sandbox, as
 * many as fit; "package_count"; for a sandbox "layer", the SHA-256 of all lines. */
static void describe_packages(struct cbx_sealed *sealed, struct cbx_str text,
                              struct cbx_str packages)
{
    enum { LISTED_BYTES = 64 * 1024 };
    enum cbx_action action = sealed->fields.action;
    bool sandbox = action == CBX_ACTION_OPEN || action == CBX_ACTION_RUN;
    bool installs = action == CBX_ACTION_RESOLVE || action == CBX_ACTION_INSTALL;
    struct cbx_str rest = sandbox ? packages : text;
    size_t listed = 0, count = 0;
    if ((!sandbox && !installs) || rest.len == 0) {
        return;
    }
    if (sandbox) {
        json_object_set(sealed->json, "layer", sealed->asked.packages);
    }
    json_t *lines = json_array();
    while (rest.len > 0) {
        const char *end = memchr(rest.p, '\n', rest.len);
        size_t len = end != NULL ? (size_t)(end - rest.p) : rest.len;
        listed += len + 3;
        if (listed <= LISTED_BYTES) {
            json_array_append_new(lines, cbx_json_text(cbx_str_sub(rest, 0, len)));
        }
        rest = cbx_str_sub(rest, len + 1, rest.len);
        count++;
    }
    json_object_set_new(sealed->json, "packages", lines);
    json_object_set_new(sealed->json, "package_count", json_integer((json_int_t)count));
}

void cbx_executor_derive(const struct cbx_policies *policies, struct cbx_sealed *sealed,
                         struct cbx_str text, struct cbx_str packages)
{
    struct cbx_permit *fields = &sealed->fields;
    const struct cbx_policy *policy = cbx_policies_find(policies, cbx_str_of(fields->policy));
    const struct cbx_language_row *row = cbx_language_find(cbx_str_of(fields->language));
    json_object_del(sealed->json, "asked");
    json_object_del(sealed->json, "runs_lines");
    if (sealed->asked.arguments != NULL) {
        json_object_set(sealed->json, "arguments", sealed->asked.arguments);
    }
    if (sealed->asked.mounts != NULL) {
        json_object_set(sealed->json, "mounts", sealed->asked.mounts);
    }
    fields->limits = policy->limits;
    cbx_limits_tighten(&fields->limits, &sealed->asked.limits);
    json_t *limits = json_object();
    cbx_limits_write(&fields->limits, limits);
    json_object_set_new(sealed->json, "limits", limits);
    fields->network = policy->network;
    json_object_set_new(sealed->json, "network", json_integer(policy->network));
    if (policy->log_only) {
        json_object_set_new(sealed->json, "mode", json_string(CBX_MODE_LOG_ONLY));
    }
    derive_guard(policy, row, sealed);
    derive_programs(policy, row, sealed);
    derive_environment(policies, policy, sealed);
    describe_packages(sealed, text, packages);
}
