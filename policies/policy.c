/* SPDX-License-Identifier: MIT
 * Reading a loaded policy: names of its elements, rules by id, exceptions. */
#include "policies/policy.h"

#include "policies/load/keys.h"

const char *cbx_effect_name(enum cbx_effect effect)
{
    return effect <= CBX_EFFECT_ALLOW ? cbx_effect_names[effect] : "deny";
}

const char *cbx_severity_name(enum cbx_severity severity)
{
    return severity <= CBX_LOW ? cbx_severity_names[severity] : "critical";
}

static const struct {
    const char *name, *meaning;
} facts[] = {
#define CBX_FACT(id, name, meaning) { name, meaning },
#include "policies/facts.def"
#undef CBX_FACT
};

/* Rules keep facts as bits of one word. */
_Static_assert(CBX_FACTS <= 64, "a fact more than a word has bits");

const char *cbx_fact_name(enum cbx_fact_id id)
{
    return id < CBX_FACTS ? facts[id].name : "unknown";
}

const char *cbx_fact_meaning(enum cbx_fact_id id)
{
    return id < CBX_FACTS ? facts[id].meaning : "";
}

static const struct {
    const char *name, *meaning;
} capabilities[] = {
#define CBX_CAPABILITY(id, name, meaning) { name, meaning },
#include "policies/guard/capabilities.def"
#undef CBX_CAPABILITY
};

/* The tables of names store them as bits of a small word. */
_Static_assert(CBX_CAPABILITIES <= 32, "a capability more than a word has bits");

const char *cbx_capability_name(enum cbx_capability id)
{
    return id < CBX_CAPABILITIES ? capabilities[id].name : "unknown";
}

const char *cbx_capability_meaning(enum cbx_capability id)
{
    return id < CBX_CAPABILITIES ? capabilities[id].meaning : "";
}

const struct cbx_rule *cbx_policy_rule(const struct cbx_policy *policy, struct cbx_str id)
{
    for (size_t i = 0; i < policy->rule_count; i++) {
        if (cbx_str_equal(policy->rules[i].id, id)) {
            return &policy->rules[i];
        }
    }
    return NULL;
}

const struct cbx_exception *cbx_policy_exception(const struct cbx_policy *policy,
                                                 struct cbx_str rule, struct cbx_str principal,
                                                 int64_t now)
{
    for (size_t i = 0; i < policy->exception_count; i++) {
        const struct cbx_exception *e = &policy->exceptions[i];
        if (now < e->until && cbx_str_glob(e->rule, rule) &&
            cbx_str_glob(e->principal, principal)) {
            return e;
        }
    }
    return NULL;
}
