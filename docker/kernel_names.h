/* SPDX-License-Identifier: MIT
 * The names of languages, kernels and images that callers may know, without the commands that
 * run them. */
#ifndef CBX_DOCKER_KERNEL_NAMES_H
#define CBX_DOCKER_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the kernel (and image) for a language; NULL if there is none. "ipython" and "python"
 * have the same kernel. */
const char *cbx_kernel_of(const char *language);

/* Returns the languages with a kernel, as permits name them; NULL after the last. */
const char *cbx_language_at(size_t index);

/* Returns the kernels; images have their names. NULL after the last. */
const char *cbx_kernel_at(size_t index);

/* True if the kernel has a small image besides the full one. */
bool cbx_kernel_has_small(const char *kernel);

/* The variant of an image: NULL is the full one; CBX_VARIANT_SMALL the small one, if the kernel
 * has one, else the full one; any other text is the name of an operator's own image. */
#define CBX_VARIANT_SMALL "small"

/* Write the image of a kernel as its build names it: "python", "python-small" or "python-lab";
 * and as the engine names it: "codebox-python:latest". `prefix` and `variant` may be NULL. */
enum { CBX_IMAGE_NAME_BYTES = 160 };
void cbx_image_variant(const char *kernel, const char *variant, char out[CBX_IMAGE_NAME_BYTES]);
void cbx_image_name(const char *prefix, const char *kernel, const char *variant,
                    char out[CBX_IMAGE_NAME_BYTES]);

#endif
