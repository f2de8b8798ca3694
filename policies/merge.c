/* SPDX-License-Identifier: MIT
 * Laying one draft over another. The rule is the same everywhere: lists of what is refused grow,
 * lists of what is allowed shrink, bounds go down, effects get stricter; anything else needs
 * `override: true` on the rule or section that does it. */
#include "policies/keys.h"

#include "policies/egress.h"
#include "policies/guard.h"
#include "policies/version.h"

struct merge {
    struct cbx_arena *arena;
    struct cbx_err *err;
    bool lenient; /* second of two parents: take the stricter value instead of failing */
};

/* 0 = take the child's value, 1 = keep the base's (lenient), negative = refused. */
static int decide_laxer(struct merge *m, const struct cbx_draft_head *head, const char *what)
{
    if (head->override) {
        return 0;
    }
    if (m->lenient) {
        return 1;
    }
    return cbx_fail_at(
        m->err, CBX_EPOLICY, head->line, head->column,
        "%s than in the policy that this one extends; say 'override: true' there to allow that",
        what);
}

static bool contains(const struct cbx_strs *list, struct cbx_str item)
{
    for (size_t i = 0; i < list->count; i++) {
        if (cbx_str_equal(list->items[i], item)) {
            return true;
        }
    }
    return false;
}

static int merge_union(struct merge *m, struct cbx_strs *base, const struct cbx_strs *child)
{
    struct cbx_str *items =
        cbx_arena_array(m->arena, base->count + child->count + 1, sizeof(*items));
    if (items == NULL) {
        return cbx_fail(m->err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    size_t count = 0;
    for (size_t i = 0; i < base->count; i++) {
        items[count++] = base->items[i];
    }
    for (size_t i = 0; i < child->count; i++) {
        if (!contains(base, child->items[i])) {
            items[count++] = child->items[i];
        }
    }
    *base = (struct cbx_strs){ .items = items, .count = count };
    return 0;
}

/* What both lists allow. */
static int keep_common(struct merge *m, struct cbx_strs *base, const struct cbx_strs *child)
{
    struct cbx_str *items =
        cbx_arena_array(m->arena, base->count + child->count + 1, sizeof(*items));
    if (items == NULL) {
        return cbx_fail(m->err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    size_t count = 0;
    for (size_t i = 0; i < base->count; i++) {
        if (contains(child, base->items[i]) || contains(child, CBX_STR("*"))) {
            items[count++] = base->items[i];
        }
    }
    *base = (struct cbx_strs){ .items = items, .count = count };
    return 0;
}

/* A list of what is allowed: the child's replaces the base's and must be part of it. `*` in the
 * base is everything. */
static int merge_subset(struct merge *m, const struct cbx_draft_head *head, bool base_given,
                        struct cbx_strs *base, const struct cbx_strs *child, const char *what)
{
    for (size_t i = 0; base_given && i < child->count; i++) {
        if (!contains(base, child->items[i]) && !contains(base, CBX_STR("*"))) {
            int laxer = decide_laxer(m, head, what);
            if (laxer != 0) {
                return laxer < 0 ? laxer : keep_common(m, base, child);
            }
        }
    }
    *base = *child;
    return 0;
}

/* One bound: lower is stricter. */
static int merge_bound(struct merge *m, const struct cbx_draft_head *head, int64_t *base,
                       int64_t child, bool base_given, const char *what)
{
    if (base_given && child > *base) {
        int laxer = decide_laxer(m, head, what);
        if (laxer != 0) {
            return laxer < 0 ? laxer : 0;
        }
    }
    *base = child;
    return 0;
}

/* --- rules ------------------------------------------------------------------------------------ */

static bool rule_has(const struct cbx_draft_rule *rule, const char *key)
{
    return cbx_draft_has(&cbx_section_rule, &rule->head, key);
}

static bool same_json(json_t *a, json_t *b)
{
    bool same = json_equal(a, b) == 1;
    json_decref(a);
    json_decref(b);
    return same;
}

static bool same_match(const struct cbx_rule *a, const struct cbx_rule *b)
{
    return same_json(cbx_section_json(&cbx_section_match, &a->match),
                     cbx_section_json(&cbx_section_match, &b->match));
}

/* Keys that the child does not give are inherited. */
static void inherit_rule(struct cbx_draft_rule *child, const struct cbx_draft_rule *base)
{
#define INHERIT(key, member)                                                                       \
    if (!rule_has(child, key)) {                                                                   \
        child->v.member = base->v.member;                                                          \
    }
    INHERIT("languages", languages)
    INHERIT("match", match)
    INHERIT("effect", effect)
    INHERIT("severity", severity)
    INHERIT("message", message)
    INHERIT("hint", hint)
    INHERIT("references", references)
    if (!rule_has(child, "tests")) {
        child->v.test_deny = base->v.test_deny;
        child->v.test_allow = base->v.test_allow;
    }
#undef INHERIT
    child->head.given |= base->head.given;
}

static int merge_rule(struct merge *m, struct cbx_draft_rule *base, struct cbx_draft_rule child)
{
    inherit_rule(&child, base);
    if (m->lenient && !child.head.override &&
        !same_match(&base->v, &child.v)) { /* keeping one would lose the other */
        return cbx_fail_at(m->err, CBX_EPOLICY, child.head.line, child.head.column,
                           "rule '%.*s' matches something else than in another policy that is "
                           "extended beside this one",
                           CBX_STR_SHOWN(child.v.id));
    }
    child.v.languages |= m->lenient && !child.head.override ? base->v.languages : 0;
    bool laxer_effect = child.v.effect > base->v.effect;
    bool other_match =
        !same_match(&base->v, &child.v) || (base->v.languages & ~child.v.languages) != 0;
    if (laxer_effect || other_match) {
        char what[160];
        snprintf(what, sizeof(what), "rule '%.*s' %s", CBX_STR_ARG(child.v.id),
                 laxer_effect ? "has a laxer effect" : "matches something else");
        int laxer = decide_laxer(m, &child.head, what);
        if (laxer != 0) {
            return laxer < 0 ? laxer : 0;
        }
    }
    *base = child;
    return 0;
}

static int merge_rules(struct merge *m, struct cbx_draft *base, const struct cbx_draft *child)
{
    size_t capacity = base->rule_count + child->rule_count;
    if (capacity > CBX_POLICY_RULES_MAX) {
        return cbx_fail(m->err, CBX_ETOOBIG, "%zu rules, allowed are %d", capacity,
                        CBX_POLICY_RULES_MAX);
    }
    struct cbx_draft_rule *rules = cbx_arena_array(m->arena, capacity + 1, sizeof(*rules));
    if (rules == NULL) {
        return cbx_fail(m->err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    size_t inherited = base->rule_count, count = inherited;
    if (inherited > 0) {
        memcpy(rules, base->rules, inherited * sizeof(*rules));
    }
    for (size_t i = 0; i < child->rule_count; i++) {
        size_t at = 0;
        while (at < inherited && !cbx_str_equal(rules[at].v.id, child->rules[i].v.id)) {
            at++;
        }
        if (at == inherited) {
            rules[count++] = child->rules[i];
            continue;
        }
        int failed = merge_rule(m, &rules[at], child->rules[i]);
        if (failed) {
            return failed;
        }
    }
    base->rules = rules;
    base->rule_count = count;
    return 0;
}

/* --- sections --------------------------------------------------------------------------------- */

#define HAS(section, head, key) cbx_draft_has(&cbx_section_##section, head, key)

static int merge_limits(struct merge *m, struct cbx_draft_limits *base,
                        const struct cbx_draft_limits *child)
{
    for (size_t i = 0; i < cbx_section_limits.key_count; i++) {
        const struct cbx_key *key = &cbx_section_limits.keys[i];
        if ((child->head.given >> i & 1) == 0 || key->type == CBX_KEY_BOOL) {
            continue;
        }
        char what[64];
        snprintf(what, sizeof(what), "limit '%s' is %s", key->name,
                 key->type == CBX_KEY_ISOLATION ? "weaker" : "higher");
        int failed =
            merge_bound(m, &child->head, (int64_t *)(void *)((char *)base + key->offset),
                        *(const int64_t *)(const void *)((const char *)child + key->offset),
                        (base->head.given >> i & 1) != 0, what);
        if (failed) {
            return failed;
        }
    }
    base->head.given |= child->head.given;
    return 0;
}

static int merge_minimum(struct merge *m, struct cbx_draft_packages *base,
                         const struct cbx_draft_packages *child)
{
    size_t capacity = base->v.minimum_count + child->v.minimum_count;
    struct cbx_minimum *items = cbx_arena_array(m->arena, capacity + 1, sizeof(*items));
    if (items == NULL) {
        return cbx_fail(m->err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    size_t inherited = base->v.minimum_count, count = inherited;
    if (inherited > 0) {
        memcpy(items, base->v.minimum, inherited * sizeof(*items));
    }
    for (size_t i = 0; i < child->v.minimum_count; i++) {
        size_t at = 0;
        while (at < inherited && !cbx_str_equal(items[at].name, child->v.minimum[i].name)) {
            at++;
        }
        bool comparable = true;
        if (at < inherited && !cbx_str_equal(items[at].version, child->v.minimum[i].version) &&
            (cbx_version_compare(child->v.minimum[i].version, items[at].version, &comparable) < 0 ||
             !comparable)) {
            char what[160];
            snprintf(what, sizeof(what), "the minimum version of '%.*s' is lower",
                     CBX_STR_ARG(items[at].name));
            int laxer = decide_laxer(m, &child->head, what);
            if (laxer < 0) {
                return laxer;
            }
            if (laxer > 0) {
                continue;
            }
        }
        items[at < inherited ? at : count++] = child->v.minimum[i];
    }
    base->v.minimum = items;
    base->v.minimum_count = count;
    return 0;
}

static int merge_mode(struct merge *m, struct cbx_draft_packages *base,
                      const struct cbx_draft_packages *child, bool base_given)
{
    if (base_given && child->v.mode > base->v.mode) {
        int laxer = decide_laxer(m, &child->head, "the mode of package installs is laxer");
        if (laxer != 0) {
            return laxer < 0 ? laxer : 0;
        }
    }
    base->v.mode = child->v.mode;
    return 0;
}

static int merge_packages(struct merge *m, struct cbx_draft_packages *base,
                          const struct cbx_draft_packages *child)
{
    const struct cbx_draft_head *h = &child->head, *b = &base->head;
    int failed = 0;
    if (HAS(packages_of, h, "mode")) {
        failed = merge_mode(m, base, child, HAS(packages_of, b, "mode"));
    }
    if (!failed && HAS(packages_of, h, "allow")) {
        failed = merge_subset(m, h, HAS(packages_of, b, "allow"), &base->v.allow, &child->v.allow,
                              "more packages are allowed");
    }
    if (!failed && HAS(packages_of, h, "block")) {
        failed = h->override ? (base->v.block = child->v.block, 0)
                             : merge_union(m, &base->v.block, &child->v.block);
    }
    if (!failed && HAS(packages_of, h, "minimum")) {
        failed = merge_minimum(m, base, child);
    }
    if (!failed && HAS(packages_of, h, "sources")) {
        failed = merge_subset(m, h, HAS(packages_of, b, "sources"), &base->v.sources,
                              &child->v.sources, "more package sources are allowed");
    }
    if (!failed && HAS(packages_of, h, "indexes")) {
        failed = merge_subset(m, h, HAS(packages_of, b, "indexes"), &base->v.indexes,
                              &child->v.indexes, "more package indexes are allowed");
    }
    if (!failed && HAS(packages_of, h, "transitive")) {
        if (base->v.transitive && !child->v.transitive) {
            failed = decide_laxer(m, h, "transitive packages are checked less");
            if (failed != 0) {
                return failed < 0 ? failed : 0;
            }
        }
        base->v.transitive = child->v.transitive;
    }
    base->head.given |= h->given;
    return failed;
}

static bool mount_is_covered(const struct cbx_mounts *base, const struct cbx_mount_rule *rule)
{
    for (size_t i = 0; i < base->allow_count; i++) {
        if (cbx_str_equal(base->allow[i].host, rule->host) &&
            (base->allow[i].writable || !rule->writable)) {
            return true;
        }
    }
    return false;
}

static int keep_common_mounts(struct merge *m, struct cbx_mounts *base,
                              const struct cbx_mounts *child)
{
    struct cbx_mount_rule *items = cbx_arena_array(m->arena, base->allow_count + 1, sizeof(*items));
    if (items == NULL) {
        return cbx_fail(m->err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    size_t count = 0;
    for (size_t i = 0; i < base->allow_count; i++) {
        if (mount_is_covered(child, &base->allow[i])) {
            items[count++] = base->allow[i];
        }
    }
    base->allow = items;
    base->allow_count = count;
    return 0;
}

static int merge_mounts(struct merge *m, struct cbx_draft_mounts *base,
                        const struct cbx_draft_mounts *child)
{
    const struct cbx_draft_head *h = &child->head, *b = &base->head;
    int failed = 0;
    if (h->given != 0) { /* what was true of the base's mounts may be so no more */
        base->v.test_deny = child->v.test_deny;
        base->v.test_allow = child->v.test_allow;
    }
    if (HAS(mounts, h, "allow")) {
        bool laxer = false;
        for (size_t i = 0; HAS(mounts, b, "allow") && i < child->v.allow_count; i++) {
            laxer |= !mount_is_covered(&base->v, &child->v.allow[i]);
        }
        failed = laxer ? decide_laxer(m, h, "more mounts are allowed") : 0;
        if (failed < 0) {
            return failed;
        }
        if (failed == 0) {
            base->v.allow = child->v.allow;
            base->v.allow_count = child->v.allow_count;
        } else if ((failed = keep_common_mounts(m, &base->v, &child->v)) != 0) {
            return failed;
        }
    }
    if (HAS(mounts, h, "deny")) {
        failed = h->override ? (base->v.deny = child->v.deny, 0)
                             : merge_union(m, &base->v.deny, &child->v.deny);
    }
    if (!failed && HAS(mounts, h, "container")) {
        failed = merge_subset(m, h, HAS(mounts, b, "container"), &base->v.container,
                              &child->v.container, "mounts may appear in more places");
    }
    base->head.given |= h->given;
    return failed;
}

static int merge_network(struct merge *m, struct cbx_draft_network *base,
                         const struct cbx_draft_network *child, bool base_given)
{
    struct cbx_strs egress = child->egress;
    bool more = false;
    int failed = 0;
    base->test_deny = child->test_deny; /* as of mounts */
    base->test_allow = child->test_allow;
    if (base_given && child->mode > base->mode) {
        failed = decide_laxer(m, &child->head, "the network is wider");
    } else if (base_given && child->mode == CBX_NETWORK_EGRESS) {
        for (size_t i = 0; i < child->egress.count; i++) {
            more |= !cbx_egress_covers(&base->egress, child->egress.items[i]);
        }
        failed = more ? decide_laxer(m, &child->head, "more hosts may be reached") : 0;
        if (failed > 0) {
            failed = cbx_egress_common(&base->egress, &child->egress, m->arena, &egress, m->err);
        }
    }
    if (failed == 0) {
        base->mode = child->mode;
        base->egress = child->mode == CBX_NETWORK_EGRESS ? egress : (struct cbx_strs){ 0 };
    }
    return failed < 0 ? failed : 0;
}

static bool has_secret(const struct cbx_draft_environment *in, const struct cbx_secret *secret)
{
    bool found = false;
    for (size_t i = 0; i < in->secret_count; i++) {
        found |= cbx_str_equal(in->secrets[i].name, secret->name) &&
                 cbx_str_equal(in->secrets[i].file, secret->file);
    }
    return found;
}

/* As merge_subset. */
static int merge_secrets(struct merge *m, const struct cbx_draft_head *head, bool base_given,
                         struct cbx_draft_environment *base,
                         const struct cbx_draft_environment *child)
{
    bool more = false;
    size_t count = 0;
    for (size_t i = 0; i < child->secret_count; i++) {
        more |= base_given && !has_secret(base, &child->secrets[i]);
    }
    int laxer = more ? decide_laxer(m, head, "more secrets are passed") : 0;
    if (laxer == 0) {
        base->secrets = child->secrets;
        base->secret_count = child->secret_count;
        return 0;
    }
    struct cbx_secret *items = cbx_arena_array(m->arena, base->secret_count + 1, sizeof(*items));
    if (laxer < 0 || items == NULL) {
        return laxer < 0 ? laxer
                         : cbx_fail(m->err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    for (size_t i = 0; i < base->secret_count; i++) {
        if (has_secret(child, &base->secrets[i])) {
            items[count++] = base->secrets[i];
        }
    }
    base->secrets = items;
    base->secret_count = count;
    return 0;
}

static int merge_environment(struct merge *m, struct cbx_draft_environment *base,
                             const struct cbx_draft_environment *child)
{
    const struct cbx_draft_head *h = &child->head, *b = &base->head;
    int failed = 0;
    if (h->given != 0) { /* as of mounts */
        base->test_deny = child->test_deny;
        base->test_allow = child->test_allow;
    }
    if (HAS(environment, h, "pass")) {
        failed = merge_subset(m, h, HAS(environment, b, "pass"), &base->pass, &child->pass,
                              "more environment variables are passed");
    }
    if (!failed && HAS(environment, h, "set")) {
        failed = merge_subset(m, h, HAS(environment, b, "set"), &base->set, &child->set,
                              "callers may set more variables");
    }
    if (!failed && HAS(environment, h, "secrets")) {
        failed = merge_secrets(m, h, HAS(environment, b, "secrets"), base, child);
    }
    base->head.given |= h->given;
    return failed;
}

static int merge_languages(struct merge *m, struct cbx_draft *base, const struct cbx_draft *child)
{
    if (HAS(policy, &base->head, "languages") && (child->languages & ~base->languages) != 0) {
        int laxer = decide_laxer(m, &child->head, "more languages may run");
        if (laxer != 0) {
            base->languages &= child->languages;
            return laxer < 0 ? laxer : 0;
        }
    }
    base->languages = child->languages;
    return 0;
}

static int merge_exceptions(struct merge *m, struct cbx_draft *base, const struct cbx_draft *child)
{
    size_t total = base->exception_count + child->exception_count;
    struct cbx_exception *items = cbx_arena_array(m->arena, total + 1, sizeof(*items));
    if (items == NULL) {
        return cbx_fail(m->err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    if (base->exception_count > 0) {
        memcpy(items, base->exceptions, base->exception_count * sizeof(*items));
    }
    if (child->exception_count > 0) {
        memcpy(items + base->exception_count, child->exceptions,
               child->exception_count * sizeof(*items));
    }
    base->exceptions = items;
    base->exception_count = total;
    return 0;
}

/* A policy without the key does not permit suppressions, so a second parent without it forbids
 * them. */
static int merge_suppressions(struct merge *m, struct cbx_draft_suppressions *base,
                              const struct cbx_draft_suppressions *child)
{
    if (!HAS(suppressions, &child->head, "inline") && !m->lenient) {
        return 0;
    }
    if (child->in_source && !base->in_source) {
        int laxer = decide_laxer(m, &child->head, "more findings can be suppressed");
        if (laxer != 0) {
            return laxer < 0 ? laxer : 0;
        }
    }
    base->in_source = child->in_source;
    return 0;
}

/* How strict a key is: allow, rules, refuse. */
static int guard_strictness(enum cbx_guard_key key)
{
    return key == CBX_GUARD_ALLOW ? 0 : key == CBX_GUARD_RULES ? 1 : 2;
}

static int merge_guard(struct merge *m, struct cbx_draft_guard *base,
                       const struct cbx_draft_guard *child)
{
    for (unsigned i = 0; i < CBX_REFUSALS; i++) {
        const char *name = cbx_refusal_row((enum cbx_refusal)i)->name;
        int laxer = 0;
        if (!HAS(guard, &child->head, name)) {
            continue;
        }
        if (guard_strictness(child->v.of[i]) < guard_strictness(base->v.of[i])) {
            laxer = decide_laxer(m, &child->head, "the sandbox refuses less");
        }
        if (laxer < 0) {
            return laxer;
        }
        base->v.of[i] = laxer == 0 ? child->v.of[i] : base->v.of[i];
    }
    if (HAS(guard, &child->head, "ends-run")) {
        int laxer = base->v.ends_run && !child->v.ends_run
                        ? decide_laxer(m, &child->head, "a refusal does not end the run")
                        : 0;
        if (laxer < 0) {
            return laxer;
        }
        base->v.ends_run = laxer == 0 ? child->v.ends_run : base->v.ends_run;
    }
    return 0;
}

int cbx_draft_merge(struct cbx_draft *base, const struct cbx_draft *child, bool lenient,
                    struct cbx_arena *arena, struct cbx_err *err)
{
    struct merge m = { .arena = arena, .err = err, .lenient = lenient };
    const struct cbx_draft_head *h = &child->head;
    int failed = merge_rules(&m, base, child);
    if (!failed && HAS(policy, h, "languages")) {
        failed = merge_languages(&m, base, child);
    }
    if (!failed && HAS(shell, &child->shell.head, "allow")) {
        failed = merge_subset(&m, &child->shell.head, HAS(shell, &base->shell.head, "allow"),
                              &base->shell.allow, &child->shell.allow,
                              "more shell commands are allowed");
        base->shell.head.given |= child->shell.head.given;
    }
    failed = failed ? failed : merge_packages(&m, &base->packages.pip, &child->packages.pip);
    failed = failed ? failed : merge_packages(&m, &base->packages.npm, &child->packages.npm);
    failed = failed ? failed : merge_mounts(&m, &base->mounts, &child->mounts);
    failed = failed ? failed : merge_limits(&m, &base->limits, &child->limits);
    if (!failed && HAS(policy, h, "network")) {
        failed =
            merge_network(&m, &base->network, &child->network, HAS(policy, &base->head, "network"));
    }
    failed = failed ? failed : merge_environment(&m, &base->environment, &child->environment);
    failed = failed ? failed : merge_guard(&m, &base->guard, &child->guard);
    failed = failed ? failed : merge_exceptions(&m, base, child);
    failed = failed ? failed : merge_suppressions(&m, &base->suppressions, &child->suppressions);
    base->name = child->name;
    base->description = child->description;
    base->log_only = child->log_only;
    base->head.given |= h->given;
    return failed;
}
