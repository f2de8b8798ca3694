/* SPDX-License-Identifier: MIT
 * The audit log: JSON Lines, one record a line, each carrying the SHA-256 of itself and of the
 * record before it. A record is on disk before anything that it allows begins, and only this module
 * makes permits. Several processes may append to one log; several threads are committed together
 * with one fdatasync. Lives in the executor. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_H

#include "gateway/ipc/seal/seal.h"

/* Files in the state directory. HEAD is the last record's number and hash, signed with KEY
 * (Ed25519), rewritten after each batch: it shows when a log was cut short. A record is durable
 * before its action begins, its head is signed right after; a crash in between leaves records
 * that are chained and unsigned. */
#define CBX_AUDIT_FILE "audit.jsonl" /* the current one; closed ones: audit_files.h */
#define CBX_AUDIT_HEAD "audit.head"
#define CBX_AUDIT_KEY  "audit.key"
#define CBX_AUDIT_PUB  "audit.pub"

enum { CBX_AUDIT_LINE_MAX = 512 * 1024, CBX_AUDIT_PUBLIC_BYTES = 32, CBX_AUDIT_FILE_MIB = 256 };

struct cbx_audit;

/* Opens or creates the log in `state_dir` (made with mode 0700 when absent). The first record
 * that is appended cuts a torn last line off, left by a crash in the middle of a write, and
 * notes that in a record of its own ('recovered'), and so it notes the range of whole records
 * whose head was not signed. A log that is shorter than its head says takes no more records.
 * CBX_EAUDIT with the reason. */
int cbx_audit_open(const char *state_dir, struct cbx_audit **out, struct cbx_err *err);
void cbx_audit_free(struct cbx_audit *audit);

/* Whether cbx_audit_open, and the first record that is appended, would succeed: CBX_EAUDIT with the same reason. Reads the key, the last
 * record and the head, under the lock of readers, and changes nothing; what is missing of a new log is no error. */
int cbx_audit_try(const char *state_dir, struct cbx_err *err);
CBX_DEFINE_AUTO(audit)

/* Replaces secrets in what is recorded from now on. Borrowed; call it before there are other threads. */
struct cbx_redactor;
void cbx_audit_set_redactor(struct cbx_audit *audit, const struct cbx_redactor *redactor);

/* Each head that is signed from now on is offered to the keeper (audit_keeper.h). Borrowed; call it before there are other threads. */
struct cbx_audit_keeper;
void cbx_audit_set_keeper(struct cbx_audit *audit, struct cbx_audit_keeper *keeper);

/* From how many bytes on a file of the log is closed and the next one begun (CBX_AUDIT_FILE_MIB). A
 * file may pass it by one batch. Call it before there are other threads. */
void cbx_audit_set_max_bytes(struct cbx_audit *audit, int64_t bytes);

/* Appends a record {seq, time, type, prev, hash, body} and returns when it is on disk. `body` is
 * borrowed. *seq may be NULL. CBX_EAUDIT when it could not be made durable; the log is then as it
 * was before. When only its head could not be written, the record stands and the next append fails.
 * Thread-safe. */
int cbx_audit_append(struct cbx_audit *audit, const char *type, const json_t *body, uint64_t *seq,
                     struct cbx_err *err);

/* The two halves of an append, for a record that no caller waits for: it is written together
 * with the next one that a caller does wait for, after max_batch_delay_ms at the latest. `own`
 * has type and body, which are borrowed, and must live until cbx_audit_await returns with the
 * result of the append. */
struct cbx_audit_pending {
    const char *type;
    const json_t *body;
    uint64_t seq;
    bool too_large;
    int state; /* 1 = not written yet, 0 = it is, else the code */
    struct cbx_err err;
    struct cbx_audit_pending *next;
};
void cbx_audit_submit(struct cbx_audit *audit, struct cbx_audit_pending *own);
int cbx_audit_await(struct cbx_audit *audit, struct cbx_audit_pending *own, int max_batch_delay_ms,
                    struct cbx_err *err);

/* Writes what was submitted and returns when its head is signed. Before a process exits. */
void cbx_audit_flush(struct cbx_audit *audit);

/* The number of the last record that this process knows of; 0 = none yet. Thread-safe. */
uint64_t cbx_audit_last_seq(const struct cbx_audit *audit);

/* Is the log still in its place, and its head not behind? CBX_EAUDIT with the reason. */
int cbx_audit_check(struct cbx_audit *audit, struct cbx_err *err);

/* Records a decision, whatever it is; then, when a client approved it, the record 'approval' with this body
 * (borrowed; NULL = none), on disk with it. When the decision allows something, or asks and is approved, *out is
 * the permit for it, with the number of the decision's record; else *out is NULL. On failure nothing is
 * allowed. */
int cbx_audit_admit(struct cbx_audit *audit, const struct cbx_sealed *sealed,
                    const json_t *approval, struct cbx_permit **out, uint64_t *seq,
                    struct cbx_err *err);

/* Records that are chained, but whose head was never signed: a crash right after they were
 * written, or another program that appended them. `record` is the record 'recovered' that names
 * the range. */
struct cbx_audit_range {
    uint64_t from, to, record;
};
enum { CBX_AUDIT_RANGES_MAX = 1000 };

/* How far the time of a record may be before that of the record before it, and no finding: clocks are adjusted in small steps. And how far
 * the clock may be from the newest record, and a record from the one before it, for files to be removed by their age. */
enum {
    CBX_AUDIT_CLOCK_TOLERANCE_MS = 2000,
    CBX_AUDIT_CLOCK_JUMP_MS = 7 * 24 * 3600 * 1000,
    CBX_AUDIT_SETBACKS_MAX = 10
};

/* The time of this record is before that of its predecessor. */
struct cbx_audit_setback {
    uint64_t record;
    int64_t by_ms;
    bool noted; /* by the record itself, in clock_back_ms */
};

/* What a verification found. */
struct cbx_audit_report {
    uint64_t records;  /* good ones, from the start */
    uint64_t first;    /* the number of the first one: 1, or more when files were pruned */
    uint64_t line;     /* of the file where it broke, 1-based; 0 = nothing is wrong */
    char file[40];     /* its name in the state directory */
    char problem[256]; /* what is wrong there */
    char last_hash[CBX_SHA256_HEX + 1];
    char last_time[32];
    char public_key[2 * CBX_AUDIT_PUBLIC_BYTES + 1]; /* the head's, in hexadecimal; empty = none */
    struct cbx_audit_range
        unsigned_ranges[CBX_AUDIT_RANGES_MAX]; /* not acknowledged, the first ones */
    size_t unsigned_count;                     /* of all */
    struct cbx_audit_setback setbacks[CBX_AUDIT_SETBACKS_MAX]; /* the first ones */
    size_t setback_count;                                      /* of all */
};

/* Checks every record of all files, the chain, and the signed head, which must be that of the last record: after
 * a crash it may be behind, and the next record that is written says so. Returns 0 whatever it
 * found (report->line tells); CBX_EIO when the log cannot be read. Holds up writers only while it
 * reads the last lines: a record that is being written is not counted as wrong. */
int cbx_audit_verify(const char *state_dir, struct cbx_audit_report *report, struct cbx_err *err);

/* The same, with the head's signature checked by the raw key `pinned` (CBX_AUDIT_PUBLIC_BYTES bytes)
 * and not by the key of the state directory, which whoever rewrote the log could have replaced as
 * well. A head that is missing is a problem then, also of an empty log. NULL = the key of the state
 * directory. */
int cbx_audit_verify_pinned(const char *state_dir, const uint8_t *pinned,
                            struct cbx_audit_report *report, struct cbx_err *err);

/* Reads a public key: 64 hexadecimal digits, else the path of a file with an Ed25519 public key in
 * PEM, such as a copy of CBX_AUDIT_PUB. CBX_EINVAL. */
int cbx_audit_public_key(const char *text, uint8_t out[CBX_AUDIT_PUBLIC_BYTES],
                         struct cbx_err *err);

/* Removes closed files whose last record is older than `before_ms` (of the wall clock, as records have it), the
 * oldest first and none behind a younger one, nor one with records that a syslog server is to get (audit_reader.h). A record 'pruned' names them first, with the hash that
 * the log goes on from, who removed them, and why. CBX_EAUDIT when one of them is not whole, or the
 * record cannot be written: nothing is removed. CBX_ESTATE, and nothing is removed either, when the clock may be wrong: it is more than
 * CBX_AUDIT_CLOCK_JUMP_MS ahead of the newest record, or behind it, or so is a record of the current file and the one before it; with
 * `accepts_jump` that is accepted, which the record says. CBX_EIO when a file cannot be removed. */
struct cbx_audit_prune {
    int64_t before_ms;
    int64_t now_ms; /* 0 = the wall clock */
    struct cbx_str principal, reason;
    bool accepts_jump;
};
struct cbx_audit_pruned {
    size_t files;
    uint64_t first, last; /* records */
    bool waits;           /* an old file stays because of the syslog server */
};
int cbx_audit_prune(struct cbx_audit *audit, const struct cbx_audit_prune *wanted,
                    struct cbx_audit_pruned *out, struct cbx_err *err);

/* Replaces the signing key of the log in `state_dir` by a new one. A record 'key' has both public
 * keys, signed with the old one, so a verification that trusts the old key comes to trust the new
 * one. Other processes that have the log open find the new key by themselves. After a crash the
 * change is either complete or can be made again. `public_key` gets the new one. CBX_EAUDIT. */
int cbx_audit_replace_key(const char *state_dir, struct cbx_str principal, struct cbx_str reason,
                          uint8_t public_key[CBX_AUDIT_PUBLIC_BYTES], struct cbx_err *err);

/* Appends a record 'acknowledged' by `principal`, with `reason`, for the unsigned ranges of the
 * report: from then on a verification does not report them. CBX_ESTATE when the report has a
 * problem; CBX_EAUDIT. */
int cbx_audit_acknowledge(const char *state_dir, const struct cbx_audit_report *report,
                          struct cbx_str principal, struct cbx_str reason, struct cbx_err *err);

#endif
