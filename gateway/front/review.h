/* SPDX-License-Identifier: MIT
 * The flow: source -> decision -> audit record -> permit -> sandbox -> result. The one place where
 * the parts meet. */
#ifndef CBX_GATEWAY_FRONT_REVIEW_H
#define CBX_GATEWAY_FRONT_REVIEW_H

#include "docker/result.h"
#include "gateway/front/judge.h"

/* The processes and the way to them. */
struct cbx_flow {
    struct cbx_policies policies;
    struct cbx_judge *judge;
    int executor; /* control socket */
};

/* Closes the sockets, so that the other processes end, and frees the policies. */
void cbx_flow_done(struct cbx_flow *flow);

/* JUDGED_AGAIN: the executor was killed before it began; the new decision is about to be submitted.
 * ADMITTED: it begins when its turn in its session has come. */
enum cbx_progress { CBX_JUDGED_AGAIN = 1, CBX_ADMITTED, CBX_BEGUN };

/* How an allowed run is made; zeroed memory is the usual way. */
struct cbx_run_wishes {
    bool keep;        /* it goes on when we are gone, and its result waits for us */
    bool interactive; /* the sink answers CBX_EVENT_ASK, by the request {op:"input"} */
    /* May be NULL. How far it has come, under which decision. */
    void (*note)(void *context, enum cbx_progress progress, const char *decision);
    void *context;
};

/* What a caller wants judged, and run when it is allowed. */
struct cbx_request {
    struct cbx_str policy; /* name; empty = the first */
    struct cbx_subject subject;
    struct cbx_str source;
    struct cbx_run_wishes wishes;
};

/* Owned by the caller: cbx_outcome_done. Zeroed memory is a denial. */
struct cbx_outcome {
    enum cbx_verdict verdict;
    json_t *decision;          /* {verdict, sha256, language, findings} */
    char id[CBX_ID_CHARS + 1]; /* of the decision, as in the audit log */
    uint64_t audit_seq;
    bool begun;
    bool ran; /* result is that of a run (or of opening a session) */
    struct cbx_result result;
    int hold; /* the executor waits here for cbx_outcome_acknowledge; 0 = it does not */
};

/* The result is stored: the sandbox may forget it. Until then a run with `keep` can be resumed, and
 * the next run of its session waits. Returns when the executor knows it. */
void cbx_outcome_acknowledge(struct cbx_flow *flow, struct cbx_outcome *outcome);

void cbx_outcome_done(struct cbx_outcome *outcome);
CBX_DEFINE_AUTO_DONE(outcome)

/* Judges and records; runs or opens when that is what was asked for and allowed. Returns 0 when the
 * decision was made and recorded and, if allowed, carried out (however the program ended); a denial
 * is not an error. Errors: the caller's (CBX_EINVAL, CBX_ENOTFOUND), CBX_EAUDIT, CBX_EENGINE,
 * CBX_EBUSY, ...; nothing ran then, except with CBX_EIO or CBX_EPROTO in the middle of a run.
 * out->decision is set as soon as there is one, also on error. */
int cbx_review(struct cbx_flow *flow, const struct cbx_request *request,
               const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err);

/* Its two halves, for a caller that answers between them: the decision, and what becomes of it. A
 * judgement is good for 30 seconds and for one submission. */
int cbx_review_judge(struct cbx_flow *flow, const struct cbx_request *request,
                     struct cbx_judgement *out, struct cbx_err *err);
int cbx_review_submit(struct cbx_flow *flow, const struct cbx_request *request,
                      const struct cbx_judgement *judgement, const struct cbx_sink *sink,
                      struct cbx_outcome *out, struct cbx_err *err);

/* For a source that was judged before: workers that fail now say nothing about it, so a judgement
 * is an analysed one, and noted (CBX_JUDGED_AGAIN). CBX_EIO when there is none to be had. */
int cbx_review_judge_again(struct cbx_flow *flow, const struct cbx_request *request,
                           struct cbx_judgement *out, struct cbx_err *err);

/* A run that was submitted with `keep` by a front before us: out->id says which. All its events
 * come, then its result. CBX_ENOTFOUND when it never began or is gone. */
int cbx_review_resume(struct cbx_flow *flow, const struct cbx_run_wishes *wishes,
                      const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err);

/* One request to the executor as executor.h has them, with its bytes. *answer (new reference) and
 * `out` may be NULL. When the executor is killed meanwhile the next one gets the request, unless it
 * is an input, which only one may take. */
int cbx_flow_request(struct cbx_flow *flow, const json_t *header, struct cbx_str bytes,
                     json_t **answer, struct cbx_buf *out, struct cbx_err *err);

/* One request to the executor that needs no decision: {op, session}. *answer (new reference) is its
 * {type:"done"}. */
int cbx_flow_ask(struct cbx_flow *flow, const char *op, const char *session, json_t **answer,
                 struct cbx_err *err);

#endif
