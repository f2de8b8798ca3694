/* SPDX-License-Identifier: MIT
 * Each principal's use of its quotas of requests, processor time and sessions, and the number of
 * its running requests. In memory: after a restart all quotas are unused. Thread-safe. */
#ifndef CBX_GATEWAY_IDENTITY_QUOTAS_H
#define CBX_GATEWAY_IDENTITY_QUOTAS_H

#include "gateway/identity/caller.h"

/* Maximum number of stored principals; beyond it the least recently used one is dropped,
 * preferably one without running operations. */
enum { CBX_QUOTAS_PRINCIPALS = 4096 };

struct cbx_quotas;

struct cbx_quotas *cbx_quotas_new(void);
void cbx_quotas_free(struct cbx_quotas *quotas);

/* Sets the number of replicas that share the quotas of requests: each lets its part of a minute's
 * quota pass, rounded up. 1 = this gateway alone, as in the beginning. */
void cbx_quotas_share(struct cbx_quotas *quotas, size_t replicas);

/* Returns that number; NULL quotas: 1. */
size_t cbx_quotas_replicas(struct cbx_quotas *quotas);

/* Counts a request of this caller at `now_ms` of cbx_clock_ms. A sixth of a minute's quota may
 * be used at once, the rest as time passes. CBX_EQUOTA, with err->retry_s, for a request over
 * the quota. */
int cbx_quotas_request(struct cbx_quotas *quotas, const struct cbx_caller *caller, int64_t now_ms,
                       struct cbx_err *err);

/* Begins a request of this caller, until cbx_quotas_end. Only requests of callers with a limit
 * count: *counted is false for others, and no end is needed. CBX_EQUOTA, with err->retry_s, if
 * the maximum of requests is running. */
int cbx_quotas_begin(struct cbx_quotas *quotas, const struct cbx_caller *caller, bool *counted,
                     struct cbx_err *err);

/* Ends a counted request. */
void cbx_quotas_end(struct cbx_quotas *quotas, const char *principal);

/* Checks that a program of this principal may begin. Its processor time is known after its end,
 * so the last one may use more than the remaining quota; the next one waits until the excess is
 * refilled. CBX_EQUOTA, with err->retry_s. A principal without a request, and NULL quotas, have
 * no limit. */
int cbx_quotas_run(struct cbx_quotas *quotas, const char *principal, int64_t now_ms,
                   struct cbx_err *err);

/* Does the check of cbx_quotas_run for a row whose use is counted elsewhere; `left_ms` is left. */
int cbx_quotas_check_cpu(const char *principal, const struct cbx_principal *row, double left_ms,
                         struct cbx_err *err);

/* Limits of a principal's executions: the maximum of running ones, and of waiting ones; 0 = no
 * limit is configured, or the principal made no request. NULL quotas: 0. */
enum cbx_quota_runs { CBX_QUOTA_AT_ONCE, CBX_QUOTA_WAITING };
int64_t cbx_quotas_runs(struct cbx_quotas *quotas, const char *principal,
                        enum cbx_quota_runs which);

/* Adds the processor time of this principal's program. */
void cbx_quotas_charge(struct cbx_quotas *quotas, const char *principal, int64_t cpu_ms,
                       int64_t now_ms);

/* Begins opening a session for this principal, until cbx_quotas_opened: returns the number of
 * sessions that it is opening, including this one. Count the open ones after this call. So each
 * session is in one of the two numbers, and one that becomes open meanwhile may be in both. 0 if
 * it has no limit. */
size_t cbx_quotas_opening(struct cbx_quotas *quotas, const char *principal);

/* Checks the number of open and opening sessions. CBX_EQUOTA. */
int cbx_quotas_open(struct cbx_quotas *quotas, const char *principal, size_t sessions,
                    struct cbx_err *err);

/* Ends opening a session: it is open, or opening failed. */
void cbx_quotas_opened(struct cbx_quotas *quotas, const char *principal);

#endif
