/* SPDX-License-Identifier: MIT
 * Sends the standard input of a run to the sandbox. The supervisor accepts CBX_FRAME_FEED_WINDOW
 * bytes before the program reads; the rest is queued here, under a cap, and is sent when the
 * supervisor reports space (FED). */
#include "docker/sandbox/sandbox_internal.h"

#include <stdlib.h>

enum { CONSUME_BYTES = 1024 * 1024 };
_Static_assert((int)CONSUME_BYTES < (int)CBX_INPUT_WAITING_MAX, "room is made before it is full");

void cbx_sandbox_input_init(struct cbx_sandbox_input *in)
{
    pthread_mutex_init(&in->lock, NULL);
    cbx_buf_init(&in->waiting, CBX_INPUT_WAITING_MAX + CONSUME_BYTES);
    in->sum = cbx_sha256_sum_new();
}

void cbx_sandbox_input_done(struct cbx_sandbox_input *in)
{
    cbx_buf_done(&in->waiting);
    cbx_sha256_sum_free(in->sum);
    pthread_mutex_destroy(&in->lock);
}

/* --- with the lock ---------------------------------------------------------------------------- */

static size_t count_waiting(const struct cbx_sandbox_input *in)
{
    return in->waiting.len - in->used;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Sends as many bytes as the supervisor has space for. The run detects a closed connection. */
static void pump(struct cbx_sandbox *sandbox)
{
    struct cbx_sandbox_input *in = &sandbox->input;
    for (;;) {
        size_t room = CBX_FRAME_FEED_WINDOW - (size_t)(in->sent - in->fed);
        size_t n = smallest(count_waiting(in), room, CBX_FRAME_FEED_MAX);
        struct cbx_str part = cbx_str_sub(cbx_buf_str(&in->waiting), in->used, in->used + n);
        if (n == 0 || cbx_sandbox_send(sandbox, CBX_FRAME_FEED, part, CBX_STR(""), NULL) != 0) {
            break;
        }
        in->used += n;
        in->sent += n;
    }
    if (in->used >= CONSUME_BYTES || count_waiting(in) == 0) {
        cbx_buf_consume(&in->waiting, in->used);
        in->used = 0;
    }
    if (in->ended && !in->told && count_waiting(in) == 0) {
        in->told = true;
        const char lost = in->cut ? 1 : 0;
        cbx_sandbox_send(sandbox, CBX_FRAME_FEED_END, (struct cbx_str){ .p = &lost, .len = 1 },
                         CBX_STR(""), NULL);
    }
}

static void drop_waiting(struct cbx_sandbox_input *in)
{
    cbx_buf_reset(&in->waiting);
    in->used = 0;
}

static int add(struct cbx_sandbox_input *in, struct cbx_str bytes, struct cbx_err *err)
{
    if (bytes.len > CBX_INPUT_BYTES_MAX || in->bytes > CBX_INPUT_BYTES_MAX - bytes.len) {
        return cbx_fail(err, CBX_ETOOBIG,
                        "the standard input of a run has more than %lld bytes, which is as many as "
                        "it may have",
                        (long long)CBX_INPUT_BYTES_MAX);
    }
    if (bytes.len > CBX_INPUT_WAITING_MAX - count_waiting(in)) {
        return cbx_fail(err, CBX_ETOOBIG,
                        "%zu bytes of standard input, beside %zu that the program has not read, "
                        "allowed are %d; send the rest when it has read more",
                        bytes.len, count_waiting(in), CBX_INPUT_WAITING_MAX);
    }
    cbx_buf_add(&in->waiting, bytes);
    cbx_sha256_add(in->sum, bytes);
    in->bytes += bytes.len;
    return 0;
}

/* --- of a run --------------------------------------------------------------------------------- */

int cbx_sandbox_open_input(struct cbx_sandbox *sandbox, const struct cbx_run_options *options,
                           struct cbx_err *err)
{
    struct cbx_sandbox_input *in = &sandbox->input;
    pthread_mutex_lock(&in->lock);
    drop_waiting(in);
    cbx_sha256_sum_free(in->sum);
    in->sum = cbx_sha256_sum_new();
    in->bytes = 0;
    in->cut = in->told = false;
    in->has_room = options != NULL ? options->has_room : NULL;
    in->context = options != NULL ? options->context : NULL;
    in->has = options != NULL && options->has_input;
    in->open = in->has && options->streams;
    in->ended = in->has && !in->open;
    int failed = 0;
    if (in->has) {
        failed = add(in, options->input, err);
    }
    pthread_mutex_unlock(&in->lock);
    return failed;
}

void cbx_sandbox_start_input(struct cbx_sandbox *sandbox)
{
    struct cbx_sandbox_input *in = &sandbox->input;
    pthread_mutex_lock(&in->lock);
    in->runs = true;
    pump(sandbox);
    pthread_mutex_unlock(&in->lock);
}

void cbx_sandbox_close_input(struct cbx_sandbox *sandbox, struct cbx_result *result)
{
    struct cbx_sandbox_input *in = &sandbox->input;
    pthread_mutex_lock(&in->lock);
    result->has_input = in->has;
    result->input_bytes = in->bytes;
    result->input_sha256 = cbx_sha256_now(in->sum);
    in->has = in->open = in->runs = in->ended = false;
    in->has_room = NULL;
    drop_waiting(in);
    pthread_mutex_unlock(&in->lock);
}

void cbx_sandbox_reset_input(struct cbx_sandbox *sandbox)
{
    struct cbx_sandbox_input *in = &sandbox->input;
    pthread_mutex_lock(&in->lock);
    in->sent = in->fed = 0;
    if (in->runs && in->has && !in->told) {
        in->cut = in->ended = in->told = true;
        in->open = false;
        drop_waiting(in);
    }
    pthread_mutex_unlock(&in->lock);
}

bool cbx_sandbox_take_fed(struct cbx_sandbox *sandbox, const struct cbx_frame *frame)
{
    struct cbx_sandbox_input *in = &sandbox->input;
    uint64_t fed = 0;
    if (frame->type != CBX_FRAME_FED) {
        return false;
    }
    pthread_mutex_lock(&in->lock);
    if (frame->payload.len == sizeof(fed)) {
        memcpy(&fed, frame->payload.p, sizeof(fed));
    }
    /* a sandbox cannot acknowledge more than was sent */
    if (fed > in->fed && fed <= in->sent) {
        in->fed = fed;
        if (in->runs) {
            pump(sandbox);
        }
    }
    void (*has_room)(void *context) = in->has_room;
    void *context = in->context;
    pthread_mutex_unlock(&in->lock);
    if (has_room != NULL) {
        has_room(context);
    }
    return true;
}

/* --- from any thread -------------------------------------------------------------------------- */

int cbx_sandbox_feed(struct cbx_sandbox *sandbox, struct cbx_str bytes, bool end, size_t *waiting,
                     struct cbx_err *err)
{
    struct cbx_sandbox_input *in = &sandbox->input;
    pthread_mutex_lock(&in->lock);
    int failed;
    if (in->open && in->runs) {
        failed = add(in, bytes, err);
    } else {
        failed = cbx_fail(err, CBX_ESTATE,
                          "the run takes no standard input: it has ended, or its input has");
    }
    if (!failed) {
        in->ended = end;
        in->open = !end;
        pump(sandbox);
    }
    *waiting = count_waiting(in);
    pthread_mutex_unlock(&in->lock);
    return failed;
}

size_t cbx_sandbox_input_waiting(struct cbx_sandbox *sandbox)
{
    pthread_mutex_lock(&sandbox->input.lock);
    size_t waiting = count_waiting(&sandbox->input);
    pthread_mutex_unlock(&sandbox->input.lock);
    return waiting;
}

void cbx_sandbox_cut_input(struct cbx_sandbox *sandbox)
{
    struct cbx_sandbox_input *in = &sandbox->input;
    pthread_mutex_lock(&in->lock);
    if (in->open && in->runs) {
        in->cut = in->ended = true;
        in->open = false;
        pump(sandbox);
    }
    pthread_mutex_unlock(&in->lock);
}
