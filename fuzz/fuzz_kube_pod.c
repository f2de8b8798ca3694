/* SPDX-License-Identifier: MIT
 * Pods from a cluster's API server: their state, and the comparison with the Pod that was asked for.
 * A Pod that passes it has the members that isolate a sandbox. */
#include "docker/engine/kubernetes/kube.h"
#include "policies/base/text/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char asked_text[] =
    "{\"metadata\":{\"name\":\"codebox-1\",\"namespace\":\"boxes\",\"labels\":{\"a\":\"1\"}},"
    "\"spec\":{\"hostUsers\":false,\"tolerations\":[],"
    "\"securityContext\":{\"seccompProfile\":{\"type\":\"RuntimeDefault\"}},"
    "\"containers\":[{\"name\":\"sandbox\",\"image\":\"i\",\"env\":[],"
    "\"resources\":{\"limits\":{\"cpu\":\"100m\",\"memory\":\"1024\"}},"
    "\"securityContext\":{\"privileged\":false}}]}}";

static void check_state(const json_t *pod)
{
    struct cbx_kube_pod state;
    cbx_kube_pod_read(pod, &state);
    if (state.phase > CBX_POD_ENDED || strlen(state.reason) >= sizeof(state.reason) ||
        strlen(state.message) >= sizeof(state.message) ||
        strlen(state.node) >= sizeof(state.node)) {
        abort();
    }
}

/* Members that no Pod may have, and those that each must have. */
static void check_isolation(const json_t *pod)
{
    const json_t *spec = json_object_get(pod, "spec"),
                 *containers = json_object_get(spec, "containers"),
                 *container = json_array_get(containers, 0),
                 *security = json_object_get(container, "securityContext");
    static const char *const refused[] = { "volumes", "initContainers", "ephemeralContainers",
                                           "hostPID", "hostIPC",        "hostNetwork" };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (json_object_get(spec, refused[i]) != NULL) {
            abort();
        }
    }
    if (json_array_size(containers) != 1 || !json_is_false(json_object_get(spec, "hostUsers")) ||
        !json_is_false(json_object_get(security, "privileged")) ||
        json_object_get(security, "seccompProfile") != NULL ||
        json_array_size(json_object_get(container, "env")) != 0 ||
        !cbx_str_is(cbx_json_str(json_object_get(container, "image")), "i")) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static json_t *asked;
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON pod = NULL;
    asked = asked != NULL ? asked : json_loads(asked_text, 0, NULL);
    if (asked == NULL || cbx_kube_pod_compare(asked, asked, &err) != 0) {
        abort();
    }
    if (cbx_json_parse((struct cbx_str){ (const char *)data, size }, 1 << 20, &pod, NULL) != 0) {
        return 0;
    }
    check_state(pod);
    if (cbx_kube_pod_compare(asked, pod, &err) == 0) {
        check_isolation(pod);
    } else if (err.code != CBX_EENGINE || err.text[0] == '\0') {
        abort();
    }
    return 0;
}
