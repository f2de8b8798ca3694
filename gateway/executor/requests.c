/* SPDX-License-Identifier: MIT
 * Serves the calls of executor.def except runs (executor_submit.c) and what is done in a session
 * without a run (requests_idle.c). Each call has a function serve_NAME; its row determines its
 * preparation and dispatch. */
#include "docker/kernel_names.h"
#include "gateway/executor/callers.h"
#include "gateway/executor/executor_internal.h"
#include "gateway/executor/health.h"
#include "gateway/executor/packages/executor_packages.h"
#include "gateway/executor/requests_internal.h"
#include "gateway/executor/run/images.h"
#include "gateway/identity/identity.h"
#include "gateway/identity/tokens.h"
#include "gateway/ipc/metrics.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- answers ---------------------------------------------------------------------------------- */

int cbx_executor_answer(struct cbx_executor_request *r, json_t *header, struct cbx_str bytes,
                        struct cbx_err *err)
{
    CBX_AUTO_JSON owned = header;
    return cbx_wire_send(r->fd, owned, bytes, err);
}

int cbx_executor_answer_done(struct cbx_executor_request *r, struct cbx_err *err)
{
    return cbx_executor_answer(r, cbx_reply_json(CBX_REPLY_DONE), CBX_STR(""), err);
}

static void answer_error(struct cbx_executor_request *r, int code, const struct cbx_err *err)
{
    if (err->detail[0] != '\0') { /* for the operator; the caller receives only the text */
        cbx_log(CBX_LOG_WARNING, "%s: %s", err->text, err->detail);
    }
    cbx_metric_count(CBX_METRIC_ERRORS, cbx_str_of(cbx_code_name(code)), CBX_STR(""));
    json_t *header = cbx_reply_json(CBX_REPLY_ERROR);
    CBX_AUTO_MEM char *text = cbx_grants_clean(&r->executor->grants, err->text);
    CBX_AUTO_MEM char *detail = cbx_grants_clean(&r->executor->grants, err->detail);
    json_object_set_new(header, "code", json_integer(code));
    json_object_set_new(header, "retry_s", json_integer(err->retry_s));
    /* A truncated text may end within a UTF-8 sequence. */
    json_object_set_new(header, "text", cbx_json_text(cbx_str_of(text)));
    json_object_set_new(header, "detail", cbx_json_text(cbx_str_of(detail)));
    if (code == CBX_ESTALE) {
        char ledger[CBX_SHA256_HEX + 1];
        cbx_sha256_hex(&r->ledger, ledger);
        json_object_set_new(header, "ledger", json_string(ledger));
    }
    cbx_executor_answer(r, header, CBX_STR(""), NULL);
}

/* --- calls without a session ------------------------------------------------------------------ */

static int serve_submit(struct cbx_executor_request *r, const struct cbx_submit_args *args,
                        struct cbx_str bytes, struct cbx_err *err)
{
    return cbx_executor_submit(r, args, bytes, err);
}

static int serve_resume(struct cbx_executor_request *r, const struct cbx_resume_args *args,
                        struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    return cbx_executor_resume(r, args, err);
}

/* The front cannot seal, so the only decision that it can record by itself is a denial. */
static int serve_record_failure(struct cbx_executor_request *r,
                                const struct cbx_record_failure_args *args, struct cbx_str source,
                                struct cbx_err *err)
{
    struct cbx_audit *audit;
    int failed = cbx_executor_audit(r->executor, &audit, err);
    if (failed) {
        return failed;
    }
    char id[CBX_ID_CHARS + 1], hex[CBX_SHA256_HEX + 1];
    cbx_id_make(id);
    struct cbx_sha256 hash = cbx_sha256_of(source);
    cbx_sha256_hex(&hash, hex);
    cbx_metric_count(CBX_METRIC_DECISIONS, CBX_STR("deny"), args->language);
    cbx_metric_count(CBX_METRIC_FINDINGS, CBX_STR("analysis-failed"), CBX_STR("deny"));
    CBX_AUTO_JSON body = json_pack("{s:s,s:s,s:s}", "id", id, "verdict", "deny", "sha256", hex);
    json_object_set_new(body, "policy", cbx_json_text(args->policy));
    json_object_set_new(body, "reason", cbx_json_text(args->reason));
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)                                         \
    json_object_set_new(body, #member, cbx_json_text(args->member));
#define CBX_CLAIM(member, max_bytes, meaning) cbx_claim_write(#member, args->member, body);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    json_object_set_new(body, "findings",
                        json_pack("[{s:s,s:s,s:i,s:i}]", "rule", "analysis-failed", "effect",
                                  "deny", "line", 1, "column", 1));
    uint64_t seq;
    failed = cbx_audit_append(audit, "analysis-failed", body, &seq, err);
    if (failed) {
        return failed;
    }
    json_t *header = cbx_reply_json(CBX_REPLY_RECORDED);
    json_object_set_new(header, "decision", json_string(id));
    json_object_set_new(header, "seq", json_integer((json_int_t)seq));
    return cbx_executor_answer(r, header, CBX_STR(""), err);
}

static int serve_vouch(struct cbx_executor_request *r, const struct cbx_vouch_args *args,
                       struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    char voucher[CBX_VOUCHER_CHARS + 1];
    int failed = cbx_executor_vouch(r->executor, args, voucher, err);
    if (failed) {
        return failed;
    }
    json_t *header = cbx_reply_json(CBX_REPLY_DONE);
    json_object_set_new(header, "voucher", json_string(voucher));
    return cbx_executor_answer(r, header, CBX_STR(""), err);
}

static int serve_acknowledge(struct cbx_executor_request *r,
                             const struct cbx_acknowledge_args *args, struct cbx_str bytes,
                             struct cbx_err *err)
{
    (void)bytes;
    cbx_sessions_acknowledge(r->executor->sessions, args->run.p);
    return cbx_executor_answer_done(r, err);
}

static int serve_reconcile(struct cbx_executor_request *r, const struct cbx_reconcile_args *args,
                           struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    cbx_sessions_reconcile(r->executor->sessions, args->sessions, args->runs);
    return cbx_executor_answer_done(r, err);
}

static int serve_close(struct cbx_executor_request *r, const struct cbx_close_args *args,
                       struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    const struct cbx_session_name name = { args->session.p, args->principal.p };
    int failed = cbx_sessions_close(r->executor->sessions, &name, err);
    if (failed) {
        return failed;
    }
    return cbx_executor_answer_done(r, err);
}

static int serve_interrupt(struct cbx_executor_request *r, const struct cbx_interrupt_args *args,
                           struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    const struct cbx_session_name name = { args->session.p, args->principal.p };
    int failed = cbx_sessions_interrupt(r->executor->sessions, &name, err);
    if (failed) {
        return failed;
    }
    return cbx_executor_answer_done(r, err);
}

/* A run is queued until it has begun, and is in its session after that: the second search finds
 * a run that began in between. */
static int serve_cancel(struct cbx_executor_request *r, const struct cbx_cancel_args *args,
                        struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    struct cbx_executor *e = r->executor;
    const struct cbx_session_name name = { args->run.p, args->principal.p };
    int failed = 0;
    if (cbx_sessions_cancel(e->sessions, args->run.p, args->principal.p)) {
        cbx_turns_wake(e->turns, args->run.p);
    } else {
        failed = cbx_sessions_interrupt(e->sessions, &name, err);
    }
    if (failed) {
        return failed;
    }
    return cbx_executor_answer_done(r, err);
}

static int serve_input(struct cbx_executor_request *r, const struct cbx_input_args *args,
                       struct cbx_str line, struct cbx_err *err)
{
    const struct cbx_session_name name = { args->session.p, args->principal.p };
    int failed = cbx_executor_check_caller(r->executor, args->principal, args->proof, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sessions_input(r->executor->sessions, &name, line, err);
    if (failed) {
        return failed;
    }
    return cbx_executor_answer_done(r, err);
}

static int serve_feed(struct cbx_executor_request *r, const struct cbx_feed_args *args,
                      struct cbx_str bytes, struct cbx_err *err)
{
    const struct cbx_session_name name = { args->run.p, args->principal.p };
    size_t waiting = 0;
    int failed = cbx_executor_check_caller(r->executor, args->principal, args->proof, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sessions_feed(r->executor->sessions, &name, bytes, args->end, args->wait, &waiting,
                               err);
    if (failed) {
        return failed;
    }
    json_t *header = cbx_reply_json(CBX_REPLY_DONE);
    json_object_set_new(header, "waiting", json_integer((json_int_t)waiting));
    return cbx_executor_answer(r, header, CBX_STR(""), err);
}

static int serve_list_sessions(struct cbx_executor_request *r,
                               const struct cbx_list_sessions_args *args, struct cbx_str bytes,
                               struct cbx_err *err)
{
    (void)bytes;
    json_t *header = cbx_reply_json(CBX_REPLY_DONE);
    json_object_set_new(
        header, "sessions",
        cbx_sessions_list(r->executor->sessions, args->session.p, args->principal.p));
    return cbx_executor_answer(r, header, CBX_STR(""), err);
}

static int serve_health(struct cbx_executor_request *r, const struct cbx_health_args *args,
                        struct cbx_str bytes, struct cbx_err *err)
{
    (void)args;
    (void)bytes;
    json_t *header = cbx_reply_json(CBX_REPLY_DONE);
    cbx_executor_health(r->executor, header);
    return cbx_executor_answer(r, header, CBX_STR(""), err);
}

static int serve_contents(struct cbx_executor_request *r, const struct cbx_contents_args *args,
                          struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    char name[CBX_IMAGE_NAME_BYTES];
    struct cbx_pool *pool;
    struct cbx_image image = { 0 };
    size_t i = 0;
    while (cbx_kernel_at(i) != NULL && !cbx_str_is(args->kernel, cbx_kernel_at(i))) {
        i++;
    }
    if (cbx_kernel_at(i) == NULL) {
        return cbx_fail(err, CBX_EINVAL, "there is no such kernel");
    }
    int failed = cbx_executor_pool(r->executor, &pool, err); /* sets the engine permanently */
    if (failed) {
        return failed;
    }
    const struct cbx_policies *policies = cbx_policy_history_last(&r->executor->policies);
    struct cbx_image_choice images;
    cbx_image_choose(cbx_pool_sandboxes(pool), cbx_policies_find(policies, args->policy),
                     cbx_kernel_at(i), &images);
    cbx_image_name(images.config.image_prefix, cbx_kernel_at(i), images.config.variant, name);
    failed = cbx_engine_image(r->executor->engine, name, &image, err);
    if (!failed) {
        json_t *header = cbx_reply_json(CBX_REPLY_DONE);
        json_object_set_new(header, "image", json_string(image.id));
        failed = cbx_executor_answer(r, header,
                                     cbx_str_of(image.contents != NULL ? image.contents : ""), err);
    }
    free(image.contents);
    return failed;
}

static int serve_find_layer(struct cbx_executor_request *r, const struct cbx_find_layer_args *args,
                            struct cbx_str set, struct cbx_err *err)
{
    int failed = cbx_executor_has_layer(r->executor, args->language.p, args->policy, set, err);
    if (failed && failed != CBX_ENOTFOUND) {
        return failed;
    }
    json_t *header = cbx_reply_json(CBX_REPLY_DONE);
    json_object_set_new(header, "found", json_boolean(failed == 0));
    return cbx_executor_answer(r, header, CBX_STR(""), err);
}

int cbx_executor_record(struct cbx_executor *e, const char *type, json_t *body, struct cbx_err *err)
{
    CBX_AUTO_JSON owned = body;
    struct cbx_audit *audit;
    int failed = cbx_executor_audit(e, &audit, err);
    if (failed) {
        return failed;
    }
    return cbx_audit_append(audit, type, owned, NULL, err);
}

/* The front reads the file periodically and cancels the runs that the line names. The line is
 * written first: a log that cannot be written must not keep these runs running. */
static int serve_stop(struct cbx_executor_request *r, const struct cbx_stop_args *args,
                      struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    struct cbx_stop stop = { 0 };
    int failed = cbx_executor_check_operator(r->executor, args->principal, args->proof, err);
    if (failed) {
        return failed;
    }
    if (args->token.len >= sizeof(stop.id)) {
        return cbx_fail(err, CBX_EINVAL, "the id of a token has %d characters", CBX_TOKEN_ID_CHARS);
    }
    snprintf(stop.principal, sizeof(stop.principal), "%s", args->who.p);
    snprintf(stop.id, sizeof(stop.id), "%s", args->token.p);
    failed =
        cbx_identity_stop(r->executor->config.identity, r->executor->config.state_dir, &stop, err);
    if (failed) {
        return failed;
    }
    json_t *body = json_pack("{s:s}", "by", args->principal.p);
    cbx_claim_write("principal", args->who, body);
    cbx_claim_write("token", args->token, body);
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) cbx_claim_write(#member, args->member, body);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    failed = cbx_executor_record(r->executor, "stop", body, err);
    if (failed) {
        return failed;
    }
    return cbx_executor_answer_done(r, err);
}

static bool is_access(struct cbx_str type)
{
    static const char *const types[] = {
#define CBX_ACCESS(ID, type, limited) type,
#include "gateway/ipc/seal/access.def"
#undef CBX_ACCESS
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (cbx_str_is(type, types[i])) {
            return true;
        }
    }
    return false;
}

static int serve_note(struct cbx_executor_request *r, const struct cbx_note_args *args,
                      struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    if (!is_access(args->type)) {
        return cbx_fail(err, CBX_EPROTO, "there is no such record");
    }
    json_t *body = json_object();
    cbx_claim_write("principal", args->principal, body);
    cbx_claim_write("decision", args->decision, body);
    cbx_claim_write("reason", args->reason, body);
    if (args->omitted.len > 0) {
        json_object_set_new(body, "omitted", json_integer(strtoll(args->omitted.p, NULL, 10)));
    }
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) cbx_claim_write(#member, args->member, body);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    int failed = cbx_executor_record(r->executor, args->type.p, body, err);
    if (failed) {
        return failed;
    }
    return cbx_executor_answer_done(r, err);
}

static int serve_audit_head(struct cbx_executor_request *r, const struct cbx_audit_head_args *args,
                            struct cbx_str bytes, struct cbx_err *err)
{
    (void)args;
    (void)bytes;
    struct cbx_audit *audit;
    char head[CBX_AUDIT_HEAD_CHARS + 1] = "";
    int failed = cbx_executor_audit(r->executor, &audit, err);
    if (!failed) {
        failed = cbx_anchors_head(audit, r->executor->name, head, err);
    }
    if (failed) {
        return failed;
    }
    json_t *header = cbx_reply_json(CBX_REPLY_DONE);
    cbx_claim_write("head", cbx_str_of(head), header);
    return cbx_executor_answer(r, header, CBX_STR(""), err);
}

static int serve_anchor(struct cbx_executor_request *r, const struct cbx_anchor_args *args,
                        struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    struct cbx_audit *audit;
    int failed = cbx_executor_audit(r->executor, &audit, err);
    if (!failed) {
        failed = cbx_anchors_take(&r->executor->anchors, audit, args->replica, args->head,
                                  cbx_clock_ms(), err);
    }
    if (failed) {
        return failed;
    }
    return cbx_executor_answer_done(r, err);
}

static int serve_hold(struct cbx_executor_request *r, const struct cbx_hold_args *args,
                      struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    CBX_AUTO_JSON empty = json_array();
    int failed = cbx_executor_hold(r->executor, args, empty, err);
    if (failed) {
        return failed;
    }
    json_t *header = cbx_reply_json(CBX_REPLY_DONE);
    json_object_set(header, "empty", empty);
    return cbx_executor_answer(r, header, CBX_STR(""), err);
}

static int serve_taken_over(struct cbx_executor_request *r, const struct cbx_taken_over_args *args,
                            struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    int failed = cbx_executor_note_taken(r->executor, args, err);
    if (failed) {
        return failed;
    }
    return cbx_executor_answer_done(r, err);
}

static int serve_given_up(struct cbx_executor_request *r, const struct cbx_given_up_args *args,
                          struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    int failed = cbx_executor_note_given_up(r->executor, args, err);
    if (failed) {
        return failed;
    }
    return cbx_executor_answer_done(r, err);
}

/* Enters the session of a verified caller when it has no run. Leave it with cbx_sessions_leave. */
static int enter_idle(struct cbx_executor_request *r, struct cbx_str id, struct cbx_str principal,
                      struct cbx_str proof, struct cbx_session **session,
                      struct cbx_sandbox **sandbox, struct cbx_err *err)
{
    struct cbx_pool *pool;
    int failed = cbx_executor_check_caller(r->executor, principal, proof, err);
    if (failed) {
        return failed;
    }
    failed = cbx_executor_pool(r->executor, &pool, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sessions_enter(r->executor->sessions, id.p, principal.p, session, err);
    if (failed) {
        return failed;
    }
    failed = cbx_executor_reach(*session, sandbox, err);
    if (failed) {
        cbx_sessions_leave(r->executor->sessions, *session);
    }
    return failed;
}

/* --- dispatch --------------------------------------------------------------------------------- */

#define SERVE_STREAM(name) return serve_##name(r, &args, bytes, err);
#define SERVE_DIRECT(name) return serve_##name(r, &args, bytes, err);
#define SERVE_ADOPTED(name)                                                                        \
    struct cbx_pool *pool; /* opening the pool adopts existing sandboxes */                        \
    failed = cbx_executor_pool(r->executor, &pool, err);                                           \
    if (failed) {                                                                                  \
        return failed;                                                                             \
    }                                                                                              \
    return serve_##name(r, &args, bytes, err);
#define SERVE_IDLE(name)                                                                           \
    struct cbx_session *session;                                                                   \
    struct cbx_sandbox *sandbox;                                                                   \
    failed = enter_idle(r, args.session, args.principal, args.proof, &session, &sandbox, err);     \
    if (failed) {                                                                                  \
        return failed;                                                                             \
    }                                                                                              \
    failed = cbx_serve_##name(r, sandbox, &args, bytes, err);                                      \
    cbx_sessions_leave(r->executor->sessions, session);                                            \
    return failed;
#define CBX_CALL(name, serve, retry, meaning)                                                      \
    static int dispatch_##name(struct cbx_executor_request *r, const json_t *header,               \
                               struct cbx_str bytes, struct cbx_err *err)                          \
    {                                                                                              \
        struct cbx_##name##_args args;                                                             \
        int failed = cbx_##name##_args_read(header, &args, err);                                   \
        if (failed) {                                                                              \
            return failed;                                                                         \
        }                                                                                          \
        SERVE_##serve(name)                                                                        \
    }
#define CBX_ARG(call, member, type, required, max)
#define CBX_CALL_END(name)
#include "gateway/ipc/wire/executor.def"
#undef CBX_CALL

static int (*const dispatch[])(struct cbx_executor_request *, const json_t *, struct cbx_str,
                               struct cbx_err *) = {
#define CBX_CALL(name, serve, retry, meaning) dispatch_##name,
#include "gateway/ipc/wire/executor.def"
#undef CBX_CALL
#undef CBX_ARG
#undef CBX_CALL_END
};

/* A call that fails while the executor stops may succeed in the next one: without a reply the
 * front sends it there, as it does after the executor was killed. */
bool cbx_executor_is_stopping(struct cbx_executor *e)
{
    pthread_mutex_lock(&e->lock);
    bool stopping = e->stopping;
    pthread_mutex_unlock(&e->lock);
    return stopping;
}

void cbx_executor_serve(struct cbx_executor *e, int fd)
{
    enum { RECEIVE_MS = 30000 };
    struct cbx_executor_request r = { .executor = e, .fd = fd };
    CBX_AUTO_DONE(message) message;
    cbx_message_init(&message);
    struct cbx_err err = { 0 };
    int failed = cbx_wire_receive(fd, RECEIVE_MS, &message, &err);
    enum cbx_executor_call call = failed ? CBX_CALLS : cbx_call_of(message.header);
    if (!failed) {
        if (call < CBX_CALLS) {
            failed = dispatch[call](&r, message.header, cbx_buf_str(&message.bytes), &err);
        } else {
            failed = cbx_fail(&err, CBX_EPROTO, "the executor has no such call");
        }
    }
    if (failed && r.client != CBX_CLIENT_NO_REPLY && !cbx_executor_is_stopping(e)) {
        answer_error(&r, failed, &err);
    }
    close(fd);
}
