/* SPDX-License-Identifier: MIT
 * Threads take the next path and store the result in a ring of the size of the window; the caller
 * removes results in order. */
#include "analyzer/lint/run.h"

#include <pthread.h>
#include <sched.h>

enum { WINDOW_PER_JOB = 32 };

struct run {
    const struct cbx_lint *lint;
    const struct cbx_lint_paths *paths;
    pthread_mutex_t lock;
    pthread_cond_t ready_now, room; /* the result that the caller waits for; a place in the ring */
    size_t next, taken;             /* paths that threads took, results that the caller took */
    size_t waiting;                 /* threads that wait for room */
    size_t window;
    struct cbx_lint_result *ring;
    bool *ready;
};

unsigned cbx_lint_cpus(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : count > CBX_LINT_JOBS_MAX ? CBX_LINT_JOBS_MAX : (unsigned)count;
}

/* The next path; false when there is none. */
static bool take_next(struct run *run, size_t *index)
{
    pthread_mutex_lock(&run->lock);
    while (run->next < run->paths->count && run->next >= run->taken + run->window) {
        run->waiting++;
        pthread_cond_wait(&run->room, &run->lock);
        run->waiting--;
    }
    bool more = run->next < run->paths->count;
    *index = run->next;
    run->next += more;
    pthread_mutex_unlock(&run->lock);
    return more;
}

static void *work(void *context)
{
    struct run *run = context;
    CBX_AUTO_DONE(lint_worker) worker;
    cbx_lint_worker_init(&worker);
    size_t index;
    while (take_next(run, &index)) {
        struct cbx_lint_result result;
        cbx_lint_file(run->lint, &worker, &run->paths->items[index], &result);
        pthread_mutex_lock(&run->lock);
        run->ring[index % run->window] = result;
        run->ready[index % run->window] = true;
        if (index == run->taken) {
            pthread_cond_signal(&run->ready_now);
        }
        pthread_mutex_unlock(&run->lock);
    }
    return NULL;
}

static void take_results(struct run *run, const struct cbx_lint_sink *sink)
{
    for (size_t i = 0; i < run->paths->count; i++) {
        pthread_mutex_lock(&run->lock);
        while (!run->ready[i % run->window]) {
            pthread_cond_wait(&run->ready_now, &run->lock);
        }
        struct cbx_lint_result result = run->ring[i % run->window];
        run->ready[i % run->window] = false;
        run->taken = i + 1;
        if (run->waiting > 0) {
            pthread_cond_broadcast(&run->room);
        }
        pthread_mutex_unlock(&run->lock);
        sink->take(sink->context, &result, i + 1, run->paths->count);
        cbx_lint_result_done(&result);
    }
}

static void run_here(const struct cbx_lint *lint, const struct cbx_lint_paths *paths,
                     const struct cbx_lint_sink *sink)
{
    CBX_AUTO_DONE(lint_worker) worker;
    cbx_lint_worker_init(&worker);
    for (size_t i = 0; i < paths->count; i++) {
        struct cbx_lint_result result;
        cbx_lint_file(lint, &worker, &paths->items[i], &result);
        sink->take(sink->context, &result, i + 1, paths->count);
        cbx_lint_result_done(&result);
    }
}

/* Runs with as many threads as could be created. The analysis does not recurse over trees, so the
 * default stack is enough. */
static size_t start_threads(struct run *run, unsigned jobs, pthread_t *threads)
{
    size_t started = 0;
    while (started < jobs && pthread_create(&threads[started], NULL, work, run) == 0) {
        started++;
    }
    return started;
}

void cbx_lint_run(const struct cbx_lint *lint, const struct cbx_lint_paths *paths, unsigned jobs,
                  const struct cbx_lint_sink *sink)
{
    pthread_t threads[CBX_LINT_JOBS_MAX];
    jobs = jobs > CBX_LINT_JOBS_MAX ? CBX_LINT_JOBS_MAX : jobs;
    jobs = jobs > paths->count ? (unsigned)paths->count : jobs;
    struct run run = { .lint = lint, .paths = paths, .window = (size_t)jobs * WINDOW_PER_JOB };
    run.ring = calloc(run.window + 1, sizeof(*run.ring));
    run.ready = calloc(run.window + 1, sizeof(*run.ready));
    if (run.ring == NULL || run.ready == NULL) {
        abort();
    }
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.ready_now, NULL);
    pthread_cond_init(&run.room, NULL);
    size_t started = jobs > 1 ? start_threads(&run, jobs, threads) : 0;
    if (started > 0) {
        take_results(&run, sink);
    } else {
        run_here(lint, paths, sink);
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_cond_destroy(&run.ready_now);
    pthread_cond_destroy(&run.room);
    pthread_mutex_destroy(&run.lock);
    free(run.ring);
    free(run.ready);
}
