/* SPDX-License-Identifier: MIT
 * One sandbox: a container, the stream to its supervisor, and runs over it. */
#include "docker/sandbox.h"

#include "docker/container.h"
#include "docker/events.h"
#include "docker/stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
    HELLO_TIMEOUT_MS = 30000,
    LATE_MS = 15000,
    CANCEL_MS = 2000,
    TICK_MS = 250,
    READ_BYTES = 256 * 1024
};

struct cbx_sandbox {
    struct cbx_engine *engine;
    struct cbx_attach *attach;
    struct cbx_stream stream;
    char id[CBX_CONTAINER_ID_CHARS + 1];
    char session[CBX_NAME_MAX + 1];
    const char *kernel;
    struct cbx_limits limits;
    bool alive;
    char *chunk;
};

static int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *cbx_sandbox_id(const struct cbx_sandbox *sandbox)
{
    return sandbox->id;
}

bool cbx_sandbox_alive(const struct cbx_sandbox *sandbox)
{
    return sandbox->alive;
}

void cbx_sandbox_free(struct cbx_sandbox *sandbox)
{
    if (sandbox == NULL) {
        return;
    }
    cbx_attach_free(
        sandbox->attach); /* the supervisor reads the end, and the container goes by itself */
    if (sandbox->id[0] != '\0') {
        cbx_engine_container_remove(sandbox->engine, sandbox->id, NULL);
    }
    cbx_stream_done(&sandbox->stream);
    free(sandbox->chunk);
    free(sandbox);
}

/* The next frame before the deadline: CBX_ETIMEDOUT, CBX_EIO at the end of the stream, CBX_EPROTO.
 */
static int next_frame(struct cbx_sandbox *sandbox, int64_t deadline, struct cbx_frame *out,
                      struct cbx_err *err)
{
    for (;;) {
        int got = cbx_stream_next(&sandbox->stream, out, err);
        if (got != 0) {
            return got < 0 ? got : 0;
        }
        int64_t left = deadline - clock_ms();
        size_t n = 0;
        int failed = left <= 0 ? cbx_fail(err, CBX_ETIMEDOUT, "the sandbox said nothing in time")
                               : cbx_attach_receive(sandbox->attach, sandbox->chunk, READ_BYTES,
                                                    (int)left, &n, err);
        if (failed) {
            return failed;
        }
        if (n == 0) {
            return cbx_fail(err, CBX_EIO, "the sandbox is gone");
        }
        failed = cbx_stream_feed(&sandbox->stream,
                                 (struct cbx_str){ .p = sandbox->chunk, .len = n }, err);
        if (failed) {
            return failed;
        }
    }
}

static int greet(struct cbx_sandbox *sandbox, struct cbx_err *err)
{
    struct cbx_frame frame;
    int failed = next_frame(sandbox, clock_ms() + HELLO_TIMEOUT_MS, &frame, err);
    if (failed) {
        return cbx_wrap(err, "starting a sandbox");
    }
    uint32_t version = 0;
    if (frame.type == CBX_FRAME_HELLO && frame.payload.len == sizeof(version)) {
        memcpy(&version, frame.payload.p, sizeof(version));
    }
    if (version != CBX_FRAME_VERSION) {
        return cbx_fail(
            err, CBX_EENGINE,
            "the sandbox image speaks protocol %u, needed is %d; 'codebox image build' renews it",
            version, CBX_FRAME_VERSION);
    }
    return 0;
}

static int start(struct cbx_sandbox *sandbox, const struct cbx_sandbox_config *config,
                 const struct cbx_permit *permit, struct cbx_err *err)
{
    char image[128], image_id[CBX_IMAGE_ID_CHARS + 1];
    snprintf(image, sizeof(image), "%.64s-%s:latest",
             config->image_prefix != NULL ? config->image_prefix : "codebox", sandbox->kernel);
    int failed = cbx_engine_image_id(sandbox->engine, image, image_id, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_JSON body = cbx_container_body(config, permit, image_id);
    failed = cbx_engine_container_create(sandbox->engine, body, sandbox->id, err);
    failed = failed
                 ? failed
                 : cbx_engine_container_attach(sandbox->engine, sandbox->id, &sandbox->attach, err);
    failed = failed ? failed : cbx_engine_container_start(sandbox->engine, sandbox->id, err);
    return failed ? failed : greet(sandbox, err);
}

int cbx_sandbox_new(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                    const struct cbx_permit *permit, struct cbx_sandbox **out, struct cbx_err *err)
{
    if (permit->action != CBX_ACTION_OPEN && permit->action != CBX_ACTION_RUN) {
        return cbx_fail(err, CBX_ESEAL, "this decision does not allow a sandbox");
    }
    const char *kernel = cbx_kernel_of(permit->language);
    if (kernel == NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "no sandbox runs '%s', there are python, ipython and javascript",
                        permit->language);
    }
    if (permit->network != CBX_NETWORK_NONE) {
        return cbx_fail(
            err, CBX_EINVAL,
            "policy '%s' grants a network, which sandboxes do not have yet; use 'network: none'",
            permit->policy);
    }
    CBX_AUTO(sandbox) sandbox = calloc(1, sizeof(*sandbox));
    if (sandbox == NULL || (sandbox->chunk = malloc(READ_BYTES)) == NULL) {
        abort();
    }
    sandbox->engine = engine;
    sandbox->kernel = kernel;
    sandbox->limits = permit->limits;
    memcpy(sandbox->session, permit->session, sizeof(sandbox->session));
    int64_t most = permit->limits.files_bytes < CBX_FRAME_DATA_MAX ? permit->limits.files_bytes
                                                                   : CBX_FRAME_DATA_MAX;
    cbx_stream_init(&sandbox->stream, (size_t)most + CBX_FRAME_ERROR_MAX + 1024 * 1024);
    int failed = start(sandbox, config, permit, err);
    if (!failed) {
        sandbox->alive = true;
        *out = cbx_steal(&sandbox);
    }
    return failed;
}

/* --- running ---------------------------------------------------------------------------------- */

static int check_permit(const struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                        struct cbx_str source, struct cbx_err *err)
{
    struct cbx_sha256 hash = cbx_sha256_of(source);
    const char *kernel = cbx_kernel_of(permit->language);
    if (permit->action != CBX_ACTION_RUN || !cbx_sha256_equal(&hash, &permit->source_sha256)) {
        return cbx_fail(err, CBX_ESEAL, "the permit is not for running these bytes");
    }
    if (kernel == NULL || strcmp(kernel, sandbox->kernel) != 0) {
        return cbx_fail(err, CBX_ESEAL, "the permit is for %s, the sandbox runs %s",
                        permit->language, sandbox->kernel);
    }
    if (strcmp(permit->session, sandbox->session) != 0) {
        return cbx_fail(err, CBX_ESEAL, "the permit is for another session");
    }
    return 0;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int send_run(struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                    struct cbx_str source, struct cbx_err *err)
{
    struct cbx_frame_run run = {
        .wall_ms = (uint64_t)smaller(permit->limits.wall_ms, sandbox->limits.wall_ms),
        .output_bytes =
            (uint64_t)smaller(permit->limits.output_bytes, sandbox->limits.output_bytes),
        .files_bytes = (uint64_t)smaller(permit->limits.files_bytes, sandbox->limits.files_bytes),
    };
    snprintf(run.language, sizeof(run.language), "%s", permit->language);
    uint32_t len = (uint32_t)(sizeof(run) + source.len);
    CBX_AUTO_DONE(buf) frame;
    cbx_buf_init(&frame, CBX_FRAME_RUN_MAX + CBX_FRAME_HEAD_BYTES);
    cbx_buf_add_char(&frame, CBX_FRAME_RUN);
    cbx_buf_add_bytes(&frame, &len, sizeof(len));
    cbx_buf_add_bytes(&frame, &run, sizeof(run));
    if (cbx_buf_add(&frame, source) != 0 || frame.overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "the source has %zu bytes, a sandbox takes %d",
                        source.len, CBX_FRAME_RUN_MAX - 64);
    }
    return cbx_attach_send(sandbox->attach, frame.p, frame.len, err);
}

/* The stream ended in the middle of a run: somebody killed the container, or memory ran out for all
 * of it. */
static void note_loss(struct cbx_sandbox *sandbox, int64_t began, bool late,
                      struct cbx_result *result)
{
    struct cbx_container_state state = { 0 };
    bool oom = cbx_engine_container_state(sandbox->engine, sandbox->id, &state, NULL) == 0 &&
               state.oom_killed;
    sandbox->alive = false;
    result->status = late ? CBX_RUN_TIMEOUT : oom ? CBX_RUN_OOM : CBX_RUN_KILLED;
    result->exit_code = -1;
    result->signal = 9;
    result->session_lost = true;
    result->duration_ms = (uint64_t)(clock_ms() - began);
    cbx_engine_container_remove(sandbox->engine, sandbox->id, NULL);
}

/* One run while it is followed. */
struct run {
    struct cbx_events *events;
    struct cbx_result *result;
    int64_t began, deadline;
    bool cancelled;
};

/* Nobody listens any more: interrupt, and give it a moment to end by itself; nothing is handed on.
 */
static void cancel_run(struct cbx_sandbox *sandbox, struct run *run)
{
    run->cancelled = true;
    run->events->sink = NULL;
    run->deadline = smaller(run->deadline, clock_ms() + CANCEL_MS);
    cbx_sandbox_interrupt(sandbox);
}

/* The next frame; meanwhile asks the sink now and then whether the result is still wanted. */
static int await_frame(struct cbx_sandbox *sandbox, struct run *run, struct cbx_frame *frame,
                       struct cbx_err *err)
{
    for (;;) {
        const struct cbx_sink *sink = run->events->sink;
        bool asks = sink != NULL && sink->cancelled != NULL;
        int failed =
            next_frame(sandbox, asks ? smaller(run->deadline, clock_ms() + TICK_MS) : run->deadline,
                       frame, err);
        if (failed != CBX_ETIMEDOUT || clock_ms() >= run->deadline) {
            return failed;
        }
        if (asks && sink->cancelled(sink->context)) {
            cancel_run(sandbox, run);
        }
    }
}

/* Frames until DONE. */
static int follow(struct cbx_sandbox *sandbox, struct run *run, struct cbx_err *err)
{
    for (;;) {
        struct cbx_frame frame;
        struct cbx_err inner = { 0 };
        int failed = await_frame(sandbox, run, &frame, &inner);
        if (failed == CBX_EPROTO) {
            sandbox->alive = false;
            cbx_engine_container_remove(sandbox->engine, sandbox->id, NULL);
            return cbx_fail(err, CBX_EPROTO, "%.400s; the sandbox was removed", inner.text);
        }
        if (failed) {
            note_loss(sandbox, run->began, failed == CBX_ETIMEDOUT && !run->cancelled, run->result);
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

int cbx_sandbox_run(struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                    struct cbx_str source, const struct cbx_sink *sink, struct cbx_result *out,
                    struct cbx_err *err)
{
    int failed = check_permit(sandbox, permit, source, err);
    if (failed) {
        return failed;
    }
    if (!sandbox->alive) {
        return cbx_fail(err, CBX_ESTATE, "the sandbox is gone");
    }
    CBX_AUTO_DONE(result) result = { .exit_code = -1 };
    struct cbx_events events = { .sink = sink, .result = &result };
    int64_t began = clock_ms();
    if (send_run(sandbox, permit, source, err) != 0) {
        note_loss(sandbox, began, false, &result);
    } else {
        int64_t wall_ms = smaller(permit->limits.wall_ms, sandbox->limits.wall_ms);
        struct run run = { .events = &events,
                           .result = &result,
                           .began = began,
                           .deadline = began + wall_ms + LATE_MS };
        failed = follow(sandbox, &run, err);
    }
    if (!failed) {
        *out = result;
        result = (struct cbx_result){ 0 };
    }
    return failed;
}

void cbx_sandbox_interrupt(struct cbx_sandbox *sandbox)
{
    static const unsigned char frame[CBX_FRAME_HEAD_BYTES] = { CBX_FRAME_INTERRUPT };
    cbx_attach_send(sandbox->attach, frame, sizeof(frame), NULL);
}

int cbx_sandbox_reap(struct cbx_engine *engine, const char *instance, size_t *removed,
                     struct cbx_err *err)
{
    char label[128];
    snprintf(label, sizeof(label), CBX_LABEL_INSTANCE "=%.64s", instance);
    CBX_AUTO_JSON ids = NULL;
    int failed = cbx_engine_container_list(engine, label, &ids, err);
    size_t i;
    json_t *id;
    *removed = 0;
    json_array_foreach(ids, i, id)
    {
        failed = failed ? failed : cbx_engine_container_remove(engine, json_string_value(id), err);
        *removed += failed ? 0 : 1;
    }
    return failed;
}
