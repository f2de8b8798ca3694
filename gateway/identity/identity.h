/* SPDX-License-Identifier: MIT
 * Authentication: maps bearer tokens of this gateway (tokens.h), tokens of issuers (jwt.h), and
 * the user at the other end of a Unix socket to principals and their quotas. */
#ifndef CBX_GATEWAY_IDENTITY_IDENTITY_H
#define CBX_GATEWAY_IDENTITY_IDENTITY_H

#include "gateway/identity/issuer_keys.h"
#include "gateway/identity/quotas.h"

#include "policies/base/auto.h"
#include "policies/base/buf.h"
#include "policies/load/yaml.h"

#include <sys/types.h>

struct cbx_identity;
struct cbx_stop;

struct cbx_identity_config {
    const char *state_dir;
    bool tries; /* true for a check: creates nothing in the state directory */
    const struct cbx_yaml *principals, *issuers; /* sections of the configuration; NULL = absent */
    const char *folder; /* base folder of relative paths of key files, or NULL */
    /* contents of the file of tokens that several gateways share, which takes the place of the
     * state directory's for finding tokens; p NULL = none */
    struct cbx_str tokens;
    /* URL of this gateway, "https://codebox.example.com", for RFC 9728; NULL = the origin of
     * each request */
    const char *public_url;
};

/* Maximum output of cbx_identity_load. */
enum { CBX_IDENTITY_BYTES_MAX = 16 << 20 };

/* Reads principals, issuers, their files of keys and of authorities, checks them and the shared
 * tokens, and appends all for cbx_identity_replace in a process that may not read files.
 * CBX_EINVAL, with line and column of the configuration; CBX_EPROTO for damaged tokens. */
int cbx_identity_load(const struct cbx_identity_config *config, struct cbx_buf *out,
                      struct cbx_err *err);

/* True if one of these issuers, as cbx_identity_load wrote them, has keys that are fetched. */
bool cbx_identity_fetches(struct cbx_str bytes);

/* Returns the current configuration in this form; borrowed until the next replacement. */
struct cbx_str cbx_identity_bytes(const struct cbx_identity *identity);

/* Replaces the current principals and keys, from the next request on. CBX_EPROTO, and nothing
 * changes. */
int cbx_identity_replace(struct cbx_identity *identity, struct cbx_str bytes, struct cbx_err *err);

/* Reads the configuration, the keys of the issuers and the state directory's file of tokens, which
 * is created for lines of `codebox stop` if callers are configured. *out is NULL, with 0, if there
 * is none of them: callers are not authenticated then. Call it before the process is
 * confined. CBX_EINVAL, CBX_EIO, CBX_EPROTO. */
int cbx_identity_new(const struct cbx_identity_config *config, struct cbx_identity **out,
                     struct cbx_err *err);
void cbx_identity_free(struct cbx_identity *identity);
CBX_DEFINE_AUTO(identity)

/* Returns the number of issuers with a URL, and their sources, for the process that fetches
 * their keys, borrowed until the next replacement. NULL identity: none. */
size_t cbx_identity_sources(const struct cbx_identity *identity,
                            struct cbx_key_source out[CBX_KEY_SOURCES_MAX]);

/* Returns the keys of these issuers; borrowed. NULL identity: NULL. */
struct cbx_issuer_keys *cbx_identity_issuer_keys(const struct cbx_identity *identity);

/* Logs a line for a policy in mode log-only that no principal may use. NULL identity: none. */
void cbx_identity_warn(const struct cbx_identity *identity, const struct cbx_policies *policies);

/* Finds a caller in the current configuration, by its principal's name and its credential
 * (claim_grants.h): for steps in its name after its request. A caller without rights if there is
 * no row of this name and no grant, or no identity (NULL). */
void cbx_identity_caller(const struct cbx_identity *identity, struct cbx_str principal,
                         struct cbx_str credential, struct cbx_caller *out);

/* An operation that a caller began. */
struct cbx_begun {
    const char *principal, *credential; /* of the caller (struct cbx_caller) */
    int64_t asked_ms;                   /* wall clock time of its request */
};

/* Checks that it may still be carried out: the principal has the right, the credential would be
 * accepted now (a token of this gateway that is neither revoked nor expired, a token of a
 * configured issuer), and `codebox stop` has not ended it. The expiry of an issuer's token, a
 * matter of minutes, does not end earlier requests. CBX_EFORBIDDEN, with the reason. 0 for a
 * NULL identity, which authenticates no callers. */
int cbx_identity_still(const struct cbx_identity *identity, const struct cbx_begun *begun,
                       enum cbx_right right, struct cbx_err *err);

/* Ends operations that others began until now (struct cbx_stop in tokens.h), by a line in the
 * state directory's file. The errors of cbx_tokens_stop. */
int cbx_identity_stop(const struct cbx_identity *identity, const char *state_dir,
                      const struct cbx_stop *stop, struct cbx_err *err);

/* Returns its open descriptor; 0 = none. */
int cbx_identity_fd(const struct cbx_identity *identity);

/* Borrowed. */
struct cbx_quotas *cbx_identity_quotas(struct cbx_identity *identity);

/* Finds the principal that this value of a header Authorization authenticates now, without
 * counting a request. For a process that verifies a caller named by another process.
 * CBX_EFORBIDDEN, with the reason, for an invalid value, or a principal without a row; CBX_EBUSY
 * while the issuer's keys are not known. */
int cbx_identity_prove(struct cbx_identity *identity, struct cbx_str authorization,
                       struct cbx_caller *out, struct cbx_err *err);

/* The credentials of a request. */
struct cbx_credentials {
    struct cbx_str authorization; /* the header's value; {NULL, 0} = not sent */
    /* true if it came over a Unix socket, from this user: principal uid:NUMBER, if principals
     * are configured */
    bool has_peer;
    uid_t peer;
    /* origin by which the client reached the gateway, "http://127.0.0.1:8000"; NULL = not known */
    const char *origin;
    /* true if the replica that forwards this request has counted it */
    bool is_counted;
};

/* The response to a refused request. */
struct cbx_auth_refusal {
    int status;       /* 401, 403, 429 or 503 */
    uint32_t retry_s; /* for 429 and 503; 0 = not sent */
    char
        challenge[768]; /* the header WWW-Authenticate (RFC 9110, 11.6.1; RFC 6750); empty = none */
    char text[512];     /* text for the client; it does not help to guess credentials */
};

/* Finds the caller of a request, at this time of cbx_clock_ms; counts the request. False if it
 * is refused. NULL identity: the caller is the local one. Thread-safe. */
bool cbx_identity_authenticate(struct cbx_identity *identity,
                               const struct cbx_credentials *credentials, int64_t clock_ms,
                               struct cbx_caller *out, struct cbx_auth_refusal *refusal);

/* Returns the response to GET /.well-known/oauth-protected-resource and the same path followed
 * by /mcp (RFC 9728; new reference), for the public URL, else for `origin`, by which the client
 * reached the gateway. NULL without issuers. */
json_t *cbx_identity_metadata(const struct cbx_identity *identity, const char *origin,
                              const char *path);

#endif
