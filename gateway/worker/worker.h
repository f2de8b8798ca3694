/* SPDX-License-Identifier: MIT
 * Analyzer workers and the zygote that forks them. The zygote is a small single-threaded process
 * that holds the loaded policies and the seal key; each worker is a fork of it, jailed, with one
 * socket and the token of one decision, for one request. The zygote never reads a request, so
 * every worker starts from the same memory. */
#ifndef CBX_GATEWAY_WORKER_WORKER_H
#define CBX_GATEWAY_WORKER_WORKER_H

#include "gateway/ipc/master/policy_set.h"
#include "gateway/ipc/seal/seal.h"

/* The secrets of a worker. All workers share the key of pasts, because a later worker opens what
 * an earlier one sealed: with it, a front and a worker that are both compromised can forge
 * pasts. */
struct cbx_worker_secrets {
    struct cbx_seal_token token;
    struct cbx_seal_key pasts;
};

/* Jails the process, answers one request on `fd` and exits; never returns. */
_Noreturn void cbx_worker_main(int fd, const struct cbx_policies *policies,
                               const struct cbx_worker_secrets *secrets);

/* Serves the zygote's socket until it closes; never returns. Each message has a slot's number
 * and one end of a socket pair: the slot's worker, if any, is killed, and a new one is forked
 * that answers one request on that end. secrets_fd is the read end of a pipe with a struct
 * cbx_zygote_secrets. */
_Noreturn void cbx_zygote_main(int control, int secrets_fd, const struct cbx_policies *policies);

#endif
