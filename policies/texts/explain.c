/* SPDX-License-Identifier: MIT
 * A policy in plain words. */
#include "policies/texts/explain.h"

#include "policies/load/keys.h"

#include "policies/base/text/printable.h"
#include "policies/base/time/date.h"
#include "policies/egress.h"
#include "policies/guard/guard.h"

#include <stdlib.h>

static bool takes_out(struct cbx_str entry)
{
    return entry.len > 1 && entry.p[0] == '!';
}

/* Adds the entries that begin with '!', or the other ones. */
static void add_entries(struct cbx_buf *out, const char *label, const struct cbx_strs *list,
                        bool out_taken)
{
    size_t column = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct cbx_str entry = list->items[i];
        if (takes_out(entry) != out_taken) {
            continue;
        }
        cbx_buf_printf(out, "%s%s", column == 0 ? "      " : ",", column == 0 ? label : "");
        if (column + entry.len > 110) {
            cbx_buf_add_cstr(out, "\n        ");
            column = 8;
        }
        column += entry.len + 2 + (column == 0 ? strlen(label) + 6 : 0);
        cbx_buf_add_char(out, ' ');
        cbx_printable_add(out, cbx_str_sub(entry, out_taken, entry.len), CBX_PRINTABLE_LINE);
    }
    cbx_buf_add_cstr(out, column > 0 ? "\n" : "");
}

static void add_list(struct cbx_buf *out, const char *label, const struct cbx_strs *list)
{
    add_entries(out, label, list, false);
    add_entries(out, "  but not", list, true);
}

/* Adds "a or b", "a, b or c"; the first few of a long list. */
static void add_alternatives(struct cbx_buf *out, const struct cbx_strs *list)
{
    enum { SHOWN = 6 };
    size_t shown = list->count <= SHOWN + 1 ? list->count : SHOWN;
    for (size_t i = 0; i < shown; i++) {
        cbx_buf_add_cstr(out, i == 0 ? "" : i + 1 == list->count ? " or " : ", ");
        cbx_printable_add(out, list->items[i], CBX_PRINTABLE_LINE);
    }
    if (shown < list->count) {
        cbx_buf_printf(out, " or one of %zu more", list->count - shown);
    }
}

/* Returns a word for the wanted presence; NULL: both are permitted. */
static const char *choose(enum cbx_presence wanted, const char *present, const char *absent)
{
    if (wanted == CBX_PRESENT) {
        return present;
    }
    return wanted == CBX_ABSENT ? absent : NULL;
}

/* Adds one condition on an argument, in words. */
static void add_where(struct cbx_buf *out, const struct cbx_where *w)
{
    const struct {
        const struct cbx_strs *list;
        const char *text;
    } tests[] = { { &w->matches, " is like " },
                  { &w->not_matches, " is absent or not like " },
                  { &w->outside, " is a path outside of " },
                  { &w->inside, " is a path in " },
                  { &w->host, " is a URL at the host " },
                  { &w->host_outside, " is a URL at another host than " } };
    bool first = true;
    cbx_buf_add_cstr(out, "argument ");
    add_alternatives(out, &w->arg);
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (tests[i].list->count > 0) {
            cbx_buf_add_cstr(out, first ? "" : " and");
            first = false;
            cbx_buf_add_cstr(out, tests[i].text);
            add_alternatives(out, tests[i].list);
        }
    }
    const char *presence = choose(w->presence, " is given", " is not given");
    const char *constant = choose(w->constant, " is a constant", " is computed");
    if (presence != NULL) {
        cbx_buf_printf(out, "%s%s", first ? "" : " and", presence);
        first = false;
    }
    if (constant != NULL) {
        cbx_buf_printf(out, "%s%s", first ? "" : " and", constant);
        first = false;
    }
    if (w->granted != CBX_PRESENCE_ANY) {
        cbx_buf_printf(out, "%s %s a variable that the policy passes", first ? "" : " and",
                       w->granted == CBX_PRESENT ? "is" : "is not");
    }
    cbx_buf_add_cstr(out, presence == NULL && !w->unknown_holds ? " (certainly)" : "");
}

static void add_calls(struct cbx_buf *out, const struct cbx_match *match)
{
    struct cbx_strs plain = { 0 };
    struct cbx_str *names = calloc(match->call_count + 1, sizeof(*names));
    for (size_t i = 0; names != NULL && i < match->call_count; i++) {
        if (match->call[i].where_count == 0) {
            names[plain.count++] = match->call[i].name;
        }
    }
    plain.items = names;
    add_list(out, "calls of", &plain);
    free(names);
    for (size_t i = 0; i < match->call_count; i++) {
        const struct cbx_call *call = &match->call[i];
        for (size_t w = 0; w < call->where_count; w++) {
            cbx_buf_add_cstr(out, w == 0 ? "      calls of " : " and ");
            if (w == 0) {
                cbx_printable_add(out, call->name, CBX_PRINTABLE_LINE);
                cbx_buf_add_cstr(out, ", when ");
            }
            add_where(out, &call->where[w]);
        }
        cbx_buf_add_cstr(out, call->where_count > 0 ? "\n" : "");
    }
}

static void add_rule(struct cbx_buf *out, const struct cbx_rule *rule)
{
    cbx_buf_printf(out, "\n  %.*s (%s", CBX_STR_ARG(rule->id), cbx_severity_name(rule->severity));
    for (int i = 0; rule->languages != (1u << CBX_LANGUAGES) - 1 && i < CBX_LANGUAGES; i++) {
        cbx_buf_printf(out, "%s%s", (rule->languages >> i & 1) != 0 ? ", " : "",
                       (rule->languages >> i & 1) != 0 ? cbx_language_name((enum cbx_language)i)
                                                       : "");
    }
    if (rule->guarded > 0) {
        cbx_buf_printf(out, ", a warning where the guard refuses %s",
                       cbx_guarded_names[rule->guarded]);
    }
    cbx_buf_printf(out, ", from %.*s): %.*s\n", CBX_STR_ARG(rule->origin),
                   CBX_STR_ARG(rule->message));
    cbx_rule_explain(rule, out);
}

void cbx_rule_explain(const struct cbx_rule *rule, struct cbx_buf *out)
{
    for (int i = 0; i < CBX_CAPABILITIES; i++) {
        if ((rule->match.capabilities >> i & 1) != 0) {
            cbx_buf_printf(out, "      whatever has the capability %s: %s\n",
                           cbx_capability_name((enum cbx_capability)i),
                           cbx_capability_meaning((enum cbx_capability)i));
        }
    }
    add_list(out, "imports of", &rule->match.import);
    add_calls(out, &rule->match);
    add_list(out, "any use of", &rule->match.reference);
    add_list(out, "attributes named", &rule->match.attribute);
    add_list(out, "strings like", &rule->match.literal);
    for (int i = 0; i < CBX_FACTS; i++) {
        if ((rule->match.facts >> i & 1) != 0) {
            cbx_buf_printf(out, "      %s: %s\n", cbx_fact_name((enum cbx_fact_id)i),
                           cbx_fact_meaning((enum cbx_fact_id)i));
        }
    }
    add_list(out, "  only with a path outside of", &rule->match.outside);
    if (rule->match.query.len > 0) {
        cbx_buf_printf(out, "      what this query finds: %.*s\n", CBX_STR_ARG(rule->match.query));
    }
}

static void add_rules(struct cbx_buf *out, const struct cbx_policy *policy, enum cbx_effect effect,
                      const char *heading)
{
    bool first = true;
    for (size_t i = 0; i < policy->rule_count; i++) {
        if (policy->rules[i].effect == effect) {
            cbx_buf_add_cstr(out, first ? heading : "");
            first = false;
            add_rule(out, &policy->rules[i]);
        }
    }
}

static void add_packages(struct cbx_buf *out, const char *name, const struct cbx_packages *p)
{
    static const char *const modes[] = { "none may be installed", "only those on the allow list",
                                         "all but those on the block list" };
    cbx_buf_printf(out, "\nPackages (%s): %s.\n", name, modes[p->mode]);
    add_list(out, "allowed:", &p->allow);
    add_list(out, "blocked:", &p->block);
    add_list(out, "blocked, but not for builds:", &p->block_in_sandboxes);
    for (size_t i = 0; i < p->minimum_count; i++) {
        cbx_buf_printf(out, "%s%.*s >= %.*s", i == 0 ? "      at least: " : ", ",
                       CBX_STR_ARG(p->minimum[i].name), CBX_STR_ARG(p->minimum[i].version));
    }
    cbx_buf_add_cstr(out, p->minimum_count > 0 ? "\n" : "");
}

static void add_host(struct cbx_buf *out, struct cbx_str pattern)
{
    struct cbx_egress_host host;
    if (cbx_egress_parse(pattern, &host, NULL) == 0) {
        cbx_buf_printf(out, "      %s", host.subdomains ? "every name below " : "");
        cbx_buf_add(out, host.name);
        cbx_buf_add_cstr(out, host.port == 0 ? ", ports 80 and 443\n" : "");
        if (host.port != 0) {
            cbx_buf_printf(out, ", port %u\n", host.port);
        }
    }
}

static void add_limits(struct cbx_buf *out, const struct cbx_policy *p)
{
    static const char *const networks[] = {
        "none, and no packages are installed",
        "none for programs; installers reach the package indexes",
        "these hosts alone, by a proxy for HTTP and HTTPS; no private addresses"
    };
    cbx_buf_add_cstr(out, "\nLimits of a run and of a session:\n      ");
    cbx_limits_describe(&p->limits, "\n      ", out);
    cbx_buf_printf(out, "\nNetwork: %s.\n", networks[p->network]);
    for (size_t i = 0; i < p->egress.count; i++) {
        add_host(out, p->egress.items[i]);
    }
}

static void add_environment(struct cbx_buf *out, const struct cbx_policy *p)
{
    bool any = p->environment_pass.count + p->secret_count > 0;
    cbx_buf_printf(out, "\nVariables of the gateway that programs get:%s\n", any ? "" : " none.");
    add_list(out, "as they are:", &p->environment_pass);
    for (size_t i = 0; i < p->secret_count; i++) {
        cbx_buf_printf(out, "      secret, redacted from all that leaves a sandbox: %.*s%s",
                       CBX_STR_ARG(p->secrets[i].name),
                       p->secrets[i].file.len > 0 ? " from the file " : "");
        cbx_printable_add(out, p->secrets[i].file, CBX_PRINTABLE_LINE);
        cbx_buf_add_char(out, '\n');
    }
    if (p->environment_set.count > 0) {
        add_list(out, "callers may set:", &p->environment_set);
    } else {
        cbx_buf_add_cstr(out, "      callers may set none\n");
    }
}

static void add_mounts(struct cbx_buf *out, const struct cbx_mounts *m)
{
    cbx_buf_printf(out, "\nMounts: %s.\n", m->allow_count == 0 ? "none" : "below");
    for (size_t i = 0; i < m->allow_count; i++) {
        cbx_buf_printf(out, "      %.*s, %s\n", CBX_STR_ARG(m->allow[i].host),
                       m->allow[i].writable ? "read and write" : "read only");
    }
    if (m->allow_count > 0) {
        add_list(out, "in these folders of the sandbox:", &m->container);
    }
    add_list(out, "never:", &m->deny);
}

/* Describes the guard for a principal without exceptions, at the end of time. */
static void add_guard(struct cbx_buf *out, const struct cbx_policy *policy)
{
    bool any = false;
    for (unsigned id = 0; id < CBX_REFUSALS; id++) {
        for (int l = 0, first = 1; l < CBX_LANGUAGES; l++) {
            struct cbx_guard guard =
                cbx_guard_of(policy, (enum cbx_language)l, CBX_STR(""), INT64_MAX);
            if ((policy->languages >> l & 1) == 0 || (guard.refused >> id & 1) == 0) {
                continue;
            }
            cbx_buf_add_cstr(out, any ? "" : "\nRefused by the sandbox while a program runs, too:");
            if (first) {
                cbx_buf_printf(out, "\n      %s:", cbx_refusal_row((enum cbx_refusal)id)->name);
            }
            cbx_buf_printf(out, "%s %s (%.*s)", first ? "" : ",",
                           cbx_language_name((enum cbx_language)l), CBX_STR_ARG(guard.rules[id]));
            any = true;
            first = 0;
        }
    }
    cbx_buf_add_cstr(out, any ? "\n" : "");
}

static void add_images(struct cbx_buf *out, const struct cbx_policy *policy)
{
    const struct {
        const char *language;
        struct cbx_str name;
    } images[] = { { "Python", policy->images.python },
                   { "JavaScript and TypeScript", policy->images.javascript } };
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        if (images[i].name.len > 0) {
            cbx_buf_printf(out, "\nSandboxes for %s are made from the image '%.*s'.\n",
                           images[i].language, CBX_STR_ARG(images[i].name));
        }
    }
}

void cbx_policy_explain(const struct cbx_policy *policy, struct cbx_buf *out)
{
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&policy->sha256, hex);
    cbx_buf_printf(out, "Policy %.*s (sha256 %.16s...)\n%.*s\n\nLanguages that may run:",
                   CBX_STR_ARG(policy->name), hex, CBX_STR_ARG(policy->description));
    for (int i = 0; i < CBX_LANGUAGES; i++) {
        cbx_buf_printf(out, "%s%s", (policy->languages >> i & 1) != 0 ? " " : "",
                       (policy->languages >> i & 1) != 0 ? cbx_language_name((enum cbx_language)i)
                                                         : "");
    }
    cbx_buf_add_cstr(out, policy->languages == 0 ? " none\n" : "\n");
    cbx_buf_add_cstr(out, policy->log_only
                              ? "Mode log-only: nothing below stops anything, it is recorded.\n"
                              : "");
    cbx_buf_add_cstr(out, policy->inline_suppressions
                              ? "codebox-lint, and nothing else, honours '# codebox: allow RULE -- "
                                "reason' in the source.\n"
                              : "");
    add_rules(out, policy, CBX_EFFECT_DENY, "\nDenied, whoever asks:\n");
    add_rules(out, policy, CBX_EFFECT_ASK,
              policy->four_eyes ? "\nRuns only when another person approves:\n"
                                : "\nRuns only when a person approves:\n");
    add_rules(out, policy, CBX_EFFECT_WARN, "\nRuns, with a warning:\n");
    add_rules(out, policy, CBX_EFFECT_ALLOW, "\nAllowed in so many words:\n");
    cbx_buf_add_cstr(out, "\nEverything that no rule names is allowed; source that cannot be read "
                          "for certain never is.\n");
    add_guard(out, policy);
    cbx_buf_add_cstr(out, "\nShell commands:\n");
    add_list(out, "allowed:", &policy->shell_allow);
    add_packages(out, "pip", &policy->pip);
    add_packages(out, "npm", &policy->npm);
    add_mounts(out, &policy->mounts);
    add_images(out, policy);
    add_limits(out, policy);
    add_environment(out, policy);
    for (size_t i = 0; i < policy->exception_count; i++) {
        const struct cbx_exception *e = &policy->exceptions[i];
        char date[CBX_DATE_BYTES];
        cbx_date_format(e->until, date);
        cbx_buf_printf(out, "%sException, until %s: %.*s may pass %.*s: %.*s\n", i == 0 ? "\n" : "",
                       date, CBX_STR_ARG(e->principal), CBX_STR_ARG(e->rule),
                       CBX_STR_ARG(e->reason));
    }
}
