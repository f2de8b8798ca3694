/* SPDX-License-Identifier: MIT
 * The audit log: JSON Lines, one record a line, each with the SHA-256 of itself and of the
 * record before it. A record is on disk before any action that it allows begins, and only this
 * module makes permits. Several processes may append to one log; one fdatasync commits records
 * of several threads. Used by the executor. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_H

#include "gateway/ipc/seal/seal.h"

/* Files in the state directory. HEAD is the last record's number and hash, signed with KEY
 * (Ed25519), rewritten after each batch: it shows that a log was truncated. A record is durable
 * before its action begins, its head is signed right after; a crash in between leaves records
 * that are chained and unsigned. */
#define CBX_AUDIT_FILE "audit.jsonl" /* the current one; closed ones: audit_files.h */
#define CBX_AUDIT_HEAD "audit.head"
#define CBX_AUDIT_KEY  "audit.key"
#define CBX_AUDIT_PUB  "audit.pub"

enum { CBX_AUDIT_LINE_MAX = 512 * 1024, CBX_AUDIT_PUBLIC_BYTES = 32, CBX_AUDIT_FILE_MIB = 256 };

struct cbx_audit;

/* Opens or creates the log in `state_dir` (created with mode 0700 if missing). The first append
 * removes a torn last line, left by a crash in the middle of a write, and notes the removal in a
 * record of its own ('recovered'); the record also notes the range of whole records whose head
 * was not signed. A log with fewer records than its head accepts no more records. CBX_EAUDIT
 * with the reason. */
int cbx_audit_open(const char *state_dir, struct cbx_audit **out, struct cbx_err *err);
void cbx_audit_free(struct cbx_audit *audit);

/* Checks that cbx_audit_open, and the first append, would succeed: CBX_EAUDIT with the same
 * reason. Reads the key, the last record and the head, under a shared lock, and changes nothing;
 * missing files of a new log are no error. */
int cbx_audit_try(const char *state_dir, struct cbx_err *err);
CBX_DEFINE_AUTO(audit)

/* Replaces secrets in records appended from now on. Borrowed; call it before there are other
 * threads. */
struct cbx_redactor;
void cbx_audit_set_redactor(struct cbx_audit *audit, const struct cbx_redactor *redactor);

/* Offers each head signed from now on to the keeper (audit_keeper.h). Borrowed; call it before
 * there are other threads. */
struct cbx_audit_keeper;
void cbx_audit_set_keeper(struct cbx_audit *audit, struct cbx_audit_keeper *keeper);

/* Sets the size in bytes from which a file of the log is closed and the next one begun
 * (CBX_AUDIT_FILE_MIB). A file may exceed it by one batch. Call it before there are other
 * threads. */
void cbx_audit_set_max_bytes(struct cbx_audit *audit, int64_t bytes);

/* Appends a record {seq, time, type, prev, hash, body} and returns after it is on disk. `body`
 * is borrowed. *seq may be NULL. CBX_EAUDIT if the record could not be made durable; the log is
 * then unchanged. If only its head could not be written, the record stays and the next append
 * fails. Thread-safe. */
int cbx_audit_append(struct cbx_audit *audit, const char *type, const json_t *body, uint64_t *seq,
                     struct cbx_err *err);

/* The two halves of an append, for a record that no caller waits for: it is written together
 * with the next record that a caller waits for, after max_batch_delay_ms at the latest. `own`
 * has type and body, which are borrowed, and must live until cbx_audit_await returns with the
 * result of the append. */
struct cbx_audit_pending {
    const char *type;
    const json_t *body;
    uint64_t seq;
    bool too_large;
    int state; /* 1 = not written yet, 0 = written, else the error code */
    struct cbx_err err;
    struct cbx_audit_pending *next;
};
void cbx_audit_submit(struct cbx_audit *audit, struct cbx_audit_pending *own);
int cbx_audit_await(struct cbx_audit *audit, struct cbx_audit_pending *own, int max_batch_delay_ms,
                    struct cbx_err *err);

/* Writes all submitted records and returns after their head is signed. Call it before a process
 * exits. */
void cbx_audit_flush(struct cbx_audit *audit);

/* Returns the number of the last record that this process has read or written; 0 = none yet.
 * Thread-safe. */
uint64_t cbx_audit_last_seq(const struct cbx_audit *audit);

/* Reads the position that the signed head of the log states, after the batch that is being
 * written; number 0 = no record yet. *key is the key that signed the head, owned by the caller
 * (EVP_PKEY_free). CBX_EAUDIT. Thread-safe. */
struct cbx_chain;
struct evp_pkey_st;
int cbx_audit_signed(struct cbx_audit *audit, struct cbx_chain *out, struct evp_pkey_st **key,
                     struct cbx_err *err);

/* Checks that the log is in its place and its head is signed. CBX_EAUDIT with the reason. */
int cbx_audit_check(struct cbx_audit *audit, struct cbx_err *err);

/* Records a decision with any verdict; then, if a client approved it, the record 'approval' with
 * this body (borrowed; NULL = none), on disk at the same time. If the decision allows its
 * action, or asks and is approved, *out is the permit for it, with the number of the decision's
 * record; else *out is NULL. On failure nothing is allowed. */
int cbx_audit_admit(struct cbx_audit *audit, const struct cbx_sealed *sealed,
                    const json_t *approval, struct cbx_permit **out, uint64_t *seq,
                    struct cbx_err *err);

/* A range of records that are chained, but whose head was never signed: left by a crash right
 * after they were written, or by another program that appended them. `record` is the number of
 * the record 'recovered' that names the range. */
struct cbx_audit_range {
    uint64_t from, to, record;
};
enum { CBX_AUDIT_RANGES_MAX = 1000 };

/* Tolerance for times: a record's time may be before its predecessor's by this much without a
 * finding, because clocks are adjusted in small steps. And the largest difference between the
 * clock and the newest record, and between adjacent records, at which files may be removed by
 * their age. */
enum {
    CBX_AUDIT_CLOCK_TOLERANCE_MS = 2000,
    CBX_AUDIT_CLOCK_JUMP_MS = 7 * 24 * 3600 * 1000,
    CBX_AUDIT_SETBACKS_MAX = 10
};

/* A record whose time is before its predecessor's. */
struct cbx_audit_setback {
    uint64_t record;
    int64_t by_ms;
    bool noted; /* true if the record itself has clock_back_ms */
};

/* The result of a verification. */
struct cbx_audit_report {
    uint64_t records;  /* number of correct records, from the start */
    uint64_t first;    /* number of the first record: 1, or more if files were pruned */
    uint64_t line;     /* line of the first error in its file, 1-based; 0 = no error */
    char file[40];     /* name of that file in the state directory */
    char problem[256]; /* description of the error */
    char last_hash[CBX_SHA256_HEX + 1];
    char last_time[32];
    /* key that signed the head, in hexadecimal; empty = none */
    char public_key[2 * CBX_AUDIT_PUBLIC_BYTES + 1];
    /* the first unsigned ranges that are not acknowledged */
    struct cbx_audit_range unsigned_ranges[CBX_AUDIT_RANGES_MAX];
    size_t unsigned_count;                                     /* number of all such ranges */
    struct cbx_audit_setback setbacks[CBX_AUDIT_SETBACKS_MAX]; /* the first setbacks */
    size_t setback_count;                                      /* number of all setbacks */
};

/* Checks every record of all files, the chain, and the signed head, which must be the last
 * record's: after a crash it may be an earlier record's, and the next record notes this. Returns
 * 0 for any finding (report->line); CBX_EIO if the log cannot be read. Blocks writers only while
 * it reads the last lines: a record that is being written does not count as an error. */
int cbx_audit_verify(const char *state_dir, struct cbx_audit_report *report, struct cbx_err *err);

/* The same, with the head's signature checked by the raw key `pinned` (CBX_AUDIT_PUBLIC_BYTES
 * bytes) instead of the key of the state directory, which an attacker who rewrote the log could
 * have replaced too. A missing head is a problem then, also of an empty log. NULL = the key of
 * the state directory. */
int cbx_audit_verify_pinned(const char *state_dir, const uint8_t *pinned,
                            struct cbx_audit_report *report, struct cbx_err *err);

/* Reads a public key: 64 hexadecimal digits, else the path of a file with an Ed25519 public key
 * in PEM, such as a copy of CBX_AUDIT_PUB. CBX_EINVAL. */
int cbx_audit_public_key(const char *text, uint8_t out[CBX_AUDIT_PUBLIC_BYTES],
                         struct cbx_err *err);

/* Removes closed files whose last record is older than `before_ms` (of the wall clock, as in
 * records), the oldest first. A file after a younger one stays, and so does a file with records
 * that a syslog server has not received (audit_reader.h). A record 'pruned' names the files
 * first, with the hash that the log continues from, the principal that removed them, and the
 * reason. CBX_EAUDIT if one of them is not whole, or the record cannot be written: nothing is
 * removed. CBX_ESTATE, and nothing is removed either, if the clock may be wrong: it is more than
 * CBX_AUDIT_CLOCK_JUMP_MS ahead of the newest record, or behind it, or the same holds for a
 * record of the current file and its predecessor; `accepts_jump` accepts such a clock, and the
 * record notes this. CBX_EIO if a file cannot be removed. */
struct cbx_audit_prune {
    int64_t before_ms;
    int64_t now_ms; /* 0 = the wall clock */
    struct cbx_str principal, reason;
    bool accepts_jump;
};
struct cbx_audit_pruned {
    size_t files;
    uint64_t first, last; /* numbers of the first and last removed record */
    bool waits; /* true if an old file stays because the syslog server has not received it */
};
int cbx_audit_prune(struct cbx_audit *audit, const struct cbx_audit_prune *wanted,
                    struct cbx_audit_pruned *out, struct cbx_err *err);

/* Replaces the signing key of the log in `state_dir` by a new one. A record 'key' has both
 * public keys, signed with the old one, so a verification that trusts the old key then trusts
 * the new one. Other processes that have the log open detect the new key. After a crash the
 * change is either complete or can be repeated. `public_key` receives the new one. CBX_EAUDIT. */
int cbx_audit_replace_key(const char *state_dir, struct cbx_str principal, struct cbx_str reason,
                          uint8_t public_key[CBX_AUDIT_PUBLIC_BYTES], struct cbx_err *err);

/* Appends a record 'acknowledged' by `principal`, with `reason`, for the unsigned ranges of the
 * report: later verifications do not report them. CBX_ESTATE if the report has a problem;
 * CBX_EAUDIT. */
int cbx_audit_acknowledge(const char *state_dir, const struct cbx_audit_report *report,
                          struct cbx_str principal, struct cbx_str reason, struct cbx_err *err);

#endif
