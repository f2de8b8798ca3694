/* SPDX-License-Identifier: MIT
 * Turns of programs, and of installs: so many run at the same time, the others wait. Within a principal the first that
 * came is the first; between principals the turns go round. So a principal with a thousand programs delays another's
 * by the one that runs. Thread-safe. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_TURNS_H
#define CBX_GATEWAY_EXECUTOR_RUN_TURNS_H

#include "policies/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct cbx_turns;

struct cbx_turns_config {
    const char *what;     /* takes turns, in the plural, for errors: "programs"; static */
    int running, waiting; /* so many at a time; so many may wait */
    int own_running; /* of one principal: what ends late leaves turns to the others; 0 = `running` */
    int own_waiting;
};
struct cbx_turns *cbx_turns_new(const struct cbx_turns_config *config);
/* Nothing may wait or run any more. NULL is fine. */
void cbx_turns_free(struct cbx_turns *turns);

/* What a program that waits is called with, at once, and then twice a second and after cbx_turns_wake: `ahead` is
 * how many have their turn before it, as it is now. True: it gives up. */
struct cbx_turn_wait {
    const char *principal, *run; /* borrowed; `run` may be empty */
    bool (*gives_up)(void *context, int ahead);
    void *context;
};

/* Returns when the program has its turn, which cbx_turns_end ends. CBX_EBUSY when too many wait, also of its principal; CBX_ECANCELLED when it gave
 * up. */
int cbx_turns_take(struct cbx_turns *turns, const struct cbx_turn_wait *wait, struct cbx_err *err);
void cbx_turns_end(struct cbx_turns *turns, const char *principal);

/* Asks the program of this run at once whether it gives up; nothing when it does not wait. */
void cbx_turns_wake(struct cbx_turns *turns, const char *run);

struct cbx_turns_stats {
    int running, waiting, principals; /* principals: of those that wait */
    int64_t oldest_ms; /* how long the one that waits longest has waited; 0 = none waits */
    int64_t held_ms;   /* all turns are taken, and none was given for so long; 0 = one is free */
};
void cbx_turns_stats(struct cbx_turns *turns, struct cbx_turns_stats *out);

#endif
