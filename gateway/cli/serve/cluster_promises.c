/* SPDX-License-Identifier: MIT
 * Compares policies with what a cluster can hold. */
#include "gateway/cli/serve/cluster_promises.h"

#include "docker/engine/engine.h"
#include "docker/engine/kubernetes/cluster.h"
#include "docker/kernel_names.h"
#include "gateway/executor/run/images.h"
#include "policies/base/log.h"

struct context {
    const struct cbx_executor_config *executor;
    struct cbx_cluster settings;
};

static bool grants_hosts(const struct cbx_policy *policy, const struct context *c)
{
    (void)c;
    return policy->egress.count > 0;
}

static bool allows_mounts(const struct cbx_policy *policy, const struct context *c)
{
    (void)c;
    return policy->mounts.allow_count > 0;
}

static bool lacks_gvisor(const struct cbx_policy *policy, const struct context *c)
{
    return policy->limits.isolation == CBX_ISOLATION_GVISOR && c->executor->gvisor_runtime == NULL;
}

static bool lacks_image(const struct cbx_policy *policy, const struct context *c)
{
    const struct cbx_sandbox_config gateway = { .variant = c->executor->variant };
    const char *kernel;
    for (size_t i = 0; (kernel = cbx_kernel_at(i)) != NULL; i++) {
        struct cbx_image_choice choice;
        char name[CBX_IMAGE_NAME_BYTES];
        cbx_image_choose(&gateway, policy, kernel, &choice);
        cbx_image_name(c->executor->image_prefix, kernel, choice.config.variant, name);
        if (choice.variant[0] != '\0' && json_object_get(c->settings.pods.images, name) == NULL) {
            return true;
        }
    }
    return false;
}

static bool cannot_count_processes(const struct cbx_policy *policy, const struct context *c)
{
    (void)policy;
    return c->settings.pods.host_users;
}

static bool allows_packages(const struct cbx_policy *policy, const struct context *c)
{
    bool allowed = policy->pip.mode != CBX_PACKAGES_NONE || policy->npm.mode != CBX_PACKAGES_NONE;
    return allowed && !c->settings.pods.packages;
}

struct promise {
    const char *key; /* of the policy */
    bool (*fails)(const struct cbx_policy *policy, const struct context *c);
    const char *why, *remedy;
};

static const struct promise refused[] = {
    { "network", grants_hosts, "sandboxes on a cluster have no network",
      "remove its 'egress', or use --engine docker" },
    { "mounts", allows_mounts, "folders of the host cannot be mounted on a cluster",
      "remove its 'allow', or use --engine docker" },
    { "limits", lacks_gvisor, "it has 'isolation: gvisor', and no RuntimeClass of gVisor is named",
      "name it with --gvisor-runtime" },
    { "images", lacks_image, "the images file of --cluster lacks an image that it chooses",
      "push it with 'codebox image push --name NAME'" },
};

/* Held in part: another part of the cluster can hold the first, and every request is told about the
 * second, which most presets allow. */
static const struct partial {
    struct promise promise;
    enum cbx_log_level level;
} partial[] = {
    { { "limits", cannot_count_processes,
        "with 'host-users: true' a Pod cannot limit its processes ('pids')",
        "set podPidsLimit of the kubelets, or leave 'host-users' out (Kubernetes 1.30 or newer)" },
      CBX_LOG_WARNING },
    { { "packages", allows_packages,
        "this cluster installs no packages, so 'dependencies' are refused",
        "set 'packages: true' in the cluster's settings, or build them into an image: codebox "
        "image "
        "build --packages" },
      CBX_LOG_INFO },
};

static bool describe(const struct promise *promise, const struct cbx_policy *policy,
                     const struct context *c, struct cbx_err *out)
{
    *out = (struct cbx_err){ 0 };
    if (!promise->fails(policy, c)) {
        return false;
    }
    cbx_fail(out, CBX_EPOLICY, "policy '%.*s', key '%s': %s; %s", CBX_STR_SHOWN(policy->name),
             promise->key, promise->why, promise->remedy);
    return true;
}

static void check_policy(const struct cbx_policy *policy, const struct context *c,
                         struct cbx_problems *out)
{
    struct cbx_err one;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (describe(&refused[i], policy, c, &one)) {
            cbx_problems_add(out, &one);
        }
    }
    for (size_t i = 0; i < sizeof(partial) / sizeof(partial[0]); i++) {
        if (describe(&partial[i].promise, policy, c, &one)) {
            cbx_log(partial[i].level, "%s", one.text);
        }
    }
}

int cbx_cluster_promises_check(const struct cbx_policies *policies,
                               const struct cbx_executor_config *executor, struct cbx_problems *out,
                               struct cbx_err *err)
{
    struct context c = { .executor = executor };
    if (!cbx_engine_is_cluster(executor->docker_host)) {
        return 0;
    }
    int failed = cbx_cluster_read_settings(executor->docker_host, &c.settings, err);
    if (failed) {
        cbx_problems_add(out, err);
        return failed;
    }
    size_t before = out->count;
    for (size_t i = 0; i < policies->count; i++) {
        check_policy(policies->items[i], &c, out);
    }
    cbx_cluster_done(&c.settings);
    if (out->count == before) {
        return 0;
    }
    *err = out->items[out->count - 1];
    return err->code;
}
