/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the engine for Kubernetes. */
#ifndef CBX_DOCKER_ENGINE_KUBERNETES_KUBE_H
#define CBX_DOCKER_ENGINE_KUBERNETES_KUBE_H

#include "docker/engine/engine_ops.h"
#include "docker/engine/handles.h"
#include "docker/engine/kubernetes/cluster.h"
#include "docker/engine/kubernetes/kubernetes.h"
#include "policies/base/buf.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct cbx_kube_watch;
struct cbx_kube_layers;

struct cbx_kube {
    struct cbx_engine engine;
    struct cbx_cluster cluster;
    struct cbx_handles handles;
    pthread_mutex_t lock;           /* protects the token, and the start of the watch */
    char *token;                    /* contents of the token's file */
    int64_t token_ms;               /* time when it was read */
    struct cbx_kube_watch *watch;   /* NULL = not started */
    struct cbx_kube_layers *layers; /* NULL = the settings allow no packages */
    int64_t ended_keep_ms;          /* CBX_KUBE_ENDED_KEEP_MS; read when the watch starts */
    atomic_bool stopping;           /* ends transfers and pauses */
};

/* Returns the object that an engine of this folder begins. */
static inline struct cbx_kube *cbx_kube_of(struct cbx_engine *engine)
{
    return (struct cbx_kube *)engine;
}

/* --- kube_http.c: requests -------------------------------------------------------------------- */

struct cbx_kube_request {
    const char *method, *path;
    const json_t *body; /* NULL = none */
    int timeout_ms;     /* of all attempts; 0 = 30 s */
};

/* Sends a request: the status, and the reply as JSON (new reference; NULL for an empty one). A
 * status of 429 is awaited and repeated for some seconds, 401 once with a token that is read
 * again. CBX_EENGINE. */
int cbx_kube_call(struct cbx_kube *kube, const struct cbx_kube_request *request, long *status,
                  json_t **answer, struct cbx_err *err);

/* Reads a text, such as a log, into *out. Other statuses than 200 fail as cbx_kube_refused. */
int cbx_kube_text(struct cbx_kube *kube, const char *path, struct cbx_buf *out,
                  struct cbx_err *err);

/* The same as cbx_kube_call, for calls with one good result: other statuses fail as cbx_kube_refused. */
int cbx_kube_expect(struct cbx_kube *kube, const struct cbx_kube_request *request, long good,
                    const char *what, json_t **answer, struct cbx_err *err);

/* Waits; ends early if the engine is being freed. */
void cbx_kube_pause(const struct cbx_kube *kube, int64_t ms);

/* A CURLOPT_XFERINFOFUNCTION, with the engine as its data: ends the transfer if the engine is being
 * freed. libcurl calls it about once a second. */
int cbx_kube_poll_stop(void *kube, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d);

/* Returns a handle with the cluster's TLS files and address; the caller gives it back. */
CURL *cbx_kube_handle(struct cbx_kube *kube);

/* Appends the header "Authorization: Bearer ...", if there is a token, with this end of line. A
 * token file is read again after a minute, or if `renew` is set. */
void cbx_kube_authorize(struct cbx_kube *kube, bool renew, const char *end, struct cbx_buf *out);

/* Fails with CBX_EENGINE for a transfer that failed with `code`; `words` is libcurl's message. */
int cbx_kube_unreachable(const struct cbx_kube *kube, CURLcode code, const char *words,
                         struct cbx_err *err);

/* --- kube_errors.c: refusals as sentences ----------------------------------------------------- */

/* Fails with the code and the sentence for a status and the message of the reply (a Status
 * object, or NULL). `what` completes "the cluster refused to ...". */
int cbx_kube_refused(const struct cbx_kube *kube, long status, const json_t *answer,
                     const char *what, struct cbx_err *err);

/* Why a Pod does not run. `reason` is that of its container's or its own status. */
struct cbx_kube_pod {
    enum cbx_kube_phase {
        CBX_POD_PENDING = 0,
        CBX_POD_RUNNING,
        CBX_POD_FAULTY, /* it will not run: the image cannot be pulled, ... */
        CBX_POD_ENDED,
        CBX_POD_GONE,
    } phase;
    char reason[64], message[300], node[64];
    int exit_code;
    bool oom_killed;
    bool taken; /* evicted by its node or the scheduler, or being removed */
};
int cbx_kube_not_started(const struct cbx_kube *kube, const struct cbx_kube_pod *pod,
                         struct cbx_err *err);

/* --- kube_pod.c: Pods as data ----------------------------------------------------------------- */

/* Makes the body of a Pod (new reference); `image` is the reference of its image. CBX_ESTATE for a
 * spec that a cluster cannot have. */
int cbx_kube_pod_body(const struct cbx_cluster *cluster, const struct cbx_container_spec *spec,
                      const char *image, const char *name, json_t **out, struct cbx_err *err);

/* Compares the Pod that the cluster made with the one that was asked for: CBX_EENGINE, naming the
 * field, if it differs in more than the defaults that an API server fills in. */
int cbx_kube_pod_compare(const json_t *asked, const json_t *made, struct cbx_err *err);

/* Reads the state of a Pod. */
void cbx_kube_pod_read(const json_t *pod, struct cbx_kube_pod *out);

/* Returns an entry of the images file by its name, or by its id; NULL if there is none. */
const json_t *cbx_kube_image(const struct cbx_cluster *cluster, const char *name_or_id);

/* True if an object of labels has this one: "key" or "key=value". */
bool cbx_kube_has_label(const json_t *labels, const char *label);

/* --- kube_watch.c: changes of Pods ------------------------------------------------------------ */

/* A caller that waits for a Pod to start. */
struct cbx_kube_waiter {
    const char *name; /* of the Pod */
    bool created;     /* the Pod exists, as far as the caller knows */
    struct cbx_kube_pod pod;
    struct cbx_kube_waiter *next;
};

/* Add and remove a waiter; the first one starts the watch, for the Pods with this label of an
 * instance. */
void cbx_kube_watch_add(struct cbx_kube *kube, const char *instance,
                        struct cbx_kube_waiter *waiter);
void cbx_kube_watch_remove(struct cbx_kube *kube, struct cbx_kube_waiter *waiter);

/* Waits until the Pod's phase is beyond this one, at most until the deadline; returns a copy of its
 * state. Reads the Pod itself from time to time and at the deadline: the watch may be silent. */
struct cbx_kube_pod cbx_kube_watch_wait(struct cbx_kube *kube, struct cbx_kube_waiter *waiter,
                                        enum cbx_kube_phase phase, int64_t deadline_ms);

/* Marks the Pod as created, with the state in the reply. */
void cbx_kube_watch_created(struct cbx_kube *kube, struct cbx_kube_waiter *waiter,
                            const json_t *pod);

void cbx_kube_watch_free(struct cbx_kube_watch *watch);

/* --- kube_exec.c: the streams of a Pod -------------------------------------------------------- */

int cbx_kube_attach(struct cbx_engine *engine, const char *id, struct cbx_attach **out,
                    struct cbx_err *err);

/* Starts a program in a Pod (its words end with NULL), and attaches to its streams; they end when
 * the program has ended. */
int cbx_kube_exec(struct cbx_kube *kube, const char *id, const char *const *command,
                  struct cbx_attach **out, struct cbx_err *err);

/* Reads the exit code of a program whose streams have ended. CBX_EENGINE if the cluster told
 * none: the connection broke, or the Pod is gone. */
int cbx_kube_exit_code(struct cbx_attach *attach, int *out, struct cbx_err *err);

/* --- kube_log.c: the output of a Pod that has ended ------------------------------------------- */

int cbx_kube_log(struct cbx_kube *kube, const char *id, struct cbx_attach **out,
                 struct cbx_err *err);

/* --- kube_review.c: what a cluster holds ------------------------------------------------------ */

/* The facts for `codebox doctor`, as cbx_engine_info gives them (docker/doctor/doctor_cluster.c
 * reads them). */
int cbx_kube_review(struct cbx_kube *kube, json_t **out, struct cbx_err *err);

#endif
