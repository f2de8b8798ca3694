/* SPDX-License-Identifier: MIT
 * Docker and Podman by the Docker Engine API (1.41 and newer) through libcurl: unix socket, or
 * TCP with or without mutual TLS. The archive calls are not used, because they have had
 * vulnerabilities that gave host root. */
#ifndef CBX_DOCKER_ENGINE_DOCKER_DOCKER_H
#define CBX_DOCKER_ENGINE_DOCKER_DOCKER_H

#include "docker/engine/engine.h"

/* As cbx_engine_prepare and cbx_engine_new. */
void cbx_docker_prepare(const char *host, const char *scratch, struct cbx_engine_needs *out);
int cbx_docker_open(const char *host, struct cbx_engine **out, struct cbx_err *err);

/* Makes the body (new reference) of "create a container" for a spec with a role. */
json_t *cbx_docker_body(const struct cbx_container_spec *spec);

/* The steps of cbx_engine_container_begin: POST /containers/create, and .../start. */
int cbx_docker_create(struct cbx_engine *engine, const struct cbx_container_spec *spec,
                      char out[CBX_CONTAINER_ID_CHARS + 1], struct cbx_err *err);
int cbx_docker_start(struct cbx_engine *engine, const char *id, struct cbx_err *err);

#endif
