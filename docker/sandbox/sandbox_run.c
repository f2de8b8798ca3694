/* SPDX-License-Identifier: MIT
 * Runs in a sandbox: started with a permit, followed to their result, also by an executor that
 * did not start them. */
#include "docker/egress/proxy.h"
#include "docker/engine/silence.h"
#include "docker/kernel_names.h"
#include "docker/sandbox/container.h"
#include "docker/sandbox/events.h"
#include "docker/sandbox/sandbox_internal.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    LATE_MS = 25000,
    CANCEL_MS = 3000,
    TICK_MS = 250,
    PING_MS = CBX_SILENCE_ENGINE_MS,
    ACCEPT_BYTES_MAX = CBX_FRAME_ACCEPT_MAX * CBX_FRAME_HASH_BYTES,
    SOURCE_MAX = CBX_FRAME_RUN_MAX - CBX_FRAME_ARGUMENTS_MAX - ACCEPT_BYTES_MAX -
                 CBX_FRAME_PROGRAMS_MAX - CBX_FRAME_IMPORTS_MAX - sizeof(struct cbx_frame_run),
};
_Static_assert(CBX_FRAME_ARGUMENTS_MAX >= CBX_ARGUMENTS_BYTES_MAX + CBX_FILE_NAME_MAX + 1,
               "what a permit allows fits into a frame");
_Static_assert(CBX_REFUSALS <= 16, "the refusals of a RUN frame are 16 bits");
_Static_assert((int)CBX_RUN_ACCEPT_MAX == (int)CBX_FRAME_ACCEPT_MAX &&
                   sizeof(struct cbx_sha256) == CBX_FRAME_HASH_BYTES,
               "hashes are sent as they are");

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int cbx_sandbox_check_permit(const struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                             enum cbx_action action, struct cbx_str bytes, struct cbx_err *err)
{
    struct cbx_sha256 hash = cbx_sha256_of(bytes);
    const char *kernel = cbx_kernel_of(permit->language);
    if (permit->action != action || !cbx_sha256_equal(&hash, &permit->source_sha256)) {
        return cbx_fail(err, CBX_ESEAL, "the permit is not for %s",
                        action == CBX_ACTION_RUN ? "running these bytes" : "putting this file");
    }
    if (action == CBX_ACTION_RUN && kernel == NULL) {
        return cbx_fail(err, CBX_ESEAL, "no kernel runs %s", permit->language);
    }
    if (action == CBX_ACTION_RUN && strcmp(kernel, sandbox->kernel) != 0) {
        return cbx_fail(err, CBX_ESEAL, "the permit is for %s, the sandbox runs %s",
                        permit->language, sandbox->kernel);
    }
    if (action == CBX_ACTION_RUN && cbx_container_uses_gvisor(&permit->limits) &&
        !cbx_container_uses_gvisor(&sandbox->limits)) {
        return cbx_fail(
            err, CBX_ESTATE,
            "the run asks for the isolation gvisor, the session's sandbox is a container; open "
            "a session with this isolation");
    }
    if (!sandbox->claimed || strcmp(permit->session, sandbox->session) != 0 ||
        strcmp(permit->principal, sandbox->principal) != 0) {
        return cbx_fail(err, CBX_ESEAL, "the permit is for another session");
    }
    return cbx_sandbox_check_bound(sandbox, permit, action, err);
}

/* Returns the tighter limits of run and session. */
static struct cbx_limits limits_of(const struct cbx_sandbox *sandbox,
                                   const struct cbx_permit *permit)
{
    struct cbx_limits limits = permit->limits;
    cbx_limits_tighten(&limits, &sandbox->limits);
    return limits;
}

static int send_run(struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                    struct cbx_str source, const struct cbx_run_options *options,
                    struct cbx_err *err)
{
    const struct cbx_limits limits = limits_of(sandbox, permit);
    bool has_arguments = permit->file_name[0] != '\0' || permit->arguments.len > 0;
    size_t name_bytes = has_arguments ? strlen(permit->file_name) + 1 : 0;
    size_t accept_count = options != NULL ? options->accept_count : 0;
    struct cbx_frame_run run = {
#define CBX_RUN_LIMIT(member) .limits.member = (uint64_t)limits.member,
#include "policies/limits.def"
#undef CBX_RUN_LIMIT
        .refused = (uint16_t)permit->refused,
        .refusal_ends = permit->refusal_ends,
        .programs_bytes = (uint32_t)permit->programs.len,
        .imports_bytes = (uint32_t)permit->imports.len,
        .network = permit->network == CBX_NETWORK_EGRESS,
        .interactive = options != NULL && options->interactive,
        .input = options != NULL && options->has_input,
        .one_shot = permit->session[0] == '\0',
        .accept_count = (uint16_t)accept_count,
        .arguments_bytes = (uint32_t)(name_bytes + permit->arguments.len),
    };
    snprintf(run.language, sizeof(run.language), "%s", permit->language);
    snprintf(run.id, sizeof(run.id), "%s", permit->decision);
    snprintf(sandbox->run_id, sizeof(sandbox->run_id), "%s", permit->decision);
    CBX_AUTO_DONE(buf) head;
    cbx_buf_init(&head, sizeof(run) + ACCEPT_BYTES_MAX + CBX_FRAME_PROGRAMS_MAX +
                            CBX_FRAME_IMPORTS_MAX + CBX_FRAME_ARGUMENTS_MAX);
    cbx_buf_add_bytes(&head, &run, sizeof(run));
    if (accept_count > 0) {
        cbx_buf_add_bytes(&head, options->accept, accept_count * sizeof(*options->accept));
    }
    cbx_buf_add(&head, permit->programs);
    cbx_buf_add(&head, permit->imports);
    cbx_buf_add_bytes(&head, permit->file_name, name_bytes);
    cbx_buf_add(&head, permit->arguments);
    CBX_AUTO_DONE(buf) frames;
    cbx_buf_init(&frames, CBX_FRAME_RUN_MAX + CBX_FRAME_TAG_MAX + 2 * CBX_FRAME_HEAD_BYTES);
    struct cbx_sha256 before = sandbox->ledger, after = cbx_ledger_add(&before, &permit->entry);
    /* The ledger first: it has every run that began, even if a process is killed in between. A
     * one-shot has no second run. */
    int failed = 0;
    if (!run.one_shot) {
        failed = cbx_sandbox_set_ledger(sandbox, &after, &frames, err);
    }
    if (!failed) {
        failed = cbx_sandbox_add_frame(&frames, CBX_FRAME_RUN, cbx_buf_str(&head), source, err);
    }
    sandbox->ledger = failed ? before : after;
    if (failed) {
        return failed;
    }
    return cbx_sandbox_send_bytes(sandbox, cbx_buf_str(&frames), err);
}

/* What is known of a run whose end its sandbox does not report. */
enum end { BROKEN, LATE, CANCELLED };

/* Determines how the run ended, with an engine that replies. */
static enum cbx_run_status ask_status(const struct cbx_sandbox *sandbox, enum end end,
                                      enum cbx_silent *silent)
{
    struct cbx_container_state state = { 0 };
    if (end == LATE) {
        return CBX_RUN_TIMEOUT;
    }
    int failed = cbx_engine_container_state(sandbox->engine, sandbox->id, 0, &state, NULL);
    bool ours = end == CANCELLED || atomic_load(&sandbox->link.ends);
    bool kept = cbx_engine_abilities(sandbox->engine)->keeps_ended;
    if (!failed && state.oom_killed) {
        return CBX_RUN_OOM;
    }
    if (!ours && ((!failed && state.taken) || (failed == CBX_ENOTFOUND && kept))) {
        *silent = CBX_SILENT_TAKEN;
        return CBX_RUN_LOST;
    }
    if (!ours && (failed ? failed != CBX_ENOTFOUND : state.running)) {
        *silent = CBX_SILENT_SANDBOX;
        return CBX_RUN_LOST;
    }
    return CBX_RUN_KILLED;
}

/* The connection broke and could not be opened again, the link is silent, or no frame came before
 * the deadline: the result has the reason, as far as the engine knows it. An engine that does not
 * reply to a ping gets no further requests: such calls take long to fail, and the sandbox ends with
 * its lease. */
static void note_loss(struct cbx_sandbox *sandbox, int64_t began, enum end end,
                      struct cbx_result *result)
{
    /* The wall clock is read before the ping, which takes time. The silence is a difference of two
     * times in whole milliseconds, and may be up to one shorter. */
    int64_t silent_ms = cbx_attach_silent_ms(sandbox->attach), now_ms = cbx_time_ms();
    result->silent = (enum cbx_silent)atomic_load(&sandbox->link.silent);
    result->status = CBX_RUN_LOST;
    if (result->silent == CBX_SILENT_NONE && cbx_engine_ping(sandbox->engine, PING_MS, NULL) != 0) {
        result->silent = CBX_SILENT_ENGINE;
        atomic_store(&sandbox->link.silent, CBX_SILENT_ENGINE);
    }
    if (result->silent == CBX_SILENT_NONE) {
        result->status = ask_status(sandbox, end, &result->silent);
    }
    if (result->status == CBX_RUN_LOST) {
        result->lost_since_ms = now_ms - (silent_ms > 0 ? silent_ms - 1 : 0);
    }
    result->exit_code = -1;
    result->session_lost = true;
    result->duration_ms = (uint64_t)(cbx_clock_ms() - began);
    sandbox->alive = sandbox->link.broken = false;
    sandbox->run_id[0] = '\0';
    if (result->silent != CBX_SILENT_ENGINE) {
        cbx_engine_container_remove(sandbox->engine, sandbox->id, NULL);
    }
}

/* When memory runs out under gVisor, the program's process ends with status 1, or gVisor itself
 * ends. Neither the supervisor nor the engine has the reason. */
static void explain_gvisor(const struct cbx_sandbox *sandbox, struct cbx_result *result)
{
    static const char text[] =
        "the program's process, or its sandbox, ended without a message; under gVisor the usual "
        "reason is "
        "that the program used more memory, or more processes and threads, than the policy allows";
    bool ended = result->status == CBX_RUN_KILLED ||
                 (result->status == CBX_RUN_ERROR && result->exit_code == 1);
    if (ended && result->session_lost && result->ename == NULL &&
        cbx_container_uses_gvisor(&sandbox->limits)) {
        result->ename = strdup("SandboxEnded");
        result->evalue = strdup(text);
        result->traceback = strdup(text);
    }
}

struct run {
    struct cbx_events *events;
    struct cbx_result *result;
    int64_t began, deadline;
    bool cancelled;
    const struct cbx_sink *sink; /* the client's sink; NULL = none */
    struct cbx_sink refusals;    /* for a cancelled run */
    /* Frames of the run's log: received in all, by this connection, and the payload of the last. */
    uint64_t logged, seen;
    size_t last_len;
};

/* Refusals are recorded even without a waiting client. */
static int take_refusal_alone(void *context, const struct cbx_event *event)
{
    const struct run *run = context;
    if (event->kind == CBX_EVENT_BLOCKED) {
        run->sink->event(run->sink->context, event);
    }
    return 0;
}

/* The client disconnected: interrupts the run, waits CANCEL_MS for its end, and drops its events
 * except refusals. */
static void cancel_run(struct cbx_sandbox *sandbox, struct run *run)
{
    run->cancelled = true;
    run->refusals = (struct cbx_sink){ .event = take_refusal_alone, .context = run };
    run->events->sink = run->sink != NULL ? &run->refusals : NULL;
    run->deadline = smaller(run->deadline, cbx_clock_ms() + CANCEL_MS);
    cbx_sandbox_interrupt(sandbox);
}

/* Receives the next frame; polls meanwhile whether the client has cancelled. */
static int await_frame(struct cbx_sandbox *sandbox, struct run *run, struct cbx_frame *frame,
                       struct cbx_err *err)
{
    for (;;) {
        const struct cbx_sink *sink = run->events->sink;
        bool asks = sink != NULL && sink->cancelled != NULL;
        int64_t until = asks ? smaller(run->deadline, cbx_clock_ms() + TICK_MS) : run->deadline;
        int failed = cbx_sandbox_receive(sandbox, until, frame, err);
        if (failed != CBX_ETIMEDOUT || cbx_clock_ms() >= run->deadline) {
            return failed;
        }
        if (asks && sink->cancelled(sink->context)) {
            cancel_run(sandbox, run);
        }
    }
}

/* --- a connection that broke ------------------------------------------------------------------ */

static bool may_reattach(const struct cbx_sandbox *sandbox, const struct run *run, int failed)
{
    return failed == CBX_EIO && atomic_load(&sandbox->link.silent) == CBX_SILENT_NONE &&
           !atomic_load(&sandbox->link.ends) && !run->cancelled;
}

/* Attaches to the sandbox again, if the run had reached it, and has its log sent once more. */
static int reattach(struct cbx_sandbox *sandbox, struct run *run)
{
    char run_id[sizeof(sandbox->run_id)];
    memcpy(run_id, sandbox->run_id, sizeof(run_id));
    int64_t until = smaller(run->deadline, cbx_clock_ms() + CBX_SILENCE_BROKEN_MS);
    int failed = cbx_sandbox_reattach(sandbox, until, NULL);
    if (failed) {
        return failed;
    }
    if (strcmp(run_id, sandbox->run_id) != 0) {
        return CBX_ENOTFOUND;
    }
    run->seen = 0;
    return cbx_sandbox_send(sandbox, CBX_FRAME_FOLLOW, CBX_STR(""), CBX_STR(""), NULL);
}

static bool is_logged(uint8_t type)
{
    return type != CBX_FRAME_HELLO && type != CBX_FRAME_ANSWER && type != CBX_FRAME_PONG &&
           type != CBX_FRAME_READY;
}

/* True for a frame that is new, or has new bytes: the payload is cut to those. The log is only
 * appended to, and output is also appended to its last frame. */
static bool take_new(struct run *run, struct cbx_frame *frame)
{
    size_t len = frame->payload.len;
    if (!is_logged(frame->type)) {
        return true;
    }
    run->seen++;
    if (run->seen < run->logged || (run->seen == run->logged && len <= run->last_len)) {
        return false;
    }
    if (run->seen == run->logged) {
        frame->payload = cbx_str_sub(frame->payload, run->last_len, len);
    }
    run->logged = run->seen;
    run->last_len = len;
    return true;
}

/* Receives the next frame that is new, on a new connection if the present one breaks. */
static int await_new(struct cbx_sandbox *sandbox, struct run *run, struct cbx_frame *frame,
                     struct cbx_err *err)
{
    for (;;) {
        int failed = await_frame(sandbox, run, frame, err);
        if (failed && may_reattach(sandbox, run, failed) && reattach(sandbox, run) == 0) {
            continue;
        }
        if (failed || take_new(run, frame)) {
            return failed;
        }
    }
}

/* Handles frames until DONE. */
static int follow(struct cbx_sandbox *sandbox, struct run *run, struct cbx_err *err)
{
    for (;;) {
        struct cbx_frame frame;
        struct cbx_err inner = { 0 };
        int failed = await_new(sandbox, run, &frame, &inner);
        if (failed == CBX_EPROTO) {
            sandbox->alive = false;
            cbx_engine_container_remove(sandbox->engine, sandbox->id, NULL);
            return cbx_fail(err, CBX_EPROTO, "%.400s; the sandbox was removed", inner.text);
        }
        if (failed) {
            enum end end = failed == CBX_ETIMEDOUT ? LATE : BROKEN;
            note_loss(sandbox, run->began, run->cancelled ? CANCELLED : end, run->result);
            return 0;
        }
        if (frame.type == CBX_FRAME_DONE) {
            failed = cbx_events_finish(run->events, frame.payload, run->result, err);
            if (!failed && run->cancelled) {
                run->result->status = CBX_RUN_KILLED;
            }
            return failed;
        }
        if (cbx_events_take(run->events, &frame) != 0 && !run->cancelled) {
            cancel_run(sandbox, run);
        }
    }
}

static int follow_to_end(struct cbx_sandbox *sandbox, int64_t wall_ms, const struct cbx_sink *sink,
                         struct cbx_result *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(result) result = { .exit_code = -1 };
    struct cbx_events events = { .sink = sink, .result = &result };
    int64_t began = cbx_clock_ms();
    struct run run = { .events = &events,
                       .result = &result,
                       .began = began,
                       .deadline = began + wall_ms + LATE_MS,
                       .sink = sink };
    cbx_sandbox_hear(sandbox);
    int failed = follow(sandbox, &run, err);
    cbx_sandbox_trim(sandbox);
    if (!failed && !run.cancelled) {
        explain_gvisor(sandbox, &result);
    }
    if (!failed) {
        *out = result;
        result = (struct cbx_result){ 0 };
    }
    return failed;
}

int cbx_sandbox_run(struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                    struct cbx_str source, const struct cbx_run_options *options,
                    struct cbx_result *out, struct cbx_err *err)
{
    sandbox->touched = true;
    int failed = cbx_sandbox_check_permit(sandbox, permit, CBX_ACTION_RUN, source, err);
    if (failed) {
        return failed;
    }
    if (!sandbox->alive) {
        return cbx_fail(err, CBX_ESTATE, "the sandbox is gone");
    }
    if (permit->network == CBX_NETWORK_EGRESS && sandbox->proxy == NULL) {
        return cbx_fail(err, CBX_ESEAL, "the permit is for a network that the sandbox lacks");
    }
    if (source.len > SOURCE_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "the source has %zu bytes, a sandbox takes %d",
                        source.len, SOURCE_MAX);
    }
    if (options != NULL && options->accept_count > CBX_RUN_ACCEPT_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "a run accepts %zu files, allowed are %d",
                        options->accept_count, CBX_RUN_ACCEPT_MAX);
    }
    const struct cbx_limits limits = limits_of(sandbox, permit);
    const struct cbx_limit_row *missing = cbx_limits_missing(&limits, CBX_LIMIT_RUN);
    if (missing != NULL) { /* the supervisor would end the sandbox */
        return cbx_fail(err, CBX_ESEAL, "the permit has no limit of %s", missing->title);
    }
    failed = cbx_permit_check_arguments(permit->file_name, permit->arguments, err);
    if (failed) {
        return failed;
    }
    if (sandbox->proxy != NULL) {
        cbx_proxy_set_run(sandbox->proxy, permit->decision);
    }
    failed = cbx_sandbox_open_input(sandbox, options, err);
    if (failed) {
        return failed;
    }
    if (send_run(sandbox, permit, source, options, NULL) != 0) {
        *out = (struct cbx_result){ 0 };
        note_loss(sandbox, cbx_clock_ms(), BROKEN, out);
        return 0;
    }
    cbx_sandbox_start_input(sandbox);
    if (options != NULL && options->begun != NULL) {
        options->begun(options->context);
    }
    failed =
        follow_to_end(sandbox, limits.wall_ms, options != NULL ? options->sink : NULL, out, err);
    struct cbx_result unknown = { 0 };
    cbx_sandbox_close_input(sandbox, failed ? &unknown : out);
    return failed;
}

int cbx_sandbox_resume(struct cbx_sandbox *sandbox, const char *run_id, const struct cbx_sink *sink,
                       struct cbx_result *out, struct cbx_err *err)
{
    if (run_id[0] == '\0' || strcmp(run_id, sandbox->run_id) != 0) {
        return cbx_fail(err, CBX_ENOTFOUND, "the sandbox has no run '%.31s'", run_id);
    }
    /* a connection that broke is opened again by the receiver */
    cbx_sandbox_send(sandbox, CBX_FRAME_FOLLOW, CBX_STR(""), CBX_STR(""), NULL);
    return follow_to_end(sandbox, sandbox->limits.wall_ms, sink, out, err);
}

void cbx_sandbox_acknowledge(struct cbx_sandbox *sandbox, const char *run_id)
{
    char id[CBX_FRAME_ID_BYTES] = "";
    snprintf(id, sizeof(id), "%s", run_id);
    if (strcmp(id, sandbox->run_id) == 0) {
        sandbox->run_id[0] = '\0'; /* the run can no longer be resumed */
    }
    cbx_sandbox_send(sandbox, CBX_FRAME_ACK, (struct cbx_str){ .p = id, .len = sizeof(id) },
                     CBX_STR(""), NULL);
}

void cbx_sandbox_interrupt(struct cbx_sandbox *sandbox)
{
    cbx_sandbox_send(sandbox, CBX_FRAME_INTERRUPT, CBX_STR(""), CBX_STR(""), NULL);
}

int cbx_sandbox_input(struct cbx_sandbox *sandbox, struct cbx_str line, struct cbx_err *err)
{
    return cbx_sandbox_send(sandbox, CBX_FRAME_INPUT, line, CBX_STR(""), err);
}
