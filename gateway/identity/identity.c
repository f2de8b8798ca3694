/* SPDX-License-Identifier: MIT
 * Authentication. */
#include "gateway/identity/identity.h"

#include "gateway/identity/loaded.h"
#include "gateway/identity/tokens.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct cbx_identity {
    struct cbx_loaded *_Atomic loaded;
    struct cbx_issuer_keys *fetched; /* keys of the issuers with a URL */
    struct cbx_tokens *tokens; /* the state directory's file, which has the stops in any case */
    struct cbx_quotas *quotas;
    char public_url[513];
};

/* --- life ------------------------------------------------------------------------------------- */

static void configure_fetched(const struct cbx_identity *identity, const struct cbx_loaded *loaded)
{
    cbx_issuer_keys_configure(identity->fetched, loaded->principals.issuers,
                              loaded->principals.issuer_count);
}

int cbx_identity_new(const struct cbx_identity_config *config, struct cbx_identity **out,
                     struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) bytes;
    struct cbx_loaded *loaded = NULL;
    *out = NULL;
    cbx_buf_init(&bytes, CBX_IDENTITY_BYTES_MAX);
    int failed = cbx_identity_load(config, &bytes, err);
    if (failed) {
        return failed;
    }
    failed = cbx_loaded_read(cbx_buf_str(&bytes), &loaded, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO(identity) identity = cbx_new(sizeof(*identity));
    identity->loaded = loaded;
    identity->fetched = cbx_issuer_keys_new();
    configure_fetched(identity, loaded);
    bool configured =
        loaded->principals.given || loaded->principals.issuer_count > 0 || loaded->tokens != NULL;
    if (config->tries) {
        failed = cbx_tokens_try(config->state_dir, &identity->tokens, err);
    } else {
        failed = cbx_tokens_open(config->state_dir, configured, &identity->tokens, err);
    }
    if (failed || (!configured && identity->tokens == NULL)) {
        return failed;
    }
    identity->quotas = cbx_quotas_new();
    snprintf(identity->public_url, sizeof(identity->public_url), "%s",
             config->public_url != NULL ? config->public_url : "");
    *out = cbx_steal(&identity);
    return 0;
}

void cbx_identity_free(struct cbx_identity *identity)
{
    if (identity != NULL) {
        for (struct cbx_loaded *l = identity->loaded, *before; l != NULL; l = before) {
            before = l->before;
            cbx_loaded_free(l);
        }
        cbx_issuer_keys_free(identity->fetched);
        cbx_tokens_free(identity->tokens);
        cbx_quotas_free(identity->quotas);
        free(identity);
    }
}

struct cbx_str cbx_identity_bytes(const struct cbx_identity *identity)
{
    return cbx_buf_str(&identity->loaded->bytes);
}

int cbx_identity_replace(struct cbx_identity *identity, struct cbx_str bytes, struct cbx_err *err)
{
    struct cbx_loaded *loaded = NULL;
    int failed = cbx_loaded_read(bytes, &loaded, err);
    if (!failed) {
        loaded->before = identity->loaded;
        /* makes the buckets before a request with one of its rows arrives */
        configure_fetched(identity, loaded);
        identity->loaded = loaded;
    }
    return failed;
}

size_t cbx_identity_sources(const struct cbx_identity *identity,
                            struct cbx_key_source out[CBX_KEY_SOURCES_MAX])
{
    const struct cbx_loaded *loaded = identity != NULL ? identity->loaded : NULL;
    size_t count = 0;
    for (size_t i = 0; loaded != NULL && i < loaded->principals.issuer_count; i++) {
        const struct cbx_issuer *issuer = &loaded->principals.issuers[i];
        if (issuer->refresh_s > 0) {
            out[count++] = (struct cbx_key_source){ .id = issuer->source,
                                                    .url = issuer->jwks,
                                                    .authorities = loaded->authorities[i] };
        }
    }
    return count;
}

struct cbx_issuer_keys *cbx_identity_issuer_keys(const struct cbx_identity *identity)
{
    return identity != NULL ? identity->fetched : NULL;
}

/* Warns when a loaded policy is in mode log-only and no principal has the right to use it. */
static void warn_of_unused(const struct cbx_principals *principals,
                           const struct cbx_policies *policies)
{
    bool relaxes = false;
    for (size_t i = 0; i < principals->count; i++) {
        relaxes |= (principals->rows[i].rights >> CBX_RIGHT_POLICY_RELAX & 1) != 0;
    }
    for (size_t i = 0; i < principals->grant_count; i++) {
        relaxes |= (principals->grants[i].gives.rights >> CBX_RIGHT_POLICY_RELAX & 1) != 0;
    }
    for (size_t i = 0; i < policies->count && !relaxes; i++) {
        if (policies->items[i]->log_only) {
            cbx_log(CBX_LOG_WARNING,
                    "policy '%.*s' is in mode log-only, and no principal has the right '%s': "
                    "nobody can use it",
                    CBX_STR_SHOWN(policies->items[i]->name),
                    cbx_right_name(CBX_RIGHT_POLICY_RELAX));
        }
    }
}

void cbx_identity_warn(const struct cbx_identity *identity, const struct cbx_policies *policies)
{
    if (identity != NULL) {
        warn_of_unused(&identity->loaded->principals, policies);
    }
}

static bool has_grants(const struct cbx_principals *all, int issuer)
{
    for (size_t i = 0; i < all->grant_count; i++) {
        if (all->grants[i].issuer == issuer) {
            return true;
        }
    }
    return false;
}

/* Finds the row of a caller with this name and credential. If an issuer has grants, they are
 * required: without `principals` a token without any grant has no row. */
static int find_row(const struct cbx_loaded *loaded, struct cbx_caller *caller, struct cbx_err *err)
{
    const struct cbx_principals *all = &loaded->principals;
    uint64_t grants;
    int issuer = cbx_claim_grants_read(all, cbx_str_of(caller->credential), &grants);
    const struct cbx_principal *base = NULL;
    if (all->given || !has_grants(all, issuer)) {
        base = cbx_principals_find(all, caller->principal);
    }
    return cbx_granted_row(loaded->granted, all, base, grants, &caller->row, err);
}

void cbx_identity_caller(const struct cbx_identity *identity, struct cbx_str principal,
                         struct cbx_str credential, struct cbx_caller *out)
{
    struct cbx_err err;
    *out = (struct cbx_caller){ 0 };
    if (identity == NULL || principal.len >= sizeof(out->principal) ||
        credential.len >= sizeof(out->credential)) {
        return;
    }
    snprintf(out->principal, sizeof(out->principal), "%.*s", CBX_STR_ARG(principal));
    snprintf(out->credential, sizeof(out->credential), "%.*s", CBX_STR_ARG(credential));
    if (find_row(identity->loaded, out, &err) != 0) {
        out->row = NULL;
    }
}

/* Returns the set in which tokens are found; NULL = none. */
static struct cbx_tokens *tokens_of(const struct cbx_identity *identity,
                                    const struct cbx_loaded *loaded)
{
    return loaded->tokens != NULL ? loaded->tokens : identity->tokens;
}

/* Checks that the credential of an earlier request would be accepted now. */
static int check_credential(const struct cbx_identity *identity, const struct cbx_begun *begun,
                            struct cbx_err *err)
{
    static const struct cbx_str token = CBX_STR("token "), of_issuer = CBX_STR("issuer ");
    struct cbx_str shown = cbx_str_of(begun->credential);
    struct cbx_err why = { 0 };
    uint64_t grants;
    if (cbx_str_starts(shown, token)) {
        struct cbx_str id = cbx_str_sub(shown, token.len, shown.len);
        struct cbx_tokens *tokens = tokens_of(identity, identity->loaded);
        bool valid = tokens != NULL && cbx_tokens_check(tokens, id, cbx_time_ms(), &why) == 0;
        if (!valid) {
            return cbx_fail(err, CBX_EFORBIDDEN, "%s",
                            why.code != 0 ? why.text : "the token is not valid any more");
        }
        return 0;
    }
    if (!cbx_str_starts(shown, of_issuer)) {
        return 0; /* the user at the other end of a Unix socket */
    }
    if (cbx_claim_grants_read(&identity->loaded->principals, shown, &grants) < 0) {
        return cbx_fail(err, CBX_EFORBIDDEN, "the issuer of the token is not configured any more");
    }
    return 0;
}

static int check_stopped(const struct cbx_identity *identity, const struct cbx_begun *begun,
                         struct cbx_err *err)
{
    static const struct cbx_str token = CBX_STR("token ");
    struct cbx_str shown = cbx_str_of(begun->credential);
    size_t from = cbx_str_starts(shown, token) ? token.len : shown.len;
    const struct cbx_loaded *loaded = identity->loaded;
    struct cbx_tokens *const sets[] = { identity->tokens, loaded->tokens };
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        struct cbx_err why = { 0 };
        int failed = 0;
        if (sets[i] != NULL) {
            failed = cbx_tokens_stopped(sets[i], cbx_str_of(begun->principal),
                                        cbx_str_sub(shown, from, shown.len), begun->asked_ms, &why);
        }
        if (failed) {
            return cbx_fail(err, CBX_EFORBIDDEN, "%s", why.text);
        }
    }
    return 0;
}

int cbx_identity_still(const struct cbx_identity *identity, const struct cbx_begun *begun,
                       enum cbx_right right, struct cbx_err *err)
{
    struct cbx_caller caller;
    if (identity == NULL) {
        return 0;
    }
    cbx_identity_caller(identity, cbx_str_of(begun->principal), cbx_str_of(begun->credential),
                        &caller);
    if (!cbx_caller_may(&caller, right)) {
        return cbx_fail(err, CBX_EFORBIDDEN, "principal '%s' has not the right '%s' any more",
                        begun->principal, cbx_right_name(right));
    }
    int failed = check_stopped(identity, begun, err);
    if (failed) {
        return failed;
    }
    return check_credential(identity, begun, err);
}

int cbx_identity_stop(const struct cbx_identity *identity, const char *state_dir,
                      const struct cbx_stop *stop, struct cbx_err *err)
{
    const struct cbx_loaded *loaded = identity->loaded;
    return cbx_tokens_stop(state_dir, stop, loaded->tokens, err);
}

int cbx_identity_fd(const struct cbx_identity *identity)
{
    return identity != NULL && identity->tokens != NULL ? cbx_tokens_fd(identity->tokens) : 0;
}

struct cbx_quotas *cbx_identity_quotas(struct cbx_identity *identity)
{
    return identity != NULL ? identity->quotas : NULL;
}

/* --- refusing --------------------------------------------------------------------------------- */

/* Returns the origin by which clients reach the gateway: the configured one, else the one that
 * the client used. */
static const char *origin_of(const struct cbx_identity *identity, const char *asked)
{
    if (identity->public_url[0] != '\0') {
        return identity->public_url;
    }
    return asked != NULL ? asked : "";
}

/* `error` is a code of RFC 6750, section 3.1; NULL for a request without a credential, which
 * gets none. */
static void challenge(const struct cbx_identity *identity, const char *error, const char *asked,
                      struct cbx_auth_refusal *out)
{
    const char *origin = origin_of(identity, asked);
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, sizeof(out->challenge));
    cbx_buf_add_cstr(&text, "Bearer realm=\"codebox\"");
    if (error != NULL) {
        cbx_buf_printf(&text, ", error=\"%s\"", error);
    }
    if (identity->loaded->principals.issuer_count > 0 && origin[0] != '\0') {
        cbx_buf_printf(&text, ", resource_metadata=\"%s/.well-known/oauth-protected-resource/mcp\"",
                       origin);
    }
    snprintf(out->challenge, sizeof(out->challenge), "%s", text.p);
}

static bool refuse(int status, const char *text, struct cbx_auth_refusal *out)
{
    *out = (struct cbx_auth_refusal){ .status = status };
    snprintf(out->text, sizeof(out->text), "%s", text);
    return false;
}

/* --- credentials ------------------------------------------------------------------------------ */

static int by_token(const struct cbx_identity *identity, const struct cbx_loaded *loaded,
                    struct cbx_str text, struct cbx_caller *out, struct cbx_err *err)
{
    struct cbx_tokens *tokens = tokens_of(identity, loaded);
    struct cbx_token token;
    int failed;
    if (tokens != NULL) {
        failed = cbx_tokens_find(tokens, text, cbx_time_ms(), &token, err);
    } else {
        failed = cbx_fail(err, CBX_ENOTFOUND, "the token is not valid");
    }
    if (!failed) {
        snprintf(out->principal, sizeof(out->principal), "%s", token.principal);
        snprintf(out->credential, sizeof(out->credential), "token %s", token.id);
    }
    return failed;
}

/* Takes a reference to the keys of an issuer with a URL, renewed if the token names a key that
 * they lack: a new key may have signed it. */
static int take_fetched(const struct cbx_identity *identity, const struct cbx_issuer *issuer,
                        struct cbx_str text, struct cbx_jwks **out, struct cbx_err *err)
{
    CBX_AUTO(jwks) keys = NULL;
    int failed =
        cbx_issuer_keys_take(identity->fetched, &issuer->source, cbx_clock_ms(), &keys, err);
    if (failed) {
        return failed;
    }
    if (!cbx_jwt_lacks_key(text, keys)) {
        *out = cbx_steal(&keys);
        return 0;
    }
    failed = cbx_issuer_keys_renew(identity->fetched, &issuer->source, cbx_clock_ms(),
                                   CBX_KEYS_WAIT_MS, err);
    if (failed) {
        return failed;
    }
    return cbx_issuer_keys_take(identity->fetched, &issuer->source, cbx_clock_ms(), out, err);
}

static int take_keys(const struct cbx_identity *identity, const struct cbx_loaded *loaded,
                     size_t issuer, struct cbx_str text, struct cbx_jwks **out, struct cbx_err *err)
{
    const struct cbx_issuer *row = &loaded->principals.issuers[issuer];
    if (loaded->keys[issuer] != NULL) {
        *out = cbx_jwks_ref(loaded->keys[issuer]);
        return 0;
    }
    if (take_fetched(identity, row, text, out, err) != 0) {
        return cbx_wrap(err, "issuer '%s'", row->name);
    }
    return 0;
}

static int verify_by(const struct cbx_identity *identity, const struct cbx_loaded *loaded,
                     size_t issuer, struct cbx_str text, struct cbx_caller *out,
                     struct cbx_err *err)
{
    const struct cbx_principals *all = &loaded->principals;
    CBX_AUTO(jwks) keys = NULL;
    CBX_AUTO_DONE(jwt) jwt = { 0 };
    int failed = take_keys(identity, loaded, issuer, text, &keys, err);
    if (failed) {
        return failed;
    }
    failed = cbx_jwt_verify(text, &all->issuers[issuer], keys, cbx_time_ms() / 1000, &jwt, err);
    if (failed) {
        return failed;
    }
    failed = cbx_claim_grants_require(all, issuer, jwt.claims, err);
    if (failed) {
        return failed;
    }
    snprintf(out->principal, sizeof(out->principal), "%s", jwt.principal);
    return cbx_claim_grants_write(all, issuer, cbx_claim_grants_match(all, issuer, jwt.claims),
                                  out->credential, err);
}

static int by_issuer(const struct cbx_identity *identity, const struct cbx_loaded *loaded,
                     struct cbx_str text, struct cbx_caller *out, struct cbx_err *err)
{
    char name[513];
    int failed = cbx_jwt_issuer(text, name, err);
    if (failed) {
        return failed;
    }
    for (size_t i = 0; i < loaded->principals.issuer_count; i++) {
        if (strcmp(loaded->principals.issuers[i].issuer, name) == 0) {
            return verify_by(identity, loaded, i, text, out, err);
        }
    }
    return cbx_fail(err, CBX_ENOTFOUND, "no issuer is called so");
}

/* Returns the text after "Bearer " (RFC 6750, section 2.1); empty for another scheme or format. */
static struct cbx_str bearer_of(struct cbx_str header)
{
    static const char scheme[] = "Bearer ";
    size_t len = strlen(scheme), end = header.len;
    bool good = header.len > len && strncasecmp(header.p, scheme, len) == 0;
    for (size_t i = len; good && i < end; i++) {
        char c = header.p[i], low = (char)(c | 32);
        good = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') ||
               (c != '\0' && strchr("-._~+/=", c) != NULL);
    }
    return good ? cbx_str_sub(header, len, end) : CBX_STR("");
}

/* A credential alone identifies its caller, also over a Unix socket. */
static int find_caller(struct cbx_identity *identity, const struct cbx_loaded *loaded,
                       const struct cbx_credentials *credentials, struct cbx_caller *out,
                       struct cbx_err *err)
{
    struct cbx_str token = bearer_of(credentials->authorization);
    if (credentials->authorization.p == NULL && credentials->has_peer) {
        snprintf(out->principal, sizeof(out->principal), "uid:%u", (unsigned)credentials->peer);
        snprintf(out->credential, sizeof(out->credential), CBX_CREDENTIAL_PEER);
        return 0;
    }
    if (token.len == 0) {
        return cbx_fail(err, CBX_EINVAL, "the header is no bearer token");
    }
    if (cbx_str_starts(token, CBX_STR("cbx_"))) {
        return by_token(identity, loaded, token, out, err);
    }
    return by_issuer(identity, loaded, token, out, err);
}

int cbx_identity_prove(struct cbx_identity *identity, struct cbx_str authorization,
                       struct cbx_caller *out, struct cbx_err *err)
{
    const struct cbx_loaded *loaded = identity->loaded;
    const struct cbx_credentials credentials = { .authorization = authorization };
    struct cbx_err why = { 0 };
    *out = (struct cbx_caller){ 0 };
    int failed = find_caller(identity, loaded, &credentials, out, &why);
    if (failed) {
        *out = (struct cbx_caller){ 0 };
        if (failed == CBX_EBUSY && err != NULL) {
            *err = why;
        }
        if (failed == CBX_EBUSY) {
            return CBX_EBUSY;
        }
        return cbx_fail(err, CBX_EFORBIDDEN, "the credential: %s", why.text);
    }
    failed = find_row(loaded, out, err);
    if (failed) {
        return failed;
    }
    if (out->row == NULL) {
        return cbx_fail(err, CBX_EFORBIDDEN, "principal '%s' may not use this gateway",
                        out->principal);
    }
    return 0;
}

static bool refuse_credential(const struct cbx_identity *identity, const char *origin, int failed,
                              const struct cbx_err *err, struct cbx_auth_refusal *refusal)
{
    bool broken = failed == CBX_EIO || failed == CBX_EPROTO, busy = failed == CBX_EBUSY;
    static struct cbx_log_rate rates[CBX_LOG_INFO + 1];
    enum cbx_log_level level = broken ? CBX_LOG_ERROR : busy ? CBX_LOG_WARNING : CBX_LOG_INFO;
    cbx_log_limited(&rates[level], level, "a credential is refused: %s",
                    cbx_err_full(err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    if (broken) {
        return refuse(503, "no token can be verified now", refusal);
    }
    if (busy) {
        refuse(503, "tokens of this issuer cannot be verified now; try again later", refusal);
        refusal->retry_s = err->retry_s;
        return false;
    }
    refuse(401, "the token is not valid", refusal);
    challenge(identity, "invalid_token", origin, refusal);
    return false;
}

/* The log's text about a caller without a row is not for the caller. */
static bool refuse_caller(const struct cbx_caller *caller, int failed, const struct cbx_err *err,
                          struct cbx_auth_refusal *refusal)
{
    cbx_log(CBX_LOG_INFO, "principal '%s' (%s) is refused: %s", caller->principal,
            caller->credential,
            failed ? err->text : "the configuration has no row of this name, and no grant for it");
    return refuse(403, "this principal may not use this gateway", refusal);
}

bool cbx_identity_authenticate(struct cbx_identity *identity,
                               const struct cbx_credentials *credentials, int64_t clock_ms,
                               struct cbx_caller *out, struct cbx_auth_refusal *refusal)
{
    struct cbx_err err = { 0 };
    if (identity == NULL) {
        *out = *cbx_caller_local();
        return true;
    }
    /* the same one for all of the request */
    const struct cbx_loaded *loaded = identity->loaded;
    struct cbx_caller caller = { 0 };
    *out = caller;
    bool by_peer = credentials->has_peer && loaded->principals.given;
    if (credentials->authorization.p == NULL && !by_peer) {
        refuse(401, "this gateway needs a token: send it as 'Authorization: Bearer TOKEN'",
               refusal);
        challenge(identity, NULL, credentials->origin, refusal);
        return false;
    }
    int failed = find_caller(identity, loaded, credentials, &caller, &err);
    if (failed) {
        return refuse_credential(identity, credentials->origin, failed, &err, refusal);
    }
    failed = find_row(loaded, &caller, &err);
    if (failed || caller.row == NULL) {
        return refuse_caller(&caller, failed, &err, refusal);
    }
    if (!credentials->is_counted &&
        cbx_quotas_request(identity->quotas, &caller, clock_ms, &err) != 0) {
        refuse(429, err.text, refusal);
        refusal->retry_s = err.retry_s;
        return false;
    }
    *out = caller;
    return true;
}

json_t *cbx_identity_metadata(const struct cbx_identity *identity, const char *asked,
                              const char *path)
{
    const struct cbx_loaded *loaded = identity != NULL ? identity->loaded : NULL;
    const char *origin = identity != NULL ? origin_of(identity, asked) : "";
    if (loaded == NULL || loaded->principals.issuer_count == 0 || origin[0] == '\0') {
        return NULL;
    }
    json_t *issuers = json_array();
    for (size_t i = 0; i < loaded->principals.issuer_count; i++) {
        json_array_append_new(issuers, json_string(loaded->principals.issuers[i].issuer));
    }
    return json_pack("{s:o,s:o,s:[s],s:s}", "resource", json_sprintf("%s%s", origin, path),
                     "authorization_servers", issuers, "bearer_methods_supported", "header",
                     "resource_name", "codebox");
}
