/* SPDX-License-Identifier: MIT
 * Images of one's own on the command line. */
#include "gateway/cli/image/image_own.h"

#include "docker/own_images.h"

#include <stdio.h>

static void print_image(const json_t *image)
{
    struct cbx_str from = cbx_json_str(json_object_get(image, "from"));
    struct cbx_str built_in = cbx_json_str(json_object_get(image, "built_in"));
    long long size = json_integer_value(json_object_get(image, "size_bytes"));
    const char *blank = from.len > 0 ? memchr(from.p, ' ', from.len) : NULL;
    int len = blank != NULL ? (int)(blank - from.p) : (int)from.len;
    printf("%-38s %5lld MB  %s\n    made from %.*s\n",
           json_string_value(json_object_get(image, "name")), (size + 500000) / 1000000,
           json_string_value(json_object_get(image, "id")), len, cbx_str_bytes(from));
    while (built_in.len > 0) {
        const char *end = memchr(built_in.p, '\n', built_in.len);
        size_t line = end != NULL ? (size_t)(end - built_in.p) : built_in.len;
        printf("    built in: %.*s\n", (int)line, built_in.p);
        built_in = cbx_str_sub(built_in, line + 1, built_in.len);
    }
}

int cbx_image_own_list(struct cbx_engine *engine, json_t *all, struct cbx_err *err)
{
    CBX_AUTO_JSON images = NULL;
    int failed = cbx_own_images_list(engine, &images, err);
    if (failed) {
        return failed;
    }
    size_t i;
    json_t *image;
    json_array_foreach(images, i, image)
    {
        if (all != NULL) {
            json_array_append(all, image);
            continue;
        }
        print_image(image);
    }
    return 0;
}

void cbx_image_own_probe(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                         const char *name, const struct cbx_limits *limits,
                         const struct cbx_doctor *doctor)
{
    CBX_AUTO_JSON images = NULL;
    struct cbx_err err = { 0 };
    if (cbx_own_images_list(engine, &images, &err) != 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "image", "", "%s", err.text);
        return;
    }
    size_t i;
    const json_t *image;
    json_array_foreach(images, i, image)
    {
        const char *own = json_string_value(json_object_get(image, "own"));
        if (name != NULL && strcmp(own, name) != 0) {
            continue;
        }
        struct cbx_sandbox_config with = *config;
        with.variant = own;
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "image", "", "%s: made from %s",
                          json_string_value(json_object_get(image, "name")),
                          json_string_value(json_object_get(image, "from")));
        cbx_doctor_probe(engine, &with, json_string_value(json_object_get(image, "kernel")), limits,
                         doctor, NULL);
    }
}
