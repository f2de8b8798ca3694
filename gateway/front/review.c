/* SPDX-License-Identifier: MIT
 * The flow. cbx_review follows the line in review.h; the executor does the second half of it
 * (executor.c: submit). */
#include "gateway/front/review.h"

#include "gateway/front/denial/hosts.h"
#include "gateway/front/executor_client.h"
#include "gateway/identity/identity.h"
#include "gateway/ipc/seal/mount_requests.h"
#include "policies/packages.h"

int cbx_review(struct cbx_flow *flow, const struct cbx_request *request,
               const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    int failed = cbx_review_judge(flow, request, &judgement, err);
    if (failed) {
        return failed;
    }
    return cbx_review_submit(flow, request, &judgement, sink, out, err);
}

/* Every judgement of every API passes here, also for sessions opened before, for waiting jobs,
 * and for jobs that an earlier gateway accepted. */
static int check_mode(const struct cbx_flow *flow, const struct cbx_policy *policy,
                      const struct cbx_subject *subject, struct cbx_err *err)
{
    struct cbx_caller caller;
    if (!policy->log_only) {
        return 0;
    }
    cbx_identity_caller(flow->identity, subject->principal, subject->credential, &caller);
    return cbx_caller_check_mode(&caller, cbx_flow_policies(flow), policy, err);
}

/* During a reload a worker may already have the next set, in which the policy only logs. */
static int check_judged_mode(const struct cbx_flow *flow, const struct cbx_policy *policy,
                             const struct cbx_subject *subject, struct cbx_judgement *judgement,
                             struct cbx_err *err)
{
    const struct cbx_policy relaxed = { .name = policy->name, .log_only = true };
    int failed = 0;
    if (json_object_get(judgement->decision, "mode") != NULL) {
        failed = check_mode(flow, &relaxed, subject, err);
    }
    if (failed) {
        cbx_judgement_done(judgement);
    }
    return failed;
}

/* source -> tree -> facts -> findings -> decision, in a worker */
int cbx_review_judge(struct cbx_flow *flow, const struct cbx_request *request,
                     struct cbx_judgement *out, struct cbx_err *err)
{
    const struct cbx_policy *policy = cbx_policies_find(cbx_flow_policies(flow), request->policy);
    if (policy == NULL) {
        return cbx_policies_fail(cbx_flow_policies(flow), request->policy, err);
    }
    const struct cbx_subject *subject = &request->subject;
    int failed = check_mode(flow, policy, subject, err);
    if (failed) {
        return failed;
    }
    failed = cbx_environment_check(policy, cbx_subject_asked(subject)->environment, err);
    if (failed) {
        return failed;
    }
    failed = cbx_mounts_check(policy, cbx_subject_asked(subject)->mounts, err);
    if (failed) {
        return failed;
    }
    failed = cbx_judge_decide(flow->judge, policy, subject, request->source, out, err);
    if (failed) {
        return failed;
    }
    return check_judged_mode(flow, policy, subject, out, err);
}

static void note_decision(const struct cbx_submit_options *options,
                          const struct cbx_judgement *judgement)
{
    char id[CBX_ID_CHARS + 1];
    cbx_judgement_id(judgement, id);
    if (options->note != NULL && id[0] != '\0') {
        options->note(options->context, CBX_JUDGED_AGAIN, id, 0);
    }
}

int cbx_review_judge_again(struct cbx_flow *flow, const struct cbx_request *request,
                           struct cbx_judgement *out, struct cbx_err *err)
{
    enum { TRIES = 5 };
    for (int i = 0; i < TRIES; i++) {
        CBX_AUTO_DONE(judgement) judgement = { 0 };
        int failed = cbx_review_judge(flow, request, &judgement, err);
        if (failed) {
            return failed;
        }
        if (judgement.analysed) {
            note_decision(&request->options, &judgement);
            *out = judgement;
            judgement = (struct cbx_judgement){ 0 };
            return 0;
        }
    }
    return cbx_fail(err, CBX_EIO,
                    "the executor was killed before this began, and so was every worker that was "
                    "to analyse it once more");
}

/* True if nothing ran, and the same source may be judged and submitted again. */
static bool may_submit_again(int failed, const struct cbx_submit_options *options,
                             const struct cbx_outcome *out)
{
    return (failed == CBX_EIO && out->id[0] == '\0') ||
           (failed == CBX_ESTALE && options->renew != NULL);
}

/* One submission of a judgement. */
static int submit_once(struct cbx_flow *flow, const struct cbx_request *request,
                       const struct cbx_judgement *judgement, const struct cbx_sink *sink,
                       struct cbx_outcome *out, struct cbx_err *err)
{
    out->verdict = judgement->verdict;
    cbx_judgement_digest(judgement, out->digest);
    json_decref(out->decision);
    out->decision = json_incref(judgement->decision);
    if (judgement->analysed) {
        return cbx_client_submit(flow, request, judgement, sink, out, err);
    }
    return cbx_client_record_failure(flow, request, judgement->decision, out, err);
}

/* Sets the policy's values in the outcome. */
static void note_limits(struct cbx_flow *flow, const struct cbx_request *request,
                        struct cbx_outcome *out)
{
    const struct cbx_policy *policy = cbx_policies_find(cbx_flow_policies(flow), request->policy);
    if (policy != NULL) {
        out->policy = policy->name;
        out->limits = policy->limits;
        out->hosts = cbx_hosts_of(policy);
        out->installs = cbx_policy_installs(policy, request->subject.language);
        cbx_limits_tighten(&out->limits, &cbx_subject_asked(&request->subject)->limits);
    }
}

/* decision -> audit record -> permit -> sandbox -> result, in the executor. If the executor is
 * killed before the run began, or the session has another ledger, nothing ran, and the decision
 * cannot be used again: a new one is made. */
int cbx_review_submit(struct cbx_flow *flow, const struct cbx_request *request,
                      const struct cbx_judgement *judgement, const struct cbx_sink *sink,
                      struct cbx_outcome *out, struct cbx_err *err)
{
    enum { TRIES = 20 };
    CBX_AUTO_DONE(judgement) again = { 0 };
    struct cbx_request own = *request;
    note_limits(flow, request, out);
    int failed = submit_once(flow, &own, judgement, sink, out, err);
    for (int i = 1; i < TRIES && may_submit_again(failed, &own.options, out); i++) {
        bool done = false;
        if (failed == CBX_ESTALE) {
            failed = own.options.renew(own.options.context, &out->ledger, &own, &done, err);
            if (failed) {
                return failed;
            }
        }
        if (done) {
            return 0;
        }
        cbx_judgement_done(&again);
        failed = cbx_review_judge_again(flow, &own, &again, err);
        if (failed) {
            return failed;
        }
        out->id[0] = '\0';
        failed = submit_once(flow, &own, &again, sink, out, err);
    }
    if (failed == CBX_ESTALE) {
        return cbx_fail(err, CBX_ESTALE,
                        "what was admitted to the session is not known any more, so "
                        "nothing can be judged with it; open a new session");
    }
    return failed;
}

int cbx_review_resume(struct cbx_flow *flow, const struct cbx_request *request,
                      const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err)
{
    return cbx_client_resume(flow, request, sink, out, err);
}

void cbx_outcome_done(struct cbx_outcome *outcome)
{
    json_decref(outcome->decision);
    cbx_result_done(&outcome->result);
    if (outcome->hold > 0) {
        close(outcome->hold);
    }
    *outcome = (struct cbx_outcome){ 0 };
}
