/* SPDX-License-Identifier: MIT
 * Runs the inline tests of policies. */
#include "analyzer/policy_test.h"

#include "analyzer/analyze.h"
#include "policies/base/memory.h"
#include "policies/egress.h"
#include "policies/environment.h"
#include "policies/mounts.h"

const char *cbx_policy_test_language(const struct cbx_rule *rule)
{
    unsigned language = rule->languages != 0 ? (unsigned)__builtin_ctz(rule->languages) : 0;
    const char *name = cbx_language_name((enum cbx_language)language);
    const struct cbx_language_row *row;
    for (size_t i = 0; (row = cbx_language_row(i)) != NULL; i++) {
        /* the languages that sessions run */
        name = row->dialect && row->language == language ? row->name : name;
    }
    return name;
}

/* Tests check whether a rule matches, not its effect: every language is allowed, and rules that
 * allow give findings too. */
static struct cbx_rule *rules_with_findings(const struct cbx_policy *policy)
{
    struct cbx_rule *rules = cbx_new_array(policy->rule_count + 1, sizeof(*rules));
    for (size_t i = 0; i < policy->rule_count; i++) {
        rules[i] = policy->rules[i];
        rules[i].effect = rules[i].effect == CBX_EFFECT_ALLOW ? CBX_EFFECT_WARN : rules[i].effect;
    }
    return rules;
}

/* An analysis that fails counts as a match, so that a broken allow snippet is noticed. */
static bool matches(const struct cbx_policy *policy, const struct cbx_rule *rule,
                    const char *language, struct cbx_str snippet)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = snippet, .language = cbx_str_of(language) };
    struct cbx_decision decision;
    struct cbx_err err;
    if (cbx_analyze(policy, &request, &arena, &decision, &err) != 0) {
        return true;
    }
    for (size_t i = 0; i < decision.finding_count; i++) {
        if (cbx_str_equal(decision.findings[i].rule->id, rule->id)) {
            return true;
        }
    }
    return false;
}

static void test_mounts(const struct cbx_policy *policy,
                        void (*tell)(void *context, const struct cbx_policy_test_failure *failure),
                        void *context, struct cbx_policy_test_report *out)
{
    const struct cbx_strs *deny = &policy->mounts.test_deny, *allow = &policy->mounts.test_allow;
    for (size_t i = 0; i < deny->count + allow->count; i++) {
        bool refused = i < deny->count;
        struct cbx_str text = refused ? deny->items[i] : allow->items[i - deny->count];
        struct cbx_mount_request request;
        struct cbx_err err;
        char why[CBX_MOUNT_WHY_MAX];
        bool bad = cbx_mount_parse(text, &request, &err) != 0;
        bool allowed = !bad && cbx_mount_allowed(&policy->mounts, &request, why);
        out->run++;
        if (allowed == refused) {
            out->failed++;
            tell(context, &(struct cbx_policy_test_failure){ .kind = "mount",
                                                             .snippet = text,
                                                             .language = bad ? err.text : why,
                                                             .should_match = refused });
        }
    }
}

static void test_environment(const struct cbx_policy *policy,
                             void (*tell)(void *context,
                                          const struct cbx_policy_test_failure *failure),
                             void *context, struct cbx_policy_test_report *out)
{
    const struct cbx_strs *deny = &policy->environment_test_deny,
                          *allow = &policy->environment_test_allow;
    for (size_t i = 0; i < deny->count + allow->count; i++) {
        bool refused = i < deny->count;
        struct cbx_str name = refused ? deny->items[i] : allow->items[i - deny->count];
        struct cbx_err err = { 0 };
        out->run++;
        if ((cbx_variable_may_set(policy, name, &err) == 0) == refused) {
            out->failed++;
            tell(context, &(struct cbx_policy_test_failure){
                              .kind = "variable",
                              .snippet = name,
                              .language = refused ? "a caller may set it" : err.text,
                              .should_match = refused });
        }
    }
}

static void test_network(const struct cbx_policy *policy,
                         void (*tell)(void *context, const struct cbx_policy_test_failure *failure),
                         void *context, struct cbx_policy_test_report *out)
{
    const struct cbx_strs *deny = &policy->network_test_deny, *allow = &policy->network_test_allow;
    for (size_t i = 0; i < deny->count + allow->count; i++) {
        bool refused = i < deny->count;
        struct cbx_str target = refused ? deny->items[i] : allow->items[i - deny->count];
        out->run++;
        if (refused ? !cbx_egress_grants_none(&policy->egress, target)
                    : !cbx_egress_grants_all(&policy->egress, target)) {
            out->failed++;
            tell(context, &(struct cbx_policy_test_failure){
                              .kind = "host",
                              .snippet = target,
                              .language = refused ? "network.egress has an entry that covers it"
                                                  : "no entry of network.egress covers it",
                              .should_match = refused });
        }
    }
}

void cbx_policy_test(const struct cbx_policy *policy,
                     void (*tell)(void *context, const struct cbx_policy_test_failure *failure),
                     void *context, struct cbx_policy_test_report *out)
{
    struct cbx_policy all = *policy;
    struct cbx_rule *rules = rules_with_findings(policy);
    all.rules = rules;
    all.languages = (1u << CBX_LANGUAGES) - 1;
    *out = (struct cbx_policy_test_report){ 0 };
    for (size_t r = 0; r < policy->rule_count; r++) {
        const struct cbx_rule *rule = &policy->rules[r];
        const char *language = cbx_policy_test_language(rule);
        out->untested += rule->test_deny.count + rule->test_allow.count == 0;
        /* A child may be stricter than its parent, but never looser. */
        bool own = cbx_str_equal(rule->origin, policy->name);
        for (size_t i = 0; i < rule->test_deny.count + (own ? rule->test_allow.count : 0); i++) {
            bool deny = i < rule->test_deny.count;
            struct cbx_str snippet =
                deny ? rule->test_deny.items[i] : rule->test_allow.items[i - rule->test_deny.count];
            out->run++;
            if (matches(&all, rule, language, snippet) != deny) {
                out->failed++;
                tell(context, &(struct cbx_policy_test_failure){ .rule = rule,
                                                                 .snippet = snippet,
                                                                 .language = language,
                                                                 .should_match = deny });
            }
        }
    }
    free(rules);
    test_mounts(policy, tell, context, out);
    test_network(policy, tell, context, out);
    test_environment(policy, tell, context, out);
}
