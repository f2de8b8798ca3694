/* SPDX-License-Identifier: MIT
 * seccomp through libseccomp, and rlimits. Every filter is a list of allowed calls. A child
 * inherits its parent's filter, so the zygote's list includes the workers' list, and the
 * master's includes all lists. */
#include "gateway/ipc/jail/jail.h"

#include "policies/base/auto.h"
#include "policies/base/memory.h"

#include <asm/termbits.h>
#include <errno.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

void cbx_jail_common(void)
{
    struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__has_feature)
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

/* A call that is allowed while the bits `mask` of one argument have the value `value`. Bits that
 * Linux ignores (the upper half of an int) are in no mask, so they cannot hide a value. */
struct when {
    int call;
    unsigned argument;
    uint64_t mask, value;
};

/* The calls of an analysis once libcrypto is initialised. */
static const int worker_calls[] = {
    SCMP_SYS(read),           SCMP_SYS(write),         SCMP_SYS(readv),
    SCMP_SYS(writev),         SCMP_SYS(recvmsg),       SCMP_SYS(sendmsg),
    SCMP_SYS(recvfrom),       SCMP_SYS(sendto),        SCMP_SYS(poll),
    SCMP_SYS(ppoll),          SCMP_SYS(close),         SCMP_SYS(brk),
    SCMP_SYS(munmap),         SCMP_SYS(mremap),        SCMP_SYS(madvise),
    SCMP_SYS(futex),          SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
    SCMP_SYS(time),           SCMP_SYS(getrandom),     SCMP_SYS(exit),
    SCMP_SYS(exit_group),     SCMP_SYS(rt_sigreturn),  SCMP_SYS(restart_syscall),
    SCMP_SYS(rt_sigprocmask), SCMP_SYS(getpid),        SCMP_SYS(gettid),
    SCMP_SYS(sched_yield),    SCMP_SYS(setitimer),
#ifdef SANITIZED
    SCMP_SYS(sigaltstack),    SCMP_SYS(rt_sigaction),  SCMP_SYS(tgkill),
#endif
};

/* Memory is never executable: a compromised process cannot load code of its own. */
static const struct when worker_when[] = {
    { SCMP_SYS(mmap), 2, PROT_EXEC, 0 },
#ifdef SANITIZED
    { SCMP_SYS(mprotect), 2, PROT_EXEC, 0 },
#endif
};

/* Calls that the C library makes by itself while it computes (amount of memory, number of
 * processors, whether a stream is a terminal): qsort calls sysinfo, assert calls fstat. The
 * filter returns ENOSYS, as an old host kernel does, and the library uses its default. If the
 * filter killed the worker, a program that the policy allows would be denied. */
static const int worker_refused[] = {
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(getcpu),
    SCMP_SYS(getrusage),
    SCMP_SYS(times),
    SCMP_SYS(getrlimit),
    SCMP_SYS(prlimit64),
    SCMP_SYS(clock_getres),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getppid),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(lseek),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(mincore),
    SCMP_SYS(membarrier),
    SCMP_SYS(rseq),
    SCMP_SYS(set_robust_list),
#ifndef SANITIZED
    SCMP_SYS(sigaltstack),
#endif
};

/* --- filters ---------------------------------------------------------------------------------- */

static int add_calls(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count)
{
    int failed = 0;
    for (size_t i = 0; i < count && failed == 0; i++) {
        failed = seccomp_rule_add(filter, action, calls[i], 0);
    }
    return failed;
}

static int allow_when(scmp_filter_ctx filter, const struct when *rules, size_t count)
{
    int failed = 0;
    for (size_t i = 0; i < count && failed == 0; i++) {
        failed = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, rules[i].call, 1,
            SCMP_CMP(rules[i].argument, SCMP_CMP_MASKED_EQ, rules[i].mask, rules[i].value));
    }
    return failed;
}

static int fail_filter(int failed, struct cbx_err *err)
{
    if (failed != 0) {
        return cbx_fail(err, CBX_EIO, "seccomp: %s", strerror(-failed));
    }
    return 0;
}

/* --- the worker ------------------------------------------------------------------------------- */

static void limit_worker(void)
{
    struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_FSIZE, &none);
    setrlimit(RLIMIT_NPROC, &none);
    setrlimit(RLIMIT_NOFILE, &none);
#ifndef SANITIZED
    struct rlimit memory = { 2ul << 30, 2ul << 30 };
    setrlimit(RLIMIT_AS, &memory);
#endif
}

/* The compiled filter; len 0 = not compiled yet. */
static struct sock_fprog worker_program;

static int build_worker(scmp_filter_ctx filter)
{
    int failed = add_calls(filter, SCMP_ACT_ALLOW, worker_calls, COUNT(worker_calls));
    if (failed) {
        return failed;
    }
    failed = add_calls(filter, SCMP_ACT_ERRNO(ENOSYS), worker_refused, COUNT(worker_refused));
    if (failed) {
        return failed;
    }
    return allow_when(filter, worker_when, COUNT(worker_when));
}

/* Writes the filter in the binary format of Linux to *out. Returns 0 or a negative errno. */
static int compile(scmp_filter_ctx filter, struct sock_fprog *out)
{
    CBX_AUTO_FD fd = memfd_create("filter", MFD_CLOEXEC);
    struct stat status;
    int failed = fd < 0 ? -errno : seccomp_export_bpf(filter, fd);
    if (failed) {
        return failed;
    }
    if (fstat(fd, &status) < 0) {
        return -errno;
    }
    size_t bytes = (size_t)status.st_size;
    struct sock_filter *code = cbx_renew(NULL, 1, bytes);
    if (pread(fd, code, bytes, 0) != (ssize_t)bytes) {
        free(code);
        return -EIO;
    }
    *out = (struct sock_fprog){ .filter = code,
                                .len = (unsigned short)(bytes / sizeof(struct sock_filter)) };
    return 0;
}

int cbx_jail_worker_prepare(struct cbx_err *err)
{
    if (worker_program.len > 0) {
        return 0;
    }
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (filter == NULL) {
        return cbx_fail(err, CBX_EIO, "seccomp: no filter could be made");
    }
    int failed = build_worker(filter);
    if (!failed) {
        failed = compile(filter, &worker_program);
    }
    seccomp_release(filter);
    return fail_filter(failed, err);
}

int cbx_jail_worker(struct cbx_err *err)
{
    int failed = cbx_jail_worker_prepare(err);
    if (failed) {
        return failed;
    }
    limit_worker();
    /* Linux requires no_new_privs to load a filter without CAP_SYS_ADMIN. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &worker_program) < 0) {
        return fail_filter(-errno, err);
    }
    return 0;
}

/* --- the others ------------------------------------------------------------------------------- */

/* Calls of processes with threads and files. Landlock restricts the files. */
static const int shared_calls[] = {
    /* open connections */
    SCMP_SYS(socketpair),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    SCMP_SYS(shutdown),
    SCMP_SYS(setsockopt),
    SCMP_SYS(getsockopt),
    SCMP_SYS(getsockname),
    SCMP_SYS(getpeername),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(eventfd2),
    SCMP_SYS(pipe2),
    /* descriptors and files */
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(fcntl),
    SCMP_SYS(flock),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(fstatfs),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getcwd),
    SCMP_SYS(getdents64),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(umask),
    /* memory */
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(mincore),
    SCMP_SYS(membarrier),
    /* threads, signals and the end */
    SCMP_SYS(futex),
    SCMP_SYS(rseq),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    /* ids, clocks and random numbers */
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(gettid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getrandom),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit),
    SCMP_SYS(getcpu),
#ifdef SANITIZED
    /* The leak checker stops the other threads from a process that shares this process's memory. */
    SCMP_SYS(clone),
    SCMP_SYS(ptrace),
    SCMP_SYS(wait4),
    SCMP_SYS(prctl),
    SCMP_SYS(prlimit64),
#endif
};

/* Calls of the front. Neither socket(), connect(), bind() nor listen(): the listener is open
 * before the confinement. */
static const int front_calls[] = {
    SCMP_SYS(accept),    SCMP_SYS(accept4),    SCMP_SYS(sendfile),    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait),
};

/* Calls of the executor: it connects to the engine and writes the audit log. */
static const int executor_calls[] = {
    SCMP_SYS(connect),   SCMP_SYS(rename),    SCMP_SYS(renameat),
    SCMP_SYS(renameat2), SCMP_SYS(utimensat),
};

/* Calls of the process that sends the audit log's records, and of the process that fetches keys. */
static const int sender_calls[] = { SCMP_SYS(connect) };

/* Calls of the zygote, in addition to its workers' calls. Landlock restricts the processes that
 * it may signal. */
static const int zygote_calls[] = {
    SCMP_SYS(clone),     SCMP_SYS(fork),    SCMP_SYS(wait4),           SCMP_SYS(kill),
    SCMP_SYS(prctl),     SCMP_SYS(getppid), SCMP_SYS(seccomp),         SCMP_SYS(setrlimit),
    SCMP_SYS(prlimit64), SCMP_SYS(rseq),    SCMP_SYS(set_robust_list),
};

/* Calls of the master, in addition to its children's calls: confining a process, and ending
 * others. */
static const int master_calls[] = {
    SCMP_SYS(setgroups),
    SCMP_SYS(setresuid),
    SCMP_SYS(setresgid),
    SCMP_SYS(setfsuid),
    SCMP_SYS(setfsgid),
    SCMP_SYS(chdir),
    SCMP_SYS(chroot),
    SCMP_SYS(capget),
    SCMP_SYS(capset),
    SCMP_SYS(landlock_create_ruleset),
    SCMP_SYS(landlock_add_rule),
    SCMP_SYS(landlock_restrict_self),
    SCMP_SYS(memfd_create),
    SCMP_SYS(mlock),
    SCMP_SYS(waitid),
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(ioctl),
    SCMP_SYS(mmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(socket),
    SCMP_SYS(bind),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(tgkill),
    SCMP_SYS(time),
};

enum { ANY_BITS = 0xffffffff };

/* Conditions on calls of shared_calls. */
static const struct when shared_when[] = {
    { SCMP_SYS(mmap), 2, PROT_EXEC, 0 },
    { SCMP_SYS(mprotect), 2, PROT_EXEC, 0 },
#ifndef SANITIZED
    { SCMP_SYS(clone), 0, CLONE_THREAD, CLONE_THREAD }, /* creates a thread, never a process */
    { SCMP_SYS(prctl), 0, ANY_BITS, PR_SET_NAME },
    { SCMP_SYS(prlimit64), 2, UINT64_MAX, 0 }, /* reads a limit; setting one is refused */
#endif
    /* Creating a set-user-ID or set-group-ID file is refused. */
    { SCMP_SYS(open), 2, S_ISUID | S_ISGID, 0 },
    { SCMP_SYS(openat), 3, S_ISUID | S_ISGID, 0 },
    /* TCP Fast Open connects without connect(). */
    { SCMP_SYS(sendto), 3, MSG_FASTOPEN, 0 },
    { SCMP_SYS(sendmsg), 2, MSG_FASTOPEN, 0 },
    { SCMP_SYS(sendmmsg), 3, MSG_FASTOPEN, 0 },
    /* Reads a terminal's size and changes its echo. TIOCSTI would type commands into the
     * caller's shell. */
    { SCMP_SYS(ioctl), 1, ANY_BITS, TCGETS },
    { SCMP_SYS(ioctl), 1, ANY_BITS, TCSETS },
    { SCMP_SYS(ioctl), 1, ANY_BITS, TIOCGWINSZ },
    { SCMP_SYS(ioctl), 1, ANY_BITS, FIONREAD },
    { SCMP_SYS(ioctl), 1, ANY_BITS, FIONBIO },
};

/* Sockets to the engine: a Unix socket only, or also TCP with the resolution of the host name. */
static const struct when unix_engine[] = {
    { SCMP_SYS(socket), 0, ANY_BITS, AF_UNIX },
};
static const struct when tcp_engine[] = {
    { SCMP_SYS(socket), 0, ANY_BITS, AF_INET },
    { SCMP_SYS(socket), 0, ANY_BITS, AF_INET6 },
};

/* Returns ENOSYS, as an old host kernel does, so the C library uses the older call: the flags of
 * clone3 are in memory, where a filter cannot read them. */
static const int missing[] = { SCMP_SYS(clone3) };

/* Adds the rules common to front and executor. */
static int build_shared(scmp_filter_ctx filter)
{
    int failed = add_calls(filter, SCMP_ACT_ALLOW, shared_calls, COUNT(shared_calls));
    if (failed) {
        return failed;
    }
    failed = add_calls(filter, SCMP_ACT_ERRNO(ENOSYS), missing, COUNT(missing));
    if (failed) {
        return failed;
    }
    failed = allow_when(filter, shared_when, COUNT(shared_when));
    /* Allows a signal to one of the process's own threads: abort() and pthread_kill(). */
    if (failed) {
        return failed;
    }
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                            SCMP_A0(SCMP_CMP_MASKED_EQ, ANY_BITS, (uint64_t)getpid()));
}

static int build_front(scmp_filter_ctx filter)
{
    int failed = build_shared(filter);
    if (failed) {
        return failed;
    }
    return add_calls(filter, SCMP_ACT_ALLOW, front_calls, COUNT(front_calls));
}

static int build_executor(scmp_filter_ctx filter)
{
    int failed = build_shared(filter);
    if (failed) {
        return failed;
    }
    failed = add_calls(filter, SCMP_ACT_ALLOW, executor_calls, COUNT(executor_calls));
    if (failed) {
        return failed;
    }
    return allow_when(filter, unix_engine, COUNT(unix_engine));
}

static int build_tcp_executor(scmp_filter_ctx filter)
{
    int failed = build_executor(filter);
    if (failed) {
        return failed;
    }
    return allow_when(filter, tcp_engine, COUNT(tcp_engine));
}

static int build_sender(scmp_filter_ctx filter)
{
    int failed = build_shared(filter);
    if (failed) {
        return failed;
    }
    failed = add_calls(filter, SCMP_ACT_ALLOW, sender_calls, COUNT(sender_calls));
    if (failed) {
        return failed;
    }
    return allow_when(filter, tcp_engine, COUNT(tcp_engine));
}

static int build_local_sender(scmp_filter_ctx filter)
{
    int failed = build_shared(filter);
    if (failed) {
        return failed;
    }
    failed = add_calls(filter, SCMP_ACT_ALLOW, sender_calls, COUNT(sender_calls));
    if (failed) {
        return failed;
    }
    return allow_when(filter, unix_engine, COUNT(unix_engine));
}

static int build_replicas(scmp_filter_ctx filter)
{
    int failed = build_sender(filter);
    if (failed) {
        return failed;
    }
    return add_calls(filter, SCMP_ACT_ALLOW, front_calls, COUNT(front_calls));
}

static int build_zygote(scmp_filter_ctx filter)
{
    int failed = add_calls(filter, SCMP_ACT_ALLOW, worker_calls, COUNT(worker_calls));
    if (failed) {
        return failed;
    }
    failed = add_calls(filter, SCMP_ACT_ALLOW, zygote_calls, COUNT(zygote_calls));
    if (failed) {
        return failed;
    }
    failed = add_calls(filter, SCMP_ACT_ERRNO(ENOSYS), missing, COUNT(missing));
    if (failed) {
        return failed;
    }
    return allow_when(filter, worker_when, COUNT(worker_when));
}

static int build_master(scmp_filter_ctx filter)
{
    static const struct {
        const int *calls;
        size_t count;
    } lists[] = {
        { worker_calls, COUNT(worker_calls) },     { worker_refused, COUNT(worker_refused) },
        { shared_calls, COUNT(shared_calls) },     { front_calls, COUNT(front_calls) },
        { executor_calls, COUNT(executor_calls) }, { zygote_calls, COUNT(zygote_calls) },
        { master_calls, COUNT(master_calls) },
    };
    int failed = add_calls(filter, SCMP_ACT_ERRNO(ENOSYS), missing, COUNT(missing));
    for (size_t i = 0; i < COUNT(lists) && failed == 0; i++) {
        failed = add_calls(filter, SCMP_ACT_ALLOW, lists[i].calls, lists[i].count);
    }
    return failed;
}

static int build_and_load(scmp_filter_ctx filter, int (*build)(scmp_filter_ctx))
{
    int failed = build(filter);
    if (failed) {
        return failed;
    }
    failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (failed) {
        return failed;
    }
    /* Compile the filter to a binary tree instead of a chain of comparisons. */
    failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (failed) {
        return failed;
    }
    return seccomp_load(filter);
}

/* Limits the process, with all its threads, to the calls that `build` allows; all others fail
 * with EPERM. */
static int limit_to(int (*build)(scmp_filter_ctx), struct cbx_err *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (filter == NULL) {
        return cbx_fail(err, CBX_EIO, "seccomp: no filter could be made");
    }
    int failed = build_and_load(filter, build);
    seccomp_release(filter);
    return fail_filter(failed, err);
}

int cbx_jail_front(struct cbx_err *err)
{
    return limit_to(build_front, err);
}

int cbx_jail_executor(bool tcp, struct cbx_err *err)
{
    return limit_to(tcp ? build_tcp_executor : build_executor, err);
}

int cbx_jail_reader(struct cbx_err *err)
{
    return limit_to(build_shared, err);
}

int cbx_jail_sender(bool local, struct cbx_err *err)
{
    return limit_to(local ? build_local_sender : build_sender, err);
}

int cbx_jail_replicas(struct cbx_err *err)
{
    return limit_to(build_replicas, err);
}

int cbx_jail_zygote(struct cbx_err *err)
{
    return limit_to(build_zygote, err);
}

int cbx_jail_master(struct cbx_err *err)
{
    return limit_to(build_master, err);
}
