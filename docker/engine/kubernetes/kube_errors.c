/* SPDX-License-Identifier: MIT
 * What an API server refuses, and why a Pod does not start, as sentences with the remedy. */
#include "docker/engine/kubernetes/kube.h"

#include "policies/base/text/json.h"

#include <string.h>

enum { QUOTA_RETRY_S = 10, BUSY_RETRY_S = 5, ROOM_RETRY_S = 15 };

/* The first row that fits decides. */
struct refusal {
    long status;          /* 0 = any */
    const char *contains; /* in the message; "" = any */
    int code;
    uint32_t retry_s;
    const char *text, *remedy; /* the remedy is for the operator */
};
static const struct refusal refusals[] = {
    { 401, "", CBX_EENGINE, 0, "the cluster does not accept the gateway's credentials",
      "renew the token or the client certificate of the kubeconfig" },
    { 403, "exceeded quota", CBX_EQUOTA, QUOTA_RETRY_S,
      "the cluster's quota for sandboxes is used up",
      "raise the ResourceQuota of the namespace, or lower --pool-max" },
    { 403, "PodSecurity", CBX_EENGINE, 0, "the cluster's Pod security refuses sandboxes",
      "label the namespace with the level that the message allows" },
    { 403, "RuntimeClass", CBX_EENGINE, 0, "the cluster has no RuntimeClass of this name",
      "create it, or correct --runtime or --gvisor-runtime" },
    { 403, "PriorityClass", CBX_EENGINE, 0,
      "the cluster has no PriorityClass of the settings' name",
      "create it, or correct 'priority-class' in the settings" },
    { 403, "service account", CBX_EENGINE, 0, "the namespace has no service account yet",
      "wait some seconds after the namespace was created" },
    { 403, "is being terminated", CBX_EENGINE, 0, "the namespace of the sandboxes is being removed",
      "create it again" },
    { 403, "cannot", CBX_EENGINE, 0, "the gateway lacks a right in the cluster",
      "grant its account in this namespace pods (create, delete, get, list, watch) and pods/exec "
      "(create, get)" },
    { 404, "namespaces", CBX_EENGINE, 0, "the cluster has no such namespace",
      "create it, or correct 'namespace' in the settings" },
    { 404, "", CBX_ENOTFOUND, 0, "the sandbox is gone", "" },
    { 409, "", CBX_EBUSY, 1, "the cluster is changing the sandbox already", "" },
    { 422, "", CBX_EENGINE, 0, "the cluster refuses the sandbox's Pod", "correct the settings" },
    { 429, "", CBX_EBUSY, BUSY_RETRY_S, "the cluster is overloaded", "" },
    { 0, "webhook", CBX_EENGINE, 0, "an admission webhook of the cluster refuses sandboxes",
      "exclude the namespace of the sandboxes from the webhook" },
};

static bool fits(const struct refusal *row, long status, const char *message)
{
    return (row->status == 0 || row->status == status) && strstr(message, row->contains) != NULL;
}

int cbx_kube_refused(const struct cbx_kube *kube, long status, const json_t *answer,
                     const char *what, struct cbx_err *err)
{
    const char *message = json_string_value(json_object_get(answer, "message"));
    const char *remedy = "";
    int code = CBX_EENGINE;
    uint32_t retry_s = 0;
    message = message != NULL ? message : "";
    cbx_fail(err, code, "the cluster refused to %s (HTTP status %ld)", what, status);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (fits(&refusals[i], status, message)) {
            code = refusals[i].code;
            retry_s = refusals[i].retry_s;
            remedy = refusals[i].remedy;
            cbx_fail(err, code, "%s", refusals[i].text);
            break;
        }
    }
    if (err != NULL) {
        err->retry_s = retry_s;
    }
    cbx_err_detail(err, "%s, namespace %s: %.300s%s%s", kube->cluster.server,
                   kube->cluster.namespace, message, remedy[0] != '\0' ? "; " : "", remedy);
    return code;
}

/* --- Pods that do not start ------------------------------------------------------------------- */

static const struct {
    const char *reason, *contains;
    int code;
    uint32_t retry_s;
    const char *text, *remedy;
} faults[] = {
    { "ErrImageNeverPull", "", CBX_EENGINE, 0, "the node lacks the sandbox's image",
      "load the image into the node, or set 'pull-policy: IfNotPresent' and push it with 'codebox "
      "image push'" },
    { "ErrImagePull", "", CBX_EENGINE, 0, "the node cannot pull the sandbox's image",
      "push it with 'codebox image push', and give 'pull-secrets' for a registry that needs them" },
    { "ImagePullBackOff", "", CBX_EENGINE, 0, "the node cannot pull the sandbox's image",
      "push it with 'codebox image push', and give 'pull-secrets' for a registry that needs them" },
    { "InvalidImageName", "", CBX_EENGINE, 0, "the name of the sandbox's image is invalid",
      "write the images file again with 'codebox image push'" },
    { "CreateContainerError", "seccomp", CBX_EENGINE, 0,
      "the node lacks the seccomp profile of the settings",
      "install docker/engine/seccomp.json on each node, or remove 'seccomp-profile'" },
    { "Unschedulable", "", CBX_EBUSY, ROOM_RETRY_S, "no node of the cluster has room for a sandbox",
      "add nodes, or lower the limits of the policy" },
    { "Evicted", "", CBX_EBUSY, ROOM_RETRY_S, "a node of the cluster evicted the sandbox",
      "the node is short of a resource" },
    { "", "", CBX_EENGINE, 0, "the cluster did not start the sandbox", "" },
};

int cbx_kube_not_started(const struct cbx_kube *kube, const struct cbx_kube_pod *pod,
                         struct cbx_err *err)
{
    size_t i = 0;
    while (faults[i].reason[0] != '\0' && (strcmp(faults[i].reason, pod->reason) != 0 ||
                                           strstr(pod->message, faults[i].contains) == NULL)) {
        i++;
    }
    cbx_fail(err, faults[i].code, "%s", faults[i].text);
    if (err != NULL) {
        err->retry_s = faults[i].retry_s;
    }
    cbx_err_detail(err, "%s, node %s: %s %.250s%s%s", kube->cluster.server,
                   pod->node[0] != '\0' ? pod->node : "none", pod->reason, pod->message,
                   faults[i].remedy[0] != '\0' ? "; " : "", faults[i].remedy);
    return faults[i].code;
}
