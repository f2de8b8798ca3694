/* SPDX-License-Identifier: MIT
 * Functions of every handler for its call: reading the body and the query, responses, refusals,
 * and requests to the flow. Errors are problem documents. */
#include "gateway/front/rest/query.h"
#include "gateway/front/rest/rest.h"

#include "gateway/front/denial/denial.h"
#include "gateway/front/service/approvals.h"
#include "gateway/front/service/decisions.h"
#include "gateway/identity/caller.h"

#include "policies/base/log.h"
#include "policies/base/text/printable.h"
#include "policies/base/time/clock.h"

#include <stdio.h>

const char *cbx_rest_principal(const struct cbx_rest_call *call)
{
    return call->request->caller->principal;
}

/* --- answers ---------------------------------------------------------------------------------- */

void cbx_rest_answer(struct cbx_rest_call *call, int status, json_t *json)
{
    call->response->status = status;
    call->response->json = json;
}

static const char *title_of(int status)
{
    static const struct {
        int status;
        const char *title;
    } titles[] = {
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 409, "Conflict" },
        { 410, "Gone" },
        { 413, "Content Too Large" },
        { 415, "Unsupported Media Type" },
        { 421, "Misdirected Request" },
        { 422, "Unprocessable Content" },
        { 429, "Too Many Requests" },
        { 408, "Request Timeout" },
        { 500, "Internal Server Error" },
        { 502, "Bad Gateway" },
        { 503, "Service Unavailable" },
        { 504, "Gateway Timeout" },
        { 505, "HTTP Version Not Supported" },
    };
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        if (titles[i].status == status) {
            return titles[i].title;
        }
    }
    return "Error";
}

static json_t *problem(int status, const char *type, const char *detail)
{
    return json_pack("{s:s,s:s,s:i,s:s}", "type", type, "title", title_of(status), "status", status,
                     "detail", detail);
}

static void name_type(int code, char out[64])
{
    snprintf(out, 64, "urn:codebox:problem:%s", cbx_code_name(code));
}

void cbx_rest_refuse(int status, const char *detail, struct cbx_http_response *out)
{
    static const struct {
        int status, code;
    } codes[] = {
        { 408, CBX_ETIMEDOUT }, { 413, CBX_ETOOBIG }, { 429, CBX_EBUSY }, { 503, CBX_EBUSY }
    };
    char type[64] = "about:blank"; /* the status is sufficient */
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i].status == status) {
            name_type(codes[i].code, type);
        }
    }
    out->status = status;
    out->json = problem(status, type, detail);
    out->type = "application/problem+json";
}

/* Clients of CodeBox-AI read `message` with `status: "error"`, or `detail`; a reader of RFC 9457
 * ignores a status that is no number. */
static void set_problem(struct cbx_rest_call *call, json_t *json, const char *message)
{
    if (call->legacy) {
        json_object_set_new(json, "status", json_string("error"));
        json_object_set_new(json, "message", json_string(message));
    }
    call->response->json = json;
    call->response->type = "application/problem+json";
}

static int status_of(int code)
{
    switch (code) {
    case CBX_EINVAL:
    case CBX_EPOLICY:
        return 400;
    case CBX_ETOOBIG:
        return 413;
    case CBX_ENOTFOUND:
        return 404;
    case CBX_ESTATE:
    case CBX_ESTALE:
    case CBX_ECANCELLED:
        return 409;
    case CBX_EIO: /* another process of the gateway has ended */
    case CBX_EBUSY:
    case CBX_EENGINE:
    case CBX_EAUDIT:
        return 503;
    case CBX_EQUOTA:
        return 429;
    case CBX_EFORBIDDEN:
        return 403;
    case CBX_EINDEX:
        return 502;
    case CBX_ETIMEDOUT:
        return 504;
    default:
        return 500;
    }
}

void cbx_rest_fail(struct cbx_rest_call *call, int status, const struct cbx_err *err)
{
    char type[64];
    name_type(err->code, type);
    call->response->status = status != 0 ? status : status_of(err->code);
    call->response->retry_s = err->retry_s;
    if (call->response->status >= 500 && call->request != NULL) {
        cbx_log(CBX_LOG_WARNING, "request %s: %.*s %.*s answered %d: %s", call->request->id,
                CBX_STR_SHOWN(call->request->method), CBX_STR_SHOWN(call->request->path),
                call->response->status, cbx_err_full(err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    }
    set_problem(call, problem(call->response->status, type, err->text), err->text);
}

bool cbx_rest_policy(struct cbx_rest_call *call, struct cbx_str asked, struct cbx_str *out)
{
    const struct cbx_policy *policy;
    struct cbx_err err = { 0 };
    if (cbx_caller_policy(call->request->caller, cbx_flow_policies(call->service->flow), asked,
                          &policy, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return false;
    }
    *out = policy->name;
    return true;
}

void cbx_rest_gone(struct cbx_rest_call *call, const char *text)
{
    call->response->status = 410;
    set_problem(call, problem(410, "urn:codebox:problem:gone", text), text);
}

/* Adds one sentence per finding: the object, the place, the reason, the alternative. Packages to
 * install are in no source; the text names the package that required one. */
static void add_finding(struct cbx_buf *out, const json_t *finding, bool packages)
{
    struct cbx_str hint = cbx_json_str(json_object_get(finding, "hint")),
                   detail = cbx_json_str(json_object_get(finding, "detail"));
    cbx_buf_add_cstr(out, out->len > 0 ? " " : "");
    if (!packages) {
        cbx_buf_printf(
            out, "line %lld: ", (long long)json_integer_value(json_object_get(finding, "line")));
    }
    cbx_printable_add(out, cbx_json_str(json_object_get(finding, "symbol")), CBX_PRINTABLE_LINE);
    if (packages && detail.len > 0) {
        cbx_buf_add_cstr(out, " (");
        cbx_printable_add(out, detail, CBX_PRINTABLE_LINE);
        cbx_buf_add_char(out, ')');
    }
    bool asks = cbx_str_is(cbx_json_str(json_object_get(finding, "effect")), "ask");
    cbx_buf_printf(out, " %s by rule %.*s: ", asks ? "needs approval" : "is denied",
                   CBX_STR_ARG(cbx_json_str(json_object_get(finding, "rule"))));
    cbx_printable_add(out, cbx_json_str(json_object_get(finding, "message")), CBX_PRINTABLE_LINE);
    if (hint.len > 0) {
        cbx_buf_add_cstr(out, " Hint: ");
        cbx_printable_add(out, hint, CBX_PRINTABLE_LINE);
    }
}

/* Adds how to approve a waiting decision, for a model. */
static void add_approval(struct cbx_buf *out, const char *id)
{
    cbx_buf_printf(out,
                   " Nothing ran: this needs approval. Within %d minutes somebody with the right "
                   "'approve' may accept it by POST /v1/decisions/%s/approve; then send the same "
                   "request again with the member \"approval\": \"%s\". Or change the code so that "
                   "it does not need approval.",
                   CBX_APPROVAL_MS / 60000, id, id);
}

void cbx_rest_deny(struct cbx_rest_call *call, const struct cbx_outcome *outcome)
{
    enum { FINDINGS_IN_TEXT = 20 };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 256 * 1024);
    size_t i;
    json_t *finding;
    CBX_AUTO_JSON findings = cbx_denial_list(outcome->decision);
    bool packages = json_is_true(json_object_get(outcome->decision, "packages"));
    json_array_foreach(findings, i, finding)
    {
        if (i < FINDINGS_IN_TEXT) {
            add_finding(&text, finding, packages);
        }
    }
    bool waits = cbx_decisions_waits(call->service->decisions, outcome->id, cbx_clock_ms());
    if (waits) {
        add_approval(&text, outcome->id);
    }
    json_t *json = problem(400, "urn:codebox:problem:denied", text.p);
    json_object_set_new(json, "verdict", json_string(cbx_verdict_name(outcome->verdict)));
    json_object_set_new(json, "decision", json_string(outcome->id));
    json_object_set_new(json, "audit_seq", json_integer((json_int_t)outcome->audit_seq));
    json_object_set(json, "findings", findings);
    if (waits) {
        json_object_set_new(json, "approval", json_string(outcome->id));
    }
    call->response->status = 400;
    set_problem(call, json, text.p);
}

/* --- bodies ----------------------------------------------------------------------------------- */

static bool is_json(struct cbx_str type)
{
    const char *semicolon = type.len > 0 ? memchr(type.p, ';', type.len) : NULL;
    struct cbx_str bare =
        cbx_str_sub(type, 0, semicolon != NULL ? (size_t)(semicolon - type.p) : type.len);
    return cbx_str_is_nocase(cbx_str_trim(bare), "application/json");
}

bool cbx_rest_body(struct cbx_rest_call *call, const struct cbx_json_field *fields, size_t count,
                   void *into)
{
    struct cbx_err err = { 0 };
    if (!is_json(call->request->content_type)) {
        cbx_fail(&err, CBX_EINVAL, "Content-Type is '%.*s', allowed is application/json",
                 CBX_STR_SHOWN(call->request->content_type));
        cbx_rest_fail(call, 415, &err);
        return false;
    }
    struct cbx_str body = call->request->body;
    if (cbx_json_parse(body, body.len, &call->body, &err) != 0 ||
        cbx_json_read(call->body, fields, count, into, &err) != 0) {
        cbx_wrap(&err, "the body");
        cbx_rest_fail(call, 400, &err);
        return false;
    }
    return true;
}

bool cbx_rest_query(struct cbx_rest_call *call, const struct cbx_json_field *fields, size_t count,
                    void *into)
{
    struct cbx_err err = { 0 };
    if (cbx_query_read(call->request->query, fields, count, into, &call->body, &err) != 0) {
        cbx_wrap(&err, "the query");
        cbx_rest_fail(call, 400, &err);
        return false;
    }
    return true;
}

size_t cbx_rest_body_max(const struct cbx_policies *policies)
{
    int64_t largest = 0, files = 0;
    for (size_t i = 0; i < policies->count; i++) {
        int64_t bytes = policies->items[i]->limits.source_bytes;
        largest = bytes > largest ? bytes : largest;
        int64_t file = policies->items[i]->limits.files_bytes;
        files = file > files ? file : files;
    }
    enum { ESCAPE_BYTES = 6, ROOM = 64 * 1024, CODE_MAX = 8 * 1024 * 1024 };
    enum { FILE_MAX = 64 * 1024 * 1024 };
    files = files < FILE_MAX ? files : FILE_MAX;
    largest = (largest < CODE_MAX ? largest : CODE_MAX) * ESCAPE_BYTES + ROOM;
    return (size_t)(largest > files ? largest : files);
}
