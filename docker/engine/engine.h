/* SPDX-License-Identifier: MIT
 * A container engine: what the gateway needs of it. Each engine implements the table of
 * engine_ops.h in a folder of its own: docker/ for Docker and Podman, kubernetes/. An engine object
 * may be used from several threads. Replies of an engine are hostile: capped and validated. */
#ifndef CBX_DOCKER_ENGINE_ENGINE_H
#define CBX_DOCKER_ENGINE_ENGINE_H

#include "docker/engine/container_spec.h"
#include "policies/base/auto.h"
#include "policies/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct cbx_engine;

/* For a process that confines itself before cbx_engine_new with this host: initialises libcurl,
 * and returns the access that must stay allowed. From then on files for Podman are created in
 * `scratch` (NULL = /tmp). Not thread-safe. */
enum { CBX_ENGINE_FOLDERS = 5 };
struct cbx_engine_needs {
    bool tcp; /* true for connections over TCP, and the resolution of a name */
    /* folders with files that it reads: certificates, tokens */
    char folders[CBX_ENGINE_FOLDERS][400];
    size_t folder_count;
};
void cbx_engine_prepare(const char *host, const char *scratch, struct cbx_engine_needs *out);

/* Connects to the engine at `host`. For Docker: unix:///path, tcp://host:port, else $DOCKER_HOST,
 * else the usual sockets (/var/run/docker.sock, the user's, Podman's); $DOCKER_TLS_VERIFY and
 * $DOCKER_CERT_PATH have their meaning for the docker client. For Kubernetes as in
 * docker/engine/kubernetes/cluster.h. Negotiates the version:
 * CBX_EENGINE if no engine replies (the detail names all tried addresses) or the API is older
 * than 1.41. */
int cbx_engine_new(const char *host, struct cbx_engine **out, struct cbx_err *err);
void cbx_engine_free(struct cbx_engine *engine);
CBX_DEFINE_AUTO(engine)

/* Return "20.10.24", "1.41", "unix:///var/run/docker.sock"; borrowed. */
const char *cbx_engine_version(const struct cbx_engine *engine);
const char *cbx_engine_api(const struct cbx_engine *engine);
const char *cbx_engine_host(const struct cbx_engine *engine);

/* The abilities in which engines differ. */
struct cbx_engine_abilities {
    const char *name;     /* name of the product: "Docker", "Podman" */
    bool mounts_verified; /* true if its mounting of folders of the host was verified */
    bool makes_layers;    /* true if its making of layers (cbx_engine_layer_make) was verified */
    bool cluster;         /* true if sandboxes are Pods of a cluster */
    bool keeps_ended;     /* true if a container that has ended is there until it is removed */
};
const struct cbx_engine_abilities *cbx_engine_abilities(const struct cbx_engine *engine);

/* True if this host is a cluster's: sandboxes have no network there. */
bool cbx_engine_is_cluster(const char *host);

/* Descriptions of the engine, as the engine words them, for people (new references). */
int cbx_engine_version_info(struct cbx_engine *engine, json_t **out, struct cbx_err *err);
int cbx_engine_info(struct cbx_engine *engine, json_t **out, struct cbx_err *err);

/* Pings the engine on a new connection. CBX_EENGINE if it does not reply within timeout_ms. */
int cbx_engine_ping(struct cbx_engine *engine, int timeout_ms, struct cbx_err *err);

/* For callers that wait long for an engine, and would not notice a silent one. *heard_ms is the
 * time when the engine last sent or accepted bytes (cbx_clock_ms). If that is
 * CBX_SILENCE_CALL_MS ago, pings the engine; its reply sets *heard_ms. CBX_EENGINE if there is
 * no reply. */
int cbx_engine_check(struct cbx_engine *engine, int64_t *heard_ms, struct cbx_err *err);

enum { CBX_CONTAINER_ID_CHARS = 64, CBX_IMAGE_ID_CHARS = 71 };

/* Reads the id ("sha256:...") of the image that has this name now. CBX_ENOTFOUND if there is
 * none. */
int cbx_engine_image_id(struct cbx_engine *engine, const char *name,
                        char out[CBX_IMAGE_ID_CHARS + 1], struct cbx_err *err);

/* Reads a label of an image by its name, "" if the image has no such label. CBX_ENOTFOUND if
 * there is no such image. */
int cbx_engine_image_label(struct cbx_engine *engine, const char *name, const char *label,
                           char *out, size_t size, struct cbx_err *err);

/* An image by its name: its id, its size, and the label CBX_LABEL_CONTENTS (contents.h), owned
 * by the caller; NULL without the label. CBX_ENOTFOUND if there is no such image. */
struct cbx_image {
    char id[CBX_IMAGE_ID_CHARS + 1];
    int64_t size_bytes;
    char *contents;
};
int cbx_engine_image(struct cbx_engine *engine, const char *name, struct cbx_image *out,
                     struct cbx_err *err);

/* Reads an image and all of its labels (new reference; an object, or NULL); out->contents is
 * NULL. CBX_ENOTFOUND if there is no such image. */
int cbx_engine_image_labels(struct cbx_engine *engine, const char *name, struct cbx_image *out,
                            json_t **labels, struct cbx_err *err);

/* Creates a container, attaches to its streams and starts it. `id` is the container's id as soon
 * as the container exists: if a later step failed the caller removes it; empty if there is none.
 * The caller owns *attach. CBX_EINVAL for a spec without a role, an image or a command. */
struct cbx_attach;
int cbx_engine_container_begin(struct cbx_engine *engine, const struct cbx_container_spec *spec,
                               char id[CBX_CONTAINER_ID_CHARS + 1], struct cbx_attach **attach,
                               struct cbx_err *err);

/* For a gateway whose sandboxes another one may take over; called before any other thread uses the
 * engine. cbx_engine_use_bridges: sandboxes are reached by a bridge each (docker/inside/bridge), so
 * that a supervisor closes the connection of the gateway before; attached streams of Docker would
 * mix both. Kubernetes always uses bridges. cbx_engine_guard_removals: a container is removed only
 * while `may_remove` returns true, CBX_ESTATE otherwise. */
void cbx_engine_use_bridges(struct cbx_engine *engine);
void cbx_engine_guard_removals(struct cbx_engine *engine, bool (*may_remove)(void *context),
                               void *context);

/* Kills and removes a container; success if it does not exist. CBX_EBUSY if the engine is
 * removing it, which may still fail: retry. */
int cbx_engine_container_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err);

/* State of a container: CBX_ENOTFOUND if it does not exist. A paused container is running too; one
 * that is `taken` has been evicted, or is being removed, by its cluster. timeout_ms 0 = the default
 * of all calls. */
struct cbx_container_state {
    bool running, paused, oom_killed, taken;
    int exit_code;
};
int cbx_engine_container_state(struct cbx_engine *engine, const char *id, int timeout_ms,
                               struct cbx_container_state *out, struct cbx_err *err);

/* Reads the number of times that the scheduler has throttled a container because it had used up
 * its processor quota. CBX_EENGINE also for a missing container, and for an engine without this
 * counter. */
int cbx_engine_container_throttled(struct cbx_engine *engine, const char *id, int timeout_ms,
                                   int64_t *out, struct cbx_err *err);

/* Lists the ids of the running containers with this label ("key=value"), as a JSON list (new
 * reference). */
int cbx_engine_container_running(struct cbx_engine *engine, const char *label, json_t **out,
                                 struct cbx_err *err);

/* The same for all containers that were created at least age_s seconds ago, and whose lease
 * (CBX_LABEL_LEASE) has expired; with age 0 for all. */
int cbx_engine_container_old(struct cbx_engine *engine, const char *label, int64_t age_s,
                             json_t **out, struct cbx_err *err);

/* Waits until the program whose streams have ended is over, at most timeout_s (CBX_EENGINE then),
 * and reads its exit code, and whether it ended for lack of memory. CBX_ENOTFOUND if the container
 * was removed meanwhile. */
int cbx_engine_container_ended(struct cbx_engine *engine, const char *id, struct cbx_attach *attach,
                               int timeout_s, struct cbx_container_state *out, struct cbx_err *err);

/* The cancellation of a call that takes minutes: polled about once a second, true ends the call
 * with CBX_ESTATE. */
struct cbx_engine_stop {
    bool (*cancelled)(void *context); /* NULL = never */
    void *context;
};

/* Labels of a layer, besides CBX_LABEL_CONTENTS, which also lists the packages of the set (they
 * replace the image's). */
#define CBX_LABEL_LAYER "codebox.layer" /* SHA-256 of the set's text, hexadecimal */
/* id of the sandbox image that it is made from; also of an installer image */
#define CBX_LABEL_BASE "codebox.base"

/* An image to make: that of the sandbox, with a folder of packages of an installer's container. All
 * texts are borrowed. */
struct cbx_layer_recipe {
    const char *name;      /* of the new image: "PREFIX-KERNEL-layer:DIGEST" */
    const char *base;      /* id of the sandbox image */
    const char *container; /* an installer's, which has ended well */
    const char *from;      /* a folder below /packages: "node_modules" */
    const char *to;        /* where the image has it: "/usr/local/lib/node_modules" */
    const json_t *labels;  /* object of strings, added to the labels of the base */
    int64_t bytes_max;     /* size of the packages, unpacked */
    int64_t files_max;     /* number of their files and folders */
};

/* Makes the image; it exists completely or not at all, and all files are root's. No program of the
 * packages runs, and none can change the files meanwhile. The container is removed in any case. A
 * process that ends meanwhile may leave a temporary image with the labels of the container. `stop`
 * may be NULL. CBX_EENGINE. */
int cbx_engine_layer_make(struct cbx_engine *engine, const struct cbx_layer_recipe *recipe,
                          const struct cbx_engine_stop *stop, struct cbx_err *err);

/* Lists the images with this label ("key" or "key=value"), as the engine lists them: [{Id,
 * Created, RepoTags, Labels, Size}] (new reference). Id was validated. */
int cbx_engine_image_list(struct cbx_engine *engine, const char *label, json_t **out,
                          struct cbx_err *err);

/* Removes an image, and unnamed images that it is made from. Success if it does not exist;
 * CBX_EBUSY if it is in use, or has several names. */
int cbx_engine_image_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err);

/* The attached streams of a container: one connection in both directions, which costs one
 * descriptor and less than a KiB; with TLS, in addition the memory that libcurl needs
 * (docker/sandbox/README.md). Used by one thread, except cbx_attach_send and
 * cbx_attach_send_some, which may be called from another thread. */
int cbx_engine_container_attach(struct cbx_engine *engine, const char *id, struct cbx_attach **out,
                                struct cbx_err *err);
void cbx_attach_free(struct cbx_attach *attach);
CBX_DEFINE_AUTO(attach)

/* Sends all, or fails with CBX_EIO. */
int cbx_attach_send(struct cbx_attach *attach, const void *bytes, size_t len, struct cbx_err *err);

/* Sends as many bytes as the engine accepts now, at least one; waits up to timeout_ms for that.
 * CBX_ETIMEDOUT, CBX_EIO. */
int cbx_attach_send_some(struct cbx_attach *attach, const void *bytes, size_t len, int timeout_ms,
                         size_t *sent, struct cbx_err *err);

/* Bytes that a container wrote to one of its streams. */
enum cbx_channel { CBX_CHANNEL_NONE = 0, CBX_CHANNEL_STDOUT, CBX_CHANNEL_STDERR };
struct cbx_attach_bytes {
    enum cbx_channel channel;
    struct cbx_str bytes; /* empty at the end of the streams */
};

/* Waits up to timeout_ms (-1 = no limit) and receives the bytes of one channel that are available,
 * at most `size`, into the buffer `to`; out->bytes is a part of the buffer. CBX_ETIMEDOUT, CBX_EIO;
 * CBX_EPROTO if the engine's framing is malformed: the streams cannot be used any more. */
int cbx_attach_receive(struct cbx_attach *attach, void *to, size_t size, int timeout_ms,
                       struct cbx_attach_bytes *out, struct cbx_err *err);

/* Returns how long the engine has been silent: since bytes arrived or, on a connection that was
 * closed after a timeout, since the engine last acknowledged bytes. */
int64_t cbx_attach_silent_ms(struct cbx_attach *attach);

#endif
