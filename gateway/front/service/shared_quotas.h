/* SPDX-License-Identifier: MIT
 * Quotas of principals over all replicas that share a database (store_use.h). Sessions, runs,
 * waiting executions and processor time are counted in the database. A thread divides the quotas
 * of requests by the number of replicas. The limits of a principal are in its row of this replica's
 * configuration. Nothing is granted while the database cannot be reached. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_SHARED_QUOTAS_H
#define CBX_GATEWAY_FRONT_SERVICE_SHARED_QUOTAS_H

#include "gateway/front/jobs/jobs.h"
#include "gateway/front/service/service.h"
#include "gateway/front/service/service_sessions.h"

struct cbx_shared_quotas;

/* Counts the service's quotas in its store from now on, and sets service->shared_quotas. Borrows
 * the service, whose quotas are set and whose store has replicas (store_use.h). CBX_EIO. */
int cbx_shared_quotas_begin(struct cbx_service *service, struct cbx_err *err);

/* Starts the thread; false if it cannot be started. */
bool cbx_shared_quotas_start(struct cbx_shared_quotas *shared);

/* Joins the thread, which uses the service. Free it after the last job has ended. NULL is fine. */
void cbx_shared_quotas_stop(struct cbx_shared_quotas *shared);
void cbx_shared_quotas_free(struct cbx_shared_quotas *shared);

/* Takes a place for a session with an id before it is opened. *taken is false if its principal has
 * no limit. Call cbx_shared_quotas_leave afterwards, also after a failure. CBX_EQUOTA, with
 * err->retry_s; CBX_EFORBIDDEN if the principal may not use the gateway any more. */
int cbx_shared_quotas_enter(struct cbx_shared_quotas *shared, const struct cbx_opening *opening,
                            bool *taken, struct cbx_err *err);

/* Ends the opening: removes the place, unless the session was stored in it. */
void cbx_shared_quotas_leave(struct cbx_shared_quotas *shared, const struct cbx_opening *opening,
                             bool taken, bool stored);

/* Checks that a program of the job's principal may begin (cbx_quotas_run). CBX_EQUOTA, with
 * err->retry_s; CBX_EFORBIDDEN. */
int cbx_shared_quotas_check_cpu(struct cbx_shared_quotas *shared, const struct cbx_job *job,
                                struct cbx_err *err);

/* Counts the processor time of a job that ended. Idempotent. */
int cbx_shared_quotas_charge(struct cbx_shared_quotas *shared, const struct cbx_job *job,
                             struct cbx_err *err);

/* Stores the row of a job that waits from now on (cbx_store_add_execution). CBX_EQUOTA, with
 * err->retry_s, if the principal's maximum of executions waits; CBX_EFORBIDDEN. */
int cbx_shared_quotas_add_execution(struct cbx_shared_quotas *shared, const struct cbx_job *job,
                                    const struct cbx_stored_execution *row, struct cbx_err *err);

/* Finds the principal's maximum of running executions; 0 = no limit. CBX_EFORBIDDEN. */
int cbx_shared_quotas_runs(struct cbx_shared_quotas *shared, const struct cbx_job *job,
                           int64_t *most, struct cbx_err *err);

#endif
