/* SPDX-License-Identifier: MIT
 * Where a cluster is, and with which credentials: kubeconfig files and settings, and what is
 * refused in them. */
#include "docker/engine/kubernetes/cluster.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], config_path[128], settings_path[128], host[300];

static void write_file(const char *name, const char *text, char path[128])
{
    snprintf(path, 128, "%s/%s", folder, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int begin_test(void **state)
{
    char path[128];
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/cbx-kubeconfig-XXXXXX");
    assert_non_null(mkdtemp(folder));
    write_file("ca.pem", "the ca", path);
    write_file("token", "t0ken\n", path);
    write_file("images.json", "{}", path);
    return 0;
}

static int end_test(void **state)
{
    static const char *const names[] = { "ca.pem", "token", "images.json", "config", "settings" };
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/* Reads a kubeconfig with this cluster and user, and these settings (NULL = none). */
static int read_with(const char *of_cluster, const char *of_user, const char *settings,
                     struct cbx_cluster *out, struct cbx_err *err)
{
    char text[2048];
    snprintf(text, sizeof(text),
             "apiVersion: v1\nkind: Config\ncurrent-context: main\n"
             "contexts:\n- {name: other, context: {cluster: x, user: y}}\n"
             "- {name: main, context: {cluster: c, user: u, namespace: from-context}}\n"
             "clusters:\n- name: c\n  cluster: {%s}\nusers:\n- name: u\n  user: {%s}\n",
             of_cluster, of_user);
    write_file("config", text, config_path);
    settings_path[0] = '\0';
    if (settings != NULL) {
        write_file("settings", settings, settings_path);
    }
    snprintf(host, sizeof(host), "kubernetes:%s:%s", config_path, settings_path);
    memset(err, 0, sizeof(*err));
    return cbx_cluster_read(host, out, err);
}

static void is_refused(const char *of_cluster, const char *of_user, const char *settings,
                       const char *detail)
{
    struct cbx_err err;
    CBX_AUTO_DONE(cluster) cluster = { .server = NULL };
    assert_int_equal(read_with(of_cluster, of_user, settings, &cluster, &err), CBX_EENGINE);
    assert_string_equal(err.text, "the connection to the cluster is not set up");
    if (strstr(err.detail, detail) == NULL) {
        fail_msg("'%s' is not in '%s'", detail, err.detail);
    }
}

#define SERVER "server: 'https://10.0.0.1:6443/'"

/* --- kubeconfig ------------------------------------------------------------------------------- */

static void files_and_embedded_data_are_read(void **state)
{
    (void)state;
    struct cbx_err err;
    CBX_AUTO_DONE(cluster) c = { .server = NULL };
    if (read_with(SERVER ", certificate-authority: ca.pem",
                  "client-certificate-data: Y2VydA==, client-key-data: a2V5", NULL, &c,
                  &err) != 0) {
        fail_msg("%s: %s", err.text, err.detail);
    }
    assert_string_equal(c.server, "https://10.0.0.1:6443");
    assert_string_equal(c.ca, "the ca");
    assert_string_equal(c.certificate, "cert");
    assert_string_equal(c.key, "key");
    assert_string_equal(c.namespace, "from-context");
    assert_null(c.token);
    assert_string_equal(c.pods.pull_policy, "IfNotPresent");
    assert_false(c.pods.host_users);
}

static void a_token_file_is_named_relative_to_the_kubeconfig(void **state)
{
    (void)state;
    struct cbx_err err;
    char expected[128];
    CBX_AUTO_DONE(cluster) c = { .server = NULL };
    assert_int_equal(read_with(SERVER, "tokenFile: token", NULL, &c, &err), 0);
    snprintf(expected, sizeof(expected), "%s/token", folder);
    assert_string_equal(c.token_file, expected);
}

static void what_would_weaken_the_connection_is_refused(void **state)
{
    (void)state;
    is_refused(SERVER ", insecure-skip-tls-verify: true", "token: t", NULL,
               "certificate-authority");
    is_refused("server: 'http://10.0.0.1:8080'", "token: t", NULL, "https://HOST:PORT");
    is_refused("server: 'http://127.0.0.1.evil.test:80'", "token: t", NULL, "https://HOST:PORT");
    is_refused("server: 'http://127.0.0.1:80@evil.test'", "token: t", NULL, "https://HOST:PORT");
    is_refused("server: 'https://10.0.0.1:6443?x'", "token: t", NULL, "https://HOST:PORT");
    is_refused("server: \"https://10.0.0.1:6443/\\r\\nx: y\"", "token: t", NULL,
               "https://HOST:PORT");
    is_refused("server: 'file:///etc/passwd'", "token: t", NULL, "https://HOST:PORT");
}

static void what_needs_another_program_is_refused_by_its_name(void **state)
{
    (void)state;
    is_refused(SERVER, "exec: {command: aws}", NULL, "'exec' is not supported");
    is_refused(SERVER, "auth-provider: {name: gcp}", NULL, "'auth-provider' is not supported");
    is_refused(SERVER ", proxy-url: 'http://p:1'", "token: t", NULL, "'proxy-url' is not");
    is_refused(SERVER ", tls-server-name: other", "token: t", NULL, "'tls-server-name' is not");
    is_refused(SERVER, "username: admin, password: x", NULL, "'username' is not supported");
}

static void incomplete_files_name_what_is_missing(void **state)
{
    (void)state;
    is_refused("certificate-authority: ca.pem", "token: t", NULL, "has no server");
    is_refused(SERVER ", certificate-authority: none.pem", "token: t", NULL, "none.pem");
    is_refused(SERVER ", certificate-authority-data: '***'", "token: t", NULL, "is not Base64");
    is_refused(SERVER, "client-certificate-data: Y2VydA==", NULL, "without its key");
    is_refused(SERVER, "token: t", "context: nowhere\n", "there is no context 'nowhere'");
    is_refused(SERVER, "token: [", NULL, "line ");
}

/* --- settings --------------------------------------------------------------------------------- */

static void settings_are_read(void **state)
{
    (void)state;
    struct cbx_err err;
    CBX_AUTO_DONE(cluster) c = { .server = NULL };
    if (read_with(SERVER, "token: t",
                  "namespace: boxes\nstorage: runtime-class\n"
                  "host-users: true\npull-policy: Never\nstart-timeout: 90\nimages: images.json\n"
                  "node-selector: {pool: sandboxes}\npull-secrets: [one]\n"
                  "tolerations: [{key: dedicated, operator: Exists}]\n",
                  &c, &err) != 0) {
        fail_msg("%s: %s", err.text, err.detail);
    }
    assert_string_equal(c.namespace, "boxes");
    assert_true(c.pods.runtime_storage);
    assert_true(c.pods.host_users);
    assert_string_equal(c.pods.pull_policy, "Never");
    assert_int_equal(c.pods.start_ms, 90000);
    assert_string_equal(json_string_value(json_object_get(c.pods.node_selector, "pool")),
                        "sandboxes");
    assert_int_equal(json_array_size(c.pods.tolerations), 1);
    assert_true(json_is_object(c.pods.images));
}

static void wrong_settings_name_the_key_and_what_is_allowed(void **state)
{
    (void)state;
    is_refused(SERVER, "token: t", "pull-polic: Never\n", "pull-policy");
    is_refused(SERVER, "token: t", "pull-policy: Sometimes\n", "IfNotPresent, Always, Never");
    is_refused(SERVER, "token: t", "host-users: yes\n", "true, false");
    is_refused(SERVER, "token: t", "storage: disk\n", "empty-dir, runtime-class");
    is_refused(SERVER, "token: t", "start-timeout: 0\n", "1 to 3600 seconds");
    is_refused(SERVER, "token: t", "start-timeout: 5m\n", "1 to 3600 seconds");
    is_refused(SERVER, "token: t", "namespace: '../x'\n", "no valid namespace");
    is_refused(SERVER, "token: t", "images: none.json\n", "none.json");
    is_refused(SERVER, "token: t", "node-selector: [x]\n", "node-selector");
}

static void a_host_that_is_none_is_refused(void **state)
{
    (void)state;
    struct cbx_cluster_paths paths;
    assert_false(cbx_cluster_paths("tcp://x", &paths));
    assert_false(cbx_cluster_paths("kubernetes:a:b:c", &paths));
    assert_true(cbx_cluster_paths("kubernetes:/a/b:/c", &paths));
    assert_string_equal(paths.kubeconfig, "/a/b");
    assert_string_equal(paths.settings, "/c");
    setenv("KUBECONFIG", "/from/env", 1);
    assert_true(cbx_cluster_paths("kubernetes::/c", &paths));
    assert_string_equal(paths.kubeconfig, "/from/env");
    unsetenv("KUBECONFIG");
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    assert_true(cbx_cluster_paths("kubernetes:", &paths));
    assert_string_equal(paths.kubeconfig, "");
    unsetenv("KUBERNETES_SERVICE_HOST");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)
    const struct CMUnitTest tests[] = {
        TEST(files_and_embedded_data_are_read),
        TEST(a_token_file_is_named_relative_to_the_kubeconfig),
        TEST(what_would_weaken_the_connection_is_refused),
        TEST(what_needs_another_program_is_refused_by_its_name),
        TEST(incomplete_files_name_what_is_missing),
        TEST(settings_are_read),
        TEST(wrong_settings_name_the_key_and_what_is_allowed),
        cmocka_unit_test(a_host_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
