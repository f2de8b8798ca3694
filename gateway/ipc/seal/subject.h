/* SPDX-License-Identifier: MIT
 * The subject of a judgement: the properties of a request besides its source. subject.def lists
 * its text fields. */
#ifndef CBX_GATEWAY_IPC_SEAL_SUBJECT_H
#define CBX_GATEWAY_IPC_SEAL_SUBJECT_H

#include "gateway/ipc/seal/asked.h"
#include "gateway/ipc/seal/voucher.h"
#include "policies/base/text/json.h"
#include "policies/permit.h"

/* Maximum length of a credential's description: "token ID", "Unix socket", or "issuer NAME" with
 * the issuer name that the operator chose; "issuer NAME (GRANT, GRANT)" lists the issuer's
 * grants that the token has. */
enum { CBX_CREDENTIAL_MAX = 511 };
#define CBX_CREDENTIAL_PEER "Unix socket"

/* The properties of a request. Strings are borrowed. */
struct cbx_subject {
    enum cbx_action action;
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning) struct cbx_str member;
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    /* for the executor alone: the proof that the principal sent the request (voucher.h), or
     * empty. It is never written to a record */
    struct cbx_str proof;
    struct cbx_str voucher_subject; /* subject of `proof` if that is the voucher of a run */
    /* the caller's requests besides its program; NULL = none (cbx_subject_asked). Borrowed */
    const struct cbx_asked *asked;
    /* the session's previous declarations: a past as a worker sealed it (seal.h), or empty; then
     * the entries after it (cbx_entry_write) */
    struct cbx_str past, entries;
};

/* Return the name of an action: "check", "open", "run", "file", "resolve", "install"; and the
 * action of a name: CBX_ACTION_CHECK, which allows nothing, for an unknown name. */
const char *cbx_action_name(enum cbx_action action);
enum cbx_action cbx_action_of(struct cbx_str name);

/* Returns the caller's requests, never NULL. */
const struct cbx_asked *cbx_subject_asked(const struct cbx_subject *subject);

/* Writes a claim into the JSON object `into`, unless the claim is empty. */
void cbx_claim_write(const char *name, struct cbx_str claim, json_t *into);

/* Copies the claims that the JSON object `from` has (NULL = none) into the JSON object `into`. */
void cbx_claim_copy(const json_t *from, json_t *into);

/* Writes the text fields and the claims into the JSON object `into`. */
void cbx_subject_write(const struct cbx_subject *subject, json_t *into);

#endif
