/* SPDX-License-Identifier: MIT
 * One function for each call of the Engine API that the gateway uses. */
#include "docker/engine/docker/docker_http.h"
#include "docker/inside/bridge/bridge.h"
#include "policies/base/memory.h"
#include "policies/base/str.h"
#include "policies/base/text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_hex(struct cbx_str text, size_t len)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            return false;
        }
    }
    return text.len == len;
}

static int get_object(struct cbx_engine *engine, const char *path, const char *what, json_t **out,
                      struct cbx_err *err)
{
    struct cbx_docker_request request = { .method = "GET", .path = path };
    return cbx_docker_expect(cbx_docker_of(engine), &request, 200, CBX_ANSWER_OBJECT, what, out,
                             err);
}

int cbx_docker_version_info(struct cbx_engine *engine, json_t **out, struct cbx_err *err)
{
    return get_object(engine, "/version", "give its version", out, err);
}

int cbx_docker_info(struct cbx_engine *engine, json_t **out, struct cbx_err *err)
{
    return get_object(engine, "/info", "describe itself", out, err);
}

/* Requests data of an image; CBX_ENOTFOUND if there is none. */
static int get_image(struct cbx_engine *engine, const char *name, const char *path, json_t **out,
                     struct cbx_err *err)
{
    CBX_AUTO_JSON answer = NULL;
    long status = 0;
    struct cbx_docker_request request = { .method = "GET", .path = path };
    int failed = cbx_docker_call(cbx_docker_of(engine), &request, &status, &answer, err);
    if (failed) {
        return failed;
    }
    if (status == 404) {
        cbx_fail(err, CBX_ENOTFOUND,
                 "image '%s' is missing; the operator builds it with 'codebox image build%s'", name,
                 strstr(name, "-small:") != NULL ? " --images small" : "");
        cbx_err_detail(err, "%s", cbx_engine_host(engine));
        return CBX_ENOTFOUND;
    }
    if (status != 200 || !json_is_object(answer)) {
        return cbx_docker_refused(cbx_docker_of(engine), status, answer, "inspect an image", err);
    }
    *out = json_incref(answer);
    return 0;
}

static int read_image_id(const json_t *image, const char *name, char out[CBX_IMAGE_ID_CHARS + 1],
                         struct cbx_err *err)
{
    struct cbx_str id = cbx_json_str(json_object_get(image, "Id"));
    if (cbx_str_starts(id, CBX_STR("sha256:"))) {
        id = cbx_str_sub(id, 7, id.len);
    }
    if (!is_hex(id, 64)) {
        return cbx_fail(err, CBX_EENGINE, "the sandbox engine gave no id for image '%s'", name);
    }
    snprintf(out, CBX_IMAGE_ID_CHARS + 1, "sha256:%.*s", (int)id.len, id.p);
    return 0;
}

int cbx_docker_image(struct cbx_engine *engine, const char *name, struct cbx_image *out,
                     json_t **labels, struct cbx_err *err)
{
    CBX_AUTO_JSON image = NULL;
    char path[300];
    snprintf(path, sizeof(path), "/images/%.200s/json", name);
    int failed = get_image(engine, name, path, &image, err);
    if (failed) {
        return failed;
    }
    failed = read_image_id(image, name, out->id, err);
    if (failed) {
        return failed;
    }
    out->size_bytes = json_integer_value(json_object_get(image, "Size"));
    *labels = json_incref(json_object_get(json_object_get(image, "Config"), "Labels"));
    return 0;
}

static int create(struct cbx_docker *docker, const json_t *body, long *status, json_t **answer,
                  struct cbx_err *err)
{
    struct cbx_docker_request request = { .method = "POST",
                                          .path = "/containers/create",
                                          .body = body };
    if (!docker->podman) {
        return cbx_docker_call(docker, &request, status, answer, err);
    }
    char profile[CBX_PODMAN_PATH_MAX] = "";
    CBX_AUTO_JSON changed = NULL;
    int failed = cbx_podman_body(body, &changed, profile, err);
    request.body = changed;
    if (!failed) {
        failed = cbx_docker_call(docker, &request, status, answer, err);
    }
    if (profile[0] != '\0') {
        unlink(profile);
    }
    return failed;
}

int cbx_docker_create(struct cbx_engine *engine, const struct cbx_container_spec *spec,
                      char out[CBX_CONTAINER_ID_CHARS + 1], struct cbx_err *err)
{
    CBX_AUTO_JSON answer = NULL;
    CBX_AUTO_JSON body = cbx_docker_body(spec);
    long status = 0;
    int failed = create(cbx_docker_of(engine), body, &status, &answer, err);
    if (failed) {
        return failed;
    }
    if (status != 201) {
        return cbx_docker_refused(cbx_docker_of(engine), status, answer, "create a container", err);
    }
    struct cbx_str id = cbx_json_str(json_object_get(answer, "Id"));
    if (!is_hex(id, CBX_CONTAINER_ID_CHARS)) {
        return cbx_fail(err, CBX_EENGINE, "the sandbox engine created a container without an id");
    }
    snprintf(out, CBX_CONTAINER_ID_CHARS + 1, "%.*s", (int)id.len, id.p);
    return 0;
}

/* A container may be removed by others before it starts: 404, or 409 while its removal goes on. */
static bool is_gone(long status, const json_t *answer)
{
    const char *message = json_string_value(json_object_get(answer, "message"));
    return status == 409 ||
           (status == 404 && message != NULL && strstr(message, "No such container") != NULL);
}

int cbx_docker_start(struct cbx_engine *engine, const char *id, struct cbx_err *err)
{
    char path[128];
    snprintf(path, sizeof(path), "/containers/%.64s/start", id);
    CBX_AUTO_JSON answer = NULL;
    long status = 0;
    struct cbx_docker_request request = { .method = "POST", .path = path };
    int failed = cbx_docker_call(cbx_docker_of(engine), &request, &status, &answer, err);
    if (failed || status == 204) {
        return failed;
    }
    return cbx_docker_refused(cbx_docker_of(engine), status, answer,
                              is_gone(status, answer) ? "start a container that is gone; try again"
                                                      : "start a container",
                              err);
}

/* The supervisor listens for bridges from its start on; the container must run before one is
 * started in it. */
static int begin_bridged(struct cbx_engine *engine, const struct cbx_container_spec *spec,
                         char id[CBX_CONTAINER_ID_CHARS + 1], struct cbx_attach **attach,
                         struct cbx_err *err)
{
    static char variable[] = CBX_BRIDGE_VARIABLE "=1";
    struct cbx_container_spec bridged = *spec;
    if (bridged.variable_count >= CBX_SPEC_VARIABLES) {
        return cbx_fail(err, CBX_EINVAL, "a container has too many variables");
    }
    bridged.variables[bridged.variable_count++] = variable;
    int failed = cbx_docker_create(engine, &bridged, id, err);
    if (failed) {
        id[0] = '\0';
        return failed;
    }
    failed = cbx_docker_start(engine, id, err);
    if (failed) {
        return failed;
    }
    return cbx_docker_attach(engine, id, attach, err);
}

int cbx_docker_begin(struct cbx_engine *engine, const struct cbx_container_spec *spec,
                     char id[CBX_CONTAINER_ID_CHARS + 1], struct cbx_attach **attach,
                     struct cbx_err *err)
{
    if (engine->uses_bridges && spec->role == CBX_ROLE_SANDBOX) {
        return begin_bridged(engine, spec, id, attach, err);
    }
    int failed = cbx_docker_create(engine, spec, id, err);
    if (failed) {
        id[0] = '\0';
        return failed;
    }
    failed = cbx_docker_attach(engine, id, attach, err);
    if (failed) {
        return failed;
    }
    return cbx_docker_start(engine, id, err);
}

int cbx_docker_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err)
{
    char path[128], busy[80];
    snprintf(path, sizeof(path), "/containers/%.64s?force=true&v=true", id);
    snprintf(busy, sizeof(busy), "the sandbox engine is removing container %.12s already", id);
    return cbx_docker_delete(cbx_docker_of(engine), path, 204, "remove a container", busy, err);
}

int cbx_docker_state(struct cbx_engine *engine, const char *id, int timeout_ms,
                     struct cbx_container_state *out, struct cbx_err *err)
{
    char path[128];
    snprintf(path, sizeof(path), "/containers/%.64s/json", id);
    CBX_AUTO_JSON answer = NULL;
    long status = 0;
    struct cbx_docker_request request = { .method = "GET", .path = path, .timeout_ms = timeout_ms };
    int failed = cbx_docker_call(cbx_docker_of(engine), &request, &status, &answer, err);
    if (failed) {
        return failed;
    }
    const json_t *state = json_object_get(answer, "State");
    if (status == 404) {
        return cbx_fail(err, CBX_ENOTFOUND, "the sandbox is gone");
    }
    if (status != 200 || !json_is_object(state)) {
        return cbx_docker_refused(cbx_docker_of(engine), status, answer, "inspect a container",
                                  err);
    }
    out->running = json_is_true(json_object_get(state, "Running"));
    out->paused = json_is_true(json_object_get(state, "Paused"));
    out->oom_killed = json_is_true(json_object_get(state, "OOMKilled"));
    out->exit_code = (int)json_integer_value(json_object_get(state, "ExitCode"));
    return 0;
}

int cbx_docker_throttled(struct cbx_engine *engine, const char *id, int timeout_ms, int64_t *out,
                         struct cbx_err *err)
{
    char path[128];
    snprintf(path, sizeof(path), "/containers/%.64s/stats?stream=false&one-shot=true", id);
    CBX_AUTO_JSON answer = NULL;
    struct cbx_docker_request request = { .method = "GET", .path = path, .timeout_ms = timeout_ms };
    int failed = cbx_docker_expect(cbx_docker_of(engine), &request, 200, CBX_ANSWER_OBJECT,
                                   "measure a container", &answer, err);
    if (failed) {
        return failed;
    }
    const json_t *cpu = json_object_get(answer, "cpu_stats");
    const json_t *periods =
        json_object_get(json_object_get(cpu, "throttling_data"), "throttled_periods");
    if (!json_is_integer(periods)) {
        return cbx_fail(err, CBX_EENGINE, "the sandbox engine does not count throttled periods");
    }
    *out = json_integer_value(periods);
    return 0;
}

int cbx_docker_list(struct cbx_engine *engine, const char *label, struct cbx_container_entry **out,
                    size_t *count, struct cbx_err *err)
{
    char path[512];
    /* {"label":["key=value"]}, percent-encoded; the gateway's labels have no character that
     * needs more. */
    snprintf(path, sizeof(path),
             "/containers/json?all=true&filters=%%7B%%22label%%22%%3A%%5B%%22%.200s%%22%%5D%%7D",
             label);
    CBX_AUTO_JSON answer = NULL;
    struct cbx_docker_request request = { .method = "GET", .path = path };
    int failed = cbx_docker_expect(cbx_docker_of(engine), &request, 200, CBX_ANSWER_ARRAY,
                                   "list containers", &answer, err);
    if (failed) {
        return failed;
    }
    *out = cbx_new_array(json_array_size(answer) + 1, sizeof(**out));
    *count = 0;
    size_t i;
    json_t *entry;
    json_array_foreach(answer, i, entry)
    {
        struct cbx_str id = cbx_json_str(json_object_get(entry, "Id"));
        if (!is_hex(id, CBX_CONTAINER_ID_CHARS)) {
            continue;
        }
        struct cbx_container_entry *one = &(*out)[(*count)++];
        snprintf(one->id, sizeof(one->id), "%.*s", (int)id.len, id.p);
        one->running = cbx_str_is(cbx_json_str(json_object_get(entry, "State")), "running");
        one->created_s = json_integer_value(json_object_get(entry, "Created"));
        const char *lease =
            json_string_value(json_object_get(json_object_get(entry, "Labels"), CBX_LABEL_LEASE));
        one->lease_s = lease != NULL ? strtol(lease, NULL, 10) : 0;
    }
    return 0;
}
