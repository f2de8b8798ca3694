/* SPDX-License-Identifier: MIT
 * A sealed decision: canonical JSON with an HMAC-SHA256. The zygote and the executor have the
 * seal key. A worker gets a key derived from it and seals one decision. The front forwards a
 * seal and can neither make nor change one. */
#ifndef CBX_GATEWAY_IPC_SEAL_SEAL_H
#define CBX_GATEWAY_IPC_SEAL_SEAL_H

#include "analyzer/decide.h"
#include "gateway/ipc/seal/subject.h"
#include "policies/environment.h"

enum { CBX_SEAL_MAX_BYTES = 256 * 1024, CBX_SEAL_LIFE_MS = 30000, CBX_SEAL_FINDINGS_MAX = 100 };

/* 32 random bytes, created at start-up, never written to a file. */
struct cbx_seal_key {
    uint8_t bytes[32];
};

/* The token that a worker needs to seal its decision. A gateway never uses a number twice; the
 * key is HMAC-SHA256(seal key, "decision" number id). So a compromised worker can choose the
 * contents of its one decision, and cannot make a second one. */
struct cbx_seal_token {
    /* number of the worker: its zygote, then a count of that zygote's workers */
    uint64_t number;
    char id[CBX_ID_CHARS + 1]; /* id of the decision */
    struct cbx_seal_key key;
};

/* Number of the first worker of the zygote that the master forked as its `zygote`-th (from 1
 * on). Each zygote has 2^40 numbers. */
#define CBX_SEAL_FIRST_NUMBER(zygote) ((uint64_t)(zygote) << 40)

/* Makes a token with a new id. Leaves no copy of the seal key on the stack: the worker is forked
 * with the stack. */
void cbx_seal_token_make(const struct cbx_seal_key *key, uint64_t number,
                         struct cbx_seal_token *out);

/* A worker's decision and its subject. The seal has name and hash of the policy: the executor
 * derives all other settings of a run from the policy (gateway/executor/run/derive.h), so no
 * worker can change them. */
struct cbx_judged {
    const struct cbx_policy *policy;
    const struct cbx_subject *subject;
    const struct cbx_decision *decision;
    struct cbx_sha256 ledger; /* ledger of the session before this entry */
    struct cbx_sha256 entry;  /* hash of this entry (cbx_entry_hash) */
    /* SHA-256 values of the files that the program may load, 64 digits each */
    struct cbx_str files;
    struct cbx_str code; /* the source if the audit log keeps it; p NULL = it does not */
};

/* Makes the canonical JSON of a decision, with number and id of the token and the present time,
 * and its seal. The subject's requests must be concealed (asked.h). With code, the JSON has the
 * source as "code", or its size as "code_omitted" if the seal would have too many bytes. */
int cbx_seal_make(const struct cbx_seal_token *token, const struct cbx_judged *judged,
                  struct cbx_buf *text, struct cbx_sha256 *mac, struct cbx_err *err);

/* The member `mode` of a decision under a policy that only logs; other decisions have no such
 * member. */
#define CBX_MODE_LOG_ONLY "log-only"

/* Returns the findings of a decision as the seal has them, at most CBX_SEAL_FINDINGS_MAX; a new
 * reference. Under log-only too, each finding has the effect that it would have if the policy
 * were enforced. */
json_t *cbx_seal_findings(const struct cbx_decision *decision);

/* Returns the digest that an approval of a sealed decision names: the SHA-256 of its canonical
 * JSON without the fields that differ between two judgements of the same request (id, worker,
 * time, claims of the client). So the approval is for this text and entry, policy, principal,
 * session and ledger, files, limits, network, guard and findings. */
struct cbx_sha256 cbx_seal_digest(const json_t *sealed);

/* The contents of a seal, read back. `json`, `asked`, and the buffers to which members of
 * `fields` point, are owned: cbx_sealed_done. */
struct cbx_sealed {
    enum cbx_verdict verdict;
    /* the fields of the seal; the fields derived from the policy are zero, which allows nothing,
     * until cbx_executor_derive */
    struct cbx_permit fields;
    /* variable values and texts are replaced by their SHA-256 (cbx_asked_sealed) */
    struct cbx_asked asked;
    bool runs_lines; /* true if lines of the cell are shell code that was judged */
    uint64_t number; /* number of its worker */
    int64_t issued_ms;
    json_t *json;
    struct cbx_buf arguments, programs, files;
};
void cbx_sealed_done(struct cbx_sealed *sealed);
CBX_DEFINE_AUTO_DONE(sealed)

enum { CBX_REPLAY_ZYGOTES = 8, CBX_REPLAY_NUMBERS = 1 << 18 };

/* The numbers of opened decisions: for each of the last zygotes the highest number, and one bit
 * for each of the numbers right below it. Lower numbers are refused, so no number opens twice,
 * however late. Time cannot replace the numbers: a worker chooses the time in its decision. 256
 * KiB. Not thread-safe. Zeroed memory is an empty guard. */
struct cbx_replay_guard {
    struct cbx_replay_window {
        uint64_t zygote, highest;
        uint64_t used[CBX_REPLAY_NUMBERS / 64];
    } windows[CBX_REPLAY_ZYGOTES];
};

/* The front's request to open a seal: a sealed decision, and the source that it must be for. */
struct cbx_seal_claim {
    struct cbx_str text; /* canonical JSON */
    struct cbx_sha256 mac;
    struct cbx_str source;
    /* list of hashes as it was sealed; it is large, so the seal has only its hash */
    struct cbx_str files;
};

/* Opens a seal if: the MAC is valid under the key of the number and the id in the text, the
 * decision was made within CBX_SEAL_LIFE_MS of now_ms, no decision of this number was opened
 * before, and `claim` has the judged source. CBX_ESEAL otherwise, with the failed condition;
 * *out is then untouched. A used number stays used. */
int cbx_seal_open(const struct cbx_seal_key *key, const struct cbx_seal_claim *claim,
                  int64_t now_ms, struct cbx_replay_guard *guard, struct cbx_sealed *out,
                  struct cbx_err *err);

#endif
