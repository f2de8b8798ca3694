/* SPDX-License-Identifier: MIT
 * The health of the engine and the audit log: the results of the last attempts, and a cheap
 * probe. */
#ifndef CBX_GATEWAY_EXECUTOR_HEALTH_H
#define CBX_GATEWAY_EXECUTOR_HEALTH_H

#include "policies/base/err.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum cbx_health_part { CBX_HEALTH_ENGINE = 0, CBX_HEALTH_AUDIT, CBX_HEALTH_PARTS };

/* Initialise with cbx_health_init. Thread-safe. */
struct cbx_health {
    pthread_mutex_t lock;
    struct {
        bool known, ok;
        char reason[CBX_ERR_TEXT_BYTES]; /* empty if ok */
        int64_t since_ms;                /* wall clock time of the last change */
        int64_t checked_ms;              /* monotonic time of the last attempt or probe */
    } parts[CBX_HEALTH_PARTS];
    int64_t made,
        /* number of failures when the last sandbox was made: only later failures count */
        failed_before;
};
void cbx_health_init(struct cbx_health *health);

struct cbx_executor;

/* Probes both parts if their last attempt is older than max_age_ms: pings the engine, and writes
 * and removes a block in the state directory. Takes two seconds at most. */
void cbx_executor_probe(struct cbx_executor *e, int64_t max_age_ms);

/* Probes, and writes {engine_ok, engine, api, audit_ok, audit, sessions, pool_ok, pool, checks,
 * refusals, memory, runs, installs, layers, metrics (text)} into `into`. pool_ok: a sandbox is
 * ready, or the last attempts to make one did not fail. `engine` is its version, or the error;
 * `checks` are [{name, ok, reason, since_ms, age_ms}]. */
void cbx_executor_health(struct cbx_executor *e, json_t *into);

#endif
