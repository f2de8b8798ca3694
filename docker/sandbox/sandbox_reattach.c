/* SPDX-License-Identifier: MIT
 * Opens a connection that broke again, as when an API server restarts. The sandbox goes on without
 * a host until its lease ends, and its supervisor has the log of the run. */
#include "docker/egress/proxy.h"
#include "docker/engine/silence.h"
#include "docker/sandbox/sandbox_internal.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

#include <string.h>
#include <time.h>

enum { HELLO_MS = 3000, STATE_MS = 3000, RETRY_MS = 200 };

void cbx_sandbox_note_failed(struct cbx_sandbox *sandbox, int failed)
{
    sandbox->alive = false;
    sandbox->link.broken =
        failed == CBX_EIO && atomic_load(&sandbox->link.silent) == CBX_SILENT_NONE;
}

/* A connection that breaks loses the frames in it. The sandbox has the ledger and the grants of this
 * host only if it received the last tag. */
static int check_tag(const struct cbx_sandbox *sandbox, struct cbx_str tag, struct cbx_err *err)
{
    struct cbx_sha256 mac = { 0 };
    if (tag.len >= sizeof(mac.bytes)) {
        memcpy(mac.bytes, tag.p, sizeof(mac.bytes));
    }
    if (!cbx_sha256_equal(&mac, &sandbox->tag_mac)) {
        return cbx_fail(err, CBX_ENOTFOUND, "the sandbox has lost what was sent to it last");
    }
    return 0;
}

static int attach_once(struct cbx_sandbox *sandbox, struct cbx_err *err)
{
    struct cbx_container_state state = { 0 };
    int failed = cbx_engine_container_state(sandbox->engine, sandbox->id, STATE_MS, &state, err);
    if (failed) {
        return failed;
    }
    if (!state.running) {
        return cbx_fail(err, CBX_ENOTFOUND, "the sandbox has ended");
    }
    struct cbx_attach *attach = NULL;
    failed = cbx_engine_container_attach(sandbox->engine, sandbox->id, &attach, err);
    if (failed) {
        return failed;
    }
    struct cbx_str tag;
    sandbox->run_id[0] = '\0';
    failed = cbx_sandbox_greet(sandbox, attach, HELLO_MS, &tag, err);
    if (failed) {
        return failed;
    }
    return check_tag(sandbox, tag, err);
}

/* The supervisor has closed the connections of programs. */
static void renew_proxy(struct cbx_sandbox *sandbox, const char *run)
{
    const struct cbx_network_grant grant = sandbox->network;
    if (sandbox->proxy != NULL) {
        cbx_proxy_free(sandbox->proxy);
        cbx_sandbox_grant_network(sandbox, &grant);
        cbx_proxy_set_run(sandbox->proxy, run);
    }
}

static bool is_final(int failed)
{
    return failed == 0 || failed == CBX_ENOTFOUND || failed == CBX_ESTATE || failed == CBX_EPROTO;
}

int cbx_sandbox_reattach(struct cbx_sandbox *sandbox, int64_t deadline, struct cbx_err *err)
{
    const struct timespec pause = { .tv_nsec = RETRY_MS * 1000000L };
    char run_id[sizeof(sandbox->run_id)];
    struct cbx_err last = { 0 };
    int64_t began = cbx_clock_ms();
    memcpy(run_id, sandbox->run_id, sizeof(run_id));
    sandbox->alive = false; /* HELLO is awaited as at the start */
    renew_proxy(sandbox, run_id);
    cbx_sandbox_reset_input(sandbox);
    int failed = attach_once(sandbox, &last);
    while (!is_final(failed) && cbx_clock_ms() + RETRY_MS < deadline) {
        nanosleep(&pause, NULL);
        failed = attach_once(sandbox, &last);
    }
    if (failed && err != NULL) {
        *err = last;
    }
    if (!failed) {
        cbx_log(CBX_LOG_INFO,
                "the connection to sandbox %s broke, and was opened again after %lld ms",
                sandbox->id, (long long)(cbx_clock_ms() - began));
    }
    sandbox->alive = failed == 0;
    sandbox->link.broken = !is_final(failed);
    cbx_sandbox_hear(sandbox);
    return failed;
}

/* The result of the run was acknowledged, and the sandbox did not receive that. */
static void acknowledge_again(struct cbx_sandbox *sandbox, bool has_result)
{
    if (!has_result && sandbox->run_id[0] != '\0') {
        char run_id[sizeof(sandbox->run_id)];
        memcpy(run_id, sandbox->run_id, sizeof(run_id));
        cbx_sandbox_acknowledge(sandbox, run_id);
    }
}

bool cbx_sandbox_is_broken(struct cbx_sandbox *sandbox)
{
    return !cbx_sandbox_poll(sandbox) && sandbox->link.broken && !cbx_sandbox_is_untouched(sandbox);
}

int cbx_sandbox_reach(struct cbx_sandbox *sandbox, bool wait, bool *gone, struct cbx_err *err)
{
    struct cbx_err away = { 0 };
    bool has_result = sandbox->run_id[0] != '\0';
    *gone = false;
    if (cbx_sandbox_poll(sandbox)) {
        return 0;
    }
    if (!cbx_sandbox_is_broken(sandbox)) {
        *gone = true;
        return 0;
    }
    int failed =
        cbx_sandbox_reattach(sandbox, wait ? cbx_clock_ms() + CBX_SILENCE_BROKEN_MS : 0, &away);
    cbx_sandbox_trim(sandbox);
    if (failed == 0) {
        acknowledge_again(sandbox, has_result);
        return 0;
    }
    *gone = is_final(failed) ||
            (wait && cbx_engine_ping(sandbox->engine, CBX_SILENCE_ENGINE_MS, NULL) == 0);
    if (*gone) {
        return 0;
    }
    if (err != NULL) {
        *err = away;
        err->code = CBX_EENGINE;
    }
    return CBX_EENGINE;
}
