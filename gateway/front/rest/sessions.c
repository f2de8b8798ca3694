/* SPDX-License-Identifier: MIT
 * Sessions: open, list, read, interrupt, reset and close, in both APIs. */
#include "gateway/front/dialect.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/rest/acceptance.h"
#include "gateway/front/rest/listing.h"
#include "gateway/front/rest/results.h"

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

struct options {
    int64_t timeout;
    struct cbx_str memory, cpu;
    const json_t *environment, *mounts;
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
      .offset = offsetof(struct options, environment),
      .nullable = true },
    { .name = "mount_points",
      .type = CBX_JSON_ARRAY,
      .offset = offsetof(struct options, mounts),
      .nullable = true },
};

/* "512m", "2G", "1073741824": bytes, or 0 when it is no size. */
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

static int read_options(const json_t *json, struct cbx_limits *limits, struct cbx_err *err)
{
    struct options o = { .timeout = 300, .memory = CBX_STR("2G"), .cpu = CBX_STR("1") };
    int failed = json != NULL
                     ? cbx_json_read(json, option_fields,
                                     sizeof(option_fields) / sizeof(option_fields[0]), &o, err)
                     : 0;
    if (failed) {
        return cbx_wrap(err, "execution_options");
    }
    cbx_limits_unset(limits);
    limits->wall_ms = o.timeout * 1000;
    limits->memory_bytes = parse_memory(o.memory);
    limits->cpu_milli = parse_cpu(o.cpu);
    if (limits->memory_bytes == 0) {
        return cbx_fail(
            err, CBX_EINVAL,
            "memory_limit is '%.*s', allowed is a size of at least 6m such as 512m or 2G",
            CBX_STR_ARG(o.memory));
    }
    if (limits->cpu_milli == 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "cpu_limit is '%.*s', allowed is a number of processors such as 0.5 or 2",
                        CBX_STR_ARG(o.cpu));
    }
    if (json_object_size(o.environment) > 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "environment_variables cannot be set yet; put values into the code or into "
                        "the policy's 'environment'");
    }
    if (json_array_size(o.mounts) > 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "mount_points cannot be used yet; nothing of the host is mounted");
    }
    return 0;
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
        failed = body.limits.isolation == CBX_LIMIT_UNSET
                     ? cbx_fail(err, CBX_EINVAL,
                                "'isolation' is '%.*s', allowed are 'container' and 'gvisor'",
                                CBX_STR_ARG(cbx_str_sub(body.isolation, 0, 64)))
                     : 0;
    }
    if (failed) {
        return cbx_wrap(err, "limits");
    }
    *out = body.limits;
    return 0;
}

/* --- the open ones ---------------------------------------------------------------------------- */

/* A session as JSON, from its row in the store and its entry in the executor. */
static json_t *describe(const json_t *row, const json_t *live)
{
    CBX_AUTO_JSON options = NULL;
    struct cbx_err err;
    cbx_json_parse(cbx_json_str(json_object_get(row, "options")), 1024 * 1024, &options, &err);
    const char *language = json_string_value(json_object_get(options, "language"));
    json_t *json =
        json_pack("{s:O,s:O,s:s,s:O}", "session_id", json_object_get(row, "id"), "created_at",
                  json_object_get(row, "created_at"), "language", cbx_dialect_shown(language),
                  "policy", json_object_get(live, "policy"));
    json_object_set_new(json, "status",
                        json_string(json_is_true(json_object_get(live, "busy")) ? "busy" : "idle"));
    json_object_set(json, "idle_ms", json_object_get(live, "idle_ms"));
    json_object_set(json, "age_ms", json_object_get(live, "age_ms"));
    json_object_set(json, "container", json_object_get(live, "container"));
    return json;
}

/* Adds the sessions of these rows that the executor has to `list`, and the ids of the others to
 * `closed`, which may be NULL: they were closed because they were idle, or their sandbox died. */
static void add_live(const json_t *rows, const json_t *sessions, json_t *list, json_t *closed)
{
    size_t i, k;
    const json_t *row, *live;
    json_array_foreach(rows, i, row)
    {
        json_t *found = NULL;
        json_array_foreach(sessions, k, live)
        {
            if (json_equal(json_object_get(live, "session"), json_object_get(row, "id"))) {
                found = describe(row, live);
            }
        }
        if (found != NULL) {
            json_array_append_new(list, found);
        } else if (closed != NULL) {
            json_array_append(closed, json_object_get(row, "id"));
        }
    }
}

/* The open sessions; the ids of closed ones are appended to `closed`, which may be NULL. */
static int list_live(struct cbx_rest *rest, json_t **out, json_t *closed, struct cbx_err *err)
{
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    CBX_AUTO_JSON rows = NULL;
    const struct cbx_list_sessions_args args;
    int failed = cbx_store_list_sessions(rest->store, &rows, err);
    failed = failed ? failed : cbx_call_list_sessions(rest->flow, &args, CBX_STR(""), &answer, err);
    if (failed) {
        return failed;
    }
    *out = json_array();
    add_live(rows, json_object_get(answer.header, "sessions"), *out, closed);
    return 0;
}

/* The open sessions of a page and one more, if there is one. Rows of closed sessions are passed
 * over, so that every page but the last is full. */
static int page_live(struct cbx_rest *rest, const struct cbx_listing_page *page, json_t **out,
                     struct cbx_err *err)
{
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    CBX_AUTO_JSON list = json_array();
    const struct cbx_list_sessions_args args;
    struct cbx_store_position after = page->after;
    size_t wanted = (size_t)page->limit + 1, fetched = wanted;
    int failed = cbx_call_list_sessions(rest->flow, &args, CBX_STR(""), &answer, err);
    while (!failed && fetched == wanted && json_array_size(list) < wanted) {
        CBX_AUTO_JSON rows = NULL;
        failed = cbx_store_page_sessions(rest->store, &after, (int64_t)wanted, &rows, err);
        fetched = json_array_size(rows);
        add_live(rows, json_object_get(answer.header, "sessions"), list, NULL);
        if (fetched == wanted) {
            after = cbx_listing_position(json_array_get(rows, fetched - 1), "id");
        }
    }
    if (!failed) {
        *out = cbx_steal(&list);
    }
    return failed;
}

/* Removes the rows of closed sessions with every sixteenth session that is opened. Reading never
 * removes rows. */
static void trim_sessions(struct cbx_rest *rest)
{
    enum { EVERY = 16 };
    CBX_AUTO_JSON live = NULL;
    CBX_AUTO_JSON closed = json_array();
    size_t i;
    const json_t *id;
    if (atomic_fetch_add(&rest->sessions_opened, 1) % EVERY != EVERY - 1 ||
        list_live(rest, &live, closed, NULL) != 0) {
        return;
    }
    json_array_foreach(closed, i, id)
    {
        cbx_store_remove_session(rest->store, json_string_value(id), NULL);
    }
}

/* --- opening and closing ---------------------------------------------------------------------- */

struct opening {
    char id[37], now[32];
    const char *language; /* as the flow names it */
    struct cbx_str policy;
    struct cbx_limits limits;
};

static bool open_sandbox(struct cbx_rest_call *call, const struct opening *o,
                         struct cbx_outcome *outcome)
{
    struct cbx_err err = { 0 };
    struct cbx_request request = cbx_rest_request(CBX_ACTION_OPEN, o->language, o->policy,
                                                  cbx_str_of(o->id), CBX_STR(""), &o->limits);
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    if (cbx_review_judge(call->rest->flow, &request, &judgement, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return false;
    }
    int failed = cbx_review_submit(call->rest->flow, &request, &judgement, NULL, outcome, &err);
    if (failed) {
        /* A missing image is the operator's failure, not a wrong request. */
        cbx_rest_fail(call, failed == CBX_ENOTFOUND || failed == CBX_EIO ? 503 : 0, &err);
        return false;
    }
    if (outcome->verdict != CBX_ALLOW) {
        cbx_rest_deny(call, outcome);
        return false;
    }
    return true;
}

static int store_session(struct cbx_rest_call *call, const struct opening *o, struct cbx_err *err)
{
    char name[CBX_NAME_MAX + 1];
    snprintf(name, sizeof(name), "%.*s", CBX_STR_ARG(o->policy));
    CBX_AUTO_JSON options = json_object();
    cbx_limits_write(&o->limits, options);
    json_object_set_new(options, "language", json_string(o->language));
    return cbx_store_add_session(call->rest->store, o->id, o->now, name, options, err);
}

/* False when the answer is made. */
static bool open_session(struct cbx_rest_call *call, struct opening *o)
{
    struct cbx_err err = { 0 };
    cbx_uuid_make(o->id);
    cbx_rest_now(o->now);
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    if (!open_sandbox(call, o, &outcome)) {
        return false;
    }
    if (store_session(call, o, &err) != 0) { /* the executor closes what is not acknowledged */
        cbx_rest_fail(call, 0, &err);
        return false;
    }
    cbx_outcome_acknowledge(call->rest->flow, &outcome);
    trim_sessions(call->rest);
    return true;
}

void cbx_rest_create_session(struct cbx_rest_call *call)
{
    struct body body = { 0 };
    struct opening opening = { .language = cbx_dialect_default() };
    struct cbx_err err = { 0 };
    if (!cbx_rest_body(call, body_fields, sizeof(body_fields) / sizeof(body_fields[0]), &body)) {
        return;
    }
    if (read_options(body.options, &opening.limits, &err) != 0) {
        cbx_rest_fail(call, 400, &err);
        return;
    }
    opening.policy = body.policy;
    if (cbx_rest_check_dependencies(call, body.policy, body.dependencies) &&
        open_session(call, &opening)) {
        cbx_rest_answer(call, 200,
                        json_pack("{s:s,s:s,s:s}", "session_id", opening.id, "status", "created",
                                  "created_at", opening.now));
    }
}

struct v1_body {
    struct cbx_str policy, language;
    const json_t *limits;
};
static const struct cbx_json_field v1_fields[] = {
    { "language", CBX_JSON_STR, offsetof(struct v1_body, language), false, true, 1, 32 },
    { "policy", CBX_JSON_STR, offsetof(struct v1_body, policy), false, true, 1, 64 },
    { "limits", CBX_JSON_OBJECT, offsetof(struct v1_body, limits), false, true, 0, 0 },
};

void cbx_rest_open_session(struct cbx_rest_call *call)
{
    struct v1_body body = { 0 };
    struct opening opening = { 0 };
    struct cbx_err err = { 0 };
    cbx_limits_unset(&opening.limits);
    if (!cbx_rest_body(call, v1_fields, sizeof(v1_fields) / sizeof(v1_fields[0]), &body)) {
        return;
    }
    opening.language = cbx_dialect_of(body.language, &err);
    if (opening.language == NULL ||
        (body.limits != NULL && cbx_rest_read_limits(body.limits, &opening.limits, &err) != 0)) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    opening.policy = body.policy;
    if (open_session(call, &opening)) {
        cbx_rest_answer(call, 201,
                        json_pack("{s:s,s:s,s:s}", "session_id", opening.id, "language",
                                  cbx_dialect_shown(opening.language), "created_at", opening.now));
    }
}

/* The sandbox first: after a crash between the two steps the session can be closed again. */
void cbx_rest_delete_session(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    int failed = cbx_store_get_session(call->rest->store, call->id, NULL, NULL, &err);
    if (!failed) {
        struct cbx_close_args args = { .session = cbx_str_of(call->id),
                                       .principal = CBX_REST_PRINCIPAL };
        failed = cbx_call_close(call->rest->flow, &args, CBX_STR(""), NULL, &err);
        failed = failed == CBX_ENOTFOUND ? 0 : failed; /* closed already, because it was idle */
        failed = failed ? failed : cbx_store_remove_session(call->rest->store, call->id, &err);
    }
    if (failed) {
        if (failed == CBX_ENOTFOUND) {
            cbx_fail(&err, CBX_ENOTFOUND,
                     "Session not found"); /* the text that clients of CodeBox-AI compare */
        }
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_rest_answer(call, 200, json_pack("{s:s}", "status", "cleaned up"));
}

void cbx_rest_list_sessions(struct cbx_rest_call *call)
{
    static const struct cbx_listing listing = { "sessions", "session_id", false };
    struct cbx_listing_page page;
    json_t *list;
    struct cbx_err err = { 0 };
    if (!cbx_listing_read(call, &listing, &page)) {
        return;
    }
    if (page_live(call->rest, &page, &list, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_listing_answer(call, &listing, &page, list);
}

void cbx_rest_get_session(struct cbx_rest_call *call)
{
    CBX_AUTO_JSON list = NULL;
    struct cbx_err err = { 0 };
    size_t i;
    json_t *session;
    if (list_live(call->rest, &list, NULL, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    json_array_foreach(list, i, session)
    {
        if (cbx_str_is(cbx_json_str(json_object_get(session, "session_id")), call->id)) {
            cbx_rest_answer(call, 200, json_incref(session));
            return;
        }
    }
    cbx_fail(&err, CBX_ENOTFOUND, "there is no session '%s'", call->id);
    cbx_rest_fail(call, 0, &err);
}

void cbx_rest_get_history(struct cbx_rest_call *call)
{
    static const struct cbx_listing listing = { "executions", "position", true };
    struct cbx_listing_page page;
    json_t *list;
    struct cbx_err err = { 0 };
    if (!cbx_listing_read(call, &listing, &page)) {
        return;
    }
    if (cbx_store_page_history(call->rest->store, call->id, &page.after, page.limit + 1, &list,
                               &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
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
                                       .principal = CBX_REST_PRINCIPAL };
    int failed = cbx_call_interrupt(call->rest->flow, &args, CBX_STR(""), NULL, &err);
    answer_status(call, failed, &err, "interrupted");
}

void cbx_rest_reset_session(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    struct cbx_rest_job *job = cbx_rest_job_new(call->rest);
    job->kind = CBX_ENTRY_RESET;
    if (cbx_rest_find_session(call, job, cbx_str_of(call->id)) && cbx_rest_accept(call, job)) {
        answer_status(call, cbx_rest_job_change(job, &outcome, &err), &err, "reset");
    }
    cbx_rest_job_free(job);
}
