/* SPDX-License-Identifier: MIT
 * Anchors: heads of the logs of other replicas, as records 'anchor' of this log. Each replica has
 * a log and a signing key of its own; a replica whose log was cut, rewritten or put back to an
 * older copy of itself contradicts the anchors in the logs of the others (`codebox audit verify
 * --all`). The heads come through fronts, which are not trusted: a head proves itself by its
 * signature, and the number of records is bounded. */
#ifndef CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_ANCHORS_H
#define CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_ANCHORS_H

#include "gateway/executor/heads/audit_head.h"
#include "gateway/ipc/replicas.h"

#define CBX_AUDIT_ANCHOR "anchor" /* type of the record: {replica, seq, head, ...} */

enum {
    CBX_ANCHOR_MS = 60000,    /* between two records of one replica whose log grows */
    CBX_ANCHOR_MIN_MS = 1000, /* between any two records of one replica */
};

/* The newest head of each replica that this process was given. Zeroed, with its lock initialised,
 * it knows none. */
struct cbx_anchors {
    pthread_mutex_t lock;
    struct cbx_anchor {
        char replica[CBX_REPLICA_NAME_MAX + 1];
        struct cbx_audit_head head;
        int64_t recorded_ms; /* time of the last record, monotonic */
    } items[CBX_REPLICAS_MAX];
    size_t count;
};

/* Signs the position of the log as a head of `instance`, without '\n'. An empty text: the log has
 * no record yet. CBX_EAUDIT. */
int cbx_anchors_head(struct cbx_audit *audit, const char *instance,
                     char out[CBX_AUDIT_HEAD_CHARS + 1], struct cbx_err *err);

/* Takes a head of the replica's log at `now_ms` (cbx_clock_ms). A record is appended for the first
 * one, for one that is newer than the last recorded one, CBX_ANCHOR_MS after it at the earliest,
 * and for each one that contradicts the last one: a lower number, another hash of the same number
 * (`went_back_from` has the number before), or another instance (`instance_before`); a
 * contradiction is logged as well. CBX_EINVAL for a name that is none, and a head that is malformed
 * or not signed by its key; CBX_EBUSY for more than CBX_REPLICAS_MAX names; CBX_EAUDIT. */
int cbx_anchors_take(struct cbx_anchors *anchors, struct cbx_audit *audit, struct cbx_str replica,
                     struct cbx_str head, int64_t now_ms, struct cbx_err *err);

#endif
