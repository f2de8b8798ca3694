/* SPDX-License-Identifier: MIT
 * Keeps heads of the audit log outside of the state directory: appends them to a file, or sends
 * them to a syslog daemon. A separate thread does this, so that a slow or missing place does not
 * delay a record. */
#ifndef CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_KEEPER_H
#define CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_KEEPER_H

#include "gateway/executor/heads/audit_head.h"

/* Interval at which a head is kept while records are added; the first head is kept at once. */
enum { CBX_AUDIT_KEEP_MS = 60000 };

struct cbx_audit_keeper;

/* Opens the place: "syslog" (/dev/log), "unix:///PATH" (another socket of a syslog daemon), else
 * a folder, in which INSTANCE.heads is created. `interval_ms` is CBX_AUDIT_KEEP_MS outside of
 * tests. The folder must exist, must not be a symbolic link, and no other user may be able to
 * replace a part of its path or write to it (gateway/ipc/jail/trusted.h); its file must be a
 * regular one with one name, not writable by other users. CBX_EINVAL, CBX_EIO. Call it before
 * the process is confined: the file stays open, and is never opened by name again. */
int cbx_audit_keeper_new(const char *place, const char *instance, int interval_ms,
                         struct cbx_audit_keeper **out, struct cbx_err *err);

/* Ends its thread, without keeping waiting heads (cbx_audit_keeper_flush). No head may be
 * offered after this call begins. */
void cbx_audit_keeper_free(struct cbx_audit_keeper *keeper);
CBX_DEFINE_AUTO(audit_keeper)

/* Checks that the place can be used, as cbx_audit_keeper_new, without creating anything. */
int cbx_audit_keeper_check(const char *place, struct cbx_err *err);

/* Offers the position of the log, which is durable and signed; `key` is referenced. Returns at
 * once. Thread-safe. */
void cbx_audit_keeper_offer(struct cbx_audit_keeper *keeper, const struct cbx_chain *chain,
                            EVP_PKEY *key);

/* Keeps the head offered last, now. False if this did not succeed within the time. */
bool cbx_audit_keeper_flush(struct cbx_audit_keeper *keeper, int64_t timeout_ms);

/* The state of the keeper. */
struct cbx_audit_keeper_state {
    uint64_t offered,
        /* number of the last kept record; before the first kept head, the record before the
         * first offered one */
        kept;
    uint64_t failures; /* number of failed attempts */
    char reason[256];  /* reason of the last attempt's failure */
};
void cbx_audit_keeper_state(struct cbx_audit_keeper *keeper, struct cbx_audit_keeper_state *out);

#endif
