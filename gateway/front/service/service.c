/* SPDX-License-Identifier: MIT
 * The life of a service, and its requests to the flow. */
#include "gateway/front/service/service.h"

#include "gateway/front/jobs/backlog.h"
#include "gateway/front/service/decisions.h"
#include "gateway/front/service/service_packages.h"

#include "policies/base/time/deadline.h"
#include <stdio.h>

#include <time.h>

void cbx_service_init(struct cbx_service *service, struct cbx_flow *flow, struct cbx_store *store,
                      int jobs_max)
{
    *service = (struct cbx_service){
        .flow = flow, .store = store, .jobs_max = jobs_max, .fresh_ms = CBX_SEAL_LIFE_MS / 3
    };
    cbx_service_now(service->began_at);
    pthread_mutex_init(&service->lock, NULL);
    cbx_cond_init(&service->queue_changed);
    cbx_cond_init(&service->watch_changed);
    cbx_cond_init(&service->sets_changed);
    service->decisions = flow->decisions = cbx_decisions_new();
    flow->recorded = cbx_decisions_record;
    service->turns = cbx_store_last_turn(store);
    service->jobs = cbx_threads_new(jobs_max);
}

void cbx_service_stop(struct cbx_service *service)
{
    pthread_mutex_lock(&service->lock);
    service->stopping = true;
    pthread_cond_broadcast(&service->queue_changed);
    pthread_cond_broadcast(&service->watch_changed);
    pthread_cond_broadcast(&service->sets_changed);
    pthread_mutex_unlock(&service->lock);
}

void cbx_service_announce_stop(struct cbx_service *service)
{
    service->announced_stop = true;
}

bool cbx_service_says_stop(const struct cbx_service *service)
{
    return service->announced_stop;
}

bool cbx_service_is_stopping(struct cbx_service *service)
{
    pthread_mutex_lock(&service->lock);
    bool stopping = service->stopping;
    pthread_mutex_unlock(&service->lock);
    return stopping;
}

void cbx_service_done(struct cbx_service *service)
{
    if (service->watches) {
        pthread_join(service->watcher, NULL);
    }
    cbx_threads_free(service->jobs);
    cbx_service_drop_backlog(service);
    cbx_service_pasts_done(service);
    cbx_service_forget_packages(service);
    service->flow->recorded = NULL;
    service->flow->decisions = NULL;
    cbx_decisions_free(service->decisions);
    pthread_cond_destroy(&service->queue_changed);
    pthread_cond_destroy(&service->watch_changed);
    pthread_cond_destroy(&service->sets_changed);
    pthread_mutex_destroy(&service->lock);
}

struct cbx_request cbx_service_request(enum cbx_action action, const char *principal,
                                       const char *language, struct cbx_str policy,
                                       struct cbx_str session, struct cbx_str source,
                                       const struct cbx_asked *asked, struct cbx_str origin)
{
    struct cbx_request request = { .policy = policy, .source = source };
    request.subject = (struct cbx_subject){ .action = action,
                                            .language = cbx_str_of(language),
                                            .principal = cbx_str_of(principal),
                                            .session = session,
                                            .origin = origin,
                                            .asked = asked };
    return request;
}

void cbx_service_time(int64_t us, char out[32])
{
    enum { SECOND_US = 1000000 };
    const time_t seconds = us / SECOND_US;
    struct tm utc;
    char text[24];
    gmtime_r(&seconds, &utc);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, 32, "%s.%06ld", text, (long)(us % SECOND_US));
}

void cbx_service_now(char out[32])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    cbx_service_time(now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000, out);
}
