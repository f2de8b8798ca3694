/* SPDX-License-Identifier: MIT
 * Authentication of callers in the executor. */
#include "gateway/executor/callers.h"

#include "gateway/executor/executor_internal.h"
#include "gateway/executor/sessions/instance_seeds.h"
#include "gateway/identity/identity.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

/* The front keeps a voucher at most this long: no run waits longer. */
#define VOUCHER_LIFE_MS (INT64_C(7) * 24 * 3600 * 1000)

static const enum cbx_right right_of[] = {
    [CBX_VOUCHER_RUN] = CBX_RIGHT_EXECUTE, [CBX_VOUCHER_APPROVAL] = CBX_RIGHT_APPROVE
};

/* The key is common to all executors of a persistent gateway, since a voucher outlives an
 * executor; and to all replicas that take over from each other. */
static int find_key(struct cbx_executor *e, struct cbx_sha256 *out, struct cbx_err *err)
{
    static const struct cbx_str purpose = CBX_STR("codebox vouchers");
    uint8_t seed[CBX_INSTANCE_SEED_BYTES];
    const struct cbx_str bytes = { .p = (const char *)seed, .len = sizeof(seed) };
    memcpy(seed, e->secrets.seed, sizeof(seed));
    pthread_mutex_lock(&e->lock);
    int failed = 0;
    if (!e->has_voucher_key) {
        if (cbx_executor_takes_over(e)) {
            cbx_instance_seeds_vouchers(e->config.instances, seed);
        } else if (e->config.persistent) {
            failed = cbx_instance_seed(e->config.state_dir, seed, err);
        }
        e->voucher_key = cbx_hmac_sha256(bytes, purpose);
        e->has_voucher_key = !failed;
    }
    *out = e->voucher_key;
    pthread_mutex_unlock(&e->lock);
    explicit_bzero(seed, sizeof(seed));
    return failed;
}

/* An uncompromised front checked the same before: a refusal here is logged as an error. */
static int refuse(struct cbx_str principal, const char *why, struct cbx_err *err)
{
    cbx_log(CBX_LOG_ERROR, "a call in the name of '%.*s' is refused: %s", CBX_STR_SHOWN(principal),
            why);
    return cbx_fail(err, CBX_EFORBIDDEN, "the caller is not authenticated for this: %s", why);
}

static bool is_peer(struct cbx_str principal)
{
    return cbx_str_starts(principal, CBX_STR("uid:"));
}

/* Checks that the header's value authenticates this principal. A user of this machine has no
 * header; only its row is looked up. */
static int prove(struct cbx_identity *identity, struct cbx_str principal, struct cbx_str proof,
                 struct cbx_caller *out, struct cbx_err *err)
{
    struct cbx_err why = { 0 };
    if (proof.len == 0 && is_peer(principal)) {
        cbx_identity_caller(identity, principal, CBX_STR(CBX_CREDENTIAL_PEER), out);
        return 0;
    }
    if (proof.len == 0) {
        return refuse(principal, "nothing was shown", err);
    }
    int failed = cbx_identity_prove(identity, proof, out, &why);
    if (failed == CBX_EBUSY) {
        *err = why;
        return failed;
    }
    if (failed) {
        return refuse(principal, why.text, err);
    }
    if (!cbx_str_is(principal, out->principal)) {
        return refuse(principal, "what was shown is of another principal", err);
    }
    return 0;
}

static int check_right(const struct cbx_caller *caller, struct cbx_str principal,
                       enum cbx_right right, struct cbx_err *err)
{
    char why[64];
    snprintf(why, sizeof(why), "it lacks the right '%s'", cbx_right_name(right));
    if (!cbx_caller_may(caller, right)) {
        return refuse(principal, why, err);
    }
    return 0;
}

/* Proves a principal by a header's value. */
static int check_proof(struct cbx_identity *identity, const struct cbx_voucher_claim *claim,
                       struct cbx_str proof, struct cbx_err *err)
{
    struct cbx_caller caller;
    int failed = prove(identity, claim->principal, proof, &caller, err);
    if (failed) {
        return failed;
    }
    failed = check_right(&caller, claim->principal, right_of[claim->kind], err);
    if (failed) {
        return failed;
    }
    if (!cbx_str_is(claim->credential, caller.credential)) {
        return refuse(claim->principal, "the credential is another one", err);
    }
    return 0;
}

/* Proves a principal by a voucher of an executor. *time_ms is the voucher's time. */
static int prove_by_voucher(struct cbx_executor *e, const struct cbx_voucher_claim *claim,
                            struct cbx_str voucher, int64_t *time_ms, struct cbx_err *err)
{
    struct cbx_sha256 key;
    int failed = find_key(e, &key, err);
    if (failed) {
        return failed;
    }
    if (!cbx_voucher_check(&key, claim, voucher, time_ms)) {
        return refuse(claim->principal, "the voucher is for something else", err);
    }
    if (cbx_time_ms() - *time_ms > VOUCHER_LIFE_MS) {
        return refuse(claim->principal, "the voucher is too old", err);
    }
    return 0;
}

/* Checks the voucher, and the current rights and tokens of its principal. */
static int check_voucher(struct cbx_executor *e, const struct cbx_voucher_claim *claim,
                         struct cbx_str voucher, struct cbx_err *err)
{
    char principal[CBX_NAME_MAX + 1], credential[CBX_CREDENTIAL_MAX + 1];
    struct cbx_err why = { 0 };
    int64_t time_ms;
    int failed = prove_by_voucher(e, claim, voucher, &time_ms, err);
    if (failed) {
        return failed;
    }
    snprintf(principal, sizeof(principal), "%.*s", CBX_STR_ARG(claim->principal));
    snprintf(credential, sizeof(credential), "%.*s", CBX_STR_ARG(claim->credential));
    const struct cbx_begun begun = { .principal = principal,
                                     .credential = credential,
                                     .asked_ms = time_ms };
    if (cbx_identity_still(e->config.identity, &begun, right_of[claim->kind], &why) != 0) {
        return refuse(claim->principal, why.text, err);
    }
    return 0;
}

static int check(struct cbx_executor *e, const struct cbx_voucher_claim *claim,
                 struct cbx_str proof, struct cbx_err *err)
{
    if (cbx_str_starts(proof, CBX_STR(CBX_VOUCHER_PREFIX))) {
        return check_voucher(e, claim, proof, err);
    }
    return check_proof(e->config.identity, claim, proof, err);
}

/* --- the calls -------------------------------------------------------------------------------- */

int cbx_executor_check_caller(struct cbx_executor *e, struct cbx_str principal,
                              struct cbx_str proof, struct cbx_err *err)
{
    struct cbx_caller caller;
    if (e->config.identity == NULL) {
        return 0;
    }
    int failed = prove(e->config.identity, principal, proof, &caller, err);
    if (failed) {
        return failed;
    }
    return check_right(&caller, principal, CBX_RIGHT_EXECUTE, err);
}

int cbx_executor_check_operator(struct cbx_executor *e, struct cbx_str principal,
                                struct cbx_str proof, struct cbx_err *err)
{
    struct cbx_caller caller;
    if (e->config.identity == NULL) {
        return cbx_fail(err, CBX_EFORBIDDEN,
                        "this gateway authenticates no callers, so work has no owner to stop it "
                        "by: POST /v1/executions/ID/cancel ends one");
    }
    int failed = prove(e->config.identity, principal, proof, &caller, err);
    if (failed) {
        return failed;
    }
    return check_right(&caller, principal, CBX_RIGHT_ADMIN, err);
}

/* Checks that the decision's policy is among the principal's current policies; it was when the
 * request was made. */
static int check_policy(struct cbx_executor *e, const struct cbx_sealed *sealed,
                        struct cbx_err *err)
{
    const struct cbx_policies *policies = cbx_policy_history_of(&e->policies, sealed->number);
    struct cbx_str name = cbx_str_of(sealed->fields.policy),
                   principal = cbx_str_of(sealed->fields.principal);
    const struct cbx_policy *policy;
    struct cbx_caller caller;
    struct cbx_err why = { 0 };
    cbx_identity_caller(e->config.identity, principal,
                        cbx_json_str(json_object_get(sealed->json, "credential")), &caller);
    if (cbx_caller_policy(&caller, policies, name, &policy, &why) != 0) {
        return refuse(principal, why.text, err);
    }
    return 0;
}

int64_t cbx_executor_layers_of(struct cbx_executor *e, const struct cbx_sealed *sealed)
{
    struct cbx_caller caller = { 0 };
    cbx_identity_caller(e->config.identity, cbx_str_of(sealed->fields.principal),
                        cbx_json_str(json_object_get(sealed->json, "credential")), &caller);
    return caller.row != NULL ? caller.row->layers : 0;
}

int cbx_executor_check_submission(struct cbx_executor *e, const struct cbx_sealed *sealed,
                                  struct cbx_str proof, struct cbx_err *err)
{
    char subject[CBX_SHA256_HEX + 1];
    const struct cbx_voucher_claim claim = {
        .kind = CBX_VOUCHER_RUN,
        .principal = cbx_str_of(sealed->fields.principal),
        .credential = cbx_json_str(json_object_get(sealed->json, "credential")),
        .subject = { .p = subject, .len = CBX_SHA256_HEX },
    };
    if (e->config.identity == NULL) {
        return 0;
    }
    cbx_voucher_run(cbx_str_of(sealed->fields.session),
                    cbx_json_str(json_object_get(sealed->json, "sha256")), subject);
    int failed = check(e, &claim, proof, err);
    if (failed) {
        return failed;
    }
    return check_policy(e, sealed, err);
}

int cbx_executor_check_resume(struct cbx_executor *e, const struct cbx_resume_args *args,
                              struct cbx_err *err)
{
    const struct cbx_voucher_claim claim = { .kind = CBX_VOUCHER_RUN,
                                             .principal = args->principal,
                                             .credential = args->credential,
                                             .subject = args->voucher_subject };
    int64_t time_ms;
    if (e->config.identity == NULL) {
        return 0;
    }
    if (cbx_str_starts(args->proof, CBX_STR(CBX_VOUCHER_PREFIX))) {
        return prove_by_voucher(e, &claim, args->proof, &time_ms, err);
    }
    return check_proof(e->config.identity, &claim, args->proof, err);
}

int cbx_executor_check_approver(struct cbx_executor *e, const struct cbx_submit_args *args,
                                const struct cbx_sealed *sealed, struct cbx_err *err)
{
    bool other = args->approval_approver.len > 0;
    const struct cbx_policy *policy = cbx_policies_find(
        cbx_policy_history_of(&e->policies, sealed->number), cbx_str_of(sealed->fields.policy));
    const struct cbx_voucher_claim claim = {
        .kind = CBX_VOUCHER_APPROVAL,
        .principal = other ? args->approval_approver : cbx_str_of(sealed->fields.principal),
        .credential = other ? args->approval_approver_credential
                            : cbx_json_str(json_object_get(sealed->json, "credential")),
        .subject = args->approval_digest,
    };
    if (policy == NULL ||
        (policy->four_eyes && cbx_str_is(claim.principal, sealed->fields.principal))) {
        return refuse(claim.principal, "the policy wants the approval of another principal", err);
    }
    if (e->config.identity == NULL) {
        return 0;
    }
    return check_voucher(e, &claim, args->approval_voucher, err);
}

int cbx_executor_vouch(struct cbx_executor *e, const struct cbx_vouch_args *args,
                       char out[CBX_VOUCHER_CHARS + 1], struct cbx_err *err)
{
    const struct cbx_voucher_claim claim = { .kind = cbx_voucher_kind_of(args->kind),
                                             .principal = args->principal,
                                             .credential = args->credential,
                                             .subject = args->subject };
    struct cbx_sha256 key, subject;
    if (e->config.identity == NULL || claim.kind == CBX_VOUCHER_NONE ||
        !cbx_sha256_from_hex(claim.subject, &subject)) {
        return cbx_fail(err, CBX_EPROTO, "there is nothing to vouch for");
    }
    int failed = check_proof(e->config.identity, &claim, args->proof, err);
    if (failed) {
        return failed;
    }
    failed = find_key(e, &key, err);
    if (failed) {
        return failed;
    }
    cbx_voucher_make(&key, &claim, cbx_time_ms(), out);
    return 0;
}
