/* SPDX-License-Identifier: MIT
 * The flow: source -> decision -> audit record -> permit -> sandbox -> result. This file joins
 * all of the parts. */
#ifndef CBX_GATEWAY_FRONT_REVIEW_H
#define CBX_GATEWAY_FRONT_REVIEW_H

#include "docker/result.h"
#include "gateway/front/flow.h"

enum cbx_progress {
    /* The executor was killed before the run began; a new decision will be submitted. */
    CBX_JUDGED_AGAIN = 1,
    CBX_ADMITTED, /* recorded and permitted; it begins when its turn in its session comes */
    CBX_BEGUN,    /* the sandbox was sent the run */
};

struct cbx_request;

/* Options for carrying out a decision; zero-initialise for defaults. */
struct cbx_submit_options {
    bool detach;      /* the run continues after this process ended, and its result is kept */
    bool interactive; /* the sink answers CBX_EVENT_ASK, by cbx_call_input */
    bool has_input;   /* the program has a standard input, which begins with `input` (borrowed) */
    bool streams;     /* cbx_call_feed sends the rest after the run has begun */
    struct cbx_str input;
    /* Approval of a decision that asks; borrowed, NULL = none. A decision that does not match
     * the approval is recorded and does not run: the same source, judged again, may be for
     * another state of its session. */
    const struct cbx_approval *approval;
    /* Called with each step of the run, the decision of the run, and the number of that
     * decision's audit record (0 = not known); may be NULL. */
    void (*note)(void *context, enum cbx_progress progress, const char *decision,
                 uint64_t audit_seq);
    /* Called with the number of runs before this one, if the number has changed; may be NULL. */
    void (*ahead)(void *context, int ahead);
    /* Called if the session's ledger is not the decision's: sets the session's previous entries
     * (subject.past, subject.entries) in the request, which is judged again, or *done if the
     * session has the submitted entry. NULL: the caller handles the error CBX_ESTALE. */
    int (*renew)(void *context, const struct cbx_sha256 *ledger, struct cbx_request *request,
                 bool *done, struct cbx_err *err);
    void *context;
};

/* A source to judge, and to run if it is allowed. */
struct cbx_request {
    struct cbx_str policy; /* name; empty = the default */
    struct cbx_subject subject;
    struct cbx_str source;
    struct cbx_submit_options options;
};

/* Owned by the caller: cbx_outcome_done. Zeroed memory is a denial. */
struct cbx_outcome {
    enum cbx_verdict verdict;
    struct cbx_limits limits;     /* limits of the run; zero: not known */
    struct cbx_str policy;        /* name of the policy, borrowed; empty = not known */
    const struct cbx_strs *hosts; /* hosts that the policy grants, borrowed; NULL = none */
    bool installs;             /* true if the policy allows installing packages of the language */
    json_t *decision;          /* {verdict, sha256, language, findings} */
    char id[CBX_ID_CHARS + 1]; /* id of the decision, as in the audit log */
    /* for a decision that asks: the digest that an approval names; else empty */
    char digest[CBX_SHA256_HEX + 1];
    uint64_t audit_seq;       /* 0 if not known: the run was resumed */
    struct cbx_sha256 ledger; /* ledger of the session, after CBX_ESTALE */
    bool begun;
    bool ran; /* true if `result` is of a run (or of opening a session) */
    struct cbx_result result;
    /* open connection, 0 = none: the executor keeps the result until cbx_outcome_acknowledge */
    int hold;
};

/* The result is stored: the sandbox may drop it. Until then a detached run can be resumed, and
 * the next run of its session waits. Returns after the executor has confirmed. */
void cbx_outcome_acknowledge(struct cbx_flow *flow, struct cbx_outcome *outcome);

/* Frees the contents of the outcome and closes `hold`: the executor keeps a result that was not
 * acknowledged. */
void cbx_outcome_done(struct cbx_outcome *outcome);
CBX_DEFINE_AUTO_DONE(outcome)

/* Judges and records; runs or opens if that is requested and allowed. Returns 0 if the decision
 * was made and recorded and, if allowed, carried out (with any end of the program); a denial is
 * not an error. Errors: the caller's (CBX_EINVAL, CBX_ENOTFOUND), CBX_EAUDIT, CBX_EENGINE,
 * CBX_EBUSY, ...; nothing ran then, except with CBX_EIO or CBX_EPROTO in the middle of a run.
 * out->decision is set as soon as there is one, also on error. */
int cbx_review(struct cbx_flow *flow, const struct cbx_request *request,
               const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err);

/* Its two halves, for a caller that responds to its client between them: the decision, and
 * carrying it out. A judgement is valid for 30 seconds and for one submission. Independently of
 * earlier checks by an API, nothing is judged under a policy in mode log-only for a principal
 * that now lacks the right policy:relax: CBX_EFORBIDDEN. */
int cbx_review_judge(struct cbx_flow *flow, const struct cbx_request *request,
                     struct cbx_judgement *out, struct cbx_err *err);
int cbx_review_submit(struct cbx_flow *flow, const struct cbx_request *request,
                      const struct cbx_judgement *judgement, const struct cbx_sink *sink,
                      struct cbx_outcome *out, struct cbx_err *err);

/* For a source that was judged before: a worker failure now is no finding against it, so only a
 * worker's judgement counts, and it is noted (CBX_JUDGED_AGAIN). CBX_EIO if no worker makes one. */
int cbx_review_judge_again(struct cbx_flow *flow, const struct cbx_request *request,
                           struct cbx_judgement *out, struct cbx_err *err);

/* Resumes a detached run that an earlier front submitted: out->id is its decision, `request` its
 * request. Delivers all its events, then its result. CBX_ENOTFOUND if it never began or its
 * sandbox does not exist. */
int cbx_review_resume(struct cbx_flow *flow, const struct cbx_request *request,
                      const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err);

#endif
