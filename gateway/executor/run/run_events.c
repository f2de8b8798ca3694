/* SPDX-License-Identifier: MIT
 * The events of a run for its client, without secrets; and the records of the guard's refusals. */
#include "docker/kernel_names.h"
#include "gateway/executor/executor_internal.h"
#include "gateway/ipc/wire/relay.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"
#include "policies/guard/guard.h"

#include <string.h>

/* Called after the client of an attached run has disconnected. An interrupt lets a session's
 * program end and keeps the session's state; a one-shot has no state, and its program may ignore
 * SIGINT. */
static void end_one_shot(struct cbx_executor_request *r)
{
    if (r->one_shot != NULL) {
        cbx_sandbox_end(r->one_shot);
    }
}

int cbx_executor_note_failure(struct cbx_executor_request *r, int failed)
{
    if (failed && r->client == CBX_CLIENT_DETACHED) {
        r->client = CBX_CLIENT_GONE;
    } else if (failed && r->client == CBX_CLIENT_ATTACHED) {
        end_one_shot(r);
    }
    return r->client == CBX_CLIENT_GONE ? 0 : failed;
}

/* Records a refusal of the guard: for a security officer each one means that the analyzer
 * allowed the program. `decision` may be NULL, `claims` too. */
static void record_refusal(struct cbx_executor *e, const struct cbx_event *event, json_t *body)
{
    struct cbx_audit *audit;
    struct cbx_err err;
    json_object_set_new(body, "capability",
                        json_string(cbx_refusal_row((enum cbx_refusal)event->refusal)->name));
    json_object_set_new(body, "rule", cbx_json_text(event->rule));
    json_object_set_new(body, "what", cbx_json_text(event->text));
    json_object_set_new(body, "count", json_integer((json_int_t)event->count));
    if (cbx_executor_audit(e, &audit, &err) != 0 ||
        cbx_audit_append(audit, "blocked", body, NULL, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "a refusal of the guard is not recorded: %s", err.text);
    }
}

static void record_blocked(struct cbx_executor_request *r, const struct cbx_event *event)
{
    CBX_AUTO_JSON body = json_object();
    /* The first attempt is reported at once, all similar ones at the end of the run. */
    r->executor->refusals[event->refusal] += event->count > 1 ? event->count - 1 : 1;
    json_object_set_new(body, "decision", json_string(r->run.decision));
    json_object_set_new(body, "session", json_string(r->run.session));
    json_object_set_new(body, "principal", json_string(r->run.principal));
    cbx_claim_copy(r->run.claims, body);
    record_refusal(r->executor, event, body);
}

/* --- refusals after the last run of a session ------------------------------------------------- */

struct late {
    struct cbx_executor *executor;
    const struct cbx_sandbox *sandbox;
};

static enum cbx_language language_of(const struct cbx_sandbox *sandbox)
{
    int language = 0;
    while (language < CBX_LANGUAGES - 1 &&
           strcmp(cbx_kernel_of(cbx_language_name((enum cbx_language)language)),
                  cbx_sandbox_kernel(sandbox)) != 0) {
        language++;
    }
    return (enum cbx_language)language;
}

/* The permits of its runs no longer exist: the rule is derived from the policy. */
static struct cbx_str rule_of_late(const struct late *late, const struct cbx_event *event)
{
    const struct cbx_policies *policies = cbx_policy_history_with(
        &late->executor->policies, cbx_str_of(cbx_sandbox_policy(late->sandbox)),
        cbx_sandbox_policy_sha256(late->sandbox));
    const struct cbx_policy *policy =
        policies != NULL
            ? cbx_policies_find(policies, cbx_str_of(cbx_sandbox_policy(late->sandbox)))
            : NULL;
    if (policy == NULL) {
        return cbx_str_of(cbx_refusal_row((enum cbx_refusal)event->refusal)->id);
    }
    struct cbx_str principal = cbx_str_of(cbx_sandbox_principal(late->sandbox));
    struct cbx_guard guard =
        cbx_guard_of(policy, language_of(late->sandbox), principal, cbx_time_ms() / 1000);
    return guard.rules[event->refusal];
}

static int record_late(void *context, const struct cbx_event *given)
{
    const struct late *late = context;
    struct cbx_event event = *given;
    CBX_AUTO_JSON body = json_object();
    late->executor->refusals[event.refusal] += event.count;
    event.rule = rule_of_late(late, &event);
    json_object_set_new(body, "session", json_string(cbx_sandbox_session(late->sandbox)));
    json_object_set_new(body, "principal", json_string(cbx_sandbox_principal(late->sandbox)));
    record_refusal(late->executor, &event, body);
    return 0;
}

void cbx_executor_record_late(struct cbx_executor *e, struct cbx_sandbox *sandbox)
{
    struct late late = { .executor = e, .sandbox = sandbox };
    struct cbx_sink sink = { .event = record_late, .context = &late };
    struct cbx_err err = { 0 };
    if (cbx_sandbox_session(sandbox)[0] != '\0' && !cbx_sandbox_is_untouched(sandbox)) {
        /* fails for a sandbox that has ended */
        cbx_sandbox_take_refusals(sandbox, &sink, &err);
    }
}

static struct cbx_str rule_of(const struct cbx_executor_request *r, const struct cbx_event *event)
{
    const struct cbx_permit *permit = r->run.permit;
    return permit == NULL ? CBX_STR("")
           : event->refusal == CBX_REFUSE_IMPORT
               ? cbx_import_rule(cbx_policy_history_with(&r->executor->policies,
                                                         cbx_str_of(permit->policy),
                                                         &permit->policy_sha256),
                                 permit, event->text, cbx_time_ms() / 1000)
               : cbx_str_of(permit->refused_by[event->refusal]);
}

/* Sends a redacted event to the client. */
static int send_cleaned(void *context, const struct cbx_event *event)
{
    struct cbx_executor_request *r = context;
    struct cbx_sink sink = cbx_relay_sink(&r->fd);
    if (r->client != CBX_CLIENT_GONE) {
        return cbx_executor_note_failure(r, sink.event(sink.context, event));
    }
    return 0;
}

static int send_event(void *context, const struct cbx_event *given)
{
    struct cbx_executor_request *r = context;
    struct cbx_event named = *given, *event = &named;
    const struct cbx_sink to = { .event = send_cleaned, .context = r };
    if (event->kind == CBX_EVENT_BLOCKED && r->run.decision != NULL) {
        event->rule = rule_of(r, event);
        record_blocked(r, event);
    }
    r->outlet.redactor = r->executor->grants.redactor;
    return cbx_outlet_event(&r->outlet, event, &to);
}

void cbx_executor_end_output(struct cbx_executor_request *r, struct cbx_result *result)
{
    const struct cbx_sink to = { .event = send_cleaned, .context = r };
    cbx_outlet_flush(&r->outlet, &to);
    cbx_outlet_done(&r->outlet);
    cbx_outlet_result(r->executor->grants.redactor, result);
}

static bool is_cancelled(void *context)
{
    struct cbx_executor_request *r = context;
    struct cbx_sink sink = cbx_relay_sink(&r->fd);
    bool cancelled = r->client == CBX_CLIENT_ATTACHED && sink.cancelled(sink.context);
    if (cancelled) {
        end_one_shot(r);
    }
    return cancelled;
}

struct cbx_sink cbx_executor_sink(struct cbx_executor_request *r)
{
    return (struct cbx_sink){ .event = send_event, .cancelled = is_cancelled, .context = r };
}
