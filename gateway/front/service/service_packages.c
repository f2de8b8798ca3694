/* SPDX-License-Identifier: MIT
 * Installs. */
#include "gateway/front/service/service_packages.h"

#include "analyzer/packages/resolved.h"
#include "gateway/front/executor_client.h"
#include "gateway/identity/identity.h"
#include "policies/base/list.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"
#include "policies/packages.h"

#include <stdlib.h>
#include <string.h>

enum { REMEMBERED_MS = 24 * 60 * 60 * 1000 };

/* --- what was resolved ------------------------------------------------------------------------ */

static struct cbx_sha256 key_of(const struct cbx_service *service,
                                const struct cbx_package_order *order)
{
    CBX_AUTO_DONE(buf) text;
    const struct cbx_policy *policy =
        cbx_policies_find(cbx_flow_policies(service->flow), order->policy);
    /* More than a request can have: no two requests have one key. */
    cbx_buf_init(&text, (size_t)2 * CBX_REPORT_BYTES_MAX);
    if (policy != NULL) {
        cbx_buf_add_bytes(&text, policy->sha256.bytes, sizeof(policy->sha256.bytes));
    }
    cbx_buf_add_bytes(&text, service->package_sources.bytes,
                      sizeof(service->package_sources.bytes));
    cbx_buf_add_cstr(&text, order->language);
    cbx_buf_add_char(&text, '\n');
    cbx_buf_add(&text, order->requirements);
    cbx_buf_add(&text, order->report);
    return cbx_sha256_of(cbx_buf_str(&text));
}

/* --- requests in progress --------------------------------------------------------------------- */

/* A request with packages to install; on the stack of its thread. */
struct cbx_install {
    struct cbx_service *service;
    const struct cbx_package_order *order;
    struct cbx_sha256 key;
    bool follows;       /* true if it waits for another one with the same key */
    int64_t began_ms;   /* wall clock time, used by `codebox stop` */
    int64_t checked_ms; /* time of the last check of its rights */
    struct cbx_err why; /* reason of its cancellation; code 0 = not cancelled */
    struct cbx_install *next;
};

/* Waiting requests hold a thread of the server each. */
static int enter(struct cbx_install *install, struct cbx_err *err)
{
    enum { ALL_MAX = 128, OWN_MAX = 32, RETRY_S = 10 };
    struct cbx_service *service = install->service;
    const char *principal = install->order->principal;
    int own = 0, all = 0;
    if (cbx_service_says_stop(service)) {
        return cbx_fail(err, CBX_EBUSY, "the gateway is shutting down; try again later");
    }
    pthread_mutex_lock(&service->lock);
    for (const struct cbx_install *at = service->installs; at != NULL; at = at->next) {
        all++;
        own += strcmp(at->order->principal, principal) == 0;
    }
    bool full = own >= OWN_MAX || all >= ALL_MAX;
    if (!full) {
        install->next = service->installs;
        service->installs = install;
    }
    pthread_mutex_unlock(&service->lock);
    if (!full) {
        return 0;
    }
    if (own >= OWN_MAX) {
        cbx_fail(err, CBX_EQUOTA,
                 "%d installs of packages of %s run or wait, the most is %d; try again later", own,
                 principal, OWN_MAX);
    } else {
        cbx_fail(err, CBX_EQUOTA,
                 "%d installs of packages in all run or wait, the most is %d; try again later", all,
                 ALL_MAX);
    }
    err->retry_s = RETRY_S;
    return CBX_EQUOTA;
}

static void leave(struct cbx_install *install)
{
    struct cbx_service *service = install->service;
    pthread_mutex_lock(&service->lock);
    CBX_LIST_REMOVE(service->installs, install, next);
    pthread_mutex_unlock(&service->lock);
}

/* True if another request waits for this one. */
static bool has_followers(struct cbx_install *install)
{
    bool found = false;
    pthread_mutex_lock(&install->service->lock);
    for (const struct cbx_install *at = install->service->installs; at != NULL; at = at->next) {
        found |= at != install && at->follows && cbx_sha256_equal(&at->key, &install->key);
    }
    pthread_mutex_unlock(&install->service->lock);
    return found;
}

/* Checks that its principal may still run programs. Once a second, because the check reads
 * files. */
static int check_rights(struct cbx_install *install, struct cbx_err *err)
{
    enum { PERIOD_MS = 1000 };
    const struct cbx_package_order *order = install->order;
    const struct cbx_identity *identity = install->service->flow->identity;
    int64_t now = cbx_clock_ms();
    if (identity == NULL || now - install->checked_ms < PERIOD_MS) {
        return 0;
    }
    install->checked_ms = now;
    const struct cbx_begun begun = { .principal = order->principal,
                                     .credential =
                                         order->claims != NULL ? order->claims->credential : "",
                                     .asked_ms = install->began_ms };
    return cbx_identity_still(identity, &begun, CBX_RIGHT_EXECUTE, err);
}

/* A struct cbx_sink's `cancelled`. Stores the reason. */
static bool is_cancelled(void *context)
{
    struct cbx_install *install = context;
    const struct cbx_package_order *order = install->order;
    struct cbx_err denied = { 0 };
    if (install->why.code != 0) {
        return true;
    }
    if (cbx_service_is_stopping(install->service)) {
        cbx_fail(&install->why, CBX_EBUSY, "the gateway is shutting down; try again later");
    } else if (check_rights(install, &denied) != 0) {
        cbx_fail(&install->why, CBX_ECANCELLED, "the packages are not installed: %s", denied.text);
    } else if (order->gone != NULL && order->gone(order->context) &&
               (install->follows || !has_followers(install))) {
        cbx_fail(&install->why, CBX_ECANCELLED,
                 "the packages are not installed: the client has left");
    }
    return install->why.code != 0;
}

static void report(const struct cbx_install *install, const char *text)
{
    if (install->order->progress != NULL) {
        install->order->progress(install->order->context, cbx_str_of(text));
    }
}

/* --- sets ------------------------------------------------------------------------------------- */

/* With the lock held: returns the entry of a used key, or NULL. */
static struct cbx_resolved_set *find(struct cbx_service *service, const struct cbx_sha256 *key)
{
    for (size_t i = 0; i < CBX_SERVICE_SETS; i++) {
        struct cbx_resolved_set *r = &service->sets[i];
        bool used = r->busy || (r->text != NULL && cbx_clock_ms() < r->until_ms);
        if (used && cbx_sha256_equal(&r->key, key)) {
            return r;
        }
    }
    return NULL;
}

/* With the lock held: returns the entry to drop next; NULL if all are being installed. */
static struct cbx_resolved_set *oldest(struct cbx_service *service)
{
    struct cbx_resolved_set *at = NULL;
    for (size_t i = 0; i < CBX_SERVICE_SETS; i++) {
        struct cbx_resolved_set *r = &service->sets[i];
        at = !r->busy && (at == NULL || r->used_ms < at->used_ms) ? r : at;
    }
    return at;
}

/* With the lock held, which is released meanwhile: waits until no other request installs the
 * same set. Returns the entry, or NULL; *failed if the request was cancelled. */
static struct cbx_resolved_set *await_other(struct cbx_install *install, int *failed)
{
    enum { TICK_MS = 200 };
    struct cbx_service *service = install->service;
    struct cbx_resolved_set *r = find(service, &install->key);
    if (r != NULL && r->busy) {
        install->follows = true;
        pthread_mutex_unlock(&service->lock);
        report(install, "queued: another request installs the same packages");
        pthread_mutex_lock(&service->lock);
    }
    while ((r = find(service, &install->key)) != NULL && r->busy && *failed == 0) {
        cbx_cond_wait_ms(&service->sets_changed, &service->lock, TICK_MS);
        pthread_mutex_unlock(&service->lock);
        *failed = is_cancelled(install) ? install->why.code : 0;
        pthread_mutex_lock(&service->lock);
    }
    install->follows = false;
    return r;
}

/* Sets *found if the set is cached; waits for a request that installs it. Otherwise the caller
 * installs it, and calls conclude(). */
static int recall(struct cbx_install *install, struct cbx_buf *set, bool *found)
{
    struct cbx_service *service = install->service;
    int failed = 0;
    pthread_mutex_lock(&service->lock);
    struct cbx_resolved_set *r = await_other(install, &failed);
    *found = !failed && r != NULL;
    if (*found) {
        r->used_ms = cbx_clock_ms();
        cbx_buf_add_cstr(set, r->text);
    } else if (!failed && (r = oldest(service)) != NULL) {
        free(r->text);
        *r = (struct cbx_resolved_set){ .key = install->key, .busy = true };
    }
    pthread_mutex_unlock(&service->lock);
    return failed;
}

/* The service of `codebox run` has no store. */
static void store_set(struct cbx_service *service, const struct cbx_sha256 *key, struct cbx_str set)
{
    char hex[CBX_SHA256_HEX + 1];
    struct cbx_err err = { 0 };
    if (service->store == NULL) {
        return;
    }
    cbx_sha256_hex(key, hex);
    int failed;
    if (set.len > 0) {
        failed = cbx_store_remember_set(service->store, hex, cbx_time_ms(), set, &err);
    } else {
        failed = cbx_store_forget_set(service->store, hex, &err);
    }
    if (failed) {
        cbx_log(CBX_LOG_WARNING, "what packages were resolved to is not stored: %s", err.text);
    }
}

/* This gateway or another program wrote the stored text: only a valid set is used. */
static bool is_set(const struct cbx_package_order *order, struct cbx_str text)
{
    enum cbx_spec_kind kind = cbx_spec_kind_of(cbx_language_manager(cbx_str_of(order->language)));
    CBX_AUTO_DONE(resolved) resolved = { 0 };
    return cbx_resolved_read_set(kind, text, &resolved, NULL) == 0 && resolved.count > 0;
}

/* Loads the set that an earlier gateway resolved, unless this one has resolved it meanwhile. */
static void load_stored(struct cbx_install *install)
{
    struct cbx_service *service = install->service;
    CBX_AUTO_DONE(buf) text;
    char hex[CBX_SHA256_HEX + 1];
    int64_t now = cbx_time_ms(), made_ms = 0;
    cbx_buf_init(&text, CBX_PACKAGE_SET_BYTES_MAX);
    pthread_mutex_lock(&service->lock);
    bool known = find(service, &install->key) != NULL;
    pthread_mutex_unlock(&service->lock);
    if (known || service->store == NULL) {
        return;
    }
    cbx_sha256_hex(&install->key, hex);
    if (cbx_store_recall_set(service->store, hex, now - REMEMBERED_MS, &text, &made_ms, NULL) !=
            0 ||
        made_ms > now || !is_set(install->order, cbx_buf_str(&text))) {
        return;
    }
    pthread_mutex_lock(&service->lock);
    struct cbx_resolved_set *r = find(service, &install->key) == NULL ? oldest(service) : NULL;
    if (r != NULL) {
        free(r->text);
        *r = (struct cbx_resolved_set){ .key = install->key,
                                        .used_ms = cbx_clock_ms(),
                                        .until_ms = cbx_clock_ms() + made_ms + REMEMBERED_MS - now,
                                        .text = strndup(text.p, text.len) };
    }
    pthread_mutex_unlock(&service->lock);
}

/* The install has ended; `set` is empty if it failed. */
static void conclude(struct cbx_service *service, const struct cbx_sha256 *key, struct cbx_str set)
{
    pthread_mutex_lock(&service->lock);
    struct cbx_resolved_set *r = find(service, key);
    if (r != NULL && r->busy) {
        r->busy = false;
        r->used_ms = cbx_clock_ms();
        r->until_ms = r->used_ms + REMEMBERED_MS;
        r->text = set.len > 0 ? strndup(set.p, set.len) : NULL;
    }
    pthread_cond_broadcast(&service->sets_changed);
    pthread_mutex_unlock(&service->lock);
    if (set.len > 0) {
        store_set(service, key, set);
    }
}

static void forget(struct cbx_service *service, const struct cbx_sha256 *key)
{
    pthread_mutex_lock(&service->lock);
    struct cbx_resolved_set *r = find(service, key);
    if (r != NULL && !r->busy) {
        free(r->text);
        *r = (struct cbx_resolved_set){ 0 };
    }
    pthread_mutex_unlock(&service->lock);
    store_set(service, key, CBX_STR(""));
}

/* Layers are evicted, and become invalid when an image is rebuilt. */
static int has_layer(const struct cbx_install *install, struct cbx_str set, bool *there,
                     struct cbx_err *err)
{
    const struct cbx_find_layer_args args = { .language = cbx_str_of(install->order->language),
                                              .policy = install->order->policy };
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    int failed = cbx_call_find_layer(install->service->flow, &args, set, &answer, err);
    *there = !failed && json_is_true(json_object_get(answer.header, "found"));
    return failed;
}

/* As recall(), for a set whose layer exists. */
static int recall_layer(struct cbx_install *install, struct cbx_buf *set, bool *found,
                        struct cbx_err *err)
{
    bool there = false;
    *found = true;
    load_stored(install);
    while (*found && !there) {
        cbx_buf_reset(set);
        int failed = recall(install, set, found);
        if (failed) {
            *err = install->why;
            return failed;
        }
        if (!*found) {
            return 0;
        }
        failed = has_layer(install, cbx_buf_str(set), &there, err);
        if (failed) {
            return failed;
        }
        if (!there) {
            forget(install->service, &install->key);
        }
    }
    return 0;
}

void cbx_service_init_packages(struct cbx_service *service, struct cbx_flow *flow)
{
    *service = (struct cbx_service){ .flow = flow };
    pthread_mutex_init(&service->lock, NULL);
    cbx_cond_init(&service->sets_changed);
}

void cbx_service_forget_packages(struct cbx_service *service)
{
    pthread_mutex_lock(&service->lock);
    for (size_t i = 0; i < CBX_SERVICE_SETS; i++) {
        if (!service->sets[i].busy) {
            free(service->sets[i].text);
            service->sets[i] = (struct cbx_resolved_set){ 0 };
        }
    }
    pthread_mutex_unlock(&service->lock);
}

json_t *cbx_package_names(const char *language, struct cbx_str set)
{
    json_t *names = json_array();
    enum cbx_spec_kind kind = cbx_spec_kind_of(cbx_language_manager(cbx_str_of(language)));
    CBX_AUTO_DONE(resolved) resolved = { 0 };
    if (cbx_resolved_read_set(kind, set, &resolved, NULL) != 0) {
        return names;
    }
    for (size_t i = 0; i < resolved.count; i++) {
        const struct cbx_resolved_package *p = &resolved.items[i];
        char text[400];
        if (!cbx_resolved_is_nested(p)) {
            snprintf(text, sizeof(text), "%.*s %.*s", CBX_STR_ARG(p->name),
                     CBX_STR_ARG(p->version));
            json_array_append_new(names, json_string(text));
        }
    }
    return names;
}

void cbx_package_report(const char *language, struct cbx_str set, int64_t took_ms, json_t *results)
{
    if (took_ms > 0) {
        json_object_set_new(results, "installed",
                            json_pack("{s:o,s:I}", "packages", cbx_package_names(language, set),
                                      "duration_ms", (json_int_t)took_ms));
    }
}

/* --- the two steps ---------------------------------------------------------------------------- */

/* Output of a step: its report is stdout, its progress stderr. */
struct output {
    struct cbx_install *install;
    const struct cbx_package_order *order;
    struct cbx_buf report;
    struct cbx_buf line;
};

static void add_progress(struct output *o, struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] != '\n') {
            cbx_buf_add_char(&o->line, text.p[i]);
            continue;
        }
        if (o->order->progress != NULL) {
            o->order->progress(o->order->context, cbx_buf_str(&o->line));
        }
        cbx_buf_reset(&o->line);
    }
}

static int take_event(void *context, const struct cbx_event *event)
{
    struct output *o = context;
    if (event->kind == CBX_EVENT_STDERR) {
        add_progress(o, event->text);
    }
    return event->kind == CBX_EVENT_STDOUT ? cbx_buf_add(&o->report, event->text) : 0;
}

static bool is_output_cancelled(void *context)
{
    const struct output *o = context;
    return is_cancelled(o->install);
}

/* Judges and carries out one step. */
static int step(struct cbx_service *service, enum cbx_action action, struct cbx_str source,
                struct output *o, struct cbx_judgement *judgement, struct cbx_outcome *outcome,
                struct cbx_err *err)
{
    const struct cbx_package_order *order = o->order;
    const struct cbx_sink sink = { .event = take_event,
                                   .cancelled = is_output_cancelled,
                                   .context = o };
    struct cbx_request request =
        cbx_service_request(action, order->principal, order->language, order->policy, CBX_STR(""),
                            source, NULL, order->origin);
    cbx_claims_lend(order->claims, &request.subject);
    int failed = cbx_review_judge(service->flow, &request, judgement, err);
    bool nothing = !failed && judgement->verdict == CBX_ALLOW && judgement->text.len == 0;
    if (failed || nothing) { /* the image has all of it */
        outcome->verdict = CBX_ALLOW;
        return failed;
    }
    failed = cbx_review_submit(service->flow, &request, judgement, &sink, outcome, err);
    if (!failed && outcome->verdict == CBX_ALLOW) {
        cbx_outcome_acknowledge(service->flow, outcome);
    }
    return failed;
}

/* The report is written to *report, a denial to *denial. */
static int resolve(struct cbx_service *service, struct output *o, struct cbx_buf *report,
                   struct cbx_outcome *denial, struct cbx_err *err)
{
    CBX_AUTO_DONE(judgement) asked = { 0 };
    CBX_AUTO_DONE(outcome) resolved = { 0 };
    int failed =
        step(service, CBX_ACTION_RESOLVE, o->order->requirements, o, &asked, &resolved, err);
    if (failed || resolved.verdict != CBX_ALLOW) {
        *denial = resolved;
        resolved = (struct cbx_outcome){ 0 };
        return failed;
    }
    *report = o->report;
    cbx_buf_init(&o->report, CBX_REPORT_BYTES_MAX);
    return 0;
}

static int install(struct cbx_service *service, struct output *o, struct cbx_buf *set,
                   struct cbx_outcome *denial, struct cbx_err *err)
{
    CBX_AUTO_DONE(judgement) all = { 0 };
    CBX_AUTO_DONE(buf) report;
    cbx_buf_init(&report, CBX_REPORT_BYTES_MAX);
    if (o->order->report.len > 0) {
        cbx_buf_add(&report, o->order->report);
    } else {
        int failed = resolve(service, o, &report, denial, err);
        if (failed || denial->verdict != CBX_ALLOW) {
            return failed;
        }
    }
    int failed = step(service, CBX_ACTION_INSTALL, cbx_buf_str(&report), o, &all, denial, err);
    if (failed || denial->verdict != CBX_ALLOW) {
        return failed;
    }
    return cbx_buf_add(set, cbx_buf_str(&all.text));
}

/* Called with the entry of its key, which conclude() returns. */
static int install_new(struct cbx_install *request, struct cbx_buf *set, struct cbx_outcome *denial,
                       struct cbx_err *err)
{
    struct output o = { .install = request, .order = request->order };
    cbx_buf_init(&o.report, CBX_REPORT_BYTES_MAX);
    cbx_buf_init(&o.line, 1024);
    int failed = install(request->service, &o, set, denial, err);
    cbx_buf_done(&o.report);
    cbx_buf_done(&o.line);
    if (failed && request->why.code != 0) {
        *err = request->why;
        failed = err->code;
    }
    bool good = !failed && denial->verdict == CBX_ALLOW;
    conclude(request->service, &request->key, good ? cbx_buf_str(set) : CBX_STR(""));
    return failed;
}

int cbx_service_install(struct cbx_service *service, const struct cbx_package_order *order,
                        struct cbx_buf *set, struct cbx_outcome *denial, struct cbx_err *err)
{
    struct cbx_install request = {
        .service = service, .order = order, .key = key_of(service, order), .began_ms = cbx_time_ms()
    };
    denial->verdict = CBX_ALLOW;
    int failed = enter(&request, err);
    if (failed) {
        return failed;
    }
    bool found = false;
    failed = recall_layer(&request, set, &found, err);
    if (!failed && !found) {
        failed = install_new(&request, set, denial, err);
    }
    leave(&request);
    return failed;
}
