/* SPDX-License-Identifier: MIT
 * The subject of a judgement: the properties of a request besides its source. subject.def lists
 * its text fields. */
#ifndef CBX_GATEWAY_IPC_SEAL_SUBJECT_H
#define CBX_GATEWAY_IPC_SEAL_SUBJECT_H

#include "gateway/ipc/seal/asked.h"
#include "gateway/ipc/seal/voucher.h"
#include "policies/base/json.h"
#include "policies/permit.h"

/* "token ID", "issuer NAME" with the name of an issuer that the operator chose, and those of its grants that the token has
 * behind it ("issuer NAME (GRANT, GRANT)"), "Unix socket". */
enum { CBX_CREDENTIAL_MAX = 511 };
#define CBX_CREDENTIAL_PEER "Unix socket"

/* Strings are borrowed. */
struct cbx_subject {
    enum cbx_action action;
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning) struct cbx_str member;
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    /* For the executor alone: what shows that the principal asked (voucher.h), or empty. It is written nowhere. */
    struct cbx_str proof;
    struct cbx_str voucher_subject; /* what `proof` is for, when it is the voucher of a run */
    /* What the caller asks for besides its program; NULL = nothing (cbx_subject_asked). Borrowed */
    const struct cbx_asked *asked;
    /* What was admitted to the session before: a past as a worker sealed it (seal.h), or empty; then
     * the entries behind it (cbx_entry_write). */
    struct cbx_str past, entries;
};

/* "check", "open", "run", "file", "resolve", "install"; and back: CBX_ACTION_CHECK for an unknown name, for it allows nothing. */
const char *cbx_action_name(enum cbx_action action);
enum cbx_action cbx_action_of(struct cbx_str name);

/* Never NULL. */
const struct cbx_asked *cbx_subject_asked(const struct cbx_subject *subject);

/* Writes a claim into the JSON object `into`, unless it is empty. */
void cbx_claim_write(const char *name, struct cbx_str claim, json_t *into);

/* Copies the claims that the JSON object `from` has (NULL = none) into the JSON object `into`. */
void cbx_claim_copy(const json_t *from, json_t *into);

/* Writes the text fields and the claims into the JSON object `into`. */
void cbx_subject_write(const struct cbx_subject *subject, json_t *into);

#endif
