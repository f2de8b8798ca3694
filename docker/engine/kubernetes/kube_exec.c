/* SPDX-License-Identifier: MIT
 * The streams of a Pod. The API's `attach` would write them to the node's log, so `exec` starts a
 * program in the Pod, over a WebSocket: in a sandbox a bridge to the supervisor
 * (docker/inside/bridge), in an installer's Pod the installer. */
#include "docker/engine/kubernetes/kube.h"

#include "docker/engine/kubernetes/kube_send.h"
#include "docker/engine/upgrade.h"
#include "docker/inside/bridge/bridge.h"
#include "policies/base/hash.h"
#include "policies/base/memory.h"
#include "policies/base/text/base64.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEAD_MAX = 64 * 1024,
    HEAD_TIMEOUT_MS = 15000,
    PENDING_MAX = 1024 * 1024,
    REQUEST_MS = 10000, /* until the peer takes more bytes of the request */
    STATE_MS = 5000,    /* limit for reading the Pod's state */
    STATUS_MAX = 4096,
    OPEN_TRIES = 4, /* for an API server that is overloaded, or restarts */
    OPEN_PAUSE_MS = 300,
};

struct kube_attach {
    struct cbx_attach attach;
    struct cbx_upgrade upgrade;
    struct cbx_websocket reader;
    /* Bytes that arrived with others and were not returned yet; `used` of them were. Empty while
     * no caller waits. */
    struct cbx_buf pending;
    size_t used;
    struct cbx_buf status; /* what the program's end was, as JSON */
    bool ended;
    bool bridge; /* a program that should not end: its end is an error */
    struct cbx_kube_sender sender;
};

static struct kube_attach *stream_of(struct cbx_attach *attach)
{
    return (struct kube_attach *)attach;
}

static int send_some(struct cbx_attach *attach, const void *bytes, size_t len, int timeout_ms,
                     size_t *sent, struct cbx_err *err)
{
    struct cbx_str all = { .p = bytes, .len = len };
    return cbx_kube_send(&stream_of(attach)->sender, all, timeout_ms, sent, err);
}

/* --- receiving -------------------------------------------------------------------------------- */

/* Takes events until one has bytes for the caller: 1; 0 if the bytes are used up. */
static int take_events(struct kube_attach *a, struct cbx_str *bytes, struct cbx_attach_bytes *out,
                       struct cbx_err *err)
{
    struct cbx_websocket_event event;
    int got;
    while ((got = cbx_websocket_next(&a->reader, bytes, &event, err)) > 0) {
        if (event.kind == CBX_WEBSOCKET_PING) {
            cbx_kube_send_pong(&a->sender, event.bytes);
        } else if (event.kind == CBX_WEBSOCKET_CLOSE) {
            a->ended = true;
            return 0;
        } else if (event.channel == CBX_STATUS_CHANNEL) {
            cbx_buf_add(&a->status, event.bytes); /* a longer one is cut: it is only shown */
        } else if (event.channel == CBX_STDOUT_CHANNEL || event.channel == CBX_STDERR_CHANNEL) {
            *out =
                (struct cbx_attach_bytes){ event.channel == CBX_STDOUT_CHANNEL ? CBX_CHANNEL_STDOUT
                                                                               : CBX_CHANNEL_STDERR,
                                           event.bytes };
            return 1;
        }
    }
    return got;
}

/* The same for bytes that arrived earlier, which the caller's buffer gets. */
static int take_pending(struct kube_attach *a, void *to, size_t size, struct cbx_attach_bytes *out,
                        struct cbx_err *err)
{
    struct cbx_str all = cbx_buf_str(&a->pending);
    struct cbx_str rest = cbx_str_sub(all, a->used, a->used + size);
    size_t offered = rest.len;
    int got = take_events(a, &rest, out, err);
    a->used += offered - rest.len;
    if (got > 0) {
        memcpy(to, out->bytes.p, out->bytes.len);
        out->bytes.p = to;
    }
    if (a->used == a->pending.len) {
        cbx_buf_done(&a->pending);
        a->used = 0;
    }
    return got;
}

/* Returns the exit code in the details of a Status; empty if there is none. */
static struct cbx_str exit_code_of(const json_t *status)
{
    size_t i;
    const json_t *cause;
    const json_t *causes = json_object_get(json_object_get(status, "details"), "causes");
    json_array_foreach(causes, i, cause)
    {
        if (cbx_str_is(cbx_json_str(json_object_get(cause, "reason")), "ExitCode")) {
            return cbx_json_str(json_object_get(cause, "message"));
        }
    }
    return CBX_STR("");
}

/* The end of the streams: success for a bridge that ended well, and for an API server that gave no
 * Status before. The cluster's own words may have addresses, so they are for the operator. */
static int read_end(const struct kube_attach *a, struct cbx_err *err)
{
    CBX_AUTO_JSON status = NULL;
    cbx_json_parse(cbx_buf_str(&a->status), STATUS_MAX, &status, NULL);
    if (!cbx_str_is(cbx_json_str(json_object_get(status, "status")), "Failure")) {
        return 0;
    }
    struct cbx_str code = exit_code_of(status);
    if (code.len > 0) {
        cbx_fail(err, CBX_EIO, "the sandbox's bridge ended with exit code %.*s",
                 CBX_STR_SHOWN(code));
    } else {
        cbx_fail(err, CBX_EIO, "the cluster could not run the sandbox's bridge");
    }
    return cbx_err_detail(err, "%.*s", CBX_JSON_ARG(status, "message"));
}

static int receive(struct cbx_attach *attach, void *to, size_t size, int timeout_ms,
                   struct cbx_attach_bytes *out, struct cbx_err *err)
{
    struct kube_attach *a = stream_of(attach);
    int64_t deadline = timeout_ms < 0 ? -1 : cbx_clock_ms() + timeout_ms;
    *out = (struct cbx_attach_bytes){ 0 };
    while (!a->ended) {
        int got = take_pending(a, to, size, out, err);
        if (got != 0) {
            return got < 0 ? got : 0;
        }
        if (a->pending.len > 0) {
            continue;
        }
        size_t n = 0;
        int failed = cbx_upgrade_receive(&a->upgrade, to, size, deadline, &n, err);
        if (failed) {
            return failed;
        }
        a->ended = n == 0;
        struct cbx_str rest = { .p = to, .len = n };
        got = take_events(a, &rest, out, err);
        if (got < 0) {
            return got;
        }
        if (cbx_buf_add(&a->pending, rest) != 0) {
            return cbx_fail(err, CBX_EPROTO, "the cluster sent more bytes than there is room for");
        }
        if (got > 0) {
            return 0;
        }
    }
    return a->bridge ? read_end(a, err) : 0;
}

static int64_t silent_ms(struct cbx_attach *attach)
{
    return cbx_upgrade_silent_ms(&stream_of(attach)->upgrade);
}

static void free_attach(struct cbx_attach *attach)
{
    struct kube_attach *a = stream_of(attach);
    cbx_upgrade_done(&a->upgrade);
    cbx_buf_done(&a->pending);
    cbx_buf_done(&a->status);
    cbx_kube_sender_done(&a->sender);
    free(a);
}

static const struct cbx_attach_ops ops = {
    .free = free_attach,
    .send_some = send_some,
    .receive = receive,
    .silent_ms = silent_ms,
};

/* --- the upgrade ------------------------------------------------------------------------------ */

/* What one attempt to open the streams needs and finds. */
struct opening {
    const char *id;             /* of the Pod */
    const char *const *command; /* ends with NULL; NULL = the bridge */
    bool renew;                 /* reads the token again */
    char key[32];               /* Sec-WebSocket-Key */
    long status;                /* of the reply; 0 = none */
    char path[4096];            /* of the request: with that of the server's URL */
    char authority[320];        /* host and port */
};

/* A path that is too long is cut, and the API server refuses it: callers' commands are fixed. */
static void write_path(const struct cbx_kube *kube, const char *start, struct opening *out)
{
    static const char *const bridge[] = { CBX_BRIDGE_PROGRAM, NULL };
    const char *const *command = out->command != NULL ? out->command : bridge;
    CBX_AUTO_DONE(buf) path;
    cbx_buf_init(&path, sizeof(out->path) - 1);
    cbx_buf_printf(&path,
                   "%s/api/v1/namespaces/%.63s/pods/%.63s/exec?container=sandbox&stdin=true&"
                   "stdout=true&stderr=true",
                   start, kube->cluster.namespace, out->id);
    for (size_t i = 0; command[i] != NULL; i++) {
        char *word = curl_easy_escape(NULL, command[i], 0);
        cbx_buf_printf(&path, "&command=%s", word != NULL ? word : "");
        curl_free(word);
    }
    snprintf(out->path, sizeof(out->path), "%s", path.p);
}

static void make_opening(const struct cbx_kube *kube, struct opening *out)
{
    char nonce[16];
    CBX_AUTO_DONE(buf) key;
    cbx_buf_init(&key, sizeof(out->key));
    cbx_random(nonce, sizeof(nonce));
    cbx_base64_encode((struct cbx_str){ .p = nonce, .len = sizeof(nonce) }, &key);
    snprintf(out->key, sizeof(out->key), "%s", key.p);
    const char *authority = strstr(kube->cluster.server, "://") + 3;
    size_t len = strcspn(authority, "/");
    snprintf(out->authority, sizeof(out->authority), "%.*s", (int)len, authority);
    write_path(kube, authority + len, out);
}

static int send_request(struct cbx_kube *kube, struct kube_attach *a, const struct opening *opening,
                        struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) request;
    cbx_buf_init(&request, 128 * 1024);
    cbx_buf_printf(&request, "GET %s HTTP/1.1\r\nHost: %s\r\n", opening->path, opening->authority);
    cbx_buf_add_cstr(&request, "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                               "Sec-WebSocket-Version: 13\r\n"
                               "Sec-WebSocket-Protocol: " CBX_WEBSOCKET_PROTOCOL "\r\n");
    cbx_buf_printf(&request, "Sec-WebSocket-Key: %s\r\n", opening->key);
    cbx_kube_authorize(kube, opening->renew, "\r\n", &request);
    cbx_buf_add_cstr(&request, "\r\n");
    int failed = 0;
    size_t sent = 0;
    for (size_t at = 0; !failed && at < request.len; at += sent) {
        failed = cbx_upgrade_send_some(&a->upgrade, request.p + at, request.len - at, REQUEST_MS,
                                       &sent, err);
    }
    explicit_bzero(request.p, request.len);
    return failed;
}

static int say_not_open(const struct cbx_kube *kube, const char *why, struct cbx_err *err)
{
    cbx_fail(err, CBX_EENGINE, "the cluster did not open the sandbox's streams");
    cbx_err_detail(err, "%s%s", kube->cluster.server, why);
    return CBX_EENGINE;
}

static int read_head(struct cbx_kube *kube, struct kube_attach *a, struct opening *opening,
                     struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) head;
    cbx_buf_init(&head, HEAD_MAX);
    int64_t deadline = cbx_clock_ms() + HEAD_TIMEOUT_MS;
    bool complete = false;
    while (!complete) {
        if (cbx_upgrade_receive_head(&a->upgrade, &head, &a->pending, deadline, &complete, err)) {
            return say_not_open(kube, "", err);
        }
    }
    opening->status = head.len > 12 ? strtol(head.p + 9, NULL, 10) : 0;
    if (!cbx_str_starts(cbx_buf_str(&head), CBX_STR("HTTP/1.1 101"))) {
        /* the Status of the reply, as far as it arrived with the head */
        CBX_AUTO_JSON answer = NULL;
        cbx_json_parse(cbx_buf_str(&a->pending), PENDING_MAX, &answer, NULL);
        return cbx_kube_refused(kube, opening->status, answer, "open the sandbox's streams", err);
    }
    if (cbx_websocket_check(cbx_buf_str(&head), opening->key, NULL) != 0) {
        return say_not_open(kube, ": its answer is no upgrade to " CBX_WEBSOCKET_PROTOCOL, err);
    }
    return 0;
}

static int open_streams(struct cbx_kube *kube, struct opening *opening, struct cbx_attach **out,
                        struct cbx_err *err)
{
    struct kube_attach *a = cbx_new(sizeof(*a));
    CBX_AUTO(attach) attach = &a->attach;
    attach->ops = &ops;
    cbx_upgrade_init(&a->upgrade);
    cbx_buf_init(&a->pending, PENDING_MAX);
    cbx_buf_init(&a->status, STATUS_MAX);
    cbx_kube_sender_init(&a->sender, &a->upgrade);
    a->bridge = opening->command == NULL;
    make_opening(kube, opening);
    CURL *curl = cbx_kube_handle(kube);
    curl_easy_setopt(curl, CURLOPT_SSL_ENABLE_ALPN, 0L); /* no HTTP/2: it has no upgrade */
    CURLcode code = cbx_upgrade_connect(&a->upgrade, curl, kube->cluster.server);
    if (code != CURLE_OK) {
        return cbx_kube_unreachable(kube, code, "", err);
    }
    int failed = send_request(kube, a, opening, err);
    if (failed) {
        return failed;
    }
    failed = read_head(kube, a, opening, err);
    if (!failed) {
        *out = cbx_steal(&attach);
    }
    return failed;
}

/* A sandbox that cannot be attached to is removed, so these are not taken for its fault. */
static bool may_pass(long status)
{
    return status == 429 || (status >= 502 && status <= 504);
}

/* True if a reply may mean that the Pod, or its container, has ended: the API server and the kubelet
 * word that in several ways. */
static bool may_have_ended(long status)
{
    return status >= 400 && status != 401 && status != 403 && status != 429;
}

/* Replaces the error of an attach if the sandbox is gone. */
static int check_gone(struct cbx_kube *kube, const char *id, int failed, struct cbx_err *err)
{
    char path[256];
    long status = 0;
    CBX_AUTO_JSON answer = NULL;
    struct cbx_kube_pod pod = { .phase = CBX_POD_GONE };
    snprintf(path, sizeof(path), "/api/v1/namespaces/%.63s/pods/%.63s", kube->cluster.namespace,
             id);
    struct cbx_kube_request request = { .method = "GET", .path = path, .timeout_ms = STATE_MS };
    int unknown = cbx_kube_call(kube, &request, &status, &answer, NULL);
    if (unknown || (status != 200 && status != 404)) {
        return failed;
    }
    if (status == 200) {
        cbx_kube_pod_read(answer, &pod);
    }
    if (pod.phase < CBX_POD_ENDED) {
        return failed;
    }
    cbx_fail(err, CBX_ENOTFOUND, "the sandbox is gone");
    cbx_err_detail(err, "pod %s, node %s: %s %.250s", id,
                   pod.node[0] != '\0' ? pod.node : "not known",
                   pod.reason[0] != '\0' ? pod.reason : "it does not exist", pod.message);
    return CBX_ENOTFOUND;
}

int cbx_kube_exec(struct cbx_kube *kube, const char *id, const char *const *command,
                  struct cbx_attach **out, struct cbx_err *err)
{
    struct opening opening = { .id = id, .command = command };
    int failed = open_streams(kube, &opening, out, err);
    if (failed && opening.status == 401 && kube->cluster.token_file != NULL) {
        opening = (struct opening){ .id = id, .command = command, .renew = true };
        failed = open_streams(kube, &opening, out, err);
    }
    for (int tries = 1; failed && may_pass(opening.status) && tries < OPEN_TRIES; tries++) {
        cbx_kube_pause(kube, (int64_t)OPEN_PAUSE_MS * tries);
        opening = (struct opening){ .id = id, .command = command };
        failed = open_streams(kube, &opening, out, err);
    }
    if (failed && may_have_ended(opening.status)) {
        return check_gone(kube, id, failed, err);
    }
    return failed;
}

int cbx_kube_attach(struct cbx_engine *engine, const char *id, struct cbx_attach **out,
                    struct cbx_err *err)
{
    return cbx_kube_exec(cbx_kube_of(engine), id, NULL, out, err);
}

int cbx_kube_exit_code(struct cbx_attach *attach, int *out, struct cbx_err *err)
{
    struct kube_attach *a = stream_of(attach);
    CBX_AUTO_JSON status = NULL;
    cbx_json_parse(cbx_buf_str(&a->status), STATUS_MAX, &status, NULL);
    struct cbx_str code = exit_code_of(status);
    if (cbx_str_is(cbx_json_str(json_object_get(status, "status")), "Success")) {
        *out = 0;
        return 0;
    }
    if (code.len == 0) {
        cbx_fail(err, CBX_EENGINE, "the program in the pod did not run to its end");
        return cbx_err_detail(err, "%.*s", CBX_JSON_ARG(status, "message"));
    }
    *out = (int)strtol(code.p, NULL, 10);
    return 0;
}
