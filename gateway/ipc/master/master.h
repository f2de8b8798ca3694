/* SPDX-License-Identifier: MIT
 * The master: the process that a user starts. It forks the others (front, zygote, executor, and those with one channel), holds
 * the sockets between them, and forks again what was killed: requests wait in the sockets
 * meanwhile. It ends with the front. It parses nothing and includes none of the processes that it
 * forks. */
#ifndef CBX_GATEWAY_IPC_MASTER_MASTER_H
#define CBX_GATEWAY_IPC_MASTER_MASTER_H

#include "gateway/ipc/jail/privileges.h"
#include "gateway/ipc/master/reload.h"
#include "gateway/ipc/seal/seal.h"

enum { CBX_INSTANCE_SEED_BYTES = 32 };

/* Made by the master; each process reads its own through a pipe. */
struct cbx_zygote_secrets {
    struct cbx_seal_key decisions, pasts;
    uint64_t first_number; /* of its workers */
};
struct cbx_executor_secrets {
    struct cbx_seal_key decisions;
    uint64_t first_number; /* of workers whose decisions it opens: those below may have been
                              opened by the executor before it. */
    uint8_t seed[CBX_INSTANCE_SEED_BYTES]; /* of an instance that does not outlive this gateway */
};

/* The main function of the zygote: serves `control` and never returns. `secrets_fd` is the read end of
 * a pipe with its secrets; it closes that. */
typedef void cbx_zygote_process(int control, int secrets_fd, const void *context);

/* What the executor has of the master; its own from then on. */
struct cbx_executor_channels {
    int control; /* connections of the front */
    int secrets; /* the read end of a pipe with struct cbx_executor_secrets */
    int reload;  /* for cbx_reload_listen; -1 = none */
    int keys;    /* to the process that fetches keys, whichever there is; -1 = there never is one */
};
typedef void cbx_executor_process(const struct cbx_executor_channels *channels,
                                  const void *context);

/* What SIGHUP loads again (reload.h). */
struct cbx_master_reload {
    /* In a child of the master that is forked for this call, with the rights of the master: loads
     * everything and checks it, and appends the set. It logs its errors. 0; 1 when nothing changed,
     * negative when something is wrong: what is in use stays in use. */
    int (*load)(void *context, struct cbx_buf *set);
    /* In each process that is forked after a reload: takes a part over, before its main function. `bytes` stay. */
    int (*adopt)(void *context, const struct cbx_reload_part *part, struct cbx_err *err);
    void *context;
    /* What the first processes get in the same way, until a reload: secrets that one process alone may keep. NULL =
     * nothing. cbx_master_fork takes the set out of it. */
    struct cbx_buf *first;
};

/* The main function of a process that forwards the audit log: the channel leads to the other one. */
typedef void cbx_channel_main(int channel, const void *context);

/* Of the process that fetches keys: a channel to each of its clients (key_fetch.h). */
typedef void cbx_keys_process(const int channels[], const void *context);

struct cbx_master_config {
    cbx_zygote_process *zygote;
    cbx_executor_process *executor;
    cbx_channel_main *reader, *sender; /* NULL = neither. When one ends, both are forked anew */
    cbx_keys_process *
        keys; /* fetches keys of issuers (key_fetch.h); NULL = never. Forked while there is something to fetch */
    bool
        fetches; /* there is from the start on; after a reload there is when a part of the set is for CBX_RELOAD_KEYS */
    const void *context;
    struct cbx_master_reload reload; /* load NULL: SIGHUP ends the gateway */
    bool respawn_front;              /* fork the front again when a signal killed it */
    int front_fds[2];                /* open in every front and in no other process; 0 = none */
    int identity_fd; /* open in the master, in every front and every executor, in no other process; 0 = none */
    int executor_fd; /* open in the master and in every executor, in no other process; 0 = none */
    enum cbx_role front_role;
    const char *front_root; /* as cbx_privileges_drop has it */
};

/* The front's ends. */
struct cbx_master_sockets {
    int zygote, executor;
    int reload; /* for cbx_reload_listen */
    int keys; /* the channel to the process that fetches keys, whichever there is; -1 = there never is one */
};

/* Forks; every process, the master included, drops its privileges first. Returns 0 in the front alone, once for each front that there is; the caller's process
 * becomes the master and ends in here with the front's exit status. Call it before there are
 * threads, and before anything is open that the others should not have. The configuration is
 * borrowed for the master's life. */
int cbx_master_fork(const struct cbx_master_config *config, struct cbx_master_sockets *out,
                    struct cbx_err *err);

#endif
