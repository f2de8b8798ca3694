/* SPDX-License-Identifier: MIT
 * The sets of policies of this gateway: the set of its start, and the reloaded sets. A decision
 * is checked against the set of its worker, found by the worker's number: runs decided before a
 * reload keep their policy until they end. Sets are never freed, since sandboxes borrow from
 * them as long as they live. */
#ifndef CBX_GATEWAY_EXECUTOR_POLICIES_H
#define CBX_GATEWAY_EXECUTOR_POLICIES_H

#include "gateway/ipc/master/policy_set.h"
#include "gateway/ipc/master/reload.h"

#include <pthread.h>

/* The history of sets. Initialise with cbx_policy_history_init. Thread-safe. */
struct cbx_policy_history {
    pthread_mutex_t lock;
    struct cbx_policy_set {
        uint64_t first_number; /* number of the first worker that uses the set */
        const struct cbx_policies *policies;
    } * sets; /* the newest set is last */
    size_t count;
};

/* `first` is borrowed for the life of the process. */
void cbx_policy_history_init(struct cbx_policy_history *history, const struct cbx_policies *first);

/* Returns the set of the worker with this number. */
const struct cbx_policies *cbx_policy_history_of(struct cbx_policy_history *history,
                                                 uint64_t number);

/* Returns the newest set. */
const struct cbx_policies *cbx_policy_history_last(struct cbx_policy_history *history);

/* Returns the newest set that has the policy of this name and SHA-256; NULL = none has it. */
const struct cbx_policies *cbx_policy_history_with(struct cbx_policy_history *history,
                                                   struct cbx_str name,
                                                   const struct cbx_sha256 *sha256);

/* Returns that policy itself; NULL = no set has it. */
const struct cbx_policy *cbx_policy_history_find(struct cbx_policy_history *history,
                                                 struct cbx_str name,
                                                 const struct cbx_sha256 *sha256);

/* The same, by the fields of a sealed decision's JSON. */
const struct cbx_policy *cbx_policy_history_find_sealed(struct cbx_policy_history *history,
                                                        const json_t *sealed);

struct cbx_executor;

/* A cbx_reload_apply whose context is the executor: applies a set of policies, and records the
 * reload in the audit log; applies principals and keys. */
int cbx_executor_reload(void *executor, const struct cbx_reload_part *part, uint64_t first_number,
                        struct cbx_err *err);

#endif
