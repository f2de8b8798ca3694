/* SPDX-License-Identifier: MIT
 * The Docker Engine API (1.41 and newer) through libcurl: unix socket, or TCP with or without mutual TLS. One
 * function per call that is used. An engine object may be used from several threads; each call has its own connection
 * or one from a small cache. Answers are hostile: capped and validated. */
#ifndef CBX_DOCKER_ENGINE_H
#define CBX_DOCKER_ENGINE_H

#include "policies/base/auto.h"
#include "policies/base/err.h"

struct cbx_engine;

/* Where the engine is: `host` as given (unix:///path, tcp://host:port), else $DOCKER_HOST, else the usual sockets
 * (/var/run/docker.sock, the user's, Podman's). $DOCKER_TLS_VERIFY and $DOCKER_CERT_PATH as the docker client reads them.
 * Connects, and negotiates the version: CBX_EENGINE when nothing answers (the text names all that was tried)
 * or the API is older than 1.41. */
int cbx_engine_new(const char *host, struct cbx_engine **out, struct cbx_err *err);
void cbx_engine_free(struct cbx_engine *engine);
CBX_DEFINE_AUTO(engine)

/* "20.10.24" and "1.41", borrowed. */
const char *cbx_engine_version(const struct cbx_engine *engine);
const char *cbx_engine_api(const struct cbx_engine *engine);
const char *cbx_engine_host(const struct cbx_engine *engine);

#endif
