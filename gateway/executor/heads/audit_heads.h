/* SPDX-License-Identifier: MIT
 * Kept heads as they are read, and their comparison with a log. Everything that is read may be hostile: lines, their number and their
 * keys are capped, and each signature is checked by the key that the line names. Which of those keys are the log's own shows while the
 * log is verified. */
#ifndef CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_HEADS_H
#define CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_HEADS_H

#include "gateway/executor/heads/audit_head.h"

/* In a folder of kept heads each log has one file, INSTANCE and this. */
#define CBX_AUDIT_HEADS_SUFFIX ".heads"

enum {
    CBX_AUDIT_HEADS_MAX = 1000000,   /* lines in all */
    CBX_AUDIT_HEADS_LINE_MAX = 2048, /* bytes, with what a syslog daemon writes before a head */
    CBX_AUDIT_HEADS_KEYS_MAX = 256,  /* different ones; instances too */
    CBX_AUDIT_HEADS_FILES_MAX = 1000
};

struct cbx_audit_heads;
struct cbx_audit_heads *cbx_audit_heads_new(void);
void cbx_audit_heads_free(struct cbx_audit_heads *heads);
CBX_DEFINE_AUTO(audit_heads)

/* A source of lines: begin, feed its bytes in pieces of any size, end. `name` is for errors. A line may have anything before the head, as
 * a syslog daemon writes it, and nothing behind it. A last line without its '\n', and one that ends in CBX_AUDIT_HEAD_TORN, may be the
 * beginning of a head, left by a crash or a full disk: it is counted. CBX_EINVAL names the line of anything else, and of a signature that
 * is not valid; CBX_ETOOBIG. `may_be_others`: heads of other logs may be among them. */
#define CBX_AUDIT_HEAD_TORN " torn"
int cbx_audit_heads_begin(struct cbx_audit_heads *heads, const char *name, bool may_be_others,
                          struct cbx_err *err);
int cbx_audit_heads_feed(struct cbx_audit_heads *heads, struct cbx_str bytes, struct cbx_err *err);
int cbx_audit_heads_end(struct cbx_audit_heads *heads, struct cbx_err *err);

/* Reads the regular file, or every file of the folder whose name ends in CBX_AUDIT_HEADS_SUFFIX; each of these must be a regular file, and
 * no link. In a folder heads of other logs are left out. CBX_EINVAL, CBX_ETOOBIG, CBX_EIO. */
int cbx_audit_heads_read(struct cbx_audit_heads *heads, const char *path, struct cbx_err *err);

/* A source out of an open descriptor, to its end, as standard input is. */
int cbx_audit_heads_read_fd(struct cbx_audit_heads *heads, int fd, const char *name,
                            struct cbx_err *err);

/* --- while the log is verified (audit_verify.c) ------------------------------------------------ */

/* The log begins behind `start` (zero = with record 1): forgets the results of another walk. */
void cbx_audit_heads_start(struct cbx_audit_heads *heads, const struct cbx_chain *start);

/* The log's own key, or one that a record 'key' names. */
void cbx_audit_heads_trust(struct cbx_audit_heads *heads,
                           const uint8_t key[CBX_AUDIT_PUBLIC_BYTES]);

/* The chain has come to this record; in the order of the log. */
void cbx_audit_heads_meet(struct cbx_audit_heads *heads, const struct cbx_chain *chain);

/* --- the result ------------------------------------------------------------------------------- */

enum { CBX_AUDIT_HEADS_FINDINGS_MAX = 10 };

struct cbx_audit_heads_report {
    size_t matched;  /* heads whose record is in the log as it was */
    size_t pruned;   /* of records that were removed */
    size_t others;   /* of other logs, in a folder */
    size_t torn;     /* lines */
    size_t unmet;    /* of records behind the line where the log is wrong */
    uint64_t newest; /* record that a head matched */
    int64_t newest_ms;
    size_t finding_count; /* of all; the first ones in the order of records: */
    char findings[CBX_AUDIT_HEADS_FINDINGS_MAX][512];
};

/* Judges after cbx_audit_verify_heads, whose report it is. `instance` is that of the state directory, "" = not known. A finding is a head whose
 * record the log does not have, or has with another hash. CBX_EINVAL: a head is not of this log, or none is. */
int cbx_audit_heads_judge(struct cbx_audit_heads *heads, const char *instance,
                          const struct cbx_audit_report *log, struct cbx_audit_heads_report *out,
                          struct cbx_err *err);

/* As cbx_audit_verify_pinned, and compares with the heads; NULL = none. They must have been read before: what is appended meanwhile is no
 * finding. */
int cbx_audit_verify_heads(const char *state_dir, const uint8_t *pinned,
                           struct cbx_audit_heads *heads, struct cbx_audit_report *report,
                           struct cbx_err *err);

#endif
