/* SPDX-License-Identifier: MIT */
#include "docker/kernel_names.h"

#include "policies/language.h"

#include <stdio.h>
#include <string.h>

static const char *const kernels[] = {
#define CBX_KERNEL(name, ...) name,
#include "docker/kernels.def"
#undef CBX_KERNEL
};
enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

const char *cbx_kernel_at(size_t index)
{
    return index < KERNELS ? kernels[index] : NULL;
}

bool cbx_kernel_has_small(const char *kernel)
{
    static const char *const small[] = {
#define CBX_KERNEL(...)
#define CBX_SMALL(kernel) kernel,
#include "docker/kernels.def"
#undef CBX_KERNEL
    };
    for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
        if (strcmp(small[i], kernel) == 0) {
            return true;
        }
    }
    return false;
}

void cbx_image_variant(const char *kernel, const char *variant, char out[CBX_IMAGE_NAME_BYTES])
{
    bool full = variant == NULL ||
                (strcmp(variant, CBX_VARIANT_SMALL) == 0 && !cbx_kernel_has_small(kernel));
    snprintf(out, CBX_IMAGE_NAME_BYTES, "%.32s%s%.32s", kernel, full ? "" : "-",
             full ? "" : variant);
}

void cbx_image_name(const char *prefix, const char *kernel, const char *variant,
                    char out[CBX_IMAGE_NAME_BYTES])
{
    char name[CBX_IMAGE_NAME_BYTES];
    cbx_image_variant(kernel, variant, name);
    snprintf(out, CBX_IMAGE_NAME_BYTES, "%.64s-%.72s:latest", prefix != NULL ? prefix : "codebox",
             name);
}

/* Returns the kernel of the row, if it exists. */
static const char *kernel_of_row(const struct cbx_language_row *row)
{
    size_t i = 0;
    while (i < KERNELS && strcmp(kernels[i], row->kernel) != 0) {
        i++;
    }
    return cbx_kernel_at(i);
}

const char *cbx_language_at(size_t index)
{
    const struct cbx_language_row *row;
    for (size_t i = 0; (row = cbx_language_row(i)) != NULL; i++) {
        if (kernel_of_row(row) != NULL && index-- == 0) {
            return row->name;
        }
    }
    return NULL;
}

const char *cbx_kernel_of(const char *language)
{
    const struct cbx_language_row *row = cbx_language_find(cbx_str_of(language));
    bool is_name = row != NULL && strcmp(row->name, language) == 0; /* permits have no aliases */
    return is_name ? kernel_of_row(row) : NULL;
}
