/* SPDX-License-Identifier: MIT
 * The watch: one thread, which asks all replicas at the same time. */
#include "gateway/front/forward/replica_watch.h"

#include "gateway/front/executor_client.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <pthread.h>
#include <stdlib.h>

struct cbx_replica_watch {
    struct cbx_forwarder *forwarder;
    struct cbx_flow *flow;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ending;
    bool ends;
    bool down[CBX_REPLICAS_MAX];
};

/* A replica that is not well answers as well: what counts is that it can be reached. */
static void note(struct cbx_replica_watch *w, size_t index, const struct cbx_forward_answer *answer)
{
    bool down = answer->status == 0;
    pthread_mutex_lock(&w->lock);
    bool changed = w->down[index] != down && !w->ends;
    w->down[index] = down;
    pthread_mutex_unlock(&w->lock);
    if (changed && down) {
        cbx_log(CBX_LOG_WARNING,
                "replica '%s' cannot be reached: %s; what it has cannot be used through this one",
                answer->replica->name, answer->reason);
    } else if (changed) {
        cbx_log(CBX_LOG_INFO, "replica '%s' is reached again", answer->replica->name);
    }
}

/* The executor checks the head: the replica is not trusted to state it, nor is this front. */
static void anchor(struct cbx_replica_watch *w, const struct cbx_replica *replica,
                   struct cbx_str head)
{
    struct cbx_err err = { 0 };
    const struct cbx_anchor_args args = { .replica = cbx_str_of(replica->name), .head = head };
    if (cbx_call_anchor(w->flow, &args, CBX_STR(""), NULL, &err) != 0) {
        cbx_log(CBX_LOG_WARNING, "the head of replica '%s' is not recorded: %s", replica->name,
                err.text);
    }
}

static void ask(struct cbx_replica_watch *w)
{
    static const struct cbx_http_request health = {
        .method = CBX_STR("GET"), .path = CBX_STR("/healthz"), .address = "", .id = ""
    };
    struct cbx_forward_answer answers[CBX_REPLICAS_MAX];
    size_t count = cbx_forward_all(w->forwarder, &health, answers);
    for (size_t i = 0; i < count; i++) {
        struct cbx_str head = cbx_json_str(json_object_get(answers[i].json, "audit_head"));
        note(w, i, &answers[i]);
        if (head.len > 0) {
            anchor(w, answers[i].replica, head);
        }
        json_decref(answers[i].json);
    }
}

static void *watch(void *context)
{
    struct cbx_replica_watch *w = context;
    pthread_mutex_lock(&w->lock);
    while (!w->ends) {
        pthread_mutex_unlock(&w->lock);
        ask(w);
        int64_t next_ms = cbx_clock_ms() + CBX_REPLICA_WATCH_MS;
        pthread_mutex_lock(&w->lock);
        while (!w->ends && cbx_cond_wait_until(&w->ending, &w->lock, next_ms)) {
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct cbx_replica_watch *cbx_replica_watch_new(struct cbx_forwarder *forwarder,
                                                struct cbx_flow *flow)
{
    struct cbx_replica_watch *w = cbx_new(sizeof(*w));
    w->forwarder = forwarder;
    w->flow = flow;
    pthread_mutex_init(&w->lock, NULL);
    cbx_cond_init(&w->ending);
    if (pthread_create(&w->thread, NULL, watch, w) != 0) {
        free(w);
        return NULL;
    }
    return w;
}

void cbx_replica_watch_stop(struct cbx_replica_watch *w)
{
    if (w != NULL) {
        pthread_mutex_lock(&w->lock);
        w->ends = true;
        pthread_cond_signal(&w->ending);
        pthread_mutex_unlock(&w->lock);
    }
}

void cbx_replica_watch_free(struct cbx_replica_watch *w)
{
    if (w == NULL) {
        return;
    }
    cbx_replica_watch_stop(w);
    pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->ending);
    free(w);
}

bool cbx_replica_watch_is_up(struct cbx_replica_watch *w, size_t index)
{
    if (w == NULL) {
        return true;
    }
    pthread_mutex_lock(&w->lock);
    bool up = !w->down[index];
    pthread_mutex_unlock(&w->lock);
    return up;
}
