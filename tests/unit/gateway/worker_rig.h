/* SPDX-License-Identifier: MIT
 * A zygote with real, jailed workers, and the front's side of them, under the policy `default`. */
#ifndef CBX_TESTS_UNIT_GATEWAY_WORKER_RIG_H
#define CBX_TESTS_UNIT_GATEWAY_WORKER_RIG_H

#include "gateway/front/judge.h"
#include "gateway/ipc/master/master.h"
#include "gateway/worker/worker.h"
#include "tests/unit/gateway/scratch.h"

struct worker_rig {
    struct cbx_policies policies;
    struct cbx_judge *judge;
    struct cbx_seal_key key, pasts;
    struct cbx_replay_guard guard;
    pid_t zygote;
};

/* Under the policy `default`, or under it in mode log-only. */
static inline void worker_rig_start_as(struct worker_rig *rig, int workers, int timeout_ms,
                                       bool log_only)
{
    int control[2], key[2];
    struct cbx_err err;
    *rig = (struct worker_rig){ .policies = { .items = calloc(1, sizeof(rig->policies.items[0])),
                                              .count = 1 } };
    if (cbx_policy_load("default", &rig->policies.items[0], &err) != 0) {
        fail_msg("%s", err.text);
    }
    rig->policies.items[0]->log_only = log_only;
    assert_int_equal(cbx_wire_pair(control, NULL), 0);
    assert_int_equal(cbx_wire_pair(key, NULL), 0);
    rig->zygote = fork();
    assert_true(rig->zygote >= 0);
    if (rig->zygote == 0) {
        close(control[0]);
        close(key[1]);
        cbx_zygote_main(control[1], key[0], &rig->policies);
    }
    close(control[1]);
    close(key[0]);
    cbx_random(rig->key.bytes, sizeof(rig->key.bytes));
    cbx_random(rig->pasts.bytes, sizeof(rig->pasts.bytes));
    const struct cbx_zygote_secrets secrets = { .decisions = rig->key,
                                                .pasts = rig->pasts,
                                                .first_number = CBX_SEAL_FIRST_NUMBER(1) };
    assert_int_equal(write(key[1], &secrets, sizeof(secrets)), sizeof(secrets));
    close(key[1]);
    rig->judge = cbx_judge_new(control[0], workers, timeout_ms);
}

static inline void worker_rig_start(struct worker_rig *rig, int workers, int timeout_ms)
{
    worker_rig_start_as(rig, workers, timeout_ms, false);
}

static inline void worker_rig_stop(struct worker_rig *rig)
{
    cbx_judge_free(rig->judge);
    int status = await_child(rig->zygote);
    assert_true(WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL);
    cbx_policy_free(rig->policies.items[0]);
    free(rig->policies.items);
}

#endif
