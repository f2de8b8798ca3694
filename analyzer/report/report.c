/* SPDX-License-Identifier: MIT
 * Functions for several report formats. */
#include "analyzer/report/report.h"

#include "analyzer/rules.h"

#define TEXT(literal)                                                                              \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }
const struct cbx_rule cbx_rule_suppression = {
    .id = TEXT("lint.suppression"),
    .languages = (1u << CBX_LANGUAGES) - 1,
    .effect = CBX_EFFECT_WARN,
    .severity = CBX_LOW,
    .message = TEXT("This comment is meant to suppress a finding, and does not."),
    .hint = TEXT("Write '# codebox: allow RULE -- reason' on the line of the finding or above it, "
                 "or take the comment away."),
    .origin = TEXT("codebox"),
};

const struct cbx_rule cbx_rule_fragment = {
    .id = TEXT("lint.fragment"),
    .languages = (1u << CBX_LANGUAGES) - 1,
    .effect = CBX_EFFECT_WARN,
    .severity = CBX_LOW,
    .message = TEXT("This code of a skill cannot be read, so only a part of it was judged."),
    .hint = TEXT("Correct it, or name what it is behind the fence: text, json, console."),
    .origin = TEXT("codebox"),
};

static const struct cbx_rule *const built_in[] = { &cbx_rule_unreadable, &cbx_rule_too_large,
                                                   &cbx_rule_language, &cbx_rule_suppression,
                                                   &cbx_rule_fragment };
enum { BUILT_IN = sizeof(built_in) / sizeof(built_in[0]) };

const struct cbx_rule *cbx_report_rule(const struct cbx_policy *policy, size_t index)
{
    return index < policy->rule_count              ? &policy->rules[index]
           : index - policy->rule_count < BUILT_IN ? built_in[index - policy->rule_count]
                                                   : NULL;
}

bool cbx_report_is_built_in(const struct cbx_rule *rule)
{
    for (size_t i = 0; i < BUILT_IN; i++) {
        if (rule == built_in[i]) {
            return true;
        }
    }
    return (rule->match.facts & cbx_rules_always) != 0;
}

void cbx_report_uri(struct cbx_str path, struct cbx_buf *out)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    cbx_buf_add_cstr(out, path.len > 0 && path.p[0] == '/' ? "file://" : "");
    for (size_t i = 0; i < path.len; i++) {
        if (memchr(plain, path.p[i], sizeof(plain) - 1) != NULL) {
            cbx_buf_add_char(out, path.p[i]);
        } else {
            cbx_buf_printf(out, "%%%02X", (unsigned char)path.p[i]);
        }
    }
}

static int add_chunk(const char *bytes, size_t len, void *out)
{
    return cbx_buf_add_bytes(out, bytes, len) == 0 ? 0 : -1;
}

void cbx_report_add_json(const json_t *value, struct cbx_buf *out)
{
    json_dump_callback(value, add_chunk, out, JSON_COMPACT | JSON_PRESERVE_ORDER);
}

void cbx_report_message(const struct cbx_report_finding *finding, struct cbx_buf *out)
{
    const struct cbx_finding *f = &finding->v;
    struct cbx_str message = f->rule->message.len > 0 ? f->rule->message : f->rule->id;
    cbx_buf_add(out, message);
    cbx_buf_add_cstr(out, " Found: ");
    cbx_buf_add(out, cbx_str_sub(f->symbol, 0, 200));
    struct {
        const char *before;
        struct cbx_str text;
        const char *after;
    } parts[] = { { " (", f->detail, ")" },
                  { ". Hint: ", f->hint, "" },
                  { " Let through by an exception: ", f->exception, "" } };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].text.len > 0) {
            cbx_buf_add_cstr(out, parts[i].before);
            cbx_buf_add(out, parts[i].text);
            cbx_buf_add_cstr(out, parts[i].after);
        }
    }
}
