/* SPDX-License-Identifier: MIT
 * Detects a silent link (docker/engine/silence.h): sends PING, asks the engine, and determines
 * which of the two does not reply. */
#include "docker/engine/silence.h"
#include "docker/sandbox/sandbox_internal.h"
#include "policies/base/time/clock.h"

/* A PING that could not be sent is retried after this time. */
enum { RETRY_MS = 250 };

static const int64_t stage_ms[] = { [CBX_LINK_QUIET] = CBX_SILENCE_QUIET_MS,
                                    [CBX_LINK_PINGED] = CBX_SILENCE_PONG_MS,
                                    [CBX_LINK_ASKED] = CBX_SILENCE_LAST_MS };

static void enter(struct cbx_link *link, enum cbx_link_stage stage)
{
    link->stage = stage;
    link->waited_ms = 0;
}

void cbx_sandbox_hear(struct cbx_sandbox *sandbox)
{
    enter(&sandbox->link, CBX_LINK_QUIET);
}

int64_t cbx_sandbox_link_left_ms(const struct cbx_sandbox *sandbox)
{
    int64_t left = stage_ms[sandbox->link.stage] - sandbox->link.waited_ms;
    return left > 0 ? left : RETRY_MS;
}

/* Sends without waiting: false if the link accepts no bytes now, or another thread is sending a
 * frame. */
static bool send_ping(struct cbx_sandbox *sandbox)
{
    static const char frame[CBX_FRAME_HEAD_BYTES] = { CBX_FRAME_PING };
    size_t sent = 0;
    if (pthread_mutex_trylock(&sandbox->send_lock) != 0) {
        return false;
    }
    int failed = cbx_attach_send_some(sandbox->attach, frame, sizeof(frame), 0, &sent, NULL);
    if (!failed && sent < sizeof(frame)) { /* the rest must follow in any case */
        failed = cbx_attach_send(sandbox->attach, frame + sent, sizeof(frame) - sent, NULL);
    }
    pthread_mutex_unlock(&sandbox->send_lock);
    return failed != CBX_ETIMEDOUT; /* for a closed link, receiving reports the error */
}

/* --- the engine's view ------------------------------------------------------------------------ */

enum view { RUNS, PAUSED, ENDED, ENGINE_SILENT };

static int left_ms(int64_t deadline)
{
    int64_t left = deadline - cbx_clock_ms();
    return left > 1 ? (int)left : 1;
}

static enum view ask_engine(struct cbx_sandbox *sandbox, int64_t deadline)
{
    struct cbx_container_state state = { 0 };
    if (cbx_engine_ping(sandbox->engine, CBX_SILENCE_ENGINE_MS, NULL) != 0) {
        return ENGINE_SILENT;
    }
    int failed =
        cbx_engine_container_state(sandbox->engine, sandbox->id, left_ms(deadline), &state, NULL);
    /* the engine may hold the container's lock forever */
    if (failed && failed != CBX_ENOTFOUND) {
        return RUNS;
    }
    if (failed || !state.running) {
        return ENDED;
    }
    return state.paused ? PAUSED : RUNS;
}

/* Counts the periods in which the sandbox was throttled; -1 = unknown. */
static int64_t count_throttled(struct cbx_sandbox *sandbox, int timeout_ms)
{
    int64_t periods = -1;
    cbx_engine_container_throttled(sandbox->engine, sandbox->id, timeout_ms, &periods, NULL);
    return periods;
}

static int lose_engine(struct cbx_sandbox *sandbox, struct cbx_err *err)
{
    atomic_store(&sandbox->link.silent, CBX_SILENT_ENGINE);
    cbx_fail(err, CBX_EENGINE, "the sandbox engine does not answer");
    cbx_err_detail(err, "the engine at %s does not answer", cbx_engine_host(sandbox->engine));
    return CBX_EENGINE;
}

static int lose_sandbox(struct cbx_sandbox *sandbox, struct cbx_err *err)
{
    atomic_store(&sandbox->link.silent, CBX_SILENT_SANDBOX);
    return cbx_fail(err, CBX_EIO, "the sandbox does not answer any more, its engine does");
}

/* Any thread may have detected it before. 0 = none has. */
static int say_lost(struct cbx_sandbox *sandbox, struct cbx_err *err)
{
    switch (atomic_load(&sandbox->link.silent)) {
    case CBX_SILENT_ENGINE:
        return lose_engine(sandbox, err);
    case CBX_SILENT_SANDBOX:
        return lose_sandbox(sandbox, err);
    default:
        return 0;
    }
}

/* --- silence ---------------------------------------------------------------------------------- */

/* No PONG arrived. */
static int ask(struct cbx_sandbox *sandbox, struct cbx_err *err)
{
    int64_t deadline = cbx_clock_ms() + CBX_SILENCE_ASK_MS;
    switch (ask_engine(sandbox, deadline)) {
    case ENGINE_SILENT:
        return lose_engine(sandbox, err);
    case ENDED:
        return cbx_fail(err, CBX_EIO, "the sandbox is gone");
    case PAUSED: /* the PING is answered after the pause; the caller has its own time limits */
        enter(&sandbox->link, CBX_LINK_PINGED);
        return 0;
    default:
        sandbox->link.throttled = count_throttled(sandbox, left_ms(deadline));
        enter(&sandbox->link, CBX_LINK_ASKED);
        return 0;
    }
}

/* No byte arrived since the engine was asked. */
static int judge(struct cbx_sandbox *sandbox, struct cbx_err *err)
{
    int64_t before = sandbox->link.throttled;
    if (before < 0 || count_throttled(sandbox, CBX_SILENCE_SAMPLE_MS) <= before) {
        return lose_sandbox(sandbox, err);
    }
    enter(&sandbox->link, CBX_LINK_PINGED);
    return 0;
}

int cbx_sandbox_check_link(struct cbx_sandbox *sandbox, int64_t waited_ms, struct cbx_err *err)
{
    struct cbx_link *link = &sandbox->link;
    int lost = say_lost(sandbox, err);
    if (lost) {
        return lost;
    }
    link->waited_ms += waited_ms;
    if (link->waited_ms < stage_ms[link->stage]) {
        return 0;
    }
    switch (link->stage) {
    case CBX_LINK_QUIET:
        if (send_ping(sandbox)) {
            enter(link, CBX_LINK_PINGED);
            return 0;
        }
        if (link->waited_ms < CBX_SILENCE_QUIET_MS + CBX_SILENCE_PONG_MS) {
            return 0;
        }
        return ask(sandbox, err);
    case CBX_LINK_PINGED:
        return ask(sandbox, err);
    default:
        return judge(sandbox, err);
    }
}

int cbx_sandbox_check_stall(struct cbx_sandbox *sandbox, int64_t stalled_ms, struct cbx_err *err)
{
    int lost = say_lost(sandbox, err);
    if (lost) {
        return lost;
    }
    switch (ask_engine(sandbox, cbx_clock_ms() + CBX_SILENCE_ASK_MS)) {
    case ENGINE_SILENT:
        return lose_engine(sandbox, err);
    case ENDED:
        return cbx_fail(err, CBX_EIO, "the sandbox is gone");
    case PAUSED:
        if (stalled_ms < CBX_SANDBOX_STALL_MAX_MS) {
            return 0;
        }
        return cbx_fail(err, CBX_EIO, "the sandbox is paused and does not read its input");
    default:
        return lose_sandbox(sandbox, err);
    }
}
