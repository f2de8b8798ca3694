/* SPDX-License-Identifier: MIT
 * The caller's requests for a run or a session besides its program: the rows CBX_ASK of
 * subject.def. The store keeps them, requests to workers and seals carry them, permits and audit
 * records are made from them. A new property is a row, and the code that gives it effect. */
#ifndef CBX_GATEWAY_IPC_SEAL_ASKED_H
#define CBX_GATEWAY_IPC_SEAL_ASKED_H

#include "policies/base/text/json.h"
#include "policies/permit.h"

/* The caller's requests besides its program. References are owned; NULL = no request. Initialise
 * it with cbx_asked_init: zeroed limits allow nothing. */
struct cbx_asked {
#define CBX_ASKED_LIST   json_t *
#define CBX_ASKED_VALUES json_t *
#define CBX_ASKED_TEXT   json_t *
#define CBX_ASKED_LIMITS struct cbx_limits
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_ASK(member, type, most, meaning) CBX_ASKED_##type member;
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
#undef CBX_ASKED_LIST
#undef CBX_ASKED_VALUES
#undef CBX_ASKED_TEXT
#undef CBX_ASKED_LIMITS
};

/* Requests nothing. */
extern const struct cbx_asked cbx_asked_nothing;

void cbx_asked_init(struct cbx_asked *asked);
void cbx_asked_done(struct cbx_asked *asked);
CBX_DEFINE_AUTO_DONE(asked)

/* Takes new references to the members of `from`; drops the previous members of `to`. */
void cbx_asked_copy(struct cbx_asked *to, const struct cbx_asked *from);

/* Returns the text of the packages, never NULL. */
struct cbx_str cbx_asked_packages(const struct cbx_asked *asked);
void cbx_asked_set_packages(struct cbx_asked *asked, struct cbx_str packages);

/* Write each requested member into the JSON object `into`, limits by their names; and read them
 * back as new references. Other members of the object are left alone. CBX_EINVAL, with the
 * member's name, for a member of another type, and CBX_ETOOBIG for one with more than its row
 * allows; nothing is read then. */
void cbx_asked_write(const struct cbx_asked *asked, json_t *into);
int cbx_asked_read(const json_t *from, struct cbx_asked *out, struct cbx_err *err);

/* The same for a process that must not see values: each variable's value is replaced by its
 * SHA-256 (new reference). */
json_t *cbx_asked_concealed(const struct cbx_asked *asked);

/* The same for a seal, from a concealed object: a text is replaced by its SHA-256 (new
 * reference). */
json_t *cbx_asked_sealed(const struct cbx_asked *asked);

/* --- variables and arguments ------------------------------------------------------------------ */

/* Checks that a caller may set these variables ({NAME: TEXT}, NULL = none) under the policy.
 * CBX_EINVAL, with the allowed names, and CBX_ETOOBIG. */
int cbx_environment_check(const struct cbx_policy *policy, const json_t *environment,
                          struct cbx_err *err);

/* Returns {NAME: SHA-256 of VALUE} for {NAME: VALUE} (new reference); NULL for NULL or an empty
 * object. */
json_t *cbx_environment_hashes(const json_t *environment);

/* Returns the value for such hashes in a permit: the SHA-256 of their canonical JSON; all zero
 * for NULL. */
struct cbx_sha256 cbx_environment_digest(const json_t *hashes);

/* Appends the arguments as permits have them, each terminated by NUL, to `out` (initialised with
 * CBX_ARGUMENTS_BYTES_MAX). CBX_EINVAL for an item that is not a string or has a NUL,
 * CBX_ETOOBIG. */
int cbx_arguments_join(const json_t *arguments, struct cbx_buf *out, struct cbx_err *err);

#endif
