/* SPDX-License-Identifier: MIT
 * What an API server may change in a sandbox's Pod, and what it may not: each row is a Pod that is
 * asked for, and a member of it that the made Pod has instead. */
#include "docker/engine/kubernetes/kube.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"
#include "tests/unit/unit.h"

static const char asked_text[] =
    "{\"metadata\":{\"name\":\"codebox-1\",\"namespace\":\"boxes\",\"labels\":{\"a\":\"1\"}},"
    "\"spec\":{\"automountServiceAccountToken\":false,\"hostUsers\":false,"
    "\"runtimeClassName\":\"codebox\",\"dnsConfig\":{\"nameservers\":[\"127.0.0.1\"]},"
    "\"securityContext\":{\"runAsUser\":65532,"
    "\"seccompProfile\":{\"type\":\"Localhost\",\"localhostProfile\":\"a.json\"}},"
    "\"tolerations\":[{\"key\":\"x\",\"tolerationSeconds\":0}],\"volumes\":[],"
    "\"containers\":[{\"name\":\"sandbox\",\"image\":\"i\",\"imagePullPolicy\":\"IfNotPresent\","
    "\"env\":[{\"name\":\"A\",\"value\":\"\"},{\"name\":\"B\",\"value\":\"1\"}],"
    "\"resources\":{\"limits\":{\"cpu\":\"1000m\",\"memory\":\"268435456\"}},"
    "\"securityContext\":{\"privileged\":false,\"capabilities\":{\"drop\":[\"ALL\"]},"
    "\"appArmorProfile\":{\"type\":\"Localhost\",\"localhostProfile\":\"box\"}}}]}}";

/* Sets the member at a path ("spec/containers/0/image") to a value; NULL removes it. */
static void put(json_t *root, const char *path, const char *value)
{
    char name[80];
    size_t len;
    for (; path[len = strcspn(path, "/")] != '\0'; path += len + 1) {
        snprintf(name, sizeof(name), "%.*s", (int)len, path);
        root = json_is_array(root) ? json_array_get(root, strtoul(name, NULL, 10))
                                   : json_object_get(root, name);
        assert_non_null(root);
    }
    if (value == NULL) {
        json_object_del(root, path);
        return;
    }
    json_t *parsed = json_loads(value, JSON_DECODE_ANY, NULL);
    assert_non_null(parsed);
    if (json_is_array(root)) {
        json_array_insert_new(root, strtoul(path, NULL, 10), parsed);
    } else {
        json_object_set_new(root, path, parsed);
    }
}

struct change {
    const char *path, *value;
};

static int compare(const struct change *change, struct cbx_err *err)
{
    CBX_AUTO_JSON asked = json_loads(asked_text, 0, NULL);
    CBX_AUTO_JSON made = json_loads(asked_text, 0, NULL);
    assert_non_null(asked);
    put(made, change->path, change->value);
    return cbx_kube_pod_compare(asked, made, err);
}

#define ANNOTATIONS "metadata/annotations"
#define CONTAINER   "spec/containers/0/"

static void what_an_api_server_fills_in_is_accepted(void **state)
{
    (void)state;
    static const struct change rows[] = {
        { "metadata/uid", "\"u\"" },
        { "metadata/managedFields", "[{}]" },
        { ANNOTATIONS, "{\"seccomp.security.alpha.kubernetes.io/pod\":\"localhost/a.json\"}" },
        { ANNOTATIONS,
          "{\"container.apparmor.security.beta.kubernetes.io/sandbox\":\"localhost/box\"}" },
        { ANNOTATIONS, "{\"kubernetes.io/limit-ranger\":\"LimitRanger plugin set: x\"}" },
        { ANNOTATIONS, "{\"kubernetes.io/psp\":\"restricted\"}" },
        { "spec/serviceAccountName", "\"default\"" },
        { "spec/volumes", NULL },
        { "spec/tolerations/1", "{\"key\":\"pool\"}" },
        { "spec/nodeSelector", "{\"pool\":\"x\"}" },
        { CONTAINER "env/0/value", NULL },
        { CONTAINER "imagePullPolicy", "\"Always\"" },
        { CONTAINER "resources/limits/cpu", "\"1\"" },
        { CONTAINER "resources/limits/memory", "\"256Mi\"" },
        { CONTAINER "resources/limits/ephemeral-storage", "\"1Gi\"" },
        { CONTAINER "resources/requests", NULL },
        { CONTAINER "securityContext/procMount", "\"Default\"" },
        { CONTAINER "resizePolicy",
          "[{\"resourceName\":\"cpu\",\"restartPolicy\":\"NotRequired\"}]" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cbx_err err = { 0 };
        if (compare(&rows[i], &err) != 0) {
            fail_msg("%s: %s", rows[i].path, err.detail);
        }
    }
}

static void a_change_that_may_weaken_the_sandbox_is_refused(void **state)
{
    (void)state;
    static const struct change rows[] = {
        { "metadata/name", "\"codebox-2\"" },
        { "metadata/namespace", "\"kube-system\"" },
        { "metadata/labels", "\"a\"" },
        { ANNOTATIONS, "{\"seccomp.security.alpha.kubernetes.io/pod\":\"unconfined\"}" },
        { ANNOTATIONS, "{\"seccomp.security.alpha.kubernetes.io/pod\":null}" },
        { ANNOTATIONS,
          "{\"container.apparmor.security.beta.kubernetes.io/sandbox\":\"unconfined\"}" },
        { ANNOTATIONS,
          "{\"container.seccomp.security.alpha.kubernetes.io/sandbox\":\"unconfined\"}" },
        { ANNOTATIONS, "{\"k8s.v1.cni.cncf.io/networks\":\"open\"}" },
        { ANNOTATIONS, "[]" },
        { "spec/runtimeClassName", NULL },
        { "spec/runtimeClassName", "\"runc\"" },
        { "spec/automountServiceAccountToken", "true" },
        { "spec/automountServiceAccountToken", "null" },
        { "spec/automountServiceAccountToken", "\"false\"" },
        { "spec/automountServiceAccountToken", NULL },
        { "spec/hostUsers", NULL },
        { "spec/hostPID", "true" },
        { "spec/hostIPC", "true" },
        { "spec/hostNetwork", "null" },
        { "spec/hostAliases", "[{\"ip\":\"1.2.3.4\"}]" },
        { "spec/shareProcessNamespace", "true" },
        { "spec/initContainers", "[]" },
        { "spec/ephemeralContainers", "[{}]" },
        { "spec/resourceClaims", "[{\"name\":\"gpu\"}]" },
        { "spec/volumes", "[{\"name\":\"t\",\"projected\":{}}]" },
        { "spec/dnsConfig/nameservers/1", "\"10.0.0.10\"" },
        { "spec/dnsConfig/nameservers/0", "\"10.0.0.10\"" },
        { "spec/tolerations/0", "{\"key\":\"y\"}" },
        { "spec/tolerations", "[]" },
        { "spec/securityContext/runAsUser", "\"65532\"" },
        { "spec/securityContext/supplementalGroups", "[0]" },
        { "spec/securityContext/sysctls", "[{\"name\":\"x\",\"value\":\"1\"}]" },
        { "spec/securityContext/seLinuxOptions", "{\"type\":\"spc_t\"}" },
        { "spec/securityContext/windowsOptions", "{}" },
        { "spec/securityContext/seccompProfile", "{\"type\":\"Unconfined\"}" },
        { "spec/containers/0", "{\"name\":\"first\"}" },
        { "spec/containers/1", "{\"name\":\"second\"}" },
        { CONTAINER "image", "\"j\"" },
        { CONTAINER "imagePullPolicy", "\"Never\"" },
        { CONTAINER "lifecycle", "{\"postStart\":{}}" },
        { CONTAINER "livenessProbe", "{\"exec\":{}}" },
        { CONTAINER "envFrom", "[{}]" },
        { CONTAINER "env/0/valueFrom", "{\"secretKeyRef\":{}}" },
        { CONTAINER "env/0/value", "\"x\"" },
        { CONTAINER "env/1/value", NULL },
        { CONTAINER "env/2", "{\"name\":\"C\"}" },
        { CONTAINER "args", "[\"x\"]" },
        { CONTAINER "volumeDevices", "[{}]" },
        { CONTAINER "volumeMounts", "[{}]" },
        { CONTAINER "ports", "[{\"hostPort\":1}]" },
        { CONTAINER "stdin", "true" },
        { CONTAINER "resources/limits/memory", "\"257Mi\"" },
        { CONTAINER "resources/limits/memory", "268435456" },
        { CONTAINER "resources/limits/example.com~1gpu", "\"1\"" },
        { CONTAINER "resources/claims", "[{\"name\":\"gpu\"}]" },
        { CONTAINER "securityContext/procMount", "\"Unmasked\"" },
        { CONTAINER "securityContext/privileged", "true" },
        { CONTAINER "securityContext/privileged", "0" },
        { CONTAINER "securityContext/seccompProfile", "{\"type\":\"Unconfined\"}" },
        { CONTAINER "securityContext/appArmorProfile", NULL },
        { CONTAINER "securityContext/capabilities/add", "[\"SYS_ADMIN\"]" },
        { CONTAINER "securityContext/capabilities/drop", "[]" },
        { CONTAINER "securityContext/capabilities/drop/1", "\"ALL\"" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cbx_err err = { 0 };
        if (compare(&rows[i], &err) != CBX_EENGINE) {
            fail_msg("%s = %s was accepted", rows[i].path,
                     rows[i].value != NULL ? rows[i].value : "(removed)");
        }
        assert_string_equal(err.text, "the cluster changed the sandbox's Pod, so it does not run");
    }
}

static void a_reply_that_is_no_pod_is_refused(void **state)
{
    (void)state;
    static const char *const replies[] = { "{}", "[]", "5", "{\"metadata\":5,\"spec\":[]}" };
    CBX_AUTO_JSON asked = json_loads(asked_text, 0, NULL);
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        struct cbx_err err = { 0 };
        CBX_AUTO_JSON made = json_loads(replies[i], JSON_DECODE_ANY, NULL);
        assert_int_equal(cbx_kube_pod_compare(asked, made, &err), CBX_EENGINE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_api_server_fills_in_is_accepted),
        cmocka_unit_test(a_change_that_may_weaken_the_sandbox_is_refused),
        cmocka_unit_test(a_reply_that_is_no_pod_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
