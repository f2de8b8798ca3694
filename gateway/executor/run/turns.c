/* SPDX-License-Identifier: MIT
 * Turns: a ring of principals, each with a list of its waiting programs. */
#include "gateway/executor/run/turns.h"

#include "policies/base/list.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"
#include "policies/permit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 500 };

/* A waiting program, on the stack of its thread. */
struct waiter {
    const struct cbx_turn_wait *wait;
    struct waiter *next;
    pthread_cond_t changed;
    int64_t since_ms;
    bool granted;
};

/* The queue of a principal with waiting or running programs. */
struct line {
    char principal[CBX_NAME_MAX + 1];
    struct waiter *first;
    int waiting, running;
    struct line *next; /* next queue in the ring */
};

struct cbx_turns {
    struct cbx_turns_config config;
    pthread_mutex_t lock;
    int running, waiting;
    int64_t given_ms; /* time of the last given turn */
    /* queue with the last given turn: its successor is next; NULL = the ring is empty */
    struct line *turn;
};

struct cbx_turns *cbx_turns_new(const struct cbx_turns_config *config)
{
    struct cbx_turns *turns = cbx_new(sizeof(*turns));
    pthread_mutex_init(&turns->lock, NULL);
    turns->config = *config;
    if (turns->config.own_running == 0) {
        turns->config.own_running = config->running;
    }
    return turns;
}

void cbx_turns_free(struct cbx_turns *turns)
{
    if (turns != NULL) {
        pthread_mutex_destroy(&turns->lock);
        free(turns);
    }
}

/* --- lines, with the lock held ---------------------------------------------------------------- */

static struct line *find_line(struct cbx_turns *turns, const char *principal)
{
    struct line *line = turns->turn;
    for (; line != NULL && strcmp(line->principal, principal) != 0;) {
        line = line->next != turns->turn ? line->next : NULL;
    }
    return line;
}

/* A new queue is the last in the ring. */
static struct line *get_line(struct cbx_turns *turns, const char *principal)
{
    struct line *line = find_line(turns, principal);
    if (line != NULL) {
        return line;
    }
    line = cbx_new(sizeof(*line));
    snprintf(line->principal, sizeof(line->principal), "%s", principal);
    line->next = turns->turn != NULL ? turns->turn->next : line;
    if (turns->turn != NULL) {
        turns->turn->next = line;
    }
    turns->turn = line;
    return line;
}

/* Frees a queue without waiting or running programs. */
static void drop_line(struct cbx_turns *turns, struct line *line)
{
    struct line *before = line;
    if (line->waiting > 0 || line->running > 0) {
        return;
    }
    while (before->next != line) {
        before = before->next;
    }
    before->next = line->next;
    turns->turn = turns->turn == line ? before : turns->turn;
    turns->turn = before == line ? NULL : turns->turn;
    free(line);
}

static void begin(struct cbx_turns *turns, struct line *line)
{
    turns->running++;
    line->running++;
    turns->given_ms = cbx_clock_ms();
}

/* Returns the next queue that may have a turn; NULL if there is none. */
static struct line *find_next(const struct cbx_turns *turns)
{
    struct line *line = turns->turn;
    for (bool more = line != NULL; more; more = line != turns->turn) {
        line = line->next;
        if (line->waiting > 0 && line->running < turns->config.own_running) {
            return line;
        }
    }
    return NULL;
}

/* Gives free turns to waiting programs. Called whenever a turn becomes free, so no waiter that
 * may take a turn waits while one is free. */
static void give(struct cbx_turns *turns)
{
    struct line *line;
    while (turns->running < turns->config.running && (line = find_next(turns)) != NULL) {
        struct waiter *waiter = line->first;
        line->first = waiter->next;
        line->waiting--;
        turns->waiting--;
        waiter->granted = true;
        begin(turns, line);
        turns->turn = line;
        pthread_cond_signal(&waiter->changed);
    }
}

static void leave(struct cbx_turns *turns, struct line *line, struct waiter *waiter)
{
    CBX_LIST_REMOVE(line->first, waiter, next);
    line->waiting--;
    turns->waiting--;
}

/* Returns the number of waiting runs that have their turn before this one, as long as no
 * principal reaches its limit of running programs: the runs before it in its own queue, the same
 * number of each other queue, and one more of each queue whose turn comes first. */
static int count_ahead(const struct cbx_turns *turns, const struct line *line,
                       const struct waiter *waiter)
{
    int own = 0, ahead;
    bool before = true; /* the queues from the next turn on, up to its own */
    for (const struct waiter *w = line->first; w != waiter; w = w->next) {
        own++;
    }
    ahead = own;
    const struct line *other = turns->turn->next;
    do {
        before = before && other != line;
        int most = own + before;
        ahead += other == line ? 0 : other->waiting < most ? other->waiting : most;
        other = other->next;
    } while (other != turns->turn->next);
    return ahead;
}

/* --- turns ------------------------------------------------------------------------------------ */

/* Called with the lock, which is released meanwhile. True if the waiter has no turn and gives
 * up. */
static bool await(struct cbx_turns *turns, struct line *line, struct waiter *waiter)
{
    while (!waiter->granted) {
        int ahead = count_ahead(turns, line, waiter);
        pthread_mutex_unlock(&turns->lock);
        bool gives_up = waiter->wait->gives_up(waiter->wait->context, ahead);
        pthread_mutex_lock(&turns->lock);
        if (gives_up && !waiter->granted) {
            leave(turns, line, waiter);
            return true;
        }
        if (!waiter->granted) {
            cbx_cond_wait_ms(&waiter->changed, &turns->lock, TICK_MS);
        }
    }
    return false;
}

int cbx_turns_take(struct cbx_turns *turns, const struct cbx_turn_wait *wait, struct cbx_err *err)
{
    const struct cbx_turns_config *c = &turns->config;
    struct waiter waiter = { .wait = wait, .since_ms = cbx_clock_ms() };
    int failed = 0;
    pthread_mutex_lock(&turns->lock);
    struct line *line = get_line(turns, wait->principal);
    if (turns->running < c->running && line->running < c->own_running) {
        begin(turns, line);
    } else if (turns->waiting >= c->waiting || line->waiting >= c->own_waiting) {
        if (line->waiting >= c->own_waiting) {
            failed = cbx_fail(err, CBX_EBUSY,
                              "%d %s of this principal wait, the most is %d; try again later",
                              line->waiting, c->what, c->own_waiting);
        } else {
            failed = cbx_fail(err, CBX_EBUSY, "%d %s in all wait, the most is %d; try again later",
                              turns->waiting, c->what, c->waiting);
        }
    } else {
        cbx_cond_init(&waiter.changed);
        CBX_LIST_APPEND(line->first, &waiter, next);
        line->waiting++;
        turns->waiting++;
        if (await(turns, line, &waiter)) {
            failed = cbx_fail(err, CBX_ECANCELLED, "cancelled before it began");
        }
        pthread_cond_destroy(&waiter.changed);
    }
    drop_line(turns, line);
    pthread_mutex_unlock(&turns->lock);
    return failed;
}

void cbx_turns_end(struct cbx_turns *turns, const char *principal)
{
    pthread_mutex_lock(&turns->lock);
    struct line *line = find_line(turns, principal);
    turns->running--;
    line->running--;
    give(turns);
    drop_line(turns, line);
    pthread_mutex_unlock(&turns->lock);
}

void cbx_turns_wake(struct cbx_turns *turns, const char *run)
{
    pthread_mutex_lock(&turns->lock);
    struct line *line = turns->turn;
    for (bool more = line != NULL; more; more = line != turns->turn) {
        for (struct waiter *w = line->first; w != NULL; w = w->next) {
            if (strcmp(w->wait->run, run) == 0) {
                pthread_cond_signal(&w->changed);
            }
        }
        line = line->next;
    }
    pthread_mutex_unlock(&turns->lock);
}

void cbx_turns_stats(struct cbx_turns *turns, struct cbx_turns_stats *out)
{
    pthread_mutex_lock(&turns->lock);
    int64_t now = cbx_clock_ms(), oldest_ms = now;
    *out = (struct cbx_turns_stats){ .running = turns->running, .waiting = turns->waiting };
    const struct line *line = turns->turn;
    for (bool more = line != NULL; more; more = line != turns->turn) {
        out->principals += line->waiting > 0;
        if (line->first != NULL && line->first->since_ms < oldest_ms) {
            oldest_ms = line->first->since_ms;
        }
        line = line->next;
    }
    out->oldest_ms = now - oldest_ms;
    out->held_ms = turns->running >= turns->config.running ? now - turns->given_ms : 0;
    pthread_mutex_unlock(&turns->lock);
}
