/* SPDX-License-Identifier: MIT
 * The address and the credentials of a cluster (kubeconfig, or the service account of the Pod that
 * this process runs in), and the operator's settings for Pods. */
#ifndef CBX_DOCKER_ENGINE_KUBERNETES_CLUSTER_H
#define CBX_DOCKER_ENGINE_KUBERNETES_CLUSTER_H

#include "policies/base/auto.h"
#include "policies/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Settings of Pods, from the settings file; texts are owned, NULL = not set. */
struct cbx_cluster_pods {
    char *seccomp_profile; /* below the kubelet's folder of profiles; NULL = RuntimeDefault */
    char *pull_policy;     /* IfNotPresent, Always or Never */
    char *priority_class;
    bool host_users;      /* true: no user namespace (Kubernetes before 1.30) */
    bool runtime_storage; /* true: the RuntimeClass mounts /workspace and /tmp; else emptyDir */
    bool packages;        /* true: layers of packages are pushed to the registry of the images */
    char *registry_credentials; /* path of a Docker configuration file; NULL = none */
    char *registry_ca;          /* path of PEM; NULL = the system's CAs */
    char *installer_runtime;    /* RuntimeClass of installers, which have a network; NULL = none */
    int64_t start_ms;           /* until a Pod must run */
    json_t *node_selector;      /* object of strings; NULL = none */
    json_t *tolerations;        /* array, as in a Pod; NULL = none */
    json_t *pull_secrets;       /* array of names; NULL = none */
    char *images_file;          /* path of what `codebox image push` wrote; NULL = none */
    json_t *images; /* its content: {"codebox-python:latest": {reference, id, size, labels}} */
};

struct cbx_cluster {
    char *server;                 /* "https://10.0.0.1:6443", without a slash at the end */
    char *ca, *certificate, *key; /* PEM; NULL = the system's CAs, no client certificate */
    char *token;                  /* NULL = none, or in the file */
    char *token_file;             /* rotated by the cluster; NULL = none */
    char *namespace;
    struct cbx_cluster_pods pods;
};
void cbx_cluster_done(struct cbx_cluster *cluster);
CBX_DEFINE_AUTO_DONE(cluster)

/* The host of an engine on a cluster: "kubernetes:KUBECONFIG:SETTINGS"; each path may be empty.
 * Without a kubeconfig: $KUBECONFIG, the service account, ~/.kube/config. */
#define CBX_CLUSTER_SCHEME "kubernetes:"

/* Writes the paths of a host; false if it has another form, or a path is too long. */
enum { CBX_CLUSTER_PATH_BYTES = 400 };
struct cbx_cluster_paths {
    char kubeconfig[CBX_CLUSTER_PATH_BYTES]; /* empty = the service account of this Pod */
    char settings[CBX_CLUSTER_PATH_BYTES];   /* empty = none */
};
bool cbx_cluster_paths(const char *host, struct cbx_cluster_paths *out);

/* The folder of the service account's files. */
#define CBX_CLUSTER_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

/* Reads the files. CBX_EENGINE; the detail names the file and its fault. */
int cbx_cluster_read(const char *host, struct cbx_cluster *out, struct cbx_err *err);

/* Reads the settings alone, and no credentials: out->pods, and the namespace if they have it. The
 * same errors. */
int cbx_cluster_read_settings(const char *host, struct cbx_cluster *out, struct cbx_err *err);

/* Reads a file completely, at most 1 MiB, into *out (owned). CBX_EENGINE. */
int cbx_cluster_file(const char *path, char **out, struct cbx_err *err);

#endif
