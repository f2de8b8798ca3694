/* SPDX-License-Identifier: MIT
 * An operator's own images. */
#include "docker/own_images.h"

#include "docker/kernel_names.h"
#include "docker/packages/package_layers.h"
#include "policies/base/memory.h"
#include "policies/base/sort.h"
#include "policies/policy.h"

#include <stdlib.h>

int cbx_own_image_check(const char *name, struct cbx_err *err)
{
    static const char *const taken[] = { CBX_VARIANT_SMALL, "layer" };
    size_t len = strlen(name);
    bool good = len > 0 && len <= CBX_IMAGE_OWN_MAX && name[0] >= 'a' && name[0] <= 'z' &&
                strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        good = good && strcmp(name, taken[i]) != 0;
    }
    if (!good) {
        return cbx_fail(err, CBX_EINVAL,
                        "--name is '%s', allowed are at most %d small letters, digits and '-', "
                        "with a letter first, but not 'small' and 'layer'",
                        name, CBX_IMAGE_OWN_MAX);
    }
    return 0;
}

static bool is_kernel(struct cbx_str name)
{
    const char *kernel;
    for (size_t i = 0; (kernel = cbx_kernel_at(i)) != NULL; i++) {
        if (cbx_str_is(name, kernel)) {
            return true;
        }
    }
    return false;
}

/* A layer of packages also has the labels of its base image, and so does an installer. */
static bool is_own(const json_t *labels)
{
    const char *name = json_string_value(json_object_get(labels, CBX_LABEL_OWN));
    struct cbx_str layer = cbx_json_str(json_object_get(labels, CBX_LABEL_LAYER));
    struct cbx_str base = cbx_json_str(json_object_get(labels, CBX_LABEL_BASE));
    return name != NULL && cbx_own_image_check(name, NULL) == 0 && layer.len == 0 &&
           base.len == 0 && is_kernel(cbx_json_str(json_object_get(labels, CBX_LABEL_KERNEL)));
}

static void add_image(const json_t *image, json_t *out)
{
    const json_t *labels = json_object_get(image, "Labels");
    if (!is_own(labels)) {
        return;
    }
    const char *own = json_string_value(json_object_get(labels, CBX_LABEL_OWN));
    const char *kernel = json_string_value(json_object_get(labels, CBX_LABEL_KERNEL));
    char name[CBX_IMAGE_NAME_BYTES];
    cbx_image_name(NULL, kernel, own, name);
    size_t i;
    const json_t *tag;
    json_array_foreach(json_object_get(image, "RepoTags"), i, tag)
    {
        if (cbx_str_is(cbx_json_str(tag), name)) {
            json_t *row = json_pack("{s:s,s:s,s:s,s:O?,s:O?,s:O?,s:O?}", "own", own, "kernel",
                                    kernel, "name", name, "id", json_object_get(image, "Id"),
                                    "from", json_object_get(labels, CBX_LABEL_FROM), "built_in",
                                    json_object_get(labels, CBX_LABEL_BUILT_IN), "size_bytes",
                                    json_object_get(image, "Size"));
            json_array_append_new(out, row);
        }
    }
}

static int compare_rows(const void *a, const void *b)
{
    json_t *const *x = a, *const *y = b;
    return strcmp(json_string_value(json_object_get(*x, "name")),
                  json_string_value(json_object_get(*y, "name")));
}

static json_t *order(const json_t *rows)
{
    size_t count = json_array_size(rows);
    json_t **items = cbx_new_array(count + 1, sizeof(json_t *));
    for (size_t i = 0; i < count; i++) {
        items[i] = json_array_get(rows, i);
    }
    cbx_sort_heap(items, count, sizeof(json_t *), compare_rows);
    json_t *ordered = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append(ordered, items[i]);
    }
    free(items);
    return ordered;
}

int cbx_own_images_list(struct cbx_engine *engine, json_t **out, struct cbx_err *err)
{
    CBX_AUTO_JSON images = NULL;
    CBX_AUTO_JSON rows = json_array();
    int failed = cbx_engine_image_list(engine, CBX_LABEL_OWN, &images, err);
    if (failed) {
        return failed;
    }
    size_t i;
    const json_t *image;
    json_array_foreach(images, i, image)
    {
        add_image(image, rows);
    }
    *out = order(rows);
    return 0;
}
