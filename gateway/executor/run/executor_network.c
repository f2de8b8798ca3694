/* SPDX-License-Identifier: MIT
 * Networks of sandboxes. */
#include "gateway/executor/run/executor_network.h"

#include "docker/egress/proxy_log.h"
#include "docker/inside/wire/frame.h"
#include "policies/base/log.h"

static void add_text(json_t *body, const char *key, struct cbx_str text)
{
    if (text.len > 0) {
        json_object_set_new(body, key, cbx_json_text(text));
    }
}

static json_t *describe(const struct cbx_sandbox *sandbox, const char *run,
                        const struct cbx_proxy_event *event)
{
    static const char *const outcomes[] = { [CBX_PROXY_SERVED] = "served",
                                            [CBX_PROXY_REFUSED] = "refused",
                                            [CBX_PROXY_FAILED] = "failed" };
    const char *session = cbx_sandbox_session(sandbox);
    json_t *body = json_pack("{s:s,s:s,s:s,s:s,s:s}", "decision", run, "session", session,
                             "principal", cbx_sandbox_principal(sandbox), "sandbox",
                             cbx_sandbox_id(sandbox), "outcome", outcomes[event->outcome]);
    add_text(body, "reason", event->reason);
    add_text(body, "method", event->method);
    add_text(body, "host", event->host);
    if (event->port != 0) {
        json_object_set_new(body, "port", json_integer(event->port));
    }
    add_text(body, "address", event->address);
    add_text(body, "tls_name", event->tls_name);
    if (event->host.len > 0) {
        json_object_set_new(body, "status", json_integer(event->status));
        json_object_set_new(body, "sent_bytes", json_integer((json_int_t)event->sent_bytes));
        json_object_set_new(body, "received_bytes",
                            json_integer((json_int_t)event->received_bytes));
        json_object_set_new(body, "duration_ms", json_integer(event->duration_ms));
    }
    return body;
}

static int record(void *context, const struct cbx_sandbox *sandbox, const char *run,
                  const struct cbx_proxy_event *event)
{
    struct cbx_audit *audit;
    struct cbx_err err;
    CBX_AUTO_JSON body = describe(sandbox, run, event);
    int failed = cbx_executor_audit(context, &audit, &err);
    if (!failed) {
        failed = cbx_audit_append(audit, "network", body, NULL, &err);
    }
    if (failed) {
        cbx_log(CBX_LOG_ERROR,
                "a sandbox gets no connection any more: its last one is not recorded: %s",
                err.text);
    }
    return failed;
}

void cbx_executor_grant_network(struct cbx_executor *e, const struct cbx_policy *policy,
                                struct cbx_sandbox *sandbox)
{
    enum { SPARE_S = 60 };
    if (policy == NULL || policy->network != CBX_NETWORK_EGRESS ||
        !cbx_sha256_equal(&policy->sha256, cbx_sandbox_policy_sha256(sandbox))) {
        return;
    }
    const struct cbx_limits *limits = cbx_sandbox_limits(sandbox);
    const struct cbx_network_grant grant = { .hosts = &policy->egress,
                                             .settings = &e->config.network,
                                             .connections_max = limits->connections,
                                             .bytes_max = limits->network_bytes,
                                             .life_s = limits->life_ms / 1000 + SPARE_S,
                                             .event = record,
                                             .context = e };
    cbx_sandbox_grant_network(sandbox, &grant);
}

void cbx_executor_describe_network(struct cbx_executor *e, struct cbx_sealed *sealed)
{
    const struct cbx_permit *fields = &sealed->fields;
    const struct cbx_policy *policy =
        cbx_policy_history_find(&e->policies, cbx_str_of(fields->policy), &fields->policy_sha256);
    bool reaches = fields->action == CBX_ACTION_OPEN || fields->action == CBX_ACTION_RUN;
    if (!reaches || policy == NULL || policy->network != CBX_NETWORK_EGRESS ||
        sealed->verdict == CBX_DENY) {
        return;
    }
    json_t *hosts = json_array();
    for (size_t i = 0; i < policy->egress.count; i++) {
        json_array_append_new(hosts, cbx_json_text(policy->egress.items[i]));
    }
    json_object_set_new(sealed->json, "hosts", hosts);
}

void cbx_network_variables(const struct cbx_policy *policy, struct cbx_buf *out)
{
    static const char *const names[] = { "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy" },
                             *const none[] = { "NO_PROXY", "no_proxy" };
    if (policy == NULL || policy->network != CBX_NETWORK_EGRESS) {
        return;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        cbx_buf_printf(out, "%s=http://127.0.0.1:%d", names[i], CBX_FRAME_PROXY_PORT);
        cbx_buf_add_char(out, '\0');
    }
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        cbx_buf_printf(out, "%s=localhost,127.0.0.1", none[i]);
        cbx_buf_add_char(out, '\0');
    }
}
