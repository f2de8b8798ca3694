/* SPDX-License-Identifier: MIT
 * The process that forks the others. Single-threaded, has no parser and no open file. */
#include "gateway/ipc/master/master.h"

#include "gateway/ipc/jail/jail.h"
#include "gateway/ipc/master/notify.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "gateway/ipc/wire/key_fetch.h"
#include "policies/base/auto.h"
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
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { QUICK_MS = 1000, PAUSE_MS = 500 };

struct master {
    struct cbx_master_config config;
    /* Secrets of zygote and executor, in a page that Linux clears in every child; the two
     * processes read their own from a pipe. */
    struct secrets {
        struct cbx_zygote_secrets zygote;
        struct cbx_executor_secrets executor;
    } * secrets;
    uint64_t zygotes; /* number of zygotes forked so far */
    /* control sockets; [0] = the front's end, [1] = the end of zygote or executor */
    int zygote[2], executor[2];
    /* [0] = the front's end, [1] = the end of the process that fetches keys; -1 = none */
    int keys[2];
    /* [0] = the executor's end, [1] = the end of the process that fetches keys; -1 = none */
    int executor_keys[2];
    struct {
        int channel[2]; /* [0] = the front's end, [1] = the helper's; -1 = none */
        pid_t pid;      /* the current one; 0 = no such process */
        bool renewed;   /* its part of the new set differs from that of the set before */
    } helpers[CBX_HELPERS];
    int front_reload[2], executor_reload[2]; /* [0] = the master's end */
    /* parts of the last reload, for processes forked later; before the first reload the parts of
     * the start (reload.first) */
    struct cbx_buf set;
    pid_t front_pid, zygote_pid, executor_pid;
    struct cbx_notify notify;
    bool is_ready;                /* true after a front reported that it serves */
    bool reloaded;                /* true if `set` is from a reload */
    pid_t reader_pid, sender_pid; /* 0 = no such process */
    pid_t keys_pid;               /* 0 = no such process */
    int64_t forked_ms;
    int stop_signal; /* signal that ends the gateway; 0 = none received */
};

static void close_pair(const int pair[2], int kept)
{
    for (int i = 0; i < 2; i++) {
        if (i != kept && pair[i] >= 0) {
            close(pair[i]);
        }
    }
}

/* The first step of a child process. */
static void drop_privileges(enum cbx_role role, const char *root)
{
    struct cbx_err err = { 0 };
    if (cbx_privileges_drop(role, root, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "%s", cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
        _exit(1);
    }
    cbx_jail_common(); /* after the change of the user id, which resets these attributes */
}

/* Ends the child with the master, even if the master is killed. */
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

/* Returns the read end of a pipe that contains the secrets; -1 and errno. */
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

static void close_front_fds(const struct master *m)
{
    if (m->notify.fd >= 0) {
        close(m->notify.fd);
    }
    for (size_t i = 0; i < sizeof(m->config.front_fds) / sizeof(m->config.front_fds[0]); i++) {
        if (m->config.front_fds[i] > 0) {
            close(m->config.front_fds[i]);
        }
    }
}

/* Called in a process that authenticates no callers. */
static void close_identity_fd(const struct master *m)
{
    if (m->config.identity_fd > 0) {
        close(m->config.identity_fd);
    }
}

static const struct {
    enum cbx_role role;
    unsigned part; /* enum cbx_reload_process */
    const char *what;
} helper_rows[CBX_HELPERS] = {
    [CBX_HELPER_LINKS] = { CBX_ROLE_REPLICAS, CBX_RELOAD_REPLICAS, "links between replicas" },
    [CBX_HELPER_DATABASE] = { CBX_ROLE_DATABASE, CBX_RELOAD_DATABASE, "the database" },
};

/* Called in every new process; the helper that has this part of the set keeps what is its own. */
static void close_helpers(const struct master *m, unsigned part)
{
    for (size_t i = 0; i < CBX_HELPERS; i++) {
        bool own = helper_rows[i].part == part;
        close_pair(m->helpers[i].channel, own ? 1 : -1);
        if (!own && m->config.helpers[i].fd > 0) {
            close(m->config.helpers[i].fd);
        }
    }
}

/* Called first in a new process: the file is for the executor alone. */
static void close_executor_fd(const struct master *m)
{
    if (m->config.executor_fd > 0) {
        close(m->config.executor_fd);
    }
}

/* Creates a new pair, so a new process cannot read bytes that were sent to its predecessor. */
static bool renew_pair(int pair[2])
{
    close_pair(pair, -1);
    pair[0] = pair[1] = -1;
    return cbx_wire_pair(pair, NULL) == 0;
}

/* Called in a new process: takes over its parts of the set, and clears the parts of other
 * processes. */
static void adopt_set(struct master *m, unsigned process)
{
    struct cbx_str rest = cbx_buf_str(&m->set);
    struct cbx_reload_part part;
    struct cbx_err err = { 0 };
    while (cbx_reload_next(&rest, &part)) {
        if ((part.processes & process) == 0) {
            explicit_bzero((char *)(uintptr_t)part.bytes.p, part.bytes.len);
        } else if (m->config.reload.adopt(m->config.reload.context, &part, &err) != 0) {
            cbx_log(CBX_LOG_ERROR, "reload: %s: %s", part.name, err.text);
            _exit(1);
        }
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
        cbx_log_set_component("zygote");
        drop_privileges(CBX_ROLE_ANALYZER, NULL);
        follow_master(master, SIGKILL);
        leave_terminal();
        unblock_signals();
        close_pair(m->zygote, 1);
        close_pair(m->executor, -1);
        close_pair(m->keys, -1);
        close_pair(m->executor_keys, -1);
        close_helpers(m, 0);
        close_front_fds(m);
        close_identity_fd(m);
        close_pair(m->front_reload, -1);
        close_pair(m->executor_reload, -1);
        adopt_set(m, CBX_RELOAD_ZYGOTE);
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
    pid_t pid = secrets < 0 || !renew_pair(m->executor_reload) ? -1 : fork();
    if (pid == 0) {
        cbx_log_set_component("executor");
        drop_privileges(CBX_ROLE_EXECUTOR, NULL);
        follow_master(master, SIGTERM);
        leave_terminal();
        unblock_signals();
        close_pair(m->executor, 1);
        close_pair(m->zygote, -1);
        close_pair(m->keys, -1);
        close_pair(m->executor_keys, 0);
        close_helpers(m, 0);
        close_front_fds(m);
        close_pair(m->front_reload, -1);
        close(m->executor_reload[0]);
        adopt_set(m, CBX_RELOAD_EXECUTOR);
        const struct cbx_executor_channels channels = { .control = m->executor[1],
                                                        .secrets = cbx_fd_steal(&secrets),
                                                        .reload = m->executor_reload[1],
                                                        .keys = m->executor_keys[0] };
        m->config.executor(&channels, m->config.context);
        _exit(1);
    }
    return pid;
}

/* Enters a new process that has channels of its own and none of the gateway's. `process` selects
 * its parts of the set; 0 = none. */
static void enter_helper(struct master *m, pid_t master, enum cbx_role role, unsigned process)
{
    int kept_keys = process == CBX_RELOAD_KEYS ? 1 : -1;
    close_executor_fd(m);
    drop_privileges(role, NULL);
    follow_master(master, SIGKILL);
    leave_terminal();
    unblock_signals();
    close_pair(m->zygote, -1);
    close_pair(m->executor, -1);
    close_pair(m->keys, kept_keys);
    close_pair(m->executor_keys, kept_keys);
    close_helpers(m, process);
    close_front_fds(m);
    close_identity_fd(m);
    close_pair(m->front_reload, -1);
    close_pair(m->executor_reload, -1);
    adopt_set(m, process);
}

/* Forks a process with one channel; channel[end] is its end. */
static pid_t fork_on_channel(struct master *m, enum cbx_role role, cbx_channel_main *run,
                             const int channel[2], int end)
{
    pid_t master = getpid(), pid = fork();
    if (pid == 0) {
        close_pair(channel, end);
        enter_helper(m, master, role, 0);
        run(channel[end], m->config.context);
        _exit(1);
    }
    return pid;
}

/* Forks the two processes that forward the audit log, with a new channel. */
static void fork_forwarders(struct master *m)
{
    int channel[2];
    if (m->config.reader == NULL ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) < 0) {
        return;
    }
    m->reader_pid = fork_on_channel(m, CBX_ROLE_READER, m->config.reader, channel, 0);
    m->sender_pid = fork_on_channel(m, CBX_ROLE_SENDER, m->config.sender, channel, 1);
    close_pair(channel, -1);
}

/* True if there is a key source to fetch: a part of the last reload, or one from the start. */
static bool has_fetches(const struct master *m)
{
    struct cbx_str rest = cbx_buf_str(&m->set);
    struct cbx_reload_part part;
    bool found = !m->reloaded && m->config.fetches;
    while (cbx_reload_next(&rest, &part)) {
        found = found || (part.processes & CBX_RELOAD_KEYS) != 0;
    }
    return found;
}

/* Forks the process that fetches keys, over the existing channels: front and executor stay and
 * have the other ends. */
static void fork_keys(struct master *m)
{
    pid_t master = getpid();
    m->keys_pid = 0;
    if (m->config.keys == NULL || !has_fetches(m)) {
        return;
    }
    m->keys_pid = fork();
    if (m->keys_pid == 0) {
        const int channels[CBX_KEY_CLIENTS] = { m->keys[1], m->executor_keys[1] };
        enter_helper(m, master, CBX_ROLE_KEYS, CBX_RELOAD_KEYS);
        m->config.keys(channels, m->config.context);
        _exit(1);
    }
}

/* Delays the fork, so a process that ends right after its start does not keep a processor busy. */
static void pause_if_quick(struct master *m)
{
    int64_t now = cbx_clock_ms();
    if (now - m->forked_ms < QUICK_MS) {
        struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
        nanosleep(&pause, NULL);
    }
    m->forked_ms = cbx_clock_ms();
}

/* Forks a helper, over the existing channel. */
static void fork_helper(struct master *m, enum cbx_helper helper)
{
    pid_t master = getpid();
    cbx_channel_main *run = m->config.helpers[helper].run;
    m->helpers[helper].pid = run != NULL ? fork() : 0;
    if (run != NULL && m->helpers[helper].pid == 0) {
        enter_helper(m, master, helper_rows[helper].role, helper_rows[helper].part);
        run(m->helpers[helper].channel[1], m->config.context);
        _exit(1);
    }
}

/* Forks a helper that ended; false if it was another process. */
static bool replace_helper(struct master *m, pid_t ended)
{
    for (int i = 0; i < CBX_HELPERS; i++) {
        if (ended == m->helpers[i].pid) {
            cbx_log(CBX_LOG_WARNING, "the process of %s ended; it is started again",
                    helper_rows[i].what);
            pause_if_quick(m);
            fork_helper(m, (enum cbx_helper)i);
            return true;
        }
    }
    return false;
}

/* Returns true in the front. */
static bool fork_front(struct master *m)
{
    pid_t master = getpid();
    m->front_pid = renew_pair(m->front_reload) ? fork() : -1;
    if (m->front_pid != 0) {
        return false;
    }
    close_executor_fd(m);
    cbx_log_set_component("front");
    drop_privileges(m->config.front_role, m->config.front_root);
    follow_master(master, SIGTERM);
    unblock_signals();
    cbx_notify_done(&m->notify);
    close(m->zygote[1]);
    close(m->executor[1]);
    close_pair(m->keys, 0);
    close_pair(m->executor_keys, -1);
    for (size_t i = 0; i < CBX_HELPERS; i++) {
        close_pair(m->helpers[i].channel, 0);
        if (m->config.helpers[i].fd > 0) {
            close(m->config.helpers[i].fd);
        }
    }
    close_pair(m->executor_reload, -1);
    close(m->front_reload[0]);
    adopt_set(m, CBX_RELOAD_FRONT);
    prctl(PR_SET_NAME, "cbx-front");
    return true;
}

/* After a failed fork the pid is -1, and kill(-1) would reach all processes of the user. */
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

/* The next executor refuses the decisions of all earlier workers, so a new zygote is forked too. */
static void replace_executor(struct master *m)
{
    signal_child(m->zygote_pid, SIGKILL);
    await_child(m->zygote_pid);
    m->zygote_pid = fork_zygote(m);
    m->executor_pid = fork_executor(m);
}

/* Both processes are forked anew; the new ones resend records that were not acknowledged. */
static void replace_forwarders(struct master *m, pid_t ended)
{
    pid_t other = ended == m->reader_pid ? m->sender_pid : m->reader_pid;
    signal_child(other, SIGKILL);
    await_child(other);
    fork_forwarders(m);
}

/* Returns the front's exit status. A front without a handler is killed by the master's SIGTERM,
 * whatever signal the master received; the status has the master's signal: 130 for ^C. */
static int exit_status(const struct master *m, int status)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    number = number == SIGTERM && m->stop_signal != 0 ? m->stop_signal : number;
    return number != 0 ? 128 + number : WEXITSTATUS(status);
}

/* Waits until the executor shuts its control socket down, or ends. The remaining work of the
 * executor, such as removing sandboxes that no later executor may adopt, needs no master. As the
 * first process of a container, the master waits for the executor's end: Linux kills all
 * processes of the container when its first process ends. */
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
    signal_child(m->keys_pid, SIGKILL);
    for (size_t i = 0; i < CBX_HELPERS; i++) {
        signal_child(m->helpers[i].pid, SIGKILL);
    }
    signal_child(m->executor_pid, SIGTERM);
    close_pair(m->executor, 0);
    close_pair(m->zygote, -1);
    await_executor(m);
    _exit(exit_status(m, status));
}

/* Returns true in a front that replaces a killed one. */
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
        } else if (pid == m->keys_pid) {
            cbx_log(CBX_LOG_WARNING,
                    "the process that fetches keys of issuers ended; it is started again");
            pause_if_quick(m);
            fork_keys(m);
        } else if (m->stop_signal == 0) {
            replace_helper(m, pid);
        }
    }
    return false;
}

/* --- reload ----------------------------------------------------------------------------------- */

/* Runs in the child that loads. The timer ends it: a policy may be a pipe without a writer. */
_Noreturn static void load_set(struct master *m, int to)
{
    enum { LOAD_S = 60 };
    struct itimerval limit = { .it_value = { .tv_sec = LOAD_S } };
    struct cbx_buf set;
    cbx_log_set_component("loader");
    setitimer(ITIMER_REAL, &limit, NULL);
    cbx_buf_init(&set, CBX_RELOAD_BYTES_MAX);
    adopt_set(m, ~0U); /* for the comparison */
    int status = m->config.reload.load(m->config.reload.context, &set);
    for (size_t at = 0; status == 0 && at < set.len;) {
        ssize_t n = write(to, set.p + at, set.len - at);
        status = n < 0 && errno != EINTR ? -1 : 0;
        at += n > 0 ? (size_t)n : 0;
    }
    _exit(status < 0 ? 2 : status);
}

/* Forks the child that loads, and reads its set. Returns the exit status of the child; negative
 * if the child was killed. */
static int fetch_set(struct master *m, struct cbx_buf *out)
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
    for (ssize_t n = 1; pid > 0 && n != 0;) {
        static char chunk[CHUNK_BYTES];
        n = read(ends[0], chunk, sizeof(chunk));
        n = n < 0 && errno != EINTR ? 0 : n;
        cbx_buf_add_bytes(out, chunk, n > 0 ? (size_t)n : 0);
    }
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && WIFEXITED(status) && !out->overflow ? WEXITSTATUS(status) : -1;
}

static void send_set(const struct master *m, int fd, pid_t pid, enum cbx_reload_process process,
                     const char *name)
{
    enum { SEND_MS = 10000 };
    struct cbx_err err = { 0 };
    uint64_t first = CBX_SEAL_FIRST_NUMBER(m->zygotes + 1);
    if (cbx_reload_send(fd, process, first, cbx_buf_str(&m->set), SEND_MS, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "reload: the %s: %s; it is started again with what was loaded", name,
                err.text);
        signal_child(pid, SIGKILL);
    }
}

/* The executor first: it accepts decisions of the next zygote's workers by the new set, and
 * decisions of earlier workers by their own set. So the executor knows the set of every
 * decision, and refuses no decision made before the reload. */
static void distribute_set(struct master *m)
{
    send_set(m, m->executor_reload[0], m->executor_pid, CBX_RELOAD_EXECUTOR, "executor");
    signal_child(m->zygote_pid, SIGKILL);
    await_child(m->zygote_pid);
    m->zygote_pid = fork_zygote(m);
    /* Before the front, which requests new keys at once. */
    signal_child(m->keys_pid, SIGKILL);
    await_child(m->keys_pid);
    fork_keys(m);
    for (int i = 0; i < CBX_HELPERS; i++) {
        if (m->helpers[i].renewed) {
            signal_child(m->helpers[i].pid, SIGTERM); /* it ends with its last link */
            fork_helper(m, (enum cbx_helper)i);
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

static void reload(struct master *m)
{
    cbx_notify_reloading(&m->notify);
    struct cbx_buf set;
    cbx_buf_init(&set, CBX_RELOAD_BYTES_MAX);
    int status = fetch_set(m, &set);
    if (status == 0) {
        for (size_t i = 0; i < CBX_HELPERS; i++) {
            m->helpers[i].renewed = !cbx_str_equal(part_of(&m->set, helper_rows[i].part),
                                                   part_of(&set, helper_rows[i].part));
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

/* Waits for a signal, at most until the service manager expects a watchdog message; returns 0
 * then. */
static int next_signal(const struct master *m, const sigset_t *signals)
{
    enum { START_MS = 50 };
    int64_t ms = m->notify.fd < 0 ? 0 : !m->is_ready ? START_MS : m->notify.watchdog_ms;
    struct timespec time = cbx_timespec_of(ms);
    int number = ms > 0 ? sigtimedwait(signals, NULL, &time) : sigwaitinfo(signals, NULL);
    return number > 0 ? number : 0;
}

static void tell_manager(struct master *m)
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
static void supervise(struct master *m, const sigset_t *signals)
{
    for (;;) {
        int number = next_signal(m, signals);
        tell_manager(m);
        if (number == SIGHUP && m->config.reload.load != NULL && m->stop_signal == 0) {
            reload(m);
            cbx_notify_send(&m->notify, "READY=1");
        } else if (number == SIGINT && m->config.front_role == CBX_ROLE_CALLER) {
            /* the front interrupts its program and ends by itself */
            signal_child(m->front_pid, SIGINT);
        } else if (number == SIGTERM || number == SIGINT || number == SIGHUP) {
            cbx_notify_send(&m->notify, "STOPPING=1");
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
    static struct master m; /* the master's own; the copy in a front has no secrets */
    m = (struct master){ .config = *config,
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
    failed = cbx_wire_pair(m.zygote, err);
    if (failed) {
        return failed;
    }
    failed = cbx_wire_pair(m.executor, err);
    if (failed) {
        return failed;
    }
    if (config->keys != NULL &&
        (cbx_key_channel(m.keys, err) != 0 || cbx_key_channel(m.executor_keys, err) != 0)) {
        return CBX_EIO;
    }
    for (size_t i = 0; i < CBX_HELPERS; i++) {
        if (config->helpers[i].run != NULL && cbx_wire_pair(m.helpers[i].channel, err) != 0) {
            return CBX_EIO;
        }
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
        cbx_log_set_component("master");
        m.forked_ms = cbx_clock_ms() - QUICK_MS;
        fork_forwarders(&m);
        fork_keys(&m);
        for (int i = 0; i < CBX_HELPERS; i++) {
            fork_helper(&m, (enum cbx_helper)i);
        }
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
