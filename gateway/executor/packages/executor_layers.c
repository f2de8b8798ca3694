/* SPDX-License-Identifier: MIT
 * Disk space for layers. */
#include "gateway/executor/packages/executor_layers.h"

#include "docker/doctor/disk.h"
#include "gateway/ipc/master/state.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECENT_MS = 5 * 60 * 1000, COPIES = 3, MIB_SHIFT = 20 };
static const int64_t mib = 1 << MIB_SHIFT, gib = 1 << 30;

struct cbx_layers {
    struct cbx_layers_config config;
    pthread_mutex_t lock;
    int64_t reserved_bytes; /* disk space reserved for installs that have not ended */
    struct cbx_layers_stats stats;
};

struct cbx_layers *cbx_layers_new(const struct cbx_layers_config *config)
{
    struct cbx_layers *layers = cbx_new(sizeof(*layers));
    layers->config = *config;
    pthread_mutex_init(&layers->lock, NULL);
    return layers;
}

static int64_t or_default(int64_t value, int64_t otherwise)
{
    return value > 0 ? value : otherwise;
}

/* --- the files -------------------------------------------------------------------------------- */

static int open_folder(const char *state_dir, int *out, struct cbx_err *err)
{
    CBX_AUTO_FD state = -1;
    int failed = cbx_state_open(state_dir, &state, err);
    if (failed) {
        return failed;
    }
    if (mkdirat(state, "layers", 0700) < 0 && errno != EEXIST) {
        return cbx_fail(err, CBX_EIO, "'%s/layers': %s", state_dir, strerror(errno));
    }
    *out = openat(state, "layers", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*out < 0) {
        return cbx_fail(err, CBX_EIO, "'%s/layers': %s", state_dir, strerror(errno));
    }
    return 0;
}

/* Reads the digest from "PREFIX-KERNEL-layer:DIGEST"; false for a name without one. */
static bool digest_of(const char *name, char out[33])
{
    const char *colon = strrchr(name, ':');
    if (colon == NULL || strlen(colon + 1) != 32 || strspn(colon + 1, "0123456789abcdef") != 32) {
        return false;
    }
    memcpy(out, colon + 1, 33);
    return true;
}

/* Reads the principal that had a layer made and the time of its last use; false if this gateway
 * did not make it. */
static bool read_file(int folder, struct cbx_layer_entry *entry)
{
    struct stat status;
    CBX_AUTO_FD fd = openat(folder, entry->digest, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, entry->principal, CBX_NAME_MAX) : -1;
    if (len < 0 || fstat(fd, &status) < 0) {
        return false;
    }
    entry->principal[len] = '\0';
    entry->used_ms = (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000;
    return true;
}

/* Updates the time of a layer's file. With `principal` NULL only if the file exists. */
static void touch(struct cbx_layers *layers, const char *name, const char *principal)
{
    char digest[33];
    CBX_AUTO_FD folder = -1;
    struct cbx_err err = { 0 };
    if (!digest_of(name, digest) || open_folder(layers->config.state_dir, &folder, &err) != 0) {
        return;
    }
    int flags = principal != NULL ? O_CREAT | O_TRUNC : 0;
    CBX_AUTO_FD fd = openat(folder, digest, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    if (fd < 0) {
        return;
    }
    size_t len = principal != NULL ? strlen(principal) : 0;
    if (len > 0 && write(fd, principal, len) != (ssize_t)len) {
        cbx_log(CBX_LOG_WARNING, "who had layer %s made is not stored: %s", digest,
                strerror(errno));
    }
    futimens(fd, NULL);
}

void cbx_layers_note_use(struct cbx_layers *layers, const struct cbx_layer *layer)
{
    touch(layers, layer->name, NULL);
}

/* --- what there is ---------------------------------------------------------------------------- */

struct inventory {
    struct cbx_layer_entry *entries;
    size_t count;
    int64_t now_ms;
    int folder;
};

/* Lists the layers that this gateway made and the engine has. */
static int take_inventory(struct cbx_engine *engine, const struct cbx_packages_config *config,
                          struct inventory *out, struct cbx_err *err)
{
    CBX_AUTO_JSON list = NULL;
    int failed = cbx_layer_list(engine, config, &list, err);
    if (failed) {
        return failed;
    }
    out->entries = cbx_new_array(json_array_size(list) + 1, sizeof(*out->entries));
    size_t i;
    const json_t *json;
    json_array_foreach(list, i, json)
    {
        struct cbx_layer_entry *entry = &out->entries[out->count];
        *entry = (struct cbx_layer_entry){ .bytes = json_integer_value(
                                               json_object_get(json, "own_bytes")) };
        snprintf(entry->id, sizeof(entry->id), "%s",
                 json_string_value(json_object_get(json, "id")));
        if (digest_of(json_string_value(json_object_get(json, "name")), entry->digest) &&
            read_file(out->folder, entry)) {
            out->count++;
        }
    }
    return 0;
}

static int64_t sum(const struct inventory *inventory)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < inventory->count; i++) {
        bytes += inventory->entries[i].gone ? 0 : inventory->entries[i].bytes;
    }
    return bytes;
}

static void count_layers(const struct inventory *inventory, struct cbx_layers_stats *stats)
{
    stats->bytes = sum(inventory);
    stats->count = 0;
    for (size_t i = 0; i < inventory->count; i++) {
        stats->count += !inventory->entries[i].gone;
    }
}

static int64_t count_own(const struct inventory *inventory, const char *principal)
{
    int64_t own = 0;
    for (size_t i = 0; i < inventory->count; i++) {
        const struct cbx_layer_entry *entry = &inventory->entries[i];
        own += !entry->gone && strcmp(entry->principal, principal) == 0;
    }
    return own;
}

size_t cbx_layers_choose(const struct cbx_layer_entry *entries, size_t count, const char *principal,
                         int64_t now_ms)
{
    size_t chosen = count;
    for (size_t i = 0; i < count; i++) {
        const struct cbx_layer_entry *entry = &entries[i];
        bool may_go = !entry->gone && !entry->kept && now_ms - entry->used_ms >= RECENT_MS;
        if (!may_go || (principal != NULL && strcmp(entry->principal, principal) != 0)) {
            continue;
        }
        if (chosen == count || entry->used_ms < entries[chosen].used_ms) {
            chosen = i;
        }
    }
    return chosen;
}

/* Removes one layer. False if none may be removed. */
static bool evict(struct cbx_layers *layers, struct cbx_engine *engine, struct inventory *inventory,
                  const char *principal)
{
    for (;;) {
        size_t i =
            cbx_layers_choose(inventory->entries, inventory->count, principal, inventory->now_ms);
        if (i == inventory->count) {
            return false;
        }
        struct cbx_layer_entry *entry = &inventory->entries[i];
        struct cbx_err err = { 0 };
        if (cbx_layer_remove(engine, entry->id, &err) == 0) {
            cbx_log(CBX_LOG_INFO, "the layer of packages %s of '%s' is removed to make room",
                    entry->digest, entry->principal);
            unlinkat(inventory->folder, entry->digest, 0);
            entry->gone = true;
            layers->stats.evicted++;
            return true;
        }
        entry->kept = true; /* a container runs from it, or the engine fails */
    }
}

/* --- the disk --------------------------------------------------------------------------------- */

/* One call of cbx_layers_reserve. */
struct order {
    struct cbx_layers *layers;
    struct cbx_engine *engine;
    const struct cbx_packages_config *config;
    const char *kernel, *principal;
    int64_t own_max;
    struct inventory inventory;
};

/* False if the free space is not known. */
static bool look_at_disk(const struct order *o, struct cbx_disk *out)
{
    struct cbx_err err = { 0 };
    if (cbx_engine_abilities(o->engine)->cluster) {
        return false; /* its layers are at a registry, and each node has a disk */
    }
    if (cbx_disk_look(o->engine, o->config->sandbox, o->kernel, out, &err) == 0) {
        return true;
    }
    cbx_log(CBX_LOG_WARNING,
            "the free space of the sandbox engine's disk is not known, so packages are installed "
            "without a look at it: %s",
            cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    return false;
}

static int make_room_of_own(struct order *o, struct cbx_err *err)
{
    int64_t own = count_own(&o->inventory, o->principal);
    while (o->own_max > 0 && own >= o->own_max) {
        if (!evict(o->layers, o->engine, &o->inventory, o->principal)) {
            return cbx_fail(
                err, CBX_EQUOTA,
                "'%s' has %lld different sets of packages in use, which is as many as "
                "may be; ask for packages that are installed already, or close sessions "
                "that use others and try again some minutes later",
                o->principal, (long long)own);
        }
        own--;
    }
    return 0;
}

static int make_room_of_all(struct order *o, int64_t all_bytes, struct cbx_err *err)
{
    while (sum(&o->inventory) >= all_bytes) {
        if (!evict(o->layers, o->engine, &o->inventory, NULL)) {
            return cbx_fail(err, CBX_EBUSY,
                            "the layers of packages in use have %lld MiB, and all may have %lld; "
                            "close sessions with packages, or try again later",
                            (long long)(sum(&o->inventory) >> MIB_SHIFT),
                            (long long)(all_bytes >> MIB_SHIFT));
        }
    }
    return 0;
}

/* An install needs its layer's size three times: for the installer's container, its image, and
 * the layer. */
static int make_room_on_disk(struct order *o, int64_t *bytes, struct cbx_err *err)
{
    static const int64_t least = 64 << MIB_SHIFT;
    int64_t keep = or_default(o->layers->config.free_bytes, gib);
    struct cbx_disk disk;
    while (look_at_disk(o, &disk)) {
        int64_t room = disk.available - keep - o->layers->reserved_bytes;
        if (room >= COPIES * *bytes) {
            return 0;
        }
        if (evict(o->layers, o->engine, &o->inventory, NULL)) {
            continue;
        }
        if (room >= COPIES * least) {
            *bytes = room / COPIES;
            return 0;
        }
        return cbx_fail(
            err, CBX_EENGINE,
            "packages cannot be installed: the sandbox engine's disk has %lld MiB free, "
            "and %lld are needed; %lld of these stay free, and %lld are for installs in "
            "progress",
            (long long)(disk.available / mib),
            (long long)((keep + o->layers->reserved_bytes + COPIES * least) / mib),
            (long long)(keep / mib), (long long)(o->layers->reserved_bytes / mib));
    }
    return 0;
}

static int make_room(struct order *o, int64_t *bytes, struct cbx_err *err)
{
    int64_t all_bytes = o->layers->config.all_bytes;
    struct cbx_disk disk;
    if (all_bytes == 0) {
        all_bytes = look_at_disk(o, &disk) ? disk.total / 4 : CBX_LAYERS_UNKNOWN_GIB * gib;
    }
    int failed = make_room_of_own(o, err);
    if (failed) {
        return failed;
    }
    failed = make_room_of_all(o, all_bytes, err);
    if (failed) {
        return failed;
    }
    *bytes = or_default(o->layers->config.layer_bytes, gib);
    return make_room_on_disk(o, bytes, err);
}

int cbx_layers_reserve(struct cbx_layers *layers, struct cbx_engine *engine,
                       const struct cbx_packages_config *config, const char *kernel,
                       const char *principal, int64_t own_max, int64_t *bytes, struct cbx_err *err)
{
    struct order o = { .layers = layers,
                       .engine = engine,
                       .config = config,
                       .kernel = kernel,
                       .principal = principal,
                       .own_max = own_max,
                       .inventory = { .now_ms = cbx_time_ms(), .folder = -1 } };
    int64_t allowed = 0;
    int unusable = open_folder(layers->config.state_dir, &o.inventory.folder, err);
    if (unusable) {
        return unusable;
    }
    pthread_mutex_lock(&layers->lock);
    int failed = take_inventory(engine, config, &o.inventory, err);
    if (!failed) {
        failed = make_room(&o, &allowed, err);
        count_layers(&o.inventory, &layers->stats);
    }
    if (!failed) {
        layers->reserved_bytes += COPIES * allowed;
        *bytes = allowed;
    }
    pthread_mutex_unlock(&layers->lock);
    free(o.inventory.entries);
    close(o.inventory.folder);
    return failed;
}

void cbx_layers_release(struct cbx_layers *layers, int64_t bytes, const struct cbx_layer *layer,
                        const char *principal)
{
    pthread_mutex_lock(&layers->lock);
    layers->reserved_bytes -= COPIES * bytes;
    pthread_mutex_unlock(&layers->lock);
    if (layer != NULL) {
        touch(layers, layer->name, principal);
    }
}

void cbx_layers_stats(struct cbx_layers *layers, struct cbx_layers_stats *out)
{
    pthread_mutex_lock(&layers->lock);
    *out = layers->stats;
    pthread_mutex_unlock(&layers->lock);
}
