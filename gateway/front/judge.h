/* SPDX-License-Identifier: MIT
 * The front's client of the analyzer workers: sends a source to a worker and receives the
 * decision. A worker that is killed, crashes, exceeds its timeout or sends a malformed reply
 * yields a failed judgement, which is a denial. Every judgement is made by a worker of its own.
 * Thread-safe. */
#ifndef CBX_GATEWAY_FRONT_JUDGE_H
#define CBX_GATEWAY_FRONT_JUDGE_H

#include "gateway/ipc/master/policy_set.h"
#include "gateway/ipc/seal/approval.h"
#include "gateway/ipc/seal/seal.h"

struct cbx_judge;

/* `control` leads to the zygote; the judge owns it. The first worker is forked with the first
 * request, and the next one of its slot after each reply; at most `workers` exist at a time. */
struct cbx_judge *cbx_judge_new(int control, int workers, int timeout_ms);

/* Closes the sockets of all workers and `control`. Call it while no judgement is running. NULL
 * is fine. */
void cbx_judge_free(struct cbx_judge *judge);

/* Owned by the caller: cbx_judgement_done. Zeroed memory is a failed judgement, which denies. */
struct cbx_judgement {
    enum cbx_verdict verdict;
    bool analysed;         /* false: no worker replied (rule `analysis-failed`) */
    json_t *decision;      /* {verdict, sha256, language, findings}; also for a failed one */
    struct cbx_buf sealed; /* empty if not analysed */
    struct cbx_sha256 mac;
    struct cbx_buf text;  /* text that may run */
    struct cbx_buf files; /* SHA-256 values of the files that it may load (seal.h) */
    json_t *installs;     /* packages that the cell installs, as texts; NULL = none */
    /* its session's past including it, sealed; empty without a session, and for a denial */
    struct cbx_buf past;
};

/* Frees the contents of the judgement, and makes it a failed one. */
void cbx_judgement_done(struct cbx_judgement *judgement);
CBX_DEFINE_AUTO_DONE(judgement)

/* Writes the id of the decision in the audit log, read from the seal; empty if not analysed. */
void cbx_judgement_id(const struct cbx_judgement *judgement, char out[CBX_ID_CHARS + 1]);

/* Writes the digest that an approval of the judgement names (cbx_seal_digest) in hexadecimal
 * digits; an empty text unless its verdict is CBX_ASK. */
void cbx_judgement_digest(const struct cbx_judgement *judgement, char out[CBX_SHA256_HEX + 1]);

/* True if the judgement asks, and this approval is for it. NULL is no approval. */
bool cbx_judgement_is_approved(const struct cbx_judgement *judgement,
                               const struct cbx_approval *approval);

/* Judges `source` under the policy of this name. Errors: CBX_EINVAL unknown language,
 * CBX_ENOTFOUND unknown policy, CBX_EIO no worker can be started, because the gateway is
 * stopping. A failed analysis is not an error but a denial. */
int cbx_judge_decide(struct cbx_judge *judge, const struct cbx_policy *policy,
                     const struct cbx_subject *subject, struct cbx_str source,
                     struct cbx_judgement *out, struct cbx_err *err);

#endif
