/* SPDX-License-Identifier: MIT
 * The executions that run, and the backlog of an earlier gateway. */
#include "gateway/front/jobs/backlog.h"

#include "gateway/front/jobs/job_run.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/jobs/queue.h"

#include <unistd.h>

static int starting_max(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 2 ? (int)processors : 2;
}

/* With the lock: returns the number of running executions. */
static int64_t running(const struct cbx_service *service)
{
    return service->jobs_begun - service->jobs_ended;
}

/* With the lock: removes, counts and returns the first job of the backlog; NULL if none may
 * start now. Following a begun one costs nothing: only the others are started a few at a time. */
static struct cbx_job *take_next(struct cbx_service *service)
{
    struct cbx_job *job = service->backlog;
    if (job == NULL || service->stopping || running(service) >= service->jobs_max ||
        (!job->begun && service->starting >= starting_max())) {
        return NULL;
    }
    service->backlog = job->next_in_backlog;
    service->backlog_jobs--;
    service->jobs_begun++;
    job->starting = !job->begun;
    service->starting += job->starting;
    return job;
}

void cbx_service_start_backlog(struct cbx_service *service)
{
    for (;;) {
        pthread_mutex_lock(&service->lock);
        struct cbx_job *job = take_next(service);
        pthread_mutex_unlock(&service->lock);
        if (job == NULL) {
            return;
        }
        cbx_job_launch(job);
    }
}

void cbx_job_note_started(struct cbx_job *job)
{
    struct cbx_service *service = job->service;
    pthread_mutex_lock(&service->lock);
    bool starting = job->starting;
    job->starting = false;
    service->starting -= starting;
    pthread_mutex_unlock(&service->lock);
    if (starting) {
        cbx_service_start_backlog(service);
    }
}

void cbx_job_recover(struct cbx_job *job)
{
    struct cbx_service *service = job->service;
    cbx_job_enqueue(job);
    cbx_live_restore(job);
    pthread_mutex_lock(&service->lock);
    struct cbx_job **at = &service->backlog;
    while (*at != NULL && (*at)->begun >= job->begun) { /* begun ones are first */
        at = &(*at)->next_in_backlog;
    }
    job->next_in_backlog = *at;
    *at = job;
    service->backlog_jobs++;
    pthread_mutex_unlock(&service->lock);
}

void cbx_service_drop_backlog(struct cbx_service *service)
{
    while (service->backlog != NULL) {
        struct cbx_job *job = service->backlog;
        service->backlog = job->next_in_backlog;
        service->backlog_jobs--;
        cbx_job_free(job);
    }
}

int cbx_service_count_job(struct cbx_service *service, struct cbx_err *err)
{
    int failed = 0;
    pthread_mutex_lock(&service->lock);
    if (service->stopping) {
        failed = cbx_fail(err, CBX_EBUSY, "the gateway is shutting down; try again later");
    } else if (running(service) + service->backlog_jobs >= service->jobs_max) {
        failed = cbx_fail(err, CBX_EBUSY, "%d executions are running already; try again later",
                          service->jobs_max);
    }
    service->jobs_begun += !failed;
    pthread_mutex_unlock(&service->lock);
    return failed;
}

void cbx_job_end(struct cbx_job *job)
{
    struct cbx_service *service = job->service;
    pthread_mutex_lock(&service->lock);
    service->jobs_ended++;
    service->starting -= job->starting;
    job->starting = false;
    pthread_mutex_unlock(&service->lock);
    if (!job->begun) {
        cbx_service_drop_past(service, job->session); /* it is not in the past after all */
    }
    cbx_job_free(job);
    cbx_service_start_backlog(service); /* one more may start */
}
