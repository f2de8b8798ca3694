/* SPDX-License-Identifier: MIT
 * Timeouts for a sandbox, or an engine, that sends nothing: all times in one place. TCP alone
 * does not detect this, because a forwarder acknowledges bytes for a peer that has gone. Used by
 * the engine's client and by sandboxes. */
#ifndef CBX_DOCKER_ENGINE_SILENCE_H
#define CBX_DOCKER_ENGINE_SILENCE_H

/* The stages of a link to a sandbox if nothing arrives while a caller waits:
 *
 *   quiet    no byte arrived for CBX_SILENCE_QUIET_MS: many programs print or end sooner, so few
 *            runs cause a PING
 *   pinged   PING was sent. The supervisor is a process of its own and replies at once, also while
 *            programs use all processor time of the sandbox
 *   asked    no byte within CBX_SILENCE_PONG_MS. The engine is pinged, within
 *            CBX_SILENCE_ENGINE_MS, and asked for the state of the container, all within
 *            CBX_SILENCE_ASK_MS. A paused container is waited for
 *   lost     no byte within CBX_SILENCE_LAST_MS either. A host that was suspended itself
 *            receives the bytes that arrived meanwhile in this time. A container that was
 *            throttled meanwhile, which takes CBX_SILENCE_SAMPLE_MS to determine, is waited for:
 *            with the least processor time that a policy allows, and many processes, the
 *            supervisor is scheduled once in many seconds */
enum {
    CBX_SILENCE_QUIET_MS = 1500,
    CBX_SILENCE_PONG_MS = 3000,
    CBX_SILENCE_ENGINE_MS = 1500,
    CBX_SILENCE_ASK_MS = 3000,
    CBX_SILENCE_LAST_MS = 500, /* five periods of the scheduler's quota */
    CBX_SILENCE_SAMPLE_MS = 1000,
    CBX_SILENCE_MAX_MS = 10000, /* in total, since the last byte */
    /* A connection that broke is opened again meanwhile: an API server, or an engine that keeps its
     * containers, may restart. Then the run of its sandbox is lost. */
    CBX_SILENCE_BROKEN_MS = 8000,
};
_Static_assert((int)CBX_SILENCE_QUIET_MS + (int)CBX_SILENCE_BROKEN_MS < (int)CBX_SILENCE_MAX_MS,
               "a connection that broke is lost in time");
_Static_assert(CBX_SILENCE_QUIET_MS + CBX_SILENCE_PONG_MS + CBX_SILENCE_ASK_MS +
                       CBX_SILENCE_LAST_MS + CBX_SILENCE_SAMPLE_MS <
                   CBX_SILENCE_MAX_MS,
               "a link that is silent is lost in time");

/* A call of the Engine API may take minutes (a start on a slow disk, a build), so it has no
 * short limit. If the engine has neither sent nor accepted a byte of it for this time, the
 * engine is pinged on another connection (CBX_SILENCE_ENGINE_MS); the call ends if there is no
 * reply. */
enum { CBX_SILENCE_CALL_MS = 5000 };
_Static_assert(CBX_SILENCE_CALL_MS + 1000 + CBX_SILENCE_ENGINE_MS < CBX_SILENCE_MAX_MS,
               "libcurl polls once a second");

#endif
