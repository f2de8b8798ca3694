/* SPDX-License-Identifier: MIT
 * An operator's own images: made by `codebox image build --from` (docker/images/own.sh). */
#ifndef CBX_DOCKER_OWN_IMAGES_H
#define CBX_DOCKER_OWN_IMAGES_H

#include "docker/engine/engine.h"
#include "policies/base/text/json.h"

#define CBX_LABEL_OWN    "codebox.own"    /* name of the image */
#define CBX_LABEL_KERNEL "codebox.kernel" /* kernel that the image is for */
#define CBX_LABEL_FROM   "codebox.from"   /* base image, and its id */

/* Checks a name for an operator's own image: 1 to CBX_IMAGE_OWN_MAX small letters, digits and
 * '-', begins with a letter, and is not the name of a variant of the gateway's. CBX_EINVAL. */
int cbx_own_image_check(const char *name, struct cbx_err *err);

/* Lists the images: [{own, kernel, name, id, from, built_in, size_bytes}] (new reference),
 * ordered by name; built_in: the lines of CBX_LABEL_BUILT_IN, or null. Any image of the engine
 * may have such labels, so malformed entries are left out. */
int cbx_own_images_list(struct cbx_engine *engine, json_t **out, struct cbx_err *err);

#endif
