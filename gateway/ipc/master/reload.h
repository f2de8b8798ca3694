/* SPDX-License-Identifier: MIT
 * What a gateway can load again while it serves, on its way from the master to the other processes,
 * which have no files: a set of named parts. A child of the master loads and checks them; the master
 * passes their bytes on and reads none of them. A row in gateway/cli/serve/reloadables.def adds a part. */
#ifndef CBX_GATEWAY_IPC_MASTER_RELOAD_H
#define CBX_GATEWAY_IPC_MASTER_RELOAD_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

/* The processes that a part is for. */
enum cbx_reload_process {
    CBX_RELOAD_FRONT = 1,
    CBX_RELOAD_ZYGOTE = 2,
    CBX_RELOAD_EXECUTOR = 4,
    CBX_RELOAD_KEYS = 8, /* forked when a part is for it, and with every reload anew */
};

enum { CBX_RELOAD_BYTES_MAX = 64 * 1024 * 1024, CBX_RELOAD_NAME_MAX = 15 };

struct cbx_reload_part {
    char name[CBX_RELOAD_NAME_MAX + 1];
    unsigned processes;   /* of enum cbx_reload_process */
    struct cbx_str bytes; /* begin at a multiple of 16 bytes from the start of the set */
};

/* Appends a part to a set. CBX_ETOOBIG. */
int cbx_reload_add(struct cbx_buf *set, const struct cbx_reload_part *part, struct cbx_err *err);

/* Takes the first part of `rest`; its bytes are borrowed. False at the end, and for what is no part:
 * `rest` is not empty then. */
bool cbx_reload_next(struct cbx_str *rest, struct cbx_reload_part *out);

/* In a process: tells the master that it serves now; and in the master: true once it did. */
void cbx_reload_tell_ready(int fd);
bool cbx_reload_is_ready(int fd);

/* In the master: sends a process its parts of the set, and waits until the process has taken them
 * over. `first_number` is that of the workers that will judge by the new set (seal.h). CBX_EIO,
 * CBX_ETIMEDOUT; CBX_ESTATE when the process refused: the caller ends the process then. */
int cbx_reload_send(int fd, enum cbx_reload_process process, uint64_t first_number,
                    struct cbx_str set, int timeout_ms, struct cbx_err *err);

/* Takes a part over; called for each one, in the listener's thread. The bytes stay as long as the
 * process. A failure ends the process's part in the reload: it is started anew, with the new set. */
typedef int cbx_reload_apply(void *context, const struct cbx_reload_part *part,
                             uint64_t first_number, struct cbx_err *err);

/* Starts a thread that takes over what cbx_reload_send sends to the other end of `fd`, until that
 * closes. `listener` is borrowed for the life of the process. False when there is no thread. */
struct cbx_reload_listener {
    int fd;
    cbx_reload_apply *apply;
    void *context;
};
bool cbx_reload_listen(const struct cbx_reload_listener *listener);

#endif
