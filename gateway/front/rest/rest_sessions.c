/* SPDX-License-Identifier: MIT
 * Sessions: open, list, read, interrupt, reset and close, in both APIs. */
#include "gateway/front/denial/relaxed.h"
#include "gateway/front/dialect.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/job_change.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/rest/acceptance.h"
#include "gateway/front/rest/idempotency.h"
#include "gateway/front/rest/listing.h"
#include "gateway/front/service/dependencies.h"
#include "gateway/front/service/service_packages.h"
#include "gateway/front/service/service_sessions.h"
#include "gateway/ipc/seal/mount_requests.h"
#include "policies/packages.h"

#include <stdio.h>
#include <stdlib.h>

struct body {
    struct cbx_str policy;
    const json_t *dependencies, *options;
};

static const struct cbx_json_field body_fields[] = {
    { .name = "dependencies",
      .type = CBX_JSON_ARRAY,
      .offset = offsetof(struct body, dependencies),
      .nullable = true,
      .max = 64 },
    { .name = "execution_options",
      .type = CBX_JSON_OBJECT,
      .offset = offsetof(struct body, options),
      .nullable = true },
    { .name = "policy",
      .type = CBX_JSON_STR,
      .offset = offsetof(struct body, policy),
      .nullable = true,
      .min = 1,
      .max = 64 },
};
CBX_REST_INPUT(create_session, body_fields);

struct options {
    int64_t timeout;
    struct cbx_str memory, cpu;
    struct cbx_rest_asked asked;
};

static const struct cbx_json_field option_fields[] = {
    { .name = "timeout",
      .type = CBX_JSON_INT,
      .offset = offsetof(struct options, timeout),
      .min = 1,
      .max = 600 },
    { .name = "memory_limit",
      .type = CBX_JSON_STR,
      .offset = offsetof(struct options, memory),
      .min = 1,
      .max = 32 },
    { .name = "cpu_limit",
      .type = CBX_JSON_STR,
      .offset = offsetof(struct options, cpu),
      .min = 1,
      .max = 32 },
    { .name = "environment_variables",
      .type = CBX_JSON_OBJECT,
      .offset = offsetof(struct options, asked.environment),
      .nullable = true },
    { .name = "mount_points",
      .type = CBX_JSON_ARRAY,
      .offset = offsetof(struct options, asked.mounts),
      .nullable = true },
};
CBX_REST_INPUT(options, option_fields);

/* Reads "512m", "2G", "1073741824" as bytes; 0 if it is no size. */
static int64_t parse_memory(struct cbx_str text)
{
    char copy[40];
    snprintf(copy, sizeof(copy), "%.*s", CBX_STR_ARG(text));
    char *end;
    double number = strtod(copy, &end);
    static const struct {
        const char *unit;
        double bytes;
    } units[] = { { "", 1 },        { "b", 1 },        { "k", 1024 },       { "kb", 1024 },
                  { "m", 1048576 }, { "mb", 1048576 }, { "g", 1073741824 }, { "gb", 1073741824 } };
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        double bytes = number * units[i].bytes;
        if (end != copy && strcasecmp(end, units[i].unit) == 0 && bytes >= 6291456 &&
            bytes < 1e15) {
            return (int64_t)bytes;
        }
    }
    return 0;
}

static int64_t parse_cpu(struct cbx_str text)
{
    char copy[40];
    snprintf(copy, sizeof(copy), "%.*s", CBX_STR_ARG(text));
    char *end;
    double cpus = strtod(copy, &end);
    return end != copy && *end == '\0' && cpus >= 0.01 && cpus <= 1024 ? (int64_t)(cpus * 1000) : 0;
}

static int read_options(const json_t *json, struct cbx_asked *asked, struct cbx_err *err)
{
    struct cbx_limits *limits = &asked->limits;
    struct options o = { .timeout = 300, .memory = CBX_STR("2G"), .cpu = CBX_STR("1") };
    int failed = 0;
    if (json != NULL) {
        failed = cbx_json_read(json, option_fields,
                               sizeof(option_fields) / sizeof(option_fields[0]), &o, err);
    }
    if (failed) {
        return cbx_wrap(err, "execution_options");
    }
    limits->wall_ms = o.timeout * 1000;
    limits->memory_bytes = parse_memory(o.memory);
    limits->cpu_milli = parse_cpu(o.cpu);
    if (limits->memory_bytes == 0) {
        return cbx_fail(
            err, CBX_EINVAL,
            "memory_limit is '%.*s', allowed is a size of at least 6m such as 512m or 2G",
            CBX_STR_SHOWN(o.memory));
    }
    if (limits->cpu_milli == 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "cpu_limit is '%.*s', allowed is a number of processors such as 0.5 or 2",
                        CBX_STR_SHOWN(o.cpu));
    }
    return cbx_rest_read_asked(&o.asked, asked, err);
}

int cbx_rest_read_asked(const struct cbx_rest_asked *body, struct cbx_asked *out,
                        struct cbx_err *err)
{
    if (body->limits != NULL) {
        int failed = cbx_rest_read_limits(body->limits, &out->limits, err);
        if (failed) {
            return failed;
        }
    }
    if (json_object_size(body->environment) > 0) {
        out->environment = json_incref((json_t *)(uintptr_t)body->environment);
    }
    return cbx_mounts_read(body->mounts, &out->mounts, err);
}

int cbx_rest_read_limits(const json_t *json, struct cbx_limits *out, struct cbx_err *err)
{
    struct {
        struct cbx_limits limits;
        struct cbx_str isolation;
    } body = { .limits = *out };
#define NUMBER(member, lo, hi)                                                                     \
    {                                                                                              \
#member, CBX_JSON_INT, (size_t)((char *)&body.limits.member - (char *)&body), false, true, \
            lo, hi                                                                                 \
    }
#define WORD(member, lo, hi)                                                                       \
    {                                                                                              \
#member, CBX_JSON_STR, (size_t)((char *)&body.member - (char *)&body), false, true, 0, 0   \
    }
#define LIMIT_OF_DURATION  NUMBER
#define LIMIT_OF_CPUS      NUMBER
#define LIMIT_OF_BYTES     NUMBER
#define LIMIT_OF_INT       NUMBER
#define LIMIT_OF_ISOLATION WORD
    const struct cbx_json_field limit_fields[] = {
#define CBX_LIMIT(member, key, type, lo, hi, ...) LIMIT_OF_##type(member, lo, hi),
#include "policies/limits.def"
#undef CBX_LIMIT
    };
#undef NUMBER
#undef WORD
    int failed = cbx_json_read(json, limit_fields, sizeof(limit_fields) / sizeof(limit_fields[0]),
                               &body, err);
    if (!failed && body.isolation.p != NULL) {
        body.limits.isolation = cbx_isolation_of(body.isolation);
        if (body.limits.isolation == CBX_LIMIT_UNSET) {
            failed = cbx_fail(err, CBX_EINVAL,
                              "'isolation' is '%.*s', allowed are 'container' and 'gvisor'",
                              CBX_STR_SHOWN(cbx_str_sub(body.isolation, 0, 64)));
        }
    }
    if (failed) {
        return cbx_wrap(err, "limits");
    }
    *out = body.limits;
    return 0;
}

/* --- opening and closing ---------------------------------------------------------------------- */

/* False if the response is made. `answer` receives the warnings of the opening. */
static bool open_session(struct cbx_rest_call *call, struct cbx_opening *opening, json_t *answer)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    opening->origin = CBX_STR("rest");
    opening->principal = cbx_rest_principal(call);
    opening->claims = &call->claims;
    int failed = cbx_service_open_session(call->service, opening, &outcome, &err);
    if (failed) {
        cbx_rest_fail(call, 0, &err);
    } else if (outcome.verdict != CBX_ALLOW) {
        cbx_rest_deny(call, &outcome);
    }
    cbx_relaxed_warn(outcome.decision, answer);
    return !failed && outcome.verdict == CBX_ALLOW;
}

bool cbx_rest_have_dependencies(struct cbx_rest_call *call,
                                const struct cbx_dependencies *dependencies, struct cbx_buf *set)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(outcome) denial = { 0 };
    int failed = cbx_service_have_dependencies(call->service, dependencies, set, &denial, &err);
    if (failed) {
        cbx_rest_fail(call, 0, &err);
    } else if (denial.verdict != CBX_ALLOW) {
        cbx_rest_deny(call, &denial);
    }
    return !failed && denial.verdict == CBX_ALLOW;
}

static bool is_gone(void *context)
{
    const struct cbx_rest_call *call = context;
    return cbx_http_is_gone(call->request->exchange);
}

/* Installs the packages of the session, then opens it; *installed (new reference) is the list of
 * installed packages, and `answer` receives the warnings. False if the response is made. */
static bool open_with(struct cbx_rest_call *call, const json_t *dependencies,
                      struct cbx_opening *opening, json_t **installed, json_t *answer)
{
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, CBX_PACKAGE_SET_BYTES_MAX);
    const struct cbx_dependencies d = { .list = dependencies,
                                        .policy = opening->policy,
                                        .language = opening->language,
                                        .principal = cbx_rest_principal(call),
                                        .claims = &call->claims,
                                        .origin = CBX_STR("rest"),
                                        .gone = is_gone,
                                        .context = call };
    if (!cbx_rest_have_dependencies(call, &d, &set)) {
        return false;
    }
    cbx_asked_set_packages(&opening->asked, cbx_buf_str(&set));
    *installed = cbx_package_names(opening->language, cbx_buf_str(&set));
    return open_session(call, opening, answer);
}

void cbx_rest_create_session(struct cbx_rest_call *call)
{
    struct body body = { 0 };
    CBX_AUTO_DONE(opening)
    opening = { .language = cbx_dialect_default(), .asked = cbx_asked_nothing };
    struct cbx_err err = { 0 };
    if (!cbx_rest_body(call, body_fields, sizeof(body_fields) / sizeof(body_fields[0]), &body)) {
        return;
    }
    if (read_options(body.options, &opening.asked, &err) != 0) {
        cbx_rest_fail(call, 400, &err);
        return;
    }
    CBX_AUTO_JSON installed = NULL;
    CBX_AUTO_JSON warnings = json_object();
    if (cbx_rest_policy(call, body.policy, &opening.policy) &&
        open_with(call, body.dependencies, &opening, &installed, warnings)) {
        json_t *answer = json_pack("{s:s,s:s,s:s}", "session_id", opening.id, "status", "created",
                                   "created_at", opening.now);
        json_object_update(answer, warnings);
        cbx_rest_answer(call, 200, answer);
    }
}

struct v1_body {
    struct cbx_str policy, language;
    const json_t *dependencies;
    struct cbx_rest_asked asked;
};
static const struct cbx_json_field v1_fields[] = {
    { "dependencies", CBX_JSON_ARRAY, offsetof(struct v1_body, dependencies), false, true, 0, 64 },
    { "language", CBX_JSON_STR, offsetof(struct v1_body, language), false, true, 1, 32 },
    { "policy", CBX_JSON_STR, offsetof(struct v1_body, policy), false, true, 1, 64 },
    CBX_REST_ASKED(struct v1_body, asked),
};
CBX_REST_INPUT(open_session, v1_fields);

void cbx_rest_open_session(struct cbx_rest_call *call)
{
    struct v1_body body = { 0 };
    CBX_AUTO_DONE(opening) opening = { .asked = cbx_asked_nothing };
    struct cbx_err err = { 0 };
    if (!cbx_rest_body(call, v1_fields, sizeof(v1_fields) / sizeof(v1_fields[0]), &body)) {
        return;
    }
    opening.language = cbx_dialect_of(body.language, &err);
    if (opening.language == NULL || cbx_rest_read_asked(&body.asked, &opening.asked, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    CBX_AUTO_JSON installed = NULL;
    cbx_uuid_make(opening.id);
    if (!cbx_rest_once(call, CBX_ONCE_SESSION, opening.id)) {
        return;
    }
    CBX_AUTO_JSON warnings = json_object();
    if (cbx_rest_policy(call, body.policy, &opening.policy) &&
        open_with(call, body.dependencies, &opening, &installed, warnings)) {
        json_t *answer = json_pack("{s:s,s:s,s:s,s:O}", "session_id", opening.id, "language",
                                   cbx_dialect_shown(opening.language), "created_at", opening.now,
                                   "installed", installed);
        json_object_update(answer, warnings);
        cbx_rest_answer(call, 201, answer);
    } else {
        cbx_rest_undo_once(call, opening.id);
    }
}

void cbx_rest_delete_session(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    if (cbx_service_close_session(call->service, cbx_rest_principal(call), call->id, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_rest_answer(call, 200, json_pack("{s:s}", "status", "cleaned up"));
}

void cbx_rest_list_sessions(struct cbx_rest_call *call)
{
    static const struct cbx_listing listing = { .name = "sessions", .key = "session_id" };
    struct cbx_listing_page page;
    json_t *list;
    struct cbx_err err = { 0 };
    if (!cbx_listing_read(call, &listing, &page)) {
        return;
    }
    if (cbx_service_page_sessions(call->service, cbx_rest_principal(call), &page.after,
                                  (size_t)page.limit + 1, &list, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_listing_answer(call, &listing, &page, list);
}

void cbx_rest_get_session(struct cbx_rest_call *call)
{
    json_t *session;
    struct cbx_err err = { 0 };
    if (cbx_service_describe_session(call->service, cbx_rest_principal(call), call->id, &session,
                                     &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_rest_answer(call, 200, session);
}

void cbx_rest_get_history(struct cbx_rest_call *call)
{
    static const struct cbx_listing listing = { .name = "executions",
                                                .key = "position",
                                                .internal = true };
    struct cbx_listing_page page;
    json_t *list;
    struct cbx_err err = { 0 };
    if (!cbx_listing_read(call, &listing, &page)) {
        return;
    }
    if (cbx_store_page_history(call->service->store, cbx_rest_principal(call), call->id,
                               &page.after, page.limit + 1, &list, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        cbx_live_describe(call->service, json_string_value(json_object_get(entry, "id")), entry);
    }
    cbx_listing_answer(call, &listing, &page, list);
}

/* --- calls to the executor -------------------------------------------------------------------- */

static void answer_status(struct cbx_rest_call *call, int failed, const struct cbx_err *err,
                          const char *status)
{
    if (failed) {
        cbx_rest_fail(call, 0, err);
    } else {
        cbx_rest_answer(call, 200, json_pack("{s:s}", "status", status));
    }
}

void cbx_rest_interrupt_session(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    struct cbx_interrupt_args args = { .session = cbx_str_of(call->id),
                                       .principal = cbx_str_of(cbx_rest_principal(call)) };
    int failed = cbx_call_interrupt(call->service->flow, &args, CBX_STR(""), NULL, &err);
    answer_status(call, failed, &err, "interrupted");
}

void cbx_rest_reset_session(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    struct cbx_job *job = cbx_rest_job(call);
    job->kind = CBX_ENTRY_RESET;
    if (cbx_rest_find_session(call, job, cbx_str_of(call->id)) && cbx_rest_accept(call, job)) {
        answer_status(call, cbx_job_change(job, &outcome, &err), &err, "reset");
    }
    cbx_job_free(job);
}
