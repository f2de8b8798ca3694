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
 * adds rights and policies to those of the principal's row (claim_grants.h). */
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
    char jwks[513]; /* where its keys (RFC 7517) are: the path of a file, or a URL (key_url.h) */
    char ca
        [513]; /* of a URL: path of the authorities that certify its server; empty = the system's */
    char claim[65]; /* whose value names the principal */
    struct cbx_sha256
        source;        /* of a URL: the hash of name, URL and authorities (identity.h); else zero */
    int64_t leeway_s;  /* for clocks that differ */
    int64_t refresh_s; /* of a URL: from one fetch to the next; else 0 */
};

/* What the tokens of an issuer with certain claims give. */
struct cbx_claim_grant {
    struct cbx_principal gives; /* its name, rights and policies; no quotas */
    int issuer;
};

struct cbx_principals {
    struct cbx_principal *rows;
    size_t count;
    struct cbx_claim_grant *grants;
    size_t grant_count;
    struct cbx_condition *conditions; /* of issuers and grants: all of a row must hold */
    size_t condition_count;
    struct cbx_issuer issuers[CBX_ISSUERS_MAX];
    size_t issuer_count;
    bool given; /* the operator configured principals: a caller without a row is refused */
};

/* Reads a section of the configuration, `principals` or `issuers` by its key, into `out`, which
 * is zeroed before the first (cbx_principals_done, also on failure). CBX_EINVAL with line and
 * column: what was found and what is allowed. */
int cbx_principals_add(struct cbx_principals *out, const struct cbx_yaml *section,
                       struct cbx_err *err);

/* The same, for its errors alone. */
int cbx_principals_check_section(const struct cbx_yaml *section, struct cbx_err *err);
void cbx_principals_done(struct cbx_principals *principals);
CBX_DEFINE_AUTO_DONE(principals)

/* The row about this principal: of this name, else the one with the longest beginning. Without
 * any rows, a row with the standard rights. NULL: it has no row. */
const struct cbx_principal *cbx_principals_find(const struct cbx_principals *principals,
                                                const char *name);

/* CBX_ENOTFOUND, with line and column, when a row of the section, or a grant of one, names a
 * policy that is not loaded. The section is one that cbx_principals_add accepts. */
int cbx_principals_check_policies(const struct cbx_yaml *section,
                                  const struct cbx_policies *policies, struct cbx_err *err);

#endif
