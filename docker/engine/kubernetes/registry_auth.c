/* SPDX-License-Identifier: MIT
 * Authentication at a registry: what its challenge asks for, with the credentials of a Docker
 * configuration file. */
#include "docker/engine/kubernetes/registry_internal.h"

#include "docker/engine/kubernetes/cluster.h"
#include "policies/base/memory.h"
#include "policies/base/text/base64.h"
#include "policies/base/text/json.h"

#include <stdlib.h>
#include <string.h>

enum { CONFIG_MAX = 1024 * 1024, TOKEN_MAX = 64 * 1024 };

/* --- the passes ------------------------------------------------------------------------------- */

static struct cbx_registry_pass *find_pass(const struct cbx_registry *registry,
                                           const struct cbx_reference *at)
{
    for (struct cbx_registry_pass *pass = registry->passes; pass != NULL; pass = pass->next) {
        if (strcmp(pass->host, at->host) == 0 && strcmp(pass->name, at->name) == 0) {
            return pass;
        }
    }
    return NULL;
}

char *cbx_registry_pass(struct cbx_registry *registry, const struct cbx_reference *at)
{
    char *header = NULL;
    pthread_mutex_lock(&registry->lock);
    const struct cbx_registry_pass *pass = find_pass(registry, at);
    if (pass != NULL) {
        header = cbx_str_copy(cbx_str_of(pass->header));
    }
    pthread_mutex_unlock(&registry->lock);
    return header;
}

static void keep_pass(struct cbx_registry *registry, const struct cbx_reference *at, char *header)
{
    pthread_mutex_lock(&registry->lock);
    struct cbx_registry_pass *pass = find_pass(registry, at);
    if (pass == NULL) {
        pass = cbx_new(sizeof(*pass));
        snprintf(pass->host, sizeof(pass->host), "%s", at->host);
        snprintf(pass->name, sizeof(pass->name), "%s", at->name);
        pass->next = registry->passes;
        registry->passes = pass;
    }
    free(pass->header);
    pass->header = header;
    pthread_mutex_unlock(&registry->lock);
}

/* --- the credentials -------------------------------------------------------------------------- */

static int fail_credentials(const struct cbx_registry *registry, const char *why,
                            struct cbx_err *err)
{
    cbx_fail(err, CBX_EENGINE, "the credentials for the registry cannot be used");
    return cbx_err_detail(err, "%.300s: %s", registry->access.credentials, why);
}

/* Appends the Base64 text of "USER:PASSWORD" for a host; nothing if there are no credentials for
 * it. */
static int read_credentials(const struct cbx_registry *registry, const char *host,
                            struct cbx_buf *out, struct cbx_err *err)
{
    CBX_AUTO_MEM char *text = NULL;
    CBX_AUTO_JSON config = NULL;
    CBX_AUTO_DONE(buf) pair;
    struct cbx_err inner = { 0 };
    cbx_buf_init(&pair, TOKEN_MAX);
    if (registry->access.credentials == NULL) {
        return 0;
    }
    int failed = cbx_cluster_file(registry->access.credentials, &text, err);
    if (failed) {
        return failed;
    }
    if (cbx_json_parse(cbx_str_of(text), CONFIG_MAX, &config, &inner) != 0) {
        return fail_credentials(registry, inner.text, err);
    }
    const json_t *entry = json_object_get(json_object_get(config, "auths"), host);
    struct cbx_str auth = cbx_json_str(json_object_get(entry, "auth"));
    struct cbx_str user = cbx_json_str(json_object_get(entry, "username"));
    if (auth.len > 0 && cbx_base64_decode(auth, &pair)) {
        return cbx_buf_add(out, auth);
    }
    if (user.len == 0) {
        return fail_credentials(
            registry, "\"auths\" has no \"auth\" for this registry, and no \"username\"", err);
    }
    cbx_buf_add(&pair, user);
    cbx_buf_add_char(&pair, ':');
    cbx_buf_add(&pair, cbx_json_str(json_object_get(entry, "password")));
    failed = cbx_base64_encode(cbx_buf_str(&pair), out);
    explicit_bzero(pair.p, pair.len);
    return failed;
}

/* *out is the header (owned by the caller), NULL without credentials. */
static int make_basic(const struct cbx_registry *registry, const char *host, char **out,
                      struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) header;
    cbx_buf_init(&header, TOKEN_MAX);
    cbx_buf_add_cstr(&header, "Authorization: Basic ");
    size_t empty = header.len;
    *out = NULL;
    int failed = read_credentials(registry, host, &header, err);
    if (!failed && header.len > empty) {
        *out = cbx_buf_take(&header);
    }
    return failed;
}

/* --- the challenge ---------------------------------------------------------------------------- */

/* Reads the quoted value of a parameter; false if the challenge lacks it. */
static bool read_parameter(const char *challenge, const char *name, char *out, size_t size)
{
    char wanted[32];
    snprintf(wanted, sizeof(wanted), "%s=\"", name);
    const char *at = strcasestr(challenge, wanted);
    if (at == NULL) {
        return false;
    }
    at += strlen(wanted);
    size_t len = strcspn(at, "\"");
    if (at[len] != '"' || len >= size) {
        return false;
    }
    memcpy(out, at, len);
    out[len] = '\0';
    return true;
}

static void add_query(CURL *curl, const char *name, const char *value, struct cbx_buf *url)
{
    char *escaped = curl_easy_escape(curl, value, 0);
    bool first = strchr(url->p, '?') == NULL;
    cbx_buf_printf(url, "%c%s=%s", first ? '?' : '&', name, escaped != NULL ? escaped : "");
    curl_free(escaped);
}

/* A realm is at another host, often; its connection is as safe as the registry's. */
static bool is_safe_realm(const char *realm)
{
    bool plain = strncmp(realm, "http://", 7) == 0 && cbx_registry_is_local(realm + 7);
    return (plain || strncmp(realm, "https://", 8) == 0) && strpbrk(realm, "@#\\ \t") == NULL;
}

int cbx_registry_token_url(const struct cbx_reference *at, const char *challenge,
                           struct cbx_buf *url, struct cbx_err *err)
{
    char realm[1024], service[512], scope[CBX_REPOSITORY_BYTES + 32];
    if (!read_parameter(challenge, "realm", realm, sizeof(realm)) || !is_safe_realm(realm)) {
        cbx_fail(err, CBX_EENGINE,
                 "the registry of the cluster's images asks for authentication "
                 "in a way that is not supported");
        return cbx_err_detail(err, "%s: %.200s", at->host, challenge);
    }
    CURL *curl = curl_easy_init();
    cbx_buf_add_cstr(url, realm);
    if (read_parameter(challenge, "service", service, sizeof(service))) {
        add_query(curl, "service", service, url);
    }
    /* the scope of all calls, not only of the one that was refused */
    snprintf(scope, sizeof(scope), "repository:%s:pull,push,delete", at->name);
    add_query(curl, "scope", scope, url);
    curl_easy_cleanup(curl);
    return 0;
}

static int take_token(struct cbx_registry *registry, const struct cbx_registry_request *request,
                      const struct cbx_registry_reply *reply, struct cbx_err *err)
{
    CBX_AUTO_JSON answer = NULL;
    cbx_json_parse(cbx_buf_str(&reply->body), TOKEN_MAX, &answer, NULL);
    const char *token = json_string_value(json_object_get(answer, "token"));
    if (token == NULL) {
        token = json_string_value(json_object_get(answer, "access_token"));
    }
    if (reply->status != 200 || token == NULL || strpbrk(token, "\r\n") != NULL) {
        return cbx_registry_refused(request, reply, err);
    }
    CBX_AUTO_DONE(buf) header;
    cbx_buf_init(&header, TOKEN_MAX);
    cbx_buf_printf(&header, "Authorization: Bearer %s", token);
    keep_pass(registry, request->at, cbx_buf_take(&header));
    return 0;
}

static int get_token(struct cbx_registry *registry, const struct cbx_reference *at,
                     const char *challenge, const char *basic, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) url;
    CBX_AUTO_DONE(registry_reply) reply = { .status = 0 };
    cbx_buf_init(&url, CBX_REGISTRY_URL_BYTES);
    int failed = cbx_registry_token_url(at, challenge, &url, err);
    if (failed) {
        return failed;
    }
    const struct cbx_registry_request request = {
        .method = "GET", .at = at, .url = url.p, .reply_max = TOKEN_MAX
    };
    failed = cbx_registry_send(registry, &request, basic, &reply, err);
    if (failed) {
        return failed;
    }
    return take_token(registry, &request, &reply, err);
}

int cbx_registry_login(struct cbx_registry *registry, const struct cbx_reference *at,
                       const char *challenge, struct cbx_err *err)
{
    CBX_AUTO_MEM char *basic = NULL;
    int failed = make_basic(registry, at->host, &basic, err);
    if (failed) {
        return failed;
    }
    if (strncasecmp(challenge, "bearer ", 7) == 0) {
        return get_token(registry, at, challenge, basic, err);
    }
    if (strncasecmp(challenge, "basic", 5) != 0 || basic == NULL) {
        cbx_fail(err, CBX_EENGINE, "the registry of the cluster's images asks for credentials");
        return cbx_err_detail(err, "%s: set 'registry-credentials' in the cluster's settings",
                              at->host);
    }
    keep_pass(registry, at, cbx_steal(&basic));
    return 0;
}
