/* SPDX-License-Identifier: MIT
 * The filter is made of the rows of calls.def. It decides by registers alone, which no other
 * thread can change; memory contents are for the report, or decided together with Landlock's
 * rules (open_places.def). */
#include "docker/inside/confine/filter.h"

#include "docker/inside/confine/guard_report.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct cbx_call_row call_rows[] = {
#define CBX_CALL(call, condition, kinds, refusal, argument)                                        \
    { SYS_##call, CBX_CALL_##condition, kinds, CBX_GUARD_##refusal, CBX_CALL_##argument },
#include "docker/inside/confine/calls.def"
};
enum {
    ROWS = sizeof(call_rows) / sizeof(call_rows[0]),
    ROW_STEPS = 10,
    STEPS_MAX = 6 + ROWS * ROW_STEPS + 1,
    /* bit in the numbers of the x32 ABI, which has the architecture of x86-64 */
    X32_BIT = 0x40000000,
};

const struct cbx_call_row *cbx_call_find(int number)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (call_rows[i].number == number) {
            return &call_rows[i];
        }
    }
    return NULL;
}

#define LOAD(field)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action)      BPF_STMT(BPF_RET | BPF_K, (action))
#define EQUAL(k, yes, no)   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (k), (yes), (no))
#define ANY_BIT(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (k), (yes), (no))
#define NOTIFY              RETURN(SECCOMP_RET_USER_NOTIF)
#define ALLOW               RETURN(SECCOMP_RET_ALLOW)

/* Adds the steps of a row for its call number: each path returns. Linux reads all these
 * arguments as 32 bits, or ignores their upper halves. */
static size_t add_steps(struct sock_filter *to, enum cbx_call_condition condition)
{
#define STEPS(...)                                                                                 \
    {                                                                                              \
        const struct sock_filter steps[] = { __VA_ARGS__ };                                        \
        memcpy(to, steps, sizeof(steps));                                                          \
        return sizeof(steps) / sizeof(steps[0]);                                                   \
    }
    switch (condition) {
    case CBX_CALL_ALWAYS:
        STEPS(NOTIFY)
    case CBX_CALL_NO_THREAD:
        STEPS(LOAD(args[0]), ANY_BIT(CLONE_THREAD, 1, 0), NOTIFY, ALLOW)
    case CBX_CALL_NOT_LOCAL:
        STEPS(LOAD(args[0]), EQUAL(AF_UNIX, 1, 0), NOTIFY, ALLOW)
    case CBX_CALL_NOT_SELF:
        STEPS(LOAD(args[0]), EQUAL(0, 1, 0), NOTIFY, ALLOW)
    case CBX_CALL_NEW_CODE:
        /* A shared mapping needs no PROT_WRITE, because another mapping can write it. */
        STEPS(LOAD(args[2]), ANY_BIT(PROT_EXEC, 0, 6), ANY_BIT(PROT_WRITE, 4, 0), LOAD(args[3]),
              ANY_BIT(MAP_ANONYMOUS, 2, 0), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MAP_TYPE),
              EQUAL(MAP_PRIVATE, 1, 0), NOTIFY, ALLOW)
    case CBX_CALL_CODE:
        STEPS(LOAD(args[2]), ANY_BIT(PROT_EXEC, 0, 1), NOTIFY, ALLOW)
    case CBX_CALL_SHARED_CODE:
        STEPS(LOAD(args[2]), ANY_BIT(SHM_EXEC, 0, 1), NOTIFY, ALLOW)
    case CBX_CALL_OWNER:
        STEPS(LOAD(args[1]), EQUAL(F_SETOWN, 1, 0), EQUAL(F_SETOWN_EX, 0, 1), NOTIFY, ALLOW)
    case CBX_CALL_IO_OWNER:
        STEPS(LOAD(args[1]), EQUAL(FIOSETOWN, 1, 0), EQUAL(SIOCSPGRP, 0, 1), NOTIFY, ALLOW)
    case CBX_CALL_REPORTS:
        STEPS(LOAD(args[0]), EQUAL(CBX_REPORT_OPTION, 0, 1), NOTIFY, ALLOW)
    case CBX_CALL_UNSEEN:
        STEPS(LOAD(args[1]), ANY_BIT(O_NOFOLLOW, 1, 0), ANY_BIT(O_CLOEXEC, 1, 0), NOTIFY, ALLOW)
    case CBX_CALL_UNSEEN_AT:
        STEPS(LOAD(args[2]), ANY_BIT(O_NOFOLLOW, 3, 0), ANY_BIT(O_CLOEXEC, 0, 2), LOAD(args[0]),
              EQUAL((uint32_t)AT_FDCWD, 1, 0), NOTIFY, ALLOW)
    case CBX_CALL_UNSUPPORTED:
        STEPS(RETURN(SECCOMP_RET_ERRNO | ENOSYS))
    }
    STEPS(NOTIFY)
#undef STEPS
}

static size_t make_filter(enum cbx_program_kind kind, struct sock_filter *to)
{
    const struct sock_filter head[] = {
        LOAD(arch),
        EQUAL(AUDIT_ARCH_X86_64, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        /* the same calls with other numbers */
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1),
        RETURN(SECCOMP_RET_ERRNO | ENOSYS),
    };
    size_t n = sizeof(head) / sizeof(head[0]);
    memcpy(to, head, sizeof(head));
    for (size_t i = 0; i < ROWS; i++) {
        if ((call_rows[i].kinds & kind) != 0) {
            size_t steps = add_steps(to + n + 1, call_rows[i].condition);
            to[n] = (struct sock_filter)EQUAL((uint32_t)call_rows[i].number, 0, (uint8_t)steps);
            n += 1 + steps;
        }
    }
    to[n++] = (struct sock_filter)ALLOW;
    return n;
}

/* Space for one descriptor with a message. */
union ancillary {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

bool cbx_filter_install(enum cbx_program_kind kind, int socket)
{
    static struct sock_filter steps[STEPS_MAX];
    struct sock_fprog program = { .len = (unsigned short)make_filter(kind, steps),
                                  .filter = steps };
    uint8_t byte = (uint8_t)kind;
    struct iovec part = { .iov_base = &byte, .iov_len = 1 };
    union ancillary control = { 0 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (listener >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &listener, sizeof(listener));
    }
    bool sent = sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
    if (listener >= 0) {
        close(listener);
    }
    if (listener >= 0 && !sent) {
        _exit(127); /* no process would answer its notifications */
    }
    return listener >= 0;
}

int cbx_filter_receive(int socket, int *listener)
{
    uint8_t byte = 0;
    struct iovec part = { .iov_base = &byte, .iov_len = 1 };
    union ancillary control;
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };
    *listener = -1;
    ssize_t n;
    do {
        n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    struct cmsghdr *head = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head != NULL && head->cmsg_type == SCM_RIGHTS) {
        memcpy(listener, CMSG_DATA(head), sizeof(*listener));
    }
    return n == 1 ? byte : n == 0 ? -1 : 0;
}
