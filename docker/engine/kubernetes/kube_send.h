/* SPDX-License-Identifier: MIT
 * Sends the messages of a WebSocket, each one whole: a message that was begun is completed before
 * the next one begins. The thread that receives answers pings here, and never waits. */
#ifndef CBX_DOCKER_ENGINE_KUBERNETES_KUBE_SEND_H
#define CBX_DOCKER_ENGINE_KUBERNETES_KUBE_SEND_H

#include "docker/engine/kubernetes/websocket.h"
#include "docker/engine/upgrade.h"

struct cbx_kube_sender {
    struct cbx_upgrade *upgrade; /* borrowed */
    pthread_mutex_t lock;        /* protects the following members */
    bool broken;                 /* a part of a message was sent, and the rest could not be */
    bool masked;                 /* `mask` is that of a message of which nothing was sent yet */
    uint32_t mask;
    /* the part of a PONG that is still to be sent, before any other message */
    char pong[CBX_WEBSOCKET_HEAD_MAX + CBX_WEBSOCKET_CONTROL_MAX];
    size_t pong_len;
};
void cbx_kube_sender_init(struct cbx_kube_sender *sender, struct cbx_upgrade *upgrade);
void cbx_kube_sender_done(struct cbx_kube_sender *sender);

/* Sends the first bytes as one message of the channel for standard input; *sent is their number.
 * Until the first byte of the message was sent it may be given up (CBX_ETIMEDOUT, after
 * timeout_ms); after that the connection is of no use unless all of it is sent: CBX_EIO, for every
 * later message too. */
int cbx_kube_send(struct cbx_kube_sender *sender, struct cbx_str bytes, int timeout_ms,
                  size_t *sent, struct cbx_err *err);

/* Answers a PING with its bytes, without waiting. The part that finds no room is sent before the
 * next message, or at the next PING. */
void cbx_kube_send_pong(struct cbx_kube_sender *sender, struct cbx_str bytes);

#endif
