/* SPDX-License-Identifier: MIT
 * One watch for all Pods of an instance: callers that start a Pod wait for its changes, and no
 * caller polls. Where the watch was interrupted, the Pods that callers wait for are read once. The
 * watch also removes Pods that have ended (kube_ended.h). */
#include "docker/engine/kubernetes/kube.h"
#include "docker/engine/kubernetes/kube_ended.h"

#include "policies/base/memory.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LINE_MAX_BYTES = 4 * 1024 * 1024, /* of one event */
    WATCH_S = 290,                    /* the server ends a watch after this time */
    RETRY_MS = 100,                   /* after a failure; doubled up to */
    RETRY_MAX_MS = 3000,
    POLL_MS = 5000, /* until a waiting caller reads its Pod itself */
    READ_MS = 5000, /* limit of that */
};

struct cbx_kube_watch {
    struct cbx_kube *kube;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct cbx_kube_waiter *waiters;
    char instance[128];
    int64_t ended_keep_ms;
    char version[64]; /* resourceVersion to go on from; empty = read it first */
    struct cbx_buf line;
    struct cbx_kube_ended ended; /* of the thread alone */
};

/* --- waiters ---------------------------------------------------------------------------------- */

static void note(struct cbx_kube_watch *watch, const char *name, const struct cbx_kube_pod *pod)
{
    pthread_mutex_lock(&watch->lock);
    for (struct cbx_kube_waiter *w = watch->waiters; w != NULL; w = w->next) {
        if (strcmp(w->name, name) == 0 && pod->phase >= w->pod.phase) { /* else an old state */
            w->pod = *pod;
            w->created = true;
        }
    }
    pthread_cond_broadcast(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
}

void cbx_kube_watch_created(struct cbx_kube *kube, struct cbx_kube_waiter *waiter,
                            const json_t *pod)
{
    struct cbx_kube_pod state;
    cbx_kube_pod_read(pod, &state);
    pthread_mutex_lock(&kube->watch->lock);
    if (!waiter->created) { /* else the watch has a later state */
        waiter->pod = state;
        waiter->created = true;
    }
    pthread_mutex_unlock(&kube->watch->lock);
}

/* --- events ----------------------------------------------------------------------------------- */

/* Takes the resourceVersion, which becomes a part of a URL; an unusable one leaves it empty. */
static void take_version(struct cbx_kube_watch *watch, const json_t *metadata)
{
    static const char allowed[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.";
    const char *version = json_string_value(json_object_get(metadata, "resourceVersion"));
    size_t len = version != NULL ? strspn(version, allowed) : 0;
    bool valid = len > 0 && version[len] == '\0' && len < sizeof(watch->version);
    snprintf(watch->version, sizeof(watch->version), "%s", valid ? version : "");
}

static void note_ended(struct cbx_kube_watch *watch, const char *name, const json_t *pod,
                       enum cbx_kube_phase phase)
{
    if (phase == CBX_POD_GONE) {
        cbx_kube_ended_forget(&watch->ended, name);
    } else {
        cbx_kube_ended_note(&watch->ended, watch->instance, pod, cbx_clock_ms());
    }
}

/* A line of the watch: {"type": ..., "object": Pod or Status}. False if the watch must begin anew
 * from a new resourceVersion: the old one is too old (410). */
static bool take_event(struct cbx_kube_watch *watch, struct cbx_str line)
{
    CBX_AUTO_JSON event = NULL;
    if (cbx_json_parse(line, LINE_MAX_BYTES, &event, NULL) != 0) {
        return false;
    }
    struct cbx_str type = cbx_json_str(json_object_get(event, "type"));
    const json_t *object = json_object_get(event, "object"),
                 *metadata = json_object_get(object, "metadata");
    const char *name = json_string_value(json_object_get(metadata, "name"));
    if (cbx_str_is(type, "ERROR")) {
        return false;
    }
    take_version(watch, metadata);
    if (name != NULL && !cbx_str_is(type, "BOOKMARK")) {
        struct cbx_kube_pod pod;
        cbx_kube_pod_read(object, &pod);
        pod.phase = cbx_str_is(type, "DELETED") ? CBX_POD_GONE : pod.phase;
        note(watch, name, &pod);
        note_ended(watch, name, object, pod.phase);
    }
    return true;
}

/* A CURLOPT_WRITEFUNCTION: any value but the number of bytes ends the watch. */
static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
    struct cbx_kube_watch *watch = context;
    if (cbx_buf_add_bytes(&watch->line, bytes, size * count) != 0) {
        watch->version[0] = '\0';
        return 0;
    }
    for (char *end; (end = memchr(watch->line.p, '\n', watch->line.len)) != NULL;) {
        size_t len = (size_t)(end - watch->line.p);
        if (!take_event(watch, cbx_str_sub(cbx_buf_str(&watch->line), 0, len))) {
            watch->version[0] = '\0';
            return 0;
        }
        cbx_buf_consume(&watch->line, len + 1);
    }
    return size * count;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* A Pod that a caller waits for, or does not know to exist yet. */
struct name {
    char text[64];
    bool created;
};

/* Copies the names: a call of the API takes long, and waiters may go meanwhile. */
static size_t copy_names(struct cbx_kube_watch *watch, struct name *out, size_t max)
{
    size_t count = 0;
    pthread_mutex_lock(&watch->lock);
    for (struct cbx_kube_waiter *w = watch->waiters; w != NULL && count < max; w = w->next) {
        out[count].created = w->created;
        snprintf(out[count++].text, sizeof(out[0].text), "%.63s", w->name);
    }
    pthread_mutex_unlock(&watch->lock);
    return count;
}

static void read_pod(struct cbx_kube_watch *watch, const struct name *name)
{
    char path[256];
    long status = 0;
    CBX_AUTO_JSON answer = NULL;
    struct cbx_kube_pod pod = { .phase = CBX_POD_GONE, .message = "the Pod vanished" };
    snprintf(path, sizeof(path), "/api/v1/namespaces/%.63s/pods/%s", watch->kube->cluster.namespace,
             name->text);
    struct cbx_kube_request request = { .method = "GET", .path = path, .timeout_ms = READ_MS };
    if (cbx_kube_call(watch->kube, &request, &status, &answer, NULL) != 0) {
        return;
    }
    if (status == 200) {
        cbx_kube_pod_read(answer, &pod);
    }
    if (status == 200 || (status == 404 && name->created)) {
        note(watch, name->text, &pod);
    }
}

/* Waits for an event, at most until `until_ms`; true if the Pod's phase is beyond this one. */
static bool await_event(struct cbx_kube_watch *watch, const struct cbx_kube_waiter *waiter,
                        enum cbx_kube_phase phase, int64_t until_ms)
{
    struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
    pthread_mutex_lock(&watch->lock);
    while (waiter->pod.phase <= phase && cbx_clock_ms() < until_ms) {
        pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
    }
    bool beyond = waiter->pod.phase > phase;
    pthread_mutex_unlock(&watch->lock);
    return beyond;
}

struct cbx_kube_pod cbx_kube_watch_wait(struct cbx_kube *kube, struct cbx_kube_waiter *waiter,
                                        enum cbx_kube_phase phase, int64_t deadline_ms)
{
    struct cbx_kube_watch *watch = kube->watch;
    struct name name = { .created = true };
    snprintf(name.text, sizeof(name.text), "%.63s", waiter->name);
    int64_t now;
    do {
        now = cbx_clock_ms();
        if (await_event(watch, waiter, phase,
                        deadline_ms - now < POLL_MS ? deadline_ms : now + POLL_MS)) {
            break;
        }
        read_pod(watch, &name);
    } while (deadline_ms - now >= POLL_MS);
    pthread_mutex_lock(&watch->lock);
    struct cbx_kube_pod pod = waiter->pod;
    pthread_mutex_unlock(&watch->lock);
    return pod;
}

/* Reads the Pods that callers wait for: their events may be lost. The watch then goes on from a
 * version that is older than these states, so no later event is missed. */
static void read_waiting(struct cbx_kube_watch *watch)
{
    enum { NAMES_MAX = 256 };
    CBX_AUTO_MEM struct name *names = cbx_new_array(NAMES_MAX, sizeof(*names));
    size_t count = copy_names(watch, names, NAMES_MAX);
    for (size_t i = 0; i < count; i++) {
        read_pod(watch, &names[i]);
    }
}

/* Reads the present resourceVersion, from which the watch goes on, and the Pods that ended before:
 * the watch has no events of them. */
static bool read_version(struct cbx_kube_watch *watch)
{
    char path[512];
    size_t i;
    const json_t *pod;
    CBX_AUTO_JSON answer = NULL;
    snprintf(path, sizeof(path),
             "/api/v1/namespaces/%.63s/pods?limit=500&labelSelector=" CBX_LABEL_INSTANCE
             "%%3D%s&fieldSelector=status.phase%%21%%3DPending%%2Cstatus.phase%%21%%3DRunning",
             watch->kube->cluster.namespace, watch->instance);
    struct cbx_kube_request request = { .method = "GET", .path = path };
    if (cbx_kube_expect(watch->kube, &request, 200, "list pods", &answer, NULL) != 0) {
        return false;
    }
    take_version(watch, json_object_get(answer, "metadata"));
    json_array_foreach(json_object_get(answer, "items"), i, pod)
    {
        cbx_kube_ended_note(&watch->ended, watch->instance, pod, cbx_clock_ms());
    }
    return watch->version[0] != '\0';
}

static bool has_due(const struct cbx_kube_watch *watch)
{
    return cbx_kube_ended_is_due(&watch->ended, watch->ended_keep_ms, cbx_clock_ms());
}

/* A CURLOPT_XFERINFOFUNCTION: also ends the transfer if a Pod is to be removed. */
static int poll_watch(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct cbx_kube_watch *watch = context;
    if (has_due(watch)) {
        return 1;
    }
    return cbx_kube_poll_stop(watch->kube, a, b, c, d);
}

/* Follows the watch until it ends; true if it ended as it should. */
static bool follow(struct cbx_kube_watch *watch)
{
    char url[1024];
    long status = 0;
    struct cbx_kube *kube = watch->kube;
    CBX_AUTO_DONE(buf) authorization;
    cbx_buf_init(&authorization, 64 * 1024);
    cbx_kube_authorize(kube, false, "", &authorization);
    struct curl_slist *headers = curl_slist_append(NULL, "Accept: application/json");
    if (authorization.len > 0) {
        headers = curl_slist_append(headers, authorization.p);
    }
    snprintf(url, sizeof(url),
             "%s/api/v1/namespaces/%.63s/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds="
             "%d&resourceVersion=%s&labelSelector=" CBX_LABEL_INSTANCE "%%3D%s",
             kube->cluster.server, kube->cluster.namespace, WATCH_S, watch->version,
             watch->instance);
    CURL *curl = cbx_kube_handle(kube);
    cbx_buf_reset(&watch->line);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, watch);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, poll_watch);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, watch);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)WATCH_S + 30);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    cbx_handles_give(&kube->handles, curl);
    if (status >= 400) {
        watch->version[0] = '\0';
    }
    return code == CURLE_OK;
}

/* Waits after a failure, each time longer. */
static void back_off(struct cbx_kube_watch *watch, int64_t *retry_ms)
{
    cbx_kube_pause(watch->kube, *retry_ms);
    *retry_ms = *retry_ms * 2 > RETRY_MAX_MS ? RETRY_MAX_MS : *retry_ms * 2;
}

static void *run(void *context)
{
    struct cbx_kube_watch *watch = context;
    int64_t retry_ms = RETRY_MS;
    while (!atomic_load(&watch->kube->stopping)) {
        if (watch->version[0] == '\0' && !read_version(watch)) {
            back_off(watch, &retry_ms);
            continue;
        }
        read_waiting(watch);
        int64_t began = cbx_clock_ms();
        bool complete = follow(watch) || has_due(watch);
        cbx_kube_ended_remove(&watch->ended, &watch->kube->engine, watch->ended_keep_ms,
                              cbx_clock_ms());
        bool lasted = cbx_clock_ms() - began > RETRY_MAX_MS;
        retry_ms = lasted ? RETRY_MS : retry_ms;
        if (!complete || !lasted) { /* a server may end each watch at once */
            back_off(watch, &retry_ms);
        }
    }
    return NULL;
}

static struct cbx_kube_watch *start_watch(struct cbx_kube *kube, const char *instance)
{
    struct cbx_kube_watch *watch = cbx_new(sizeof(*watch));
    pthread_condattr_t monotonic;
    watch->kube = kube;
    watch->ended_keep_ms = kube->ended_keep_ms;
    snprintf(watch->instance, sizeof(watch->instance), "%s", instance);
    pthread_mutex_init(&watch->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    cbx_buf_init(&watch->line, LINE_MAX_BYTES);
    if (pthread_create(&watch->thread, NULL, run, watch) != 0) {
        abort();
    }
    return watch;
}

void cbx_kube_watch_add(struct cbx_kube *kube, const char *instance, struct cbx_kube_waiter *waiter)
{
    pthread_mutex_lock(&kube->lock);
    bool starts = kube->watch == NULL;
    if (starts) {
        kube->watch = start_watch(kube, instance);
    }
    pthread_mutex_unlock(&kube->lock);
    pthread_mutex_lock(&kube->watch->lock);
    waiter->next = kube->watch->waiters;
    kube->watch->waiters = waiter;
    pthread_mutex_unlock(&kube->watch->lock);
}

void cbx_kube_watch_remove(struct cbx_kube *kube, struct cbx_kube_waiter *waiter)
{
    pthread_mutex_lock(&kube->watch->lock);
    struct cbx_kube_waiter **at = &kube->watch->waiters;
    while (*at != waiter) {
        at = &(*at)->next;
    }
    *at = waiter->next;
    pthread_mutex_unlock(&kube->watch->lock);
}

void cbx_kube_watch_free(struct cbx_kube_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    atomic_store(&watch->kube->stopping, true);
    pthread_join(watch->thread, NULL);
    cbx_buf_done(&watch->line);
    cbx_kube_ended_done(&watch->ended);
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}
