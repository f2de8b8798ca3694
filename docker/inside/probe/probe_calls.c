/* SPDX-License-Identifier: MIT
 * System calls: calls that must be refused, calls that must be allowed, and other entries into
 * the host kernel. */
#include "docker/inside/probe/probe.h"
#include "docker/inside/probe/probe_attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An argument is a number or the address of a text. */
static const struct call {
    const char *name;
    long number, a[6];
} calls[] = {
#define CBX_CALL(name, number, a, b, c, d, e, f)                                                   \
    { name, number, { (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f) } },
#include "docker/inside/probe/probe.def"
#undef CBX_CALL
};

static long do_call(void *context)
{
    const struct call *c = context;
    return syscall(c->number, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4], c->a[5]);
}

static int try_call(struct call call)
{
    return cbx_attempt_run(do_call, &call);
}

/* --- namespaces ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned long flag;
} namespaces[] = {
    { "mount", CLONE_NEWNS },    { "cgroup", CLONE_NEWCGROUP }, { "uts", CLONE_NEWUTS },
    { "ipc", CLONE_NEWIPC },     { "user", CLONE_NEWUSER },     { "pid", CLONE_NEWPID },
    { "network", CLONE_NEWNET }, { "time", CLONE_NEWTIME },
};
enum { NAMESPACES = sizeof(namespaces) / sizeof(namespaces[0]) };

/* A created child ends at once. */
static long do_clone(void *flags)
{
    long pid = syscall(SYS_clone, *(unsigned long *)flags | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
        _exit(0);
    }
    return pid;
}

static long do_clone3(void *flags)
{
    struct clone_args args = { .flags = *(unsigned long *)flags, .exit_signal = SIGCHLD };
    long pid = syscall(SYS_clone3, &args, sizeof(args));
    if (pid == 0) {
        _exit(0);
    }
    return pid;
}

static void try_namespaces(void)
{
    for (size_t i = 0; i < NAMESPACES; i++) {
        char name[64];
        unsigned long flag = namespaces[i].flag;
        struct call unshare_call = { .number = SYS_unshare, .a = { (long)flag } };
        snprintf(name, sizeof(name), "unshare-%s", namespaces[i].name);
        cbx_attempt_must_fail(name, do_call, &unshare_call);
        if (flag != CLONE_NEWTIME) { /* for clone() this bit is part of the signal number */
            snprintf(name, sizeof(name), "clone-%s", namespaces[i].name);
            cbx_attempt_must_fail(name, do_clone, &flag);
            /* A user namespace would permit creating the other one. */
            flag |= CLONE_NEWUSER;
            snprintf(name, sizeof(name), "clone-user-%s", namespaces[i].name);
            cbx_attempt_must_fail(name, do_clone, &flag);
        }
        snprintf(name, sizeof(name), "clone3-%s", namespaces[i].name);
        cbx_attempt_must_fail(name, do_clone3, &flag);
    }
}

/* --- other entries ---------------------------------------------------------------------------- */

#ifdef __x86_64__
/* Calls getpid of the 32-bit table, whose arguments no filter checks. */
static long enter_as_32_bit(void *context)
{
    (void)context;
    long result = 20;
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    errno = result < 0 ? (int)-result : 0;
    return result;
}

static long enter_as_x32(void *context)
{
    (void)context;
    return syscall(0x40000000 + SYS_getpid);
}
#endif

static void try_entries(void)
{
#ifdef __x86_64__
    int result = cbx_attempt_run(enter_as_32_bit, NULL);
    /* A kernel without 32-bit programs answers with a fault. */
    cbx_attempt_report_if(cbx_is_refused(result) || result == -SIGSEGV, "entry-32-bit", "%s",
                          cbx_result_text(result));
    cbx_attempt_must_fail("entry-x32", enter_as_x32, NULL);
#endif
}

/* Calls that are newer than the profile: unknown calls must be refused. */
static void try_young_calls(void)
{
    enum { FIRST = 450, LAST = 600 };
    int through = 0, first = 0;
    for (int number = FIRST; number <= LAST; number++) {
        if (!cbx_is_refused(try_call((struct call){ .number = number, .a = { -1, -1, -1 } }))) {
            first = through++ == 0 ? number : first;
        }
    }
    cbx_attempt_report_if(through == 0, "calls-450-to-600", "%d got through, the first is %d",
                          through, first);
}

/* Tries calls with which a program may restrict itself further. */
static void try_landlock(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi > 0) {
        cbx_attempt_report("landlock-usable", CBX_HELD, "version %ld", abi);
    } else if (errno == ENOSYS || errno == EOPNOTSUPP) {
        cbx_attempt_report("landlock-usable", CBX_HELD, "this kernel has none");
    } else {
        cbx_attempt_report("landlock-usable", CBX_UNKNOWN, "%s", strerrorname_np(errno));
    }
}

void cbx_probe_calls(void)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct call call = calls[i];
        cbx_attempt_must_fail(call.name, do_call, &call);
    }
    unlink("/workspace/.probe-mem");
    unlink("/workspace/.probe-disk");
    unlink("/workspace/.probe-whiteout");
    try_namespaces();
    try_entries();
    try_young_calls();
    try_landlock();
}
