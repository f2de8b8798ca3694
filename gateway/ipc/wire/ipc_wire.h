/* SPDX-License-Identifier: MIT
 * Messages between the processes of the gateway over stream sockets: two lengths (32 bits, host
 * order), a JSON header, raw bytes. The other end may be compromised: lengths are capped before
 * memory is allocated, headers are parsed with the limits of policies/base/text/json.h. */
#ifndef CBX_GATEWAY_IPC_WIRE_IPC_WIRE_H
#define CBX_GATEWAY_IPC_WIRE_IPC_WIRE_H

#include "policies/base/buf.h"
#include "policies/base/err.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"

enum { CBX_WIRE_HEADER_MAX = 4 * 1024 * 1024, CBX_WIRE_BYTES_MAX = 80 * 1024 * 1024 };

/* Maximum number of analyzer workers of one gateway. The tag of a descriptor that is passed to
 * the zygote is a worker's slot number. */
enum { CBX_WORKER_SLOTS_MAX = 32 };

/* A received message. Owned by the caller: cbx_message_done. */
struct cbx_message {
    json_t *header;
    struct cbx_buf bytes;
};
void cbx_message_init(struct cbx_message *message);
void cbx_message_done(struct cbx_message *message);
CBX_DEFINE_AUTO_DONE(message)

/* Sends the whole message or fails: CBX_EIO if the other end is closed. Blocks. */
int cbx_wire_send(int fd, const json_t *header, struct cbx_str bytes, struct cbx_err *err);

/* Receives one message, with a deadline in milliseconds from now (-1 = none). CBX_ETIMEDOUT;
 * CBX_EIO if the other end closed before a whole message; CBX_EPROTO for a malformed message. */
int cbx_wire_receive(int fd, int timeout_ms, struct cbx_message *out, struct cbx_err *err);

/* Creates a pair of connected stream sockets, close-on-exec. */
int cbx_wire_pair(int out[2], struct cbx_err *err);

/* Pass one descriptor along with one byte, and receive them. CBX_EIO at the end of the stream.
 * *passed is -1 if the byte came with no descriptor, or with several, which are closed. */
int cbx_wire_send_fd(int fd, int passed, char tag, struct cbx_err *err);
int cbx_wire_receive_fd(int fd, int *passed, char *tag, struct cbx_err *err);

/* Like these, for a receiver that may be stopped, up to a time of cbx_clock_ms; and for several
 * receivers of one socket, without waiting. CBX_ETIMEDOUT if nothing was passed. */
int cbx_wire_send_fd_until(int fd, int passed, char tag, int64_t until_ms, struct cbx_err *err);
int cbx_wire_receive_fd_now(int fd, int *passed, char *tag, struct cbx_err *err);

#endif
