/* SPDX-License-Identifier: MIT
 * The last decisions, in memory: judgements through any API, their findings, and the end of the
 * run. Bounded: the oldest of the principal with most decisions are dropped first, those that
 * wait for approval last. They are lost when the front ends; the audit log has the record. A
 * decision that asks for approval waits here until a principal answers. Thread-safe. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_DECISIONS_H
#define CBX_GATEWAY_FRONT_SERVICE_DECISIONS_H

#include "gateway/front/review.h"
#include "gateway/front/store/store.h"

enum {
    CBX_DECISIONS_MAX = 512,
    CBX_DECISIONS_BYTES_MAX = 16 << 20,    /* bytes of all sources, findings and refusals */
    CBX_DECISION_SOURCE_BYTES = 64 * 1024, /* bytes of one source; the rest is cut */
    /* bytes of one decision's findings, as JSON, and of its refusals */
    CBX_DECISION_LIST_BYTES = 16 * 1024,
};

struct cbx_decisions;

struct cbx_decisions *cbx_decisions_new(void);
/* NULL is fine. */
void cbx_decisions_free(struct cbx_decisions *decisions);
CBX_DEFINE_AUTO(decisions)

/* A decision that the executor recorded. Borrowed for the call. */
struct cbx_decision_entry {
    struct cbx_str id;
    uint64_t audit_seq;
    enum cbx_verdict verdict;
    const struct cbx_subject *subject;
    struct cbx_str policy, source;
    const json_t *findings;
    /* digest that an approval names, for a decision that asks; else empty */
    const char *digest;
    bool admitted; /* true if the executor let it begin: it does not wait for approval */
    bool relaxed;  /* true if its policy is in mode log-only */
};

/* Adds it. It waits for approval, CBX_APPROVAL_MS long, if it asks, was not admitted, and is of
 * code that came over REST and would run: MCP asks its own clients. */
void cbx_decisions_add(struct cbx_decisions *decisions, const struct cbx_decision_entry *entry,
                       int64_t clock_ms);

/* A `recorded` of a flow: adds the recorded decision to flow->decisions. */
void cbx_decisions_record(const struct cbx_flow *flow, const struct cbx_request *request,
                          const struct cbx_outcome *outcome, bool admitted);

/* The run of this decision has ended: `results` as stored (results.h). No effect for an unknown
 * decision. */
void cbx_decisions_end(struct cbx_decisions *decisions, const char *id, const json_t *results);

/* `reader` is a principal; NULL reads all decisions. Decisions of other principals count as
 * missing. */

/* Returns one as JSON, with the code (new reference); NULL if there is none. `clock_ms` is of
 * cbx_clock_ms. */
json_t *cbx_decisions_get(struct cbx_decisions *decisions, const char *reader, const char *id,
                          int64_t clock_ms);

/* The filter of a page. */
struct cbx_decisions_filter {
    const char *reader;
    struct cbx_str verdict; /* empty = any */
    /* decisions of an earlier position, (created_at, id); created_at empty = from the newest */
    struct cbx_store_position before;
    size_t limit;
    bool with_code, without_findings;
};

/* Returns the newest first (new reference). No two have the same `created_at`, whatever the clock
 * does. */
json_t *cbx_decisions_page(struct cbx_decisions *decisions,
                           const struct cbx_decisions_filter *filter, int64_t clock_ms);

/* Fails with CBX_ENOTFOUND, as for a missing decision. */
int cbx_decisions_fail_unknown(struct cbx_err *err);

/* --- approval --------------------------------------------------------------------------------- */

/* A principal accepts or denies what waits. CBX_ENOTFOUND when there is no such decision for the
 * reader; CBX_ESTATE when it does not wait: it never asked, was answered before, or is too old. */
struct cbx_decisions_approver {
    const char *principal, *credential; /* what it proved itself with, for the audit record */
    const char *voucher; /* of an approval, for the executor (cbx_decisions_digest); else empty */
};
int cbx_decisions_answer(struct cbx_decisions *decisions, const char *reader, const char *id,
                         const struct cbx_decisions_approver *approver, bool approve,
                         int64_t clock_ms, struct cbx_err *err);

/* Finds the approval of this principal's decision: *out is for the program judged then, and
 * cbx_job_accept compares. It is not used up. CBX_ENOTFOUND if the principal has no such
 * decision, CBX_ESTATE, with the present state, if it is not approved (any more). */
int cbx_decisions_approval(struct cbx_decisions *decisions, const char *principal,
                           struct cbx_str id, int64_t clock_ms, struct cbx_approval *out,
                           struct cbx_err *err);

/* Uses the approval for its run: of several callers one succeeds. The same errors. 0 for an
 * approval from another source. */
int cbx_decisions_use(struct cbx_decisions *decisions, const char *principal,
                      const struct cbx_approval *approval, int64_t clock_ms, struct cbx_err *err);

/* Reverts that: the run was not accepted. */
void cbx_decisions_give_back(struct cbx_decisions *decisions, const char *principal,
                             const struct cbx_approval *approval);

/* Writes the digest that an approval of the decision names. CBX_ENOTFOUND and CBX_ESTATE as
 * cbx_decisions_answer. */
int cbx_decisions_digest(struct cbx_decisions *decisions, const char *reader, const char *id,
                         int64_t clock_ms, char out[CBX_SHA256_HEX + 1], struct cbx_err *err);

/* Finds a decision that waited, or was approved, and has expired: its id and its principal,
 * once. False if there is none. */
bool cbx_decisions_take_expired(struct cbx_decisions *decisions, int64_t clock_ms,
                                char id[CBX_ID_CHARS + 1], char principal[CBX_NAME_MAX + 1]);

/* True if the decision waits for an answer. */
bool cbx_decisions_waits(struct cbx_decisions *decisions, const char *id, int64_t clock_ms);

#endif
