/* SPDX-License-Identifier: MIT
 * Hands ranges of paths to processes and stores their results in a ring of the size of the window,
 * from which they are reported in order. A process that ends is replaced; the file that it was
 * checking has failed, and the files of its range without a result are checked again. */
#include "analyzer/lint/lint_run.h"

#include "analyzer/lint/child.h"
#include "analyzer/lint/watch.h"
#include "policies/base/memory.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

enum { WINDOW_PER_JOB = 64, BATCH_MAX = 16, WHY_BYTES = 160 };

struct state {
    const struct cbx_lint_run *run;
    const struct cbx_lint_sink *sink;
    struct cbx_lint_child children[CBX_LINT_JOBS_MAX];
    atomic_size_t *current; /* the current path of each child, in memory shared with it */
    size_t jobs, batch;
    /* number of paths that were handed out, and of results that were reported */
    size_t next, taken;
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

/* --- results ---------------------------------------------------------------------------------- */

static void store(struct state *s, size_t index, const struct cbx_lint_result *result)
{
    s->ring[index % s->window] = *result;
    s->ready[index % s->window] = true;
}

static void report_results(struct state *s)
{
    while (s->taken < s->next && s->ready[s->taken % s->window]) {
        struct cbx_lint_result *result = &s->ring[s->taken % s->window];
        s->ready[s->taken % s->window] = false;
        s->taken++;
        s->sink->take(s->sink->context, result, s->taken, s->run->paths->count);
        cbx_lint_result_done(result);
    }
}

static void store_failure(struct state *s, size_t index, const char *why)
{
    struct cbx_lint_result result;
    cbx_lint_file_failed(s->run->lint, &s->run->paths->items[index], why, &result);
    store(s, index, &result);
}

/* --- processes -------------------------------------------------------------------------------- */

/* Returns the next range for a child; false if there is none now. */
static bool find_work(struct state *s, struct cbx_lint_child *child)
{
    if (child->range.to < child->rest) { /* the range after a file that failed */
        child->range = (struct cbx_lint_range){ .from = child->range.to + 1, .to = child->rest };
        child->rest = 0;
        if (child->range.from < child->range.to) {
            return true;
        }
    }
    size_t room = s->taken + s->window - s->next, left = s->run->paths->count - s->next;
    size_t count = left < s->batch ? left : s->batch;
    count = count < room ? count : room;
    child->range = (struct cbx_lint_range){ .from = s->next, .to = s->next + count };
    child->rest = 0;
    s->next += count;
    return count > 0;
}

static bool is_busy(const struct cbx_lint_child *child)
{
    return child->pid != 0 && child->range.from < child->range.to;
}

static bool start(struct state *s, struct cbx_lint_child *child)
{
    return cbx_lint_child_start(child, s->run, &s->current[child - s->children], s->children,
                                s->jobs);
}

static const char no_process[] = "not judged: no process could be started";

/* No process can be started: the rest of the child's paths is not judged. */
static void give_up(struct state *s, struct cbx_lint_child *child)
{
    size_t end = child->range.to < child->rest ? child->rest : child->range.to;
    for (size_t i = child->range.from; i < end; i++) {
        if (i != child->range.to) { /* the failed file has a result */
            store_failure(s, i, no_process);
        }
    }
    child->range.from = child->range.to;
    child->rest = 0;
}

/* Handles the end of a process during the check of a file. The results of the files before it in
 * the range are lost: they are judged again, one by one. */
static void replace(struct state *s, struct cbx_lint_child *child)
{
    char why[WHY_BYTES];
    size_t failed = atomic_load(&s->current[child - s->children]);
    struct cbx_lint_range range = child->range;
    cbx_lint_child_end(child, why, sizeof(why));
    if (range.careful || failed < range.from || failed >= range.to) {
        failed = range.from;
    }
    store_failure(s, failed, why);
    if (range.careful) {
        child->range.from++;
    } else {
        child->rest = range.to;
        child->range = (struct cbx_lint_range){ .from = range.from, .to = failed, .careful = true };
    }
    if (!start(s, child)) {
        give_up(s, child);
    }
}

static void give_work(struct state *s, struct cbx_lint_child *child)
{
    while (child->pid != 0 && (is_busy(child) || find_work(s, child))) {
        if (cbx_lint_child_send(child)) {
            return;
        }
        replace(s, child);
    }
}

static void take_results(struct state *s, struct cbx_lint_child *child)
{
    struct cbx_lint_result result;
    int taken = 0;
    bool alive = cbx_lint_child_read(child);
    while ((taken = cbx_lint_child_take(child, &result)) > 0) {
        store(s, child->range.from - 1, &result);
    }
    if (!alive || taken < 0) {
        if (alive) {
            kill(child->pid, SIGKILL);
        }
        replace(s, child);
        give_work(s, child);
    } else if (!is_busy(child)) {
        report_results(s);
        give_work(s, child);
    }
}

/* Gives work to idle processes; returns the number of processes with work. */
static size_t find_busy(struct state *s, struct pollfd *fds, struct cbx_lint_child **children)
{
    size_t busy = 0;
    for (size_t i = 0; i < s->jobs; i++) {
        struct cbx_lint_child *child = &s->children[i];
        if (!is_busy(child)) {
            give_work(s, child);
        }
        if (is_busy(child)) {
            fds[busy] = (struct pollfd){ .fd = child->fd, .events = POLLIN };
            children[busy++] = child;
        }
    }
    return busy;
}

static void run_children(struct state *s)
{
    struct pollfd fds[CBX_LINT_JOBS_MAX];
    struct cbx_lint_child *children[CBX_LINT_JOBS_MAX];
    while (s->taken < s->run->paths->count) {
        size_t busy = find_busy(s, fds, children);
        bool waited = busy > 0 && poll(fds, busy, -1) > 0;
        for (size_t i = 0; waited && i < busy; i++) {
            if (fds[i].revents != 0) {
                take_results(s, children[i]);
            }
        }
        report_results(s);
        if (busy == 0 && s->next < s->run->paths->count) {
            store_failure(s, s->next++, no_process);
        }
    }
}

/* --- the run ---------------------------------------------------------------------------------- */

static void run_here(const struct cbx_lint_run *run, const struct cbx_lint_sink *sink)
{
    CBX_AUTO_DONE(lint_worker) worker;
    cbx_lint_worker_init(&worker);
    worker.limit_ms = run->limit_ms;
    for (size_t i = 0; i < run->paths->count; i++) {
        struct cbx_lint_result result;
        cbx_lint_watch_here(run->paths->items[i].path);
        run->check(run->lint, &worker, &run->paths->items[i], &result);
        cbx_lint_watch_done();
        sink->take(sink->context, &result, i + 1, run->paths->count);
        cbx_lint_result_done(&result);
    }
}

/* Starts as many processes as are allowed. */
static bool start_children(struct state *s, size_t jobs)
{
    void *shared = mmap(NULL, jobs * sizeof(*s->current), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return false;
    }
    s->current = shared;
    while (s->jobs < jobs && start(s, &s->children[s->jobs])) {
        s->jobs++;
    }
    return s->jobs > 0;
}

static void end_children(struct state *s, size_t jobs)
{
    char why[WHY_BYTES];
    for (size_t i = 0; i < s->jobs; i++) {
        if (s->children[i].pid != 0) {
            cbx_lint_child_end(&s->children[i], why, sizeof(why));
        }
    }
    if (s->current != NULL) {
        munmap(s->current, jobs * sizeof(*s->current));
    }
}

/* Returns true if the format writes nothing after the only file. */
static bool is_single(const struct cbx_lint_run *run)
{
    return run->paths->count == 1 &&
           (run->lint->stage != CBX_STAGE_REPORT || run->lint->format->end == NULL);
}

void cbx_lint_run(const struct cbx_lint_run *run, const struct cbx_lint_sink *sink)
{
    size_t jobs = run->jobs > CBX_LINT_JOBS_MAX ? CBX_LINT_JOBS_MAX : run->jobs;
    jobs = jobs > run->paths->count ? run->paths->count : jobs;
    if (jobs == 0) {
        return;
    }
    size_t share = run->paths->count / (jobs * 4) + 1;
    struct state s = { .run = run,
                       .sink = sink,
                       .batch = share < BATCH_MAX ? share : BATCH_MAX,
                       .window = jobs * WINDOW_PER_JOB };
    if (is_single(run) || !start_children(&s, jobs)) {
        run_here(run, sink);
        end_children(&s, jobs);
        return;
    }
    s.ring = cbx_new_array(s.window, sizeof(*s.ring));
    s.ready = cbx_new_array(s.window, sizeof(*s.ready));
    run_children(&s);
    end_children(&s, jobs);
    free(s.ring);
    free(s.ready);
}
