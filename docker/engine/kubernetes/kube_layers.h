/* SPDX-License-Identifier: MIT
 * Layers of packages on a cluster. A cluster builds no images, so the gateway makes them at the
 * registry that has the sandbox images: the image of a layer is the sandbox image's manifest with
 * one more blob, the archive of an installer's packages, and one more tag in the same repository.
 * Nodes pull that blob alone, since they have the others. Each Kubernetes and each registry can do
 * that; image volumes need Kubernetes 1.33.
 *
 * The archive passes through this process: it is hashed, and each of its entries is checked
 * (layer_tar.h). Layers are found by their tags, so all replicas of a gateway share them. */
#ifndef CBX_DOCKER_ENGINE_KUBERNETES_KUBE_LAYERS_H
#define CBX_DOCKER_ENGINE_KUBERNETES_KUBE_LAYERS_H

#include "docker/engine/kubernetes/kube.h"

struct cbx_kube_layers;

/* NULL if the settings do not allow packages ('packages: true'). CBX_EENGINE for a file that cannot
 * be read. The settings are borrowed. */
int cbx_kube_layers_new(const struct cbx_cluster_pods *pods, struct cbx_kube_layers **out,
                        struct cbx_err *err);
void cbx_kube_layers_free(struct cbx_kube_layers *layers);

/* Success if layers can be pushed beside each sandbox image that has an installer. */
int cbx_kube_layers_check(struct cbx_kube *kube, struct cbx_err *err);

/* True for the name of a layer: "PREFIX-KERNEL-layer:DIGEST". */
bool cbx_kube_is_layer(const char *name);

/* What is known of a layer, in the form of an entry of the images file: {reference, id, size,
 * labels}. _find asks the registry for a name; _known returns one that was found before, by its id.
 * New references. CBX_ENOTFOUND. */
int cbx_kube_layer_find(struct cbx_kube *kube, const char *name, json_t **out, struct cbx_err *err);
int cbx_kube_layer_known(struct cbx_kube *kube, const char *id, json_t **out, struct cbx_err *err);

/* The functions of engine_ops.h for layers. */
int cbx_kube_layer_make(struct cbx_engine *engine, const struct cbx_layer_recipe *recipe,
                        const struct cbx_engine_stop *stop, struct cbx_err *err);
int cbx_kube_layer_list(struct cbx_kube *kube, const char *label, json_t *out, struct cbx_err *err);
int cbx_kube_layer_remove(struct cbx_kube *kube, const char *id, struct cbx_err *err);

#endif
