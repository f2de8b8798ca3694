/* SPDX-License-Identifier: MIT
 * Who calls: bearer tokens of this gateway (tokens.h), tokens of issuers (jwt.h), and the user
 * at the other end of a Unix socket, to principals and their quotas. */
#ifndef CBX_GATEWAY_IDENTITY_IDENTITY_H
#define CBX_GATEWAY_IDENTITY_IDENTITY_H

#include "gateway/identity/issuer_keys.h"
#include "gateway/identity/quotas.h"

#include "policies/base/auto.h"
#include "policies/base/buf.h"
#include "policies/load/yaml.h"

#include <sys/types.h>

struct cbx_identity;

struct cbx_identity_config {
    const char *state_dir;
    bool tries; /* for a check: nothing is made in the state directory */
    const struct cbx_yaml *principals,
        *issuers;       /* sections of the configuration; NULL = not there */
    const char *folder; /* that the files of keys are relative to, or NULL */
    /* of this gateway, "https://codebox.example.com", for RFC 9728; NULL = the origin of each
     * request */
    const char *public_url;
};

/* What is written by cbx_identity_load. */
enum { CBX_IDENTITY_BYTES_MAX = 16 << 20 };

/* Reads principals, issuers, their files of keys and of authorities, checks them, and appends
 * them for cbx_identity_replace in a process that may not read files. CBX_EINVAL, with line and
 * column of the configuration. */
int cbx_identity_load(const struct cbx_identity_config *config, struct cbx_buf *out,
                      struct cbx_err *err);

/* True when one of these issuers, as cbx_identity_load wrote them, has keys that are fetched. */
bool cbx_identity_fetches(struct cbx_str bytes);

/* What is in use, in this form; borrowed until the next replacement. */
struct cbx_str cbx_identity_bytes(const struct cbx_identity *identity);

/* Puts these principals and keys in the place of those in use, from the next request on.
 * CBX_EPROTO, and nothing changes. */
int cbx_identity_replace(struct cbx_identity *identity, struct cbx_str bytes, struct cbx_err *err);

/* Reads the configuration, the keys of the issuers and the file of tokens. *out is NULL, with 0,
 * when there is none of them: nobody is authenticated then. Before the process is confined.
 * CBX_EINVAL, CBX_EIO, CBX_EPROTO. */
int cbx_identity_new(const struct cbx_identity_config *config, struct cbx_identity **out,
                     struct cbx_err *err);
void cbx_identity_free(struct cbx_identity *identity);
CBX_DEFINE_AUTO(identity)

/* The sources of the issuers with a URL, for the process that fetches their keys, borrowed until
 * the next replacement; their number. NULL identity: none. */
size_t cbx_identity_sources(const struct cbx_identity *identity,
                            struct cbx_key_source out[CBX_KEY_SOURCES_MAX]);

/* The keys of these issuers; borrowed. NULL identity: NULL. */
struct cbx_issuer_keys *cbx_identity_issuer_keys(const struct cbx_identity *identity);

/* A line of log for a policy in mode log-only that nobody may use. NULL identity: none. */
void cbx_identity_warn(const struct cbx_identity *identity, const struct cbx_policies *policies);

/* A caller as it is configured now, by its principal's name and its credential (claim_grants.h):
 * for what is carried out in its name after its request. One that may do nothing when there is
 * no row of this name and no grant, or no identity (NULL). */
void cbx_identity_caller(const struct cbx_identity *identity, struct cbx_str principal,
                         struct cbx_str credential, struct cbx_caller *out);

/* Something that a caller began. */
struct cbx_begun {
    const char *principal, *credential; /* of the caller (struct cbx_caller) */
    int64_t asked_ms;                   /* when it was asked for, of the wall clock */
};

/* May it still be carried out? The principal has the right, the credential is one that would be
 * accepted now (a token of this gateway that is neither revoked nor expired, a token of an
 * issuer that is configured), and `codebox stop` has not ended it. The expiry of an issuer's
 * token, a matter of minutes, ends nothing that was asked for before. CBX_EFORBIDDEN, with the
 * reason. 0 for a NULL identity, which authenticates no callers. */
int cbx_identity_still(const struct cbx_identity *identity, const struct cbx_begun *begun,
                       enum cbx_right right, struct cbx_err *err);

/* The descriptor that it keeps open; 0 = none. */
int cbx_identity_fd(const struct cbx_identity *identity);

/* Borrowed. */
struct cbx_quotas *cbx_identity_quotas(struct cbx_identity *identity);

/* Whom this value of a header Authorization authenticates, now, and counts nothing. For a
 * process that is told who called, and does not believe it. CBX_EFORBIDDEN, with the reason, for
 * one that authenticates nobody, or a principal without a row; CBX_EBUSY while the issuer's keys
 * are not known. */
int cbx_identity_prove(struct cbx_identity *identity, struct cbx_str authorization,
                       struct cbx_caller *out, struct cbx_err *err);

/* What a request shows. */
struct cbx_credentials {
    struct cbx_str authorization; /* the header's value; {NULL, 0} = not sent */
    bool has_peer; /* it came over a Unix socket, from this user: principal uid:NUMBER, when
                                     principals are configured */
    uid_t peer;
    /* by which the client reached the gateway, "http://127.0.0.1:8000"; NULL = not known */
    const char *origin;
};

/* Why a request is refused. */
struct cbx_auth_refusal {
    int status;       /* 401, 403, 429 or 503 */
    uint32_t retry_s; /* of 429 and 503; 0 = not told */
    char
        challenge[768]; /* the header WWW-Authenticate (RFC 9110, 11.6.1; RFC 6750); empty = none */
    char text[512];     /* for the client: nothing of it helps to guess */
};

/* The caller of a request, at this time of cbx_clock_ms; counts the request. False when it is
 * refused. NULL identity: the caller is the local one. Thread-safe. */
bool cbx_identity_authenticate(struct cbx_identity *identity,
                               const struct cbx_credentials *credentials, int64_t clock_ms,
                               struct cbx_caller *out, struct cbx_auth_refusal *refusal);

/* What GET /.well-known/oauth-protected-resource and the same with /mcp behind it answer (RFC
 * 9728; new reference), of the public URL, else of `origin`, by which the client reached the
 * gateway. NULL without issuers. */
json_t *cbx_identity_metadata(const struct cbx_identity *identity, const char *origin,
                              const char *path);

#endif
