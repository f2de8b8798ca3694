/* SPDX-License-Identifier: MIT
 * An API server in the test process: Pods, a watch and exec. The supervisors behind its Pods are
 * the supervisors of the fake engine's containers. A test sets faults in `cluster` before a call.
 * Include it once. */
#ifndef CBX_TESTS_UNIT_DOCKER_ENGINE_KUBERNETES_FAKE_CLUSTER_H
#define CBX_TESTS_UNIT_DOCKER_ENGINE_KUBERNETES_FAKE_CLUSTER_H

#include "docker/engine/kubernetes/websocket.h"
#include "policies/base/text/base64.h"
#include "policies/base/text/json.h"
#include "tests/unit/docker/fake_engine.h"

#include <netinet/tcp.h>
#include <openssl/sha.h>

enum { CLUSTER_CONNECTIONS = 256 };
/* A server's URL may have a path. */
#define CLUSTER_PATH  "/clusters/c"
#define CLUSTER_IMAGE "sha256:00000000000000000000000000000000000000000000000000000000000feed0"

static struct {
    /* Faults. */
    int status;                   /* of POST and exec; 0 = as they should be */
    int busy;                     /* so many POST are answered with 429 first */
    const char *message;          /* of that status */
    const char *waiting, *reason; /* a Pod does not run: its container waits, with this reason */
    bool evicts;                  /* a Pod fails at once */
    void (*mutate)(json_t *pod);  /* an admission webhook */
    bool no_events;               /* the watch tells nothing */
    int too_old;                  /* so many watches end with 410 at their first event */
    int half_events;              /* so many watches end in the middle of their first event */
    bool silent_exec;             /* exec is not answered */
    int token_refused;            /* so many requests are answered with 401 */
    int lost_posts;               /* so many POST are carried out, and answered with 409 */
    const char *list;             /* the reply to each list */
    int exec_unauthorized;        /* so many exec are answered with 401 */
    int exec_busy;                /* so many exec are answered with 503 */
    const char *protocol;         /* of the WebSocket; NULL = the one that was asked for */
    bool other_key;               /* the WebSocket is accepted for another key */
    bool overloaded;              /* each GET of the version is answered with 429 */
    bool silent_list;             /* no list is answered */
    bool empty_watches;           /* each watch ends at once */
    const char *exec_status;      /* the Status that ends each exec at once; NULL = none */
    /* Programs that are no bridge: what an exec of each writes to its standard output, and the
     * Status of its end. */
    struct cluster_program {
        const char *word; /* a part of its command, percent-encoded */
        struct cbx_str output;
        const char *status;
    } programs[4];
    /* The record. */
    json_t *pods; /* name: Pod */
    char token[64], exec_token[64], calls[4096];
    int watches, version;

    int listening, port;
    int fds[CLUSTER_CONNECTIONS], connections;
    int watching[CLUSTER_CONNECTIONS], watchers;
    pthread_t acceptor, threads[CLUSTER_CONNECTIONS];
    char folder[64], kubeconfig[128], settings[128], images[128], host[300];
} cluster;

/* Sec-WebSocket-Key and token of the request that this thread serves. */
static __thread char cluster_key[64], cluster_token[64];

static void cluster_note(const char *what)
{
    size_t used = strlen(cluster.calls);
    snprintf(cluster.calls + used, sizeof(cluster.calls) - used, "%s ", what);
}

static void cluster_answer(int fd, int status, json_t *body)
{
    CBX_AUTO_MEM char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    fake_reply(fd, status, text);
}

static void cluster_refuse(int fd, int status, const char *message)
{
    cluster_answer(fd, status,
                   json_pack("{s:s,s:s,s:s,s:i}", "kind", "Status", "status", "Failure", "message",
                             message != NULL ? message : "refused", "code", status));
}

/* --- events ----------------------------------------------------------------------------------- */

static void cluster_send_chunk(int fd, const char *text, size_t len)
{
    char head[32];
    snprintf(head, sizeof(head), "%zx\r\n", len);
    fake_write(fd, head, strlen(head));
    fake_write(fd, text, len);
    fake_write(fd, "\r\n", 2);
}

static void cluster_tell(const char *type, json_t *pod)
{
    CBX_AUTO_JSON event = json_pack("{s:s,s:O}", "type", type, "object", pod);
    CBX_AUTO_MEM char *text = json_dumps(event, JSON_COMPACT);
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, 1 << 20);
    cbx_buf_printf(&line, "%s\n", text);
    for (int i = 0; i < cluster.watchers && !cluster.no_events; i++) {
        int fd = cluster.watching[i];
        if (fd >= 0 && cluster.too_old > 0) {
            static const char gone[] = "{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n";
            cluster_send_chunk(fd, gone, sizeof(gone) - 1);
            cluster.too_old--;
        } else if (fd >= 0 && cluster.half_events > 0) {
            cluster_send_chunk(fd, line.p, line.len / 2);
            shutdown(fd, SHUT_RDWR);
            cluster.watching[i] = -1;
            cluster.half_events--;
        } else if (fd >= 0) {
            cluster_send_chunk(fd, line.p, line.len);
        }
    }
}

static void cluster_set_version(json_t *pod)
{
    json_object_set_new(json_object_get(pod, "metadata"), "resourceVersion",
                        json_sprintf("%d", ++cluster.version));
}

/* --- Pods ------------------------------------------------------------------------------------- */

/* What an API server fills in. */
static void cluster_fill(json_t *pod)
{
    json_t *spec = json_object_get(pod, "spec");
    json_t *container = json_array_get(json_object_get(spec, "containers"), 0);
    json_object_set_new(spec, "serviceAccountName", json_string("default"));
    json_object_set_new(spec, "serviceAccount", json_string("default"));
    json_object_set_new(spec, "schedulerName", json_string("default-scheduler"));
    json_object_set_new(spec, "priority", json_integer(0));
    json_object_set_new(spec, "preemptionPolicy", json_string("PreemptLowerPriority"));
    json_object_set_new(container, "terminationMessagePath", json_string("/dev/termination-log"));
    json_object_set_new(container, "terminationMessagePolicy", json_string("File"));
    json_object_set_new(json_object_get(pod, "metadata"), "uid", json_string("u-1"));
}

static json_t *cluster_status(void)
{
    if (cluster.evicts) {
        return json_pack("{s:s,s:s,s:s}", "phase", "Failed", "reason", "Evicted", "message",
                         "The node was low on resource: memory.");
    }
    if (cluster.reason != NULL && cluster.waiting == NULL) {
        return json_pack("{s:s,s:[{s:s,s:s,s:s,s:s}]}", "phase", "Pending", "conditions", "type",
                         "PodScheduled", "status", "False", "reason", cluster.reason, "message",
                         "0/2 nodes are available: 2 Insufficient memory.");
    }
    if (cluster.waiting != NULL) {
        return json_pack("{s:s,s:[{s:{s:{s:s,s:s}}}]}", "phase", "Pending", "containerStatuses",
                         "state", "waiting", "reason", cluster.reason, "message", cluster.waiting);
    }
    return json_pack("{s:s,s:[{s:{s:{}}}]}", "phase", "Running", "containerStatuses", "state",
                     "running");
}

static struct fake_container *cluster_container(const char *name)
{
    const char *key;
    json_t *pod;
    json_object_foreach(cluster.pods, key, pod)
    {
        if (strcmp(key, name) == 0) {
            return &fake.containers[json_integer_value(json_object_get(pod, "container"))];
        }
    }
    return NULL;
}

static void cluster_post(int fd, const char *body)
{
    CBX_AUTO_JSON pod = json_loads(body, 0, NULL);
    cluster_note("create");
    if (cluster.busy > 0) {
        cluster.busy--;
        cluster_refuse(fd, 429, "too many requests");
        return;
    }
    if (cluster.status != 0) {
        cluster_refuse(fd, cluster.status, cluster.message);
        return;
    }
    const char *name = json_string_value(json_object_get(json_object_get(pod, "metadata"), "name"));
    cluster_fill(pod);
    if (cluster.mutate != NULL) {
        cluster.mutate(pod);
    }
    fake_create(-1, body);
    fake.containers[fake.count - 1].running = true;
    json_object_set_new(pod, "container", json_integer(fake.count - 1));
    json_object_set_new(pod, "status", json_pack("{s:s}", "phase", "Pending"));
    cluster_set_version(pod);
    json_object_set(cluster.pods, name, pod);
    if (cluster.lost_posts > 0) {
        cluster.lost_posts--;
        cluster_refuse(fd, 409, "pods \"x\" already exists");
    } else {
        cluster_answer(fd, 201, json_deep_copy(pod));
    }
    cluster_tell("ADDED", pod);
    json_object_set_new(pod, "status", cluster_status());
    cluster_set_version(pod);
    cluster_tell("MODIFIED", pod);
}

static void cluster_delete(int fd, const char *name, json_t *pod)
{
    struct fake_container *c = cluster_container(name);
    cluster_note("remove");
    c->removed = true;
    c->running = false;
    if (c->fd >= 0) {
        shutdown(c->fd, SHUT_RDWR);
    }
    cluster_set_version(pod);
    cluster_tell("DELETED", pod);
    cluster_answer(fd, 200, json_deep_copy(pod));
    json_object_del(cluster.pods, name);
}

static void cluster_list(int fd)
{
    const char *name;
    if (cluster.silent_list) {
        return;
    }
    if (cluster.list != NULL) {
        fake_reply(fd, 200, cluster.list);
        return;
    }
    json_t *pod, *items = json_array();
    json_object_foreach(cluster.pods, name, pod)
    {
        json_array_append(items, pod);
    }
    cluster_answer(fd, 200,
                   json_pack("{s:{s:o},s:o}", "metadata", "resourceVersion",
                             json_sprintf("%d", cluster.version), "items", items));
}

/* --- exec ------------------------------------------------------------------------------------- */

struct cluster_exec {
    int web, plain; /* the WebSocket; the supervisor's stream */
    struct fake_container *container;
};

/* Bytes of the supervisor as messages of channel 1; large ones in several frames. */
static void *cluster_output(void *context)
{
    const struct cluster_exec *exec = context;
    char bytes[60000];
    ssize_t n;
    while ((n = read(exec->plain, bytes, sizeof(bytes))) > 0) {
        uint8_t head[5] = { 0x82, 126, (uint8_t)((n + 1) >> 8), (uint8_t)(n + 1), 1 };
        fake_write(exec->web, "\x89\x01p", 3); /* a ping */
        fake_write(exec->web, head, sizeof(head));
        fake_write(exec->web, bytes, (size_t)n);
    }
    fake_write(exec->web, "\x88\x00", 2);
    shutdown(exec->web, SHUT_RDWR);
    return NULL;
}

static void *cluster_supervise(void *context)
{
    const struct cluster_exec *exec = context;
    fake_supervise(exec->container, exec->container->fd);
    return NULL;
}

/* Messages of the client to the supervisor, until one of them ends. */
static void cluster_input(const struct cluster_exec *exec)
{
    uint8_t head[14];
    while (fake_read(exec->web, head, 2)) {
        size_t len = head[1] & 0x7f, more = len == 126 ? 2 : len == 127 ? 8 : 0;
        assert_true((head[1] & 0x80) != 0); /* masked */
        if (!fake_read(exec->web, head + 2, more + 4)) {
            return;
        }
        if (more > 0) {
            len = 0;
        }
        for (size_t i = 0; i < more; i++) {
            len = len << 8 | head[2 + i];
        }
        CBX_AUTO_MEM uint8_t *bytes = calloc(1, len + 1);
        if (!fake_read(exec->web, bytes, len)) {
            return;
        }
        for (size_t i = 0; i < len; i++) {
            bytes[i] ^= head[2 + more + i % 4];
        }
        if ((head[0] & 0x0f) == 2 && len > 0 && bytes[0] == 0) {
            fake_write(exec->plain, bytes + 1, len - 1);
        }
    }
}

static void cluster_switch(int fd)
{
    uint8_t hash[SHA_DIGEST_LENGTH];
    CBX_AUTO_DONE(buf) text, head;
    cbx_buf_init(&text, 256);
    cbx_buf_init(&head, 1024);
    cbx_buf_printf(&text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11",
                   cluster.other_key ? "other" : cluster_key);
    SHA1((const uint8_t *)text.p, text.len, hash);
    cbx_buf_add_cstr(&head, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                            "Connection: Upgrade\r\nSec-WebSocket-Accept: ");
    cbx_base64_encode((struct cbx_str){ .p = (const char *)hash, .len = sizeof(hash) }, &head);
    cbx_buf_printf(&head, "\r\nSec-WebSocket-Protocol: %s\r\n\r\n",
                   cluster.protocol != NULL ? cluster.protocol : CBX_WEBSOCKET_PROTOCOL);
    cbx_buf_add(&head, CBX_STR("\x82\x01\x01\x82\x01\x02"));
    fake_write(fd, head.p, head.len);
}

/* The message of channel 3, and the end of the connection. */
static void cluster_end_exec(int fd)
{
    size_t len = strlen(cluster.exec_status);
    uint8_t head[5] = { 0x82, 126, (uint8_t)((len + 1) >> 8), (uint8_t)(len + 1), 3 };
    cluster_switch(fd);
    fake_write(fd, head, sizeof(head));
    fake_write(fd, cluster.exec_status, len);
    fake_write(fd, "\x88\x00", 2);
    shutdown(fd, SHUT_RDWR);
}

static const struct cluster_program *cluster_find_program(const char *query)
{
    for (size_t i = 0; i < sizeof(cluster.programs) / sizeof(cluster.programs[0]); i++) {
        const struct cluster_program *program = &cluster.programs[i];
        if (program->word != NULL && strstr(query, program->word) != NULL) {
            return program;
        }
    }
    return NULL;
}

static void cluster_send(int fd, uint8_t channel, struct cbx_str bytes)
{
    while (bytes.len > 0) {
        struct cbx_str part = cbx_str_take(&bytes, 50000);
        uint8_t head[5] = { 0x82, 126, (uint8_t)((part.len + 1) >> 8), (uint8_t)(part.len + 1),
                            channel };
        fake_write(fd, head, sizeof(head));
        fake_write(fd, part.p, part.len);
    }
}

static void cluster_run(int fd, const struct cluster_program *program)
{
    cluster_note(program->word);
    cluster_switch(fd);
    cluster_send(fd, 1, program->output);
    if (program->status != NULL) {
        cluster_send(fd, 3, cbx_str_of(program->status));
    }
    fake_write(fd, "\x88\x00", 2);
    shutdown(fd, SHUT_WR);
}

static void cluster_exec(int fd, const char *name)
{
    int ends[2];
    pthread_t output, supervisor;
    struct fake_container *container = cluster_container(name);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct cluster_exec exec = { .web = fd, .plain = ends[0], .container = container };
    container->fd = ends[1];
    memcpy(cluster.exec_token, cluster_token, sizeof(cluster.exec_token));
    fake_note("attach");
    cluster_switch(fd);
    pthread_mutex_unlock(&fake.lock);
    pthread_create(&supervisor, NULL, cluster_supervise, &exec);
    pthread_create(&output, NULL, cluster_output, &exec);
    cluster_input(&exec);
    shutdown(ends[0], SHUT_RDWR);
    pthread_join(supervisor, NULL);
    pthread_join(output, NULL);
    close(ends[0]);
    close(ends[1]);
    pthread_mutex_lock(&fake.lock);
}

/* --- the server ------------------------------------------------------------------------------- */

/* A watch begins with what changed since its version. */
static void cluster_watch(int fd, const char *path)
{
    const char *from = strstr(path, "resourceVersion=");
    long version = from != NULL ? strtol(from + 16, NULL, 10) : 0;
    static const char head[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    cluster.watches++;
    if (cluster.empty_watches) {
        fake_write(fd, head, sizeof(head) - 1);
        fake_write(fd, "0\r\n\r\n", 5);
        return;
    }
    cluster.watching[cluster.watchers++] = fd;
    fake_write(fd, head, sizeof(head) - 1);
    const char *name;
    json_t *pod;
    json_object_foreach(cluster.pods, name, pod)
    {
        const json_t *now = json_object_get(json_object_get(pod, "metadata"), "resourceVersion");
        if (strtol(json_string_value(now), NULL, 10) > version) {
            cluster_tell("MODIFIED", pod);
        }
    }
    pthread_cond_broadcast(&fake.changed);
}

static bool cluster_has_ended(const json_t *pod)
{
    const char *phase = json_string_value(json_object_get(json_object_get(pod, "status"), "phase"));
    return phase != NULL && (strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0);
}

/* Ends the container of a Pod, which stays. */
__attribute__((unused)) static void cluster_end_pod(const char *name, const char *reason,
                                                    int exit_code)
{
    pthread_mutex_lock(&fake.lock);
    json_t *pod = json_object_get(cluster.pods, name);
    assert_non_null(pod);
    json_object_set_new(pod, "status",
                        json_pack("{s:s,s:[{s:{s:{s:s,s:i}}}]}", "phase",
                                  exit_code == 0 ? "Succeeded" : "Failed", "containerStatuses",
                                  "state", "terminated", "reason", reason, "exitCode", exit_code));
    cluster_set_version(pod);
    cluster_tell("MODIFIED", pod);
    pthread_mutex_unlock(&fake.lock);
}

/* Adds a Pod that has ended, of an instance, without an event. */
__attribute__((unused)) static void cluster_add_ended(const char *name, const char *instance)
{
    const int unused = FAKE_CONTAINERS - 1;
    pthread_mutex_lock(&fake.lock);
    fake.containers[unused].fd = -1;
    json_object_set_new(cluster.pods, name,
                        json_pack("{s:{s:s,s:s,s:{s:s}},s:{s:s},s:i}", "metadata", "name", name,
                                  "resourceVersion", "0", "labels", CBX_LABEL_INSTANCE, instance,
                                  "status", "phase", "Succeeded", "container", unused));
    pthread_mutex_unlock(&fake.lock);
}

static void cluster_pod(int fd, const char *method, char *name)
{
    char *end = name + strcspn(name, "/?");
    bool exec = strncmp(end, "/exec", 5) == 0;
    const struct cluster_program *program = exec ? cluster_find_program(end) : NULL;
    *end = '\0';
    json_t *pod = json_object_get(cluster.pods, name);
    if (pod == NULL) {
        cluster_refuse(fd, 404, "pods \"x\" not found");
    } else if (exec && cluster.exec_busy > 0) {
        cluster.exec_busy--;
        cluster_refuse(fd, 503, "apiserver not ready");
    } else if (exec && cluster.exec_unauthorized > 0) {
        cluster.exec_unauthorized--;
        cluster_refuse(fd, 401, "Unauthorized");
    } else if (exec && cluster.status != 0) {
        cluster_refuse(fd, cluster.status, cluster.message);
    } else if (exec && cluster_has_ended(pod)) {
        cluster_refuse(fd, 500, "container not found (\"sandbox\")");
    } else if (exec && cluster.exec_status != NULL) {
        cluster_end_exec(fd);
    } else if (program != NULL) {
        cluster_run(fd, program);
    } else if (exec && !cluster.silent_exec) {
        cluster_exec(fd, name);
    } else if (exec) {
        return;
    } else if (strcmp(method, "DELETE") == 0) {
        cluster_delete(fd, name, pod);
    } else {
        cluster_answer(fd, 200, json_deep_copy(pod));
    }
}

static void cluster_serve(int fd, const char *method, char *path, const char *body)
{
    static const char pods[] = "/api/v1/namespaces/boxes/pods";
    if (strncmp(path, CLUSTER_PATH, sizeof(CLUSTER_PATH) - 1) != 0) {
        cluster_refuse(fd, 404, "no such path");
        return;
    }
    path += sizeof(CLUSTER_PATH) - 1;
    if (cluster.token_refused > 0) {
        cluster.token_refused--;
        cluster_refuse(fd, 401, "Unauthorized");
    } else if (cluster.overloaded && strcmp(path, "/version") == 0) {
        cluster_refuse(fd, 429, "too many requests");
    } else if (strcmp(path, "/version") == 0) {
        fake_reply(fd, 200, "{\"gitVersion\":\"v1.36.1\"}");
    } else if (strncmp(path, pods, sizeof(pods) - 1) != 0) {
        cluster_refuse(fd, 404, "namespaces \"x\" not found");
    } else if (path[sizeof(pods) - 1] == '/') {
        cluster_pod(fd, method, path + sizeof(pods));
    } else if (strcmp(method, "POST") == 0) {
        cluster_post(fd, body);
    } else if (strstr(path, "watch=true") != NULL) {
        cluster_watch(fd, path);
    } else {
        cluster_list(fd);
    }
}

/* Like fake_read_request, and notes the token. */
static bool cluster_read_request(int fd, char method[16], char path[1024], char **body)
{
    char head[16384];
    size_t n = 0;
    while (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0) {
        if (n + 1 >= sizeof(head) || !fake_read(fd, head + n, 1)) {
            return false;
        }
        head[++n] = '\0';
    }
    const char *length = strcasestr(head, "content-length:"),
               *token = strcasestr(head, "authorization: bearer "),
               *key = strcasestr(head, "sec-websocket-key: ");
    size_t len = length != NULL ? strtoul(length + 15, NULL, 10) : 0;
    *body = calloc(1, len + 1);
    snprintf(cluster_key, sizeof(cluster_key), "%.*s",
             key != NULL ? (int)strcspn(key + 19, "\r") : 0, key != NULL ? key + 19 : "");
    snprintf(cluster_token, sizeof(cluster_token), "%.*s",
             token != NULL ? (int)strcspn(token + 22, "\r") : 0, token != NULL ? token + 22 : "");
    pthread_mutex_lock(&fake.lock);
    memcpy(cluster.token, cluster_token, sizeof(cluster.token));
    pthread_mutex_unlock(&fake.lock);
    return sscanf(head, "%15s %1023s", method, path) == 2 && fake_read(fd, *body, len);
}

static void *cluster_connection(void *context)
{
    int fd = *(int *)context;
    char method[16], path[1024], *body = NULL;
    while (cluster_read_request(fd, method, path, &body)) {
        pthread_mutex_lock(&fake.lock);
        cluster_serve(fd, method, path, body);
        pthread_mutex_unlock(&fake.lock);
        free(cbx_steal(&body));
    }
    free(body);
    pthread_mutex_lock(&fake.lock);
    for (int i = 0; i < cluster.watchers; i++) {
        cluster.watching[i] = cluster.watching[i] == fd ? -1 : cluster.watching[i];
    }
    pthread_mutex_unlock(&fake.lock);
    return NULL;
}

static void *cluster_accept(void *context)
{
    int fd;
    (void)context;
    while ((fd = accept(cluster.listening, NULL, NULL)) >= 0) {
        pthread_mutex_lock(&fake.lock);
        int i = cluster.connections++;
        assert_true(i < CLUSTER_CONNECTIONS);
        cluster.fds[i] = fd;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)); /* as Go does */
        pthread_create(&cluster.threads[i], NULL, cluster_connection, &cluster.fds[i]);
        pthread_mutex_unlock(&fake.lock);
    }
    return NULL;
}

static void cluster_write(char path[128], const char *name, const char *text)
{
    snprintf(path, 128, "%s/%s", cluster.folder, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void cluster_write_files(void)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 65536);
    cbx_buf_printf(&text,
                   "current-context: here\ncontexts:\n- name: here\n  context: {cluster: c, user: "
                   "u}\nclusters:\n- name: c\n  cluster: {server: 'http://127.0.0.1:%d" CLUSTER_PATH
                   "'}\n"
                   "users:\n- name: u\n  user: {tokenFile: token}\n",
                   cluster.port);
    cluster_write(cluster.kubeconfig, "config", text.p);
    cluster_write(cluster.images, "token", "first\n");
    cluster_write(cluster.images, "images.json",
                  "{\"codebox-python:latest\":{\"reference\":\"registry.test/codebox-python@sha256:"
                  "aa\",\"id\":\"" CLUSTER_IMAGE "\",\"size\":5,\"labels\":{\"a\":\"b\"}}}");
    cluster_write(cluster.settings, "settings.yaml",
                  "namespace: boxes\nimages: images.json\nstart-timeout: 2\n"
                  "seccomp-profile: codebox/sandbox.json\n");
    snprintf(cluster.host, sizeof(cluster.host), "kubernetes:%s:%s", cluster.kubeconfig,
             cluster.settings);
}

static void cluster_start(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);
    fake_start();
    fake.no_chunks = true;
    memset(&cluster, 0, sizeof(cluster));
    cluster.pods = json_object();
    cluster.listening = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(cluster.listening, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(cluster.listening, 64), 0);
    assert_int_equal(getsockname(cluster.listening, (struct sockaddr *)&address, &size), 0);
    cluster.port = ntohs(address.sin_port);
    snprintf(cluster.folder, sizeof(cluster.folder), "/tmp/cbx-cluster-XXXXXX");
    assert_non_null(mkdtemp(cluster.folder));
    cluster_write_files();
    pthread_create(&cluster.acceptor, NULL, cluster_accept, NULL);
}

static void cluster_stop(void)
{
    static const char *const names[] = { "config", "token", "images.json", "settings.yaml" };
    shutdown(cluster.listening, SHUT_RDWR);
    pthread_join(cluster.acceptor, NULL);
    for (int i = 0; i < cluster.connections; i++) {
        shutdown(cluster.fds[i], SHUT_RDWR);
        pthread_join(cluster.threads[i], NULL);
        close(cluster.fds[i]);
    }
    close(cluster.listening);
    json_decref(cluster.pods);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", cluster.folder, names[i]);
        unlink(path);
    }
    rmdir(cluster.folder);
    fake_stop();
}

#endif
