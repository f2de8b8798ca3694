/* SPDX-License-Identifier: MIT
 * Tests of the features that the guard uses (docker/inside/supervisor/guard_notifier.h); no
 * attempt to escape. */
#include "docker/inside/probe/probe.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS /* Linux 6.6 */
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS      SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1ul
#endif

/* Runs in a separate process, as a filter cannot be removed. */
static void try_means(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = { .len = 1, .filter = &allow };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    int reason = errno;
    /* busy: a sandbox's program runs under a filter with a listener */
    bool notifies = listener >= 0 || reason == EBUSY;
    bool quick = listener >= 0 && ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
                                        SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) == 0;
    long abi =
        syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_CREATE_RULESET_VERSION);
    const char *holds = "lacks";
    if (notifies) {
        holds = abi < 1 ? "partly" : "held";
    }
    printf("guard\t%s\tuser notification: %s%s; Landlock: ", holds,
           notifies ? "yes" : strerror(reason), quick ? ", with a synchronous wake-up" : "");
    if (abi >= 1) {
        printf("version %ld\n", abi);
    } else {
        printf("none\n");
    }
    fflush(stdout);
}

void cbx_probe_guard(void)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        try_means();
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}
