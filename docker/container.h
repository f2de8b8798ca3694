/* SPDX-License-Identifier: MIT
 * A permit as the body of "create a container": the hardening, all of it, as data. */
#ifndef CBX_DOCKER_CONTAINER_H
#define CBX_DOCKER_CONTAINER_H

#include "docker/sandbox.h"
#include "policies/base/json.h"

/* Labels on everything that we create. */
#define CBX_LABEL_OWNED    "codebox.sandbox"
#define CBX_LABEL_INSTANCE "codebox.instance"
#define CBX_LABEL_CREATED  "codebox.created" /* seconds since 1970 */

/* Which image and kernel serve a language: NULL when none does. "ipython" and "python" are the same
 * kernel. */
const char *cbx_kernel_of(const char *language);

/* The languages that run, as permits name them; NULL behind the last. */
const char *cbx_language_at(size_t index);

/* The kernels, each once, as images are named by them; NULL behind the last. */
const char *cbx_kernel_at(size_t index);

/* "python, ipython, javascript": all that have a kernel. */
const char *cbx_runnable_languages(void);

/* The body (new reference) for a sandbox of this kernel within these limits, from the image with
 * this id. */
json_t *cbx_container_body(const struct cbx_sandbox_config *config, const char *kernel,
                           const struct cbx_limits *limits, const char *image_id);

#endif
