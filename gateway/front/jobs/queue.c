/* SPDX-License-Identifier: MIT
 * The queue: one list of all jobs with a session that have not begun, in the order of
 * acceptance. */
#include "gateway/front/jobs/queue.h"

#include "policies/base/list.h"

#include <string.h>

void cbx_job_enqueue(struct cbx_job *job)
{
    if (job->session[0] == '\0') {
        return;
    }
    pthread_mutex_lock(&job->service->lock);
    CBX_LIST_APPEND(job->service->queue, job, next_queued);
    pthread_mutex_unlock(&job->service->lock);
}

bool cbx_job_enqueue_judged(struct cbx_job *job)
{
    if (job->session[0] == '\0') {
        return true;
    }
    pthread_mutex_lock(&job->service->lock);
    bool current = cbx_job_add_past(job);
    if (current) {
        job->turn = ++job->service->turns;
        CBX_LIST_APPEND(job->service->queue, job, next_queued);
    }
    pthread_mutex_unlock(&job->service->lock);
    return current;
}

/* With the lock: true if an earlier job of the session is queued (all jobs, if this one is not
 * queued). `passes` ignores those that the executor has admitted. */
static bool must_wait(const struct cbx_job *job, bool passes)
{
    const struct cbx_job *at = job->service->queue;
    while (at != NULL && at != job &&
           ((passes && at->admitted) || strcmp(at->session, job->session) != 0)) {
        at = at->next_queued;
    }
    return at != NULL && at != job;
}

static bool await(struct cbx_job *job, bool passes)
{
    struct cbx_service *service = job->service;
    pthread_mutex_lock(&service->lock);
    while (!service->stopping && !job->cancelled && must_wait(job, passes)) {
        pthread_cond_wait(&service->queue_changed, &service->lock);
    }
    bool ends = service->stopping || job->cancelled;
    pthread_mutex_unlock(&service->lock);
    return !ends;
}

bool cbx_job_await_turn(struct cbx_job *job)
{
    return await(job, true);
}

bool cbx_job_await_first(struct cbx_job *job)
{
    return await(job, false);
}

void cbx_job_set_admitted(struct cbx_job *job, bool admitted)
{
    if (job->session[0] == '\0') {
        return;
    }
    pthread_mutex_lock(&job->service->lock);
    job->admitted = admitted;
    pthread_cond_broadcast(&job->service->queue_changed);
    pthread_mutex_unlock(&job->service->lock);
}

bool cbx_job_is_alone(const struct cbx_job *job)
{
    pthread_mutex_lock(&job->service->lock);
    bool alone = !must_wait(job, false);
    pthread_mutex_unlock(&job->service->lock);
    return alone;
}

void cbx_job_dequeue(struct cbx_job *job)
{
    struct cbx_service *service = job->service;
    if (job->session[0] == '\0') {
        return;
    }
    pthread_mutex_lock(&service->lock);
    if (CBX_LIST_REMOVE(service->queue, job, next_queued)) {
        pthread_cond_broadcast(&service->queue_changed);
    }
    pthread_mutex_unlock(&service->lock);
}
