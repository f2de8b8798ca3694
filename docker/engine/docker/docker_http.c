/* SPDX-License-Identifier: MIT
 * Sends HTTP requests to the engine. */
#include "docker/engine/docker/docker_http.h"

#include "policies/base/buf.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"

#include <curl/curl.h>
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER_MAX = 16 * 1024 * 1024, CALL_TIMEOUT_MS = 120 * 1000 };

CURL *cbx_docker_handle(struct cbx_docker *docker)
{
    CURL *curl = cbx_handles_take(&docker->handles);
    if (docker->socket[0] != '\0') {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, docker->socket);
    } else {
        cbx_handles_watch(curl);
    }
    if (docker->tls.cert[0] != '\0') {
        cbx_docker_tls_use(&docker->tls, curl);
    }
    return curl;
}

void cbx_docker_url(const struct cbx_docker *docker, const char *path, char *out, size_t size)
{
    if (docker->engine.api[0] != '\0') {
        snprintf(out, size, "%s/v%s%s", docker->base, docker->engine.api, path);
    } else {
        snprintf(out, size, "%s%s", docker->base, path);
    }
}

int cbx_docker_add_address(const struct cbx_docker *docker, struct cbx_err *err)
{
    cbx_err_detail(err, "%s", docker->engine.host);
    return CBX_EENGINE;
}

/* Explains why a socket cannot be connected to, with advice for the operator; libcurl's message
 * has neither. */
static void explain_socket(const char *path, char *out, size_t size)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof(address.sun_path), "%.107s", path);
    CBX_AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int reason = 0;
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
        reason = errno;
    }
    struct stat status;
    if (reason == EACCES || reason == EPERM) {
        const struct group *group =
            stat(path, &status) == 0 && status.st_gid != 0 ? getgrgid(status.st_gid) : NULL;
        if (group != NULL) {
            snprintf(out, size,
                     "permission denied; add this user to the group '%s' and log in again, use "
                     "sudo, or set DOCKER_HOST to the socket of a rootless engine",
                     group->gr_name);
        } else {
            snprintf(out, size,
                     "permission denied; use sudo, or set DOCKER_HOST to the socket of a rootless "
                     "engine");
        }
    } else if (reason == ENOENT) {
        snprintf(out, size, "there is no such socket; start the engine or set DOCKER_HOST");
    } else if (reason == ECONNREFUSED) {
        snprintf(out, size, "no process listens there; start the engine");
    } else {
        snprintf(out, size, "%s", reason != 0 ? strerror(reason) : "it closed the connection");
    }
}

int cbx_docker_unreachable(const struct cbx_docker *docker, CURLcode code, const char *words,
                           struct cbx_err *err)
{
    char reason[320];
    bool by_socket = docker->socket[0] != '\0';
    if (by_socket && code == CURLE_COULDNT_CONNECT) {
        explain_socket(docker->socket, reason, sizeof(reason));
    } else {
        /* For a socket, libcurl's message names a host and port that are not in the
         * configuration. */
        snprintf(reason, sizeof(reason), "%s%s",
                 words[0] != '\0' && !by_socket ? words : curl_easy_strerror(code),
                 cbx_docker_tls_hint(&docker->tls, code));
    }
    cbx_fail(err, CBX_EENGINE, "%s",
             strncmp(reason, "permission", 10) == 0
                 ? "the gateway has no permission on the sandbox engine's socket"
                 : "the sandbox engine does not answer");
    cbx_err_detail(err, "%s: %s", docker->engine.host, reason);
    return CBX_EENGINE;
}

int cbx_docker_silent(const struct cbx_docker *docker, struct cbx_err *err)
{
    cbx_fail(err, CBX_EENGINE, "the sandbox engine does not answer");
    cbx_err_detail(err, "the engine at %s does not answer: it sends nothing, also after a ping",
                   docker->engine.host);
    return CBX_EENGINE;
}

/* Returns the body of a POST: bytes unchanged, or JSON that is written to `json`. */
static struct cbx_str body_of(const struct cbx_docker_request *request, struct cbx_buf *json)
{
    if (request->type != NULL) {
        return request->bytes;
    }
    if (request->body != NULL) {
        cbx_json_write(json, request->body);
    }
    return cbx_buf_str(json);
}

/* A transfer in progress. */
struct transfer {
    struct cbx_docker *docker;
    const struct cbx_docker_request *request;
    curl_off_t bytes; /* bytes so far, in both directions */
    int64_t heard_ms; /* time of the last byte, or of the last reply to a ping */
    int failed;       /* set if the engine is silent */
};

/* A CURLOPT_XFERINFOFUNCTION, called about once a second: any value but 0 ends the transfer. */
static int poll_transfer(void *context, curl_off_t to_receive, curl_off_t received,
                         curl_off_t to_send, curl_off_t sent)
{
    struct transfer *transfer = context;
    const struct cbx_docker_request *request = transfer->request;
    (void)to_receive;
    (void)to_send;
    if (request->cancelled != NULL && request->cancelled(request->context)) {
        return 1;
    }
    if (received + sent != transfer->bytes) {
        transfer->bytes = received + sent;
        transfer->heard_ms = cbx_clock_ms();
    }
    transfer->failed = cbx_engine_check(&transfer->docker->engine, &transfer->heard_ms, NULL);
    return transfer->failed ? 1 : 0;
}

int cbx_docker_transfer(struct cbx_docker *docker, const struct cbx_docker_request *request,
                        long *status, struct cbx_buf *reply, struct cbx_err *err)
{
    char url[1024], type[64];
    cbx_docker_url(docker, request->path, url, sizeof(url));
    CBX_AUTO_DONE(buf) json;
    cbx_buf_init(&json, ANSWER_MAX);
    struct cbx_str body = body_of(request, &json);
    CURL *curl = cbx_docker_handle(docker);
    snprintf(type, sizeof(type), "Content-Type: %.40s",
             request->type != NULL ? request->type : "application/json");
    struct curl_slist *headers = curl_slist_append(NULL, type);
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, cbx_handles_collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                     request->timeout_ms > 0 ? request->timeout_ms : (long)CALL_TIMEOUT_MS);
    struct transfer transfer = { .docker = docker, .request = request, .heard_ms = cbx_clock_ms() };
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, poll_transfer);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
    char detail[CURL_ERROR_SIZE] = ""; /* libcurl's message: the certificate or the name */
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
    if (strcmp(request->method, "POST") == 0) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)body.len);
        curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, body.p);
    }
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    curl_slist_free_all(headers);
    cbx_handles_give(&docker->handles, curl);
    if (transfer.failed) {
        return cbx_docker_silent(docker, err);
    }
    if (code == CURLE_ABORTED_BY_CALLBACK) {
        return cbx_fail(err, CBX_ESTATE, "cancelled");
    }
    if (code != CURLE_OK) {
        return cbx_docker_unreachable(docker, code,
                                      reply->overflow ? "its answer is too large" : detail, err);
    }
    return 0;
}

int cbx_docker_call(struct cbx_docker *docker, const struct cbx_docker_request *request,
                    long *status, json_t **answer, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) reply;
    cbx_buf_init(&reply, ANSWER_MAX);
    int failed = cbx_docker_transfer(docker, request, status, &reply, err);
    if (failed) {
        return failed;
    }
    *answer = NULL;
    struct cbx_err inner;
    if (reply.len > 0 && cbx_json_parse(cbx_buf_str(&reply), ANSWER_MAX, answer, &inner) != 0 &&
        *status < 300) {
        cbx_fail(err, CBX_EENGINE, "the sandbox engine answered something that is no JSON");
        return cbx_docker_add_address(docker, err);
    }
    return 0;
}

int cbx_docker_refused(const struct cbx_docker *docker, long status, const json_t *answer,
                       const char *what, struct cbx_err *err)
{
    const char *message = json_string_value(json_object_get(answer, "message"));
    cbx_fail(err, CBX_EENGINE, "the sandbox engine refused to %s (HTTP status %ld)", what, status);
    cbx_err_detail(err, "%s: %s", docker->engine.host, message != NULL ? message : "");
    return CBX_EENGINE;
}

int cbx_docker_expect(struct cbx_docker *docker, const struct cbx_docker_request *request,
                      long good, enum cbx_docker_answer kind, const char *what, json_t **answer,
                      struct cbx_err *err)
{
    CBX_AUTO_JSON got = NULL;
    long status = 0;
    int failed = cbx_docker_call(docker, request, &status, &got, err);
    if (failed) {
        return failed;
    }
    bool right = kind == CBX_ANSWER_OBJECT  ? json_is_object(got)
                 : kind == CBX_ANSWER_ARRAY ? json_is_array(got)
                                            : true;
    if (status != good || !right) {
        return cbx_docker_refused(docker, status, got, what, err);
    }
    *answer = json_incref(got);
    return 0;
}

int cbx_docker_delete(struct cbx_docker *docker, const char *path, long good, const char *what,
                      const char *busy, struct cbx_err *err)
{
    CBX_AUTO_JSON answer = NULL;
    long status = 0;
    struct cbx_docker_request request = { .method = "DELETE", .path = path };
    int failed = cbx_docker_call(docker, &request, &status, &answer, err);
    if (!failed && status == 409) {
        return cbx_fail(err, CBX_EBUSY, "%s", busy);
    }
    bool gone = status == good || status == 404;
    if (failed || gone) {
        return failed;
    }
    return cbx_docker_refused(docker, status, answer, what, err);
}
