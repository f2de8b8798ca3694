/* SPDX-License-Identifier: MIT
 * The guard of a policy. */
#include "policies/guard/guard.h"

static const struct cbx_refusal_row rows[] = {
#define CBX_REFUSAL(id, name, capabilities, any, shell, always, notified, languages, meaning,      \
                    message, hint)                                                                 \
    { name, "guard." name, message, hint, capabilities, languages, any, shell, always },
#include "policies/guard/guard.def"
};

const struct cbx_refusal_row *cbx_refusal_row(enum cbx_refusal id)
{
    return id < CBX_REFUSALS ? &rows[id] : NULL;
}

enum cbx_refusal cbx_refusal_of(struct cbx_str name)
{
    unsigned id = 0;
    while (id < CBX_REFUSALS && !cbx_str_is(name, rows[id].name)) {
        id++;
    }
    return (enum cbx_refusal)id;
}

/* True if the rule denies one of the row's capabilities. */
static bool denies(const struct cbx_rule *rule, const struct cbx_refusal_row *row,
                   uint64_t capability, enum cbx_language language)
{
    const struct cbx_match *match = &rule->match;
    bool unlisted = row->shell && language == CBX_SHELL, outside = row->always;
    return (row->any && match->import.count > 0) ||
           (unlisted && (match->facts >> CBX_FACT_SHELL_NOT_LISTED & 1) != 0) ||
           ((match->capabilities & capability) != 0 && (match->outside.count == 0 || outside));
}

/* Returns the rule that denies a capability without an exception; NULL if there is none. For
 * programs of shell, a rule that denies unlisted commands counts as denying the capabilities of
 * the row. */
static const struct cbx_rule *denial_of(const struct cbx_policy *policy,
                                        const struct cbx_refusal_row *row, uint64_t capability,
                                        enum cbx_language language, struct cbx_str principal,
                                        int64_t now)
{
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct cbx_rule *rule = &policy->rules[i];
        if (rule->effect == CBX_EFFECT_DENY && (rule->languages >> language & 1) != 0 &&
            denies(rule, row, capability, language) &&
            cbx_policy_exception(policy, rule->id, principal, now) == NULL) {
            return rule;
        }
    }
    return NULL;
}

/* Returns the rule that denies the first of the row's capabilities, if rules deny the required
 * number of them; else NULL. */
static const struct cbx_rule *denial_of_all(const struct cbx_policy *policy,
                                            const struct cbx_refusal_row *row,
                                            enum cbx_language language, struct cbx_str principal,
                                            int64_t now)
{
    const struct cbx_rule *first = NULL;
    if (row->any) {
        return denial_of(policy, row, row->capabilities, language, principal, now);
    }
    for (unsigned c = 0; c < CBX_CAPABILITIES; c++) {
        if ((row->capabilities >> c & 1) != 0) {
            const struct cbx_rule *rule =
                denial_of(policy, row, (uint64_t)1 << c, language, principal, now);
            if (rule == NULL) {
                return NULL;
            }
            first = first != NULL ? first : rule;
        }
    }
    return first;
}

struct cbx_guard cbx_guard_of(const struct cbx_policy *policy, enum cbx_language language,
                              struct cbx_str principal, int64_t now)
{
    struct cbx_guard guard = { 0 };
    for (unsigned i = 0; i < CBX_REFUSALS; i++) {
        const struct cbx_refusal_row *row = &rows[i];
        const enum cbx_guard_key key = policy->guard.of[i];
        if ((row->languages >> language & 1) == 0 ||
            (!row->always && (policy->log_only || key == CBX_GUARD_ALLOW))) {
            continue;
        }
        const struct cbx_rule *rule =
            key != CBX_GUARD_ALLOW ? denial_of_all(policy, row, language, principal, now) : NULL;
        bool asked = key == CBX_GUARD_REFUSE &&
                     cbx_policy_exception(policy, cbx_str_of(row->id), principal, now) == NULL;
        if (rule != NULL || asked || row->always) {
            guard.refused |= 1u << i;
            guard.rules[i] = rule != NULL && !row->any ? rule->id : cbx_str_of(row->id);
        }
    }
    return guard;
}

bool cbx_guard_covers(const struct cbx_policy *policy, const struct cbx_rule *rule,
                      uint32_t languages, struct cbx_str principal, int64_t now)
{
    for (unsigned l = 0; rule->guarded > 0 && l < CBX_LANGUAGES; l++) {
        if ((languages >> l & 1) != 0) {
            struct cbx_guard guard = cbx_guard_of(policy, (enum cbx_language)l, principal, now);
            if ((guard.refused >> (rule->guarded - 1) & 1) == 0) {
                return false;
            }
        }
    }
    return rule->guarded > 0 && languages != 0;
}
