/* SPDX-License-Identifier: MIT
 * Finds the engine and sends HTTP requests to it. */
#include "docker/engine/engine.h"

#include "docker/engine/docker/docker_http.h"
#include "policies/base/buf.h"
#include "policies/base/clock.h"
#include "policies/base/json.h"
#include "policies/base/memory.h"

#include <curl/curl.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER_MAX = 16 * 1024 * 1024, IDLE_HANDLES = 8, CALL_TIMEOUT_MS = 120 * 1000 };

/* Linux ends a TCP connection to an engine this long after bytes or probes were last
 * acknowledged. A silent link is probed from PROBE_S on; the renewal of a lease (every 15 s)
 * restarts the time. This is for connections without a waiting caller: a waiting caller uses
 * docker/engine/silence.h. */
enum { DEAD_LINK_MS = 10000, PROBE_S = 5 };

struct cbx_engine {
    char host[512];   /* as configured */
    char socket[256]; /* path, or empty for TCP */
    char base[512];   /* "http://localhost" or "https://host:port" */
    struct cbx_engine_tls tls;
    char version[64], api[16];
    bool podman;
    pthread_mutex_t lock; /* protects the cache of connections */
    CURL *idle[IDLE_HANDLES];
    int idle_count;
};

const char *cbx_engine_version(const struct cbx_engine *engine)
{
    return engine->version;
}

const char *cbx_engine_api(const struct cbx_engine *engine)
{
    return engine->api;
}

const char *cbx_engine_host(const struct cbx_engine *engine)
{
    return engine->host;
}

bool cbx_engine_is_podman(const struct cbx_engine *engine)
{
    return engine->podman;
}

const struct cbx_engine_abilities *cbx_engine_abilities(const struct cbx_engine *engine)
{
    static const struct cbx_engine_abilities docker = { "Docker", true, true },
                                             podman = { "Podman", false, false };
    return engine->podman ? &podman : &docker;
}

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void start_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static bool set_option(int socket, int level, int option, int value)
{
    return setsockopt(socket, level, option, &value, sizeof(value)) == 0;
}

/* Without these options, a link that was cut and not closed would stay until its next use. */
static int watch_link(void *context, curl_socket_t socket, curlsocktype purpose)
{
    (void)context;
    (void)purpose;
    bool set = set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1) &&
               set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, PROBE_S) &&
               set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, PROBE_S) &&
               set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, DEAD_LINK_MS);
    return set ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR;
}

CURL *cbx_engine_handle(struct cbx_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    CURL *curl = engine->idle_count > 0 ? engine->idle[--engine->idle_count] : NULL;
    pthread_mutex_unlock(&engine->lock);
    if (curl != NULL) {
        curl_easy_reset(curl); /* keeps the connection */
    } else if ((curl = curl_easy_init()) == NULL) {
        abort();
    }
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
    curl_easy_setopt(curl, CURLOPT_TCP_NODELAY, 1L);
    if (engine->socket[0] != '\0') {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, engine->socket);
    } else {
        curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, watch_link);
    }
    if (engine->tls.cert[0] != '\0') {
        cbx_engine_tls_use(&engine->tls, curl);
    }
    return curl;
}

static void return_handle(struct cbx_engine *engine, CURL *curl)
{
    pthread_mutex_lock(&engine->lock);
    bool kept = engine->idle_count < IDLE_HANDLES;
    if (kept) {
        engine->idle[engine->idle_count++] = curl;
    }
    pthread_mutex_unlock(&engine->lock);
    if (!kept) {
        curl_easy_cleanup(curl);
    }
}

void cbx_engine_url(const struct cbx_engine *engine, const char *path, char *out, size_t size)
{
    if (engine->api[0] != '\0') {
        snprintf(out, size, "%s/v%s%s", engine->base, engine->api, path);
    } else {
        snprintf(out, size, "%s%s", engine->base, path);
    }
}

static size_t collect(char *bytes, size_t size, size_t count, void *buf)
{
    return cbx_buf_add_bytes(buf, bytes, size * count) == 0 ? size * count : 0;
}

/* Adds the engine's address for the operator. */
static int add_address(const struct cbx_engine *engine, struct cbx_err *err)
{
    cbx_err_detail(err, "%s", engine->host);
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

int cbx_engine_unreachable(const struct cbx_engine *engine, CURLcode code, const char *words,
                           struct cbx_err *err)
{
    char reason[320];
    bool by_socket = engine->socket[0] != '\0';
    if (by_socket && code == CURLE_COULDNT_CONNECT) {
        explain_socket(engine->socket, reason, sizeof(reason));
    } else {
        /* For a socket, libcurl's message names a host and port that are not in the
         * configuration. */
        snprintf(reason, sizeof(reason), "%s%s",
                 words[0] != '\0' && !by_socket ? words : curl_easy_strerror(code),
                 cbx_engine_tls_hint(&engine->tls, code));
    }
    cbx_fail(err, CBX_EENGINE, "%s",
             strncmp(reason, "permission", 10) == 0
                 ? "the gateway has no permission on the sandbox engine's socket"
                 : "the sandbox engine does not answer");
    cbx_err_detail(err, "%s: %s", engine->host, reason);
    return CBX_EENGINE;
}

int cbx_engine_silent(const struct cbx_engine *engine, struct cbx_err *err)
{
    cbx_fail(err, CBX_EENGINE, "the sandbox engine does not answer");
    cbx_err_detail(err, "the engine at %s does not answer: it sends nothing, also after a ping",
                   engine->host);
    return CBX_EENGINE;
}

/* Returns the body of a POST: bytes unchanged, or JSON that is written to `json`. */
static struct cbx_str body_of(const struct cbx_engine_request *request, struct cbx_buf *json)
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
    struct cbx_engine *engine;
    const struct cbx_engine_request *request;
    curl_off_t bytes; /* bytes so far, in both directions */
    int64_t heard_ms; /* time of the last byte, or of the last reply to a ping */
    int failed;       /* set if the engine is silent */
};

/* A CURLOPT_XFERINFOFUNCTION, called about once a second: any value but 0 ends the transfer. */
static int poll_transfer(void *context, curl_off_t to_receive, curl_off_t received,
                         curl_off_t to_send, curl_off_t sent)
{
    struct transfer *transfer = context;
    const struct cbx_engine_request *request = transfer->request;
    (void)to_receive;
    (void)to_send;
    if (request->cancelled != NULL && request->cancelled(request->context)) {
        return 1;
    }
    if (received + sent != transfer->bytes) {
        transfer->bytes = received + sent;
        transfer->heard_ms = cbx_clock_ms();
    }
    transfer->failed = cbx_engine_check(transfer->engine, &transfer->heard_ms, NULL);
    return transfer->failed ? 1 : 0;
}

int cbx_engine_transfer(struct cbx_engine *engine, const struct cbx_engine_request *request,
                        long *status, struct cbx_buf *reply, struct cbx_err *err)
{
    char url[1024], type[64];
    cbx_engine_url(engine, request->path, url, sizeof(url));
    CBX_AUTO_DONE(buf) json;
    cbx_buf_init(&json, ANSWER_MAX);
    struct cbx_str body = body_of(request, &json);
    CURL *curl = cbx_engine_handle(engine);
    snprintf(type, sizeof(type), "Content-Type: %.40s",
             request->type != NULL ? request->type : "application/json");
    struct curl_slist *headers = curl_slist_append(NULL, type);
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                     request->timeout_ms > 0 ? request->timeout_ms : (long)CALL_TIMEOUT_MS);
    struct transfer transfer = { .engine = engine, .request = request, .heard_ms = cbx_clock_ms() };
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
    return_handle(engine, curl);
    if (transfer.failed) {
        return cbx_engine_silent(engine, err);
    }
    if (code == CURLE_ABORTED_BY_CALLBACK) {
        return cbx_fail(err, CBX_ESTATE, "cancelled");
    }
    if (code != CURLE_OK) {
        return cbx_engine_unreachable(engine, code,
                                      reply->overflow ? "its answer is too large" : detail, err);
    }
    return 0;
}

int cbx_engine_call(struct cbx_engine *engine, const struct cbx_engine_request *request,
                    long *status, json_t **answer, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) reply;
    cbx_buf_init(&reply, ANSWER_MAX);
    int failed = cbx_engine_transfer(engine, request, status, &reply, err);
    if (failed) {
        return failed;
    }
    *answer = NULL;
    struct cbx_err inner;
    if (reply.len > 0 && cbx_json_parse(cbx_buf_str(&reply), ANSWER_MAX, answer, &inner) != 0 &&
        *status < 300) {
        cbx_fail(err, CBX_EENGINE, "the sandbox engine answered something that is no JSON");
        return add_address(engine, err);
    }
    return 0;
}

int cbx_engine_refused(const struct cbx_engine *engine, long status, const json_t *answer,
                       const char *what, struct cbx_err *err)
{
    const char *message = json_string_value(json_object_get(answer, "message"));
    cbx_fail(err, CBX_EENGINE, "the sandbox engine refused to %s (HTTP status %ld)", what, status);
    cbx_err_detail(err, "%s: %s", engine->host, message != NULL ? message : "");
    return CBX_EENGINE;
}

int cbx_engine_expect(struct cbx_engine *engine, const struct cbx_engine_request *request,
                      long good, enum cbx_engine_answer kind, const char *what, json_t **answer,
                      struct cbx_err *err)
{
    CBX_AUTO_JSON got = NULL;
    long status = 0;
    int failed = cbx_engine_call(engine, request, &status, &got, err);
    if (failed) {
        return failed;
    }
    bool right = kind == CBX_ANSWER_OBJECT  ? json_is_object(got)
                 : kind == CBX_ANSWER_ARRAY ? json_is_array(got)
                                            : true;
    if (status != good || !right) {
        return cbx_engine_refused(engine, status, got, what, err);
    }
    *answer = json_incref(got);
    return 0;
}

int cbx_engine_remove(struct cbx_engine *engine, const char *path, long good, const char *what,
                      const char *busy, struct cbx_err *err)
{
    CBX_AUTO_JSON answer = NULL;
    long status = 0;
    struct cbx_engine_request request = { .method = "DELETE", .path = path };
    int failed = cbx_engine_call(engine, &request, &status, &answer, err);
    if (!failed && status == 409) {
        return cbx_fail(err, CBX_EBUSY, "%s", busy);
    }
    bool gone = status == good || status == 404;
    if (failed || gone) {
        return failed;
    }
    return cbx_engine_refused(engine, status, answer, what, err);
}

/* --- discovery ------------------------------------------------------------------------------- */

static bool uses_tls(const char *host)
{
    const char *verify = getenv("DOCKER_TLS_VERIFY");
    return strncmp(host, "https://", 8) == 0 || (verify != NULL && verify[0] != '\0');
}

static void name_certs(char *out, size_t size)
{
    const char *certs = getenv("DOCKER_CERT_PATH"), *home = getenv("HOME");
    if (certs != NULL) {
        snprintf(out, size, "%.380s", certs);
    } else {
        snprintf(out, size, "%.380s/.docker", home != NULL ? home : "");
    }
}

static int parse_host(struct cbx_engine *engine, const char *host, struct cbx_err *err)
{
    snprintf(engine->host, sizeof(engine->host), "%s", host);
    engine->socket[0] = engine->tls.cert[0] = '\0';
    if (strncmp(host, "unix://", 7) == 0 && host[7] == '/') {
        if (strlen(host + 7) > 107) {
            return cbx_fail(err, CBX_EENGINE,
                            "the sandbox engine's socket path has %zu bytes, allowed are 107",
                            strlen(host + 7));
        }
        snprintf(engine->socket, sizeof(engine->socket), "%s", host + 7);
        snprintf(engine->base, sizeof(engine->base), "http://localhost");
        return 0;
    }
    bool tls = uses_tls(host);
    const char *rest = strstr(host, "://");
    if (rest == NULL || strlen(rest) > 256 ||
        (strncmp(host, "tcp://", 6) != 0 && strncmp(host, "http", 4) != 0)) {
        cbx_fail(
            err, CBX_EENGINE,
            "the sandbox engine's address is none; allowed is unix:///path or tcp://host:port");
        return add_address(engine, err);
    }
    snprintf(engine->base, sizeof(engine->base), "%s%s", tls ? "https" : "http", rest);
    if (tls) {
        char folder[400];
        name_certs(folder, sizeof(folder));
        snprintf(engine->tls.ca, sizeof(engine->tls.ca), "%s/ca.pem", folder);
        snprintf(engine->tls.cert, sizeof(engine->tls.cert), "%s/cert.pem", folder);
        snprintf(engine->tls.key, sizeof(engine->tls.key), "%s/key.pem", folder);
        return cbx_engine_tls_check(&engine->tls, err);
    }
    return 0;
}

/* Converts "1.41" to 1041, 0 if it is no version. */
static int version_number(const char *text)
{
    int major = 0, minor = 0;
    return text != NULL && sscanf(text, "%4d.%4d", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

static bool names_podman(const json_t *components)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(components, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "Name"));
        if (name != NULL && strncmp(name, "Podman", 6) == 0) {
            return true;
        }
    }
    return false;
}

static int negotiate(struct cbx_engine *engine, struct cbx_err *err)
{
    enum { OLDEST = 1041, NEWEST = 1051 };
    CBX_AUTO_JSON answer = NULL;
    long status = 0;
    struct cbx_engine_request request = { .method = "GET", .path = "/version" };
    int failed = cbx_engine_call(engine, &request, &status, &answer, err);
    if (failed) {
        return failed;
    }
    const char *api = json_string_value(json_object_get(answer, "ApiVersion"));
    const char *version = json_string_value(json_object_get(answer, "Version"));
    int number = version_number(api);
    if (status != 200 || number == 0) {
        cbx_fail(err, CBX_EENGINE,
                 "what answers in place of the sandbox engine is no Docker engine");
        return add_address(engine, err);
    }
    if (number < OLDEST) {
        cbx_fail(err, CBX_EENGINE, "the sandbox engine has API %.16s, needed is 1.41 or newer",
                 api);
        return add_address(engine, err);
    }
    number = number > NEWEST ? NEWEST : number;
    snprintf(engine->api, sizeof(engine->api), "%d.%d", number / 1000, number % 1000);
    snprintf(engine->version, sizeof(engine->version), "%.60s",
             version != NULL ? version : "unknown");
    engine->podman = names_podman(json_object_get(answer, "Components"));
    return 0;
}

static struct cbx_engine *new_engine(void)
{
    pthread_once(&curl_once, start_curl);
    struct cbx_engine *engine = cbx_new(sizeof(*engine));
    pthread_mutex_init(&engine->lock, NULL);
    return engine;
}

/* Tries the usual sockets in turn; the detail of the error names them all. */
static int probe(struct cbx_engine *engine, struct cbx_err *err)
{
    const char *runtime_dir = getenv("XDG_RUNTIME_DIR"), *home = getenv("HOME");
    char places[5][300] = { "unix:///var/run/docker.sock" };
    int count = 1;
    if (runtime_dir != NULL) {
        snprintf(places[count++], 300, "unix://%.200s/docker.sock", runtime_dir);
        snprintf(places[count++], 300, "unix://%.200s/podman/podman.sock", runtime_dir);
    }
    if (home != NULL) {
        snprintf(places[count++], 300, "unix://%.200s/.docker/run/docker.sock", home);
    }
    snprintf(places[count++], 300, "unix:///run/podman/podman.sock");
    char tried[360] = "";
    struct cbx_err last = { 0 };
    for (int i = 0; i < count; i++) {
        size_t used = strlen(tried);
        snprintf(tried + used, sizeof(tried) - used, "%s%s", i > 0 ? ", " : "", places[i] + 7);
        if (access(places[i] + 7, F_OK) == 0 && parse_host(engine, places[i], &last) == 0 &&
            negotiate(engine, &last) == 0) {
            return 0;
        }
    }
    cbx_fail(err, CBX_EENGINE, "%s",
             last.text[0] != '\0' ? last.text : "no sandbox engine was found");
    cbx_err_detail(err, "%.340s%stried %s; start one or set DOCKER_HOST", last.detail,
                   last.detail[0] != '\0' ? "; " : "", tried);
    return CBX_EENGINE;
}

/* Returns the given address; NULL to try the usual sockets. */
static const char *choose_host(const char *host)
{
    const char *from_environment = getenv("DOCKER_HOST");
    return host == NULL && from_environment != NULL && from_environment[0] != '\0'
               ? from_environment
               : host;
}

void cbx_engine_prepare(const char *host, const char *scratch, struct cbx_engine_needs *out)
{
    pthread_once(&curl_once, start_curl);
    cbx_engine_podman_scratch(scratch != NULL ? scratch : "/tmp");
    *out = (struct cbx_engine_needs){ 0 };
    host = choose_host(host);
    out->tcp = host != NULL && strncmp(host, "unix://", 7) != 0;
    if (out->tcp && uses_tls(host)) {
        name_certs(out->certs, sizeof(out->certs));
    }
}

static int use_host(struct cbx_engine *engine, const char *host, struct cbx_err *err)
{
    int failed = parse_host(engine, host, err);
    if (failed) {
        return failed;
    }
    return negotiate(engine, err);
}

int cbx_engine_new(const char *host, struct cbx_engine **out, struct cbx_err *err)
{
    CBX_AUTO(engine) engine = new_engine();
    int failed;
    host = choose_host(host);
    if (host == NULL) {
        failed = probe(engine, err);
    } else {
        failed = use_host(engine, host, err);
    }
    if (failed) {
        return failed;
    }
    *out = cbx_steal(&engine);
    return 0;
}

void cbx_engine_free(struct cbx_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    for (int i = 0; i < engine->idle_count; i++) {
        curl_easy_cleanup(engine->idle[i]);
    }
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}
