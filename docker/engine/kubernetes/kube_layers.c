/* SPDX-License-Identifier: MIT
 * Layers of packages at the registry of the sandbox images: found, listed and removed. */
#include "docker/engine/kubernetes/kube_layers.h"

#include "docker/contents.h"
#include "docker/engine/kubernetes/kube_layers_internal.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"

#include <stdlib.h>
#include <string.h>

/* Entries of layers that may be remembered; their labels have up to 256 KiB. */
enum { KNOWN_MAX = 256 };
static const char infix[] = "-layer:", tag_start[] = "layer-";

int cbx_kube_layers_new(const struct cbx_cluster_pods *pods, struct cbx_kube_layers **out,
                        struct cbx_err *err)
{
    *out = NULL;
    if (!pods->packages) {
        return 0;
    }
    struct cbx_kube_layers *layers = cbx_new(sizeof(*layers));
    if (pods->registry_ca != NULL) {
        int failed = cbx_cluster_file(pods->registry_ca, &layers->ca, err);
        if (failed) {
            free(layers);
            return failed;
        }
    }
    const struct cbx_registry_access access = { .credentials = pods->registry_credentials,
                                                .ca = layers->ca };
    layers->registry = cbx_registry_new(&access);
    layers->known = json_object();
    pthread_mutex_init(&layers->lock, NULL);
    *out = layers;
    return 0;
}

void cbx_kube_layers_free(struct cbx_kube_layers *layers)
{
    if (layers == NULL) {
        return;
    }
    cbx_registry_free(layers->registry);
    json_decref(layers->known);
    pthread_mutex_destroy(&layers->lock);
    free(layers->ca);
    free(layers);
}

/* --- the layers that were found --------------------------------------------------------------- */

void cbx_kube_layers_note(struct cbx_kube_layers *layers, const char *manifest, json_t *entry)
{
    pthread_mutex_lock(&layers->lock);
    if (json_object_size(layers->known) >= KNOWN_MAX) {
        json_object_clear(layers->known); /* those in use are found again before they are used */
    }
    json_object_set(layers->known, manifest, entry);
    pthread_mutex_unlock(&layers->lock);
}

/* The entry of a manifest, by its digest (new reference); NULL if it was not read yet. */
static json_t *recall(struct cbx_kube_layers *layers, const char *manifest)
{
    pthread_mutex_lock(&layers->lock);
    json_t *entry = json_incref(json_object_get(layers->known, manifest));
    pthread_mutex_unlock(&layers->lock);
    return entry;
}

/* Other threads read entries without the lock: an entry is never changed. */
static json_t *recall_id(struct cbx_kube_layers *layers, const char *id)
{
    const char *manifest;
    json_t *entry, *found = NULL;
    pthread_mutex_lock(&layers->lock);
    json_object_foreach(layers->known, manifest, entry)
    {
        if (cbx_str_is(cbx_json_str(json_object_get(entry, "id")), id)) {
            found = json_incref(entry);
            break;
        }
    }
    pthread_mutex_unlock(&layers->lock);
    return found;
}

static int fail_absent(struct cbx_err *err)
{
    return cbx_fail(err, CBX_ENOTFOUND, "there is no such layer of packages");
}

int cbx_kube_layer_known(struct cbx_kube *kube, const char *id, json_t **out, struct cbx_err *err)
{
    *out = kube->layers != NULL ? recall_id(kube->layers, id) : NULL;
    return *out != NULL ? 0 : fail_absent(err);
}

/* --- one layer -------------------------------------------------------------------------------- */

bool cbx_kube_is_layer(const char *name)
{
    return strstr(name, infix) != NULL;
}

/* The tag of a layer's name; false for a name of another form. */
bool cbx_kube_layer_tag(const char *name, char out[CBX_LAYER_TAG_BYTES])
{
    const char *at = strstr(name, infix);
    const char *digest = at != NULL ? at + sizeof(infix) - 1 : "";
    size_t len = strlen(digest);
    if (len == 0 || len > 64 || strspn(digest, "0123456789abcdef") != len) {
        return false;
    }
    snprintf(out, CBX_LAYER_TAG_BYTES, "%s%s", tag_start, digest);
    return true;
}

static int64_t blob_size(const json_t *blob)
{
    return json_integer_value(json_object_get(blob, "size"));
}

/* The size of a layer's image: that of its base, as the images file has it, and of its archive. */
static int64_t size_of(const struct cbx_kube *kube, const json_t *manifest, const json_t *labels)
{
    const char *base = json_string_value(json_object_get(labels, CBX_LABEL_BASE));
    const json_t *blobs = json_object_get(manifest, "layers");
    const json_t *last = json_array_get(blobs, json_array_size(blobs) - 1);
    const json_t *of_base = base != NULL ? cbx_kube_image(&kube->cluster, base) : NULL;
    return blob_size(of_base) + blob_size(last);
}

json_t *cbx_kube_layer_entry(const struct cbx_kube *kube, const struct cbx_reference *at,
                             const struct cbx_manifest *manifest, json_t *labels)
{
    json_t *config = json_object_get(manifest->json, "config");
    return json_pack("{s:o,s:O,s:I,s:O}", "reference",
                     json_sprintf("%s/%s@%s", at->host, at->name, manifest->digest), "id",
                     json_object_get(config, "digest"), "size",
                     (json_int_t)size_of(kube, manifest->json, labels), "labels", labels);
}

/* Reads what a manifest is: its labels are in its configuration. */
static int read_entry(struct cbx_kube *kube, const struct cbx_reference *at,
                      const struct cbx_manifest *manifest, json_t **out, struct cbx_err *err)
{
    struct cbx_kube_layers *layers = kube->layers;
    CBX_AUTO_JSON config = NULL;
    struct cbx_str digest =
        cbx_json_str(json_object_get(json_object_get(manifest->json, "config"), "digest"));
    int failed = cbx_registry_json(layers->registry, at, digest, &config, err);
    if (failed) {
        return failed;
    }
    json_t *labels = json_object_get(json_object_get(config, "config"), "Labels");
    if (!json_is_object(labels)) {
        return fail_absent(err);
    }
    *out = cbx_kube_layer_entry(kube, at, manifest, labels);
    cbx_kube_layers_note(layers, manifest->digest, *out);
    return 0;
}

static int find_tag(struct cbx_kube *kube, const struct cbx_reference *at, const char *tag,
                    json_t **out, struct cbx_err *err)
{
    CBX_AUTO_DONE(manifest) manifest = { .json = NULL };
    int failed = cbx_registry_manifest(kube->layers->registry, at, tag, &manifest, err);
    if (failed) {
        return failed;
    }
    *out = recall(kube->layers, manifest.digest);
    if (*out != NULL) {
        return 0;
    }
    return read_entry(kube, at, &manifest, out, err);
}

/* --- the repositories ------------------------------------------------------------------------- */

/* True for the repository of a sandbox image that is not in `seen`, which gets it. */
static bool read_repository(const char *name, json_t *image, json_t *seen,
                            struct cbx_reference *out)
{
    const char *reference = json_string_value(json_object_get(image, "reference"));
    char repository[2 * CBX_REPOSITORY_BYTES];
    if (reference == NULL || strstr(name, "-installer-") != NULL ||
        !cbx_reference_read(reference, out)) {
        return false;
    }
    snprintf(repository, sizeof(repository), "%s/%s", out->host, out->name);
    bool first = json_object_get(seen, repository) == NULL;
    json_object_set_new(seen, repository, json_true());
    return first;
}

/* A layer is in the repository of its base, whose name begins as the layer's: "codebox-python". */
static bool may_have(const char *image, const char *layer)
{
    size_t len = (size_t)(strstr(layer, infix) - layer);
    return strncmp(image, layer, len) == 0 && (image[len] == ':' || image[len] == '-');
}

int cbx_kube_layer_find(struct cbx_kube *kube, const char *name, json_t **out, struct cbx_err *err)
{
    const char *image_name;
    json_t *image;
    struct cbx_reference at;
    char tag[CBX_LAYER_TAG_BYTES];
    CBX_AUTO_JSON seen = json_object();
    if (kube->layers == NULL || !cbx_kube_layer_tag(name, tag)) {
        return fail_absent(err);
    }
    json_object_foreach(kube->cluster.pods.images, image_name, image)
    {
        if (!may_have(image_name, name) || !read_repository(image_name, image, seen, &at)) {
            continue;
        }
        int failed = find_tag(kube, &at, tag, out, err);
        if (failed != CBX_ENOTFOUND) {
            return failed;
        }
    }
    return fail_absent(err);
}

int cbx_kube_layers_check(struct cbx_kube *kube, struct cbx_err *err)
{
    const char *name;
    json_t *image;
    struct cbx_reference at;
    size_t checked = 0;
    CBX_AUTO_JSON seen = json_object();
    json_object_foreach(kube->cluster.pods.images, name, image)
    {
        if (!read_repository(name, image, seen, &at)) {
            continue;
        }
        int failed = cbx_registry_may_push(kube->layers->registry, &at, err);
        if (failed) {
            return failed;
        }
        checked++;
    }
    if (checked == 0) {
        return cbx_fail(err, CBX_EENGINE, "no image of the images file is at a registry");
    }
    return 0;
}

/* --- all layers ------------------------------------------------------------------------------- */

/* Appends a layer, in the form of an engine's list of images. */
static void append(json_t *list, const json_t *entry)
{
    json_t *labels = json_object_get(entry, "labels");
    const json_t *name = json_object_get(labels, CBX_LABEL_LAYER_NAME);
    if (json_is_string(name)) {
        json_array_append_new(list, json_pack("{s:O,s:i,s:[O],s:O,s:O}", "Id",
                                              json_object_get(entry, "id"), "Created", 0,
                                              "RepoTags", name, "Labels", labels, "Size",
                                              json_object_get(entry, "size")));
    }
}

static int list_repository(struct cbx_kube *kube, const struct cbx_reference *at, const char *label,
                           json_t *out, struct cbx_err *err)
{
    CBX_AUTO_JSON tags = NULL;
    int failed = cbx_registry_tags(kube->layers->registry, at, tag_start, &tags, err);
    if (failed) {
        return failed;
    }
    size_t i;
    const json_t *tag;
    json_array_foreach(tags, i, tag)
    {
        CBX_AUTO_JSON entry = NULL;
        failed = find_tag(kube, at, json_string_value(tag), &entry, err);
        if (failed && failed != CBX_ENOTFOUND) { /* removed meanwhile */
            return failed;
        }
        if (!failed && cbx_kube_has_label(json_object_get(entry, "labels"), label)) {
            append(out, entry);
        }
    }
    return 0;
}

int cbx_kube_layer_list(struct cbx_kube *kube, const char *label, json_t *out, struct cbx_err *err)
{
    const char *name;
    json_t *image;
    struct cbx_reference at;
    CBX_AUTO_JSON seen = json_object();
    if (kube->layers == NULL || strncmp(label, CBX_LABEL_LAYER, strlen(CBX_LABEL_LAYER)) != 0) {
        return 0;
    }
    json_object_foreach(kube->cluster.pods.images, name, image)
    {
        if (!read_repository(name, image, seen, &at)) {
            continue;
        }
        int failed = list_repository(kube, &at, label, out, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

int cbx_kube_layer_remove(struct cbx_kube *kube, const char *id, struct cbx_err *err)
{
    CBX_AUTO_JSON entry = NULL;
    struct cbx_reference at;
    if (cbx_kube_layer_known(kube, id, &entry, NULL) != 0 ||
        !cbx_reference_read(json_string_value(json_object_get(entry, "reference")), &at)) {
        return 0; /* only what was listed is removed */
    }
    int failed = cbx_registry_remove(kube->layers->registry, &at, at.digest, err);
    if (failed) {
        return failed;
    }
    pthread_mutex_lock(&kube->layers->lock);
    json_object_del(kube->layers->known, at.digest);
    pthread_mutex_unlock(&kube->layers->lock);
    return 0;
}
