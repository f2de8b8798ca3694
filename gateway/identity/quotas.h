/* SPDX-License-Identifier: MIT
 * What each principal has used up of its requests, processor time and sessions, and how many of
 * its requests are at work. In memory: a gateway that starts again begins with all of them
 * unused. Thread-safe. */
#ifndef CBX_GATEWAY_IDENTITY_QUOTAS_H
#define CBX_GATEWAY_IDENTITY_QUOTAS_H

#include "gateway/identity/caller.h"

/* Principals that are remembered; of more than these the one that called least recently is
 * forgotten, and of those first one of which nothing is at work. */
enum { CBX_QUOTAS_PRINCIPALS = 4096 };

struct cbx_quotas;

struct cbx_quotas *cbx_quotas_new(void);
void cbx_quotas_free(struct cbx_quotas *quotas);

/* Counts a request of this caller at `now_ms` of cbx_clock_ms. A sixth of what a minute allows
 * may come at once, the rest as time passes. CBX_EQUOTA, with err->retry_s, for one that is too
 * many. */
int cbx_quotas_request(struct cbx_quotas *quotas, const struct cbx_caller *caller, int64_t now_ms,
                       struct cbx_err *err);

/* A request of this caller begins, until cbx_quotas_end. Counted are the requests of callers
 * that have a limit: *counted is false for others, and there is nothing to end. CBX_EQUOTA, with
 * err->retry_s, when as many as there may be have not ended. */
int cbx_quotas_begin(struct cbx_quotas *quotas, const struct cbx_caller *caller, bool *counted,
                     struct cbx_err *err);

/* A request that was counted has ended. */
void cbx_quotas_end(struct cbx_quotas *quotas, const char *principal);

/* May a program of this principal begin? Its processor time is known when it has ended, so the
 * last one may use more than is left; what it used too much is waited for. CBX_EQUOTA, with
 * err->retry_s. A principal that made no request, and NULL quotas, have no limit. */
int cbx_quotas_run(struct cbx_quotas *quotas, const char *principal, int64_t now_ms,
                   struct cbx_err *err);

/* Executions of a principal: how many may run at the same time, and how many may wait; 0 = no
 * limit is configured, or the principal made no request. NULL quotas: 0. */
enum cbx_quota_runs { CBX_QUOTA_AT_ONCE, CBX_QUOTA_WAITING };
int64_t cbx_quotas_runs(struct cbx_quotas *quotas, const char *principal,
                        enum cbx_quota_runs which);

/* A program of this principal used so much processor time. */
void cbx_quotas_charge(struct cbx_quotas *quotas, const char *principal, int64_t cpu_ms,
                       int64_t now_ms);

/* This principal is about to open a session, until cbx_quotas_opened: the number of those that
 * it is about to open, this one included. The open ones are counted after this call. So each
 * session is in one of the two numbers, and one that becomes open meanwhile may be in both. 0
 * when it has no limit. */
size_t cbx_quotas_opening(struct cbx_quotas *quotas, const char *principal);

/* May it, with so many sessions, open and about to be? CBX_EQUOTA. */
int cbx_quotas_open(struct cbx_quotas *quotas, const char *principal, size_t sessions,
                    struct cbx_err *err);

/* The session that was to be opened is one of the open ones, or came to nothing. */
void cbx_quotas_opened(struct cbx_quotas *quotas, const char *principal);

#endif
