/* SPDX-License-Identifier: MIT
 * Authentication. */
#include "gateway/identity/identity.h"

#include "gateway/identity/key_files.h"
#include "gateway/identity/tokens.h"
#include "policies/base/clock.h"
#include "policies/base/log.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What is configured, as it was loaded together. It is never freed before the identity: requests borrow rows. */
struct loaded {
    struct cbx_buf bytes; /* it, as cbx_identity_load writes it */
    struct cbx_principals principals;
    struct cbx_jwks *keys[CBX_ISSUERS_MAX];      /* of each issuer with a file; else NULL */
    struct cbx_str authorities[CBX_ISSUERS_MAX]; /* of each issuer with a URL; in `bytes` */
    struct loaded *before;
};

struct cbx_identity {
    struct loaded *_Atomic loaded;
    struct cbx_issuer_keys *fetched; /* of the issuers with a URL */
    struct cbx_tokens *tokens;
    struct cbx_quotas *quotas;
    char public_url[513];
};

/* --- loading ---------------------------------------------------------------------------------- */

/* Before the principals and the issuers; behind each issuer the length and the text of its file: keys, or the authorities of
 * its URL. The reader is the same program. */
struct head {
    uint64_t principals, issuers;
    uint64_t fetched; /* issuers with a URL */
    uint64_t given;
};

/* What the row's source is known by. A row that is changed in any of these is another source, whose keys are fetched anew. */
static struct cbx_sha256 source_of(const struct cbx_issuer *issuer, struct cbx_str authorities)
{
    CBX_AUTO_DONE(buf) names;
    cbx_buf_init(&names, sizeof(issuer->name) + sizeof(issuer->jwks));
    cbx_buf_add_bytes(&names, issuer->name, strlen(issuer->name) + 1);
    cbx_buf_add_bytes(&names, issuer->jwks, strlen(issuer->jwks) + 1);
    return cbx_sha256_of2(cbx_buf_str(&names), authorities);
}

static int write_row(struct cbx_issuer *issuer, const char *folder, struct cbx_buf *out,
                     struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_KEY_FILE_BYTES_MAX);
    int failed = cbx_key_files_read(issuer, folder, &text, err);
    if (failed) {
        return failed;
    }
    if (issuer->refresh_s > 0) {
        issuer->source = source_of(issuer, cbx_buf_str(&text));
    }
    uint64_t len = text.len;
    cbx_buf_add_bytes(out, issuer, sizeof(*issuer));
    cbx_buf_add_bytes(out, &len, sizeof(len));
    cbx_buf_add(out, cbx_buf_str(&text));
    return 0;
}

int cbx_identity_load(const struct cbx_identity_config *config, struct cbx_buf *out,
                      struct cbx_err *err)
{
    CBX_AUTO_DONE(principals) p = { 0 };
    int failed = config->principals != NULL ? cbx_principals_add(&p, config->principals, err) : 0;
    failed =
        failed || config->issuers == NULL ? failed : cbx_principals_add(&p, config->issuers, err);
    if (failed) {
        return failed;
    }
    struct head head = { .principals = p.count, .issuers = p.issuer_count, .given = p.given };
    for (size_t i = 0; i < p.issuer_count; i++) {
        head.fetched += p.issuers[i].refresh_s > 0;
    }
    cbx_buf_add_bytes(out, &head, sizeof(head));
    cbx_buf_add_bytes(out, p.rows, p.count * sizeof(p.rows[0]));
    for (size_t i = 0; i < p.issuer_count && !failed; i++) {
        failed = write_row(&p.issuers[i], config->folder, out, err);
    }
    return failed          ? failed
           : out->overflow ? cbx_fail(err, CBX_ETOOBIG, "principals and keys are too large")
                           : 0;
}

static bool take(struct cbx_str *rest, void *into, size_t bytes)
{
    if (rest->len < bytes) {
        return false;
    }
    if (bytes > 0) {
        memcpy(into, rest->p, bytes);
    }
    *rest = cbx_str_sub(*rest, bytes, rest->len);
    return true;
}

bool cbx_identity_fetches(struct cbx_str bytes)
{
    struct head head;
    return take(&bytes, &head, sizeof(head)) && head.fetched > 0;
}

static void loaded_free(struct loaded *loaded)
{
    for (size_t i = 0; i < CBX_ISSUERS_MAX; i++) {
        cbx_jwks_free(loaded->keys[i]);
    }
    cbx_principals_done(&loaded->principals);
    cbx_buf_done(&loaded->bytes);
    free(loaded);
}

static bool take_rows(struct cbx_str *rest, struct cbx_principals *p)
{
    struct head head;
    if (!take(rest, &head, sizeof(head)) || head.principals > CBX_PRINCIPALS_MAX ||
        head.issuers > CBX_ISSUERS_MAX) {
        return false;
    }
    p->rows = calloc(head.principals + 1, sizeof(p->rows[0]));
    if (p->rows == NULL) {
        abort();
    }
    p->count = head.principals;
    p->issuer_count = head.issuers;
    p->given = head.given != 0;
    return take(rest, p->rows, p->count * sizeof(p->rows[0]));
}

static bool take_issuer(struct cbx_str *rest, struct loaded *loaded, size_t i)
{
    struct cbx_issuer *issuer = &loaded->principals.issuers[i];
    uint64_t len;
    if (!take(rest, issuer, sizeof(*issuer)) || !take(rest, &len, sizeof(len)) || len > rest->len) {
        return false;
    }
    struct cbx_str text = cbx_str_sub(*rest, 0, len);
    *rest = cbx_str_sub(*rest, len, rest->len);
    if (issuer->refresh_s > 0) {
        loaded->authorities[i] = text;
        return true;
    }
    return cbx_jwks_read(text, &loaded->keys[i], NULL) == 0;
}

static int read_loaded(struct cbx_str bytes, struct loaded **out, struct cbx_err *err)
{
    struct loaded *loaded = calloc(1, sizeof(*loaded));
    if (loaded == NULL) {
        abort();
    }
    cbx_buf_init(&loaded->bytes, bytes.len + 1);
    cbx_buf_add(&loaded->bytes, bytes);
    struct cbx_str rest = cbx_buf_str(&loaded->bytes);
    bool good = take_rows(&rest, &loaded->principals);
    for (size_t i = 0; good && i < loaded->principals.issuer_count; i++) {
        good = take_issuer(&rest, loaded, i);
    }
    if (!good || rest.len > 0) {
        loaded_free(loaded);
        return cbx_fail(err, CBX_EPROTO, "principals and keys are damaged");
    }
    *out = loaded;
    return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

static void configure_fetched(const struct cbx_identity *identity, const struct loaded *loaded)
{
    cbx_issuer_keys_configure(identity->fetched, loaded->principals.issuers,
                              loaded->principals.issuer_count);
}

int cbx_identity_new(const struct cbx_identity_config *config, struct cbx_identity **out,
                     struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) bytes;
    struct loaded *loaded = NULL;
    *out = NULL;
    cbx_buf_init(&bytes, CBX_IDENTITY_BYTES_MAX);
    int failed = cbx_identity_load(config, &bytes, err);
    failed = failed ? failed : read_loaded(cbx_buf_str(&bytes), &loaded, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO(identity) identity = calloc(1, sizeof(*identity));
    if (identity == NULL) {
        abort();
    }
    identity->loaded = loaded;
    identity->fetched = cbx_issuer_keys_new();
    configure_fetched(identity, loaded);
    bool configured = loaded->principals.given || loaded->principals.issuer_count > 0;
    failed = cbx_tokens_open(config->state_dir, configured, &identity->tokens, err);
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
        for (struct loaded *l = identity->loaded, *before; l != NULL; l = before) {
            before = l->before;
            loaded_free(l);
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
    struct loaded *loaded = NULL;
    int failed = read_loaded(bytes, &loaded, err);
    if (!failed) {
        loaded->before = identity->loaded;
        configure_fetched(identity, loaded); /* before a request comes with a row of it */
        identity->loaded = loaded;
    }
    return failed;
}

size_t cbx_identity_sources(const struct cbx_identity *identity,
                            struct cbx_key_source out[CBX_KEY_SOURCES_MAX])
{
    const struct loaded *loaded = identity != NULL ? identity->loaded : NULL;
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

int cbx_identity_check(const struct cbx_identity *identity, const struct cbx_policies *policies,
                       struct cbx_err *err)
{
    if (identity == NULL) {
        return 0;
    }
    warn_of_unused(&identity->loaded->principals, policies);
    return cbx_principals_check(&identity->loaded->principals, policies, err);
}

void cbx_identity_caller(const struct cbx_identity *identity, struct cbx_str principal,
                         struct cbx_caller *out)
{
    *out = (struct cbx_caller){ 0 };
    if (identity != NULL && principal.len < sizeof(out->principal)) {
        snprintf(out->principal, sizeof(out->principal), "%.*s", CBX_STR_ARG(principal));
        out->row = cbx_principals_find(&identity->loaded->principals, out->principal);
    }
}

int cbx_identity_still(const struct cbx_identity *identity, const char *principal,
                       const char *credential, int64_t begun_ms, enum cbx_right right,
                       struct cbx_err *err)
{
    static const struct cbx_str prefix = CBX_STR("token ");
    struct cbx_str shown = cbx_str_of(credential);
    bool is_token = cbx_str_starts(shown, prefix);
    struct cbx_str id = cbx_str_sub(shown, is_token ? prefix.len : shown.len, shown.len);
    struct cbx_caller caller;
    struct cbx_err why = { 0 };
    if (identity == NULL) {
        return 0;
    }
    cbx_identity_caller(identity, cbx_str_of(principal), &caller);
    if (!cbx_caller_may(&caller, right)) {
        return cbx_fail(err, CBX_EFORBIDDEN, "principal '%s' has not the right '%s' any more",
                        principal, cbx_right_name(right));
    }
    int failed =
        identity->tokens != NULL
            ? cbx_tokens_stopped(identity->tokens, cbx_str_of(principal), id, begun_ms, &why)
            : 0;
    if (failed) {
        return cbx_fail(err, CBX_EFORBIDDEN, "%s", why.text);
    }
    if (!is_token) {
        return 0; /* of an issuer, or a user of this machine: it was valid when it was shown */
    }
    bool valid = identity->tokens != NULL &&
                 cbx_tokens_check(identity->tokens, id, cbx_time_ms(), &why) == 0;
    return valid ? 0
                 : cbx_fail(err, CBX_EFORBIDDEN, "%s",
                            why.code != 0 ? why.text : "the token is not valid any more");
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

/* `error` is a code of RFC 6750, section 3.1; NULL for a request that showed nothing, which gets none. */
static bool refuse(const struct cbx_identity *identity, int status, const char *error,
                   const char *text, struct cbx_auth_refusal *out)
{
    *out = (struct cbx_auth_refusal){ .status = status };
    snprintf(out->text, sizeof(out->text), "%s", text);
    if (status == 401) {
        bool metadata =
            identity->loaded->principals.issuer_count > 0 && identity->public_url[0] != '\0';
        snprintf(out->challenge, sizeof(out->challenge), "Bearer realm=\"codebox\"%s%s%s%s%s%s",
                 error != NULL ? ", error=\"" : "", error != NULL ? error : "",
                 error != NULL ? "\"" : "", metadata ? ", resource_metadata=\"" : "",
                 metadata ? identity->public_url : "",
                 metadata ? "/.well-known/oauth-protected-resource/mcp\"" : "");
    }
    return false;
}

/* --- credentials ------------------------------------------------------------------------------ */

static int by_token(struct cbx_identity *identity, struct cbx_str text, struct cbx_caller *out,
                    struct cbx_err *err)
{
    struct cbx_token token;
    int failed = identity->tokens != NULL
                     ? cbx_tokens_find(identity->tokens, text, cbx_time_ms(), &token, err)
                     : cbx_fail(err, CBX_ENOTFOUND, "the token is not valid");
    if (!failed) {
        snprintf(out->principal, sizeof(out->principal), "%s", token.principal);
        snprintf(out->credential, sizeof(out->credential), "token %s", token.id);
    }
    return failed;
}

/* By keys that are fetched. A token that names a key which they lack may be signed by a new one. */
static int verify_by_fetched(const struct cbx_identity *identity, const struct cbx_issuer *issuer,
                             struct cbx_str text, char *principal, struct cbx_err *err)
{
    CBX_AUTO(jwks) keys = NULL;
    CBX_AUTO(jwks) renewed = NULL;
    int failed =
        cbx_issuer_keys_take(identity->fetched, &issuer->source, cbx_clock_ms(), &keys, err);
    if (!failed && cbx_jwt_lacks_key(text, keys)) {
        failed = cbx_issuer_keys_renew(identity->fetched, &issuer->source, cbx_clock_ms(),
                                       CBX_KEYS_WAIT_MS, err);
        failed = failed ? failed
                        : cbx_issuer_keys_take(identity->fetched, &issuer->source, cbx_clock_ms(),
                                               &renewed, err);
    }
    return failed ? cbx_wrap(err, "issuer '%s'", issuer->name)
                  : cbx_jwt_verify(text, issuer, renewed != NULL ? renewed : keys,
                                   cbx_time_ms() / 1000, principal, err);
}

static int by_issuer(const struct cbx_identity *identity, const struct loaded *loaded,
                     struct cbx_str text, struct cbx_caller *out, struct cbx_err *err)
{
    char name[513];
    int failed = cbx_jwt_issuer(text, name, err);
    if (failed) {
        return failed;
    }
    for (size_t i = 0; i < loaded->principals.issuer_count; i++) {
        const struct cbx_issuer *issuer = &loaded->principals.issuers[i];
        if (strcmp(issuer->issuer, name) == 0) {
            snprintf(out->credential, sizeof(out->credential), "issuer %s", issuer->name);
            return loaded->keys[i] == NULL
                       ? verify_by_fetched(identity, issuer, text, out->principal, err)
                       : cbx_jwt_verify(text, issuer, loaded->keys[i], cbx_time_ms() / 1000,
                                        out->principal, err);
        }
    }
    return cbx_fail(err, CBX_ENOTFOUND, "no issuer is called so");
}

/* The text behind "Bearer " (RFC 6750, section 2.1); empty for another scheme or another form. */
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

/* Whoever shows a credential is judged by it alone, also over a Unix socket. */
static int find_caller(struct cbx_identity *identity, const struct loaded *loaded,
                       const struct cbx_credentials *credentials, struct cbx_caller *out,
                       struct cbx_err *err)
{
    struct cbx_str token = bearer_of(credentials->authorization);
    if (credentials->authorization.p == NULL && credentials->has_peer) {
        snprintf(out->principal, sizeof(out->principal), "uid:%u", (unsigned)credentials->peer);
        snprintf(out->credential, sizeof(out->credential), CBX_CREDENTIAL_PEER);
        return 0;
    }
    return token.len == 0 ? cbx_fail(err, CBX_EINVAL, "the header is no bearer token")
           : cbx_str_starts(token, CBX_STR("cbx_")) ? by_token(identity, token, out, err)
                                                    : by_issuer(identity, loaded, token, out, err);
}

int cbx_identity_prove(struct cbx_identity *identity, struct cbx_str authorization,
                       struct cbx_caller *out, struct cbx_err *err)
{
    const struct loaded *loaded = identity->loaded;
    const struct cbx_credentials credentials = { .authorization = authorization };
    struct cbx_err why = { 0 };
    *out = (struct cbx_caller){ 0 };
    int failed = find_caller(identity, loaded, &credentials, out, &why);
    if (failed) {
        *out = (struct cbx_caller){ 0 };
        *err = why;
        return failed == CBX_EBUSY ? CBX_EBUSY
                                   : cbx_fail(err, CBX_EFORBIDDEN, "the credential: %s", why.text);
    }
    out->row = cbx_principals_find(&loaded->principals, out->principal);
    return out->row != NULL ? 0
                            : cbx_fail(err, CBX_EFORBIDDEN,
                                       "principal '%s' may not use this gateway", out->principal);
}

static bool refuse_credential(const struct cbx_identity *identity, int failed,
                              const struct cbx_err *err, struct cbx_auth_refusal *refusal)
{
    bool broken = failed == CBX_EIO || failed == CBX_EPROTO, busy = failed == CBX_EBUSY;
    static struct cbx_log_rate rates[CBX_LOG_INFO + 1];
    enum cbx_log_level level = broken ? CBX_LOG_ERROR : busy ? CBX_LOG_WARNING : CBX_LOG_INFO;
    cbx_log_limited(&rates[level], level, "a credential is refused: %s",
                    cbx_err_full(err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    if (broken) {
        return refuse(identity, 503, NULL, "no token can be verified now", refusal);
    }
    if (busy) {
        refuse(identity, 503, NULL, "tokens of this issuer cannot be verified now; try again later",
               refusal);
        refusal->retry_s = err->retry_s;
        return false;
    }
    return refuse(identity, 401, "invalid_token", "the token is not valid", refusal);
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
    const struct loaded *loaded = identity->loaded; /* one of them for all of the request */
    *out = (struct cbx_caller){ 0 };
    bool by_peer = credentials->has_peer && loaded->principals.given;
    if (credentials->authorization.p == NULL && !by_peer) {
        return refuse(identity, 401, NULL,
                      "this gateway needs a token: send it as 'Authorization: Bearer TOKEN'",
                      refusal);
    }
    int failed = find_caller(identity, loaded, credentials, out, &err);
    if (failed) {
        return refuse_credential(identity, failed, &err, refusal);
    }
    const struct cbx_principal *row = cbx_principals_find(&loaded->principals, out->principal);
    if (row == NULL) {
        cbx_log(CBX_LOG_INFO,
                "principal '%s' (%s) is refused: the configuration has none of this "
                "name",
                out->principal, out->credential);
        return refuse(identity, 403, NULL, "this principal may not use this gateway", refusal);
    }
    out->row = row;
    if (cbx_quotas_request(identity->quotas, out, clock_ms, &err) != 0) {
        refuse(identity, 429, NULL, err.text, refusal);
        refusal->retry_s = err.retry_s;
        *out = (struct cbx_caller){ 0 };
        return false;
    }
    return true;
}

json_t *cbx_identity_metadata(const struct cbx_identity *identity, const char *path)
{
    const struct loaded *loaded = identity != NULL ? identity->loaded : NULL;
    if (loaded == NULL || loaded->principals.issuer_count == 0 || identity->public_url[0] == '\0') {
        return NULL;
    }
    json_t *issuers = json_array();
    for (size_t i = 0; i < loaded->principals.issuer_count; i++) {
        json_array_append_new(issuers, json_string(loaded->principals.issuers[i].issuer));
    }
    return json_pack("{s:o,s:o,s:[s],s:s}", "resource",
                     json_sprintf("%s%s", identity->public_url, path), "authorization_servers",
                     issuers, "bearer_methods_supported", "header", "resource_name", "codebox");
}
