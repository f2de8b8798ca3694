/* SPDX-License-Identifier: MIT
 * GET /metrics: the text format of Prometheus, version 0.0.4. The executor's counts are part of
 * its reply about its health; front and executor write disjoint families. */
#include "gateway/front/forward/replica_watch.h"
#include "gateway/front/http/tls.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/rest/rest.h"
#include "gateway/identity/issuer_keys.h"
#include "gateway/ipc/metrics.h"
#include "policies/base/time/clock.h"
#include "policies/release.h"

enum { METRICS_MAX = 4 * 1024 * 1024 };

static double number_of(const json_t *from, const char *member)
{
    return json_number_value(json_object_get(from, member));
}

static void add_flag(struct cbx_buf *to, const char *name, const char *help, bool value)
{
    cbx_metrics_add_head(to, name, "gauge", help);
    cbx_metrics_add_sample(to, name, NULL, CBX_STR(""), value);
}

/* Adds one sample for each numeric member of the object. */
static void add_samples(struct cbx_buf *to, const char *name, const char *label,
                        const json_t *values)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)values, key, value)
    {
        if (json_is_integer(value)) {
            cbx_metrics_add_sample(to, name, label, cbx_str_of(key), json_number_value(value));
        }
    }
}

/* Members of an object, as families of their own (label NULL) or as samples of one. */
static const struct gauge {
    const char *object, *member, *name, *type, *label, *help;
} gauges[] = {
    { "pool", "ready", "codebox_sandboxes", "gauge", "state", "Sandboxes by their state." },
    { "pool", "in_use", "codebox_sandboxes", "gauge", "state", NULL },
    { "pool", "making", "codebox_sandboxes", "gauge", "state", NULL },
    { "pool", "waiting", "codebox_pool_waiting", "gauge", NULL, "Runs that wait for a sandbox." },
    { "pool", "taken", "codebox_pool_taken_total", "counter", NULL, "Sandboxes that were taken." },
    { "pool", "taken_ready", "codebox_pool_taken_ready_total", "counter", NULL,
      "Of these, sandboxes that were ready: the others were waited for." },
    { "pool", "made", "codebox_pool_made_total", "counter", NULL, "Sandboxes that were made." },
    { "pool", "failed", "codebox_pool_failed_total", "counter", NULL,
      "Sandboxes that could not be made." },
    { "runs", "running", "codebox_runs", "gauge", "state", "Programs that run, and that wait." },
    { "runs", "waiting", "codebox_runs", "gauge", "state", NULL },
    { "runs", "principals", "codebox_runs_waiting_principals", "gauge", NULL,
      "Principals of which a program waits." },
    { "installs", "running", "codebox_installs", "gauge", "state",
      "Installers of packages that run, and resolves and installs that wait for one." },
    { "installs", "waiting", "codebox_installs", "gauge", "state", NULL },
    { "installs", "principals", "codebox_installs_waiting_principals", "gauge", NULL,
      "Principals of which an install waits." },
    { "installs", "oldest", "codebox_installs_oldest_waiting_seconds", "gauge", NULL,
      "How long the install that waits longest has waited." },
    { "layers", "count", "codebox_layers", "gauge", NULL,
      "Layers of packages that this gateway made, when the last one was installed." },
    { "layers", "bytes", "codebox_layers_bytes", "gauge", NULL, "Their size." },
    { "layers", "evicted", "codebox_layers_evicted_total", "counter", NULL,
      "Layers that were removed to make room, since the executor started." },
    { "runs", "unrecorded", "codebox_audit_pending", "gauge", NULL,
      "Actions whose outcome is not in the audit log yet." },
};

static void add_gauges(struct cbx_buf *to, const json_t *health)
{
    for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++) {
        const struct gauge *g = &gauges[i];
        if (g->help != NULL) {
            cbx_metrics_add_head(to, g->name, g->type, g->help);
        }
        cbx_metrics_add_sample(to, g->name, g->label, cbx_str_of(g->member),
                               number_of(json_object_get(health, g->object), g->member));
    }
}

/* Executions of this front: also those that wait for their session, or for their principal's
 * quota. */
static void add_executions(struct cbx_buf *to, struct cbx_service *service)
{
    static const char name[] = "codebox_executions";
    CBX_AUTO_JSON live = cbx_live_stats(service);
    cbx_metrics_add_head(to, name, "gauge", "Executions that have not ended, by their state.");
    cbx_metrics_add_sample(to, name, "state", CBX_STR("queued"), number_of(live, "queued"));
    cbx_metrics_add_sample(to, name, "state", CBX_STR("running"), number_of(live, "running"));
}

/* Adds values that a gateway without the option lacks. */
static void add_optional(struct cbx_buf *to, const json_t *health)
{
    const json_t *forwarding = json_object_get(health, "forwarding");
    const json_t *heads = json_object_get(health, "heads");
    const int64_t expires_s = cbx_tls_expires_s();
    static const char behind[] = "codebox_audit_forward_behind",
                      kept[] = "codebox_audit_heads_behind",
                      failures[] = "codebox_audit_heads_failures_total",
                      expires[] = "codebox_tls_certificate_expires_timestamp_seconds";
    if (forwarding != NULL) {
        cbx_metrics_add_head(to, behind, "gauge",
                             "Records of the audit log that the syslog server has not got.");
        cbx_metrics_add_sample(to, behind, NULL, CBX_STR(""), number_of(forwarding, "behind"));
    }
    if (heads != NULL) {
        cbx_metrics_add_head(to, kept, "gauge",
                             "Records of the audit log behind the last head that was kept.");
        cbx_metrics_add_sample(to, kept, NULL, CBX_STR(""), number_of(heads, "behind"));
        cbx_metrics_add_head(to, failures, "counter",
                             "Attempts to keep a head of the audit log that failed, since the "
                             "executor started.");
        cbx_metrics_add_sample(to, failures, NULL, CBX_STR(""), number_of(heads, "failures"));
    }
    if (expires_s > 0) {
        cbx_metrics_add_head(to, expires, "gauge", "When the certificate of TLS expires.");
        cbx_metrics_add_sample(to, expires, NULL, CBX_STR(""), (double)expires_s);
    }
}

static void add_memory(struct cbx_buf *to, const json_t *executor)
{
    static const char heap[] = "codebox_process_heap_bytes",
                      peak[] = "codebox_process_peak_resident_bytes";
    const struct cbx_process_memory front = cbx_metrics_memory();
    cbx_metrics_add_head(to, heap, "gauge", "Memory of the heap in use.");
    cbx_metrics_add_sample(to, heap, "process", CBX_STR("front"), (double)front.heap_bytes);
    cbx_metrics_add_sample(to, heap, "process", CBX_STR("executor"), number_of(executor, "heap"));
    cbx_metrics_add_head(to, peak, "gauge", "Resident memory at most, since the start.");
    cbx_metrics_add_sample(to, peak, "process", CBX_STR("front"),
                           (double)front.peak_resident_bytes);
    cbx_metrics_add_sample(to, peak, "process", CBX_STR("executor"), number_of(executor, "peak"));
}

/* An issuer without keys has no sample. */
static void add_issuers(struct cbx_buf *to, struct cbx_issuer_keys *keys)
{
    static const char age[] = "codebox_issuer_keys_age_seconds";
    char name[33];
    int64_t ms;
    for (size_t i = 0; keys != NULL && cbx_issuer_keys_age(keys, i, cbx_clock_ms(), name, &ms);
         i++) {
        if (i == 0) {
            cbx_metrics_add_head(to, age, "gauge",
                                 "Since the keys of an issuer that are in use were fetched.");
        }
        if (ms >= 0) {
            cbx_metrics_add_sample(to, age, "issuer", cbx_str_of(name), (double)ms / 1000);
        }
    }
}

static void add_replicas(struct cbx_buf *to, const struct cbx_service *service)
{
    static const char up[] = "codebox_replica_up";
    if (service->forwarder == NULL) {
        return;
    }
    const struct cbx_replicas *replicas = cbx_forwarder_replicas(service->forwarder);
    cbx_metrics_add_head(to, up, "gauge", "Whether another replica can be reached.");
    for (size_t i = 0; i < replicas->count; i++) {
        cbx_metrics_add_sample(to, up, "replica", cbx_str_of(replicas->others[i].name),
                               cbx_replica_watch_is_up(service->replica_watch, i) ? 1 : 0);
    }
}

/* Replicas that each count by themselves have no sample. */
static void add_quotas(struct cbx_buf *to, const struct cbx_service *service)
{
    static const char name[] = "codebox_quota_replicas";
    if (service->shared_quotas != NULL) {
        cbx_metrics_add_head(to, name, "gauge",
                             "Replicas that live, among which quotas of requests are divided.");
        cbx_metrics_add_sample(to, name, NULL, CBX_STR(""),
                               (double)cbx_quotas_replicas(service->quotas));
    }
}

static void write_metrics(struct cbx_buf *to, const json_t *health, bool store)
{
    cbx_metrics_add_head(to, "codebox_build_info", "gauge", "The version of the gateway.");
    cbx_metrics_add_sample(to, "codebox_build_info", "version", CBX_STR(CBX_VERSION), 1);
    add_flag(to, "codebox_engine_up", "Whether the engine can be used.",
             json_is_true(json_object_get(health, "engine_ok")));
    add_flag(to, "codebox_audit_up", "Whether the audit log can be written.",
             json_is_true(json_object_get(health, "audit_ok")));
    add_flag(to, "codebox_store_up", "Whether results are stored.", store);
    cbx_metrics_add_head(to, "codebox_sessions", "gauge", "Open sessions.");
    cbx_metrics_add_sample(to, "codebox_sessions", NULL, CBX_STR(""),
                           number_of(health, "sessions"));
    add_gauges(to, health);
    add_optional(to, health);
    cbx_metrics_add_head(to, "codebox_guard_refusals_total", "counter",
                         "What programs tried and the guard refused, since the executor started.");
    add_samples(to, "codebox_guard_refusals_total", "capability",
                json_object_get(health, "refusals"));
    add_memory(to, json_object_get(health, "memory"));
    cbx_buf_add(to, cbx_json_str(json_object_get(health, "metrics")));
    cbx_metrics_write(to);
}

void cbx_rest_get_metrics(struct cbx_rest_call *call)
{
    CBX_AUTO_JSON health = cbx_rest_ask_health(call);
    if (health == NULL) {
        return;
    }
    struct cbx_buf text;
    cbx_buf_init(&text, METRICS_MAX);
    write_metrics(&text, health, cbx_store_check(call->service->store, NULL) == 0);
    add_executions(&text, call->service);
    add_issuers(&text, call->service->issuer_keys);
    add_replicas(&text, call->service);
    add_quotas(&text, call->service);
    call->response->status = 200;
    call->response->type = "text/plain; version=0.0.4; charset=utf-8";
    call->response->bytes_len = text.len;
    call->response->bytes = cbx_buf_take(&text);
}
