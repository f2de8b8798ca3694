/* SPDX-License-Identifier: MIT
 * A container as a Pod: its body, and its state. */
#include "docker/engine/kubernetes/kube.h"

#include "docker/inside/bridge/bridge.h"
#include "docker/inside/confine/harden.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The part of the processor limit that a node reserves: sandboxes wait for most of their life. */
enum { CPU_RESERVED_PART = 10 };
/* An installer's disk has the packages, and what pip moves into their place. */
enum { DISK_COPIES = 2 };

const json_t *cbx_kube_image(const struct cbx_cluster *cluster, const char *name_or_id)
{
    const char *name;
    json_t *image;
    json_object_foreach(cluster->pods.images, name, image)
    {
        if (strcmp(name, name_or_id) == 0 ||
            cbx_str_is(cbx_json_str(json_object_get(image, "id")), name_or_id)) {
            return image;
        }
    }
    return NULL;
}

/* --- the body --------------------------------------------------------------------------------- */

static void add_variable(json_t *list, struct cbx_str text)
{
    const char *equals = text.len > 0 ? memchr(text.p, '=', text.len) : NULL;
    size_t name = equals != NULL ? (size_t)(equals - text.p) : text.len;
    json_t *variable = json_object();
    json_object_set_new(variable, "name", cbx_json_text(cbx_str_sub(text, 0, name)));
    json_object_set_new(variable, "value", cbx_json_text(cbx_str_sub(text, name + 1, text.len)));
    json_array_append_new(list, variable);
}

/* A Pod cannot limit the number of its processes; the supervisor can, if the Pod has users of its
 * own. */
static void add_processes(const struct cbx_container_spec *spec, json_t *list)
{
    char text[64];
    int n = snprintf(text, sizeof(text), CBX_HARDEN_PROCESSES_VARIABLE "=%" PRId64,
                     cbx_container_pids(spec));
    add_variable(list, (struct cbx_str){ .p = text, .len = (size_t)n });
}

static json_t *make_variables(const struct cbx_cluster_pods *pods,
                              const struct cbx_container_spec *spec)
{
    const char *const *of_role = cbx_role_traits(spec->role)->variables;
    json_t *list = json_array();
    for (size_t i = 0; of_role[i] != NULL; i++) {
        add_variable(list, cbx_str_of(of_role[i]));
    }
    for (size_t i = 0; i < spec->variable_count; i++) {
        add_variable(list, cbx_str_of(spec->variables[i]));
    }
    if (spec->role == CBX_ROLE_SANDBOX) {
        add_variable(list, CBX_STR(CBX_BRIDGE_VARIABLE "=1"));
    }
    if (spec->role == CBX_ROLE_SANDBOX && !pods->host_users) {
        add_processes(spec, list);
    }
    return list;
}

/* An installer is started by exec, so the first process of its Pod only waits, as long as the
 * installer may work. */
static json_t *make_command(const struct cbx_container_spec *spec)
{
    json_t *list = json_array();
    if (spec->role == CBX_ROLE_INSTALLER) {
        json_array_append_new(list, json_string("/usr/bin/sleep"));
        json_array_append_new(list, json_sprintf("%" PRId64, spec->lease_s));
        return list;
    }
    for (size_t i = 0; spec->command[i] != NULL; i++) {
        json_array_append_new(list, json_string(spec->command[i]));
    }
    return list;
}

static json_t *make_resources(const struct cbx_container_spec *spec)
{
    json_t *memory = json_sprintf("%" PRId64, spec->limits.memory_bytes);
    int64_t reserved = (spec->limits.cpu_milli + CPU_RESERVED_PART - 1) / CPU_RESERVED_PART;
    json_t *resources = json_pack("{s:{s:O,s:o},s:{s:o,s:o}}", "limits", "memory", memory, "cpu",
                                  json_sprintf("%" PRId64 "m", spec->limits.cpu_milli), "requests",
                                  "memory", memory, "cpu", json_sprintf("%" PRId64 "m", reserved));
    if (!cbx_role_traits(spec->role)->read_only) { /* what is written to the root is on the disk */
        json_object_set_new(json_object_get(resources, "limits"), "ephemeral-storage",
                            json_sprintf("%" PRId64, DISK_COPIES * spec->limits.disk_bytes));
    }
    return resources;
}

static json_t *make_seccomp(const struct cbx_cluster_pods *pods)
{
    if (pods->seccomp_profile == NULL) {
        return json_pack("{s:s}", "type", "RuntimeDefault");
    }
    return json_pack("{s:s,s:s}", "type", "Localhost", "localhostProfile", pods->seccomp_profile);
}

static json_t *make_container_security(const struct cbx_container_spec *spec)
{
    json_t *security = json_pack(
        "{s:b,s:b,s:b,s:b,s:i,s:i,s:{s:[s]}}", "privileged", 0, "allowPrivilegeEscalation", 0,
        "readOnlyRootFilesystem", (int)cbx_role_traits(spec->role)->read_only, "runAsNonRoot", 1,
        "runAsUser", (int)cbx_role_traits(spec->role)->user, "runAsGroup",
        (int)cbx_role_traits(spec->role)->user, "capabilities", "drop", "ALL");
    if (spec->apparmor != NULL) {
        json_object_set_new(
            security, "appArmorProfile",
            json_pack("{s:s,s:s}", "type", "Localhost", "localhostProfile", spec->apparmor));
    }
    return security;
}

/* The RuntimeClass's mounts have noexec and a limit of inodes, an emptyDir has neither. */
static void add_storage(const struct cbx_container_spec *spec, json_t *container, json_t *pod)
{
    json_t *mounts = json_array(), *volumes = json_array();
    for (size_t i = 0; i < spec->tmpfs_count; i++) {
        char name[40];
        snprintf(name, sizeof(name), "storage-%zu", i);
        json_array_append_new(
            mounts, json_pack("{s:s,s:s}", "name", name, "mountPath", spec->tmpfs[i].path));
        json_array_append_new(volumes, json_pack("{s:s,s:{s:s,s:o}}", "name", name, "emptyDir",
                                                 "medium", "Memory", "sizeLimit",
                                                 json_sprintf("%" PRId64, spec->tmpfs[i].bytes)));
    }
    json_object_set_new(container, "volumeMounts", mounts);
    json_object_set_new(pod, "volumes", volumes);
}

static json_t *make_container(const struct cbx_cluster *cluster,
                              const struct cbx_container_spec *spec, const char *image)
{
    const struct cbx_role_traits *role = cbx_role_traits(spec->role);
    json_t *container =
        json_pack("{s:s,s:s,s:s,s:s}", "name", "sandbox", "image", image, "imagePullPolicy",
                  cluster->pods.pull_policy, "workingDir", role->folder);
    json_object_set_new(container, "command", make_command(spec));
    json_object_set_new(container, "env", make_variables(&cluster->pods, spec));
    json_object_set_new(container, "resources", make_resources(spec));
    json_object_set_new(container, "securityContext", make_container_security(spec));
    return container;
}

static json_t *make_labels(const struct cbx_container_spec *spec)
{
    json_t *labels = json_pack("{s:s,s:s,s:s,s:s}", CBX_LABEL_OWNED, "1", CBX_LABEL_INSTANCE,
                               spec->instance, CBX_LABEL_KERNEL, spec->kernel, CBX_LABEL_ISOLATION,
                               cbx_container_isolation(spec));
    json_object_set_new(labels, CBX_LABEL_CREATED, json_sprintf("%lld", (long long)time(NULL)));
    if (cbx_role_traits(spec->role)->network) {
        json_object_set_new(labels, CBX_LABEL_NETWORK, json_string("1"));
    }
    if (spec->lease_s != 0) {
        json_object_set_new(labels, CBX_LABEL_LEASE, json_sprintf("%" PRId64, spec->lease_s));
    }
    return labels;
}

/* A node that fails: the sandbox's Pod is gone at once, not after five minutes. */
static json_t *make_tolerations(const json_t *more)
{
    static const char *const taints[] = { "node.kubernetes.io/not-ready",
                                          "node.kubernetes.io/unreachable" };
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof(taints) / sizeof(taints[0]); i++) {
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s,s:i}", "key", taints[i], "operator", "Exists",
                                        "effect", "NoExecute", "tolerationSeconds", 0));
    }
    size_t i;
    json_t *item;
    json_array_foreach(more, i, item)
    {
        json_array_append_new(list, json_deep_copy(item));
    }
    return list;
}

static void place(const struct cbx_cluster_pods *pods, const char *runtime, json_t *spec)
{
    json_object_set_new(spec, "tolerations", make_tolerations(pods->tolerations));
    if (runtime != NULL) {
        json_object_set_new(spec, "runtimeClassName", json_string(runtime));
    }
    if (pods->node_selector != NULL) {
        json_object_set_new(spec, "nodeSelector", json_deep_copy(pods->node_selector));
    }
    if (pods->priority_class != NULL) {
        json_object_set_new(spec, "priorityClassName", json_string(pods->priority_class));
    }
    size_t i;
    json_t *name;
    json_t *secrets = json_array();
    json_array_foreach(pods->pull_secrets, i, name)
    {
        json_array_append_new(secrets, json_pack("{s:O}", "name", name));
    }
    if (json_array_size(secrets) > 0) {
        json_object_set(spec, "imagePullSecrets", secrets);
    }
    json_decref(secrets);
}

/* The resolver's address of a sandbox is none that answers: it has no network. */
static void set_resolver(const struct cbx_container_spec *spec, json_t *pod)
{
    if (cbx_role_traits(spec->role)->network) {
        json_object_set_new(pod, "dnsPolicy", json_string("ClusterFirst"));
        return;
    }
    json_object_set_new(pod, "dnsPolicy", json_string("None"));
    json_object_set_new(pod, "dnsConfig", json_pack("{s:[s]}", "nameservers", "127.0.0.1"));
}

/* A sandbox's RuntimeClass may have no network, so an installer has its own, or the node's. */
static const char *choose_runtime(const struct cbx_cluster_pods *pods,
                                  const struct cbx_container_spec *spec)
{
    return cbx_role_traits(spec->role)->network ? pods->installer_runtime : spec->runtime;
}

static json_t *make_pod_spec(const struct cbx_cluster *cluster,
                             const struct cbx_container_spec *spec, const char *image)
{
    const struct cbx_role_traits *role = cbx_role_traits(spec->role);
    json_t *container = make_container(cluster, spec, image);
    json_t *pod = json_pack("{s:s,s:b,s:b,s:i,s:s}", "restartPolicy", "Never",
                            "automountServiceAccountToken", 0, "enableServiceLinks", 0,
                            "terminationGracePeriodSeconds", 0, "hostname", role->hostname);
    set_resolver(spec, pod);
    json_object_set_new(pod, "securityContext",
                        json_pack("{s:b,s:i,s:i,s:i,s:o}", "runAsNonRoot", 1, "runAsUser",
                                  (int)role->user, "runAsGroup", (int)role->user, "fsGroup",
                                  (int)role->user, "seccompProfile", make_seccomp(&cluster->pods)));
    if (!cluster->pods.host_users) {
        json_object_set_new(pod, "hostUsers", json_false());
    }
    if (!cluster->pods.runtime_storage || role->network) {
        add_storage(spec, container, pod);
    }
    json_object_set_new(pod, "containers", json_pack("[o]", container));
    place(&cluster->pods, choose_runtime(&cluster->pods, spec), pod);
    return pod;
}

/* What a policy may ask for, and a cluster does not have. */
static int check_possible(const struct cbx_cluster *cluster, const struct cbx_container_spec *spec,
                          struct cbx_err *err)
{
    bool installs = spec->role == CBX_ROLE_INSTALLER && cluster->pods.packages;
    if (cbx_role_traits(spec->role)->network && !installs) {
        cbx_fail(err, CBX_ESTATE,
                 "sandboxes on this cluster have no network and install no packages");
        return cbx_err_detail(err, "'packages: true' in the cluster's settings installs packages");
    }
    if (spec->network != NULL) {
        return cbx_fail(err, CBX_ESTATE, "a cluster has no network '%s' for installers",
                        spec->network);
    }
    if (spec->mount_count > 0) {
        return cbx_fail(err, CBX_ESTATE, "folders of the host cannot be mounted on a cluster");
    }
    if (cluster->pods.runtime_storage && spec->role == CBX_ROLE_SANDBOX && spec->runtime == NULL) {
        return cbx_fail(err, CBX_EENGINE,
                        "'storage: runtime-class' in the cluster's settings needs --runtime, which "
                        "names that RuntimeClass");
    }
    return 0;
}

int cbx_kube_pod_body(const struct cbx_cluster *cluster, const struct cbx_container_spec *spec,
                      const char *image, const char *name, json_t **out, struct cbx_err *err)
{
    int failed = check_possible(cluster, spec, err);
    if (failed) {
        return failed;
    }
    json_t *metadata = json_pack("{s:s,s:s,s:o}", "name", name, "namespace", cluster->namespace,
                                 "labels", make_labels(spec));
    *out = json_pack("{s:s,s:s,s:o,s:o}", "apiVersion", "v1", "kind", "Pod", "metadata", metadata,
                     "spec", make_pod_spec(cluster, spec, image));
    return 0;
}

/* --- the state -------------------------------------------------------------------------------- */

/* Reasons for which a container will not start, however long one waits. The kubelet repeats a
 * failed pull (ErrImagePull), but a person must act first. */
static bool is_final(const char *reason)
{
    static const char *const finals[] = { "ErrImagePull",
                                          "ImagePullBackOff",
                                          "ErrImageNeverPull",
                                          "InvalidImageName",
                                          "CreateContainerConfigError",
                                          "CreateContainerError",
                                          "RunContainerError",
                                          "CrashLoopBackOff" };
    for (size_t i = 0; i < sizeof(finals) / sizeof(finals[0]); i++) {
        if (strcmp(reason, finals[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void copy(char *out, size_t size, const json_t *object, const char *name)
{
    snprintf(out, size, "%.*s", CBX_JSON_ARG(object, name));
}

/* Why the scheduler found no node yet. */
static void read_conditions(const json_t *status, struct cbx_kube_pod *out)
{
    size_t i;
    const json_t *condition;
    json_array_foreach(json_object_get(status, "conditions"), i, condition)
    {
        if (cbx_str_is(cbx_json_str(json_object_get(condition, "type")), "PodScheduled") &&
            cbx_str_is(cbx_json_str(json_object_get(condition, "status")), "False")) {
            copy(out->reason, sizeof(out->reason), condition, "reason");
            copy(out->message, sizeof(out->message), condition, "message");
        }
    }
}

static void read_container(const json_t *state, struct cbx_kube_pod *out)
{
    const json_t *waiting = json_object_get(state, "waiting");
    const json_t *ended = json_object_get(state, "terminated");
    if (json_object_get(state, "running") != NULL) {
        out->phase = CBX_POD_RUNNING;
    } else if (ended != NULL) {
        out->phase = CBX_POD_ENDED;
        out->exit_code = (int)json_integer_value(json_object_get(ended, "exitCode"));
        copy(out->reason, sizeof(out->reason), ended, "reason");
        copy(out->message, sizeof(out->message), ended, "message");
        out->oom_killed = strcmp(out->reason, "OOMKilled") == 0;
    } else if (waiting != NULL) {
        copy(out->reason, sizeof(out->reason), waiting, "reason");
        copy(out->message, sizeof(out->message), waiting, "message");
        out->phase = is_final(out->reason) ? CBX_POD_FAULTY : CBX_POD_PENDING;
    }
}

void cbx_kube_pod_read(const json_t *pod, struct cbx_kube_pod *out)
{
    const json_t *status = json_object_get(pod, "status");
    struct cbx_str phase = cbx_json_str(json_object_get(status, "phase"));
    const json_t *container = json_array_get(json_object_get(status, "containerStatuses"), 0);
    *out = (struct cbx_kube_pod){ .phase = CBX_POD_PENDING };
    copy(out->node, sizeof(out->node), json_object_get(pod, "spec"), "nodeName");
    read_conditions(status, out);
    read_container(json_object_get(container, "state"), out);
    bool ended = cbx_str_is(phase, "Failed") || cbx_str_is(phase, "Succeeded");
    bool has_reason = cbx_json_str(json_object_get(status, "reason")).len > 0;
    if (ended &&
        (has_reason || out->phase != CBX_POD_ENDED)) { /* evicted, or refused by the node */
        out->phase = CBX_POD_ENDED;
        copy(out->reason, sizeof(out->reason), status, "reason");
        copy(out->message, sizeof(out->message), status, "message");
    }
    bool removed = json_object_get(json_object_get(pod, "metadata"), "deletionTimestamp") != NULL;
    if (removed && out->phase == CBX_POD_RUNNING) {
        out->phase = CBX_POD_ENDED;
    }
    /* A Pod whose container ended by itself has no reason of its own. */
    out->taken = removed || (ended && has_reason);
}
