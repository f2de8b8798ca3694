/* SPDX-License-Identifier: MIT
 * The archive of an installer's packages as the blob of a layer: packed in the installer's Pod,
 * checked and compressed here while it passes (gzip, which every registry accepts). */
#ifndef CBX_DOCKER_ENGINE_KUBERNETES_LAYER_ARCHIVE_H
#define CBX_DOCKER_ENGINE_KUBERNETES_LAYER_ARCHIVE_H

#include "docker/engine/kubernetes/kube.h"
#include "docker/engine/kubernetes/registry.h"

struct cbx_layer_archive;

/* Starts to pack in the recipe's container. Everything is borrowed for the life of the object. */
int cbx_layer_archive_new(struct cbx_kube *kube, const struct cbx_layer_recipe *recipe,
                          const struct cbx_engine_stop *stop, struct cbx_layer_archive **out,
                          struct cbx_err *err);
void cbx_layer_archive_free(struct cbx_layer_archive *archive);
CBX_DEFINE_AUTO(layer_archive)

/* A source of the blob's bytes, for cbx_registry_push with cbx_layer_archive_digest. If it ends the
 * transfer, cbx_layer_archive_error says why: CBX_EPROTO or CBX_ETOOBIG for an archive that may not
 * be a layer, CBX_ESTATE if it was cancelled, CBX_EENGINE. */
struct cbx_registry_source cbx_layer_archive_source(struct cbx_layer_archive *archive);
const struct cbx_err *cbx_layer_archive_error(const struct cbx_layer_archive *archive);

/* Once all bytes were read: the digest and the size of the blob, and the digest of the archive as it
 * was before it was compressed, which an image's configuration has. */
void cbx_layer_archive_digest(void *archive, char out[CBX_DIGEST_CHARS + 1]);
int64_t cbx_layer_archive_size(const struct cbx_layer_archive *archive);
void cbx_layer_archive_plain_digest(const struct cbx_layer_archive *archive,
                                    char out[CBX_DIGEST_CHARS + 1]);

#endif
