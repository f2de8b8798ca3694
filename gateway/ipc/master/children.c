/* SPDX-License-Identifier: MIT
 * The processes that the master forks, and what each keeps of it. */
#include "gateway/ipc/master/master_internal.h"

#include "gateway/ipc/jail/jail.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "gateway/ipc/wire/key_fetch.h"
#include "policies/base/auto.h"
#include "policies/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_MS = 500 };

void cbx_master_close_pair(const int pair[2], int kept)
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

static void close_front_fds(const struct cbx_master *m)
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
static void close_identity_fd(const struct cbx_master *m)
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

unsigned cbx_master_helper_part(enum cbx_helper helper)
{
    return helper_rows[helper].part;
}

/* Called in every new process; the helper that has this part of the set keeps what is its own. */
static void close_helpers(const struct cbx_master *m, unsigned part)
{
    for (size_t i = 0; i < CBX_HELPERS; i++) {
        bool own = helper_rows[i].part == part;
        cbx_master_close_pair(m->helpers[i].channel, own ? 1 : -1);
        if (!own && m->config.helpers[i].fd > 0) {
            close(m->config.helpers[i].fd);
        }
    }
}

/* Called first in a new process: the file is for the executor alone. */
static void close_executor_fd(const struct cbx_master *m)
{
    if (m->config.executor_fd > 0) {
        close(m->config.executor_fd);
    }
}

/* Creates a new pair, so a new process cannot read bytes that were sent to its predecessor. */
static bool renew_pair(int pair[2])
{
    cbx_master_close_pair(pair, -1);
    pair[0] = pair[1] = -1;
    return cbx_wire_pair(pair, NULL) == 0;
}

/* Called in a new process: takes over its parts of the set, and clears the parts of other
 * processes. */
void cbx_master_adopt_set(struct cbx_master *m, unsigned process)
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

pid_t cbx_master_fork_zygote(struct cbx_master *m)
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
        cbx_master_close_pair(m->zygote, 1);
        cbx_master_close_pair(m->executor, -1);
        cbx_master_close_pair(m->keys, -1);
        cbx_master_close_pair(m->executor_keys, -1);
        close_helpers(m, 0);
        close_front_fds(m);
        close_identity_fd(m);
        cbx_master_close_pair(m->front_reload, -1);
        cbx_master_close_pair(m->executor_reload, -1);
        cbx_master_adopt_set(m, CBX_RELOAD_ZYGOTE);
        m->config.zygote(m->zygote[1], cbx_fd_steal(&secrets), m->config.context);
        _exit(1);
    }
    return pid;
}

pid_t cbx_master_fork_executor(struct cbx_master *m)
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
        cbx_master_close_pair(m->executor, 1);
        cbx_master_close_pair(m->zygote, -1);
        cbx_master_close_pair(m->keys, -1);
        cbx_master_close_pair(m->executor_keys, 0);
        close_helpers(m, 0);
        close_front_fds(m);
        cbx_master_close_pair(m->front_reload, -1);
        close(m->executor_reload[0]);
        cbx_master_adopt_set(m, CBX_RELOAD_EXECUTOR);
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
static void enter_helper(struct cbx_master *m, pid_t master, enum cbx_role role, unsigned process)
{
    int kept_keys = process == CBX_RELOAD_KEYS ? 1 : -1;
    close_executor_fd(m);
    drop_privileges(role, NULL);
    follow_master(master, SIGKILL);
    leave_terminal();
    unblock_signals();
    cbx_master_close_pair(m->zygote, -1);
    cbx_master_close_pair(m->executor, -1);
    cbx_master_close_pair(m->keys, kept_keys);
    cbx_master_close_pair(m->executor_keys, kept_keys);
    close_helpers(m, process);
    close_front_fds(m);
    close_identity_fd(m);
    cbx_master_close_pair(m->front_reload, -1);
    cbx_master_close_pair(m->executor_reload, -1);
    cbx_master_adopt_set(m, process);
}

/* Forks a process with one channel; channel[end] is its end. */
static pid_t fork_on_channel(struct cbx_master *m, enum cbx_role role, cbx_channel_main *run,
                             const int channel[2], int end)
{
    pid_t master = getpid(), pid = fork();
    if (pid == 0) {
        cbx_master_close_pair(channel, end);
        enter_helper(m, master, role, 0);
        run(channel[end], m->config.context);
        _exit(1);
    }
    return pid;
}

/* Forks the two processes that forward the audit log, with a new channel. */
void cbx_master_fork_forwarders(struct cbx_master *m)
{
    int channel[2];
    if (m->config.reader == NULL ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) < 0) {
        return;
    }
    m->reader_pid = fork_on_channel(m, CBX_ROLE_READER, m->config.reader, channel, 0);
    m->sender_pid = fork_on_channel(m, CBX_ROLE_SENDER, m->config.sender, channel, 1);
    cbx_master_close_pair(channel, -1);
}

/* True if there is a key source to fetch: a part of the last reload, or one from the start. */
static bool has_fetches(const struct cbx_master *m)
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
void cbx_master_fork_keys(struct cbx_master *m)
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
void cbx_master_pause_if_quick(struct cbx_master *m)
{
    int64_t now = cbx_clock_ms();
    if (now - m->forked_ms < CBX_MASTER_QUICK_MS) {
        struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
        nanosleep(&pause, NULL);
    }
    m->forked_ms = cbx_clock_ms();
}

/* Forks a helper, over the existing channel. */
void cbx_master_fork_helper(struct cbx_master *m, enum cbx_helper helper)
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
bool cbx_master_replace_helper(struct cbx_master *m, pid_t ended)
{
    for (int i = 0; i < CBX_HELPERS; i++) {
        if (ended == m->helpers[i].pid) {
            cbx_log(CBX_LOG_WARNING, "the process of %s ended; it is started again",
                    helper_rows[i].what);
            cbx_master_pause_if_quick(m);
            cbx_master_fork_helper(m, (enum cbx_helper)i);
            return true;
        }
    }
    return false;
}

/* Returns true in the front. */
bool cbx_master_fork_front(struct cbx_master *m)
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
    cbx_master_close_pair(m->keys, 0);
    cbx_master_close_pair(m->executor_keys, -1);
    for (size_t i = 0; i < CBX_HELPERS; i++) {
        cbx_master_close_pair(m->helpers[i].channel, 0);
        if (m->config.helpers[i].fd > 0) {
            close(m->config.helpers[i].fd);
        }
    }
    cbx_master_close_pair(m->executor_reload, -1);
    close(m->front_reload[0]);
    cbx_master_adopt_set(m, CBX_RELOAD_FRONT);
    prctl(PR_SET_NAME, "cbx-front");
    return true;
}

/* After a failed fork the pid is -1, and kill(-1) would reach all processes of the user. */
void cbx_master_signal(pid_t pid, int number)
{
    if (pid > 0) {
        kill(pid, number);
    }
}

void cbx_master_await(pid_t pid)
{
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* The next executor refuses the decisions of all earlier workers, so a new zygote is forked too. */
void cbx_master_replace_executor(struct cbx_master *m)
{
    cbx_master_signal(m->zygote_pid, SIGKILL);
    cbx_master_await(m->zygote_pid);
    m->zygote_pid = cbx_master_fork_zygote(m);
    m->executor_pid = cbx_master_fork_executor(m);
}

/* Both processes are forked anew; the new ones resend records that were not acknowledged. */
void cbx_master_replace_forwarders(struct cbx_master *m, pid_t ended)
{
    pid_t other = ended == m->reader_pid ? m->sender_pid : m->reader_pid;
    cbx_master_signal(other, SIGKILL);
    cbx_master_await(other);
    cbx_master_fork_forwarders(m);
}
