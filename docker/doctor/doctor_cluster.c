/* SPDX-License-Identifier: MIT
 * Judges what a cluster holds, from the facts of docker/engine/kubernetes/kube_review.c. */
#include "docker/doctor/doctor_cluster.h"

#include "policies/base/buf.h"
#include "policies/base/text/json.h"

#include <string.h>

static const char *text_of(const json_t *facts, const char *name)
{
    const char *text = json_string_value(json_object_get(facts, name));
    return text != NULL ? text : "";
}

/* Each fact that is an object of the cluster: what its absence means. */
static void check_objects(const json_t *facts, const struct cbx_doctor *doctor)
{
    static const struct {
        const char *fact, *name, *found, *missing, *advice;
        enum cbx_health health; /* if it is missing */
    } rows[] = {
        { "namespace_state", "namespace", "the namespace exists",
          "the namespace of the sandboxes does not exist", "create it", CBX_HEALTH_FAIL },
        { "network_policy", "network-policy",
          "a NetworkPolicy allows no connections out of the namespace",
          "no NetworkPolicy denies connections out of the namespace: only the filter of system "
          "calls keeps programs from the network",
          "create one with podSelector {} and policyTypes [Egress, Ingress]", CBX_HEALTH_WARN },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *state = text_of(facts, rows[i].fact);
        if (strcmp(state, "found") == 0) {
            cbx_doctor_report(doctor, CBX_HEALTH_OK, rows[i].name, "", "%s", rows[i].found);
        } else if (strcmp(state, "missing") == 0) {
            cbx_doctor_report(doctor, rows[i].health, rows[i].name, rows[i].advice, "%s",
                              rows[i].missing);
        } else {
            cbx_doctor_report(doctor, CBX_HEALTH_WARN, rows[i].name,
                              "grant the gateway's account the right to read it",
                              "the gateway may not read it, so this was not checked");
        }
    }
}

static void check_rights(const json_t *facts, const struct cbx_doctor *doctor)
{
    size_t i;
    const json_t *right;
    CBX_AUTO_DONE(buf) lacking, optional;
    cbx_buf_init(&lacking, 1024);
    cbx_buf_init(&optional, 1024);
    const json_t *rights = json_object_get(facts, "rights");
    json_array_foreach(rights, i, right)
    {
        struct cbx_buf *to = json_is_true(json_object_get(right, "needed")) ? &lacking : &optional;
        if (!json_is_true(json_object_get(right, "allowed"))) {
            cbx_buf_printf(to, "%s%s", to->len > 0 ? ", " : "", text_of(right, "what"));
        }
    }
    if (json_array_size(rights) == 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "rights", "", "the cluster does not tell them");
    } else if (lacking.len > 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "rights",
                          "grant them to the gateway's account in this namespace, by a Role",
                          "the gateway may not: %s", lacking.p);
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "rights", "", "the gateway has the needed ones");
    }
    if (optional.len > 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "rights-optional",
                          "with them the doctor probes, and errors have more detail",
                          "the gateway may not: %s", optional.p);
    }
}

static void check_settings(const json_t *facts, const struct cbx_doctor *doctor)
{
    bool users = json_is_true(json_object_get(facts, "host_users"));
    bool profile = text_of(facts, "seccomp")[0] != '\0';
    bool storage = json_is_true(json_object_get(facts, "runtime_storage"));
    if (users) {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "user-namespace",
                          "leave 'host-users' out of the settings (Kubernetes 1.30 or newer)",
                          "user 65532 of a sandbox is user 65532 of the node");
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "user-namespace", "",
                          "users of a sandbox are mapped to other users of the node");
    }
    if (profile) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "seccomp", "", "nodes load the profile %s",
                          text_of(facts, "seccomp"));
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "seccomp",
                          "install docker/engine/seccomp.json on the nodes, and set "
                          "'seccomp-profile'",
                          "Pods have the profile of the node's runtime; the supervisor adds the "
                          "gateway's own from inside");
    }
    if (!storage) {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "storage",
                          "set 'storage: runtime-class', with a RuntimeClass that mounts them",
                          "/workspace and /tmp are volumes of memory without noexec and without "
                          "a limit of inodes");
    }
}

/* Without the fact the settings do not ask for packages. */
static void check_registry(const json_t *facts, const struct cbx_doctor *doctor)
{
    const char *fault = json_string_value(json_object_get(facts, "registry"));
    if (fault == NULL) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "packages", "",
                          "'packages: true' is not set, so no packages are installed");
    } else if (fault[0] != '\0') {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "packages",
                          "an account that may push there: 'registry-credentials' of the settings",
                          "no package can be installed: %s", fault);
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "packages", "",
                          "the registry of the images accepts layers of packages");
    }
}

void cbx_doctor_cluster(const char *version, const json_t *facts, const struct cbx_doctor *doctor)
{
    cbx_doctor_report(doctor, CBX_HEALTH_OK, "engine", "", "Kubernetes %s at %s, namespace %s",
                      version, text_of(facts, "server"), text_of(facts, "namespace"));
    check_rights(facts, doctor);
    check_objects(facts, doctor);
    check_settings(facts, doctor);
    check_registry(facts, doctor);
}
