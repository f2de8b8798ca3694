/* SPDX-License-Identifier: MIT
 * The flow. cbx_review reads like the line in review.h; the executor does the second half of it
 * (executor.c: submit). */
#include "gateway/front/review.h"

#include "gateway/front/executor_client.h"

int cbx_review(struct cbx_flow *flow, const struct cbx_request *request,
               const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    int failed = cbx_review_judge(flow, request, &judgement, err);
    return failed ? failed : cbx_review_submit(flow, request, &judgement, sink, out, err);
}

/* source -> tree -> facts -> findings -> decision, in a worker */
int cbx_review_judge(struct cbx_flow *flow, const struct cbx_request *request,
                     struct cbx_judgement *out, struct cbx_err *err)
{
    const struct cbx_policy *policy = cbx_policies_find(&flow->policies, request->policy);
    if (policy == NULL) {
        return cbx_policies_fail(&flow->policies, request->policy, err);
    }
    return cbx_judge_decide(flow->judge, policy, &request->subject, request->source, out, err);
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

/* decision -> audit record -> permit -> sandbox -> result, in the executor. When that is killed
 * before it began, nothing ran, and the decision cannot be used again: it is made once more. */
int cbx_review_submit(struct cbx_flow *flow, const struct cbx_request *request,
                      const struct cbx_judgement *judgement, const struct cbx_sink *sink,
                      struct cbx_outcome *out, struct cbx_err *err)
{
    enum { TRIES = 20 };
    CBX_AUTO_DONE(judgement) again = { 0 };
    int failed = CBX_EIO;
    for (int i = 0; i < TRIES && failed == CBX_EIO && out->id[0] == '\0'; i++) {
        if (i > 0) {
            cbx_judgement_done(&again);
            failed = cbx_review_judge_again(flow, request, &again, err);
            if (failed) {
                return failed;
            }
            judgement = &again;
        }
        out->verdict = judgement->verdict;
        json_decref(out->decision);
        out->decision = json_incref(judgement->decision);
        failed = judgement->analysed
                     ? cbx_client_submit(flow, judgement, &request->options, sink, out, err)
                     : cbx_client_record_failure(flow, request, judgement->decision, out, err);
    }
    return failed;
}

int cbx_review_resume(struct cbx_flow *flow, const struct cbx_submit_options *options,
                      const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err)
{
    return cbx_client_resume(flow, options, sink, out, err);
}
