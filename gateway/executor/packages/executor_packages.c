/* SPDX-License-Identifier: MIT
 * Packages in the executor. */
#include "gateway/executor/packages/executor_packages.h"

#include "analyzer/packages/known.h"
#include "docker/kernel_names.h"
#include "docker/packages/package_layers.h"
#include "gateway/executor/run/images.h"
#include "gateway/ipc/metrics.h"
#include "policies/packages.h"

enum { INDEX_BYTES = 1024 };

/* The progress of one call: docker/ reports lines, the front receives events. */
struct progress {
    struct cbx_executor *executor;
    const struct cbx_sink *sink;
    bool stopped; /* true after the sink cancelled */
    /* number of installs before this one, as last sent to the client; -1 = none sent */
    int ahead;
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
    return p->stopped || cbx_executor_is_stopping(p->executor) ||
           (p->sink->cancelled != NULL && p->sink->cancelled(p->sink->context));
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

/* {MODULE: [PACKAGE, ...]} for the modules of the first level; never freed. */
static json_t *providers;

static void list_providers(void)
{
    struct cbx_str import, distributions;
    providers = json_object();
    for (size_t i = 0; cbx_known_import_at(i, &import, &distributions); i++) {
        char module[64];
        const char *dot = memchr(import.p, '.', import.len);
        snprintf(module, sizeof(module), "%.*s",
                 (int)(dot != NULL ? dot - import.p : (long)import.len), import.p);
        json_t *list = json_object_get(providers, module);
        if (list == NULL) {
            list = json_array();
            json_object_set_new(providers, module, list);
        }
        while (distributions.len > 0) {
            const char *blank = memchr(distributions.p, ' ', distributions.len);
            size_t len = blank != NULL ? (size_t)(blank - distributions.p) : distributions.len;
            json_array_append_new(list, cbx_json_text(cbx_str_sub(distributions, 0, len)));
            distributions = cbx_str_sub(distributions, len + 1, distributions.len);
        }
    }
}

/* The configuration for a kernel under a policy (NULL = no policy). */
struct setup {
    struct cbx_image_choice images;
    struct cbx_packages_config packages; /* borrows from `images` */
};

/* The engine exists after the pool was created. */
static int configure(struct cbx_executor *e, const struct cbx_policy *policy, const char *kernel,
                     struct setup *setup, struct cbx_err *err)
{
    struct cbx_pool *pool;
    int failed = cbx_executor_pool(e, &pool, err);
    if (failed) {
        return failed;
    }
    cbx_image_choose(cbx_pool_sandboxes(pool), policy, kernel, &setup->images);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, list_providers);
    const struct cbx_executor_config *c = &e->config;
    setup->packages = (struct cbx_packages_config){
        .sandbox = &setup->images.config,
        .network = c->package_network,
        .index = { [CBX_MANAGER_PIP] = c->pip_index, [CBX_MANAGER_NPM] = c->npm_registry },
        .reach = &c->network,
        .providers = providers,
        .ca_bundle = c->package_ca,
        .timeout_ms = (uint32_t)c->install_ms
    };
    return 0;
}

static const struct cbx_policy *policy_of(struct cbx_executor *e, const struct cbx_permit *permit)
{
    return cbx_policy_history_find(&e->policies, cbx_str_of(permit->policy),
                                   &permit->policy_sha256);
}

/* Chooses the first index of the policy, if the policy does not list the configured one: ""
 * then. */
static int choose_index(struct cbx_executor *e, const struct cbx_permit *permit,
                        char out[INDEX_BYTES], struct cbx_err *err)
{
    const struct cbx_policy *policy = policy_of(e, permit);
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

/* --- turns ------------------------------------------------------------------------------------ */

/* Each installer may use a gigabyte of memory. An index that does not reply holds an installer
 * until its timeout: a principal has half of the installers at most, so one index blocks no
 * other principal. */
struct cbx_turns *cbx_executor_install_turns(int max)
{
    enum { INSTALLERS = 4, WAITING = 128, OWN_WAITING = 32 };
    int running = max > 0 ? max : INSTALLERS;
    const struct cbx_turns_config config = { .what = "installs of packages",
                                             .running = running,
                                             .waiting = WAITING,
                                             .own_running = (running + 1) / 2,
                                             .own_waiting = OWN_WAITING };
    return cbx_turns_new(&config);
}

/* Sends the client the number of runs before it, if the number has changed. */
static bool gives_up(void *context, int ahead)
{
    struct progress *p = context;
    if (ahead != p->ahead) {
        char line[CBX_PROGRESS_BYTES_MAX];
        int len = snprintf(line, sizeof(line), "queued: %d install%s before this one", ahead,
                           ahead == 1 ? " is" : "s are");
        p->ahead = ahead;
        send_line(p, (struct cbx_str){ .p = line, .len = (size_t)len });
    }
    return is_cancelled(p);
}

static int take_turn(struct cbx_executor *e, const struct cbx_permit *permit, struct progress *p,
                     struct cbx_err *err)
{
    enum { RETRY_S = 10 };
    const struct cbx_turn_wait wait = {
        .principal = permit->principal, .run = permit->decision, .gives_up = gives_up, .context = p
    };
    int64_t began_us = cbx_metric_clock_us();
    int failed = cbx_turns_take(e->installs, &wait, err);
    cbx_metric_observe(CBX_METRIC_INSTALL_QUEUE_TIME, cbx_metric_clock_us() - began_us);
    if (failed == CBX_EBUSY) {
        const struct cbx_err full = *err;
        cbx_fail(err, CBX_EQUOTA, "%s", full.text);
        err->retry_s = RETRY_S;
    }
    return failed == CBX_EBUSY ? CBX_EQUOTA : failed;
}

/* --- the two steps ---------------------------------------------------------------------------- */

/* Parameters of both steps. */
struct order {
    struct setup setup;
    const char *kernel, *index; /* index: NULL = the configured one */
    char url[INDEX_BYTES];
    struct cbx_packages_progress progress;
};

static int read_order(struct cbx_executor *e, const struct cbx_permit *permit,
                      struct progress *progress, struct order *out, struct cbx_err *err)
{
    *out = (struct order){ .kernel = cbx_kernel_of(permit->language),
                           .progress = { send_line, is_cancelled, progress } };
    int failed = configure(e, policy_of(e, permit), out->kernel, &out->setup, err);
    if (failed) {
        return failed;
    }
    failed = choose_index(e, permit, out->url, err);
    out->index = out->url[0] != '\0' ? out->url : NULL;
    return failed;
}

static int resolve(struct cbx_executor *e, const struct order *order, struct cbx_str text,
                   const struct cbx_sink *sink, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) report;
    cbx_buf_init(&report, CBX_REPORT_BYTES_MAX);
    int failed = cbx_packages_resolve(e->engine, &order->setup.packages, order->kernel, text,
                                      order->index, &order->progress, &report, err);
    if (failed) {
        return failed;
    }
    return send_report(sink, cbx_buf_str(&report), err);
}

static int install(struct cbx_executor *e, const struct cbx_permit *permit, struct order *order,
                   struct cbx_str set, int64_t own_layers, struct cbx_err *err)
{
    struct cbx_layer layer;
    int64_t bytes = 0;
    int failed = cbx_layers_reserve(e->layers, e->engine, &order->setup.packages, order->kernel,
                                    permit->principal, own_layers, &bytes, err);
    if (failed) {
        return failed;
    }
    order->setup.packages.unpacked_bytes = (uint64_t)bytes;
    failed = cbx_layer_install(e->engine, &order->setup.packages, order->kernel, set, order->index,
                               &order->progress, &layer, err);
    cbx_layers_release(e->layers, bytes, failed ? NULL : &layer, permit->principal);
    return failed;
}

/* CBX_ENOTFOUND: an installer is needed. */
static int find_layer(struct cbx_executor *e, const struct cbx_permit *permit,
                      const struct order *order, struct cbx_str set, struct cbx_err *err)
{
    struct cbx_layer layer;
    if (permit->action != CBX_ACTION_INSTALL) {
        return CBX_ENOTFOUND;
    }
    int failed = cbx_layer_find(e->engine, &order->setup.packages, order->kernel, set, &layer, err);
    if (!failed) {
        cbx_layers_note_use(e->layers, &layer);
    }
    return failed;
}

/* Called with a turn. Another install may have made the layer meanwhile. */
static int carry_out(struct cbx_executor *e, const struct cbx_permit *permit, struct order *order,
                     struct cbx_str text, int64_t own_layers, const struct cbx_sink *sink,
                     struct cbx_err *err)
{
    struct cbx_err absent = { 0 };
    if (permit->action != CBX_ACTION_INSTALL) {
        return resolve(e, order, text, sink, err);
    }
    if (find_layer(e, permit, order, text, &absent) != 0) {
        return install(e, permit, order, text, own_layers, err);
    }
    return 0;
}

int cbx_executor_packages(struct cbx_executor *e, const struct cbx_permit *permit,
                          struct cbx_str text, int64_t own_layers, const struct cbx_sink *sink,
                          struct cbx_err *err)
{
    struct progress state = { .executor = e, .sink = sink, .ahead = -1 };
    struct order order;
    struct cbx_err absent = { 0 };
    int failed = read_order(e, permit, &state, &order, err);
    if (failed) {
        return failed;
    }
    int found = find_layer(e, permit, &order, text, &absent);
    if (found != CBX_ENOTFOUND) {
        if (found != 0) {
            *err = absent;
        }
        return found;
    }
    failed = take_turn(e, permit, &state, err);
    if (failed) {
        return failed;
    }
    if (is_cancelled(&state)) {
        failed = cbx_fail(err, CBX_ECANCELLED, "cancelled before it began");
    } else {
        failed = carry_out(e, permit, &order, text, own_layers, sink, err);
    }
    cbx_turns_end(e->installs, permit->principal);
    return failed;
}

/* --- layers ----------------------------------------------------------------------------------- */

int cbx_executor_has_layer(struct cbx_executor *e, const char *language, struct cbx_str policy,
                           struct cbx_str set, struct cbx_err *err)
{
    struct setup setup;
    struct cbx_layer layer;
    const char *kernel = cbx_kernel_of(language);
    if (kernel == NULL) {
        return cbx_fail(err, CBX_EINVAL, "there is no such language");
    }
    int failed = configure(e, cbx_policies_find(cbx_policy_history_last(&e->policies), policy),
                           kernel, &setup, err);
    if (failed) {
        return failed;
    }
    failed = cbx_layer_find(e->engine, &setup.packages, kernel, set, &layer, err);
    if (!failed) {
        cbx_layers_note_use(e->layers, &layer);
    }
    return failed;
}

/* Finds an image that the policy names: the sandbox starts from its id, so a sandbox prewarmed
 * from it has exactly that image. */
static int find_own_image(struct cbx_executor *e, const struct cbx_permit *permit,
                          const struct cbx_image_choice *images, struct cbx_sandbox_layer *out,
                          struct cbx_err *err)
{
    char name[CBX_IMAGE_NAME_BYTES];
    if (images->variant[0] == '\0') {
        return 0;
    }
    const char *kernel = cbx_kernel_of(permit->language);
    cbx_image_name(images->config.image_prefix, kernel, images->variant, name);
    int failed = cbx_engine_image_id(e->engine, name, out->image, err);
    if (failed == CBX_ENOTFOUND) {
        return cbx_fail(err, CBX_EENGINE,
                        "policy '%s' takes the image '%s' for %s, which is missing; the operator "
                        "makes it with 'codebox image build --from IMAGE --name %s'",
                        permit->policy, images->variant, kernel, images->variant);
    }
    return failed;
}

int cbx_executor_layer(struct cbx_executor *e, const struct cbx_permit *permit, struct cbx_str set,
                       struct cbx_sandbox_layer *out, struct cbx_err *err)
{
    struct setup setup;
    struct cbx_layer layer;
    const char *kernel = cbx_kernel_of(permit->language);
    *out = (struct cbx_sandbox_layer){ 0 };
    int failed = configure(e, policy_of(e, permit), kernel, &setup, err);
    if (failed) {
        return failed;
    }
    if (set.len == 0) {
        return find_own_image(e, permit, &setup.images, out, err);
    }
    failed = cbx_layer_find(e->engine, &setup.packages, kernel, set, &layer, err);
    if (failed == CBX_ENOTFOUND) {
        return cbx_fail(err, CBX_EENGINE,
                        "the packages of this sandbox are not installed any more, as its image was "
                        "built anew or they were removed; ask for them again in a new session");
    }
    if (failed) {
        return failed;
    }
    cbx_layers_note_use(e->layers, &layer);
    out->set = permit->layer;
    memcpy(out->image, layer.id, sizeof(out->image));
    return 0;
}
