/* SPDX-License-Identifier: MIT
 * The Docker Engine API (1.41 and newer) through libcurl: unix socket, or TCP with or without
 * mutual TLS. One function per call that is used; the archive calls are not among them, they have
 * given host root before. An engine object may be used from several threads. Answers are hostile:
 * capped and validated. */
#ifndef CBX_DOCKER_ENGINE_ENGINE_H
#define CBX_DOCKER_ENGINE_ENGINE_H

#include "policies/base/auto.h"
#include "policies/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct cbx_engine;

/* For a process that confines itself before cbx_engine_new with this host: initialises libcurl, and says
 * what has to stay allowed. Files that Podman reads are made in `scratch` from then on (NULL = /tmp).
 * Not thread-safe. */
struct cbx_engine_needs {
    bool tcp;        /* connections over TCP, and the resolution of a name */
    char certs[400]; /* the folder of the files for TLS; empty = no TLS */
};
void cbx_engine_prepare(const char *host, const char *scratch, struct cbx_engine_needs *out);

/* Where the engine is: `host` as given (unix:///path, tcp://host:port), else $DOCKER_HOST, else the
 * usual sockets
 * (/var/run/docker.sock, the user's, Podman's). $DOCKER_TLS_VERIFY and $DOCKER_CERT_PATH as the
 * docker client reads them. Connects, and negotiates the version: CBX_EENGINE when none answers
 * (the detail names all places that were tried) or the API is older than 1.41. */
int cbx_engine_new(const char *host, struct cbx_engine **out, struct cbx_err *err);
void cbx_engine_free(struct cbx_engine *engine);
CBX_DEFINE_AUTO(engine)

/* "20.10.24", "1.41", "unix:///var/run/docker.sock"; borrowed. */
const char *cbx_engine_version(const struct cbx_engine *engine);
const char *cbx_engine_api(const struct cbx_engine *engine);
const char *cbx_engine_host(const struct cbx_engine *engine);

/* What an engine can do, as far as engines differ in it. */
struct cbx_engine_abilities {
    const char *name;     /* of the product: "Docker", "Podman" */
    bool mounts_verified; /* folders of the host: how it mounts them was examined */
    bool
        builds_layers; /* an image from a Dockerfile of FROM and COPY, as layers of packages need it */
};
const struct cbx_engine_abilities *cbx_engine_abilities(const struct cbx_engine *engine);

/* The engine's answers to /version and /info (new references). */
int cbx_engine_version_info(struct cbx_engine *engine, json_t **out, struct cbx_err *err);
int cbx_engine_info(struct cbx_engine *engine, json_t **out, struct cbx_err *err);

/* Pings the engine on a new connection. CBX_EENGINE when it does not answer within timeout_ms. */
int cbx_engine_ping(struct cbx_engine *engine, int timeout_ms, struct cbx_err *err);

/* For whatever waits long for an engine, and would not notice one that is silent. *heard_ms is when the engine last sent or took bytes
 * (cbx_clock_ms). When that is CBX_SILENCE_CALL_MS ago, pings the engine; its answer sets *heard_ms. CBX_EENGINE when there is none. */
int cbx_engine_check(struct cbx_engine *engine, int64_t *heard_ms, struct cbx_err *err);

enum { CBX_CONTAINER_ID_CHARS = 64, CBX_IMAGE_ID_CHARS = 71 };

/* The id ("sha256:...") of the image that has this name now. CBX_ENOTFOUND when there is none. */
int cbx_engine_image_id(struct cbx_engine *engine, const char *name,
                        char out[CBX_IMAGE_ID_CHARS + 1], struct cbx_err *err);

/* A label of an image by its name, "" when it has none. CBX_ENOTFOUND when there is no such image.
 */
int cbx_engine_image_label(struct cbx_engine *engine, const char *name, const char *label,
                           char *out, size_t size, struct cbx_err *err);

/* An image by its name: its id, its size, and the label CBX_LABEL_CONTENTS (contents.h), owned by the caller; NULL when it has none.
 * CBX_ENOTFOUND when there is no such image. */
struct cbx_image {
    char id[CBX_IMAGE_ID_CHARS + 1];
    int64_t size_bytes;
    char *contents;
};
int cbx_engine_image(struct cbx_engine *engine, const char *name, struct cbx_image *out,
                     struct cbx_err *err);

/* Creates a container with this body, attaches to its streams and starts it. `id` is that of the container as soon as there is one: when a later
 * step failed the caller removes it; empty when there is none. *attach is the caller's. */
struct cbx_attach;
int cbx_engine_container_begin(struct cbx_engine *engine, const json_t *body,
                               char id[CBX_CONTAINER_ID_CHARS + 1], struct cbx_attach **attach,
                               struct cbx_err *err);

/* Kills and removes; success when the container is gone already. CBX_EBUSY when the engine is
 * removing it, which may still fail: retry. */
int cbx_engine_container_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err);

/* State of a container: CBX_ENOTFOUND when it is gone. A paused one is running as well. timeout_ms 0 = that of all calls. */
struct cbx_container_state {
    bool running, paused, oom_killed;
    int exit_code;
};
int cbx_engine_container_state(struct cbx_engine *engine, const char *id, int timeout_ms,
                               struct cbx_container_state *out, struct cbx_err *err);

/* How often the scheduler has withheld the processor from a container until now, because it had used up its quota. CBX_EENGINE
 * also for a container that is gone, and for an engine that does not count it. */
int cbx_engine_container_throttled(struct cbx_engine *engine, const char *id, int timeout_ms,
                                   int64_t *out, struct cbx_err *err);

/* Ids of the running containers with this label ("key=value"), as a JSON list (new reference). */
int cbx_engine_container_running(struct cbx_engine *engine, const char *label, json_t **out,
                                 struct cbx_err *err);

/* The same, of all containers that were created at least age_s seconds ago, and whose lease (CBX_LABEL_LEASE) is over; with age 0 of all. */
int cbx_engine_container_old(struct cbx_engine *engine, const char *label, int64_t age_s,
                             json_t **out, struct cbx_err *err);

/* Waits until a container has ended, at most timeout_s (CBX_EENGINE then). *exit_code is that of its first process. */
int cbx_engine_container_wait(struct cbx_engine *engine, const char *id, int timeout_s,
                              int *exit_code, struct cbx_err *err);

/* Ends a call that takes minutes: polled about once a second, true ends it with CBX_ESTATE. */
struct cbx_engine_stop {
    bool (*cancelled)(void *context); /* NULL = never */
    void *context;
};

/* Makes an image without a name of a container's files; it has the labels of the container. `stop` may be NULL; an engine whose client has
 * left may make the image all the same. */
int cbx_engine_container_commit(struct cbx_engine *engine, const char *id,
                                const struct cbx_engine_stop *stop,
                                char out[CBX_IMAGE_ID_CHARS + 1], struct cbx_err *err);

/* Builds an image from a Dockerfile that needs no other file, and then gives it this name; the image exists completely or not at all.
 * The engine unpacks an archive with this one file, and starts no container for the instructions FROM, COPY and LABEL; those are the
 * ones to use. What COPY takes from is an image, so nothing runs that could change it meanwhile, which is what the archive calls
 * were attacked by. CBX_EENGINE; the engine's words are the detail. `stop` may be NULL. */
int cbx_engine_image_build(struct cbx_engine *engine, const char *name, struct cbx_str dockerfile,
                           const struct cbx_engine_stop *stop, struct cbx_err *err);

/* The images with this label ("key" or "key=value"), as the engine lists them: [{Id, Created, RepoTags, Labels, Size}] (new reference).
 * Id was checked to be one. */
int cbx_engine_image_list(struct cbx_engine *engine, const char *label, json_t **out,
                          struct cbx_err *err);

/* Removes an image, and unnamed ones that it is made from. Success when it is gone already; CBX_EBUSY when it is in use, or has several
 * names. */
int cbx_engine_image_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err);

/* The attached streams of a container: one connection in both directions, which costs one descriptor and less than a KiB; with TLS, as
 * much as libcurl needs for it (docker/sandbox/README.md). Used by one thread, except cbx_attach_send and cbx_attach_send_some, which
 * may be called from another. */
int cbx_engine_container_attach(struct cbx_engine *engine, const char *id, struct cbx_attach **out,
                                struct cbx_err *err);
void cbx_attach_free(struct cbx_attach *attach);
CBX_DEFINE_AUTO(attach)

/* Sends all, or fails with CBX_EIO. */
int cbx_attach_send(struct cbx_attach *attach, const void *bytes, size_t len, struct cbx_err *err);

/* Sends as many bytes as the engine takes now, at least one; waits up to timeout_ms for that. CBX_ETIMEDOUT, CBX_EIO. */
int cbx_attach_send_some(struct cbx_attach *attach, const void *bytes, size_t len, int timeout_ms,
                         size_t *sent, struct cbx_err *err);

/* Waits up to timeout_ms (-1 = no limit) and receives the bytes that are available, at most `size`.
 * *received is 0 at the end of the stream. CBX_ETIMEDOUT, CBX_EIO. */
int cbx_attach_receive(struct cbx_attach *attach, void *to, size_t size, int timeout_ms,
                       size_t *received, struct cbx_err *err);

/* How long the engine has been silent: since bytes arrived or, on a TCP connection that Linux has given
 * up, since the engine last acknowledged anything. */
int64_t cbx_attach_silent_ms(struct cbx_attach *attach);

#endif
