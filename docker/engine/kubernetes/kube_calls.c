/* SPDX-License-Identifier: MIT
 * The engine's functions for containers and images, as calls about Pods. */
#include "docker/engine/kubernetes/kube.h"
#include "docker/engine/kubernetes/kube_ended.h"
#include "docker/engine/kubernetes/kube_layers.h"

#include "docker/contents.h"
#include "policies/base/hash.h"
#include "policies/base/memory.h"
#include "policies/base/text/hex.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE_PODS = 500, PAGES_MAX = 200, PODS_MAX = PAGE_PODS * PAGES_MAX };
enum { PATH_BYTES = 512, NAME_RANDOM_BYTES = 16, NAME_CHARS_MAX = 63, CONTINUE_MAX = 1024 };

static void pod_path(const struct cbx_kube *kube, const char *id, const char *query,
                     char out[PATH_BYTES])
{
    snprintf(out, PATH_BYTES, "/api/v1/namespaces/%.63s/pods%s%.63s%.200s", kube->cluster.namespace,
             id[0] != '\0' ? "/" : "", id, query);
}

/* --- the cluster ------------------------------------------------------------------------------ */

static int version_info(struct cbx_engine *engine, json_t **out, struct cbx_err *err)
{
    struct cbx_kube_request request = { .method = "GET", .path = "/version" };
    return cbx_kube_expect(cbx_kube_of(engine), &request, 200, "tell its version", out, err);
}

static int info(struct cbx_engine *engine, json_t **out, struct cbx_err *err)
{
    return cbx_kube_review(cbx_kube_of(engine), out, err);
}

static int ping(struct cbx_engine *engine, int timeout_ms, struct cbx_err *err)
{
    CBX_AUTO_JSON answer = NULL;
    struct cbx_kube_request request = { .method = "GET",
                                        .path = "/version",
                                        .timeout_ms = timeout_ms };
    return cbx_kube_expect(cbx_kube_of(engine), &request, 200, "answer", &answer, err);
}

/* --- images: what the images file says -------------------------------------------------------- */

/* *entry is {reference, id, size, labels} (new reference). */
static int find_image(struct cbx_kube *kube, const char *name_or_id, json_t **entry,
                      struct cbx_err *err)
{
    if (cbx_kube_is_layer(name_or_id)) {
        return cbx_kube_layer_find(kube, name_or_id, entry, err);
    }
    const json_t *found = cbx_kube_image(&kube->cluster, name_or_id);
    if (found != NULL) {
        *entry = json_incref((json_t *)(uintptr_t)found);
        return 0;
    }
    if (cbx_kube_layer_known(kube, name_or_id, entry, NULL) == 0) {
        return 0;
    }
    cbx_fail(err, CBX_ENOTFOUND, "the cluster's images file has no image '%.100s'", name_or_id);
    cbx_err_detail(err, "'codebox image push' writes it; the settings name it ('images')");
    return CBX_ENOTFOUND;
}

static int image(struct cbx_engine *engine, const char *name, struct cbx_image *out,
                 json_t **labels, struct cbx_err *err)
{
    CBX_AUTO_JSON entry = NULL;
    int failed = find_image(cbx_kube_of(engine), name, &entry, err);
    if (failed) {
        return failed;
    }
    struct cbx_str id = cbx_json_str(json_object_get(entry, "id"));
    if (id.len != CBX_IMAGE_ID_CHARS || !cbx_str_starts(id, CBX_STR("sha256:"))) {
        return cbx_fail(err, CBX_EENGINE, "the cluster's images file has no id of image '%.100s'",
                        name);
    }
    snprintf(out->id, sizeof(out->id), "%.*s", (int)id.len, id.p);
    out->size_bytes = json_integer_value(json_object_get(entry, "size"));
    *labels = json_incref(json_object_get(entry, "labels"));
    return 0;
}

bool cbx_kube_has_label(const json_t *labels, const char *label)
{
    size_t key_len = strcspn(label, "=");
    CBX_AUTO_MEM char *key = cbx_str_copy((struct cbx_str){ .p = label, .len = key_len });
    const char *value = json_string_value(json_object_get(labels, key));
    return value != NULL && (label[key_len] == '\0' || strcmp(value, label + key_len + 1) == 0);
}

static int image_list(struct cbx_engine *engine, const char *label, json_t **out,
                      struct cbx_err *err)
{
    const char *name;
    json_t *entry;
    CBX_AUTO_JSON list = json_array();
    json_object_foreach(cbx_kube_of(engine)->cluster.pods.images, name, entry)
    {
        json_t *labels = json_object_get(entry, "labels"), *size = json_object_get(entry, "size");
        if (cbx_kube_has_label(labels, label)) {
            json_array_append_new(
                list, json_pack("{s:O,s:i,s:[s],s:O,s:O*}", "Id", json_object_get(entry, "id"),
                                "Created", 0, "RepoTags", name, "Labels", labels, "Size", size));
        }
    }
    int failed = cbx_kube_layer_list(cbx_kube_of(engine), label, list, err);
    if (!failed) {
        *out = cbx_steal(&list);
    }
    return failed;
}

/* Images of the file stay: others may have pulled them. */
static int image_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err)
{
    return cbx_kube_layer_remove(cbx_kube_of(engine), id, err);
}

/* --- Pods ------------------------------------------------------------------------------------- */

static void new_name(char out[CBX_CONTAINER_ID_CHARS + 1])
{
    unsigned char random[NAME_RANDOM_BYTES];
    char hex[2 * NAME_RANDOM_BYTES + 1];
    cbx_random(random, sizeof(random));
    cbx_hex_encode(random, sizeof(random), hex);
    snprintf(out, CBX_CONTAINER_ID_CHARS + 1, "codebox-%s", hex);
}

/* False if a reply tells that the Pod was not made. libcurl repeats a request whose connection
 * broke before the reply, so "the name exists" (409) may be about the Pod of the first one: the
 * name is random. */
static bool may_exist(long status)
{
    return status < 400 || status >= 500 || status == 408 || status == 409;
}

static int post(struct cbx_kube *kube, const json_t *body, struct cbx_kube_waiter *waiter,
                char id[CBX_CONTAINER_ID_CHARS + 1], struct cbx_err *err)
{
    char path[PATH_BYTES];
    long status = 0;
    CBX_AUTO_JSON made = NULL;
    pod_path(kube, "", "", path);
    struct cbx_kube_request request = { .method = "POST", .path = path, .body = body };
    int failed = cbx_kube_call(kube, &request, &status, &made, err);
    if (failed) {
        return failed;
    }
    id[0] = may_exist(status) ? id[0] : '\0';
    if (status != 201 || !json_is_object(made)) {
        return cbx_kube_refused(kube, status, made, "create a pod", err);
    }
    cbx_kube_watch_created(kube, waiter, made);
    return cbx_kube_pod_compare(body, made, err);
}

/* Why a Pod does not start: only its events tell that a node could not make its sandbox. */
static void read_events(struct cbx_kube *kube, const char *id, struct cbx_kube_pod *pod)
{
    char path[PATH_BYTES];
    CBX_AUTO_JSON answer = NULL;
    snprintf(path, sizeof(path),
             "/api/v1/namespaces/%.63s/events?limit=50&fieldSelector=involvedObject.name%%3D%.63s",
             kube->cluster.namespace, id);
    struct cbx_kube_request request = { .method = "GET", .path = path };
    if (cbx_kube_expect(kube, &request, 200, "list events", &answer, NULL) != 0) {
        return; /* the right for it is not required */
    }
    size_t i;
    const json_t *event;
    json_array_foreach(json_object_get(answer, "items"), i, event)
    {
        if (cbx_str_is(cbx_json_str(json_object_get(event, "type")), "Warning")) {
            snprintf(pod->reason, sizeof(pod->reason), "%.*s", CBX_JSON_ARG(event, "reason"));
            snprintf(pod->message, sizeof(pod->message), "%.*s", CBX_JSON_ARG(event, "message"));
        }
    }
}

/* A Pod with streams must run; that of a probe must have run to its end. */
static int await_start(struct cbx_kube *kube, struct cbx_kube_waiter *waiter, bool runs,
                       struct cbx_err *err)
{
    int64_t deadline = cbx_clock_ms() + kube->cluster.pods.start_ms;
    struct cbx_kube_pod pod =
        cbx_kube_watch_wait(kube, waiter, runs ? CBX_POD_PENDING : CBX_POD_RUNNING, deadline);
    if (pod.phase == (runs ? CBX_POD_RUNNING : CBX_POD_ENDED)) {
        return 0;
    }
    if (pod.message[0] == '\0') {
        read_events(kube, waiter->name, &pod);
    }
    return cbx_kube_not_started(kube, &pod, err);
}

static bool is_supervised(const struct cbx_container_spec *spec)
{
    return strcmp(spec->command[0], CBX_SUPERVISOR_PROGRAM) == 0;
}

static int make_body(struct cbx_kube *kube, const struct cbx_container_spec *spec, const char *name,
                     json_t **out, struct cbx_err *err)
{
    CBX_AUTO_JSON entry = NULL;
    int failed = find_image(kube, spec->image, &entry, err);
    if (failed) {
        return failed == CBX_ENOTFOUND ? CBX_EENGINE : failed;
    }
    const char *reference = json_string_value(json_object_get(entry, "reference"));
    if (reference == NULL) {
        return cbx_fail(err, CBX_EENGINE, "the images file has no reference for image '%.80s'",
                        spec->image);
    }
    return cbx_kube_pod_body(&kube->cluster, spec, reference, name, out, err);
}

static int create(struct cbx_kube *kube, const struct cbx_container_spec *spec,
                  char id[CBX_CONTAINER_ID_CHARS + 1], struct cbx_err *err)
{
    char name[CBX_CONTAINER_ID_CHARS + 1];
    CBX_AUTO_JSON body = NULL;
    new_name(name);
    int failed = make_body(kube, spec, name, &body, err);
    if (failed) {
        return failed;
    }
    memcpy(id, name, sizeof(name));
    struct cbx_kube_waiter waiter = { .name = name };
    cbx_kube_watch_add(kube, spec->instance, &waiter);
    failed = post(kube, body, &waiter, id, err);
    if (!failed) {
        bool runs = is_supervised(spec) || spec->role == CBX_ROLE_INSTALLER;
        failed = await_start(kube, &waiter, runs, err);
    }
    cbx_kube_watch_remove(kube, &waiter);
    return failed;
}

static int begin(struct cbx_engine *engine, const struct cbx_container_spec *spec,
                 char id[CBX_CONTAINER_ID_CHARS + 1], struct cbx_attach **attach,
                 struct cbx_err *err)
{
    struct cbx_kube *kube = cbx_kube_of(engine);
    int failed = create(kube, spec, id, err);
    if (failed) {
        return failed;
    }
    if (spec->role == CBX_ROLE_INSTALLER) {
        return cbx_kube_exec(kube, id, spec->command, attach, err);
    }
    if (!is_supervised(spec)) {
        return cbx_kube_log(kube, id, attach, err);
    }
    return cbx_kube_attach(engine, id, attach, err);
}

static int remove_pod(struct cbx_engine *engine, const char *id, struct cbx_err *err)
{
    struct cbx_kube *kube = cbx_kube_of(engine);
    char path[PATH_BYTES];
    long status = 0;
    CBX_AUTO_JSON answer = NULL;
    pod_path(kube, id, "?gracePeriodSeconds=0&propagationPolicy=Background", path);
    struct cbx_kube_request request = { .method = "DELETE", .path = path };
    int failed = cbx_kube_call(kube, &request, &status, &answer, err);
    bool gone = status == 200 || status == 202 || status == 404;
    if (failed || gone) {
        return failed;
    }
    return cbx_kube_refused(kube, status, answer, "remove a pod", err);
}

static int state(struct cbx_engine *engine, const char *id, int timeout_ms,
                 struct cbx_container_state *out, struct cbx_err *err)
{
    struct cbx_kube *kube = cbx_kube_of(engine);
    char path[PATH_BYTES];
    CBX_AUTO_JSON answer = NULL;
    struct cbx_kube_pod pod;
    pod_path(kube, id, "", path);
    struct cbx_kube_request request = { .method = "GET", .path = path, .timeout_ms = timeout_ms };
    int failed = cbx_kube_expect(kube, &request, 200, "read a pod", &answer, err);
    if (failed) {
        return failed;
    }
    cbx_kube_pod_read(answer, &pod);
    *out = (struct cbx_container_state){ .running = pod.phase == CBX_POD_RUNNING,
                                         .oom_killed = pod.oom_killed,
                                         .taken = pod.taken,
                                         .exit_code = pod.exit_code };
    return 0;
}

static int throttled(struct cbx_engine *engine, const char *id, int timeout_ms, int64_t *out,
                     struct cbx_err *err)
{
    (void)engine;
    (void)id;
    (void)timeout_ms;
    (void)out;
    return cbx_fail(err, CBX_EENGINE, "a cluster does not count throttled periods");
}

/* An installer's Pod runs on, so that its files can be packed. The kernel ends a program of a Pod
 * with SIGKILL when the memory is used up; nothing else does. */
static int ended(struct cbx_engine *engine, const char *id, struct cbx_attach *attach,
                 int timeout_s, struct cbx_container_state *out, struct cbx_err *err)
{
    enum { KILLED = 128 + SIGKILL };
    (void)engine;
    (void)id;
    (void)timeout_s;
    *out = (struct cbx_container_state){ .exit_code = -1 };
    int failed = cbx_kube_exit_code(attach, &out->exit_code, err);
    out->oom_killed = out->exit_code == KILLED;
    return failed;
}

/* --- the list of Pods ------------------------------------------------------------------------- */

static int64_t read_label(const json_t *labels, const char *name)
{
    const char *text = json_string_value(json_object_get(labels, name));
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

/* A name becomes a part of request paths, and those have at most 63 characters of it: a name that
 * this engine cannot have made is that of no sandbox. */
static bool is_pod_name(struct cbx_str name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    for (size_t i = 0; i < name.len; i++) {
        if (memchr(allowed, name.p[i], sizeof(allowed) - 1) == NULL) {
            return false;
        }
    }
    return name.len > 0 && name.len <= NAME_CHARS_MAX;
}

static void read_entry(const json_t *pod, struct cbx_container_entry *out)
{
    const json_t *metadata = json_object_get(pod, "metadata"),
                 *labels = json_object_get(metadata, "labels");
    struct cbx_kube_pod now;
    cbx_kube_pod_read(pod, &now);
    snprintf(out->id, sizeof(out->id), "%.*s", CBX_JSON_ARG(metadata, "name"));
    /* An installer ends with the connection of its gateway, although its Pod runs on: it is there to
     * be removed, and no sandbox that the next gateway could adopt. */
    out->running =
        now.phase == CBX_POD_RUNNING && json_object_get(labels, CBX_LABEL_NETWORK) == NULL;
    out->created_s = read_label(labels, CBX_LABEL_CREATED);
    out->lease_s = read_label(labels, CBX_LABEL_LEASE);
}

static int read_page(struct cbx_kube *kube, const char *label, const char *next, json_t **out,
                     struct cbx_err *err)
{
    char path[4096];
    CBX_AUTO_MEM char *selector = curl_easy_escape(NULL, label, 0);
    CBX_AUTO_MEM char *from = curl_easy_escape(NULL, next, 0);
    if (selector == NULL || from == NULL) {
        abort();
    }
    snprintf(path, sizeof(path),
             "/api/v1/namespaces/%.63s/pods?limit=%d&labelSelector=%.400s&continue=%s",
             kube->cluster.namespace, PAGE_PODS, selector, from);
    struct cbx_kube_request request = { .method = "GET", .path = path };
    return cbx_kube_expect(kube, &request, 200, "list pods", out, err);
}

/* The Pods of a reply. */
struct page {
    struct cbx_container_entry *entries;
    size_t count;
};

static int add_pods(struct page *page, const json_t *items, struct cbx_err *err)
{
    size_t i;
    const json_t *pod;
    if (page->count + json_array_size(items) > PODS_MAX) {
        return cbx_fail(err, CBX_EENGINE, "the cluster lists more than %d pods", PODS_MAX);
    }
    page->entries =
        cbx_renew(page->entries, page->count + json_array_size(items) + 1, sizeof(*page->entries));
    json_array_foreach(items, i, pod)
    {
        const json_t *name = json_object_get(json_object_get(pod, "metadata"), "name");
        if (is_pod_name(cbx_json_str(name))) {
            read_entry(pod, &page->entries[page->count++]);
        }
    }
    return 0;
}

/* Reads all pages. A part of them would be a wrong answer: the missing sandboxes would count as
 * ended. */
static int read_pages(struct cbx_kube *kube, const char *label, struct page *out,
                      struct cbx_err *err)
{
    CBX_AUTO_MEM char *next = cbx_str_copy(CBX_STR(""));
    for (int page = 0; page == 0 || next[0] != '\0'; page++) {
        CBX_AUTO_JSON answer = NULL;
        if (page == PAGES_MAX || strlen(next) > CONTINUE_MAX) {
            return cbx_fail(err, CBX_EENGINE, "the cluster's list of pods does not end");
        }
        int failed = read_page(kube, label, next, &answer, err);
        if (failed) {
            return failed;
        }
        failed = add_pods(out, json_object_get(answer, "items"), err);
        if (failed) {
            return failed;
        }
        free(next);
        next = cbx_str_copy(
            cbx_json_str(json_object_get(json_object_get(answer, "metadata"), "continue")));
    }
    return 0;
}

static int list(struct cbx_engine *engine, const char *label, struct cbx_container_entry **out,
                size_t *count, struct cbx_err *err)
{
    struct page all = { .entries = cbx_new_array(1, sizeof(*all.entries)) };
    int failed = read_pages(cbx_kube_of(engine), label, &all, err);
    if (failed) {
        free(all.entries);
        return failed;
    }
    *out = all.entries;
    *count = all.count;
    return 0;
}

/* --- the engine ------------------------------------------------------------------------------- */

static void free_kube(struct cbx_engine *engine)
{
    struct cbx_kube *kube = cbx_kube_of(engine);
    atomic_store(&kube->stopping, true);
    cbx_kube_watch_free(kube->watch);
    cbx_kube_layers_free(kube->layers);
    cbx_handles_done(&kube->handles);
    cbx_cluster_done(&kube->cluster);
    pthread_mutex_destroy(&kube->lock);
    free(kube->token);
    free(kube);
}

static const struct cbx_engine_ops ops = {
    .free = free_kube,
    .version_info = version_info,
    .info = info,
    .ping = ping,
    .image = image,
    .image_list = image_list,
    .image_remove = image_remove,
    .begin = begin,
    .attach = cbx_kube_attach,
    .remove = remove_pod,
    .state = state,
    .throttled = throttled,
    .ended = ended,
    .layer_make = cbx_kube_layer_make,
    .list = list,
};

static void add_file(struct cbx_engine_needs *needs, const char *path)
{
    if (path != NULL) {
        cbx_engine_needs_file(needs, path);
    }
}

void cbx_kubernetes_prepare(const char *host, const char *scratch, struct cbx_engine_needs *out)
{
    struct cbx_cluster_paths paths;
    (void)scratch;
    cbx_handles_start();
    out->tcp = true;
    if (!cbx_cluster_paths(host, &paths)) {
        return;
    }
    cbx_engine_needs_file(out, paths.settings);
    cbx_engine_needs_file(out, paths.kubeconfig[0] != '\0' ? paths.kubeconfig
                                                           : CBX_CLUSTER_ACCOUNT "/token");
    CBX_AUTO_DONE(cluster) cluster = { .server = NULL };
    if (cbx_cluster_read_settings(host, &cluster, NULL) == 0) { /* else cbx_engine_new tells it */
        add_file(out, cluster.pods.images_file);
        add_file(out, cluster.pods.registry_credentials);
        add_file(out, cluster.pods.registry_ca);
    }
}

static int read_version(struct cbx_kube *kube, struct cbx_err *err)
{
    CBX_AUTO_JSON version = NULL;
    int failed = version_info(&kube->engine, &version, err);
    if (failed) {
        return failed;
    }
    snprintf(kube->engine.version, sizeof(kube->engine.version), "%.*s",
             CBX_JSON_ARG(version, "gitVersion"));
    snprintf(kube->engine.api, sizeof(kube->engine.api), "v1");
    return 0;
}

int cbx_kubernetes_open(const char *host, struct cbx_engine **out, struct cbx_err *err)
{
    cbx_handles_start();
    struct cbx_kube *kube = cbx_new(sizeof(*kube));
    CBX_AUTO(engine) engine = &kube->engine;
    engine->ops = &ops;
    kube->ended_keep_ms = CBX_KUBE_ENDED_KEEP_MS;
    engine->abilities =
        (struct cbx_engine_abilities){ .name = "Kubernetes", .cluster = true, .keeps_ended = true };
    pthread_mutex_init(&kube->lock, NULL);
    cbx_handles_init(&kube->handles);
    int failed = cbx_cluster_read(host, &kube->cluster, err);
    if (failed) {
        return failed;
    }
    failed = cbx_kube_layers_new(&kube->cluster.pods, &kube->layers, err);
    if (failed) {
        return failed;
    }
    engine->abilities.makes_layers = kube->layers != NULL;
    snprintf(engine->host, sizeof(engine->host), "%.300s, namespace %.63s", kube->cluster.server,
             kube->cluster.namespace);
    failed = read_version(kube, err);
    if (!failed) {
        *out = cbx_steal(&engine);
    }
    return failed;
}
