/* SPDX-License-Identifier: MIT
 * Installs. */
#include "gateway/front/service/packages.h"

#include "analyzer/packages/resolved.h"
#include "policies/base/clock.h"
#include "policies/packages.h"

#include <stdlib.h>
#include <string.h>

enum { REMEMBERED_MS = 10 * 60 * 1000 };

/* --- what was resolved ------------------------------------------------------------------------ */

static struct cbx_sha256 key_of(const struct cbx_service *service,
                                const struct cbx_package_order *order)
{
    CBX_AUTO_DONE(buf) text;
    const struct cbx_policy *policy =
        cbx_policies_find(cbx_flow_policies(service->flow), order->policy);
    cbx_buf_init(&text, CBX_PACKAGE_SET_BYTES_MAX);
    if (policy != NULL) {
        cbx_buf_add_bytes(&text, policy->sha256.bytes, sizeof(policy->sha256.bytes));
    }
    cbx_buf_add_cstr(&text, order->language);
    cbx_buf_add_char(&text, '\n');
    cbx_buf_add(&text, order->requirements);
    return cbx_sha256_of(cbx_buf_str(&text));
}

/* With the lock held: the entry of a key that is in use, or NULL. */
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

/* With the lock held: the entry that is forgotten next; NULL when all are being installed. */
static struct cbx_resolved_set *oldest(struct cbx_service *service)
{
    struct cbx_resolved_set *at = NULL;
    for (size_t i = 0; i < CBX_SERVICE_SETS; i++) {
        struct cbx_resolved_set *r = &service->sets[i];
        at = !r->busy && (at == NULL || r->until_ms < at->until_ms) ? r : at;
    }
    return at;
}

/* True when the set is remembered; waits for a call that installs it. Otherwise the caller installs it, and says so by conclude(). */
static bool recall(struct cbx_service *service, const struct cbx_sha256 *key, struct cbx_buf *set)
{
    pthread_mutex_lock(&service->lock);
    struct cbx_resolved_set *r;
    while ((r = find(service, key)) != NULL && r->busy) {
        pthread_cond_wait(&service->sets_changed, &service->lock);
    }
    bool found = r != NULL;
    r = found ? r : oldest(service);
    if (found) {
        cbx_buf_add_cstr(set, r->text);
    } else if (r != NULL) {
        free(r->text);
        *r = (struct cbx_resolved_set){ .key = *key, .busy = true };
    }
    pthread_mutex_unlock(&service->lock);
    return found;
}

/* The install has ended; `set` is empty when it failed. */
static void conclude(struct cbx_service *service, const struct cbx_sha256 *key, struct cbx_str set)
{
    pthread_mutex_lock(&service->lock);
    struct cbx_resolved_set *r = find(service, key);
    if (r != NULL && r->busy) {
        r->busy = false;
        r->until_ms = cbx_clock_ms() + REMEMBERED_MS;
        r->text = set.len > 0 ? strndup(set.p, set.len) : NULL;
    }
    pthread_cond_broadcast(&service->sets_changed);
    pthread_mutex_unlock(&service->lock);
}

void cbx_service_init_packages(struct cbx_service *service, struct cbx_flow *flow)
{
    *service = (struct cbx_service){ .flow = flow };
    pthread_mutex_init(&service->lock, NULL);
    pthread_cond_init(&service->sets_changed, NULL);
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

/* What a step prints: its report is stdout, its progress stderr. */
struct output {
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

/* Judges and carries out one step. */
static int step(struct cbx_service *service, enum cbx_action action, struct cbx_str source,
                struct output *o, struct cbx_judgement *judgement, struct cbx_outcome *outcome,
                struct cbx_err *err)
{
    const struct cbx_package_order *order = o->order;
    const struct cbx_sink sink = { .event = take_event, .context = o };
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

static int install(struct cbx_service *service, struct output *o, struct cbx_buf *set,
                   struct cbx_outcome *denial, struct cbx_err *err)
{
    CBX_AUTO_DONE(judgement) asked = { 0 };
    CBX_AUTO_DONE(judgement) all = { 0 };
    CBX_AUTO_DONE(outcome) resolved = { 0 };
    int failed =
        step(service, CBX_ACTION_RESOLVE, o->order->requirements, o, &asked, &resolved, err);
    if (failed || resolved.verdict != CBX_ALLOW) {
        *denial = resolved;
        resolved = (struct cbx_outcome){ 0 };
        return failed;
    }
    CBX_AUTO_DONE(buf) report = o->report;
    cbx_buf_init(&o->report, CBX_REPORT_BYTES_MAX);
    failed = step(service, CBX_ACTION_INSTALL, cbx_buf_str(&report), o, &all, denial, err);
    return failed || denial->verdict != CBX_ALLOW ? failed
                                                  : cbx_buf_add(set, cbx_buf_str(&all.text));
}

int cbx_service_install(struct cbx_service *service, const struct cbx_package_order *order,
                        struct cbx_buf *set, struct cbx_outcome *denial, struct cbx_err *err)
{
    struct cbx_sha256 key = key_of(service, order);
    struct output o = { .order = order };
    denial->verdict = CBX_ALLOW;
    if (recall(service, &key, set)) {
        return 0;
    }
    cbx_buf_init(&o.report, CBX_REPORT_BYTES_MAX);
    cbx_buf_init(&o.line, 1024);
    int failed = install(service, &o, set, denial, err);
    cbx_buf_done(&o.report);
    cbx_buf_done(&o.line);
    bool good = !failed && denial->verdict == CBX_ALLOW;
    conclude(service, &key, good ? cbx_buf_str(set) : CBX_STR(""));
    return failed;
}
