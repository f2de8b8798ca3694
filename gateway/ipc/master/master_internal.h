/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the master; no other file includes it. */
#ifndef CBX_GATEWAY_IPC_MASTER_MASTER_INTERNAL_H
#define CBX_GATEWAY_IPC_MASTER_MASTER_INTERNAL_H

#include "gateway/ipc/master/master.h"
#include "gateway/ipc/master/notify.h"

#include <signal.h>
#include <sys/types.h>

/* A process that ends within this time of its start is forked again after a pause. */
enum { CBX_MASTER_QUICK_MS = 1000 };

struct cbx_master {
    struct cbx_master_config config;
    /* Secrets of zygote and executor, in a page that Linux clears in every child; the two
     * processes read their own from a pipe. */
    struct cbx_master_secrets {
        struct cbx_zygote_secrets zygote;
        struct cbx_executor_secrets executor;
    } * secrets;
    uint64_t zygotes; /* number of zygotes forked so far */
    /* control sockets; [0] = the front's end, [1] = the end of zygote or executor */
    int zygote[2], executor[2];
    /* [0] = the front's end, [1] = the end of the process that fetches keys; -1 = none */
    int keys[2];
    /* [0] = the executor's end, [1] = the end of the process that fetches keys; -1 = none */
    int executor_keys[2];
    struct {
        int channel[2]; /* [0] = the front's end, [1] = the helper's; -1 = none */
        pid_t pid;      /* the current one; 0 = no such process */
        bool renewed;   /* its part of the new set differs from that of the set before */
    } helpers[CBX_HELPERS];
    int front_reload[2], executor_reload[2]; /* [0] = the master's end */
    /* parts of the last reload, for processes forked later; before the first reload the parts of
     * the start (reload.first) */
    struct cbx_buf set;
    pid_t front_pid, zygote_pid, executor_pid;
    struct cbx_notify notify;
    bool is_ready;                /* true after a front reported that it serves */
    bool reloaded;                /* true if `set` is from a reload */
    pid_t reader_pid, sender_pid; /* 0 = no such process */
    pid_t keys_pid;               /* 0 = no such process */
    int64_t forked_ms;
    int stop_signal; /* signal that ends the gateway; 0 = none received */
};

/* --- children.c: processes that the master forks ---------------------------------------------- */

/* Closes the ends of a pair but the kept one, -1 = none. */
void cbx_master_close_pair(const int pair[2], int kept);

/* In a new process: applies the parts of the set for these processes (enum cbx_reload_process),
 * and cleanses the others. */
void cbx_master_adopt_set(struct cbx_master *m, unsigned process);

/* Fork a process; return its id, -1 and errno. */
pid_t cbx_master_fork_zygote(struct cbx_master *m);
pid_t cbx_master_fork_executor(struct cbx_master *m);

/* Returns true in the front. */
bool cbx_master_fork_front(struct cbx_master *m);

/* Fork processes that the configuration has, else none. */
void cbx_master_fork_forwarders(struct cbx_master *m);
void cbx_master_fork_keys(struct cbx_master *m);
void cbx_master_fork_helper(struct cbx_master *m, enum cbx_helper helper);

/* The part of a reload that a helper gets (enum cbx_reload_process). */
unsigned cbx_master_helper_part(enum cbx_helper helper);

/* Fork processes again in place of one that ended. The helper: false if it was another process. */
void cbx_master_replace_executor(struct cbx_master *m);
void cbx_master_replace_forwarders(struct cbx_master *m, pid_t ended);
bool cbx_master_replace_helper(struct cbx_master *m, pid_t ended);

/* Waits before a fork, so that a process that ends right after its start does not keep a processor
 * busy. */
void cbx_master_pause_if_quick(struct cbx_master *m);

/* Send a signal to a child, and wait for its end; a pid that is not positive is none. */
void cbx_master_signal(pid_t pid, int number);
void cbx_master_await(pid_t pid);

/* --- master_reload.c: SIGHUP ------------------------------------------------------------------ */

/* Loads the configuration in a child and distributes it. What cannot be loaded leaves the one in
 * use. */
void cbx_master_reload(struct cbx_master *m);

#endif
