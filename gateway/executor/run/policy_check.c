/* SPDX-License-Identifier: MIT
 * Derives from the policy what a worker should have sealed. Not checked is what only a parser can
 * tell: the verdict, the text of a rewritten cell, the files that the session may load. */
#include "gateway/executor/run/policy_check.h"

#include "gateway/ipc/seal/mount_requests.h"
#include "policies/guard/guard.h"
#include "policies/packages.h"

static int refuse(const struct cbx_permit *fields, const char *what, struct cbx_err *err)
{
    return cbx_fail(err, CBX_ESEAL, "the decision has %s that policy '%s' does not give", what,
                    fields->policy);
}

static bool limits_are_within(const struct cbx_limits *limits, const struct cbx_limits *most)
{
    const struct cbx_limit_row *row;
    for (size_t i = 0; (row = cbx_limit_row(i)) != NULL; i++) {
        if (cbx_limit_get(limits, row) > cbx_limit_get(most, row)) {
            return false;
        }
    }
    return true;
}

/* As describe_guard of gateway/ipc/seal/seal.c has it. */
static bool guard_is(const struct cbx_policy *policy, const struct cbx_language_row *row,
                     const struct cbx_sealed *sealed)
{
    const struct cbx_permit *fields = &sealed->fields;
    if (fields->action != CBX_ACTION_RUN || row == NULL) {
        return fields->refused == 0 && !fields->refusal_ends;
    }
    struct cbx_guard guard = cbx_guard_of(policy, row->language, cbx_str_of(fields->principal),
                                          sealed->issued_ms / 1000);
    return fields->refused == guard.refused && fields->refusal_ends == policy->guard.ends_run;
}

static bool is_listed(const struct cbx_strs *list, struct cbx_str name)
{
    bool listed = false;
    for (size_t i = 0; i < list->count && !listed; i++) {
        listed = cbx_str_equal(list->items[i], name);
    }
    return listed;
}

static bool programs_are_listed(const struct cbx_policy *policy, struct cbx_str programs)
{
    bool listed = true;
    while (programs.len > 0 && listed) {
        struct cbx_str name = cbx_str_of(programs.p); /* each is terminated */
        listed = is_listed(&policy->shell_allow, name);
        programs = cbx_str_sub(programs, name.len + 1, programs.len);
    }
    return listed;
}

/* A file is stored as it was sent, so its entry follows from its bytes. A cell's entry is over the
 * cell as it was sent, and its text may be rewritten. */
static bool entry_is(const struct cbx_permit *fields, struct cbx_str text)
{
    const struct cbx_entry entry = { .kind = CBX_ENTRY_FILE,
                                     .language = cbx_str_of(fields->language),
                                     .name = cbx_str_of(fields->path),
                                     .text = text };
    struct cbx_sha256 hash = cbx_entry_hash(&entry);
    return fields->action != CBX_ACTION_FILE || cbx_sha256_equal(&hash, &fields->entry);
}

/* As describe_environment of gateway/ipc/seal/seal.c has it. */
static bool environment_is(const struct cbx_policies *policies, const struct cbx_policy *policy,
                           const struct cbx_sealed *sealed)
{
    const json_t *granted = cbx_policies_granted(policies, policy);
    const json_t *environment = json_object_get(sealed->json, "environment");
    enum cbx_action action = sealed->fields.action;
    if (action != CBX_ACTION_RUN && action != CBX_ACTION_OPEN) {
        return environment == NULL;
    }
    static const char *const lists[] = { "pass", "secrets" };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const json_t *is = json_object_get(environment, lists[i]),
                     *should = json_object_get(granted, lists[i]);
        if ((is == NULL) != (should == NULL) || (is != NULL && !json_equal(is, should))) {
            return false;
        }
    }
    return cbx_environment_check(policy, json_object_get(environment, "set"), NULL) == 0;
}

/* The seal has the hash of what is installed for a sandbox. */
static bool packages_are(const struct cbx_permit *fields, struct cbx_str packages)
{
    const struct cbx_sha256 none = { 0 }, hash = cbx_sha256_of(packages);
    return packages.len == 0 ? cbx_sha256_equal(&fields->layer, &none)
                             : cbx_sha256_equal(&fields->layer, &hash);
}

/* Does the policy let packages of the language be installed? Which ones, a worker judges. */
static bool installs_are_given(const struct cbx_policy *policy, const struct cbx_permit *fields)
{
    bool installs = fields->action == CBX_ACTION_RESOLVE || fields->action == CBX_ACTION_INSTALL;
    return !installs || cbx_policy_installs(policy, cbx_str_of(fields->language));
}

static bool mounts_are_allowed(const struct cbx_policy *policy, const struct cbx_sealed *sealed)
{
    return cbx_mounts_check(policy, json_object_get(sealed->json, "mounts"), NULL) == 0;
}

/* Under log-only the sealed decision, and so its audit record, has the mode; other decisions have none. */
static bool mode_is(const struct cbx_policy *policy, const struct cbx_sealed *sealed)
{
    struct cbx_str mode = cbx_json_str(json_object_get(sealed->json, "mode"));
    return policy->log_only ? cbx_str_is(mode, CBX_MODE_LOG_ONLY) : mode.p == NULL;
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
    bool may_run = sealed->verdict == CBX_ALLOW || sealed->verdict == CBX_ASK;
    if (may_run && (row == NULL || (policy->languages >> row->language & 1) == 0)) {
        return refuse(fields, "a language", err);
    }
    if (!limits_are_within(&fields->limits, &policy->limits)) {
        return refuse(fields, "a limit", err);
    }
    if (fields->network != policy->network) {
        return refuse(fields, "a network", err);
    }
    if (!mode_is(policy, sealed)) {
        return refuse(fields, "a mode", err);
    }
    if (!guard_is(policy, row, sealed)) {
        return refuse(fields, "a guard", err);
    }
    if (!environment_is(policies, policy, sealed)) {
        return refuse(fields, "a variable", err);
    }
    if (!mounts_are_allowed(policy, sealed)) {
        return refuse(fields, "a mount", err);
    }
    if (!programs_are_listed(policy, fields->programs)) {
        return refuse(fields, "a program", err);
    }
    if (may_run && !installs_are_given(policy, fields)) {
        return refuse(fields, "an install", err);
    }
    if (!packages_are(fields, packages)) {
        return cbx_fail(err, CBX_ESEAL, "the decision is for other packages than these");
    }
    if (!entry_is(fields, text)) {
        return cbx_fail(err, CBX_ESEAL, "the decision's entry is of another file than this");
    }
    return 0;
}
