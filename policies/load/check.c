/* SPDX-License-Identifier: MIT
 * The checks of one policy file that a row of the key table cannot express: required keys, and keys
 * that depend on each other. */
#include "policies/environment.h"
#include "policies/load/keys.h"
#include "policies/versions/version.h"

static int fail_rule(const struct cbx_draft_rule *rule, struct cbx_err *err, const char *text)
{
    return cbx_fail_at(err, CBX_EPOLICY, rule->head.line, rule->head.column, "rule '%.*s' %s",
                       CBX_STR_SHOWN(rule->v.id), text);
}

static bool match_is_empty(const struct cbx_match *match)
{
    return match->import.count == 0 && match->call_count == 0 && match->reference.count == 0 &&
           match->attribute.count == 0 && match->literal.count == 0 && match->facts == 0 &&
           match->capabilities == 0 && match->query.len == 0;
}

static int check_where(const struct cbx_draft_rule *rule, const struct cbx_where *where,
                       struct cbx_err *err)
{
    if (where->arg.count == 0) {
        return fail_rule(rule, err, "has a condition without 'arg' (a position or a keyword)");
    }
    int tests = (where->matches.count > 0) + (where->not_matches.count > 0) +
                (where->outside.count > 0) + (where->inside.count > 0) + (where->host.count > 0) +
                (where->host_outside.count > 0) + (where->presence != CBX_PRESENCE_ANY) +
                (where->constant != CBX_PRESENCE_ANY) + (where->granted != CBX_PRESENCE_ANY);
    if (tests <= 0) {
        return fail_rule(rule, err,
                         "has a condition that tests nothing; allowed are matches, not, "
                         "outside, inside, host, host-outside, "
                         "present, constant, granted");
    }
    return 0;
}

static int check_rule(const struct cbx_draft *draft, size_t i, struct cbx_err *err)
{
    const struct cbx_draft_rule *rule = &draft->rules[i];
    if (rule->v.id.len == 0) {
        return cbx_fail_at(err, CBX_EPOLICY, rule->head.line, rule->head.column,
                           "a rule without 'id'");
    }
    for (size_t j = 0; j < i; j++) {
        if (cbx_str_equal(draft->rules[j].v.id, rule->v.id)) {
            return fail_rule(rule, err, "stands here twice; join the two or rename one");
        }
    }
    bool inherits = draft->extends.count > 0;
    if (match_is_empty(&rule->v.match) && !inherits) {
        return fail_rule(rule, err,
                         "has no 'match', and no policy is extended that it could come from");
    }
    for (size_t c = 0; c < rule->v.match.call_count; c++) {
        const struct cbx_call *call = &rule->v.match.call[c];
        if (call->name.len == 0) {
            return fail_rule(rule, err, "has a call without 'name'");
        }
        for (size_t w = 0; w < call->where_count; w++) {
            int failed = check_where(rule, &call->where[w], err);
            if (failed) {
                return failed;
            }
        }
    }
    return 0;
}

static const char *missing_part(const struct cbx_exception *e)
{
    if (e->rule.len == 0) {
        return "rule";
    }
    if (e->principal.len == 0) {
        return "principal";
    }
    if (e->until == 0) {
        return "until";
    }
    return e->reason.len == 0 ? "reason" : NULL;
}

static int check_exceptions(const struct cbx_draft *draft, struct cbx_err *err)
{
    for (size_t i = 0; i < draft->exception_count; i++) {
        const struct cbx_exception *e = &draft->exceptions[i];
        const char *missing = missing_part(e);
        if (missing != NULL) {
            return cbx_fail_at(err, CBX_EPOLICY, e->line, e->column,
                               "this exception has no '%s'; rule, principal, until and reason are "
                               "required",
                               missing);
        }
    }
    return 0;
}

/* An invalid version as minimum would refuse every install. */
static int check_minimums(const struct cbx_draft_packages *packages, bool python,
                          struct cbx_err *err)
{
    for (size_t i = 0; i < packages->v.minimum_count; i++) {
        const struct cbx_minimum *m = &packages->v.minimum[i];
        struct cbx_pep440 pep440;
        struct cbx_semver semver;
        bool version =
            python ? cbx_pep440_parse(m->version, &pep440) : cbx_semver_parse(m->version, &semver);
        if (!version) {
            return cbx_fail_at(err, CBX_EPOLICY, packages->head.line, packages->head.column,
                               "the minimum of '%.*s' is '%.*s', allowed is a version such as %s",
                               CBX_STR_SHOWN(m->name), CBX_STR_SHOWN(m->version),
                               python ? "1.22.2 (PEP 440)" : "4.17.21 (three numbers)");
        }
    }
    return 0;
}

static int check_variable(const struct cbx_draft *draft, struct cbx_str name, struct cbx_err *err)
{
    const struct cbx_draft_head *head = &draft->environment.head;
    struct cbx_err inner = { 0 };
    int failed = cbx_variable_check(name, &inner);
    if (failed) {
        return cbx_fail_at(err, CBX_EPOLICY, head->line, head->column, "%s", inner.text);
    }
    return 0;
}

static int check_environment(const struct cbx_draft *draft, struct cbx_err *err)
{
    const struct cbx_draft_environment *e = &draft->environment;
    int failed = 0;
    for (size_t i = 0; i < e->pass.count && !failed; i++) {
        failed = check_variable(draft, e->pass.items[i], err);
    }
    for (size_t i = 0; i < e->secret_count && !failed; i++) {
        struct cbx_str name = e->secrets[i].name, file = e->secrets[i].file;
        failed = check_variable(draft, name, err);
        if (!failed && file.len > 0 && file.p[0] != '/') {
            failed = cbx_fail_at(err, CBX_EPOLICY, e->head.line, e->head.column,
                                 "the file of the secret '%.*s' is '%.*s', allowed is an absolute "
                                 "path",
                                 CBX_STR_SHOWN(name), CBX_STR_SHOWN(file));
        }
        for (size_t k = 0; k < e->pass.count + i && !failed; k++) {
            struct cbx_str other =
                k < e->pass.count ? e->pass.items[k] : e->secrets[k - e->pass.count].name;
            if (cbx_str_equal(name, other)) {
                failed = cbx_fail_at(err, CBX_EPOLICY, e->head.line, e->head.column,
                                     "the variable '%.*s' is passed twice", CBX_STR_SHOWN(name));
            }
        }
    }
    return failed;
}

int cbx_draft_check(const struct cbx_draft *draft, struct cbx_err *err)
{
    if (!cbx_draft_has(&cbx_section_policy, &draft->head, "version") || draft->name.len == 0) {
        return cbx_fail_at(err, CBX_EPOLICY, draft->head.line, draft->head.column,
                           "'%s' is missing", draft->name.len == 0 ? "name: ..." : "version: 1");
    }
    for (size_t i = 0; i < draft->rule_count; i++) {
        int failed = check_rule(draft, i, err);
        if (failed) {
            return failed;
        }
    }
    for (size_t i = 0; i < draft->mounts.v.allow_count; i++) {
        if (draft->mounts.v.allow[i].host.len == 0 || draft->mounts.v.allow[i].host.p[0] != '/') {
            return cbx_fail_at(err, CBX_EPOLICY, draft->mounts.head.line, draft->mounts.head.column,
                               "mount %zu has no absolute 'host' path", i + 1);
        }
    }
    if (draft->network.mode == CBX_NETWORK_EGRESS && draft->network.egress.count == 0) {
        return cbx_fail_at(err, CBX_EPOLICY, draft->network.head.line, draft->network.head.column,
                           "network mode egress needs 'egress: [hosts]'");
    }
    int failed = check_minimums(&draft->packages.pip, true, err);
    if (failed) {
        return failed;
    }
    failed = check_minimums(&draft->packages.npm, false, err);
    if (failed) {
        return failed;
    }
    failed = check_environment(draft, err);
    if (failed) {
        return failed;
    }
    return check_exceptions(draft, err);
}
