/* SPDX-License-Identifier: MIT
 * POST /v1/stop: ends the executions of callers, as `codebox stop` does. */
#include "gateway/front/executor_client.h"
#include "gateway/front/forward/forward.h"
#include "gateway/front/rest/rest.h"
#include "gateway/identity/tokens.h"

struct body {
    struct cbx_str principal, token;
    bool all;
};
static const struct cbx_json_field fields[] = {
    { "principal", CBX_JSON_STR, offsetof(struct body, principal), false, false, 1, CBX_NAME_MAX },
    { "token", CBX_JSON_STR, offsetof(struct body, token), false, false, CBX_TOKEN_ID_CHARS,
      CBX_TOKEN_ID_CHARS },
    { "all", CBX_JSON_BOOL, offsetof(struct body, all), false, false, 0, 0 },
};
CBX_REST_INPUT(stop, fields);

/* The other replicas end what they have of it. False if one could not be told: the response is
 * made. */
static bool tell_others(struct cbx_rest_call *call)
{
    struct cbx_forward_answer answers[CBX_REPLICAS_MAX];
    struct cbx_err err;
    CBX_AUTO_DONE(buf) failed;
    cbx_buf_init(&failed, 8192);
    if (call->service->forwarder == NULL || call->request->replica.len > 0) {
        return true;
    }
    size_t count = cbx_forward_all(call->service->forwarder, call->request, answers);
    for (size_t i = 0; i < count; i++) {
        if (answers[i].status != 202) {
            cbx_buf_printf(&failed, "%s'%s'", failed.len > 0 ? ", " : "", answers[i].replica->name);
        }
        json_decref(answers[i].json);
    }
    if (failed.len == 0) {
        return true;
    }
    cbx_fail(&err, CBX_EBUSY,
             "this replica stops it; replica %s could not be told: send the request again, or use "
             "'codebox stop' there",
             failed.p);
    cbx_rest_fail(call, 503, &err);
    return false;
}

void cbx_rest_stop(struct cbx_rest_call *call)
{
    struct body body = { 0 };
    struct cbx_err err = { 0 };
    if (!cbx_rest_body(call, fields, sizeof(fields) / sizeof(fields[0]), &body)) {
        return;
    }
    int scopes = (body.principal.len > 0) + (body.token.len > 0) + body.all;
    if (scopes != 1) {
        cbx_fail(&err, CBX_EINVAL,
                 "the body has %d of principal, token and all, allowed is one of them", scopes);
        cbx_rest_fail(call, 400, &err);
        return;
    }
    const struct cbx_stop_args args = {
        .who = body.principal,
        .token = body.token,
        .principal = cbx_str_of(cbx_rest_principal(call)),
        .proof = call->claims.proof,
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) .member = cbx_str_of(call->claims.member),
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    };
    if (cbx_call_stop(call->service->flow, &args, CBX_STR(""), NULL, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    if (!tell_others(call)) {
        return;
    }
    cbx_rest_answer(call, 202, json_pack("{s:s}", "status", "stopping"));
}
