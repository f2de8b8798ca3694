/* SPDX-License-Identifier: MIT
 * Keeps heads of the audit log outside of the state directory: appends them to a file, or sends them to a syslog daemon. A thread of its
 * own does that, so that neither a slow place nor one that is gone holds up a record. */
#ifndef CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_KEEPER_H
#define CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_KEEPER_H

#include "gateway/executor/heads/audit_head.h"

/* While records are added, a head is kept this often: the first one at once. */
enum { CBX_AUDIT_KEEP_MS = 60000 };

struct cbx_audit_keeper;

/* Opens the place: "syslog" (/dev/log), "unix:///PATH" (another socket of a syslog daemon), else a folder, in which INSTANCE.heads is
 * made. `interval_ms` is CBX_AUDIT_KEEP_MS outside of tests. The folder must exist and be such that no other user can replace a part of
 * its path or write to it (gateway/ipc/jail/trusted.h), and no symbolic link; its file must be a regular one with one name, that others cannot
 * write to. CBX_EINVAL, CBX_EIO. Call it before the process is confined: the file stays open, and is found again by nobody. */
int cbx_audit_keeper_new(const char *place, const char *instance, int interval_ms,
                         struct cbx_audit_keeper **out, struct cbx_err *err);

/* Ends its thread, without keeping what waits (cbx_audit_keeper_flush). No head may be offered any more. */
void cbx_audit_keeper_free(struct cbx_audit_keeper *keeper);
CBX_DEFINE_AUTO(audit_keeper)

/* Can the place be used? As cbx_audit_keeper_new, and nothing is made. */
int cbx_audit_keeper_check(const char *place, struct cbx_err *err);

/* The log stands here, durable and signed; `key` is referenced. Returns at once. Thread-safe. */
void cbx_audit_keeper_offer(struct cbx_audit_keeper *keeper, const struct cbx_chain *chain,
                            EVP_PKEY *key);

/* Keeps what was offered last, now. False when that did not succeed within the time. */
bool cbx_audit_keeper_flush(struct cbx_audit_keeper *keeper, int64_t timeout_ms);

/* How it stands. */
struct cbx_audit_keeper_state {
    uint64_t offered,
        kept;          /* records; the first one that is offered is the first that is not kept */
    uint64_t failures; /* attempts */
    char reason[256];  /* of the last attempt, when it failed */
};
void cbx_audit_keeper_state(struct cbx_audit_keeper *keeper, struct cbx_audit_keeper_state *out);

#endif
