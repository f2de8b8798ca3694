/* SPDX-License-Identifier: MIT
 * What a notified call is answered with. Registers decide; a program's threads can change its memory after
 * it was read here. So a path decides only where something else holds, too: where files may be opened,
 * Landlock does (docker/inside/places.def); what a shell starts is started by processes of one thread. */
#include "docker/supervisor/guard.h"

#include "docker/inside/names.h"
#include "docker/inside/places.h"

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

/* A call that is decided. */
struct call {
    const struct cbx_listener *listener;
    const struct cbx_call_row *row;
    const struct seccomp_data *data;
    pid_t pid;        /* the thread that calls */
    uint32_t refusal; /* CBX_GUARD_... */
    char what[CBX_FRAME_BLOCKED_MAX];
    bool always; /* refused whatever the policy says */
};

static bool is_refused(const struct call *call)
{
    return (cbx_guard.refused >> call->refusal & 1) != 0;
}

/* A text in the memory of the process that waits; false when the memory cannot be read, as that of the
 * session's shell (docker/command/shell.c). */
static bool read_memory(pid_t pid, uint64_t address, char *out, size_t size)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? pread(fd, out, size - 1, (off_t)address) : -1;
    /* The text may stand at the end of the last page that there is. */
    for (size_t part = 4096 - address % 4096; fd >= 0 && n < 0 && part < size - 1;) {
        n = pread(fd, out, part, (off_t)address);
        break;
    }
    out[n > 0 ? n : 0] = '\0';
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0 && n >= 0;
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

/* The name that the shell's library put into the registers (docker/shell_loader): the program's name when it
 * is in a folder of programs, else the beginning of its path. */
static void unpack(const struct seccomp_data *data, char *out)
{
    memcpy(out, &data->args[CBX_WORDS_AT], CBX_WORDS_BYTES);
    out[CBX_WORDS_BYTES] = '\0';
}

/* Lines of shell in a notebook are run by a shell that the kernel of Python starts. */
static bool is_shell_of_lines(const struct call *call, const char *name)
{
    return call->listener->kind == CBX_PYTHON_BIT && name != NULL &&
           (strcmp(name, "sh") == 0 || strcmp(name, "bash") == 0);
}

/* Some programs start others through a shell: tar its compressors. That shell starts what is listed. */
static bool is_shell_of_listed(const struct call *call, const char *name)
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

static int decide_program(struct call *call)
{
    char path[PATH_MAX];
    if (!is_refused(call)) {
        return 0;
    }
    bool readable = read_memory(call->pid, call->data->args[0], path, sizeof(path));
    if (!readable) {
        unpack(call->data, path);
    }
    snprintf(call->what, sizeof(call->what), "%.*s", (int)sizeof(call->what) - 1,
             path[0] != '\0' ? path : "a program");
    if (cbx_guard.programs_len == 0) {
        return -EACCES;
    }
    const char *name = readable ? cbx_program_name(path) : path;
    if (readable && name != NULL && access(path, F_OK) != 0) {
        call->what[0] = '\0'; /* a program is looked for in each folder of PATH */
        return -ENOENT;
    }
    if ((name != NULL && is_listed(name)) || is_shell_of_lines(call, name) ||
        is_shell_of_listed(call, name)) {
        return 0;
    }
    return -EACCES;
}

/* Where programs are listed, processes are needed to start them. */
static int decide_process(struct call *call)
{
    snprintf(call->what, sizeof(call->what), "a new process");
    return is_refused(call) && cbx_guard.programs_len == 0 ? -EACCES : 0;
}

/* Where the policy grants hosts, a program connects to the proxy at 127.0.0.1. Nothing else can be reached from there but the program's
 * own processes, as a sandbox has no other network. */
static bool is_for_proxy(const struct call *call)
{
    int type = (int)call->data->args[1] & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
    return cbx_guard.proxy && (int)call->data->args[0] == AF_INET && type == SOCK_STREAM;
}

static int decide_socket(struct call *call)
{
    int family = (int)call->data->args[0];
    if (is_for_proxy(call)) {
        return 0;
    }
    snprintf(call->what, sizeof(call->what), "%s",
             family == AF_INET    ? "IPv4"
             : family == AF_INET6 ? "IPv6"
                                  : "another family");
    return is_refused(call) ? -EACCES : 0;
}

static bool read_address(const struct call *call, struct sockaddr_in *out)
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

/* Where hosts are granted, sockets of IPv4 exist. Another thread can change an address after it was read here; a sandbox has no route
 * to anything, so what this decides is that the attempt is refused with a report. */
static int decide_address(struct call *call)
{
    struct sockaddr_in address;
    if (!is_refused(call) || !cbx_guard.proxy) {
        return 0; /* then there is no socket but of AF_UNIX */
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

/* Whether it is a socket of AF_UNIX: Linux lists those of the network namespace, which the sandbox has one of. */
static bool is_local_socket(const struct call *call)
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

static int decide_listener(struct call *call)
{
    if (!is_refused(call) || !cbx_guard.proxy || is_local_socket(call)) {
        return 0;
    }
    snprintf(call->what, sizeof(call->what), "a server");
    return -EACCES;
}

/* --- processes -------------------------------------------------------------------------------- */

/* Threads of the caller's own process. */
static bool is_own(const struct call *call, pid_t target)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)call->pid, (int)target);
    return target > 0 && access(path, F_OK) == 0;
}

/* The supervisor, and the kernel where it is another program than the one that calls. */
static bool is_ours(const struct call *call, pid_t target)
{
    bool apart = (call->listener->kind & (CBX_SHELL_BIT | CBX_NATIVE_BIT)) != 0;
    return target == getpid() || (apart && target == cbx_kernel.pid);
}

static int decide_target(struct call *call, pid_t target, bool group, bool everyone)
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
    return is_refused(call) && call->listener->kind != CBX_SHELL_BIT ? -EPERM : 0;
}

static int decide_signal(struct call *call)
{
    pid_t target = (pid_t)call->data->args[0];
    bool three = call->row->number == SYS_tgkill || call->row->number == SYS_rt_tgsigqueueinfo;
    if ((int)call->data->args[three ? 2 : 1] == 0) {
        return 0; /* only asks whether there is such a process */
    }
    if (target < -1) {
        return is_ours(call, -target) ? decide_target(call, -target, false, false) : 0;
    }
    return decide_target(call, target, target == 0, target == -1);
}

/* `group` and `user` are what `which` is for them. */
static int decide_which(struct call *call, int group, int user)
{
    int which = (int)call->data->args[0];
    pid_t who = (pid_t)call->data->args[1];
    return decide_target(call, who, who == 0 || which == group, which == user);
}

/* --- files ------------------------------------------------------------------------------------ */

/* The absolute path that is meant, without links where it exists; false when that cannot be known. *exists
 * says whether it does, or else its folder is meant. */
static bool resolve(const struct call *call, int folder, const char *path, char *out, bool *exists)
{
    char base[64], joined[2 * PATH_MAX], link[PATH_MAX];
    size_t len = 0;
    if (path[0] != '/') {
        snprintf(base, sizeof(base), folder == AT_FDCWD ? "/proc/%d/cwd" : "/proc/%d/fd/%d",
                 (int)call->pid, folder);
        ssize_t n = readlink(base, joined, PATH_MAX - 1);
        if (n <= 0) {
            return false;
        }
        joined[n] = '\0';
        len = (size_t)n;
    } else if (strncmp(path, "/proc/self/", 11) == 0 ||
               strncmp(path, "/proc/thread-self/", 18) == 0) {
        len = (size_t)snprintf(joined, sizeof(joined), "/proc/%d", (int)call->pid);
        path = strchr(path + 6, '/');
    }
    snprintf(joined + len, sizeof(joined) - len, "%s%s", len > 0 ? "/" : "", path);
    int fd = open(joined, O_PATH | O_CLOEXEC);
    *exists = fd >= 0;
    if (fd < 0) {
        char *slash = strrchr(joined, '/');
        slash[slash == joined ? 1 : 0] = '\0';
        fd = open(joined, O_PATH | O_CLOEXEC);
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = fd >= 0 ? readlink(link, out, PATH_MAX - 1) : -1;
    out[n > 0 ? n : 0] = '\0';
    if (fd >= 0) {
        close(fd);
    }
    return n > 0 && out[0] == '/';
}

/* A descriptor of the process by its name in /dev. */
static bool is_descriptor(const char *path)
{
    return strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/dev/std", 8) == 0;
}

static int decide_file(struct call *call, int folder, uint64_t address, bool writes)
{
    char path[PATH_MAX], real[PATH_MAX];
    bool exists = false;
    call->refusal = writes ? CBX_GUARD_WRITE : CBX_GUARD_READ;
    if (!is_refused(call)) {
        return 0; /* the kernel starts */
    }
    if (address == 0) { /* the shell's library says what was refused to the shell */
        unpack(call->data, path);
        snprintf(call->what, sizeof(call->what), "%.*s", (int)sizeof(call->what) - 1, path);
        return -EACCES;
    }
    if (!read_memory(call->pid, address, path, sizeof(path))) {
        return 0; /* the shell itself: Landlock decides */
    }
    struct stat status;
    if (is_descriptor(path) || !resolve(call, folder, path, real, &exists) ||
        (!exists && !writes) || (!writes && stat(real, &status) == 0 && S_ISDIR(status.st_mode)) ||
        cbx_place_is_inside(real, writes)) {
        return 0;
    }
    snprintf(call->what, sizeof(call->what), "%.*s", (int)sizeof(call->what) - 1, path);
    return -EACCES;
}

static int decide_open(struct call *call, int folder, uint64_t path, uint64_t flags)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
    if ((flags & (O_DIRECTORY | O_PATH)) != 0 && !writes) {
        return 0; /* names of files */
    }
    return decide_file(call, folder, path, writes);
}

/* ---------------------------------------------------------------------------------------------- */

static int decide(struct call *call)
{
    const uint64_t *args = (const uint64_t *)call->data->args;
    enum { IO_GROUP = 2, IO_USER = 3 }; /* of ioprio_set(2) */
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
        return is_refused(call) ? -EACCES : 0;
    case CBX_CALL_OPENED:
        return decide_open(call, AT_FDCWD, args[0], args[1]);
    case CBX_CALL_OPENED_AT:
        return decide_open(call, (int)args[0], args[1], args[2]);
    case CBX_CALL_CHANGED:
        return decide_file(call, AT_FDCWD, args[0], true);
    case CBX_CALL_CHANGED_AT:
        return decide_file(call, (int)args[0], args[1], true);
    }
    return -EPERM;
}

int cbx_guard_decide(struct cbx_listener *listener, const struct seccomp_notif *notified)
{
    struct call call = { .listener = listener,
                         .row = cbx_call_find(notified->data.nr),
                         .data = &notified->data,
                         .pid = (pid_t)notified->pid };
    if (call.row == NULL) {
        return -EPERM;
    }
    call.refusal = call.row->refusal;
    if (listener->starts) {
        listener->starts = call.row->argument != CBX_CALL_PROGRAM;
        return 0; /* until the program runs, the code that starts it is ours */
    }
    int error = decide(&call);
    if (error != 0 && call.what[0] != '\0' && is_refused(&call)) {
        cbx_guard_printable(call.what);
        cbx_guard_note(call.refusal, call.what);
    }
    return error;
}
