/* SPDX-License-Identifier: MIT
 * Runs that an earlier executor, or an earlier front, began: their events again, and their
 * results. */
#include "gateway/executor/callers.h"
#include "gateway/executor/executor_internal.h"
#include "gateway/ipc/wire/relay.h"

/* Waits for the start of a run: a restarted front may resume a run that is still queued. */
static void await_begin(struct cbx_executor_request *r, const char *run, const char *principal)
{
    struct cbx_sessions *sessions = r->executor->sessions;
    if (cbx_sessions_is_queued(sessions, run, principal)) {
        cbx_executor_send_reply(r, CBX_REPLY_WAITING);
        cbx_sessions_await_dequeued(sessions, run);
    }
}

/* Enters the slot of the run after its start. A run of another principal (NULL = any) counts as
 * missing: nothing of it is reported or changed. */
static int enter_begun_run(struct cbx_executor_request *r, const char *run, const char *principal,
                           struct cbx_session **session, struct cbx_err *err)
{
    struct cbx_executor *e = r->executor;
    char slot[CBX_NAME_MAX + 1];
    struct cbx_pool *pool;
    /* opening the pool adopts existing sandboxes */
    int failed = cbx_executor_pool(e, &pool, err);
    if (failed) {
        return failed;
    }
    if (cbx_executor_withholds(e, run)) {
        return cbx_fail(err, CBX_ESTATE,
                        "its result is withheld: the gateway was started again with other values "
                        "of the policy's variables, and cannot redact those that this program had");
    }
    await_begin(r, run, principal);
    uint64_t seq = 0;
    failed = cbx_sessions_find_run(e->sessions, run, principal, slot, &seq, err);
    if (failed) {
        return failed;
    }
    /* the front that had the rest of the input has ended */
    cbx_sessions_cut_input(e->sessions, run);
    CBX_AUTO_JSON begun = cbx_reply_json(CBX_REPLY_BEGUN);
    if (seq > 0) {
        json_object_set_new(begun, "seq", json_integer((json_int_t)seq));
    }
    cbx_wire_send(r->fd, begun, CBX_STR(""), NULL);
    return cbx_sessions_enter(e->sessions, slot, principal, session, err);
}

static int follow_run(struct cbx_executor_request *r, struct cbx_session *session, const char *run,
                      struct cbx_result *result, struct cbx_err *err)
{
    struct cbx_sink sink = cbx_executor_sink(r), client = cbx_relay_sink(&r->fd);
    struct cbx_sandbox *sandbox = cbx_session_sandbox(session);
    if (sandbox == NULL) {
        return cbx_fail(err, CBX_ENOTFOUND, "its sandbox is gone");
    }
    if (client.cancelled(client.context)) {
        return cbx_fail(err, CBX_ESTATE, "the front was killed; the next one asks again");
    }
    r->run.decision = run;
    r->run.session = cbx_sandbox_session(sandbox);
    r->run.principal = cbx_sandbox_principal(sandbox);
    int failed = cbx_sandbox_resume(sandbox, run, &sink, result, err);
    cbx_executor_end_output(r, result);
    return failed;
}

/* Returns the claims; a new reference. */
static json_t *read_claims(const struct cbx_resume_args *args)
{
    json_t *claims = json_object();
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) cbx_claim_write(#member, args->member, claims);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    return claims;
}

int cbx_executor_resume(struct cbx_executor_request *r, const struct cbx_resume_args *args,
                        struct cbx_err *err)
{
    struct cbx_executor *e = r->executor;
    struct cbx_audit *audit;
    struct cbx_session *session;
    CBX_AUTO_JSON claims = read_claims(args);
    r->run.claims = claims;
    r->client = args->detach ? CBX_CLIENT_DETACHED : CBX_CLIENT_ATTACHED;
    int failed = cbx_executor_check_resume(e, args, err);
    if (failed) {
        return failed;
    }
    failed = cbx_executor_audit(e, &audit, err);
    if (failed) {
        return failed;
    }
    const char *principal = e->config.identity != NULL ? args->principal.p : NULL;
    failed = enter_begun_run(r, args->run.p, principal, &session, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_DONE(result) result = { 0 };
    cbx_executor_count_unrecorded(e, 1);
    failed = follow_run(r, session, args->run.p, &result, err);
    cbx_sessions_leave(e->sessions, session);
    if (failed) {
        cbx_executor_count_unrecorded(e, -1);
        return failed;
    }
    cbx_executor_send_result(r, audit, args->run.p, "resume", &result);
    return 0;
}
