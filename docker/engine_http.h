/* SPDX-License-Identifier: MIT
 * What the files of the engine client share; nobody else includes it. */
#ifndef CBX_DOCKER_ENGINE_HTTP_H
#define CBX_DOCKER_ENGINE_HTTP_H

#include "docker/engine.h"

#include <curl/curl.h>

/* A handle that is set up to reach the engine: a new one, or one with a connection that is open.
 * The caller cleans it up. */
CURL *cbx_engine_handle(struct cbx_engine *engine);

/* The URL of an API path ("/containers/json"), with the negotiated version in front. */
void cbx_engine_url(const struct cbx_engine *engine, const char *path, char *out, size_t size);

/* One call. *answer (may be NULL) is a new reference, or NULL when the body is empty or no JSON.
 * CBX_EENGINE when nothing answers; an HTTP error status is not an error here. */
int cbx_engine_call(struct cbx_engine *engine, const char *method, const char *path,
                    const json_t *body, long *status, json_t **answer, struct cbx_err *err);

/* The error for an HTTP status that is none of the good ones. */
int cbx_engine_refused(const struct cbx_engine *engine, long status, const json_t *answer,
                       const char *what, struct cbx_err *err);

#endif
