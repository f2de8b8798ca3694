/* SPDX-License-Identifier: MIT
 * Layers of packages, for `codebox image list` and `prune`. */
#include "gateway/cli/image/image_layers.h"

#include "docker/kernel_names.h"
#include "docker/own_images.h"
#include "docker/packages/package_layers.h"
#include "gateway/cli/cli.h"

#include <stdlib.h>

/* Images with the usual prefix. */
static const struct cbx_sandbox_config sandboxes;
static const struct cbx_packages_config packages = { .sandbox = &sandboxes };

struct layer {
    const char *name, *id, *kernel;
    int64_t own_bytes; /* bytes beyond the sandbox image */
    bool current;      /* true if sandboxes are made from its sandbox image now */
};

/* Compares a layer with an image of the kernel, and sets the members that follow from it. */
static void compare(struct cbx_engine *engine, const json_t *json, const char *variant,
                    struct layer *layer)
{
    char name[CBX_IMAGE_NAME_BYTES];
    struct cbx_image image;
    cbx_image_name(NULL, layer->kernel, variant, name);
    if (cbx_engine_image(engine, name, &image, NULL) != 0) {
        return;
    }
    free(image.contents);
    if (cbx_str_is(cbx_json_str(json_object_get(json, "base")), image.id)) {
        int64_t size = json_integer_value(json_object_get(json, "size_bytes"));
        layer->current = true;
        layer->own_bytes = size > image.size_bytes ? size - image.size_bytes : 0;
    }
}

/* Compares a layer with the images of one's own. */
static void compare_own(const json_t *own, const json_t *json, struct layer *layer)
{
    size_t i;
    const json_t *image;
    json_array_foreach(own, i, image)
    {
        if (json_equal(json_object_get(image, "id"), json_object_get(json, "base"))) {
            int64_t size = json_integer_value(json_object_get(json, "size_bytes")),
                    base = json_integer_value(json_object_get(image, "size_bytes"));
            layer->current = true;
            layer->own_bytes = size > base ? size - base : 0;
        }
    }
}

static struct layer read_layer(struct cbx_engine *engine, const json_t *own, const json_t *json)
{
    struct layer layer = { .name = json_string_value(json_object_get(json, "name")),
                           .id = json_string_value(json_object_get(json, "id")),
                           .kernel = json_string_value(json_object_get(json, "kernel")) };
    compare(engine, json, NULL, &layer);
    if (cbx_kernel_has_small(layer.kernel)) {
        compare(engine, json, CBX_VARIANT_SMALL, &layer);
    }
    compare_own(own, json, &layer);
    return layer;
}

/* Prints one line for all layers: there is one for each set of packages that was requested. */
static void print_sum(size_t current, int64_t bytes, size_t stale)
{
    if (current > 0) {
        printf("%zu layer%s with packages, %lld MB\n", current, current > 1 ? "s" : "",
               (long long)(bytes / 1000000));
    }
    if (stale > 0) {
        printf("%zu layer%s of earlier images; 'codebox image prune' removes %s\n", stale,
               stale > 1 ? "s" : "", stale > 1 ? "them" : "it");
    }
}

int cbx_image_layers_list(struct cbx_engine *engine, json_t *all, struct cbx_err *err)
{
    CBX_AUTO_JSON layers = NULL;
    size_t i, current = 0;
    int64_t bytes = 0;
    const json_t *json;
    CBX_AUTO_JSON own = NULL;
    int failed = cbx_own_images_list(engine, &own, err);
    if (failed) {
        return failed;
    }
    failed = cbx_layer_list(engine, &packages, &layers, err);
    json_array_foreach(layers, i, json)
    {
        struct layer layer = read_layer(engine, own, json);
        current += layer.current;
        bytes += layer.own_bytes;
        if (all != NULL) {
            json_array_append_new(
                all, json_pack("{s:b,s:s,s:s,s:s,s:I,s:b}", "layer", true, "kernel", layer.kernel,
                               "name", layer.name, "id", layer.id, "size_bytes",
                               (json_int_t)layer.own_bytes, "current", layer.current));
        }
    }
    if (all == NULL) {
        print_sum(current, bytes, json_array_size(layers) - current);
    }
    return failed;
}

int cbx_image_layers_prune(struct cbx_engine *engine, bool all)
{
    CBX_AUTO_JSON layers = NULL;
    struct cbx_err err = { 0 };
    size_t i;
    const json_t *json;
    CBX_AUTO_JSON own = NULL;
    if (cbx_own_images_list(engine, &own, &err) != 0 ||
        cbx_layer_list(engine, &packages, &layers, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    int status = 0;
    json_array_foreach(layers, i, json)
    {
        struct layer layer = read_layer(engine, own, json);
        if (layer.current && !all) {
            continue;
        }
        int failed = cbx_layer_remove(engine, layer.id, &err);
        if (failed == CBX_EBUSY) {
            printf("%s stays, a sandbox runs from it\n", layer.name);
        } else if (failed) {
            status = cbx_cli_fail(&err);
        } else {
            printf("%s removed\n", layer.name);
        }
    }
    return status;
}
