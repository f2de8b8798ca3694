/* SPDX-License-Identifier: MIT
 * Frames to and from a sandbox: sent by any thread, received by the waiting one. */
#include "docker/egress/proxy.h"
#include "docker/engine/silence.h"
#include "docker/sandbox/sandbox_internal.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>

enum {
    READ_BYTES = 256 * 1024,
    POLL_BYTES = 4096, /* few bytes arrive between runs */
};

int cbx_sandbox_add_frame(struct cbx_buf *frames, uint8_t type, struct cbx_str a, struct cbx_str b,
                          struct cbx_err *err)
{
    uint32_t len = (uint32_t)(a.len + b.len);
    int64_t limit = cbx_frame_limit(type, 'h');
    cbx_buf_add_char(frames, (char)type);
    cbx_buf_add_bytes(frames, &len, sizeof(len));
    cbx_buf_add(frames, a);
    cbx_buf_add(frames, b);
    if (frames->overflow || (int64_t)len > limit) {
        return cbx_fail(err, CBX_ETOOBIG, "it has %zu bytes, a sandbox takes %lld", a.len + b.len,
                        (long long)limit);
    }
    return 0;
}

/* Call it with the lock held. A sandbox that accepts no bytes counts as silent too. */
static int send_all(struct cbx_sandbox *sandbox, struct cbx_str frames, struct cbx_err *err)
{
    enum { STALL_MS = CBX_SILENCE_QUIET_MS + CBX_SILENCE_PONG_MS };
    for (int64_t stalled_ms = 0; frames.len > 0;) {
        bool lost = atomic_load(&sandbox->link.silent) != CBX_SILENT_NONE;
        size_t sent = 0;
        int failed = cbx_attach_send_some(sandbox->attach, frames.p, frames.len,
                                          lost ? 0 : STALL_MS, &sent, err);
        if (failed == CBX_ETIMEDOUT) {
            stalled_ms += STALL_MS;
            failed = cbx_sandbox_check_stall(sandbox, stalled_ms, err);
        } else {
            stalled_ms = 0;
        }
        if (failed) {
            return failed;
        }
        frames = cbx_str_sub(frames, sent, frames.len);
    }
    return 0;
}

int cbx_sandbox_send_bytes(struct cbx_sandbox *sandbox, struct cbx_str frames, struct cbx_err *err)
{
    pthread_mutex_lock(&sandbox->send_lock);
    int failed = send_all(sandbox, frames, err);
    pthread_mutex_unlock(&sandbox->send_lock);
    return failed;
}

int cbx_sandbox_send(struct cbx_sandbox *sandbox, uint8_t type, struct cbx_str a, struct cbx_str b,
                     struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) frame;
    cbx_buf_init(&frame, (size_t)CBX_FRAME_DATA_MAX + CBX_FRAME_HEAD_BYTES);
    int failed = cbx_sandbox_add_frame(&frame, type, a, b, err);
    if (failed) {
        return failed;
    }
    return cbx_sandbox_send_bytes(sandbox, cbx_buf_str(&frame), err);
}

static bool is_of_connection(const struct cbx_frame *frame)
{
    return frame->type == CBX_FRAME_CONNECT || frame->type == CBX_FRAME_PART ||
           frame->type == CBX_FRAME_GRANT || frame->type == CBX_FRAME_CLOSE;
}

/* As cbx_stream_next. Frames about connections go to the proxy, frames about space for input to
 * sandbox_input.c. */
static int next_frame(struct cbx_sandbox *sandbox, struct cbx_frame *out, struct cbx_err *err)
{
    int got;
    while ((got = cbx_stream_next(&sandbox->stream, out, err)) > 0 &&
           (is_of_connection(out) || cbx_sandbox_take_fed(sandbox, out))) {
        if (sandbox->proxy != NULL && is_of_connection(out)) {
            cbx_proxy_take(sandbox->proxy, out);
        }
    }
    sandbox->warm = sandbox->warm || (got > 0 && out->type == CBX_FRAME_READY);
    return got;
}

void cbx_sandbox_trim(struct cbx_sandbox *sandbox)
{
    free(sandbox->chunk);
    sandbox->chunk = NULL;
    cbx_stream_trim(&sandbox->stream);
}

/* The supervisor writes nothing to stderr; messages of libc there are dropped. */
static int feed(struct cbx_stream *stream, const struct cbx_attach_bytes *got, struct cbx_err *err)
{
    return got->channel == CBX_CHANNEL_STDOUT ? cbx_stream_feed(stream, got->bytes, err) : 0;
}

/* Waits for bytes until the deadline, or until a check of the link is due, and feeds them to the
 * stream. */
static int receive_bytes(struct cbx_sandbox *sandbox, int64_t deadline, struct cbx_err *err)
{
    int64_t began = cbx_clock_ms(), left = deadline - began;
    if (left <= 0) {
        return cbx_fail(err, CBX_ETIMEDOUT, "the sandbox did not answer in time");
    }
    if (sandbox->chunk == NULL) {
        sandbox->chunk = cbx_renew(NULL, 1, READ_BYTES);
    }
    /* Before HELLO the sandbox may still be starting, and is polled differently. */
    int64_t due = sandbox->alive ? cbx_sandbox_link_left_ms(sandbox) : left;
    struct cbx_attach_bytes got;
    int failed = cbx_attach_receive(sandbox->attach, sandbox->chunk, READ_BYTES,
                                    (int)(left < due ? left : due), &got, err);
    if (failed == CBX_ETIMEDOUT && !sandbox->alive) {
        return 0;
    }
    if (failed == CBX_ETIMEDOUT) {
        return cbx_sandbox_check_link(sandbox, cbx_clock_ms() - began, err);
    }
    if (failed) {
        return failed;
    }
    cbx_sandbox_hear(sandbox);
    if (got.bytes.len == 0) {
        return cbx_fail(err, CBX_EIO, "the sandbox is gone");
    }
    return feed(&sandbox->stream, &got, err);
}

int cbx_sandbox_receive(struct cbx_sandbox *sandbox, int64_t deadline, struct cbx_frame *out,
                        struct cbx_err *err)
{
    for (;;) {
        int got = next_frame(sandbox, out, err);
        if (got != 0) {
            return got < 0 ? got : 0;
        }
        int failed = receive_bytes(sandbox, deadline, err);
        if (failed) {
            return failed;
        }
    }
}

static void send_lease(struct cbx_sandbox *sandbox, uint32_t lease_ms)
{
    struct cbx_str lease = { .p = (const char *)&lease_ms, .len = sizeof(lease_ms) };
    cbx_sandbox_send(sandbox, CBX_FRAME_LEASE, lease, CBX_STR(""), NULL);
}

void cbx_sandbox_renew_lease(struct cbx_sandbox *sandbox)
{
    if (atomic_load(&sandbox->link.silent) != CBX_SILENT_NONE) {
        return; /* its run is lost: if the link returns, the sandbox ends with its lease */
    }
    /* A thread that sends a frame has the lock, possibly for long; its frame also shows that
     * this host is alive. */
    if (pthread_mutex_trylock(&sandbox->send_lock) == 0) {
        pthread_mutex_unlock(&sandbox->send_lock);
        send_lease(sandbox, sandbox->lease_ms);
    }
}

void cbx_sandbox_end(struct cbx_sandbox *sandbox)
{
    atomic_store(&sandbox->link.ends, true);
    send_lease(sandbox, 0);
}

bool cbx_sandbox_poll(struct cbx_sandbox *sandbox)
{
    char chunk[POLL_BYTES];
    while (sandbox->alive) {
        struct cbx_attach_bytes got;
        int failed = cbx_attach_receive(sandbox->attach, chunk, sizeof(chunk), 0, &got, NULL);
        if (failed == CBX_ETIMEDOUT) {
            break;
        }
        if (!failed && got.bytes.len == 0) {
            failed = CBX_EIO;
        }
        if (!failed) {
            failed = feed(&sandbox->stream, &got, NULL);
        }
        if (failed) {
            cbx_sandbox_note_failed(sandbox, failed);
        }
    }
    return sandbox->alive;
}

bool cbx_sandbox_is_warm(struct cbx_sandbox *sandbox)
{
    struct cbx_frame frame;
    cbx_sandbox_poll(sandbox);
    while (!sandbox->warm && next_frame(sandbox, &frame, NULL) > 0) {
    }
    cbx_sandbox_trim(sandbox);
    return sandbox->alive && sandbox->warm;
}

void cbx_sandbox_warm(struct cbx_sandbox *sandbox)
{
    cbx_sandbox_send(sandbox, CBX_FRAME_WARM, CBX_STR(""), CBX_STR(""), NULL);
}
