/* SPDX-License-Identifier: MIT
 * Turns of programs, and of installs: a limited number runs at the same time, the others wait.
 * The order within a principal is FIFO; between principals it is round robin. So a principal
 * with a thousand programs delays another principal only by its running one. Thread-safe. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_TURNS_H
#define CBX_GATEWAY_EXECUTOR_RUN_TURNS_H

#include "policies/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct cbx_turns;

struct cbx_turns_config {
    const char *what;     /* plural of the waiting things, for errors: "programs"; static */
    int running, waiting; /* maximum number of running, and of waiting ones */
    /* maximum of running ones per principal, which leaves turns to other principals; 0 =
     * `running` */
    int own_running;
    int own_waiting;
};
struct cbx_turns *cbx_turns_new(const struct cbx_turns_config *config);
/* Frees the turns; nothing may wait or run. NULL is fine. */
void cbx_turns_free(struct cbx_turns *turns);

/* The callback of a waiting program: called at once, and then twice a second and after
 * cbx_turns_wake. `ahead` is the current number of programs before it. Returns true to give up. */
struct cbx_turn_wait {
    const char *principal, *run; /* borrowed; `run` may be empty */
    bool (*gives_up)(void *context, int ahead);
    void *context;
};

/* Returns when the program has its turn, which cbx_turns_end ends. CBX_EBUSY if too many wait,
 * also of its principal; CBX_ECANCELLED if the program gave up. */
int cbx_turns_take(struct cbx_turns *turns, const struct cbx_turn_wait *wait, struct cbx_err *err);
void cbx_turns_end(struct cbx_turns *turns, const char *principal);

/* Calls the callback of this run's program at once; no effect if it does not wait. */
void cbx_turns_wake(struct cbx_turns *turns, const char *run);

struct cbx_turns_stats {
    /* principals: number of principals with waiting programs */
    int running, waiting, principals;
    int64_t oldest_ms; /* waiting time of the oldest waiter; 0 = none waits */
    /* time since the last given turn while all turns are taken; 0 = one is free */
    int64_t held_ms;
};
void cbx_turns_stats(struct cbx_turns *turns, struct cbx_turns_stats *out);

#endif
