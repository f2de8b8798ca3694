/* SPDX-License-Identifier: MIT
 * The master: the process that a user starts. It forks the others (front, zygote, executor, and
 * the processes with one channel), holds the sockets between them, and forks a killed process
 * again: requests stay in the sockets meanwhile. It ends with the front. It parses nothing and
 * includes no code of the processes that it forks. */
#ifndef CBX_GATEWAY_IPC_MASTER_MASTER_H
#define CBX_GATEWAY_IPC_MASTER_MASTER_H

#include "gateway/ipc/jail/privileges.h"
#include "gateway/ipc/master/reload.h"
#include "gateway/ipc/seal/seal.h"

enum { CBX_INSTANCE_SEED_BYTES = 32 };

/* Secrets created by the master; each process reads its own from a pipe. */
struct cbx_zygote_secrets {
    struct cbx_seal_key decisions, pasts;
    uint64_t first_number; /* number of its first worker */
};
struct cbx_executor_secrets {
    struct cbx_seal_key decisions;
    /* lowest number of the workers whose decisions it opens: the previous executor may have
     * opened decisions of lower numbers */
    uint64_t first_number;
    /* seed of the id of an instance that ends with this gateway */
    uint8_t seed[CBX_INSTANCE_SEED_BYTES];
};

/* The main function of the zygote: serves `control` and never returns. `secrets_fd` is the read
 * end of a pipe with its secrets; the function closes it. */
typedef void cbx_zygote_process(int control, int secrets_fd, const void *context);

/* The executor's ends of the channels; owned by the executor. */
struct cbx_executor_channels {
    int control; /* passes the connections of the front */
    int secrets; /* read end of a pipe with struct cbx_executor_secrets */
    int reload;  /* for cbx_reload_listen; -1 = none */
    int keys;    /* channel to the current process that fetches keys; -1 = the gateway has none */
};
typedef void cbx_executor_process(const struct cbx_executor_channels *channels,
                                  const void *context);

/* The functions that SIGHUP calls (reload.h). */
struct cbx_master_reload {
    /* Called in a child that the master forks for this call, with the rights of the master:
     * loads and checks the complete configuration, and appends the set. It logs its errors.
     * Returns 0; 1 if nothing changed; negative on an error: the current set stays in use. */
    int (*load)(void *context, struct cbx_buf *set);
    /* Called in each process forked after a reload, before its main function: takes over one
     * part. `bytes` stay valid. */
    int (*adopt)(void *context, const struct cbx_reload_part *part, struct cbx_err *err);
    void *context;
    /* Parts for the first processes, until a reload: secrets that only one process may have.
     * NULL = none. cbx_master_fork moves the set out of it. */
    struct cbx_buf *first;
};

/* The main function of a process that forwards the audit log; `channel` leads to the other such
 * process. */
typedef void cbx_channel_main(int channel, const void *context);

/* The main function of the process that fetches keys; it has one channel to each of its clients
 * (key_fetch.h). */
typedef void cbx_keys_process(const int channels[], const void *context);

/* Processes with one channel, to the front; forked anew when one ends, and by a reload whose part
 * for the process differs: the process before it ends with its last link. */
enum cbx_helper {
    CBX_HELPER_LINKS,    /* links between replicas */
    CBX_HELPER_DATABASE, /* the connection to a database */
    CBX_HELPERS
};

struct cbx_master_config {
    cbx_zygote_process *zygote;
    cbx_executor_process *executor;
    /* NULL = no forwarding. If one ends, both are forked anew */
    cbx_channel_main *reader, *sender;
    /* main function of the process that fetches keys of issuers (key_fetch.h); NULL = never.
     * Forked only while there are key sources */
    cbx_keys_process *keys;
    /* true if there are key sources from the start; after a reload, a part of the set for
     * CBX_RELOAD_KEYS means the same */
    bool fetches;
    struct {
        cbx_channel_main *run; /* NULL = never */
        int fd;                /* descriptor open in the master and in that process, in no other;
                                * 0 = none */
    } helpers[CBX_HELPERS];
    const void *context;
    struct cbx_master_reload reload; /* load NULL: SIGHUP ends the gateway */
    bool respawn_front;              /* true to fork the front again after a signal killed it */
    int front_fds[2]; /* descriptors open in every front and in no other process; 0 = none */
    /* descriptor open in the master, in every front and every executor, in no other process; 0 =
     * none */
    int identity_fd;
    /* descriptor open in the master and in every executor, in no other process; 0 = none */
    int executor_fd;
    enum cbx_role front_role;
    const char *front_root; /* `root` for cbx_privileges_drop */
};

/* The front's ends of the channels. */
struct cbx_master_sockets {
    int zygote, executor;
    int reload; /* for cbx_reload_listen */
    int keys;   /* channel to the current process that fetches keys; -1 = the gateway has none */
    int helpers[CBX_HELPERS]; /* channel to the current process; -1 = the gateway has none */
};

/* Forks; every process, the master included, drops its privileges first. Returns 0 in the front
 * alone, once for each front; the caller's process becomes the master and ends in here with the
 * front's exit status. Call it before the process has threads, and before it opens any
 * descriptor that the other processes must not have. The configuration is borrowed for the
 * master's life. */
int cbx_master_fork(const struct cbx_master_config *config, struct cbx_master_sockets *out,
                    struct cbx_err *err);

#endif
