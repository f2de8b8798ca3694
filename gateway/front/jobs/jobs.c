/* SPDX-License-Identifier: MIT
 * Jobs: their memory and their start. */
#include "gateway/front/jobs/jobs.h"

#include "gateway/front/jobs/backlog.h"
#include "gateway/front/jobs/input.h"
#include "gateway/front/jobs/job_outcome.h"
#include "gateway/front/jobs/job_row.h"
#include "gateway/front/jobs/job_run.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/jobs/queue.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>

enum { CODE_MAX = 16 * 1024 * 1024 };

struct cbx_job *cbx_job_new(struct cbx_service *service, const char *principal)
{
    struct cbx_job *job = cbx_new(sizeof(*job));
    job->service = service;
    snprintf(job->principal, sizeof(job->principal), "%s", principal);
    job->created_ms = cbx_time_ms();
    job->origin = "rest";
    cbx_asked_init(&job->asked);
    cbx_buf_init(&job->policy, CBX_NAME_MAX + 1);
    cbx_buf_init(&job->source, CODE_MAX);
    cbx_buf_init(&job->path, CBX_PATH_MAX);
    cbx_buf_init(&job->past, CBX_WIRE_BYTES_MAX);
    cbx_buf_init(&job->entries, CBX_WIRE_BYTES_MAX);
    cbx_input_init(job);
    job->kind = CBX_ENTRY_CELL;
    cbx_uuid_make(job->id);
    return job;
}

void cbx_job_free(struct cbx_job *job)
{
    cbx_job_dequeue(job);
    cbx_live_remove(job);
    cbx_buf_done(&job->policy);
    cbx_buf_done(&job->source);
    cbx_buf_done(&job->path);
    cbx_buf_done(&job->past);
    cbx_buf_done(&job->entries);
    cbx_asked_done(&job->asked);
    cbx_input_done(job);
    cbx_judgement_done(&job->judgement);
    free(job);
}

int cbx_job_start(struct cbx_job *job, struct cbx_err *err)
{
    cbx_judgement_id(&job->judgement, job->decision);
    int failed = cbx_job_store(job, err);
    if (!failed) {
        failed = cbx_live_add(job, err);
    }
    if (!failed) {
        failed = cbx_service_count_job(job->service, err);
    }
    if (failed) {
        char now[32];
        cbx_service_now(now);
        cbx_job_store_error(job, now, err);
        cbx_job_free(job);
        return failed;
    }
    cbx_job_launch(job);
    return 0;
}
