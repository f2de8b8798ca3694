/* SPDX-License-Identifier: MIT
 * Bounds of the layers of packages that this gateway made: how large all of them may be, how many a principal may have, and what has to
 * stay free on the engine's disk. What was not used for longest makes room; a layer that a container runs from, or that was used in the last
 * minutes, stays. The folder `layers` of the state directory has a file for each layer: its name is the layer's digest, its text who had
 * it made, and its time when it was used last, so all of this outlives the gateway. Layers of other gateways on the same engine are neither
 * counted nor removed. Thread-safe. */
#ifndef CBX_GATEWAY_EXECUTOR_PACKAGES_EXECUTOR_LAYERS_H
#define CBX_GATEWAY_EXECUTOR_PACKAGES_EXECUTOR_LAYERS_H

#include "docker/packages/package_layers.h"
#include "policies/limits.h"

struct cbx_layers;

enum {
    CBX_LAYERS_UNKNOWN_GIB = 20
}; /* all layers, where the size of the engine's disk is not known */

/* Borrowed for the life of the process. */
struct cbx_layers_config {
    const char *state_dir;
    int64_t all_bytes; /* 0 = a quarter of the engine's disk where its size is known, else 20 GiB */
    int64_t layer_bytes; /* of one, unpacked; 0 = 1 GiB */
    int64_t free_bytes;  /* stays free on the engine's disk; 0 = 1 GiB */
};
struct cbx_layers *cbx_layers_new(const struct cbx_layers_config *config);

/* Makes room for one more layer of a principal, which may have `own_max` (0 = no limit), and reserves it: *bytes is how much the layer may
 * have, unpacked; less than `layer_bytes` when the disk has no room for that. End it with cbx_layers_release. CBX_EQUOTA: the principal's
 * layers are in use, and it may have no more; CBX_EBUSY: layers in use fill what all may have; CBX_EENGINE: the disk is full. All say what
 * there is and what is allowed. */
int cbx_layers_reserve(struct cbx_layers *layers, struct cbx_engine *engine,
                       const struct cbx_packages_config *config, const char *kernel,
                       const char *principal, int64_t own_max, int64_t *bytes, struct cbx_err *err);

/* The install has ended: with `layer`, which this gateway made, or without one (NULL). */
void cbx_layers_release(struct cbx_layers *layers, int64_t bytes, const struct cbx_layer *layer,
                        const char *principal);

/* The layer is used now. No effect on one that another gateway made. */
void cbx_layers_note_use(struct cbx_layers *layers, const struct cbx_layer *layer);

struct cbx_layers_stats {
    int64_t count, bytes; /* when room was made last */
    int64_t evicted;      /* since this executor started */
};
void cbx_layers_stats(struct cbx_layers *layers, struct cbx_layers_stats *out);

/* --- the choice, for tests ---------------------------------------------------------------------- */

struct cbx_layer_entry {
    char digest[33], principal[CBX_NAME_MAX + 1], id[CBX_IMAGE_ID_CHARS + 1];
    int64_t bytes, used_ms; /* of the wall clock */
    bool gone, kept;        /* removed; a container runs from it */
};

/* The index of the one that goes first, of this principal (NULL = of anybody): not used for longest, and not in the last minutes
 * before now_ms. `count` when none may go. */
size_t cbx_layers_choose(const struct cbx_layer_entry *entries, size_t count, const char *principal,
                         int64_t now_ms);

#endif
