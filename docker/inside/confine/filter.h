/* SPDX-License-Identifier: MIT
 * The seccomp filter of a program whose notifications the supervisor answers, and the socket
 * that passes its listener. Shared by the supervisor and the command kernel, which both start
 * programs. */
#ifndef CBX_DOCKER_INSIDE_CONFINE_FILTER_H
#define CBX_DOCKER_INSIDE_CONFINE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

/* The columns of calls.def: the programs and calls that notify, the condition, and the object of
 * the call. */
enum cbx_program_kind {
    CBX_PYTHON_BIT = 1 << 0,
    CBX_NODE_BIT = 1 << 1,
    CBX_SHELL_BIT = 1 << 2,  /* a shell and the programs that it starts */
    CBX_NATIVE_BIT = 1 << 3, /* a program compiled from a source */
};
enum cbx_call_condition {
    CBX_CALL_ALWAYS,
    CBX_CALL_NO_THREAD, /* clone(2) of a process */
    CBX_CALL_NOT_LOCAL, /* socket(2) of another family than AF_UNIX */
    CBX_CALL_NOT_SELF,  /* the first argument is not 0 */
    /* mmap(2) of executable memory that is no private mapping of a file, or that is also
     * writable */
    CBX_CALL_NEW_CODE,
    CBX_CALL_CODE,        /* memory that becomes executable */
    CBX_CALL_SHARED_CODE, /* shmat(2) of executable memory */
    CBX_CALL_OWNER,       /* fcntl(2) that names the receiver of signals */
    CBX_CALL_IO_OWNER,    /* ioctl(2) that names the receiver of signals */
    /* open(2) that Python's audit hook does not see: CPython itself opens with O_CLOEXEC, and
     * without O_NOFOLLOW, which SQLite uses */
    CBX_CALL_UNSEEN,
    CBX_CALL_UNSEEN_AT, /* openat(2), the same; in Python the hook does not see the folder */
    CBX_CALL_REPORTS,   /* prctl(2) with the option CBX_REPORT_OPTION */
    /* fails with ENOSYS, without a notification: callers have an alternative */
    CBX_CALL_UNSUPPORTED,
};
enum cbx_call_argument {
    CBX_CALL_PROGRAM, /* a program, by path */
    CBX_CALL_PROCESS, /* a new process */
    CBX_CALL_FAMILY,  /* family of addresses, type as in socket(2) */
    CBX_CALL_ADDRESS, /* descriptor, address and its length as in connect(2) */
    CBX_CALL_LISTENS, /* descriptor */
    /* a process that receives a signal; the signal is the next or the third argument */
    CBX_CALL_SIGNALLED,
    CBX_CALL_TARGET,       /* a process */
    CBX_CALL_WHICH,        /* which, who as in setpriority(2) */
    CBX_CALL_IO_WHICH,     /* which, who as in ioprio_set(2) */
    CBX_CALL_MEMORY,       /* memory to execute */
    CBX_CALL_OPENED,       /* path, flags */
    CBX_CALL_OPENED_AT,    /* folder, path, flags */
    CBX_CALL_RECEIVER,     /* fcntl(2), ioctl(2): command, receiver of signals */
    CBX_CALL_CHANGED,      /* path */
    CBX_CALL_CHANGED_AT,   /* folder, path */
    CBX_CALL_MOVED,        /* path, path */
    CBX_CALL_MOVED_AT,     /* folder, path, folder, path */
    CBX_CALL_LINKED,       /* path of the source, path */
    CBX_CALL_LINKED_AT,    /* folder, path of the source, folder, path */
    CBX_CALL_SYMLINKED,    /* text of the link, path */
    CBX_CALL_SYMLINKED_AT, /* text of the link, folder, path */
    CBX_CALL_REPORT,       /* docker/inside/confine/guard_report.h */
};
struct cbx_call_row {
    int number; /* number of the system call, x86-64 */
    enum cbx_call_condition condition;
    unsigned kinds;
    unsigned refusal; /* number of the row of policies/guard/guard.def */
    enum cbx_call_argument argument;
};

/* Returns the row of this system call; NULL if there is none. */
const struct cbx_call_row *cbx_call_find(int number);

/* Numbers of the rows of policies/guard/guard.def, and two sets of them as bits: NOTIFIED, for
 * which the supervisor receives a notification; NEEDED, which only notifications enforce. */
enum cbx_guard_refusal {
#define CBX_REFUSAL(id, ...) CBX_GUARD_##id,
#include "policies/guard/guard.def"
    CBX_GUARD_COUNT
};
enum {
    CBX_GUARD_NOTIFIED = 0
#define CBX_REFUSAL(id, name, capabilities, any, shell, always, notified, ...)                     \
    | (notified ? 1 << CBX_GUARD_##id : 0)
#include "policies/guard/guard.def"
    ,
    /* Without a network, sockets reach only programs of the sandbox, and no sandbox has one. */
    CBX_GUARD_NEEDED = CBX_GUARD_NOTIFIED & ~(1 << CBX_GUARD_SOCKET)
};

/* Installs the filter of these programs in the calling process, for it and its later children,
 * and sends {kind} with the listener through the socket, a pair of SOCK_SEQPACKET whose other
 * end the supervisor has. False if Linux has no user notification (seccomp_unotify(2)); no
 * filter was installed then, and the message has no listener. */
bool cbx_filter_install(enum cbx_program_kind kind, int socket);

/* Receives such a message: the kind, and the listener or -1. 0 = no message has arrived, -1 =
 * the other end is closed. */
int cbx_filter_receive(int socket, int *listener);

#endif
