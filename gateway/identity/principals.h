/* SPDX-License-Identifier: MIT
 * The principals and the issuers of tokens that an operator configures, from YAML:
 *
 *   principals:
 *     - {name: ci, policies: [strict], rights: [execute, check], requests-per-minute: 600}
 *     - {name: "corp:*", sessions: 4, cpu-seconds-per-hour: 600}
 *   issuers:
 *     - name: corp
 *       issuer: "https://login.example.com"
 *       audience: "https://codebox.example.com/mcp"
 *       jwks: keys.json
 *       required-claims: {tid: 4f1c}
 *       grants:
 *         - {name: analysts, claims: {groups: sandbox-users}, rights: [execute], policies:
 *           [strict]}
 *
 * A row whose name ends in '*' is about every principal with this beginning, each with quotas of
 * its own. A grant is about the tokens whose claims hold its conditions (claim_conditions.h): it
 * adds rights and policies to the principal's row (claim_grants.h). */
#ifndef CBX_GATEWAY_IDENTITY_PRINCIPALS_H
#define CBX_GATEWAY_IDENTITY_PRINCIPALS_H

#include "gateway/identity/caller.h"
#include "gateway/identity/claim_conditions.h"
#include "gateway/ipc/wire/key_fetch.h"

#include "policies/base/auto.h"
#include "policies/base/hash.h"
#include "policies/load/yaml.h"

enum {
    CBX_PRINCIPALS_MAX = 1000,
    CBX_ISSUERS_MAX = CBX_KEY_SOURCES_MAX,
    CBX_GRANTS_MAX = 64, /* of all issuers together: a bit each (claim_grants.h) */
    CBX_CONDITIONS_MAX = 256
};

/* An issuer of JSON Web Tokens (RFC 7519). */
struct cbx_issuer {
    char name[33];      /* a principal is "NAME:CLAIM" */
    char issuer[513];   /* `iss` */
    char audience[513]; /* one of `aud` */
    char jwks[513];     /* place of its keys (RFC 7517): the path of a file, or a URL (key_url.h) */
    /* for a URL: path of the authorities that certify its server; empty = the system's */
    char ca[513];
    char claim[65]; /* claim whose value names the principal */
    /* for a URL: the hash of name, URL and authorities (identity.h); else zero */
    struct cbx_sha256 source;
    int64_t leeway_s;  /* tolerance for clock differences */
    int64_t refresh_s; /* for a URL: time from one fetch to the next; else 0 */
};

/* The rights of an issuer's tokens with certain claims. */
struct cbx_claim_grant {
    struct cbx_principal gives; /* its name, rights and policies; no quotas */
    int issuer;
};

struct cbx_principals {
    struct cbx_principal *rows;
    size_t count;
    struct cbx_claim_grant *grants;
    size_t grant_count;
    /* of issuers and grants: all conditions of a row must hold */
    struct cbx_condition *conditions;
    size_t condition_count;
    struct cbx_issuer issuers[CBX_ISSUERS_MAX];
    size_t issuer_count;
    /* true if the operator configured principals: a caller without a row is refused */
    bool given;
};

/* Reads a section of the configuration, `principals` or `issuers` by its key, into `out`, which
 * is zeroed before the first (cbx_principals_done, also on failure). CBX_EINVAL with line and
 * column, and the found and the allowed value. */
int cbx_principals_add(struct cbx_principals *out, const struct cbx_yaml *section,
                       struct cbx_err *err);

/* The same check without a result. */
int cbx_principals_check_section(const struct cbx_yaml *section, struct cbx_err *err);
void cbx_principals_done(struct cbx_principals *principals);
CBX_DEFINE_AUTO_DONE(principals)

/* Returns the row of this principal: the row of this name, else the one with the longest
 * matching prefix. Without any rows, a row with the standard rights. NULL: no row. */
const struct cbx_principal *cbx_principals_find(const struct cbx_principals *principals,
                                                const char *name);

/* CBX_ENOTFOUND, with line and column, if a row of the section, or a grant of one, names a
 * policy that is not loaded. The section must be one that cbx_principals_add accepts. */
int cbx_principals_check_policies(const struct cbx_yaml *section,
                                  const struct cbx_policies *policies, struct cbx_err *err);

#endif
