/* SPDX-License-Identifier: MIT
 * The making of a layer: an installer's packages become a blob at the registry, and the sandbox
 * image with this blob a new image (OCI image specification: "Image Configuration", "Image
 * Manifest"). The tag is written last, so a layer exists completely or not at all. */
#include "docker/engine/kubernetes/kube_layers.h"

#include "docker/engine/kubernetes/kube_layers_internal.h"
#include "docker/engine/kubernetes/layer_archive.h"
#include "policies/base/text/json.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONFIG_MAX = 8 * 1024 * 1024 };

/* The blob of a layer. */
struct blob {
    char digest[CBX_DIGEST_CHARS + 1];
    char plain[CBX_DIGEST_CHARS + 1]; /* digest of the archive in it */
    int64_t size;
};

static int push_archive(struct cbx_kube *kube, const struct cbx_layer_recipe *recipe,
                        const struct cbx_reference *at, const struct cbx_engine_stop *stop,
                        struct blob *out, struct cbx_err *err)
{
    CBX_AUTO(layer_archive) archive = NULL;
    int failed = cbx_layer_archive_new(kube, recipe, stop, &archive, err);
    if (failed) {
        return failed;
    }
    struct cbx_registry_source source = cbx_layer_archive_source(archive);
    failed = cbx_registry_push(kube->layers->registry, at, &source, cbx_layer_archive_digest, err);
    const struct cbx_err *why = cbx_layer_archive_error(archive);
    if (why->code != 0 && err != NULL) {
        *err = *why;
    }
    if (failed) {
        return why->code != 0 ? why->code : failed;
    }
    cbx_layer_archive_digest(archive, out->digest);
    cbx_layer_archive_plain_digest(archive, out->plain);
    out->size = cbx_layer_archive_size(archive);
    return 0;
}

/* --- the image -------------------------------------------------------------------------------- */

/* The sandbox image, and the image of the layer. */
struct image {
    struct cbx_reference at;
    struct cbx_manifest manifest;
    json_t *config;
};

static void drop_image(struct image *image)
{
    cbx_manifest_done(&image->manifest);
    json_decref(image->config);
}

static int read_base(struct cbx_kube *kube, const char *id, struct image *out, struct cbx_err *err)
{
    const json_t *entry = cbx_kube_image(&kube->cluster, id);
    const char *reference = json_string_value(json_object_get(entry, "reference"));
    if (reference == NULL || !cbx_reference_read(reference, &out->at)) {
        cbx_fail(err, CBX_EENGINE,
                 "the sandbox image is at no registry, so no packages can be "
                 "added to it");
        return cbx_err_detail(err,
                              "its reference in the images file is '%.200s'; 'codebox image "
                              "push REGISTRY' writes one",
                              reference != NULL ? reference : "");
    }
    struct cbx_registry *registry = kube->layers->registry;
    int failed = cbx_registry_manifest(registry, &out->at, out->at.digest, &out->manifest, err);
    if (!failed) {
        const json_t *config = json_object_get(out->manifest.json, "config");
        failed = cbx_registry_json(
            registry, &out->at, cbx_json_str(json_object_get(config, "digest")), &out->config, err);
    }
    if (failed == CBX_ENOTFOUND) {
        cbx_fail(err, CBX_EENGINE, "the registry has the sandbox image no more");
        return cbx_err_detail(err, "%s; push it again: codebox image push", reference);
    }
    return failed;
}

/* Adds the layer to the configuration: the hash of its archive, and the labels. */
static int extend_config(const struct cbx_layer_recipe *recipe, const char *archive, json_t *config,
                         struct cbx_err *err)
{
    char now[32];
    time_t seconds = time(NULL);
    struct tm parts;
    strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &parts));
    json_t *settings = json_object_get(config, "config");
    json_t *hashes = json_object_get(json_object_get(config, "rootfs"), "diff_ids");
    if (!json_is_object(settings) || !json_is_array(hashes)) {
        return cbx_fail(err, CBX_EPROTO, "the sandbox image at the registry has no configuration");
    }
    if (!json_is_object(json_object_get(settings, "Labels"))) {
        json_object_set_new(settings, "Labels", json_object());
    }
    json_t *labels = json_object_get(settings, "Labels");
    json_object_update(labels, (json_t *)(uintptr_t)recipe->labels);
    json_object_set_new(labels, CBX_LABEL_LAYER_NAME, json_string(recipe->name));
    json_array_append_new(hashes, json_string(archive));
    json_array_append_new(json_object_get(config, "history"),
                          json_pack("{s:s,s:s}", "created", now, "created_by", "codebox packages"));
    json_object_set_new(config, "created", json_string(now));
    return 0;
}

static json_t *describe_blob(const char *type, const struct blob *blob)
{
    return json_pack("{s:s,s:I,s:s}", "mediaType", type, "size", (json_int_t)blob->size, "digest",
                     blob->digest);
}

/* A manifest of Docker's type has layers of Docker's type. */
static const char *archive_type(const struct cbx_manifest *manifest)
{
    bool docker =
        strcmp(manifest->type, "application/vnd.docker.distribution.manifest.v2+json") == 0;
    return docker ? "application/vnd.docker.image.rootfs.diff.tar.gzip"
                  : "application/vnd.oci.image.layer.v1.tar+gzip";
}

static int push_config(struct cbx_kube *kube, struct image *image, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) bytes;
    char digest[CBX_DIGEST_CHARS + 1];
    cbx_buf_init(&bytes, CONFIG_MAX);
    if (cbx_json_write(&bytes, image->config) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "the list of the packages is too long for a layer");
    }
    int failed = cbx_registry_push_bytes(kube->layers->registry, &image->at, cbx_buf_str(&bytes),
                                         digest, err);
    if (failed) {
        return failed;
    }
    json_t *config = json_object_get(image->manifest.json, "config");
    json_object_set_new(config, "digest", json_string(digest));
    json_object_set_new(config, "size", json_integer((json_int_t)bytes.len));
    return 0;
}

static int push_manifest(struct cbx_kube *kube, const char *name, struct image *image,
                         struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) bytes;
    char tag[CBX_LAYER_TAG_BYTES];
    cbx_buf_init(&bytes, CONFIG_MAX);
    cbx_json_write(&bytes, image->manifest.json);
    if (bytes.overflow || !cbx_kube_layer_tag(name, tag)) {
        return cbx_fail(err, CBX_EENGINE, "the image of a layer cannot be written");
    }
    return cbx_registry_push_manifest(kube->layers->registry, &image->at, tag, image->manifest.type,
                                      cbx_buf_str(&bytes), image->manifest.digest, err);
}

static int push_image(struct cbx_kube *kube, const struct cbx_layer_recipe *recipe,
                      struct image *image, const struct cbx_engine_stop *stop, struct cbx_err *err)
{
    struct blob blob;
    int failed = push_archive(kube, recipe, &image->at, stop, &blob, err);
    if (failed) {
        return failed;
    }
    failed = extend_config(recipe, blob.plain, image->config, err);
    if (failed) {
        return failed;
    }
    failed = push_config(kube, image, err);
    if (failed) {
        return failed;
    }
    json_array_append_new(json_object_get(image->manifest.json, "layers"),
                          describe_blob(archive_type(&image->manifest), &blob));
    return push_manifest(kube, recipe->name, image, err);
}

static int make(struct cbx_kube *kube, const struct cbx_layer_recipe *recipe,
                const struct cbx_engine_stop *stop, struct cbx_err *err)
{
    struct image image = { .config = NULL };
    if (kube->layers == NULL) {
        return cbx_fail(err, CBX_ESTATE, "this cluster installs no packages");
    }
    int failed = read_base(kube, recipe->base, &image, err);
    if (!failed) {
        failed = push_image(kube, recipe, &image, stop, err);
    }
    drop_image(&image);
    return failed;
}

int cbx_kube_layer_make(struct cbx_engine *engine, const struct cbx_layer_recipe *recipe,
                        const struct cbx_engine_stop *stop, struct cbx_err *err)
{
    int failed = make(cbx_kube_of(engine), recipe, stop, err);
    cbx_engine_container_remove(engine, recipe->container, NULL);
    return failed;
}
