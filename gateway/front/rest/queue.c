/* SPDX-License-Identifier: MIT
 * The queue: one list of all jobs with a session that have not begun, in the order of
 * acceptance. */
#include "gateway/front/rest/queue.h"

#include <string.h>

/* With the lock. */
static void append(struct cbx_rest_job *job)
{
    struct cbx_rest_job **last = &job->rest->queue;
    while (*last != NULL) {
        last = &(*last)->next_queued;
    }
    *last = job;
}

void cbx_rest_enqueue(struct cbx_rest_job *job)
{
    if (job->session[0] == '\0') {
        return;
    }
    pthread_mutex_lock(&job->rest->lock);
    append(job);
    pthread_mutex_unlock(&job->rest->lock);
}

bool cbx_rest_enqueue_judged(struct cbx_rest_job *job)
{
    if (job->session[0] == '\0') {
        return true;
    }
    pthread_mutex_lock(&job->rest->lock);
    bool current = cbx_rest_past_add(job);
    if (current) {
        job->turn = ++job->rest->turns;
        append(job);
    }
    pthread_mutex_unlock(&job->rest->lock);
    return current;
}

/* With the lock: does a job of the same session stand before it? `passes` those that the executor
 * has admitted. */
static bool must_wait(const struct cbx_rest_job *job, bool passes)
{
    const struct cbx_rest_job *at = job->rest->queue;
    while (at != NULL && at != job &&
           ((passes && at->admitted) || strcmp(at->session, job->session) != 0)) {
        at = at->next_queued;
    }
    return at != NULL && at != job;
}

static bool await(struct cbx_rest_job *job, bool passes)
{
    struct cbx_rest *rest = job->rest;
    pthread_mutex_lock(&rest->lock);
    while (!rest->stopping && must_wait(job, passes)) {
        pthread_cond_wait(&rest->queue_changed, &rest->lock);
    }
    bool stopping = rest->stopping;
    pthread_mutex_unlock(&rest->lock);
    return !stopping;
}

bool cbx_rest_await_turn(struct cbx_rest_job *job)
{
    return await(job, true);
}

bool cbx_rest_await_first(struct cbx_rest_job *job)
{
    return await(job, false);
}

void cbx_rest_set_admitted(struct cbx_rest_job *job, bool admitted)
{
    if (job->session[0] == '\0') {
        return;
    }
    pthread_mutex_lock(&job->rest->lock);
    job->admitted = admitted;
    pthread_cond_broadcast(&job->rest->queue_changed);
    pthread_mutex_unlock(&job->rest->lock);
}

void cbx_rest_dequeue(struct cbx_rest_job *job)
{
    struct cbx_rest *rest = job->rest;
    if (job->session[0] == '\0') {
        return;
    }
    pthread_mutex_lock(&rest->lock);
    struct cbx_rest_job **at = &rest->queue;
    while (*at != NULL && *at != job) {
        at = &(*at)->next_queued;
    }
    if (*at != NULL) {
        *at = job->next_queued;
        pthread_cond_broadcast(&rest->queue_changed);
    }
    pthread_mutex_unlock(&rest->lock);
}
