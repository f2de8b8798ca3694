/* SPDX-License-Identifier: MIT
 * Configuration that a gateway can reload while it serves: a set of named parts, sent from the
 * master to the other processes, which have no files. A child of the master loads and checks the
 * parts; the master forwards their bytes and parses none of them. A row in
 * gateway/cli/serve/reloadables.def adds a part. */
#ifndef CBX_GATEWAY_IPC_MASTER_RELOAD_H
#define CBX_GATEWAY_IPC_MASTER_RELOAD_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

/* The recipients of a part. */
enum cbx_reload_process {
    CBX_RELOAD_FRONT = 1,
    CBX_RELOAD_ZYGOTE = 2,
    CBX_RELOAD_EXECUTOR = 4,
    CBX_RELOAD_KEYS = 8,      /* forked while a part is for it, and anew with every reload */
    CBX_RELOAD_REPLICAS = 16, /* helpers: master.h */
    CBX_RELOAD_DATABASE = 32,
};

enum { CBX_RELOAD_BYTES_MAX = 64 * 1024 * 1024, CBX_RELOAD_NAME_MAX = 15 };

struct cbx_reload_part {
    char name[CBX_RELOAD_NAME_MAX + 1];
    unsigned processes;   /* bits of enum cbx_reload_process */
    struct cbx_str bytes; /* its start is a multiple of 16 bytes from the start of the set */
};

/* Appends a part to a set. CBX_ETOOBIG. */
int cbx_reload_add(struct cbx_buf *set, const struct cbx_reload_part *part, struct cbx_err *err);

/* Takes the first part of `rest`; its bytes are borrowed. False at the end of the set, and for
 * malformed bytes: `rest` is not empty then. */
bool cbx_reload_next(struct cbx_str *rest, struct cbx_reload_part *out);

/* cbx_reload_tell_ready, in a process, tells the master that the process serves; the other
 * function, in the master, returns true after that. */
void cbx_reload_tell_ready(int fd);
bool cbx_reload_is_ready(int fd);

/* In the master: sends a process its parts of the set, and waits until the process has applied
 * them. `first_number` is the number of the first worker that uses the new set (seal.h).
 * CBX_EIO, CBX_ETIMEDOUT; CBX_ESTATE if the process refused: the caller then ends the process. */
int cbx_reload_send(int fd, enum cbx_reload_process process, uint64_t first_number,
                    struct cbx_str set, int timeout_ms, struct cbx_err *err);

/* Applies a part; called for each one, in the listener's thread. The bytes stay valid as long as
 * the process. On a failure the process refuses the reload: the master starts it anew, with the
 * new set. */
typedef int cbx_reload_apply(void *context, const struct cbx_reload_part *part,
                             uint64_t first_number, struct cbx_err *err);

/* Starts a thread that applies the parts which cbx_reload_send sends to the other end of `fd`,
 * until that end is closed. `listener` is borrowed for the life of the process. False if no
 * thread can be created. */
struct cbx_reload_listener {
    int fd;
    cbx_reload_apply *apply;
    void *context;
};
bool cbx_reload_listen(const struct cbx_reload_listener *listener);

#endif
