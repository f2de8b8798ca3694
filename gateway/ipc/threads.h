/* SPDX-License-Identifier: MIT
 * A pool of threads for work that may block for long, such as a run. An idle thread waits a few
 * seconds for more work, because creating a thread costs more than most of that work. */
#ifndef CBX_GATEWAY_IPC_THREADS_H
#define CBX_GATEWAY_IPC_THREADS_H

#include "policies/base/list.h"

struct cbx_threads;

/* Work that may wait in the pool's queue. Embedded in the object that it works on; the pool does
 * not access it after the call of `run`. */
struct cbx_work {
    struct cbx_link link;
    void (*run)(void *context);
    void *context;
};

/* Creates a pool of at most `most` threads, with stacks of 1 MiB. */
struct cbx_threads *cbx_threads_new(int most);

/* Calls `work` with `context`, once, in a thread of the pool. False if all threads are busy or
 * none can be created: `work` is not called then. Callable from any thread. */
bool cbx_threads_run(struct cbx_threads *threads, void (*work)(void *context), void *context);

/* Calls work->run, once, in a thread of the pool: at once, or, if all threads are busy or none
 * can be created, after the running and queued work. Never fails. Callable from any thread. */
void cbx_threads_queue(struct cbx_threads *threads, struct cbx_work *work);

/* Waits until all work has ended, queued work too. No thread may add work after this call
 * begins. NULL is fine. */
void cbx_threads_free(struct cbx_threads *threads);

#endif
