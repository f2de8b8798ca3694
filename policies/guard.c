/* SPDX-License-Identifier: MIT
 * The guard of a policy. */
#include "policies/guard.h"

static const struct cbx_refusal_row rows[] = {
#define CBX_REFUSAL(id, name, capabilities, languages, message, hint)                              \
    { name, message, hint, capabilities, languages },
#include "policies/guard.def"
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

/* The rule that denies a capability without a way round it; NULL when there is none. */
static const struct cbx_rule *denial_of(const struct cbx_policy *policy, unsigned capability,
                                        enum cbx_language language, struct cbx_str principal,
                                        int64_t now)
{
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct cbx_rule *rule = &policy->rules[i];
        if (rule->effect == CBX_EFFECT_DENY && (rule->languages >> language & 1) != 0 &&
            (rule->match.capabilities >> capability & 1) != 0 && rule->match.outside.count == 0 &&
            cbx_policy_exception(policy, rule->id, principal, now) == NULL) {
            return rule;
        }
    }
    return NULL;
}

struct cbx_guard cbx_guard_of(const struct cbx_policy *policy, enum cbx_language language,
                              struct cbx_str principal, int64_t now)
{
    struct cbx_guard guard = { 0 };
    for (unsigned id = 0; id < CBX_REFUSALS && !policy->log_only; id++) {
        const struct cbx_rule *first = NULL;
        bool denied = (rows[id].languages >> language & 1) != 0;
        for (unsigned c = 0; c < CBX_CAPABILITIES && denied; c++) {
            if ((rows[id].capabilities >> c & 1) != 0) {
                const struct cbx_rule *rule = denial_of(policy, c, language, principal, now);
                denied = rule != NULL;
                first = first != NULL ? first : rule;
            }
        }
        if (denied) {
            guard.refused |= 1u << id;
            guard.rules[id] = first->id;
        }
    }
    return guard;
}
