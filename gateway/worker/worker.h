/* SPDX-License-Identifier: MIT
 * Analyzer workers and the zygote that forks them. The zygote is a small single-threaded process
 * that holds the loaded policies and the seal key; each worker is a fork of it, jailed, with one
 * socket. */
#ifndef CBX_GATEWAY_WORKER_WORKER_H
#define CBX_GATEWAY_WORKER_WORKER_H

#include "gateway/ipc/policy_set.h"
#include "gateway/ipc/seal.h"

/* Answers requests on `fd` until it closes; never returns. Jails itself first. */
_Noreturn void cbx_worker_main(int fd, const struct cbx_policies *policies,
                               const struct cbx_seal_key *key);

/* Serves the zygote's socket until it closes; never returns. Each byte received names a slot: the
 * worker in it, if there is one, is killed, a new one is forked, and the front's end of its socket
 * is sent back. The key is made here and written to key_fd, which leads to the executor. */
_Noreturn void cbx_zygote_main(int control, int key_fd, const struct cbx_policies *policies);

#endif
