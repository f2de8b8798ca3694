/* SPDX-License-Identifier: MIT
 * Filters of audit records. */
#include "gateway/cli/audit/audit_filter.h"

#include "gateway/executor/audit/audit_chain.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>

enum { DECISIONS_MAX = 1000000 };

/* Reads a time, or an age: 90s, 15m, 2h, 7d. */
static int read_time(const char *option, const char *text, int64_t *out, struct cbx_err *err)
{
    static const struct {
        char letter;
        int64_t ms;
    } units[] = { { 's', 1000 }, { 'm', 60000 }, { 'h', 3600000 }, { 'd', 86400000 } };
    char *end;
    long count = strtol(text, &end, 10);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (end != text && count >= 0 && count <= 1000000 && end[0] == units[i].letter &&
            end[1] == '\0') {
            *out = cbx_time_ms() - count * units[i].ms;
            return 0;
        }
    }
    if (!cbx_chain_time(cbx_str_of(text), out)) {
        return cbx_fail(err, CBX_EINVAL,
                        "%s is '%s', allowed is a time in UTC such as 2026-11-23 or "
                        "2026-11-23T10:00:00Z, or how long ago: 90s, 15m, 2h, 7d",
                        option, text);
    }
    return 0;
}

int cbx_audit_filter_init(struct cbx_audit_filter *filter, const struct cbx_options *options,
                          struct cbx_err *err)
{
    *filter = (struct cbx_audit_filter){ .options = options, .until_ms = INT64_MAX };
    int failed = 0;
    if (options->since != NULL) {
        failed = read_time("--since", options->since, &filter->since_ms, err);
    }
    if (failed) {
        return failed;
    }
    if (options->until != NULL) {
        failed = read_time("--until", options->until, &filter->until_ms, err);
    }
    if (failed) {
        return failed;
    }
    filter->decisions = json_object();
    return 0;
}

void cbx_audit_filter_done(struct cbx_audit_filter *filter)
{
    json_decref(filter->decisions);
    filter->decisions = NULL;
}

static bool has_time(const struct cbx_audit_filter *filter, const json_t *record)
{
    int64_t ms;
    return (filter->since_ms == 0 && filter->until_ms == INT64_MAX) ||
           (cbx_chain_time(cbx_json_str(json_object_get(record, "time")), &ms) &&
            ms >= filter->since_ms && ms < filter->until_ms);
}

static bool has_type(const struct cbx_words *types, const json_t *record)
{
    bool found = types->count == 0;
    for (size_t i = 0; i < types->count; i++) {
        found = found || cbx_str_is(cbx_json_str(json_object_get(record, "type")), types->items[i]);
    }
    return found;
}

/* The rule may stand in the record itself, or in one of its findings. */
static bool has_rule(const char *wanted, const json_t *body)
{
    if (wanted == NULL) {
        return true;
    }
    struct cbx_str pattern = cbx_str_of(wanted);
    size_t i;
    const json_t *entry;
    bool found = cbx_str_glob(pattern, cbx_json_str(json_object_get(body, "rule")));
    json_array_foreach(json_object_get(body, "findings"), i, entry)
    {
        found = found || cbx_str_glob(pattern, cbx_json_str(json_object_get(entry, "rule")));
    }
    return found;
}

enum match { NO, YES, NOT_THERE };

static enum match match(const json_t *body, const char *member, const char *wanted)
{
    const json_t *value = json_object_get(body, member);
    if (wanted == NULL) {
        return YES;
    }
    if (value == NULL) {
        return NOT_THERE;
    }
    return cbx_str_is(cbx_json_str(value), wanted) ? YES : NO;
}

bool cbx_audit_filter_passes(struct cbx_audit_filter *filter, const json_t *record)
{
    const struct cbx_options *o = filter->options;
    const json_t *body = json_object_get(record, "body");
    const struct {
        const char *member, *wanted;
    } members[] = { { "principal", o->principal },
                    { "session", o->session },
                    { "verdict", o->verdict },
                    { "origin", o->origin } };
    bool passes = true, complete = true;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        enum match found = match(body, members[i].member, members[i].wanted);
        passes = passes && found != NO;
        complete = complete && found != NOT_THERE;
    }
    const char *decision = json_string_value(json_object_get(body, "decision"));
    bool known = decision != NULL && json_object_get(filter->decisions, decision) != NULL;
    bool subject = passes && (complete || known);
    const char *id = json_string_value(json_object_get(body, "id"));
    bool rule = has_rule(o->rule, body) || (known && json_object_get(body, "rule") == NULL);
    if (subject && rule && id != NULL && json_object_size(filter->decisions) < DECISIONS_MAX) {
        json_object_set_new(filter->decisions, id, json_true());
    }
    return subject && rule && has_type(&o->types, record) && has_time(filter, record);
}
