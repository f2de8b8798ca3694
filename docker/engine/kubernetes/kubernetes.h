/* SPDX-License-Identifier: MIT
 * Sandboxes as Pods of a Kubernetes cluster, by the API server's REST interface through libcurl.
 * The gateway needs these rights in one namespace: pods create, delete, get, list, watch;
 * pods/exec create, get. */
#ifndef CBX_DOCKER_ENGINE_KUBERNETES_KUBERNETES_H
#define CBX_DOCKER_ENGINE_KUBERNETES_KUBERNETES_H

#include "docker/engine/engine.h"

/* As cbx_engine_prepare and cbx_engine_new, for hosts as in cluster.h. */
void cbx_kubernetes_prepare(const char *host, const char *scratch, struct cbx_engine_needs *out);
int cbx_kubernetes_open(const char *host, struct cbx_engine **out, struct cbx_err *err);

#endif
