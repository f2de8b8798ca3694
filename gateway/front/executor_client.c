/* SPDX-License-Identifier: MIT
 * The front's side of the executor. */
#include "gateway/front/executor_client.h"

#include "gateway/ipc/wire/relay.h"
#include "policies/base/memory.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- one call --------------------------------------------------------------------------------- */

/* Connects, sends the call and returns the open connection; CBX_EIO. */
static int connect_and_send(int control, const json_t *header, struct cbx_str bytes,
                            struct cbx_err *err)
{
    int pair[2];
    int failed = cbx_wire_pair(pair, err);
    if (failed) {
        return failed;
    }
    failed = cbx_wire_send_fd(control, pair[1], 'r', err);
    close(pair[1]);
    if (!failed) {
        failed = cbx_wire_send(pair[0], header, bytes, err);
    }
    if (failed) {
        close(pair[0]);
        return cbx_fail(err, CBX_EIO, "the executor is gone; nothing runs");
    }
    return pair[0];
}

struct call {
    const json_t *header;
    struct cbx_str bytes;
    /* Reads the replies until the last one. CBX_EIO means that the executor ended. */
    int (*follow)(int fd, void *context, struct cbx_err *err);
    void *context;
    int *hold; /* the connection stays open after the last reply; may be NULL */
};

/* All retries are here: a call without a reply from a killed executor is sent to the next one,
 * if its row in executor.def allows that. */
static int exchange(const struct cbx_flow *flow, const struct call *call, struct cbx_err *err)
{
    enum { TRIES = 20 };
    int tries = cbx_call_may_retry(cbx_call_of(call->header)) ? TRIES : 1;
    int failed = CBX_EIO;
    for (int i = 0; i < tries && failed == CBX_EIO; i++) {
        CBX_AUTO_FD fd = connect_and_send(flow->executor, call->header, call->bytes, err);
        if (fd < 0) {
            failed = CBX_EIO;
        } else {
            failed = call->follow(fd, call->context, err);
        }
        if (!failed && call->hold != NULL) {
            *call->hold = cbx_fd_steal(&fd);
        }
    }
    return failed;
}

static int read_error(const json_t *header, struct cbx_err *err)
{
    const char *text = json_string_value(json_object_get(header, "text"));
    int code = (int)json_integer_value(json_object_get(header, "code"));
    /* CBX_EIO means that an executor has ended, and this one replies. */
    code = code >= 0 ? CBX_EPROTO : code == CBX_EIO ? CBX_EENGINE : code;
    cbx_fail(err, code, "%s", text != NULL ? text : "the executor failed");
    const char *detail = json_string_value(json_object_get(header, "detail"));
    cbx_err_detail(err, "%s", detail != NULL ? detail : "");
    if (err != NULL) {
        err->retry_s = (uint32_t)json_integer_value(json_object_get(header, "retry_s"));
    }
    return code;
}

/* --- calls with one answer -------------------------------------------------------------------- */

static int receive_answer(int fd, void *context, struct cbx_err *err)
{
    enum { ANSWER_MS = 60000 };
    return cbx_wire_receive(fd, ANSWER_MS, context, err);
}

/* Takes the reference to the header. */
static int call_and_read(struct cbx_flow *flow, json_t *header, struct cbx_str bytes,
                         struct cbx_message *answer, struct cbx_err *err)
{
    CBX_AUTO_JSON owned = header;
    CBX_AUTO_DONE(message) own;
    cbx_message_init(&own);
    struct cbx_message *to = answer != NULL ? answer : &own;
    struct call call = { .header = owned, .bytes = bytes, .follow = receive_answer, .context = to };
    int failed = exchange(flow, &call, err);
    if (failed) {
        if (failed == CBX_EIO) {
            return cbx_fail(err, CBX_EENGINE, "the executor was killed");
        }
        return failed;
    }
    if (cbx_reply_of(to->header) == CBX_REPLY_ERROR) {
        return read_error(to->header, err);
    }
    return 0;
}

#define DEFINE_STREAM(name)
#define DEFINE_CALL(name)                                                                          \
    int cbx_call_##name(struct cbx_flow *flow, const struct cbx_##name##_args *args,               \
                        struct cbx_str bytes, struct cbx_message *answer, struct cbx_err *err)     \
    {                                                                                              \
        return call_and_read(flow, cbx_##name##_args_json(args), bytes, answer, err);              \
    }
#define DEFINE_DIRECT(name)                   DEFINE_CALL(name)
#define DEFINE_ADOPTED(name)                  DEFINE_CALL(name)
#define DEFINE_IDLE(name)                     DEFINE_CALL(name)
#define CBX_CALL(name, serve, retry, meaning) DEFINE_##serve(name)
#define CBX_ARG(call, member, type, required, max)
#define CBX_CALL_END(name)
#include "gateway/ipc/wire/executor.def"
#undef CBX_CALL
#undef CBX_ARG
#undef CBX_CALL_END

/* --- calls that follow a run ------------------------------------------------------------------ */

struct following {
    const struct cbx_submit_options *options; /* may be NULL */
    const struct cbx_sink *sink;              /* may be NULL */
    struct cbx_outcome *out;
    bool again; /* true if the run's events were sent to the sink before */
    /* For a submission, whose decision is noted when it is recorded; NULL otherwise. */
    const struct cbx_flow *flow;
    const struct cbx_request *request;
};

static void note(const struct following *f, enum cbx_progress progress)
{
    if (f->options != NULL && f->options->note != NULL) {
        f->options->note(f->options->context, progress, f->out->id, f->out->audit_seq);
    }
}

/* Waits until bytes are available; CBX_ESTATE if the sink cancels meanwhile. */
static int await_answer(int fd, const struct cbx_sink *sink, struct cbx_err *err)
{
    enum { TICK_MS = 100 };
    bool polls = sink != NULL && sink->cancelled != NULL;
    struct pollfd answer = { .fd = fd, .events = POLLIN };
    while (polls && poll(&answer, 1, TICK_MS) <= 0) {
        if (sink->cancelled(sink->context)) {
            return cbx_fail(err, CBX_ESTATE, "cancelled");
        }
    }
    return 0;
}

static void read_recorded(const json_t *header, struct cbx_outcome *out)
{
    const char *id = json_string_value(json_object_get(header, "decision"));
    snprintf(out->id, sizeof(out->id), "%s", id != NULL ? id : "");
    out->audit_seq = (uint64_t)json_integer_value(json_object_get(header, "seq"));
}

/* Called for every decision of the front that reached the audit log. */
static void note_decision(const struct following *f, bool admitted)
{
    if (f->flow != NULL && f->flow->recorded != NULL) {
        f->flow->recorded(f->flow, f->request, f->out, admitted);
    }
}

/* A resumed run has no other reply before it begins. */
static void note_waiting(const struct following *f, const json_t *ahead)
{
    if (!json_is_integer(ahead)) {
        note(f, CBX_ADMITTED);
    } else if (f->options != NULL && f->options->ahead != NULL) {
        f->options->ahead(f->options->context, (int)json_integer_value(ahead));
    }
}

/* Takes one reply; *last if none follows it. */
static int take_answer(struct following *f, const struct cbx_message *message, bool *last,
                       struct cbx_err *err)
{
    switch (cbx_reply_of(message->header)) {
    case CBX_REPLY_RECORDED:
        read_recorded(message->header, f->out);
        note_decision(f, false);
        *last = true;
        return 0;
    case CBX_REPLY_ADMITTED:
        read_recorded(message->header, f->out);
        note_decision(f, true);
        note(f, CBX_ADMITTED);
        return 0;
    case CBX_REPLY_WAITING:
        note_waiting(f, json_object_get(message->header, "ahead"));
        return 0;
    case CBX_REPLY_BEGUN:
        if (json_is_integer(json_object_get(message->header, "seq"))) { /* of a resumed run */
            f->out->audit_seq =
                (uint64_t)json_integer_value(json_object_get(message->header, "seq"));
        }
        f->out->begun = true;
        note(f, CBX_BEGUN);
        return 0;
    case CBX_REPLY_DONE:
        f->out->ran = true;
        *last = true;
        return cbx_result_from_json(message->header, &f->out->result, err);
    case CBX_REPLY_ERROR:
        *last = true;
        cbx_sha256_from_hex(cbx_json_str(json_object_get(message->header, "ledger")),
                            &f->out->ledger);
        return read_error(message->header, err);
    default:
        return cbx_relay_event(message, f->sink, err);
    }
}

/* An error before the last reply closes this end, which cancels an attached run. */
static int follow_run(int fd, void *context, struct cbx_err *err)
{
    struct following *f = context;
    if (f->again && f->sink != NULL && f->sink->restart != NULL) {
        f->sink->restart(f->sink->context);
    }
    for (bool last = false; !last;) {
        CBX_AUTO_DONE(message) message;
        cbx_message_init(&message);
        int failed = await_answer(fd, f->sink, err);
        if (failed) {
            return failed;
        }
        failed = cbx_wire_receive(fd, -1, &message, err);
        if (failed) {
            f->again = true;
            return cbx_fail(err, CBX_EIO,
                            "the executor ended in the middle of the request; whether the program "
                            "ran to its end is not known");
        }
        failed = take_answer(f, &message, &last, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

/* The executor was killed while it followed the run. The sandbox continues without it, and the next
 * executor adopts it and sends the run's events again, from their beginning. */
int cbx_client_resume(struct cbx_flow *flow, const struct cbx_request *request,
                      const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err)
{
    struct cbx_resume_args args = {
        .run = cbx_str_of(out->id),
        .principal = request->subject.principal,
        .proof = request->subject.proof,
        .voucher_subject = request->subject.voucher_subject,
        .detach = request->options.detach,
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) .member = request->subject.member,
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    };
    CBX_AUTO_JSON header = cbx_resume_args_json(&args);
    struct following f = { .options = &request->options, .sink = sink, .out = out, .again = true };
    struct call call = {
        .header = header, .follow = follow_run, .context = &f, .hold = &out->hold
    };
    return exchange(flow, &call, err);
}

/* No executor completed the replies to this submission: it was admitted, so it may have begun. */
static int resume_submission(struct cbx_flow *flow, const struct cbx_request *request,
                             const struct cbx_sink *sink, struct cbx_outcome *out,
                             struct cbx_err *err)
{
    int failed = cbx_client_resume(flow, request, sink, out, err);
    if (failed == CBX_ENOTFOUND && out->begun) {
        return cbx_fail(err, CBX_EENGINE,
                        "the executor was killed while this ran, and its sandbox is gone");
    }
    if (failed == CBX_ENOTFOUND) { /* it had not begun */
        out->id[0] = '\0';
        return CBX_EIO;
    }
    return failed;
}

int cbx_client_submit(struct cbx_flow *flow, const struct cbx_request *request,
                      const struct cbx_judgement *judgement, const struct cbx_sink *sink,
                      struct cbx_outcome *out, struct cbx_err *err)
{
    static const struct cbx_approval none;
    char mac[CBX_SHA256_HEX + 1];
    bool approved = cbx_judgement_is_approved(judgement, request->options.approval);
    const struct cbx_approval *approval = approved ? request->options.approval : &none;
    cbx_sha256_hex(&judgement->mac, mac);
    struct cbx_submit_args args = {
        .sealed = cbx_buf_str(&judgement->sealed),
        .mac = cbx_str_of(mac),
        .files = judgement->files.p != NULL ? cbx_buf_str(&judgement->files) : CBX_STR(""),
        .detach = request->options.detach,
        .interactive = request->options.interactive,
#define CBX_APPROVAL(member, max_bytes, meaning) .approval_##member = cbx_str_of(approval->member),
#include "gateway/ipc/seal/approval.def"
#undef CBX_APPROVAL
    };
    char input_bytes[16] = "";
    CBX_AUTO_DONE(buf) joined;
    cbx_buf_init(&joined, CBX_WIRE_BYTES_MAX);
    struct cbx_str bytes = cbx_buf_str(&judgement->text);
    if (request->options.has_input) {
        snprintf(input_bytes, sizeof(input_bytes), "%zu", request->options.input.len);
        cbx_buf_add(&joined, bytes);
        cbx_buf_add(&joined, request->options.input);
        bytes = cbx_buf_str(&joined);
        args.input_bytes = cbx_str_of(input_bytes);
        args.streams = request->options.streams;
    }
    if (joined.overflow) {
        return cbx_fail(err, CBX_ETOOBIG,
                        "program and standard input have %zu bytes, allowed are %d",
                        judgement->text.len + request->options.input.len, CBX_WIRE_BYTES_MAX);
    }
    const struct cbx_asked *asked = cbx_subject_asked(&request->subject);
    CBX_AUTO_MEM char *environment =
        asked->environment != NULL ? json_dumps(asked->environment, JSON_COMPACT) : NULL;
    args.proof = request->subject.proof;
    args.environment = cbx_str_of(environment != NULL ? environment : "");
    args.packages = cbx_asked_packages(asked);
    CBX_AUTO_JSON header = cbx_submit_args_json(&args);
    struct following f = {
        .options = &request->options, .sink = sink, .out = out, .flow = flow, .request = request
    };
    struct call call = {
        .header = header, .bytes = bytes, .follow = follow_run, .context = &f, .hold = &out->hold
    };
    int failed = exchange(flow, &call, err);
    if (failed == CBX_EIO && out->id[0] != '\0') {
        return resume_submission(flow, request, sink, out, err);
    }
    return failed;
}

int cbx_client_record_failure(struct cbx_flow *flow, const struct cbx_request *request,
                              const json_t *decision, struct cbx_outcome *out, struct cbx_err *err)
{
    const struct cbx_policy *policy = cbx_policies_find(cbx_flow_policies(flow), request->policy);
    const json_t *finding = json_array_get(json_object_get(decision, "findings"), 0);
    struct cbx_record_failure_args args = {
        .policy = policy != NULL ? policy->name : request->policy,
        .reason = cbx_json_str(json_object_get(finding, "message")),
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning) .member = request->subject.member,
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    };
    CBX_AUTO_JSON header = cbx_record_failure_args_json(&args);
    struct following f = { .out = out, .flow = flow, .request = request };
    struct call call = {
        .header = header, .bytes = request->source, .follow = follow_run, .context = &f
    };
    return exchange(flow, &call, err);
}

/* --- acknowledging ---------------------------------------------------------------------------- */

/* True when the executor confirmed that it has dropped the result. */
static bool send_ack(int hold)
{
    enum { CONFIRM_MS = 60000 };
    CBX_AUTO_JSON ack = cbx_reply_json(CBX_REPLY_ACK);
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    return cbx_wire_send(hold, ack, CBX_STR(""), NULL) == 0 &&
           cbx_wire_receive(hold, CONFIRM_MS, &answer, NULL) == 0;
}

void cbx_outcome_acknowledge(struct cbx_flow *flow, struct cbx_outcome *outcome)
{
    if (outcome->hold <= 0) {
        return;
    }
    CBX_AUTO_FD hold = outcome->hold;
    outcome->hold = 0;
    if (!send_ack(hold)) { /* it was killed, and the next one found the result in the sandbox */
        struct cbx_acknowledge_args args = { .run = cbx_str_of(outcome->id) };
        cbx_call_acknowledge(flow, &args, CBX_STR(""), NULL, NULL);
    }
}
