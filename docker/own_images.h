/* SPDX-License-Identifier: MIT
 * Images of one's own: what `codebox image build --from` made (docker/images/own.sh). */
#ifndef CBX_DOCKER_OWN_IMAGES_H
#define CBX_DOCKER_OWN_IMAGES_H

#include "docker/engine/engine.h"
#include "policies/base/json.h"

#define CBX_LABEL_OWN    "codebox.own"    /* its name */
#define CBX_LABEL_KERNEL "codebox.kernel" /* the kernel that it is for */
#define CBX_LABEL_FROM   "codebox.from"   /* the image that it was made of, and the id of that */

/* Is it a name for an image of one's own? It has 1 to CBX_IMAGE_OWN_MAX small letters, digits and '-', begins with a letter, and is not
 * that of a variant of the gateway's. CBX_EINVAL. */
int cbx_own_image_check(const char *name, struct cbx_err *err);

/* The images: [{own, kernel, name, id, from, built_in, size_bytes}] (new reference), ordered by name; built_in: the lines of
 * CBX_LABEL_BUILT_IN, or null. Labels are those of any image of the engine, so
 * what is malformed is left out. */
int cbx_own_images_list(struct cbx_engine *engine, json_t **out, struct cbx_err *err);

#endif
