/* SPDX-License-Identifier: MIT
 * What a caller asks to have mounted, as requests, decisions and records have it: a JSON list of
 * "HOST:CONTAINER:ro" and "HOST:CONTAINER:rw", with straight paths (policies/mounts.h). */
#ifndef CBX_GATEWAY_IPC_SEAL_MOUNT_REQUESTS_H
#define CBX_GATEWAY_IPC_SEAL_MOUNT_REQUESTS_H

#include "policies/base/hash.h"
#include "policies/base/json.h"
#include "policies/mounts.h"

/* The list (new reference) of what clients send: a list of HOST:CONTAINER[:MODE], or of CodeBox-AI's objects
 * {host_path, container_path, read_only}. *out is NULL for NULL or an empty list. CBX_EINVAL, CBX_ETOOBIG. */
int cbx_mounts_read(const json_t *asked, json_t **out, struct cbx_err *err);

/* Appends to *list, which may be NULL, what the option --mount says: DIR (the same path in the sandbox, for reading) or
 * HOST:CONTAINER[:MODE]. A relative DIR is one of the working directory. Errors as cbx_mounts_read. */
int cbx_mounts_add_option(const char *text, json_t **list, struct cbx_err *err);

/* May these be mounted together under the policy? The list (NULL = none) has to be one that cbx_mounts_read made. CBX_EINVAL
 * names the entry of the policy that decides, and what would have to be added to it; CBX_ETOOBIG. */
int cbx_mounts_check(const struct cbx_policy *policy, const json_t *mounts, struct cbx_err *err);

/* The folders of the sandbox that a list lets programs write to, at most CBX_MOUNTS_MAX, in `arena`. */
struct cbx_strs cbx_mounts_writable(const json_t *mounts, struct cbx_arena *arena);

/* What stands for a list in a permit: the SHA-256 of its canonical JSON; all zero for NULL and an empty one. */
struct cbx_sha256 cbx_mounts_digest(const json_t *mounts);

#endif
