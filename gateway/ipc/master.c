/* SPDX-License-Identifier: MIT
 * The process that forks the others. Single-threaded, holds no parser and no file. */
#include "gateway/ipc/master.h"

#include "gateway/ipc/jail.h"
#include "gateway/ipc/wire.h"
#include "policies/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { QUICK_MS = 1000, PAUSE_MS = 500 };

struct master {
    struct cbx_master_config config;
    /* On a page that is empty in every child; zygote and executor get theirs through a pipe. */
    struct secrets {
        struct cbx_zygote_secrets zygote;
        struct cbx_executor_secrets executor;
    } * secrets;
    uint64_t zygotes;           /* forked so far */
    int zygote[2], executor[2]; /* 0 = the front's end, 1 = theirs */
    pid_t front_pid, zygote_pid, executor_pid;
    pid_t reader_pid, sender_pid; /* 0 = none */
    int64_t forked_ms;
    int stop_signal; /* the one that the master was told to end by; 0 = none */
};

static void close_pair(const int pair[2], int kept)
{
    for (int i = 0; i < 2; i++) {
        if (i != kept) {
            close(pair[i]);
        }
    }
}

/* What a child does first. */
static void drop_privileges(enum cbx_role role, const char *root)
{
    struct cbx_err err = { 0 };
    if (cbx_privileges_drop(role, root, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "%s", cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
        _exit(1);
    }
    cbx_jail_common(); /* after the change of the user id, which sets these anew */
}

/* A child ends when the master does, however that ends. */
static void follow_master(pid_t master, int signal)
{
    prctl(PR_SET_PDEATHSIG, signal);
    if (getppid() != master) {
        _exit(1);
    }
}

/* In stdio mode descriptors 0 and 1 belong to the client: the output of a child would be read as a
 * message. */
static void leave_terminal(void)
{
    if (freopen("/dev/null", "r", stdin) == NULL || freopen("/dev/null", "w", stdout) == NULL) {
        _exit(1);
    }
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigaction(SIGINT, &ignore, NULL); /* ^C goes to the whole process group; the front handles it */
    sigaction(SIGPIPE, &ignore, NULL);
}

static void unblock_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A pipe with these secrets in it: -1 and errno. */
static int pass_secrets(const void *secrets, size_t bytes)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return -1;
    }
    bool written = write(ends[1], secrets, bytes) == (ssize_t)bytes;
    close(ends[1]);
    if (!written) {
        close(ends[0]);
        return -1;
    }
    return ends[0];
}

static void close_front_fd(const struct master *m)
{
    if (m->config.front_fd > 0) {
        close(m->config.front_fd);
    }
}

/* First of all: what it leads to is for the executor alone. */
static void close_executor_fd(const struct master *m)
{
    if (m->config.executor_fd > 0) {
        close(m->config.executor_fd);
    }
}

static pid_t fork_zygote(struct master *m)
{
    pid_t master = getpid();
    m->secrets->zygote.first_number = CBX_SEAL_FIRST_NUMBER(++m->zygotes);
    CBX_AUTO_FD secrets = pass_secrets(&m->secrets->zygote, sizeof(m->secrets->zygote));
    pid_t pid = secrets < 0 ? -1 : fork();
    if (pid == 0) {
        close_executor_fd(m);
        drop_privileges(CBX_ROLE_ANALYZER, NULL);
        follow_master(master, SIGKILL);
        leave_terminal();
        unblock_signals();
        close_pair(m->zygote, 1);
        close_pair(m->executor, -1);
        close_front_fd(m);
        m->config.zygote(m->zygote[1], cbx_fd_steal(&secrets), m->config.context);
        _exit(1);
    }
    return pid;
}

static pid_t fork_executor(struct master *m)
{
    pid_t master = getpid();
    m->secrets->executor.first_number = m->secrets->zygote.first_number;
    CBX_AUTO_FD secrets = pass_secrets(&m->secrets->executor, sizeof(m->secrets->executor));
    pid_t pid = secrets < 0 ? -1 : fork();
    if (pid == 0) {
        drop_privileges(CBX_ROLE_EXECUTOR, NULL);
        follow_master(master, SIGTERM);
        leave_terminal();
        unblock_signals();
        close_pair(m->executor, 1);
        close_pair(m->zygote, -1);
        close_front_fd(m);
        m->config.executor(m->executor[1], cbx_fd_steal(&secrets), m->config.context);
        _exit(1);
    }
    return pid;
}

static pid_t fork_forwarding(struct master *m, enum cbx_role role, cbx_forward_main *run,
                             const int channel[2], int end)
{
    pid_t master = getpid(), pid = fork();
    if (pid == 0) {
        close_executor_fd(m);
        drop_privileges(role, NULL);
        follow_master(master, SIGKILL);
        leave_terminal();
        unblock_signals();
        close_pair(channel, end);
        close_pair(m->zygote, -1);
        close_pair(m->executor, -1);
        close_front_fd(m);
        run(channel[end], m->config.context);
        _exit(1);
    }
    return pid;
}

/* The two processes that forward the audit log, over a new channel. */
static void fork_forwarders(struct master *m)
{
    int channel[2];
    if (m->config.reader == NULL ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) < 0) {
        return;
    }
    m->reader_pid = fork_forwarding(m, CBX_ROLE_READER, m->config.reader, channel, 0);
    m->sender_pid = fork_forwarding(m, CBX_ROLE_SENDER, m->config.sender, channel, 1);
    close_pair(channel, -1);
}

/* True in the front. */
static bool fork_front(struct master *m)
{
    pid_t master = getpid();
    m->front_pid = fork();
    if (m->front_pid != 0) {
        return false;
    }
    close_executor_fd(m);
    drop_privileges(m->config.front_role, m->config.front_root);
    follow_master(master, SIGTERM);
    unblock_signals();
    close(m->zygote[1]);
    close(m->executor[1]);
    prctl(PR_SET_NAME, "cbx-front");
    return true;
}

/* A process that ends right after its start would otherwise keep a processor busy. */
static void pause_if_quick(struct master *m)
{
    int64_t now = cbx_clock_ms();
    if (now - m->forked_ms < QUICK_MS) {
        struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
        nanosleep(&pause, NULL);
    }
    m->forked_ms = cbx_clock_ms();
}

/* After a failed fork there is no process, and kill(-1) would reach all of the user. */
static void signal_child(pid_t pid, int number)
{
    if (pid > 0) {
        kill(pid, number);
    }
}

static void await_child(pid_t pid)
{
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* The next executor refuses the decisions of all workers before it, so there must be new ones. */
static void replace_executor(struct master *m)
{
    signal_child(m->zygote_pid, SIGKILL);
    await_child(m->zygote_pid);
    m->zygote_pid = fork_zygote(m);
    m->executor_pid = fork_executor(m);
}

/* What was being sent when one of them ended is sent again. */
static void replace_forwarders(struct master *m, pid_t ended)
{
    pid_t other = ended == m->reader_pid ? m->sender_pid : m->reader_pid;
    signal_child(other, SIGKILL);
    await_child(other);
    fork_forwarders(m);
}

/* The front's exit status. A front that has no handler was ended by the master's SIGTERM, whatever
 * signal the master got: ^C is 130. */
static int exit_status(const struct master *m, int status)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    number = number == SIGTERM && m->stop_signal != 0 ? m->stop_signal : number;
    return number != 0 ? 128 + number : WEXITSTATUS(status);
}

/* Waits until the executor shuts its control socket down, or ends. What it still does, such as removing
 * sandboxes that no later executor may adopt, needs no master. As the first process of a container, the master
 * would end it by its own end. */
static void await_executor(const struct master *m)
{
    struct pollfd control = { .fd = m->executor[0] };
    while (m->executor_pid > 0 && poll(&control, 1, -1) < 0 && errno == EINTR) {
    }
    if (getpid() == 1) {
        await_child(m->executor_pid);
    }
}

_Noreturn static void end(struct master *m, int status)
{
    signal_child(m->zygote_pid, SIGKILL);
    signal_child(m->reader_pid, SIGKILL);
    signal_child(m->sender_pid, SIGKILL);
    signal_child(m->executor_pid, SIGTERM);
    close_pair(m->executor, 0);
    close_pair(m->zygote, -1);
    await_executor(m);
    _exit(exit_status(m, status));
}

/* True in a front that takes the place of one that was killed. */
static bool reap(struct master *m)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == m->front_pid) {
            if (WIFEXITED(status) || m->stop_signal != 0 || !m->config.respawn_front) {
                end(m, status);
            }
            cbx_log(CBX_LOG_WARNING, "the front was killed; it is started again");
            pause_if_quick(m);
            if (fork_front(m)) {
                return true;
            }
        } else if (pid == m->zygote_pid) {
            pause_if_quick(m);
            m->zygote_pid = fork_zygote(m);
        } else if (pid == m->executor_pid) {
            cbx_log(CBX_LOG_WARNING, "the executor was killed; it is started again");
            pause_if_quick(m);
            replace_executor(m);
        } else if (pid == m->reader_pid || pid == m->sender_pid) {
            cbx_log(CBX_LOG_WARNING,
                    "a process that forwards the audit log ended; it is started again");
            pause_if_quick(m);
            replace_forwarders(m, pid);
        }
    }
    return false;
}

/* The rest of the master's life; returns in a new front only. */
static void supervise(struct master *m, const sigset_t *signals)
{
    for (;;) {
        int number = sigwaitinfo(signals, NULL);
        if (number == SIGTERM || number == SIGINT || number == SIGHUP) {
            m->stop_signal = m->stop_signal != 0 ? m->stop_signal : number;
            signal_child(m->front_pid, SIGTERM);
        } else if (number == SIGCHLD && reap(m)) {
            return;
        }
    }
}

static int make_secrets(struct master *m, struct cbx_err *err)
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

int cbx_master_fork(const struct cbx_master_config *config, struct cbx_master_sockets *out,
                    struct cbx_err *err)
{
    static struct master m; /* the master's own; a front's copy has no secrets */
    m = (struct master){ .config = *config };
    int failed = make_secrets(&m, err);
    failed = failed ? failed : cbx_wire_pair(m.zygote, err);
    failed = failed ? failed : cbx_wire_pair(m.executor, err);
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
    failed = cbx_privileges_drop(CBX_ROLE_MASTER, NULL, err);
    if (failed) {
        return failed;
    }
    cbx_jail_common();
    failed = cbx_jail_master(err);
    if (failed) {
        return failed;
    }
    m.zygote_pid = fork_zygote(&m);
    m.executor_pid = fork_executor(&m);
    bool front = m.zygote_pid > 0 && m.executor_pid > 0 && fork_front(&m);
    if (m.zygote_pid < 0 || m.executor_pid < 0 || m.front_pid < 0) {
        sigprocmask(SIG_UNBLOCK, &signals, NULL);
        return cbx_fail(err, CBX_EIO, "a process could not be started: %s", strerror(errno));
    }
    if (!front) {
        m.forked_ms = cbx_clock_ms() - QUICK_MS;
        fork_forwarders(&m);
        supervise(&m, &signals);
    }
    *out = (struct cbx_master_sockets){ .zygote = m.zygote[0], .executor = m.executor[0] };
    return 0;
}
