/* SPDX-License-Identifier: MIT
 * The streams of a container, or of a bridge that is started in it: an upgraded HTTP connection, on
 * which the engine sends chunks with their channel. */
#include "docker/engine/docker/docker_chunks.h"
#include "docker/engine/docker/docker_http.h"
#include "docker/engine/upgrade.h"
#include "docker/inside/bridge/bridge.h"
#include "policies/base/buf.h"
#include "policies/base/memory.h"
#include "policies/base/str.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEAD_MAX = 16 * 1024,
    PENDING_MAX = 1024 * 1024, /* more than a caller's buffer has */
    HEAD_TIMEOUT_MS = 30000,   /* for an engine that replies to pings meanwhile */
    HEAD_POLL_MS = 1000,
};

struct docker_attach {
    struct cbx_attach attach;
    struct cbx_upgrade upgrade;
    struct cbx_chunks chunks;
    /* Bytes that arrived with others and were not returned yet; `used` of them were. Empty while
     * no caller waits: a session costs no buffer. */
    struct cbx_buf pending;
    size_t used;
};

static struct docker_attach *stream_of(struct cbx_attach *attach)
{
    return (struct docker_attach *)attach;
}

/* --- the streams ------------------------------------------------------------------------------ */

static int send_some(struct cbx_attach *attach, const void *bytes, size_t len, int timeout_ms,
                     size_t *sent, struct cbx_err *err)
{
    return cbx_upgrade_send_some(&stream_of(attach)->upgrade, bytes, len, timeout_ms, sent, err);
}

/* Takes a part of a chunk from the pending bytes into the buffer: 1; 0 if none is left. */
static int take_pending(struct docker_attach *a, void *to, size_t size,
                        struct cbx_attach_bytes *out, struct cbx_err *err)
{
    struct cbx_str all = cbx_buf_str(&a->pending);
    struct cbx_str rest = cbx_str_sub(all, a->used, a->used + size);
    size_t offered = rest.len;
    int got = cbx_chunks_next(&a->chunks, &rest, out, err);
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

static int receive(struct cbx_attach *attach, void *to, size_t size, int timeout_ms,
                   struct cbx_attach_bytes *out, struct cbx_err *err)
{
    struct docker_attach *a = stream_of(attach);
    int64_t deadline = timeout_ms < 0 ? -1 : cbx_clock_ms() + timeout_ms;
    *out = (struct cbx_attach_bytes){ 0 };
    for (;;) {
        int got = take_pending(a, to, size, out, err);
        if (got != 0) {
            return got < 0 ? got : 0;
        }
        size_t n = 0;
        int failed = cbx_upgrade_receive(&a->upgrade, to, size, deadline, &n, err);
        if (failed || n == 0) {
            return failed;
        }
        struct cbx_str rest = { .p = to, .len = n };
        got = cbx_chunks_next(&a->chunks, &rest, out, err);
        if (got < 0) {
            return got;
        }
        if (cbx_buf_add(&a->pending, rest) != 0) {
            return cbx_fail(err, CBX_EPROTO, "the engine sent more bytes than there is room for");
        }
        if (got > 0) {
            return 0;
        }
    }
}

static int64_t silent_ms(struct cbx_attach *attach)
{
    return cbx_upgrade_silent_ms(&stream_of(attach)->upgrade);
}

static void free_attach(struct cbx_attach *attach)
{
    struct docker_attach *a = stream_of(attach);
    cbx_upgrade_done(&a->upgrade);
    cbx_buf_done(&a->pending);
    free(a);
}

static const struct cbx_attach_ops ops = {
    .free = free_attach,
    .send_some = send_some,
    .receive = receive,
    .silent_ms = silent_ms,
};

/* --- the upgrade ------------------------------------------------------------------------------ */

/* Reads the response head, while the engine replies to pings; bytes after it stay in `pending`. */
static int read_head(struct cbx_docker *docker, struct docker_attach *a, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) head;
    cbx_buf_init(&head, HEAD_MAX);
    int64_t began = cbx_clock_ms(), heard_ms = began;
    bool complete = false;
    while (!complete) {
        int failed = cbx_upgrade_receive_head(&a->upgrade, &head, &a->pending,
                                              cbx_clock_ms() + HEAD_POLL_MS, &complete, err);
        if (failed == CBX_ETIMEDOUT && cbx_engine_check(&docker->engine, &heard_ms, NULL) != 0) {
            return cbx_docker_silent(docker, err);
        }
        if ((failed && failed != CBX_ETIMEDOUT) || cbx_clock_ms() - began >= HEAD_TIMEOUT_MS) {
            return cbx_fail(err, CBX_EENGINE,
                            "the sandbox engine did not open the container's streams");
        }
    }
    struct cbx_str line = cbx_buf_str(&head);
    if (!cbx_str_starts(line, CBX_STR("HTTP/1.1 101")) &&
        !cbx_str_starts(line, CBX_STR("HTTP/1.1 200"))) {
        const char *message = strstr(head.p, "\"message\":\"");
        message = message != NULL ? message + 11 : "";
        cbx_fail(err, CBX_EENGINE, "the sandbox engine did not open the container's streams");
        cbx_err_detail(err, "%.*s %.*s", (int)strcspn(head.p, "\r\n"), head.p,
                       (int)strcspn(message, "\""), message);
        return CBX_EENGINE;
    }
    return 0;
}

/* Sends POST with this JSON (may be empty), and opens the streams. */
static int open_streams(struct cbx_docker *docker, const char *path, const char *body,
                        struct cbx_attach **out, struct cbx_err *err)
{
    struct docker_attach *a = cbx_new(sizeof(*a));
    CBX_AUTO(attach) attach = &a->attach;
    attach->ops = &ops;
    cbx_upgrade_init(&a->upgrade);
    cbx_buf_init(&a->pending, PENDING_MAX);
    char url[1024], request[1600];
    cbx_docker_url(docker, path, url, sizeof(url));
    CURLcode code = cbx_upgrade_connect(&a->upgrade, cbx_docker_handle(docker), url);
    if (code != CURLE_OK) {
        return cbx_docker_unreachable(docker, code, "", err);
    }
    const char *target = strstr(url, "://");
    target = target != NULL ? strchr(target + 3, '/') : NULL;
    snprintf(request, sizeof(request),
             "POST %s HTTP/1.1\r\nHost: docker\r\nConnection: Upgrade\r\nUpgrade: "
             "tcp\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
             target != NULL ? target : "/", strlen(body), body);
    int failed = cbx_attach_send(attach, request, strlen(request), err);
    if (failed) {
        return failed;
    }
    failed = read_head(docker, a, err);
    if (!failed) {
        *out = cbx_steal(&attach);
    }
    return failed;
}

static int attach_streams(struct cbx_docker *docker, const char *id, struct cbx_attach **out,
                          struct cbx_err *err)
{
    char path[160];
    snprintf(path, sizeof(path), "/containers/%.64s/attach?stream=1&stdin=1&stdout=1&stderr=1", id);
    return open_streams(docker, path, "", out, err);
}

/* Makes the process of a bridge, and writes its id. */
static int create_bridge(struct cbx_docker *docker, const char *id,
                         char out[CBX_CONTAINER_ID_CHARS + 1], struct cbx_err *err)
{
    char path[160];
    CBX_AUTO_JSON answer = NULL;
    CBX_AUTO_JSON body = json_pack("{s:b,s:b,s:b,s:b,s:[s]}", "AttachStdin", 1, "AttachStdout", 1,
                                   "AttachStderr", 1, "Tty", 0, "Cmd", CBX_BRIDGE_PROGRAM);
    snprintf(path, sizeof(path), "/containers/%.64s/exec", id);
    struct cbx_docker_request request = { .method = "POST", .path = path, .body = body };
    int failed = cbx_docker_expect(docker, &request, 201, CBX_ANSWER_OBJECT,
                                   "start a program in a container", &answer, err);
    if (failed) {
        return failed;
    }
    struct cbx_str made = cbx_json_str(json_object_get(answer, "Id"));
    if (made.len != CBX_CONTAINER_ID_CHARS ||
        strspn(made.p, "0123456789abcdef") != CBX_CONTAINER_ID_CHARS) {
        return cbx_fail(err, CBX_EENGINE, "the sandbox engine made a program without an id");
    }
    snprintf(out, CBX_CONTAINER_ID_CHARS + 1, "%.*s", (int)made.len, made.p);
    return 0;
}

static int attach_bridge(struct cbx_docker *docker, const char *id, struct cbx_attach **out,
                         struct cbx_err *err)
{
    char bridge[CBX_CONTAINER_ID_CHARS + 1], path[160];
    int failed = create_bridge(docker, id, bridge, err);
    if (failed) {
        return failed;
    }
    snprintf(path, sizeof(path), "/exec/%.64s/start", bridge);
    return open_streams(docker, path, "{\"Detach\":false,\"Tty\":false}", out, err);
}

int cbx_docker_attach(struct cbx_engine *engine, const char *id, struct cbx_attach **out,
                      struct cbx_err *err)
{
    struct cbx_docker *docker = cbx_docker_of(engine);
    if (engine->uses_bridges) {
        return attach_bridge(docker, id, out, err);
    }
    return attach_streams(docker, id, out, err);
}
