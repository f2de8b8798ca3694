/* SPDX-License-Identifier: MIT
 * GET /metrics: the text format of Prometheus, version 0.0.4. */
#include "gateway/front/rest/rest.h"

enum { METRICS_MAX = 1024 * 1024 };

static void add_head(struct cbx_buf *to, const char *name, const char *type, const char *help)
{
    cbx_buf_printf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_flag(struct cbx_buf *to, const char *name, const char *help, const json_t *value)
{
    add_head(to, name, "gauge", help);
    cbx_buf_printf(to, "%s %d\n", name, json_is_true(value));
}

/* One sample for each member of the object that is a number. */
static void add_samples(struct cbx_buf *to, const char *name, const char *label,
                        const json_t *values)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)values, key, value)
    {
        if (json_is_integer(value)) {
            cbx_buf_printf(to, "%s{%s=\"%s\"} %lld\n", name, label, key,
                           (long long)json_integer_value(value));
        }
    }
}

static void write_metrics(struct cbx_buf *to, const json_t *health)
{
    add_flag(to, "codebox_engine_up", "Whether the engine can be used.",
             json_object_get(health, "engine_ok"));
    add_flag(to, "codebox_audit_up", "Whether the audit log can be written.",
             json_object_get(health, "audit_ok"));
    add_head(to, "codebox_sessions", "gauge", "Open sessions.");
    cbx_buf_printf(to, "codebox_sessions %lld\n",
                   (long long)json_integer_value(json_object_get(health, "sessions")));
    const json_t *pool = json_object_get(health, "pool");
    CBX_AUTO_JSON states = json_object();
    for (const char *const *state = (const char *const[]){ "ready", "in_use", "making", NULL };
         *state != NULL; state++) {
        json_object_set(states, *state, json_object_get(pool, *state));
    }
    add_head(to, "codebox_sandboxes", "gauge", "Sandboxes by their state.");
    add_samples(to, "codebox_sandboxes", "state", states);
    add_head(to, "codebox_guard_refusals_total", "counter",
             "What programs tried and the guard refused, since the executor started.");
    add_samples(to, "codebox_guard_refusals_total", "capability",
                json_object_get(health, "refusals"));
}

void cbx_rest_get_metrics(struct cbx_rest_call *call)
{
    CBX_AUTO_JSON health = cbx_rest_ask_health(call);
    if (health == NULL) {
        return;
    }
    struct cbx_buf text;
    cbx_buf_init(&text, METRICS_MAX);
    write_metrics(&text, health);
    call->response->status = 200;
    call->response->type = "text/plain; version=0.0.4; charset=utf-8";
    call->response->bytes_len = text.len;
    call->response->bytes = cbx_buf_take(&text);
}
