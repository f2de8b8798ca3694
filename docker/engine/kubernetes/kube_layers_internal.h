/* SPDX-License-Identifier: MIT
 * Declarations shared by the files that implement kube_layers.h. */
#ifndef CBX_DOCKER_ENGINE_KUBERNETES_KUBE_LAYERS_INTERNAL_H
#define CBX_DOCKER_ENGINE_KUBERNETES_KUBE_LAYERS_INTERNAL_H

#include "docker/engine/kubernetes/kube_layers.h"
#include "docker/engine/kubernetes/registry.h"

enum { CBX_LAYER_TAG_BYTES = 80 };

/* Label with the name of the layer, which its tag does not have. */
#define CBX_LABEL_LAYER_NAME "codebox.layer-name"

struct cbx_kube_layers {
    char *ca;
    struct cbx_registry *registry;
    pthread_mutex_t lock; /* protects `known` */
    json_t *known;        /* {digest of the manifest: entry} */
};

/* Writes the tag of a layer, "layer-DIGEST"; false for a name of another form. */
bool cbx_kube_layer_tag(const char *name, char out[CBX_LAYER_TAG_BYTES]);

/* Makes the entry of a layer's manifest (new reference). */
json_t *cbx_kube_layer_entry(const struct cbx_kube *kube, const struct cbx_reference *at,
                             const struct cbx_manifest *manifest, json_t *labels);

/* Remembers the entry of a manifest. */
void cbx_kube_layers_note(struct cbx_kube_layers *layers, const char *manifest, json_t *entry);

#endif
