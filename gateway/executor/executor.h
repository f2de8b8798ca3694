/* SPDX-License-Identifier: MIT
 * The executor: the one process with the Docker socket and the audit log. It parses no source. The
 * front passes it one end of a socket pair per request; each is served by a thread of its own and
 * carries one request and its answers. */
#ifndef CBX_GATEWAY_EXECUTOR_EXECUTOR_H
#define CBX_GATEWAY_EXECUTOR_EXECUTOR_H

#include "docker/pool.h"
#include "gateway/executor/instance.h"
#include "gateway/ipc/master.h"
#include "policies/base/err.h"

#include <stdint.h>

struct cbx_executor_config {
    const char *state_dir;
    const char *docker_host; /* NULL = DOCKER_HOST, else the usual sockets */
    const char *runtime;     /* NULL = the engine's default */
    const char *apparmor;    /* the same */
    int max_sessions;
    int max_runs;     /* at the same time; more wait their turn */
    int64_t idle_ms;  /* a session without a run for this long is closed */
    int64_t lease_ms; /* sandboxes live so long without us; 0 = CBX_SANDBOX_LEASE_MS */
    struct cbx_pool_config pool;
    bool persistent; /* sessions outlive this gateway: the next one on the state directory has them
                      */
    /* Sandboxes that are made before anybody asks. */
    struct cbx_profile {
        const char *kernel;
        struct cbx_limits limits;
    } profiles[8];
    int profile_count;
};

/* Serves `control` until it closes or SIGTERM comes, then removes its containers, or lets go of its
 * sessions when they are persistent, and leaves; never returns. The secrets come through
 * secrets_fd. The audit log and the engine are opened by the first request that needs them, or at
 * once when it is persistent; sandboxes that an executor before left are adopted then.
 *
 * Requests (JSON header, bytes):
 *   {op:"submit", sealed, mac, keep, interactive} + text   one decision. Answers: {type:"recorded",
 *     decision, seq} when it allows nothing; else {type:"admitted", ...}, for a run its events, and
 *     {type:"done", ...}. Then the front says {type:"ack"} when it needs the result no more, and
 *     hears {type:"done"} when that is known. A run with `keep` goes on when the front hangs up,
 *     and its result stays until it is acknowledged; one without is cancelled.
 *     {type:"begun"} comes before the first event of a run. An opened session that the front does
 *     not acknowledge is closed.
 *     Runs of one session begin in the order in which they were admitted.
 *   {op:"resume", run, keep}        events and {type:"done"} of such a run, from its beginning;
 *     {type:"waiting"} when it has not begun yet, {type:"begun"} when it has
 *   {op:"ack", run}                 the same as {type:"ack"}, when that was not heard
 *   {op:"wanted", runs, sessions}   from a front that begins: results of other runs are
 *     acknowledged, other sessions closed
 *   {op:"failed", language, policy, principal, session, origin} + source   note that an analysis
 *     failed: {type:"recorded"}
 *   {op:"close", session}           remove a session's sandbox
 *   {op:"interrupt", session}       interrupt what runs in it; also by the id of a run
 *   {op:"input", session} + line    answer what the program asked for
 *   {op:"reset", session, principal}   kill all in it and start its kernel anew
 *   {op:"put"|"get"|"list"|"delete", session, principal, path} + bytes   files of the workspace
 *   {op:"sessions"}                 {type:"done", sessions: [...]}
 *   {op:"health"}                   {type:"done", engine, api, host, audit, sessions, pool}
 * Any may be answered {type:"error", code, text} instead, and those without an answer of their own
 * are answered {type:"done"}. */
_Noreturn void cbx_executor_main(int control, int secrets_fd,
                                 const struct cbx_executor_config *config);

#endif
