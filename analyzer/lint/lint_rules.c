/* SPDX-License-Identifier: MIT
 * The options --list-rules and --explain. */
#include "analyzer/lint/lint_rules.h"

#include "policies/base/text/printable.h"
#include "policies/texts/explain.h"

static void add_languages(const struct cbx_rule *rule, struct cbx_buf *out)
{
    const char *before = "";
    for (int i = 0; i < CBX_LANGUAGES; i++) {
        if ((rule->languages >> i & 1) != 0) {
            cbx_buf_printf(out, "%s%s", before, cbx_language_name((enum cbx_language)i));
            before = ",";
        }
    }
}

static json_t *strs_json(const struct cbx_strs *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++) {
        json_array_append_new(array, cbx_json_text(list->items[i]));
    }
    return array;
}

static json_t *rule_json(const struct cbx_rule *rule)
{
    json_t *languages = json_array();
    for (int i = 0; i < CBX_LANGUAGES; i++) {
        if ((rule->languages >> i & 1) != 0) {
            json_array_append_new(languages, json_string(cbx_language_name((enum cbx_language)i)));
        }
    }
    return json_pack("{s:o,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:b}", "id", cbx_json_text(rule->id),
                     "severity", cbx_severity_name(rule->severity), "effect",
                     cbx_effect_name(rule->effect), "languages", languages, "message",
                     cbx_json_text(rule->message), "hint", cbx_json_text(rule->hint), "references",
                     strs_json(&rule->references), "policy", cbx_json_text(rule->origin),
                     "suppressible", !cbx_report_is_built_in(rule));
}

static void list_json(const struct cbx_policy *policy, struct cbx_buf *out)
{
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&policy->sha256, hex);
    json_t *rules = json_array();
    const struct cbx_rule *rule;
    for (size_t i = 0; (rule = cbx_report_rule(policy, i)) != NULL; i++) {
        json_array_append_new(rules, rule_json(rule));
    }
    CBX_AUTO_JSON list = json_pack("{s:i,s:{s:o,s:s},s:o}", "version", 1, "policy", "name",
                                   cbx_json_text(policy->name), "sha256", hex, "rules", rules);
    cbx_report_add_json(list, out);
    cbx_buf_add_char(out, '\n');
}

void cbx_lint_list_rules(const struct cbx_policy *policy, bool json, struct cbx_buf *out)
{
    if (json) {
        list_json(policy, out);
        return;
    }
    size_t widest = 0;
    const struct cbx_rule *rule;
    for (size_t i = 0; (rule = cbx_report_rule(policy, i)) != NULL; i++) {
        widest = rule->id.len > widest ? rule->id.len : widest;
    }
    for (size_t i = 0; (rule = cbx_report_rule(policy, i)) != NULL; i++) {
        CBX_AUTO_DONE(buf) languages;
        cbx_buf_init(&languages, 256);
        add_languages(rule, &languages);
        cbx_buf_printf(out, "%-*.*s  %-8s  %-5s  %-23s  ", (int)widest, CBX_STR_ARG(rule->id),
                       cbx_severity_name(rule->severity), cbx_effect_name(rule->effect),
                       languages.p);
        cbx_printable_add(out, rule->message, CBX_PRINTABLE_LINE);
        cbx_buf_add_char(out, '\n');
    }
}

static void add_line(struct cbx_buf *out, const char *label, struct cbx_str text)
{
    if (text.len > 0) {
        cbx_buf_add_cstr(out, label);
        cbx_printable_add(out, text, CBX_PRINTABLE_LINE);
        cbx_buf_add_char(out, '\n');
    }
}

/* Prints each snippet with its lines. */
static void add_snippets(struct cbx_buf *out, const char *label, const struct cbx_strs *snippets)
{
    for (size_t i = 0; i < snippets->count; i++) {
        cbx_buf_add_cstr(out, i == 0 ? label : "");
        struct cbx_str rest = snippets->items[i];
        const char *mark = "    > ";
        while (rest.len > 0) {
            const char *end = memchr(rest.p, '\n', rest.len);
            size_t len = end != NULL ? (size_t)(end - rest.p) : rest.len;
            add_line(out, mark, len > 0 ? cbx_str_sub(rest, 0, len) : CBX_STR(" "));
            rest = cbx_str_sub(rest, len + 1, rest.len);
            mark = "      ";
        }
    }
}

static void explain(const struct cbx_rule *rule, struct cbx_buf *out)
{
    cbx_buf_printf(out, "%.*s (%s, %s, ", CBX_STR_ARG(rule->id), cbx_severity_name(rule->severity),
                   cbx_effect_name(rule->effect));
    add_languages(rule, out);
    cbx_buf_printf(out, "; from %.*s)\n\n", CBX_STR_ARG(rule->origin));
    add_line(out, "  ", rule->message);
    add_line(out, "  Instead: ", rule->hint);
    CBX_AUTO_DONE(buf) looks;
    cbx_buf_init(&looks, 1 << 20);
    cbx_rule_explain(rule, &looks);
    if (looks.len > 0) {
        cbx_buf_printf(out, "\nLooks for:\n%s", looks.p);
    }
    for (size_t i = 0; i < rule->references.count; i++) {
        add_line(out, i == 0 ? "\nReferences: " : "            ", rule->references.items[i]);
    }
    add_snippets(out, "\nFound in:\n", &rule->test_deny);
    add_snippets(out, "\nNot found in:\n", &rule->test_allow);
    cbx_buf_add_cstr(out, cbx_report_is_built_in(rule) ? "\nIt cannot be suppressed.\n" : "");
}

static void explain_json(const struct cbx_rule *rule, struct cbx_buf *out)
{
    CBX_AUTO_DONE(buf) looks;
    cbx_buf_init(&looks, 1 << 20);
    cbx_rule_explain(rule, &looks);
    CBX_AUTO_JSON json = rule_json(rule);
    json_object_set_new(json, "looks_for", cbx_json_text(cbx_buf_str(&looks)));
    json_object_set_new(json, "deny", strs_json(&rule->test_deny));
    json_object_set_new(json, "allow", strs_json(&rule->test_allow));
    cbx_report_add_json(json, out);
    cbx_buf_add_char(out, '\n');
}

int cbx_lint_explain(const struct cbx_policy *policy, const char *id, bool json,
                     struct cbx_buf *out, struct cbx_err *err)
{
    struct cbx_str nearest = { 0 };
    size_t best = 6;
    const struct cbx_rule *rule;
    for (size_t i = 0; (rule = cbx_report_rule(policy, i)) != NULL; i++) {
        size_t distance = cbx_str_distance(cbx_str_of(id), rule->id, best);
        if (distance == 0) {
            if (json) {
                explain_json(rule, out);
            } else {
                explain(rule, out);
            }
            return 0;
        }
        nearest = distance < best ? rule->id : nearest;
        best = distance < best ? distance : best;
    }
    if (nearest.len > 0) {
        return cbx_fail(err, CBX_ENOTFOUND, "policy '%.*s' has no rule '%s', did you mean '%.*s'",
                        CBX_STR_SHOWN(policy->name), id, CBX_STR_SHOWN(nearest));
    }
    return cbx_fail(err, CBX_ENOTFOUND, "policy '%.*s' has no rule '%s'; --list-rules lists them",
                    CBX_STR_SHOWN(policy->name), id);
}
