/* SPDX-License-Identifier: MIT
 * The making of a layer: an installer's packages become a blob at the registry, and the sandbox
 * image with this blob a new image (OCI image specification: "Image Configuration", "Image
 * Manifest"). The tag is written last, so a layer exists completely or not at all. */
#include "docker/engine/kubernetes/kube_layers.h"

#include "docker/engine/kubernetes/kube_layers_internal.h"
#include "docker/engine/kubernetes/layer_tar.h"
#include "policies/base/hash.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { READ_BYTES = 64 * 1024, POLL_MS = 500, CONFIG_MAX = 8 * 1024 * 1024 };
/* An archive has a header for each entry, and each file and its name end at a full block. */
enum { ENTRY_BYTES = 4 * CBX_LAYER_BLOCK, ARCHIVE_END_BYTES = 64 * 1024 };

/* --- the archive ------------------------------------------------------------------------------ */

struct archive {
    struct cbx_attach *attach;
    struct cbx_engine *engine;
    const struct cbx_engine_stop *stop;
    struct cbx_layer_tar tar;
    struct cbx_sha256_sum *hash;
    char *bytes;         /* READ_BYTES: received */
    struct cbx_str rest; /* of them, checked and not given yet */
    int64_t heard_ms;
    bool ended;
    struct cbx_err err; /* why reading failed; code 0 = it did not */
};

static bool is_cancelled(const struct archive *a)
{
    return a->stop != NULL && a->stop->cancelled != NULL && a->stop->cancelled(a->stop->context);
}

/* Receives the next part of the archive and checks it: 0 also at its end. */
static int receive(struct archive *a, struct cbx_err *err)
{
    struct cbx_attach_bytes got = { 0 };
    for (;;) {
        if (is_cancelled(a)) {
            return cbx_fail(err, CBX_ESTATE, "the installation was cancelled");
        }
        int failed = cbx_attach_receive(a->attach, a->bytes, READ_BYTES, POLL_MS, &got, err);
        if (failed == CBX_ETIMEDOUT) {
            failed = cbx_engine_check(a->engine, &a->heard_ms, err);
            if (failed) {
                return failed;
            }
            continue;
        }
        if (failed) {
            return failed;
        }
        a->heard_ms = cbx_clock_ms();
        a->ended = got.bytes.len == 0;
        if (a->ended) {
            return 0;
        }
        if (got.channel == CBX_CHANNEL_STDOUT) {
            break;
        }
    }
    cbx_sha256_add(a->hash, got.bytes);
    a->rest = got.bytes;
    return cbx_layer_tar_feed(&a->tar, got.bytes, err);
}

/* tar itself failed, or its streams ended early. */
static int check_end(struct archive *a, struct cbx_err *err)
{
    int exit_code = -1;
    int failed = cbx_kube_exit_code(a->attach, &exit_code, err);
    if (failed) {
        return failed;
    }
    if (exit_code != 0) {
        return cbx_fail(err, CBX_EENGINE, "the installer could not pack the packages");
    }
    return cbx_layer_tar_end(&a->tar, err);
}

static int64_t read_archive(void *context, char *to, size_t size)
{
    struct archive *a = context;
    int failed = 0;
    if (a->rest.len == 0 && !a->ended) {
        failed = receive(a, &a->err);
        if (!failed && a->ended) {
            failed = check_end(a, &a->err);
        }
    }
    if (failed) {
        return -1;
    }
    struct cbx_str part = cbx_str_take(&a->rest, size);
    if (part.len > 0) {
        memcpy(to, part.p, part.len);
    }
    return (int64_t)part.len;
}

static void write_digest(void *context, char out[CBX_DIGEST_CHARS + 1])
{
    struct archive *a = context;
    char hex[CBX_SHA256_HEX + 1];
    struct cbx_sha256 hash = cbx_sha256_now(a->hash);
    cbx_sha256_hex(&hash, hex);
    snprintf(out, CBX_DIGEST_CHARS + 1, "sha256:%s", hex);
}

/* Starts tar in the installer's container. Its order and its times are fixed, so that the same
 * packages give the same bytes. `to` begins with a slash. */
static int start_tar(struct cbx_kube *kube, const struct cbx_layer_recipe *recipe,
                     struct archive *a, struct cbx_err *err)
{
    char transform[256];
    snprintf(transform, sizeof(transform), "--transform=s,^%s,%s,", recipe->from, recipe->to + 1);
    const char *const command[] = { "/usr/bin/tar", "--create",        "--format=gnu",
                                    "--sort=name",  "--mtime=@0",      "--owner=0",
                                    "--group=0",    "--numeric-owner", "--directory=/packages",
                                    transform,      recipe->from,      NULL };
    a->tar = (struct cbx_layer_tar){ .place = recipe->to + 1,
                                     .bytes_max = recipe->bytes_max + ARCHIVE_END_BYTES +
                                                  recipe->files_max * ENTRY_BYTES,
                                     .entries_max = recipe->files_max };
    a->heard_ms = cbx_clock_ms();
    return cbx_kube_exec(kube, recipe->container, command, &a->attach, err);
}

/* Pushes the archive: its digest, and its size. */
static int push_archive(struct cbx_kube *kube, const struct cbx_layer_recipe *recipe,
                        const struct cbx_reference *at, const struct cbx_engine_stop *stop,
                        char digest[CBX_DIGEST_CHARS + 1], int64_t *size, struct cbx_err *err)
{
    struct archive a = { .engine = &kube->engine, .stop = stop };
    int failed = start_tar(kube, recipe, &a, err);
    if (failed) {
        return failed;
    }
    a.bytes = cbx_new(READ_BYTES);
    a.hash = cbx_sha256_sum_new();
    const struct cbx_registry_source source = { read_archive, &a };
    failed = cbx_registry_push(kube->layers->registry, at, &source, write_digest, err);
    if (a.err.code != 0 && err != NULL) {
        *err = a.err;
    }
    if (a.err.code != 0) {
        failed = a.err.code;
    }
    write_digest(&a, digest);
    *size = a.tar.bytes;
    cbx_sha256_sum_free(a.hash);
    cbx_attach_free(a.attach);
    free(a.bytes);
    return failed;
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

static json_t *describe_blob(const char *type, int64_t size, const char *digest)
{
    return json_pack("{s:s,s:I,s:s}", "mediaType", type, "size", (json_int_t)size, "digest",
                     digest);
}

/* A manifest of Docker's type has layers of Docker's type. */
static const char *archive_type(const struct cbx_manifest *manifest)
{
    bool docker =
        strcmp(manifest->type, "application/vnd.docker.distribution.manifest.v2+json") == 0;
    return docker ? "application/vnd.docker.image.rootfs.diff.tar"
                  : "application/vnd.oci.image.layer.v1.tar";
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
    char archive[CBX_DIGEST_CHARS + 1];
    int64_t size = 0;
    int failed = push_archive(kube, recipe, &image->at, stop, archive, &size, err);
    if (failed) {
        return failed;
    }
    failed = extend_config(recipe, archive, image->config, err);
    if (failed) {
        return failed;
    }
    failed = push_config(kube, image, err);
    if (failed) {
        return failed;
    }
    json_array_append_new(json_object_get(image->manifest.json, "layers"),
                          describe_blob(archive_type(&image->manifest), size, archive));
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
