/* SPDX-License-Identifier: MIT
 * A policy as data that is loaded without parsing: presets are compiled to it by the build. It
 * has the draft, the index and the hash. The layout is the layout of the structs, so an image is
 * valid only for the build that wrote it. Private to the loader. */
#ifndef CBX_POLICIES_LOAD_IMAGE_H
#define CBX_POLICIES_LOAD_IMAGE_H

#include "policies/base/buf.h"
#include "policies/load/index.h"
#include "policies/load/keys.h"

/* Appends the image of a loaded policy. Equal policies give equal bytes. CBX_ETOOBIG if the
 * buffer overflows. */
int cbx_image_write(const struct cbx_policy *policy, struct cbx_buf *out, struct cbx_err *err);

/* The content of an image. */
struct cbx_image {
    struct cbx_draft draft;
    const struct cbx_index *index;
    struct cbx_sha256 sha256;
};

/* Reads an image into `arena`; its texts are borrowed from the image. The image is part of the
 * program and is trusted. CBX_ETOOBIG if the arena is exhausted. */
int cbx_image_read(struct cbx_str image, struct cbx_arena *arena, struct cbx_image *out,
                   struct cbx_err *err);

#endif
