/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the engine client. */
#ifndef CBX_DOCKER_ENGINE_DOCKER_DOCKER_HTTP_H
#define CBX_DOCKER_ENGINE_DOCKER_DOCKER_HTTP_H

#include "docker/engine/engine.h"
#include "policies/base/buf.h"

#include <curl/curl.h>

/* Paths of the files for mutual TLS; all empty = no TLS. */
struct cbx_engine_tls {
    char ca[512], cert[512], key[512];
};

/* CBX_EENGINE if one of the files is missing, is no certificate, has expired or is not valid
 * yet. */
int cbx_engine_tls_check(const struct cbx_engine_tls *tls, struct cbx_err *err);

/* Configures a handle with the files: only their CA is trusted, and the host's name must match. */
void cbx_engine_tls_use(const struct cbx_engine_tls *tls, CURL *curl);

/* Returns an addition to the detail of a failure: "" or the hint that the engine may have
 * rejected the client certificate. */
const char *cbx_engine_tls_hint(const struct cbx_engine_tls *tls, CURLcode code);

/* Returns a handle that is configured to reach the engine: a new one, or one with an open
 * connection. The caller cleans it up. */
CURL *cbx_engine_handle(struct cbx_engine *engine);

/* Writes the URL of an API path ("/containers/json"), with the negotiated version in front. */
void cbx_engine_url(const struct cbx_engine *engine, const char *path, char *out, size_t size);

/* Fails with CBX_EENGINE for a transfer that failed with `code`. `words` (may be "") is
 * libcurl's message; it, the engine's address and advice for the operator are the detail. */
int cbx_engine_unreachable(const struct cbx_engine *engine, CURLcode code, const char *words,
                           struct cbx_err *err);

/* Fails with CBX_EENGINE for an engine that does not reply, with or without accepting
 * connections. */
int cbx_engine_silent(const struct cbx_engine *engine, struct cbx_err *err);

/* A request to the engine. `path` is an API path without the version ("/containers/json"). Only
 * POST sends a body: `body` (NULL = an empty one), or `bytes` of the media type `type` if that
 * is not NULL. `timeout_ms` 0 = 120 s; a call without a byte for CBX_SILENCE_CALL_MS continues
 * only while the engine replies to pings. `cancelled` (may be NULL) is polled about once a
 * second: true ends the transfer with CBX_ESTATE, and the engine sees a disconnected client. */
struct cbx_engine_request {
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
int cbx_engine_transfer(struct cbx_engine *engine, const struct cbx_engine_request *request,
                        long *status, struct cbx_buf *reply, struct cbx_err *err);

/* Sends a request and waits for the reply. *answer is a new reference, or NULL if the reply's
 * body is empty or no JSON. CBX_EENGINE without a reply; an HTTP error status is not an error
 * here. */
int cbx_engine_call(struct cbx_engine *engine, const struct cbx_engine_request *request,
                    long *status, json_t **answer, struct cbx_err *err);

/* The steps of cbx_engine_container_begin: POST /containers/create, and .../start. */
int cbx_engine_container_create(struct cbx_engine *engine, const json_t *body,
                                char out[CBX_CONTAINER_ID_CHARS + 1], struct cbx_err *err);
int cbx_engine_container_start(struct cbx_engine *engine, const char *id, struct cbx_err *err);

/* True for Podman, whose compatible interface differs in details. */
bool cbx_engine_is_podman(const struct cbx_engine *engine);

enum { CBX_PODMAN_PATH_MAX = 4128 };

/* Sets the folder for the files that Podman reads; /tmp before. Not thread-safe. */
void cbx_engine_podman_scratch(const char *folder);

/* Makes a container's body for Podman, which reads the seccomp profile from a file on its host:
 * writes the file, and its name into *out (new reference) and `path`. The caller removes the
 * file after the container was created; `path` is empty if the body has no profile. */
int cbx_engine_podman_body(const json_t *body, json_t **out, char path[static CBX_PODMAN_PATH_MAX],
                           struct cbx_err *err);

/* Sends a request whose reply must have the HTTP status `good` and be JSON of a kind;
 * CBX_EENGINE otherwise, and without a reply. *answer is a new reference, or NULL for an empty
 * one. `what` completes "the sandbox engine refused to ": "list images". */
enum cbx_engine_answer { CBX_ANSWER_ANY = 0, CBX_ANSWER_OBJECT, CBX_ANSWER_ARRAY };
int cbx_engine_expect(struct cbx_engine *engine, const struct cbx_engine_request *request,
                      long good, enum cbx_engine_answer kind, const char *what, json_t **answer,
                      struct cbx_err *err);

/* Sends DELETE. Success for the HTTP status `good`, and for 404: it was removed before.
 * CBX_EBUSY with the text `busy` for 409; CBX_EENGINE for any other status, and without a reply. */
int cbx_engine_remove(struct cbx_engine *engine, const char *path, long good, const char *what,
                      const char *busy, struct cbx_err *err);

/* Fails with CBX_EENGINE for an HTTP status that is no success. The engine's message is the
 * detail. */
int cbx_engine_refused(const struct cbx_engine *engine, long status, const json_t *answer,
                       const char *what, struct cbx_err *err);

#endif
