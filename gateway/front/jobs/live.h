/* SPDX-License-Identifier: MIT
 * The accepted executions that have not ended: found by their id, cancelled in every state, and
 * counted per principal. */
#ifndef CBX_GATEWAY_FRONT_JOBS_LIVE_H
#define CBX_GATEWAY_FRONT_JOBS_LIVE_H

#include "gateway/front/jobs/jobs.h"

/* Default of a principal's waiting executions. */
enum { CBX_LIVE_WAITING = 1024 };

/* Adds an accepted job until it ends. CBX_EQUOTA, without adding it, if the principal's maximum
 * of jobs waits. */
int cbx_live_add(struct cbx_job *job, struct cbx_err *err);
/* The same for a job of an earlier gateway, which was counted there. */
void cbx_live_restore(struct cbx_job *job);
/* No effect on a job that was not added. */
void cbx_live_remove(struct cbx_job *job);

/* With the lock of the service: returns the principal's execution of this id that has not ended;
 * NULL = none. */
struct cbx_job *cbx_live_find(const struct cbx_service *service, const char *principal,
                              const char *id);

/* Blocks until the principal may run one more, on all replicas together where they share the
 * quotas. *may_begin is false if the gateway stops or the job is cancelled. CBX_EFORBIDDEN if the
 * principal may not use the gateway any more; CBX_EIO if a shared database stays away. */
int cbx_live_await_room(struct cbx_job *job, bool *may_begin, struct cbx_err *err);

/* Notes the decision under which the executor admitted the job, or that no executor has it (""):
 * a job cancelled meanwhile is cancelled there. */
void cbx_live_note_run(struct cbx_job *job, const char *decision);
/* Note the number of runs before it; and that it began: its run then gets the queued input. */
void cbx_live_note_ahead(struct cbx_job *job, int ahead);
void cbx_live_note_begun(struct cbx_job *job);

bool cbx_live_is_cancelled(struct cbx_job *job);
/* The job has ended, and its result is being stored: it cannot be cancelled any more. True if it
 * was cancelled before. */
bool cbx_live_end(struct cbx_job *job);

/* Cancels the execution: one that has not begun never begins, and is `cancelled` in the store
 * from now on; a running one is interrupted (*began). CBX_ENOTFOUND if the principal has no
 * unfinished execution of this id. */
int cbx_live_cancel(struct cbx_service *service, const char *principal, const char *id, bool *began,
                    struct cbx_err *err);

/* Checks that the job may still run: its principal has the right, may use the policy, and its
 * token is valid. CBX_EFORBIDDEN. */
int cbx_live_check(struct cbx_job *job, struct cbx_err *err);

/* Cancels jobs that may not run any more; and starts a thread that does so every second until
 * cbx_service_stop, so that removing a principal or revoking a token ends their jobs. No effect
 * if callers are not authenticated. */
void cbx_live_enforce(struct cbx_service *service);
void cbx_live_watch(struct cbx_service *service);

/* Sets `status` and `ahead` of an execution that is running in the store: for one that has not
 * begun "queued", with the number of executions before it, if known. */
void cbx_live_describe(struct cbx_service *service, const char *id, json_t *execution);

/* Returns {queued, running} (new reference). */
json_t *cbx_live_stats(struct cbx_service *service);

#endif
