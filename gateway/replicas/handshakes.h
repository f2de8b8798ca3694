/* SPDX-License-Identifier: MIT
 * Accepted connections whose other end has proved nothing yet. Their number is limited: at the
 * limit the oldest is ended for a new one. A replica needs milliseconds for its handshake, so
 * strangers that hold connections neither keep it out nor use up the links. */
#ifndef CBX_GATEWAY_REPLICAS_HANDSHAKES_H
#define CBX_GATEWAY_REPLICAS_HANDSHAKES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { CBX_HANDSHAKES_MAX = 256 };

/* Thread-safe after cbx_handshakes_init. */
struct cbx_handshakes {
    pthread_mutex_t lock;
    int fds[CBX_HANDSHAKES_MAX]; /* the oldest is the first */
    size_t count;
};
void cbx_handshakes_init(struct cbx_handshakes *handshakes);

/* Adds a socket, which the caller owns. At the limit the oldest socket is shut down, so that its
 * handshake fails, and is removed. */
void cbx_handshakes_begin(struct cbx_handshakes *handshakes, int fd);

/* Ends the oldest handshake likewise, for a process that has no descriptor left. False = there is
 * none. */
bool cbx_handshakes_evict(struct cbx_handshakes *handshakes);

/* Removes the socket, if it is there. Call it before the socket is closed. */
void cbx_handshakes_end(struct cbx_handshakes *handshakes, int fd);

#endif
