/* SPDX-License-Identifier: MIT
 * The process that forks the others. Single-threaded, has no parser and no open file. */
#include "gateway/ipc/master/master_internal.h"

#include "gateway/ipc/jail/jail.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "gateway/ipc/wire/key_fetch.h"
#include "policies/base/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Returns the front's exit status. A front without a handler is killed by the master's SIGTERM,
 * whatever signal the master received; the status has the master's signal: 130 for ^C. */
static int exit_status(const struct cbx_master *m, int status)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    number = number == SIGTERM && m->stop_signal != 0 ? m->stop_signal : number;
    return number != 0 ? 128 + number : WEXITSTATUS(status);
}

/* Waits until the executor shuts its control socket down, or ends. The remaining work of the
 * executor, such as removing sandboxes that no later executor may adopt, needs no master. As the
 * first process of a container, the master waits for the executor's end: Linux kills all
 * processes of the container when its first process ends. */
static void await_executor(const struct cbx_master *m)
{
    struct pollfd control = { .fd = m->executor[0] };
    while (m->executor_pid > 0 && poll(&control, 1, -1) < 0 && errno == EINTR) {
    }
    if (getpid() == 1) {
        cbx_master_await(m->executor_pid);
    }
}

_Noreturn static void end(struct cbx_master *m, int status)
{
    cbx_master_signal(m->zygote_pid, SIGKILL);
    cbx_master_signal(m->reader_pid, SIGKILL);
    cbx_master_signal(m->sender_pid, SIGKILL);
    cbx_master_signal(m->keys_pid, SIGKILL);
    for (size_t i = 0; i < CBX_HELPERS; i++) {
        cbx_master_signal(m->helpers[i].pid, SIGKILL);
    }
    cbx_master_signal(m->executor_pid, SIGTERM);
    cbx_master_close_pair(m->executor, 0);
    cbx_master_close_pair(m->zygote, -1);
    await_executor(m);
    _exit(exit_status(m, status));
}

/* Returns true in a front that replaces a killed one. */
static bool reap(struct cbx_master *m)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == m->front_pid) {
            if (WIFEXITED(status) || m->stop_signal != 0 || !m->config.respawn_front) {
                end(m, status);
            }
            cbx_log(CBX_LOG_WARNING, "the front was killed; it is started again");
            cbx_master_pause_if_quick(m);
            if (cbx_master_fork_front(m)) {
                return true;
            }
        } else if (pid == m->zygote_pid) {
            cbx_master_pause_if_quick(m);
            m->zygote_pid = cbx_master_fork_zygote(m);
        } else if (pid == m->executor_pid) {
            cbx_log(CBX_LOG_WARNING, "the executor was killed; it is started again");
            cbx_master_pause_if_quick(m);
            cbx_master_replace_executor(m);
        } else if (pid == m->reader_pid || pid == m->sender_pid) {
            cbx_log(CBX_LOG_WARNING,
                    "a process that forwards the audit log ended; it is started again");
            cbx_master_pause_if_quick(m);
            cbx_master_replace_forwarders(m, pid);
        } else if (pid == m->keys_pid) {
            cbx_log(CBX_LOG_WARNING,
                    "the process that fetches keys of issuers ended; it is started again");
            cbx_master_pause_if_quick(m);
            cbx_master_fork_keys(m);
        } else if (m->stop_signal == 0) {
            cbx_master_replace_helper(m, pid);
        }
    }
    return false;
}

/* Waits for a signal, at most until the service manager expects a watchdog message; returns 0
 * then. */
static int next_signal(const struct cbx_master *m, const sigset_t *signals)
{
    enum { START_MS = 50 };
    int64_t ms = m->notify.fd < 0 ? 0 : !m->is_ready ? START_MS : m->notify.watchdog_ms;
    struct timespec time = cbx_timespec_of(ms);
    int number = ms > 0 ? sigtimedwait(signals, NULL, &time) : sigwaitinfo(signals, NULL);
    return number > 0 ? number : 0;
}

static void tell_manager(struct cbx_master *m)
{
    if (m->notify.fd < 0) {
        return;
    }
    if (!m->is_ready && cbx_reload_is_ready(m->front_reload[0])) {
        m->is_ready = true;
        cbx_notify_send(&m->notify, "READY=1");
    }
    cbx_notify_send(&m->notify, "WATCHDOG=1");
}

/* The master's loop; returns in a new front only. */
static void supervise(struct cbx_master *m, const sigset_t *signals)
{
    for (;;) {
        int number = next_signal(m, signals);
        tell_manager(m);
        if (number == SIGHUP && m->config.reload.load != NULL && m->stop_signal == 0) {
            cbx_master_reload(m);
            cbx_notify_send(&m->notify, "READY=1");
        } else if (number == SIGINT && m->config.front_role == CBX_ROLE_CALLER) {
            /* the front interrupts its program and ends by itself */
            cbx_master_signal(m->front_pid, SIGINT);
        } else if (number == SIGTERM || number == SIGINT || number == SIGHUP) {
            cbx_notify_send(&m->notify, "STOPPING=1");
            m->stop_signal = m->stop_signal != 0 ? m->stop_signal : number;
            cbx_master_signal(m->front_pid, SIGTERM);
        } else if (number == SIGCHLD && reap(m)) {
            return;
        }
    }
}

static int make_secrets(struct cbx_master *m, struct cbx_err *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || madvise(p, page, MADV_WIPEONFORK) < 0) {
        return cbx_fail(err, CBX_EIO, "memory for the keys: %s", strerror(errno));
    }
    madvise(p, page, MADV_DONTDUMP);
    mlock(p, page);
    m->secrets = p;
    cbx_random(&m->secrets->zygote.decisions, sizeof(m->secrets->zygote.decisions));
    cbx_random(&m->secrets->zygote.pasts, sizeof(m->secrets->zygote.pasts));
    cbx_random(m->secrets->executor.seed, sizeof(m->secrets->executor.seed));
    m->secrets->executor.decisions = m->secrets->zygote.decisions;
    return 0;
}

/* Creates the sockets between the processes. */
static int make_channels(struct cbx_master *m, struct cbx_err *err)
{
    int failed = cbx_wire_pair(m->zygote, err);
    if (failed) {
        return failed;
    }
    failed = cbx_wire_pair(m->executor, err);
    if (failed) {
        return failed;
    }
    if (m->config.keys != NULL &&
        (cbx_key_channel(m->keys, err) != 0 || cbx_key_channel(m->executor_keys, err) != 0)) {
        return CBX_EIO;
    }
    for (size_t i = 0; i < CBX_HELPERS; i++) {
        if (m->config.helpers[i].run != NULL && cbx_wire_pair(m->helpers[i].channel, err) != 0) {
            return CBX_EIO;
        }
    }
    return 0;
}

static int confine(struct cbx_err *err)
{
    int failed = cbx_privileges_drop(CBX_ROLE_MASTER, NULL, err);
    if (failed) {
        return failed;
    }
    cbx_jail_common();
    return cbx_jail_master(err);
}

/* Forks the processes that a gateway can begin without. */
static void fork_others(struct cbx_master *m)
{
    m->forked_ms = cbx_clock_ms() - CBX_MASTER_QUICK_MS;
    cbx_master_fork_forwarders(m);
    cbx_master_fork_keys(m);
    for (int i = 0; i < CBX_HELPERS; i++) {
        cbx_master_fork_helper(m, (enum cbx_helper)i);
    }
}

int cbx_master_fork(const struct cbx_master_config *config, struct cbx_master_sockets *out,
                    struct cbx_err *err)
{
    static struct cbx_master m; /* the master's own; the copy in a front has no secrets */
    m = (struct cbx_master){ .config = *config,
                             .front_reload = { -1, -1 },
                             .executor_reload = { -1, -1 },
                             .keys = { -1, -1 },
                             .executor_keys = { -1, -1 },
                             .helpers = { { .channel = { -1, -1 } }, { .channel = { -1, -1 } } },
                             .notify = { .fd = -1 } };
    if (config->respawn_front) {
        cbx_notify_init(&m.notify);
    }
    cbx_buf_init(&m.set, CBX_RELOAD_BYTES_MAX);
    if (config->reload.first != NULL) {
        m.set = *config->reload.first;
        cbx_buf_init(config->reload.first, CBX_RELOAD_BYTES_MAX);
    }
    int failed = make_secrets(&m, err);
    if (failed) {
        return failed;
    }
    failed = make_channels(&m, err);
    if (failed) {
        return failed;
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    failed = confine(err);
    if (failed) {
        return failed;
    }
    m.zygote_pid = cbx_master_fork_zygote(&m);
    m.executor_pid = cbx_master_fork_executor(&m);
    bool front = m.zygote_pid > 0 && m.executor_pid > 0 && cbx_master_fork_front(&m);
    if (m.zygote_pid < 0 || m.executor_pid < 0 || m.front_pid < 0) {
        sigprocmask(SIG_UNBLOCK, &signals, NULL);
        return cbx_fail(err, CBX_EIO, "a process could not be started: %s", strerror(errno));
    }
    if (!front) {
        cbx_log_set_component("master");
        fork_others(&m);
        supervise(&m, &signals);
    }
    *out = (struct cbx_master_sockets){ .zygote = m.zygote[0],
                                        .executor = m.executor[0],
                                        .reload = m.front_reload[1],
                                        .keys = m.keys[0],
                                        .helpers = { m.helpers[0].channel[0],
                                                     m.helpers[1].channel[0] } };
    return 0;
}
