/* SPDX-License-Identifier: MIT
 * Chooses the engine of a host, and calls its functions. What is the same for every engine is
 * here: leases, pings of a silent engine, complete sends. */
#include "docker/engine/engine.h"

#include "docker/contents.h"
#include "docker/engine/docker/docker.h"
#include "docker/engine/engine_ops.h"
#include "docker/engine/kubernetes/cluster.h"
#include "docker/engine/kubernetes/kubernetes.h"
#include "docker/engine/silence.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEASE_MAX_S = 24 * 3600, SEND_TIMEOUT_MS = 10000 };

/* --- the engine ------------------------------------------------------------------------------- */

/* An engine by the beginning of its host. The first that fits is taken. */
static const struct {
    const char *scheme;
    void (*prepare)(const char *host, const char *scratch, struct cbx_engine_needs *out);
    int (*open)(const char *host, struct cbx_engine **out, struct cbx_err *err);
} engines[] = {
    { CBX_CLUSTER_SCHEME, cbx_kubernetes_prepare, cbx_kubernetes_open },
    { "", cbx_docker_prepare, cbx_docker_open },
};

static size_t find_engine(const char *host)
{
    size_t i = 0;
    while (host == NULL ? engines[i].scheme[0] != '\0'
                        : strncmp(host, engines[i].scheme, strlen(engines[i].scheme)) != 0) {
        i++;
    }
    return i;
}

bool cbx_engine_is_cluster(const char *host)
{
    return host != NULL && strncmp(host, CBX_CLUSTER_SCHEME, strlen(CBX_CLUSTER_SCHEME)) == 0;
}

void cbx_engine_prepare(const char *host, const char *scratch, struct cbx_engine_needs *out)
{
    *out = (struct cbx_engine_needs){ 0 };
    engines[find_engine(host)].prepare(host, scratch, out);
}

void cbx_engine_needs_folder(struct cbx_engine_needs *needs, const char *path)
{
    if (path[0] == '\0') {
        return;
    }
    if (needs->folder_count == CBX_ENGINE_FOLDERS) {
        abort();
    }
    char *out = needs->folders[needs->folder_count++];
    snprintf(out, sizeof(needs->folders[0]), "%s", path);
}

void cbx_engine_needs_file(struct cbx_engine_needs *needs, const char *path)
{
    const char *slash = strrchr(path, '/');
    CBX_AUTO_MEM char *folder = cbx_str_copy(
        (struct cbx_str){ .p = path, .len = slash != NULL ? (size_t)(slash - path) : 0 });
    if (path[0] == '\0') {
        return;
    }
    if (folder[0] != '\0') {
        cbx_engine_needs_folder(needs, folder);
    } else {
        cbx_engine_needs_folder(needs, slash != NULL ? "/" : ".");
    }
}

int cbx_engine_new(const char *host, struct cbx_engine **out, struct cbx_err *err)
{
    return engines[find_engine(host)].open(host, out, err);
}

void cbx_engine_free(struct cbx_engine *engine)
{
    if (engine != NULL) {
        engine->ops->free(engine);
    }
}

const char *cbx_engine_version(const struct cbx_engine *engine)
{
    return engine->version;
}

const char *cbx_engine_api(const struct cbx_engine *engine)
{
    return engine->api;
}

const char *cbx_engine_host(const struct cbx_engine *engine)
{
    return engine->host;
}

const struct cbx_engine_abilities *cbx_engine_abilities(const struct cbx_engine *engine)
{
    return &engine->abilities;
}

int cbx_engine_version_info(struct cbx_engine *engine, json_t **out, struct cbx_err *err)
{
    return engine->ops->version_info(engine, out, err);
}

int cbx_engine_info(struct cbx_engine *engine, json_t **out, struct cbx_err *err)
{
    return engine->ops->info(engine, out, err);
}

int cbx_engine_ping(struct cbx_engine *engine, int timeout_ms, struct cbx_err *err)
{
    return engine->ops->ping(engine, timeout_ms, err);
}

int cbx_engine_check(struct cbx_engine *engine, int64_t *heard_ms, struct cbx_err *err)
{
    if (cbx_clock_ms() - *heard_ms < CBX_SILENCE_CALL_MS) {
        return 0;
    }
    int failed = cbx_engine_ping(engine, CBX_SILENCE_ENGINE_MS, err);
    if (!failed) {
        *heard_ms = cbx_clock_ms();
    }
    return failed;
}

/* --- images ----------------------------------------------------------------------------------- */

/* Reads a label of an image; *out is malloc'ed, NULL if the image has no such label. */
static int read_image(struct cbx_engine *engine, const char *name, const char *label,
                      struct cbx_image *image, char **out, struct cbx_err *err)
{
    json_t *labels = NULL;
    *image = (struct cbx_image){ 0 };
    *out = NULL;
    int failed = engine->ops->image(engine, name, image, &labels, err);
    const char *value = json_string_value(json_object_get(labels, label));
    if (!failed && value != NULL) {
        *out = strdup(value);
    }
    json_decref(labels);
    return failed;
}

int cbx_engine_image_id(struct cbx_engine *engine, const char *name,
                        char out[CBX_IMAGE_ID_CHARS + 1], struct cbx_err *err)
{
    struct cbx_image image;
    CBX_AUTO_MEM char *contents = NULL;
    int failed = read_image(engine, name, CBX_LABEL_CONTENTS, &image, &contents, err);
    if (!failed) {
        memcpy(out, image.id, sizeof(image.id));
    }
    return failed;
}

int cbx_engine_image_label(struct cbx_engine *engine, const char *name, const char *label,
                           char *out, size_t size, struct cbx_err *err)
{
    struct cbx_image image;
    CBX_AUTO_MEM char *value = NULL;
    int failed = read_image(engine, name, label, &image, &value, err);
    if (!failed) {
        snprintf(out, size, "%s", value != NULL ? value : "");
    }
    return failed;
}

int cbx_engine_image(struct cbx_engine *engine, const char *name, struct cbx_image *out,
                     struct cbx_err *err)
{
    char *contents = NULL;
    int failed = read_image(engine, name, CBX_LABEL_CONTENTS, out, &contents, err);
    out->contents = contents;
    return failed;
}

int cbx_engine_image_labels(struct cbx_engine *engine, const char *name, struct cbx_image *out,
                            json_t **labels, struct cbx_err *err)
{
    struct cbx_image image = { 0 };
    int failed = engine->ops->image(engine, name, &image, labels, err);
    if (!failed) {
        *out = image;
    }
    return failed;
}

int cbx_engine_image_list(struct cbx_engine *engine, const char *label, json_t **out,
                          struct cbx_err *err)
{
    return engine->ops->image_list(engine, label, out, err);
}

int cbx_engine_image_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err)
{
    return engine->ops->image_remove(engine, id, err);
}

/* --- gateways that take sandboxes over from each other ------------------------------------------ */

void cbx_engine_use_bridges(struct cbx_engine *engine)
{
    engine->uses_bridges = true;
}

void cbx_engine_guard_removals(struct cbx_engine *engine, bool (*may_remove)(void *context),
                               void *context)
{
    engine->removal_context = context;
    engine->may_remove = may_remove;
}

/* --- containers ------------------------------------------------------------------------------- */

int cbx_engine_container_begin(struct cbx_engine *engine, const struct cbx_container_spec *spec,
                               char id[CBX_CONTAINER_ID_CHARS + 1], struct cbx_attach **attach,
                               struct cbx_err *err)
{
    id[0] = '\0';
    if (spec->role == 0 || spec->image == NULL || spec->command[0] == NULL) {
        return cbx_fail(err, CBX_EINVAL, "a container has no role, no image or no command");
    }
    return engine->ops->begin(engine, spec, id, attach, err);
}

int cbx_engine_container_attach(struct cbx_engine *engine, const char *id, struct cbx_attach **out,
                                struct cbx_err *err)
{
    return engine->ops->attach(engine, id, out, err);
}

int cbx_engine_container_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err)
{
    if (engine->may_remove != NULL && !engine->may_remove(engine->removal_context)) {
        return cbx_fail(err, CBX_ESTATE, "another gateway may have container %.12s now", id);
    }
    return engine->ops->remove(engine, id, err);
}

int cbx_engine_container_state(struct cbx_engine *engine, const char *id, int timeout_ms,
                               struct cbx_container_state *out, struct cbx_err *err)
{
    return engine->ops->state(engine, id, timeout_ms, out, err);
}

int cbx_engine_container_throttled(struct cbx_engine *engine, const char *id, int timeout_ms,
                                   int64_t *out, struct cbx_err *err)
{
    return engine->ops->throttled(engine, id, timeout_ms, out, err);
}

int cbx_engine_container_ended(struct cbx_engine *engine, const char *id, struct cbx_attach *attach,
                               int timeout_s, struct cbx_container_state *out, struct cbx_err *err)
{
    return engine->ops->ended(engine, id, attach, timeout_s, out, err);
}

int cbx_engine_layer_make(struct cbx_engine *engine, const struct cbx_layer_recipe *recipe,
                          const struct cbx_engine_stop *stop, struct cbx_err *err)
{
    return engine->ops->layer_make(engine, recipe, stop, err);
}

/* True if a container is at least this old, and its lease has expired. With age 0 true for every
 * container. */
static bool is_older(const struct cbx_container_entry *entry, int64_t age_s)
{
    int64_t lease_s = entry->lease_s;
    lease_s = lease_s < 0 || lease_s > LEASE_MAX_S ? LEASE_MAX_S : lease_s;
    return age_s == 0 ||
           entry->created_s <= (int64_t)time(NULL) - (age_s > lease_s ? age_s : lease_s);
}

static int list_ids(struct cbx_engine *engine, const char *label, bool running, int64_t age_s,
                    json_t **out, struct cbx_err *err)
{
    CBX_AUTO_MEM struct cbx_container_entry *entries = NULL;
    size_t count = 0;
    int failed = engine->ops->list(engine, label, &entries, &count, err);
    if (failed) {
        return failed;
    }
    *out = json_array();
    for (size_t i = 0; i < count; i++) {
        if ((entries[i].running || !running) && is_older(&entries[i], age_s)) {
            json_array_append_new(*out, json_string(entries[i].id));
        }
    }
    return 0;
}

int cbx_engine_container_running(struct cbx_engine *engine, const char *label, json_t **out,
                                 struct cbx_err *err)
{
    return list_ids(engine, label, true, 0, out, err);
}

int cbx_engine_container_old(struct cbx_engine *engine, const char *label, int64_t age_s,
                             json_t **out, struct cbx_err *err)
{
    return list_ids(engine, label, false, age_s, out, err);
}

/* --- attached streams ------------------------------------------------------------------------- */

void cbx_attach_free(struct cbx_attach *attach)
{
    if (attach != NULL) {
        attach->ops->free(attach);
    }
}

int cbx_attach_send_some(struct cbx_attach *attach, const void *bytes, size_t len, int timeout_ms,
                         size_t *sent, struct cbx_err *err)
{
    return attach->ops->send_some(attach, bytes, len, timeout_ms, sent, err);
}

int cbx_attach_send(struct cbx_attach *attach, const void *bytes, size_t len, struct cbx_err *err)
{
    const char *p = bytes;
    while (len > 0) {
        size_t sent = 0;
        int failed = cbx_attach_send_some(attach, p, len, SEND_TIMEOUT_MS, &sent, err);
        if (failed == CBX_ETIMEDOUT) {
            return cbx_fail(err, CBX_EIO, "the sandbox does not read its input");
        }
        if (failed) {
            return failed;
        }
        p += sent;
        len -= sent;
    }
    return 0;
}

int cbx_attach_receive(struct cbx_attach *attach, void *to, size_t size, int timeout_ms,
                       struct cbx_attach_bytes *out, struct cbx_err *err)
{
    return attach->ops->receive(attach, to, size, timeout_ms, out, err);
}

int64_t cbx_attach_silent_ms(struct cbx_attach *attach)
{
    return attach->ops->silent_ms(attach);
}
