/* SPDX-License-Identifier: MIT
 * Sessions: POST /sessions, DELETE /sessions/{id}. */
#include "gateway/rest/rest.h"

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
    *limits = (struct cbx_limits){ .wall_ms = o.timeout * 1000,
                                   .memory_bytes = parse_memory(o.memory),
                                   .cpu_milli = parse_cpu(o.cpu) };
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

struct cbx_limits cbx_rest_limits(const json_t *options)
{
    return (struct cbx_limits){ .wall_ms = json_integer_value(json_object_get(options, "wall_ms")),
                                .cpu_milli =
                                    json_integer_value(json_object_get(options, "cpu_milli")),
                                .memory_bytes =
                                    json_integer_value(json_object_get(options, "memory_bytes")) };
}

/* --- the two calls ---------------------------------------------------------------------------- */

static bool open_sandbox(struct cbx_rest_call *call, const char *id, struct cbx_str policy,
                         const struct cbx_limits *limits)
{
    struct cbx_err err = { 0 };
    struct cbx_request request =
        cbx_rest_request(CBX_ACTION_OPEN, "ipython", policy, cbx_str_of(id), CBX_STR(""), limits);
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    if (cbx_review_judge(call->rest->flow, &request, &judgement, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return false;
    }
    int failed = cbx_review_submit(call->rest->flow, &request, &judgement, NULL, &outcome, &err);
    if (failed) {
        /* What the engine lacks is nothing that the caller asked for. */
        cbx_rest_fail(call, failed == CBX_ENOTFOUND ? 503 : 0, &err);
        return false;
    }
    if (outcome.verdict != CBX_ALLOW) {
        cbx_rest_deny(call, &outcome);
        return false;
    }
    return true;
}

static int store_session(struct cbx_rest_call *call, const char *id, const char *now,
                         struct cbx_str policy, const struct cbx_limits *limits,
                         struct cbx_err *err)
{
    char name[CBX_NAME_MAX + 1];
    snprintf(name, sizeof(name), "%.*s", CBX_STR_ARG(policy));
    CBX_AUTO_JSON options =
        json_pack("{s:I,s:I,s:I}", "wall_ms", (json_int_t)limits->wall_ms, "cpu_milli",
                  (json_int_t)limits->cpu_milli, "memory_bytes", (json_int_t)limits->memory_bytes);
    return cbx_store_add_session(call->rest->store, id, now, name, options, err);
}

void cbx_rest_create_session(struct cbx_rest_call *call)
{
    struct body body = { 0 };
    struct cbx_limits limits;
    struct cbx_err err = { 0 };
    if (!cbx_rest_body(call, body_fields, sizeof(body_fields) / sizeof(body_fields[0]), &body)) {
        return;
    }
    if (read_options(body.options, &limits, &err) != 0) {
        cbx_rest_fail(call, 400, &err);
        return;
    }
    char id[37], now[32];
    cbx_uuid_make(id);
    cbx_rest_now(now);
    if (!cbx_rest_check_dependencies(call, body.policy, body.dependencies) ||
        !open_sandbox(call, id, body.policy, &limits)) {
        return;
    }
    if (store_session(call, id, now, body.policy, &limits, &err) != 0) {
        cbx_flow_ask(call->rest->flow, "close", id, NULL, NULL);
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_rest_answer(
        call, 200,
        json_pack("{s:s,s:s,s:s}", "session_id", id, "status", "created", "created_at", now));
}

void cbx_rest_delete_session(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    int failed = cbx_store_remove_session(call->rest->store, call->id, &err);
    if (failed) {
        if (failed == CBX_ENOTFOUND) {
            cbx_fail(&err, CBX_ENOTFOUND, "Session not found"); /* the words that clients know */
        }
        cbx_rest_fail(call, 0, &err);
        return;
    }
    failed = cbx_flow_ask(call->rest->flow, "close", call->id, NULL, &err);
    if (failed && failed != CBX_ENOTFOUND) { /* closed already, for it was idle */
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_rest_answer(call, 200, json_pack("{s:s}", "status", "cleaned up"));
}
