/* SPDX-License-Identifier: MIT
 * The executions that were accepted and have not ended: found by their id, cancelled in every state, and how many of a
 * principal run at the same time. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_LIVE_H
#define CBX_GATEWAY_FRONT_SERVICE_LIVE_H

#include "gateway/front/service/jobs.h"

/* So many of a principal wait when its row says nothing. */
enum { CBX_LIVE_WAITING = 1024 };

/* An accepted job is one of these until it ends. CBX_EQUOTA, and it is none, when as many of its principal wait as may. */
int cbx_live_add(struct cbx_job *job, struct cbx_err *err);
/* The same for a job of an earlier gateway, which was counted there. */
void cbx_live_restore(struct cbx_job *job);
/* No effect on one that was not added. */
void cbx_live_remove(struct cbx_job *job);

/* With the lock of the service: the principal's execution of this id that has not ended; NULL = none. */
struct cbx_job *cbx_live_find(const struct cbx_service *service, const char *principal,
                              const char *id);

/* Blocks until the principal may run one more. False when the gateway stops or the job is cancelled. */
bool cbx_live_await_room(struct cbx_job *job);

/* Notes the decision under which the executor admitted the job, or that no executor has it (""): what was cancelled
 * meanwhile is cancelled there. */
void cbx_live_note_run(struct cbx_job *job, const char *decision);
/* Notes how many runs have their turn before it; and that it began: its run then gets the input that waits. */
void cbx_live_note_ahead(struct cbx_job *job, int ahead);
void cbx_live_note_begun(struct cbx_job *job);

bool cbx_live_is_cancelled(struct cbx_job *job);
/* It has ended, and its result is about to be stored: it cannot be cancelled any more. True when it was. */
bool cbx_live_end(struct cbx_job *job);

/* Ends the execution: one that has not begun never begins, and is `cancelled` in the store from now on; one that runs is
 * interrupted (*began). CBX_ENOTFOUND when the principal has none of this id that has not ended. */
int cbx_live_cancel(struct cbx_service *service, const char *principal, const char *id, bool *began,
                    struct cbx_err *err);

/* May the job still run: has its principal the right to, may it use the policy, and is the token valid that it came with? CBX_EFORBIDDEN. */
int cbx_live_check(struct cbx_job *job, struct cbx_err *err);

/* Cancels what may not run any more; and starts a thread that does so every second until cbx_service_stop, so that a principal that
 * was removed and a token that was revoked end what they began. Nothing where nobody is authenticated. */
void cbx_live_enforce(struct cbx_service *service);
void cbx_live_watch(struct cbx_service *service);

/* Sets `status` and `ahead` of an execution that the store calls running: of one that has not begun "queued", with the number
 * of those before it as far as it is known. */
void cbx_live_describe(struct cbx_service *service, const char *id, json_t *execution);

/* {queued, running} (new reference). */
json_t *cbx_live_stats(struct cbx_service *service);

#endif
