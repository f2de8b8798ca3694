/* SPDX-License-Identifier: MIT
 * Declarations shared by the files that implement docker.h. */
#ifndef CBX_DOCKER_ENGINE_DOCKER_DOCKER_HTTP_H
#define CBX_DOCKER_ENGINE_DOCKER_DOCKER_HTTP_H

#include "docker/engine/docker/docker.h"
#include "docker/engine/engine_ops.h"
#include "docker/engine/handles.h"
#include "policies/base/buf.h"

#include <curl/curl.h>

/* Paths of the files for mutual TLS; all empty = no TLS. */
struct cbx_docker_tls {
    char ca[512], cert[512], key[512];
};

struct cbx_docker {
    struct cbx_engine engine;
    char socket[256]; /* path, or empty for TCP */
    char base[512];   /* "http://localhost" or "https://host:port" */
    struct cbx_docker_tls tls;
    bool podman; /* its compatible interface differs in details */
    struct cbx_handles handles;
};

/* Returns the object that an engine of this folder begins. */
static inline struct cbx_docker *cbx_docker_of(struct cbx_engine *engine)
{
    return (struct cbx_docker *)engine;
}

/* CBX_EENGINE if one of the files is missing, is no certificate, has expired or is not valid
 * yet. */
int cbx_docker_tls_check(const struct cbx_docker_tls *tls, struct cbx_err *err);

/* Configures a handle with the files: only their CA is trusted, and the host's name must match. */
void cbx_docker_tls_use(const struct cbx_docker_tls *tls, CURL *curl);

/* Returns an addition to the detail of a failure: "" or the hint that the engine may have
 * rejected the client certificate. */
const char *cbx_docker_tls_hint(const struct cbx_docker_tls *tls, CURLcode code);

/* Returns a handle that is configured to reach the engine: a new one, or one with an open
 * connection. The caller cleans it up. */
CURL *cbx_docker_handle(struct cbx_docker *docker);

/* Writes the URL of an API path ("/containers/json"), with the negotiated version in front. */
void cbx_docker_url(const struct cbx_docker *docker, const char *path, char *out, size_t size);

/* Adds the engine's address to the detail of an error; returns CBX_EENGINE. */
int cbx_docker_add_address(const struct cbx_docker *docker, struct cbx_err *err);

/* Fails with CBX_EENGINE for a transfer that failed with `code`. `words` (may be "") is
 * libcurl's message; it, the engine's address and advice for the operator are the detail. */
int cbx_docker_unreachable(const struct cbx_docker *docker, CURLcode code, const char *words,
                           struct cbx_err *err);

/* Fails with CBX_EENGINE for an engine that does not reply, with or without accepting
 * connections. */
int cbx_docker_silent(const struct cbx_docker *docker, struct cbx_err *err);

/* A request to the engine. `path` is an API path without the version ("/containers/json"). Only
 * POST sends a body: `body` (NULL = an empty one), or `bytes` of the media type `type` if that
 * is not NULL. `timeout_ms` 0 = 120 s; a call without a byte for CBX_SILENCE_CALL_MS continues
 * only while the engine replies to pings. `cancelled` (may be NULL) is polled about once a
 * second: true ends the transfer with CBX_ESTATE, and the engine sees a disconnected client. */
struct cbx_docker_request {
    const char *method, *path;
    const json_t *body;
    struct cbx_str bytes;
    const char *type;
    long timeout_ms;
    bool (*cancelled)(void *context);
    void *context;
};

/* Sends a request and appends the reply's body to *reply. CBX_EENGINE without a reply, or for a
 * reply over the cap; an HTTP error status is not an error here. */
int cbx_docker_transfer(struct cbx_docker *docker, const struct cbx_docker_request *request,
                        long *status, struct cbx_buf *reply, struct cbx_err *err);

/* Sends a request and waits for the reply. *answer is a new reference, or NULL if the reply's
 * body is empty or no JSON. CBX_EENGINE without a reply; an HTTP error status is not an error
 * here. */
int cbx_docker_call(struct cbx_docker *docker, const struct cbx_docker_request *request,
                    long *status, json_t **answer, struct cbx_err *err);

enum { CBX_PODMAN_PATH_MAX = 4128 };

/* Sets the folder for the files that Podman reads; /tmp before. Not thread-safe. */
void cbx_podman_scratch(const char *folder);

/* Makes a container's body for Podman, which reads the seccomp profile from a file on its host:
 * writes the file, and its name into *out (new reference) and `path`. The caller removes the
 * file after the container was created; `path` is empty if the body has no profile. */
int cbx_podman_body(const json_t *body, json_t **out, char path[static CBX_PODMAN_PATH_MAX],
                    struct cbx_err *err);

/* Sends a request whose reply must have the HTTP status `good` and be JSON of a kind;
 * CBX_EENGINE otherwise, and without a reply. *answer is a new reference, or NULL for an empty
 * one. `what` completes "the sandbox engine refused to ": "list images". */
enum cbx_docker_answer { CBX_ANSWER_ANY = 0, CBX_ANSWER_OBJECT, CBX_ANSWER_ARRAY };
int cbx_docker_expect(struct cbx_docker *docker, const struct cbx_docker_request *request,
                      long good, enum cbx_docker_answer kind, const char *what, json_t **answer,
                      struct cbx_err *err);

/* Sends DELETE. Success for the HTTP status `good`, and for 404: it was removed before.
 * CBX_EBUSY with the text `busy` for 409; CBX_EENGINE for any other status, and without a reply. */
int cbx_docker_delete(struct cbx_docker *docker, const char *path, long good, const char *what,
                      const char *busy, struct cbx_err *err);

/* Fails with CBX_EENGINE for an HTTP status that is no success. The engine's message is the
 * detail. */
int cbx_docker_refused(const struct cbx_docker *docker, long status, const json_t *answer,
                       const char *what, struct cbx_err *err);

/* The functions of the engine's table (engine_ops.h), by file. docker_calls.c: */
int cbx_docker_version_info(struct cbx_engine *engine, json_t **out, struct cbx_err *err);
int cbx_docker_info(struct cbx_engine *engine, json_t **out, struct cbx_err *err);
int cbx_docker_image(struct cbx_engine *engine, const char *name, struct cbx_image *out,
                     json_t **labels, struct cbx_err *err);
int cbx_docker_begin(struct cbx_engine *engine, const struct cbx_container_spec *spec,
                     char id[CBX_CONTAINER_ID_CHARS + 1], struct cbx_attach **attach,
                     struct cbx_err *err);
int cbx_docker_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err);
int cbx_docker_state(struct cbx_engine *engine, const char *id, int timeout_ms,
                     struct cbx_container_state *out, struct cbx_err *err);
int cbx_docker_throttled(struct cbx_engine *engine, const char *id, int timeout_ms, int64_t *out,
                         struct cbx_err *err);
int cbx_docker_list(struct cbx_engine *engine, const char *label, struct cbx_container_entry **out,
                    size_t *count, struct cbx_err *err);
/* docker_images.c; cbx_docker_image_build builds an image from a Dockerfile that needs no other file,
 * and then gives it this name; the image exists completely or not at all. The engine unpacks an
 * archive with this one file, and starts no container for the instructions FROM, COPY and LABEL; use
 * no others. COPY reads from an image, so no program can change its source meanwhile; this was the
 * attack on the archive calls. The engine's message is the error's detail. cbx_docker_wait waits
 * until a container has ended. */
int cbx_docker_image_build(struct cbx_engine *engine, const char *name, struct cbx_str dockerfile,
                           const struct cbx_engine_stop *stop, struct cbx_err *err);
int cbx_docker_image_list(struct cbx_engine *engine, const char *label, json_t **out,
                          struct cbx_err *err);
int cbx_docker_image_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err);
int cbx_docker_wait(struct cbx_engine *engine, const char *id, int timeout_s, int *exit_code,
                    struct cbx_err *err);
/* Makes an unnamed image from a container's files; it has the labels of the container. After a
 * cancellation the engine may still make it. */
int cbx_docker_commit(struct cbx_engine *engine, const char *id, const struct cbx_engine_stop *stop,
                      char out[CBX_IMAGE_ID_CHARS + 1], struct cbx_err *err);
/* docker_layer.c: */
int cbx_docker_layer_make(struct cbx_engine *engine, const struct cbx_layer_recipe *recipe,
                          const struct cbx_engine_stop *stop, struct cbx_err *err);
int cbx_docker_ended(struct cbx_engine *engine, const char *id, struct cbx_attach *attach,
                     int timeout_s, struct cbx_container_state *out, struct cbx_err *err);
/* docker_attach.c, docker_ping.c: */
int cbx_docker_attach(struct cbx_engine *engine, const char *id, struct cbx_attach **out,
                      struct cbx_err *err);
int cbx_docker_ping(struct cbx_engine *engine, int timeout_ms, struct cbx_err *err);

#endif
