/* SPDX-License-Identifier: MIT
 * A draft as data that is loaded without parsing: what a preset is compiled to when the product is
 * built. The layout is that of the structs, so an image is good for the build that wrote it and for
 * no other. Private to the loader. */
#ifndef CBX_POLICIES_IMAGE_H
#define CBX_POLICIES_IMAGE_H

#include "policies/base/buf.h"
#include "policies/keys.h"

/* Appends the image of a draft and of the hash of the policy that it gives. The same draft gives
 * the same bytes, wherever its parts lie. CBX_ETOOBIG when the buffer overflows. */
int cbx_image_write(const struct cbx_draft *draft, const struct cbx_sha256 *sha256,
                    struct cbx_buf *out, struct cbx_err *err);

/* The draft of an image, in `arena`; its texts are borrowed from the image. The image is ours and
 * is trusted. CBX_ETOOBIG when the arena is exhausted. */
int cbx_image_read(struct cbx_str image, struct cbx_arena *arena, struct cbx_draft *out,
                   struct cbx_sha256 *sha256, struct cbx_err *err);

#endif
