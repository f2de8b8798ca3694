/* SPDX-License-Identifier: MIT
 * An image registry in the test process, with one repository. A test sets faults in `registry`
 * before a call. Include it once. */
#ifndef CBX_TESTS_UNIT_DOCKER_ENGINE_KUBERNETES_FAKE_REGISTRY_H
#define CBX_TESTS_UNIT_DOCKER_ENGINE_KUBERNETES_FAKE_REGISTRY_H

#include "policies/base/buf.h"
#include "policies/base/hash.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REGISTRY_STORED = 64, REGISTRY_BYTES = 1 << 22, REGISTRY_CONNECTIONS = 64 };
#define REGISTRY_NAME "team/codebox-python"

/* A blob or a manifest; a manifest may have a tag. */
struct registry_stored {
    char digest[72], tag[80], type[128];
    char *bytes;
    size_t len;
    bool manifest;
};

static struct {
    /* Faults. */
    const char *challenge; /* WWW-Authenticate of each request without `pass` */
    const char *pass;      /* the value of Authorization that is accepted; NULL = any */
    const char *token;     /* that /token gives; NULL = "t1" */
    const char *location;  /* of an upload; NULL = its own */
    bool other_bytes;      /* blobs are given with a changed byte */
    int upload_status;     /* of PATCH; 0 = 202 */
    bool ends_upload;      /* the connection ends in the middle of PATCH */
    int manifest_status;   /* of PUT of a manifest; 0 = 201 */
    int delete_status;     /* 0 = 202 */
    int page;              /* tags of a page; 0 = all */
    const char *manifest;  /* the body of each manifest */
    /* The record. */
    struct registry_stored stored[REGISTRY_STORED];
    size_t count;
    char calls[8192], authorization[512];
    char *upload; /* bytes of PATCH */
    size_t upload_len;

    int listening, port;
    int fds[REGISTRY_CONNECTIONS], connections;
    pthread_t acceptor, threads[REGISTRY_CONNECTIONS];
    pthread_mutex_t lock;
} registry;

/* --- what is stored --------------------------------------------------------------------------- */

static void registry_digest(struct cbx_str bytes, char out[72])
{
    char hex[CBX_SHA256_HEX + 1];
    struct cbx_sha256 hash = cbx_sha256_of(bytes);
    cbx_sha256_hex(&hash, hex);
    snprintf(out, 72, "sha256:%s", hex);
}

static struct registry_stored *registry_find(const char *key, size_t len, bool manifest)
{
    for (size_t i = 0; i < registry.count; i++) {
        struct registry_stored *s = &registry.stored[i];
        bool named = (strlen(s->digest) == len && strncmp(s->digest, key, len) == 0) ||
                     (s->tag[0] != '\0' && strlen(s->tag) == len && strncmp(s->tag, key, len) == 0);
        if (named && s->manifest == manifest && s->bytes != NULL) {
            return s;
        }
    }
    return NULL;
}

/* Stores bytes, as a manifest with this tag (empty = none) or, with NULL, as a blob. */
static struct registry_stored *registry_store(struct cbx_str bytes, const char *tag,
                                              const char *type)
{
    char digest[72];
    registry_digest(bytes, digest);
    struct registry_stored *s = registry_find(digest, strlen(digest), tag != NULL);
    if (s == NULL) {
        assert_true(registry.count < REGISTRY_STORED);
        s = &registry.stored[registry.count++];
        memcpy(s->digest, digest, sizeof(digest));
        s->bytes = cbx_str_copy(bytes);
        s->len = bytes.len;
    }
    s->manifest = tag != NULL;
    snprintf(s->tag, sizeof(s->tag), "%s", tag != NULL ? tag : "");
    snprintf(s->type, sizeof(s->type), "%s", type != NULL ? type : "application/octet-stream");
    return s;
}

/* --- replies ---------------------------------------------------------------------------------- */

static void registry_write(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0) {
            return;
        }
        bytes += n;
        len -= (size_t)n;
    }
}

static void registry_reply(int fd, int status, const char *headers, struct cbx_str body)
{
    char head[4096];
    int n = snprintf(head, sizeof(head), "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n%s\r\n", status,
                     body.len, headers);
    registry_write(fd, head, (size_t)n);
    registry_write(fd, cbx_str_bytes(body), body.len);
}

static void registry_refuse(int fd, int status)
{
    registry_reply(fd, status, "",
                   CBX_STR("{\"errors\":[{\"code\":\"X\",\"message\":\"no such thing\"}]}"));
}

static void registry_give(int fd, const struct registry_stored *s)
{
    char headers[256];
    if (s == NULL) {
        registry_refuse(fd, 404);
        return;
    }
    CBX_AUTO_MEM char *bytes = cbx_str_copy((struct cbx_str){ s->bytes, s->len });
    if (registry.other_bytes) {
        bytes[0] ^= 1;
    }
    snprintf(headers, sizeof(headers), "Content-Type: %s\r\n", s->type);
    registry_reply(fd, 200, headers, (struct cbx_str){ bytes, s->len });
}

/* --- requests --------------------------------------------------------------------------------- */

static void registry_list(int fd, const char *query)
{
    const char *last = strstr(query, "last=");
    json_t *tags = json_array();
    CBX_AUTO_JSON answer = json_pack("{s:s,s:o}", "name", REGISTRY_NAME, "tags", tags);
    bool started = last == NULL, more = false;
    for (size_t i = 0; i < registry.count; i++) {
        const char *tag = registry.stored[i].tag;
        if (tag[0] == '\0' || registry.stored[i].bytes == NULL) {
            continue;
        }
        more = registry.page > 0 && (int)json_array_size(tags) == registry.page;
        if (started && !more) {
            json_array_append_new(tags, json_string(tag));
        }
        started = started || strcmp(last + 5, tag) == 0;
    }
    CBX_AUTO_MEM char *text = json_dumps(answer, 0);
    registry_reply(fd, 200, more ? "Link: </v2/x>; rel=\"next\"\r\n" : "", cbx_str_of(text));
}

static void registry_manifest(int fd, const char *method, const char *key, const char *type,
                              struct cbx_str body)
{
    struct registry_stored *s = registry_find(key, strlen(key), true);
    if (strcmp(method, "GET") == 0 && registry.manifest != NULL) {
        registry_reply(fd, 200, "", cbx_str_of(registry.manifest));
    } else if (strcmp(method, "GET") == 0) {
        registry_give(fd, s);
    } else if (strcmp(method, "DELETE") == 0) {
        if (s != NULL && registry.delete_status == 0) {
            free(cbx_steal(&s->bytes));
        }
        int status = s == NULL ? 404 : 202;
        registry_reply(fd, registry.delete_status != 0 ? registry.delete_status : status, "",
                       CBX_STR(""));
    } else if (registry.manifest_status != 0) {
        registry_refuse(fd, registry.manifest_status);
    } else {
        registry_store(body, key, type);
        registry_reply(fd, 201, "", CBX_STR(""));
    }
}

static void registry_upload(int fd, const char *method, const char *path, struct cbx_str body)
{
    char headers[512];
    const char *digest = strstr(path, "digest=sha256%3A");
    snprintf(headers, sizeof(headers), "Location: %s\r\n",
             registry.location != NULL ? registry.location
                                       : "/v2/" REGISTRY_NAME "/blobs/uploads/1?state=s");
    if (strcmp(method, "PATCH") == 0) {
        free(registry.upload);
        registry.upload = cbx_str_copy(body);
        registry.upload_len = body.len;
        int status = registry.upload_status != 0 ? registry.upload_status : 202;
        registry_reply(fd, status, headers, CBX_STR(""));
    } else if (strcmp(method, "POST") == 0) {
        registry_reply(fd, 202, headers, CBX_STR(""));
    } else if (strcmp(method, "DELETE") == 0) {
        registry_reply(fd, 204, "", CBX_STR(""));
    } else {
        char wanted[72], found[72];
        struct cbx_str bytes =
            body.len > 0 ? body : (struct cbx_str){ registry.upload, registry.upload_len };
        snprintf(wanted, sizeof(wanted), "sha256:%.64s", digest != NULL ? digest + 16 : "");
        registry_digest(bytes, found);
        if (strcmp(wanted, found) != 0) {
            registry_refuse(fd, 400);
            return;
        }
        registry_store(bytes, NULL, NULL);
        registry_reply(fd, 201, "", CBX_STR(""));
    }
}

static void registry_serve(int fd, const char *method, const char *path, const char *type,
                           struct cbx_str body)
{
    static const char start[] = "/v2/" REGISTRY_NAME "/";
    size_t used = strlen(registry.calls);
    snprintf(registry.calls + used, sizeof(registry.calls) - used, "%s %s\n", method, path);
    if (strncmp(path, "/token", 6) == 0) {
        bool known = registry.pass == NULL || strstr(registry.authorization, "Basic ") != NULL;
        char token[64];
        snprintf(token, sizeof(token), "{\"token\":\"%s\",\"expires_in\":300}",
                 registry.token != NULL ? registry.token : "t1");
        registry_reply(fd, known ? 200 : 401, "", cbx_str_of(token));
        return;
    }
    if (registry.challenge != NULL &&
        (registry.pass == NULL || strcmp(registry.authorization, registry.pass) != 0)) {
        char header[1024];
        snprintf(header, sizeof(header), "WWW-Authenticate: %s\r\n", registry.challenge);
        registry_reply(fd, 401, header, CBX_STR("{}"));
        return;
    }
    const char *rest = path + sizeof(start) - 1;
    if (strncmp(path, start, sizeof(start) - 1) != 0) {
        registry_refuse(fd, 404);
    } else if (strncmp(rest, "manifests/", 10) == 0) {
        registry_manifest(fd, method, rest + 10, type, body);
    } else if (strncmp(rest, "blobs/uploads/", 14) == 0) {
        registry_upload(fd, method, path, body);
    } else if (strncmp(rest, "blobs/", 6) == 0) {
        registry_give(fd, registry_find(rest + 6, strlen(rest + 6), false));
    } else if (strncmp(rest, "tags/list", 9) == 0) {
        registry_list(fd, rest);
    } else {
        registry_refuse(fd, 404);
    }
}

static bool registry_read(int fd, char *to, size_t len)
{
    for (size_t n = 0; n < len;) {
        ssize_t got = recv(fd, to + n, len - n, 0);
        if (got <= 0) {
            return false;
        }
        n += (size_t)got;
    }
    return true;
}

static bool registry_read_chunks(int fd, struct cbx_buf *body)
{
    for (;;) {
        char line[32];
        size_t n = 0;
        while (n < 2 || memcmp(line + n - 2, "\r\n", 2) != 0) {
            if (n == sizeof(line) || !registry_read(fd, line + n, 1)) {
                return false;
            }
            n++;
        }
        size_t len = strtoul(line, NULL, 16);
        char *to = cbx_buf_reserve(body, len + 2);
        assert_non_null(to);
        pthread_mutex_lock(&registry.lock);
        bool ends = len > 0 && registry.ends_upload;
        pthread_mutex_unlock(&registry.lock);
        if (!registry_read(fd, to, len + 2) || ends) {
            return false;
        }
        body->len += len;
        if (len == 0) {
            return true;
        }
    }
}

static void registry_header(const char *head, const char *name, char *out, size_t size)
{
    const char *at = strcasestr(head, name);
    at = at != NULL ? at + strlen(name) : "";
    snprintf(out, size, "%.*s", (int)strcspn(at, "\r"), at);
}

static void *registry_connection(void *context)
{
    int fd = (int)(intptr_t)context;
    CBX_AUTO_DONE(buf) body;
    cbx_buf_init(&body, REGISTRY_BYTES);
    for (;;) {
        char head[16384], method[16], path[4096], type[128], length[32];
        size_t n = 0;
        while (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0) {
            if (n + 1 >= sizeof(head) || !registry_read(fd, head + n, 1)) {
                shutdown(fd, SHUT_RDWR);
                return NULL;
            }
            head[++n] = '\0';
        }
        cbx_buf_reset(&body);
        registry_header(head, "\r\ncontent-length: ", length, sizeof(length));
        registry_header(head, "\r\ncontent-type: ", type, sizeof(type));
        bool chunks = strcasestr(head, "\r\ntransfer-encoding: chunked") != NULL;
        size_t len = strtoul(length, NULL, 10);
        char *to = cbx_buf_reserve(&body, len);
        bool complete = chunks ? registry_read_chunks(fd, &body) : registry_read(fd, to, len);
        body.len += chunks ? 0 : len;
        if (!complete || sscanf(head, "%15s %4095s", method, path) != 2) {
            shutdown(fd, SHUT_RDWR);
            return NULL;
        }
        pthread_mutex_lock(&registry.lock);
        registry_header(head, "\r\nauthorization: ", registry.authorization,
                        sizeof(registry.authorization));
        registry_serve(fd, method, path, type, cbx_buf_str(&body));
        pthread_mutex_unlock(&registry.lock);
    }
}

static void *registry_accept(void *context)
{
    int fd;
    (void)context;
    while ((fd = accept(registry.listening, NULL, NULL)) >= 0) {
        int i = registry.connections++;
        assert_true(i < REGISTRY_CONNECTIONS);
        registry.fds[i] = fd;
        pthread_create(&registry.threads[i], NULL, registry_connection, (void *)(intptr_t)fd);
    }
    return NULL;
}

static void registry_start(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);
    memset(&registry, 0, sizeof(registry));
    pthread_mutex_init(&registry.lock, NULL);
    registry.listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(registry.listening, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(registry.listening, 16), 0);
    getsockname(registry.listening, (struct sockaddr *)&address, &size);
    registry.port = ntohs(address.sin_port);
    pthread_create(&registry.acceptor, NULL, registry_accept, NULL);
}

static void registry_stop(void)
{
    shutdown(registry.listening, SHUT_RDWR);
    pthread_join(registry.acceptor, NULL);
    for (int i = 0; i < registry.connections; i++) {
        shutdown(registry.fds[i], SHUT_RDWR);
        pthread_join(registry.threads[i], NULL);
        close(registry.fds[i]);
    }
    close(registry.listening);
    for (size_t i = 0; i < registry.count; i++) {
        free(registry.stored[i].bytes);
    }
    free(registry.upload);
    pthread_mutex_destroy(&registry.lock);
}

#endif
