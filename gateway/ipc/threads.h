/* SPDX-License-Identifier: MIT
 * A pool of threads for work that may block for long, such as a run. An idle thread waits a few
 * seconds for more work, because creating a thread costs more than most of that work. */
#ifndef CBX_GATEWAY_IPC_THREADS_H
#define CBX_GATEWAY_IPC_THREADS_H

#include <stdbool.h>

struct cbx_threads;

/* At most `most` threads, with stacks of 1 MiB. */
struct cbx_threads *cbx_threads_new(int most);

/* Calls `work` with `context`, once, in a thread of the pool. False when all are busy or no thread
 * can be created: `work` is not called then. From any thread. */
bool cbx_threads_run(struct cbx_threads *threads, void (*work)(void *context), void *context);

/* Waits until all work has ended. NULL is fine. */
void cbx_threads_free(struct cbx_threads *threads);

#endif
