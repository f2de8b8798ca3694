/* SPDX-License-Identifier: MIT
 * Packages in the executor. */
#include "gateway/executor/packages.h"

#include "docker/container.h"
#include "docker/packages.h"
#include "policies/base/deadline.h"
#include "policies/packages.h"

enum { INDEX_BYTES = 1024 };

/* Of one call: docker/ reports lines, the front gets events. */
struct progress {
    const struct cbx_sink *sink;
    bool stopped; /* the sink cancelled */
};

static void send_line(void *context, struct cbx_str text)
{
    struct progress *p = context;
    char line[CBX_PROGRESS_BYTES_MAX + 2];
    int len = snprintf(line, sizeof(line), "%.*s\n", (int)text.len, text.p);
    const struct cbx_event event = { .kind = CBX_EVENT_STDERR,
                                     .text = { .p = line, .len = (size_t)len } };
    p->stopped = p->stopped || p->sink->event(p->sink->context, &event) != 0;
}

static bool is_cancelled(void *context)
{
    const struct progress *p = context;
    return p->stopped || (p->sink->cancelled != NULL && p->sink->cancelled(p->sink->context));
}

static int send_report(const struct cbx_sink *sink, struct cbx_str report, struct cbx_err *err)
{
    enum { CHUNK = 64 * 1024 };
    for (size_t at = 0; at < report.len; at += CHUNK) {
        const struct cbx_event event = { .kind = CBX_EVENT_STDOUT,
                                         .text = cbx_str_sub(report, at, at + CHUNK) };
        if (sink->event(sink->context, &event) != 0) {
            return cbx_fail(err, CBX_ESTATE, "cancelled while packages were resolved");
        }
    }
    return 0;
}

/* The engine is there once the pool is. */
static int configure(struct cbx_executor *e, struct cbx_packages_config *out, struct cbx_err *err)
{
    struct cbx_pool *pool;
    int failed = cbx_executor_pool(e, &pool, err);
    if (failed) {
        return failed;
    }
    const struct cbx_executor_config *c = &e->config;
    *out = (struct cbx_packages_config){
        .sandbox = cbx_pool_sandboxes(pool),
        .network = c->package_network,
        .index = { [CBX_MANAGER_PIP] = c->pip_index, [CBX_MANAGER_NPM] = c->npm_registry },
        .reach = &c->network,
        .ca_bundle = c->package_ca
    };
    return 0;
}

/* The index that the policy names first, where it does not name the configured one: "" then. */
static int choose_index(struct cbx_executor *e, const struct cbx_permit *permit,
                        char out[INDEX_BYTES], struct cbx_err *err)
{
    const struct cbx_policy *policy =
        cbx_policy_history_find(&e->policies, cbx_str_of(permit->policy), &permit->policy_sha256);
    const struct cbx_packages *packages =
        policy != NULL ? cbx_policy_packages(policy, cbx_str_of(permit->language)) : NULL;
    out[0] = '\0';
    if (packages == NULL) {
        return cbx_fail(err, CBX_EINVAL, "packages cannot be installed for '%s'", permit->language);
    }
    const struct cbx_strs *indexes = &packages->indexes;
    for (size_t i = 0; i < indexes->count; i++) {
        if (cbx_str_is(indexes->items[i], "default")) {
            return 0;
        }
    }
    if (indexes->count == 0 || indexes->items[0].len >= INDEX_BYTES) {
        return cbx_fail(
            err, CBX_EINVAL,
            "policy '%s' names no index to install from: list 'default' or a URL under `indexes`",
            permit->policy);
    }
    snprintf(out, INDEX_BYTES, "%.*s", (int)indexes->items[0].len, indexes->items[0].p);
    return 0;
}

/* Each installer may use a gigabyte of memory: a few at a time, the others wait. */
static int acquire_installer(struct cbx_executor *e, struct progress *progress, struct cbx_err *err)
{
    enum { INSTALLERS_MAX = 4, TICK_MS = 200 };
    int failed = 0;
    pthread_mutex_lock(&e->lock);
    while (!failed && e->installing >= INSTALLERS_MAX) {
        cbx_cond_wait_ms(&e->installer_free, &e->lock, TICK_MS);
        if (is_cancelled(progress)) {
            failed = cbx_fail(err, CBX_ESTATE, "cancelled before packages were installed");
        }
    }
    e->installing += failed ? 0 : 1;
    pthread_mutex_unlock(&e->lock);
    return failed;
}

static void release_installer(struct cbx_executor *e)
{
    pthread_mutex_lock(&e->lock);
    e->installing--;
    pthread_cond_broadcast(&e->installer_free);
    pthread_mutex_unlock(&e->lock);
}

/* With an installer acquired. */
static int install(struct cbx_executor *e, const struct cbx_permit *permit, struct cbx_str text,
                   struct progress *state, struct cbx_err *err)
{
    const struct cbx_packages_progress progress = { send_line, is_cancelled, state };
    struct cbx_packages_config config;
    struct cbx_layer layer;
    const char *kernel = cbx_kernel_of(permit->language);
    char url[INDEX_BYTES];
    int failed = configure(e, &config, err);
    failed = failed ? failed : choose_index(e, permit, url, err);
    const char *index = !failed && url[0] != '\0' ? url : NULL;
    if (failed || permit->action == CBX_ACTION_INSTALL) {
        return failed ? failed
                      : cbx_layer_install(e->engine, &config, kernel, text, index, &progress,
                                          &layer, err);
    }
    CBX_AUTO_DONE(buf) report;
    cbx_buf_init(&report, CBX_REPORT_BYTES_MAX);
    failed = cbx_packages_resolve(e->engine, &config, kernel, text, index, &progress, &report, err);
    return failed ? failed : send_report(state->sink, cbx_buf_str(&report), err);
}

int cbx_executor_packages(struct cbx_executor *e, const struct cbx_permit *permit,
                          struct cbx_str text, const struct cbx_sink *sink, struct cbx_err *err)
{
    struct progress state = { .sink = sink };
    int failed = acquire_installer(e, &state, err);
    if (!failed) {
        failed = install(e, permit, text, &state, err);
        release_installer(e);
    }
    return failed;
}

int cbx_executor_layer(struct cbx_executor *e, const struct cbx_permit *permit, struct cbx_str set,
                       struct cbx_sandbox_layer *out, struct cbx_err *err)
{
    struct cbx_packages_config config;
    struct cbx_layer layer;
    *out = (struct cbx_sandbox_layer){ 0 };
    int failed = set.len > 0 ? configure(e, &config, err) : 0;
    if (failed || set.len == 0) {
        return failed;
    }
    failed = cbx_layer_find(e->engine, &config, cbx_kernel_of(permit->language), set, &layer, err);
    if (failed == CBX_ENOTFOUND) {
        return cbx_fail(err, CBX_EENGINE,
                        "the packages of this sandbox are not installed any more, as its image was "
                        "built anew or they were removed; ask for them again in a new session");
    }
    out->set = permit->layer;
    memcpy(out->image, layer.id, sizeof(out->image));
    return failed;
}
