/* SPDX-License-Identifier: MIT
 * Reads what a cluster holds: the gateway's rights, and the objects that a sandbox's isolation
 * depends on. Nothing is changed. */
#include "docker/engine/kubernetes/kube_layers.h"

#include "policies/base/text/json.h"

#include <string.h>

/* The rights that the engine needs, and those without which a part of `codebox doctor` is missing. */
static const struct {
    const char *verb, *resource, *subresource;
    bool needed;
} rights[] = {
    { "create", "pods", "", true },  { "delete", "pods", "", true },
    { "get", "pods", "", true },     { "list", "pods", "", true },
    { "watch", "pods", "", true },   { "create", "pods", "exec", true },
    { "get", "pods", "exec", true }, { "get", "pods", "log", false },
    { "list", "events", "", false },
};

/* NULL if the server does not tell. */
static json_t *review_right(struct cbx_kube *kube, size_t i)
{
    CBX_AUTO_JSON body =
        json_pack("{s:s,s:s,s:{s:{s:s,s:s,s:s,s:s}}}", "apiVersion", "authorization.k8s.io/v1",
                  "kind", "SelfSubjectAccessReview", "spec", "resourceAttributes", "namespace",
                  kube->cluster.namespace, "verb", rights[i].verb, "resource", rights[i].resource,
                  "subresource", rights[i].subresource);
    CBX_AUTO_JSON answer = NULL;
    struct cbx_kube_request request = {
        .method = "POST",
        .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        .body = body,
    };
    if (cbx_kube_expect(kube, &request, 201, "review rights", &answer, NULL) != 0) {
        return NULL;
    }
    const json_t *allowed = json_object_get(json_object_get(answer, "status"), "allowed");
    char what[64];
    snprintf(what, sizeof(what), "%s %s%s%s", rights[i].verb, rights[i].resource,
             rights[i].subresource[0] != '\0' ? "/" : "", rights[i].subresource);
    return json_pack("{s:s,s:b,s:b}", "what", what, "needed", rights[i].needed, "allowed",
                     json_is_true(allowed));
}

/* "found", "missing", or "unknown" without the right to read it. */
static const char *look_for(struct cbx_kube *kube, const char *path, json_t **answer)
{
    long status = 0;
    struct cbx_kube_request request = { .method = "GET", .path = path };
    if (cbx_kube_call(kube, &request, &status, answer, NULL) != 0 || status == 403) {
        return "unknown";
    }
    return status == 200 ? "found" : "missing";
}

/* A policy that selects every Pod and allows no connections out. */
static bool isolates(const json_t *policy)
{
    const json_t *spec = json_object_get(policy, "spec");
    const json_t *selector = json_object_get(spec, "podSelector"),
                 *types = json_object_get(spec, "policyTypes"), *type;
    bool out = false;
    size_t i;
    json_array_foreach(types, i, type)
    {
        out |= cbx_str_is(cbx_json_str(type), "Egress");
    }
    return out && json_object_size(selector) == 0 &&
           json_array_size(json_object_get(spec, "egress")) == 0;
}

static const char *look_for_isolation(struct cbx_kube *kube)
{
    char path[256];
    CBX_AUTO_JSON answer = NULL;
    size_t i;
    const json_t *policy;
    snprintf(path, sizeof(path), "/apis/networking.k8s.io/v1/namespaces/%.63s/networkpolicies",
             kube->cluster.namespace);
    const char *found = look_for(kube, path, &answer);
    if (strcmp(found, "found") != 0) {
        return found;
    }
    json_array_foreach(json_object_get(answer, "items"), i, policy)
    {
        if (isolates(policy)) {
            return "found";
        }
    }
    return "missing";
}

/* What keeps packages from being installed (new reference): an empty text for nothing; NULL if the
 * settings do not ask for packages. */
static json_t *review_registry(struct cbx_kube *kube)
{
    struct cbx_err err = { 0 };
    if (kube->layers == NULL) {
        return NULL;
    }
    if (cbx_kube_layers_check(kube, &err) == 0) {
        return json_string("");
    }
    return json_string(cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
}

int cbx_kube_review(struct cbx_kube *kube, json_t **out, struct cbx_err *err)
{
    const struct cbx_cluster_pods *pods = &kube->cluster.pods;
    char path[256];
    CBX_AUTO_JSON namespace = NULL;
    json_t *list = json_array();
    (void)err;
    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
        json_t *right = review_right(kube, i);
        if (right != NULL) {
            json_array_append_new(list, right);
        }
    }
    snprintf(path, sizeof(path), "/api/v1/namespaces/%.63s", kube->cluster.namespace);
    *out = json_pack("{s:s,s:s,s:s,s:s,s:s,s:b,s:b,s:o,s:o*}", "server", kube->cluster.server,
                     "namespace", kube->cluster.namespace, "namespace_state",
                     look_for(kube, path, &namespace), "network_policy", look_for_isolation(kube),
                     "seccomp", pods->seccomp_profile != NULL ? pods->seccomp_profile : "",
                     "host_users", pods->host_users, "runtime_storage", pods->runtime_storage,
                     "rights", list, "registry", review_registry(kube));
    return 0;
}
