/* SPDX-License-Identifier: MIT
 * Mount requests and a policy's mount rules. Paths are judged as they are written, made straight
 * ("..", ".", doubled slashes); what symbolic links make of the host's path is the executor's to
 * resolve, and it asks again with the result. */
#ifndef CBX_POLICIES_MOUNTS_H
#define CBX_POLICIES_MOUNTS_H

#include "policies/base/buf.h"
#include "policies/policy.h"

enum {
    CBX_MOUNTS_MAX = 16, /* of one sandbox */
    CBX_MOUNT_PATH_MAX = 1024,
    CBX_MOUNT_TEXT_MAX = 2 * CBX_MOUNT_PATH_MAX + 8,
    CBX_MOUNT_WHY_MAX = 512,
};

/* HOST:CONTAINER[:ro|rw], in Docker's notation; ro without a mode. */
struct cbx_mount_request {
    char host[CBX_MOUNT_PATH_MAX], container[CBX_MOUNT_PATH_MAX]; /* straight, absolute */
    bool writable;
};

/* CBX_EINVAL for what is no such text: not absolute, "~", a third colon, control characters, a mode
 * that is none; CBX_ETOOBIG for paths over the cap. */
int cbx_mount_parse(struct cbx_str text, struct cbx_mount_request *out, struct cbx_err *err);

/* HOST:CONTAINER:ro or :rw: one text for equal requests. */
void cbx_mount_write(const struct cbx_mount_request *request, struct cbx_buf *out);

/* Is this path the folder, or in it? Straight paths; "/" is only itself. */
bool cbx_mount_lies_in(const char *path, const char *folder);

/* Decides whether this may be mounted. `why` names the entry and the list that decided. A host path
 * is refused when it is an entry of `deny`, lies in one ("/" only for itself), or holds one; it is
 * allowed when it is an entry of `allow` or lies in one, and `rw` only when that entry has mode rw.
 * The container's path must lie in a folder of `container`; where that list is empty, nothing may
 * be mounted. Folders that a sandbox has itself (mounts.def) are never mounted over. */
bool cbx_mount_allowed(const struct cbx_mounts *mounts, const struct cbx_mount_request *request,
                       char why[CBX_MOUNT_WHY_MAX]);

/* Does mounts.deny refuse it? The reason of cbx_mount_allowed names the entry then. */
bool cbx_mount_is_denied(const struct cbx_mounts *mounts, const struct cbx_mount_request *request);

#endif
