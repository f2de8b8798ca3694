/* SPDX-License-Identifier: MIT
 * The end of an action: its result for the client, its outcome for the audit log. */
#include "gateway/executor/executor_internal.h"
#include "gateway/ipc/wire/relay.h"
#include "policies/base/log.h"

static json_t *describe_outcome(const struct cbx_executor_request *r, const char *decision,
                                const char *action, const struct cbx_result *result, int failed,
                                const struct cbx_err *err)
{
    json_t *body = cbx_outcome_json(result, decision, action, r->run.claims);
    if (failed) {
        json_object_set_new(body, "error", cbx_json_text(cbx_str_of(err->text)));
        if (err->detail[0] != '\0') { /* for operators, like the log */
            json_object_set_new(body, "detail", cbx_json_text(cbx_str_of(err->detail)));
        }
    } else if (result->status == CBX_RUN_LOST) {
        char loss[CBX_RESULT_LOSS_BYTES];
        json_object_set_new(body, "error", json_string(cbx_result_loss(result, loss)));
    }
    return body;
}

/* Waits until the outcome of a permitted action is recorded. A full disk cannot undo an ended
 * run, so an outcome that cannot be written now is written later. `record` is the pending record
 * of `body`. */
static void await_record(struct cbx_executor *e, struct cbx_audit *audit, const char *decision,
                         struct cbx_audit_pending *record, json_t *body)
{
    enum { MAX_BATCH_DELAY_MS = 50 };
    struct cbx_err err;
    if (cbx_audit_await(audit, record, MAX_BATCH_DELAY_MS, &err) == 0) {
        cbx_outcomes_settle(e->outcomes, decision);
        return;
    }
    cbx_log(CBX_LOG_ERROR, "the outcome of decision %s is not recorded yet: %s", decision,
            err.text);
    cbx_outcomes_defer(e->outcomes, decision, body);
}

/* Waits until the client has stored the result, and confirms the acknowledgement. The result of
 * an attached run is dropped if the client disconnects instead. */
static bool await_ack(struct cbx_executor_request *r, const char *run_id)
{
    enum { ACK_TIMEOUT_MS = 30000 };
    CBX_AUTO_DONE(message) message;
    cbx_message_init(&message);
    bool acknowledged = cbx_wire_receive(r->fd, ACK_TIMEOUT_MS, &message, NULL) == 0;
    if (acknowledged || r->client == CBX_CLIENT_ATTACHED) {
        cbx_sessions_acknowledge(r->executor->sessions, run_id);
    }
    if (acknowledged) {
        cbx_executor_send_reply(r, CBX_REPLY_DONE);
    }
    return acknowledged;
}

/* Where a result that the front did not store may be taken over, with its sandbox, by another
 * replica, which records the outcome then, the acknowledgement comes before the record.
 *
 * Sends the result. Neither the client nor the next run waits for the outcome's record: the
 * decision's record was on disk before anything ran, and the outcome's record is written
 * together with the next decision's. */
bool cbx_executor_send_result(struct cbx_executor_request *r, struct cbx_audit *audit,
                              const char *run_id, const char *action,
                              const struct cbx_result *result)
{
    CBX_AUTO_JSON done = cbx_result_json(result);
    CBX_AUTO_JSON body = describe_outcome(r, run_id, action, result, 0, NULL);
    struct cbx_audit_pending record = { .type = "outcome", .body = body };
    bool shares = cbx_executor_takes_over(r->executor);
    if (result->session_lost) { /* another replica may have closed the link */
        cbx_executor_await_hold(r->executor);
    }
    /* A resumed run may have its outcome already: from the call that began it, or from an
     * earlier executor. */
    bool records = cbx_outcomes_take(r->executor->outcomes, run_id);
    if (records && !shares) {
        cbx_audit_submit(audit, &record);
    }
    /* no effect if the client has disconnected */
    cbx_wire_send(r->fd, done, CBX_STR(""), NULL);
    bool acknowledged = await_ack(r, run_id);
    bool left = shares && !acknowledged && r->client != CBX_CLIENT_ATTACHED;
    if (records && left) {
        cbx_outcomes_leave(r->executor->outcomes, run_id, body);
    } else if (records) {
        if (shares) {
            cbx_audit_submit(audit, &record);
        }
        await_record(r->executor, audit, run_id, &record, body);
    }
    cbx_executor_count_unrecorded(r->executor, -1);
    return acknowledged;
}

void cbx_executor_record_failure(struct cbx_executor_request *r, struct cbx_audit *audit,
                                 const struct cbx_permit *permit, const struct cbx_result *result,
                                 int failed, const struct cbx_err *err)
{
    const char *decision = permit->decision;
    CBX_AUTO_JSON body =
        describe_outcome(r, decision, cbx_action_name(permit->action), result, failed, err);
    struct cbx_audit_pending record = { .type = "outcome", .body = body };
    bool takes = cbx_outcomes_take(r->executor->outcomes, decision);
    if (takes && !cbx_executor_is_held(r->executor)) {
        /* another replica may have it, and this is why it failed */
        cbx_outcomes_leave(r->executor->outcomes, decision, body);
    } else if (takes) {
        cbx_audit_submit(audit, &record);
        await_record(r->executor, audit, decision, &record, body);
    }
}
