/* SPDX-License-Identifier: MIT
 * The executor: the one process with the Docker socket and the audit log. It parses no source. The
 * front passes it one end of a socket pair per request; each is served by a thread of its own and
 * carries one request and its answers. */
#ifndef CBX_GATEWAY_EXECUTOR_H
#define CBX_GATEWAY_EXECUTOR_H

#include "policies/base/err.h"

#include <stdint.h>

struct cbx_executor_config {
    const char *state_dir;
    const char *docker_host; /* NULL = DOCKER_HOST, else the usual sockets */
    const char *runtime;     /* NULL = the engine's default */
    int max_sessions;
    int max_runs;    /* at the same time; more wait their turn */
    int64_t idle_ms; /* a session without a run for this long is closed */
};

/* Serves `control` until it closes, then removes its containers and leaves; never returns. The seal
 * key comes through key_fd. The audit log and the engine are opened by the first request that needs
 * them.
 *
 * Requests (JSON header, bytes):
 *   {op:"submit", sealed, mac} + text   one decision. Answers: {type:"recorded", decision, seq}
 * when it allows nothing; else {type:"admitted", ...}, for a run its events, and {type:"done", ...}
 *   {op:"failed", language, policy, principal, session, origin} + source    note that an analysis
 * failed: {type:"recorded"} {op:"close", session}               remove a session's sandbox:
 * {type:"done"} {op:"interrupt", session}           interrupt what runs in it: {type:"done"}
 *   {op:"health"}                       {type:"done", engine, api, host, audit, sessions}
 * Any may be answered {type:"error", code, text} instead. */
_Noreturn void cbx_executor_main(int control, int key_fd, const struct cbx_executor_config *config);

#endif
