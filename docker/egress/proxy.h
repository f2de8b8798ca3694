/* SPDX-License-Identifier: MIT
 * The proxy of a sandbox whose policy grants hosts (docker/egress/README.md): a container with
 * Squid, the only container with a network on behalf of programs. It is started when a program
 * first connects, and ends with its sandbox. Connections reach it as frames, through this
 * process: a sandbox has no network of its own. */
#ifndef CBX_DOCKER_EGRESS_PROXY_H
#define CBX_DOCKER_EGRESS_PROXY_H

#include "docker/egress/proxy_log.h"
#include "docker/engine/engine.h"
#include "docker/sandbox/sandbox.h"
#include "docker/sandbox/sandbox_stream.h"

/* The proxy's access to its sandbox. Both functions are called from the proxy's own thread, and
 * from the thread of cbx_proxy_take. */
struct cbx_proxy_owner {
    /* Sends a frame about a connection to the supervisor. */
    void (*send)(void *context, uint8_t type, struct cbx_str payload);
    /* A request to the proxy has ended. Nonzero: recording failed, and no other connection is
     * forwarded. */
    int (*event)(void *context, const char *run, const struct cbx_proxy_event *event);
    void *context;
};

struct cbx_proxy;

/* Starts no container yet. All pointers are borrowed for the life of the proxy. */
struct cbx_proxy *cbx_proxy_new(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                                const struct cbx_network_grant *grant,
                                const struct cbx_proxy_owner *owner);

/* Sets the run that later connections belong to; events name it. */
void cbx_proxy_set_run(struct cbx_proxy *proxy, const char *run);

/* Takes a CONNECT, PART, GRANT or CLOSE of the supervisor; hostile. The first CONNECT starts the
 * container, without waiting for it; frames that arrive meanwhile are queued. */
void cbx_proxy_take(struct cbx_proxy *proxy, const struct cbx_frame *frame);

/* Closes all connections, waits up to a second for their log lines from the proxy, and removes
 * the container. */
void cbx_proxy_free(struct cbx_proxy *proxy);

/* Refuses networks that share a namespace, above all the host's (CBX_EINVAL). NULL is the
 * engine's default. */
int cbx_proxy_check_network(const char *network, struct cbx_err *err);

/* Specifies the container of a proxy: hardened as a sandbox, but with a network, and with the
 * capabilities that the relay needs and drops. The arguments are borrowed until
 * cbx_container_spec_done, which the caller calls after a failure too. CBX_EINVAL for hosts that
 * are no patterns of cbx_egress_parse, and for malformed ranges. */
int cbx_proxy_spec(const struct cbx_sandbox_config *config, const struct cbx_network_grant *grant,
                   const char *image, struct cbx_container_spec *out, struct cbx_err *err);

#endif
