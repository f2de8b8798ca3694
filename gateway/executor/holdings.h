/* SPDX-License-Identifier: MIT
 * The instances whose sandboxes this executor has, where replicas take over from each other
 * (sessions/instance_seeds.h): its own instance and the instances of replicas that ended. The
 * shared database, which only the front reaches, is the arbiter; the front says here for how long
 * no other replica may take them. After that time nothing begins, no container is removed, and no
 * outcome is recorded of what a closed link ended: another replica may have closed it. */
#ifndef CBX_GATEWAY_EXECUTOR_HOLDINGS_H
#define CBX_GATEWAY_EXECUTOR_HOLDINGS_H

#include "docker/sandbox/sandbox.h"
#include "gateway/ipc/replicas.h"
#include "policies/base/text/json.h"

#include <pthread.h>
#include <stdatomic.h>

struct cbx_executor;
struct cbx_hold_args;
struct cbx_taken_over_args;
struct cbx_given_up_args;

enum { CBX_HELD_MAX = 1000 };

/* One instance of another replica; never freed, because its sandboxes borrow the texts. */
struct cbx_held {
    char replica[CBX_REPLICA_NAME_MAX + 1], name[33];
    uint64_t generation;
    struct cbx_sandbox_config config;
};

struct cbx_holdings {
    pthread_mutex_t lock;                 /* held while instances are adopted */
    atomic_uint_fast64_t generation;      /* of the own instance; 0 = not known yet */
    atomic_int_fast64_t until_ms;         /* of the clock that counts suspended time */
    atomic_bool ready;                    /* all instances of the first call are adopted */
    struct cbx_held *items[CBX_HELD_MAX]; /* appended; */
    atomic_size_t count;                  /* after the item was written */
};

void cbx_holdings_init(struct cbx_holdings *holdings);

/* True if the configuration has seeds of replicas. */
bool cbx_executor_takes_over(const struct cbx_executor *e);

/* True while no other replica may have this executor's sandboxes; always without such seeds. */
bool cbx_executor_is_held(struct cbx_executor *e);

/* The same as an error: CBX_EBUSY. A new executor waits for the first call `hold`. */
int cbx_executor_check_hold(struct cbx_executor *e, struct cbx_err *err);

/* Waits until it is true. Does not return if another replica has them: the executor ends then. */
void cbx_executor_await_hold(struct cbx_executor *e);

/* Waits, a limited time, for the first call `hold`, before which no sandbox is opened; CBX_EBUSY. */
int cbx_executor_await_place(struct cbx_executor *e, struct cbx_err *err);

/* Writes the seed of the own instance of now. CBX_EBUSY before the first call `hold`. */
int cbx_executor_own_seed(struct cbx_executor *e, uint8_t out[CBX_SANDBOX_SECRET_BYTES],
                          struct cbx_err *err);

/* Removes containers of the other instances that no table has. */
void cbx_executor_reap_held(struct cbx_executor *e);

/* The calls of executor.def. `empty` receives the texts of the instances that are new and have no
 * sandbox. */
int cbx_executor_hold(struct cbx_executor *e, const struct cbx_hold_args *args, json_t *empty,
                      struct cbx_err *err);
int cbx_executor_note_taken(struct cbx_executor *e, const struct cbx_taken_over_args *args,
                            struct cbx_err *err);
int cbx_executor_note_given_up(struct cbx_executor *e, const struct cbx_given_up_args *args,
                               struct cbx_err *err);

#endif
