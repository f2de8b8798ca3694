/* SPDX-License-Identifier: MIT
 * The processes that check files. Results are collected and sent together: on one CPU a change of
 * the process costs as much as a tenth of a judgement. */
#include "analyzer/lint/child.h"

#include "analyzer/lint/watch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { SEND_BYTES = 256 * 1024 };

/* The head of a result that is sent; the texts follow. */
struct reply {
    size_t index, findings, suppressed;
    size_t output_bytes, failure_bytes, entries_bytes, skipped_bytes; /* 0: none */
    int status;
};

/* --- the process ------------------------------------------------------------------------------ */

static bool write_all(int fd, const char *p, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        p += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static size_t bytes_of(const char *text)
{
    return text != NULL ? strlen(text) : 0;
}

static void add_result(size_t index, const struct cbx_lint_result *r, struct cbx_buf *out)
{
    char *failure = r->failure != NULL ? json_dumps(r->failure, JSON_COMPACT) : NULL;
    char *entries = r->entries != NULL ? json_dumps(r->entries, JSON_COMPACT) : NULL;
    char *skipped = r->skipped != NULL ? json_dumps(r->skipped, JSON_COMPACT) : NULL;
    struct reply reply = { .index = index,
                           .findings = r->findings,
                           .suppressed = r->suppressed,
                           .output_bytes = r->output.len,
                           .failure_bytes = bytes_of(failure),
                           .entries_bytes = bytes_of(entries),
                           .skipped_bytes = bytes_of(skipped),
                           .status = r->status };
    cbx_buf_add_bytes(out, &reply, sizeof(reply));
    cbx_buf_add(out, cbx_buf_str(&r->output));
    cbx_buf_add_cstr(out, failure != NULL ? failure : "");
    cbx_buf_add_cstr(out, entries != NULL ? entries : "");
    cbx_buf_add_cstr(out, skipped != NULL ? skipped : "");
    free(failure);
    free(entries);
    free(skipped);
}

static bool check_range(const struct cbx_lint_run *run, struct cbx_lint_worker *worker,
                        struct cbx_lint_range range, atomic_size_t *current, int fd,
                        struct cbx_buf *out)
{
    for (size_t i = range.from; i < range.to; i++) {
        struct cbx_lint_result result;
        atomic_store(current, i);
        run->check(run->lint, worker, &run->paths->items[i], &result);
        add_result(i, &result, out);
        cbx_lint_result_done(&result);
        if (i + 1 == range.to || range.careful || out->len > SEND_BYTES) {
            if (out->overflow || !write_all(fd, out->p, out->len)) {
                return false;
            }
            cbx_buf_reset(out);
        }
    }
    return true;
}

static _Noreturn void serve(const struct cbx_lint_run *run, atomic_size_t *current, int fd)
{
    struct cbx_lint_worker worker;
    struct cbx_buf out;
    struct cbx_lint_range range;
    /* signal handlers of the program that includes this code must not run here */
    cbx_lint_watch_done();
    cbx_lint_worker_init(&worker);
    worker.limit_ms = run->limit_ms;
    cbx_buf_init(&out, (size_t)4 * CBX_LINT_OUTPUT_MAX_BYTES);
    while (recv(fd, &range, sizeof(range), MSG_WAITALL) == sizeof(range) &&
           check_range(run, &worker, range, current, fd, &out)) {
    }
    _exit(0);
}

/* --- its parent ------------------------------------------------------------------------------- */

bool cbx_lint_child_start(struct cbx_lint_child *child, const struct cbx_lint_run *run,
                          atomic_size_t *current, const struct cbx_lint_child *others,
                          size_t other_count)
{
    int pair[2];
    child->pid = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        return false;
    }
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        for (size_t i = 0; i < other_count; i++) {
            if (&others[i] != child && others[i].pid != 0) {
                close(others[i].fd); /* otherwise it stays open when the parent ends */
            }
        }
        serve(run, current, pair[1]);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return false;
    }
    child->pid = pid;
    child->fd = pair[0];
    cbx_buf_init(&child->in, (size_t)4 * CBX_LINT_OUTPUT_MAX_BYTES);
    return true;
}

bool cbx_lint_child_send(struct cbx_lint_child *child)
{
    return write_all(child->fd, (const char *)&child->range, sizeof(child->range));
}

bool cbx_lint_child_read(struct cbx_lint_child *child)
{
    char *to = cbx_buf_reserve(&child->in, SEND_BYTES);
    ssize_t n = -1;
    do {
        n = to != NULL ? recv(child->fd, to, SEND_BYTES, 0) : -1;
    } while (n < 0 && to != NULL && errno == EINTR);
    child->in.len += n > 0 ? (size_t)n : 0;
    return n > 0;
}

static json_t *read_json(struct cbx_str text)
{
    return text.len > 0 ? json_loadb(text.p, text.len, 0, NULL) : NULL;
}

int cbx_lint_child_take(struct cbx_lint_child *child, struct cbx_lint_result *out)
{
    struct reply reply;
    struct cbx_str in = cbx_buf_str(&child->in);
    if (in.len < sizeof(reply)) {
        return 0;
    }
    memcpy(&reply, in.p, sizeof(reply));
    size_t most = child->in.max_bytes;
    if (reply.index != child->range.from || reply.index >= child->range.to || reply.status < 0 ||
        reply.status > 2 || reply.output_bytes > most || reply.failure_bytes > most ||
        reply.entries_bytes > most || reply.skipped_bytes > most) {
        return -1;
    }
    size_t output = sizeof(reply), failure = output + reply.output_bytes,
           entries = failure + reply.failure_bytes, skipped = entries + reply.entries_bytes,
           end = skipped + reply.skipped_bytes;
    if (in.len < end) {
        return 0;
    }
    *out = (struct cbx_lint_result){ .status = reply.status,
                                     .findings = reply.findings,
                                     .suppressed = reply.suppressed,
                                     .failure = read_json(cbx_str_sub(in, failure, entries)),
                                     .entries = read_json(cbx_str_sub(in, entries, skipped)),
                                     .skipped = read_json(cbx_str_sub(in, skipped, end)) };
    cbx_buf_init(&out->output, CBX_LINT_OUTPUT_MAX_BYTES);
    cbx_buf_add(&out->output, cbx_str_sub(in, output, failure));
    cbx_buf_consume(&child->in, end);
    child->range.from++;
    return 1;
}

void cbx_lint_child_end(struct cbx_lint_child *child, char *why, size_t size)
{
    int status = 0;
    pid_t ended;
    close(child->fd);
    cbx_buf_done(&child->in);
    do {
        ended = waitpid(child->pid, &status, 0);
    } while (ended < 0 && errno == EINTR);
    child->pid = 0;
    if (ended > 0 && WIFSIGNALED(status)) {
        cbx_lint_watch_name(WTERMSIG(status), why, size);
    } else {
        snprintf(why, size, "the analyzer ended with status %d", WEXITSTATUS(status));
    }
}
