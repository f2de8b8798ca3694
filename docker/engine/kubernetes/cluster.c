/* SPDX-License-Identifier: MIT
 * Reads kubeconfig and the settings file. Both are YAML; their scalars stay text. */
#include "docker/engine/kubernetes/cluster.h"

#include "policies/base/buf.h"
#include "policies/base/memory.h"
#include "policies/base/text/base64.h"
#include "policies/base/text/json.h"
#include "policies/load/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 1024 * 1024, YAML_DEPTH = 16, ARENA_MAX = 32 * 1024 * 1024 };
enum { START_S = 60, START_MAX_S = 3600 };

static int refuse(struct cbx_err *err, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int refuse(struct cbx_err *err, const char *path, const char *format, ...)
{
    char reason[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    cbx_fail(err, CBX_EENGINE, "the connection to the cluster is not set up");
    cbx_err_detail(err, "%s: %s", path, reason);
    return CBX_EENGINE;
}

int cbx_cluster_file(const char *path, char **out, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, FILE_MAX);
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;
    char chunk[8192];
    while (fd >= 0 && (n = read(fd, chunk, sizeof(chunk))) > 0) {
        if (cbx_buf_add_bytes(&bytes, chunk, (size_t)n) != 0) {
            return refuse(err, path, "the file has more than %d bytes", FILE_MAX);
        }
    }
    if (n < 0) {
        return refuse(err, path, "%s", strerror(errno));
    }
    *out = cbx_buf_take(&bytes);
    return 0;
}

void cbx_cluster_done(struct cbx_cluster *c)
{
    struct cbx_cluster_pods *p = &c->pods;
    char *const texts[] = { c->server,
                            c->ca,
                            c->certificate,
                            c->key,
                            c->token,
                            c->token_file,
                            c->namespace,
                            p->seccomp_profile,
                            p->pull_policy,
                            p->priority_class,
                            p->registry_credentials,
                            p->registry_ca,
                            p->images_file,
                            p->installer_runtime };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        free(texts[i]);
    }
    json_decref(p->node_selector);
    json_decref(p->tolerations);
    json_decref(p->pull_secrets);
    json_decref(p->images);
    *c = (struct cbx_cluster){ .server = NULL };
}

/* --- paths ------------------------------------------------------------------------------------ */

static void choose_kubeconfig(char *out, size_t size)
{
    const char *given = getenv("KUBECONFIG"), *home = getenv("HOME");
    if (given != NULL && given[0] != '\0') {
        snprintf(out, size, "%s", given);
    } else if (getenv("KUBERNETES_SERVICE_HOST") != NULL) {
        out[0] = '\0';
    } else {
        snprintf(out, size, "%s/.kube/config", home != NULL ? home : "");
    }
}

bool cbx_cluster_paths(const char *host, struct cbx_cluster_paths *out)
{
    *out = (struct cbx_cluster_paths){ .kubeconfig = "" };
    if (strncmp(host, CBX_CLUSTER_SCHEME, strlen(CBX_CLUSTER_SCHEME)) != 0) {
        return false;
    }
    struct cbx_str rest = cbx_str_of(host + strlen(CBX_CLUSTER_SCHEME));
    const char *colon = rest.len > 0 ? memchr(rest.p, ':', rest.len) : NULL;
    size_t first = colon != NULL ? (size_t)(colon - rest.p) : rest.len;
    size_t second = colon != NULL ? rest.len - first - 1 : 0;
    if (first >= CBX_CLUSTER_PATH_BYTES || second >= CBX_CLUSTER_PATH_BYTES ||
        (colon != NULL && strchr(colon + 1, ':') != NULL)) {
        return false;
    }
    memcpy(out->kubeconfig, rest.p, first);
    if (colon != NULL) {
        memcpy(out->settings, colon + 1, second);
    }
    if (out->kubeconfig[0] == '\0') {
        choose_kubeconfig(out->kubeconfig, sizeof(out->kubeconfig));
    }
    return true;
}

/* --- YAML ------------------------------------------------------------------------------------- */

static json_t *to_json(const struct cbx_yaml *node)
{
    if (node->kind == CBX_YAML_SCALAR) {
        return cbx_json_text(node->text);
    }
    json_t *value = node->kind == CBX_YAML_SEQUENCE ? json_array() : json_object();
    for (const struct cbx_yaml *child = node->first; child != NULL; child = child->next) {
        if (node->kind == CBX_YAML_SEQUENCE) {
            json_array_append_new(value, to_json(child));
        } else {
            CBX_AUTO_MEM char *key = cbx_str_copy(child->key);
            json_object_set_new(value, key, to_json(child));
        }
    }
    return value;
}

/* Reads a YAML file as JSON whose scalars are strings (new reference). */
static int read_yaml(const char *path, json_t **out, struct cbx_err *err)
{
    CBX_AUTO_MEM char *text = NULL;
    int failed = cbx_cluster_file(path, &text, err);
    if (failed) {
        return failed;
    }
    struct cbx_err inner = { 0 };
    struct cbx_yaml *root = NULL;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, ARENA_MAX);
    if (cbx_yaml_parse(cbx_str_of(text), YAML_DEPTH, &arena, &root, &inner) != 0) {
        return refuse(err, path, "line %u: %s", inner.line, inner.text);
    }
    if (root == NULL || root->kind != CBX_YAML_MAPPING) {
        return refuse(err, path, "the file has no mapping");
    }
    *out = to_json(root);
    return 0;
}

/* A text member of an object, copied; NULL if there is none, or it is empty. */
static char *copy_member(const json_t *object, const char *name)
{
    struct cbx_str text = cbx_json_str(json_object_get(object, name));
    return text.len > 0 ? cbx_str_copy(text) : NULL;
}

/* --- kubeconfig ------------------------------------------------------------------------------- */

/* The member `kind` of the entry with this name in a list [{name, KIND: {...}}]. */
static const json_t *find_named(const json_t *root, const char *list, const char *kind,
                                struct cbx_str name)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(root, list), i, entry)
    {
        if (cbx_str_equal(cbx_json_str(json_object_get(entry, "name")), name)) {
            return json_object_get(entry, kind);
        }
    }
    return NULL;
}

/* Paths in a kubeconfig are relative to its folder. */
static char *resolve(const char *kubeconfig, const char *path)
{
    const char *slash = strrchr(kubeconfig, '/');
    if (path[0] == '/' || slash == NULL) {
        return cbx_str_copy(cbx_str_of(path));
    }
    CBX_AUTO_DONE(buf) full;
    cbx_buf_init(&full, 8192);
    cbx_buf_printf(&full, "%.*s/%s", (int)(slash - kubeconfig), kubeconfig, path);
    return cbx_buf_take(&full);
}

/* Reads a member NAME (a path) or NAME-data (Base64) into *out; neither: *out stays NULL. */
static int read_pem(const char *kubeconfig, const json_t *object, const char *name, char **out,
                    struct cbx_err *err)
{
    char data_name[64];
    snprintf(data_name, sizeof(data_name), "%s-data", name);
    struct cbx_str data = cbx_json_str(json_object_get(object, data_name));
    CBX_AUTO_MEM char *path = copy_member(object, name);
    if (data.len > 0) {
        CBX_AUTO_DONE(buf) pem;
        cbx_buf_init(&pem, FILE_MAX);
        if (!cbx_base64_decode(data, &pem)) {
            return refuse(err, kubeconfig, "'%s' is not Base64", data_name);
        }
        *out = cbx_buf_take(&pem);
        return 0;
    }
    if (path == NULL) {
        return 0;
    }
    CBX_AUTO_MEM char *full = resolve(kubeconfig, path);
    return cbx_cluster_file(full, out, err);
}

/* Members that need another program, or would weaken the connection. */
static int check_unsupported(const char *path, const json_t *cluster, const json_t *user,
                             struct cbx_err *err)
{
    static const char *const of_user[] = { "exec", "auth-provider", "username" };
    for (size_t i = 0; i < sizeof(of_user) / sizeof(of_user[0]); i++) {
        if (json_object_get(user, of_user[i]) != NULL) {
            return refuse(err, path,
                          "the user's '%s' is not supported; allowed are token, tokenFile and "
                          "client-certificate with client-key",
                          of_user[i]);
        }
    }
    if (cbx_str_is(cbx_json_str(json_object_get(cluster, "insecure-skip-tls-verify")), "true")) {
        return refuse(err, path,
                      "'insecure-skip-tls-verify' is refused; give the cluster's CA "
                      "(certificate-authority)");
    }
    static const char *const of_cluster[] = { "proxy-url", "tls-server-name" };
    for (size_t i = 0; i < sizeof(of_cluster) / sizeof(of_cluster[0]); i++) {
        if (json_object_get(cluster, of_cluster[i]) != NULL) {
            return refuse(err, path, "'%s' is not supported", of_cluster[i]);
        }
    }
    return 0;
}

static int check_server(const char *path, char *server, struct cbx_err *err)
{
    static const char *const loopback[] = { "http://127.0.0.1:", "http://localhost:" };
    bool allowed = strncmp(server, "https://", 8) == 0;
    for (size_t i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++) {
        allowed |= strncmp(server, loopback[i], strlen(loopback[i])) == 0;
    }
    /* No user, query or space: what follows the prefix must be the port of that host. */
    allowed = allowed && strpbrk(server, "@?#\\ \t\r\n") == NULL;
    if (!allowed || strlen(server) > 300) {
        return refuse(err, path, "the server is '%.200s'; allowed is https://HOST:PORT", server);
    }
    for (size_t n = strlen(server); n > 0 && server[n - 1] == '/'; n--) {
        server[n - 1] = '\0';
    }
    return 0;
}

static int read_credentials(const char *path, const json_t *user, struct cbx_cluster *out,
                            struct cbx_err *err)
{
    CBX_AUTO_MEM char *token_file = copy_member(user, "tokenFile");
    out->token = copy_member(user, "token");
    out->token_file = token_file != NULL ? resolve(path, token_file) : NULL;
    int failed = read_pem(path, user, "client-certificate", &out->certificate, err);
    if (failed) {
        return failed;
    }
    failed = read_pem(path, user, "client-key", &out->key, err);
    if (failed) {
        return failed;
    }
    if ((out->certificate == NULL) != (out->key == NULL)) {
        return refuse(err, path,
                      "the user has a client certificate without its key, or the reverse");
    }
    return 0;
}

static int read_kubeconfig(const char *path, const char *chosen, struct cbx_cluster *out,
                           struct cbx_err *err)
{
    CBX_AUTO_JSON root = NULL;
    int failed = read_yaml(path, &root, err);
    if (failed) {
        return failed;
    }
    struct cbx_str name = cbx_json_str(json_object_get(root, "current-context"));
    name = chosen != NULL ? cbx_str_of(chosen) : name;
    const json_t *context = find_named(root, "contexts", "context", name);
    const json_t *cluster =
        find_named(root, "clusters", "cluster", cbx_json_str(json_object_get(context, "cluster")));
    const json_t *user =
        find_named(root, "users", "user", cbx_json_str(json_object_get(context, "user")));
    out->server = copy_member(cluster, "server");
    if (context == NULL) {
        return refuse(err, path, "there is no context '%.*s'", (int)name.len, cbx_str_bytes(name));
    }
    if (out->server == NULL) {
        return refuse(err, path, "the context's cluster has no server");
    }
    failed = check_unsupported(path, cluster, user, err);
    if (failed) {
        return failed;
    }
    failed = check_server(path, out->server, err);
    if (failed) {
        return failed;
    }
    out->namespace = copy_member(context, "namespace");
    failed = read_pem(path, cluster, "certificate-authority", &out->ca, err);
    if (failed) {
        return failed;
    }
    return read_credentials(path, user, out, err);
}

/* --- the service account ---------------------------------------------------------------------- */

static int read_account(struct cbx_cluster *out, struct cbx_err *err)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
    CBX_AUTO_DONE(buf) server;
    cbx_buf_init(&server, 512);
    if (host == NULL || port == NULL) {
        return refuse(err, "$KUBERNETES_SERVICE_HOST",
                      "this process is in no Pod, and no kubeconfig was given");
    }
    bool v6 = strchr(host, ':') != NULL;
    cbx_buf_printf(&server, "https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
    out->server = cbx_buf_take(&server);
    out->token_file = cbx_str_copy(CBX_STR(CBX_CLUSTER_ACCOUNT "/token"));
    int failed = cbx_cluster_file(CBX_CLUSTER_ACCOUNT "/ca.crt", &out->ca, err);
    if (failed) {
        return failed;
    }
    return cbx_cluster_file(CBX_CLUSTER_ACCOUNT "/namespace", &out->namespace, err);
}

/* --- the settings file ------------------------------------------------------------------------ */

struct settings {
    struct cbx_str context, namespace, images, pull_policy, host_users, seccomp_profile, storage,
        priority_class, start_timeout, packages, registry_credentials, registry_ca,
        installer_runtime;
    const json_t *pull_secrets, *node_selector, *tolerations;
};

#define TEXT(key, member)                                                                          \
    {                                                                                              \
        .name = key, .type = CBX_JSON_STR, .offset = offsetof(struct settings, member)             \
    }
#define PART(key, member, kind)                                                                    \
    {                                                                                              \
        .name = key, .type = kind, .offset = offsetof(struct settings, member)                     \
    }
static const struct cbx_json_field fields[] = {
    TEXT("context", context),
    TEXT("namespace", namespace),
    TEXT("images", images),
    TEXT("pull-policy", pull_policy),
    TEXT("host-users", host_users),
    TEXT("seccomp-profile", seccomp_profile),
    TEXT("storage", storage),
    TEXT("priority-class", priority_class),
    TEXT("start-timeout", start_timeout),
    TEXT("packages", packages),
    TEXT("registry-credentials", registry_credentials),
    TEXT("registry-ca", registry_ca),
    TEXT("installer-runtime", installer_runtime),
    PART("pull-secrets", pull_secrets, CBX_JSON_ARRAY),
    PART("node-selector", node_selector, CBX_JSON_OBJECT),
    PART("tolerations", tolerations, CBX_JSON_ARRAY),
};

/* The index of a word in a list that ends with NULL; 0, the default, for an absent one; -1 if the
 * list lacks it. */
static int find_word(struct cbx_str word, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (word.len == 0 || cbx_str_is(word, words[i])) {
            return i;
        }
    }
    return -1;
}

static int read_words(const char *path, const struct settings *s, struct cbx_cluster_pods *pods,
                      struct cbx_err *err)
{
    static const char *const pulls[] = { "IfNotPresent", "Always", "Never", NULL };
    static const char *const switches[] = { "false", "true", NULL };
    static const char *const storages[] = { "empty-dir", "runtime-class", NULL };
    const struct {
        const char *key, *allowed;
        int found;
    } words[] = {
        { "pull-policy", "IfNotPresent, Always, Never", find_word(s->pull_policy, pulls) },
        { "host-users", "true, false", find_word(s->host_users, switches) },
        { "storage", "empty-dir, runtime-class", find_word(s->storage, storages) },
        { "packages", "true, false", find_word(s->packages, switches) },
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].found < 0) {
            return refuse(err, path, "'%s' has another value than: %s", words[i].key,
                          words[i].allowed);
        }
    }
    pods->pull_policy = cbx_str_copy(cbx_str_of(pulls[words[0].found]));
    pods->host_users = words[1].found == 1;
    pods->runtime_storage = words[2].found == 1;
    pods->packages = words[3].found == 1;
    return 0;
}

static int read_start(const char *path, struct cbx_str text, int64_t *out_ms, struct cbx_err *err)
{
    int64_t seconds = START_S;
    CBX_AUTO_MEM char *copy = cbx_str_copy(text);
    char *end = copy;
    if (text.len > 0) {
        seconds = strtoll(copy, &end, 10);
    }
    if (*end != '\0' || seconds < 1 || seconds > START_MAX_S) {
        return refuse(err, path, "'start-timeout' is '%.40s', allowed are 1 to %d seconds", copy,
                      START_MAX_S);
    }
    *out_ms = seconds * 1000;
    return 0;
}

static int read_images(const char *path, json_t **out, struct cbx_err *err)
{
    CBX_AUTO_MEM char *text = NULL;
    struct cbx_err inner = { 0 };
    int failed = cbx_cluster_file(path, &text, err);
    if (failed) {
        return failed;
    }
    if (cbx_json_parse(cbx_str_of(text), FILE_MAX, out, &inner) != 0) {
        return refuse(err, path, "line %u: %s", inner.line, inner.text);
    }
    if (!json_is_object(*out)) {
        return refuse(err, path, "the file is not from 'codebox image push'");
    }
    return 0;
}

static char *copy_text(struct cbx_str text)
{
    return text.len > 0 ? cbx_str_copy(text) : NULL;
}

/* A path in the settings is relative to their file. */
static char *copy_path(const char *settings_path, struct cbx_str path)
{
    CBX_AUTO_MEM char *given = copy_text(path);
    return given != NULL ? resolve(settings_path, given) : NULL;
}

static int take_settings(const char *path, const struct settings *s, struct cbx_cluster *out,
                         struct cbx_err *err)
{
    struct cbx_cluster_pods *pods = &out->pods;
    if (s->namespace.len > 0) {
        free(out->namespace);
        out->namespace = cbx_str_copy(s->namespace);
    }
    pods->seccomp_profile = copy_text(s->seccomp_profile);
    pods->priority_class = copy_text(s->priority_class);
    pods->installer_runtime = copy_text(s->installer_runtime);
    pods->registry_credentials = copy_path(path, s->registry_credentials);
    pods->registry_ca = copy_path(path, s->registry_ca);
    pods->images_file = copy_path(path, s->images);
    pods->node_selector = json_deep_copy(s->node_selector);
    pods->tolerations = json_deep_copy(s->tolerations);
    pods->pull_secrets = json_deep_copy(s->pull_secrets);
    int failed = read_words(path, s, pods, err);
    if (failed) {
        return failed;
    }
    failed = read_start(path, s->start_timeout, &pods->start_ms, err);
    if (failed || pods->images_file == NULL) {
        return failed;
    }
    return read_images(pods->images_file, &pods->images, err);
}

static int read_settings(const char *path, json_t **root, struct settings *out, struct cbx_err *err)
{
    struct cbx_err inner = { 0 };
    *out = (struct settings){ .pull_secrets = NULL };
    if (path[0] == '\0') {
        return 0;
    }
    int failed = read_yaml(path, root, err);
    if (failed) {
        return failed;
    }
    if (cbx_json_read(*root, fields, sizeof(fields) / sizeof(fields[0]), out, &inner) != 0) {
        return refuse(err, path, "%s", inner.text);
    }
    return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

/* A namespace is a DNS label (RFC 1123): it becomes a part of request paths. */
static bool is_label(const char *text)
{
    size_t len = strlen(text);
    return len > 0 && len <= 63 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len &&
           text[0] != '-' && text[len - 1] != '-';
}

static int read_host(const char *host, struct cbx_cluster_paths *paths, json_t **root,
                     struct settings *settings, struct cbx_err *err)
{
    if (!cbx_cluster_paths(host, paths)) {
        return refuse(err, host, "allowed is " CBX_CLUSTER_SCHEME "KUBECONFIG:SETTINGS");
    }
    return read_settings(paths->settings, root, settings, err);
}

int cbx_cluster_read_settings(const char *host, struct cbx_cluster *out, struct cbx_err *err)
{
    struct cbx_cluster_paths paths;
    CBX_AUTO_JSON root = NULL;
    CBX_AUTO_DONE(cluster) cluster = { .server = NULL };
    struct settings settings;
    int failed = read_host(host, &paths, &root, &settings, err);
    if (failed) {
        return failed;
    }
    failed = take_settings(paths.settings, &settings, &cluster, err);
    if (failed) {
        return failed;
    }
    *out = cluster;
    cluster = (struct cbx_cluster){ .server = NULL };
    return 0;
}

int cbx_cluster_read(const char *host, struct cbx_cluster *out, struct cbx_err *err)
{
    struct cbx_cluster_paths paths;
    CBX_AUTO_JSON root = NULL;
    CBX_AUTO_DONE(cluster) cluster = { .server = NULL };
    struct settings settings;
    int failed = read_host(host, &paths, &root, &settings, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_MEM char *context = copy_text(settings.context);
    if (paths.kubeconfig[0] != '\0') {
        failed = read_kubeconfig(paths.kubeconfig, context, &cluster, err);
    } else {
        failed = read_account(&cluster, err);
    }
    if (failed) {
        return failed;
    }
    failed = take_settings(paths.settings, &settings, &cluster, err);
    if (failed) {
        return failed;
    }
    if (cluster.namespace == NULL || !is_label(cluster.namespace)) {
        return refuse(err, paths.settings[0] != '\0' ? paths.settings : paths.kubeconfig,
                      "no valid namespace for sandboxes was given ('namespace')");
    }
    *out = cluster;
    cluster = (struct cbx_cluster){ .server = NULL };
    return 0;
}
