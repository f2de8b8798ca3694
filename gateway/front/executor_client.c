/* SPDX-License-Identifier: MIT
 * The front's side of the executor, and the start of all processes. */
#include "gateway/front/executor_client.h"

#include "gateway/ipc/relay.h"
#include "gateway/ipc/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

/* --- one request ------------------------------------------------------------------------------ */

/* Sends a request on a fresh pair and returns our end, or a negative code. */
static int send_request(int control, const json_t *header, struct cbx_str bytes,
                        struct cbx_err *err)
{
    int pair[2];
    int failed = cbx_wire_pair(pair, err);
    if (failed) {
        return failed;
    }
    failed = cbx_wire_send_fd(control, pair[1], 'r', err);
    close(pair[1]);
    failed = failed ? failed : cbx_wire_send(pair[0], header, bytes, err);
    if (failed) {
        close(pair[0]);
        return cbx_fail(err, CBX_EIO, "the executor is gone; nothing runs");
    }
    return pair[0];
}

static int read_error(const json_t *header, struct cbx_err *err)
{
    const char *text = json_string_value(json_object_get(header, "text"));
    int code = (int)json_integer_value(json_object_get(header, "code"));
    /* CBX_EIO is what we say when the executor itself has ended. */
    code = code >= 0 ? CBX_EPROTO : code == CBX_EIO ? CBX_EENGINE : code;
    return cbx_fail(err, code, "%s", text != NULL ? text : "the executor failed");
}

static void read_recorded(const json_t *header, struct cbx_outcome *out)
{
    const char *id = json_string_value(json_object_get(header, "decision"));
    snprintf(out->id, sizeof(out->id), "%s", id != NULL ? id : "");
    out->audit_seq = (uint64_t)json_integer_value(json_object_get(header, "seq"));
}

/* Waits until there is something to read, or until the sink has lost interest. */
static int await_answer(int fd, const struct cbx_sink *sink, struct cbx_err *err)
{
    enum { TICK_MS = 100 };
    bool asks = sink != NULL && sink->cancelled != NULL;
    struct pollfd answer = { .fd = fd, .events = POLLIN };
    while (asks && poll(&answer, 1, TICK_MS) <= 0) {
        if (sink->cancelled(sink->context)) {
            return cbx_fail(err, CBX_ESTATE, "cancelled");
        }
    }
    return 0;
}

static void note(const struct cbx_run_wishes *wishes, enum cbx_progress progress,
                 const struct cbx_outcome *out)
{
    if (wishes != NULL && wishes->note != NULL) {
        wishes->note(wishes->context, progress, out->id);
    }
}

/* Follows the answers to the last one. */
static int follow(int fd, const struct cbx_run_wishes *wishes, const struct cbx_sink *sink,
                  struct cbx_outcome *out, struct cbx_err *err)
{
    for (;;) { /* CBX_EIO means that the executor ended, and nothing else */
        CBX_AUTO_DONE(message) message;
        cbx_message_init(&message);
        int failed = await_answer(fd, sink, err);
        if (failed) {
            return failed; /* our end closes, which cancels the run */
        }
        failed = cbx_wire_receive(fd, -1, &message, err);
        if (failed) {
            return cbx_fail(err, CBX_EIO,
                            "the executor ended in the middle of the request; whether the program "
                            "ran to its end is not known");
        }
        struct cbx_str type = cbx_json_str(json_object_get(message.header, "type"));
        if (cbx_str_is(type, "error")) {
            return read_error(message.header, err);
        }
        if (cbx_str_is(type, "recorded") || cbx_str_is(type, "admitted")) {
            read_recorded(message.header, out);
            if (cbx_str_is(type, "recorded")) {
                return 0;
            }
            note(wishes, CBX_ADMITTED, out);
        } else if (cbx_str_is(type, "waiting")) {
            note(wishes, CBX_ADMITTED, out);
        } else if (cbx_str_is(type, "begun")) {
            out->begun = true;
            note(wishes, CBX_BEGUN, out);
        } else if (cbx_str_is(type, "done")) {
            out->ran = true;
            return cbx_result_from_json(message.header, &out->result, err);
        } else if ((failed = cbx_relay_event(&message, sink, err)) != 0) {
            return failed; /* as above */
        }
    }
}

/* The executor was killed while it followed the run. The sandbox goes on without it, and the next
 * executor finds it: what the run said comes again, from its beginning. CBX_ENOTFOUND when the run
 * never began, or its sandbox is gone too. */
static int resume(int control, const struct cbx_run_wishes *wishes, const struct cbx_sink *sink,
                  struct cbx_outcome *out, struct cbx_err *err)
{
    CBX_AUTO_JSON header =
        json_pack("{s:s,s:s,s:b}", "op", "resume", "run", out->id, "keep", wishes->keep);
    CBX_AUTO_FD fd = send_request(control, header, (struct cbx_str){ 0 }, err);
    if (fd < 0) {
        return CBX_EIO;
    }
    if (sink != NULL && sink->restart != NULL) {
        sink->restart(sink->context);
    }
    int failed = follow(fd, wishes, sink, out, err);
    if (!failed) {
        out->hold = cbx_fd_steal(&fd);
    }
    return failed;
}

int cbx_backend_resume(int control, const struct cbx_run_wishes *wishes,
                       const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err)
{
    enum { TRIES = 20 };
    int failed = CBX_EIO;
    for (int i = 0; i < TRIES && failed == CBX_EIO; i++) {
        failed = resume(control, wishes, sink, out, err);
    }
    return failed;
}

int cbx_backend_submit(int control, const struct cbx_judgement *judgement,
                       const struct cbx_run_wishes *wishes, const struct cbx_sink *sink,
                       struct cbx_outcome *out, struct cbx_err *err)
{
    char mac[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&judgement->mac, mac);
    CBX_AUTO_JSON header = json_pack("{s:s,s:s,s:b,s:b}", "op", "submit", "mac", mac, "keep",
                                     wishes->keep, "interactive", wishes->interactive);
    json_object_set_new(header, "sealed", json_stringn(judgement->sealed.p, judgement->sealed.len));
    CBX_AUTO_FD fd = send_request(control, header, cbx_buf_str(&judgement->text), err);
    int failed = fd < 0 ? CBX_EIO : follow(fd, wishes, sink, out, err);
    if (failed == CBX_EIO && out->id[0] != '\0') {
        failed = cbx_backend_resume(control, wishes, sink, out, err);
        if (failed == CBX_ENOTFOUND && out->begun) {
            return cbx_fail(err, CBX_EENGINE,
                            "the executor was killed while this ran, and its sandbox is gone");
        }
        if (failed == CBX_ENOTFOUND) { /* it had not begun */
            out->id[0] = '\0';
            failed = CBX_EIO;
        }
        return failed;
    }
    if (!failed) {
        out->hold = cbx_fd_steal(&fd);
    }
    return failed;
}

/* True when the executor says that it, too, needs the result no more. */
static bool hand_back(int hold)
{
    enum { PATIENCE_MS = 60000 };
    CBX_AUTO_JSON ack = json_pack("{s:s}", "type", "ack");
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    return cbx_wire_send(hold, ack, (struct cbx_str){ 0 }, NULL) == 0 &&
           cbx_wire_receive(hold, PATIENCE_MS, &answer, NULL) == 0;
}

void cbx_outcome_acknowledge(struct cbx_flow *flow, struct cbx_outcome *outcome)
{
    if (outcome->hold <= 0) {
        return;
    }
    CBX_AUTO_FD hold = outcome->hold;
    outcome->hold = 0;
    if (!hand_back(hold)) { /* it was killed, and the next one found the result in the sandbox */
        CBX_AUTO_JSON header = json_pack("{s:s,s:s}", "op", "ack", "run", outcome->id);
        cbx_flow_request(flow, header, CBX_STR(""), NULL, NULL, NULL);
    }
}

int cbx_backend_note_failure(int control, const struct cbx_request *request,
                             struct cbx_outcome *out, struct cbx_err *err)
{
    CBX_AUTO_JSON header = json_pack("{s:s}", "op", "failed");
    json_object_set_new(header, "policy", cbx_json_text(request->policy));
    cbx_subject_write(&request->subject, header);
    CBX_AUTO_FD fd = send_request(control, header, request->source, err);
    return fd < 0 ? CBX_EIO : follow(fd, NULL, NULL, out, err);
}

static int request_once(int control, const json_t *header, struct cbx_str bytes,
                        struct cbx_message *answer, struct cbx_err *err)
{
    CBX_AUTO_FD fd = send_request(control, header, bytes, err);
    return fd < 0 ? CBX_EIO : cbx_wire_receive(fd, 60000, answer, err);
}

int cbx_flow_request(struct cbx_flow *flow, const json_t *header, struct cbx_str bytes,
                     json_t **answer, struct cbx_buf *out, struct cbx_err *err)
{
    enum { TRIES = 20 };
    bool once = cbx_str_is(cbx_json_str(json_object_get(header, "op")), "input");
    CBX_AUTO_DONE(message) message;
    cbx_message_init(&message);
    int failed = CBX_EIO;
    for (int i = 0; i < (once ? 1 : TRIES) && failed == CBX_EIO; i++) {
        failed = request_once(flow->executor, header, bytes, &message, err);
    }
    if (failed) {
        return failed == CBX_EIO ? cbx_fail(err, CBX_EENGINE, "the executor was killed") : failed;
    }
    if (json_object_get(message.header, "code") != NULL) {
        return read_error(message.header, err);
    }
    if (out != NULL && cbx_buf_add(out, cbx_buf_str(&message.bytes)) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "the answer has %zu bytes", message.bytes.len);
    }
    if (answer != NULL) {
        *answer = cbx_steal(&message.header);
    }
    return 0;
}

int cbx_flow_ask(struct cbx_flow *flow, const char *op, const char *session, json_t **answer,
                 struct cbx_err *err)
{
    CBX_AUTO_JSON header = json_pack("{s:s}", "op", op);
    if (session != NULL) {
        json_object_set_new(header, "session", cbx_json_text(cbx_str_of(session)));
    }
    return cbx_flow_request(flow, header, (struct cbx_str){ 0 }, answer, NULL, err);
}

void cbx_flow_done(struct cbx_flow *flow)
{
    cbx_judge_free(flow->judge);
    cbx_fd_auto(&flow->executor);
    cbx_policies_done(&flow->policies);
    *flow = (struct cbx_flow){ .executor = -1 };
}

void cbx_outcome_done(struct cbx_outcome *outcome)
{
    json_decref(outcome->decision);
    cbx_result_done(&outcome->result);
    if (outcome->hold > 0) {
        close(outcome->hold);
    }
    *outcome = (struct cbx_outcome){ 0 };
}
