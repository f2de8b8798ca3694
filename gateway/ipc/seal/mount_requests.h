/* SPDX-License-Identifier: MIT
 * The mounts that a caller requests, as requests, decisions and records have them: a JSON list
 * of "HOST:CONTAINER:ro" and "HOST:CONTAINER:rw", with straight paths (policies/mounts.h). */
#ifndef CBX_GATEWAY_IPC_SEAL_MOUNT_REQUESTS_H
#define CBX_GATEWAY_IPC_SEAL_MOUNT_REQUESTS_H

#include "policies/base/hash.h"
#include "policies/base/text/json.h"
#include "policies/mounts.h"

/* Reads the mounts that a client requests: a list of HOST:CONTAINER[:MODE], or of CodeBox-AI's
 * objects {host_path, container_path, read_only}. *out is a new reference; NULL if `asked` is
 * NULL or an empty list. CBX_EINVAL, CBX_ETOOBIG. */
int cbx_mounts_read(const json_t *asked, json_t **out, struct cbx_err *err);

/* Appends the value of an option --mount to *list, which may be NULL: DIR (the same path in the
 * sandbox, for reading) or HOST:CONTAINER[:MODE]. A relative DIR is relative to the working
 * directory. Errors as cbx_mounts_read. */
int cbx_mounts_add_option(const char *text, json_t **list, struct cbx_err *err);

/* Checks that the policy allows these mounts together. cbx_mounts_read must have made the list
 * (NULL = no mounts). CBX_EINVAL names the entry of the policy that decides, and the entry that
 * the operator would have to add; CBX_ETOOBIG. */
int cbx_mounts_check(const struct cbx_policy *policy, const json_t *mounts, struct cbx_err *err);

/* Returns the folders of the sandbox that the mounts let programs write to, at most
 * CBX_MOUNTS_MAX, in `arena`. */
struct cbx_strs cbx_mounts_writable(const json_t *mounts, struct cbx_arena *arena);

/* Returns the value for a list in a permit: the SHA-256 of its canonical JSON; all zero for NULL
 * and an empty list. */
struct cbx_sha256 cbx_mounts_digest(const json_t *mounts);

#endif
