/* SPDX-License-Identifier: MIT
 * The flow: source -> decision -> audit record -> permit -> sandbox -> result. The one place where
 * the parts meet. */
#ifndef CBX_GATEWAY_FRONT_REVIEW_H
#define CBX_GATEWAY_FRONT_REVIEW_H

#include "docker/result.h"
#include "gateway/front/flow.h"

enum cbx_progress {
    /* The executor was killed before the run began; a new decision is about to be submitted. */
    CBX_JUDGED_AGAIN = 1,
    CBX_ADMITTED, /* recorded and permitted; it begins when its turn in its session comes */
    CBX_BEGUN,    /* the sandbox was sent the run */
};

struct cbx_request;

/* How a decision is carried out; zero-initialise for defaults. */
struct cbx_submit_options {
    bool detach;      /* the run continues after this process ended, and its result is kept */
    bool interactive; /* the sink answers CBX_EVENT_ASK, by cbx_call_input */
    bool has_input;   /* the program has a standard input, which begins with `input` (borrowed) */
    bool streams;     /* more of it comes, by cbx_call_feed once the run has begun */
    struct cbx_str input;
    /* Of a decision that asks; borrowed, NULL = none. A decision that it is not for is recorded and does not
     * run: the same source, judged again, may be for another state of its session. */
    const struct cbx_approval *approval;
    /* Called with each step of the run, the decision that it runs under, and the number of that
     * decision's audit record (0 = not known); may be NULL. */
    void (*note)(void *context, enum cbx_progress progress, const char *decision,
                 uint64_t audit_seq);
    /* Called with the number of runs that have their turn before this one, when it has changed; may be NULL. */
    void (*ahead)(void *context, int ahead);
    /* Called when the session's ledger is another one than that of the decision: sets what the
     * session had before (subject.past, subject.entries) in the request, which is judged again, or
     * *done when the session has what was submitted. NULL: the error CBX_ESTALE is the caller's. */
    int (*renew)(void *context, const struct cbx_sha256 *ledger, struct cbx_request *request,
                 bool *done, struct cbx_err *err);
    void *context;
};

/* A source to judge, and to run when it is allowed. */
struct cbx_request {
    struct cbx_str policy; /* name; empty = the default */
    struct cbx_subject subject;
    struct cbx_str source;
    struct cbx_submit_options options;
};

/* Owned by the caller: cbx_outcome_done. Zeroed memory is a denial. */
struct cbx_outcome {
    enum cbx_verdict verdict;
    struct cbx_limits limits;     /* of the run; zero: not known */
    struct cbx_str policy;        /* its name, borrowed; empty = not known */
    const struct cbx_strs *hosts; /* that the policy lets programs reach, borrowed; NULL = none */
    bool installs;                /* the policy lets packages of the language be installed */
    json_t *decision;             /* {verdict, sha256, language, findings} */
    char id[CBX_ID_CHARS + 1];    /* of the decision, as in the audit log */
    char digest[CBX_SHA256_HEX +
                1];           /* of one that asks: what an approval would be for; else empty */
    uint64_t audit_seq;       /* 0 when it is not known: the run was resumed */
    struct cbx_sha256 ledger; /* of the session, after CBX_ESTALE */
    bool begun;
    bool ran; /* result is that of a run (or of opening a session) */
    struct cbx_result result;
    int hold; /* open connection, 0 = none: the executor keeps the result until
                 cbx_outcome_acknowledge */
};

/* The result is stored: the sandbox need not keep it. Until then a detached run can be resumed, and
 * the next run of its session waits. Returns when the executor has confirmed. */
void cbx_outcome_acknowledge(struct cbx_flow *flow, struct cbx_outcome *outcome);

/* Frees what the outcome holds and closes `hold`: a result that was not acknowledged stays with the
 * executor. */
void cbx_outcome_done(struct cbx_outcome *outcome);
CBX_DEFINE_AUTO_DONE(outcome)

/* Judges and records; runs or opens when that is what was asked for and allowed. Returns 0 when the
 * decision was made and recorded and, if allowed, carried out (however the program ended); a denial
 * is not an error. Errors: the caller's (CBX_EINVAL, CBX_ENOTFOUND), CBX_EAUDIT, CBX_EENGINE,
 * CBX_EBUSY, ...; nothing ran then, except with CBX_EIO or CBX_EPROTO in the middle of a run.
 * out->decision is set as soon as there is one, also on error. */
int cbx_review(struct cbx_flow *flow, const struct cbx_request *request,
               const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err);

/* Its two halves, for a caller that answers its client between them: the decision, and carrying it
 * out. A judgement is good for 30 seconds and for one submission. Whatever an API checked before, nothing is judged under
 * a policy in mode log-only for a principal that lacks the right policy:relax now: CBX_EFORBIDDEN. */
int cbx_review_judge(struct cbx_flow *flow, const struct cbx_request *request,
                     struct cbx_judgement *out, struct cbx_err *err);
int cbx_review_submit(struct cbx_flow *flow, const struct cbx_request *request,
                      const struct cbx_judgement *judgement, const struct cbx_sink *sink,
                      struct cbx_outcome *out, struct cbx_err *err);

/* For a source that was judged before: workers that fail now prove nothing against it, so the
 * judgement is one that a worker made, and it is noted (CBX_JUDGED_AGAIN). CBX_EIO when no worker
 * makes one. */
int cbx_review_judge_again(struct cbx_flow *flow, const struct cbx_request *request,
                           struct cbx_judgement *out, struct cbx_err *err);

/* A detached run that a front before this one submitted: out->id is its decision, `request` what it was.
 * All its events come, then its result. CBX_ENOTFOUND when it never began or its sandbox is gone. */
int cbx_review_resume(struct cbx_flow *flow, const struct cbx_request *request,
                      const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err);

#endif
