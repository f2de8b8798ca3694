/* SPDX-License-Identifier: MIT
 * Calls of the Engine API that make, list and remove images. */
#include "docker/engine/docker/docker_http.h"
#include "docker/engine/docker/tar.h"
#include "policies/base/str.h"
#include "policies/base/text/json.h"

#include <stdio.h>

/* A slow disk needs minutes to copy a gigabyte. */
enum { IMAGE_TIMEOUT_MS = 600 * 1000, BUILD_ANSWER_MAX = 1024 * 1024, DOCKERFILE_MAX = 256 * 1024 };

static int read_id(const json_t *answer, const char *what, char out[CBX_IMAGE_ID_CHARS + 1],
                   struct cbx_err *err)
{
    struct cbx_str id = cbx_json_str(json_object_get(answer, "Id"));
    if (cbx_str_starts(id, CBX_STR("sha256:"))) {
        id = cbx_str_sub(id, 7, id.len);
    }
    bool good = id.len == 64;
    for (size_t i = 0; good && i < id.len; i++) {
        good = (id.p[i] >= '0' && id.p[i] <= '9') || (id.p[i] >= 'a' && id.p[i] <= 'f');
    }
    if (!good) {
        return cbx_fail(err, CBX_EENGINE, "the sandbox engine gave no id for %s", what);
    }
    snprintf(out, CBX_IMAGE_ID_CHARS + 1, "sha256:%.64s", id.p);
    return 0;
}

int cbx_docker_wait(struct cbx_engine *engine, const char *id, int timeout_s, int *exit_code,
                    struct cbx_err *err)
{
    char path[128];
    snprintf(path, sizeof(path), "/containers/%.64s/wait", id);
    CBX_AUTO_JSON answer = NULL;
    struct cbx_docker_request request = { .method = "POST",
                                          .path = path,
                                          .timeout_ms = 1000L * timeout_s };
    int failed = cbx_docker_expect(cbx_docker_of(engine), &request, 200, CBX_ANSWER_OBJECT,
                                   "wait for a container", &answer, err);
    if (failed) {
        return failed;
    }
    const json_t *code = json_object_get(answer, "StatusCode");
    if (!json_is_integer(code)) {
        return cbx_docker_refused(cbx_docker_of(engine), 200, answer, "wait for a container", err);
    }
    *exit_code = (int)json_integer_value(code);
    return 0;
}

int cbx_docker_commit(struct cbx_engine *engine, const char *id, const struct cbx_engine_stop *stop,
                      char out[CBX_IMAGE_ID_CHARS + 1], struct cbx_err *err)
{
    char path[128];
    snprintf(path, sizeof(path), "/commit?container=%.64s&pause=false", id);
    CBX_AUTO_JSON answer = NULL;
    struct cbx_docker_request request = { .method = "POST",
                                          .path = path,
                                          .timeout_ms = IMAGE_TIMEOUT_MS,
                                          .cancelled = stop != NULL ? stop->cancelled : NULL,
                                          .context = stop != NULL ? stop->context : NULL };
    int failed = cbx_docker_expect(cbx_docker_of(engine), &request, 201, CBX_ANSWER_ANY,
                                   "commit a container", &answer, err);
    if (failed) {
        return failed;
    }
    return read_id(answer, "a committed container", out, err);
}

/* The reply is one JSON object per line, also for a failed build. */
static int read_build(const struct cbx_engine *engine, struct cbx_str reply, struct cbx_err *err)
{
    while (reply.len > 0) {
        const char *end = memchr(reply.p, '\n', reply.len);
        size_t len = end != NULL ? (size_t)(end - reply.p) : reply.len;
        CBX_AUTO_JSON line = NULL;
        int failed = cbx_json_parse(cbx_str_sub(reply, 0, len), BUILD_ANSWER_MAX, &line,
                                    &(struct cbx_err){ 0 });
        const char *error = json_string_value(json_object_get(line, "error"));
        if (error != NULL) {
            cbx_fail(err, CBX_EENGINE, "the sandbox engine could not build an image");
            cbx_err_detail(err, "%s: %s", cbx_engine_host(engine), error);
            return CBX_EENGINE;
        }
        bool blank = len == 0 || (len == 1 && reply.p[0] == '\r');
        if (failed && !blank) {
            return cbx_fail(err, CBX_EENGINE,
                            "the sandbox engine answered a build with something that is no JSON");
        }
        reply = cbx_str_sub(reply, len + (end != NULL ? 1 : 0), reply.len);
    }
    return 0;
}

int cbx_docker_image_build(struct cbx_engine *engine, const char *name, struct cbx_str dockerfile,
                           const struct cbx_engine_stop *stop, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) tar;
    CBX_AUTO_DONE(buf) reply;
    cbx_buf_init(&tar, DOCKERFILE_MAX);
    cbx_buf_init(&reply, BUILD_ANSWER_MAX);
    cbx_tar_add(&tar, "Dockerfile", dockerfile);
    cbx_tar_end(&tar);
    if (tar.overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "the description of an image is too long");
    }
    char path[400];
    snprintf(path, sizeof(path),
             "/build?t=%.250s&q=1&nocache=1&rm=1&forcerm=1&networkmode=none&version=1", name);
    long status = 0;
    struct cbx_docker_request request = { .method = "POST",
                                          .path = path,
                                          .bytes = cbx_buf_str(&tar),
                                          .type = "application/x-tar",
                                          .timeout_ms = IMAGE_TIMEOUT_MS,
                                          .cancelled = stop != NULL ? stop->cancelled : NULL,
                                          .context = stop != NULL ? stop->context : NULL };
    int failed = cbx_docker_transfer(cbx_docker_of(engine), &request, &status, &reply, err);
    if (!failed && status != 200) {
        CBX_AUTO_JSON answer = NULL;
        cbx_json_parse(cbx_buf_str(&reply), BUILD_ANSWER_MAX, &answer, &(struct cbx_err){ 0 });
        return cbx_docker_refused(cbx_docker_of(engine), status, answer, "build an image", err);
    }
    if (failed) {
        return failed;
    }
    return read_build(engine, cbx_buf_str(&reply), err);
}

int cbx_docker_image_list(struct cbx_engine *engine, const char *label, json_t **out,
                          struct cbx_err *err)
{
    char path[512];
    /* {"label":["key=value"]}, percent-encoded, as for containers. */
    snprintf(path, sizeof(path),
             "/images/json?filters=%%7B%%22label%%22%%3A%%5B%%22%.200s%%22%%5D%%7D", label);
    CBX_AUTO_JSON answer = NULL;
    struct cbx_docker_request request = { .method = "GET", .path = path };
    int failed = cbx_docker_expect(cbx_docker_of(engine), &request, 200, CBX_ANSWER_ARRAY,
                                   "list images", &answer, err);
    if (failed) {
        return failed;
    }
    *out = json_array();
    size_t i;
    json_t *entry;
    json_array_foreach(answer, i, entry)
    {
        char id[CBX_IMAGE_ID_CHARS + 1];
        if (read_id(entry, "an image", id, NULL) == 0) {
            json_object_set_new(entry, "Id", json_string(id));
            json_array_append(*out, entry);
        }
    }
    return 0;
}

int cbx_docker_image_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err)
{
    char path[128], busy[64];
    snprintf(path, sizeof(path), "/images/%.71s", id);
    snprintf(busy, sizeof(busy), "image %.19s is in use", id);
    return cbx_docker_delete(cbx_docker_of(engine), path, 200, "remove an image", busy, err);
}
