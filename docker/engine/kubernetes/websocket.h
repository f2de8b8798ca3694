/* SPDX-License-Identifier: MIT
 * Frames of WebSocket (RFC 6455) with the subprotocol v4.channel.k8s.io, by which Kubernetes
 * forwards the streams of a program: the first byte of each message is a channel, 0 for stdin, 1
 * for stdout, 2 for stderr, 3 for the program's end. Pure: bytes in, bytes out. */
#ifndef CBX_DOCKER_ENGINE_KUBERNETES_WEBSOCKET_H
#define CBX_DOCKER_ENGINE_KUBERNETES_WEBSOCKET_H

#include "policies/base/err.h"
#include "policies/base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define CBX_WEBSOCKET_PROTOCOL "v4.channel.k8s.io"

enum {
    CBX_WEBSOCKET_HEAD_MAX = 14,
    CBX_WEBSOCKET_CONTROL_MAX = 125, /* bytes of a control frame's payload (section 5.5) */
};
enum { CBX_STDIN_CHANNEL = 0, CBX_STDOUT_CHANNEL, CBX_STDERR_CHANNEL, CBX_STATUS_CHANNEL };

/* Checks the head of a reply with the status 101 to a request with this Sec-WebSocket-Key (section
 * 4.1): another program between may have switched to something else. CBX_EPROTO. */
int cbx_websocket_check(struct cbx_str head, const char *key, struct cbx_err *err);

enum cbx_websocket_kind {
    CBX_WEBSOCKET_DATA = 1, /* bytes of a channel, a part of a message */
    CBX_WEBSOCKET_PING,     /* the peer asks for a PONG with these bytes */
    CBX_WEBSOCKET_CLOSE,    /* the peer closes the connection */
};
struct cbx_websocket_event {
    enum cbx_websocket_kind kind;
    uint8_t channel;      /* of DATA */
    struct cbx_str bytes; /* of DATA: borrowed from the received bytes; of PING: from the reader */
};

/* The reader of received frames. Zeroed memory is the beginning of a connection. */
struct cbx_websocket {
    uint8_t head[CBX_WEBSOCKET_HEAD_MAX];
    size_t head_len;
    bool in_frame;   /* the head is complete; `left` bytes of its payload are missing */
    bool in_message; /* a message that further frames continue */
    bool has_channel;
    uint8_t opcode, channel;
    uint64_t left;
    char control[CBX_WEBSOCKET_CONTROL_MAX];
    size_t control_len;
};

/* Takes the next event from *bytes: 1 and *out, or 0 if *bytes is empty. CBX_EPROTO for frames
 * that a server may not send. */
int cbx_websocket_next(struct cbx_websocket *reader, struct cbx_str *bytes,
                       struct cbx_websocket_event *out, struct cbx_err *err);

/* Writes a client's frame, which is masked (section 5.3), with a channel byte before the bytes
 * unless channel is -1; `out` has space for CBX_WEBSOCKET_HEAD_MAX + 1 + len bytes. Returns the
 * length. The opcode is BINARY, or PONG. */
enum { CBX_WEBSOCKET_BINARY = 2, CBX_WEBSOCKET_PONG = 10 };
size_t cbx_websocket_write(uint8_t opcode, int channel, struct cbx_str bytes, uint32_t mask,
                           char *out);

#endif
