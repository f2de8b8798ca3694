/* SPDX-License-Identifier: MIT
 * Packages that are built into an image. */
#include "gateway/cli/image/image_packages.h"

#include "gateway/cli/cli.h"
#include "gateway/front/denial/denial.h"
#include "gateway/front/service/dependencies.h"
#include "gateway/front/service/service_packages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *language_of(const struct cbx_image_packages *packages)
{
    if (packages->lock != NULL) {
        return packages->lock->language;
    }
    return packages->options->language != NULL ? packages->options->language : "python";
}

const char *cbx_image_packages_kernel(const struct cbx_image_packages *packages)
{
    return cbx_kernel_of(language_of(packages));
}

static void show_progress(void *context, struct cbx_str line)
{
    (void)context;
    fprintf(stderr, "  IMAGE %.*s\n", CBX_STR_ARG(line));
}

static int report_denial(const struct cbx_flow *flow, const struct cbx_outcome *outcome)
{
    struct cbx_denial denial = { .decision = outcome->decision,
                                 .ask = outcome->verdict == CBX_ASK };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 2 * CBX_DENIAL_BYTES_MAX);
    cbx_denial_add(&denial, &text);
    fputs(text.p, stderr);
    fprintf(stderr,
            "codebox: no packages were built in: denied by policy %.*s (decision %s, audit record "
            "%llu)\n",
            CBX_STR_ARG(cbx_flow_policies(flow)->items[0]->name), outcome->id,
            (unsigned long long)outcome->audit_seq);
    return 1;
}

/* --packages */
static int install_named(struct cbx_service *service, const struct cbx_image_packages *packages,
                         const char *principal, struct cbx_buf *set, struct cbx_outcome *outcome,
                         struct cbx_err *err)
{
    const struct cbx_options *options = packages->options;
    CBX_AUTO_JSON list = json_array();
    for (size_t i = 0; i < options->packages.count; i++) {
        json_t *text = json_string(options->packages.items[i]);
        json_array_append_new(list, text != NULL ? text : json_string("?"));
    }
    const struct cbx_dependencies dependencies = { .list = list,
                                                   .policy = CBX_STR(""),
                                                   .language = language_of(packages),
                                                   .origin = CBX_STR("image"),
                                                   .principal = principal,
                                                   .progress = show_progress };
    return cbx_service_have_dependencies(service, &dependencies, set, outcome, err);
}

/* --lock: the file goes the way of what pip and npm resolve; the image's own packages do not
 * stand for packages of the file. */
static int install_locked(struct cbx_service *service, const struct cbx_image_packages *packages,
                          const char *principal, struct cbx_buf *set, struct cbx_outcome *outcome,
                          struct cbx_err *err)
{
    const struct cbx_lockfile *file = &packages->lock->file;
    struct cbx_package_order order = { .policy = CBX_STR(""),
                                       .language = language_of(packages),
                                       .origin = CBX_STR("image"),
                                       .principal = principal,
                                       .progress = show_progress };
    if (file->manager == CBX_MANAGER_NPM) {
        order.report = file->text;
    } else {
        order.requirements = file->text;
    }
    int failed = cbx_service_install(service, &order, set, outcome, err);
    if (failed || outcome->verdict != CBX_ALLOW) {
        return failed;
    }
    failed = cbx_lockfile_compare(file, cbx_buf_str(set), err);
    if (failed) {
        return cbx_wrap(err, "%s", packages->options->lock);
    }
    return 0;
}

/* Runs in the front. */
static int install(const struct cbx_image_packages *packages, struct cbx_flow *flow, int to)
{
    static struct cbx_service service;
    struct cbx_err err = { 0 };
    char principal[32];
    snprintf(principal, sizeof(principal), "uid:%u", (unsigned)getuid());
    CBX_AUTO_DONE(outcome) outcome = { .verdict = CBX_ALLOW };
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, CBX_PACKAGE_SET_BYTES_MAX);
    cbx_service_init_packages(&service, flow);
    int failed;
    if (packages->lock != NULL) {
        failed = install_locked(&service, packages, principal, &set, &outcome, &err);
    } else {
        failed = install_named(&service, packages, principal, &set, &outcome, &err);
    }
    cbx_service_forget_packages(&service);
    if (failed) {
        return cbx_cli_fail(&err);
    }
    if (outcome.verdict != CBX_ALLOW) {
        return report_denial(flow, &outcome);
    }
    if (cbx_cli_write(to, cbx_buf_str(&set)) != 0) {
        cbx_fail(&err, CBX_EIO, "the packages cannot be passed on: %s", strerror(errno));
        return cbx_cli_fail(&err);
    }
    return 0;
}

/* Runs in the child: it becomes a gateway, whose front returns here. */
static int start(const struct cbx_image_packages *packages, int to)
{
    struct cbx_err err = { 0 };
    struct cbx_flow flow;
    struct cbx_flow_config config = cbx_options_flow(packages->options);
    cbx_options_log(packages->options, CBX_LOG_WARNING, false);
    config.executor.image_prefix = packages->prefix;
    config.front_role = CBX_ROLE_CALLER;
    config.front_fd = to;
    if (cbx_flow_start(&config, &flow, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    int status = install(packages, &flow, to);
    cbx_flow_done(&flow);
    return status;
}

static int read_all(int from, struct cbx_buf *out)
{
    char bytes[16 * 1024];
    ssize_t n;
    while ((n = read(from, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR)) {
        cbx_buf_add_bytes(out, bytes, n > 0 ? (size_t)n : 0);
    }
    return n < 0 || out->overflow ? -1 : 0;
}

int cbx_image_packages_install(const struct cbx_image_packages *packages, struct cbx_buf *set)
{
    int ends[2], status = 0;
    struct cbx_err err = { 0 };
    fflush(NULL);
    if (pipe(ends) < 0) {
        cbx_fail(&err, CBX_EIO, "pipe: %s", strerror(errno));
        return cbx_cli_fail(&err);
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(start(packages, ends[1]));
    }
    close(ends[1]);
    int failed = child < 0 ? -1 : read_all(ends[0], set);
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) != 0) {
        return WEXITSTATUS(status);
    }
    if (failed || !WIFEXITED(status)) {
        cbx_fail(&err, CBX_EIO, "the packages were not installed: the process for it failed");
        return cbx_cli_fail(&err);
    }
    return 0;
}

int cbx_image_packages_layer(const struct cbx_image_packages *packages, const char *docker_host,
                             struct cbx_str set, char id[CBX_IMAGE_ID_CHARS + 1],
                             char image[CBX_IMAGE_NAME_BYTES])
{
    const char *variant = cbx_options_variant(packages->options);
    const struct cbx_sandbox_config sandboxes = { .image_prefix = packages->prefix,
                                                  .variant = variant };
    const struct cbx_packages_config config = { .sandbox = &sandboxes };
    const char *kernel = cbx_image_packages_kernel(packages);
    CBX_AUTO(engine) engine = NULL;
    struct cbx_layer layer;
    struct cbx_err err = { 0 };
    if (cbx_engine_new(docker_host, &engine, &err) != 0 ||
        cbx_layer_find(engine, &config, kernel, set, &layer, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    memcpy(id, layer.id, sizeof(layer.id));
    cbx_image_variant(kernel, variant, image);
    return 0;
}
