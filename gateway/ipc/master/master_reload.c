/* SPDX-License-Identifier: MIT
 * Reloads: a child of the master loads the configuration, the master sends it to the processes. */
#include "gateway/ipc/master/master_internal.h"

#include "policies/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in the child that loads. The timer ends it: a policy may be a pipe without a writer. */
_Noreturn static void load_set(struct cbx_master *m, int to)
{
    enum { LOAD_S = 60 };
    struct itimerval limit = { .it_value = { .tv_sec = LOAD_S } };
    struct cbx_buf set;
    cbx_log_set_component("loader");
    setitimer(ITIMER_REAL, &limit, NULL);
    cbx_buf_init(&set, CBX_RELOAD_BYTES_MAX);
    cbx_master_adopt_set(m, ~0U); /* for the comparison */
    int status = m->config.reload.load(m->config.reload.context, &set);
    for (size_t at = 0; status == 0 && at < set.len;) {
        ssize_t n = write(to, set.p + at, set.len - at);
        status = n < 0 && errno != EINTR ? -1 : 0;
        at += n > 0 ? (size_t)n : 0;
    }
    _exit(status < 0 ? 2 : status);
}

/* The set has secrets of single processes, and processes are forked later: neither a buffer that
 * grows, nor the chunk, may leave copies behind. Memory that is reserved and not used costs nothing.
 *
 * Forks the child that loads, and reads its set. Returns the exit status of the child; negative
 * if the child was killed. */
static int fetch_set(struct cbx_master *m, struct cbx_buf *out)
{
    enum { CHUNK_BYTES = 64 * 1024 };
    int ends[2], status = -1;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        load_set(m, ends[1]);
    }
    close(ends[1]);
    cbx_buf_reserve(out, CBX_RELOAD_BYTES_MAX - 1);
    static char chunk[CHUNK_BYTES];
    for (ssize_t n = 1; pid > 0 && n != 0;) {
        n = read(ends[0], chunk, sizeof(chunk));
        n = n < 0 && errno != EINTR ? 0 : n;
        cbx_buf_add_bytes(out, chunk, n > 0 ? (size_t)n : 0);
    }
    explicit_bzero(chunk, sizeof(chunk));
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && WIFEXITED(status) && !out->overflow ? WEXITSTATUS(status) : -1;
}

static void send_set(const struct cbx_master *m, int fd, pid_t pid, enum cbx_reload_process process,
                     const char *name)
{
    enum { SEND_MS = 10000 };
    struct cbx_err err = { 0 };
    uint64_t first = CBX_SEAL_FIRST_NUMBER(m->zygotes + 1);
    if (cbx_reload_send(fd, process, first, cbx_buf_str(&m->set), SEND_MS, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "reload: the %s: %s; it is started again with what was loaded", name,
                err.text);
        cbx_master_signal(pid, SIGKILL);
    }
}

/* The executor first: it accepts decisions of the next zygote's workers by the new set, and
 * decisions of earlier workers by their own set. So the executor knows the set of every
 * decision, and refuses no decision made before the reload. */
static void distribute_set(struct cbx_master *m)
{
    send_set(m, m->executor_reload[0], m->executor_pid, CBX_RELOAD_EXECUTOR, "executor");
    cbx_master_signal(m->zygote_pid, SIGKILL);
    cbx_master_await(m->zygote_pid);
    m->zygote_pid = cbx_master_fork_zygote(m);
    /* Before the front, which requests new keys at once. */
    cbx_master_signal(m->keys_pid, SIGKILL);
    cbx_master_await(m->keys_pid);
    cbx_master_fork_keys(m);
    for (int i = 0; i < CBX_HELPERS; i++) {
        if (m->helpers[i].renewed) {
            cbx_master_signal(m->helpers[i].pid, SIGTERM); /* it ends with its last link */
            cbx_master_fork_helper(m, (enum cbx_helper)i);
        }
    }
    send_set(m, m->front_reload[0], m->front_pid, CBX_RELOAD_FRONT, "front");
}

/* Returns the bytes of the first part for a process; empty = none. */
static struct cbx_str part_of(const struct cbx_buf *set, unsigned process)
{
    struct cbx_str rest = cbx_buf_str(set), found = CBX_STR("");
    struct cbx_reload_part part;
    while (found.len == 0 && cbx_reload_next(&rest, &part)) {
        if ((part.processes & process) != 0) {
            found = part.bytes;
        }
    }
    return found;
}

void cbx_master_reload(struct cbx_master *m)
{
    cbx_notify_reloading(&m->notify);
    struct cbx_buf set;
    cbx_buf_init(&set, CBX_RELOAD_BYTES_MAX);
    int status = fetch_set(m, &set);
    if (status == 0) {
        for (size_t i = 0; i < CBX_HELPERS; i++) {
            m->helpers[i].renewed =
                !cbx_str_equal(part_of(&m->set, cbx_master_helper_part((enum cbx_helper)i)),
                               part_of(&set, cbx_master_helper_part((enum cbx_helper)i)));
        }
        explicit_bzero(m->set.p, m->set.len);
        cbx_buf_done(&m->set);
        m->set = set;
        m->reloaded = true;
        distribute_set(m);
        cbx_log(CBX_LOG_INFO, "reload: done");
        return;
    }
    explicit_bzero(set.p, set.len);
    cbx_buf_done(&set);
    if (status == 1) {
        cbx_log(CBX_LOG_INFO, "reload: nothing changed");
    } else {
        cbx_log(CBX_LOG_ERROR, "reload: failed; what was in use stays in use");
    }
}
