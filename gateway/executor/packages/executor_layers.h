/* SPDX-License-Identifier: MIT
 * Limits of the package layers that this gateway made: their total size, their number per
 * principal, and the space that must stay free on the engine's disk. The least recently used
 * layer is evicted first; a layer that a container runs from, or that was used in the last
 * minutes, stays. The folder `layers` of the state directory has a file for each layer: its name
 * is the layer's digest, its text the principal that had it made, and its time the last use, so
 * these properties outlive the gateway. Layers of other gateways on the same engine are neither
 * counted nor removed. Thread-safe. */
#ifndef CBX_GATEWAY_EXECUTOR_PACKAGES_EXECUTOR_LAYERS_H
#define CBX_GATEWAY_EXECUTOR_PACKAGES_EXECUTOR_LAYERS_H

#include "docker/packages/package_layers.h"
#include "policies/limits.h"

struct cbx_layers;

enum {
    /* for all layers, if the size of the engine's disk is not known */
    CBX_LAYERS_UNKNOWN_GIB = 20
};

/* Borrowed for the life of the process. */
struct cbx_layers_config {
    const char *state_dir;
    /* size of all layers; 0 = a quarter of the engine's disk if its size is known, else 20 GiB */
    int64_t all_bytes;
    int64_t layer_bytes; /* size of one layer, unpacked; 0 = 1 GiB */
    int64_t free_bytes;  /* space that stays free on the engine's disk; 0 = 1 GiB */
};
struct cbx_layers *cbx_layers_new(const struct cbx_layers_config *config);

/* Evicts layers until one more layer of a principal fits, which may have `own_max` layers (0 =
 * no limit), and reserves its space: *bytes is the maximum size of the layer, unpacked; less
 * than `layer_bytes` if the disk has no space for that. End the reservation with
 * cbx_layers_release. CBX_EQUOTA: the principal's layers are in use, and it may have no more;
 * CBX_EBUSY: layers in use fill the space of all layers; CBX_EENGINE: the disk is full. All
 * messages have the present and the allowed value. */
int cbx_layers_reserve(struct cbx_layers *layers, struct cbx_engine *engine,
                       const struct cbx_packages_config *config, const char *kernel,
                       const char *principal, int64_t own_max, int64_t *bytes, struct cbx_err *err);

/* Ends the reservation after an install: `layer` is the layer that this gateway made; NULL =
 * none. */
void cbx_layers_release(struct cbx_layers *layers, int64_t bytes, const struct cbx_layer *layer,
                        const char *principal);

/* Notes a use of the layer. No effect on a layer that another gateway made. */
void cbx_layers_note_use(struct cbx_layers *layers, const struct cbx_layer *layer);

struct cbx_layers_stats {
    int64_t count, bytes; /* when space was last reserved */
    int64_t evicted;      /* number of evicted layers since this executor started */
};
void cbx_layers_stats(struct cbx_layers *layers, struct cbx_layers_stats *out);

/* --- the choice, for tests -------------------------------------------------------------------- */

struct cbx_layer_entry {
    char digest[33], principal[CBX_NAME_MAX + 1], id[CBX_IMAGE_ID_CHARS + 1];
    int64_t bytes, used_ms; /* bytes; time of the last use, of the wall clock */
    bool gone, kept;        /* removed; a container runs from it */
};

/* Returns the index of the layer to evict first, of this principal (NULL = of any): the least
 * recently used, and not used in the last minutes before now_ms. `count` if none may be evicted. */
size_t cbx_layers_choose(const struct cbx_layer_entry *entries, size_t count, const char *principal,
                         int64_t now_ms);

#endif
