/* SPDX-License-Identifier: MIT
 * The last decisions (service/decisions.h), and answers to waiting approval questions. */
#include "gateway/front/service/decisions.h"

#include "gateway/front/access.h"
#include "gateway/front/rest/listing.h"
#include "gateway/front/vouch.h"
#include "gateway/identity/caller.h"
#include "policies/base/time/clock.h"

struct query {
    struct cbx_listing_query page;
    struct cbx_str verdict;
};
static const struct cbx_json_field query_fields[] = {
    CBX_LISTING_FIELDS(query, page),
    { "verdict", CBX_JSON_STR, offsetof(struct query, verdict), false, false, 1, 8 },
};
CBX_REST_INPUT(decisions, query_fields);

/* Returns the principal whose decisions the caller sees; NULL = all. */
static const char *reader_of(const struct cbx_rest_call *call)
{
    return cbx_caller_may(call->request->caller, CBX_RIGHT_AUDIT_READ) ? NULL
                                                                       : cbx_rest_principal(call);
}

/* Responds with the decision of the call, or that there is none. */
static void answer_decision(struct cbx_rest_call *call)
{
    json_t *json =
        cbx_decisions_get(call->service->decisions, reader_of(call), call->id, cbx_clock_ms());
    struct cbx_err err;
    if (json == NULL) {
        cbx_decisions_fail_unknown(&err);
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_rest_answer(call, 200, json);
}

void cbx_rest_get_decision(struct cbx_rest_call *call)
{
    answer_decision(call);
}

void cbx_rest_list_decisions(struct cbx_rest_call *call)
{
    static const struct cbx_listing listing = { .name = "decisions",
                                                .key = "id",
                                                .newest_first = true };
    struct query query = { 0 };
    struct cbx_listing_page page;
    enum cbx_verdict verdict;
    struct cbx_err err = { 0 };
    if (!cbx_rest_query(call, query_fields, sizeof(query_fields) / sizeof(query_fields[0]),
                        &query) ||
        !cbx_listing_find(call, &listing, &query.page, &page)) {
        return;
    }
    if (query.verdict.len > 0 && !cbx_verdict_parse(query.verdict, &verdict)) {
        cbx_fail(&err, CBX_EINVAL,
                 "the query: 'verdict' is '%.*s', allowed are allow, ask and deny",
                 CBX_STR_SHOWN(query.verdict));
        cbx_rest_fail(call, 400, &err);
        return;
    }
    const struct cbx_decisions_filter filter = { .reader = reader_of(call),
                                                 .verdict = query.verdict,
                                                 .before = page.after,
                                                 .limit = (size_t)page.limit + 1 };
    cbx_listing_answer(call, &listing, &page,
                       cbx_decisions_page(call->service->decisions, &filter, cbx_clock_ms()));
}

static int check_four_eyes(const struct cbx_policy *policy, const json_t *decision,
                           const struct cbx_caller *caller, struct cbx_err *err)
{
    struct cbx_str principal = cbx_json_str(json_object_get(decision, "principal"));
    if (policy->four_eyes && cbx_str_is(principal, caller->principal)) {
        return cbx_fail(err, CBX_EFORBIDDEN,
                        "policy '%.*s' has four-eyes: another principal than '%s' must approve "
                        "this",
                        CBX_STR_SHOWN(policy->name), caller->principal);
    }
    return 0;
}

/* A principal that accepts a run under a policy needs the right to run under it. False if the
 * response is made. */
static bool may_accept(struct cbx_rest_call *call)
{
    CBX_AUTO_JSON decision =
        cbx_decisions_get(call->service->decisions, reader_of(call), call->id, cbx_clock_ms());
    const struct cbx_policies *policies = cbx_flow_policies(call->service->flow);
    const struct cbx_policy *policy =
        decision != NULL
            ? cbx_policies_find(policies, cbx_json_str(json_object_get(decision, "policy")))
            : NULL;
    struct cbx_err err = { 0 };
    int failed = 0;
    if (policy != NULL) {
        failed = cbx_caller_check_mode(call->request->caller, policies, policy, &err);
    }
    if (!failed && policy != NULL) {
        failed = check_four_eyes(policy, decision, call->request->caller, &err);
    }
    if (failed) {
        cbx_rest_fail(call, 0, &err);
    }
    return !failed;
}

/* Requests the voucher that the executor checks when the approval is used. */
static int vouch(struct cbx_rest_call *call, char out[CBX_VOUCHER_CHARS + 1], struct cbx_err *err)
{
    char digest[CBX_SHA256_HEX + 1];
    int failed = cbx_decisions_digest(call->service->decisions, reader_of(call), call->id,
                                      cbx_clock_ms(), digest, err);
    if (failed) {
        return failed;
    }
    return cbx_vouch(call->service->flow, CBX_VOUCHER_APPROVAL, cbx_rest_principal(call),
                     &call->claims, digest, out, err);
}

static void answer_question(struct cbx_rest_call *call, bool approve)
{
    struct cbx_err err = { 0 };
    char voucher[CBX_VOUCHER_CHARS + 1] = "";
    if (approve && !may_accept(call)) {
        return;
    }
    if (approve && vouch(call, voucher, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    const struct cbx_decisions_approver approver = { .principal = cbx_rest_principal(call),
                                                     .credential = call->claims.credential,
                                                     .voucher = voucher };
    if (cbx_decisions_answer(call->service->decisions, reader_of(call), call->id, &approver,
                             approve, cbx_clock_ms(), &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    if (!approve) {
        cbx_access_note(call->service->flow, CBX_ACCESS_APPROVAL_DENIED,
                        &(struct cbx_access_entry){ .principal = cbx_rest_principal(call),
                                                    .decision = call->id },
                        &call->claims);
    }
    answer_decision(call);
}

void cbx_rest_approve_decision(struct cbx_rest_call *call)
{
    answer_question(call, true);
}

void cbx_rest_deny_decision(struct cbx_rest_call *call)
{
    answer_question(call, false);
}
