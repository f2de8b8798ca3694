/* SPDX-License-Identifier: MIT
 * seccomp through libseccomp, and rlimits. */
#include "gateway/ipc/jail.h"

#include <errno.h>
#include <seccomp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

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

/* All that judging needs once libcrypto is warm. */
static const int worker_calls[] = {
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(recvfrom),
    SCMP_SYS(sendto),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(close),
    SCMP_SYS(brk),
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(getrandom),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(sched_yield),
    SCMP_SYS(setitimer),
#ifdef SANITIZED
    SCMP_SYS(mprotect),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(tgkill),
#endif
};

/* Calls that the C library makes by itself while it computes (how much memory there is, how many
 * processors, whether a stream is a terminal): qsort calls sysinfo, assert calls fstat. The
 * answer is ENOSYS, as from an old host kernel, and the library takes its default. Killing the
 * worker instead would make a denial of a program that the policy allows. */
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

static int load_filter(scmp_filter_ctx filter, int failed, struct cbx_err *err)
{
    if (failed == 0) {
        failed = seccomp_load(filter);
    }
    seccomp_release(filter);
    return failed == 0 ? 0 : cbx_fail(err, CBX_EIO, "seccomp: %s", strerror(-failed));
}

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

int cbx_jail_worker(struct cbx_err *err)
{
    limit_worker();
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (filter == NULL) {
        return cbx_fail(err, CBX_EIO, "seccomp: no filter could be made");
    }
    int failed = 0;
    for (size_t i = 0; i < sizeof(worker_calls) / sizeof(worker_calls[0]) && failed == 0; i++) {
        failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, worker_calls[i], 0);
    }
    for (size_t i = 0; i < sizeof(worker_refused) / sizeof(worker_refused[0]) && failed == 0; i++) {
        failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), worker_refused[i], 0);
    }
    return load_filter(filter, failed, err);
}

static const int front_refused[] = {
    SCMP_SYS(connect),
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
#ifndef SANITIZED
    SCMP_SYS(ptrace), /* the leak checker stops the other threads with it */
#endif
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(chroot),
    SCMP_SYS(pivot_root),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(mknod),
    SCMP_SYS(mknodat),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(kcmp),
};

int cbx_jail_front(struct cbx_err *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == NULL) {
        return cbx_fail(err, CBX_EIO, "seccomp: no filter could be made");
    }
    int failed = 0;
    for (size_t i = 0; i < sizeof(front_refused) / sizeof(front_refused[0]) && failed == 0; i++) {
        failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), front_refused[i], 0);
    }
    /* Linux reads the family as an int and ignores the rest of the register. */
    if (failed == 0) {
        failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
                                  SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, AF_UNIX));
    }
    /* TCP Fast Open connects without connect(). */
    if (failed == 0) {
        failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(sendto), 1,
                                  SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN));
    }
    if (failed == 0) {
        failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(sendmsg), 1,
                                  SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN));
    }
    if (failed == 0) {
        failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(sendmmsg), 1,
                                  SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN));
    }
    if (failed == 0) {
        failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    }
    return load_filter(filter, failed, err);
}
