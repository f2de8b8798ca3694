/* SPDX-License-Identifier: MIT
 * Mount requests and a policy's mount rules. Paths are judged as they are written, made straight
 * ("..", ".", doubled slashes); the executor resolves symbolic links of the host's path, and
 * checks the result again. */
#ifndef CBX_POLICIES_MOUNTS_H
#define CBX_POLICIES_MOUNTS_H

#include "policies/base/buf.h"
#include "policies/policy.h"

enum {
    CBX_MOUNTS_MAX = 16, /* maximum number of mounts of one sandbox */
    CBX_MOUNT_PATH_MAX = 1024,
    CBX_MOUNT_TEXT_MAX = 2 * CBX_MOUNT_PATH_MAX + 8,
    CBX_MOUNT_WHY_MAX = 512,
};

/* A request HOST:CONTAINER[:ro|rw], in Docker's notation; ro without a mode. */
struct cbx_mount_request {
    char host[CBX_MOUNT_PATH_MAX], container[CBX_MOUNT_PATH_MAX]; /* straight, absolute */
    bool writable;
};

/* Reads a request. CBX_EINVAL for a malformed text: not absolute, "~", a third colon, control
 * characters, an unknown mode; CBX_ETOOBIG for paths over the cap. */
int cbx_mount_parse(struct cbx_str text, struct cbx_mount_request *out, struct cbx_err *err);

/* Writes HOST:CONTAINER:ro or :rw: one text for equal requests. */
void cbx_mount_write(const struct cbx_mount_request *request, struct cbx_buf *out);

/* True if this path is the folder, or is in it. Straight paths; "/" contains only itself. */
bool cbx_mount_lies_in(const char *path, const char *folder);

/* Decides whether this mount is allowed. `why` has the deciding entry and its list. A host path
 * is refused if it is an entry of `deny`, lies in one ("/" only for itself), or contains one; it
 * is allowed if it is an entry of `allow` or lies in one, and `rw` only if that entry has mode
 * rw. The container's path must lie in a folder of `container`; if that list is empty, no mount
 * is allowed. Folders of the sandbox itself (mounts.def) are never mounted over. */
bool cbx_mount_allowed(const struct cbx_mounts *mounts, const struct cbx_mount_request *request,
                       char why[CBX_MOUNT_WHY_MAX]);

/* True if mounts.deny refuses it. The reason of cbx_mount_allowed names the entry then. */
bool cbx_mount_is_denied(const struct cbx_mounts *mounts, const struct cbx_mount_request *request);

#endif
