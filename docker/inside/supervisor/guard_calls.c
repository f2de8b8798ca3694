/* SPDX-License-Identifier: MIT
 * Decisions about notified calls. Registers decide; a program's threads can change its memory
 * after it was read here. So a path decides only together with another mechanism: for opening
 * files, Landlock (docker/inside/confine/open_places.def, guard_files.c); for programs that a
 * shell starts, the processes have a single thread. */
#include "docker/inside/supervisor/guard_notifier.h"

#include "docker/inside/confine/guard_report.h"
#include "docker/inside/confine/names.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool cbx_guard_refuses(const struct cbx_guard_call *call)
{
    return (cbx_guard.refused >> call->refusal & 1) != 0;
}

bool cbx_guard_read_memory(pid_t pid, uint64_t address, char *out, size_t size)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? pread(fd, out, size - 1, (off_t)address) : -1;
    /* The text may be at the end of the last mapped page. */
    size_t part = 4096 - address % 4096;
    if (fd >= 0 && n < 0 && part < size - 1) {
        n = pread(fd, out, part, (off_t)address);
    }
    out[n > 0 ? n : 0] = '\0';
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0 && n >= 0;
}

static bool is_thread_of(pid_t thread, pid_t process)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)process, (int)thread);
    return thread > 0 && process > 0 && access(path, F_OK) == 0;
}

/* --- programs --------------------------------------------------------------------------------- */

static bool is_listed(const char *name)
{
    for (size_t at = 0; at < cbx_guard.programs_len;) {
        const char *each = cbx_guard.programs + at;
        size_t len = strnlen(each, cbx_guard.programs_len - at);
        if (strlen(name) == len && memcmp(each, name, len) == 0) {
            return true;
        }
        at += len + 1;
    }
    return false;
}

void cbx_guard_unpack(const struct seccomp_data *data, char *out)
{
    memcpy(out, &data->args[CBX_WORDS_AT], CBX_WORDS_BYTES);
    out[CBX_WORDS_BYTES] = '\0';
}

/* A shell that the kernel of Python starts runs the lines of shell in a notebook. */
static bool is_shell_of_lines(const struct cbx_guard_call *call, const char *name)
{
    return call->listener->kind == CBX_PYTHON_BIT && name != NULL &&
           (strcmp(name, "sh") == 0 || strcmp(name, "bash") == 0);
}

/* Some programs start others through a shell, such as tar its compressors. That shell starts the
 * listed programs. */
static bool is_shell_of_listed(const struct cbx_guard_call *call, const char *name)
{
    static const char *const callers[] = { "tar" };
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)call->pid);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    const char *caller = cbx_program_name(path);
    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
        if (caller != NULL && strcmp(caller, callers[i]) == 0) {
            return name != NULL && strcmp(name, "sh") == 0 && is_listed(caller);
        }
    }
    return false;
}

/* The kernel of Python, which has a list for judged lines of shell, starts programs only while
 * it runs such a line. The processes of lines are separate, and may continue after the line. */
static bool may_use_list(const struct cbx_guard_call *call)
{
    bool kernel = call->listener->kind == CBX_PYTHON_BIT && is_thread_of(call->pid, cbx_kernel.pid);
    return cbx_guard.programs_len > 0 && (!kernel || call->pid == cbx_guard.line_thread);
}

static int decide_program(struct cbx_guard_call *call)
{
    char path[PATH_MAX];
    if (!cbx_guard_refuses(call)) {
        return 0;
    }
    bool readable = cbx_guard_read_memory(call->pid, call->data->args[0], path, sizeof(path));
    if (!readable) {
        cbx_guard_unpack(call->data, path);
    }
    snprintf(call->what, sizeof(call->what), "%.*s", (int)sizeof(call->what) - 1,
             path[0] != '\0' ? path : "a program");
    if (!may_use_list(call)) {
        return -EACCES;
    }
    const char *name = readable ? cbx_program_name(path) : path;
    if (readable && name != NULL && access(path, F_OK) != 0) {
        call->what[0] = '\0'; /* a program is searched for in each folder of PATH */
        return -ENOENT;
    }
    if ((name != NULL && is_listed(name)) || is_shell_of_lines(call, name) ||
        is_shell_of_listed(call, name)) {
        return 0;
    }
    return -EACCES;
}

/* If programs are listed, starting them requires processes. */
static int decide_process(struct cbx_guard_call *call)
{
    snprintf(call->what, sizeof(call->what), "a new process");
    return cbx_guard_refuses(call) && !may_use_list(call) ? -EACCES : 0;
}

/* If the policy grants hosts, a program connects to the proxy at 127.0.0.1. From there only the
 * program's own processes are reachable too, as a sandbox has no other network. */
static bool is_for_proxy(const struct cbx_guard_call *call)
{
    int type = (int)call->data->args[1] & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
    return cbx_guard.proxy && (int)call->data->args[0] == AF_INET && type == SOCK_STREAM;
}

static int decide_socket(struct cbx_guard_call *call)
{
    int family = (int)call->data->args[0];
    if (is_for_proxy(call)) {
        return 0;
    }
    snprintf(call->what, sizeof(call->what), "%s",
             family == AF_INET    ? "IPv4"
             : family == AF_INET6 ? "IPv6"
                                  : "another family");
    return cbx_guard_refuses(call) ? -EACCES : 0;
}

static bool read_address(const struct cbx_guard_call *call, struct sockaddr_in *out)
{
    char path[32];
    size_t len = call->data->args[2] < sizeof(*out) ? (size_t)call->data->args[2] : sizeof(*out);
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)call->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    memset(out, 0, sizeof(*out));
    bool readable = fd >= 0 && len >= sizeof(out->sin_family) &&
                    pread(fd, out, len, (off_t)call->data->args[1]) == (ssize_t)len;
    if (fd >= 0) {
        close(fd);
    }
    return readable;
}

/* If hosts are granted, IPv4 sockets exist. Another thread can change an address after it was
 * read here; a sandbox has no route to any other host, so this decision only makes the attempt
 * fail with a report. */
static int decide_address(struct cbx_guard_call *call)
{
    struct sockaddr_in address;
    if (!cbx_guard_refuses(call) || !cbx_guard.proxy) {
        return 0; /* then all sockets are of AF_UNIX */
    }
    if (!read_address(call, &address)) {
        snprintf(call->what, sizeof(call->what), "an address that cannot be read");
        return -EACCES;
    }
    if (address.sin_family == AF_UNIX || address.sin_family == AF_UNSPEC ||
        (address.sin_family == AF_INET && ntohl(address.sin_addr.s_addr) == INADDR_LOOPBACK &&
         ntohs(address.sin_port) == CBX_FRAME_PROXY_PORT)) {
        return 0;
    }
    char text[INET_ADDRSTRLEN] = "another family";
    if (address.sin_family == AF_INET) {
        inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
    }
    snprintf(call->what, sizeof(call->what), "%s, port %d, without the proxy", text,
             ntohs(address.sin_port));
    return -EACCES;
}

/* True for a socket of AF_UNIX: Linux lists the sockets of the network namespace, and a sandbox
 * has one namespace. */
static bool is_local_socket(const struct cbx_guard_call *call)
{
    char path[64], link[64], line[512];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)call->pid, (int)call->data->args[0]);
    ssize_t n = readlink(path, link, sizeof(link) - 1);
    link[n > 0 ? n : 0] = '\0';
    unsigned long inode = strncmp(link, "socket:[", 8) == 0 ? strtoul(link + 8, NULL, 10) : 0;
    bool found = false;
    FILE *sockets = inode != 0 ? fopen("/proc/net/unix", "re") : NULL;
    while (sockets != NULL && !found && fgets(line, sizeof(line), sockets) != NULL) {
        unsigned long each = 0; /* Num RefCount Protocol Flags Type St Inode Path */
        found = sscanf(line, "%*s %*s %*s %*s %*s %*s %lu", &each) == 1 && each == inode;
    }
    if (sockets != NULL) {
        fclose(sockets);
    }
    return found;
}

static int decide_listener(struct cbx_guard_call *call)
{
    if (!cbx_guard_refuses(call) || !cbx_guard.proxy || is_local_socket(call)) {
        return 0;
    }
    snprintf(call->what, sizeof(call->what), "a server");
    return -EACCES;
}

/* --- processes -------------------------------------------------------------------------------- */

/* True for threads of the caller's own process. */
static bool is_own(const struct cbx_guard_call *call, pid_t target)
{
    return is_thread_of(target, call->pid);
}

/* True for the supervisor, and for the kernel if the calling program is another one. */
static bool is_ours(const struct cbx_guard_call *call, pid_t target)
{
    bool apart = (call->listener->kind & (CBX_SHELL_BIT | CBX_NATIVE_BIT)) != 0;
    return target == getpid() || (apart && target == cbx_kernel.pid);
}

static int decide_target(struct cbx_guard_call *call, pid_t target, bool group, bool everyone)
{
    snprintf(call->what, sizeof(call->what), everyone ? "all processes" : "process %d",
             (int)target);
    if (everyone || is_ours(call, target)) {
        call->always = true;
        return -EPERM;
    }
    if (group || is_own(call, target)) {
        return 0;
    }
    /* A shell signals its jobs. */
    return cbx_guard_refuses(call) && call->listener->kind != CBX_SHELL_BIT ? -EPERM : 0;
}

static int decide_signal(struct cbx_guard_call *call)
{
    pid_t target = (pid_t)call->data->args[0];
    bool three = call->row->number == SYS_tgkill || call->row->number == SYS_rt_tgsigqueueinfo;
    if ((int)call->data->args[three ? 2 : 1] == 0) {
        return 0; /* signal 0 only tests whether the process exists */
    }
    if (target < -1) {
        return is_ours(call, -target) ? decide_target(call, -target, false, false) : 0;
    }
    return decide_target(call, target, target == 0, target == -1);
}

/* `group` and `user` are the values of `which` for them. */
static int decide_which(struct cbx_guard_call *call, int group, int user)
{
    int which = (int)call->data->args[0];
    pid_t who = (pid_t)call->data->args[1];
    return decide_target(call, who, who == 0 || which == group, which == user);
}

/* Linux sends signals to the receiver of a descriptor. If the receiver is in memory, another
 * thread can change it after it was read here, so it is not read. */
static int decide_receiver(struct cbx_guard_call *call)
{
    pid_t receiver = (pid_t)call->data->args[2];
    if (call->row->number == SYS_fcntl && (int)call->data->args[1] == F_SETOWN) {
        return receiver == 0 ? 0 : decide_target(call, receiver, false, receiver < 0);
    }
    snprintf(call->what, sizeof(call->what), "the receiver of a descriptor's signals");
    return cbx_guard_refuses(call) ? -EACCES : 0;
}

/* --- reports of the kernel -------------------------------------------------------------------- */

/* Rows that the audit hook of Python enforces; the supervisor notes all others where it refuses
 * them itself. */
enum {
    REPORTED = 1 << CBX_GUARD_READ | 1 << CBX_GUARD_WRITE | 1 << CBX_GUARD_NATIVE |
               1 << CBX_GUARD_UNPICKLE | 1 << CBX_GUARD_REFLECT | 1 << CBX_GUARD_IMPORT |
               1 << CBX_GUARD_EVALUATE
};

static int take_refusal(struct cbx_guard_call *call)
{
    uint32_t row = (uint32_t)call->data->args[1] & CBX_REPORT_ROW;
    if (row >= CBX_GUARD_COUNT || (REPORTED >> row & 1) == 0) {
        return -EPERM;
    }
    call->refusal = row;
    if (!cbx_guard_refuses(call)) {
        return CBX_GUARD_ANSWERED;
    }
    uint64_t bytes = call->data->args[3];
    size_t size = bytes < sizeof(call->what) - 1 ? (size_t)bytes + 1 : sizeof(call->what);
    char text[sizeof(call->what)] = "";
    cbx_guard_read_memory(call->pid, call->data->args[2], text, size);
    cbx_guard_printable(text);
    cbx_guard_note(row, text[0] != '\0' ? text : "a text that cannot be read");
    return CBX_GUARD_ANSWERED;
}

static int decide_report(struct cbx_guard_call *call)
{
    uint64_t secret = call->data->args[4];
    uint32_t kind = (uint32_t)call->data->args[1] & CBX_REPORT_KIND;
    if (kind == CBX_REPORT_SECRET) {
        bool first = cbx_guard.secret == 0 && call->pid == cbx_kernel.pid && !cbx_guard.has_run;
        cbx_guard.secret = first ? secret : cbx_guard.secret;
        return first && secret != 0 ? CBX_GUARD_ANSWERED : -EPERM;
    }
    if (cbx_guard.secret == 0 || secret != cbx_guard.secret) {
        return -EPERM;
    }
    switch (kind) {
    case CBX_REPORT_LINES:
        cbx_guard.line_thread = call->pid;
        return CBX_GUARD_ANSWERED;
    case CBX_REPORT_DONE:
        cbx_guard.line_thread = 0;
        return CBX_GUARD_ANSWERED;
    case CBX_REPORT_REFUSED:
        return take_refusal(call);
    case CBX_REPORT_FRAME:
        return cbx_kernel_sent((uint8_t)call->data->args[1], call->data->args[2])
                   ? CBX_GUARD_ANSWERED
                   : -EPERM;
    default:
        return -EPERM;
    }
}

/* ---------------------------------------------------------------------------------------------- */

static int decide(struct cbx_guard_call *call)
{
    const uint64_t *args = (const uint64_t *)call->data->args;
    enum { IO_GROUP = 2, IO_USER = 3 }; /* values of ioprio_set(2) */
    switch (call->row->argument) {
    case CBX_CALL_PROGRAM:
        return decide_program(call);
    case CBX_CALL_PROCESS:
        return decide_process(call);
    case CBX_CALL_FAMILY:
        return decide_socket(call);
    case CBX_CALL_ADDRESS:
        return decide_address(call);
    case CBX_CALL_LISTENS:
        return decide_listener(call);
    case CBX_CALL_SIGNALLED:
        return decide_signal(call);
    case CBX_CALL_TARGET:
        return decide_target(call, (pid_t)args[0], false, false);
    case CBX_CALL_WHICH:
        return decide_which(call, PRIO_PGRP, PRIO_USER);
    case CBX_CALL_IO_WHICH:
        return decide_which(call, IO_GROUP, IO_USER);
    case CBX_CALL_MEMORY:
        snprintf(call->what, sizeof(call->what), "memory");
        return cbx_guard_refuses(call) ? -EACCES : 0;
    case CBX_CALL_RECEIVER:
        return decide_receiver(call);
    case CBX_CALL_REPORT:
        return decide_report(call);
    case CBX_CALL_OPENED:
    case CBX_CALL_OPENED_AT:
    case CBX_CALL_CHANGED:
    case CBX_CALL_CHANGED_AT:
    case CBX_CALL_MOVED:
    case CBX_CALL_MOVED_AT:
    case CBX_CALL_LINKED:
    case CBX_CALL_LINKED_AT:
    case CBX_CALL_SYMLINKED:
    case CBX_CALL_SYMLINKED_AT:
        return cbx_guard_decide_paths(call);
    }
    return -EPERM;
}

int cbx_guard_decide(struct cbx_listener *listener, const struct seccomp_notif *notified)
{
    struct cbx_guard_call call = { .listener = listener,
                                   .row = cbx_call_find(notified->data.nr),
                                   .data = &notified->data,
                                   .pid = (pid_t)notified->pid };
    if (call.row == NULL) {
        return -EPERM;
    }
    call.refusal = call.row->refusal;
    if (listener->starts) {
        listener->starts = call.row->argument != CBX_CALL_PROGRAM;
        return 0; /* before the program runs, the code that starts it is trusted */
    }
    int error = decide(&call);
    if (error < 0 && call.what[0] != '\0' && cbx_guard_refuses(&call)) {
        cbx_guard_printable(call.what);
        cbx_guard_note(call.refusal, call.what);
    }
    return error;
}
