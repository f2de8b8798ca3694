/* SPDX-License-Identifier: MIT
 * The guard: a seccomp filter of the kernel's process whose notifications (seccomp_unotify(2)) the
 * supervisor answers. What the policy denies fails with EACCES and is reported; all else continues.
 * The filter of the container, whose errors come first, stays below it. */
#include "docker/supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum refusal {
#define CBX_REFUSAL(id, ...) REFUSE_##id,
#include "policies/guard.def"
};
enum { SERVED_MAX = 64, KEPT_MAX = 16 };

struct cbx_guard_state cbx_guard = { .listener = -1 };

/* What was refused in a run. The last entry stands for all that found no place. */
static struct {
    struct entry {
        uint32_t refusal, count;
        bool reported;
        char what[CBX_FRAME_BLOCKED_MAX];
    } entries[KEPT_MAX];
    int count;
} refusals;

/* --- the filter ------------------------------------------------------------------------------- */

#define LOAD(field)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
/* Notifies of this call and leaves the filter. */
#define NOTIFY(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), RETURN(SECCOMP_RET_USER_NOTIF)

void cbx_guard_install(int socket)
{
    static struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        NOTIFY(SYS_execve),
        NOTIFY(SYS_execveat),
        NOTIFY(SYS_fork),
        NOTIFY(SYS_vfork),
        NOTIFY(SYS_socket),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        RETURN(SECCOMP_RET_USER_NOTIF),
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]), .filter = filter };
    long listener =
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    char byte = 0;
    struct iovec part = { .iov_base = &byte, .iov_len = 1 };
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { 0 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    if (listener >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        int fd = (int)listener;
        memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    }
    if (sendmsg(socket, &message, MSG_NOSIGNAL) != 1) {
        _exit(127); /* nobody would answer */
    }
    if (listener >= 0) {
        close((int)listener);
    }
}

void cbx_guard_attach(int socket)
{
    char byte;
    struct iovec part = { .iov_base = &byte, .iov_len = 1 };
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };
    ssize_t n;
    do {
        n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    cbx_close(&cbx_guard.listener);
    cbx_guard.refused = cbx_guard.opened = 0; /* the kernel itself is started now */
    struct cmsghdr *head = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head != NULL && head->cmsg_type == SCM_RIGHTS) {
        memcpy(&cbx_guard.listener, CMSG_DATA(head), sizeof(int));
        fcntl(cbx_guard.listener, F_SETFL, O_NONBLOCK);
    }
    cbx_guard.installed = cbx_guard.listener >= 0;
}

/* --- reports ---------------------------------------------------------------------------------- */

static void report_refusal(struct entry *entry)
{
    struct cbx_frame_blocked head = { .refusal = entry->refusal, .count = entry->count };
    entry->reported = true;
    cbx_report_frame(CBX_FRAME_BLOCKED, &head, sizeof(head), entry->what, strlen(entry->what));
}

static void note_refusal(uint32_t refusal, const char *what)
{
    int i = 0;
    while (i < refusals.count && !(refusals.entries[i].refusal == refusal &&
                                   strcmp(refusals.entries[i].what, what) == 0)) {
        i++;
    }
    i = i < KEPT_MAX ? i : KEPT_MAX - 1;
    struct entry *entry = &refusals.entries[i];
    if (i == refusals.count) {
        refusals.count++;
        *entry = (struct entry){ .refusal = refusal };
        snprintf(entry->what, sizeof(entry->what), "%s", i + 1 < KEPT_MAX ? what : "others");
    }
    entry->count += entry->count < UINT32_MAX;
    if (entry->count == 1 && cbx_run_is_active()) {
        report_refusal(entry);
    }
}

void cbx_guard_set(uint32_t bits)
{
    cbx_guard.opened |= ~bits;
    cbx_guard.refused = bits & ~cbx_guard.opened;
}

void cbx_guard_begin(void)
{
    for (int i = 0; i < refusals.count; i++) {
        report_refusal(&refusals.entries[i]);
    }
}

void cbx_guard_end(void)
{
    for (int i = 0; i < refusals.count; i++) {
        if (refusals.entries[i].count > 1 || !refusals.entries[i].reported) {
            report_refusal(&refusals.entries[i]);
        }
    }
    refusals.count = 0;
}

/* --- notifications ---------------------------------------------------------------------------- */

/* A text in the memory of the process that waits, for the report alone: other threads may change it. */
static void read_memory(pid_t pid, uint64_t address, char *out, size_t size)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? pread(fd, out, size - 1, (off_t)address) : -1;
    out[n > 0 ? n : 0] = '\0';
    for (char *c = out; *c != '\0'; c++) {
        *c = *c >= ' ' && *c < 127 ? *c : '?';
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void describe_call(const struct seccomp_notif *call, uint32_t *refusal, char *what,
                          size_t size)
{
    const struct seccomp_data *data = &call->data;
    *refusal = REFUSE_START;
    switch (data->nr) {
    case SYS_execve:
        read_memory((pid_t)call->pid, data->args[0], what, size);
        break;
    case SYS_execveat:
        snprintf(what, size, "a descriptor");
        break;
    case SYS_socket:
        *refusal = REFUSE_SOCKET;
        snprintf(what, size, "%s",
                 data->args[0] == AF_INET    ? "IPv4"
                 : data->args[0] == AF_INET6 ? "IPv6"
                                             : "another family");
        break;
    default:
        snprintf(what, size, "a new process");
    }
    if (what[0] == '\0') {
        snprintf(what, size, "a program");
    }
}

/* Sockets of one machine: the kernels and libraries use them between threads. */
static bool is_local_socket(const struct seccomp_data *data)
{
    return data->nr == SYS_socket && data->args[0] == AF_UNIX;
}

static void answer_call(const struct seccomp_notif *call)
{
    struct seccomp_notif_resp response = { .id = call->id,
                                           .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
    char what[CBX_FRAME_BLOCKED_MAX] = "";
    uint32_t refusal;
    describe_call(call, &refusal, what, sizeof(what));
    if ((cbx_guard.refused >> refusal & 1) != 0 && !is_local_socket(&call->data)) {
        response.flags = 0;
        response.error = -EACCES;
        note_refusal(refusal, what);
    }
    ioctl(cbx_guard.listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void cbx_guard_serve(void)
{
    for (int i = 0; i < SERVED_MAX; i++) {
        /* The kernel of a newer Linux may know a larger struct. */
        union {
            struct seccomp_notif call;
            char bytes[512];
        } received;
        memset(&received, 0, sizeof(received)); /* Linux refuses anything else */
        struct pollfd waiting = { .fd = cbx_guard.listener, .events = POLLIN };
        if (cbx_guard.listener < 0 || poll(&waiting, 1, 0) <= 0 ||
            (waiting.revents & POLLIN) == 0) {
            if ((waiting.revents & (POLLHUP | POLLERR)) != 0) {
                cbx_close(&cbx_guard.listener); /* every process with the filter has ended */
            }
            return;
        }
        if (ioctl(cbx_guard.listener, SECCOMP_IOCTL_NOTIF_RECV, &received) == 0) {
            answer_call(&received.call);
        }
    }
}
