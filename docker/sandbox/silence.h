/* SPDX-License-Identifier: MIT
 * How long a sandbox, or an engine, may send nothing before that counts: all times in one place. TCP alone does not tell, as whatever
 * forwards a connection acknowledges bytes for a peer that is gone. Used by the engine's client and by sandboxes. */
#ifndef CBX_DOCKER_SANDBOX_SILENCE_H
#define CBX_DOCKER_SANDBOX_SILENCE_H

/* What a link to a sandbox goes through when nothing arrives while a caller waits:
 *
 *   quiet    no byte arrived for CBX_SILENCE_QUIET_MS: many programs print or end sooner, so few runs cause a PING
 *   pinged   PING was sent. The supervisor is a process of its own and answers at once, also while programs use all processor time
 *            that the sandbox has
 *   asked    no byte within CBX_SILENCE_PONG_MS. The engine is pinged, within CBX_SILENCE_ENGINE_MS, and asked for the state of the
 *            container, all within CBX_SILENCE_ASK_MS. A paused container is waited for
 *   lost     no byte within CBX_SILENCE_LAST_MS either. A host that was suspended itself receives here what arrived meanwhile. A
 *            container that was throttled meanwhile, which takes CBX_SILENCE_SAMPLE_MS to ask, is waited for: with the least
 *            processor time that a policy allows, and many processes, the supervisor has its turn once in many seconds */
enum {
    CBX_SILENCE_QUIET_MS = 1500,
    CBX_SILENCE_PONG_MS = 3000,
    CBX_SILENCE_ENGINE_MS = 1500,
    CBX_SILENCE_ASK_MS = 3000,
    CBX_SILENCE_LAST_MS = 500, /* five periods of the scheduler's quota */
    CBX_SILENCE_SAMPLE_MS = 1000,
    CBX_SILENCE_MAX_MS = 10000, /* all in all, since the last byte */
};
_Static_assert(CBX_SILENCE_QUIET_MS + CBX_SILENCE_PONG_MS + CBX_SILENCE_ASK_MS +
                       CBX_SILENCE_LAST_MS + CBX_SILENCE_SAMPLE_MS <
                   CBX_SILENCE_MAX_MS,
               "a link that is silent is lost in time");

/* A call of the Engine API may lawfully take minutes (a start on a slow disk, a build), so it has no short limit. When the engine has
 * neither sent nor taken a byte of it for so long, the engine is pinged on another connection (CBX_SILENCE_ENGINE_MS); the call ends
 * when that is not answered. */
enum { CBX_SILENCE_CALL_MS = 5000 };
_Static_assert(CBX_SILENCE_CALL_MS + 1000 + CBX_SILENCE_ENGINE_MS < CBX_SILENCE_MAX_MS,
               "libcurl polls once a second");

#endif
