/* SPDX-License-Identifier: MIT
 * Threads for work that may wait for long, such as a run. A thread that has nothing to do waits for
 * more for a few seconds, since making one costs more than most of what they do. */
#ifndef CBX_GATEWAY_IPC_THREADS_H
#define CBX_GATEWAY_IPC_THREADS_H

#include <stdbool.h>

struct cbx_threads;

/* At most `most` of them. Their stacks have 1 MiB. */
struct cbx_threads *cbx_threads_new(int most);

/* Has `work` called with `context`, once, in a thread of its own. False when all are at work or the
 * system gives no more: then it is not called. From any thread. */
bool cbx_threads_run(struct cbx_threads *threads, void (*work)(void *context), void *context);

/* Waits until all that was begun has ended. NULL is fine. */
void cbx_threads_free(struct cbx_threads *threads);

#endif
