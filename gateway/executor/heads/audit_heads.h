/* SPDX-License-Identifier: MIT
 * Kept heads and their comparison with a log. All input may be hostile: lines, their number and
 * their keys are capped, and each signature is checked by the key that the line names. The
 * verification of the log determines which of those keys are the log's own. */
#ifndef CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_HEADS_H
#define CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_HEADS_H

#include "gateway/executor/heads/audit_head.h"

/* Suffix of a file in a folder of kept heads; each log has one file, INSTANCE and this suffix. */
#define CBX_AUDIT_HEADS_SUFFIX ".heads"

enum {
    CBX_AUDIT_HEADS_MAX = 1000000, /* lines in all */
    /* bytes, including the prefix that a syslog daemon writes before a head */
    CBX_AUDIT_HEADS_LINE_MAX = 2048,
    CBX_AUDIT_HEADS_KEYS_MAX = 256, /* different keys; also the maximum of instances */
    CBX_AUDIT_HEADS_FILES_MAX = 1000
};

struct cbx_audit_heads;
struct cbx_audit_heads *cbx_audit_heads_new(void);
void cbx_audit_heads_free(struct cbx_audit_heads *heads);
CBX_DEFINE_AUTO(audit_heads)

/* Reads the anchors in the log of `state_dir`: the heads of other replicas' logs that its records
 * state (audit_anchors.h). Checks nothing of that log; the line of a head is the number of its
 * record. No anchor is no error. CBX_EINVAL names a record whose head is malformed or not signed;
 * CBX_ETOOBIG, CBX_EIO. */
int cbx_audit_heads_read_anchors(struct cbx_audit_heads *heads, const char *state_dir,
                                 struct cbx_err *err);

/* A source of lines: begin, feed its bytes in pieces of any size, end. `name` is for errors. A
 * line may have any text before the head, such as a syslog daemon's prefix, and nothing after
 * it. A last line without its '\n', and one that ends in CBX_AUDIT_HEAD_TORN, may be the
 * beginning of a head, left by a crash or a full disk: it is counted. CBX_EINVAL names the line
 * of any other text, and of an invalid signature; CBX_ETOOBIG. `may_be_others`: heads of other
 * logs may be among the lines. */
#define CBX_AUDIT_HEAD_TORN " torn"
int cbx_audit_heads_begin(struct cbx_audit_heads *heads, const char *name, bool may_be_others,
                          struct cbx_err *err);
int cbx_audit_heads_feed(struct cbx_audit_heads *heads, struct cbx_str bytes, struct cbx_err *err);
int cbx_audit_heads_end(struct cbx_audit_heads *heads, struct cbx_err *err);

/* Reads the regular file, or every file of the folder whose name ends in CBX_AUDIT_HEADS_SUFFIX;
 * each of these must be a regular file, and no link. In a folder, heads of other logs are left
 * out. CBX_EINVAL, CBX_ETOOBIG, CBX_EIO. */
int cbx_audit_heads_read(struct cbx_audit_heads *heads, const char *path, struct cbx_err *err);

/* Reads a source from an open descriptor, to its end, such as standard input. */
int cbx_audit_heads_read_fd(struct cbx_audit_heads *heads, int fd, const char *name,
                            struct cbx_err *err);

/* --- while the log is verified (audit_verify.c) ----------------------------------------------- */

/* The log begins after `start` (zero = with record 1): discards the results of a previous walk. */
void cbx_audit_heads_start(struct cbx_audit_heads *heads, const struct cbx_chain *start);

/* Adds the log's own key, or a key that a record 'key' names. */
void cbx_audit_heads_trust(struct cbx_audit_heads *heads,
                           const uint8_t key[CBX_AUDIT_PUBLIC_BYTES]);

/* The walk has reached this record; called in the order of the log. */
void cbx_audit_heads_meet(struct cbx_audit_heads *heads, const struct cbx_chain *chain);

/* --- the result ------------------------------------------------------------------------------- */

enum { CBX_AUDIT_HEADS_FINDINGS_MAX = 10 };

struct cbx_audit_heads_report {
    size_t matched;  /* number of heads whose record is unchanged in the log */
    size_t pruned;   /* number of heads of removed records */
    size_t others;   /* number of heads of other logs, in a folder */
    size_t torn;     /* number of torn lines */
    size_t unmet;    /* number of heads of records after the line of the log's error */
    uint64_t newest; /* number of the newest record with a matching head */
    int64_t newest_ms;
    size_t finding_count; /* number of all findings; the first ones, in the order of records: */
    char findings[CBX_AUDIT_HEADS_FINDINGS_MAX][512];
};

/* Judges the heads after cbx_audit_verify_heads, with its report. `instance` is the instance of
 * the state directory, "" = not known. A finding is a head whose record is missing in the log,
 * or has another hash, and an anchor with a key that the log does not name. CBX_EINVAL: a head is
 * not of this log, or no head is; anchors may all be of other logs. */
int cbx_audit_heads_judge(struct cbx_audit_heads *heads, const char *instance,
                          const struct cbx_audit_report *log, struct cbx_audit_heads_report *out,
                          struct cbx_err *err);

/* The newest head of an instance that no judged log had. */
struct cbx_audit_lost {
    char instance[CBX_AUDIT_INSTANCE_CHARS + 1], source[256];
    uint64_t seq; /* its record */
    int64_t time_ms;
};

/* Returns the next such instance, after logs were judged with these heads; false if there is none.
 * *at is 0 at first. */
bool cbx_audit_heads_lost(const struct cbx_audit_heads *heads, size_t *at,
                          struct cbx_audit_lost *out);

/* As cbx_audit_verify_pinned, and compares with the heads; NULL = none. They must have been read
 * before: records appended meanwhile are no finding. */
int cbx_audit_verify_heads(const char *state_dir, const uint8_t *pinned,
                           struct cbx_audit_heads *heads, struct cbx_audit_report *report,
                           struct cbx_err *err);

#endif
