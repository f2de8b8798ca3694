/* SPDX-License-Identifier: MIT
 * A decision, sealed: canonical JSON with an HMAC-SHA256. The zygote and the executor hold the seal
 * key. A worker gets a key that is derived from it and seals one decision. The front carries a seal
 * and can neither make nor change one. */
#ifndef CBX_GATEWAY_IPC_SEAL_SEAL_H
#define CBX_GATEWAY_IPC_SEAL_SEAL_H

#include "analyzer/decide.h"
#include "gateway/ipc/seal/subject.h"
#include "policies/environment.h"

enum { CBX_SEAL_MAX_BYTES = 256 * 1024, CBX_SEAL_LIFE_MS = 30000, CBX_SEAL_FINDINGS_MAX = 100 };

/* 32 random bytes, made at start-up, never written anywhere. */
struct cbx_seal_key {
    uint8_t bytes[32];
};

/* What a worker needs to seal its decision. A number is never given out twice by one gateway; the
 * key is HMAC-SHA256(seal key, "decision" number id). So a worker that is taken over can choose what
 * its one decision says, and cannot make a second one. */
struct cbx_seal_token {
    uint64_t number; /* of the worker: its zygote, then a count of that zygote's workers */
    char id[CBX_ID_CHARS + 1]; /* of the decision */
    struct cbx_seal_key key;
};

/* The numbers of the workers of the zygote that the master forked as its `zygote`-th (from 1 on) begin
 * here. Each zygote has 2^40. */
#define CBX_SEAL_FIRST_NUMBER(zygote) ((uint64_t)(zygote) << 40)

/* A token with a new id. Leaves no copy of the seal key on the stack: the worker is forked with it. */
void cbx_seal_token_make(const struct cbx_seal_key *key, uint64_t number,
                         struct cbx_seal_token *out);

/* What a worker decided about what. Of the policy the seal has name and hash: whatever else a run gets of it, the executor derives
 * (gateway/executor/run/derive.h), so no worker has a part in it. */
struct cbx_judged {
    const struct cbx_policy *policy;
    const struct cbx_subject *subject;
    const struct cbx_decision *decision;
    struct cbx_sha256 ledger; /* of the session before it */
    struct cbx_sha256 entry;  /* its own (cbx_entry_hash) */
    struct cbx_str files;     /* SHA-256 values of the files that it may load, 64 digits each */
    struct cbx_str code;      /* the source, when the audit log keeps it; p NULL = it does not */
};

/* With code the JSON has it as "code", or as "code_omitted" its size when the seal would have too many bytes.
 * Makes the canonical JSON of a decision, with number and id of the token and the present time, and
 * its seal. What the subject asks for was concealed (asked.h). */
int cbx_seal_make(const struct cbx_seal_token *token, const struct cbx_judged *judged,
                  struct cbx_buf *text, struct cbx_sha256 *mac, struct cbx_err *err);

/* The member `mode` of a decision under a policy that only logs; other decisions have none. */
#define CBX_MODE_LOG_ONLY "log-only"

/* The findings of a decision as the seal has them, at most CBX_SEAL_FINDINGS_MAX; a new reference. Under log-only too
 * each has the effect that it would have if the policy were enforced. */
json_t *cbx_seal_findings(const struct cbx_decision *decision);

/* What an approval of a sealed decision is for: the SHA-256 of its canonical JSON without what differs between
 * two judgements of the same (id, worker, time, claims of the client). So it is for this text and entry, policy,
 * principal, session and ledger, files, limits, network, guard and findings. */
struct cbx_sha256 cbx_seal_digest(const json_t *sealed);

/* The contents of a seal, read back. `json`, `asked`, and the buffers to which those of `fields` point, are owned: cbx_sealed_done. */
struct cbx_sealed {
    enum cbx_verdict verdict;
    /* All that the seal says; what follows from the policy is zero, which allows nothing, until cbx_executor_derive */
    struct cbx_permit fields;
    struct cbx_asked asked; /* values and texts as their SHA-256 (cbx_asked_sealed) */
    bool runs_lines;        /* lines of the cell are shell code that was judged */
    uint64_t number;        /* of its worker */
    int64_t issued_ms;
    json_t *json;
    struct cbx_buf arguments, programs, files;
};
void cbx_sealed_done(struct cbx_sealed *sealed);
CBX_DEFINE_AUTO_DONE(sealed)

enum { CBX_REPLAY_ZYGOTES = 8, CBX_REPLAY_NUMBERS = 1 << 18 };

/* The numbers whose decisions were opened: of each of the last zygotes the highest, and one bit for each
 * of the numbers right below it. Lower ones are refused, so no number opens twice however late. That
 * is no matter of time: a worker chooses the time in its decision. 256 KiB. Not thread-safe. Zeroed
 * memory is an empty guard. */
struct cbx_replay_guard {
    struct cbx_replay_window {
        uint64_t zygote, highest;
        uint64_t used[CBX_REPLAY_NUMBERS / 64];
    } windows[CBX_REPLAY_ZYGOTES];
};

/* What a front presents: a sealed decision, and the source that it is to be for. */
struct cbx_seal_claim {
    struct cbx_str text; /* canonical JSON */
    struct cbx_sha256 mac;
    struct cbx_str source;
    struct cbx_str files; /* as it was sealed: their list is large, so the seal has its hash */
};

/* Opens a seal: the MAC is valid under the key of the number and the id that the text names, it was
 * made within CBX_SEAL_LIFE_MS of now_ms, no decision of this number was opened before, and the source
 * is what was judged. CBX_ESEAL, saying which, otherwise; *out is then untouched. A used number stays
 * used. */
int cbx_seal_open(const struct cbx_seal_key *key, const struct cbx_seal_claim *claim,
                  int64_t now_ms, struct cbx_replay_guard *guard, struct cbx_sealed *out,
                  struct cbx_err *err);

#endif
