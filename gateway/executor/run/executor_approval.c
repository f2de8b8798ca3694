/* SPDX-License-Identifier: MIT
 * Checks the form of an approval and the decision that it names; callers.c checks the approver.
 * If callers are not authenticated, a compromised front can claim approvals; it cannot make a
 * denied program run, and cannot run anything without a record of the claim. */
#include "gateway/executor/run/executor_approval.h"

#include "policies/base/text/printable.h"

static int refuse(struct cbx_err *err, const char *what)
{
    return cbx_fail(err, CBX_ESEAL, "the approval is refused: %s", what);
}

static bool is_of(struct cbx_str digest, const struct cbx_sealed *sealed)
{
    struct cbx_sha256 approved, have = cbx_seal_digest(sealed->json);
    return cbx_sha256_from_hex(digest, &approved) && cbx_sha256_equal(&approved, &have);
}

/* Lists the rules that ask, each once. */
static json_t *list_rules(const json_t *findings)
{
    json_t *rules = json_array();
    CBX_AUTO_JSON seen = json_object();
    size_t i;
    const json_t *finding;
    json_array_foreach(findings, i, finding)
    {
        const char *rule = json_string_value(json_object_get(finding, "rule"));
        bool asks = cbx_str_is(cbx_json_str(json_object_get(finding, "effect")), "ask");
        if (rule != NULL && asks && json_object_get(seen, rule) == NULL) {
            json_object_set_new(seen, rule, json_true());
            json_array_append_new(rules, json_string(rule));
        }
    }
    return rules;
}

static json_t *describe(const struct cbx_submit_args *args, const struct cbx_sealed *sealed)
{
    static const char *const of_decision[] = { "principal", "credential", "session",
                                               "language",  "sha256",     "policy" };
    bool principal = args->approval_approver.len > 0;
    json_t *by = principal ? json_pack("{s:s}", "principal", args->approval_approver.p)
                           : json_pack("{s:s,s:s}", "client", args->approval_client.p, "version",
                                       args->approval_client_version.p);
    cbx_claim_write("credential", principal ? args->approval_approver_credential : CBX_STR(""), by);
    json_t *body = json_pack("{s:s,s:s,s:s,s:s,s:o}", "decision", sealed->fields.decision, "asked",
                             args->approval_asked.p, "how", args->approval_how.p, "protocol",
                             args->approval_protocol.p, "approved_by", by);
    for (size_t i = 0; i < sizeof(of_decision) / sizeof(of_decision[0]); i++) {
        json_object_set(body, of_decision[i], json_object_get(sealed->json, of_decision[i]));
    }
    json_object_set_new(body, "rules", list_rules(json_object_get(sealed->json, "findings")));
    return body;
}

int cbx_executor_read_approval(const struct cbx_submit_args *args, const struct cbx_sealed *sealed,
                               json_t **out, struct cbx_err *err)
{
    const struct cbx_str texts[] = {
#define CBX_APPROVAL(member, max_bytes, meaning) args->approval_##member,
#include "gateway/ipc/seal/approval.def"
#undef CBX_APPROVAL
    };
    bool given = false, plain = true;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        given |= texts[i].len > 0;
        plain = plain && cbx_printable_has_no_control(texts[i]);
    }
    *out = NULL;
    if (!given) {
        return 0;
    }
    if (sealed->verdict != CBX_ASK) {
        return refuse(err, "the decision does not ask for one");
    }
    if (sealed->fields.action != CBX_ACTION_RUN) {
        return refuse(err, "only a run can be approved");
    }
    if (!is_of(args->approval_digest, sealed)) {
        return refuse(err, "it is for another decision than this");
    }
    bool named = args->approval_client.len > 0 || args->approval_approver.len > 0;
    if (!plain || !named || args->approval_how.len == 0) {
        return refuse(err, "it does not say who accepted, and how");
    }
    *out = describe(args, sealed);
    return 0;
}
