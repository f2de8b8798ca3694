/* SPDX-License-Identifier: MIT
 * A decision, sealed: canonical JSON with an HMAC-SHA256 under a key that only analyzer workers and
 * the executor hold. The front carries it and can neither make nor change one. */
#ifndef CBX_GATEWAY_IPC_SEAL_H
#define CBX_GATEWAY_IPC_SEAL_H

#include "analyzer/decide.h"
#include "gateway/ipc/subject.h"

enum { CBX_SEAL_MAX_BYTES = 256 * 1024, CBX_SEAL_LIFE_MS = 30000, CBX_SEAL_FINDINGS_MAX = 100 };

/* 32 random bytes, made at start-up, never written anywhere. */
struct cbx_seal_key {
    uint8_t bytes[32];
};

/* What a worker decided about what. */
struct cbx_judged {
    const struct cbx_policy *policy;
    const struct cbx_subject *subject;
    const struct cbx_decision *decision;
    struct cbx_sha256 ledger; /* of the session before it */
    struct cbx_sha256 entry;  /* its own (cbx_entry_hash) */
    struct cbx_str files;     /* SHA-256 values of the files that it may load, 64 digits each */
};

/* Makes the canonical JSON of a decision, with a new id and the present time, and its seal. The
 * limits are the smaller of policy and subject. */
int cbx_seal_make(const struct cbx_seal_key *key, const struct cbx_judged *judged,
                  struct cbx_buf *text, struct cbx_sha256 *mac, struct cbx_err *err);

/* The contents of a seal, read back. `json`, and `arguments` and `files`, to which those of `fields`
 * point, are owned: cbx_sealed_done. */
struct cbx_sealed {
    enum cbx_verdict verdict;
    struct cbx_permit fields; /* all but audit_seq */
    int64_t issued_ms;
    json_t *json;
    struct cbx_buf arguments, programs, files;
};
void cbx_sealed_done(struct cbx_sealed *sealed);
CBX_DEFINE_AUTO_DONE(sealed)

/* The ids of used decisions, in a hash table. An entry is removed once a seal of its age would be
 * refused as expired. Not thread-safe. Zeroed memory is an empty guard. */
struct cbx_replay_guard {
    struct cbx_used {
        char id[CBX_ID_CHARS + 1]; /* empty = free place */
        int64_t issued_ms;
    } * used;
    size_t count, size;
};
void cbx_replay_guard_done(struct cbx_replay_guard *guard);

/* What a front presents: a sealed decision, and the source that it is to be for. */
struct cbx_seal_claim {
    struct cbx_str text; /* canonical JSON */
    struct cbx_sha256 mac;
    struct cbx_str source;
    struct cbx_str files; /* as it was sealed: their list is large, so the seal has its hash */
};

/* Opens a seal: the MAC is valid, it was made within CBX_SEAL_LIFE_MS of now_ms, it was not opened
 * before, and the source is what was judged. CBX_ESEAL, saying which, otherwise; *out is then
 * untouched. A used id stays used. */
int cbx_seal_open(const struct cbx_seal_key *key, const struct cbx_seal_claim *claim,
                  int64_t now_ms, struct cbx_replay_guard *guard, struct cbx_sealed *out,
                  struct cbx_err *err);

#endif
