/* SPDX-License-Identifier: MIT
 * Who comes after whom: one list of all jobs that have not begun, in the order of acceptance. */
#include "gateway/front/rest/line.h"

#include <string.h>

void cbx_rest_line_up(struct cbx_rest_job *job)
{
    struct cbx_rest *rest = job->rest;
    if (job->session[0] == '\0') {
        return;
    }
    pthread_mutex_lock(&rest->lock);
    struct cbx_rest_job **last = &rest->line;
    while (*last != NULL) {
        last = &(*last)->next_in_line;
    }
    *last = job;
    pthread_mutex_unlock(&rest->lock);
}

/* With the lock: the first of its session that the executor does not have, before this one. */
static bool is_behind(const struct cbx_rest_job *job)
{
    const struct cbx_rest_job *at = job->rest->line;
    while (at != NULL && at != job && (at->handed_over || strcmp(at->session, job->session) != 0)) {
        at = at->next_in_line;
    }
    return at != NULL && at != job;
}

bool cbx_rest_line_await(struct cbx_rest_job *job)
{
    struct cbx_rest *rest = job->rest;
    pthread_mutex_lock(&rest->lock);
    while (!rest->stopping && is_behind(job)) {
        pthread_cond_wait(&rest->line_moved, &rest->lock);
    }
    bool stopping = rest->stopping;
    pthread_mutex_unlock(&rest->lock);
    return !stopping;
}

static void set_handed_over(struct cbx_rest_job *job, bool handed_over)
{
    pthread_mutex_lock(&job->rest->lock);
    job->handed_over = handed_over;
    pthread_cond_broadcast(&job->rest->line_moved);
    pthread_mutex_unlock(&job->rest->lock);
}

void cbx_rest_line_pass(struct cbx_rest_job *job)
{
    set_handed_over(job, true);
}

void cbx_rest_line_return(struct cbx_rest_job *job)
{
    set_handed_over(job, false);
}

void cbx_rest_line_leave(struct cbx_rest_job *job)
{
    struct cbx_rest *rest = job->rest;
    pthread_mutex_lock(&rest->lock);
    struct cbx_rest_job **at = &rest->line;
    while (*at != NULL && *at != job) {
        at = &(*at)->next_in_line;
    }
    if (*at != NULL) {
        *at = job->next_in_line;
        pthread_cond_broadcast(&rest->line_moved);
    }
    pthread_mutex_unlock(&rest->lock);
}
