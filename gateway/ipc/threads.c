/* SPDX-License-Identifier: MIT
 * Threads that wait for more work; the thread that became idle last gets the next work: its
 * stack is in the cache. */
#include "gateway/ipc/threads.h"

#include "policies/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { STACK_BYTES = 1024 * 1024, IDLE_S = 5 };

struct thread {
    struct cbx_threads *all;
    pthread_cond_t given;
    void (*work)(void *context); /* NULL = idle */
    void *context;
    struct thread *next; /* next element of the list of idle threads */
};

struct cbx_threads {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    struct thread *idle;
    struct cbx_queue queue; /* work queued while no thread was idle */
    int count, most;
    bool ending;
};

struct cbx_threads *cbx_threads_new(int most)
{
    struct cbx_threads *threads = cbx_new(sizeof(*threads));
    threads->most = most;
    pthread_mutex_init(&threads->lock, NULL);
    pthread_cond_init(&threads->ended, NULL);
    return threads;
}

/* Gives the thread the first work of the queue. Call it with the lock. */
static bool take_queued(struct thread *thread)
{
    struct cbx_work *work =
        CBX_LINK_OWNER(cbx_queue_pop(&thread->all->queue), struct cbx_work, link);
    if (work != NULL) {
        thread->work = work->run;
        thread->context = work->context;
    }
    return work != NULL;
}

/* False after an idle timeout, or at shutdown. Call it with the lock. */
static bool await_work(struct thread *thread)
{
    struct cbx_threads *all = thread->all;
    if (take_queued(thread)) {
        return true;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += IDLE_S;
    thread->next = all->idle;
    all->idle = thread;
    int late = 0;
    while (thread->work == NULL && !all->ending && late == 0) {
        /* The last thread never times out: work queued later needs a thread, and creating one
         * may fail then. */
        late = all->count == 1 ? pthread_cond_wait(&thread->given, &all->lock)
                               : pthread_cond_timedwait(&thread->given, &all->lock, &until);
    }
    if (thread->work == NULL) {
        CBX_LIST_REMOVE(all->idle, thread, next);
    }
    return thread->work != NULL;
}

static void *serve(void *context)
{
    struct thread *thread = context;
    struct cbx_threads *all = thread->all;
    pthread_mutex_lock(&all->lock);
    do {
        void (*work)(void *) = thread->work;
        void *argument = thread->context;
        pthread_mutex_unlock(&all->lock);
        work(argument);
        pthread_mutex_lock(&all->lock);
        thread->work = NULL;
    } while (await_work(thread));
    all->count--;
    pthread_cond_broadcast(&all->ended);
    pthread_mutex_unlock(&all->lock);
    pthread_cond_destroy(&thread->given);
    free(thread);
    return NULL;
}

/* The thread's first work is set before the thread begins. Call it with the lock. */
static bool start(struct cbx_threads *threads, void (*work)(void *context), void *context)
{
    struct thread *thread = cbx_new(sizeof(*thread));
    *thread = (struct thread){ .all = threads, .work = work, .context = context };
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&thread->given, &clock);
    pthread_condattr_destroy(&clock);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_t id;
    bool started = pthread_create(&id, &attributes, serve, thread) == 0;
    pthread_attr_destroy(&attributes);
    if (!started) {
        pthread_cond_destroy(&thread->given);
        free(thread);
    }
    threads->count += started;
    return started;
}

/* Call it with the lock. */
static bool run(struct cbx_threads *threads, void (*work)(void *context), void *context)
{
    struct thread *idle = threads->idle;
    bool taken = idle != NULL;
    if (taken) {
        threads->idle = idle->next;
        idle->work = work;
        idle->context = context;
        pthread_cond_signal(&idle->given);
    } else if (threads->count < threads->most) {
        taken = start(threads, work, context);
    }
    return taken;
}

bool cbx_threads_run(struct cbx_threads *threads, void (*work)(void *context), void *context)
{
    pthread_mutex_lock(&threads->lock);
    bool taken = run(threads, work, context);
    pthread_mutex_unlock(&threads->lock);
    return taken;
}

void cbx_threads_queue(struct cbx_threads *threads, struct cbx_work *work)
{
    pthread_mutex_lock(&threads->lock);
    if (!run(threads, work->run, work->context)) {
        cbx_queue_push(&threads->queue, &work->link);
    }
    pthread_mutex_unlock(&threads->lock);
}

void cbx_threads_free(struct cbx_threads *threads)
{
    if (threads == NULL) {
        return;
    }
    pthread_mutex_lock(&threads->lock);
    threads->ending = true;
    for (struct thread *t = threads->idle; t != NULL; t = t->next) {
        pthread_cond_signal(&t->given);
    }
    while (threads->count > 0) {
        pthread_cond_wait(&threads->ended, &threads->lock);
    }
    pthread_mutex_unlock(&threads->lock);
    pthread_cond_destroy(&threads->ended);
    pthread_mutex_destroy(&threads->lock);
    free(threads);
}
